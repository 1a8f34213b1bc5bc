"""Ratings from incomplete and uneven data: weighted least squares on the pairs that met (HodgeRank).

Symbols: ``y`` flow, ``w`` weights and ``v`` sampling variances of the ``p`` pairs; ``G`` (p, n) the gradient;
``L = G' W G`` the Laplacian. Ratings solve ``L r = G' W y``; their covariance is ``L+ G' W V W G L+``.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.linalg import splu

from nashboard._types import Floats
from nashboard.algebra.flows import ObservedFlow
from nashboard.algebra.precision import AIM, LEAST, LOST, REFINED, RTOL, SMALL_TERMS, TOLERANCE
from nashboard.errors import ConvergenceError

Solve = Callable[..., Floats]  # of the right side, and perhaps what to leave of it


class Matrix(Protocol):
    """A symmetric positive matrix, which need not be written down."""

    def diagonal(self) -> Floats:
        """Return its diagonal."""

    def __matmul__(self, X: Any, /) -> Any:
        """Return its products with columns."""


# Up to this many agents standard errors come from a dense factor of the Laplacian, and are exact.
DENSE = 1500
FEW = 250  # agents whose ratings alone are quicker by the factor than step by step
MOST_STEPS = 400
SEED = 20110303
PROBES, MOST_PROBES, GOOD_ERROR = 16, 128, 0.03


def fitted_ratings(flow: ObservedFlow) -> Floats:
    """Return the ratings with mean 0 that minimise ``sum of w (r[i] - r[j] - y)^2``; the graph is connected.

    Raises
    ------
    ConvergenceError
        The normal equations are met to no better than 1e-10 of the size of their terms.
    """
    w = unit_weights(flow)
    solve = solver(Laplacian(flow, w), dense=FEW)
    i, j = flow.ends
    left = out_of(flow, w * flow.values)
    r = np.zeros(flow.size)
    worst = np.inf
    for rtol in (RTOL, REFINED, REFINED):  # the second and third are refinement, where it is needed
        r = r + solve(left[:, None], rtol)[:, 0]
        r -= r.mean()
        fitted = r[i] - r[j]
        left = out_of(flow, w * (flow.values - fitted))
        terms = at_both_ends(flow, w * (np.abs(flow.values) + np.abs(fitted)))
        worst = float((np.abs(left) / np.maximum(terms, max(SMALL_TERMS * terms.max(), LEAST))).max())
        if worst <= AIM:
            break
    if not worst <= TOLERANCE:
        raise ConvergenceError(
            f"the ratings could not be solved: the relative residual is {worst:.1e}, above {TOLERANCE:.0e}; weights "
            f"may differ by too many orders of magnitude, or chains of agents be too long"
        )
    return np.asarray(r)


def standard_errors(flow: ObservedFlow) -> tuple[Floats, float]:
    """Return the standard errors of the ratings, and how accurate they are (relative; 0 is exact).

    They come from the sampling variance of each pair's log-odds and the covariance of the fit. Up to 1500
    agents the factorised Laplacian gives them exactly. Beyond, random signs ``z`` on the pairs make ratings
    ``L+ G' W sqrt(V) z`` whose squares average to the variances; the same with the diagonal of ``L`` in its
    place, for which the average is known, takes most of the noise out on well-connected graphs.
    """
    G, w = gradient_matrix(flow), unit_weights(flow)
    L = Laplacian(flow, w)
    noise = w * np.sqrt(flow.variances)
    solve = solver(L, dense=DENSE)
    n = flow.size
    if n <= DENSE:
        pseudo = solve(np.eye(n))
        K = Laplacian(flow, noise**2).matrix()
        return np.sqrt(np.maximum((pseudo * (K @ pseudo)).sum(axis=0), 0.0)), 0.0
    diagonal = L.diagonal()
    known = at_both_ends(flow, noise**2) / diagonal**2
    rng = np.random.default_rng(SEED)
    plain, helped = [], []
    while True:
        signs = rng.integers(0, 2, size=(len(noise), PROBES), dtype=np.int8) * 2.0 - 1.0
        B = G.T @ (noise[:, None] * signs)
        square = solve(B) ** 2
        plain.append(square)
        helped.append(square - (B / diagonal[:, None]) ** 2)
        best: tuple[float, Floats] = (np.inf, known)
        for samples, base in ((np.hstack(plain), 0.0), (np.hstack(helped), known)):
            mean = base + samples.mean(axis=1)
            spread = samples.std(axis=1) / np.sqrt(samples.shape[1])
            error = float(np.median(spread / np.maximum(mean, LEAST))) / 2
            if error < best[0] and (mean > 0).all():
                best = (error, np.asarray(mean))
        if best[0] <= GOOD_ERROR or len(plain) * PROBES >= MOST_PROBES:
            return np.sqrt(best[1]), best[0]


def gradient_matrix(flow: ObservedFlow) -> csr_array:
    """Return ``G``: +1 and -1 in each row."""
    p = len(flow.pairs)
    return csr_array((np.tile([1.0, -1.0], p), flow.pairs.ravel(), np.arange(0, 2 * p + 1, 2)), shape=(p, flow.size))


def unit_weights(flow: ObservedFlow) -> Floats:
    """Return the weights as shares of the largest."""
    return np.asarray(flow.weights / flow.weights.max(initial=LEAST))


class Laplacian:
    """``G' W G``, applied as its diagonal and the half above it: half the memory, and nothing is sorted."""

    def __init__(self, flow: ObservedFlow, w: Floats) -> None:
        self.flow, self.w = flow, w
        self.shape = (flow.size, flow.size)
        self.degrees = at_both_ends(flow, w)

    @cached_property
    def halves(self) -> tuple[csr_array, csc_array]:
        """The weights above the diagonal and below it; pairs are in ascending order."""
        above = csr_array((self.w, *self.flow.rows), shape=self.shape)
        return above, above.T

    def diagonal(self) -> Floats:
        """Return the weight of each agent's pairs."""
        return self.degrees

    def __matmul__(self, X: Floats) -> Floats:
        product = self.degrees[:, None] * X
        for half in self.halves:
            product -= half @ X
        return product

    def matrix(self) -> csr_array:
        """Return all of it as a sparse matrix."""
        above, below = self.halves
        return csr_array(diags_array(self.degrees, format="csr") - (above + csr_array(below)))

    def dense(self) -> Floats:
        """Return all of it."""
        i, j = self.flow.ends
        written = np.diag(self.degrees)
        written[i, j] = written[j, i] = -self.w
        return written


