"""Files that are parts of one table: their folders are columns too, and their columns need not be quite the same.

A log grows over months: a column is added, another is written as whole numbers and later as fractions, older files
lie outside the folders of newer ones. Columns go together by name; what a file does not have is missing in its rows.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

import polars as pl

from nashboard._text import listed
from nashboard.data.columns import AGENT, OUTCOME, SCORE, SIDES, TASK, TIME, WEIGHT, recognised
from nashboard.data.sources import PlainFile
from nashboard.errors import InputError

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # how Hive and Spark call the folder of rows without a value
# What Polars reads, too: it passes over a second sign of equality, wildcards, and escapes that are no text.
PLAIN_FOLDER = re.compile(r"[^=*?\[%]+=([^=*?\[%]|%[0-7][0-9A-Fa-f])*")
FIRSTS, SECONDS = zip(*SIDES, strict=True)
ROLES = (OUTCOME, WEIGHT, TIME, AGENT, TASK, SCORE, FIRSTS, SECONDS)


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """Files of the same columns and types: the first of them, a scan of all, and what type each column has."""

    file: PlainFile
    frame: pl.LazyFrame
    kinds: Mapping[str, Any]


def folder_values(name: str) -> dict[str, str | None]:
    """Return the columns that the folders on the way to a file are, such as ``language=en``, and their values."""
    named = [folder.split("=", 1) for folder in PurePath(name).parent.parts if "=" in folder]
    return {column: None if value == NO_VALUE else unquote(value) for column, value in named if column}


def plain_folders(file: PlainFile) -> bool:
    """Say whether Polars takes the folders of a file for the same columns; what was unpacked lies elsewhere."""
    folders = [folder for folder in file.path.parent.parts if "=" in folder]
    columns = {folder.partition("=")[0] for folder in folders}
    return str(file.path) == file.name and len(columns) == len(folders) and all(map(PLAIN_FOLDER.fullmatch, folders))


def parquet_parts(files: Sequence[PlainFile]) -> tuple[list[Part], tuple[str, ...]]:
    """Return parquet files by their columns and types, and what has to be said about them.

    What a folder is called is text: ``m=1`` and ``m=01`` are two folders, and so are ``1.1`` and ``1.10``.
    """
    groups: dict[Any, list[PlainFile]] = {}
    both: set[str] = set()
    for file in files:
        values, kinds = folder_values(file.name), pl.read_parquet_schema(file.path)
        both.update(set(values) & set(kinds))
        same = () if plain_folders(file) else tuple(values.items())  # else Polars knows what differs in the group
        groups.setdefault((tuple(values), same, tuple(kinds.items())), []).append(file)
    parts = []
    for (columns, same, kinds), alike in groups.items():
        paths, named = [file.path for file in alike], dict.fromkeys(columns, pl.String)
        if same or not named:
            frame = pl.scan_parquet(paths, hive_partitioning=False).with_columns(
                pl.lit(value, pl.String).alias(column) for column, value in same
            )
        else:
            frame = pl.scan_parquet(paths, hive_partitioning=True, hive_schema=named)
        parts.append(Part(file=alike[0], frame=frame, kinds={**dict(kinds), **named}))
    said = f"taken from the folders, not from the files, where they stand too: {listed(sorted(both))}"
    return parts, (said,) if both else ()


def united(parts: Sequence[Part]) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """Return the parts of a table as one frame, and what has to be said about it."""
    if len(parts) == 1:
        return parts[0].frame, ()
    for part in parts[1:]:
        refuse_other_columns(part, parts[0])
    columns = dict.fromkeys(name for part in parts for name in part.kinds)
    words = {name for name in columns if torn(name, parts)}
    frames = [
        part.frame.with_columns(pl.col(name).cast(pl.String) for name in part.kinds if as_text(part, name, words))
        for part in parts
    ]
    holes = [name for name in columns if any(name not in part.kinds for part in parts)]
    notes = [f"columns that some of the files do not have are empty there: {listed(holes)}"] if holes else []
    for name in sorted(words):
        one, other = two_kinds(name, parts)
        notes.append(
            f"column {name!r} is read as text: it holds {one.kinds[name]} in {one.file.name!r}, and "
            f"{other.kinds[name]} in {other.file.name!r}"
        )
    return pl.concat(frames, how="diagonal_relaxed"), tuple(notes)


def refuse_other_columns(part: Part, first: Part) -> None:
    """Raise an error for files that are no parts of one table, or call a column of it by another name."""
    here, there = set(part.kinds), set(first.kinds)
    said = f"{part.file.name!r} has other columns than {first.file.name!r}"
    if not here & there:
        raise InputError(f"{said}, and none of the same: {listed(part.kinds)}; read the two apart")
    for usual in ROLES:
        new, old = recognised(usual, sorted(here - there)), recognised(usual, sorted(there - here))
        if new and old:
            raise InputError(f"{said}: {new[0]!r} in the place of {old[0]!r}; call it the same in all files")


def torn(name: str, parts: Sequence[Part]) -> bool:
    """Say whether files differ so much about a column that only text can hold it; lists and objects cannot be text."""
    families = {family(part.kinds[name]): part for part in parts if name in part.kinds}
    families.pop("nothing", None)
    if len(families) > 1 and "nested" in families:
        one, other = two_kinds(name, parts)
        raise InputError(
            f"column {name!r} holds {one.kinds[name]} in {one.file.name!r}, and {other.kinds[name]} in "
            f"{other.file.name!r}: read the two apart, or write the column alike"
        )
    return len(families) > 1


def two_kinds(name: str, parts: Iterable[Part]) -> tuple[Part, Part]:
    """Return two parts that differ about a column."""
    families = {family(part.kinds[name]): part for part in reversed(list(parts)) if name in part.kinds}
    families.pop("nothing", None)
    other, one = list(families.values())[-2:]
    return one, other


def family(kind: Any) -> str:
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


def as_text(part: Part, name: str, words: set[str]) -> bool:
    """Say whether a column has to be turned into text: files may know different categories of it."""
    return name in words or part.kinds[name] in (pl.Categorical, pl.Enum)
