"""``nashboard evaluate FILE`` prints the board; ``report FILE`` and ``paper`` write pages."""

import json
from dataclasses import fields
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nashboard._progress import show_progress
from nashboard._text import either
from nashboard.cli import options
from nashboard.cli.options import FOR_MATCHES, ColumnChoice, Components, Format, SourceArgument, given_options, refuse
from nashboard.cli.output import FORMATS, Listing, print_json, print_note, print_table, print_text, shorten_table
from nashboard.cli.reading import (
    Evaluating,
    Reading,
    check_missing,
    choose_agents,
    complete_scores,
    keep_connected,
    make_spelling,
    show_reading,
)
from nashboard.errors import InputError

if TYPE_CHECKING:
    from nashboard._tables import Table
    from nashboard.data.formats.format import Data
    from nashboard.data.segments import Segments
    from nashboard.evaluation.evaluation import Evaluation


GROUP = "group of"  # heading of the board of one connected component


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
    """Evaluate agents and print the leaderboard.

    Redundant entries cannot move it, and noise does not decide it.

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
    if output is not None:  # a wrong name is an error before the work
        check_target(output, several=several)
    page = output is not None and output.suffix.lower() == ".html" and how is None
    listing = Listing(how=how, output=None if page else output, top=top)
    form = Format.json if page else listing.format
    if form is Format.json:
        options.refuse(("tasks", "top", "columns"), f"{'a report' if page else 'json'} contains agents and tasks")
    if form is Format.csv:
        options.refuse(("call",), "the columns of csv have fixed names")
    if evaluating.noise is options.Noise.none and not (several or page):
        options.refuse(("level", "resamples", "seed", "no_pool"), "--noise none takes the data as exact, without draws")
    settings = evaluating.settings()
    if several:
        with listing.write_output():
            if each:
                print_components(evaluating.data(source, reading), settings, listing, columns)
            else:
                print_segments(source, reading, evaluating, listing, columns)
        return
    evaluation = run(evaluating.data(source, reading), **settings)
    if output is not None and options.given_options().keys().isdisjoint(("tasks", "top", "columns")):
        evaluation.report(output)
        print_note(f"Wrote {str(output)!r}.")
    else:
        with listing.write_output():
            print_evaluation(evaluation, form, tasks=tasks, top=top, columns=columns)
    for warning in evaluation.warnings:
        print_note(f"note: {warning}")


def check_target(output: Path, *, several: bool) -> None:
    """Raise an error if one board, or several, cannot be written to a file."""
    from nashboard._files import check_place
    from nashboard.evaluation.document import check_target

    if several and output.suffix.lower() not in FORMATS:
        raise InputError(f"cannot write {str(output)!r}: several boards are written as {either(FORMATS)}")
    if several:
        check_place(output)
    else:
        check_target(output)


def print_evaluation(
    evaluation: "Evaluation", how: Format, *, tasks: bool, top: int | None, columns: options.ColumnChoice
) -> None:
    """Print an evaluation to standard output: verdict and board as text, or a format for machines."""
    if how is Format.json:
        typer.echo(evaluation.to_json(), nl=False)
        return
    if how is Format.text:
        print_text("\n".join(evaluation.verdict) + "\n")
    if how is Format.csv:
        table = evaluation.tasks(columns) if tasks else evaluation.leaderboard(columns)
    else:
        table = evaluation.screen(columns, tasks=tasks)
    if how is Format.text:
        table = shorten_table(table, top, f"--top {len(table.rows)} shows all, --columns all every column")
    elif top is not None:
        table = table.head(top)
    print_table(table, how, explained=True)
    if how is Format.md:
        typer.echo("\n" + "\n".join(f"- {line}" for line in evaluation.verdict))


def print_segments(
    source: str, reading: Reading, evaluating: Evaluating, listing: Listing, columns: ColumnChoice
) -> None:
    """Evaluate every segment and print the boards and the comparison."""
    from nashboard.evaluation.segments import compare_segments

    boards, segments = evaluate_segments(source, reading, evaluating)
    column = str(evaluating.segment)
    table = compare_segments(boards, column, segments.notes)
    print_boards(boards, column, table, listing, columns, without=segments.without)


def evaluate_segments(
    source: str, reading: Reading, evaluating: Evaluating
) -> "tuple[dict[str, Evaluation], Segments]":
    """Read and evaluate every segment; a segment that cannot be evaluated is named and left out."""
    from nashboard.errors import InputError
    from nashboard.ratings.rating import checked_anchor

    column, missing, options = str(evaluating.segment), evaluating.missing, evaluating.settings()
    segments = read_parts(source, column, reading)
    for line in segments.notes:
        print_note(line)
    for data in segments.parts.values():
        check_missing(data, missing)  # not a reason to leave a segment out
    if segments.parts:
        all_agents = sorted({agent for data in segments.parts.values() for agent in data.agents})
        checked_anchor(options.get("anchor"), all_agents)  # an anchor that is in no segment is an error
    boards = {}
    for value, data in segments.parts.items():
        board = evaluate_segment(data, f"{column} = {value}", evaluating, options)
        if board is not None:
            boards[value] = board
    if not boards:
        reason = "no row has a value" if not segments.parts and not segments.refused else "see the reasons above"
        raise InputError(f"no segment of {column!r} could be evaluated: {reason}")
    note_warnings({f"{column} = {value}": board.warnings for value, board in boards.items()})
    return boards, segments


def read_parts(source: str, column: str, reading: Reading, **limit: int) -> "Segments":
    """Read every segment; one that cannot be read is named and left out."""
    from nashboard.data.read import read_segments

    keywords = reading.keywords() | limit
    with show_reading(source):
        segments = read_segments(source, column, format=reading.as_format, **keywords)
    for value, why in segments.refused.items():
        print_note(f"{column} = {value} left out: {why.render(make_spelling(('read', 'missing')))}")
    return segments


def print_components(data: "Data", options: dict[str, Any], listing: Listing, columns: ColumnChoice) -> None:
    """Evaluate every connected component, and print the boards."""
    from nashboard._text import listed
    from nashboard.data.matches import Matches
    from nashboard.errors import InputError
    from nashboard.evaluation.segments import evaluate_components, summarise_components

    if not isinstance(data, Matches):
        raise InputError("--components is for matches: scores have no groups that never met")
    boards = evaluate_components(data, **options)
    idle = [group[0] for group in data.components if len(group) == 1]
    if idle:
        print_note(f"left out, since they have no games: {listed(idle)}")
    note_warnings({f"{GROUP} {name}": found.warnings for name, found in boards.items()})
    print_boards(boards, GROUP, summarise_components(boards), listing, columns)


def print_boards(
    boards: "dict[str, Evaluation]",
    column: str,
    table: "Table",
    listing: Listing,
    columns: ColumnChoice,
    *,
    without: int = 0,
) -> None:
    """Print several boards and the table that compares them; csv is one table with the rows of all boards."""
    from nashboard._tables import clean_text
    from nashboard.evaluation.segments import stack_boards

    how = listing.format
    if how is Format.json:
        typer.echo(boards_as_json(column, boards, table, without), nl=False)
        return
    if how is Format.csv:
        refuse(("top", "columns"), "csv contains all boards in one table")
        print_table(stack_boards(boards, column), how)
        return
    mark = {Format.md: "## ", Format.latex: "% "}.get(how, "")
    for value, found in boards.items():
        heading = f"{column} {value}" if column == GROUP else f"{column} = {value}"
        typer.echo(f"{mark}{clean_text(heading)}" + "\n" * (how is not Format.text))
        print_text("" if how is Format.latex else found.verdict[0] + "\n")
        board = found.screen(columns)
        print_table(listing.shorten(board) if how is Format.text else board.head(listing.top or len(board.rows)), how)
        typer.echo("")
    print_table(listing.shorten(table) if how is Format.text else table.head(listing.top or len(table.rows)), how)


def evaluate_segment(data: "Data", name: str, evaluating: Evaluating, options: dict[str, Any]) -> "Evaluation | None":
    """Evaluate one segment; if that fails, print a note and return None.

    If there are several connected components, the largest one is kept unless ``--components`` is given.
    """
    from nashboard.data.matches import Matches
    from nashboard.errors import InputError
    from nashboard.evaluation.evaluate import evaluate

    try:
        data = choose_agents(data, evaluating.agents, evaluating.exclude)
        data = complete_scores(data, evaluating.missing, modelled=True)
        if isinstance(data, Matches):
            wanted = evaluating.components if "components" in given_options() else Components.largest
            data = keep_connected(data, wanted, evaluating.min_games, verbose=False)  # the evaluation warns
        elif evaluating.min_games is not None:
            refuse(("min_games",), FOR_MATCHES)
        anchor = {agent: rating for agent, rating in (options.get("anchor") or {}).items() if agent in data.agents}
        return evaluate(data, **options | {"anchor": anchor or None})
    except InputError as error:
        print_note(f"{name} left out: {error.render(make_spelling(('read', 'missing')))}")
        return None


def note_warnings(boards: "dict[str, tuple[str, ...]]") -> None:
    """Print the warnings of several boards; one that all of them share is printed once."""
    shared = set.intersection(*map(set, boards.values()))
    for name, warnings in boards.items():
        for warning in warnings:
            if warning not in shared or name == next(iter(boards)):
                print_note(f"note: {warning}" if warning in shared else f"{name}: {warning}")


def boards_as_json(column: str, boards: "dict[str, Evaluation]", table: "Table", without: int) -> str:
    """Return all boards, and the table that compares them, as one JSON object."""
    content = {
        "schema": "nashboard/segments/1",
        "column": column,
        "segments": {value: found.to_dict() for value, found in boards.items()},
        "rows_without_value": without,
        "comparison": {"columns": [one.name for one in table.columns], "rows": table.rows, "notes": table.notes},
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


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
    """Write a report: one HTML file that needs no network.

    It contains the verdict, boards, charts, audit and stress test.
    FILE may also be the .json of an evaluation; the page then lacks the parts that need the data.

    \b
    Examples:
      nashboard report battles.parquet -o report.html
      nashboard report scores.csv --title "Our suite" --open
      nashboard report votes.csv --segment language
      nashboard report dataset:atari -o - > atari.html
    """
    from nashboard.evaluation.document import check_target
    from nashboard.evaluation.evaluate import evaluate
    from nashboard.report.build import as_page, write_page

    path = None if output == "-" else Path(output or name_report(source))
    if path is None and look:
        raise InputError("--open needs a file: what goes to standard output cannot be opened")
    if path is not None:
        check_target(path)
        if path.suffix.lower() != ".html":
            options.refuse(("title", "look", "segment"), f"a file that ends in {path.suffix} is not a page")
    boards: dict[str, Evaluation] = {}
    evaluation = read_saved(source)
    if evaluation is not None:
        options.refuse(EVALUATING, f"{source!r} is a saved evaluation; give it the data to evaluate again")
    else:
        if evaluating.components is options.Components.each:
            raise InputError(
                "a report shows one board: use --components largest, or nashboard evaluate --components each"
            )
        evaluation = evaluate(evaluating.data(source, reading), **evaluating.settings())
        if evaluating.segment is not None:
            boards, _ = evaluate_segments(source, reading, evaluating)
    with show_progress("Writing the report ...") as progress:
        if path is None:
            text = as_page(evaluation, title=title, say=progress.step, segments=boards)
        elif path.suffix.lower() == ".html":
            write_page(evaluation, path, title=title, say=progress.step, segments=boards)
        else:
            evaluation.report(path)
    if path is None:
        typer.echo(text, nl=False)
    elif path.suffix.lower() == ".html":
        print_note(f"Wrote the report to {str(path)!r} ({path.stat().st_size / 1e6:.1f} MB): open it in a browser.")
    else:
        print_note(f"Wrote {str(path)!r}.")
    for warning in evaluation.warnings:
        if not boards or not all(warning in board.warnings for board in boards.values()):  # else it was printed above
            print_note(f"note: {warning}")
    if look and path is not None:
        typer.launch(path.resolve().as_uri())


def name_report(source: str) -> str:
    """Return the default file name of a report: in the current folder, named after the source."""
    name = PurePath(source.removeprefix("dataset:")).name
    stem = name.split(".")[0] if "*" not in name and name != "-" else ""
    return f"{stem}-report.html" if stem else "report.html"


def read_saved(source: str) -> "Evaluation | None":
    """Return the evaluation in a .json file, or None if the file contains something else."""
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
    """Reproduce the paper: its figures, tables and numbers.

    A folder is written, with a page of its numbers beside ours. The summary says how many are equal to the printed
    digits, and why others differ. With --format every claim is printed.

    \b
    Examples:
      nashboard paper
      nashboard paper -o reproduced --format csv
    """
    from nashboard.paper.reproduction import prepare_folder, reproduction, write_folder

    prepare_folder(output)  # a wrong folder is an error before the work
    with show_progress("Reproducing the paper ...") as progress:
        reproduced = reproduction(lambda part: progress.step(f"Computing: {part}"))
        page = write_folder(reproduced, output, progress.step)
    if how is Format.text:
        print_table(reproduced.differences())
        print_text("\n" + reproduced.summary)
    elif how is Format.json:
        print_json(reproduced.to_dict(), "paper/1")
    else:
        print_table(reproduced.table(), how)
    print_note(f"Wrote {str(page)!r}.")
