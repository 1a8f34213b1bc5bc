"""Displays of results: a chart, a table with its chart in a notebook, and a report.

The rooms of charts and of the report are below those of the results. Results reach them only through this module, which
imports them by name when they are needed; everywhere else a room imports only from rooms above it.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from nashboard._tables import Result, Table, as_html, as_plain_text
from nashboard.errors import NashboardError


def chart(result: Any, **options: Any) -> Any:
    """Draw the result as an Altair chart; options as for the function of `nashboard.charts` that draws it."""
    return import_module("nashboard.charts.export").draw_result(result, **options)


def mimebundle(result: Any, include: object = None, exclude: object = None) -> dict[str, str]:
    """Return what a notebook shows: the table, and the chart as a picture, without scripts or network."""
    try:
        picture = import_module("nashboard.charts.export").draw_svg(result)
    except (NashboardError, ImportError):  # no chart for this result, or no package to draw it
        picture = ""
    return {"text/plain": str(result), "text/html": result._repr_html_() + picture}


def write_report(
    evaluation: Any, path: str | Path, *, title: str | None = None, say: Callable[[str], None] | None = None
) -> None:
    """Write the report of an evaluation as a page of HTML."""
    import_module("nashboard.report.build").write_page(evaluation, path, title=title, say=say)


class Drawn(Result):
    """A result that is shown as a table and as a chart."""

    chart = chart
    _repr_mimebundle_ = mimebundle


class Findings(ABC):
    """A result of several tables and sentences."""

    schema: ClassVar[str]
    notes: tuple[str, ...]

    @abstractmethod
    def lines(self) -> tuple[str, ...]:
        """Return the findings as sentences."""

    @abstractmethod
    def tables(self) -> dict[str, Table]:
        """Return all tables by name; those without rows are left out."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""

    def text_tables(self) -> tuple[Table, ...]:
        """Return the tables that are printed as text."""
        return tuple(self.tables().values())

    def to_json(self) -> str:
        """Return `to_dict` as json, with a schema tag."""
        tagged = {"schema": self.schema, **self.to_dict()}
        return json.dumps(tagged, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def __str__(self) -> str:
        parts = ["\n".join(self.lines()), *map(as_plain_text, self.text_tables()), "\n".join(self.notes)]
        return "\n\n".join(parts if self.notes else parts[:-1])

    chart = chart
    _repr_mimebundle_ = mimebundle

    def _repr_html_(self) -> str:
        return "".join(as_html(table.head(50)) for table in self.tables().values())
