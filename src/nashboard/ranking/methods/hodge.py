"""HodgeRank: ratings by least squares."""

from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_1, WINS_2, WINS_FEW, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise


@register(
    Counterexample("clones", WINS_1, 0, copies=2),
    Counterexample("condorcet", WINS_2, 1),
    Counterexample("irrelevant", WINS_1, 2),
    Counterexample("monotone", WINS_FEW, 4, against=0, more=1, added=True),  # the pair has less weight then
    LUCKY_NEWCOMER,
    title="HodgeRank",
    unit="log-odds",
    counts_games=True,
    complexity="n^3",
    reference="Jiang, Lim, Yao, Ye 2011, Statistical ranking and combinatorial Hodge theory",
)
def hodge(data: Pairwise) -> Outcome:
    """Fit ratings by least squares on log-odds, pairs weighted by their precision; the mean payoff if none is known."""
    from nashboard.algebra.hodge import hodge as decompose
    from nashboard.data.payoffs import Payoffs

    if data.kind == "matches":
        return Outcome(scores=decompose(data.matches).ratings, unit="log-odds", scale=data.largest)
    found = decompose(Payoffs(agents=data.agents, A=data.payoffs))
    return Outcome(scores=found.ratings, unit=f"rating ({data.unit})", scale=data.largest)
