"""Simulated leagues whose ratings are known."""

import numpy as np

import nashboard as nb
from nashboard._types import Floats


def planted(n: int, games: int, seed: int, spread: float = 200.0) -> tuple[Floats, nb.Matches]:
    """Return true ratings in points, and so many games of every pair."""
    rng = np.random.default_rng(seed)
    r = rng.normal(0, spread, n)
    r -= r.mean()
    i, j = np.triu_indices(n, k=1)
    p = 1 / (1 + 10 ** (-(r[i] - r[j]) / 400))
    W = np.zeros((n, n))
    W[i, j] = rng.binomial(games, p)
    W[j, i] = games - W[i, j]
    return r, nb.Matches.from_counts(W)
