"""Files that are parts of one table, whose columns need not be quite the same.

A log grows over months: a column is added, another is written as whole numbers and later as fractions, older files
lie outside the folders of newer ones. Columns go together by name; what a file does not have is missing in its rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from nashboard._text import listed
from nashboard.data.sources.paths import PlainFile
from nashboard.data.table.columns import AGENT, OUTCOME, SCORE, SIDES, TASK, TIME, WEIGHT, find_usual
from nashboard.errors import InputError

FIRSTS, SECONDS = zip(*SIDES, strict=True)
ROLES = (OUTCOME, WEIGHT, TIME, AGENT, TASK, SCORE, FIRSTS, SECONDS)


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """Files of the same columns and types: the first of them, a scan of all, and what type each column has."""

    file: PlainFile
    frame: pl.LazyFrame
    kinds: Mapping[str, Any]


def unite(parts: Sequence[Part]) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """Return the parts of a table as one frame, and what has to be said about it."""
    if len(parts) == 1:
        return parts[0].frame, ()
    for part in parts[1:]:
        refuse_other_columns(part, parts[0])
    columns = dict.fromkeys(name for part in parts for name in part.kinds)
    words = {name for name in columns if holds_several_types(name, parts)}
    frames = [
        part.frame.with_columns(pl.col(name).cast(pl.String) for name in part.kinds if needs_text(part, name, words))
        for part in parts
    ]
    holes = [name for name in columns if any(name not in part.kinds for part in parts)]
    notes = [f"columns that some of the files do not have are empty there: {listed(holes)}"] if holes else []
    for name in sorted(words):
        one, other = find_two_kinds(name, parts)
        notes.append(
            f"column {name!r} is read as text: it holds {one.kinds[name]} in {one.file.name!r}, and "
            f"{other.kinds[name]} in {other.file.name!r}"
        )
    return pl.concat(frames, how="diagonal_relaxed"), tuple(notes)


def refuse_other_columns(part: Part, first: Part) -> None:
    """Raise an error for files that are not parts of one table, or call a column of it by another name."""
    here, there = set(part.kinds), set(first.kinds)
    said = f"{part.file.name!r} has other columns than {first.file.name!r}"
    if not here & there:
        raise InputError(f"{said}, and none of the same: {listed(part.kinds)}; read the two apart")
    for usual in ROLES:
        new, old = find_usual(usual, sorted(here - there)), find_usual(usual, sorted(there - here))
        if new and old:
            raise InputError(f"{said}: {new[0]!r} in the place of {old[0]!r}; call it the same in all files")


def holds_several_types(name: str, parts: Sequence[Part]) -> bool:
    """Return whether files differ so much about a column that only text can hold it; nested columns cannot be."""
    families = {find_family(part.kinds[name]): part for part in parts if name in part.kinds}
    families.pop("nothing", None)
    if len(families) > 1 and "nested" in families:
        one, other = find_two_kinds(name, parts)
        raise InputError(
            f"column {name!r} holds {one.kinds[name]} in {one.file.name!r}, and {other.kinds[name]} in "
            f"{other.file.name!r}: read the two apart, or write the column alike"
        )
    return len(families) > 1


def find_two_kinds(name: str, parts: Iterable[Part]) -> tuple[Part, Part]:
    """Return two parts that differ about a column."""
    families = {find_family(part.kinds[name]): part for part in reversed(list(parts)) if name in part.kinds}
    families.pop("nothing", None)
    other, one = list(families.values())[-2:]
    return one, other


def find_family(kind: Any) -> str:
    """Return what the types are called that go together without loss: whole numbers with fractions, for one."""
    if kind == pl.Null:
        return "nothing"
    if kind.is_nested() or kind == pl.Binary:
        return "nested"
    if kind.is_numeric():
        return "numbers"
    if kind in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    return f"moments in {getattr(kind, 'time_zone', None)}" if kind in (pl.Date, pl.Datetime) else str(kind)


def needs_text(part: Part, name: str, words: set[str]) -> bool:
    """Return whether a column has to be turned into text: files may know different categories of it."""
    return name in words or part.kinds[name] in (pl.Categorical, pl.Enum)
