"""What counts as zero, decided once for the whole room.

Payoffs are measured: the last bits of a logit or of a scaled score are rounding. So somebody has to say
when two numbers are the same. The rule is scale-free, and every file here uses it:

    a payoff, a margin or a singular value is zero when it is at most ``ZERO`` times the largest payoff
    of the block it belongs to; two players are identical when all their payoffs are the same by this rule.

``ZERO = 2^-40``, about 1e-12: a few thousand times the rounding of a double, and a thousand times finer
than anything that is called different on purpose (near-copies at a distance of 1e-9 are different).

The rule only ever joins, and it joins in two places.

*Identical players* become one class (see `clones`). Being the same by the rule is not transitive, so a class is a
group, as large as can be, in which no two differ by more than ``ZERO``, and the middle of its payoffs stands for it.
Who is in which class, and what stands for it, depends on the set of payoffs alone: not on the order of players, nor
on how often one is entered. It is not continuous, and cannot be: where a distance crosses ``ZERO``, two players
become one, and where there are many equilibria, weights may jump. Exploitability does not: it moves by at most
``ZERO`` times the largest payoff.

*Margins and ranks.* Players that tie by the rule are first taken together, and the answer has to be an
equilibrium of all of them. Where that fails, the differences were real, and they decide: in doubles where those
can tell, and in a small game (up to 1,200 payoffs, so 34 agents, or 20 agents and 60 tasks) in fractions, with
nothing rounded (see `exact`). Between the rounding of a double and ``ZERO`` the choice among equilibria rests on
this rule, not on the payoffs.

The certificates of a result do not know this rule. Exploitability is computed on the payoffs as they came in, the
residual of the entropy on those between classes (the same numbers, unless members of a class differ), and a result
whose certificates exceed ``TOLERANCE`` (relative to the payoffs) is not returned: it raises.
"""

ZERO = 2.0**-40
TOLERANCE = 1e-9
