"""Charts as files (png, svg, pdf, html without a network, json), and the default chart of every result."""

import json
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nashboard._files import cached_text, write_atomically
from nashboard.algebra.hodge import Hodge
from nashboard.algebra.latent import Latent
from nashboard.algebra.schur import Schur
from nashboard.charts.averages import weights
from nashboard.charts.boards import calibration, leaderboard, rating_history, ratings
from nashboard.charts.cycle_graph import cycles
from nashboard.charts.heat_maps import redundancy
from nashboard.charts.planes import latent, plane
from nashboard.charts.rank_lines import method_ranks, stress
from nashboard.charts.theme import PAGES, Chart, Theme, themed
from nashboard.equilibrium.results import NashAverage, ScoreNashAverage
from nashboard.errors import InputError
from nashboard.evaluation.audit.audit import Audit
from nashboard.evaluation.evaluation import Evaluation
from nashboard.evaluation.stress.stress import Stress
from nashboard.online.held_out import Calibrations
from nashboard.online.models import RatingHistory
from nashboard.ranking.trial import Trials
from nashboard.ratings.rating import Rating

OFFER = "window.vegaEmbed=vegaEmbed;"  # the last statement of the bundle
DRAW = "window.vegaEmbed('#chart', JSON.parse(document.getElementById('given').textContent), {actions: false});"
PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Chart</title>
<style>body {{ background: {background}; margin: 1rem }}</style></head>
<body><div id="chart"></div>
<script type="application/json" id="given">{given}</script>
<script type="module">{scripts}</script>
<script type="module">{draw}</script></body>
</html>
"""


def save(chart: Chart, path: str | Path, *, theme: Theme = "light", scale: float = 2) -> None:
    """Write a chart to a file in the format of its ending: .png, .svg, .pdf, .html or .json.

    The same chart gives the same bytes, but for pdf, in which vl-convert puts the fonts in any order.

    Parameters
    ----------
    chart
        Any chart of `nashboard.charts`.
    theme
        ``"light"`` or ``"dark"``; the file has the page's colour behind it.
    scale
        Pixels of a png for each pixel of the chart: 2 is sharp on most screens and in print.

    Examples
    --------
    >>> import nashboard as nb
    >>> chart = nb.charts.weights(nb.nash_average(nb.load_dataset("alphago")))
    >>> nb.charts.save(chart, "weights.bmp")
    Traceback (most recent call last):
    ...
    nashboard.errors.InputError: cannot write 'weights.bmp': use a name that ends in .png, .svg, .pdf, .html or .json
    """
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        *most, last = WRITERS
        raise InputError(f"cannot write {str(path)!r}: use a name that ends in {', '.join(most)} or {last}")
    if not (isinstance(scale, int | float) and 0.1 <= scale <= 20):
        raise InputError(f"scale is {scale!r}: it must be a number between 0.1 and 20 (2 is sharp on most screens)")
    content = WRITERS[ending](make_spec(chart, theme, page=True), scale)
    write_atomically(path, lambda part: part.write_bytes(content))


def make_spec(chart: Chart, theme: Theme = "light", *, page: bool = False) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart with a theme; ``page`` adds the background colour of the page."""
    spec: dict[str, Any] = themed(chart, theme).to_dict()
    if page:
        spec["background"] = PAGES[theme]
    return spec


def convert(ending: str, spec: dict[str, Any], **options: float) -> bytes:
    """Return a chart as png, svg or pdf."""
    import vl_convert

    picture = getattr(vl_convert, f"vegalite_to_{ending}")(spec, **options)
    return picture.encode() if isinstance(picture, str) else bytes(picture)


def html_page(spec: dict[str, Any]) -> bytes:
    """Return a page with the scripts that draw the chart; names are escaped, so that they cannot end a script."""
    given = json.dumps(spec, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return PAGE.format(given=given, scripts=drawing_script(), draw=DRAW, background=spec["background"]).encode()


@cache
def drawing_script() -> str:
    """Return Vega, Vega-Lite and Vega-Embed in one script, as vl-convert ships them; bundling takes seconds."""
    import vl_convert

    label = f"vl-convert {version('vl-convert-python')} {OFFER}"
    return escape_script(cached_text("drawing.js", label, lambda: str(vl_convert.javascript_bundle(OFFER))))


def escape_script(script: str) -> str:
    """Return a script in which no text ends the element that contains it."""
    return script.replace("</script", r"<\/script").replace("<!--", r"<\!--")


WRITERS: dict[str, Callable[[dict[str, Any], float], bytes]] = {
    ".png": lambda spec, scale: convert("png", spec, scale=scale),
    ".svg": lambda spec, _: convert("svg", spec),
    ".pdf": lambda spec, _: convert("pdf", spec),
    ".html": lambda spec, _: html_page(spec),
    ".json": lambda spec, _: (json.dumps(spec, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode(),
}


CHARTS: dict[type, Callable[..., Chart]] = {
    Evaluation: leaderboard,
    NashAverage: weights,
    ScoreNashAverage: weights,
    Schur: plane,
    Latent: latent,
    Hodge: cycles,
    Stress: stress,
    Audit: redundancy,
    Rating: ratings,
    Calibrations: calibration,
    RatingHistory: rating_history,
    Trials: method_ranks,
}


def draw_result(result: Any, **options: Any) -> Chart:
    """Draw the default chart of a result."""
    return next(CHARTS[kind] for kind in type(result).__mro__ if kind in CHARTS)(result, **options)


def draw_svg(result: Any) -> str:
    """Draw the default chart of a result as inline SVG with a background, which every notebook can show."""
    svg = convert("svg", make_spec(draw_result(result))).decode()
    return f'<div style="background:{PAGES["light"]};display:inline-block;padding:8px;max-width:100%">{svg}</div>'
