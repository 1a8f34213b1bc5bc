"""Logs of games, read piece by piece: a file, or standard input as it grows.

Text (csv, tsv, json lines) is cut at line ends into pieces of some megabytes; a parquet file into rows. How far a
league has read a log is kept with the league, beside a fingerprint of what was read, so that it can go on later.
"""

import csv
import hashlib
import io
import json
import os
import select
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from nashboard._text import first_line
from nashboard.data.sources.paths import LONGEST_RECORD, STANDARD_INPUT, PlainFile
from nashboard.data.table.columns import OUTCOME, WEIGHT, find_column, find_sides, require_column
from nashboard.data.table.delimited import SEPARATORS
from nashboard.data.table.files import find_kind
from nashboard.data.table.parquet import count_rows
from nashboard.errors import InputError
from nashboard.online.games import Columns

PIECE = 8 << 20
ROWS = 1 << 18
EDGE = 1 << 16  # bytes at either end of what was read that make its fingerprint
Read = Callable[[int], bytes]


@dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """Some games in order, and the position in the log after them."""

    frame: pl.DataFrame
    position: int


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How the lines of a text log are read: its first line, the separator (none for json lines), the columns."""

    header: bytes
    separator: str | None
    columns: tuple[str, ...]

    def frame(self, text: bytes, name: str, position: int) -> pl.DataFrame:
        """Return some whole lines as a frame of texts."""
        try:
            if self.separator is None:
                return pl.read_ndjson(io.BytesIO(text), schema=dict.fromkeys(self.columns, pl.String))
            return pl.read_csv(
                io.BytesIO(self.header + text),
                separator=self.separator,
                infer_schema=False,
                columns=list(self.columns),
            )
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise InputError(f"{name!r} cannot be read near byte {position:,}: {first_line(error)}") from None


def read_header(line: bytes, name: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the separator (None for json lines) and the columns that the first line of a text log shows."""
    try:
        text = line.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise InputError(f"{name!r} is not UTF-8 text: online reads csv, tsv, json lines and parquet") from None
    separator = None
    if text.startswith("{"):
        try:
            names = tuple(json.loads(text))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name!r}: line 1 is not a json object: {error}") from None
    else:
        separator = max(SEPARATORS, key=text.count)
        try:
            names = tuple(cell.strip() for cell in next(csv.reader([text], delimiter=separator), []))
        except csv.Error as error:
            raise InputError(f"{name!r}: line 1 is not a header of columns: {error}") from None
    return separator, names


def layout_of(line: bytes, columns: Columns, name: str) -> Layout:
    """Return from the first line how a text log is laid out, and which columns hold the games."""
    separator, names = read_header(line, name)
    a, b = find_sides(names, name, columns.a, columns.b)
    weight = find_column("weight", WEIGHT, names, name, columns.weight)
    chosen = (a, b, require_column("outcome", OUTCOME, names, name, columns.outcome), *([weight] if weight else []))
    return Layout(header=line.removeprefix(b"\xef\xbb\xbf"), separator=separator, columns=chosen)


def text_pieces(read: Read, name: str, columns: Columns, start: int = 0) -> Iterator[Piece]:
    """Yield the games of a text log; ``start`` bytes were read before. Ends where ``read`` gives nothing."""
    rest = b""
    while b"\n" not in rest:
        chunk = read(PIECE)
        if not chunk:
            break
        rest += chunk
        refuse_endless(rest, name)
    if not rest.strip():
        return
    line, _, after = rest.partition(b"\n")
    layout = layout_of(line + b"\n", columns, name)
    position = len(line) + 1 if layout.separator else 0
    rest = after if layout.separator else rest
    skip = max(start - position, 0)
    while skip > len(rest):
        skip -= len(rest)
        position += len(rest)
        if not (rest := read(PIECE)):
            return
    position, rest = position + skip, rest[skip:]
    while True:
        cut = last_line_end(rest, quoted=layout.separator is not None)
        if cut and rest[:cut].strip():
            yield Piece(frame=layout.frame(rest[:cut], name, position), position=position + cut)
        position, rest = position + cut, rest[cut:]
        refuse_endless(rest, name)
        chunk = read(PIECE)
        if not chunk:
            break
        rest += chunk
    if rest.strip():  # a last line without an end
        yield Piece(frame=layout.frame(rest, name, position), position=position + len(rest))


def last_line_end(text: bytes, *, quoted: bool) -> int:
    """Return where the last whole record ends: after a line break that stands in no quotes."""
    cut = text.rfind(b"\n") + 1
    open_quote = quoted and text.count(b'"', 0, cut) % 2
    while cut and open_quote:  # line by line backwards: each byte is looked at once more, not once per line
        before = text.rfind(b"\n", 0, cut - 1) + 1
        open_quote = (open_quote - text.count(b'"', before, cut)) % 2
        cut = before
    return cut


