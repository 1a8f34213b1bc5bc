"""Segments: one count of the whole log, split by the values of a column; what belongs to none is counted too."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from nashboard._tables import Cell, Column, Table, as_html, plain
from nashboard._text import number_of, rows_have
from nashboard.errors import InputError

if TYPE_CHECKING:
    from nashboard.data.matches import Matches
    from nashboard.data.scores import Scores


@dataclass(frozen=True, kw_only=True, eq=False)
class Segments:
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
        rows: list[tuple[Cell, ...]] = [
            (value, len(part.agents), part.origin.rows) for value, part in self.parts.items()
        ]
        return Table(
            title=f"segments by {self.column}",
            columns=(
                Column(name=self.column, meaning="the value that all rows of the segment have"),
                Column(name="agents", meaning="how many there are"),
                Column(name="rows", meaning="rows of the table, with those that were left out"),
            ),
            rows=tuple(rows),
            notes=(*self.notes, *(f"{value} left out: {why}" for value, why in self.refused.items())),
        )

    def __repr__(self) -> str:
        left = f", {number_of(self.without, 'rows')} without a value" if self.without else ""
        return f"Segments({len(self.parts):,} by {self.column!r}{left})"

    def __str__(self) -> str:
        return plain(self.table())

    def _repr_html_(self) -> str:
        return as_html(self.table())


def split_by_value(found: pl.DataFrame) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """Return summed rows by the value in their column ``segment``, and those without one."""
    has = pl.col("segment").is_not_null() & (pl.col("segment").str.strip_chars() != "")
    parts = found.filter(has).partition_by("segment", as_dict=True, include_key=False)
    return {str(value): part for (value,), part in parts.items()}, found.filter(has.not_())
