"""``nashboard online FILE --state league.npz``: a league that follows a log."""

import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nashboard._text import listed
from nashboard.cli.options import refuse
from nashboard.cli.output import INTERRUPTED, TERMINATED, Listing, tell, without_native_noise
from nashboard.cli.reading import reader_options
from nashboard.errors import InputError

if TYPE_CHECKING:
    from nashboard.data.counting.outcomes import Rules
    from nashboard.online.follow import Online, Progress
    from nashboard.online.games import Columns

QUIET = 5.0  # seconds between lines of progress where standard error is no terminal


def online(
    source: Annotated[str, typer.Argument(metavar="FILE", help="A log of games in any format that elo reads, or - .")],
    listing: Listing,
    state: Annotated[Path, typer.Option(help="Where the league is kept; made if it is not there.")],
    k: Annotated[int | None, typer.Option("--k", help="Planes for cycles; 0, plain Elo, unless given.")] = None,
    rate: Annotated[
        float | None, typer.Option(help="Step of ratings in Elo points; unless given, steps adapt to each agent.")
    ] = None,
    cyclic_rate: Annotated[float | None, typer.Option(help="Step of planes; with a rate 1 unless given.")] = None,
    decay: Annotated[float | None, typer.Option(help="Games after which an agent's steps have halved.")] = None,
    seed: Annotated[int | None, typer.Option(help="For the planes of new agents; 0 unless given.")] = None,
    from_start: Annotated[bool, typer.Option(help="Read the log from its start, even if it was read before.")] = False,
    pairs: Annotated[
        list[str] | None,
        typer.Option(
            "--read",
            "-r",
            metavar="NAME=VALUE",
            help="How to read it, can be repeated: a=, b=, outcome=, weight=, time= name columns; "
            "outcomes=LABEL:VALUE,... gives labels a meaning (none leaves rows out).",
        ),
    ] = None,
    a: Annotated[str | None, typer.Option(help="Column of the first agent.")] = None,
    b: Annotated[str | None, typer.Option(help="Column of the second agent.")] = None,
    outcome: Annotated[str | None, typer.Option(help="Column of the outcome.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column of the weight; none uses no weight.")] = None,
    time_column: Annotated[
        str | None, typer.Option("--time", help="Column of the time, by which the log is sorted first.")
    ] = None,
) -> None:
    """Follow a log game by game, and keep the league in a file. Run it again, and it goes on where it stopped.

    Ctrl-C ends it with everything up to the last whole piece of the log saved.

    \b
    Examples:
      nashboard online games.csv --state league.npz
      nashboard online games.pgn --state league.npz
      nashboard online battles.parquet --state league.npz --time tstamp
      nashboard online log.csv --state league.npz -r outcome=verdict -r outcomes="both good:0.5,spam:none"
      tail -f games.jsonl | nashboard online - --state league.npz
    """
    from nashboard._files import check_place
    from nashboard.online.follow import Interruption, find_unused_time, follow

    check_place(state)
    columns, outcomes = reading_of(pairs, {"a": a, "b": b, "outcome": outcome, "weight": weight, "time": time_column})
    model = league_in(state, k=k, rate=rate, cyclic_rate=cyclic_rate, decay=decay, seed=seed)
    if not model.league.names and (unused := find_unused_time(source, columns)):
        tell(f"games are taken in the order of the file; --time {unused} sorts them by that column first")
    progress, told = None, time.monotonic()
    with Interruption().watched() as stop, without_native_noise():
        for progress in follow(model, source, state, columns, stop, outcomes=outcomes, from_start=from_start):
            if sys.stderr.isatty():
                typer.echo(f"\r{summary(model, progress)} ", err=True, nl=False)
            elif time.monotonic() - told > QUIET:
                tell(summary(model, progress))
                told = time.monotonic()
    if progress is not None:
        if sys.stderr.isatty():
            typer.echo("\r", err=True, nl=False)
        tell(f"{summary(model, progress)}; saved in {str(state)!r}")
    if stop.asked:
        tell("stopped; run the same command again to go on")
        raise typer.Exit(TERMINATED if stop.asked == signal.SIGTERM else INTERRUPTED)
    if model.league.names:
        listing.show(model.ratings().leaderboard())


def reading_of(pairs: list[str] | None, named: dict[str, str | None]) -> "tuple[Columns, Rules | None]":
    """Return which columns and rules ``-r`` gives, and the options that name columns; said twice is an error."""
    from nashboard.online.games import Columns

    said = reader_options(pairs)
    outcomes = said.pop("outcomes", None)
    for name, value in said.items():
        if name not in named:
            raise InputError(
                f"online takes no -r {name}=: a log is read as it grows, with {listed([*named, 'outcomes'])}"
            )
        if named[name] not in (None, value):
            raise InputError(f"--{name} {named[name]} and -r {name}={value} name two columns: give one of them")
    return Columns(**named | said), outcomes


def league_in(
    state: Path,
    *,
    k: int | None,
    rate: float | None,
    cyclic_rate: float | None,
    decay: float | None,
    seed: int | None,
) -> "Online":
    """Return the league of a state file, or a new one; options that contradict the file are an error."""
    from nashboard.online.models import OnlineElo, OnlineMelo, load

    if not state.exists():
        if not k:
            refuse(("cyclic_rate", "seed"), "plain Elo has no planes, add --k 1 for them")
            return OnlineElo(rate=rate, decay=decay)
        return OnlineMelo(k, rate=rate, cyclic_rate=cyclic_rate, decay=decay, rng=seed or 0)
    model = load(state)
    for name, asked in (("k", k), ("rate", rate), ("cyclic_rate", cyclic_rate), ("decay", decay)):
        kept = getattr(model.league, name)
        if asked is not None and asked != kept:
            option = name.replace("_", "-")
            raise InputError(
                f"the league in {str(state)!r} has --{option} {kept}, not {asked}: leave --{option} out, or use "
                f"another --state"
            )
    return model


def summary(model: "Online", progress: "Progress") -> str:
    """Say how far a run is; the games of the league are counted as its table counts them, by weight."""
    from nashboard._tables import count

    before = f" after {progress.already:,} before" if progress.already else ""
    games, agents = count(model.league.games), f"{model.league.size:,}"
    return f"{progress.rows:,} rows{before}, {games} games, {agents} agents, {progress.speed:,.0f} rows per second"
