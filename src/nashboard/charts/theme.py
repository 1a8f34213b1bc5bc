"""The two themes, light and dark: one Vega-Lite configuration each.

Charts name what a mark *is* (``style="nash"``), never its colour; a theme says how that looks. Colours are those of
Okabe and Ito (2008), which people with any kind of colour vision can tell apart, a little lighter on dark pages.
"""

from functools import cache, partial
from typing import Any, Literal, get_args

import altair as alt

from nashboard._text import either, nearest
from nashboard.errors import InputError

Theme = Literal["light", "dark"]
Chart = alt.Chart | alt.LayerChart | alt.HConcatChart | alt.VConcatChart | alt.ConcatChart | alt.FacetChart
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif"
LABEL_LIMIT = 210  # pixels of a name on an axis; the whole name is in the tooltip


def config(
    *,
    text: str,
    soft: str,
    rule: str,
    faint: str,
    palette: dict[str, str],
    ramp: list[str],
    diverging: list[str],
) -> dict[str, Any]:
    """Return a configuration; the page behind a chart shows through."""
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
    "light": config(
        text="#1c2026", soft="#565d68", rule="#e3e6ea", faint="#c4c9d1", palette=PALETTES["light"],
        ramp=["#f4f7fa", "#bcd7ea", "#6aa9d2", "#0072b2", "#00385c"],
        diverging=["#8f3b00", "#d55e00", "#f3b58a", "#f6f6f4", "#9ccbe8", "#0072b2", "#003f66"],
    ),
    "dark": config(
        text="#e8eaed", soft="#a7aeb9", rule="#2c323b", faint="#4a525e", palette=PALETTES["dark"],
        ramp=["#1b222b", "#123f5e", "#1b6c9e", "#4fb0ea", "#d3ecfb"],
        diverging=["#ffc9a3", "#f28e4b", "#8a4a20", "#23282f", "#1b5a86", "#4fb0ea", "#c2e6fb"],
    ),
}  # fmt: skip


def themed(chart: Any, theme: Theme = "light") -> Chart:
    """Return a copy of a chart that looks as the theme says; the page's own colour shows through."""
    if theme not in get_args(Theme):
        raise InputError(f"there is no theme {theme!r}{nearest(str(theme), THEMES)}: use {either(THEMES)}")
    return dress(chart.copy(deep=False), theme)


def dress(chart: Chart, theme: Theme) -> Chart:
    """Give a chart the look of a theme."""
    chart.config = configuration(theme).copy()
    # Notebooks show a picture instead of a page that loads scripts from the network. Set past Altair, whose own
    # attributes are parts of the specification.
    object.__setattr__(chart, "_repr_mimebundle_", partial(as_picture, chart))
    return chart


def as_picture(chart: Chart, include: object = None, exclude: object = None) -> dict[str, str]:
    """Return a chart as svg for a notebook; it needs neither scripts nor a network."""
    import vl_convert

    return {"image/svg+xml": str(vl_convert.vegalite_to_svg(chart.to_dict()))}


@cache
def configuration(theme: Theme) -> alt.Config:
    """Return a theme as Altair holds it; it is checked once, not for every chart."""
    return alt.Config(**THEMES[theme])


def titled(chart: Any, title: Any, subtitle: list[str], description: str) -> Chart:
    """Finish a new chart: a title in plain words, what it shows, and a sentence for screen readers.

    The chart is changed, not copied: Altair's copies take longer than everything else.
    """
    chart.title = alt.TitleParams(title, subtitle=subtitle)
    chart.description = description
    return dress(chart, "light")
