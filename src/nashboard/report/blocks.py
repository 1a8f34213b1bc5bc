"""The blocks of a page: sections, and in them sentences, checks, tables, charts, folds and text to copy.

A block is plain data, rendered by the template of its name: ``Terms`` by ``templates/terms.html``.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from altair.utils.schemapi import debug_mode

from nashboard._tables import Cell, Table, as_csv, choose_columns, measure_column
from nashboard.errors import NashboardError
from nashboard.evaluation.audit.checks import Check

PHONE, NAME = 44, 13  # characters of a row on a phone, and of the name in it, which may break anywhere
MOST_ROWS = 2000  # of a table on a page, which a browser scrolls easily
OWN_NAME = re.compile(r"\b(param|view|selector)_(\d+)\b")

RANKS = re.compile(r"\d+-\d+")
# keys whose values may contain such a name
NAMING = ("name", "param", "views", "expr", "test", "filter", "calculate", "signal")

DATA = ("datasets", "values", "domain", "sort")  # keys whose values may contain names of agents, which stay


@dataclass(frozen=True, kw_only=True)
class Sentences:
    """A list of sentences; ``tone`` is ``"plain"``, ``"warning"`` or ``"missing"`` (why something is not here)."""

    template: ClassVar[str] = "sentences.html"
    lines: tuple[str, ...]
    tone: str = "plain"
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class Checks:
    """A list of checks."""

    template: ClassVar[str] = "checks.html"
    checks: tuple[Check, ...]


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Names and their values, such as settings."""

    template: ClassVar[str] = "terms.html"
    rows: tuple[tuple[str, str], ...]
    caption: str


@dataclass(frozen=True, kw_only=True)
class Quote:
    """Text to copy, such as an entry of a bibliography."""

    template: ClassVar[str] = "quote.html"
    key: str
    label: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Fold:
    """Parts that are shown on demand."""

    template: ClassVar[str] = "fold.html"
    title: str
    parts: tuple["Part", ...]


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A heading between the parts of a section."""

    template: ClassVar[str] = "heading.html"
    text: str


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of the page with its own heading, an opening for newcomers, and notes on how to read it."""

    key: str
    title: str
    opening: str
    how: tuple[str, ...]
    parts: tuple["Part", ...]


@dataclass(frozen=True, kw_only=True)
class Head:
    """A column: its name, its meaning, whether it contains numbers, and whether a phone shows it."""

    name: str
    meaning: str
    numeric: bool
    narrow: bool


@dataclass(frozen=True, kw_only=True)
class GridCell:
    """A cell: its text, its CSS class, and its place among the different values of its column, -1 if it is missing."""

    text: str
    style: str
    place: int


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table that can be sorted and searched, copied and saved.

    ``key`` is its address and the name of its file, ``things`` the plural noun for its rows, ``named`` the column that
    names a row, and ``csv`` the whole table, empty if it cannot be saved.
    """

    template: ClassVar[str] = "grid.html"
    key: str
    caption: str
    things: str
    columns: tuple[Head, ...]
    rows: tuple[tuple[GridCell, ...], ...]
    named: int
    csv: str
    notes: tuple[str, ...]

    @property
    def wide(self) -> bool:
        """Whether some columns do not fit on a phone."""
        return not all(column.narrow for column in self.columns)


def make_grid(
    table: Table,
    key: str,
    *,
    caption: str,
    things: str,
    named: int = 0,
    saved: bool = False,
    notes: tuple[str, ...] | None = None,
    telling: tuple[str, ...] = (),
) -> Grid:
    """Return a table as the page shows it; rows past the first two thousand are left out, with a note.

    A phone shows the columns of ``telling``, or the first ones, as many as fit, and the others on demand.
    """
    notes = table.notes if notes is None else notes
    if len(table.rows) > MOST_ROWS:
        notes = (f"The first {MOST_ROWS:,} of {len(table.rows):,} {things} are shown; saving as csv saves all.", *notes)
    short = Table(columns=table.columns, rows=table.rows[:MOST_ROWS], telling=telling or table.telling)
    texts, numeric = short.cells(), table.numeric()
    places = [rank_cells([row[k] for row in short.rows]) for k in range(len(short.columns))]
    limits = [
        measure_column(column.name, [row[k] for row in texts], numeric[k]) for k, column in enumerate(short.columns)
    ]
    limits[named] = replace(limits[named], minimum=min(limits[named].minimum, NAME))
    narrow = {named, *choose_columns(short, limits, PHONE)}
    styles = [("n" if numeric[k] else "") + " wide" * (k not in narrow) for k in range(len(limits))]
    return Grid(
        key=key,
        caption=caption,
        things=things,
        columns=tuple(
            Head(
                name=column.name,
                meaning=column.explanation,
                numeric=numeric[k],
                narrow=k in narrow,
            )
            for k, column in enumerate(table.columns)
        ),
        rows=tuple(
            tuple(
                GridCell(text=text, style=f"{styles[k]} {classify_text(text)}".strip(), place=places[k][t])
                for k, text in enumerate(row)
            )
            for t, row in enumerate(texts)
        ),
        named=named,
        csv=as_csv(table) if saved else "",
        notes=notes,
    )


def classify_text(text: str) -> str:
    """Return the CSS class of a cell: its minimum width depends on its length; ranks such as 2-10 are not broken."""
    if RANKS.fullmatch(text):
        return "ends"
    return "sentence" if len(text) > 100 else "words" if len(text) > 18 else ""


def rank_cells(cells: list[Cell]) -> list[int]:
    """Return for each cell its place among the different values, from 0 up; -1 for a missing cell."""
    keys = [sort_key(cell) for cell in cells]
    place = {key: k for k, key in enumerate(sorted({key for key in keys if key is not None}))}
    return [-1 if key is None else place[key] for key in keys]


def sort_key(cell: Cell) -> Any:
    """Return the sort key of a cell: numbers by size, text without regard to case, ``2-10`` by its first number."""
    if cell is None or (isinstance(cell, float) and cell != cell):
        return None
    if isinstance(cell, str):
        first, _, rest = cell.partition("-")
        if first.isdecimal() and (rest.isdecimal() or not rest):
            return (0, float(first), float(rest or first), "", "")
        return (1, 0.0, 0.0, cell.casefold(), cell)
    return (0, float(cell), float(cell), "", "")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A chart of Vega-Lite as json, with its title and subtitle as text outside of the drawing, so that they wrap.

    ``choosing`` says whether it has menus, which a screen reader must reach. On a narrow screen ``"stack"`` puts panels
    below each other, and ``"first"`` shows only the first panel, which has the names.
    """

    template: ClassVar[str] = "picture.html"
    key: str
    title: str
    subtitle: str
    description: str
    spec: str
    choosing: bool
    narrow: Literal["stack", "first"]


