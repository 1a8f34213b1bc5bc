"""How many threads the linear algebra may use, and long calls that Ctrl-C can end.

On small systems threads cost more than they bring, and on a busy machine they wait for each other: a game of
200 agents can take a hundred times as long with two threads as with one. So small systems use one, and large ones
all there are.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
WAKE = 0.2  # seconds between looks for Ctrl-C
ALONE = 1500  # systems up to this size are solved by one thread


@cache
def controller(scipy: bool) -> ThreadpoolController:
    """Find the libraries once; all that we use are loaded by then."""
    if scipy:  # its own copy of the library has to be loaded before it can be found
        import scipy.linalg.lapack as lapack

        assert lapack
    return ThreadpoolController()


@cache
def libraries(scipy: bool) -> tuple[Any, ...]:
    """Return the linear algebra among the libraries."""
    return tuple(controller(scipy).select(user_api="blas").lib_controllers)


@contextmanager
def threads_for(size: int, *, scipy: bool = True) -> Iterator[None]:
    """Use one thread for a system of up to ``ALONE`` agents, and all for a larger one; perhaps numpy's alone."""
    if size > ALONE or all(library.num_threads == 1 for library in libraries(scipy)):
        yield
        return
    with controller(scipy).limit(limits=1, user_api="blas"):
        yield


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def interruptible(work: Callable[[], T]) -> T:
    """Return what a long call of a library returns; Ctrl-C does not wait for its end."""
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(WAKE)  # a signal that another thread of the process takes does not end a wait without end
    if failed:
        raise failed[0]
    return found[0]