def refuse_endless(rest: bytes, name: str) -> None:
    """Refuse a line longer than any real one."""
    if len(rest) > LONGEST_RECORD:
        raise InputError(
            f"{name!r} has a line of more than {LONGEST_RECORD >> 20} MB: this is not a log with a game a line"
        )


def can_stream(file: PlainFile, columns: Columns) -> bool:
    """Return whether a file is a table with a row per game in their order, which can be read piece by piece."""
    kind = find_kind(file)
    if columns.time is not None or kind not in ("parquet", "delimited", "json lines"):
        return False
    if columns.a or columns.b or columns.outcome:
        return True
    try:
        if kind == "parquet":
            names = tuple(pl.scan_parquet(file.path).collect_schema().names())
        else:
            with file.path.open("rb") as stream:
                names = read_header(stream.readline(LONGEST_RECORD), file.name)[1]
        find_sides(names, file.name, None, None)
        require_column("outcome", OUTCOME, names, file.name, None)
    except InputError:
        return False  # another format, or nothing that can be read: its reader says what is wrong
    return True


def file_pieces(file: PlainFile, columns: Columns, start: int) -> Iterator[Piece]:
    """Yield the games of a file from a position on."""
    kind = find_kind(file)
    if kind == "parquet":
        yield from parquet_pieces(file, columns, start)
    elif kind in ("delimited", "json lines"):
        with file.path.open("rb") as stream:
            yield from text_pieces(stream.read, file.name, columns, start)
    else:
        raise InputError(f"{file.name!r} is {kind}: online reads logs in csv, tsv, json lines and parquet")


def still_there(pieces: Iterator[Piece], file: PlainFile) -> Iterator[Piece]:
    """Yield the pieces of a file that may grow meanwhile; one that has become shorter is an error."""
    for piece in pieces:
        end = size_of(file)
        if end < piece.position:
            raise InputError(
                f"{file.name!r} shrank while it was read: {piece.position:,} bytes (or rows) were read, and it has "
                f"{end:,} now; a log may grow, but what stands in it must stay"
            )
        yield piece


def parquet_pieces(file: PlainFile, columns: Columns, start: int) -> Iterator[Piece]:
    """Yield the games of a parquet file from a row on."""
    count_rows(file)
    scan = pl.scan_parquet(file.path)
    names = tuple(scan.collect_schema().names())
    a, b = find_sides(names, file.name, columns.a, columns.b)
    weight = find_column("weight", WEIGHT, names, file.name, columns.weight)
    chosen = [
        a,
        b,
        require_column("outcome", OUTCOME, names, file.name, columns.outcome),
        *([weight] if weight else []),
    ]
    while len(frame := scan.select(chosen).slice(start, ROWS).collect()):
        start += len(frame)
        yield Piece(frame=frame, position=start)


def fingerprint(file: PlainFile, position: int) -> str:
    """Return a digest of both ends of what was read of a file: the same log has it, however it has grown."""
    digest = hashlib.sha256(str(position).encode())
    if find_kind(file) == "parquet":
        scan = pl.scan_parquet(file.path)
        for start in (0, max(position - 100, 0)):
            digest.update(scan.slice(start, min(100, position)).collect().write_json().encode())
        return digest.hexdigest()
    with file.path.open("rb") as stream:
        digest.update(stream.read(min(EDGE, position)))
        stream.seek(max(position - EDGE, 0))
        digest.update(stream.read(min(EDGE, position)))
    return digest.hexdigest()


def read_available(size: int) -> bytes:
    """Read what standard input holds, at most ``size`` bytes; wait only where there is nothing."""
    try:
        return os.read(sys.stdin.fileno(), size)
    except io.UnsupportedOperation:  # a stream without a file behind it
        return sys.stdin.buffer.read(size)


def nothing_waits() -> bool:
    """Say whether standard input has nothing to read just now."""
    try:
        return not select.select([sys.stdin], [], [], 0)[0]
    except (OSError, ValueError):  # not a pipe, or a system that cannot tell
        return False


def is_standard_input(source: str | Path) -> bool:
    """Say whether a source is standard input."""
    return str(source) == STANDARD_INPUT


def size_of(file: PlainFile) -> int:
    """Return the end of a file as positions count it: bytes, or the rows of a parquet file."""
    if find_kind(file) == "parquet":
        rows: Any = pl.scan_parquet(file.path).select(pl.len()).collect().item()
        return int(rows)
    return file.path.stat().st_size
