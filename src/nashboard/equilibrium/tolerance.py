"""What counts as zero, decided once for the whole room.

Payoffs are measured: the last bits of a logit or of a scaled score are rounding. So somebody has to say
when two numbers are the same. The rule is scale-free, and every file here uses it:

    a payoff, a margin or a singular value is zero when it is at most ``ZERO`` times the largest payoff
    of the block it belongs to; two players are identical when all their payoffs are the same by this rule.

``ZERO = 2^-40``, about 1e-12: a few thousand times the rounding of a double, and a thousand times finer
than anything that is called different on purpose (near-copies at a distance of 1e-9 are different).

The rule only ever joins: players that tie by it are first taken together, and the answer has to be an
equilibrium of all of them. Where that fails, the differences were real, and they decide. Between the rounding
of a double and ``ZERO`` the choice among equilibria rests on this rule, not on the payoffs.

The certificates of a result do not know this rule. They are computed on the payoffs as they came in, and a
result whose certificates exceed ``TOLERANCE`` (relative to the payoffs) is not returned: it raises.
"""

ZERO = 2.0**-40
TOLERANCE = 1e-9
