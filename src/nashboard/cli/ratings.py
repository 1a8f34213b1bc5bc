"""Ratings: ``elo``, ``melo`` with planes for cycles, ``predict FILE A B``, ``online`` for a log that grows."""

import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nashboard._tables import Cell, Column, Table, count_of
from nashboard._text import listed, number_of
from nashboard.cli import options
from nashboard.cli.output import INTERRUPTED, TERMINATED, Listing, Showing, mute_native_code, print_message, print_note
from nashboard.cli.reading import Connecting, Reading, parse_reader_options
from nashboard.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nashboard.data.counting.outcomes import Rules
    from nashboard.data.matches import Matches
    from nashboard.online.follow import Online, Progress
    from nashboard.online.games import Columns
    from nashboard.ratings.elo import EloRatings
    from nashboard.ratings.melo_fit import Candidate


def elo(
    source: options.SourceArgument,
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    prior: options.Prior = "learned",
    first_advantage: options.FirstAdvantage = False,
    draws: Annotated[
        options.DrawModel, typer.Option(help="A draw is half a win, or has a probability of its own (Davidson).")
    ] = options.DrawModel.half,
    covariate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="A numeric column that may affect results, fitted with the ratings; can be repeated."
        ),
    ] = None,
    anchor: options.Anchor = None,
    level: options.Level = options.LEVEL,
    errors: options.Errors = None,
    resamples: options.Resamples = options.RESAMPLES,
    seed: options.Seed = options.SEED,
    workers: options.Workers = None,
) -> None:
    """Rate agents by Elo, with intervals of ratings and ranks.

    \b
    Examples:
      nashboard elo battles.parquet
      nashboard elo games.pgn --anchor gnugo=1800
      nashboard elo battles.parquet --errors bootstrap --resamples 1000
      nashboard elo games.pgn --first-advantage --draws davidson
      nashboard elo battles.parquet --covariate length_difference
      nashboard elo log.csv -r a=player -r b=rival -r outcome=won
    """
    from nashboard.ratings.elo import elo as fit
    from nashboard.ratings.sides import shows_advantage

    if errors is not options.ErrorMethod.bootstrap:
        options.refuse(("resamples", "seed", "workers"), "it is for --errors bootstrap")
    clustered = first_advantage and any(pair.startswith("cluster=") for pair in reading.read or ())
    if covariate or clustered:
        options.refuse(
            ("agents", "exclude", "min_games", "components"),
            "these games are fitted row by row: use -r where=, -r min_games= or -r components=",
        )
        matches: Any = reading.games(source, covariates=covariate or [], grouped=True)
    else:
        matches = connecting.matches(source, reading)
    found = fit(
        matches,
        prior=prior,
        first_advantage=first_advantage,
        draws=options.value(draws),
        covariates=covariate,
        anchor=options.parse_anchors(anchor),
        errors=options.value(errors),
        n_resamples=resamples,
        rng=seed,
        workers=workers,
        progress=True,
    )
    listing.show(found.leaderboard(level))
    if covariate and found.without_covariates is not None:
        moved = largest_move(found)
        print_note(f"covariates move {moved[0]!r} most: from {moved[1]:.0f} to {moved[2]:.0f} points")
    if not first_advantage and not covariate and matches.sides is not None and shows_advantage(matches, matches.sides):
        print_note(
            "note: the first side wins more or less often than ratings explain; --first-advantage takes that out"
        )


def largest_move(found: "EloRatings") -> tuple[str, float, float]:
    """Return the agent whose rating covariates change most, and its rating without and with them."""
    assert found.without_covariates is not None
    k = int(abs(found.ratings - found.without_covariates).argmax())
    return found.agents[k], float(found.without_covariates[k]), float(found.ratings[k])


def melo(
    source: options.SourceArgument,
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    k: options.Planes = 1,
    prior: options.Prior = "learned",
    cyclic_prior: Annotated[
        Any,
        typer.Option(
            metavar="PRIOR",
            parser=options.parse_number_or("learned"),
            help="Prior of the planes: learned, or a number of games; the same as --prior unless given.",
        ),
    ] = None,
    orthogonal: Annotated[
        bool, typer.Option("--orthogonal", help="Keep the planes orthogonal to the ratings, as the paper does.")
    ] = False,
    anchor: options.Anchor = None,
    level: options.Level = options.LEVEL,
) -> None:
    """Rate agents by mElo: ratings, and planes for cycles.

    Planes predict cycles such as rock-paper-scissors.

    \b
    Examples:
      nashboard melo battles.parquet --k 2
      nashboard melo dataset:alphago --k auto
    """
    from nashboard._tables import as_plain_text
    from nashboard.ratings.melo import melo as fit

    if k == 0:
        options.refuse(("cyclic_prior", "orthogonal"), "--k 0 has no planes")
    matches = connecting.matches(source, reading)
    ratings = fit(
        matches,
        k,
        prior=prior,
        cyclic_prior=cyclic_prior,
        anchor=options.parse_anchors(anchor),
        orthogonal=orthogonal,
    )
    if ratings.candidates:
        print_message(as_plain_text(ratings.selection()))
    listing.show(ratings.leaderboard(level))


