"""The optimal face: every equilibrium at once.

A player who has weight in *some* equilibrium is in the support ``B``; every other player has none in *any*.
One side of a game is a matrix ``F`` of what each opponent (row) gets against each own player (column). Its
equilibria are the mixtures ``x`` of players in the support with

    M x = v,    G x <= v,    sum(x) = 1,    x >= 0        (M: rows of the opponents' support, G: the others)

For agents against agents ``F = K`` and ``v = 0``. A `Face` is a point ``x`` inside it, all slack in
``G x < v`` and all weights positive, and an orthonormal basis ``Z`` of the directions in which it extends:
none when the equilibrium is unique. `solve_side` maximises entropy on it and finds multipliers ``y`` of all rows,
free in sign on the opponents' support and not negative elsewhere, which prove the choice (see `certificate`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import svd
from scipy.linalg.lapack import dgecon, dgetrf, dgetrs

from nashboard._types import Bools, Floats, Ints
from nashboard.equilibrium import precision
from nashboard.equilibrium.entropy import (
    Margins,
    MaximumEntropy,
    independent_equations,
    less_equations,
    maximum_entropy,
)
from nashboard.equilibrium.precision import (
    CLEARLY,
    DEPENDENT,
    EPS,
    EXACT,
    NEGATIVE,
    NO_WEIGHT,
    ROUNDING,
    SMALL_WEIGHT,
    SOLVED,
    ZERO,
)

Apply = Callable[[Floats], Floats]


@dataclass(frozen=True, kw_only=True, eq=False)
class Face:
    """The solutions of ``M x = v, sum(x) = 1`` near a point.

    ``x`` (k,) one of them, ``v`` the value, ``Z`` (k, d) directions where they are needed, ``extent`` how many there
    are. ``bordered`` is ``[[M, -1], [1', 0]]``
    where that is regular, and otherwise ``[[M], [1']]``, with ``M`` divided by ``unit``; ``pulls_back`` apply
    pseudo-inverses of its transpose: with ``ZERO`` as the rank decision, then with rounding only.
    """

    x: Floats
    v: float
    Z: Floats
    extent: int
    unit: float
    bordered: Floats
    pulls_back: tuple[Apply, ...]

    @property
    def unique(self) -> bool:
        """Whether the face is a single point."""
        return self.extent == 0


def face(M: Floats, x: Floats, v: float | None, *, unit: float, degenerate: bool, zero: float = ZERO) -> Face | None:
    """Return the face near ``x``; ``v`` is the value where it is known, ``unit`` the scale of ``M``.

    Singular values up to ``zero`` are zero, and opponents that differ by up to ``zero`` are tied. One rule for
    both, because they are two sides of one thing: where one side has more than a point, the other has more
    equations than weights, and a tie that was broken in the last bits cannot hold exactly.

    Return nothing where the face may be more than a point and that was not asked for, or where no mixture
    with weights that are not negative makes all these opponents equal, so that the guess of the supports was
    wrong.
    """
    rows, k = M.shape
    M = M / unit if unit != 1.0 else M
    A = np.empty((rows + 1, k + 1), order="F")
    A[:rows, :k], A[:rows, k], A[rows, :k], A[rows, k] = M, -1.0, 1.0, 0.0
    goal = np.zeros(rows + 1)
    goal[rows] = 1.0
    tied = max(zero, SOLVED)

    def found(point: Floats, value: float, Z: Floats, pulls_back: tuple[Apply, ...]) -> Face:
        return Face(x=point, v=value * unit, Z=Z, extent=Z.shape[1], unit=unit, bordered=A, pulls_back=pulls_back)

    factors = factorise(A)
    if factors is not None:
        near = dgetrs(*factors, goal)[0]
        wrong = near[:k].min() < -NEGATIVE  # somebody would have negative weight
        if wrong and not degenerate:
            return None
        loss = estimate_loss(A, factors[0], zero)
        if loss is not None:
            if wrong:
                return None
            point = refine(A, near, goal, lambda b: dgetrs(*factors, b)[0], loss)
            back = (lambda b: dgetrs(*factors, b, trans=1)[0],)
            return found(point[:k], float(point[k]), np.zeros((k, 0)), back)
    if not degenerate:
        return None
    value = 0.0 if v is None else v / unit
    rounded = v is None or (v != 0 and rows == k)  # the last bit of a value can be worth more than that of a weight
    if rounded:
        near = np.append(x, (M @ x).mean())
        apply, pulls_back, Z, weakest = pseudo_invert(A, zero)
        point = refine(A, near, goal, apply)
        value = float(point[k]) if v is None else value
        if Z.shape[1] == 0 and np.abs(equation_error(A, point, goal)).max() <= min(tied, weakest / CLEARLY):
            return found(point[:k], float(point[k]), Z[:k], pulls_back)
    A = np.vstack([M, np.ones((1, k))])
    goal = np.append(np.full(rows, value), 1.0)
    apply, pulls_back, Z, weakest = pseudo_invert(A, zero)
    inside = refine(A, x, goal, apply)
    if np.abs(equation_error(A, inside, goal)).max() > min(tied, weakest / CLEARLY):
        return None
    if rounded and not Z.shape[1]:  # nothing but the rounding of the value makes this a point
        return None
    if Z.shape[1]:  # of all points on the face, one that is near in proportion, so that it stays positive
        u = np.linalg.lstsq(Z / x[:, None], (x - inside) / x)[0]
        inside = refine(A, inside + Z @ u, goal, apply)
    return found(inside, value, Z, pulls_back)


def power_of_two(M: Floats) -> float:
    """Return the power of two just above the largest payoff of a block, so that dividing by it is exact."""
    largest = float(np.abs(M).max(initial=0.0))
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]))) if largest > 0 else 1.0


def factorise(A: Floats) -> tuple[Floats, Ints] | None:
    """Return the triangular factors of a square matrix and their row exchanges, unless it is singular."""
    if A.shape[0] != A.shape[1]:
        return None
    lu, pivots, trouble = dgetrf(A)
    return None if trouble else (lu, pivots)


def estimate_loss(A: Floats, lu: Floats, zero: float) -> float | None:
    """Return what part of a solution may be lost to rounding, or nothing where the matrix is close to singular."""
    norm = float(np.abs(A).sum(axis=0).max())
    conditioning, _ = dgecon(lu, norm)
    # the smallest singular value is at least 1 / (sqrt(k) * norm of the inverse); leave room for the estimate
    if conditioning * norm < CLEARLY * zero * np.sqrt(len(A)):
        return None
    return float(len(A) * EPS / conditioning)


def pseudo_invert(A: Floats, zero: float) -> tuple[Apply, tuple[Apply, ...], Floats, float]:
    """Return how to apply the pseudo-inverse of a matrix and its transpose, and the directions it kills."""
    try:
        U, strengths, Vt = svd(A, lapack_driver="gesdd")
    except np.linalg.LinAlgError:  # rare: the slower driver always converges
        U, strengths, Vt = svd(A, lapack_driver="gesvd")
    rank = int((strengths > zero).sum())
    all_but_rounding = int((strengths > ROUNDING * strengths.max(initial=0.0)).sum())

    def back(kept: int) -> Apply:
        return lambda b: U[:, :kept] @ ((Vt[:kept] @ b) / strengths[:kept])

    return (
        lambda b: Vt[:rank].T @ ((U[:, :rank].T @ b) / strengths[:rank]),
        (back(rank), back(all_but_rounding)) if all_but_rounding > rank else (back(rank),),
        np.ascontiguousarray(Vt[rank:].T),
        float(strengths[rank - 1]),
    )


def refine(A: Floats, point: Floats, goal: Floats, apply: Apply, loss: float = 1.0, rounds: int = 5) -> Floats:
    """Return the point moved to ``A point = goal``, with residuals in twice the working precision.

    A small residual would not do as the end: in a badly conditioned system it hides a large error. The last
    correction does not: the next one would be ``loss`` times as large, at most.
    """
    for _ in range(rounds):
        correction = apply(equation_error(A, point, goal))
        point = point - correction
        if min(1.0, loss) * np.abs(correction).max() <= ROUNDING * np.abs(point).max():
            break
    return point


def equation_error(A: Floats, point: Floats, goal: Floats) -> Floats:
    """Return ``A point - goal``."""
    high, low = precision.product(A, point)
    return (high - goal) + low


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """Whether a face may be more than a point, and which margins and ranks count as zero."""

    degenerate: bool
    zero: float

    @property
    def last(self) -> bool:
        """Whether rounding alone is left to decide."""
        return self.zero < ZERO


@dataclass(frozen=True, kw_only=True, eq=False)
class Terms:
    """A face in the terms of the entropy problem.

    ``equations`` (k, e) are independent, each a column that is constant on the face; ``falls`` says by how much each
    own player's weight lowers the margins that are ``moving``, those that change on the face, and ``change`` by how
    much.
    """

    equations: Floats
    falls: Floats
    moving: Bools
    change: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class SideFace:
    """The face of one side: who has weight, which rows are tight on all of it, and the margins inside it.

    ``G`` are the rows with margins; ``terms`` are given where they are known better than from ``found`` and ``G``.
    """

    F: Floats
    own: Bools
    tight: Bools
    found: Face
    G: Floats
    margins: Floats
    terms: Terms | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class SideSolution:
    """The maximum-entropy mixture of one side and what proves it.

    ``weights`` and ``inner`` (a strictly complementary equilibrium) over all own players, ``value``,
    ``support``, ``unique``; ``y`` and ``y_low`` the multipliers over all opponents, in two parts for
    precision, and how far ``off`` they leave the logarithms of the weights.
    """

    weights: Floats
    inner: Floats
    value: float
    support: Bools
    unique: bool
    y: Floats
    y_low: Floats
    off: float
    iterations: int

    def picked(self, own: Ints, opponents: Ints) -> "SideSolution":
        """Return the solution with the players in these places, in this order."""
        return replace(
            self,
            weights=self.weights[own],
            inner=self.inner[own],
            support=self.support[own],
            y=self.y[opponents],
            y_low=self.y_low[opponents],
        )


def find_side_face(
    F: Floats, x: Floats, v: float | None, own: Bools, tight: Bools, attempt: Attempt
) -> SideFace | None:
    """Return the face for a guess of both supports, or nothing when the guess is not proved right.

    The proof is strict complementarity: every own player of the support has weight, every opponent outside
    its support a margin. When rounding alone is left to decide, a margin is measured by the terms it is the sum
    of: against a mixture of small weights it may be small and still be certain.
    """
    if not own.any() or not tight.any():
        return None
    players = own.nonzero()[0]
    M = F.take(tight.nonzero()[0], axis=0).take(players, axis=1)
    unit = power_of_two(M) if v == 0 else 1.0  # where zero means something, a block has its own scale
    found = face(M, x[own], v, unit=unit, degenerate=attempt.degenerate, zero=attempt.zero)
    if found is None or not (found.x > 0).all() or any_weight_is_rounding(found, attempt.zero):
        return None
    G = F.take((~tight).nonzero()[0], axis=0).take(players, axis=1)
    margins = found.v - G @ found.x
    size = abs(found.v) + np.abs(G) @ found.x if attempt.last else np.maximum.reduce(np.abs(G), axis=1)
    if (margins <= attempt.zero * size).any():
        return None
    return SideFace(F=F, own=own, tight=tight, found=found, G=G, margins=margins)


def any_weight_is_rounding(found: Face, zero: float) -> bool:
    """Whether changes by a share ``zero`` of each payoff could have made some weight, so that it may be zero.

    To first order a weight ``x_i`` moves by at most ``zero |z| (|A| |x|)`` with ``A'z = e_i``. This does not depend on
    the units of single players, so that weights of any size are told from zero in badly scaled games.
    """
    small = np.flatnonzero(found.x < SMALL_WEIGHT * found.x.max())
    if not small.size:
        return False
    free = found.bordered.shape[1] - len(found.x)  # the column of the value, where that is an unknown
    terms = np.abs(found.bordered) @ np.abs(np.append(found.x, [found.v / found.unit] * free))
    for k in small:
        unit = np.zeros(found.bordered.shape[1])
        unit[k] = 1.0
        if found.x[k] <= zero * float(np.abs(found.pulls_back[0](unit)) @ terms) + NO_WEIGHT * found.x.max():
            return True
    return False


def solve_side(side: SideFace, log_m: Floats, point: bool = False) -> SideSolution:
    """Maximise entropy on a face and compute the multipliers that prove it, unless it is known to be a ``point``."""
    found, G = side.found, side.G
    log_m = log_m[side.own]
    z = np.zeros(len(G))
    if found.unique:
        choice = MaximumEntropy(x=found.x, log_x=np.log(found.x), z=z, iterations=0)
    else:
        terms = side.terms or describe_terms(found, G)
        margins = side.margins[terms.moving]
        choice = maximum_entropy(found.x, terms.equations, Margins.of(margins, terms.falls, terms.change), log_m)
        z[terms.moving] = choice.z
    x = choice.x / choice.x.sum()
    # stationarity: M'y + lambda = -(log(x / m) + G'z)
    target, target_low = log_m - choice.log_x, np.zeros(len(x))
    pressing = z.nonzero()[0]
    if pressing.size:  # multipliers may be huge, so nothing is dropped; lambda takes what is common
        high, low = precision.product(np.ascontiguousarray(G.take(pressing, axis=0).T), z.take(pressing))
        top = int(np.argmax(x))
        push, push_low = precision.two_sum(high, -high[top])
        target, target_low = precision.two_sum(target, -push)
        target_low = target_low - (push_low + (low - low[top]))
    y, y_low, weights, inner = (np.zeros(n) for n in (len(side.F), len(side.F), len(side.own), len(side.own)))
    off = 0.0
    if not point:
        dual, dual_low, off = find_multipliers(found, target, target_low)
        y[side.tight], y_low[side.tight] = dual[:-1] / found.unit, dual_low[:-1] / found.unit
        y[~side.tight] = z
    weights[side.own], inner[side.own] = x, found.x / found.x.sum()
    return SideSolution(
        weights=weights,
        inner=inner,
        value=found.v,
        support=side.own,
        unique=found.unique,
        y=y,
        y_low=y_low,
        off=off,
        iterations=choice.iterations,
    )


def describe_terms(found: Face, G: Floats) -> Terms:
    """Return the terms of a face as they stand in the game.

    Weights add up to 1, so that the value can be taken from every payoff: rows then add up to zero. A margin that is
    the same all over the face, by the rule of `precision`, cannot become tight.
    """
    change = np.maximum.reduce(np.abs(G @ found.Z), axis=1, initial=0.0)
    moving = change > ZERO * np.maximum.reduce(np.abs(G), axis=1)
    equations = np.vstack([found.bordered[:-1] - found.v / found.unit, found.bordered[-1:]])
    W = independent_equations(equations, len(found.x) - found.extent)
    falls, change = G[moving] - found.v, change[moving]
    thin = change < DEPENDENT * np.maximum.reduce(np.abs(falls), axis=1, initial=0.0)
    falls[thin] = less_equations(falls[thin], W)
    return Terms(equations=W, falls=falls, moving=moving, change=change)


def find_multipliers(found: Face, target: Floats, target_low: Floats, rounds: int = 4) -> tuple[Floats, Floats, float]:
    """Solve ``M'y + lambda = target`` by refinement; return both parts of the best round and how far off it is."""
    transposed = np.ascontiguousarray(found.bordered.T)
    free = np.zeros(len(transposed) - len(target))  # where the value is free, sum(y) = 0
    target, target_low = np.append(target, free), np.append(target_low, free)
    dual, dual_low = np.zeros((2, len(found.bordered)))
    left, least = target + target_low, np.inf
    best = dual, dual_low, left
    for pull_back in found.pulls_back:
        for _ in range(rounds):
            dual, dual_low = precision.two_sum(dual, dual_low + pull_back(left))
            high, low = precision.product(transposed, dual, dual_low)
            left = (target - high) + (target_low - low)
            off = float(np.abs(left).max())
            if not off < 0.5 * least:
                break
            best, least = (dual, dual_low, left), off
            if off <= EXACT:
                return dual, dual_low, off
        dual, dual_low, left = best
    return dual, dual_low, least
