"""``nashboard evaluate FILE``: the board, the verdict in a few sentences, and warnings."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nashboard._tables import Table
from nashboard._text import either
from nashboard.cli import options
from nashboard.cli.options import AsOption, Format, PrintOption, ReadOption, SourceArgument
from nashboard.cli.output import FORMATS, note, printed_format, say, show, write_table
from nashboard.errors import InputError

if TYPE_CHECKING:
    from nashboard.evaluation.evaluation import Evaluation


def evaluate(
    source: SourceArgument,
    evaluating: options.Evaluating,
    tasks: options.Tasks = False,
    top: options.Top = None,
    columns: options.Columns = options.ColumnChoice.default,
    output: options.OutputOption = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: PrintOption = None,
) -> None:
    """Evaluate agents: a leaderboard that redundant entries cannot move and that noise does not decide.

    \b
    Examples:
      nashboard evaluate battles.parquet
      nashboard evaluate scores.csv --call models --columns all
      nashboard evaluate scores.csv --tasks --format md
      nashboard evaluate battles.parquet --segment language -o boards.json
      nashboard evaluate two-leagues.csv --components each
      nashboard evaluate dataset:atari -o atari.html
    """
    from nashboard.evaluation.evaluate import evaluate as run

    segment, each = evaluating.segment, evaluating.components is options.Components.each
    several = segment is not None or each
    refuse_contradictions(several=several, segment=segment, output=output, tasks=tasks)
    if output is not None:  # before the work, which a wrong name would waste
        check_target(output, several=several)
    shown = printed_format(how, output)
    settings = evaluating.settings()
    if segment is not None:
        from nashboard.cli.segments import evaluate_segments

        evaluate_segments(source, as_format, read, evaluating, output, shown)
        return
    data = evaluating.data(source, as_format, read)
    if each:
        from nashboard.cli.segments import evaluate_each

        evaluate_each(data, settings, output, shown)
        return
    found = run(data, **settings)
    if output is None:
        print_evaluation(found, shown, tasks=tasks, top=top, columns=columns)
    elif tasks:
        write_table(found.tasks(columns), output)
    else:
        found.report(output)
        note(f"Wrote {str(output)!r}.")
    for warning in found.warnings:
        note(f"note: {warning}")


def refuse_contradictions(*, several: bool, segment: str | None, output: Path | None, tasks: bool) -> None:
    """Refuse options that would have no effect together with others."""
    if segment is not None:
        options.refuse(("components", "min_games"), "--segment evaluates every segment on its own")
    if several:
        options.refuse(("tasks", "top", "columns"), "several boards are shown, each with its agents")
    if output is not None:
        options.refuse(("top",), "a file contains all rows")
        if not tasks:
            options.refuse(("columns",), "the ending of the file decides what it contains")
        if output.suffix.lower() in (".json", ".html"):
            options.refuse(("tasks",), f"a file that ends in {output.suffix.lower()} contains agents and tasks")


def check_target(output: Path, *, several: bool) -> None:
    """Refuse a file that one board, or several, cannot be written to."""
    from nashboard._files import check_place
    from nashboard.evaluation.document import checked_target

    if several and output.suffix.lower() not in FORMATS:
        raise InputError(f"cannot write {str(output)!r}: several boards are written as {either(FORMATS)}")
    if several:
        check_place(output)
    else:
        checked_target(output)


def print_evaluation(
    found: "Evaluation", how: Format, *, tasks: bool, top: int | None, columns: options.ColumnChoice
) -> None:
    """Print an evaluation to standard output: verdict and board as text, or what a machine asks for."""
    if how is Format.json:
        options.refuse(("tasks", "top", "columns"), "json contains agents and tasks, all of them")
        typer.echo(found.to_json(), nl=False)
        return
    if how is Format.text:
        say("\n".join(found.verdict) + "\n")
    if how in (Format.text, Format.md, Format.latex):
        table = found.screen(columns, tasks=tasks)
    else:
        table = found.tasks(columns) if tasks else found.leaderboard(columns)
    if how is Format.text:
        table = shorten_board(table, top)
    elif top is not None:
        table = table.head(top)
    show(table, how, explained=True)
    if how is Format.md:
        typer.echo("\n" + "\n".join(f"- {line}" for line in found.verdict))


def shorten_board(table: Table, top: int | None) -> Table:
    """Return the first rows for a screen, with a note on how to see more."""
    most = top or options.ROWS
    if len(table.rows) <= most + (top is None) * 5:  # a few more rows are shorter than the note
        return table
    left = f"... {len(table.rows) - most:,} more: --top {len(table.rows)} shows all, --columns all every column"
    return replace(table, rows=table.rows[:most], notes=(left, *table.notes))
