"""The linear systems ``H = B' W B + I / sigma^2`` of the hierarchical model, dense or iterative.

``B`` is the incidence of pairs (+1 for the first agent, -1 for the second), ``W`` the information of each pair. Up to
``DENSE`` agents they are factorised, many at once; beyond, conjugate gradients and stochastic Lanczos quadrature
need only products with the sparse matrix.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nashboard._types import Floats, Ints

DENSE = 2000
PROBES, LANCZOS = 16, 40  # of the log-determinant of sparse systems: probes and steps
CLOSE = 1e-8


@dataclass(frozen=True, kw_only=True, eq=False)
class DenseSystem:
    """Systems that are factorised; ``W`` is (G, p), ``precision`` (G,), right sides are (G, n)."""

    n: int
    i: Ints
    j: Ints

    @property
    def size(self) -> int:
        """Numbers that one system occupies."""
        return self.n * self.n

    def matrices(self, W: Floats, precision: Floats) -> Floats:
        """Return ``H`` of each row."""
        H = np.zeros((len(W), self.n, self.n))
        H[:, self.i, self.j] = -W
        H[:, self.j, self.i] = -W
        diagonal = np.arange(self.n)
        H[:, diagonal, diagonal] = precision[:, None] - H.sum(axis=2)
        return H

    def solve(self, W: Floats, precision: Floats, right: Floats) -> Floats:
        """Solve one system per row."""
        return np.asarray(np.linalg.solve(self.matrices(W, precision), right[..., None])[..., 0])

    def solve_many(self, W: Floats, precision: float, right: Floats) -> Floats:
        """Solve one system for many right sides."""
        return np.asarray(np.linalg.solve(self.matrices(W[None], np.array([precision]))[0], right))

    def log_determinants(self, W: Floats, precision: Floats) -> Floats:
        """Return ``log det H`` of each row."""
        factors = np.linalg.cholesky(self.matrices(W, precision))
        return np.asarray(2 * np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1))

    def traces(self, W: Floats, precision: Floats) -> Floats:
        """Return ``tr H^-1`` of each row."""
        return np.asarray(np.trace(np.linalg.inv(self.matrices(W, precision)), axis1=1, axis2=2))

    def sample(self, W: Floats, precision: float, streams: list[np.random.Generator]) -> Floats:
        """Draw from ``N(0, H^-1)``: ``L^-T z`` for ``H = L L'``."""
        from scipy.linalg import solve_triangular

        L = np.linalg.cholesky(self.matrices(W[None], np.array([precision]))[0])
        z = np.stack([rng.standard_normal(self.n) for rng in streams], axis=1)
        return np.asarray(solve_triangular(L, z, lower=True, trans="T").T)

    def pair_variances(self, W: Floats, precision: float) -> Floats | None:
        """Return ``diag(B H^-1 B')``."""
        inverse = np.linalg.inv(self.matrices(W[None], np.array([precision]))[0])
        own = np.diag(inverse)
        return np.asarray(own[self.i] + own[self.j] - 2 * inverse[self.i, self.j])


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseSystem:
    """Systems of large leagues, solved by conjugate gradients."""

    n: int
    i: Ints
    j: Ints

    @property
    def size(self) -> int:
        """Numbers that one system occupies."""
        return 4 * len(self.i)

    @cached_property
    def probes(self) -> Floats:
        """Random signs, the same at every grid point, so that differences of log-determinants are precise."""
        return np.random.default_rng(0).choice([-1.0, 1.0], size=(self.n, PROBES))

    def sums(self, of_first: Floats, of_second: Floats) -> Floats:
        """Sum a number over each agent's pairs, given for the first and the second agent of a pair."""
        first, second = (np.bincount(at, x, self.n) for at, x in ((self.i, of_first), (self.j, of_second)))
        return np.asarray(first + second, dtype=np.float64)

    def matrix(self, W: Floats, precision: float) -> tuple[Any, Floats]:
        """Return ``H`` as a sparse matrix, and its diagonal."""
        from scipy.sparse import csr_array

        diagonal = self.sums(W, W) + precision
        own = np.arange(self.n)
        rows, columns = np.concatenate([self.i, self.j, own]), np.concatenate([self.j, self.i, own])
        return csr_array((np.concatenate([-W, -W, diagonal]), (rows, columns)), shape=(self.n, self.n)), diagonal

    def solve(self, W: Floats, precision: Floats, right: Floats) -> Floats:
        """Solve one system per row."""
        return np.stack(
            [
                conjugate_gradients(*self.matrix(w, float(t)), b[:, None])[:, 0]
                for w, t, b in zip(W, precision, right, strict=True)
            ]
        )

    def solve_many(self, W: Floats, precision: float, right: Floats) -> Floats:
        """Solve one system for many right sides."""
        return conjugate_gradients(*self.matrix(W, precision), right)

    def log_determinants(self, W: Floats, precision: Floats) -> Floats:
        """Return ``log det H`` of each row, by stochastic Lanczos quadrature of the scaled matrix."""
        found = []
        for w, t in zip(W, precision, strict=True):
            H, diagonal = self.matrix(w, float(t))
            found.append(np.log(diagonal).sum() + lanczos_log_determinant(H, 1 / np.sqrt(diagonal), self.probes))
        return np.array(found)

    def traces(self, W: Floats, precision: Floats) -> Floats:
        """Return ``tr H^-1`` of each row, estimated by Hutchinson's method with the same probes."""
        found = []
        for w, t in zip(W, precision, strict=True):
            solved = conjugate_gradients(*self.matrix(w, float(t)), self.probes, close=1e-3)
            found.append((solved * self.probes).sum() / PROBES)
        return np.array(found)

    def sample(self, W: Floats, precision: float, streams: list[np.random.Generator]) -> Floats:
        """Draw from ``N(0, H^-1)``: solve ``H x = B' W^(1/2) z + sigma^-1 z'``, whose right side has covariance H."""
        right = np.empty((self.n, len(streams)))
        for k, rng in enumerate(streams):
            z = np.sqrt(W) * rng.standard_normal(len(W))
            right[:, k] = self.sums(z, -z)
            right[:, k] += np.sqrt(precision) * rng.standard_normal(self.n)
        return np.asarray(conjugate_gradients(*self.matrix(W, precision), right).T)

    def pair_variances(self, W: Floats, precision: float) -> Floats | None:
        """Return None: too expensive."""
        return None