def draw(
    key: str, chart: Callable[..., Any], *data: Any, narrow: Literal["stack", "first"] = "stack", **options: Any
) -> "Picture | Sentences":
    """Return a chart as a block, or the reason why it cannot be drawn."""
    try:
        with debug_mode(False):  # our charts are valid: the tests check them
            return make_picture(chart(*data, **options), key, narrow)
    except NashboardError as error:
        return Sentences(lines=(f"A chart is missing: {error}.",), tone="missing")


def make_picture(chart: Any, key: str, narrow: Literal["stack", "first"] = "stack") -> Picture:
    """Return an Altair chart as a block."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    title = spec.pop("title", "")
    parts = title if isinstance(title, dict) else {"text": title}
    words = parts.get("text", "")
    if isinstance(words, dict):  # an expression that depends on a menu stays in the drawing
        spec["title"] = {"text": words}
        words = ""
    description = str(spec.pop("description", ""))
    for idle in ("config", "$schema", "usermeta"):
        spec.pop(idle, None)
    return Picture(
        key=key,
        title=join_lines(words),
        subtitle=join_lines(parts.get("subtitle", "")),
        description=description or join_lines(words),
        spec=embed_json(renumber_names(round_numbers(spec))),
        choosing=any("bind" in param and isinstance(param["bind"], dict) for param in spec.get("params", [])),
        narrow=narrow,
    )


def round_numbers(value: Any) -> Any:
    """Return the value with all numbers rounded to seven digits: finer than any screen, and half the bytes."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, dict):
        return {key: round_numbers(one) for key, one in value.items()}
    return [round_numbers(one) for one in value] if isinstance(value, list) else value


def join_lines(text: Any) -> str:
    """Return a title of one or several lines on one line."""
    return " ".join(map(str, text)) if isinstance(text, list) else str(text)


def embed_json(content: Any) -> str:
    """Return json for a script element: no text in it can end the element or open a comment."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def renumber_names(spec: dict[str, Any]) -> dict[str, Any]:
    """Renumber the names that Altair counts per process, so that the same chart gives the same bytes."""
    numbered: dict[str, str] = {}

    def rename(found: re.Match[str]) -> str:
        return numbered.setdefault(found[0], f"{found[1]}_{1 + sum(name.startswith(found[1]) for name in numbered)}")

    def walk(value: Any, named: bool) -> Any:
        if isinstance(value, dict):
            return {key: value[key] if key in DATA else walk(value[key], key in NAMING) for key in value}
        if isinstance(value, list):
            return [walk(one, named) for one in value]
        return OWN_NAME.sub(rename, value) if named and isinstance(value, str) else value

    found: dict[str, Any] = walk(spec, False)
    return found


Part = Sentences | Checks | Terms | Quote | Fold | Heading | Grid | Picture


def capitalise(line: str) -> str:
    """Return a sentence that starts with a capital letter, for sentences whose first word is not a name."""
    return line[:1].upper() + line[1:]
