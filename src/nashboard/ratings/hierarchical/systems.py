"""The prior of ratings, and the linear systems of the hierarchical model.

The linear systems are ``H = B' W B + K``: ``B`` is the incidence of pairs (+1 for the first agent, -1 for the second),
``W`` the information of each pair, and ``K`` the precision of the prior of ratings (`RatingPrior`). Up to ``DENSE``
agents they are factorised, many at once; beyond, conjugate gradients and stochastic Lanczos quadrature need only
products with sparse matrices.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.errors import ConvergenceError
from nashboard.ratings.likelihood import NormalPrior

DENSE = 2000
PROBES, LANCZOS = 16, 40  # of the log-determinant of sparse systems: probes and steps
CLOSE = 1e-8


@dataclass(frozen=True, kw_only=True, eq=False)
class RatingPrior:
    """A normal prior of ``n`` ratings with the precision ``K = D'D / sigma^2 + weak I``.

    ``D r`` is how far ratings are from what is expected: from 0, where ``deviations`` is None, or from the mean of each
    agent's opponents (`likelihood.NormalPrior`).
    """

    n: int
    deviations: Any = None  # D (n, n), sparse
    weak: float = 0.0

    def along(self, q: Floats) -> "RatingPrior":
        """Return the prior in which ratings are a multiple of ``q`` beside these deviations: ``D q = 0``."""
        from scipy.sparse import csr_array

        D = self.deviations.toarray()
        return RatingPrior(n=self.n, deviations=csr_array(D - np.outer(D @ q, q) / (q @ q)), weak=self.weak)

    def deviate(self, r: Floats) -> Floats:
        """Return ``D r`` for columns ``r`` (n, k)."""
        return r if self.deviations is None else np.asarray(self.deviations @ r)

    def square(self, r: Floats) -> Floats:
        """Return ``D'D r`` for columns ``r`` (n, k)."""
        return r if self.deviations is None else np.asarray(self.deviations.T @ (self.deviations @ r))

    @property
    def sigma_range(self) -> tuple[float, float]:
        """Values of sigma that are tried: in large leagues opponents may be very much alike."""
        return (0.05 if self.deviations is None else 0.005), 8.0

    @cached_property
    def matrix(self) -> Floats:
        """Return ``D'D`` as a dense matrix."""
        D = self.deviations
        return np.eye(self.n) if D is None else np.asarray((D.T @ D).toarray())

    @cached_property
    def diagonal(self) -> Floats:
        """Return the diagonal of ``D'D``."""
        D = self.deviations
        return np.ones(self.n) if D is None else np.asarray(D.multiply(D).sum(axis=0)).ravel()

    @cached_property
    def columns(self) -> tuple[Ints, Ints, Floats]:
        """Return the columns of ``D``: where each starts, its rows, its values."""
        if self.deviations is None:
            return np.arange(self.n + 1), np.arange(self.n), np.ones(self.n)
        D = self.deviations.tocsc()
        return D.indptr.astype(np.int64), D.indices.astype(np.int64), D.data.astype(np.float64)

    @cached_property
    def spectrum(self) -> tuple[Floats, Floats]:
        """Return the eigenvalues of ``D'D`` and how often each counts; of large leagues, nodes of a quadrature."""
        if self.deviations is None:
            return np.ones(1), np.array([float(self.n)])
        if self.n <= DENSE:
            return np.maximum(np.linalg.eigvalsh(self.matrix), 0.0), np.ones(self.n)
        values, weights = lanczos_quadrature(self.square, probe_signs(self.n))
        return np.maximum(values, 0.0), weights

    def log_determinants(self, sigma: Floats) -> Floats:
        """Return ``log det K`` of each sigma."""
        values, weights = self.spectrum
        return np.asarray(np.log(values / sigma[:, None] ** 2 + self.weak) @ weights)

    def dimensions(self, sigma: Floats) -> Floats:
        """Return the number of directions in which sigma, and not what is weakly known, decides: all n by default."""
        values, weights = self.spectrum
        scaled = values / sigma[:, None] ** 2
        return np.asarray(scaled / (scaled + self.weak) @ weights)

    def penalties(self, r: Floats, sigma: Floats) -> Floats:
        """Return ``r' K r / 2`` of each row of ``r`` (G, n)."""
        squares = (self.deviate(r.T) ** 2).sum(axis=0) / sigma**2
        return np.asarray((squares + self.weak * (r**2).sum(axis=1)) / 2)

    def pulls(self, r: Floats, precision: Floats) -> Floats:
        """Return ``K r`` of each row of ``r`` (G, n), given ``1 / sigma^2``."""
        return np.asarray(precision[:, None] * self.square(r.T).T + self.weak * r)


