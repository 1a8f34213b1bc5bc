"""``nashboard paper``: every number, table and figure of the paper, beside ours."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from nashboard.cli.output import Format, FormatOption, say, show, tell


def paper(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="Write figures, tables and the page into it.")
    ] = Path("nashboard-paper"),
    how: FormatOption = Format.text,
) -> None:
    """Reproduce the paper: a folder with its figures, its tables, and a page of its numbers beside ours.

    The summary is printed: how many are equal to the printed digits, and why others differ. With --format every claim
    is printed.

    \b
    Examples:
      nashboard paper
      nashboard paper -o reproduced --format csv
    """
    from nashboard.paper.folder import ready, write_folder
    from nashboard.paper.reproduction import reproduction

    ready(output)  # before the work, which a wrong folder would waste
    with progress() as step:
        found = reproduction(lambda part: step(f"Computing: {part}"))
        page = write_folder(found, output, step)
    if how is Format.text:
        show(found.differences())
        say("\n" + found.summary)
    elif how is Format.json:
        import json

        typer.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    else:
        show(found.table(), how)
    tell(f"Wrote {str(page)!r}.")


@contextlib.contextmanager
def progress() -> Iterator[Callable[[str], object]]:
    """Return a function that names the step: in place on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status("Reading the paper ...") as status:
        yield lambda step: status.update(escape(step))
