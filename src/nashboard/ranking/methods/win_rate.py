"""The share of points."""

import numpy as np

from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_1, WINS_2, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise


@register(
    Counterexample("clones", WINS_1, 0),
    Counterexample("condorcet", WINS_2, 1),
    Counterexample("irrelevant", WINS_1, 2),
    LUCKY_NEWCOMER,
    title="win rate",
    needs=("matches", "payoffs"),
    unit="share of points",
    counts_games=True,
    complexity="n^2",
    reference="points divided by games",
)
def win_rate(data: Pairwise) -> Outcome:
    """Divide each agent's points by its games; a draw is half a point."""
    games = data.games.sum(axis=1)
    return Outcome(scores=np.divide(data.points.sum(axis=1), games, out=np.full(data.size, 0.5), where=games > 0))
