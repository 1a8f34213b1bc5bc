"""``nashboard evaluate FILE``: the board, the verdict in a few sentences, and warnings."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nashboard._text import either
from nashboard.cli import evaluation_options as options
from nashboard.cli.output import FORMATS, Format, PrintOption, printed, say, show, tell
from nashboard.cli.ratings_options import Anchor
from nashboard.cli.reading import AsOption, ReadOption, SourceArgument, source_data
from nashboard.errors import InputError

if TYPE_CHECKING:
    from nashboard.evaluation.evaluation import Evaluation


class Components(StrEnum):
    """What ``--components`` takes."""

    error = "error"
    each = "each"


def evaluate(
    source: SourceArgument,
    resamples: options.Resamples = 200,
    seed: options.Seed = 0,
    level: options.Level = 0.95,
    agents: options.Agents = None,
    exclude: options.Exclude = None,
    segment: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="One board for each value of this column, and a comparison.")
    ] = None,
    components: Annotated[
        Components, typer.Option(help="Groups of agents that never met: an error that names them, or one board each.")
    ] = Components.error,
    anchor: Anchor = None,
    scaling: options.ScalingOption = "range",
    selection: options.SelectionOption = "clone-invariant",
    missing: options.Missing = None,
    tasks: Annotated[bool, typer.Option("--tasks", help="Show the board of tasks too.")] = False,
    workers: options.Workers = None,
    backend: options.Backend = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write to a file: .json, .md, .csv, .tex or .txt; one board also .html, the report.",
        ),
    ] = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: PrintOption = None,
) -> None:
    """Evaluate agents: a leaderboard that copies cannot move, how sure it is, and a verdict in words.

    \b
    Examples:
      nashboard evaluate battles.parquet
      nashboard evaluate scores.csv --tasks --format md
      nashboard evaluate battles.parquet --segment language -o boards.json
      nashboard evaluate two-leagues.csv --components each
      nashboard evaluate dataset:atari -o atari.html
    """
    from nashboard.evaluation.evaluate import evaluate as evaluated
    from nashboard.evaluation.selecting import chosen, completed

    if output is not None:  # before the work, which a wrong name would waste
        check_target(output, several=segment is not None or components is Components.each)
    shown = printed(how, output)
    asked = options.asked(resamples, seed, level, anchor, scaling, selection, workers, backend)
    if segment is not None:
        from nashboard.cli.segments import evaluate_segments

        evaluate_segments(source, as_format, read, segment, (agents, exclude), missing, asked, output, shown)
        return
    data = completed(chosen(source_data(source, as_format, read), agents, exclude), missing)
    if components is Components.each:
        from nashboard.cli.segments import evaluate_each

        evaluate_each(data, asked, output, shown)
        return
    found = evaluated(data, **asked)
    if output is not None:
        found.report(output)
        tell(f"Wrote {str(output)!r}.")
    else:
        print_evaluation(found, shown, tasks)
    for warning in found.warnings:
        tell(f"warning: {warning}")


def check_target(output: Path, *, several: bool) -> None:
    """Say that one board, or several, cannot be written to a file."""
    from nashboard._files import check_place
    from nashboard.evaluation.document import checked_target

    if several and output.suffix.lower() not in FORMATS:
        raise InputError(
            f"cannot write {str(output)!r}: several boards are written as {either(FORMATS)}; the page that "
            f"nashboard report makes is of one board"
        )
    if several:
        check_place(output)
    else:
        checked_target(output)


def print_evaluation(found: "Evaluation", how: Format, tasks: bool) -> None:
    """Print an evaluation to standard output: boards and verdict as text, or what a machine asks for."""
    if how is Format.json:
        typer.echo(found.to_json(), nl=False)
        return
    show(found.leaderboard(), how)
    if tasks:
        typer.echo("")
        show(found.tasks(), how)
    if how is Format.text:
        say("\n" + "\n".join(found.verdict))
    elif how is Format.md:
        typer.echo("\n" + "\n".join(f"- {line}" for line in found.verdict))
