"""From an evaluation to one page of HTML: compute everything, make the sections, render the templates.

Templates escape all text, scripts are embedded, and nothing is fetched. A content security policy lists the scripts by
their hashes, so no other script runs in the page, whatever names the data contain, and the page has no network access.
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
from nashboard.charts.export import drawing_script, escape_script
from nashboard.charts.theme import THEMES
from nashboard.errors import InputError
from nashboard.evaluation.evaluation import Evaluation
from nashboard.report.about import cite, describe_data, describe_method
from nashboard.report.answer import show_answer, show_board, show_segments
from nashboard.report.blocks import Section, embed_json
from nashboard.report.findings import Findings, Saying, find_everything
from nashboard.report.structure import show_cycles, show_redundancy, show_skills, show_tasks
from nashboard.report.trust import show_checks, show_copies, show_methods

# In the order of the page. A section is a function of `Findings`; it returns None where it does not apply.
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
    return render_page(summarise(evaluation, title=title, say=say or ignore_progress, segments=segments or {}))


def write_page(
    evaluation: Evaluation,
    path: str | Path,
    *,
    title: str | None = None,
    say: Saying | None = None,
    segments: Mapping[str, Evaluation] | None = None,
) -> None:
    """Write the report to a file atomically."""
    write_text(path, as_page(evaluation, title=title, say=say, segments=segments))


def summarise(
    evaluation: Evaluation, *, title: str | None, say: Saying, segments: Mapping[str, Evaluation] | None = None
) -> Summary:
    """Compute everything that a report shows."""
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


def ignore_progress(_: str) -> None:
    """Show no progress."""


POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)


@cache
def load_templates() -> jinja2.Environment:
    """Return the templates: all text is escaped, and an undefined name is an error."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("nashboard.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["breakable"] = add_line_breaks
    return templates


def add_line_breaks(text: str) -> Markup:
    """Return a name with possible line breaks after its separators, or an interval whose ends stay together."""
    whole = re.sub(r"(?<=\d) (\[[-\d.,% ]+\])$", r' <span class="ends">\1</span>', str(escape(text)))
    return Markup(re.sub(r"(?<=\w)(?!(?<=\d)-\d)([-_/:]+|\.(?=[A-Za-z]))(?=\w)", r"\1<wbr>", whole))


def read_asset(name: str) -> str:
    """Return a style sheet or a script of the templates."""
    loader = load_templates().loader
    assert loader is not None
    return escape_script(loader.get_source(load_templates(), name)[0])


def render_page(content: "Summary") -> str:
    """Return the report as one page; the same summary gives the same bytes."""
    scripts = {"early": read_asset("theme.js"), "drawing": drawing_script(), "late": read_asset("page.js")}
    allowed = " ".join(f"'sha256-{hash_script(script)}'" for script in scripts.values())
    values: dict[str, Any] = {name: Markup(text) for name, text in scripts.items()}  # our own, allowed by their hashes
    return (
        load_templates()
        .get_template("report.html")
        .render(
            report=content,
            policy=POLICY.format(scripts=allowed),
            style=Markup(read_asset("page.css")),
            themes=Markup(embed_json(THEMES)),
            json=lambda text: Markup(embed_json(text)),
            raw=Markup,
            **values,
        )
    )


def hash_script(script: str) -> str:
    """Return the hash of a script for the content security policy."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
