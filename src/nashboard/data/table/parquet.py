"""Parquet files: their row counts are checked before Polars allocates anything, and their folders are columns.

The footer of a parquet file is a structure in Thrift's compact protocol. Polars trusts it: a few bytes that claim a row
group of a billion rows end the process. Only the few numbers that matter are read here (names and numbers of fields as
in the format's parquet.thrift).
"""

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

import polars as pl

from nashboard._text import listed
from nashboard.data.sources.paths import PlainFile
from nashboard.data.table.files import Part
from nashboard.errors import InputError

LARGEST_ROW_GROUP = 1 << 26  # rows; the largest that common writers make, and what is decoded at once
LARGEST_FOOTER = 1 << 28  # bytes
DEEPEST = 32
NUM_ROWS, ROW_GROUPS, GROUP_ROWS = 3, 4, 3  # fields of FileMetaData and RowGroup
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # the folder of rows without a value, in Hive and Spark
# What Polars reads, too: it passes over a second sign of equality, wildcards, and escapes that are no text.
PLAIN_FOLDER = re.compile(r"[^=*?\[%]+=([^=*?\[%]|%[0-7][0-9A-Fa-f])*")
DAMAGE = (LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, ValueError)


def count_rows(file: PlainFile) -> int:
    """Return the number of rows of a parquet file, or raise an error where its footer cannot be true."""
    size = file.path.stat().st_size
    footer = read_footer(file, size)
    try:
        metadata = Thrift(footer).struct(0)
        groups = [int(group[GROUP_ROWS]) for group in metadata.get(ROW_GROUPS, [])]
        claimed = int(metadata[NUM_ROWS])
        if sum(groups) != claimed or any(rows < 0 for rows in groups):
            raise ValueError
    except DAMAGE:
        raise InputError(f"{file.name!r} is damaged: its parquet footer contradicts itself") from None
    largest = max(groups, default=0)
    if largest > LARGEST_ROW_GROUP:
        raise InputError(
            f"{file.name!r} claims a row group of {largest:,} rows in {size:,} bytes: write row groups of at most "
            f"{LARGEST_ROW_GROUP:,} rows"
        )
    return claimed


def scan_parquet(files: Sequence[PlainFile]) -> tuple[list[Part], tuple[str, ...]]:
    """Return parquet files by their columns and types, and notes, after a look at what their footers claim."""
    if not sum(map(count_rows, files)):
        raise InputError(f"{files[0].name!r} has columns but no rows")
    return parquet_parts(files)


def folder_values(name: str) -> dict[str, str | None]:
    """Return the columns that the folders on the way to a file are, such as ``language=en``, and their values."""
    named = [folder.split("=", 1) for folder in PurePath(name).parent.parts if "=" in folder]
    return {column: None if value == NO_VALUE else unquote(value) for column, value in named if column}


def polars_reads_folders(file: PlainFile) -> bool:
    """Return whether Polars takes the folders of a file for the same columns; what was unpacked lies elsewhere."""
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
        same = (
            () if polars_reads_folders(file) else tuple(values.items())
        )  # else Polars knows what differs in the group
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


def read_footer(file: PlainFile, size: int) -> bytes:
    """Return the bytes of the footer: its length and the magic word stand at the end of the file."""
    with file.path.open("rb") as stream:
        stream.seek(max(size - 8, 0))
        tail = stream.read(8)
        if size < 12 or tail[4:] != b"PAR1":
            raise InputError(f"{file.name!r} is cut short: a parquet file ends with its footer, and this one does not")
        length = int.from_bytes(tail[:4], "little")
        if length > min(size - 12, LARGEST_FOOTER):
            raise InputError(f"{file.name!r} is damaged: its parquet footer claims {length:,} bytes")
        stream.seek(size - 8 - length)
        return stream.read(length)


class Thrift:
    """Reads structures in the compact protocol as ``{field number: value}``."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def byte(self) -> int:
        """Return the next byte."""
        self.at += 1
        return self.content[self.at - 1]

    def varint(self) -> int:
        """Return an unsigned number of seven bits to the byte."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 63:
                raise OverflowError

    def integer(self) -> int:
        """Return a signed number, zigzag encoded."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def binary(self) -> bytes:
        """Return bytes with their length before them."""
        length = self.varint()
        self.at += length
        if self.at > len(self.content):
            raise IndexError
        return self.content[self.at - length : self.at]

    def struct(self, depth: int) -> dict[int, Any]:
        """Return the fields of a structure."""
        fields: dict[int, Any] = {}
        field = 0
        while head := self.byte():
            field = field + (head >> 4) if head >> 4 else self.integer()
            kind = head & 0x0F
            fields[field] = kind == 1 if kind in (1, 2) else self.value(kind, depth)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        """Return a value of one of the protocol's types."""
        if depth > DEEPEST:
            raise RecursionError
        match kind:
            case 1 | 2 | 3:
                return self.byte()
            case 4 | 5 | 6:
                return self.integer()
            case 7:
                self.at += 8
                return None
            case 8:
                return self.binary()
            case 9 | 10:
                head = self.byte()
                length = self.varint() if head >> 4 == 15 else head >> 4
                return [self.value(head & 0x0F, depth + 1) for _ in range(length)]
            case 12:
                return self.struct(depth + 1)
            case _:
                raise TypeError
