"""``nashboard report FILE``: one page that people open, read and pass on."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nashboard.cli import evaluation_options as options
from nashboard.cli.output import tell
from nashboard.cli.ratings_options import Anchor
from nashboard.cli.reading import AsOption, ReadOption, SourceArgument, source_data
from nashboard.errors import InputError

if TYPE_CHECKING:
    from nashboard.evaluation.evaluation import Evaluation


def report(
    source: SourceArgument,
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
    resamples: options.Resamples = 200,
    seed: options.Seed = 0,
    level: options.Level = 0.95,
    agents: options.Agents = None,
    exclude: options.Exclude = None,
    anchor: Anchor = None,
    scaling: options.ScalingOption = "range",
    selection: options.SelectionOption = "clone-invariant",
    missing: options.Missing = None,
    workers: options.Workers = None,
    backend: options.Backend = None,
    look: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    as_format: AsOption = None,
    read: ReadOption = None,
) -> None:
    """Write a report: one HTML file with verdict, boards, pictures, audit and stress test; it needs no network.

    FILE may also be the .json of an evaluation; the page then lacks the parts that need the data.

    \b
    Examples:
      nashboard report battles.parquet -o report.html
      nashboard report scores.csv --title "Our suite" --open
      nashboard report dataset:atari -o - > atari.html
    """
    from nashboard.evaluation.document import checked_target

    path = None if output == "-" else Path(output or default_name(source))
    if path is None and look:
        raise InputError("--open needs a file: what goes to standard output cannot be opened")
    if path is not None:
        checked_target(path)
    asked = options.asked(resamples, seed, level, anchor, scaling, selection, workers, backend)
    found = saved(source) or evaluated(source, as_format, read, (agents, exclude), missing, asked)
    with steps() as say:
        if path is None:
            from nashboard.report.report import as_page

            text = as_page(found, title=title, say=say)
        else:
            found.report(path, title=title, say=say)
    if path is None:
        typer.echo(text, nl=False)
    else:
        tell(f"Wrote the report to {str(path)!r} ({path.stat().st_size / 1e6:.1f} MB): open it in a browser.")
    for warning in found.warnings:
        tell(f"warning: {warning}")
    if look and path is not None:
        typer.launch(path.resolve().as_uri())


def default_name(source: str) -> str:
    """Return the file to write where none is named: beside nothing of the user's, in the folder they work in."""
    name = PurePath(source.removeprefix("dataset:")).name
    stem = name.split(".")[0] if "*" not in name and name != "-" else ""
    return f"{stem}-report.html" if stem else "report.html"


def saved(source: str) -> "Evaluation | None":
    """Return the evaluation that a .json file holds, or None where it holds something else."""
    from nashboard.evaluation.schema import SCHEMA

    path = Path(source)
    if path.suffix.lower() != ".json" or not path.is_file():
        return None
    with path.open(encoding="utf-8", errors="replace") as stream:
        if SCHEMA not in stream.read(200):
            return None
    from nashboard.evaluation.evaluation import Evaluation

    return Evaluation.from_json(path.read_text(encoding="utf-8"))


def evaluated(
    source: str,
    as_format: str | None,
    read: list[str] | None,
    patterns: tuple[list[str] | None, list[str] | None],
    missing: str | None,
    asked: dict[str, Any],
) -> "Evaluation":
    """Read and evaluate what the command line names."""
    from nashboard.evaluation.evaluate import evaluate
    from nashboard.evaluation.selecting import chosen, completed

    return evaluate(completed(chosen(source_data(source, as_format, read), *patterns), missing), **asked)


@contextlib.contextmanager
def steps() -> Iterator[Callable[[str], None]]:
    """Return what is called with a few words before each step; a person who watches standard error sees them."""
    if not sys.stderr.isatty():
        yield lambda what: None
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status("") as status:
        yield lambda what: status.update(escape(what))
