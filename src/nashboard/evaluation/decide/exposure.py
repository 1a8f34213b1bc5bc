"""Exposure: who is sampled how often, what equal exposure would change, and how much trying many variants inflates."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nashboard._tables import Column, Table, Tabular
from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import Matches
from nashboard.errors import InputError, nearest
from nashboard.ratings.hierarchical import fit_hierarchical

WORLDS = 2000


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Exposure(Tabular):
    """How often every agent was sampled, and its rating with all pairs weighted alike.

    Parameters
    ----------
    games, share
        Games of each agent, and their share; an even schedule gives everybody ``1 / n``.
    ratings, reweighted
        Elo ratings as the games were played, and with every pair weighted inversely to its number of games.
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
                Column(name="Elo, even", meaning="rating with every pair weighted alike", decimals=0),
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


def exposure(matches: Matches, *, families: Mapping[str, Iterable[str]] | None = None, rng: int = 0) -> Exposure:
    """Measure exposure, and what it does to the ratings.

    Parameters
    ----------
    families
        Variants that one owner entered, ``{"lab": ["lab-a", "lab-b"]}``: the best of N equal variants looks better
        than it is.

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.exposure(nb.Matches.from_counts([[0, 6, 9], [4, 0, 18], [1, 2, 0]])).share.round(2).tolist()
    [0.25, 0.38, 0.38]
    """
    matches.require_counts()
    matches.require_connected()
    fit = fit_hierarchical(matches)
    games = matches.games_per_agent
    factor = matches.games.mean() / matches.games
    even = replace(
        matches,
        wins=matches.wins * factor,
        draws=matches.draws * factor,
        losses=matches.losses * factor,
        clusters=None,
        sides=None,
    )
    draws = fit.draw(400, np.random.default_rng(rng)).ratings
    inflation = {}
    for name, members in (families or {}).items():
        places = []
        for member in members:
            if member not in matches.agents:
                raise InputError(f"there is no agent {member!r}{nearest(member, matches.agents)}", option="families")
            places.append(matches.agents.index(member))
        if len(places) > 1:
            error = float(np.sqrt(np.mean(draws[:, places].var(axis=0))))
            luck = np.random.default_rng(rng).standard_normal((WORLDS, len(places))).max(axis=1).mean()
            inflation[name] = float(luck * error * POINTS_PER_LOGIT)
    return Exposure(
        agents=matches.agents,
        games=games,
        share=games / games.sum(),
        ratings=fit.ratings * POINTS_PER_LOGIT,
        reweighted=fit_hierarchical(even).ratings * POINTS_PER_LOGIT,
        inflation=inflation,
    )
