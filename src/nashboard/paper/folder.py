"""The folder that ``nashboard paper`` writes: figures, tables, every claim, and a page for people.

Each file is written whole or not at all, the page last, so that a page never points at what is not there.
"""

import base64
import errno
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nashboard._files import WRONG_NAME, atomically
from nashboard._tables import as_csv, as_markdown
from nashboard._version import __version__
from nashboard.charts.export import save as save_chart
from nashboard.charts.export import specification, svg
from nashboard.errors import InputError, WriteError
from nashboard.paper.claims import Figure, claims_table
from nashboard.paper.reproduction import Reproduction

MARKS = {"equal": "=", "different": "≠", "not printed": "·"}


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure inside a page: the addresses of its light and of its dark picture, which hold the picture itself."""

    light: str
    dark: str


def write_folder(found: Reproduction, folder: str | Path, tell: Callable[[str], object] = lambda _: None) -> Path:
    """Write figures (png and svg), tables and claims (csv and json), ``paper.md`` and ``index.html``.

    Returns the path of the page. Files of other names in the folder are left alone.
    """
    folder = ready(folder)
    pictures = {}
    for part in found.parts:
        for name, figure in part.figures.items():
            tell(f"Drawing {name}")
            for ending in ("png", "svg"):
                save_chart(figure.chart, folder / "figures" / f"{name}.{ending}")
            pictures[name] = picture(figure)
        for name, table in part.tables.items():
            write_text(folder / "tables" / f"{name}.csv", as_csv(table))
    write_text(folder / "claims.csv", as_csv(found.table()))
    write_text(folder / "claims.json", json.dumps(found.to_dict(), indent=2, ensure_ascii=False) + "\n")
    write_text(folder / "paper.md", markdown(found))
    write_text(folder / "index.html", html(found, pictures))
    return folder / "index.html"


def ready(folder: str | Path) -> Path:
    """Make the folder where there is none, or say why that cannot be done."""
    for place in (Path(folder), Path(folder, "figures"), Path(folder, "tables")):
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            kind = InputError if error.errno in (*WRONG_NAME, errno.EEXIST) else WriteError
            raise kind(f"cannot write into {str(place)!r}: {error.strerror or error}; give another folder") from None
    return Path(folder)


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    atomically(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def picture(figure: Figure) -> Picture:
    """Return a figure as addresses that hold it, so that the page needs no other file."""

    def address(theme: str) -> str:
        content = svg(specification(figure.chart, "dark" if theme == "dark" else "light", page=True), 1)
        return "data:image/svg+xml;base64," + base64.b64encode(content).decode()

    return Picture(light=address("light"), dark=address("dark"))


def html(found: Reproduction, pictures: dict[str, Picture]) -> str:
    """Return the page; everything in it is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("nashboard.paper", "."), autoescape=True, undefined=StrictUndefined)
    page = environment.get_template("page.html.jinja")
    return page.render(found=found, pictures=pictures, version=__version__, marks=MARKS) + "\n"


def markdown(found: Reproduction) -> str:
    """Return the page as markdown, with the figures beside it."""
    lines = [
        "# Re-evaluating Evaluation, reproduced",
        "",
        f"Balduzzi, Tuyls, Perolat, Graepel 2018, beside what nashboard {__version__} computes from its bundled data.",
        "Equal means equal to the printed digits; a statement holds where its largest error is below 1e-9.",
        "",
        found.summary,
        "",
        "## Not as printed",
        "",
        as_markdown(found.differences()).partition("\n\n")[2],
    ]
    for part in found.parts:
        lines += [f"## {part.title}", "", part.words, "", as_markdown(claims_table(found.of(part)))]
        for name, figure in part.figures.items():
            lines += [f"![{figure.caption}](figures/{name}.png)", "", figure.caption, ""]
        lines += [f"- [{table.title}](tables/{name}.csv)" for name, table in part.tables.items()]
        lines += [""]
    return "\n".join(lines).rstrip("\n") + "\n"
