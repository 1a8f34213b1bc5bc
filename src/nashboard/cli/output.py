"""How every command shows tables: in colour on a terminal, plain in a pipe, or as a machine asks."""

import contextlib
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from nashboard._tables import MACHINE_FORMATS, Table, plain
from nashboard.errors import InputError


class Format(StrEnum):
    """What ``--format`` takes."""

    text = "text"
    json = "json"
    csv = "csv"
    md = "md"
    latex = "latex"


FormatOption = Annotated[Format, typer.Option("--format", help="How to print the result.")]
PrintOption = Annotated[  # where -o may be given too
    Format | None,
    typer.Option("--format", help="How to print the result; with -o the ending says it.", show_default="text"),
]
FORMATS = {".json": Format.json, ".csv": Format.csv, ".md": Format.md, ".tex": Format.latex, ".txt": Format.text}


def printed(how: Format | None, output: Path | None) -> Format:
    """Return how to print; a format that contradicts the ending of the file to write is an error."""
    if output is not None and how is not None and FORMATS.get(output.suffix.lower()) is not how:
        ending = next(ending for ending, meant in FORMATS.items() if meant is how)
        raise InputError(
            f"-o {str(output)!r} and --format {how} contradict each other: the ending of a file says how it is "
            f"written; leave --format out, or write {str(output.with_suffix(ending))!r}"
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


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Show that work is going on, while it goes on, to a person who watches standard error."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(escape(what)):
        yield
