"""Games of chess engines and players: PGN files, and the log that cutechess prints."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TextIO

import narwhals as nw
import polars as pl

from nashboard._text import listed
from nashboard.data.counting.outcomes import KNOWN, Rules, check_rules, describe_unknown, fold_label, is_number
from nashboard.data.formats.format import GAME_OPTIONS, Format, Input
from nashboard.data.formats.match_tables import read_rows
from nashboard.data.games import Games
from nashboard.data.matches import Matches
from nashboard.data.origin import LeftOut
from nashboard.data.sources.paths import PlainFile, check_lines
from nashboard.data.table.table import Table
from nashboard.errors import InputError, MissingExtraError

Game = tuple[str, str, str, str]  # white, black, result, date
FINISHED = re.compile(r"Finished game \d+ \((.+) vs (.+)\): (\S+)")
UNFINISHED, UNKNOWN = "*", "?"  # as PGN writes an open result, and a player whose name is not known


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
    """Yield the players and the result of each game; only the headers are parsed."""
    try:
        import chess.pgn
    except ModuleNotFoundError:
        raise MissingExtraError("chess", "pgn", "reading PGN") from None
    with open_text(file) as stream:
        while (headers := chess.pgn.read_headers(stream)) is not None:
            white, black = headers.get("White", UNKNOWN), headers.get("Black", UNKNOWN)
            yield white, black, headers.get("Result", UNFINISHED), headers.get("Date", "")


def iterate_cutechess(file: PlainFile) -> Iterator[Game]:
    """Yield the players and the result of each finished game."""
    with open_text(file) as stream:
        for line in stream:
            if found := FINISHED.match(line):
                white, black, result = found.groups()
                yield white, black, result, ""


def count_games(source: Input, games: Callable[[PlainFile], Iterator[Game]], format: str) -> Matches | Games:
    """Count games one by one: memory holds the pairs that met, not the games, unless games are wanted."""
    if source.kind == "directory":
        raise InputError(f"{source.name!r} is a folder: name the files of games in it, for example with *.pgn")
    counts: Counter[tuple[str, str, str]] = Counter()
    games_in_order: list[Game] = []
    left_out: Counter[str] = Counter()
    results: set[str] = set()
    rules = check_rules(source.options.outcomes)
    drop_self = source.options.self_matches == "drop"
    earliest = latest = ""
    for file in source.files:
        for white, black, result, date in games(file):
            results.add(result)
            if why := find_reason(white, black, result, rules, drop_self, skip=source.options.skip_bad):
                left_out[why] += 1
                continue
            counts[white, black, result] += 1
            if source.options.rows is not None:
                games_in_order.append((white, black, result, date if "?" not in date else ""))
            if date and "?" not in date:
                earliest, latest = min(earliest or date, date), max(latest, date)
    if not counts:
        if format == "pgn" and source.kind != "pgn":
            raise InputError(f'{source.name!r} holds no PGN game: it has no tag such as [White "name"]')
        why = f": {'; '.join(left_out)}" if left_out else ""
        raise InputError(f"{source.name!r} holds no finished game{why}")
    refuse_games(counts, rules, source.name)
    names = {"white": pl.String, "black": pl.String, "result": pl.String}
    if source.options.rows is None:
        rows = [(*key, float(number)) for key, number in sorted(counts.items())]
        frame = pl.DataFrame(rows, schema={**names, "weight": pl.Float64}, orient="row")
    else:
        dated = pl.DataFrame(games_in_order, schema={**names, "date": pl.String}, orient="row")
        frame = dated.with_columns(pl.col("date").replace("", None), weight=pl.lit(1.0))
        if frame["date"].null_count():  # without all of them games keep the order of the file
            frame = frame.drop("date")
    here, seen = {fold_label(result) for _, _, result in counts}, set(map(fold_label, results))
    said = source.options.outcomes.items()  # without the rules that have been followed above
    left = {
        label: share for label, share in said if fold_label(str(label)) in here or fold_label(str(label)) not in seen
    }
    table = Table(name=source.name, engine=format, frame=nw.from_native(frame.lazy()), columns=tuple(frame.columns))
    matches = read_rows(
        table,
        replace(source.options, outcomes=left),
        format=format,
        a="white",
        b="black",
        outcome="result",
        weight="weight",
    )
    assert isinstance(matches, Matches | Games)
    origin = replace(
        matches.origin,
        rows=counts.total() + left_out.total(),
        left_out=(
            *matches.origin.left_out,
            *(LeftOut(what="games", count=number, why=why) for why, number in left_out.items()),
        ),
        period=(earliest, latest) if latest else None,
    )
    return replace(matches, origin=origin)


def refuse_games(counts: Counter[tuple[str, str, str]], rules: Rules, source: str) -> None:
    """Raise an error at unknown results and at games of a player with itself, and count the games, not the pairs."""
    results: Counter[str] = Counter()
    own: Counter[str] = Counter()
    for (white, black, result), games in counts.items():
        results[result] += games
        own[white] += games * (white == black)
    known = {*rules, *KNOWN}
    if unknown := {x: games for x, games in results.items() if fold_label(x) not in known and not is_number(x)}:
        raise describe_unknown(unknown, "result", source, unit="game")
    if games := own.total():
        players = listed(sorted(player for player in own if own[player]), 3)
        raise InputError(
            f"{source!r}: {players} met themselves in {games:,} game{'s' * (games != 1)}; "
            f"self_matches='drop' leaves such games out"
        )


def find_reason(white: str, black: str, result: str, rules: Rules, drop_self: bool, *, skip: bool) -> str | None:
    """Return why a game is left out: decided game by game, because afterwards only the sums are known."""
    if result == UNFINISHED and UNFINISHED not in rules:
        return "they were not finished (*)"
    if UNKNOWN in (white, black):
        return "a player is not named (?)"
    if skip and fold_label(result) not in {*rules, *KNOWN}:
        return f"unknown result {result[:20]!r}"
    if white == black and drop_self:
        return "an agent met itself"
    return "their outcome was to be ignored" if rules.get(fold_label(result), 0) is None else None


GAMES = (
    Format(
        name="pgn",
        makes="matches",
        holds="chess games in PGN",
        fits=lambda x: x.kind == "pgn",
        read=lambda x: count_games(x, iterate_pgn, "pgn"),
        options=GAME_OPTIONS,
        on_frames=False,
    ),
    Format(
        name="cutechess",
        makes="matches",
        holds="the log that cutechess prints",
        fits=lambda x: x.kind == "cutechess",
        read=lambda x: count_games(x, iterate_cutechess, "cutechess"),
        options=GAME_OPTIONS,
        on_frames=False,
    ),
)