System = DenseSystem | SparseSystem


def system_for(n: int, i: Ints, j: Ints) -> System:
    """Return dense systems for up to ``DENSE`` agents, else sparse ones."""
    return (DenseSystem if n <= DENSE else SparseSystem)(n=n, i=i, j=j)


def conjugate_gradients(H: Any, diagonal: Floats, right: Floats, close: float = CLOSE) -> Floats:
    """Solve ``H X = right`` for several right sides at once, preconditioned by the diagonal."""
    X = np.zeros_like(right)
    R = right.copy()
    Z = R / diagonal[:, None]
    P, rz = Z.copy(), (R * Z).sum(axis=0)
    goal = close**2 * np.maximum(rz, 1e-300)
    for _ in range(10 * len(diagonal)):
        if (rz <= goal).all():
            break
        HP = H @ P
        alpha = rz / np.maximum((P * HP).sum(axis=0), 1e-300)
        X += alpha * P
        R -= alpha * HP
        Z = R / diagonal[:, None]
        rz, before = (R * Z).sum(axis=0), rz
        P = Z + (rz / np.maximum(before, 1e-300)) * P
    return X


def lanczos_log_determinant(H: Any, scale: Floats, probes: Floats) -> float:
    """Return ``log det (S H S)`` for a diagonal ``S``: the mean over probes of Gauss quadratures of the logarithm."""
    n, count = probes.shape
    q = probes / np.sqrt(n)
    before, beta = np.zeros_like(q), np.zeros(count)
    alphas, betas = [], []
    for _ in range(min(LANCZOS, n)):
        w = scale[:, None] * (H @ (scale[:, None] * q)) - beta * before
        alpha = (w * q).sum(axis=0)
        w -= alpha * q
        beta = np.sqrt((w * w).sum(axis=0))
        alphas.append(alpha)
        betas.append(beta)
        before, q = q, w / np.maximum(beta, 1e-300)
    middle, beside = np.array(alphas).T, np.array(betas[:-1]).T
    total = 0.0
    for a, b in zip(middle, beside, strict=True):
        values, vectors = np.linalg.eigh(np.diag(a) + np.diag(b, 1) + np.diag(b, -1))
        total += n * float(vectors[0] ** 2 @ np.log(np.maximum(values, 1e-12)))
    return total / int(count)
