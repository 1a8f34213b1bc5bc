"""How results show themselves: a chart when asked for one, and in a notebook a table with the chart below it.

Results take both functions as their methods, most of them by being `Drawn`. What is drawn is decided in the room of
charts, which is imported only then: results do not depend on it.
"""

from importlib import import_module
from typing import Any

from nashboard._tables import Tabular
from nashboard.errors import NashboardError


def chart(result: Any, **options: Any) -> Any:
    """Draw the result as an Altair chart; options as for the function of `nashboard.charts` that draws it."""
    return import_module("nashboard.charts.results").chart_of(result, **options)


def mimebundle(result: Any, include: object = None, exclude: object = None) -> dict[str, str]:
    """Return what a notebook shows: the table, and the chart as a picture that needs neither scripts nor network."""
    try:
        picture = import_module("nashboard.charts.results").picture_of(result)
    except (NashboardError, ImportError):  # nothing to draw, or nothing to draw with: the table stands alone
        picture = ""
    return {"text/plain": str(result), "text/html": result._repr_html_() + picture}


class Drawn(Tabular):
    """What shows itself as a table and as a chart."""

    chart = chart
    _repr_mimebundle_ = mimebundle
