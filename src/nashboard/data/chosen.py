"""Rows that a user chooses by ``where={column: value or values}``: values are compared as what the column holds.

Numbers are compared as numbers, times as times, truths as truths; text only with text. The command line gives every
value as text, and so does a csv file: then the column says what the value is, or both are numbers.
"""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, localcontext
from typing import Any
from zoneinfo import ZoneInfo

import narwhals as nw
import polars as pl

from nashboard._text import listed, nearest
from nashboard.data.cells import NUMBER
from nashboard.data.columns import given
from nashboard.data.counting import Filter, left_out
from nashboard.data.engines import collected, column
from nashboard.data.recoding import as_number
from nashboard.data.scan import Scan
from nashboard.data.spelling import key, moments, spelt, text
from nashboard.errors import InputError

TRUTHS = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
MISSING = ("None", "nan", "NaN", "NaT", "<NA>")  # how what is missing is written, where it is no text
MOST_WHOLE = 1 << 63  # what no engine's whole numbers reach
MOST_BITS = 1000  # of a whole number that anybody asks for
MOST_DIGITS = 38  # of a decimal, in every engine
MOST_VALUES = 1000  # among which the nearest to a value that is not there is looked for


def chosen_rows(
    frame: nw.LazyFrame[Any], where: Mapping[str, object], source: str, scan: Scan | None
) -> tuple[Filter, ...]:
    """Return the filters of ``where={column: value or values}``."""
    filters = []
    for name, wanted in where.items():
        given(name, frame.collect_schema().names(), source)
        values = values_of(wanted)
        if not values:
            raise InputError(f"where= gives no value for the column {name!r}: give those whose rows are to be kept")
        keep = has(frame, name, values[0], source, scan)
        for value in values[1:]:
            keep |= has(frame, name, value, source, scan)
        filters.append(
            Filter(keep=keep, why=f"{name} is not {shown(values)}", column=name, wanted=tuple(map(str, values)))
        )
    return tuple(filters)


def values_of(wanted: Any) -> list[Any]:
    """Return the values that are wanted of a column: those of a list, or the one that was given."""
    several = isinstance(wanted, Iterable) and not isinstance(wanted, str | bytes | Mapping)
    return list(map(plain, wanted)) if several else [plain(wanted)]


def shown(wanted: Any) -> str:
    """Return the values that are wanted of a column as a message shows them."""
    return " or ".join("missing" if value in (None, "") else str(value) for value in values_of(wanted))


def plain(value: Any) -> Any:
    """Return a value of numpy or pandas as Python's own, and None for what is missing."""
    own = value.item() if hasattr(value, "item") else value
    if isinstance(own, list | dict | set | tuple) or (isinstance(own, int) and own.bit_length() > MOST_BITS):
        raise InputError("where= takes for each column a value, or a list of values: numbers, times, true, false, text")
    return None if not isinstance(own, str) and str(own) in MISSING else own


def has(frame: nw.LazyFrame[Any], name: str, value: Any, source: str, scan: Scan | None) -> nw.Expr:
    """Say in which rows a column has a value; None is what is missing, and so is text that is empty."""
    kind = frame.collect_schema()[name]
    if value is None:
        return key(frame, name).is_null()
    if value == "":
        word = text(frame, name)
        return word.is_null() | (word == "")
    if kind == nw.Boolean:
        return column(frame, name) == nw.lit(truth(value, name, source))
    if kind.is_numeric():
        return has_number(frame, name, number(value, name, source))
    if kind in (nw.Date, nw.Datetime):
        return has_time(frame, name, time(value, name, source))
    same = text(frame, name).is_in(spellings(value))
    figure = number_or_none(value)
    written = scan is not None and scan.kind != "parquet"  # in a file of text, where nobody says that it is text
    folder = scan is not None and name in scan.folders  # m=1 and m=01 are two
    if figure is None or folder or (isinstance(value, str) and not written):
        return same
    return same | (as_number(frame, name) == float(figure))


def truth(value: Any, name: str, source: str) -> bool:
    """Return a value as true or false."""
    word = str(value).strip().lower()
    if word not in TRUTHS:
        raise wrong(value, name, source, "true and false")
    return TRUTHS[word]


def number_or_none(value: Any) -> Decimal | None:
    """Return a value as a number, exactly as it is written; None where it is none."""
    if isinstance(value, bool):
        return Decimal(int(value))
    word = str(value).strip() if isinstance(value, int | float | Decimal | str) else ""
    return Decimal(word) if re.fullmatch(NUMBER, word) and "nan" not in word.lower() else None


def number(value: Any, name: str, source: str) -> Decimal:
    """Return a value as a number; true is 1 and false is 0."""
    found = number_or_none(value)
    if found is None and str(value).strip().lower() in ("true", "false"):
        found = Decimal(TRUTHS[str(value).strip().lower()])
    if found is None:
        raise wrong(value, name, source, "numbers")
    return found


