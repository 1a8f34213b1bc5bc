"""The ratings of a league after each of its games."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nashboard._display import Drawn
from nashboard._tables import Column, Table
from nashboard._types import Floats, Ints
from nashboard.data.validation import positions

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RatingHistory(Drawn):
    """Ratings after each game, two rows per game: one for each agent that played it.

    Parameters
    ----------
    agents
        Names, in the order in which they joined.
    game
        ``(rows,)`` number of the game, from 1.
    agent
        ``(rows,)`` position of the agent.
    rating, stderr
        ``(rows,)`` in Elo points, not centred: a newcomer starts at 0. The error is NaN where steps have a given rate.
    """

    agents: tuple[str, ...]
    game: Ints
    agent: Ints
    rating: Floats
    stderr: Floats

    @staticmethod
    def of(names: Sequence[str], traces: Sequence[tuple[Any, ...]]) -> "RatingHistory":
        """Return the history of what a league recorded."""
        if traces:
            first, second, values = (np.concatenate([trace[k] for trace in traces]) for k in range(3))
        else:
            first = second = np.zeros(0, dtype=np.intp)
            values = np.zeros((0, 4))
        return RatingHistory(
            agents=tuple(names),
            game=np.repeat(np.arange(1, first.size + 1), 2),
            agent=np.stack([first, second], axis=1).ravel().astype(np.intp),
            rating=values[:, [0, 2]].ravel(),
            stderr=values[:, [1, 3]].ravel(),
        )

    def select(self, *agents: str) -> "RatingHistory":
        """Return the history of some agents."""
        kept = np.isin(self.agent, positions(agents, self.agents, kind="agent"))
        return RatingHistory(
            agents=self.agents,
            game=self.game[kept],
            agent=self.agent[kept],
            rating=self.rating[kept],
            stderr=self.stderr[kept],
        )

    def table(self) -> Table:
        """Return a row per agent and game."""
        return Table(
            title=repr(self),
            columns=(
                Column(name="game"),
                Column(name="agent"),
                Column(name="rating", meaning="Elo points after the game; a newcomer starts at 0", decimals=1),
                Column(name="stderr", meaning="its standard error", decimals=1),
            ),
            rows=tuple(
                (int(game), self.agents[agent], float(rating), float(error))
                for game, agent, rating, error in zip(self.game, self.agent, self.rating, self.stderr, strict=True)
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and lists for machines."""
        names = [self.agents[k] for k in self.agent]
        errors = [None if np.isnan(error) else error for error in self.stderr.tolist()]
        return {"game": self.game.tolist(), "agent": names, "rating": self.rating.tolist(), "stderr": errors}

    def to_polars(self) -> "pl.DataFrame":
        """Return a frame with the columns game, agent, rating and stderr."""
        import polars as pl

        return pl.DataFrame(self.to_dict())

    def to_pandas(self) -> Any:
        """Return the same as a frame of pandas."""
        return self.to_polars().to_pandas()

    def __repr__(self) -> str:
        return f"RatingHistory({len(self.agents):,} agents, {self.game.size // 2:,} games)"
