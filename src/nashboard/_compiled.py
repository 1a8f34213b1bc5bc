"""Compiled functions, kept on disk where that is possible.

numba keeps what it compiled beside the source, or in the user's cache, or in ``NUMBA_CACHE_DIR``; where none of them
can be written, or what is kept there is damaged, numba gives up. The cache only saves seconds, so here it may fail.
"""

from collections.abc import Callable
from typing import Any

import numba


def compiled(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function for one signature, now or from the disk; division by zero gives infinity, as in numpy."""

    def compile_one(function: Callable[..., Any]) -> Any:
        kernel = uncompiled(function)
        if kernel is function:  # numba is switched off by NUMBA_DISABLE_JIT
            return function
        try:
            kernel.enable_caching()
            kernel.compile(signature)
        except Exception:  # no place for a cache, no room in it, or a damaged file, which raises whatever pickle does
            if not kernel.signatures:  # a function that could not be saved is compiled all the same
                kernel = uncompiled(function)
                kernel.compile(signature)  # without a cache: what fails here is the function
        kernel.disable_compile()
        return kernel

    return compile_one


def uncompiled(function: Callable[..., Any]) -> Any:
    """Return a function that waits to be compiled, without a cache."""
    return numba.njit(error_model="numpy", nogil=True)(function)
