"""From an evaluation to one page of HTML: compute everything, make the sections, render the templates.

Templates escape everything, scripts are inside, nothing is fetched. A content security policy names the scripts by
their hashes: no other script runs in the page, whatever a name in the data says, and the page can reach no network.
Charts are drawn by Vega's interpreter, which needs no ``eval``.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePath
from typing import Any

import jinja2
from markupsafe import Markup, escape

from nashboard._files import write_text
from nashboard.charts.export import closed, drawing_script
from nashboard.charts.theme import THEMES
from nashboard.errors import InputError
from nashboard.evaluation.evaluation import Evaluation
from nashboard.report.about import cite, describe_data, describe_method
from nashboard.report.answer import show_answer, show_board, show_segments
from nashboard.report.blocks import Section, embedded
from nashboard.report.findings import Findings, Saying, find_everything
from nashboard.report.structure import show_cycles, show_redundancy, show_skills, show_tasks
from nashboard.report.trust import show_checks, show_copies, show_methods

# In the order of the page. A section is a function from `Findings`, or returns None where it does not apply.
SECTIONS: tuple[Callable[[Findings], Section | None], ...] = (
    show_answer,
    show_board,
    show_tasks,
    show_checks,
    show_segments,
    show_redundancy,
    show_skills,
    show_cycles,
    show_copies,
    show_methods,
    describe_method,
    describe_data,
    cite,
)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A report before it becomes a page: its sections, the version of the program and the hash of the data."""

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

    An evaluation that was read back from json makes a page without the parts that need the data. ``say`` is called with
    a few words before each step that takes time; a section compares ``segments``, evaluations of parts of the data.
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
    write_text(path, text)


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


POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)


@cache
def environment() -> jinja2.Environment:
    """Return the templates: everything is escaped, and what is not defined is an error."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("nashboard.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["breakable"] = breakable
    return found


def breakable(text: str) -> Markup:
    """Return a name that may be broken after its separators, or an interval whose ends stay together."""
    whole = re.sub(r"(?<=\d) (\[[-\d.,% ]+\])$", r' <span class="ends">\1</span>', str(escape(text)))
    return Markup(re.sub(r"(?<=\w)(?!(?<=\d)-\d)([-_/:]+|\.(?=[A-Za-z]))(?=\w)", r"\1<wbr>", whole))


def asset(name: str) -> str:
    """Return a style sheet or a script of ours."""
    loader = environment().loader
    assert loader is not None
    return closed(loader.get_source(environment(), name)[0])


def render_page(content: "Summary") -> str:
    """Return the report as one page; the same summary gives the same bytes."""
    scripts = {"early": asset("theme.js"), "drawing": drawing_script(), "late": asset("page.js")}
    allowed = " ".join(f"'sha256-{fingerprint(script)}'" for script in scripts.values())
    values: dict[str, Any] = {name: Markup(text) for name, text in scripts.items()}  # ours, and known by their hash
    return (
        environment()
        .get_template("report.html")
        .render(
            report=content,
            policy=POLICY.format(scripts=allowed),
            style=Markup(asset("page.css")),
            themes=Markup(embedded(THEMES)),
            json=lambda text: Markup(embedded(text)),
            raw=Markup,
            **values,
        )
    )


def fingerprint(script: str) -> str:
    """Return the hash by which a policy knows a script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
