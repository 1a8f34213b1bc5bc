"""``nashboard reduce FILE``: the smallest suite that keeps the board."""

from typing import Annotated

import typer

from nashboard._progress import show_progress
from nashboard.cli import options
from nashboard.cli.options import AsOption, Format, FormatOption, ReadOption, SourceArgument
from nashboard.cli.output import show, show_json
from nashboard.cli.reading import source_data, whole


def reduce(
    source: SourceArgument,
    level: options.Level = options.LEVEL,
    share: Annotated[float, typer.Option(help="Share of the pairs of agents that must be kept.")] = 1.0,
    missing: options.Missing = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Find a small set of tasks or items that keeps the order of the agents, and tasks that add nothing.

    \b
    Examples:
      nashboard reduce dataset:atari
      nashboard reduce items.csv --share 0.95 --format json
    """
    from nashboard.data.scores import Scores
    from nashboard.errors import InputError
    from nashboard.evaluation.decide.suite import reduce_suite

    data = whole(source_data(source, as_format, read), missing)
    if not isinstance(data, Scores):
        raise InputError(f"{source!r} does not contain scores of agents on tasks: there is no suite to reduce")
    with show_progress("Choosing tasks ..."):
        found = reduce_suite(data, level=level, share=share)
    if how is Format.json:
        show_json(found.to_dict(), "reduction/1")
    else:
        show(found.table(), how, explained=True)
