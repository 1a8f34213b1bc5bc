"""What the hierarchical model knows of strengths: posterior means and covariances that compare and plan need."""

from typing import Any

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.data.matches import NO_COUNTS, Matches
from nashboard.errors import InputError
from nashboard.ratings.hierarchical import HierarchicalFit


def require_counts(matches: Matches) -> None:
    """Refuse win rates without numbers of games: nothing is known about their errors."""
    if NO_COUNTS in matches.origin.notes:
        raise InputError(
            "these are win rates without numbers of games, so that their errors are unknown",
            hint="give the games of each pair, as in Matches.from_win_rates(P, games=100)",
        )


def head_to_head(fit: HierarchicalFit, i: int, j: int) -> tuple[float, float]:
    """Return posterior mean and variance of the log-odds that ``i`` beats ``j``, over the whole grid of sigma and tau.

    Given sigma and tau, the difference of ratings ``d`` has variance ``V``. A pair with information ``D`` of its own
    has ``x = d + c``, where ``E[x | d]`` has slope ``s = 1 / (1 + tau^2 D)`` in ``d`` and ``Var[x | d] = tau^2 s``.
    So ``Var[x] = tau^2 s + s^2 V``: own games and games against common opponents count as much as they tell.
    """
    kept = np.flatnonzero(fit.weights > 1e-3 * fit.weights.max())
    weights = fit.weights[kept] / fit.weights[kept].sum()
    sigma, tau = fit.grid[kept].T
    contrast = np.zeros((len(kept), len(fit.agents)))
    contrast[:, i], contrast[:, j] = 1.0, -1.0
    solved = fit.system.solve(fit.modes.curvature[kept], 1 / sigma**2, contrast)
    centre = fit.modes.ratings[kept] + np.array([fit.skewness_shift(int(g)) for g in kept])
    means, variances, slope = centre[:, i] - centre[:, j], solved[:, i] - solved[:, j], np.ones(len(kept))
    pair = pair_row(fit.counts.i, fit.counts.j, i, j)
    if pair is not None:
        sign = 1.0 if i < j else -1.0
        means = means + sign * tau**2 * fit.modes.slope[kept, pair]
        slope = 1 - tau**2 * fit.modes.curvature[kept, pair]
    mean = float(weights @ means)
    return mean, float(weights @ (tau**2 * slope + slope**2 * variances + (means - mean) ** 2))


def pair_row(first: Ints, second: Ints, i: int, j: int) -> int | None:
    """Return the row of a pair, or None where the two never met."""
    row = np.flatnonzero((first == min(i, j)) & (second == max(i, j)))
    return int(row[0]) if row.size else None


def rating_covariance(fit: HierarchicalFit) -> Floats:
    """Return the posterior covariance of the ratings at the average information over the grid."""
    W = fit.weights @ fit.modes.curvature
    precision = float(fit.weights @ (1 / fit.grid[:, 0] ** 2))
    n, (i, j) = len(fit.agents), (fit.counts.i, fit.counts.j)
    H = np.zeros((n, n))
    H[i, j] = H[j, i] = -W
    H[np.arange(n), np.arange(n)] = precision - H.sum(axis=1)
    return np.asarray(np.linalg.inv(H))


def typical_tau(fit: HierarchicalFit) -> float:
    """Return the posterior median of tau: where it cannot be learned, its mean is mostly the tail of the prior."""
    order = np.argsort(fit.grid[:, 1], kind="stable")
    half = int(np.searchsorted(np.cumsum(fit.weights[order]), 0.5))
    return float(fit.grid[order[min(half, len(order) - 1)], 1])


def added_information(variance: Floats | float, tau: float, before: Any, games: Any) -> Any:
    """Return what more games of a pair tell about the difference of its ratings.

    ``D`` games' worth of information about the pair is ``D / (1 + tau^2 D)`` about the ratings: the rest is about the
    cyclic part of this pair. ``variance`` is that of one result.
    """
    after = variance * (before + games)
    before = variance * before
    return after / (1 + tau**2 * after) - before / (1 + tau**2 * before)


def results_of_pair(matches: Matches, i: int, j: int) -> tuple[float, float, float]:
    """Return wins, draws and losses of ``i`` against ``j``."""
    k = pair_row(matches.pairs[:, 0], matches.pairs[:, 1], i, j)
    if k is None:
        return 0.0, 0.0, 0.0
    own, other = (matches.wins, matches.losses) if i < j else (matches.losses, matches.wins)
    return float(own[k]), float(matches.draws[k]), float(other[k])
