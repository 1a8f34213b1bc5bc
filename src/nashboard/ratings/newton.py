"""Newton's method on the loss of Elo ratings, the linear systems it solves, and the learned prior.

Symbols: ``r`` ratings in logits, the average agent's (see `likelihood`) last; ``x = r[i] - r[j]`` leads; ``g`` gradient
of the loss; ``L = sum over pairs of h (e_i - e_j)(e_i - e_j)'`` its Hessian, a graph Laplacian weighted by the
curvatures ``h``; ``free`` the nodes that may move. Small systems are factored, large ones solved by conjugate
gradients on the sparse matrix.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import LinearOperator, cg

from nashboard._types import Bools, Floats, Ints
from nashboard.errors import ConvergenceError
from nashboard.ratings.likelihood import PairTotals

LIFT = 1e-13  # share of the trace that is put on the diagonal where the plain factor fails
DENSE = 2000  # nodes up to which a factorisation takes well under a second
EXACT_TRACE = 300  # agents up to which the trace of the inverse is exact; beyond, from probes, to a thousandth
PROBES = 64
MOST_SECANTS = 40
MOST_LOG_VARIANCE = 1.0  # of log sigma^2: with two or three agents the normal approximation has no meaning
CLOSE_SIGMA = 1e-6  # in log sigma^2
SCALE = 1.5  # logits: the scale of the prior of sigma
Solve = Callable[[Floats], Floats]


def dense_laplacian(nodes: int, i: Ints, j: Ints, h: Floats) -> Floats:
    """Return ``L`` as a dense matrix."""
    above = np.bincount(i * nodes + j, -h, minlength=nodes * nodes).reshape(nodes, nodes)
    L: Floats = (above + above.T).astype(np.float64, copy=False)
    np.fill_diagonal(L, -L.sum(axis=1))
    return L


def sparse_laplacian(nodes: int, i: Ints, j: Ints, h: Floats) -> csr_array:
    """Return ``L`` as a sparse matrix."""
    rows, columns = np.concatenate([i, j, i, j]), np.concatenate([j, i, i, j])
    return csr_array((np.concatenate([-h, -h, h, h]), (rows, columns)), shape=(nodes, nodes))


def solver(nodes: int, i: Ints, j: Ints, h: Floats, free: Bools, rtol: float, *, lift: bool = False) -> Solve:
    """Return the map ``v -> L[free, free]^-1 v``; where all nodes are free, the solution with mean 0.

    ``lift``: where weights lie so far apart that rounding decides, ``L`` may be lifted by rounding's size. A step of
    Newton still descends then; a standard error would be wrong.
    """
    kept = np.flatnonzero(free)
    loose = kept.size == nodes
    if kept.size <= DENSE:
        if loose:
            L = dense_laplacian(nodes, i, j, h)
            L += np.trace(L) / nodes**2  # L 1 = 0: lift the constant direction, then take it out of the answer
        else:  # of many nodes, few may be free
            L = sparse_laplacian(nodes, i, j, h)[kept][:, kept].toarray()
        factor, failed = dpotrf(L.T)  # L.T lies as the library wants it, and is the same
        if failed and lift:
            factor, failed = dpotrf(L.T + LIFT * np.trace(L) * np.eye(len(L)), overwrite_a=True)
        if failed:
            raise ConvergenceError(
                "the ratings cannot be worked out in double precision: anchors, weights or the prior lie too many "
                "orders of magnitude apart",
                hint="bring them closer together, or pass a larger {option}",
                option="prior",
            )

        def solve_dense(v: Floats) -> Floats:
            return without_mean(np.asarray(dpotrs(factor, without_mean(v, loose))[0]), loose)

        return solve_dense
    S = sparse_laplacian(nodes, i, j, h)[kept][:, kept]
    scale = 1 / S.diagonal()
    M = LinearOperator(S.shape, matvec=lambda v: scale * v)

    def solve_sparse(v: Floats) -> Floats:
        if v.ndim == 2:
            return np.stack([solve_sparse(column) for column in v.T], axis=1)
        x, failed = cg(S, without_mean(v, loose), rtol=rtol, maxiter=20 * kept.size, M=M)
        if failed:
            raise ConvergenceError(f"conjugate gradients on {kept.size:,} agents did not reach {rtol:g}")
        return without_mean(np.asarray(x), loose)

    return solve_sparse


def without_mean(v: Floats, loose: bool) -> Floats:
    """Take the mean out of a vector, or of each column, where the constant direction is free."""
    return v - v.mean(axis=0) if loose else v


MOST_STEPS = 1000  # an alarm, not a budget: Newton's method takes 5 to 30
# A step of Newton that moves no lead by more than d logits lowers the loss by at least 1 - (e^d - d - 1) / d^2 of what
# its slope promises (Bach 2010, on the logistic loss). That is an eighth for this d: the loss need not be looked at.
SURE = 1.5


def newton(totals: PairTotals, r: Floats, free: Bools, *, close: float = 0.0) -> float:
    """Move the free ratings in ``r``, in place, to the maximum; return the norm of the gradient there.

    The loss is convex; long steps are halved until it falls, so that the method converges from anywhere. With
    ``close`` a step that moves no lead by more logits is the last: what it leaves is of the order of its square, and
    the norm that is returned is from before it.
    """
    i, j = totals.i, totals.j
    nodes = totals.nodes_in_play(free)
    moving = free[:nodes]
    tolerance = totals.tolerance()
    if not moving.any():
        return 0.0
    for _ in range(MOST_STEPS):
        x = r[i] - r[j]
        slopes, curvatures = totals.derivatives(x)
        g = totals.onto_nodes(slopes)[:nodes][moving]
        norm = float(np.linalg.norm(g))
        if norm <= tolerance:
            return norm
        step = np.zeros_like(r)
        step[:nodes][moving] = -solver(nodes, i, j, curvatures, moving, rtol=1e-6, lift=True)(g)
        dx = step[i] - step[j]
        longest = float(np.abs(dx).max())
        length = 1.0 if longest <= SURE else halved(totals, x, dx, float(g @ step[:nodes][moving]))
        r += length * step
        if longest <= close:
            return norm
    raise ConvergenceError(
        f"Elo did not converge in {MOST_STEPS:,} steps: the gradient's norm is {norm:.2g}, wanted {tolerance:.2g}",
        hint="a larger {option} makes the ratings finite",
        option="prior",
    )


def halved(totals: PairTotals, x: Floats, dx: Floats, slope: float) -> float:
    """Return the length, halved from 1, at which a step ``dx`` from leads ``x`` makes the loss fall (Armijo)."""
    length, start = 1.0, totals.loss(x)
    # near the optimum the loss no longer shows progress: a change of rounding size counts as none
    slack = 1e-13 * abs(start)
    while totals.loss(x + length * dx) > start + 1e-4 * length * slope + slack:
        length /= 2
    return length


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedPrior:
    """The standard deviation of ratings in logits, the ratings under it, and the variance of ``log sigma^2``."""

    sigma: float
    r: Floats
    log_variance: float

    @staticmethod
    def of(s: float, slope: float, n: int, r: Floats) -> "LearnedPrior":
        """Return the prior at the maximum ``s`` of the density of ``log sigma^2``, given the slope of its fixed point.

        The density is taken as normal: its variance follows from the slope, and ``sigma^2`` is the mean, which is less
        biased than the mode.
        """
        weight = (n - 2 + np.exp(s) / SCALE**2) / 2
        variance = min(1 / max(-slope * weight, 1e-9), MOST_LOG_VARIANCE)
        return LearnedPrior(sigma=float(np.exp(s / 2 + variance / 4)), r=r, log_variance=float(variance))


def learn_sigma(totals: PairTotals) -> LearnedPrior:
    """Return the standard deviation of ratings that the games suggest.

    The maximum of the marginal likelihood of ``sigma`` (ratings integrated out by Laplace's method) times the density
    ``sigma exp(-sigma^2 / (2 SCALE^2))``, which is 0 at ``sigma = 0``: with few agents the likelihood alone often has
    its maximum there, and would call all of them equal (Chung et al. 2013). At the maximum

        sigma^2 = (r'r + trace V) / (n - 2 + sigma^2 / SCALE^2),    V = (L + I / sigma^2)^-1 without the constant,

    a fixed point that is found by secants in ``log sigma^2``.
    """
    n = totals.agents
    played = totals.j < n
    games = PairTotals(
        agents=n, i=totals.i[played], j=totals.j[played], won=totals.won[played], lost=totals.lost[played]
    )
    r = np.zeros(n)

    def excess(s: float) -> float:
        """Return the logarithm of the right side of the fixed point minus that of the left."""
        variance = float(np.exp(s))
        trace = normal_mode(games, r, 1 / variance) - variance
        return float(np.log((r @ r + trace) / (n - 2 + variance / SCALE**2))) - s

    s, slope = fixed_point(excess)
    return LearnedPrior.of(s, slope, n, r)


def fixed_point(
    excess: Callable[[float], float], *, close: float = CLOSE_SIGMA, start: float = 0.0
) -> tuple[float, float]:
    """Return the root of a falling function by secants, and the slope there."""
    low, high = np.log(1e-8), np.log(1e4)
    before, f_before = start, excess(start)
    s, slope = min(max(start + f_before, low), high), -1.0
    for _ in range(MOST_SECANTS):
        if abs(s - before) < close:
            break
        f = excess(s)
        slope = (f - f_before) / (s - before)
        step = -f / slope if slope < -1e-3 else f
        before, f_before = s, f
        s = min(max(s + min(max(step, -3.0), 3.0), low), high)
    return float(s), float(slope)


def normal_mode(games: PairTotals, r: Floats, precision: float) -> float:
    """Move ``r`` in place to the mode under a normal prior around 0; return the trace of ``(L + precision I)^-1``."""
    n = games.agents
    while True:
        x = r[games.i] - r[games.j]
        slopes, h = games.derivatives(x)
        g = games.onto_nodes(slopes)[:n] + precision * r
        solve = ridge_solver(n, games.i, games.j, h, precision)
        step = -solve(g)
        longest = float(np.abs(step).max())
        if longest > SURE / 2:  # the loss is convex: halve until it falls
            length, start, slope = 1.0, games.loss(x) + precision / 2 * float(r @ r), float(g @ step)
            while True:
                moved = r + length * step
                new = games.loss(moved[games.i] - moved[games.j]) + precision / 2 * float(moved @ moved)
                if new <= start + 1e-4 * length * slope + 1e-13 * abs(start):
                    break
                length /= 2
            step *= length
        r += step
        if longest < 1e-3:  # Newton converges quadratically: what is left is of the order of its square
            break
    if n <= EXACT_TRACE:
        return float(np.trace(solve(np.eye(n))))
    probes = np.random.default_rng(0).choice(np.array([-1.0, 1.0]), size=(n, PROBES if n <= DENSE else PROBES // 4))
    return float((probes * solve(probes)).sum(axis=0).mean())


def ridge_solver(n: int, i: Ints, j: Ints, h: Floats, precision: float) -> Solve:
    """Return the map ``v -> (L + precision I)^-1 v``."""
    if n <= DENSE:
        L = dense_laplacian(n, i, j, h)
        L[np.arange(n), np.arange(n)] += precision
        factor, failed = dpotrf(L.T)
        if failed:
            raise ConvergenceError("the ratings cannot be worked out in double precision: weights differ too much")
        return lambda v: np.asarray(dpotrs(factor, v)[0])
    S = csr_array(sparse_laplacian(n, i, j, h) + precision * eye_array(n))
    scale = 1 / S.diagonal()
    M = LinearOperator(S.shape, matvec=lambda v: scale * v)

    def solve(v: Floats) -> Floats:
        if v.ndim == 2:
            return np.stack([solve(column) for column in v.T], axis=1)
        x, failed = cg(S, v, rtol=1e-6, maxiter=20 * n, M=M)
        if failed:
            raise ConvergenceError(f"conjugate gradients on {n:,} agents did not converge")
        return np.asarray(x)

    return solve
