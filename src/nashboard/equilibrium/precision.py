"""What counts as zero, decided once for the whole room, and products in twice the working precision.

Payoffs are measured: the last bits of a logit or of a scaled score are rounding, so a rule has to decide when two
numbers are the same. The rule is relative to the payoffs, and every file here uses it:

    a payoff, a margin or a singular value is zero when it is at most ``ZERO`` times the largest payoff of the block
    it belongs to; two players are identical when all their payoffs are the same by this rule.

The rule only joins, and it joins in two places.

*Identical players* become one class (see `clones`). Being the same by the rule is not transitive, so a class is a
maximal group in which no two members differ by more than ``ZERO``, and the middle of its payoffs represents it.
Classes depend on the set of payoffs alone: not on the order of players, nor on how often one is entered. They are not
continuous in the payoffs: where a distance crosses ``ZERO``, two players become one, and where there are many
equilibria, weights may jump. Exploitability does not: it moves by at most ``ZERO`` times the largest payoff.

*Margins and ranks.* Players that tie by the rule are first taken together, and the answer has to be an equilibrium of
all of them. A tie may be missed by no more than a share of the weakest singular value that counts: otherwise what is
called a tie would choose the weights. Where that fails, the differences decide, as far as doubles can tell; and where
those fail too, the most even mixture with an exploitability of a few times ``ZERO`` is the answer: there is always one,
and its weights are continuous in the payoffs. The last resort are payoffs rounded to such multiples. Between the
rounding of a double and that size the choice among equilibria rests on this rule, not on the payoffs;
`Certificate.condition` is infinite or very large for such games.

Certificates do not use the rule to excuse an error. Exploitability is computed on the payoffs as they came in, the
residual on those between classes (the same numbers, unless members of a class differ), and a result whose
certificates exceed ``TOLERANCE`` (relative to the payoffs) is not returned: it raises.

Thresholds of size (when a matrix is large) are choices of speed and are next to the code that they steer.

*Products.* Near-copies make a game ill-conditioned: weights then need residuals that are smaller than the rounding of
an ordinary product. ``product(M, x)`` adds up exactly what rounding drops (Ogita, Rump and Oishi 2005, *Accurate sum
and dot product*), so that iterative refinement and certificates see the payoffs as they are.
"""

import numpy as np

from nashboard._types import Floats

EPS = float(np.finfo(np.float64).eps)

# Thousands of times the rounding of a double, a thousandth of what is called different on purpose (copies at 1e-9).
ZERO = 2.0**-40
# What a certificate may be off by, relative to the largest payoff: nine digits of a reported number.
TOLERANCE = 1e-9
# Payoffs in a narrower type are known to a few units in the last place; equilibria up to this multiple are the same.
NARROW = 2.0
# What the value of a game is known to where a tolerance is allowed, as a share of it: a millionth moves no digit shown.
NEARNESS = 2.0**-20
# The tolerances, then the multiples to round to, that are tried one after the other where differences near the rule
# decide. The last is a quarter of `TOLERANCE`.
UNDECIDED = (4 * ZERO, 32 * ZERO, 256 * ZERO)
# Weights below this share of the largest are compared with what changes of the payoffs by the rule could make of them.
SMALL_WEIGHT = 1e-6
# What products in twice the working precision leave of a weight that is zero, as a share of the largest.
NO_WEIGHT = 64 * EPS * EPS
# What rounding leaves of equations that have a solution.
SOLVED = 64 * EPS
# Multipliers that leave less than this of the logarithms of the weights are not refined any further.
EXACT = 16 * EPS
# A system counts as regular where its estimated smallest singular value is so many times what counts as zero.
CLEARLY = 30.0
# A support with a weight further below zero than this is a wrong guess, and is not refined.
NEGATIVE = 1e-6
# Divisors and weights are at least this: far above underflow, far below anything that counts.
LEAST = 1e-300
# What the last bits of weights and of the value are worth in a sum of their products.
ROUNDING = 4 * EPS
# A member outside the oracle's set joins when it gains more than this against the final mixture.
GAINS = ZERO / 64
# Complementarity of a result: players with weight tie to a few times the rule, in doubles and after refinement.
COMPLEMENTARY = 8 * ZERO

