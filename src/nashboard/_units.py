"""Units: Elo points at the border, logits inside.

A lead of ``x`` points wins with probability ``1 / (1 + 10^(-x / 400))``, a lead of ``x`` logits with
``1 / (1 + e^(-x))``. The cyclic part enters predictions as products of two of its coordinates, so its own
unit is the square root: ``cyclic`` in square roots of points has products in points.
"""

import math

POINTS_PER_LOGIT = 400 / math.log(10)
CYCLIC_PER_LOGIT = math.sqrt(POINTS_PER_LOGIT)


def win_probability(points: float) -> float:
    """Return the probability that a lead of so many points wins; this form does not overflow."""
    x = points / POINTS_PER_LOGIT
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
