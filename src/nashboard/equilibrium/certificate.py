"""Certificates: how far an answer can be from right, whoever found it.

*Exploitability*: what the best deviation gains, ``max(F x) - v``. Zero at an equilibrium.

*Residual*: whether the equilibrium is the one of maximum entropy. Take any multipliers ``y`` of the rows, not
negative outside the opponents' support (there they are clipped). For every equilibrium ``x'``,

    H(x') <= log sum m exp(-F'y) + v sum(y)        (weak duality)

and the bound is reached only by ``q = softmax(log m - F'y)``. So the weights are right when ``x = q`` and
rows with ``y > 0`` are tight. The residual is the larger of ``max |x - q|`` and ``sum y (v - F x)`` over the
rows outside the opponents' support. It is computed from payoffs, weights and multipliers alone, in
twice the working precision, and knows nothing of how they were found. A slack that the last bits of the weights and
of the value could have made counts as zero: the residual is then that of a mixture which rounds to this one.
"""

import numpy as np

from nashboard._types import Bools, Floats
from nashboard.equilibrium import twofold
from nashboard.equilibrium.side import SideSolution
from nashboard.equilibrium.tolerance import TOLERANCE
from nashboard.errors import ConvergenceError

ROUNDING = 4 * float(np.finfo(float).eps)  # what the last bits of weights and of the value are worth in a sum of them


def require_certified(exploitability: float, residual: float, scale: float, rounding: float = 0.0) -> None:
    """Raise an error that says what was reached, unless both certificates are within the tolerance.

    ``rounding`` is what the last bits of the payoffs are worth, where it can exceed the tolerance (scores far
    from zero that hardly differ).
    """
    if not (exploitability <= TOLERANCE * scale + rounding and residual <= TOLERANCE):
        raise ConvergenceError(
            f"the equilibrium misses its tolerance of {TOLERANCE:g}: a deviation gains {exploitability:.1e} "
            f"where the largest payoff is {scale:.4g}, and the maximum-entropy residual is {residual:.1e}. "
            f"The payoffs may span too many orders of magnitude: scale them, or round them to the digits "
            f"that were measured"
        )


def value_between(S: Floats, agents: SideSolution, tasks: SideSolution) -> float:
    """Return what the mixtures of agents and tasks get against each other."""
    rows, columns = agents.support.nonzero()[0], tasks.support.nonzero()[0]
    p, q = agents.weights.take(rows), tasks.weights.take(columns)
    high, low = twofold.product(S.take(rows, axis=0).take(columns, axis=1), q)
    return float(p @ high + p @ low)


def entropy_residual(F: Floats, side: SideSolution, tight: Bools, log_m: Floats, value: float = 0.0) -> float:
    """Return the residual of one side; ``tight`` are the rows in the opponents' support."""
    own = side.support
    x = side.weights[own]
    y = np.where(tight, side.y, np.maximum(side.y, 0.0))
    used = y.nonzero()[0]
    F_used = F.take(used, axis=0).take(own.nonzero()[0], axis=1)
    high, low = twofold.product(np.ascontiguousarray(F_used.T), y[used], side.y_low[used])
    top = int(np.argmax(x))  # differences first, they may be tiny; not to a weight that has all but faded
    exponent = log_m[own] - ((high - high[top]) + (low - low[top]))
    q = np.exp(exponent - exponent.max())
    q /= q.sum()
    loose = ~tight[used]
    apart = float(np.abs(x - q).max())
    if not loose.any():
        return apart
    pressing = F_used[loose]
    high, low = twofold.product(pressing, x)
    slack = np.abs((value - high) - low) - ROUNDING * (abs(value) + np.abs(pressing) @ x)
    return max(apart, float(y[used][loose] @ np.maximum(slack, 0.0)))
