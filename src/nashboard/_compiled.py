"""Compiled functions, kept on disk where that is possible.

numba keeps what it compiled beside the source, or in the user's cache, or in ``NUMBA_CACHE_DIR``; where none of them
can be written, or what is kept there is damaged, numba gives up. The cache only saves seconds, so here it may fail.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any


def compiled(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function for one signature when it is first used; division by zero gives infinity, as in numpy."""
    return lambda function: Kernel(function, signature)


class Kernel:
    """A function that is compiled, or read from the disk, when it is first called or compiled into another one.

    Importing numba and loading all functions of a module takes half a second, and most commands need few of them.
    """

    def __init__(self, function: Callable[..., Any], signature: Any) -> None:
        self.function, self.signature = function, signature

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba compiled it."""
        kernel = uncompiled(self.function)
        if kernel is self.function:  # numba is switched off by NUMBA_DISABLE_JIT
            return kernel
        try:
            kernel.enable_caching()
            kernel.compile(self.signature)
        except Exception:  # no place for a cache, no room in it, or a damaged file, which raises whatever pickle does
            if not kernel.signatures:  # a function that could not be saved is compiled all the same
                kernel = uncompiled(self.function)
                kernel.compile(self.signature)  # without a cache: what fails here is the function
        kernel.disable_compile()
        return kernel

    @property
    def _numba_type_(self) -> Any:
        """What numba asks where another compiled function calls this one."""
        from numba import types

        return types.Dispatcher(self.dispatcher)

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        try:
            return self.dispatcher(*arguments)
        except SystemError as error:
            cause: BaseException | None = error
            while isinstance(cause, SystemError):  # numba calls a function of Python while Ctrl-C waits
                cause = cause.__cause__
            if isinstance(cause, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            raise


def uncompiled(function: Callable[..., Any]) -> Any:
    """Return a function that waits to be compiled, without a cache."""
    import numba

    return numba.njit(error_model="numpy", nogil=True)(function)
