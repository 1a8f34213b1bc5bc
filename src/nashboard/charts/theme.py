"""What all charts share: rows of plain values, axes of names, tooltips, titles, and the light and the dark theme.

Charts name what a mark *is* (``style="nash"``), never its colour; a theme, one Vega-Lite configuration, sets colours.
They are those of Okabe and Ito (2008), which people with any kind of colour vision can distinguish, a little lighter on
dark pages.
"""

from collections.abc import Iterable, Sequence
from functools import cache, partial
from types import UnionType
from typing import Any, Literal, get_args

import altair as alt
import numpy as np

from nashboard._text import distinct_head, either, nearest
from nashboard._types import Floats
from nashboard.errors import InputError, check_choice

Theme = Literal["light", "dark"]
Chart = alt.Chart | alt.LayerChart | alt.HConcatChart | alt.VConcatChart | alt.ConcatChart | alt.FacetChart
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif"
LABEL_LIMIT = 210  # pixels of a name on an axis; the whole name is in the tooltip


def make_config(
    *,
    text: str,
    soft: str,
    rule: str,
    faint: str,
    palette: dict[str, str],
    ramp: list[str],
    diverging: list[str],
) -> dict[str, Any]:
    """Return a configuration with a transparent background."""
    blue, orange = palette["blue"], palette["orange"]
    return {
        "background": "transparent",
        "font": FONT,
        "padding": 8,
        "view": {"stroke": None, "continuousWidth": 420, "continuousHeight": 320},
        "title": {
            "anchor": "start", "color": text, "fontSize": 16, "fontWeight": 600, "subtitleColor": soft,
            "subtitleFontSize": 12, "subtitlePadding": 6, "offset": 14, "frame": "bounds", "subtitleLineHeight": 16,
        },
        "axis": {
            "labelColor": text, "labelFontSize": 12, "labelLimit": LABEL_LIMIT, "titleColor": soft, "titleFontSize": 12,
            "titleFontWeight": "normal", "gridColor": rule, "domainColor": rule, "tickColor": rule, "titlePadding": 8,
        },
        "legend": {
            "labelColor": text, "labelFontSize": 12, "titleColor": soft, "titleFontSize": 12, "labelLimit": 260,
            "titleFontWeight": "normal", "orient": "bottom", "symbolSize": 90, "titleLimit": 420,
        },
        "header": {"labelColor": text, "labelFontSize": 13, "titleColor": soft},
        "text": {"color": text, "fontSize": 11},
        "line": {"strokeWidth": 2},
        "range": {
            "category": list(palette.values()),
            "ramp": ramp,
            "heatmap": ramp,
            "diverging": diverging,
        },
        "style": {
            "nash": {"color": blue},
            "other": {"color": orange},
            "plain": {"color": soft},
            "tail": {"color": faint},
            "gain": {"color": blue, "fill": blue, "stroke": blue, "fillOpacity": 0.22},
            "loss": {"color": orange, "fill": orange, "stroke": orange, "fillOpacity": 0.22},
            "interval": {"color": soft, "strokeWidth": 1.6},
            "zero": {"color": soft, "strokeWidth": 1, "strokeDash": [3, 3]},
            "frame": {"color": text, "fillOpacity": 0, "stroke": text, "strokeWidth": 1.6},
            "clones": {"color": orange, "fillOpacity": 0, "stroke": orange, "strokeWidth": 2.5},
            "note": {"fill": soft, "fontSize": 11},
            "name": {"fill": text, "fontSize": 11},
        },
    }  # fmt: skip


PALETTES = {
    "light": {
        "blue": "#0072B2", "orange": "#D55E00", "green": "#009E73", "pink": "#CC79A7", "yellow": "#E69F00",
        "sky": "#56B4E9", "grey": "#8A8F98",
    },
    "dark": {
        "blue": "#4FB0EA", "orange": "#F28E4B", "green": "#35C79A", "pink": "#E79BC4", "yellow": "#F3C24F",
        "sky": "#9AD4F5", "grey": "#8A8F98",
    },
}  # fmt: skip
PAGES = {"light": "#ffffff", "dark": "#14171c"}
THEMES: dict[str, dict[str, Any]] = {
    "light": make_config(
        text="#1c2026", soft="#565d68", rule="#e3e6ea", faint="#c4c9d1", palette=PALETTES["light"],
        ramp=["#f4f7fa", "#bcd7ea", "#6aa9d2", "#0072b2", "#00385c"],
        diverging=["#8f3b00", "#d55e00", "#f3b58a", "#f6f6f4", "#9ccbe8", "#0072b2", "#003f66"],
    ),
    "dark": make_config(
        text="#e8eaed", soft="#a7aeb9", rule="#2c323b", faint="#4a525e", palette=PALETTES["dark"],
        ramp=["#1b222b", "#123f5e", "#1b6c9e", "#4fb0ea", "#d3ecfb"],
        diverging=["#ffc9a3", "#f28e4b", "#8a4a20", "#23282f", "#1b5a86", "#4fb0ea", "#c2e6fb"],
    ),
}  # fmt: skip


