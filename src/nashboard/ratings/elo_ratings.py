"""What an Elo fit says: ratings, predictions, intervals, leaderboard."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nashboard._notebook import Drawn
from nashboard._tables import Column, Table
from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT, win_probability
from nashboard.algebra.flows import refuse_size
from nashboard.algebra.operators import gradient
from nashboard.data.names import positions
from nashboard.ratings.fields import interval, leaders, number_or_nan, settled, values_of


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EloRatings(Drawn):
    """One rating per agent; the difference of two ratings predicts how often one beats the other.

    Parameters
    ----------
    agents
        Names.
    ratings
        ``(n,)`` in Elo points: mean 0, unless anchored. A lead of 400 points wins 10 times for each loss.
    stderr
        ``(n,)`` standard errors in points, of the rating relative to the mean (or the anchors); NaN where the
        way the ratings were made gives none.
    games
        ``(n,)`` games of each agent.
    log_loss
        Mean loss per game in nats, ``-log`` of the probability given to what happened, draws half and half.
        After a fit it is measured on the games that were fitted; online, on each game before it was used.
    gradient_norm
        Norm of the gradient of the loss where the fit ended (logits, all games); NaN where nothing was fitted.
    made
        How the ratings were made, in words.
    """

    agents: tuple[str, ...]
    ratings: Floats
    stderr: Floats
    games: Floats
    log_loss: float
    gradient_norm: float = np.nan
    made: str = "given as an array"

    def __post_init__(self) -> None:
        settled(self, {"ratings": "the ratings", "stderr": "the standard errors", "games": "the games"})

    @cached_property
    def interval(self) -> tuple[Floats, Floats]:
        """The lower and upper ends of the 95% intervals, each ``(n,)``: rating ± 1.96 standard errors."""
        return interval(self.ratings, self.stderr)

    def lead(self, a: str, b: str) -> float:
        """Return how many points ``a`` is ahead of ``b`` when they meet."""
        i, j = positions((a, b), self.agents, kind="agent")
        return float(self.ratings[i] - self.ratings[j])

    def predict(self, a: str, b: str) -> float:
        """Return the probability that ``a`` beats ``b`` (equation 1)."""
        return win_probability(self.lead(a, b))

    def leads(self) -> Floats:
        """Return ``(n, n)`` points by which row leads column: ``grad(ratings)``."""
        refuse_size((len(self.agents),) * 2, "the matrix of leads", "use predict(a, b) for one pair")
        return gradient(self.ratings)

    def win_probabilities(self) -> Floats:
        """Return ``(n, n)`` probabilities that row beats column, 1/2 on the diagonal."""
        from scipy.special import expit

        return np.asarray(expit(self.leads() / POINTS_PER_LOGIT))

    def leaderboard(self) -> Table:
        """Return the agents, the best first, with 95% intervals."""
        low, high = self.interval
        return Table(
            title=repr(self),
            columns=(
                Column(name="rank"),
                Column(name="agent"),
                Column(
                    name="rating",
                    meaning="Elo points, mean 0 unless anchored; 400 more win ten games to one lost",
                    decimals=1,
                ),
                Column(name="low", meaning="lower end of the 95% interval", decimals=1),
                Column(name="high", meaning="upper end of the 95% interval", decimals=1),
                Column(name="games", meaning="games played, or their total weight", decimals=2),
            ),
            rows=leaders(self.agents, self.ratings, low, high, games=self.games),
            notes=(self.made,),
        )

    def table(self) -> Table:
        """Return the leaderboard, which is what ratings show of themselves."""
        return self.leaderboard()

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and lists for machines; `from_dict` reads them back."""
        return {
            "kind": "elo",
            "agents": list(self.agents),
            "ratings": self.ratings.tolist(),
            "stderr": number_or_nan(self.stderr.tolist()),
            "games": self.games.tolist(),
            "log_loss": number_or_nan(self.log_loss),
            "gradient_norm": number_or_nan(self.gradient_norm),
            "made": self.made,
        }

    @staticmethod
    def from_dict(values: dict[str, Any]) -> "EloRatings":
        """Return the ratings that `to_dict` wrote down."""
        return EloRatings(**values_of(values, "elo"))

    def __repr__(self) -> str:
        spread = f"{np.ptp(self.ratings):,.0f} points from last to first"
        return f"EloRatings({len(self.agents):,} agents, {spread}, log-loss {self.log_loss:.4f})"
