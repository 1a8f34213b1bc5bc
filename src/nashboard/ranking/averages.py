"""Methods that average: payoffs, win rates, points per opponent, scores.

Symbols: as in `pairwise`.
"""

import numpy as np

from nashboard._types import Floats
from nashboard.errors import InputError
from nashboard.ranking.method import Outcome
from nashboard.ranking.pairwise import Pairwise


def uniform(data: Pairwise) -> Outcome:
    """Average with equal weights: payoffs over all agents, or comparable scores over all tasks."""
    if data.table is not None:
        return Outcome(scores=data.table.mean(axis=1), unit="mean of the scaled scores")
    return Outcome(scores=data.payoffs.mean(axis=1), unit=f"mean payoff ({data.unit})", scale=data.largest)


def mean(data: Pairwise) -> Outcome:
    """Average the raw scores, as published tables do; with single runs, the mean over tasks of the mean over runs."""
    if data.raw is None:
        raise InputError("the mean score needs scores of agents on tasks")
    return Outcome(scores=data.raw.mean(axis=1))


def median(data: Pairwise) -> Outcome:
    """Take the median over tasks of each agent's comparable score (its mean over runs)."""
    if data.table is None:
        raise InputError("the median needs scores of agents on tasks")
    return Outcome(scores=np.median(data.table, axis=1))


def interquartile_mean(data: Pairwise) -> Outcome:
    """Average the middle half of each agent's scores over runs and tasks, in comparable units."""
    if data.runs is not None:
        return Outcome(scores=np.array([trimmed_mean(runs.ravel()) for runs in data.runs]))
    if data.table is None:
        raise InputError("the interquartile mean needs scores of agents on tasks")
    return Outcome(scores=np.array([trimmed_mean(row) for row in data.table]))


def trimmed_mean(values: Floats, share: float = 0.25) -> float:
    """Return the mean without a share of the values (rounded down) at each end."""
    cut = int(share * values.size)
    return float(np.sort(values)[cut : values.size - cut].mean())


def win_rate(data: Pairwise) -> Outcome:
    """Divide each agent's points by its games; a draw is half a point."""
    games = data.games.sum(axis=1)
    return Outcome(scores=np.divide(data.points.sum(axis=1), games, out=np.full(data.size, 0.5), where=games > 0))


def borda(data: Pairwise) -> Outcome:
    """Add up an agent's win rates against each opponent; on a table of scores, its mean points per task."""
    return Outcome(scores=data.rates.sum(axis=1) - 0.5)
