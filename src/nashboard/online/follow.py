"""A league follows a log: read piece by piece, saved after whole pieces, going on later where it stopped.

Text (csv, tsv, json lines) is cut at line ends into pieces of some megabytes, a parquet file into rows; standard input
is read as it grows. Other formats, and logs that have to be sorted, are read whole. How far a league has read a log is
kept with the league, beside a fingerprint of what was read.
"""

import contextlib
import csv
import hashlib
import io
import json
import os
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl

from nashboard._text import first_line
from nashboard.data.counting.outcomes import Rules
from nashboard.data.read import name_library_errors
from nashboard.data.sources.paths import LONGEST_RECORD, STANDARD_INPUT, PlainFile, open_files
from nashboard.data.table.columns import TIME, WEIGHT, find_column, find_outcome, find_sides, find_usual
from nashboard.data.table.delimited import SEPARATORS
from nashboard.data.table.files import count_rows, find_kind, read_head
from nashboard.errors import InputError
from nashboard.online.games import Columns, Excerpt, read_log
from nashboard.online.league import LogPosition
from nashboard.online.models import OnlineElo, OnlineMelo

PIECE = 8 << 20
ROWS = 1 << 18
EDGE = 1 << 16  # bytes at either end of what was read that make its fingerprint
TABLES = ("parquet", "delimited", "json lines")  # kinds of files with a row per game
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
                io.BytesIO(self.header + text), separator=self.separator, infer_schema=False, columns=list(self.columns)
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


def game_columns(names: tuple[str, ...], columns: Columns, source: str) -> list[str]:
    """Return which columns hold the games: both agents, the outcome, and perhaps the weight."""
    sides = find_sides(names, source, columns.a, columns.b)
    outcome, _ = find_outcome(names, source, columns.outcome, sides)
    weight = find_column("weight", WEIGHT, names, source, columns.weight)
    return [*sides, outcome, *([weight] if weight else [])]


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
    separator, names = read_header(line + b"\n", name)
    chosen = tuple(game_columns(names, columns, name))
    layout = Layout(header=line.removeprefix(b"\xef\xbb\xbf") + b"\n", separator=separator, columns=chosen)
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
            f"{name!r} has a line of more than {LONGEST_RECORD >> 20} MB: this is not a log with one game per line"
        )


def can_stream(file: PlainFile, columns: Columns) -> bool:
    """Return whether a file is a table with a row per game in their order, which can be read piece by piece."""
    if columns.time is not None or find_kind(file) not in TABLES:
        return False
    if columns.a or columns.b or columns.outcome:
        return True
    try:
        game_columns(column_names(file), columns, file.name)
    except InputError:
        return False  # another format, or nothing that can be read: its reader says what is wrong
    return True


def column_names(file: PlainFile) -> tuple[str, ...]:
    """Return the columns of a table in a file."""
    if find_kind(file) == "parquet":
        return tuple(pl.scan_parquet(file.path).collect_schema().names())
    with file.path.open("rb") as stream:
        return read_header(stream.readline(LONGEST_RECORD), file.name)[1]


def find_unused_time(source: str, columns: Columns) -> str | None:
    """Return a column of times that a log has and nobody named: its games are taken in the order of the file."""
    if source == STANDARD_INPUT or columns.time is not None:
        return None
    with open_files(source, may_grow=True) as files, contextlib.suppress(InputError):
        kind = find_kind(files[0]) if len(files) == 1 else None
        if kind in TABLES:
            return next(iter(find_usual(TIME, column_names(files[0]))), None)
        if kind == "pgn" and re.search(rb'^\[Date "\d', read_head(files[0]), re.MULTILINE):
            return "date"
    return None


def file_pieces(file: PlainFile, columns: Columns, start: int) -> Iterator[Piece]:
    """Yield the games of a file from a position on: bytes of text, or rows of a parquet file."""
    if find_kind(file) != "parquet":
        with file.path.open("rb") as stream:
            yield from text_pieces(stream.read, file.name, columns, start)
        return
    count_rows(file)
    scan = pl.scan_parquet(file.path)
    chosen = game_columns(tuple(scan.collect_schema().names()), columns, file.name)
    while len(frame := scan.select(chosen).slice(start, ROWS).collect()):
        start += len(frame)
        yield Piece(frame=frame, position=start)


def still_there(pieces: Iterator[Piece], file: PlainFile) -> Iterator[Piece]:
    """Yield the pieces of a file that may grow meanwhile; one that has become shorter is an error."""
    for piece in pieces:
        end = size_of(file)
        if end < piece.position:
            raise InputError(
                f"{file.name!r} shrank while it was read: {piece.position:,} bytes (or rows) were read, and it has "
                f"{end:,} now; a log may grow, but rows that were read must not change"
            )
        yield piece


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


def size_of(file: PlainFile) -> int:
    """Return the end of a file as positions count it: bytes, or the rows of a parquet file."""
    if find_kind(file) == "parquet":
        rows: Any = pl.scan_parquet(file.path).select(pl.len()).collect().item()
        return int(rows)
    return file.path.stat().st_size


Online = OnlineElo | OnlineMelo
SAVE_EVERY = 1.0  # seconds; less often where saving itself takes long


class Stopped(Exception):  # noqa: N818 - not an error: the user wants to stop, and an unfinished line is not used
    """Waiting for input was ended by the user."""


