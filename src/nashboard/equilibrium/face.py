"""The optimal face: every equilibrium at once.

A player who has weight in *some* equilibrium is in the support ``B``; every other player has none in *any*.
One side of a game is a matrix ``F`` of what each opponent (row) gets against each own player (column). Its
equilibria are the mixtures ``x`` of players in the support with

    M x = v,    G x <= v,    sum(x) = 1,    x >= 0        (M: rows of the opponents' support, G: the others)

For agents against agents ``F = K`` and ``v = 0``. A `Face` is a point ``x`` inside it, all slack in
``G x < v`` and all weights positive, and an orthonormal basis ``Z`` of the directions in which it extends:
none when the equilibrium is unique.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd
from scipy.linalg.lapack import dgecon, dgetrf, dgetrs

from nashboard._types import Floats
from nashboard.equilibrium import twofold
from nashboard.equilibrium.tolerance import ZERO

Apply = Callable[[Floats], Floats]

EPS = float(np.finfo(float).eps)
EXACT = 64 * EPS  # what rounding leaves of equations that have a solution


@dataclass(frozen=True, kw_only=True, eq=False)
class Face:
    """The solutions of ``M x = v, sum(x) = 1`` near a point.

    ``x`` (k,) one of them, ``v`` the value, ``Z`` (k, d) directions. ``bordered`` is ``[[M, -1], [1', 0]]``
    where that is regular, and otherwise ``[[M], [1']]``, with ``M`` divided by ``unit``; ``pulls_back`` apply
    pseudo-inverses of its transpose: with ``ZERO`` as the rank decision, then with rounding only.
    """

    x: Floats
    v: float
    Z: Floats
    unit: float
    bordered: Floats
    pulls_back: tuple[Apply, ...]

    @property
    def unique(self) -> bool:
        """Whether the face is a single point."""
        return bool(self.Z.shape[1] == 0)


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
    tied = max(zero, EXACT)

    def found(point: Floats, value: float, Z: Floats, pulls_back: tuple[Apply, ...]) -> Face:
        return Face(x=point, v=value * unit, Z=Z, unit=unit, bordered=A, pulls_back=pulls_back)

    regular = inverse_of(A, zero)
    if regular is not None:
        apply, apply_back, loss = regular
        near = apply(goal)
        if near[:k].min() < -1e-6:
            return None  # not worth refining: somebody would have negative weight
        point = refined(A, near, goal, apply, loss)
        return found(point[:k], float(point[k]), np.zeros((k, 0)), (apply_back,))
    if not degenerate:
        return None
    if v is None:
        near = np.append(x, (M @ x).mean())
        apply, pulls_back, Z = pseudo_inverse_of(A, zero)
        point = refined(A, near, goal, apply)
        value = float(point[k])
        if Z.shape[1] == 0 and np.abs(left_over(A, point, goal)).max() <= tied:
            return found(point[:k], value, Z[:k], pulls_back)
    else:
        value = v / unit
    A = np.vstack([M, np.ones((1, k))])
    goal = np.append(np.full(rows, value), 1.0)
    apply, pulls_back, Z = pseudo_inverse_of(A, zero)
    inside = refined(A, x, goal, apply)
    if np.abs(left_over(A, inside, goal)).max() > tied:
        return None
    if Z.shape[1]:  # of all points on the face, one that is near in proportion, so that it stays positive
        u = np.linalg.lstsq(Z / x[:, None], (x - inside) / x)[0]
        inside = refined(A, inside + Z @ u, goal, apply)
    return found(inside, value, Z, pulls_back)


def power_of_two(M: Floats) -> float:
    """Return the power of two just above the largest payoff of a block, so that dividing by it is exact."""
    largest = float(np.abs(M).max(initial=0.0))
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]))) if largest > 0 else 1.0


def inverse_of(A: Floats, zero: float) -> tuple[Apply, Apply, float] | None:
    """Return how to solve with a square matrix and its transpose, unless it is close to singular.

    The number says what part of an answer may be lost to rounding.
    """
    if A.shape[0] != A.shape[1]:
        return None
    lu, pivots, trouble = dgetrf(A)
    if trouble:
        return None
    norm = float(np.abs(A).sum(axis=0).max())
    conditioning, _ = dgecon(lu, norm)
    # the smallest singular value is at least 1 / (sqrt(k) * norm of the inverse); leave room for the estimate
    if conditioning * norm < 30 * zero * np.sqrt(len(A)):
        return None
    loss = len(A) * EPS / conditioning
    return lambda b: dgetrs(lu, pivots, b)[0], lambda b: dgetrs(lu, pivots, b, trans=1)[0], loss


def pseudo_inverse_of(A: Floats, zero: float) -> tuple[Apply, tuple[Apply, ...], Floats]:
    """Return how to apply the pseudo-inverse of a matrix and its transpose, and the directions it kills."""
    try:
        U, strengths, Vt = svd(A, lapack_driver="gesdd")
    except np.linalg.LinAlgError:  # rare: the slower driver always converges
        U, strengths, Vt = svd(A, lapack_driver="gesvd")
    rank = int((strengths > zero).sum())
    all_but_rounding = int((strengths > 4 * EPS * strengths.max(initial=0.0)).sum())

    def back(kept: int) -> Apply:
        return lambda b: U[:, :kept] @ ((Vt[:kept] @ b) / strengths[:kept])

    return (
        lambda b: Vt[:rank].T @ ((U[:, :rank].T @ b) / strengths[:rank]),
        (back(rank), back(all_but_rounding)) if all_but_rounding > rank else (back(rank),),
        np.ascontiguousarray(Vt[rank:].T),
    )


def refined(A: Floats, point: Floats, goal: Floats, apply: Apply, loss: float = 1.0, rounds: int = 5) -> Floats:
    """Return the point moved to ``A point = goal``, with residuals in twice the working precision.

    A small residual would not do as the end: in a badly conditioned system it hides a large error. The last
    correction does not: the next one would be ``loss`` times as large, at most.
    """
    for _ in range(rounds):
        correction = apply(left_over(A, point, goal))
        point = point - correction
        if min(1.0, loss) * np.abs(correction).max() <= 4 * EPS * np.abs(point).max():
            break
    return point


def left_over(A: Floats, point: Floats, goal: Floats) -> Floats:
    """Return ``A point - goal``."""
    high, low = twofold.product(A, point)
    return (high - goal) + low
