"""Certificates: how far an answer can be from right, whoever found it.

One side of a game is ``F``, what each opponent (row) gets against each own player (column); ``x`` the own weights,
``q`` a mixture of the opponents and ``y`` multipliers of the rows, both witnesses that need not be trusted.

*Exploitability*: what the best deviation gains, ``max(F x) - v``. Zero at an equilibrium.

*Complementarity*: rows with weight in ``q`` have to be tight, ``F x = v``, and ``q`` has to be an equilibrium of the
opponents, ``q'F >= v``. Then every equilibrium ``x'`` makes the same rows tight, because ``q'F x' = v``, and no player
with ``q'F > v`` has weight in any: such players are *excluded*.

*Residual*: whether the equilibrium is the one of maximum entropy. Take any multipliers ``y``, not negative outside the
rows just shown to be tight (there they are clipped). For every equilibrium ``x'``,

    H(x') <= log sum m exp(-F'y) + v sum(y)        (weak duality, a sum over all players that are not excluded)

and the bound is reached only by ``s = softmax(log m - F'y)``. So the weights are right when ``x = s``, and
rows with ``y > 0`` are tight. Players without weight that are not excluded count as well: their ``s`` has to be 0. The
residual is the larger of ``max |x - s|`` and ``sum y (v - F x)`` over the other rows, in twice the working precision. A
slack that the last bits of the weights and of the value could have made counts as zero: the residual is then that of a
mixture which rounds to this one.

*The only equilibrium*: where the weights of both sides solve a regular system of their supports, and all other margins
are positive, there is no other, so none is more even. How far the weights may be off then follows from the inverse:
with ``B z = g`` the system below and ``r`` what it misses in twice the working precision, ``|dz| <= |B^-1| |r|``. That
is the residual of such a game, and multipliers are not needed.

*Condition*: how far a weight moves, at most and to first order, when every payoff changes by a small share of the
largest one. On the support, ``M x = v, 1'x = 1`` is a square system ``B``, and ``|dx| <= |B^-1| |dM x|``. It is
infinite where there are many equilibria, and where a change of 1e-9 could already change who has weight. The
payoffs are those between classes: a change that tells the members of one apart is not covered.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgecon, dgetrf, dgetri

from nashboard._types import Bools, Floats
from nashboard.equilibrium import precision
from nashboard.equilibrium.face import SideSolution
from nashboard.equilibrium.precision import COMPLEMENTARY, EPS, LEAST, ROUNDING, TOLERANCE
from nashboard.errors import ConvergenceError

INVERTED = 512  # larger systems are not inverted: the estimate of the norm of the inverse is good to about a third


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What payoffs, weights and witnesses prove about one game, whose payoffs are near 1.

    ``condition`` is how far a weight moves per change of the payoffs, in their unit.
    """

    residual: float
    complementarity: float
    condition: float


NOT_A_POINT = Certificate(residual=float("inf"), complementarity=float("inf"), condition=float("inf"))


def certify(F: Floats, sides: Sequence[SideSolution], log_m: Sequence[Floats]) -> Certificate:
    """Return the certificate of a game with one group of players (``F`` antisymmetric) or two (``F`` a table)."""
    condition = float("inf")
    if all(side.unique for side in sides):
        only = certify_point(F, [side.weights for side in sides])
        if only.residual <= TOLERANCE:
            return only
        condition = only.condition
    if len(sides) == 1:
        parts = [(F, sides[0], sides[0], log_m[0], 0.0)]
    else:
        agents, tasks = sides
        v = value_between(F, agents, tasks)
        parts = [(F, tasks, agents, log_m[1], v), (-F.T, agents, tasks, log_m[0], -v)]
    residuals, misses = [], []
    for G, x, q, log_own, value in parts:
        missed, possible = complementarity(G, x.weights, q.inner, value)
        misses.append(missed)
        residuals.append(entropy_residual(G, x, q, log_own, value, possible))
    return Certificate(residual=max(residuals), complementarity=max(misses), condition=condition)


def require_certified(certificate: Certificate, exploitability: float, scale: float, rounding: float = 0.0) -> None:
    """Raise an error that says what was reached, unless all certificates are within their tolerance.

    ``rounding`` is what the last bits of the payoffs are worth, where it can exceed the tolerance (scores far
    from zero that hardly differ).
    """
    if not (exploitability <= TOLERANCE * scale + rounding and certificate.residual <= TOLERANCE):
        raise ConvergenceError(
            f"the equilibrium misses its tolerance of {TOLERANCE:g}: a deviation gains {exploitability:.1e} "
            f"where the largest payoff is {scale:.4g}, and the maximum-entropy residual is {certificate.residual:.1e}. "
            f"The payoffs may span too many orders of magnitude: scale them, or round them to the digits "
            f"that were measured"
        )
    if not certificate.complementarity <= COMPLEMENTARY:
        raise ConvergenceError(
            f"the support could not be certified: players in it miss the value by "
            f"{certificate.complementarity:.1e} of the largest payoff, more than {COMPLEMENTARY:.1e}. Round the "
            f"payoffs to the digits that were measured, or allow an exploitability with tolerance="
        )


