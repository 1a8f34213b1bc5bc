"""``nashboard evaluate FILE --segment COLUMN``, or ``--components each``: several boards, and what sums them up."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from nashboard.commands.output import Format, show, tell
from nashboard.commands.reading import option, reading

if TYPE_CHECKING:
    from nashboard._tables import Table
    from nashboard.data.formats.format import Data
    from nashboard.evaluation.evaluation import Evaluation

Patterns = tuple[list[str] | None, list[str] | None]


def evaluate_segments(
    source: str,
    as_format: str | None,
    read: list[str] | None,
    column: str,
    patterns: Patterns,
    missing: str | None,
    options: dict[str, Any],
    output: Path | None,
    how: Format,
) -> None:
    """Evaluate every segment and print, or write, the boards and the comparison."""
    from nashboard.data.addresses import scheme_of
    from nashboard.data.formats.format import Options
    from nashboard.data.sources import existing_paths
    from nashboard.data.watching import unchanged
    from nashboard.errors import InputError
    from nashboard.evaluation.segments import comparison, segment_values

    check_ending(output)
    boards: dict[str, Evaluation] = {}
    given = dict(map(option, read or []))
    where_it_is = {name: given[name] for name in ("separator", "table", "query") if name in given}
    with reading(source):
        values = segment_values(source, column, Options(**where_it_is))
    files = existing_paths(source) if scheme_of(source) is None else []
    with unchanged(files) as check:  # from the first segment to the last: they are parts of one table
        for value in values:
            asked = given.get("where", {})
            if str(value) != str(asked.get(column, value)):
                continue  # the user's own filter holds
            where = {**asked, column: value}
            read_by = given | {"where": where}
            found = one_segment(source, as_format, read_by, f"{column} = {value}", patterns, missing, options, check)
            if found is not None:
                boards[str(value)] = found
    if not boards:
        raise InputError(f"no segment of {column!r} could be evaluated: see the reasons above")
    show_boards(boards, column, comparison(boards, column), output, how)


def evaluate_each(data: "Data", options: dict[str, Any], output: Path | None, how: Format) -> None:
    """Evaluate every group of agents that never met another, and print, or write, the boards."""
    from nashboard.data.matches import Matches
    from nashboard.errors import InputError, listed
    from nashboard.evaluation.segments import evaluate_components, summary_of_components

    check_ending(output)
    if not isinstance(data, Matches):
        raise InputError("--components is for matches: scores have no groups that never met")
    boards = evaluate_components(data, **options)
    idle = [group[0] for group in data.components if len(group) == 1]
    if idle:
        tell(f"left out, since they met nobody: {listed(idle)}")
    for name, found in boards.items():
        for warning in found.warnings:
            tell(f"group of {name}: warning: {warning}")
    show_boards(boards, "group of", summary_of_components(boards), output, how)


def check_ending(output: Path | None) -> None:
    """Raise an error about a file that several boards cannot be written to, before any work is done."""
    from nashboard.errors import InputError

    if output is not None and output.suffix.lower() != ".json":
        raise InputError(f"cannot write {str(output)!r}: several boards are written as '.json'")


def show_boards(boards: "dict[str, Evaluation]", column: str, table: "Table", output: Path | None, how: Format) -> None:
    """Print, or write, several boards and the table that sums them up."""
    if output is not None:
        from nashboard.data.write import atomically

        text = as_json(column, boards, table)
        atomically(output, lambda part: part.write_text(text, encoding="utf-8"))
        tell(f"Wrote {str(output)!r}.")
    elif how is Format.json:
        typer.echo(as_json(column, boards, table), nl=False)
    else:
        if how is Format.text:
            for value, found in boards.items():
                typer.echo(f"{column} = {value}")
                show(found.leaderboard(), how)
                typer.echo("\n".join(found.verdict[:1]) + "\n")
        show(table, how)


def one_segment(
    source: str,
    as_format: str | None,
    given: dict[str, Any],
    name: str,
    patterns: Patterns,
    missing: str | None,
    options: dict[str, Any],
    check: Callable[[], None],
) -> "Evaluation | None":
    """Evaluate one segment; where that cannot be done, say why and go on with the others, if the table stands."""
    from nashboard.data.read import read
    from nashboard.errors import InputError
    from nashboard.evaluation.evaluate import evaluate
    from nashboard.evaluation.selecting import chosen, completed

    try:
        with reading(source, f", {name}"):
            data = read(source, format=as_format, **given)
        data = completed(chosen(data, *patterns), missing)
        held = {agent: rating for agent, rating in (options.get("anchor") or {}).items() if agent in data.agents}
        found = evaluate(data, **options | {"anchor": held or None})
    except InputError as error:
        check()
        tell(f"{name} left out: {error}")
        return None
    for warning in found.warnings:
        tell(f"{name}: warning: {warning}")
    return found


def as_json(column: str, boards: "dict[str, Evaluation]", table: "Table") -> str:
    """Return all boards, and the table that sums them up, as one object."""
    content = {
        "schema": "nashboard/segments/1",
        "column": column,
        "segments": {value: found.to_dict() for value, found in boards.items()},
        "comparison": {"columns": [one.name for one in table.columns], "rows": table.rows, "notes": table.notes},
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