@dataclass
class Interruption:
    """Ctrl-C, taken politely: a piece that has begun is finished and saved; waiting for input ends at once.

    ``asked`` is the signal that asked for it, 0 before.
    """

    asked: int = 0
    idle: bool = False

    def waiting(self, read: Callable[[int], bytes]) -> Callable[[int], bytes]:
        """Return a reader that waits for input, and that Ctrl-C ends at once."""

        def patient(size: int) -> bytes:
            try:
                self.idle = True
                return read(size)
            except KeyboardInterrupt:
                raise Stopped from None
            finally:
                self.idle = False

        return patient

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Remember that the user wants to stop."""
        self.asked = number
        if self.idle:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def watched(self) -> Iterator["Interruption"]:
        """Take Ctrl-C (and a request to terminate) politely inside this block."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(number, self.handle) for number in numbers]
        try:
            yield self
        finally:
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)


@dataclass
class Progress:
    """How far a run is: rows used in it, each a game of some weight, and whether everything so far is saved."""

    rows: int = 0
    already: int = 0
    saved: bool = True
    began: float = field(default_factory=time.monotonic)

    @property
    def speed(self) -> float:
        """Rows per second so far."""
        return self.rows / max(time.monotonic() - self.began, 1e-9)


@dataclass(frozen=True)
class Place:
    """A log by name, how far it was read before, its fingerprint at a position, and whether it waits for more."""

    name: str
    before: LogPosition | None
    fingerprint_at: Callable[[int], str]
    idle: Callable[[], bool]


def follow(
    model: Online,
    source: str,
    state: Path,
    columns: Columns,
    stop: Interruption,
    *,
    outcomes: Rules | None = None,
    from_start: bool = False,
) -> Iterator[Progress]:
    """Let a model learn from a log, save it as it goes on, and yield how far it is after each piece.

    A log that was read before, as far as it was, is not read twice; ``from_start`` reads it as new.
    """
    if source == STANDARD_INPUT:
        name = "standard input"
        pieces = text_pieces(stop.waiting(read_available), name, columns)
        before = next((log for log in model.logs if log.name == name), None)
        place = Place(name, before, lambda position: "", nothing_waits)
        yield from learn(model, pieces, state, columns, outcomes, stop, place)
        return
    with open_files(source, may_grow=True) as files, name_library_errors(files[0]):
        if len(files) != 1:
            raise InputError(
                f"{source!r} is {len(files):,} files: online reads one log at a time, in the order of games"
            )
        before = None if from_start else known_log(model.logs, files[0])
        start = before.position if before else 0
        place = Place(files[0].name, before, lambda position: fingerprint(files[0], position), lambda: False)
        if can_stream(files[0], columns):
            pieces = file_pieces(files[0], columns, start)
        else:
            pieces = whole_log(source, size_of(files[0]), columns, outcomes, before)
            columns, outcomes = Columns(a="a", b="b", outcome="outcome", weight="weight"), None
        yield from learn(model, still_there(pieces, files[0]), state, columns, outcomes, stop, place)


def whole_log(
    source: str, end: int, columns: Columns, outcomes: Rules | None, before: LogPosition | None
) -> Iterator[Piece]:
    """Yield the games of a log that cannot be cut into pieces, without those that were used before.

    PGN and other formats are read by their own readers, and a log that has to be sorted is read whole.
    """
    if before is not None and before.position == end:
        return
    frame = read_log(source, columns, outcomes).to_polars().slice(before.games if before else 0)
    if len(frame):
        yield Piece(frame=frame, position=end)


def known_log(known: list[LogPosition], file: PlainFile) -> LogPosition | None:
    """Return how far a file was read before; one of that name with other content is an error."""
    end = size_of(file)
    for log in known:
        if log.fingerprint and log.position <= end and fingerprint(file, log.position) == log.fingerprint:
            return log
    for log in known:
        if log.fingerprint and log.name == file.name:
            raise InputError(
                f"{file.name!r} is not the log that was read before: its first {log.position:,} bytes (or rows) have "
                f"changed; if all of it is new, pass --from-start"
            )
    return None


def learn(
    model: Online,
    pieces: Iterator[Piece],
    state: Path,
    columns: Columns,
    outcomes: Rules | None,
    stop: Interruption,
    place: Place,
) -> Iterator[Progress]:
    """Learn from pieces, save between them, and yield how far the run is."""
    before = place.before
    progress = Progress(already=before.games if before else 0)
    saved_at, cost = time.monotonic(), 0.0
    position = before.position if before else 0
    read, resumed = 0, bool(before and before.fingerprint)  # standard input has none: it begins anew

    def save() -> None:
        nonlocal saved_at, cost, before
        begin = time.monotonic()
        here = LogPosition(
            name=place.name,
            position=position,
            games=progress.already + progress.rows,
            fingerprint=place.fingerprint_at(position),
        )
        model.logs = [log for log in model.logs if log != before] + [here]
        before = here
        model.save(state)
        saved_at = time.monotonic()
        cost, progress.saved = saved_at - begin, True

    try:
        for piece in pieces:
            here = Excerpt(log=place.name, rows_before=read, resumed=resumed)
            progress.rows += model.league.update_many(piece.frame, columns, outcomes, here)
            read += len(piece.frame)
            position, progress.saved = piece.position, False
            if time.monotonic() - saved_at > max(0.0 if place.idle() else SAVE_EVERY, 5 * cost):
                save()
            yield progress
            if stop.asked:
                break
    except Stopped:
        pass
    finally:
        # also where a later line is broken: what was learnt is kept, up to the last whole piece
        if not progress.saved:
            save()
    yield progress
