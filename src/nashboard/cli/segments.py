"""``nashboard evaluate FILE --segment COLUMN``, or ``--components each``: several boards, and what sums them up."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from nashboard._tables import MACHINE_FORMATS
from nashboard.cli.options import Evaluating, Format
from nashboard.cli.output import FORMATS, note, say, show
from nashboard.cli.reading import check_missing, choose_agents, complete_scores, reader_options, reading, spelling

if TYPE_CHECKING:
    from nashboard._tables import Table
    from nashboard.data.formats.format import Data
    from nashboard.data.segments import Segments
    from nashboard.evaluation.evaluation import Evaluation

Patterns = tuple[list[str] | None, list[str] | None]


def evaluate_segments(
    source: str,
    as_format: str | None,
    read: list[str] | None,
    evaluating: Evaluating,
    output: Path | None,
    how: Format,
) -> None:
    """Evaluate every segment and print, or write, the boards and the comparison."""
    from nashboard.evaluation.segments import comparison

    boards, found = boards_of_segments(source, as_format, read, evaluating)
    column = str(evaluating.segment)
    show_boards(boards, column, comparison(boards, column, found.notes), output, how, without=found.without)


def boards_of_segments(
    source: str, as_format: str | None, read: list[str] | None, evaluating: Evaluating
) -> "tuple[dict[str, Evaluation], Segments]":
    """Read and evaluate every segment; a segment that cannot be evaluated is named and left out."""
    from nashboard.errors import InputError
    from nashboard.ratings.rating import checked_anchor

    column, missing, options = str(evaluating.segment), evaluating.missing, evaluating.settings()
    patterns = evaluating.agents, evaluating.exclude
    found = read_parts(source, column, as_format, read)
    for line in found.notes:
        note(line)
    for data in found.parts.values():
        check_missing(data, missing)  # not a reason to leave a segment out
    if found.parts:
        everybody = sorted({agent for data in found.parts.values() for agent in data.agents})
        checked_anchor(options.get("anchor"), everybody)  # one that is in no segment is a slip
    boards = {}
    for value, data in found.parts.items():
        board = one_segment(data, f"{column} = {value}", patterns, missing, options)
        if board is not None:
            boards[value] = board
    if not boards:
        reason = "no row has a value" if not found.parts and not found.refused else "see the reasons above"
        raise InputError(f"no segment of {column!r} could be evaluated: {reason}")
    return boards, found


def read_parts(source: str, column: str, as_format: str | None, read: list[str] | None) -> "Segments":
    """Read every segment; one that cannot be read is named and left out."""
    from nashboard.data.read import read_segments

    with reading(source):
        found = read_segments(source, column, format=as_format, **reader_options(read))
    for value, why in found.refused.items():
        note(f"{column} = {value} left out: {why.render(spelling(('read', 'missing')))}")
    return found


def evaluate_each(data: "Data", options: dict[str, Any], output: Path | None, how: Format) -> None:
    """Evaluate every group of agents that never met another, and print, or write, the boards."""
    from nashboard._text import listed
    from nashboard.data.matches import Matches
    from nashboard.errors import InputError
    from nashboard.evaluation.segments import evaluate_components, summary_of_components

    if not isinstance(data, Matches):
        raise InputError("--components is for matches: scores have no groups that never met")
    boards = evaluate_components(data, **options)
    idle = [group[0] for group in data.components if len(group) == 1]
    if idle:
        note(f"left out, since they met nobody: {listed(idle)}")
    for name, found in boards.items():
        for warning in found.warnings:
            note(f"group of {name}: {warning}")
    show_boards(boards, "group of", summary_of_components(boards), output, how)


def show_boards(
    boards: "dict[str, Evaluation]",
    column: str,
    table: "Table",
    output: Path | None,
    how: Format,
    *,
    without: int = 0,
) -> None:
    """Print, or write, several boards and the table that sums them up."""
    if output is not None:
        from nashboard._files import atomically

        text = rendered(boards, column, table, FORMATS[output.suffix.lower()], without)
        atomically(output, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))
        note(f"Wrote {str(output)!r}.")
    elif how is Format.text:
        for value, found in boards.items():
            typer.echo(f"{column} = {value}")
            show(found.leaderboard(), how)
            say("\n".join(found.verdict[:1]) + "\n")
        show(table, how)
    else:
        typer.echo(rendered(boards, column, table, how, without), nl=False)


def rendered(boards: "dict[str, Evaluation]", column: str, table: "Table", how: Format, without: int) -> str:
    """Return several boards and the table that sums them up as one text; csv has room for one table, with all rows."""
    from nashboard._tables import plain, printable
    from nashboard.evaluation.segments import stacked

    if how is Format.json:
        return as_json(column, boards, table, without)
    if how is Format.csv:
        return MACHINE_FORMATS[how](stacked(boards, column))
    mark = {Format.md: "## ", Format.latex: "% "}.get(how, "")
    parts = []
    for value, found in boards.items():
        board = found.leaderboard()
        drawn = plain(board) + "\n" if how is Format.text else MACHINE_FORMATS[how](board)
        said = "" if how is Format.latex else "\n" + "\n".join(found.verdict[:1]) + "\n"
        parts.append(f"{mark}{printable(f'{column} = {value}')}\n\n{drawn}{said}")
    last = plain(table) + "\n" if how is Format.text else MACHINE_FORMATS[how](table)
    return "\n".join([*parts, last])


def one_segment(
    data: "Data", name: str, patterns: Patterns, missing: str | None, options: dict[str, Any]
) -> "Evaluation | None":
    """Evaluate one segment; where that cannot be done, say why and go on with the others."""
    from nashboard.errors import InputError
    from nashboard.evaluation.evaluate import evaluate

    try:
        data = complete_scores(choose_agents(data, *patterns), missing, modelled=True)
        held = {agent: rating for agent, rating in (options.get("anchor") or {}).items() if agent in data.agents}
        found = evaluate(data, **options | {"anchor": held or None})
    except InputError as error:
        note(f"{name} left out: {error.render(spelling(('read', 'missing')))}")
        return None
    for warning in found.warnings:
        note(f"{name}: {warning}")
    return found


def as_json(column: str, boards: "dict[str, Evaluation]", table: "Table", without: int) -> str:
    """Return all boards, and the table that sums them up, as one object."""
    content = {
        "schema": "nashboard/segments/1",
        "column": column,
        "segments": {value: found.to_dict() for value, found in boards.items()},
        "rows_without_value": without,
        "comparison": {"columns": [one.name for one in table.columns], "rows": table.rows, "notes": table.notes},
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
