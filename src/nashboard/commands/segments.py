"""``nashboard evaluate FILE --segment COLUMN``: one board per segment, and a comparison."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from nashboard.commands.output import Format, show, tell, working
from nashboard.commands.reading import option

if TYPE_CHECKING:
    from nashboard.evaluation.evaluation import Evaluation

Patterns = tuple[list[str] | None, list[str] | None]


def evaluate_segments(
    source: str,
    as_format: str | None,
    read: list[str] | None,
    column: str,
    patterns: Patterns,
    options: dict[str, Any],
    output: Path | None,
    how: Format,
) -> None:
    """Evaluate every segment and print, or write, the boards and the comparison."""
    from nashboard.data.formats.format import Options
    from nashboard.errors import InputError, listed
    from nashboard.evaluation.segments import comparison, segment_values

    boards: dict[str, Evaluation] = {}
    given = dict(map(option, read or []))
    where_it_is = {name: given[name] for name in ("separator", "table", "query") if name in given}
    for value in segment_values(source, column, Options(**where_it_is)):
        where = {**given.get("where", {}), column: value}
        found = one_segment(source, as_format, given | {"where": where}, f"{column} = {value}", patterns, options)
        if found is not None:
            boards[str(value)] = found
    if not boards:
        raise InputError(f"no segment of {column!r} could be evaluated: see the reasons above")
    table = comparison(boards, column)
    if output is not None:
        from nashboard.data.write import atomically

        if output.suffix.lower() != ".json":
            raise InputError(
                f"cannot write {str(output)!r}: boards of several segments are written as {listed(['.json'])}"
            )
        text = as_json(column, boards)
        atomically(output, lambda part: part.write_text(text, encoding="utf-8"))
        tell(f"Wrote {str(output)!r}.")
    elif how is Format.json:
        typer.echo(as_json(column, boards), nl=False)
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
    options: dict[str, Any],
) -> "Evaluation | None":
    """Evaluate one segment; where that cannot be done, say why and go on with the others."""
    from nashboard.data.addresses import without_secrets
    from nashboard.data.read import read_matches
    from nashboard.errors import InputError
    from nashboard.evaluation.evaluate import evaluate
    from nashboard.evaluation.selecting import chosen

    try:
        with working(f"Reading {without_secrets(source)}, {name} ..."):
            data = read_matches(source, format=as_format, **given)
        found = evaluate(chosen(data, *patterns), **options)
    except InputError as error:
        tell(f"{name} left out: {error}")
        return None
    for warning in found.warnings:
        tell(f"{name}: warning: {warning}")
    return found


def as_json(column: str, boards: "dict[str, Evaluation]") -> str:
    """Return all boards as one object."""
    content = {
        "schema": "nashboard/segments/1",
        "column": column,
        "segments": {value: found.to_dict() for value, found in boards.items()},
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
