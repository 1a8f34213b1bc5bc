"""Newton's method on the loss of Elo ratings, the linear systems it solves, and the learned prior.

Symbols: ``r`` ratings in logits, the average agent's (see `likelihood`) last; ``x = r[i] - r[j]`` leads; ``g`` gradient
of the loss; ``L = sum over pairs of h (e_i - e_j)(e_i - e_j)'`` its Hessian, a graph Laplacian weighted by the
curvatures ``h``; ``free`` the nodes that may move. Small systems are factored, large ones solved by conjugate
gradients on the sparse matrix.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from nashboard._types import Bools, Floats, Ints
from nashboard.errors import ConvergenceError
from nashboard.ratings.likelihood import PairTotals, pair_totals

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from nashboard.data.matches import Matches

LIFT = 1e-13  # share of the trace that is put on the diagonal where the plain factor fails
SMALL = 200  # nodes up to which numpy solves: loading scipy takes longer than such a fit
DENSE = 2000  # nodes up to which a factorisation takes well under a second
EXACT_TRACE = 300  # agents up to which the trace of the inverse is exact; beyond, from probes, to a thousandth
PROBES = 64
MOST_SECANTS = 40
MOST_LOG_VARIANCE = 1.0  # of log sigma^2: with two or three agents the normal approximation has no meaning
CLOSE_SIGMA = 1e-6  # in log sigma^2
CLOSE = 1e-3  # logits: after a step of this length less than 1e-6 is missing
SCALE = 1.5  # logits: the scale of the prior of sigma
Solve = Callable[[Floats], Floats]


def dense_laplacian(nodes: int, i: Ints, j: Ints, h: Floats) -> Floats:
    """Return ``L`` as a dense matrix."""
    above = np.bincount(i * nodes + j, -h, minlength=nodes * nodes).reshape(nodes, nodes)
    L: Floats = (above + above.T).astype(np.float64, copy=False)
    np.fill_diagonal(L, -L.sum(axis=1))
    return L


def sparse_laplacian(nodes: int, i: Ints, j: Ints, h: Floats) -> "csr_array":
    """Return ``L`` as a sparse matrix."""
    from scipy.sparse import csr_array

    rows, columns = np.concatenate([i, j, i, j]), np.concatenate([j, i, i, j])
    return csr_array((np.concatenate([-h, -h, h, h]), (rows, columns)), shape=(nodes, nodes))


def solver(nodes: int, i: Ints, j: Ints, h: Floats, free: Bools, rtol: float, *, lift: bool = False) -> Solve:
    """Return the map ``v -> L[free, free]^-1 v``; where all nodes are free, the solution with mean 0.

    ``lift``: where weights lie so far apart that rounding decides, ``L`` may be lifted by rounding's size. A step of
    Newton still descends then; a standard error would be wrong.
    """
    kept = np.flatnonzero(free)
    loose = kept.size == nodes
    if kept.size > DENSE:
        from nashboard.algebra.laplacian import iterative

        solve = iterative(sparse_laplacian(nodes, i, j, h)[kept][:, kept], rtol, loose=loose)
    else:
        if loose:
            L = dense_laplacian(nodes, i, j, h)
            L += np.trace(L) / nodes**2  # L 1 = 0: lift the constant direction, then take it out of the answer
        else:  # of many nodes, few may be free
            L = sparse_laplacian(nodes, i, j, h)[kept][:, kept].toarray()
        solve = factored(L, lift=lift)
    return lambda v: without_mean(solve(without_mean(v, loose)), loose)


def factored(L: Floats, *, lift: bool) -> Solve:
    """Return the map ``v -> L^-1 v`` for a positive definite matrix."""
    if len(L) <= SMALL:
        try:
            np.linalg.cholesky(L)
            return partial(np.linalg.solve, L)
        except np.linalg.LinAlgError:
            pass
    else:
        from scipy.linalg.lapack import dpotrf, dpotrs

        factor, failed = dpotrf(L.T)  # the transpose lies as the library wants it, and is the same
        if not failed:
            return lambda v: np.asarray(dpotrs(factor, v)[0])
    if lift:
        return factored(L + LIFT * np.trace(L) * np.eye(len(L)), lift=False)
    raise ConvergenceError(
        "the ratings cannot be worked out in double precision: anchors, weights or the prior lie too many orders of "
        "magnitude apart",
        hint="bring them closer together, or pass a larger {option}",
        option="prior",
    )


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


def fit_totals(totals: PairTotals, start: Floats) -> Floats:
    """Return the ratings of the agents in logits, mean 0, from a start; every agent may move."""
    r = np.append(start, 0.0)
    newton(totals, r, np.ones(r.size, dtype=bool))
    return np.asarray(r[:-1] - r[:-1].mean(), dtype=np.float64)


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
    """The standard deviation of ratings in logits, and the variance of ``log sigma^2``."""

    sigma: float
    log_variance: float


Under = Callable[[float], tuple[Floats, Solve]]


def learn_prior(under: Under, n: int, *, close: float = CLOSE_SIGMA, start: float = 0.0) -> LearnedPrior:
    """Return the standard deviation of ratings that the games suggest.

    ``under(sigma)`` fits the ratings (n + 1,) of all nodes, the average agent last, with a prior of that ``sigma``, and
    returns them with the solver of the Hessian there. The result is the maximum of the marginal likelihood of ``sigma``
    (ratings integrated out by Laplace's method) times the density ``sigma exp(-sigma^2 / (2 SCALE^2))``, which is 0 at
    ``sigma = 0``: with few agents the likelihood alone often has its maximum there, and would call all of them equal
    (Chung et al. 2013). At the maximum

        sigma^2 = (r'r + trace V) / (n - 2 + sigma^2 / SCALE^2),    V = (L + I / sigma^2)^-1 without the constant,

    a fixed point that is found by secants in ``log sigma^2``. There the density is taken as normal: its variance
    follows from the slope, and ``sigma^2`` is the mean, which is less biased than the mode.
    """

    def excess(s: float) -> float:
        """Return the logarithm of the right side of the fixed point minus that of the left."""
        nodes, solve = under(float(np.exp(s / 2)))
        r = nodes[:n] - nodes[:n].mean()
        return float(np.log((r @ r + trace_of_agents(solve, n)) / (n - 2 + np.exp(s) / SCALE**2))) - s

    s, slope = fixed_point(excess, close, start)
    weight = (n - 2 + np.exp(s) / SCALE**2) / 2
    variance = min(1 / max(-slope * weight, 1e-9), MOST_LOG_VARIANCE)
    return LearnedPrior(sigma=float(np.exp(s / 2 + variance / 4)), log_variance=float(variance))


def trace_of_agents(solve: Solve, n: int) -> float:
    """Return the trace of the covariance of ``n`` ratings around their mean, where the average agent comes last."""
    if n <= EXACT_TRACE:
        V = solve(np.eye(n + 1))[:n, :n]
        return float(np.trace(V) - V.mean(axis=0).sum())
    probes = PROBES if n <= DENSE else PROBES // 4
    signs: Floats = np.random.default_rng(0).choice(np.array([-1.0, 1.0]), size=(n, probes))
    signs = np.concatenate([signs - signs.mean(axis=0), np.zeros((1, probes))])
    return float((signs * solve(signs)).sum(axis=0).mean())


def fixed_point(excess: Callable[[float], float], close: float, start: float) -> tuple[float, float]:
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


def learn_sigma(matches: "Matches", r: Floats | None = None) -> LearnedPrior:
    """Return the learned prior of matches; ``r`` (n + 1,) is moved in place to the ratings under it."""
    n = len(matches.agents)
    r = np.zeros(n + 1) if r is None else r
    everyone = np.ones(n + 1, dtype=bool)

    def under(sigma: float) -> tuple[Floats, Solve]:
        totals = pair_totals(matches, sigma=sigma)
        newton(totals, r, everyone, close=CLOSE)
        h = totals.derivatives(r[totals.i] - r[totals.j])[1]
        return r, solver(n + 1, totals.i, totals.j, h, everyone, rtol=1e-6)

    return learn_prior(under, n)
