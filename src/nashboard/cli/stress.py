"""``nashboard stress FILE``: enter the same agent or task again, and see what moves."""

from enum import StrEnum
from typing import Annotated

import typer

from nashboard.cli.evaluation_options import Missing
from nashboard.cli.output import Format, FormatOption, show, working
from nashboard.cli.reading import AsOption, ReadOption, SourceArgument, source_data, whole


class Shown(StrEnum):
    """What ``--show`` takes."""

    exact = "exact"
    attacks = "attacks"
    noisy = "noisy"


class Cloned(StrEnum):
    """What ``--kind`` takes."""

    agents = "agents"
    tasks = "tasks"


class Choice(StrEnum):
    """What ``--choice`` takes."""

    adversary = "adversary"
    random = "random"


def stress(
    source: SourceArgument,
    of: Annotated[list[str] | None, typer.Option("--of", help="Clone this agent or task; may be repeated.")] = None,
    choice: Annotated[Choice, typer.Option(help="Who is cloned where --of names nobody.")] = Choice.adversary,
    kind: Annotated[Cloned | None, typer.Option(help="What is cloned; tasks where there are tasks.")] = None,
    copies: Annotated[str, typer.Option(help="Numbers of copies, separated by commas.")] = "1,2,5,10,100",
    target: Annotated[
        list[str] | None, typer.Option("--target", help="Search the smallest attack that puts this one first.")
    ] = None,
    most: Annotated[int, typer.Option(help="The largest number of clones in an attack.", min=1)] = 100,
    draws: Annotated[
        int | None, typer.Option(help="How often the luck of noisy clones is drawn; 20, fewer for many agents.", min=0)
    ] = None,
    seed: Annotated[int, typer.Option(help="For noisy clones and random choice.", min=0)] = 0,
    what: Annotated[
        Shown, typer.Option("--show", help="The table of csv, md and latex; text and json hold all.")
    ] = Shown.exact,
    missing: Missing = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Enter clones of agents or tasks, and show what moves: uniform average, Elo, Nash.

    \b
    Examples:
      nashboard stress battles.parquet
      nashboard stress dataset:atari --of venture --target human
      nashboard stress scores.csv --kind agents --copies 1,10 --format json
    """
    from nashboard.cli.sections import show_sections
    from nashboard.errors import InputError
    from nashboard.evaluation.comparable import matches_or_scores
    from nashboard.evaluation.stress.stress import stress as run

    try:
        counts = [int(part) for part in copies.split(",")]
    except ValueError:
        raise InputError(f"--copies {copies!r} must be whole numbers separated by commas, such as 1,10,100") from None
    data = whole(source_data(source, as_format, read), missing)
    with working("Entering clones ..."):
        found = run(
            matches_or_scores(data, "nashboard stress"),
            copies=counts,
            of=of,
            choice=choice.value,
            kind=None if kind is None else kind.value,
            targets=target,
            most=most,
            draws=draws,
            rng=seed,
        )
    if how is Format.json:
        typer.echo(found.to_json(), nl=False)
    elif how is Format.text:
        show_sections(found.verdict(), found.tables().values(), found.notes)
    else:
        every = {"exact": found.table, "attacks": found.attack_table, "noisy": found.noisy_table}
        show(every[what.value](), how)