def predict(
    source: options.SourceArgument,
    first: Annotated[str, typer.Argument(metavar="A", help="An agent.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another agent.")],
    connecting: Connecting,
    reading: Reading,
    showing: Showing,
    k: options.Planes = "auto",
    prior: options.Prior = "learned",
) -> None:
    """Predict how often A beats B.

    FILE contains matches, or is the state of an online league.
    The first row is the prediction: Elo, or mElo where planes for cycles predict held-out games better.

    \b
    Examples:
      nashboard predict dataset:alphago alpha_v Zen
      nashboard predict league.npz ann bob
    """
    from nashboard.online.league import is_state

    league = is_state(source)
    if league:
        options.refuse(
            ("k", "prior", "agents", "exclude", "min_games", "components", "as_format", "read", "table", "query"),
            f"{source!r} is an online league, which has its own ratings",
        )
    rows, notes = (
        predict_by_league(source, first, second)
        if league
        else predict_by_ratings(connecting.matches(source, reading, of=first), first, second, k, prior)
    )
    showing.show(
        Table(
            title=f"{first} against {second}",
            columns=(
                Column("by", "rating that predicts; seen is what was observed"),
                Column("probability", f"share of points that {first} takes; a draw is half a point"),
                Column("lead", "difference in Elo points: 0 is even, 400 win ten games to one lost", decimals=1),
                Column("games", "games between the two, or their total weight", decimals=2),
            ),
            rows=rows,
            notes=notes,
        )
    )


Predictions = tuple[tuple[tuple[Cell, ...], ...], tuple[str, ...]]


def describe_error(share: float | None, games: float) -> str:
    """Return a sentence about the standard error of the observed share, or that there are no games."""
    if share is None:
        return "the two never met"
    p = (share * games + 1) / (games + 2)  # with one win and one loss more, the error of only wins is not zero
    error = (p * (1 - p) / (games + 2)) ** 0.5
    return f"the standard error of 'seen' is about {error:.2f}: use it only where the two met often"


def compare_planes(tried: "Sequence[Candidate]") -> str:
    """Return which of Elo and mElo predicts held-out games better, and by how much."""
    elo, best = tried[0], min(tried, key=lambda one: (round(one.log_loss, 6), one.k))
    if best.k == 0:
        return "planes for cycles do not predict held-out games better than Elo: use the first row"
    return (
        f"use the first row: with {best.k} plane{'s' * (best.k > 1)} the log-loss of held-out games is "
        f"{best.log_loss:.4f}, by Elo {elo.log_loss:.4f}"
    )


def predict_by_league(source: str, first: str, second: str) -> "Predictions":
    """Return the row of an online league."""
    from nashboard.data.validation import positions
    from nashboard.online.models import load

    model = load(source)
    positions((first, second), tuple(model.league.names), kind="agent")  # an unknown name is an error
    return (("online league", model.predict(first, second), model.league.lead(first, second), None),), ()


def predict_by_ratings(matches: "Matches", first: str, second: str, k: Any, prior: Any) -> "Predictions":
    """Return a row per registered rating, and one of observed results; with ``prior`` only ratings that accept one.

    With ``k="auto"`` the first row is Elo, or mElo where planes predict held-out games better.
    """
    from nashboard.data.matches import whole
    from nashboard.data.validation import positions
    from nashboard.ratings.held_out import model_name
    from nashboard.ratings.melo import MeloRatings
    from nashboard.ratings.rating import RATINGS

    i, j = positions((first, second), matches.agents, kind="agent")
    if i == j:
        raise InputError(f"{first!r} has no games against itself: name two agents")
    models: dict[str, Any] = {}
    notes = []
    planeless = k == 0 or (k == 1 and len(matches.agents) < 3)
    for name, method in RATINGS.items():
        if (name == "melo" and planeless) or (prior != "learned" and not method.takes("prior")):
            continue
        planes: dict[str, Any] = {"k": k} if name == "melo" else {}
        found = method.fit(matches, **planes, **({"prior": prior} if method.takes("prior") else {}))
        if not isinstance(found, MeloRatings):
            models[method.label] = found
        elif found.k:
            models = {model_name(found.k): found, **models} if k == "auto" else models | {model_name(found.k): found}
        if isinstance(found, MeloRatings) and found.candidates:
            notes.append(compare_planes(found.candidates))
    low, high = min(i, j), max(i, j)
    pair = (matches.pairs == (low, high)).all(axis=1).nonzero()[0]
    total = float(matches.games[pair].sum())
    share = float((matches.wins + matches.draws / 2)[pair].sum()) / total if total else None
    games = whole(total)
    seen = None if share is None else share if i < j else 1 - share
    rows = (
        *((name, model.predict(first, second), model.lead(first, second), games) for name, model in models.items()),
        ("seen", seen, None, games),
    )
    return rows, (*notes, describe_error(seen, total))


