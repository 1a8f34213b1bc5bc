"""`report`: an evaluation as one file that people open, read and pass on."""

from pathlib import Path

from nashboard._files import atomically
from nashboard.errors import InputError
from nashboard.evaluation.evaluation import Evaluation
from nashboard.report.findings import Saying
from nashboard.report.page import page
from nashboard.report.summary import summary


def silent(_: str) -> None:
    """Say nothing."""


def as_page(evaluation: Evaluation, *, title: str | None = None, say: Saying | None = None) -> str:
    """Return the report as one self-contained page of HTML.

    Parameters
    ----------
    evaluation
        What `evaluate` returned. One that was read back from json makes a page too, without the parts that need
        the data.
    title
        The heading of the page; by default the name of the file or data set.
    say
        Called with a few words before each step that takes time.

    Examples
    --------
    >>> import nashboard as nb
    >>> from nashboard.report.report import as_page
    >>> html = as_page(nb.evaluate(nb.load_dataset("rock-paper-scissors"), n_resamples=2))
    >>> html.startswith("<!doctype html>")
    True
    """
    if title is not None and not isinstance(title, str):
        raise InputError(f"the title is {title!r}: it must be text")
    return page(summary(evaluation, title=title, say=say or silent))


def write_page(
    evaluation: Evaluation, path: str | Path, *, title: str | None = None, say: Saying | None = None
) -> None:
    """Write the report whole or not at all."""
    text = as_page(evaluation, title=title, say=say)
    atomically(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))
