"""Newton's method on the loss of Elo ratings, the linear systems it solves, and the learned prior.

Symbols: ``r`` ratings in logits, the average agent's (see `likelihood`) last; ``x = r[i] - r[j]`` leads; ``g`` gradient
of the loss; ``L = sum over pairs of h (e_i - e_j)(e_i - e_j)'`` its Hessian, a graph Laplacian weighted by the
curvatures ``h``; ``free`` the nodes that may move. Small systems are factored, large ones solved by conjugate
gradients on the sparse matrix.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nashboard._types import Bools, Floats, Ints
from nashboard.errors import ConvergenceError
from nashboard.ratings.likelihood import SCALE, NormalPrior, PairTotals, pair_totals

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
LEAST_SIGMA = 1e-4  # logits
LEAST_FROM_OPPONENTS = 0.01  # of the distance to opponents, 2 Elo points: in long chains the likelihood is flat below
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
    return v - np.add.reduce(v) / len(v) if loose else v


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
    """A normal prior with its learned standard deviation in logits, and the variance of ``log sigma^2``."""

    sigma: float
    log_variance: float
    normal: NormalPrior


class FittedRows(NamedTuple):
    """Ratings (n + 1,) of all nodes, the solver of the Hessian there, and rows with two derivatives of the slope."""

    r: Floats
    solve: Solve
    i: Ints
    j: Ints
    h: Floats
    bend: Floats  # d h / d lead


Under = Callable[[float], FittedRows]


def learn_prior(under: Under, normal: NormalPrior, *, close: float = CLOSE_SIGMA, start: float = 0.0) -> LearnedPrior:
    """Return the standard deviation of ratings that the games suggest.

    ``under(sigma)`` fits the ratings with a prior of that ``sigma``. The result is the maximum of the marginal
    likelihood of ``sigma`` (ratings integrated out by Laplace's method) times the density
    ``sigma exp(-sigma^2 / (2 SCALE^2))``, which is 0 at ``sigma = 0``: with few agents the likelihood alone often has
    its maximum there, and would call all of them equal (Chung et al. 2013). At the maximum

        sigma^2 = (d'd + trace D V D' - sigma^2 c) / (n - 2 + sigma^2 / SCALE^2),
        c = sum over pairs of h' v dx / d log sigma^2,

    with ``d = D r`` the deviations from the prior's mean and ``v`` the variances of the leads; ``c`` is how the
    determinant of the Hessian moves as ratings do, which matters where games are few. The fixed point is found by
    secants in ``log sigma^2``. There the density is taken as normal: its variance follows from the slope, and
    ``sigma^2`` is the mean, which is less biased than the mode.
    """
    n = int(normal.j[-1])

    def excess(s: float) -> float:
        """Return the logarithm of the right side of the fixed point minus that of the left."""
        sigma = float(np.exp(s / 2))
        fit = under(sigma)
        d = normal.deviate(fit.r[:n])
        trace, variances = uncertainty(fit, normal, sigma)
        x = fit.r[normal.i] - fit.r[normal.j]
        pull = normal.unit / sigma**2 * x
        right: Floats = np.zeros(n + 1)
        right += np.bincount(normal.i, pull, minlength=n + 1) - np.bincount(normal.j, pull, minlength=n + 1)
        move = fit.solve(right)
        moved = float((fit.bend * variances * (move[fit.i] - move[fit.j])).sum())
        size = max(float(d @ d) + trace - sigma**2 * moved, 1e-300)
        return float(np.log(size / (n - 2 + np.exp(s) / SCALE**2))) - s

    least = LEAST_SIGMA if normal.deviations is None else LEAST_FROM_OPPONENTS
    s, slope = fixed_point(excess, close, start, 2 * float(np.log(least)))
    weight = (n - 2 + np.exp(s) / SCALE**2) / 2
    variance = min(1 / max(-slope * weight, 1e-9), MOST_LOG_VARIANCE)
    return LearnedPrior(sigma=float(np.exp(s / 2 + variance / 4)), log_variance=float(variance), normal=normal)


def uncertainty(fit: FittedRows, normal: NormalPrior, sigma: float) -> tuple[float, Floats]:
    """Return the trace of the covariance of the deviations, and the variances of the leads."""
    n = int(normal.j[-1])
    if n <= EXACT_TRACE:
        V = fit.solve(np.eye(n + 1))
        own = np.diag(V)
        trace = float(np.trace(normal.deviate(normal.deviate(V[:n, :n]).T)))
        return trace, own[fit.i] + own[fit.j] - 2 * V[fit.i, fit.j]
    probes, rng = PROBES if n <= DENSE else PROBES // 4, np.random.default_rng(0)
    signs: Floats = rng.choice(np.array([-1.0, 1.0]), size=(n, probes))
    right = np.concatenate([normal.deviate_back(signs), np.zeros((1, probes))])
    trace = float((right * fit.solve(right)).sum(axis=0).mean())
    y = fit.solve(draw_score(fit.i, fit.j, fit.h, normal, sigma, probes, rng))
    return trace, ((y[fit.i] - y[fit.j]) ** 2).mean(axis=1)


def draw_score(
    i: Ints, j: Ints, h: Floats, normal: NormalPrior, sigma: float, count: int, rng: np.random.Generator
) -> Floats:
    """Return ``(n + 1, count)`` normal values on nodes whose covariance is the Hessian, of rows and the prior."""
    score = normal.noise(sigma, count, rng)
    for column in score.T:
        flow = np.sqrt(h) * rng.standard_normal(h.size)
        column += np.bincount(i, flow, minlength=len(column)) - np.bincount(j, flow, minlength=len(column))
    return score


def fixed_point(excess: Callable[[float], float], close: float, start: float, low: float) -> tuple[float, float]:
    """Return the root above ``low`` of a falling function by secants, and the slope there."""
    high = np.log(1e4)
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


def learn_sigma(matches: "Matches", r: Floats | None = None, normal: NormalPrior | None = None) -> LearnedPrior:
    """Return the learned prior of matches, around the average agent unless given.

    ``r`` (n + 1,) is moved in place to the ratings under it.
    """
    n = len(matches.agents)
    r = np.zeros(n + 1) if r is None else r
    everyone = np.ones(n + 1, dtype=bool)
    normal = normal or NormalPrior.around_all(n)
    base = pair_totals(matches, sigma=1.0, normal=normal)

    played = slice(len(matches.pairs))

    def under(sigma: float) -> FittedRows:
        totals = replace(base, sigma=sigma)
        newton(totals, r, everyone, close=CLOSE)
        i, j = totals.i, totals.j
        x = r[i] - r[j]
        h = totals.derivatives(x)[1]
        solve = solver(n + 1, i, j, h, everyone, rtol=1e-6)
        return FittedRows(r, solve, i[played], j[played], h[played], -h[played] * np.tanh(x[played] / 2))

    return learn_prior(under, normal)