def at_both_ends(flow: ObservedFlow, values: Floats) -> Floats:
    """Sum a value per pair over each agent's pairs."""
    return sum_where(flow, 0, values) + sum_where(flow, 1, values)


def out_of(flow: ObservedFlow, values: Floats) -> Floats:
    """Return ``G' values``: what flows out of each agent."""
    return sum_where(flow, 0, values) - sum_where(flow, 1, values)


def sum_where(flow: ObservedFlow, end: int, values: Floats) -> Floats:
    """Sum a value per pair over the pairs in which each agent is first (``end`` 0) or second (1)."""
    return np.bincount(flow.ends[end], values, minlength=flow.size).astype(np.float64, copy=False)  # ints where empty


def solver(L: Laplacian, *, dense: int) -> Solve:
    """Return a function that applies the pseudo-inverse of a Laplacian to the columns of a matrix.

    Few agents, up to ``dense``: Cholesky. Many: `iterative`.
    """
    n = L.shape[0]
    if n <= dense:
        written = L.dense()
        # The constant vector is given the eigenvalue of the mean degree, which keeps the condition.
        written += written.diagonal().mean() / n
        factor = cho_factor(written, lower=True, overwrite_a=True, check_finite=False)
        return lambda B, rtol=RTOL: centred(cho_solve(factor, centred(B), check_finite=False))
    solve = iterative(L, RTOL, loose=True)
    return lambda B, rtol=RTOL: centred(solve(centred(B), rtol))


def iterative(S: "Laplacian | csr_array", rtol: float, *, loose: bool) -> Solve:
    """Return the map ``v -> S^-1 v``, of a vector or of columns, for a Laplacian or a part of one.

    Conjugate gradients need few steps on well-connected graphs; where they need many (long chains), a sparse
    factorisation takes over, which is cheap there. ``loose``: no node is held fast, so ``S`` is singular and ``v`` has
    mean 0; the solution is right up to a constant.
    """
    factors: list[Solve] = []

    def factorise() -> Solve:
        whole = S.matrix() if isinstance(S, Laplacian) else S
        inner = csc_array(whole[1:, 1:] if loose else whole)
        lu = splu(inner, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        if not loose:
            return lambda B: np.asarray(lu.solve(B))
        return lambda B: np.vstack([np.zeros((1, B.shape[1])), lu.solve(B[1:])])

    def solve(v: Floats, rtol: float = rtol) -> Floats:
        B = v[:, None] if v.ndim == 1 else v
        X = None
        if not factors:
            steps = MOST_STEPS if B.shape[1] == 1 else MOST_STEPS // 4
            X = conjugate_gradients(S, B[:, :1], steps, rtol)  # tells whether they are quick
            if X is not None and B.shape[1] > 1:
                X = conjugate_gradients(S, B, MOST_STEPS, rtol)
            if X is None:
                factors.append(factorise())
        X = factors[0](B) if X is None else X
        return X[:, 0] if v.ndim == 1 else X

    return solve


def conjugate_gradients(L: Matrix, B: Floats, most_steps: int, rtol: float) -> Floats | None:
    """Solve for all columns at once with the diagonal as preconditioner; nothing if that takes too long."""
    inverse = 1 / L.diagonal()[:, None]
    X = np.zeros_like(B)
    R = B.copy()
    goal = rtol**2 * dots(B, B)
    D = inverse * R
    rho = dots(R, D)
    for _ in range(most_steps):
        if (dots(R, R) <= goal).all():
            R = B - L @ X  # steps lose track of it where entries span many orders of magnitude
            if (dots(R, R) <= LOST**2 * goal).all():
                return X
            D = inverse * R
            rho = dots(R, D)
        LD = L @ D
        curvature = dots(D, LD)
        alpha = np.divide(rho, curvature, out=np.zeros_like(rho), where=curvature > 0)
        X += alpha * D
        R -= alpha * LD
        Z = inverse * R
        previous, rho = rho, dots(R, Z)
        D *= rho / np.maximum(previous, LEAST)
        D += Z
    return None


def dots(X: Floats, Y: Floats) -> Floats:
    """Return the inner product of each pair of columns."""
    return np.asarray(np.einsum("ij,ij->j", X, Y))


def centred(X: Floats) -> Floats:
    """Subtract each column's mean."""
    return np.asarray(X - X.mean(axis=0))
