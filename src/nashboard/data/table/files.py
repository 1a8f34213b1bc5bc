"""Files of one table: what kind each of them is, by its first bytes, and how several become one.

A log grows over months: a column is added, another is written as whole numbers and later as fractions, older files
lie outside the folders of newer ones. Columns go together by name; what a file does not have is missing in its rows.
Folders of parquet files such as ``language=en`` are columns.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal
from urllib.parse import unquote

import polars as pl

from nashboard._text import listed
from nashboard.data.sources.paths import PlainFile
from nashboard.data.table.columns import AGENT, OUTCOME, SCORE, TASK, TIME, WEIGHT, find_agent_pairs, find_usual
from nashboard.errors import InputError

Kind = Literal["delimited", "parquet", "json lines", "json list", "json", "pgn", "cutechess", "zip"]

HEAD = 1 << 18  # bytes that are looked at to tell what a file is
SQLITE, DUCKDB = b"SQLite format 3\0", b"DUCK"  # the second after a checksum of 8 bytes
NOT_READ = {
    b"\xff\xfe|\xfe\xff": "UTF-16: save it as UTF-8",
    b"ARROW1|FEA1": "an Arrow file, which is not read: save it as parquet",
    b"\x80[\x03-\x05]": "a pickle, which may run any code and is never opened: save it as csv or json",
    b"BZh|\xfd7zXZ|7z\xbc\xaf": "packed by bzip2, xz or 7-Zip, which is not read: unpack it, or use gzip",
    b"\xd0\xcf\x11\xe0": "an Excel workbook, which is not read: save its sheet as csv",
    b"(?i:<!doctype|<html|<table|<\\?xml)": "a web page or XML, which is not read: download the file itself",
    rb"\\begin\{|\\documentclass": "LaTeX, which is not read: save the table as csv",
}  # how such files begin
NAMES_NOT_READ = {".yml": "YAML", ".yaml": "YAML", ".toml": "TOML"}
# A list of mappings, below comments and blank lines. A line break is matched in one way only: the time stays linear.
YAML = re.compile(r"(#[^\n]*\n|(---)?[^\S\n]*\n)*- +[\w .\-]+:( |\n)")


def find_kind(file: PlainFile) -> Kind:
    """Return what a file is by its first bytes."""
    head = read_head(file)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY")):
        return "zip"
    if database := find_database(head):  # what was compressed, or is one of several files
        raise InputError(f"{file.name!r} is a {database} database: give one plain file, or its address")
    for beginning, what in NOT_READ.items():
        if re.match(beginning, head):
            raise InputError(f"{file.name!r} is {what}")
    text = head.decode("latin-1").removeprefix("ï»¿").lstrip()
    if re.match(r'\[[A-Za-z_]+\s+"', text) or (text.startswith("%") and '\n[Event "' in text):
        return "pgn"
    if re.search(r"^(Started|Finished) game \d+ \(", text, re.MULTILINE):
        return "cutechess"
    if text.startswith("[") and PurePath(file.name).suffix.casefold() != ".toml":
        return "json list"
    if text.startswith("{"):
        return "json lines" if first_line_is_an_object(text) else "json"
    if b"\0" in head:
        raise InputError(f"{file.name!r} is not a table: it is neither text nor parquet nor npz")
    if language := NAMES_NOT_READ.get(PurePath(file.name).suffix.casefold()) or ("YAML" if YAML.match(text) else None):
        raise InputError(
            f"{file.name!r} is {language}, which is not read: convert it to json, such as with `yq -o json` or Python"
        )
    return "delimited"


def find_database(head: bytes) -> Literal["SQLite", "DuckDB"] | None:
    """Return by its first bytes which database a file is."""
    if head.startswith(SQLITE):
        return "SQLite"
    return "DuckDB" if head[8:12] == DUCKDB and b"\0" in head[:16] else None  # text has no NUL


def read_head(file: PlainFile) -> bytes:
    """Return the first bytes of a file."""
    try:
        with file.path.open("rb") as stream:
            head = stream.read(HEAD)
    except OSError as error:
        raise InputError(f"cannot read {file.name!r}: {error.strerror}") from None
    if not head.strip():
        raise InputError(f"{file.name!r} is empty")
    return head


def first_line_is_an_object(text: str) -> bool:
    """Return whether the first line is an object of its own: then the file is json lines."""
    first, line_break, _ = text.partition("\n")
    if not line_break and len(text) >= HEAD:
        return not re.match(r"\{\s*\n", text)
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):  # also a number of too many digits
        return False
    # a single line with nested content is a whole document, not a row of a table
    return isinstance(row, dict) and (bool(line_break) or not any(isinstance(cell, dict) for cell in row.values()))


def is_one_line(file: PlainFile) -> bool:
    """Return whether nothing follows the first line, as far as the first bytes show."""
    _, _, rest = read_head(file).lstrip().partition(b"\n")
    return not rest.strip()


ROLES = (OUTCOME, WEIGHT, TIME, AGENT, TASK, SCORE)


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """Files of the same columns and types: the name of the first, a scan of all, and what type each column has."""

    file: str
    frame: pl.LazyFrame
    kinds: Mapping[str, Any]


def unite(parts: Sequence[Part]) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """Return the parts of a table as one frame, and what has to be said about it."""
    if len(parts) == 1:
        return parts[0].frame, ()
    for part in parts[1:]:
        refuse_other_columns(part, parts[0])
    columns = dict.fromkeys(name for part in parts for name in part.kinds)
    notes = []
    if holes := [name for name in columns if any(name not in part.kinds for part in parts)]:
        notes.append(f"columns that some of the files do not have are empty there: {listed(holes)}")
    words = set()
    for name in columns:
        families = {find_family(part.kinds[name]): part for part in reversed(parts) if name in part.kinds}
        families.pop("nothing", None)
        if len(families) > 1:
            one, other, *_ = reversed(families.values())
            differ = f"contains {one.kinds[name]} in {one.file!r}, and {other.kinds[name]} in {other.file!r}"
            if "nested" in families:
                raise InputError(f"column {name!r} {differ}: read the files separately, or write the column in one way")
            notes.append(f"column {name!r} is read as text: it {differ}")
            words.add(name)
    frames = [
        part.frame.with_columns(
            pl.col(name).cast(pl.String)
            for name, kind in part.kinds.items()
            if name in words or kind in (pl.Categorical, pl.Enum)  # files may know different categories
        )
        for part in parts
    ]
    return pl.concat(frames, how="diagonal_relaxed"), tuple(notes)


def refuse_other_columns(part: Part, first: Part) -> None:
    """Raise an error for files that are not parts of one table, or call a column of it by another name."""
    here, there = set(part.kinds), set(first.kinds)
    differ = f"{part.file!r} has other columns than {first.file!r}"
    if not here & there:
        raise InputError(f"{differ}, and none of the same: {listed(part.kinds)}; read the files separately")
    for usual in ROLES:
        new, old = find_usual(usual, sorted(here - there)), find_usual(usual, sorted(there - here))
        if new and old:
            raise InputError(f"{differ}: {new[0]!r} instead of {old[0]!r}; use one name in all files")
    new_pairs, old_pairs = find_agent_pairs(list(part.kinds)), find_agent_pairs(list(first.kinds))
    if new_pairs and old_pairs and new_pairs[0] != old_pairs[0] and not here >= set(old_pairs[0]):
        new_name, old_name = next(pair for pair in zip(new_pairs[0], old_pairs[0], strict=True) if pair[0] != pair[1])
        raise InputError(f"{differ}: {new_name!r} instead of {old_name!r}; use one name in all files")


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


LARGEST_ROW_GROUP = 1 << 26  # rows; a file of more has at least some bytes for them
MOST_PER_BYTE = 64  # rows to a byte of such a file
# How the header of a page begins: what it holds, two sizes, perhaps a checksum, and the number of values.
NUMBER = rb"\x15[\x80-\xff]{0,9}[\0-\x7f]"
PAGE = re.compile(rb"\x15[\0\x04\x06](%b)%b(?:%b)?[\x1c\x2c\x3c\x4c\x5c](%b)" % ((NUMBER,) * 4))
LARGEST_SEARCHED = 1 << 22  # bytes; in larger files random bytes look like a bad header more often than one is damaged
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # the folder of rows without a value, in Hive and Spark
# What Polars reads, too: it passes over a second sign of equality, wildcards, and escapes that are no text.
PLAIN_FOLDER = re.compile(r"[^=*?\[%]+=([^=*?\[%]|%[0-7][0-9A-Fa-f])*")


def count_rows(file: PlainFile) -> int:
    """Return the number of rows of a parquet file; a footer may claim a billion rows that would fill the memory."""
    size = file.path.stat().st_size
    with file.path.open("rb") as stream:
        stream.seek(max(size - 4, 0))
        if size < 12 or stream.read(4) != b"PAR1":
            raise InputError(f"{file.name!r} is cut short: a parquet file ends with its footer, and this one does not")
    rows = int(pl.scan_parquet(file.path, hive_partitioning=False).select(pl.len()).collect().item())
    if rows > LARGEST_ROW_GROUP and rows > MOST_PER_BYTE * size:
        raise InputError(f"{file.name!r} claims {rows:,} rows in {size:,} bytes: it is damaged")
    if size <= LARGEST_SEARCHED:  # Polars ends the process where a page claims so many values, or less than none
        for page in PAGE.finditer(file.path.read_bytes()):
            room, values = map(decode_number, page.groups())
            if values < 0 or (values > LARGEST_ROW_GROUP and values > room):
                raise InputError(f"{file.name!r} claims {values:,} values in {room:,} bytes of a page: it is damaged")
    return rows


def decode_number(field: bytes) -> int:
    """Return a whole number of Thrift's compact protocol: 7 bits in a byte, the sign in the lowest."""
    number = sum((byte & 0x7F) << 7 * k for k, byte in enumerate(field[1:]))
    return (number >> 1) ^ -(number & 1)


