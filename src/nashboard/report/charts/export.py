"""Charts as files: png, svg and pdf by vl-convert, html that needs no network, and the specification as json."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nashboard.data.write import atomically
from nashboard.errors import InputError
from nashboard.report.charts.theme import PAGES, Chart, Theme, themed

Writer = Callable[[dict[str, Any], float], bytes]


def save(chart: Chart, path: str | Path, *, theme: Theme = "light", scale: float = 2) -> None:
    """Write a chart to a file in the format of its ending: .png, .svg, .pdf, .html or .json.

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
    content = WRITERS[ending](specification(chart, theme, page=True), scale)
    atomically(path, lambda part: part.write_bytes(content))


def specification(chart: Chart, theme: Theme = "light", *, page: bool = False) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart under a theme; ``page`` puts the page's colour behind it."""
    found: dict[str, Any] = themed(chart, theme).to_dict()
    if page:
        found["background"] = PAGES[theme]
    return found


def png(spec: dict[str, Any], scale: float) -> bytes:
    """Return a picture of pixels."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(spec, scale=scale))


def svg(spec: dict[str, Any], _: float) -> bytes:
    """Return a picture of lines."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec)).encode()


def pdf(spec: dict[str, Any], _: float) -> bytes:
    """Return a page."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_pdf(spec))


def html(spec: dict[str, Any], _: float) -> bytes:
    """Return a page for a browser, with the scripts that draw it inside."""
    import vl_convert

    return str(vl_convert.vegalite_to_html(spec, bundle=True)).encode()


def as_json(spec: dict[str, Any], _: float) -> bytes:
    """Return the specification itself."""
    return (json.dumps(spec, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


WRITERS: dict[str, Writer] = {".png": png, ".svg": svg, ".pdf": pdf, ".html": html, ".json": as_json}
