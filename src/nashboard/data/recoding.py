"""Recoding: the words of a column into other words, or into numbers, by expressions that every engine can run."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw

from nashboard.data.engines import column as by_name
from nashboard.data.spelling import text

# In small letters, without the signs in which the engines' own patterns differ.
FINITE_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?$"


MISSING = ("", "-", "–", "—", "na", "n/a", "nan", "null", "none", "missing")  # words for a missing value, folded
YES, NO = ("true", "t", "yes", "y", "1", "1.0"), ("false", "f", "no", "n", "0", "0.0")
TRUTHS = {"true": "1", "false": "0"}  # as json and Python's own files write them; a frame's truths are numbers too


def recoded(word: nw.Expr, meanings: Mapping[str, str]) -> nw.Expr:
    """Return other words for those in the table; a word that is not in it stays as it is."""
    found = word
    for meaning in dict.fromkeys(meanings.values()):
        words = [key for key, value in meanings.items() if value == meaning]
        found = nw.when(word.is_in(words)).then(nw.lit(meaning)).otherwise(found)
    return found


def lowered(frame: nw.LazyFrame[Any], column: str) -> nw.Expr:
    """Return a column as text in small letters, without white space around it; null where it is missing."""
    return text(frame, column).str.strip_chars().str.to_lowercase()


def as_number(frame: nw.LazyFrame[Any], column: str) -> nw.Expr:
    """Return a column as numbers, true as 1; text that is no finite number is null, and raises nothing anywhere."""
    kind = frame.collect_schema()[column]
    if kind == nw.Boolean:  # PostgreSQL casts a truth to a whole number only
        truth = by_name(frame, column)
        return nw.when(truth).then(nw.lit(1)).otherwise(nw.when(~truth).then(nw.lit(0))).cast(nw.Float64)
    if kind.is_numeric():
        return by_name(frame, column).cast(nw.Float64)
    word = recoded(lowered(frame, column), TRUTHS)
    return nw.when(word.str.contains(FINITE_NUMBER)).then(word).cast(nw.Float64)
