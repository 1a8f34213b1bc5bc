"""Who is in the support? Pairs that lend each other strength, so that noise is not taken for cycles.

Resampled pair by pair, noise looks like cycles, and cycles make supports large. So the probability of having weight
comes from draws of a model in which a payoff is a difference of ratings and a cyclic part,

    x_ij = r_i - r_j + c_ij,    c_ij ~ N(0, tau^2),    measured with variance v_ij

with a flat prior on ``r`` and on ``tau``. Where the residuals are no larger than chance makes them, ``tau`` is
near 0 and the draws are those of Elo; where they are much larger, the draws are those of the games alone.

A draw (Matheron's rule: exact where everything is normal, and it keeps the shape of the games' own distribution): with
``x`` a resample of the games and ``c`` from the prior, ``y = x - c``, ``f = r_i - r_j`` the ratings fitted to ``y``,

    c + f + tau^2 / (tau^2 + v) (y - f)
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from nashboard._threads import threads_for
from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.data.payoffs import smoothed_counts

TAUS = np.concatenate([[0.0], np.geomspace(0.02, 8.0, 24)])  # logits


@dataclass(frozen=True, kw_only=True, eq=False)
class Pooling:
    """Variances of the measured payoffs, and how likely each size of the cyclic part is (`TAUS`, summed up)."""

    agents: int
    pairs: Ints
    variances: Floats
    chances: Floats

    def drawn(self, A: Floats, rng: np.random.Generator) -> Floats:
        """Return payoffs from the model, given payoffs of resampled games; pairs that never met have no cyclic part."""
        i, j = self.pairs.T
        tau = TAUS[min(int(np.searchsorted(self.chances, rng.random())), len(TAUS) - 1)]
        c = tau * rng.standard_normal(len(i))
        y = A[i, j] - c
        r, _ = fitted_ratings(self.agents, self.pairs, y, 1 / (self.variances + tau**2))
        f = r[i] - r[j]
        B = r[:, None] - r[None, :]
        B[i, j] = c + f + tau**2 / (tau**2 + self.variances) * (y - f)
        B[j, i] = -B[i, j]
        return B


def pooling(matches: Matches) -> Pooling:
    """Learn from all pairs together how large cyclic parts are (restricted likelihood, ratings integrated out)."""
    won, lost = smoothed_counts(matches, 1.0)
    x, v = np.log(won) - np.log(lost), payoff_variances(matches)
    logs = np.empty(len(TAUS))
    with threads_for(len(matches.agents)):
        for k, tau in enumerate(TAUS):
            w = 1 / (v + tau**2)
            r, log_determinant = fitted_ratings(len(matches.agents), matches.pairs, x, w)
            e = x - (r[matches.pairs[:, 0]] - r[matches.pairs[:, 1]])
            logs[k] = (np.log(w).sum() - log_determinant - (w * e * e).sum()) / 2
    chances = np.exp(logs - logs.max()) * np.gradient(TAUS)
    return Pooling(
        agents=len(matches.agents),
        pairs=matches.pairs,
        variances=v,
        chances=np.cumsum(chances) / chances.sum(),
    )


def fitted_ratings(n: int, pairs: Ints, x: Floats, w: Floats) -> tuple[Floats, float]:
    """Return ratings by least squares with weights ``w``, mean 0, and the log-determinant of their system."""
    i, j = pairs.T
    L = np.full((n, n), w.mean())  # settles the mean, which differences leave open
    L[i, j] -= w
    L[j, i] -= w
    L[np.diag_indices(n)] += np.bincount(i, w, minlength=n) + np.bincount(j, w, minlength=n)
    right = np.bincount(i, w * x, minlength=n) - np.bincount(j, w * x, minlength=n)
    factor = cho_factor(L, lower=True)
    # what settles the mean multiplies the determinant by mean(w) and a constant: taken out again
    return cho_solve(factor, right), float(2 * np.log(np.diag(factor[0])).sum() - np.log(w.mean()))


def payoff_variances(matches: Matches) -> Floats:
    """Return the variance of each pair's log-odds by the delta method; of clusters, where that is larger.

    Without draws and clusters it is ``1 / won + 1 / lost``.
    """
    won, lost = smoothed_counts(matches, 1.0)
    p = won / (won + lost)
    spread = (matches.wins + 0.5) * (1 - p) ** 2 + matches.draws * (0.5 - p) ** 2 + (matches.losses + 0.5) * p**2
    split = matches.clusters
    if split is not None:
        q = p[split.pair]
        off = split.wins * (1 - q) + split.draws * (0.5 - q) - split.losses * q
        code, where = np.unique(split.cluster * len(p) + split.pair, return_inverse=True)
        sums = np.bincount(where, off)
        spread = np.maximum(spread, np.bincount(code % len(p), sums**2, minlength=len(p)))
    return np.asarray(spread / ((won + lost) * p * (1 - p)) ** 2)
