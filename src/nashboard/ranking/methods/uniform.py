"""The uniform average of payoffs, or of scaled scores."""

from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_1, WINS_2, Counterexample
from nashboard.ranking.method import Outcome, register, scale_of
from nashboard.ranking.pairwise import Pairwise


@register(
    Counterexample("clones", WINS_1, 0, copies=2),
    Counterexample("condorcet", WINS_2, 1),
    Counterexample("irrelevant", WINS_1, 2),
    LUCKY_NEWCOMER,
    title="uniform average",
    unit="mean payoff",
    complexity="n^2 or n t",
    reference="the mean payoff against all agents, or the mean of scaled scores",
)
def uniform(data: Pairwise) -> Outcome:
    """Average with equal weights: payoffs over all agents, or comparable scores over all tasks."""
    if data.table is not None:
        return Outcome(scores=data.table.mean(axis=1), scale=scale_of(data.table), unit="mean of the scaled scores")
    return Outcome(scores=data.payoffs.mean(axis=1), unit=f"mean payoff ({data.unit})", scale=data.largest)
