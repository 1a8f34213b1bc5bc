"""The loss of mElo as a landscape for `trust_region`: what may move, and what each step means.

Symbols: ``Z`` (nodes, 1 + 2k), ratings ``r`` in column 0, then the planes ``C``; the last node is the average agent of
`likelihood`, whose cyclic part is zero. ``C`` is centred, so that ratings keep their meaning. The penalty
``mu / 2 |C|^2`` is a Gaussian prior; over all ``C`` with the same products it amounts to ``mu`` times the sum of the
planes' strengths, so weak planes vanish.

With ``orthogonal`` each column of ``C`` is also orthogonal to the centred ratings, as in the paper: a curved
set, on which gradient and Hessian are those of the Lagrangian, projected onto the tangent space.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nashboard._types import Floats
from nashboard.ratings import kernels
from nashboard.ratings.likelihood import PairTotals
from nashboard.ratings.trust_region import LocalModel


@dataclass(frozen=True, kw_only=True, eq=False)
class MeloLoss:
    """The penalised loss of mElo on pair counts."""

    totals: PairTotals
    mu: float
    orthogonal: bool = False

    @cached_property
    def average_plays(self) -> bool:
        """Whether the average agent has games, that is, whether there is a prior."""
        return bool((self.totals.j == self.totals.agents).any())

    def leads(self, Z: Floats) -> Floats:
        """Return the lead on each pair."""
        return np.asarray(kernels.leads(np.ascontiguousarray(Z), self.totals.i, self.totals.j))

    def loss(self, Z: Floats) -> float:
        """Return the penalised loss."""
        return self.totals.loss(self.leads(Z)) + self.mu / 2 * float((Z[:, 1:] ** 2).sum())

    def local(self, Z: Floats) -> LocalModel:
        """Return gradient, Hessian products and preconditioner, on the tangent space."""
        t = self.totals
        x = self.leads(Z)
        g, h = t.derivatives(x)
        G = kernels.pulled(Z, g, t.i, t.j)
        G[:, 1:] += self.mu * Z[:, 1:]
        G = self.flat(G)
        normals = Normals(Z, t.agents) if self.orthogonal and Z.shape[1] > 1 and Z[:, 0].any() else None
        pull = normals.multipliers(G) if normals else np.zeros(0)

        def tangent(D: Floats) -> Floats:
            D = self.flat(D)
            return normals.removed(D) if normals else D

        def hessian(D: Floats) -> Floats:
            H = kernels.curved(Z, D, g, h, t.i, t.j)
            H[:, 1:] += self.mu * D[:, 1:]
            return tangent(normals.bent(H, D, pull) if normals else H)

        blocks = kernels.blocks(Z, h, t.i, t.j)
        size = Z.shape[1]
        blocks[:, np.arange(1, size), np.arange(1, size)] += self.mu
        lift = 1e-6 * np.trace(blocks, axis1=1, axis2=2).max() / size
        inverse = np.linalg.inv(blocks + lift * np.eye(size))

        def precondition(D: Floats) -> Floats:
            return tangent(np.einsum("nst,nt->ns", inverse, D))

        return LocalModel(gradient=tangent(G), tangent=tangent, hessian=hessian, precondition=precondition)

    def moved(self, Z: Floats, step: Floats) -> Floats:
        """Return the point after a step, back on the set of points that are allowed."""
        Z = Z + step
        if self.orthogonal:
            r = Z[:-1, 0] - Z[:-1, 0].mean()
            if r.any():
                Z[:-1, 1:] -= np.outer(r, r @ Z[:-1, 1:]) / (r @ r)
        return Z

    def flat(self, D: Floats) -> Floats:
        """Keep the average agent without planes, the planes centred, and the mean rating where it is."""
        D = D.copy()
        D[-1, 1 if self.average_plays else 0 :] = 0.0
        total = np.add.reduce(D)  # mean() takes three times as long, and this is half of a step
        D[:-1, 1:] -= total[1:] / (len(D) - 1)
        rated = len(D) if self.average_plays else len(D) - 1
        D[:rated, 0] -= total[0] / rated
        return D


class Normals:
    """The directions that break ``r'C = 0``: for column ``t``, ``C[:, t]`` in the ratings and ``r`` in that column."""

    def __init__(self, Z: Floats, agents: int) -> None:
        self.r, self.C = Z[:agents, 0] - Z[:agents, 0].mean(), Z[:agents, 1:]
        self.gram = self.C.T @ self.C + float(self.r @ self.r) * np.eye(self.C.shape[1])

    def multipliers(self, D: Floats) -> Floats:
        """Return the coefficients of the normals nearest to ``D``."""
        n = self.r.size
        return np.asarray(np.linalg.solve(self.gram, self.C.T @ D[:n, 0] + self.r @ D[:n, 1:]))

    def removed(self, D: Floats) -> Floats:
        """Return the part of ``D`` along the tangent space."""
        return self.bent(D, self.stacked(), self.multipliers(D))

    def stacked(self) -> Floats:
        """Return ratings and planes side by side, which is what the normals are made of."""
        return np.column_stack([self.r, self.C])

    def bent(self, H: Floats, D: Floats, multipliers: Floats) -> Floats:
        """Subtract the second derivative of the constraints in direction ``D``, times the multipliers."""
        n = self.r.size
        H = H.copy()
        H[:n, 0] -= D[:n, 1:] @ multipliers
        H[:n, 1:] -= np.outer(D[:n, 0], multipliers)
        return H
