"""``nashboard stress FILE``: enter the same agent or task again, and see what moves."""

from enum import StrEnum
from typing import Annotated

import typer

from nashboard._progress import show_progress
from nashboard.cli.options import SEED, Format, Missing, Noise, NoiseOption, Seed, SourceArgument, refuse
from nashboard.cli.output import Listing
from nashboard.cli.reading import Connecting, Reading, whole
from nashboard.errors import InputError


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
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    of: Annotated[list[str] | None, typer.Option("--of", help="Copy this agent or task; can be repeated.")] = None,
    choice: Annotated[Choice, typer.Option(help="How the entry to copy is chosen, without --of.")] = Choice.adversary,
    kind: Annotated[Cloned | None, typer.Option(help="What is copied; tasks unless given, if there are tasks.")] = None,
    copies: Annotated[str, typer.Option(help="Numbers of copies, separated by commas.")] = "1,2,5,10,100",
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target", help="Search the smallest number of copies that puts this one first; can be repeated."
        ),
    ] = None,
    most: Annotated[int, typer.Option(help="Largest number of copies in an attack.", min=1)] = 100,
    draws: Annotated[
        int | None,
        typer.Option(help="Draws for noisy copies; 3 unless given, none for more than 60 entries.", min=0),
    ] = None,
    seed: Seed = SEED,
    noise: NoiseOption = Noise.model,
    what: Annotated[
        Shown | None, typer.Option("--show", help="The table of csv, md and latex; exact unless given.")
    ] = None,
    missing: Missing = None,
) -> None:
    """Enter copies of agents or tasks, and show what moves: plain average, Elo, Nash average.

    \b
    Examples:
      nashboard stress battles.parquet
      nashboard stress dataset:atari --of venture --target human
      nashboard stress scores.csv --kind agents --copies 1,10 --format json
    """
    from nashboard.evaluation.stress.stress import stress as run

    if listing.format in (Format.text, Format.json):
        refuse(("what",), f"{listing.format} contains all tables")
    if of:
        refuse(("choice",), "--of names what is copied")
    try:
        counts = [int(part) for part in copies.split(",")]
    except ValueError:
        raise InputError(f"--copies {copies!r} must be whole numbers separated by commas, such as 1,10,100") from None
    data = connecting.keep(whole(reading.data(source), missing))
    with show_progress("Entering copies ..."):
        found = run(
            data,
            copies=counts,
            of=of,
            choice=choice.value,
            kind=None if kind is None else kind.value,
            targets=target,
            most=most,
            draws=draws,
            rng=seed,
            noise=noise.value,
        )
    tables = found.tables().values() if what is None else [found.outcomes[what.value].table]
    listing.show(*tables, json=(found.to_dict(), "stress/1"), sentences=found.verdict(), notes=found.notes)
