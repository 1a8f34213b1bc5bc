"""``nashboard hodge``: how much ratings explain, and what goes round in cycles."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from nashboard.commands.output import Format, FormatOption, show
from nashboard.commands.reading import AsOption, ReadOption, SourceArgument, source_data


class Shown(StrEnum):
    """What ``--show`` takes."""

    ratings = "ratings"
    cycles = "cycles"


def hodge(
    source: SourceArgument,
    as_format: AsOption = None,
    read: ReadOption = None,
    what: Annotated[Shown, typer.Option("--show", help="The table to print; json holds both.")] = Shown.ratings,
    cycles: Annotated[int, typer.Option(help="How many of the strongest cycles to name.", min=0)] = 5,
    split: Annotated[
        bool, typer.Option(help="Tell local cycles from the harmonic part (slow for millions of pairs).")
    ] = True,
    how: FormatOption = Format.text,
) -> None:
    """Show how much of the results ratings explain, the ratings, and the strongest cycles.

    \b
    Examples:
      nashboard hodge battles.csv
      nashboard hodge dataset:roshambo --show cycles --format csv
    """
    from dataclasses import replace

    from nashboard.algebra.hodge import hodge as decompose
    from nashboard.data.scores import Scores
    from nashboard.errors import InputError

    data = source_data(source, as_format, read)
    if isinstance(data, Scores):
        raise InputError(f"{source!r} holds scores of agents on tasks, not agents against agents: use nashboard latent")
    found = decompose(data)
    if how is Format.json:
        typer.echo(json.dumps(found.to_dict(cycles=cycles, split=split), indent=2, ensure_ascii=False))
        return
    if what is Shown.cycles:
        show(found.cycles_table(cycles), how)
        return
    parts = f"ratings explain {found.transitivity:.1%} of the squared norm"
    if split:
        parts += f", local cycles {found.local_share:.1%}, the harmonic part {found.harmonic_share:.1%}"
    exact = "Elo can explain the results exactly" if found.elo_is_exact else "Elo cannot explain the results exactly"
    named = [f"cycle: {cycle}" for cycle in found.cycles(cycles)] or ["no three agents beat each other in a cycle"]
    notes = ("", f"transitivity: {parts}", exact, *(named if cycles else ()))
    show(replace(found.table(), notes=notes), how)
