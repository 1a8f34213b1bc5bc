"""Data: ``nashboard inspect FILE`` shows what was read, ``nashboard datasets`` what comes with the package."""

from typing import Annotated

import typer

from nashboard.cli.options import AsOption, Format, FormatOption, ReadOption, SourceArgument, refuse
from nashboard.cli.output import say, show
from nashboard.cli.reading import source_data


def inspect(
    source: SourceArgument, as_format: AsOption = None, read: ReadOption = None, how: FormatOption = Format.text
) -> None:
    """Show what a file contains, on one screen.

    Its format, agents, tasks, games, coverage, missing cells, copies, and what was left out and why.

    \b
    Examples:
      nashboard inspect battles.parquet
      nashboard inspect log.csv -r a=player -r b=rival -r outcome=won
      nashboard inspect dataset:atari --format json
      zcat log.csv.gz | nashboard inspect -
    """
    from nashboard.data.inspection import inspected

    show(inspected(source_data(source, as_format, read)).table(), how)


def datasets(
    name: Annotated[str | None, typer.Argument(help="Show where this data set comes from.")] = None,
    how: FormatOption = Format.text,
) -> None:
    """List the bundled data sets, or describe one and its source.

    \b
    Examples:
      nashboard datasets
      nashboard datasets atari
    """
    from nashboard.data.datasets import catalogue, described

    if name is None:
        show(catalogue(), how)
    else:
        refuse(("how",), "the description of a data set is text")
        say(described(name))