COLUMNS = ("a", "b", "outcome", "weight", "time")  # of a log that grows
QUIET = 5.0  # seconds between lines of progress if standard error is not a terminal


def online(
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="A log of games in any format that elo reads; - is standard input.")
    ],
    listing: Listing,
    state: Annotated[Path, typer.Option(help="Where the league is kept; made if it is not there.")],
    k: Annotated[int | None, typer.Option("--k", help="Planes for cycles; 0, plain Elo, unless given.")] = None,
    rate: Annotated[
        float | None, typer.Option(help="Step of ratings in Elo points; unless given, steps adapt to each agent.")
    ] = None,
    cyclic_rate: Annotated[float | None, typer.Option(help="Step of planes; with a rate 1 unless given.")] = None,
    decay: Annotated[
        float | None, typer.Option(help="Number of games after which the steps of an agent are halved.")
    ] = None,
    seed: options.Seed = options.SEED,
    from_start: Annotated[
        bool, typer.Option("--from-start", help="Read the log from its start, even if it was read before.")
    ] = False,
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
    time_column: Annotated[
        str | None, typer.Option("--time", help="Column of the time, by which the log is sorted first.")
    ] = None,
) -> None:
    """Follow a log game by game, and keep the league in a file.

    The next run continues where the last one stopped. Ctrl-C saves everything that was read before it ends the command.

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
    columns, outcomes = parse_log_options(pairs, time_column)
    model = open_league(state, k=k, rate=rate, cyclic_rate=cyclic_rate, decay=decay, seed=seed)
    if not model.league.names and (unused := find_unused_time(source, columns)):
        print_message(f"games are taken in the order of the file; --time {unused} sorts them by that column first")
    progress, last_report = None, time.monotonic()
    with Interruption().watched() as stop, mute_native_code():
        for progress in follow(model, source, state, columns, stop, outcomes=outcomes, from_start=from_start):
            if sys.stderr.isatty():
                typer.echo(f"\r{describe_progress(model, progress)} ", err=True, nl=False)
            elif time.monotonic() - last_report > QUIET:
                print_message(describe_progress(model, progress))
                last_report = time.monotonic()
    if progress is not None:
        if sys.stderr.isatty():
            typer.echo("\r", err=True, nl=False)
        print_message(f"{describe_progress(model, progress)}; saved in {str(state)!r}")
    if stop.asked:
        print_message("stopped; run the same command again to go on")
        raise typer.Exit(TERMINATED if stop.asked == signal.SIGTERM else INTERRUPTED)
    if model.league.names:
        listing.show(model.ratings().leaderboard())


def parse_log_options(pairs: list[str] | None, time_column: str | None) -> "tuple[Columns, Rules | None]":
    """Return the columns and outcome rules of ``-r``, with the column of ``--time``; two time columns are an error."""
    from nashboard.online.games import Columns

    values = parse_reader_options(pairs)
    outcomes = values.pop("outcomes", None)
    for name in values:
        if name not in COLUMNS:
            raise InputError(
                f"online takes no -r {name}=: a log is read as it grows, with {listed([*COLUMNS, 'outcomes'])}"
            )
    if time_column is not None and values.setdefault("time", time_column) != time_column:
        raise InputError(f"--time {time_column} and -r time={values['time']} name two columns: give one of them")
    return Columns(**values), outcomes


def open_league(
    state: Path,
    *,
    k: int | None,
    rate: float | None,
    cyclic_rate: float | None,
    decay: float | None,
    seed: int,
) -> "Online":
    """Return the league of a state file, or a new one; options that contradict the file are an error."""
    from nashboard.online.models import OnlineElo, OnlineMelo, load

    if not state.exists():
        if not k:
            options.refuse(("cyclic_rate", "seed"), "plain Elo has no planes, add --k 1 for them")
            return OnlineElo(rate=rate, decay=decay)
        return OnlineMelo(k, rate=rate, cyclic_rate=cyclic_rate, decay=decay, rng=seed)
    model = load(state)
    options.refuse(("seed",), f"the league in {str(state)!r} has its own random numbers")
    for name, asked in (("k", k), ("rate", rate), ("cyclic_rate", cyclic_rate), ("decay", decay)):
        kept = getattr(model.league, name)
        if asked is not None and asked != kept:
            option = name.replace("_", "-")
            raise InputError(
                f"the league in {str(state)!r} has --{option} {kept}, not {asked}: leave --{option} out, or use "
                f"another --state"
            )
    return model


def describe_progress(model: "Online", progress: "Progress") -> str:
    """Return a line about the progress of a run; games are counted by weight, as in the table of the league."""

    before = f" after {progress.already:,} before" if progress.already else ""
    games = count_of(model.league.games, "games")
    rows, agents = number_of(progress.rows, "rows"), number_of(model.league.size, "agents")
    return f"{rows}{before}, {games}, {agents}, {progress.speed:,.0f} rows per second"
