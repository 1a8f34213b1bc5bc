"""Nash averaging: the average over the opponents, or tasks, that matter."""

from nashboard.equilibrium.results import ScoreNashAverage
from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, SCORES_5, WINS_ALIKE, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise


@register(
    # only through ties: without A two others are copies of each other, which share the weight of one
    Counterexample("irrelevant", WINS_ALIKE, 0),
    LUCKY_NEWCOMER,
    Counterexample("condorcet", SCORES_5, 2, of_scores=True),
    title="Nash averaging",
    unit="payoff against the equilibrium",
    complexity="one equilibrium of an n x n game",
    reference="Balduzzi, Tuyls, Perolat, Graepel 2018, Re-evaluating Evaluation",
)
def nash(data: Pairwise) -> Outcome:
    """Average over the opponents (or tasks) that matter: the maximum-entropy equilibrium."""
    found = data.equilibrium
    certificate = {"exploitability": found.exploitability, "residual": found.residual}
    if isinstance(found, ScoreNashAverage):
        return Outcome(
            scores=found.skills - found.value,
            weights=found.agent_weights,
            unit="scaled score behind the best",
            scale=found.scale,
            certificate=certificate,
        )
    return Outcome(
        scores=found.averages,
        weights=found.weights,
        unit=f"payoff against the equilibrium ({data.unit})",
        scale=data.largest,
        certificate=certificate,
    )