def rating_prior(n: int, normal: NormalPrior | None) -> RatingPrior:
    """Return a normal prior in the form of this model, around the average agent unless given."""
    if normal is None:
        return RatingPrior(n=n)
    from scipy.sparse import csr_array

    return RatingPrior(n=n, deviations=csr_array(normal.deviations), weak=float(normal.weak[-1]))


@dataclass(frozen=True, kw_only=True, eq=False)
class DenseSystem:
    """Systems that are factorised; ``W`` is (G, p), ``precision`` (G,), right sides are (G, n)."""

    prior: RatingPrior
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
        if self.prior.deviations is None:
            H[:, diagonal, diagonal] = precision[:, None] - H.sum(axis=2)
        else:
            H[:, diagonal, diagonal] = self.prior.weak - H.sum(axis=2)
            H += precision[:, None, None] * self.prior.matrix
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
        """Return ``tr H^-1 D'D`` of each row."""
        inverse = np.linalg.inv(self.matrices(W, precision))
        if self.prior.deviations is None:
            return np.asarray(np.trace(inverse, axis1=1, axis2=2))
        return np.asarray((inverse * self.prior.matrix).sum(axis=(1, 2)))

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

    prior: RatingPrior
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
        return probe_signs(self.n)

    def sums(self, of_first: Floats, of_second: Floats) -> Floats:
        """Sum a number over each agent's pairs, given for the first and the second agent of a pair."""
        first, second = (np.bincount(at, x, self.n) for at, x in ((self.i, of_first), (self.j, of_second)))
        return np.asarray(first + second, dtype=np.float64)

    def matrix(self, W: Floats, precision: float) -> "Penalised":
        """Return ``H``."""
        from scipy.sparse import csr_array

        plain = self.prior.deviations is None
        diagonal = self.sums(W, W) + (precision if plain else self.prior.weak)
        own = np.arange(self.n)
        rows, columns = np.concatenate([self.i, self.j, own]), np.concatenate([self.j, self.i, own])
        H = csr_array((np.concatenate([-W, -W, diagonal]), (rows, columns)), shape=(self.n, self.n))
        return Penalised(laplacian=H, prior=None if plain else self.prior, precision=precision)

    def solve(self, W: Floats, precision: Floats, right: Floats) -> Floats:
        """Solve one system per row."""
        return np.stack(
            [self.matrix(w, float(t)).solve(b[:, None])[:, 0] for w, t, b in zip(W, precision, right, strict=True)]
        )

    def solve_many(self, W: Floats, precision: float, right: Floats) -> Floats:
        """Solve one system for many right sides."""
        return self.matrix(W, precision).solve(right)

    def log_determinants(self, W: Floats, precision: Floats) -> Floats:
        """Return ``log det H`` of each row, by stochastic Lanczos quadrature of the scaled matrix."""
        found = []
        for w, t in zip(W, precision, strict=True):
            H = self.matrix(w, float(t))
            diagonal = H.diagonal()
            values, weights = lanczos_quadrature(H.__matmul__, self.probes, 1 / np.sqrt(diagonal)[:, None])
            found.append(np.log(diagonal).sum() + weights @ np.log(np.maximum(values, 1e-12)))
        return np.array(found)

    def traces(self, W: Floats, precision: Floats) -> Floats:
        """Return ``tr H^-1 D'D`` of each row, estimated by Hutchinson's method with the same probes."""
        found = []
        for w, t in zip(W, precision, strict=True):
            solved = self.matrix(w, float(t)).solve(self.probes, close=1e-3)
            found.append((solved * self.prior.square(self.probes)).sum() / PROBES)
        return np.array(found)

    def sample(self, W: Floats, precision: float, streams: list[np.random.Generator]) -> Floats:
        """Draw from ``N(0, H^-1)``: solve ``H x = B' W^(1/2) z + D' z' / sigma``, whose right side has covariance H."""
        right, own = np.empty((self.n, len(streams))), np.empty((self.n, len(streams)))
        for k, rng in enumerate(streams):
            z = np.sqrt(W) * rng.standard_normal(len(W))
            right[:, k] = self.sums(z, -z)
            own[:, k] = np.sqrt(precision) * rng.standard_normal(self.n)
            if self.prior.weak:
                right[:, k] += np.sqrt(self.prior.weak) * rng.standard_normal(self.n)
        right += own if self.prior.deviations is None else self.prior.deviations.T @ own
        return np.asarray(self.matrix(W, precision).solve(right).T)

    def pair_variances(self, W: Floats, precision: float) -> Floats | None:
        """Return None: too expensive."""
        return None


