"""``nashboard influence FILE``: which votes, voters, items or tasks decide first place?"""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from nashboard._progress import show_progress
from nashboard.cli import options
from nashboard.cli.options import AsOption, Format, FormatOption, ReadOption, SourceArgument
from nashboard.cli.output import show, show_json
from nashboard.cli.reading import keep_connected, reader_options, source_data
from nashboard.errors import InputError

if TYPE_CHECKING:
    from nashboard.data.games import Games


class Judge(StrEnum):
    """What ``--judge`` takes."""

    elo = "elo"
    mean = "mean"
    board = "board"


class By(StrEnum):
    """What ``--by`` takes."""

    items = "items"
    tasks = "tasks"


def influence(
    source: SourceArgument,
    judge: Annotated[
        Judge | None,
        typer.Option(help="Who says which agent is first: elo or mean (default), or the board of evaluate."),
    ] = None,
    voter: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Remove whole voters; the column that says who voted.")
    ] = None,
    by: Annotated[By | None, typer.Option(help="Item-level scores: remove single items, or whole tasks.")] = None,
    min_games: options.MinGames = None,
    components: options.ComponentsOption = options.Components.error,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Find the smallest set of votes, voters, items or tasks whose removal changes who is first.

    Matches are judged by Elo ratings, scores by the plain mean, both also by the board. The answer is confirmed by a
    fit without the set; on small data a search proves that no smaller set exists. Rows of the log are named.

    \b
    Examples:
      nashboard influence battles.parquet
      nashboard influence votes.csv --voter worker
      nashboard influence battles.parquet --judge board
      nashboard influence scores.csv --format json
    """
    from nashboard.data.matches import Matches
    from nashboard.data.scores import Scores
    from nashboard.evaluation.decide.influence import influence as run

    options.refuse_each(components)
    games = read_rows(source, as_format, read, voter) if min_games is None and components == "error" else None
    if voter is not None and games is None:
        raise InputError("--voter needs the whole log: leave out --min-games and --components")
    data = games or keep_connected(source_data(source, as_format, read), components, min_games)
    if games is None and not isinstance(data, Matches | Scores):
        raise InputError(f"{source!r} contains payoffs: influence takes matches or scores")
    with show_progress("Searching ..."):
        found = run(
            data,  # type: ignore[arg-type] # payoffs were refused
            by=by.value if by is not None else "voters" if voter is not None else None,
            judge=None if judge is None else judge.value,
        )
    if how is Format.json:
        show_json(found.to_dict(), "influence/1")
    else:
        show(found.table(), how, explained=True)


def read_rows(source: str, as_format: str | None, read: list[str] | None, voter: str | None) -> "Games | None":
    """Return a log row by row, or None where the source holds counts or scores and no voter was asked for."""
    from nashboard.data.read import read_games

    given = reader_options(read)
    if voter is not None:
        given["cluster"] = voter
    try:
        games = read_games(source, format=as_format, **given)
    except InputError:
        if voter is not None:
            raise
        return None
    return games if voter is not None or (games.weight == 1).all() else None