# Interior point. The smallest weight and slack that differ from zero: far below rounding, far above underflow.
TINY = 1e-140
# The gap at which a unique equilibrium is first looked for on the supports, and at which a face may have directions.
LOOK, DEGENERATE = 1e-2, 1e-10
# The gap below which rounding alone decides which margins are zero, and what is zero then.
LAST_GAP, LAST_ZERO = 1e-18, 8 * EPS
# A gap below this that no longer halves is all that doubles can do.
STUCK = 1e-14
# How far the gap has to fall in one step before weights and slacks are told apart by how they change.
FALLS = 10.0
# The gap at which supports of stacked games are first looked at: a look costs an inverse of each, so it waits longer.
LOOK_STACKED = 1e-4
# How well the game is solved while agents still join the oracle's set.
ROUGH = 1e-7
# The gap at which a stacked game without a proved unique equilibrium goes to the solver for single games.
ENOUGH = 1e-10

# Entropy. A margin below zero by more than this is violated; equations off by less than `NEAR` are solved.
VIOLATED, NEAR = 1e-15, 1e-13
# Where the path of multipliers ends: multipliers and margins that are both zero are about its root there.
PATH_END = 1e-22
# Logarithms above this would overflow.
HUGE = 600.0
# Logarithms that change by less are where Newton's step is right, and slopes along it are down to rounding.
SETTLED = 1e-3
# Equations whose smallest singular value is below this share of the largest lose too many digits as they stand.
DEPENDENT = 1e-6
# Singular values of Newton's system below this share of the largest are zero.
SINGULAR = 1e-15
# How far a logarithm may fall in one step, or by as much as it is: then no system can lose the weight.
FAR = 10.0

SPLITTER = 2.0**27 + 1.0  # Veltkamp: two halves of 26 bits
CHUNK = 1 << 13  # cells worked on at a time, so that the halves stay in memory caches


def two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return ``a + b`` and what rounding dropped."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return ``a * b`` and what rounding dropped."""
    total = a * b
    c, d = SPLITTER * a, SPLITTER * b
    a_high, b_high = c - (c - a), d - (d - b)
    a_low, b_low = a - a_high, b - b_high
    return total, a_low * b_low - (((total - a_high * b_high) - a_low * b_high) - a_high * b_low)


def row_sums(values: Floats, dropped: Floats) -> tuple[Floats, Floats]:
    """Return the sums of rows of ``values + dropped`` as a pair (high, low).

    Adding and subtracting a power of two far above a row cuts its values at one common bit: the upper parts
    add up without any rounding, and what is left is small enough to be added up as usual (Rump, Ogita and
    Oishi 2008, *Accurate floating-point summation*).
    """
    largest = np.maximum.reduce(np.abs(values), axis=1, keepdims=True)
    cut = np.ldexp(1.0, np.frexp(largest)[1] + (values.shape[1] + 1).bit_length())
    upper = (values + cut) - cut
    return two_sum(np.add.reduce(upper, axis=1), np.add.reduce((values - upper) + dropped, axis=1))


def product(M: Floats, x: Floats, x_low: Floats | None = None) -> tuple[Floats, Floats]:
    """Return ``M @ (x + x_low)`` as a pair (high, low) whose sum has twice the working precision."""
    rows, k = M.shape
    if k == 0:
        return np.zeros(rows), np.zeros(rows)
    step = max(1, CHUNK // k)
    if rows <= step:
        return product_at_once(M, x, x_low)
    parts = [product_at_once(M[at : at + step], x, x_low) for at in range(0, rows, step)]
    high, low = (np.concatenate(part) for part in zip(*parts, strict=True))
    return high, low


def product_at_once(M: Floats, x: Floats, x_low: Floats | None) -> tuple[Floats, Floats]:
    """Return the product for as many rows as fit the caches."""
    values, dropped = two_product(M, x)
    if x_low is not None:
        dropped += M * x_low
    return row_sums(values, dropped)