System = DenseSystem | SparseSystem


def system_for(prior: RatingPrior, i: Ints, j: Ints) -> System:
    """Return dense systems for up to ``DENSE`` agents, else sparse ones."""
    return (DenseSystem if prior.n <= DENSE else SparseSystem)(prior=prior, n=prior.n, i=i, j=j)


@dataclass(frozen=True, kw_only=True, eq=False)
class Penalised:
    """``H``: a Laplacian with a prior, which is not always written down."""

    laplacian: Any  # sparse
    prior: RatingPrior | None  # where it is more than a part of the diagonal
    precision: float

    def diagonal(self) -> Floats:
        """Return the diagonal of ``H``."""
        own = self.laplacian.diagonal()
        return np.asarray(own if self.prior is None else own + self.precision * self.prior.diagonal)

    def __matmul__(self, x: Floats) -> Floats:
        product = self.laplacian @ x
        return np.asarray(product if self.prior is None else product + self.precision * self.prior.square(x))

    def solve(self, right: Floats, close: float = CLOSE) -> Floats:
        """Solve ``H X = right`` for several right sides at once."""
        from nashboard.algebra.laplacian import conjugate_gradients

        found = conjugate_gradients(self, right, 10 * len(right), close)
        if found is None:
            raise ConvergenceError(
                f"the ratings of {len(right):,} agents did not converge in {10 * len(right):,} steps: "
                "numbers of games may differ by too many orders of magnitude"
            )
        return found


def probe_signs(n: int) -> Floats:
    """Return random signs, always the same."""
    return np.random.default_rng(0).choice([-1.0, 1.0], size=(n, PROBES))


def lanczos_quadrature(
    product: Callable[[Floats], Floats], probes: Floats, scale: Floats | float = 1.0
) -> tuple[Floats, Floats]:
    """Return nodes and weights with ``tr f(S H S) ~ weights @ f(nodes)``: Gauss quadratures, averaged over probes."""
    n, count = probes.shape
    q = probes / np.sqrt(n)
    before, beta = np.zeros_like(q), np.zeros(count)
    alphas, betas = [], []
    for _ in range(min(LANCZOS, n)):
        w = scale * product(scale * q) - beta * before
        alpha = (w * q).sum(axis=0)
        w -= alpha * q
        beta = np.sqrt((w * w).sum(axis=0))
        alphas.append(alpha)
        betas.append(beta)
        before, q = q, w / np.maximum(beta, 1e-300)
    middle, beside = np.array(alphas).T, np.array(betas[:-1]).T
    nodes, weights = [], []
    for a, b in zip(middle, beside, strict=True):
        values, vectors = np.linalg.eigh(np.diag(a) + np.diag(b, 1) + np.diag(b, -1))
        nodes.append(values)
        weights.append(n / count * vectors[0] ** 2)
    return np.concatenate(nodes), np.concatenate(weights)
