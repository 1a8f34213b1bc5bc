"""``nashboard datasets``: what comes with the package."""

from typing import Annotated

import typer

from nashboard.cli.options import Format, FormatOption, refuse
from nashboard.cli.output import say, show


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
