"""Values of columns: names as text, numbers, true and false, and what is missing; one rule each, in every engine.

Every engine writes 1e-7, a time or a boolean in its own way, and SQLite keeps 15 digits. So rows are grouped by the
values themselves where the data is, and what comes back is turned into text here: whole numbers without decimals, other
numbers by the fewest digits that tell them apart, ``true`` and ``false``, times in ISO 8601 (in UTC, where they have a
zone; a time at midnight as its date). A number that is NaN is missing.
"""

import re
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from nashboard.data.table.table import column
from nashboard.errors import InputError

EXACT = 2.0**53  # whole numbers below this are exact in floating point
INFINITY = float("inf")
# Words for a missing value, for true and for false, in small letters.
MISSING = ("", "-", "–", "—", "na", "n/a", "nan", "null", "none", "missing")
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
    """Return a column as numbers, true as 1; text that is not a finite number is null, and raises nothing anywhere."""
    kind = frame.collect_schema()[name]
    if kind == nw.Boolean:  # PostgreSQL casts a boolean to a whole number only
        truth = column(frame, name)
        return nw.when(truth).then(nw.lit(1)).otherwise(nw.when(~truth).then(nw.lit(0))).cast(nw.Float64)
    if kind.is_numeric():
        return column(frame, name).cast(nw.Float64)
    word = recode(as_lower(frame, name), TRUTHS)
    return nw.when(word.str.contains(f"^(?:{NUMBER})$")).then(word).cast(nw.Float64)


def is_no_number(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return where a cell is neither a finite number nor missing."""
    kind, value = frame.collect_schema()[name], column(frame, name)
    if kind.is_numeric() or kind == nw.Boolean:
        return value.is_null() & ~value.is_null()  # nowhere
    return ~as_lower(frame, name).fill_null("").is_in(MISSING) & as_number(frame, name).is_null()


def is_blank(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return where a column has no name: missing, or nothing but white space."""
    return as_text(frame, name).fill_null("").str.strip_chars() == ""


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
