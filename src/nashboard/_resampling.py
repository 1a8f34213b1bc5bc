"""Resampling on all cores, with the same answer whatever the number of workers.

Every draw has its own stream of random numbers, which depends only on the seed, the question and the number of the
draw. Workers are threads, since the linear algebra releases the interpreter's lock.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from nashboard._progress import show_progress
from nashboard._threads import cores, threads_for
from nashboard.errors import InputError

TOGETHER = 16  # resamples that a worker solves in one go

Piece = TypeVar("Piece")


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


def plan_of(n_resamples: int, rng: int | np.random.Generator, workers: int | None, progress: bool = False) -> Plan:
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


def spread_out(work: Callable[[list[np.random.Generator]], Piece], plan: Plan, question: int, what: str) -> list[Piece]:
    """Let the workers do all resamples, in pieces, and return the pieces in order."""
    pieces = [range(at, min(at + TOGETHER, plan.n_resamples)) for at in range(0, plan.n_resamples, TOGETHER)]
    found: list[Piece] = []
    # one thread of linear algebra for each worker: the workers share the cores
    with threads_for(1), show_progress(what, total=plan.n_resamples, asked=plan.progress) as progress:
        pool = ThreadPoolExecutor(max_workers=plan.workers or cores())
        try:
            answers = pool.map(lambda piece: work(plan.streams(question, piece)), pieces)
            for piece, answer in zip(pieces, answers, strict=True):
                found.append(answer)
                progress.advance(len(piece))
        finally:
            pool.shutdown(cancel_futures=True)  # after Ctrl-C nothing more is started
    return found
