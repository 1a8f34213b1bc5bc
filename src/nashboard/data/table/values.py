"""Values of columns: names as text, numbers, true and false, and what is missing; one rule each, in every engine.

Every engine writes 1e-7, a time or a boolean in its own way, and SQLite keeps 15 digits. So rows are grouped by the
values themselves where the data is, and what comes back is turned into text here: whole numbers without decimals, other
numbers by the fewest digits that tell them apart, ``true`` and ``false``, times in ISO 8601 (in UTC, where they have a
zone; a time at midnight as its date). A number that is NaN is missing.

Rows that a user chooses by ``where={column: value or values}`` are compared as what the column holds: numbers as
numbers, times as times, booleans as booleans, text only with text. The command line gives every value as text, and so
does a csv file: then the column says what the value is, or both are numbers.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import narwhals as nw
import numpy as np
import polars as pl

from nashboard._text import listed, nearest
from nashboard.data.table.columns import check_column
from nashboard.data.table.table import ROW, Table, column
from nashboard.errors import InputError

EXACT = 2.0**53  # whole numbers below this are exact in floating point
INFINITY, LARGEST = float("inf"), 1.7976931348623157e308
# Words for a missing value, for true and for false, in small letters.
MISSING = ("", "-", "--", "---", "–", "—", "na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "missing")
YES, NO = ("true", "t", "yes", "y", "1", "1.0"), ("false", "f", "no", "n", "0", "0.0")
TRUTHS = {"true": "1", "false": "0"}  # cells of true and false that count as numbers
# A number in small letters, without the signs in which the engines' own patterns differ; Python alone takes 1_000 too.
NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
ANY_NUMBER = rf"{NUMBER}|[+-]?(?:inf|infinity|nan)"
PERCENT = "%"
NO_SCORE = "empty the cell if there is no score"


def parse_number(value: object, where: str, hint: str = NO_SCORE) -> float | None:
    """Return a cell as a number, None where it is missing; anything else is an error that says where it is.

    >>> parse_number(" 85.3% ", ""), parse_number("n/a", ""), parse_number("true", "")
    (85.3, None, 1.0)
    """
    if value is None or isinstance(value, bool):
        return None if value is None else float(value)
    word = str(value).strip()
    folded = word.casefold()
    if folded in MISSING:
        return None
    number = find_number(TRUTHS.get(folded, folded.removesuffix(PERCENT)))
    if number is None:
        raise InputError(f"{where} is {word[:60]!r}, not a number; {hint}")
    return number


def find_number(word: str) -> float | None:
    """Return the number that a word is, None where it is none."""
    figure = word.strip().casefold()
    return float(figure) if re.fullmatch(ANY_NUMBER, figure) else None


def is_number(value: object) -> bool:
    """Return whether a cell is a number; true and false are."""
    try:
        return parse_number(value, "") is not None
    except InputError:
        return False


def is_number_or_missing(value: object) -> bool:
    """Return whether a cell is a number or empty."""
    return value is None or str(value).strip().casefold() in MISSING or is_number(value)


def as_text(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return a column as text where the data is, null where it is missing: for words, and to compare two columns.

    Numbers with decimals and times are as the engine writes them; what shall be shown is grouped by `as_key`.
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


def as_lower(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return a column as text in small letters, without white space around it; null where it is missing."""
    return as_text(frame, name).str.strip_chars().str.to_lowercase()


