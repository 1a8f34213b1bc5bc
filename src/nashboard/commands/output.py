"""How every command shows tables: in colour on a terminal, plain in a pipe, or as a machine asks."""

import contextlib
import sys
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

import typer

from nashboard._tables import MACHINE_FORMATS, Table, plain


class Format(StrEnum):
    """What ``--format`` takes."""

    text = "text"
    json = "json"
    csv = "csv"
    md = "md"
    latex = "latex"


FormatOption = Annotated[Format, typer.Option("--format", help="How to print the result.")]


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
