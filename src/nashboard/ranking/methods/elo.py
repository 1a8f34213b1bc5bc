"""Elo ratings: Bradley and Terry's model."""

from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_1, WINS_2, WINS_UNEVEN, Counterexample
from nashboard.ranking.method import ROUNDING, Outcome, register
from nashboard.ranking.pairwise import Pairwise
from nashboard.ratings.likelihood import Prior

NEARLY_NONE = 0.01  # drawn games of each agent against the average: maximum likelihood, but finite


@register(
    Counterexample("clones", WINS_1, 0),
    Counterexample("condorcet", WINS_2, 1),
    Counterexample("irrelevant", WINS_1, 2),
    # ratings spread more after the wins, so those of agents with few games are shrunk less
    Counterexample("monotone", WINS_UNEVEN, 2, against=0, more=4, added=True),
    LUCKY_NEWCOMER,
    title="Elo (Bradley-Terry)",
    unit="Elo points",
    counts_games=True,
    complexity="n^3 per Newton step",
    reference="Bradley and Terry 1952; Elo 1978",
)
def elo(data: Pairwise, prior: Prior | None = None) -> Outcome:
    """Fit Elo ratings as `nashboard.elo` does; on a table of scores each task is a game.

    The prior is learned unless given; for payoffs, whose number of games is unknown, there is nearly none.
    """
    from nashboard.ratings.elo import elo as fit

    found = fit(data.matches, prior=choose_prior(data, prior))
    return Outcome(scores=found.ratings, scale=ROUNDING, certificate={"gradient_norm": found.gradient_norm})


def choose_prior(data: Pairwise, prior: Prior | None) -> Prior:
    """Return the prior that was given, or the default for the kind of data."""
    if prior is not None:
        return prior
    return NEARLY_NONE if data.kind == "payoffs" else "learned"
