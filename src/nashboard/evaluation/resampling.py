"""Resampling: which draws are made, by whom, and how they come together.

Every draw has its own stream of random numbers, which depends on the seed, the question and the number of the draw
only, and is computed alone: so the answer is the same whatever the number of workers and wherever they run. What is
drawn is said in `matches_again` and `scores_again`.
"""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np

from nashboard.equilibrium.threads import threads_for
from nashboard.errors import InputError
from nashboard.evaluation.intervals import Samples, joined

TOGETHER = 16  # resamples that a worker solves in one go
STACKED = 80  # players up to which a stack of games is faster than one game after the other


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many resamples, from which seed, by how many workers, and whether to show progress."""

    n_resamples: int
    seed: int
    workers: int
    progress: bool

    def streams(self, question: int) -> list[np.random.Generator]:
        """Return a generator per resample; questions have streams of their own."""
        parent = np.random.SeedSequence([self.seed, question])
        return [np.random.default_rng(child) for child in parent.spawn(self.n_resamples)]


def plan_of(n_resamples: int, rng: int | np.random.Generator, workers: int | None, progress: bool) -> Plan:
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
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Plan(n_resamples=int(n_resamples), seed=seed, workers=workers or cores, progress=progress)


def spread_out(
    work: Callable[[list[np.random.Generator]], tuple[Samples, ...]], plan: Plan, question: int, what: str
) -> tuple[Samples, ...]:
    """Let the workers do all resamples, in pieces, and put the pieces together in order."""
    streams = plan.streams(question)
    pieces = [streams[at : at + TOGETHER] for at in range(0, len(streams), TOGETHER)]
    found = []
    with ExitStack() as stack:
        stack.enter_context(threads_for(1))  # the workers share the cores, not the linear algebra inside them
        pool = stack.enter_context(ThreadPoolExecutor(max_workers=plan.workers))
        advance = stack.enter_context(shown_progress(plan, what))
        for piece, samples in zip(pieces, pool.map(work, pieces), strict=True):
            found.append(samples)
            advance(len(piece))
    return tuple(joined(side) for side in zip(*found, strict=True))


@contextmanager
def shown_progress(plan: Plan, what: str) -> Iterator[Callable[[int], None]]:
    """Show on standard error how far resampling is, where that is a terminal and somebody asked."""
    if not (plan.progress and sys.stderr.isatty()):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=plan.n_resamples)
        yield lambda done: bar.advance(task, done)
