"""A table as the page shows it: cells as people read them, and for each the place it takes when sorted."""

from dataclasses import dataclass
from typing import Any, ClassVar

from nashboard._tables import Cell, Column, Table, as_csv

MOST_ROWS = 2000  # of a table on a page; a browser scrolls so many without trouble


@dataclass(frozen=True, kw_only=True)
class Head:
    """A column: its name, what it means in plain words, and whether it holds numbers."""

    name: str
    meaning: str
    numeric: bool


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A cell: its text, and its place among the different values of its column, -1 where it is missing."""

    text: str
    place: int


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table that can be sorted and searched, copied and saved.

    Parameters
    ----------
    key
        Its address within the page, and the name of the file it is saved as.
    caption
        What it is, in plain words.
    things
        What a row is, in the plural: agents, tasks, pairs.
    named
        The column that names a row.
    csv
        The whole table for machines; empty where it is not offered.
    notes
        What to know about it.
    """

    template: ClassVar[str] = "grid.html"
    key: str
    caption: str
    things: str
    columns: tuple[Head, ...]
    rows: tuple[tuple[Shown, ...], ...]
    named: int
    csv: str
    notes: tuple[str, ...]


def grid(
    table: Table,
    key: str,
    *,
    caption: str,
    things: str,
    named: int = 0,
    saved: bool = False,
    notes: tuple[str, ...] | None = None,
) -> Grid:
    """Return a table as the page shows it; rows past the first two thousand are left out, with a note."""
    notes = table.notes if notes is None else notes
    if len(table.rows) > MOST_ROWS:
        notes = (f"The first {MOST_ROWS:,} of {len(table.rows):,} {things} are shown; saving as csv saves all.", *notes)
    short = Table(columns=table.columns, rows=table.rows[:MOST_ROWS])
    texts = short.cells()
    places = [sorted_places([row[k] for row in short.rows]) for k in range(len(short.columns))]
    return Grid(
        key=key,
        caption=caption,
        things=things,
        columns=tuple(
            Head(name=column.name, meaning=meaning(column), numeric=numeric)
            for column, numeric in zip(table.columns, table.numeric(), strict=True)
        ),
        rows=tuple(
            tuple(Shown(text=text, place=places[k][t]) for k, text in enumerate(row)) for t, row in enumerate(texts)
        ),
        named=named,
        csv=as_csv(table) if saved else "",
        notes=notes,
    )


def meaning(column: Column) -> str:
    """Return what a column means, in plain words."""
    return PLAINER.get(column.meaning, column.meaning) or MEANINGS.get(column.name, "")


def sorted_places(cells: list[Cell]) -> list[int]:
    """Return for each cell its place among the different values, from 0 up; -1 where there is nothing."""
    keys = [sort_key(cell) for cell in cells]
    place = {key: k for k, key in enumerate(sorted({key for key in keys if key is not None}))}
    return [-1 if key is None else place[key] for key in keys]


def sort_key(cell: Cell) -> Any:
    """Return what a cell is sorted by: numbers by size, text without regard to case, ``2-10`` by its first number."""
    if cell is None or (isinstance(cell, float) and cell != cell):
        return None
    if isinstance(cell, str):
        first, _, rest = cell.partition("-")
        if first.isdecimal() and (rest.isdecimal() or not rest):
            return (0, float(first), float(rest or first), "", "")
        return (1, 0.0, 0.0, cell.casefold(), cell)
    return (0, float(cell), float(cell), "", "")


# What columns mean that say nothing of it, or say it in words that only some people know.
MEANINGS = {
    "agent": "name of the agent",
    "task": "name of the task",
    "check": "what was asked of the evaluation",
    "what": "what was looked at",
    "found": "what was found",
    "meaning": "what that is, in words",
    "method": "the way of ranking: by plain average, by Elo, or by Nash average",
    "first": "one of the two",
    "second": "the other of the two",
    "component": "number of the skill beyond the average, the strongest first",
    "tasks high": "tasks on which the agents high do better than averages say",
    "tasks low": "tasks on which the agents low do better than averages say",
    "in words": "the cycle as a sentence",
}
PLAINER = {
    "share in the maximum-entropy equilibrium": "how much it counts: its share in the mix that nobody can beat (the "
    "maximum-entropy equilibrium); 0 means that it decides nothing",
}
