"""Standard errors of mElo's ratings, from the curvature of the penalised loss at its minimum.

The Hessian is taken in ratings and planes together and inverted on the directions that change a prediction; the
ratings' part of the inverse is their covariance. It is an approximation: it holds the valley to be a paraboloid, which
it is with many games per agent, and the planes' prior for right. In leagues with few games resample instead.
"""

from dataclasses import replace

import numpy as np

from nashboard._types import Floats
from nashboard.ratings.elo_errors import diagonal
from nashboard.ratings.melo_loss import MeloLoss
from nashboard.ratings.trust_region import inner_step

DENSE = 1000  # unknowns up to which the Hessian is formed


def melo_standard_errors(landscape: MeloLoss, Z: Floats, origin: Floats) -> Floats:
    """Return ``(n,)`` standard errors in logits of ``r - origin' r``, for weights ``origin`` (n,) that sum to 1.

    Exact inverse up to 1,000 unknowns, then an estimate of its diagonal from 64 fixed probe vectors.
    """
    n = landscape.totals.agents
    local = landscape.local(Z)

    def spread(columns: Floats) -> Floats:
        """Put values of the agents' ratings where they belong in ``Z``, one array per column."""
        D = np.zeros((columns.shape[1], *Z.shape))
        D[:, :n, 0] = (columns - np.outer(origin, columns.sum(axis=0))).T
        return D

    if Z.size <= DENSE:
        unit = np.eye(Z.size).reshape(-1, *Z.shape)
        H = np.stack([local.hessian(local.tangent(D)) for D in unit]).reshape(Z.size, -1)
        bends, axes = np.linalg.eigh((H + H.T) / 2)
        real = bends > 1e-10 * bends[-1]  # the others change nothing: constants, turns of a plane
        root = axes[:, real] / np.sqrt(bends[real])

        def solve(D: Floats) -> Floats:
            return np.asarray((D.reshape(len(D), -1) @ root) @ root.T).reshape(D.shape)

    else:

        def solve(D: Floats) -> Floats:
            return np.stack([-solved(local.tangent(right)) for right in D])

        def solved(right: Floats) -> Floats:
            small = 1e-4 * float(np.linalg.norm(right))
            return inner_step(replace(local, gradient=right), 1e150, small)[0]

    def covariance(columns: Floats) -> Floats:
        y = solve(spread(columns))[:, :n, 0].T
        return np.asarray(y - origin @ y)

    return np.asarray(np.sqrt(np.maximum(diagonal(covariance, n, exact=Z.size <= DENSE), 0.0)))