def themed(chart: Any, theme: Theme = "light") -> Chart:
    """Return a copy of a chart with a theme; the background is transparent."""
    check_choice(theme, get_args(Theme), "theme")
    return apply_theme(chart.copy(deep=False), theme)


def apply_theme(chart: Chart, theme: Theme) -> Chart:
    """Set the theme of a chart, in place."""
    chart.config = load_config(theme).copy()
    # Notebooks show a picture instead of a page that loads scripts from the network. Set past Altair, whose own
    # attributes are parts of the specification.
    object.__setattr__(chart, "_repr_mimebundle_", partial(as_picture, chart))
    return chart


def as_picture(chart: Chart, include: object = None, exclude: object = None) -> dict[str, str]:
    """Return a chart as svg for a notebook, without scripts or network."""
    import vl_convert

    return {"image/svg+xml": str(vl_convert.vegalite_to_svg(chart.to_dict()))}


@cache
def load_config(theme: Theme) -> alt.Config:
    """Return a theme as an Altair configuration, which is validated once."""
    return alt.Config(**THEMES[theme])


def add_title(chart: Any, title: Any, subtitle: list[str], description: str) -> Chart:
    """Finish a new chart: add a title, a subtitle and a description for screen readers.

    The chart is changed, not copied: Altair's copies take longer than everything else.
    """
    chart.title = alt.TitleParams(title, subtitle=subtitle)
    chart.description = description
    return apply_theme(chart, "light")


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
    """Rows that the copies of a chart share: Altair copies a chart in every method, and rows are never changed."""

    def __deepcopy__(self, _: object) -> "Rows":
        return self


class SharedEncoding(alt.FacetedEncoding):
    """An encoding that the copies of a chart share."""

    def __deepcopy__(self, _: object) -> "SharedEncoding":
        return self


def layer(*layers: Any, **options: Any) -> Any:
    """Layer charts as `alt.layer` does, with cheap copies."""
    for layer in layers:
        if isinstance(layer, alt.Chart) and isinstance(layer.encoding, alt.FacetedEncoding):
            layer.encoding = SharedEncoding(**layer.encoding._kwds)
    return alt.layer(*layers, **options)


def inline(rows: Iterable[dict[str, Any]], digits: int = 9) -> alt.InlineData:
    """Return rows as the data of a chart; names are values, never fields, and numbers that are not finite are null.

    Numbers are rounded to ``digits``: more than visible, and the same on every machine.
    """
    data = Rows(values=[])
    # not in the constructor, where Altair would check every row
    data.values = [{key: plain_value(value, digits) for key, value in row.items()} for row in rows]
    return data


def plain_value(value: Any, digits: int) -> Any:
    """Return a value that json can contain."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") + 0.0 if np.isfinite(value) else None
    return value


def describe_unit(unit: str) -> str:
    """Return a unit in plain words."""
    return UNITS.get(unit, unit)


def check_top(top: int) -> int:
    """Return the number of rows to draw; raise an error if it is not a positive whole number."""
    if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
        raise InputError(f"top is {top!r}: it must be a whole number, at least 1")
    return int(top)


def check_kind(found: object, kind: type | UnionType, chart: str, source: str) -> None:
    """Raise an error if a chart is given a result of another kind."""
    if not isinstance(found, kind):
        raise InputError(f"{chart} needs what {source}, not {type(found).__name__}")


def check_side(of: str, *, tasks: bool) -> Side:
    """Return the side of the board to draw; raise an error if there are no tasks."""
    if of not in get_args(Side):
        raise InputError(f"of is {of!r}{nearest(str(of), get_args(Side))}: use {either(get_args(Side))}")
    if of == "tasks" and not tasks:
        raise InputError("matches and payoffs have no tasks: use of='agents'")
    return "tasks" if of == "tasks" else "agents"


def name_rest(count: int) -> str:
    """Return the name of the row into which the others are folded."""
    return f"and {count:,} more"


def name_axis(title: str | None = None, most: int = 34, names: Sequence[str] = (), **options: Any) -> alt.Axis:
    """Return an axis of names, without ticks or a line; long names are shortened in the middle.

    If the names are given, they are cut where most of them stay different from each other.
    """
    name, head = "datum.label", distinct_head(names, most)
    ends = f"slice({name}, 0, {head}) + '…' + slice({name}, -{most - 1 - head})"
    shown = f"length({name}) > {most} ? {ends} : {name}"
    # names are cut once, by characters: the limit in pixels would cut off their ends again
    limit = {"labelLimit": most * WIDEST, **options}
    return alt.Axis(title=title, domain=False, ticks=False, labelPadding=6, labelExpr=shown, **limit)


def cell_chart(
    names: Sequence[str], columns: Sequence[str], V: Floats, digits: int
) -> tuple[alt.Chart, list[alt.Parameter]]:
    """Return a chart of the cells of a table, with fields ``row``, ``column`` and ``value``, and its parameters.

    Each cell has the positions of its names, which are parameters, so that long names are written once.
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


def fix_rows(base: alt.Chart, y: alt.Y) -> Any:
    """Return an empty layer that fixes the rows and their order for all layers."""
    return base.mark_text(text="").encode(y=y)
