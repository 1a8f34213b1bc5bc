"""``nashboard plan FILE``: which games to play, or items to run, next."""

from typing import Annotated

import typer

from nashboard._progress import show_progress
from nashboard.cli import options
from nashboard.cli.options import SourceArgument
from nashboard.cli.output import Listing
from nashboard.cli.reading import Connecting, Reading
from nashboard.errors import InputError


def plan(
    source: SourceArgument,
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    games: Annotated[int, typer.Option(help="The budget: games, or items for scores.", min=1)] = 1000,
    target: Annotated[
        str, typer.Option(metavar="GOAL", help="What to find out: top, order, or a number k for the first k.")
    ] = "top",
    pair: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="Find out which of two is better.")
    ] = None,
    probability: Annotated[float, typer.Option(help="Certainty for which the number of games is computed.")] = 0.95,
    seed: options.Seed = options.SEED,
) -> None:
    """Plan what to measure next: pairs with a number of games each, what they bring, and how many are needed.

    \b
    Examples:
      nashboard plan battles.parquet --games 500
      nashboard plan games.pgn --pair "Engine 2.0" "Engine 1.9" -o schedule.csv
      nashboard plan battles.parquet --target 3 --probability 0.9
    """
    from nashboard.data.matches import Matches
    from nashboard.data.scores import Scores
    from nashboard.evaluation.decide.plan import plan as run

    if pair is not None:
        options.refuse(("target",), "--pair is the goal")
    data = connecting.keep(reading.data(source), one="a plan divides its games over agents that met")
    if not isinstance(data, Matches | Scores):
        raise InputError(f"{source!r} contains payoffs: plan takes matches or scores")
    goal = pair if pair is not None else int(target) if target.isdecimal() else target
    with show_progress("Planning ..."):
        found = run(data, games=games, target=goal, probability=probability, rng=seed)
    listing.show(found.table(), json=(found.to_dict(), "plan/1"), sentences=[found.sentence])
