"""Votes: ``nashboard influence FILE`` (which decide), ``voters`` (who votes at random), ``exposure`` (who is seen)."""

from collections.abc import Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated

import typer

from nashboard._progress import show_progress
from nashboard.cli import options
from nashboard.cli.options import AsOption, Format, FormatOption, ReadOption, SourceArgument
from nashboard.cli.output import show, show_json, show_sections
from nashboard.cli.reading import keep_connected, reader_options, source_data
from nashboard.errors import InputError, number_of

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


def voters(
    source: SourceArgument,
    voter: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column that says who voted; voter, worker, judge, ... if not given."),
    ] = None,
    item: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of what was voted on, to measure agreement.")
    ] = None,
    top: options.Top = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Examine voters: agreement, votes at random, always for one side or one agent, and the board without them.

    \b
    Examples:
      nashboard voters votes.csv
      nashboard voters votes.csv --voter worker --item prompt_id --format json
    """
    from nashboard.errors import InputError
    from nashboard.evaluation.decide.voters import read_voters

    given = reader_options(read)
    if "cluster" in given:
        raise InputError("-r cluster= has no effect here: --voter and --item name the columns")
    with show_progress("Examining voters ..."):
        found = read_voters(source, voter=voter, item=item, format=as_format, **given)
    table = found.table() if top is None else found.table().head(top)
    if how is Format.json:
        options.refuse(("top",), "json contains all voters")
        show_json(found.to_dict(), "voters/1")
    elif how is Format.text:
        show_sections((), [table, found.board()])
    else:
        show(table, how)


def exposure(
    source: SourceArgument,
    connecting: options.Connecting,
    family: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATTERN",
            help="Variants of one owner, 'lab=lab-*': what the best of them gains by noise. Repeatable.",
        ),
    ] = None,
    least_games: Annotated[
        float, typer.Option(min=1, help="Pairs with fewer games are weighted as if they had so many.")
    ] = 50,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Show how often every agent was sampled, ratings with all pairs weighted alike, and gains of entering variants.

    \b
    Examples:
      nashboard exposure battles.parquet
      nashboard exposure battles.parquet --family 'lab=lab-*' --format json
    """
    from nashboard.data.matches import Matches
    from nashboard.evaluation.decide.exposure import exposure as run

    data = connecting.keep(source_data(source, as_format, read))
    if not isinstance(data, Matches):
        raise InputError(f"{source!r} does not contain matches: exposure is about games between agents")
    with show_progress("Fitting ratings ..."):
        found = run(data, families=find_families(family or (), data.agents), least_games=least_games)
    if how is Format.json:
        show_json(found.to_dict(), "exposure/1")
    else:
        show(found.table(), how, explained=True)


def find_families(given: Sequence[str], agents: Sequence[str]) -> dict[str, list[str]]:
    """Return the agents that each NAME=PATTERN means."""
    families: dict[str, list[str]] = {}
    for text in given:
        name, sign, pattern = text.partition("=")
        if not (name and sign and pattern):
            raise InputError(f"--family is {text!r}: write NAME=PATTERN, for example 'lab=lab-*'")
        members = families.setdefault(name, [])
        members += [agent for agent in agents if fnmatchcase(agent, pattern) and agent not in members]
    for name, members in families.items():
        if len(members) < 2:
            raise InputError(f"--family {name} means {number_of(len(members), 'agents')}: variants are at least two")
    return families
