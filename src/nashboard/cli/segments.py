"""``nashboard evaluate FILE --segment COLUMN``, or ``--components each``: several boards, and what sums them up."""

import json
from typing import TYPE_CHECKING, Any

import typer

from nashboard.cli.options import FOR_MATCHES, ColumnChoice, Components, Format, given_options, refuse
from nashboard.cli.output import Listing, note, say, show
from nashboard.cli.reading import (
    Evaluating,
    Reading,
    check_missing,
    choose_agents,
    complete_scores,
    keep_connected,
    show_reading,
    spelling,
)

if TYPE_CHECKING:
    from nashboard._tables import Table
    from nashboard.data.formats.format import Data
    from nashboard.data.segments import Segments
    from nashboard.evaluation.evaluation import Evaluation


def evaluate_segments(
    source: str, reading: Reading, evaluating: Evaluating, listing: Listing, columns: ColumnChoice
) -> None:
    """Evaluate every segment and print the boards and the comparison."""
    from nashboard.evaluation.segments import comparison

    boards, found = boards_of_segments(source, reading, evaluating)
    column = str(evaluating.segment)
    table = comparison(boards, column, found.notes)
    show_boards(boards, column, table, listing, columns, without=found.without)


def boards_of_segments(
    source: str, reading: Reading, evaluating: Evaluating
) -> "tuple[dict[str, Evaluation], Segments]":
    """Read and evaluate every segment; a segment that cannot be evaluated is named and left out."""
    from nashboard.errors import InputError
    from nashboard.ratings.rating import checked_anchor

    column, missing, options = str(evaluating.segment), evaluating.missing, evaluating.settings()
    found = read_parts(source, column, reading)
    for line in found.notes:
        note(line)
    for data in found.parts.values():
        check_missing(data, missing)  # not a reason to leave a segment out
    if found.parts:
        everybody = sorted({agent for data in found.parts.values() for agent in data.agents})
        checked_anchor(options.get("anchor"), everybody)  # one that is in no segment is a slip
    boards = {}
    for value, data in found.parts.items():
        board = one_segment(data, f"{column} = {value}", evaluating, options)
        if board is not None:
            boards[value] = board
    if not boards:
        reason = "no row has a value" if not found.parts and not found.refused else "see the reasons above"
        raise InputError(f"no segment of {column!r} could be evaluated: {reason}")
    note_warnings({f"{column} = {value}": board.warnings for value, board in boards.items()})
    return boards, found


def read_parts(source: str, column: str, reading: Reading) -> "Segments":
    """Read every segment; one that cannot be read is named and left out."""
    from nashboard.data.read import read_segments

    keywords = reading.keywords()
    with show_reading(source):
        found = read_segments(source, column, format=reading.as_format, **keywords)
    for value, why in found.refused.items():
        note(f"{column} = {value} left out: {why.render(spelling(('read', 'missing')))}")
    return found


def evaluate_each(data: "Data", options: dict[str, Any], listing: Listing, columns: ColumnChoice) -> None:
    """Evaluate every group of agents that never met another, and print the boards."""
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
    note_warnings({f"group of {name}": found.warnings for name, found in boards.items()})
    show_boards(boards, "group of", summary_of_components(boards), listing, columns)


def show_boards(
    boards: "dict[str, Evaluation]",
    column: str,
    table: "Table",
    listing: Listing,
    columns: ColumnChoice,
    *,
    without: int = 0,
) -> None:
    """Print several boards and the table that sums them up; csv has room for one table, with all rows."""
    from nashboard._tables import printable
    from nashboard.evaluation.segments import stacked

    how = listing.format
    if how is Format.json:
        typer.echo(as_json(column, boards, table, without), nl=False)
        return
    if how is Format.csv:
        refuse(("top", "columns"), "csv contains all boards in one table")
        show(stacked(boards, column), how)
        return
    mark = {Format.md: "## ", Format.latex: "% "}.get(how, "")
    for value, found in boards.items():
        typer.echo(f"{mark}{printable(f'{column} = {value}')}" + "\n" * (how is not Format.text))
        board = found.leaderboard(columns)
        show(listing.shorten(board) if how is Format.text else board.head(listing.top or len(board.rows)), how)
        say("" if how is Format.latex else "\n".join(found.verdict[:1]) + "\n")
    show(table, how)


def one_segment(data: "Data", name: str, evaluating: Evaluating, options: dict[str, Any]) -> "Evaluation | None":
    """Evaluate one segment; where that cannot be done, say why and go on with the others.

    Of agents that fall into groups which never met, the largest group is kept unless ``--components`` is given.
    """
    from nashboard.data.matches import Matches
    from nashboard.errors import InputError
    from nashboard.evaluation.evaluate import evaluate

    try:
        data = choose_agents(data, evaluating.agents, evaluating.exclude)
        data = complete_scores(data, evaluating.missing, modelled=True)
        if isinstance(data, Matches):
            wanted = evaluating.components if "components" in given_options() else Components.largest
            data = keep_connected(data, wanted, evaluating.min_games, tell=False)  # the evaluation warns
        elif evaluating.min_games is not None:
            refuse(("min_games",), FOR_MATCHES)
        held = {agent: rating for agent, rating in (options.get("anchor") or {}).items() if agent in data.agents}
        return evaluate(data, **options | {"anchor": held or None})
    except InputError as error:
        note(f"{name} left out: {error.render(spelling(('read', 'missing')))}")
        return None


def note_warnings(found: "dict[str, tuple[str, ...]]") -> None:
    """Print the warnings of several boards; one that all of them have once."""
    shared = set.intersection(*map(set, found.values()))
    for name, warnings in found.items():
        for warning in warnings:
            if warning not in shared or name == next(iter(found)):
                note(f"note: {warning}" if warning in shared else f"{name}: {warning}")


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
