"""Exposure: who is sampled how often, what equal exposure would change, and how much trying many variants inflates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nashboard._tables import Column, Table, Tabular
from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import Matches
from nashboard.errors import InputError, nearest
from nashboard.ratings.elo import EloRatings, elo
from nashboard.ratings.likelihood import fit_totals, with_normal_prior
from nashboard.ratings.schedule import learn_prior_of

WORLDS = 200  # replays behind the inflation


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Exposure(Tabular):
    """How often every agent was sampled, and its rating with all pairs weighted alike.

    Parameters
    ----------
    games, share
        Games of each agent, and their share; an even schedule gives everybody ``1 / n``.
    ratings, reweighted
        Elo ratings as the games were played, and with pairs weighted inversely to their numbers of games.
    inflation
        For each family of variants: how many Elo points the best of them is expected to gain by noise alone.
    """

    agents: tuple[str, ...]
    games: Floats
    share: Floats
    ratings: Floats
    reweighted: Floats
    inflation: dict[str, float]

    def table(self) -> Table:
        """Return a row per agent, most games first."""
        order = np.lexsort([np.arange(len(self.games)), -self.games])
        even = len(self.agents)
        notes = tuple(
            f"{name}: the best of its variants gains about {points:.0f} Elo points by noise alone"
            for name, points in self.inflation.items()
        )
        return Table(
            columns=(
                Column(name="agent"),
                Column(name="games", decimals=0),
                Column(name="exposure", meaning="games relative to an even schedule; 1 is even", decimals=2),
                Column(name="Elo", meaning="rating as the games were played", decimals=0),
                Column(name="Elo, even", meaning="rating with pairs weighted inversely to their games", decimals=0),
            ),
            rows=tuple(
                (
                    self.agents[k],
                    float(self.games[k]),
                    float(self.share[k] * even),
                    float(self.ratings[k]),
                    float(self.reweighted[k]),
                )
                for k in order
            ),
            notes=notes,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        names = ("games", "share", "ratings", "reweighted")
        return {
            "agents": list(self.agents),
            **{name: getattr(self, name).tolist() for name in names},
            "inflation": self.inflation,
        }

    def __repr__(self) -> str:
        even = self.share * len(self.agents)
        return f"Exposure({len(self.agents):,} agents, {even.min():.2f} to {even.max():.2f} of an even schedule)"


def exposure(
    matches: Matches, *, families: Mapping[str, Iterable[str]] | None = None, least_games: float = 50, rng: int = 0
) -> Exposure:
    """Measure exposure, and what it does to the ratings.

    Parameters
    ----------
    families
        Variants that one owner entered, ``{"lab": ["lab-a", "lab-b"]}``: the best of N equal variants looks better
        than it is. By how much is simulated: games between the same pairs, with all variants equally strong.
    least_games
        Pairs are weighted inversely to their games, but those with fewer games than this as if they had so many, so
        that single games do not decide; as in arena-rank.

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.exposure(nb.Matches.from_counts([[0, 6, 9], [4, 0, 18], [1, 2, 0]])).share.round(2).tolist()
    [0.25, 0.38, 0.38]
    """
    matches.require_counts()
    matches.require_connected()
    games = matches.games_per_agent
    fit = elo(matches)
    places = {}
    for name, members in (families or {}).items():
        for member in members:
            if member not in matches.agents:
                raise InputError(f"there is no agent {member!r}{nearest(member, matches.agents)}", option="families")
        places[name] = [matches.agents.index(member) for member in members]
    return Exposure(
        agents=matches.agents,
        games=games,
        share=games / games.sum(),
        ratings=fit.ratings,
        reweighted=elo(reweight_pairs(matches, least_games)).ratings,
        inflation={
            name: simulate_inflation(matches, fit, family, np.random.default_rng(rng))
            for name, family in places.items()
            if len(family) > 1
        },
    )


def reweight_pairs(matches: Matches, least_games: float) -> Matches:
    """Return the matches with every pair weighted by ``1 / max(games, least_games)``; the number of games stays."""
    factor = 1 / np.maximum(matches.games, least_games)
    factor *= matches.n_games / float((factor * matches.games).sum())
    counts = {name: getattr(matches, name) * factor for name in ("wins", "draws", "losses")}
    return replace(matches, **counts, clusters=None, sides=None)


def simulate_inflation(matches: Matches, fit: EloRatings, family: Sequence[int], rng: np.random.Generator) -> float:
    """Return by how many Elo points the best of equally strong variants exceeds their mean, on average over replays."""
    truth = fit.ratings / POINTS_PER_LOGIT
    truth[family] = truth[family].mean()
    i, j = matches.pairs.T
    chance = 1 / (1 + np.exp(truth[j] - truth[i]))
    decisive = (matches.games - matches.draws).round().astype(int)
    luck, prior = [], learn_prior_of(matches, np.zeros(len(truth) + 1))
    for _ in range(WORLDS):
        won = rng.binomial(decisive, chance) + matches.draws / 2
        totals = with_normal_prior(len(truth), i, j, won, matches.games - won, prior.sigma, prior.normal)
        r = fit_totals(totals, truth)
        luck.append(float(r[family].max() - r[family].mean()))
    return float(np.mean(luck)) * POINTS_PER_LOGIT
