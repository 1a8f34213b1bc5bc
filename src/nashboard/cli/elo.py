"""Ratings: ``nashboard elo FILE``, and ``nashboard melo FILE --k 2`` with planes for cycles."""

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from nashboard.cli.options import (
    Anchor,
    DrawModel,
    Errors,
    FirstAdvantage,
    Planes,
    Prior,
    SourceArgument,
    parse_anchors,
    parse_planes,
    parse_prior,
    refuse,
)
from nashboard.cli.output import Listing, note, tell
from nashboard.cli.reading import Connecting, Reading
from nashboard.errors import InputError

if TYPE_CHECKING:
    from nashboard.ratings.elo import EloRatings


def elo(
    source: SourceArgument,
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    prior: Prior = "learned",
    first_advantage: FirstAdvantage = False,
    draws: Annotated[
        DrawModel, typer.Option(help="A draw is half a win, or has a probability of its own (Davidson).")
    ] = DrawModel.half,
    covariate: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column that may sway games, fitted with the ratings; can be repeated."),
    ] = None,
    anchor: Anchor = None,
    errors: Errors = None,
    resamples: Annotated[
        int | None, typer.Option(help="With --errors bootstrap: how often to resample; 100 unless given.", min=1)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="With --errors bootstrap: seed of the resamples; 0 unless given.", min=0)
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="With --errors bootstrap: how many workers; all cores unless given.", min=1)
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --errors bootstrap: threading, or loky for processes."),
    ] = None,
) -> None:
    """Rate agents by Elo, with 95% intervals of ratings and of ranks.

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

    resampling = {"--resamples": resamples, "--seed": seed, "--workers": workers, "--backend": backend}
    for option, value in resampling.items():
        if value is not None and errors in (None, "hessian", "sandwich"):
            raise InputError(f"{option} is for --errors bootstrap: leave it out, or add --errors bootstrap")
    clustered = first_advantage and any(pair.startswith("cluster=") for pair in reading.read or ())
    if covariate or clustered:
        refuse(("min_games", "components"), "these games are fitted row by row: use -r min_games= or -r components=")
        matches: Any = reading.games(source, covariates=covariate or [], grouped=True)
    else:
        matches = connecting.matches(source, reading)
    found = fit(
        matches,
        prior=parse_prior(prior),
        first_advantage=first_advantage,
        draws=cast(Any, draws.value),
        covariates=covariate,
        anchor=parse_anchors(anchor),
        errors=cast(Any, errors),
        n_resamples=100 if resamples is None else resamples,
        rng=seed or 0,
        workers=workers,
        backend=backend,
        progress=True,
    )
    listing.show(found.leaderboard())
    if covariate and found.without_covariates is not None:
        moved = largest_move(found)
        note(f"covariates move {moved[0]!r} most: from {moved[1]:.0f} to {moved[2]:.0f} points")


def largest_move(found: "EloRatings") -> tuple[str, float, float]:
    """Return the agent whose rating covariates change most, and its rating without and with them."""
    assert found.without_covariates is not None
    k = int(abs(found.ratings - found.without_covariates).argmax())
    return found.agents[k], float(found.without_covariates[k]), float(found.ratings[k])


def melo(
    source: SourceArgument,
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    k: Planes = "1",
    prior: Prior = "learned",
    cyclic_prior: Annotated[
        str | None,
        typer.Option(
            metavar="PRIOR",
            help="Prior of the planes: learned, or a number of games; the same as --prior unless given.",
        ),
    ] = None,
    orthogonal: Annotated[
        bool, typer.Option(help="Keep the planes orthogonal to the ratings, as the paper does.")
    ] = False,
    anchor: Anchor = None,
) -> None:
    """Rate agents by mElo: a rating each, and planes that predict cycles such as rock-paper-scissors.

    \b
    Examples:
      nashboard melo battles.parquet --k 2
      nashboard melo dataset:alphago --k auto
    """
    from nashboard._tables import plain
    from nashboard.ratings.melo import melo as fit

    matches = connecting.matches(source, reading)
    ratings = fit(
        matches,
        parse_planes(k),
        prior=parse_prior(prior),
        cyclic_prior=None if cyclic_prior is None else parse_prior(cyclic_prior),
        anchor=parse_anchors(anchor),
        orthogonal=orthogonal,
    )
    if ratings.candidates:
        tell(plain(ratings.selection()))
    listing.show(ratings.leaderboard())
