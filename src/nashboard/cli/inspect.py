"""``nashboard inspect FILE``: what was read, on one screen."""

from nashboard.cli.options import AsOption, Format, FormatOption, ReadOption, SourceArgument
from nashboard.cli.output import show
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
