"""What counts as zero, as equal and as solved in this room, each with its reason.

Shares are of the largest payoff, score or strength, so that the unit of the data does not matter. Thresholds of size
(when a matrix is large) are choices of speed and are next to the code that they steer.
"""

import numpy as np

EPS = float(np.finfo(np.float64).eps)

# Results. Ratings, planes, components and the harmonic part are met to this, or an error is raised: ten digits are more
# than data have, and a thousand times what sums over large populations lose to rounding.
TOLERANCE = 1e-10
# Iterations aim lower than they have to: the residual of a product is not yet the error of a result.
AIM = TOLERANCE / 1000
# What conjugate gradients leave of the right side at first, and of what they left before when they refine.
RTOL, REFINED = 1e-13, 1e-4
# How many times more than that may be left of the equations themselves, which rounding keeps from being met.
LOST = 100.0
# An equation whose terms are smaller than this share of the largest is measured by the largest, not by its own terms.
SMALL_TERMS = 1e-6
# What rounding alone leaves of the curl of a flow, as a share of the flow.
CURL_ROUNDING = 1e-15

# Zero and equal. A sum of rounded numbers is zero up to a few units in the last place: per term, or per root of it.
ROUNDING = 8 * EPS
# The same for a sum of three payoffs round a triangle that are compared with bounds of it, both rounded.
TRIANGLE_ROUNDING = 32 * EPS
# What is left of a vector after projecting it out twice: less is no direction.
NO_DIRECTION = 100 * EPS
# Numbers shown as equal: far above the rounding of a fit, far below the digits that are shown.
SAME = 1e-12
# Radii that agree to this share are a tie, and the first agent wins: rounding, which is below it, must not choose.
TIE = 1e-8
# A strength that exceeds another by less than this share is not a stronger one that was missed.
STRONGER = 1e-9
# An operator whose x'Ax exceeds this share of |Ax| is not antisymmetric; the same share as for payoffs.
NOT_ANTISYMMETRIC = 1e-9
# Planes that products have not met to this, after a few of them, do not stand out: all planes are found instead.
GIVE_UP = 1e-4

# Range. Divisors are at least this: far above underflow, far below anything that counts.
LEAST = 1e-300
# Norms whose squares neither overflow nor vanish, also summed over all entries; others are scaled.
USUAL = (1e-100, 1e100)
