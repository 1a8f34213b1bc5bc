"""Newton's method on the loss of Elo ratings.

Symbols: ``r`` ratings in logits, the average agent's (see `likelihood`) last; ``x = r[i] - r[j]`` leads;
``g`` gradient and ``L`` Hessian of the loss, a graph Laplacian weighted by the curvatures.
"""

import numpy as np

from nashboard._types import Bools, Floats
from nashboard.errors import ConvergenceError
from nashboard.ratings.laplacian import solver
from nashboard.ratings.likelihood import PairTotals

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
        f"Elo did not converge in {MOST_STEPS:,} steps: the gradient's norm is {norm:.2g}, wanted {tolerance:.2g}; "
        f"a larger prior= makes the ratings finite"
    )


def halved(totals: PairTotals, x: Floats, dx: Floats, slope: float) -> float:
    """Return the length, halved from 1, at which a step ``dx`` from leads ``x`` makes the loss fall (Armijo)."""
    length, start = 1.0, totals.loss(x)
    # near the optimum the loss no longer shows progress: a change of rounding size counts as none
    slack = 1e-13 * abs(start)
    while totals.loss(x + length * dx) > start + 1e-4 * length * slope + slack:
        length /= 2
    return length
