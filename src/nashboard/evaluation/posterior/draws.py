"""Draws of the truth: what every model of the data returns, and all that the board is computed from."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from nashboard._types import Floats, read_only


@dataclass(frozen=True, kw_only=True, eq=False)
class Draws:
    """S draws of the truth for C classes of agents (exact copies merged, canonical order).

    Parameters
    ----------
    gaps
        ``(S, C)`` distance to the best in each draw, at least 0, and exactly 0 in the support of the equilibrium;
        log-odds for matches, task units for scores.
    weights
        ``(S, C)`` equilibrium weights, each row sums to 1.
    point
        ``(C,)`` point estimate of the gap: the posterior mean.
    ratings
        ``(S, C)`` ratings in log-odds, for matches: mean 0 over well-measured classes.
    means
        ``(S, C)`` plain means of the raw scores, for scores.
    task_weights
        ``(S, T)`` equilibrium weights of the tasks.
    payoffs
        ``(S, C, C)`` payoffs, or ``(S, C, T)`` scores in task units; None where they do not fit in memory.
    expected
        ``(C, C)`` or ``(C, T)`` posterior mean of the payoffs; it fills pairs that never met and missing cells.
    facts
        Facts about the fitted model, for sentences: ``sigma``, ``tau``, tasks set aside, the noise used, ...
    """

    gaps: Floats
    weights: Floats
    point: Floats
    ratings: Floats | None = None
    means: Floats | None = None
    task_weights: Floats | None = None
    payoffs: Floats | None = None
    expected: Floats | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for array in self.arrays():
            read_only(array)

    def arrays(self) -> Iterator[Floats]:
        """Iterate over the arrays that are present."""
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, np.ndarray):
                yield value

    def __len__(self) -> int:
        return len(self.gaps)

    def __repr__(self) -> str:
        draws, classes = self.gaps.shape
        return f"Draws({draws:,} draws of {classes:,} agents)"
