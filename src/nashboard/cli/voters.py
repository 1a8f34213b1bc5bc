"""``nashboard voters FILE --voter COLUMN``: how far voters agree, and who does not look at the answers."""

from typing import Annotated

import typer

from nashboard._progress import show_progress
from nashboard.cli import options
from nashboard.cli.options import AsOption, Format, FormatOption, ReadOption, SourceArgument
from nashboard.cli.output import show, show_json, show_sections
from nashboard.cli.reading import reader_options


def voters(
    source: SourceArgument,
    voter: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column that says who voted; voter, worker, judge, ... if not given."),
    ] = None,
    item: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of what was voted on, to measure agreement.")
    ] = None,
    top: options.Top = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Examine voters: agreement, votes at random, votes always for the same side, and the board without them.

    \b
    Examples:
      nashboard voters votes.csv
      nashboard voters votes.csv --voter worker --item prompt_id --format json
    """
    from nashboard.errors import InputError
    from nashboard.evaluation.decide.voters import read_voters

    given = reader_options(read)
    if "cluster" in given:
        raise InputError("-r cluster= has no effect here: --voter and --item name the columns")
    with show_progress("Examining voters ..."):
        found = read_voters(source, voter=voter, item=item, format=as_format, **given)
    table = found.table() if top is None else found.table().head(top)
    if how is Format.json:
        options.refuse(("top",), "json contains all voters")
        show_json(found.to_dict(), "voters/1")
    elif how is Format.text:
        show_sections((), [table, found.board()])
    else:
        show(table, how)
