"""Elo ratings by maximum likelihood."""

from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_1, WINS_2, Counterexample
from nashboard.ranking.method import ROUNDING, Outcome, register
from nashboard.ranking.pairwise import Pairwise


@register(
    Counterexample("clones", WINS_1, 0),
    Counterexample("condorcet", WINS_2, 1),
    Counterexample("irrelevant", WINS_1, 2),
    LUCKY_NEWCOMER,
    title="Elo (Bradley-Terry)",
    unit="Elo points",
    counts_games=True,
    complexity="n^3 per Newton step",
    reference="Bradley and Terry 1952; Elo 1978",
)
def elo(data: Pairwise, prior: float = 0.01) -> Outcome:
    """Fit Elo ratings by maximum likelihood; on a table of scores each task is a game."""
    from nashboard.ratings.elo import elo as fit

    found = fit(data.matches, prior=prior)
    return Outcome(scores=found.ratings, scale=ROUNDING, certificate={"gradient_norm": found.gradient_norm})
