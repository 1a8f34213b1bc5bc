"""How every command shows tables: in colour on a terminal, plain in a pipe, or as a machine asks."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from nashboard._progress import Progress
from nashboard._tables import MACHINE_FORMATS, Table, plain
from nashboard.cli.options import Format
from nashboard.errors import InputError

FORMATS = {".json": Format.json, ".csv": Format.csv, ".md": Format.md, ".tex": Format.latex, ".txt": Format.text}


def printed_format(how: Format | None, output: Path | None) -> Format:
    """Return how to print; a format that contradicts the ending of the file to write is an error."""
    if output is not None and how is not None and FORMATS.get(output.suffix.lower()) is not how:
        ending = next(ending for ending, meant in FORMATS.items() if meant is how)
        raise InputError(
            f"-o {str(output)!r} and --format {how} contradict each other: the ending of the file decides; leave "
            f"--format out, or write {str(output.with_suffix(ending))!r}"
        )
    return how or Format.text


def show(table: Table, how: Format = Format.text, *, explained: bool = False) -> None:
    """Print a table to standard output; for people, if asked, with a line on what its numbers mean."""
    if how is not Format.text:
        typer.echo(MACHINE_FORMATS[how](table), nl=False)
    elif sys.stdout.isatty():
        from rich.console import Console

        from nashboard._screen import on_screen

        console = Console()
        console.print(on_screen(table, console.width, explained=explained))
    else:
        typer.echo(plain(table.explained() if explained else table))


def say(text: str, *, err: bool = False) -> None:
    """Print sentences; on a terminal lines end between words."""
    if not (sys.stderr if err else sys.stdout).isatty():
        typer.echo(text, err=err)
        return
    from rich.console import Console
    from rich.text import Text

    Console(stderr=err).print(Text(text))


def tell(message: str) -> None:
    """Print a message to standard error."""
    say(message, err=True)


def note(message: str) -> None:
    """Print a note to standard error, unless ``--quiet`` was given."""
    if not Progress.quiet:
        tell(message)


def show_sections(sentences: Iterable[str], tables: Iterable[Table], notes: Iterable[str] = ()) -> None:
    """Print sentences, then tables, then notes, to standard output, with an empty line between them."""
    parts: list[str | Table] = ["\n".join(sentences), *tables, "\n".join(notes)]
    for k, part in enumerate(part for part in parts if part):
        if k:
            typer.echo("")
        if isinstance(part, Table):
            show(part, explained=True)
        else:
            say(part)


def show_json(content: dict[str, Any], schema: str) -> None:
    """Print an object as json, with a schema tag such as ``nashboard/nash/1`` in front."""
    tagged = {"schema": f"nashboard/{schema}", **content}
    typer.echo(json.dumps(tagged, indent=2, ensure_ascii=False, allow_nan=False), nl=True)


def write_table(table: Table, output: Path) -> None:
    """Write a table to a file whose ending says how."""
    from nashboard._files import atomically

    how = FORMATS[output.suffix.lower()]
    text = plain(table) + "\n" if how is Format.text else MACHINE_FORMATS[how](table)
    atomically(output, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))
    note(f"Wrote {str(output)!r}.")
