"""Sums that do not depend on the order in which they are added up, so that every engine finds the same to the last bit.

Floating-point addition rounds, and engines add up rows as they come. Whole numbers below 2^53 are added without
rounding, in any order. So a number ``v`` is cut into whole pieces, ``v = p0 + p1 / 2^26 + p2 / 2^52 + p3 / 2^78``, the
pieces are added up where the data is, and put together here. Up to 2^53, numbers lose nothing; those below 2^-26 are
rounded to 2^-78. Where that would show, because all are smaller than anybody's weights, the plain sum stands.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import polars as pl

SHIFT = float(1 << 26)
PIECES = 4
SHOWS = 1e-6  # a relative difference from the plain sum that rounding of the plain sum does not explain


def piece(name: str, k: int) -> str:
    """Return the name of a column's piece."""
    return f"{name} {k}"


def cut(rows: nw.LazyFrame[Any], columns: Iterable[str]) -> nw.LazyFrame[Any]:
    """Add the pieces of the numbers in these columns."""
    names = tuple(columns)
    rows = rows.with_columns(**{piece(name, 0): nw.col(name) for name in names})
    for k in range(PIECES - 1):  # step by step: written as one, the expression would double at each
        rows = rows.with_columns(**{f"{name} whole": nw.col(piece(name, k)).round(0) for name in names})
        left = {piece(name, k + 1): (nw.col(piece(name, k)) - nw.col(f"{name} whole")) * SHIFT for name in names}
        rows = rows.with_columns(**left).with_columns(**{piece(name, k): nw.col(f"{name} whole") for name in names})
    return rows.with_columns(nw.col(piece(name, PIECES - 1)).round(0) for name in names)


def pieces(columns: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that are added up for these: themselves, and the pieces that `cut` makes."""
    return tuple(part for name in columns for part in (name, *(piece(name, k) for k in range(PIECES))))


def joined(sums: pl.DataFrame, columns: Iterable[str]) -> pl.DataFrame:
    """Put the sums of pieces together; how an engine rounds halves changes the pieces, but not what they make."""
    for name in columns:
        parts = [sums[piece(name, k)].cast(pl.Float64) for k in range(PIECES)]
        for k in range(PIECES - 1, 0, -1):
            carried = (parts[k] / SHIFT).floor()
            parts[k], parts[k - 1] = parts[k] - carried * SHIFT, parts[k - 1] + carried
        whole = parts[-1]
        for part in reversed(parts[:-1]):
            whole = part + whole / SHIFT
        plain = pl.col(name).cast(pl.Float64)
        kept = pl.when((whole - plain).abs() <= SHOWS * plain).then(whole).otherwise(plain)
        sums = sums.with_columns(kept.alias(name)).drop(piece(name, k) for k in range(PIECES))
    return sums


def added_up(frame: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """Add up these columns by keys in memory, in whatever order the rows stand."""
    rows = cut(nw.from_native(frame.lazy()), columns).to_native()
    return joined(rows.group_by(*keys).agg(pl.col(pieces(columns)).sum()).collect(), columns)
