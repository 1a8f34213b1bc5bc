"""From a summary to one HTML file: templates that escape everything, scripts inside, nothing fetched.

A content security policy names the scripts by their hashes: no other script runs in the page, whatever a name in the
data says, and the page can reach no network. Charts are drawn by Vega's interpreter, which needs no ``eval``.
"""

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from nashboard.charts.export import closed, drawing_script
from nashboard.charts.theme import THEMES
from nashboard.report.blocks import embedded

if TYPE_CHECKING:
    from nashboard.report.build import Summary

POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)


@cache
def environment() -> jinja2.Environment:
    """Return the templates: everything is escaped, and what is not defined is an error."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("nashboard.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


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
