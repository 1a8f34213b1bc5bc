"""What resampling brings together: the samples of every side, agents and (of scores) tasks."""

from collections.abc import Callable

import numpy as np

from nashboard._workers import Plan, spread_out
from nashboard.evaluation.intervals import Samples, joined

STACKED = 80  # players up to which a stack of games is faster than one game after the other


def sampled(
    work: Callable[[list[np.random.Generator]], tuple[Samples, ...]], plan: Plan, question: int, what: str
) -> tuple[Samples, ...]:
    """Let the workers do all resamples; return the samples of each side."""
    return tuple(joined(side) for side in zip(*spread_out(work, plan, question, what), strict=True))
