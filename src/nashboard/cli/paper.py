"""``nashboard paper``: every number, table and figure of the paper, beside ours."""

from pathlib import Path
from typing import Annotated

import typer

from nashboard._progress import show_progress
from nashboard.cli.options import Format
from nashboard.cli.output import note, say, show, show_json


def paper(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="Write figures, tables and the page into it.")
    ] = Path("nashboard-paper"),
    how: Annotated[Format, typer.Option("--format", help="How to print the claims.")] = Format.text,
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
    with show_progress("Reproducing the paper ...") as progress:
        found = reproduction(lambda part: progress.step(f"Computing: {part}"))
        page = write_folder(found, output, progress.step)
    if how is Format.text:
        show(found.differences())
        say("\n" + found.summary)
    elif how is Format.json:
        show_json(found.to_dict(), "paper/1")
    else:
        show(found.table(), how)
    note(f"Wrote {str(page)!r}.")
