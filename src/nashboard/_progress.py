"""Progress of long work on standard error: on a terminal, if requested, and never with ``--quiet``."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID


class Progress:
    """The display that running work updates; without one both methods do nothing."""

    quiet = False  # set by --quiet, for the whole process

    def __init__(self, bars: "Bars | None" = None, task: "TaskID | None" = None) -> None:
        self.bars = bars
        self.task = task

    def step(self, what: str) -> None:
        """Show the current step."""
        if self.bars is not None and self.task is not None:
            from rich.markup import escape

            self.bars.update(self.task, description=escape(what))

    def advance(self, count: int = 1) -> None:
        """Count finished pieces of work."""
        if self.bars is not None and self.task is not None:
            self.bars.advance(self.task, count)


@contextmanager
def show_progress(what: str, *, total: int | None = None, asked: bool = True) -> Iterator[Progress]:
    """Show a line of progress inside the block: with a bar if the total is known, else with a spinner."""
    if Progress.quiet or not asked or not sys.stderr.isatty():
        yield Progress()
        return
    from rich import progress as rich
    from rich.console import Console
    from rich.markup import escape

    counted = [rich.BarColumn(), rich.TaskProgressColumn(), rich.TimeRemainingColumn()]
    rest = counted if total is not None else [rich.TimeElapsedColumn()]
    columns = (rich.SpinnerColumn(), rich.TextColumn("{task.description}"), *rest)
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        yield Progress(bars, bars.add_task(escape(what), total=total))
