"""Values as text: names of agents, tasks, segments and clusters that are numbers, times, or true and false.

Every engine writes 1e-7, a time or a truth in a way of its own, and SQLite keeps 15 digits. So rows are grouped by the
values themselves where the data is, and what comes back is spelt here: whole numbers without decimals, other numbers by
the fewest digits that tell them apart, ``true`` and ``false``, times in ISO 8601 (in UTC, where they have a zone; a
time at midnight as its date). A number that is NaN is missing.
"""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from nashboard.data.engines import column

EXACT = 2.0**53  # whole numbers below this are exact in floating point
INFINITY = float("inf")


def text(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return a column as text where the data is, null where it is missing: for words, and to compare two columns.

    Numbers with decimals and times are as the engine writes them; what shall be shown is grouped by `key`.
    """
    value, kind = column(frame, name), frame.collect_schema()[name]
    if kind == nw.Boolean:
        return nw.when(value).then(nw.lit("true")).otherwise(nw.when(~value).then(nw.lit("false")))
    if not kind.is_float():
        return nw.when(~value.is_null()).then(value.cast(nw.String))
    # neither NaN nor infinity is between these, in any engine; SQLite cannot be asked whether a number is finite
    whole = (value > -EXACT) & (value < EXACT) & (value == value.round(0))
    number = nw.when(whole).then(value).otherwise(nw.lit(0.0)).cast(nw.Int64).cast(nw.String)
    return nw.when(value <= INFINITY).then(nw.when(whole).then(number).otherwise(value.cast(nw.String)))


def key(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return what the rows of a column are grouped by, null where it is missing; `spelt` makes text of these."""
    value, kind = column(frame, name), frame.collect_schema()[name]
    if kind.is_float():
        number, zero = value.cast(nw.Float64), nw.lit(0).cast(nw.Float64)
        # neither null nor NaN is at most infinity, in any engine; and 0 and -0 are one number
        return nw.when(number <= INFINITY).then(nw.when(number == 0).then(zero).otherwise(number))
    return text(frame, name) if grouped_as_text(kind) else value


def grouped_as_text(kind: nw.dtypes.DType) -> bool:
    """Say whether the rows of a column of this kind are grouped by their text."""
    return not (kind.is_numeric() or kind in (nw.Boolean, nw.Date, nw.Datetime))


def spelt(found: pl.DataFrame, kinds: Mapping[str, nw.dtypes.DType]) -> pl.DataFrame:
    """Return what came back with these keys as text; ``kinds`` are those of the columns that the keys were made of."""
    return found.with_columns(
        spelling(found[name], short=kind == nw.Float32).alias(name) for name, kind in kinds.items()
    )


def spelling(values: pl.Series, *, short: bool = False) -> pl.Series:
    """Return values of any type as text; ``short`` numbers have the digits of 32 bits."""
    kind = values.dtype
    if kind.is_float():
        distinct = values.drop_nulls().drop_nans().unique()
        words = {value: number_word(value, short=short or kind == pl.Float32) for value in distinct.to_list()}
        return values.replace_strict(words, default=None, return_dtype=pl.String)
    if kind == pl.Boolean:
        return values.replace_strict({True: "true", False: "false"}, default=None, return_dtype=pl.String)
    if kind.is_decimal():
        word = values.cast(pl.String)
        return word.str.replace(r"(\.\d*?)0+$", "$1").str.strip_suffix(".")
    if isinstance(kind, pl.Datetime):
        return moments(values if kind.time_zone is None else values.dt.convert_time_zone("UTC"))
    return values.cast(pl.String)


def number_word(value: float, *, short: bool) -> str:
    """Return a number by the fewest digits that tell it apart; whole ones without decimals."""
    if abs(value) < EXACT and value == round(value):
        return str(int(value))
    return str(np.float32(value)) if short else repr(value)


def moments(times: pl.Series) -> pl.Series:
    """Return times in ISO 8601: the date alone at midnight, and microseconds where there are some."""
    times = times.dt.replace_time_zone(None).dt.cast_time_unit("us")
    day, second = times.dt.strftime("%Y-%m-%d"), times.dt.strftime("%Y-%m-%dT%H:%M:%S")
    fraction = times.dt.strftime("%Y-%m-%dT%H:%M:%S%.6f")
    word = second.zip_with((times.dt.microsecond() == 0).fill_null(value=True), fraction)
    return day.zip_with((times == times.dt.truncate("1d")).fill_null(value=True), word)
