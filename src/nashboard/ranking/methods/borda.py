"""Borda: the sum of an agent's win rates."""

from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_1, WINS_2, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise


@register(
    Counterexample("clones", WINS_1, 0),
    Counterexample("condorcet", WINS_2, 1),
    Counterexample("irrelevant", WINS_1, 2),
    LUCKY_NEWCOMER,
    title="Borda",
    unit="sum of win rates over opponents",
    complexity="n^2",
    reference="Borda 1781",
)
def borda(data: Pairwise) -> Outcome:
    """Add up an agent's win rates against each opponent; on a table of scores, its mean points per task."""
    return Outcome(scores=(data.margins.sum(axis=1) + (data.size - 1)) / 2)
