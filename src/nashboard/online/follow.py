"""A league follows a log: game after game, saved after whole pieces, going on later where it stopped."""

import contextlib
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from nashboard.data.counting.outcomes import Rules
from nashboard.data.read import name_library_errors, read_games
from nashboard.data.sources.paths import PlainFile, open_files
from nashboard.errors import InputError
from nashboard.online import logs
from nashboard.online.games import Columns, Excerpt
from nashboard.online.logs import (
    Piece,
    can_stream,
    file_pieces,
    fingerprint,
    is_standard_input,
    size_of,
    still_there,
    text_pieces,
)
from nashboard.online.models import OnlineElo, OnlineMelo
from nashboard.online.state import LogPosition

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
    if is_standard_input(source):
        name = "standard input"
        pieces = text_pieces(stop.waiting(logs.read_available), name, columns)
        before = next((log for log in model.logs if log.name == name), None)
        place = Place(name, before, lambda position: "", logs.nothing_waits)
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
    names = ("a", "b", "outcome", "weight", "time")
    options: dict[str, Any] = {name: getattr(columns, name) for name in names if getattr(columns, name) is not None}
    if outcomes:
        options["outcomes"] = outcomes
    if before is not None and before.position == end:
        return
    games = read_games(source, **options)
    games = games.by_time() if columns.time is not None else games
    frame = games.to_polars().slice(before.games if before else 0)
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
