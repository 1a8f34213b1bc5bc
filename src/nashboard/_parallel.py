"""Threads: how many the linear algebra may use, resampling on all cores, and long calls that Ctrl-C can end.

On small systems threads cost more time than they save, and on a busy machine they wait for each other: a game of
200 agents can take a hundred times as long with two threads as with one. So small systems use one thread, and large
ones use all.

Resamples are spread over threads, since the linear algebra releases the interpreter's lock. Every draw has its own
stream of random numbers, which depends only on the seed, the question and the number of the draw, so that the answer
does not depend on the number of workers.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from nashboard._progress import show_progress
from nashboard.errors import InputError

T = TypeVar("T")
PIECE_SIZE = 16  # resamples that a worker solves at once
POLL_SECONDS = 0.2  # seconds between checks for Ctrl-C
ONE_THREAD_SIZE = 1500  # systems up to this size are solved by one thread


@cache
def find_controller(scipy: bool) -> ThreadpoolController:
    """Find the loaded libraries, once."""
    if scipy:  # only a loaded library is found
        import scipy.linalg.lapack as lapack

        assert lapack
    return ThreadpoolController()


@cache
def find_blas_libraries(scipy: bool) -> tuple[Any, ...]:
    """Return the linear algebra among the libraries."""
    return tuple(find_controller(scipy).select(user_api="blas").lib_controllers)


@contextmanager
def threads_for(size: int, *, scipy: bool = True) -> Iterator[None]:
    """Use one thread for up to ``ONE_THREAD_SIZE`` agents, else all; ``scipy=False`` limits numpy's library only."""
    if size > ONE_THREAD_SIZE or all(library.num_threads == 1 for library in find_blas_libraries(scipy)):
        yield
        return
    with find_controller(scipy).limit(limits=1, user_api="blas"):
        yield


def count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_interruptibly(work: Callable[[], T]) -> T:
    """Return the result of a long call into a library; Ctrl-C does not wait for its end."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(POLL_SECONDS)  # a wait without a limit would miss a signal that another thread received
    if errors:
        raise errors[0]
    return results[0]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many resamples, from which seed, by how many workers, and whether to show progress."""

    n_resamples: int
    seed: int
    workers: int | None
    progress: bool

    def streams(self, question: int, draws: Iterable[int] | None = None) -> list[np.random.Generator]:
        """Return the generators of some draws, or of all; questions have streams of their own."""
        numbers = range(self.n_resamples) if draws is None else draws
        seeds = (np.random.SeedSequence([self.seed, question], spawn_key=(k,)) for k in numbers)
        return [np.random.default_rng(seed) for seed in seeds]


def make_plan(n_resamples: int, rng: int | np.random.Generator, workers: int | None, progress: bool = False) -> Plan:
    """Check the options of resampling."""
    if isinstance(n_resamples, bool) or not isinstance(n_resamples, int | np.integer) or n_resamples < 1:
        raise InputError(f"n_resamples is {n_resamples!r}: it must be a whole number, at least 1 (200 is usual)")
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers is {workers!r}: it must be a whole number, at least 1, or None for all cores")
    if isinstance(rng, np.random.Generator):
        seed = int(rng.integers(2**63))
    elif isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        seed = int(rng)
    else:
        raise InputError(f"rng is {rng!r}: give a seed, a whole number not below 0, or a numpy Generator")
    return Plan(n_resamples=int(n_resamples), seed=seed, workers=workers, progress=progress)


def run_resamples(work: Callable[[list[np.random.Generator]], T], plan: Plan, question: int, what: str) -> list[T]:
    """Divide all resamples into pieces, compute them on the workers, and return the results in order."""
    pieces = [range(at, min(at + PIECE_SIZE, plan.n_resamples)) for at in range(0, plan.n_resamples, PIECE_SIZE)]
    results: list[T] = []
    # one thread of linear algebra for each worker: the workers share the cores
    with threads_for(1), show_progress(what, total=plan.n_resamples, asked=plan.progress) as progress:
        pool = ThreadPoolExecutor(max_workers=plan.workers or count_cores())
        try:
            answers = pool.map(lambda piece: work(plan.streams(question, piece)), pieces)
            for piece, answer in zip(pieces, answers, strict=True):
                results.append(answer)
                progress.advance(len(piece))
        finally:
            pool.shutdown(cancel_futures=True)  # after Ctrl-C no further piece is started
    return results
