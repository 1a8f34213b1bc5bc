"""Data: ``nashboard inspect FILE`` shows what was read, ``nashboard datasets`` what comes with the package."""

from typing import Annotated

import typer

from nashboard.cli.options import SourceArgument, refuse
from nashboard.cli.output import Showing, say
from nashboard.cli.reading import Reading


def inspect(source: SourceArgument, reading: Reading, showing: Showing) -> None:
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

    showing.show(inspected(reading.data(source)).table())


def datasets(
    showing: Showing,
    name: Annotated[str | None, typer.Argument(help="Show where this data set comes from.")] = None,
) -> None:
    """List the bundled data sets, or describe one and its source.

    \b
    Examples:
      nashboard datasets
      nashboard datasets atari
    """
    from nashboard.data.datasets import catalogue, described

    if name is None:
        showing.show(catalogue())
    else:
        refuse(("how", "output"), "the description of a data set is text")
        say(described(name))
