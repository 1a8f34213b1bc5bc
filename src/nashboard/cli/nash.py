"""``nashboard nash``: who is unbeatable, and how far the others are from it."""

import sys
from typing import Annotated

import typer

from nashboard.cli.evaluation_options import Missing
from nashboard.cli.output import Format, FormatOption, show, tell
from nashboard.cli.reading import AsOption, ReadOption, SourceArgument, source_data, varied, whole


def nash(
    source: SourceArgument,
    selection: Annotated[
        str, typer.Option(help="Which equilibrium where there are many: clone-invariant or maxent.")
    ] = "clone-invariant",
    tasks: Annotated[bool, typer.Option("--tasks", help="Show the tasks instead of the agents (scores only).")] = False,
    top: Annotated[int | None, typer.Option(help="Show only the first so many rows.", min=1)] = None,
    missing: Missing = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Show Nash averages: weights, averages, margins, clones and certificates.

    \b
    Examples:
      nashboard nash battles.parquet
      nashboard nash dataset:atari --tasks
      nashboard nash scores.csv --missing worst
    """
    from nashboard.data.scores import Scores
    from nashboard.equilibrium.nash import checked_selection, nash_average
    from nashboard.equilibrium.nash_scores import nash_average_scores
    from nashboard.errors import InputError

    chosen = checked_selection(selection)
    data = whole(source_data(source, as_format, read), missing)
    watched = sys.stderr.isatty()
    if isinstance(data, Scores):
        data = varied(data)
        of_scores = nash_average_scores(data, selection=chosen, progress=watched)
        table, groups = (
            (of_scores.task_table(), of_scores.task_clone_groups)
            if tasks
            else (of_scores.table(), of_scores.agent_clone_groups)
        )
    elif tasks:
        raise InputError("--tasks needs scores of agents on tasks; these are matches between agents")
    else:
        result = nash_average(data, selection=chosen, progress=watched)
        table, groups = result.table(), result.clone_groups
    show(table if top is None else table.head(top), how, explained=True)
    for number, group in enumerate(groups, start=1):
        tell(f"clones {number}: {', '.join(group)}")
