"""Rows of a chart: plain values that json can hold, and how the part that is not drawn is named."""

from collections.abc import Iterable, Sequence
from types import UnionType
from typing import Any, Literal, get_args

import altair as alt
import numpy as np

from nashboard._text import distinct_head, either, nearest
from nashboard._types import Floats
from nashboard.errors import InputError

Side = Literal["agents", "tasks"]
ROW = 20  # pixels of a row with a name
WIDEST = 9  # pixels of a character of a name, but for a few


UNITS = {
    "log-odds": "log-odds of winning",
    "given": "in the unit of the payoffs",
    "margin": "wins minus losses per game",
    "scaling range": "scores from 0 to 1 on each task",
    "scaling rank": "share of agents beaten on each task",
    "scaling zscore": "standard deviations on each task",
}


class Rows(alt.InlineData):
    """Rows that the copies of a chart share: Altair copies at every step of its making, and nobody changes a row."""

    def __deepcopy__(self, _: object) -> "Rows":
        return self


class SharedEncoding(alt.FacetedEncoding):
    """What marks show, shared by the copies of a chart."""

    def __deepcopy__(self, _: object) -> "SharedEncoding":
        return self


def layered(*layers: Any, **options: Any) -> Any:
    """Draw charts above each other, as `alt.layer`, so that copies of the whole are cheap."""
    for layer in layers:
        if isinstance(layer, alt.Chart) and isinstance(layer.encoding, alt.FacetedEncoding):
            layer.encoding = SharedEncoding(**layer.encoding._kwds)
    return alt.layer(*layers, **options)


def inline(rows: Iterable[dict[str, Any]], digits: int = 9) -> alt.InlineData:
    """Return rows as the data of a chart; names are values, never fields, and what is not a number is left empty.

    Numbers keep so many digits: no more than anybody can see, and the same on every machine.
    """
    data = Rows(values=[])
    # not given above: Altair would look at every row of plain values
    data.values = [{key: plain(value, digits) for key, value in row.items()} for row in rows]
    return data


def plain(value: Any, digits: int) -> Any:
    """Return a value that json can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") + 0.0 if np.isfinite(value) else None
    return value


def unit_words(unit: str) -> str:
    """Return a unit in plain words."""
    return UNITS.get(unit, unit)


def checked_top(top: int) -> int:
    """Return how many rows are drawn, or say what it must be."""
    if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
        raise InputError(f"top is {top!r}: it must be a whole number, at least 1")
    return int(top)


def checked_kind(found: object, kind: type | UnionType, chart: str, source: str) -> None:
    """Say what a chart draws, if it is given something else."""
    if not isinstance(found, kind):
        raise InputError(f"{chart} needs what {source}, not {type(found).__name__}")


def checked_side(of: str, *, tasks: bool) -> Side:
    """Return whose chart it is, or say what there is."""
    if of not in get_args(Side):
        raise InputError(f"of is {of!r}{nearest(str(of), get_args(Side))}: use {either(get_args(Side))}")
    if of == "tasks" and not tasks:
        raise InputError("matches and payoffs have no tasks: use of='agents'")
    return "tasks" if of == "tasks" else "agents"


def checked_choice(value: str, allowed: Sequence[str], what: str) -> str:
    """Return one of the words that are allowed."""
    if value not in allowed:
        raise InputError(f"there is no {what} {value!r}{nearest(str(value), allowed)}: use {either(allowed)}")
    return value


def more(count: int) -> str:
    """Name the part that is folded into one row."""
    return f"and {count:,} more"


def axis_of_names(title: str | None = None, most: int = 34, names: Sequence[str] = (), **options: Any) -> alt.Axis:
    """Return an axis of names, without ticks or a line; a long name keeps its two ends, the whole is in the tooltip.

    Where the names are given, they are cut where most of them stay different from each other.
    """
    name, head = "datum.label", distinct_head(names, most)
    ends = f"slice({name}, 0, {head}) + '…' + slice({name}, -{most - 1 - head})"
    shown = f"length({name}) > {most} ? {ends} : {name}"
    # names are cut once, by characters: the limit in pixels would cut off their ends again
    limit = {"labelLimit": most * WIDEST, **options}
    return alt.Axis(title=title, domain=False, ticks=False, labelPadding=6, labelExpr=shown, **limit)


def cells(
    names: Sequence[str], columns: Sequence[str], V: Floats, digits: int
) -> tuple[alt.Chart, list[alt.Parameter]]:
    """Return a chart of the cells of a table, as fields ``row``, ``column`` and ``value``, and what it needs to know.

    Each cell holds the positions of its names, which are written down once: long names must not fill the page.
    """
    rows = ({"i": i, "j": j, "value": V[i, j]} for i in range(len(names)) for j in range(len(columns)))
    chart = alt.Chart(inline(rows, digits)).transform_calculate(
        row="row_names[datum.i]", column="column_names[datum.j]"
    )
    known = {"row_names": list(names), "column_names": list(columns)}
    return chart, [alt.param(name=name, value=value) for name, value in known.items()]


def number(field: str, title: str, form: str = ".3f") -> alt.Tooltip:
    """Return a line of a tooltip with a number."""
    return alt.Tooltip(f"{field}:Q", title=title, format=form)


def text(field: str, title: str) -> alt.Tooltip:
    """Return a line of a tooltip with words."""
    return alt.Tooltip(f"{field}:N", title=title)


def every_row(base: alt.Chart, y: alt.Y) -> Any:
    """Return an empty layer that fixes the rows and their order, whatever later layers leave out."""
    return base.mark_text(text="").encode(y=y)