def value_between(S: Floats, agents: SideSolution, tasks: SideSolution) -> float:
    """Return what the mixtures of agents and tasks get against each other."""
    rows, columns = agents.weights.nonzero()[0], tasks.weights.nonzero()[0]
    p, q = agents.weights.take(rows), tasks.weights.take(columns)
    high, low = precision.product(S.take(rows, axis=0).take(columns, axis=1), q)
    return float(p @ high + p @ low)


def entropy_residual(
    F: Floats, side: SideSolution, opponents: SideSolution, log_m: Floats, value: float, own: Bools
) -> float:
    """Return the residual of one side, whose players ``own`` are those that are not excluded.

    Rows with weight in ``opponents.inner`` may have multipliers of any sign.
    """
    tight = opponents.inner > 0
    x = side.weights[own]
    y = np.where(tight, side.y, np.maximum(side.y, 0.0))
    used = y.nonzero()[0]
    F_used = F.take(used, axis=0).take(own.nonzero()[0], axis=1)
    high, low = precision.product(np.ascontiguousarray(F_used.T), y[used], side.y_low[used])
    top = int(np.argmax(x))  # differences first, they may be tiny; not to a weight that has all but faded
    exponent = log_m[own] - ((high - high[top]) + (low - low[top]))
    q = np.exp(exponent - exponent.max())
    q /= q.sum()
    loose = ~tight[used]
    apart = float(np.abs(x - q).max())
    if not loose.any():
        return apart
    pressing = F_used[loose]
    high, low = precision.product(pressing, x)
    slack = np.abs((value - high) - low) - ROUNDING * (abs(value) + np.abs(pressing) @ x)
    return max(apart, float(y[used][loose] @ np.maximum(slack, 0.0)))


def complementarity(F: Floats, x: Floats, q: Floats, value: float) -> tuple[float, Bools]:
    """Return by how much rows with weight in ``q`` miss being tight, or ``q`` an equilibrium, beyond rounding.

    And which players have weight, or are not excluded beyond rounding.
    """
    own, tight = x.nonzero()[0], q.nonzero()[0]
    M = F.take(tight, axis=0)
    block = M.take(own, axis=1)
    missed = np.abs(block @ x[own] - value) - len(own) * EPS * (abs(value) + np.abs(block) @ x[own])
    gains, rounded = value - q[tight] @ M, len(tight) * EPS * (abs(value) + q[tight] @ np.abs(M))
    most = max(float(missed.max(initial=0.0)), float((gains - rounded).max(initial=0.0)))
    return most, (x > 0) | (-gains <= rounded)


def certify_point(F: Floats, mixtures: Sequence[Floats]) -> Certificate:
    """Return the certificate of the only equilibrium, whose residual is infinite where it is not proved to be that.

    ``mixtures`` are one for an antisymmetric ``F``, or those of agents and tasks. The system of the agents is that of
    the tasks, transposed.
    """
    q, x = mixtures[0], mixtures[-1]
    own, tight = x.nonzero()[0], q.nonzero()[0]
    if F.size == 1:
        return Certificate(residual=0.0, complementarity=0.0, condition=0.0)
    if len(own) != len(tight):
        return NOT_A_POINT
    k, columns, weights, others = len(own), F.take(own, axis=1), x[own], q[tight]
    B = np.empty((k + 1, k + 1), order="F")
    B[:k, :k], B[:k, k], B[k, :k], B[k, k] = columns.take(tight, axis=0), -1.0, 1.0, 0.0
    norm = float(np.abs(B).sum(axis=1).max())
    lu, pivots, singular = dgetrf(B)
    if singular:
        return NOT_A_POINT
    if k <= INVERTED:
        inverted = np.abs(dgetri(lu, pivots)[0])
        inverse = inverted[:k, :k]
        whole, inner = (float(max(each.sum(axis=0).max(), each.sum(axis=1).max())) for each in (inverted, inverse))
    else:
        whole = inner = 3 / max(min(float(dgecon(lu, 1.0, norm=kind)[0]) for kind in "1I"), LEAST)
    if not whole * norm * EPS < 1:
        return NOT_A_POINT
    high, low = precision.product(np.ascontiguousarray(B[:k, :k]), weights)
    value = 0.0 if len(mixtures) == 1 else float(others @ high + others @ low)
    missed = float(np.abs((high - value) + low).max())
    if len(mixtures) == 2:
        high, low = precision.product(B[:k, :k].T, others)
        missed = max(missed, float(np.abs((high - value) + low).max()))
    largest = float(np.abs(F).max())
    margins, gains = value - columns @ weights, others @ F.take(tight, axis=0) - value
    margins[tight] = gains[own] = np.inf
    reach = TOLERANCE * largest * inner
    least = min(float(margins.min()), float(gains.min()))
    if not (min(weights.min(), others.min()) > reach and least > 2 * largest * (TOLERANCE + reach)):
        return NOT_A_POINT
    sums = max(abs(float(part.sum()) - 1.0) for part in (weights, others))
    return Certificate(residual=whole * max(missed, sums), complementarity=missed, condition=inner)
