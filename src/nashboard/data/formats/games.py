"""Games of chess engines and players: PGN files, and the log that cutechess prints."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TextIO

import narwhals as nw
import polars as pl

from nashboard.data.counting.matches import Counted
from nashboard.data.counting.outcomes import UNFINISHED
from nashboard.data.formats.format import Input
from nashboard.data.formats.match_tables import read_rows
from nashboard.data.sources.paths import PlainFile, check_lines
from nashboard.data.table.table import Table
from nashboard.data.table.values import Filter
from nashboard.errors import InputError

Game = tuple[str, ...]
COLUMNS: Game = ("white", "black", "result", "date", "opening")
TAG = re.compile(r'\[(\w+)\s+"(.*)"\s*\]')
FINISHED = re.compile(r"Finished game \d+ \((.+) vs (.+)\): (\S+)")
UNKNOWN = "?"  # as PGN writes a player whose name is not known


def open_text(file: PlainFile) -> TextIO:
    """Open a text file as UTF-8, or as ISO-8859-1 where it is not; old PGN files are."""
    check_lines(file)
    try:
        with file.path.open(encoding="utf-8-sig") as stream:
            while stream.read(1 << 20):
                pass
    except UnicodeDecodeError:
        return file.path.open(encoding="iso-8859-1")
    return file.path.open(encoding="utf-8-sig")


def iterate_pgn(file: PlainFile) -> Iterator[Game]:
    """Yield the players and the result of each game; only the tags are parsed.

    A tag below moves begins the next game, also without the blank line that the standard asks for.
    """
    with open_text(file) as stream:
        tags: dict[str, str] = {}
        done = in_comment = after_blank = False
        for line in stream:
            found = TAG.fullmatch(line.strip())
            if found and (after_blank or not in_comment):
                in_comment = False
                if done:
                    yield name_game(tags)
                    tags, done = {}, False
                tags[found[1]] = re.sub(r"\\(.)", r"\1", found[2])
            else:
                done |= bool(tags) and line[0] not in "%;"  # moves, or the blank line before them
                if (opened := line.rfind("{")) != (closed := line.rfind("}")):
                    in_comment = opened > closed
            after_blank = not line.strip()
        if tags:
            yield name_game(tags)


def name_game(tags: Mapping[str, str]) -> Game:
    """Return the players, the result, the date and the opening of a game by its tags."""
    white, black = tags.get("White", UNKNOWN), tags.get("Black", UNKNOWN)
    opening = next((tags[name] for name in ("FEN", "Opening", "ECO") if tags.get(name)), "")
    return white, black, tags.get("Result", UNFINISHED), tags.get("Date", UNKNOWN), opening


def iterate_cutechess(file: PlainFile) -> Iterator[Game]:
    """Yield the players and the result of each finished game."""
    with open_text(file) as stream:
        for line in stream:
            if found := FINISHED.match(line):
                white, black, result = found.groups()
                yield white, black, result, "", ""


def read_games(source: Input, games: Callable[[PlainFile], Iterator[Game]], format: str) -> Counted:
    """Write the games as a table, a row for each, and count it like any other: memory holds the pairs that met."""
    if source.kind == "directory":
        raise InputError(f"{source.name!r} is a folder: name the files of games in it, for example with *.pgn")
    if format == "pgn" and source.kind != "pgn":
        raise InputError(f'{source.name!r} contains no PGN game: it has no tag such as [White "name"]')
    target, number, columns = source.workspace.path("games.csv"), 0, COLUMNS[:-1]  # all, once a game has an opening
    with target.open("w", encoding="utf-8", newline="") as copy:
        writer = csv.writer(copy, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(COLUMNS)
        for file in source.files:
            for game in games(file):
                writer.writerow(game)
                number += 1
                columns = COLUMNS if game[-1] else columns
    if not number:
        raise InputError(f"{source.name!r} contains no finished game")
    frame = pl.scan_csv(target, infer_schema=False, null_values=[""]).select(columns)
    frame = frame.with_columns(pl.when(~pl.col("date").str.contains("?", literal=True)).then("date"))
    dated = frame.select(pl.col("date").null_count()).collect().item() == 0
    if source.options.rows is not None and not dated:  # without all dates games keep the order of the file
        frame = frame.drop("date")
    table = Table(
        name=source.name, engine=format, kind=source.kind if source.kind in ("pgn", "cutechess") else None,
        frame=nw.from_native(frame), columns=columns, files=(PlainFile(path=target, name=source.name),),
    )  # fmt: skip
    filters = [
        Filter(keep=nw.col("result") != UNFINISHED, why=f"they were not finished ({UNFINISHED})"),
        Filter(
            keep=(nw.col("white") != UNKNOWN) & (nw.col("black") != UNKNOWN), why=f"a player is not named ({UNKNOWN})"
        ),
    ]
    ruled = UNFINISHED in source.options.outcomes
    return read_rows(
        table, source.options, format=format, filters=tuple(filters[ruled:]), a="white", b="black", outcome="result",
        unit="games",
    )  # fmt: skip