def as_number(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return a column as numbers, true as 1, 85% as 85; text that is no finite number is null, and raises nothing."""
    kind = frame.collect_schema()[name]
    if kind == nw.Boolean:  # PostgreSQL casts a boolean to a whole number only
        truth = column(frame, name)
        return nw.when(truth).then(nw.lit(1)).otherwise(nw.when(~truth).then(nw.lit(0))).cast(nw.Float64)
    if kind.is_numeric():
        return column(frame, name).cast(nw.Float64)
    word = recode(as_lower(frame, name), TRUTHS)
    figure = word.str.replace_all(PERCENT, "", literal=True)
    return nw.when(word.str.contains(f"^(?:{NUMBER}){PERCENT}?$")).then(figure).cast(nw.Float64)


def is_no_number(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return where a cell is neither a finite number nor missing."""
    kind, value = frame.collect_schema()[name], column(frame, name)
    if kind.is_float():  # NaN is missing; it is not at most infinity, in any engine
        return (value <= INFINITY) & ((value > LARGEST) | (value < -LARGEST))
    if kind.is_numeric() or kind == nw.Boolean:
        return value.is_null() & ~value.is_null()  # nowhere
    return ~as_lower(frame, name).fill_null("").is_in(MISSING) & as_number(frame, name).is_null()


def is_blank(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return where a column has no name: missing, or nothing but white space."""
    return as_text(frame, name).fill_null("").str.strip_chars() == ""


def find_cells(table: Table, bad: nw.Expr, columns: Sequence[str]) -> tuple[Any, ...] | None:
    """Return the number of the first bad row, 0 where rows have none, and its cells as text; None where none is bad."""
    frame = table.frame.filter(bad)
    cells = {f"cell {k}": as_text(frame, name) for k, name in enumerate(columns)}
    number = nw.col(ROW) if ROW in frame.collect_schema() else nw.lit(0)
    found = table.collect(frame.select(number.alias(ROW), **cells).sort(ROW).head(1)).rows()
    return found[0] if found else None


def is_sound_weight(weight: Any) -> Any:
    """Return where a weight or a count is a number of at least 0: of an expression, or of an array of numbers."""
    return (weight >= 0) & (weight < INFINITY)


def recode(word: nw.Expr, meanings: Mapping[str, str]) -> nw.Expr:
    """Return other words for those in the table; a word that is not in it stays as it is."""
    found = word
    for meaning in dict.fromkeys(meanings.values()):
        words = [key for key, value in meanings.items() if value == meaning]
        found = nw.when(word.is_in(words)).then(nw.lit(meaning)).otherwise(found)
    return found


def as_key(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return what the rows of a column are grouped by, null where it is missing; `spell_columns` makes text of it."""
    value, kind = column(frame, name), frame.collect_schema()[name]
    if kind.is_float():
        number, zero = value.cast(nw.Float64), nw.lit(0).cast(nw.Float64)
        # neither null nor NaN is at most infinity, in any engine; and 0 and -0 are one number
        return nw.when(number <= INFINITY).then(nw.when(number == 0).then(zero).otherwise(number))
    return as_text(frame, name) if groups_as_text(kind) else value


def groups_as_text(kind: nw.dtypes.DType) -> bool:
    """Return whether the rows of a column of this kind are grouped by their text."""
    return not (kind.is_numeric() or kind in (nw.Boolean, nw.Date, nw.Datetime))


def spell_columns(found: pl.DataFrame, kinds: Mapping[str, nw.dtypes.DType]) -> pl.DataFrame:
    """Return what came back with these keys as text; ``kinds`` are those of the columns that the keys were made of."""
    return found.with_columns(spell(found[name], short=kind == nw.Float32).alias(name) for name, kind in kinds.items())


def spell(values: pl.Series, *, short: bool = False) -> pl.Series:
    """Return values of any type as text; ``short`` numbers have the digits of 32 bits."""
    kind = values.dtype
    if kind.is_float():
        distinct = values.drop_nulls().drop_nans().unique()
        words = {value: spell_number(value, short=short or kind == pl.Float32) for value in distinct.to_list()}
        return values.replace_strict(words, default=None, return_dtype=pl.String)
    if kind == pl.Boolean:
        return values.replace_strict({True: "true", False: "false"}, default=None, return_dtype=pl.String)
    if kind.is_decimal():
        word = values.cast(pl.String)
        return word.str.replace(r"(\.\d*?)0+$", "$1").str.strip_suffix(".")
    if isinstance(kind, pl.Datetime):
        return spell_times(values if kind.time_zone is None else values.dt.convert_time_zone("UTC"))
    return values.cast(pl.String)


def spell_number(value: float, *, short: bool) -> str:
    """Return a number by the fewest digits that tell it apart; whole ones without decimals."""
    if abs(value) < EXACT and value == round(value):
        return str(int(value))
    return str(np.float32(value)) if short else repr(value)


def spell_times(times: pl.Series) -> pl.Series:
    """Return times in ISO 8601: the date alone at midnight, and microseconds where there are some."""
    times = times.dt.replace_time_zone(None).dt.cast_time_unit("us")
    day, second = times.dt.strftime("%Y-%m-%d"), times.dt.strftime("%Y-%m-%dT%H:%M:%S")
    fraction = times.dt.strftime("%Y-%m-%dT%H:%M:%S%.6f")
    word = second.zip_with((times.dt.microsecond() == 0).fill_null(value=True), fraction)
    return day.zip_with((times == times.dt.truncate("1d")).fill_null(value=True), word)


NOT_A_VALUE = ("None", "nan", "NaN", "NaT", "<NA>")  # spellings of a missing value that is not text
MOST_WHOLE = 1 << 63  # what no engine's whole numbers reach
MOST_ASKED = 10**300  # a number that nobody asks for
MOST_VALUES = 1000  # among which the nearest to a value that is not there is looked for


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Rows to keep, and why the others are left out; a user's own names a column, and the values that were wanted."""

    keep: nw.Expr
    why: str
    column: str | None = None
    wanted: tuple[str, ...] = ()


def make_filters(table: Table, where: Mapping[str, object]) -> tuple[Filter, ...]:
    """Return the filters of ``where={column: value or values}``."""
    filters = []
    for name, wanted in where.items():
        check_column(name, table.schema.names(), table.name)
        values = list_values(wanted)
        if not values:
            raise InputError(f"where= gives no value for the column {name!r}: give those whose rows are to be kept")
        keep = has_value(table, name, values[0])
        for value in values[1:]:
            keep |= has_value(table, name, value)
        why = f"{name} is not {show_values(values)}"
        filters.append(Filter(keep=keep, why=why, column=name, wanted=tuple(map(str, values))))
    return tuple(filters)


def number_filters(filters: Sequence[Filter]) -> nw.Expr:
    """Return the number of the first filter that a row fails, 0 where it passes all."""
    number: nw.Expr = nw.lit(0)
    for k, rule in reversed(list(enumerate(filters, start=1))):
        number = nw.when(rule.keep).then(number).otherwise(nw.lit(k))
    return number


def list_values(wanted: Any) -> list[Any]:
    """Return the values that are wanted of a column: those of a list, or the one that was given."""
    several = isinstance(wanted, Iterable) and not isinstance(wanted, str | bytes | Mapping)
    return list(map(as_python, wanted)) if several else [as_python(wanted)]


def show_values(wanted: Any) -> str:
    """Return the values that are wanted of a column as a message shows them."""
    return " or ".join("missing" if value in (None, "") else str(value) for value in list_values(wanted))


def as_python(value: Any) -> Any:
    """Return a value of numpy or pandas as Python's own, and None for a missing one."""
    own = value.item() if hasattr(value, "item") else value
    if isinstance(own, list | dict | set | tuple) or (isinstance(own, int) and abs(own) >= MOST_ASKED):
        raise InputError("where= takes for each column a value, or a list of values: numbers, times, true, false, text")
    return None if not isinstance(own, str) and str(own) in NOT_A_VALUE else own


def has_value(table: Table, name: str, value: Any) -> nw.Expr:
    """Return in which rows a column has a value; None is a missing one, and so is text that is empty."""
    frame, kind = table.frame, table.schema[name]
    if value is None:
        return as_key(frame, name).is_null()
    if value == "":
        word = as_text(frame, name)
        return word.is_null() | (word == "")
    if kind == nw.Boolean:
        if (truth := str(value).strip().lower()) not in (*YES, *NO):
            raise describe_wrong(value, name, table.name, "true and false")
        return column(frame, name) == nw.lit(truth in YES)
    if kind.is_numeric():
        if (number := as_figure(value)) is None:
            raise describe_wrong(value, name, table.name, "numbers")
        return has_number(frame, name, number)
    if kind in (nw.Date, nw.Datetime):
        return has_time(frame, name, parse_time(value, name, table.name))
    same = as_text(frame, name).is_in(spell_value(value))
    figure = as_figure(value)
    # in a file of text nobody says that a number is text; but folders m=1 and m=01 are two
    if figure is None or name in table.folders or (isinstance(value, str) and not table.is_text):
        return same
    return same | (as_number(frame, name) == float(figure))


def as_figure(value: Any) -> float | None:
    """Return a value as a number, None where it is none; whole ones stay whole, since ids have more digits than floats.

    >>> as_figure("12345678901234567"), as_figure(" 1.50 "), as_figure(True), as_figure("1.2.3")
    (12345678901234567, 1.5, 1, None)
    """
    word = str(value).strip().lower() if isinstance(value, int | float | Decimal | str) else ""
    word = TRUTHS.get(word, word)
    number = int(word) if re.fullmatch(r"[+-]?[0-9]{1,19}", word) else find_number(word)
    return None if number is None or math.isnan(number) else number


def has_number(frame: nw.LazyFrame[Any], name: str, wanted: float) -> nw.Expr:
    """Return in which rows a column of numbers has this one."""
    value, kind = column(frame, name), frame.collect_schema()[name]
    if kind.is_integer():
        if float(wanted).is_integer() and abs(wanted) < MOST_WHOLE:
            return value == int(wanted)
        return value.is_null() & ~value.is_null()  # such a column cannot hold it
    number = value.cast(nw.Float64)
    short = float(np.float32(wanted)) if kind == nw.Float32 and abs(wanted) < 1e38 else wanted
    return (number == float(wanted)) | (number == short) if short != wanted else number == float(wanted)


def parse_time(value: Any, name: str, source: str) -> datetime:
    """Return a value as a time; without a zone it is in UTC, as times with a zone are spelt."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            what = "times: write them as 2024-01-31 or 2024-01-31T23:59:59"
            raise describe_wrong(value, name, source, what) from None
    if isinstance(value, datetime):
        return datetime.combine(value.date(), value.time(), value.tzinfo or UTC).astimezone(UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    raise describe_wrong(value, name, source, "times")


def has_time(frame: nw.LazyFrame[Any], name: str, wanted: datetime) -> nw.Expr:
    """Return in which rows a column of dates or of times has this one."""
    value, kind = column(frame, name), frame.collect_schema()[name]
    if kind == nw.Date:
        midnight = wanted == datetime(wanted.year, wanted.month, wanted.day, tzinfo=UTC)
        return value == wanted.date() if midnight else value.is_null() & ~value.is_null()
    zone = getattr(kind, "time_zone", None)
    there = wanted.astimezone(ZoneInfo(zone)) if zone else wanted.replace(tzinfo=None)
    # as a number: a dataset of PyArrow would be asked for the time itself, and mistakes one with a zone
    return nw.when(value == there).then(nw.lit(1)).otherwise(nw.lit(0)) == 1


def spell_value(value: Any) -> list[str]:
    """Return how a value may be spelt in a column of text."""
    if isinstance(value, bool):
        return [str(value), str(value).lower(), str(value).upper(), str(int(value))]
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return [str(int(value)), f"{int(value)}.0"]
    if isinstance(value, datetime):
        stamp = spell_times(pl.Series([value.replace(tzinfo=None)]))[0]
        return [stamp, *(value.isoformat(mark, unit) for mark in "T " for unit in ("seconds", "microseconds"))]
    return [str(value)]


def describe_wrong(value: Any, name: str, source: str, what: str) -> InputError:
    """Return the error for a value that a column cannot hold."""
    return InputError(f"{source!r}, column {name!r} contains {what}; where= asks for {value!r}")


def describe_values(table: Table, filters: Sequence[Filter]) -> str:
    """Return which values a column has where no row is left, for the filter that has left out most."""
    lost = table.frame.select(left_out=number_filters(filters)).group_by("left_out").agg(rows=nw.len())
    order = table.collect(lost).filter(pl.col("left_out") > 0).sort("rows", "left_out")
    rule = filters[order["left_out"][-1] - 1] if len(order) else Filter(keep=nw.lit(value=True), why="")
    if rule.column is None:
        return ""  # no row at all, or a format's own filter
    values = table.frame.select(value=as_key(table.frame, rule.column)).group_by("value").agg(rows=nw.len())
    found = table.collect(values.sort("rows", descending=True).head(MOST_VALUES))
    found = spell_columns(found, {"value": table.schema[rule.column]})
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
