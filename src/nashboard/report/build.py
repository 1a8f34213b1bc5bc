"""From an evaluation to one page of HTML: work everything out, make the sections, render the templates."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from nashboard._files import atomically
from nashboard.errors import InputError
from nashboard.evaluation.evaluation import Evaluation
from nashboard.report.blocks import Section
from nashboard.report.findings import Saying, find_everything
from nashboard.report.html import render_page
from nashboard.report.sections import SECTIONS


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A report before it becomes a page.

    Parameters
    ----------
    title
        The heading of the page.
    sections
        In the order of the page; the answer comes first.
    version, data
        The version of the program, and the hash of the data.
    """

    title: str
    sections: tuple[Section, ...]
    version: str
    data: str


def as_page(
    evaluation: Evaluation,
    *,
    title: str | None = None,
    say: Saying | None = None,
    segments: Mapping[str, Evaluation] | None = None,
) -> str:
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
    segments
        Evaluations of parts of the data, by name; a section compares them.

    Examples
    --------
    >>> import nashboard as nb
    >>> from nashboard.report.build import as_page
    >>> html = as_page(nb.evaluate(nb.load_dataset("rock-paper-scissors"), n_resamples=2))
    >>> html.startswith("<!doctype html>")
    True
    """
    if title is not None and not isinstance(title, str):
        raise InputError(f"the title is {title!r}: it must be text")
    return render_page(summarise(evaluation, title=title, say=say or silent, segments=segments or {}))


def write_page(
    evaluation: Evaluation,
    path: str | Path,
    *,
    title: str | None = None,
    say: Saying | None = None,
    segments: Mapping[str, Evaluation] | None = None,
) -> None:
    """Write the report whole or not at all."""
    text = as_page(evaluation, title=title, say=say, segments=segments)
    atomically(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def summarise(
    evaluation: Evaluation, *, title: str | None, say: Saying, segments: Mapping[str, Evaluation] | None = None
) -> Summary:
    """Work out everything that a report shows."""
    found = find_everything(evaluation, say, segments or {})
    say("Drawing ...")
    made = (make(found) for make in SECTIONS)
    return Summary(
        title=default_title(evaluation) if title is None else title,
        sections=tuple(section for section in made if section is not None),
        version=evaluation.version,
        data=str(evaluation.input["hash"]),
    )


def default_title(evaluation: Evaluation) -> str:
    """Return the name of the file or data set that the report is about."""
    source = str(evaluation.input["source"])
    if source in ("memory", "-", ""):
        return "Leaderboard"
    name = source.removeprefix("dataset:")
    return PurePath(name).name.split(".")[0] or name


def silent(_: str) -> None:
    """Say nothing."""
