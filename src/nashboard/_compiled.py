"""Compiled functions, cached on disk where that is possible.

numba caches compiled code beside the source, in the user's cache folder or in ``NUMBA_CACHE_DIR``. Where none of them
is writable, or a cached file is damaged, numba raises an error; here the function is compiled without a cache.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any


def compiled(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function for one signature when it is first used; division by zero gives infinity, as in numpy."""
    return lambda function: Kernel(function, signature)


class Kernel:
    """A function that is compiled, or loaded from the cache, when it is first called or compiled into another one.

    Importing numba and loading all functions of a module takes half a second, and most commands need few of them.
    """

    def __init__(self, function: Callable[..., Any], signature: Any) -> None:
        self.function, self.signature = function, signature

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba compiled it."""
        kernel = make_dispatcher(self.function)
        if kernel is self.function:  # numba is switched off by NUMBA_DISABLE_JIT
            return kernel
        try:
            kernel.enable_caching()
            kernel.compile(self.signature)
        except Exception:  # no folder for a cache, a full disk, or a damaged file, which can raise any error of pickle
            if not kernel.signatures:  # a function that could not be saved is compiled nevertheless
                kernel = make_dispatcher(self.function)
                kernel.compile(self.signature)  # without a cache: an error here is one of the function
        kernel.disable_compile()
        return kernel

    @property
    def _numba_type_(self) -> Any:
        """The type by which numba compiles calls of this function in other compiled functions."""
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


def make_dispatcher(function: Callable[..., Any]) -> Any:
    """Return numba's dispatcher of a function, not compiled yet and without a cache."""
    import numba

    return numba.njit(error_model="numpy", nogil=True)(function)
