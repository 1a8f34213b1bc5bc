"""``nashboard plan FILE``: which games to play, or items to run, next."""

from pathlib import Path
from typing import Annotated

import typer

from nashboard._progress import show_progress
from nashboard.cli import options
from nashboard.cli.options import AsOption, Format, PrintOption, ReadOption, SourceArgument
from nashboard.cli.output import printed_format, say, show, show_json, write_table
from nashboard.cli.reading import keep_connected, source_data


def plan(
    source: SourceArgument,
    games: Annotated[int, typer.Option(help="The budget: games, or items for scores.", min=1)] = 1000,
    target: Annotated[
        str, typer.Option(metavar="GOAL", help="What to find out: top, order, or a number k for the first k.")
    ] = "top",
    pair: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="Find out which of two is better.")
    ] = None,
    probability: Annotated[float, typer.Option(help="Certainty for which the number of games is computed.")] = 0.95,
    seed: options.Seed = options.SEED,
    min_games: options.MinGames = None,
    components: options.ComponentsOption = options.Components.error,
    top: options.Top = None,
    output: options.OutputOption = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: PrintOption = None,
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
    from nashboard.errors import InputError
    from nashboard.evaluation.decide.plan import plan as run

    options.refuse_each(components)
    printed = printed_format(how, output)
    if pair is not None:
        options.refuse(("target",), "--pair is the goal")
    data = keep_connected(source_data(source, as_format, read), components, min_games)
    if not isinstance(data, Matches | Scores):
        raise InputError(f"{source!r} contains payoffs: plan takes matches or scores")
    goal = pair if pair is not None else int(target) if target.isdecimal() else target
    with show_progress("Planning ..."):
        found = run(data, games=games, target=goal, probability=probability, rng=seed)
    table = found.table() if top is None else found.table().head(top)
    if output is not None:
        write_table(table, Path(output))
        say(found.sentence)
    elif printed is Format.json:
        options.refuse(("top",), "json contains the whole schedule")
        show_json(found.to_dict(), "plan/1")
    else:
        if printed is Format.text:
            say(found.sentence)
        show(table, printed, explained=True)