def has_number(frame: nw.LazyFrame[Any], name: str, wanted: Decimal) -> nw.Expr:
    """Say in which rows a column of numbers has this one: whole numbers and decimals to the last digit."""
    value, kind = column(frame, name), frame.collect_schema()[name]
    if kind.is_float():
        nearby = float(wanted)
        same = value.cast(nw.Float64) == nearby
        short = pl.Series([nearby]).cast(pl.Float32, strict=False).cast(pl.Float64).item()
        return same | (value.cast(nw.Float64) == short) if kind == nw.Float32 and math.isfinite(short) else same
    if kind.is_decimal() and (fitting := in_places(wanted, getattr(kind, "scale", None))) is not None:
        return value.is_in([fitting])  # and not value == fitting: Dask would make text of the one
    if not kind.is_decimal() and wanted == wanted.to_integral_value() and abs(wanted) < MOST_WHOLE:
        return value == int(wanted)
    return value.is_null() & ~value.is_null()  # such a column cannot hold it


def in_places(wanted: Decimal, places: int | None) -> Decimal | None:
    """Return a number with so many decimal places, or None where that would be another number, or too long a one."""
    if not wanted.is_finite() or wanted.adjusted() >= MOST_DIGITS - (places or 0):
        return None
    with localcontext(prec=2 * MOST_DIGITS):
        fitting = wanted.normalize() if places is None else wanted.quantize(Decimal(1).scaleb(-places))
    return fitting if fitting == wanted else None


def time(value: Any, name: str, source: str) -> datetime:
    """Return a value as a time; without a zone it is in UTC, as times with a zone are spelt."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            raise wrong(value, name, source, "times: write them as 2024-01-31 or 2024-01-31T23:59:59") from None
    if isinstance(value, datetime):
        return datetime.combine(value.date(), value.time(), value.tzinfo or UTC).astimezone(UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    raise wrong(value, name, source, "times")


def has_time(frame: nw.LazyFrame[Any], name: str, wanted: datetime) -> nw.Expr:
    """Say in which rows a column of dates or of times has this one."""
    value, kind = column(frame, name), frame.collect_schema()[name]
    if kind == nw.Date:
        midnight = wanted == datetime(wanted.year, wanted.month, wanted.day, tzinfo=UTC)
        return value == wanted.date() if midnight else value.is_null() & ~value.is_null()
    zone = getattr(kind, "time_zone", None)
    there = wanted.astimezone(ZoneInfo(zone)) if zone else wanted.replace(tzinfo=None)
    # as a number: a dataset of PyArrow would be asked for the time itself, and mistakes one with a zone
    return nw.when(value == there).then(nw.lit(1)).otherwise(nw.lit(0)) == 1


def spellings(value: Any) -> list[str]:
    """Return how a value may be spelt in a column of text."""
    if isinstance(value, bool):
        return [str(value), str(value).lower(), str(value).upper(), str(int(value))]
    if isinstance(value, int | float) and math.isfinite(value) and value == int(value):
        return [str(int(value)), str(float(value))]
    if isinstance(value, datetime):
        stamp = moments(pl.Series([value.replace(tzinfo=None)]))[0]
        return [stamp, *(value.isoformat(mark, unit) for mark in "T " for unit in ("seconds", "microseconds"))]
    return [str(value)]


def wrong(value: Any, name: str, source: str, what: str) -> InputError:
    """Return the error for a value that a column cannot hold."""
    return InputError(f"{source!r}, column {name!r} holds {what}; where= asks for {value!r}")


def there_instead(frame: nw.LazyFrame[Any], filters: tuple[Filter, ...], source: str, scan: Scan | None) -> str:
    """Say which values a column has where no row is left, for the filter that has left out most."""
    lost = frame.select(left_out=left_out(filters)).group_by("left_out").agg(rows=nw.len())
    order = collected(lost, source, scan).filter(pl.col("left_out") > 0).sort("rows", "left_out")
    rule = filters[order["left_out"][-1] - 1] if len(order) else Filter(keep=nw.lit(value=True), why="")
    if rule.column is None:
        return ""  # no row at all, or a format's own filter
    values = frame.select(value=key(frame, rule.column)).group_by("value").agg(rows=nw.len())
    found = collected(values.sort("rows", descending=True).head(MOST_VALUES), source, scan)
    found = spelt(found, {"value": frame.collect_schema()[rule.column]})
    found = found.group_by("value").agg(pl.col("rows").sum()).sort("rows", "value", descending=[True, False])
    words = found["value"].drop_nulls().to_list()
    near = next(filter(None, (nearest(word, words) for word in rule.wanted)), "")
    holes = int(found.filter(pl.col("value").is_null())["rows"].sum())
    missing = (
        f"{', and' if words else ''} missing in {holes:,} row{'s' * (holes != 1)} (None asks for those)"
        if holes
        else ""
    )
    return f"{near}; {rule.column} is {listed(words)}{missing}" if words or holes else ""
