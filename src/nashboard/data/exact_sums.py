"""Sums that do not depend on the order in which they are added up, so that every engine finds the same to the last bit.

Floating-point addition rounds, and engines add up rows as they come. Whole numbers below 2^53 are added without
rounding, in any order. So a number ``v`` is cut into pieces, ``v = p0 + p1 / 2^26 + p2 / 2^52 + p3 / 2^78``, which are
whole unless ``v`` is smaller than 2^-26 (and then only ``p3`` is not); the pieces are added up where the data is, and
put together here. That is exact for up to 2^27 rows and a total below 2^53 in each sum.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import polars as pl

SHIFT = float(1 << 26)
PIECES = 4
Frame = TypeVar("Frame", nw.LazyFrame[Any], nw.DataFrame[Any])


def piece(name: str, k: int) -> str:
    """Return the name of a column's piece; the first stands in the column's own place."""
    return f"{name} {k}" if k else name


def cut(rows: Frame, columns: Sequence[str]) -> Frame:
    """Cut the numbers of these columns into pieces."""
    for k in range(PIECES - 1):  # step by step: written as one, the expression would double at each
        rows = rows.with_columns(**{f"{name} whole": nw.col(piece(name, k)).round(0) for name in columns})
        left = {piece(name, k + 1): (nw.col(piece(name, k)) - nw.col(f"{name} whole")) * SHIFT for name in columns}
        rows = rows.with_columns(**left).with_columns(**{piece(name, k): nw.col(f"{name} whole") for name in columns})
    return rows


def pieces(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that `cut` makes of these."""
    return tuple(piece(name, k) for name in columns for k in range(PIECES))


def joined(sums: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Put the sums of pieces together; how an engine rounds halves changes the pieces, but not what they make."""
    whole = {}
    for name in columns:
        parts = [sums[piece(name, k)].cast(pl.Float64).to_numpy() for k in range(PIECES)]
        for k in range(PIECES - 1, 0, -1):
            carried = np.floor(parts[k] / SHIFT)
            parts[k], parts[k - 1] = parts[k] - carried * SHIFT, parts[k - 1] + carried
        total = parts[-1]
        for part in reversed(parts[:-1]):
            total = part + total / SHIFT
        whole[name] = pl.Series(total)
    return sums.drop(set(pieces(columns)) - set(columns)).with_columns(**whole)


def added_up(frame: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """Add up these columns by keys in memory, in whatever order the rows stand."""
    if all(frame.select((pl.col(columns) == pl.col(columns).round()).all()).row(0)):
        return frame.group_by(*keys).agg(pl.col(columns).sum())  # whole numbers, as without weights, need no cutting
    rows = cut(nw.from_native(frame), columns).to_native()
    return joined(rows.group_by(*keys).agg(pl.col(pieces(columns)).sum()), columns)
