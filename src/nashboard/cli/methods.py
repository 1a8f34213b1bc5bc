"""``nashboard methods``: every way to rank, and what each promises."""

from nashboard.cli.options import Format, FormatOption
from nashboard.cli.output import show


def methods(how: FormatOption = Format.text) -> None:
    """List the ways to rank, and what each promises.

    \b
    Examples:
      nashboard methods
      nashboard methods --format json
    """
    from nashboard.ranking.registry import methods as registry

    show(registry().table(), how, explained=False)
