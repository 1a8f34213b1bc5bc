"""Parts of a log that are evaluated apart: segments by the values of a column, groups of agents that met."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

import numpy as np
import polars as pl

from nashboard._tables import Column, Table, Tabular
from nashboard._text import listed, number_of, rows_have
from nashboard.data.matches import Matches
from nashboard.errors import InputError, check_choice

if TYPE_CHECKING:
    from nashboard.data.scores import Scores


Part = TypeVar("Part")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Segments(Tabular):
    """The data of each segment, in the order of the values.

    Attributes
    ----------
    column
        The column whose values make the segments.
    parts
        `Matches` or `Scores` for each value.
    refused
        Why a value has no data, for those that have none.
    without
        How many rows have no value, and so belong to no segment.
    """

    column: str
    parts: "dict[str, Matches | Scores]" = field(default_factory=dict)
    refused: dict[str, InputError] = field(default_factory=dict)
    without: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the segments has to know."""
        return (f"{rows_have(self.without)} no {self.column}: in no segment",) if self.without else ()

    def table(self) -> Table:
        """Return one row per segment: how much data there is."""
        return Table.of(
            self.parts,
            Column(self.column, "the value that all rows of the segment have", cell=str),
            Column("agents", "how many there are", cell=lambda value: len(self.parts[value].agents)),
            Column(
                "rows",
                "rows of the table, with those that were left out",
                cell=lambda value: self.parts[value].origin.rows,
            ),
            title=f"segments by {self.column}",
            notes=(*self.notes, *(f"{value} left out: {why}" for value, why in self.refused.items())),
        )

    def __repr__(self) -> str:
        left = f", {number_of(self.without, 'rows')} without a value" if self.without else ""
        return f"Segments({len(self.parts):,} by {self.column!r}{left})"


def split_by_value(found: pl.DataFrame) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """Return summed rows by the value in their column ``segment``, and those without one."""
    has = pl.col("segment").is_not_null() & (pl.col("segment").str.strip_chars() != "")
    parts = found.filter(has).partition_by("segment", as_dict=True, include_key=False)
    return {str(value): part for (value,), part in parts.items()}, found.filter(has.not_())


def read_each(
    parts: Mapping[str, Part], read: "Callable[[str, Part], Matches | Scores]"
) -> "tuple[dict[str, Matches | Scores], dict[str, InputError]]":
    """Return what is read of each segment, in the order of their values, and why others cannot be read."""
    made: dict[str, Matches | Scores] = {}
    refused: dict[str, InputError] = {}
    for value, part in sorted(parts.items(), key=lambda entry: entry[0]):
        try:
            made[value] = read(value, part)
        except InputError as error:
            refused[value] = error
    return made, refused


Components = Literal["error", "largest", "each"]


def split_components(matches: Matches, components: Components = "error") -> tuple[Matches, ...]:
    """Return the matches of the groups of agents that met, directly or through others, largest first.

    ``"error"`` refuses several groups and names them, ``"each"`` returns those with at least two agents.
    """
    check_choice(components, get_args(Components), "choice")
    if components == "error":
        matches.require_connected()
        return (matches,)
    if len(matches.components) == 1:
        return (matches,)
    groups = [group for group in matches.components if len(group) > 1]
    if components == "largest":
        others = len(matches.components) - 1
        left = len(matches.agents) - len(groups[0])
        note = f"{number_of(left, 'agents')} of {number_of(others, 'other groups')} that never met the largest left out"
        kept = matches.select(in_order(matches, groups[0]))
        return (replace(kept, origin=matches.origin.noting(note)),)
    return tuple(matches.select(in_order(matches, group)) for group in groups)


def in_order(matches: Matches, group: tuple[str, ...]) -> list[str]:
    """Return the agents of a group in the order of the matches."""
    members = set(group)
    return [agent for agent in matches.agents if agent in members]


def drop_rare_agents(matches: Matches, min_games: float) -> Matches:
    """Return the matches among agents with at least so many games; who falls below by that is dropped, too."""
    if not np.isfinite(min_games) or min_games < 0:
        raise InputError(f"min_games is {min_games:g}: it must be a number of at least 0")
    kept = matches
    while True:
        few = kept.games_per_agent < min_games
        if not few.any():
            break
        names = [agent for agent, rare in zip(kept.agents, few, strict=True) if not rare]
        if len(names) < 2:
            raise InputError(
                f"fewer than two agents have {min_games:g} games against each other: the most are "
                f"{matches.games_per_agent.max():g} games of one agent",
                hint="lower {option}",
                option="min_games",
            )
        kept = kept.select(names)
    if kept is matches:
        return matches
    gone = [agent for agent in matches.agents if agent not in set(kept.agents)]
    note = f"{number_of(len(gone), 'agents')} with fewer than {min_games:g} games left out: {listed(gone)}"
    return replace(kept, origin=matches.origin.noting(note))
