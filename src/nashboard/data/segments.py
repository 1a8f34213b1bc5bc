"""Segments: one count of the whole log, split by the values of a column; what belongs to none is counted too."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import narwhals as nw
import polars as pl

from nashboard._tables import Cell, Column, Table, as_html, plain
from nashboard._text import number_of, rows_have
from nashboard.data.columns import given
from nashboard.data.engines import collected
from nashboard.data.origin import CHOSEN
from nashboard.data.scan import Scan
from nashboard.data.spelling import key
from nashboard.errors import InputError

if TYPE_CHECKING:
    from nashboard.data.matches import Matches
    from nashboard.data.scores import Scores

MOST = 100  # boards that anybody would look at; a column with more values is probably not meant


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """A column to split by, and where a reader puts the parts that it has counted."""

    column: str
    parts: "dict[str, Matches | Scores]" = field(default_factory=dict)
    refused: dict[str, InputError] = field(default_factory=dict)
    without: list[int] = field(default_factory=list)

    def said(self, value: str) -> str:
        """Return the note that the data of a segment carry."""
        return f"{CHOSEN} {self.column} is {value}"

    def reason(self) -> str:
        """Return why the first value that was refused was refused, or nothing."""
        return next((f": {value!r}: {why}" for value, why in sorted(self.refused.items())), "")

    def segments(self) -> Segments:
        """Return what was put here."""
        return Segments(
            column=self.column,
            parts=dict(sorted(self.parts.items())),
            refused=dict(sorted(self.refused.items())),
            without=sum(self.without),
        )


def checked_split(split: Split | None, frame: nw.LazyFrame[Any], source: str, scan: Scan | None) -> Split | None:
    """Return the split if the frame has its column, with few enough values: one look at that column alone."""
    if split is None:
        return None
    given(split.column, frame.collect_schema().names(), source)
    values = frame.select(value=key(frame, split.column)).group_by("value").agg(rows=nw.len())
    if len(collected(values.head(MOST + 2), source, scan).drop_nulls()) > MOST:
        raise InputError(
            f"{source!r}, column {split.column!r} has more than {MOST} values: segments are for columns with up to "
            f"{MOST}"
        )
    return split


def by_value(found: pl.DataFrame) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """Return summed rows by the value in their column ``segment``, and those without one."""
    has = pl.col("segment").is_not_null() & (pl.col("segment").str.strip_chars() != "")
    parts = found.filter(has).partition_by("segment", as_dict=True, include_key=False)
    return {str(value): part for (value,), part in parts.items()}, found.filter(has.not_())
