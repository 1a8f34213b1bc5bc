"""Rows summed up by keys, with sums that do not depend on the order in which an engine adds.

Floating-point addition rounds, and engines add up rows as they come. Whole numbers below 2^53 are added without
rounding, in any order. So a number is cut into digits of base 2^26, ``v = d0 + d1 / 2^26 + d2 / 2^52 + d3 / 2^78``,
which are whole unless ``v`` is smaller than 2^-26 (and then only ``d3`` is not); the digits are added up where the data
is, and joined here. That is exact for up to 2^27 rows and a total below 2^53 in each sum.

Polars' streaming group-by keeps the groups of every small batch until its end. Where agents are many, nearly every
row of a batch is a group of its own, and 10^8 matches of 1,000 agents take 8 GB although a million pairs come back.
So Polars sums up piece by piece, at about the same cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import polars as pl

SHIFT = float(1 << 26)
DIGITS = 4
Frame = TypeVar("Frame", nw.LazyFrame[Any], pl.DataFrame)
PIECE = 3 << 20  # rows that are summed up at a time
FEW = 1 << 20  # sums of pieces that may wait before they are added up


@dataclass(frozen=True, kw_only=True)
class Totals:
    """What is summed up: rows by ``keys``, the columns added up, and those whose extremes are kept.

    ``sums`` are of 0 and 1, ``fractions`` of any numbers. ``lowest`` and ``highest`` name the result and
    the column it is of. ``names`` are the keys that repeat a lot: the names of agents, not those of sessions.
    """

    rows: nw.LazyFrame[Any]
    keys: tuple[str, ...]
    sums: tuple[str, ...]
    fractions: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    lowest: dict[str, str] = field(default_factory=dict)
    highest: dict[str, str] = field(default_factory=dict)

    @property
    def added(self) -> tuple[str, ...]:
        """The columns of whole numbers that are added up: the sums, and the digits of the fractions."""
        return (*self.sums, *name_digits(self.fractions))

    def query(self) -> nw.LazyFrame[Any]:
        """Return the totals as one lazy query; `join_digits` puts the digits of fractions together."""
        return self.sum_rows(cut_into_digits(self.rows, self.fractions))

    def sum_rows(self, rows: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Return the totals of some of the rows."""
        extremes = {new: nw.col(name).min() for new, name in self.lowest.items()}
        extremes |= {new: nw.col(name).max() for new, name in self.highest.items()}
        return rows.group_by(*self.keys).agg(
            rows=nw.len(), **{name: nw.col(name).sum() for name in self.added}, **extremes
        )

    def sum_in_pieces(self) -> pl.DataFrame:
        """Return the totals of a Polars scan, in memory that does not grow with the number of rows."""
        numbers = (*self.sums, *self.fractions)
        columns = dict.fromkeys((*self.keys, *numbers, *self.lowest.values(), *self.highest.values()))
        native: pl.LazyFrame = self.rows.to_native()
        rows = native.select(*columns)
        small = pl.col(self.names).cast(pl.Categorical), pl.col(self.sums).cast(pl.UInt8)  # half the time and memory
        coded = rows.with_columns(small)
        pieces = coded.collect_batches(chunk_size=PIECE, maintain_order=False, engine="streaming")
        waiting: list[pl.DataFrame] = []
        for piece in pieces:
            waiting.append(run_streaming(self.sum_rows(nw.from_native(cut_piece(piece, self.fractions).lazy()))))
            if sum(map(len, waiting[1:])) > max(FEW, len(waiting[0])):  # so each sum is added up a few times at most
                waiting = [self.add_parts(waiting)]
        if not waiting:
            return run_streaming(self.query())  # no rows have columns, too
        return self.add_parts(waiting).with_columns(
            pl.col(self.names).cast(pl.String), pl.col(self.sums).cast(pl.Float64)
        )

    def add_parts(self, parts: list[pl.DataFrame]) -> pl.DataFrame:
        """Return the totals of pieces that were summed up one by one."""
        if len(parts) == 1:
            return parts[0]
        extremes = {name: nw.col(name).min() for name in self.lowest}
        extremes |= {name: nw.col(name).max() for name in self.highest}
        sums = {name: nw.col(name).sum() for name in ("rows", *self.added)}
        return run_streaming(nw.from_native(pl.concat(parts).lazy()).group_by(*self.keys).agg(**sums, **extremes))


def run_streaming(query: nw.LazyFrame[Any]) -> pl.DataFrame:
    """Run a query of Polars by streaming."""
    native: pl.LazyFrame = query.to_native()
    return native.collect(engine="streaming")


def name_digit(name: str, k: int) -> str:
    """Return the name of a column's digit; the first stands in the column's own place."""
    return f"{name} {k}" if k else name


def cut_into_digits(rows: Frame, columns: Sequence[str], col: Any = nw.col) -> Frame:
    """Cut the numbers of these columns into digits; ``col`` is that of the library that the rows are a frame of."""
    if not columns:
        return rows
    for k in range(DIGITS - 1):  # step by step: written as one, the expression would double at each
        rows = rows.with_columns(**{f"{name} whole": col(name_digit(name, k)).round(0) for name in columns})
        left = {name_digit(name, k + 1): (col(name_digit(name, k)) - col(f"{name} whole")) * SHIFT for name in columns}
        rows = rows.with_columns(**left).with_columns(**{name_digit(name, k): col(f"{name} whole") for name in columns})
    return rows


def cut_piece(rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Cut the numbers of these columns into digits; whole numbers, as of games without weights, need no cutting."""
    if not columns or not are_whole(rows, columns):
        return cut_into_digits(rows, columns, pl.col)
    return rows.with_columns(pl.lit(0.0).alias(name_digit(name, k)) for name in columns for k in range(1, DIGITS))


def are_whole(rows: pl.DataFrame, columns: Sequence[str]) -> bool:
    """Whether these columns have whole numbers only."""
    return all(rows.select((pl.col(columns) == pl.col(columns).round()).all()).row(0))


def name_digits(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that `cut_into_digits` makes of these."""
    return tuple(name_digit(name, k) for name in columns for k in range(DIGITS))


def join_digits(sums: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Put the sums of digits together; how an engine rounds halves changes the digits, but not what they make."""
    whole = {}
    for name in columns:
        parts = [sums[name_digit(name, k)].cast(pl.Float64).to_numpy() for k in range(DIGITS)]
        for k in range(DIGITS - 1, 0, -1):
            carried = np.floor(parts[k] / SHIFT)
            parts[k], parts[k - 1] = parts[k] - carried * SHIFT, parts[k - 1] + carried
        total = parts[-1]
        for part in reversed(parts[:-1]):
            total = part + total / SHIFT
        whole[name] = pl.Series(total)
    return sums.drop(set(name_digits(columns)) - set(columns)).with_columns(**whole)


def add_exactly(frame: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """Add up these columns by keys in memory, in whatever order the rows stand."""
    if are_whole(frame, columns):
        return frame.group_by(*keys).agg(pl.col(columns).sum())
    rows = cut_into_digits(frame, columns, pl.col)
    return join_digits(rows.group_by(*keys).agg(pl.col(name_digits(columns)).sum()), columns)
