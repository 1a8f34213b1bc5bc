"""Sums that do not depend on the order in which they are added up, so that every engine finds the same to the last bit.

Floating-point addition rounds, and engines add up rows as they come. Whole numbers below 2^53 are added without
rounding, in any order. A number ``v`` is cut into digits of base 2^26: ``v = d0 + d1 / 2^26 + d2 / 2^52 + d3 / 2^78``,
which are whole unless ``v`` is smaller than 2^-26 (and then only ``d3`` is not); the digits are added up where the data
is, and put together here. That is exact for up to 2^27 rows and a total below 2^53 in each sum.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import polars as pl

SHIFT = float(1 << 26)
DIGITS = 4
Frame = TypeVar("Frame", nw.LazyFrame[Any], nw.DataFrame[Any])


def digit(name: str, k: int) -> str:
    """Return the name of a column's digit; the first stands in the column's own place."""
    return f"{name} {k}" if k else name


def in_digits(rows: Frame, columns: Sequence[str]) -> Frame:
    """Cut the numbers of these columns into digits."""
    for k in range(DIGITS - 1):  # step by step: written as one, the expression would double at each
        rows = rows.with_columns(**{f"{name} whole": nw.col(digit(name, k)).round(0) for name in columns})
        left = {digit(name, k + 1): (nw.col(digit(name, k)) - nw.col(f"{name} whole")) * SHIFT for name in columns}
        rows = rows.with_columns(**left).with_columns(**{digit(name, k): nw.col(f"{name} whole") for name in columns})
    return rows


def digits(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that `in_digits` makes of these."""
    return tuple(digit(name, k) for name in columns for k in range(DIGITS))


def joined(sums: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Put the sums of digits together; how an engine rounds halves changes the digits, but not what they make."""
    whole = {}
    for name in columns:
        parts = [sums[digit(name, k)].cast(pl.Float64).to_numpy() for k in range(DIGITS)]
        for k in range(DIGITS - 1, 0, -1):
            carried = np.floor(parts[k] / SHIFT)
            parts[k], parts[k - 1] = parts[k] - carried * SHIFT, parts[k - 1] + carried
        total = parts[-1]
        for part in reversed(parts[:-1]):
            total = part + total / SHIFT
        whole[name] = pl.Series(total)
    return sums.drop(set(digits(columns)) - set(columns)).with_columns(**whole)


def exactly_added_up(frame: pl.DataFrame, keys: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """Add up these columns by keys in memory, in whatever order the rows stand."""
    if all(frame.select((pl.col(columns) == pl.col(columns).round()).all()).row(0)):
        return frame.group_by(*keys).agg(pl.col(columns).sum())  # whole numbers, as without weights, need no cutting
    rows = in_digits(nw.from_native(frame), columns).to_native()
    return joined(rows.group_by(*keys).agg(pl.col(digits(columns)).sum()), columns)
