"""Entries of a noisy table that are the same agent: found by the evidence, and pooled.

Two rows of measured scores differ by ``d``. If they are the same agent, ``d ~ N(0, v)`` with ``v`` the noise alone. If
not, ``d ~ N(0, v + 2 G)`` with ``G`` the covariance of tasks over agents, learned from the rows of this table that
clearly differ. The log Bayes factor shows a copy, two agents, or that these data cannot tell. No margin is needed:
"alike" is measured against how agents of this table differ.

Where ``G`` is small against the noise nothing can be shown, and nothing is pooled.
"""

from dataclasses import dataclass

import numpy as np

from nashboard._types import Bools, Floats, Ints

ODDS = 4.0  # posterior odds from which entries are pooled: a missed copy and a false one cost about the same
COMPATIBLE = 4.0  # standard deviations of a chi-square beyond which two rows are different without further tests
ROUNDING = 1e-12  # of the variance of all tasks together: smaller noise is lost in a sum with it


@dataclass(frozen=True, kw_only=True, eq=False)
class Pools:
    """Groups of rows that are shown to be the same: the group of each row, and pooled scores and noise per group."""

    label: Ints
    Y: Floats
    V: Floats

    @property
    def sizes(self) -> Ints:
        """Number of rows of each group."""
        return np.bincount(self.label)


def log_evidence(d: Floats, v: Floats, G: Floats) -> Floats:
    """Return the log Bayes factor for "the same" of pairs of rows ``(k, n)``; places with infinite ``v`` do not count.

    Examples
    --------
    >>> import numpy as np
    >>> log_evidence(np.array([[0.1, -0.1], [1.0, 1.0]]), np.full((2, 2), 0.01), np.eye(2)).round(0)
    array([  4., -94.])
    """
    n = d.shape[1]
    seen = np.isfinite(v)
    noise = np.where(seen, v, 1.0)
    both = seen[:, :, None] & seen[:, None, :]
    other = np.where(both, 2 * G, 0.0)
    d = np.where(seen, d, 0.0)
    same = -0.5 * (d**2 / noise + np.log(noise)).sum(axis=1)
    if noise.min() < ROUNDING * np.trace(G):  # lost in a sum with G: the sum is taken by eigenvalue, in units of noise
        scale = np.sqrt(noise)
        values, vectors = np.linalg.eigh(other / (scale[:, :, None] * scale[:, None, :]))
        values = 1 + np.maximum(values, 0.0)
        along = np.einsum("kij,ki->kj", vectors, d / scale)
        return np.asarray(same + 0.5 * (along**2 / values + np.log(values)).sum(axis=1) + np.log(scale).sum(axis=1))
    other[:, np.arange(n), np.arange(n)] += noise
    fit = np.linalg.solve(other, d[..., None])[..., 0]
    return np.asarray(same + 0.5 * (d * fit).sum(axis=1) + 0.5 * np.linalg.slogdet(other)[1])


def agent_covariance(y: Floats, v: Floats) -> Floats:
    """Return the covariance of tasks over agents, from all pairs of rows that clearly differ, noise taken off."""
    m, n = y.shape
    total, count = np.zeros((n, n)), np.zeros((n, n))
    for i in range(m - 1):
        d, noise = y[i] - y[i + 1 :], v[i] + v[i + 1 :]
        seen = np.isfinite(noise)
        far = ~compatible(d, noise)
        d, w = np.where(seen, d, 0.0)[far], seen[far].astype(np.float64)
        total += d.T @ d - np.diag(np.where(seen, noise, 0.0)[far].sum(axis=0))
        count += w.T @ w
    values, vectors = np.linalg.eigh(np.where(count > 0, total / np.maximum(count, 1.0), 0.0) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def compatible(d: Floats, v: Floats) -> Bools:
    """Return which differences are not far beyond noise; places with infinite ``v`` do not count."""
    seen = np.isfinite(v)
    T, places = np.where(seen, d**2 / v, 0.0).sum(axis=1), seen.sum(axis=1)
    return np.asarray((places > 0) & (T - places <= COMPATIBLE * np.sqrt(2 * places)))


def pool_duplicates(Y: Floats, V: Floats) -> Pools:
    """Pool rows that are the same with posterior odds of at least ``ODDS``, the clearest pair first.

    ``Y`` (m, n) has NaN where a score is missing. The prior is a Chinese restaurant process of concentration m: two
    single rows are the same with odds 1 to m, a row and a pool of ten with odds 10 to m. After each merge the pooled
    row is compared again with all others.
    """
    m = len(Y)
    missing = np.isnan(Y)
    y, v = np.where(missing, 0.0, Y), np.where(missing, np.inf, V)
    G = agent_covariance(y, v)
    label = np.arange(m)
    alive = np.ones(m, dtype=np.bool_)
    size = np.ones(m)
    evidence = np.full((m, m), -np.inf)
    for i in range(m - 1):
        evidence[i, i + 1 :] = compare_with(i, np.arange(i + 1, m), y, v, size, G)
    while m > 1:
        i, j = divmod(int(evidence.argmax()), m)
        if evidence[i, j] < np.log(ODDS * m):
            break
        w = 1 / v[i] + 1 / v[j]
        y[i] = np.where(w > 0, (y[i] / v[i] + y[j] / v[j]) / np.where(w > 0, w, 1.0), 0.0)
        v[i] = np.where(w > 0, 1 / np.where(w > 0, w, 1.0), np.inf)
        size[i] += size[j]
        label[label == j] = i
        alive[j] = False
        evidence[j], evidence[:, j] = -np.inf, -np.inf
        others = np.flatnonzero(alive & (np.arange(m) != i))
        fresh = compare_with(i, others, y, v, size, G)
        evidence[np.minimum(i, others), np.maximum(i, others)] = fresh
    groups, label = np.unique(label, return_inverse=True)
    gone = ~np.isfinite(v[groups])
    return Pools(label=label, Y=np.where(gone, np.nan, y[groups]), V=np.where(gone, 0.0, v[groups]))


def compare_with(i: int, others: Ints, y: Floats, v: Floats, size: Floats, G: Floats) -> Floats:
    """Return log odds, but for the concentration, that row ``i`` is the same as each of the others.

    Rows that clearly differ are -inf.
    """
    from scipy.special import betaln

    d, noise = y[i] - y[others], v[i] + v[others]
    found = np.full(len(others), -np.inf)
    near = compatible(d, noise)
    if near.any():
        found[near] = log_evidence(d[near], noise[near], G) - betaln(size[i], size[others][near])
    return found