def folder_values(name: str) -> dict[str, str | None]:
    """Return the columns that the folders on the way to a file are, such as ``language=en``, and their values."""
    named = [folder.split("=", 1) for folder in PurePath(name).parent.parts if "=" in folder]
    return {column: None if value == NO_VALUE else unquote(value) for column, value in named if column}


def polars_reads_folders(name: str, place: str) -> bool:
    """Return whether Polars takes the folders of a file for the same columns; what was unpacked lies elsewhere."""
    folders = [folder for folder in PurePath(place).parent.parts if "=" in folder]
    columns = {folder.partition("=")[0] for folder in folders}
    return place == name and len(columns) == len(folders) and all(map(PLAIN_FOLDER.fullmatch, folders))


def scan_parquet(places: Mapping[str, str]) -> tuple[list[Part], tuple[str, ...]]:
    """Return parquet files, by name the path or address of each, by their columns and types, and what to say of them.

    What a folder is called is text: ``m=1`` and ``m=01`` are two folders, and so are ``1.1`` and ``1.10``.
    """
    groups: dict[Any, list[str]] = {}
    both: set[str] = set()
    for name, place in places.items():
        values, kinds = folder_values(name), pl.scan_parquet(place, hive_partitioning=False).collect_schema()
        both.update(set(values) & set(kinds))
        same = () if polars_reads_folders(name, place) else tuple(values.items())
        groups.setdefault((tuple(values), same, tuple(kinds.items())), []).append(name)
    parts = []
    for (columns, same, kinds), alike in groups.items():
        paths, named = [places[name] for name in alike], dict.fromkeys(columns, pl.String)
        if same or not named:
            frame = pl.scan_parquet(paths, hive_partitioning=False).with_columns(
                pl.lit(value, pl.String).alias(column) for column, value in same
            )
        else:
            frame = pl.scan_parquet(paths, hive_partitioning=True, hive_schema=named)
        parts.append(Part(file=alike[0], frame=frame, kinds={**dict(kinds), **named}))
    said = f"taken from the folders, not from the files, where they stand too: {listed(sorted(both))}"
    return parts, (said,) if both else ()
