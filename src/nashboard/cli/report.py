"""``nashboard report FILE``: one page that people open, read and pass on."""

from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nashboard._progress import show_progress
from nashboard.cli import options
from nashboard.cli.options import AsOption, ReadOption, SourceArgument
from nashboard.cli.output import note
from nashboard.cli.reading import choose_agents, complete_scores, keep_connected, source_data
from nashboard.errors import InputError

if TYPE_CHECKING:
    from nashboard.data.formats.format import Data
    from nashboard.evaluation.evaluation import Evaluation


EVALUATING = (  # options that a saved evaluation has no use for
    "resamples", "seed", "level", "agents", "exclude", "segment", "min_games", "components", "anchor", "scaling",
    "selection", "missing", "noise", "no_pool", "call", "method", "workers", "as_format", "read", "table", "query",
)  # fmt: skip


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
    resamples: options.Resamples = options.RESAMPLES,
    seed: options.Seed = options.SEED,
    level: options.Level = options.LEVEL,
    agents: options.Agents = None,
    exclude: options.Exclude = None,
    segment: options.Segment = None,
    min_games: options.MinGames = None,
    components: options.ComponentsOption = options.Components.error,
    anchor: options.Anchor = None,
    scaling: options.ScalingOption = options.Scaling.range,
    selection: options.SelectionOption = options.Selection.clone_invariant,
    missing: options.Missing = None,
    noise: options.NoiseOption = options.Noise.model,
    no_pool: options.NoPool = False,
    call: options.Call = None,
    method: options.MethodOption = None,
    workers: options.Workers = None,
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
      nashboard report votes.csv --segment language
      nashboard report dataset:atari -o - > atari.html
    """
    from nashboard.evaluation.document import checked_target
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
        options.refuse(EVALUATING, f"{source!r} is a saved evaluation; give it the data to evaluate again")
    else:
        settings = options.evaluation_settings(
            resamples=resamples,
            seed=seed,
            level=level,
            anchor=anchor,
            scaling=scaling,
            selection=selection,
            noise=noise,
            no_pool=no_pool,
            call=call,
            methods=method,
            workers=workers,
        )
        data = completed_data(source, as_format, read, (agents, exclude), missing, components, min_games)
        found = evaluated(data, settings)
        if segment is not None:
            from nashboard.cli.segments import boards_of_segments

            boards, _ = boards_of_segments(source, as_format, read, segment, (agents, exclude), missing, settings)
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
        note(f"warning: {warning}")
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


def completed_data(
    source: str,
    as_format: str | None,
    read: list[str] | None,
    patterns: tuple[list[str] | None, list[str] | None],
    missing: str | None,
    components: str,
    min_games: int | None,
) -> "Data":
    """Read what the command line names, with the agents that it asks for and without holes."""
    from nashboard.data.scores import Scores

    data = complete_scores(choose_agents(source_data(source, as_format, read), *patterns), missing, modelled=True)
    if isinstance(data, Scores):
        options.refuse(("anchor", "min_games", "components"), "it is for matches, and these are scores")
        return data
    options.refuse(("scaling",), "it is for scores of agents on tasks, and these are matches")
    if components == options.Components.each:
        raise InputError("a report shows one board: use --components largest, or nashboard evaluate --components each")
    return keep_connected(data, components, min_games)


def evaluated(data: "Data", settings: dict[str, Any]) -> "Evaluation":
    """Return the evaluation of data."""
    from nashboard.evaluation.evaluate import evaluate

    return evaluate(data, **settings)
