"""The log-odds of a game between two agents: own games, games against common opponents, planes, clusters of votes."""

import math

import numpy as np

from nashboard._types import Ints
from nashboard.data.matches import Matches
from nashboard.errors import InputError
from nashboard.evaluation.posterior.duplicates import MOST_TRAITS
from nashboard.ratings.hierarchical import HierarchicalFit, PairCounts, fit_hierarchical
from nashboard.ratings.hierarchical_planes import PlaneDraws, count_planes, sample_planes

PLANE_DRAWS = 1000  # where traits explain cycles


def fit_as_evaluate(matches: Matches) -> tuple[HierarchicalFit, PlaneDraws | None]:
    """Return the hierarchical model, and draws from it with planes of rotation where `evaluate` finds any."""
    fit = fit_hierarchical(matches)
    planes = count_planes(fit) if len(fit.agents) <= MOST_TRAITS else 0
    return fit, sample_planes(fit, planes, PLANE_DRAWS, 0) if planes else None


def head_to_head(
    matches: Matches, fit: HierarchicalFit, drawn: PlaneDraws | None, i: int, j: int
) -> tuple[float, float, float, int | None]:
    """Return posterior mean and variance of the log-odds that ``i`` beats ``j``, the variance of one more game about
    them, and the number of clusters, if any.
    """
    mean, variance = lead_by_ratings(fit, i, j) if drawn is None else lead_by_planes(fit, drawn, i, j)
    inflation, clusters = measure_inflation(matches, fit, i, j)
    per_game = fit.counts.dispersion * inflation * (2 + 2 * math.cosh(mean))  # 1 / (p (1 - p))
    return mean, variance * inflation, per_game, clusters


def lead_by_ratings(fit: HierarchicalFit, i: int, j: int) -> tuple[float, float]:
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


def lead_by_planes(fit: HierarchicalFit, drawn: PlaneDraws, i: int, j: int) -> tuple[float, float]:
    """Return mean and variance of the same log-odds where traits explain cycles, as on the board of `evaluate`."""
    a, b = drawn.places[:, i], drawn.places[:, j]
    means = a[:, 0] - b[:, 0] + (a[:, 1::2] * b[:, 2::2] - a[:, 2::2] * b[:, 1::2]).sum(axis=1)
    variances = drawn.scales[:, 1] ** 2
    pair = pair_row(fit.counts.i, fit.counts.j, i, j)
    if pair is not None:  # what the two showed in their own games
        z, noise = (part[pair] for part in fit.counts.normal(fit.expected))
        own = variances / (variances + noise)
        means, variances = means + own * ((z if i < j else -z) - means), own * noise
    return float(means.mean()), float(variances.mean() + means.var())


def measure_inflation(matches: Matches, fit: HierarchicalFit, i: int, j: int) -> tuple[float, int | None]:
    """Return by what factor clusters raise the variance of a comparison beyond the model's, and how many there are.

    The model's dispersion knows that votes of one cluster on one pair agree. A voter with a taste also agrees with
    itself over many pairs, which the squared scores of whole clusters show (a sandwich estimate, never below 1).
    """
    split = matches.clusters
    if split is None:
        return 1.0, None
    counts = fit.counts
    assert isinstance(counts, PairCounts)
    g = int(np.argmax(fit.weights))
    sigma, tau = fit.grid[g]
    first, second = counts.i, counts.j
    contrast = np.zeros(len(fit.agents))
    contrast[i], contrast[j] = 1.0, -1.0
    W = fit.modes.curvature[g]
    solved = fit.system.solve(W[None], np.array([1 / sigma**2]), contrast[None])[0]
    shrink = 1 - tau**2 * W  # a result moves the ratings, and the cyclic part of its own pair
    effect = (solved[first] - solved[second]) * shrink
    own = pair_row(first, second, i, j)
    if own is not None:
        effect = effect * shrink[own]
        effect[own] += (1.0 if i < j else -1.0) * tau**2 * shrink[own]
    x = fit.modes.ratings[g]
    p = 1 / (1 + np.exp(x[second] - x[first] - fit.modes.cyclic[g]))
    played = split.wins + split.draws + split.losses
    score = effect[split.pair] * (split.wins + split.draws / 2 - played * p[split.pair]) / counts.dispersion
    total = np.bincount(split.cluster, score, minlength=split.size)
    clusters = int((np.bincount(split.cluster, np.abs(effect[split.pair]), minlength=split.size) > 0).sum())
    if clusters < 2:
        raise InputError("all games belong to one cluster: a comparison needs at least two")
    model = float((effect**2 * p * (1 - p) * counts.games).sum())
    return max(1.0, float((total**2).sum()) * clusters / (clusters - 1) / model), clusters


def pair_row(first: Ints, second: Ints, i: int, j: int) -> int | None:
    """Return the row of a pair, or None where the two never met."""
    row = np.flatnonzero((first == min(i, j)) & (second == max(i, j)))
    return int(row[0]) if row.size else None
