"""``nashboard evaluate FILE``: the board, the verdict in a few sentences, and warnings."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nashboard._text import either
from nashboard.cli import options
from nashboard.cli.options import Format, SourceArgument
from nashboard.cli.output import FORMATS, Listing, note, say, shorten_table, show
from nashboard.cli.reading import Evaluating, Reading
from nashboard.errors import InputError

if TYPE_CHECKING:
    from nashboard.evaluation.evaluation import Evaluation


def evaluate(
    source: SourceArgument,
    evaluating: Evaluating,
    reading: Reading,
    tasks: options.Tasks = False,
    top: options.Top = None,
    columns: options.Columns = options.ColumnChoice.default,
    output: options.OutputOption = None,
    how: options.FormatOption = None,
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
    if segment is not None and each:
        raise InputError("--segment and --components each both make several boards: give one of them")
    if several:
        options.refuse(("tasks",), "several boards are shown, each with its agents")
    if output is not None:  # before the work, which a wrong name would waste
        check_target(output, several=several)
    page = output is not None and output.suffix.lower() == ".html" and how is None
    listing = Listing(how=how, output=None if page else output, top=top)
    shown = Format.json if page else listing.format
    if shown is Format.json:
        options.refuse(("tasks", "top", "columns"), f"{'a report' if page else 'json'} contains agents and tasks")
    settings = evaluating.settings()
    if several:
        from nashboard.cli.segments import evaluate_each, evaluate_segments

        with listing.written():
            if each:
                evaluate_each(evaluating.data(source, reading), settings, listing, columns)
            else:
                evaluate_segments(source, reading, evaluating, listing, columns)
        return
    found = run(evaluating.data(source, reading), **settings)
    if output is not None and options.given_options().keys().isdisjoint(("tasks", "top", "columns")):
        found.report(output)
        note(f"Wrote {str(output)!r}.")
    else:
        with listing.written():
            print_evaluation(found, shown, tasks=tasks, top=top, columns=columns)
    for warning in found.warnings:
        note(f"note: {warning}")


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
        typer.echo(found.to_json(), nl=False)
        return
    if how is Format.text:
        say("\n".join(found.verdict) + "\n")
    if how is Format.csv:
        table = found.tasks(columns) if tasks else found.leaderboard(columns)
    else:
        table = found.screen(columns, tasks=tasks)
    if how is Format.text:
        table = shorten_table(table, top, f"--top {len(table.rows)} shows all, --columns all every column")
    elif top is not None:
        table = table.head(top)
    show(table, how, explained=True)
    if how is Format.md:
        typer.echo("\n" + "\n".join(f"- {line}" for line in found.verdict))
