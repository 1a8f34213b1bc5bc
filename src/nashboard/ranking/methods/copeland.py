"""Copeland: the number of opponents that an agent beats."""

from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_1, WINS_3, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise


@register(
    Counterexample("clones", WINS_1, 0),
    Counterexample("irrelevant", WINS_3, 0),
    LUCKY_NEWCOMER,
    title="Copeland",
    unit="opponents beaten, ties half",
    complexity="n^2",
    reference="Copeland 1951",
)
def copeland(data: Pairwise) -> Outcome:
    """Count the opponents that an agent beats, half for those it ties with."""
    M = data.margins
    return Outcome(scores=(M > 0).sum(axis=1) + ((M == 0).sum(axis=1) - 1) / 2)
