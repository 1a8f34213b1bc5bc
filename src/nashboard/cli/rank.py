"""``nashboard rank FILE --method NAME``: the order of one method."""

from typing import Annotated, Any

import typer

from nashboard.cli.options import (
    AsOption,
    Components,
    ComponentsOption,
    Format,
    FormatOption,
    MinGames,
    Missing,
    ReadOption,
    Scaling,
    ScalingOption,
    SourceArgument,
    Top,
    refuse,
)
from nashboard.cli.output import show, show_json
from nashboard.cli.reading import keep_connected, source_data, whole
from nashboard.errors import InputError


def rank(
    source: SourceArgument,
    method: Annotated[
        str, typer.Option("--method", "-m", metavar="NAME", help="How to rank; `nashboard methods` lists the names.")
    ] = "nash",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="NAME=VALUE", help="An option of the method, such as damping=0.9; can be repeated."
        ),
    ] = None,
    scaling: ScalingOption = Scaling.range,
    top: Top = None,
    min_games: MinGames = None,
    components: ComponentsOption = Components.error,
    missing: Missing = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Rank agents by any of many methods: Nash, Elo, voting rules, alpha-rank, PageRank and more.

    \b
    Examples:
      nashboard rank battles.parquet --method schulze
      nashboard rank dataset:atari --method iqm
      nashboard rank games.pgn --method pagerank --option damping=0.9
    """
    from nashboard.data.scores import Scores
    from nashboard.ranking.rank import rank as rank_agents
    from nashboard.ranking.registry import find_method

    find_method(method)  # before the work, which a wrong name would waste
    if how is Format.json:
        refuse(("top",), "json contains all agents")
    if components is Components.each:
        raise InputError("--components each is for nashboard evaluate: use --components largest")
    options = method_options(option)
    data = whole(source_data(source, as_format, read), missing)
    if isinstance(data, Scores):
        refuse(("min_games", "components"), "it is for matches, and these are scores")
    else:
        refuse(("scaling",), "it is for scores of agents on tasks, and these are matches")
        data = keep_connected(data, components, min_games)
    ranking = rank_agents(data, method, scaling=scaling.value, **options)
    if how is Format.json:
        show_json(ranking.to_dict(), "ranking/1")
        return
    table = ranking.table()
    show(table if top is None else table.head(top), how, explained=True)


def method_options(pairs: list[str] | None) -> dict[str, Any]:
    """Return what ``--option NAME=VALUE`` gives: whole numbers, numbers, or none."""
    found: dict[str, Any] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if name in found:
            raise InputError(f"--option {name}= is given twice: give it once")
        try:
            if not equals:
                raise ValueError
            found[name] = None if value == "none" else int(value) if value.lstrip("-").isdigit() else float(value)
        except ValueError:
            raise InputError(f"--option {pair!r} must be NAME=VALUE with a number, such as damping=0.9") from None
    return found
