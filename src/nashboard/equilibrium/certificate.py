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
    """What payoffs, weights and witnesses prove about one game, in units of the largest payoff."""

    residual: float
    complementarity: float
    condition: float


def certify(F: Floats, sides: Sequence[SideSolution], log_m: Sequence[Floats]) -> Certificate:
    """Return the certificate of a game with one group of players (``F`` antisymmetric) or two (``F`` a table)."""
    if len(sides) == 1:
        v, parts = 0.0, [(F, sides[0], sides[0], log_m[0], 0.0)]
    else:
        agents, tasks = sides
        v = value_between(F, agents, tasks)
        parts = [(F, tasks, agents, log_m[1], v), (-F.T, agents, tasks, log_m[0], -v)]
    unique = all(side.unique for side in sides)
    residuals, misses = [], []
    for G, x, q, log_own, value in parts:
        missed, possible = complementarity(G, x.weights, q.inner, value)
        misses.append(missed)
        residuals.append(entropy_residual(G, x, q, log_own, value, possible))
    return Certificate(
        residual=max(residuals),
        complementarity=max(misses),
        condition=condition(F, sides[-1].weights, sides[0].weights, v) if unique else float("inf"),
    )


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


def condition(F: Floats, x: Floats, q: Floats, value: float) -> float:
    """Return how far a weight of ``x`` or ``q``, the only equilibrium, moves per share of the largest payoff.

    The system of ``q`` is that of ``x``, transposed.
    """
    own, tight = x.nonzero()[0], q.nonzero()[0]
    if F.size == 1:
        return 0.0
    if len(own) != len(tight):
        return float("inf")
    k, columns = len(own), F.take(own, axis=1)
    B = np.empty((k + 1, k + 1), order="F")
    B[:k, :k], B[:k, k], B[k, :k], B[k, k] = columns.take(tight, axis=0), -1.0, 1.0, 0.0
    norm = float(np.abs(B).sum(axis=1).max())
    lu, pivots, singular = dgetrf(B)
    if singular:
        return float("inf")
    if k <= INVERTED:
        inverted = np.abs(dgetri(lu, pivots)[0])
        whole, inner = float(inverted.sum(axis=1).max()), inverted[:k, :k]
        inverse = float(max(inner.sum(axis=0).max(), inner.sum(axis=1).max()))
    else:
        whole = inverse = 3 / max(min(float(dgecon(lu, 1.0, norm=kind)[0]) for kind in "1I"), LEAST)
    if not whole * norm * EPS < 1:
        return float("inf")
    largest = float(np.abs(F).max())
    margins, gains = value - columns @ x[own], q[tight] @ F.take(tight, axis=0) - value
    margins[tight] = gains[own] = np.inf
    moved = largest * inverse
    reach = TOLERANCE * moved
    least = min(float(margins.min()), float(gains.min()))
    certain = min(x[own].min(), q[tight].min()) > reach and least > 2 * largest * (TOLERANCE + reach)
    return moved if certain else float("inf")
