"""Numerics of the hierarchical model: linear systems, integrals over the cyclic part of a pair, and random draws.

The linear systems are ``H = B' W B + K``: ``B`` is the incidence of pairs (+1 for the first agent, -1 for the second),
``W`` the information of each pair, and ``K`` the precision of the prior of ratings (`RatingPrior`). Up to ``DENSE``
agents they are factorised, many at once; beyond, conjugate gradients and stochastic Lanczos quadrature need only
products with sparse matrices.

Random numbers are a function of a key and a counter (splitmix64), so that the cyclic part of a pair in a draw is the
same whenever and in whatever order it is asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nashboard._compiled import compiled
from nashboard._types import Floats, Ints
from nashboard.errors import ConvergenceError
from nashboard.ratings.likelihood import NormalPrior

DENSE = 2000
PROBES, LANCZOS = 16, 40  # of the log-determinant of sparse systems: probes and steps
CLOSE = 1e-8
WIDE = 1.0  # tau from which a pair's likelihood may be far from normal within the prior of its cyclic part


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
                f"the ratings of {len(right):,} agents did not settle in {10 * len(right):,} steps: "
                "numbers of games that differ by many orders of magnitude do that"
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


@compiled("u8(u8, u8)")
def mixed(state, key):  # type: ignore[no-untyped-def]
    """Return 64 random bits that depend on both numbers (the finaliser of splitmix64)."""
    z = state + (key + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled("f8(u8)")
def uniform_of(bits):  # type: ignore[no-untyped-def]
    """Return a number in (0, 1) made of 53 bits."""
    return (np.float64(bits >> np.uint64(11)) + 0.5) * (1.0 / 9007199254740992.0)


@compiled("f8(u8)")
def normal_of(bits):  # type: ignore[no-untyped-def]
    """Return a standard normal number made of a key, by the method of Box and Muller."""
    u = uniform_of(mixed(bits, np.uint64(1)))
    v = uniform_of(mixed(bits, np.uint64(2)))
    return np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v)


@compiled("u8(u8, i8, i8)")
def pair_key(seed, i, j):  # type: ignore[no-untyped-def]
    """Return the key of an unordered pair in one draw."""
    return mixed(mixed(seed, np.uint64(min(i, j))), np.uint64(max(i, j)))


@compiled("UniTuple(f8, 3)(f8, f8, f8)")
def binomial(won, games, x):  # type: ignore[no-untyped-def]
    """Return log-likelihood of a pair with log-odds x, its slope, and minus its curvature."""
    e = np.exp(-abs(x))
    p = (1.0 if x >= 0 else e) / (1 + e)
    return won * x - games * (max(x, 0.0) + np.log1p(e)), won - games * p, games * p * (1 - p)


@compiled("UniTuple(f8, 4)(f8, f8, f8, f8, f8[::1], f8[::1], f8)")
def integrate_one(won, games, d, tau, nodes, log_weights, start):  # type: ignore[no-untyped-def]
    """Integrate the likelihood of one pair over c ~ N(0, tau^2): logarithm, slope, minus curvature in d, mode of c."""
    t2 = tau * tau
    c, D, level, lean = start, 0.0, 0.0, 0.0
    for _ in range(60):
        level, lean, D = binomial(won, games, d + c)
        level -= c * c / (2 * t2)
        step = (t2 * lean - c) / (1 + t2 * D)
        size = abs(step)
        if size < 1e-4:
            break
        c += step * np.log1p(size) / size
    scale = np.sqrt(t2 / (1 + t2 * D))
    mass, first, second, information = 0.0, 0.0, 0.0, 0.0
    for q in range(len(nodes)):
        at = c + scale * nodes[q]
        total, rest, info = binomial(won, games, d + at)
        rest = at - c if tau >= WIDE else rest - lean
        w = np.exp(total - at * at / (2 * t2) + log_weights[q] - level)
        mass += w
        first += w * rest
        second += w * rest * rest
        information += w * info
    first /= mass
    information /= mass
    spread = second / mass - first * first
    value = level + np.log(mass * scale / tau)
    # log-concave, so the curvature is positive; the bound is for rounding
    least = 1e-3 * information / (1 + t2 * information)
    if tau >= WIDE:  # slope and curvature by the mean and variance of c: the other form is a difference of large sums
        return value, (c + first) / t2, max((1 - spread / t2) / t2, least), c
    return value, lean + first, max(information - spread, least), c


@compiled("void(f8[::1], f8[::1], f8[:,::1], f8[::1], f8[::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1])")
def integrate_pairs(won, games, d, tau, nodes, log_weights, value, slope, curvature, mode):  # type: ignore[no-untyped-def]
    """Integrate the likelihood over c for every grid point and pair; ``mode`` is read and written."""
    for g in range(d.shape[0]):
        for k in range(d.shape[1]):
            value[g, k], slope[g, k], curvature[g, k], mode[g, k] = integrate_one(
                won[k], games[k], d[g, k], tau[g], nodes, log_weights, mode[g, k]
            )


@compiled("f8(f8[::1], f8[::1], f8, f8, f8, f8, f8)")
def gain_of_sigma(values, weights, weak, squares, old, new, scale):  # type: ignore[no-untyped-def]
    """Return by how much another sigma raises the log-density of log sigma, given the squared deviations."""
    gain = np.log(new / old) - squares * (1 / new**2 - 1 / old**2) / 2 - (new**2 - old**2) / (2 * scale * scale)
    for k in range(len(values)):
        gain += weights[k] * np.log((values[k] / new**2 + weak) / (values[k] / old**2 + weak)) / 2
    return gain


@compiled("f8(f8[::1], f8[::1], f8)")
def interpolated(at, values, x):  # type: ignore[no-untyped-def]
    """Interpolate a function on an even grid; beyond it, minus infinity."""
    step = at[1] - at[0]
    k = int(np.floor((x - at[0]) / step))
    if x < at[0] or k >= len(at) - 1:
        return -np.inf
    t = (x - at[k]) / step
    return (1 - t) * values[k] + t * values[k + 1]


@compiled("void(f8[::1], i8[::1], i8[::1], f8[::1], f8[::1])")
def deviations_of(r, starts, rows, entries, off):  # type: ignore[no-untyped-def]
    """Write ``D r`` into ``off``, given the columns of ``D``."""
    off[:] = 0.0
    for a in range(len(r)):
        for q in range(starts[a], starts[a + 1]):
            off[rows[q]] += entries[q] * r[a]


@compiled(
    "void(f8[::1], f8[::1], i8[::1], i8[::1], i8[::1], i8[::1], f8[::1], f8[::1], i8[::1], i8[::1], f8[::1], f8[::1], "
    "f8[::1], f8, i8[::1], f8[::1], f8[::1], u8[::1], f8[::1], i8, f8, f8, f8, f8[:,::1])"
)
def refine_ratings(  # type: ignore[no-untyped-def]
    won, games, first, second, start, pair, nodes, log_weights, starts, rows, entries, values, often, weak, agents,
    sigma, tau, seeds, width, sweeps, scale, low, high, r,
):  # fmt: skip
    """Move the ratings of some agents, and sigma, by Metropolis steps that leave the posterior given tau unchanged."""
    n = r.shape[1]
    off = np.empty(n)
    level, moved = np.empty(len(first)), np.empty(len(first))  # log-likelihood of each pair, and after a move
    for s in range(len(r)):
        count = np.uint64(0)
        key = mixed(seeds[s], np.uint64(0xA5A5))
        deviations_of(r[s], starts, rows, entries, off)
        stretch = min(0.4, 2.4 / np.sqrt(2.0 * n))
        for k in range(len(first) if len(agents) > 0 else 0):
            d = r[s, first[k]] - r[s, second[k]]
            level[k] = integrate_one(won[k], games[k], d, tau[s], nodes, log_weights, 0.0)[0]
        for _ in range(sweeps):
            for at in range(len(agents)):
                a = agents[at]
                bits = mixed(key, count)
                count += np.uint64(1)
                move = width[at] * normal_of(bits)
                gain = weak * (r[s, a] ** 2 - (r[s, a] + move) ** 2) / 2
                for q in range(starts[a], starts[a + 1]):
                    old = off[rows[q]]
                    gain += (old**2 - (old + entries[q] * move) ** 2) / (2 * sigma[s] * sigma[s])
                for q in range(start[a], start[a + 1]):
                    k = pair[q]
                    d = r[s, first[k]] - r[s, second[k]]
                    d += move if first[k] == a else -move
                    moved[k] = integrate_one(won[k], games[k], d, tau[s], nodes, log_weights, 0.0)[0]
                    gain += moved[k] - level[k]
                if np.log(uniform_of(mixed(bits, np.uint64(3)))) < gain:
                    r[s, a] += move
                    for q in range(start[a], start[a + 1]):
                        level[pair[q]] = moved[pair[q]]
                    for q in range(starts[a], starts[a + 1]):
                        off[rows[q]] += entries[q] * move
            if len(agents) > 0:  # sigma with all ratings at once, which depend on it closely
                bits = mixed(key, count)
                count += np.uint64(1)
                factor = np.exp(stretch * normal_of(bits))
                size = 0.0
                for a in range(n):
                    size += r[s, a] * r[s, a]
                gain = gain_of_sigma(values, often, weak, 0.0, sigma[s], factor * sigma[s], scale)
                gain += n * np.log(factor) - weak * (factor * factor - 1) * size / 2
                for k in range(len(first)):
                    d = factor * (r[s, first[k]] - r[s, second[k]])
                    moved[k] = integrate_one(won[k], games[k], d, tau[s], nodes, log_weights, 0.0)[0]
                    gain += moved[k] - level[k]
                if low < factor * sigma[s] < high and np.log(uniform_of(mixed(bits, np.uint64(3)))) < gain:
                    sigma[s] *= factor
                    r[s] *= factor
                    off *= factor
                    level[:] = moved
            squares = 0.0
            for a in range(n):
                squares += off[a] * off[a]
            for _ in range(2 if len(agents) > 0 else 0):
                bits = mixed(key, count)
                count += np.uint64(1)
                new = sigma[s] * np.exp(0.4 * normal_of(bits))
                gain = gain_of_sigma(values, often, weak, squares, sigma[s], new, scale)
                if low < new < high and np.log(uniform_of(mixed(bits, np.uint64(3)))) < gain:
                    sigma[s] = new


@compiled("f8(f8, f8, f8, f8, u8)")
def draw_one(won, games, d, tau, key):  # type: ignore[no-untyped-def]
    """Draw c of one pair given the difference of ratings, exactly, by rejection.

    The log-likelihood ``L`` is concave, so ``L(c) <= L(m) + L'(m) (c - m)`` for any ``m``, and the prior times this
    bound is ``N(tau^2 L'(m), tau^2)``. A proposal is accepted with ``exp(L(c) - L(m) - L'(m) (c - m))``, which is
    likely for ``m`` near the mode.
    """
    t2 = tau * tau
    m, D, slope, level = 0.0, 0.0, 0.0, 0.0
    for _ in range(100):
        level, slope, D = binomial(won, games, d + m)
        step = (t2 * slope - m) / (1 + t2 * D)
        size = abs(step)
        if size * np.sqrt(1 + t2 * D) < 0.1 * tau:
            break
        m += step * np.log1p(size) / size
    if t2 * D > 1000.0:  # thousands of games: normal
        return m + step + np.sqrt(t2 / (1 + t2 * D)) * normal_of(key)
    trial = np.uint64(0)
    while True:
        bits = mixed(key, trial)
        c = t2 * slope + tau * normal_of(bits)
        gain = binomial(won, games, d + c)[0] - level - slope * (c - m)
        if np.log(uniform_of(mixed(bits, np.uint64(3)))) <= gain:
            return c
        trial += np.uint64(1)


@compiled("void(f8[::1], f8[::1], i8[::1], i8[::1], f8[::1], u8[::1], f8[:,:,::1])")
def draw_all_pairs(won, games, first, second, tau, seeds, A):  # type: ignore[no-untyped-def]
    """Add the cyclic parts of all pairs to the log-odds ``A`` of every draw."""
    n = A.shape[1]
    met = np.zeros((n, n), dtype=np.bool_)
    for k in range(len(first)):
        met[first[k], second[k]] = True
    for s in range(len(A)):
        for k in range(len(first)):
            i, j = first[k], second[k]
            d = A[s, i, j]
            A[s, i, j] = d + draw_one(won[k], games[k], d, tau[s], pair_key(seeds[s], i, j))
            A[s, j, i] = -A[s, i, j]
        for i in range(n):
            A[s, i, i] = 0.0
            for j in range(i + 1, n):
                if not met[i, j]:
                    A[s, i, j] += tau[s] * normal_of(pair_key(seeds[s], i, j))
                    A[s, j, i] = -A[s, i, j]


@compiled("void(f8[:,::1], f8[:,::1], i8[:,::1], f8[::1], u8[::1], f8[:,:,::1])")
def draw_all_classes(won, games, label, tau, seeds, A):  # type: ignore[no-untyped-def]
    """Add the cyclic parts of all pairs to the log-odds ``A`` of every draw, in which some entries are one agent.

    ``label`` (S, n) is the first member of the class of each entry; ``won`` and ``games`` are (n, n), by entry.
    """
    n = A.shape[1]
    Y, N = np.empty((n, n)), np.empty((n, n))
    for s in range(len(A)):
        Y[:], N[:] = 0.0, 0.0
        for a in range(n):
            for b in range(n):
                Y[label[s, a], label[s, b]] += won[a, b]
                N[label[s, a], label[s, b]] += games[a, b]
        for i in range(n):
            for j in range(i + 1, n):
                a, b = label[s, i], label[s, j]
                if a == i and b == j:
                    key, d = pair_key(seeds[s], i, j), A[s, i, j]
                    c = draw_one(Y[i, j], N[i, j], d, tau[s], key) if N[i, j] > 0 else tau[s] * normal_of(key)
                    A[s, i, j] = d + c
                    A[s, j, i] = -A[s, i, j]
        for i in range(n):
            for j in range(n):
                a, b = label[s, i], label[s, j]
                A[s, i, j] = 0.0 if a == b else A[s, a, b]


@compiled("void(f8[::1], f8[::1], i8[::1], i8[::1], i8[::1], i8[::1], f8[::1], f8, u8, i8[::1], f8[:,::1])")
def draw_columns(won, games, first, second, start, pair, r, tau, seed, agents, X):  # type: ignore[no-untyped-def]
    """Draw the log-odds of everybody against some agents in one draw; row k of ``X`` is against ``agents[k]``."""
    for k in range(len(agents)):
        a = agents[k]
        for i in range(len(r)):
            c = tau * normal_of(pair_key(seed, i, a))
            X[k, i] = r[i] - r[a] + (c if i < a else -c)
        X[k, a] = 0.0
        for at in range(start[a], start[a + 1]):
            q = pair[at]
            i, j = first[q], second[q]
            d = r[i] - r[j]
            x = d + draw_one(won[q], games[q], d, tau, pair_key(seed, i, j))
            X[k, i + j - a] = x if j == a else -x


@compiled("void(u8, i8[::1], f8[:,::1])")
def draw_signed_normals(seed, agents, noise):  # type: ignore[no-untyped-def]
    """Draw a standard normal number for everybody against some agents; the two sides of a pair have opposite signs."""
    for i in range(len(noise)):
        for k in range(len(agents)):
            z = 0.0 if i == agents[k] else normal_of(pair_key(seed, i, agents[k]))
            noise[i, k] = z if i < agents[k] else -z
