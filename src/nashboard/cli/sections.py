"""Printing a result of several parts: sentences, tables, notes, with an empty line between."""

from collections.abc import Iterable

import typer

from nashboard._tables import Table
from nashboard.cli.output import say, show


def show_sections(sentences: Iterable[str], tables: Iterable[Table], notes: Iterable[str] = ()) -> None:
    """Print sentences, then tables, then notes, to standard output."""
    parts: list[str | Table] = ["\n".join(sentences), *tables, "\n".join(notes)]
    for k, part in enumerate(part for part in parts if part):
        if k:
            typer.echo("")
        if isinstance(part, Table):
            show(part, explained=True)
        else:
            say(part)
