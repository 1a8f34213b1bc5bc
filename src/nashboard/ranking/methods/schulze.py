"""Schulze: agents compared by the strongest chains of wins."""

import numpy as np

from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_1, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise, chain_lengths


@register(
    Counterexample("irrelevant", WINS_1, 2),
    LUCKY_NEWCOMER,
    title="Schulze",
    unit="minus the length of the longest chain of better agents",
    complexity="n^3",
    reference="Schulze 2011, A new monotonic, clone-independent, reversal symmetric, Condorcet-consistent method",
)
def schulze(data: Pairwise) -> Outcome:
    """Rank a above b if the strongest chain of wins from a to b is stronger than that from b to a.

    A chain is as strong as its smallest margin. The relation is transitive; scores are minus the number of agents in
    the longest chain above an agent, so agents that the relation does not separate tie.
    """
    from nashboard.ranking.kernels import widest_paths

    S = widest_paths(data.margins)
    return Outcome(scores=-chain_lengths(S > S.T).astype(np.float64))
