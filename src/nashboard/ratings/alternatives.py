"""Other ratings of the same matches: the hierarchical model with cycles, and the least squares of Hodge."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from nashboard._tables import count_of
from nashboard._types import Floats, Ints
from nashboard._units import POINTS_PER_LOGIT
from nashboard.algebra.flows import refuse_size
from nashboard.algebra.hodge import hodge
from nashboard.data.matches import Matches
from nashboard.data.validation import positions
from nashboard.ratings.elo import EloRatings
from nashboard.ratings.errors import Covariance, origin_weights
from nashboard.ratings.hierarchical.model import fit_hierarchical
from nashboard.ratings.likelihood import loss, require_matches
from nashboard.ratings.prior import measure_dispersion
from nashboard.ratings.rating import Rating, check_fields

DRAWS = 400


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HierarchicalRatings(Rating):
    """Ratings and cyclic parts of the hierarchical model: what the board of `evaluate` is made of.

    The lead between two agents that met is their posterior mean payoff; between others, the difference of ratings.
    """

    kind: ClassVar[str] = "hierarchical"
    label: ClassVar[str] = "hierarchical"
    agents: tuple[str, ...]
    ratings: Floats
    stderr: Floats
    games: Floats
    log_loss: float
    made: str
    pairs: Ints
    expected: Floats  # (p,) points
    sigma: float = np.nan
    around_opponents: bool = False
    covariance: Covariance | None = None

    def __post_init__(self) -> None:
        check_fields(self, {"ratings": "the ratings", "stderr": "the standard errors", "games": "the games"})

    @cached_property
    def cyclic(self) -> dict[tuple[int, int], float]:
        """What each pair that met adds to the difference of its ratings, in points."""
        i, j = self.pairs.T
        extra = self.expected - (self.ratings[i] - self.ratings[j])
        return dict(zip(zip(i.tolist(), j.tolist(), strict=True), extra.tolist(), strict=True))

    def lead(self, a: str, b: str) -> float:
        """Return how many points ``a`` is ahead of ``b`` when they meet."""
        i, j = positions((a, b), self.agents, kind="agent")
        return float(self.leads_between(np.array([i]), np.array([j]))[0])

    def leads_between(self, i: Any, j: Any) -> Floats:
        """Return leads in points between agents at positions ``i`` and ``j``."""
        known = self.cyclic
        extra = [known.get((a, b), 0.0) - known.get((b, a), 0.0) for a, b in zip(np.ravel(i), np.ravel(j), strict=True)]
        return np.asarray(self.ratings[i] - self.ratings[j] + np.reshape(extra, np.shape(i)))

    def leads(self) -> Floats:
        """Return ``(n, n)`` points by which row leads column."""
        n = len(self.agents)
        refuse_size((n, n), "the matrix of leads", "use predict(a, b) for one pair")
        A = self.ratings[:, None] - self.ratings[None, :]
        i, j = self.pairs.T
        A[i, j], A[j, i] = self.expected, -self.expected
        return np.asarray(A)

    def __repr__(self) -> str:
        return f"HierarchicalRatings({len(self.agents):,} agents, log-loss {self.log_loss:.4f})"


def hierarchical_ratings(matches: Matches) -> HierarchicalRatings:
    """Rate agents by the hierarchical model, whose cyclic parts and spreads are learned from the matches."""
    matches = require_matches(matches, "the hierarchical model")
    matches.require_connected()
    fit = fit_hierarchical(matches)
    n, weights = len(fit.agents), origin_weights(matches)
    drawn = fit.draw(DRAWS, np.random.default_rng(0)).ratings
    drawn = drawn - (drawn @ weights)[:, None]
    covariance = Covariance(
        matrix=np.cov(drawn.T) if n <= 2000 else None,
        variances=drawn.var(axis=0, ddof=1),
        weights=weights,
        accuracy=1 / float(np.sqrt(2 * DRAWS)),
    )
    won, lost = matches.wins + matches.draws / 2, matches.losses + matches.draws / 2
    around = " around each agent's opponents" if fit.around_opponents else ""
    return HierarchicalRatings(
        agents=fit.agents,
        ratings=(fit.ratings - weights @ fit.ratings) * POINTS_PER_LOGIT,
        stderr=np.sqrt(covariance.variances) * POINTS_PER_LOGIT,
        games=matches.games_per_agent,
        log_loss=loss(won, lost, fit.expected) / matches.n_games,
        made=(
            f"hierarchical model, {count_of(matches.n_games, 'games')}, ratings spread by "
            f"{fit.sigma * POINTS_PER_LOGIT:.0f} points{around}, cyclic parts by {fit.tau * POINTS_PER_LOGIT:.0f}"
        ),
        pairs=matches.pairs,
        sigma=fit.sigma * POINTS_PER_LOGIT,
        around_opponents=fit.around_opponents,
        expected=fit.expected * POINTS_PER_LOGIT,
        covariance=covariance,
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HodgeRatings(EloRatings):
    """Ratings by weighted least squares of the smoothed log-odds (HodgeRank), in Elo points."""

    label: ClassVar[str] = "Hodge"

    def __repr__(self) -> str:
        return f"HodgeRatings({len(self.agents):,} agents, log-loss {self.log_loss:.4f})"


def hodge_ratings(matches: Matches) -> HodgeRatings:
    """Rate agents by the transitive part of the Hodge decomposition of their log-odds."""
    matches = require_matches(matches, "hodge")
    matches.require_connected()
    found = hodge(matches)
    i, j = matches.pairs.T
    won, lost = matches.wins + matches.draws / 2, matches.losses + matches.draws / 2
    return HodgeRatings(
        agents=found.agents,
        ratings=found.ratings * POINTS_PER_LOGIT,
        stderr=found.stderr * np.sqrt(measure_dispersion(matches)) * POINTS_PER_LOGIT,
        games=matches.games_per_agent,
        log_loss=loss(won, lost, found.ratings[i] - found.ratings[j]) / matches.n_games,
        made=f"Hodge decomposition of log-odds, {count_of(matches.n_games, 'games')}, mean 0 of all agents",
    )
