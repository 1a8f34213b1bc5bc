"""Standard errors of Elo ratings, from the curvature of the loss at its minimum.

Symbols: ``V = L^-1`` inverse Hessian on the free nodes; ``B`` covariance of the score; ``T`` takes the mean of
the agents' ratings out where nothing is anchored. Variances are the diagonal of ``T V T'`` (``hessian``, the
inverse of the observed information) or of ``T V B V T'`` (``sandwich``; Huber 1967, White 1980).
"""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit

from nashboard._types import Bools, Floats
from nashboard.data.matches import Matches
from nashboard.errors import ConvergenceError
from nashboard.ratings.laplacian import DENSE, solver, sparse_laplacian
from nashboard.ratings.likelihood import PairTotals

PROBES = 64
BLOCK = 256


def standard_errors(matches: Matches, totals: PairTotals, x: Floats, free: Bools, *, robust: bool) -> Floats:
    """Return ``(n,)`` standard errors in logits; 0 for anchors, NaN where double precision does not tell.

    Up to 2,000 agents they are exact. For more, the diagonal is estimated from 64 fixed probe vectors
    (Bekas, Kokiopoulou and Saad 2007), to about one percent in a well-connected league.
    """
    n = totals.agents
    nodes = totals.nodes_in_play(free)
    moving = free[:nodes]
    loose = bool(moving.all())
    try:
        V = solver(nodes, totals.i, totals.j, totals.derivatives(x)[1], moving, rtol=1e-3)
    except ConvergenceError:  # curvatures too far apart for double precision: nobody knows
        return np.where(free[:n], np.nan, 0.0)
    kept = np.flatnonzero(moving)
    real = kept < n
    B = score_covariance(matches, totals, x)[:nodes, :nodes][kept][:, kept] if robust else None

    def covariance(columns: Floats) -> Floats:
        """Apply ``T V T'`` or ``T V B V T'`` to columns."""
        y = V(taken_out(columns, real, loose, adjoint=True))
        return taken_out(V(B @ y) if B is not None else y, real, loose)

    variances = np.zeros(nodes)
    variances[kept] = diagonal(covariance, kept.size, exact=kept.size <= DENSE)
    return np.sqrt(np.maximum(variances[:n], 0.0))


def taken_out(columns: Floats, real: Bools, loose: bool, *, adjoint: bool = False) -> Floats:
    """Apply ``T = I - 1 a'``, with ``a`` the mean over agents, or its transpose."""
    if not loose:
        return columns
    a = real / real.sum()
    return columns - np.outer(a, columns.sum(axis=0)) if adjoint else columns - a @ columns


def diagonal(product: Callable[[Floats], Floats], size: int, *, exact: bool) -> Floats:
    """Return the diagonal of a symmetric operator, exactly or from 64 fixed probe vectors."""
    if exact:
        found = np.empty(size)
        for start in range(0, size, BLOCK):
            rows = np.arange(start, min(start + BLOCK, size))
            unit = np.zeros((size, rows.size))
            unit[rows, rows - start] = 1.0
            found[rows] = product(unit)[rows, rows - start]
        return found
    signs: Floats = np.random.default_rng(0).choice(np.array([-1.0, 1.0]), size=(size, PROBES))
    return np.asarray((signs * product(signs)).mean(axis=1))


def score_covariance(matches: Matches, totals: PairTotals, x: Floats) -> csr_array:
    """Return ``B``, the sum over games (or clusters) of the squared score, without the prior's games."""
    played = len(matches.pairs)
    i, j = totals.i[:played], totals.j[:played]
    p = expit(x[:played])
    if matches.clusters is None:
        spread = matches.wins * (1 - p) ** 2 + matches.draws * (0.5 - p) ** 2 + matches.losses * p**2
        return sparse_laplacian(totals.nodes, i, j, spread)
    split = matches.clusters
    score = split.wins + split.draws / 2 - (split.wins + split.draws + split.losses) * p[split.pair]
    rows = np.concatenate([split.cluster, split.cluster])
    columns = np.concatenate([i[split.pair], j[split.pair]])
    scores = csr_array((np.concatenate([score, -score]), (rows, columns)), shape=(split.size, totals.nodes))
    return csr_array(scores.T @ scores)
