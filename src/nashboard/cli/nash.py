"""``nashboard nash``: the equilibrium of the payoffs exactly as given, with its certificates."""

from typing import Annotated

import typer

from nashboard._progress import Progress
from nashboard.cli.options import (
    AsOption,
    Components,
    ComponentsOption,
    Format,
    FormatOption,
    MinGames,
    Missing,
    ReadOption,
    Selection,
    SelectionOption,
    SourceArgument,
    Tasks,
    Top,
    refuse,
)
from nashboard.cli.output import note, show, show_json
from nashboard.cli.reading import data_to_rank, varied


def nash(
    source: SourceArgument,
    selection: SelectionOption = Selection.clone_invariant,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Allow this exploitability, in the unit of the payoffs, for a more even mixture.", min=0.0),
    ] = None,
    tasks: Tasks = False,
    top: Top = None,
    min_games: MinGames = None,
    components: ComponentsOption = Components.error,
    missing: Missing = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Show Nash averages of the results as given: weights, averages, margins, copies and certificates.

    \b
    Examples:
      nashboard nash battles.parquet
      nashboard nash dataset:atari --tasks
      nashboard nash battles.csv --tolerance 0.05
      nashboard nash scores.csv --missing worst --format json
    """
    from nashboard.data.scores import Scores
    from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
    from nashboard.equilibrium.results import check_selection

    if how is Format.json:
        refuse(("tasks", "top"), "json contains agents and tasks, all of them")
    chosen = check_selection(selection.value)
    data = data_to_rank(source, as_format, read, missing, components, min_games)
    if isinstance(data, Scores):
        of_scores = nash_average_scores(
            varied(data), selection=chosen, tolerance=tolerance, progress=not Progress.quiet
        )
        if how is Format.json:
            show_json(of_scores.to_dict(), "nash-scores/1")
            return
        table = of_scores.task_table() if tasks else of_scores.table()
        groups = of_scores.task_clone_groups if tasks else of_scores.agent_clone_groups
    else:
        result = nash_average(data, selection=chosen, tolerance=tolerance, progress=not Progress.quiet)
        if how is Format.json:
            show_json(result.to_dict(), "nash/1")
            return
        table, groups = result.table(), result.clone_groups
    show(table if top is None else table.head(top), how, explained=True)
    for number, group in enumerate(groups, start=1):
        note(f"copies {number}: {', '.join(group)}")
