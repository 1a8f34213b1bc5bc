"""How every command shows tables: in colour on a terminal, plain in a pipe, or as a machine asks."""

import contextlib
import sys
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

import typer

from nashboard._tables import MACHINE_FORMATS, Table, coloured, plain


class Format(StrEnum):
    """What ``--format`` takes."""

    text = "text"
    json = "json"
    csv = "csv"
    md = "md"
    latex = "latex"


FormatOption = Annotated[Format, typer.Option("--format", help="How to print the result.")]


def show(table: Table, how: Format = Format.text) -> None:
    """Print a table to standard output."""
    if how is not Format.text:
        typer.echo(MACHINE_FORMATS[how](table), nl=False)
    elif sys.stdout.isatty():
        from rich.console import Console

        Console().print(coloured(table))
    else:
        typer.echo(plain(table))


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


def tell(message: str) -> None:
    """Print a message to standard error."""
    typer.echo(message, err=True)
