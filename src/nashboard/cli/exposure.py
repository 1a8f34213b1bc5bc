"""``nashboard exposure FILE``: who is sampled how often, and what does that do to the ratings?"""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Annotated

import typer

from nashboard._progress import show_progress
from nashboard.cli import options
from nashboard.cli.options import AsOption, Format, FormatOption, ReadOption, SourceArgument
from nashboard.cli.output import show, show_json
from nashboard.cli.reading import keep_connected, source_data
from nashboard.errors import InputError, number_of


def exposure(
    source: SourceArgument,
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
    min_games: options.MinGames = None,
    components: options.ComponentsOption = options.Components.error,
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

    options.refuse_each(components)
    data = keep_connected(source_data(source, as_format, read), components, min_games)
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
