"""What an Elo fit says: ratings, predictions, intervals, leaderboard.

Elo ratings by maximum likelihood of the pair counts.

Symbols: ``r`` ratings in logits, the average agent's (see `likelihood`) last; ``x = r[i] - r[j]`` leads.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from nashboard._notebook import Drawn
from nashboard._tables import Column, Table, count
from nashboard._text import listed
from nashboard._threads import threads_for
from nashboard._types import Bools, Floats
from nashboard._units import POINTS_PER_LOGIT, win_probability
from nashboard.algebra.flows import refuse_size
from nashboard.algebra.operators import gradient
from nashboard.data.matches import Matches
from nashboard.data.names import positions
from nashboard.ratings.errors import spread_of_ratings, spread_plan, standard_errors
from nashboard.ratings.likelihood import (
    PairTotals,
    checked_prior,
    loss,
    pair_totals,
    require_finite_maximum,
    require_matches,
)
from nashboard.ratings.newton import newton
from nashboard.ratings.rating import checked_anchor, chosen, interval, leaders, number_or_nan, settled, values_of


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


Errors = Literal["hessian", "sandwich", "bootstrap"]
PRIOR = 0.01  # drawn games against the average agent


def elo(
    matches: Matches,
    *,
    prior: float = PRIOR,
    anchor: Mapping[str, float] | None = None,
    errors: Errors | None = None,
    n_resamples: int = 100,
    rng: int | np.random.Generator = 0,
    workers: int | None = None,
    backend: str | None = None,
    progress: bool = False,
) -> EloRatings:
    """Rate agents by maximum likelihood of the Elo model, ``P(a beats b) = 1 / (1 + 10^((r_b - r_a) / 400))``.

    Draws count half. The fit is exact: the gradient's norm is at most 1e-8. It depends on the pair counts
    only, not on the order of games.

    Parameters
    ----------
    matches
        Who met whom, and how it ended; all agents must be connected by matches.
    prior
        Each agent has so many more drawn games against an average agent, so that an unbeaten one stays
        finite. With 0 such agents are an error.
    anchor
        Ratings that are held: ``{"gnugo": 1800}``. All others are fitted around them. By default the mean is 0.
    errors
        ``"hessian"``: standard errors from the inverse Hessian, right where the model is. ``"sandwich"``:
        robust to a wrong model and to draws, and to dependence within clusters where the matches have them; where
        an agent's games tell little, as if it never lost, no less than they can tell (see `elo_errors`).
        ``"bootstrap"``: as robust, from fits to resampled games; it also sees what is not straight, such as an agent
        who hardly ever lost. By default ``"sandwich"`` where there are clusters.
    n_resamples, rng, workers, backend, progress
        For ``errors="bootstrap"``, as in `evaluate`: how often, the seed, who works, and whether to show how far it
        is. The ratings themselves depend on none of them.

    Examples
    --------
    >>> import nashboard as nb
    >>> matches = nb.Matches.from_counts([[0, 30], [10, 0]], agents=["ann", "bob"])
    >>> nb.elo(matches, prior=0).ratings.round(1)
    array([ 95.4, -95.4])
    >>> round(nb.elo(matches, prior=0).predict("ann", "bob"), 3)
    0.75

    References
    ----------
    Elo 1978, The rating of chess players; Bradley and Terry 1952; equation 2 of the paper.
    """
    matches = require_matches(matches, "elo")
    prior = checked_prior(prior)
    errors = errors or ("hessian" if matches.clusters is None else "sandwich")
    chosen(errors, get_args(Errors), "way to standard errors")
    plan = spread_plan(n_resamples, rng, workers, progress, backend) if errors == "bootstrap" else None
    matches.require_connected()
    if prior == 0:
        require_finite_maximum(matches)
    totals = pair_totals(matches, prior)
    r, free = held_ratings(matches, totals, anchor)
    with threads_for(len(matches.agents)):
        gradient_norm = newton(totals, r, free)
        x = r[totals.i] - r[totals.j]
        stderr = (
            spread_of_ratings(matches, totals, r, free, plan)
            if plan
            else standard_errors(matches, totals, x, free, robust=errors == "sandwich")
        )
    shift = 0.0 if anchor else r[:-1].mean()
    played = len(matches.pairs)
    return EloRatings(
        agents=matches.agents,
        ratings=(r[:-1] - shift) * POINTS_PER_LOGIT + 0.0,
        stderr=stderr * POINTS_PER_LOGIT,
        games=matches.games_per_agent,
        log_loss=loss_per_game(totals, x, played, matches.n_games),
        gradient_norm=gradient_norm,
        made=(
            f"maximum likelihood, {count(matches.n_games)} games, prior {prior:g} games per agent, "
            f"{held(anchor)}, errors by {errors}{f' of {plan.n_resamples:,} resamples' if plan else ''}"
        ),
    )


def held_ratings(matches: Matches, totals: PairTotals, anchor: Mapping[str, float] | None) -> tuple[Floats, Bools]:
    """Return where Newton's method starts, and which nodes may move: not the anchors, nor a node without games."""
    r, free = np.zeros(totals.nodes), np.ones(totals.nodes, dtype=bool)
    free[-1] = totals.i.size > len(matches.pairs)
    for k, points in checked_anchor(anchor, matches.agents).items():
        r[k], free[k] = points / POINTS_PER_LOGIT, False
    if anchor:
        r[free] = r[~free & (np.arange(r.size) < totals.agents)].mean()
    return r, free


def held(anchor: Mapping[str, float] | None) -> str:
    """Say in words what fixes the ratings' zero."""
    return f"anchored to {listed(anchor, 3)}" if anchor else "mean 0"


def loss_per_game(totals: PairTotals, x: Floats, played: int, games: float) -> float:
    """Return the mean loss of the games that were played, without the prior's."""
    return loss(totals.won[:played], totals.lost[:played], x[:played]) / games
