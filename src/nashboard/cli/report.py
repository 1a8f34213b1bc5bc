"""Pages: ``nashboard report FILE``, which people open, read and pass on, and ``nashboard paper``."""

from dataclasses import fields
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from nashboard._progress import show_progress
from nashboard.cli import options
from nashboard.cli.options import Format, SourceArgument
from nashboard.cli.output import note, say, show, show_json
from nashboard.cli.reading import Evaluating, Reading
from nashboard.errors import InputError

if TYPE_CHECKING:
    from nashboard.evaluation.evaluation import Evaluation


EVALUATING = tuple(field.name for group in (Evaluating, Reading) for field in fields(group))


def report(
    source: SourceArgument,
    evaluating: Evaluating,
    reading: Reading,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where to write it, - for standard output; NAME-report.html unless given.",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="The heading; the name of the file unless given.")] = None,
    look: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Write a report: one HTML file with verdict, boards, pictures, audit and stress test; it needs no network.

    FILE may also be the .json of an evaluation; the page then lacks the parts that need the data.

    \b
    Examples:
      nashboard report battles.parquet -o report.html
      nashboard report scores.csv --title "Our suite" --open
      nashboard report votes.csv --segment language
      nashboard report dataset:atari -o - > atari.html
    """
    from nashboard.evaluation.document import checked_target
    from nashboard.evaluation.evaluate import evaluate
    from nashboard.report.build import as_page, write_page

    path = None if output == "-" else Path(output or default_name(source))
    if path is None and look:
        raise InputError("--open needs a file: what goes to standard output cannot be opened")
    if path is not None:
        checked_target(path)
        if path.suffix.lower() != ".html":
            options.refuse(("title", "look", "segment"), f"a file that ends in {path.suffix} is not a page")
    boards: dict[str, Evaluation] = {}
    found = saved(source)
    if found is not None:
        # a saved evaluation has no use for these
        options.refuse(EVALUATING, f"{source!r} is a saved evaluation; give it the data to evaluate again")
    else:
        if evaluating.components is options.Components.each:
            raise InputError(
                "a report shows one board: use --components largest, or nashboard evaluate --components each"
            )
        found = evaluate(evaluating.data(source, reading), **evaluating.settings())
        if evaluating.segment is not None:
            from nashboard.cli.evaluate import boards_of_segments

            boards, _ = boards_of_segments(source, reading, evaluating)
    with show_progress("Writing the report ...") as progress:
        if path is None:
            text = as_page(found, title=title, say=progress.step, segments=boards)
        elif path.suffix.lower() == ".html":
            write_page(found, path, title=title, say=progress.step, segments=boards)
        else:
            found.report(path)
    if path is None:
        typer.echo(text, nl=False)
    elif path.suffix.lower() == ".html":
        note(f"Wrote the report to {str(path)!r} ({path.stat().st_size / 1e6:.1f} MB): open it in a browser.")
    else:
        note(f"Wrote {str(path)!r}.")
    for warning in found.warnings:
        if not boards or not all(warning in board.warnings for board in boards.values()):  # else it was printed above
            note(f"note: {warning}")
    if look and path is not None:
        typer.launch(path.resolve().as_uri())


def default_name(source: str) -> str:
    """Return the file to write where none is named: in the current folder, named after the source."""
    name = PurePath(source.removeprefix("dataset:")).name
    stem = name.split(".")[0] if "*" not in name and name != "-" else ""
    return f"{stem}-report.html" if stem else "report.html"


def saved(source: str) -> "Evaluation | None":
    """Return the evaluation that a .json file holds, or None where it holds something else."""
    from nashboard.evaluation.document import SCHEMA

    path = Path(source)
    if path.suffix.lower() != ".json" or not path.is_file():
        return None
    with path.open(encoding="utf-8", errors="replace") as stream:
        if SCHEMA not in stream.read(200):
            return None
    from nashboard.evaluation.evaluation import Evaluation

    return Evaluation.from_json(path.read_text(encoding="utf-8"))


def paper(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="Write figures, tables and the page into it.")
    ] = Path("nashboard-paper"),
    how: Annotated[Format, typer.Option("--format", help="How to print the claims.")] = Format.text,
) -> None:
    """Reproduce the paper: a folder with its figures, its tables, and a page of its numbers beside ours.

    The summary is printed: how many are equal to the printed digits, and why others differ. With --format every claim
    is printed.

    \b
    Examples:
      nashboard paper
      nashboard paper -o reproduced --format csv
    """
    from nashboard.paper.folder import ready, write_folder
    from nashboard.paper.reproduction import reproduction

    ready(output)  # before the work, which a wrong folder would waste
    with show_progress("Reproducing the paper ...") as progress:
        found = reproduction(lambda part: progress.step(f"Computing: {part}"))
        page = write_folder(found, output, progress.step)
    if how is Format.text:
        show(found.differences())
        say("\n" + found.summary)
    elif how is Format.json:
        show_json(found.to_dict(), "paper/1")
    else:
        show(found.table(), how)
    note(f"Wrote {str(page)!r}.")
