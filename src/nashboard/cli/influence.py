"""Votes: ``nashboard influence FILE`` (which decide), ``voters`` (who votes at random), ``exposure`` (who is seen)."""

from collections.abc import Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated

import typer

from nashboard._progress import show_progress
from nashboard.cli.options import SourceArgument
from nashboard.cli.output import Listing
from nashboard.cli.reading import Connecting, Reading
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
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    judge: Annotated[
        Judge | None,
        typer.Option(help="Who says which agent is first: elo or mean (default), or the board of evaluate."),
    ] = None,
    voter: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Remove whole voters; the column that says who voted.")
    ] = None,
    by: Annotated[By | None, typer.Option(help="Item-level scores: remove single items, or whole tasks.")] = None,
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
    from nashboard.data.payoffs import Payoffs
    from nashboard.evaluation.decide.influence import influence as run

    games = read_rows(source, reading, voter) if connecting == Connecting() else None
    if voter is not None and games is None:
        raise InputError("--voter needs the whole log: leave out --min-games and --components")
    data = games or connecting.keep(reading.data(source))
    if isinstance(data, Payoffs):
        raise InputError(f"{source!r} contains payoffs: influence takes matches or scores")
    with show_progress("Searching ..."):
        found = run(
            data,
            by=by.value if by is not None else "voters" if voter is not None else None,
            judge=None if judge is None else judge.value,
        )
    listing.show(found.table(), json=(found.to_dict(), "influence/1"))


def read_rows(source: str, reading: Reading, voter: str | None) -> "Games | None":
    """Return a log row by row, or None where the source contains counts or scores and no voter was asked for."""
    try:
        games = reading.games(source, **({} if voter is None else {"cluster": voter}))
    except InputError:
        if voter is not None:
            raise
        return None
    return games if voter is not None or (games.weight == 1).all() else None


def voters(
    source: SourceArgument,
    reading: Reading,
    listing: Listing,
    voter: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column that says who voted; voter, worker, judge, ... if not given."),
    ] = None,
    item: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of what was voted on, to measure agreement.")
    ] = None,
) -> None:
    """Examine voters: agreement, votes at random, always for one side or one agent, and the board without them.

    \b
    Examples:
      nashboard voters votes.csv
      nashboard voters votes.csv --voter worker --item prompt_id --format json
    """
    from nashboard.evaluation.decide.voters import read_voters

    given = reading.keywords()
    if "cluster" in given:
        raise InputError("-r cluster= has no effect here: --voter and --item name the columns")
    with show_progress("Examining voters ..."):
        found = read_voters(source, voter=voter, item=item, format=reading.as_format, **given)
    listing.show(found.table(), found.board(), json=(found.to_dict(), "voters/1"))


def exposure(
    source: SourceArgument,
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
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
) -> None:
    """Show how often every agent was sampled, ratings with all pairs weighted alike, and gains of entering variants.

    \b
    Examples:
      nashboard exposure battles.parquet
      nashboard exposure battles.parquet --family 'lab=lab-*' --format json
    """
    from nashboard.data.matches import Matches
    from nashboard.evaluation.decide.exposure import exposure as run

    data = connecting.keep(reading.data(source))
    if not isinstance(data, Matches):
        raise InputError(f"{source!r} does not contain matches: exposure is about games between agents")
    with show_progress("Fitting ratings ..."):
        found = run(data, families=find_families(family or (), data.agents), least_games=least_games)
    listing.show(found.table(), json=(found.to_dict(), "exposure/1"))


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
