"""Nash averaging: the average over the opponents, or tasks, that matter."""

from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_EVEN, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise


@register(
    # only where the others have several equilibria: A and D are even
    Counterexample("irrelevant", WINS_EVEN, 1),
    LUCKY_NEWCOMER,
    title="Nash averaging",
    unit="payoff against the equilibrium",
    complexity="one equilibrium of an n x n game",
    reference="Balduzzi, Tuyls, Perolat, Graepel 2018, Re-evaluating Evaluation",
)
def nash(data: Pairwise) -> Outcome:
    """Average over the opponents (or tasks) that matter: the maximum-entropy equilibrium."""
    if data.table is not None:
        of_scores = nash_average_scores(data.table)
        return Outcome(
            scores=of_scores.skills - of_scores.value,
            weights=of_scores.agent_weights,
            unit="scaled score behind the best",
            scale=of_scores.scale,
            certificate={"exploitability": of_scores.exploitability, "residual": of_scores.residual},
        )
    found = nash_average(data.payoffs)
    return Outcome(
        scores=found.averages,
        weights=found.weights,
        unit=f"payoff against the equilibrium ({data.unit})",
        scale=data.largest,
        certificate={"exploitability": found.exploitability, "residual": found.residual},
    )
