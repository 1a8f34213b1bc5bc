"""Maximal lotteries: mixtures of agents that no agent beats by votes."""

from functools import lru_cache
from math import isqrt

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.equilibrium.nash_average import nash_average
from nashboard.ranking.counterexamples import LUCKY_NEWCOMER
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise, group_equal_rows


@register(
    LUCKY_NEWCOMER,
    title="maximal lottery",
    unit="minus the lotteries before",
    complexity="one equilibrium per level",
    reference="Fishburn 1984; Brandl, Brandt, Seedig 2016, Consistent probabilistic social choice",
)
def maximal_lottery(data: Pairwise) -> Outcome:
    """Find the lottery over agents that no agent beats by votes, then that of the remaining agents, and so on.

    Scores are minus the number of lotteries before the one in which an agent has weight; weights are of the first.
    """
    first, group = group_equal_rows(data.margins)  # copies share a lottery
    M = data.margins[np.ix_(first, first)]
    level = np.zeros(first.size, dtype=np.intp)
    weights = np.zeros(first.size)
    left = np.arange(first.size)
    depth, worst = 0, 0.0
    while left.size:
        top = find_top_cycle(M[np.ix_(left, left)])
        share, exploitability = solve_lottery(M[np.ix_(left[top], left[top])].tobytes())
        winners = left[top][share > 0]
        if depth == 0:
            weights[left[top]] = share
        worst = max(worst, exploitability)
        level[winners] = depth
        left = np.setdiff1d(left, winners)
        depth += 1
    return Outcome(
        scores=-level[group].astype(np.float64),
        weights=(weights / np.bincount(group))[group],
        certificate={"exploitability": worst},
    )


@lru_cache(maxsize=256)  # data with copies have the same lotteries again
def solve_lottery(margins: bytes) -> tuple[Floats, float]:
    """Return the lottery of one group, and the gain of the best response to it."""
    M = np.frombuffer(margins)
    n = isqrt(M.size)
    found = nash_average(M.reshape(n, n)) if n > 1 else None
    return (np.ones(1), 0.0) if found is None else (found.weights, found.exploitability)


def find_top_cycle(M: Floats) -> Ints:
    """Return the smallest set of agents that beat all others: the first strong component of the wins and ties."""
    from scipy.sparse.csgraph import connected_components

    beats = (M > 0).sum(axis=1) + (M == 0).sum(axis=1) / 2
    best = int(beats.argmax())  # a Copeland winner belongs to it
    if (np.delete(M[best], best) > 0).all():
        return np.array([best], dtype=np.intp)
    _, part = connected_components(M >= 0, directed=True, connection="strong")
    return np.asarray(np.flatnonzero(part == part[best]), dtype=np.intp)
