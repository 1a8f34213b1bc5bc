"""Tables and their renderings for people and machines.

A `Table` is plain data: headings, the meaning of each heading, and cells. The renderings below turn it into text for a
pipe or a terminal, HTML for a notebook, and csv, markdown, LaTeX or json for machines. Where a terminal is too narrow
for all columns, the most important ones are shown, and a line below names the others.
"""

import csv
import html
import io
import json
import math
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from nashboard._text import distinct_head, plural, shorten_to, shortened

if TYPE_CHECKING:
    import pandas
    import polars

MOST_CHARACTERS = 80  # of a cell in text, so that one long name does not fill the screen
Cell = str | int | float | bool | None

MEANINGS = {  # of columns that mean the same in every table
    "agent": "name of the agent",
    "task": "name of the task",
    "name": "name by which it is chosen",
    "method": "way of ranking",
    "voter": "name of the voter",
    "first": "first of the two",
    "second": "second of the two",
    "a": "first of the two",
    "b": "second of the two",
    "component": "number of the skill beyond the average, the strongest first",
    "rank": "1 for the best",
    "games": "games played, or their total weight",
    "votes": "number of votes",
    "outcome": "result of the first against the second: 1 is a win",
    "weight": "how much the row counts",
    "model": "way of predicting",
    "what": "what was looked at",
    "found": "what was found",
    "meaning": "what it means",
    "check": "what was checked",
    "because": "reason for the answer",
}
NAMES = {*MEANINGS} - {"component", "rank", "games", "outcome", "weight"}  # understood without a note


@dataclass(frozen=True)
class Column:
    """A heading, the meaning of its numbers, how many decimals are shown, and how wide text may be.

    ``cell`` is how `Table.of` finds the cell of an item: a function of the item, the cells of all items by number or
    key, or the name of an attribute, by default the heading.
    """

    name: str
    meaning: str = ""
    decimals: int = field(default=3, kw_only=True)
    most: int = field(default=MOST_CHARACTERS, kw_only=True)
    cell: Any = field(default="", kw_only=True, compare=False)

    @property
    def explanation(self) -> str:
        """What the cells mean, in one line."""
        return self.meaning or MEANINGS.get(self.name, "")

    def cell_of(self, item: Any) -> Any:
        """Return the cell of an item."""
        if isinstance(self.cell, str):
            return getattr(item, self.cell or self.name)
        cell = self.cell(item) if callable(self.cell) else self.cell[item]
        return cell.item() if hasattr(cell, "item") else cell  # a number of numpy


@dataclass(frozen=True, kw_only=True)
class Table:
    """Columns, rows of cells, a title, and notes that are printed below.

    ``telling`` names the most important columns: a narrow screen shows as many of them as fit, and the others only if
    there is room for all. Without it columns are chosen in their order.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()

    @staticmethod
    def of(items: Iterable[Any], *columns: Column, **more: Any) -> "Table":
        """Return a row per item; a column says how its cell is found."""
        rows = tuple(tuple(column.cell_of(item) for column in columns) for item in items)
        return Table(columns=columns, rows=rows, **more)

    def head(self, most: int) -> "Table":
        """Return the first rows, with a note of how many are not shown."""
        if len(self.rows) <= most:
            return self
        rest = f"... and {len(self.rows) - most:,} more rows"
        return replace(self, rows=self.rows[:most], notes=(rest, *self.notes))

    def choose(self, *names: str) -> "Table":
        """Return the columns of these names, those that there are, in this order."""
        places = {column.name: k for k, column in enumerate(self.columns)}
        kept = [places[name] for name in names if name in places]
        rows = tuple(tuple(row[k] for k in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[k] for k in kept), rows=rows)

    def cells(self) -> list[list[str]]:
        """Return every cell as people read it."""
        return [
            [format_cell(cell, column.decimals) for cell, column in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]

    def names(self) -> list[str]:
        """Return every heading, shortened for a screen."""
        return [shortened(clean_text(column.name), column.most) for column in self.columns]

    def short_cells(self) -> list[list[str]]:
        """Return every cell, shortened for a screen; formats for machines are never shortened."""
        return [
            [shortened(cell, column.most) for cell, column in zip(row, self.columns, strict=True)]
            for row in self.cells()
        ]

    def numeric(self) -> list[bool]:
        """Return for each column whether all its cells are numbers, which are aligned right."""
        return [all(isinstance(row[k], int | float | None) for row in self.rows) for k in range(len(self.columns))]

    def with_meanings(self, *among: int) -> "Table":
        """Return the table with a note on the meaning of every column, or of those given; names need none."""
        meanings: dict[str, list[str]] = {}
        for k in among or range(len(self.columns)):
            column = self.columns[k]
            if (column.meaning or column.name not in NAMES) and not column.meaning.startswith("name"):
                meanings.setdefault(column.explanation, []).append(clean_text(column.name))
        meanings.pop("", None)
        notes = (f"{', '.join(names)}: {text}" for text, names in meanings.items())
        return replace(self, notes=(*self.notes, *notes))

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a pandas data frame, one row per row; missing cells are missing values."""
        import pandas

        return pandas.DataFrame(self.to_columns())

    def to_polars(self) -> "polars.DataFrame":
        """Return a Polars data frame, one row per row; missing cells are nulls."""
        import polars

        return polars.DataFrame(self.to_columns(), strict=False)

    def to_columns(self) -> dict[str, list[Cell]]:
        """Return the cells of every column; where two columns share a name, the number of the later one is appended."""
        cells: dict[str, list[Cell]] = {}
        for k, column in enumerate(self.columns):
            name = column.name if column.name not in cells else f"{column.name} {k + 1}"
            cells[name] = [None if is_missing(row[k]) else row[k] for row in self.rows]
        return cells

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return csv with full precision, and write it to a file if a path is given."""
        return export_text(as_csv(self), path)

    def to_html(self, path: str | Path | None = None) -> str:
        """Return an HTML table that can be embedded in a page, and write it to a file if a path is given."""
        return export_text(as_html(self), path)

    def __str__(self) -> str:
        return as_plain_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def title_of(result: object) -> str:
    """Return the title of a result's table: its ``repr`` without the name of the class."""
    return repr(result).partition("(")[2].removesuffix(")")


def is_missing(cell: Cell) -> bool:
    """Return whether a cell has no value."""
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def export_text(text: str, path: str | Path | None) -> str:
    """Return the text; write it to a file too if a path is given."""
    if path is not None:
        from nashboard._files import write_text

        write_text(path, text)
    return text


def plain_data(value: Any) -> Any:
    """Return what json can contain: arrays and tuples become lists, dataclasses dictionaries, NaN and infinity None.

    An object with a method ``to_dict`` is converted by it.
    """
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "tolist"):  # arrays and numbers of numpy, which takes long to import
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: plain_data(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(one) for one in value]
    if is_dataclass(value):
        return {one.name: plain_data(getattr(value, one.name)) for one in fields(value)}
    return value


class Tabular(ABC):
    """Base class of results that are shown as a table: 20 rows as text, 50 in a notebook."""

    @abstractmethod
    def table(self) -> Table:
        """Return the whole table."""

    def to_pandas(self) -> "pandas.DataFrame":
        """Return the table as a pandas data frame."""
        return self.table().to_pandas()

    def to_polars(self) -> "polars.DataFrame":
        """Return the table as a Polars data frame."""
        return self.table().to_polars()

    def __str__(self) -> str:
        return as_plain_text(self.table().head(20))

    def _repr_html_(self) -> str:
        return as_html(self.table().head(50))


class Record:
    """A dataclass that is exported with the fields that are not ``hidden``, and with the ``computed`` properties."""

    hidden: ClassVar[tuple[str, ...]] = ()
    computed: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for machines: lists, numbers and text, None where a number is not known."""
        names = [one.name for one in fields(self) if one.name not in self.hidden]  # type: ignore[arg-type]
        return {name: plain_data(getattr(self, name)) for name in (*names, *self.computed)}


class Result(Record, Tabular):
    """A record that is shown as a table, below its ``sentence`` if it has one."""

    def __str__(self) -> str:
        sentence = getattr(self, "sentence", "")
        return "\n\n".join([*([sentence] if sentence else []), super().__str__()])

    def _repr_html_(self) -> str:
        sentence = getattr(self, "sentence", "")
        return (f"<p>{html.escape(sentence)}</p>" if sentence else "") + super()._repr_html_()


def format_number(value: float, decimals: int = 3) -> str:
    """Return a number with a fixed count of decimals; never ``-0.000``, and a dash for what is missing."""
    if math.isnan(value):
        return "–"
    text = f"{value:,.{decimals}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.,") else text


def percent(share: float) -> str:
    """Return a share in whole percent, rounded as `format_number` rounds it to two decimals; 0% and 100% are exact."""
    whole = round(100 * float(f"{share:.2f}"))
    if whole == 0 and share > 0:
        return "less than 1%"
    return "more than 99%" if whole == 100 and share < 1 else f"{whole}%"


def count(value: float) -> str:
    """Return a number of things: without decimals where it is whole."""
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.2f}"


def count_of(number: float, things: str) -> str:
    """Return ``1 game`` or ``2.50 games``."""
    return f"{count(number)} {plural(number, things)}"


def format_cell(cell: Cell, decimals: int) -> str:
    """Return a cell as people read it."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return format_number(cell, decimals) if isinstance(cell, float) else clean_text(cell)


def clean_text(text: str) -> str:
    """Return a name without line breaks or control characters, which a file from elsewhere may contain."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)


def width(text: str) -> int:
    """Return how many terminal columns a text takes: wide characters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def as_plain_text(table: Table) -> str:
    """Return aligned plain text."""
    names, cells, numeric = table.names(), table.short_cells(), table.numeric()
    widths = [max(map(width, column)) for column in zip(names, *cells, strict=True)]

    def line(row: Sequence[str]) -> str:
        padded = (
            " " * (size - width(text)) + text if right else text + " " * (size - width(text))
            for text, size, right in zip(row, widths, numeric, strict=True)
        )
        return "  ".join(padded).rstrip()

    title = [table.title] if table.title else []
    return "\n".join([*title, line(names), line(["-" * size for size in widths]), *map(line, cells), *table.notes])


def as_html(table: Table) -> str:
    """Return an HTML table for a notebook; every name is escaped."""
    align = ["right" if right else "left" for right in table.numeric()]
    head = "".join(
        f'<th style="text-align:{side}" title="{html.escape(column.explanation)}">{html.escape(column.name)}</th>'
        for column, side in zip(table.columns, align, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:{side}">{html.escape(cell)}</td>' for cell, side in zip(row, align, strict=True)
        )
        + "</tr>"
        for row in table.cells()
    )
    caption = f"<caption>{html.escape(table.title)}</caption>" if table.title else ""
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in table.notes)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def as_csv(table: Table) -> str:
    """Return csv with full precision."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows([["" if is_missing(cell) else cell for cell in row] for row in table.rows])
    return text.getvalue()


def as_markdown(table: Table) -> str:
    """Return a markdown table."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("\\", "\\\\").replace("|", "\\|") for cell in cells) + " |"

    rule = "|" + "|".join("---:" if right else "---" for right in table.numeric()) + "|"
    title = [f"**{table.title}**", ""] if table.title else []
    notes = ["", *table.notes] if table.notes else []
    return (
        "\n".join([*title, line([column.name for column in table.columns]), rule, *map(line, table.cells()), *notes])
        + "\n"
    )


LATEX_SPECIAL = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {character: f"\\{character}" for character in "&%$#_{}"}
)


def as_latex(table: Table) -> str:
    """Return a LaTeX tabular (booktabs)."""

    def line(cells: Sequence[str]) -> str:
        return " & ".join(cell.translate(LATEX_SPECIAL).replace("–", "--") for cell in cells) + r" \\"

    letters = "".join("r" if right else "l" for right in table.numeric())
    head = line([column.name for column in table.columns])
    rows = "\n".join(map(line, table.cells()))
    return f"\\begin{{tabular}}{{{letters}}}\n\\toprule\n{head}\n\\midrule\n{rows}\n\\bottomrule\n\\end{{tabular}}\n"


TABLE_SCHEMA = "nashboard/table/1"


def as_json(table: Table) -> str:
    """Return one object: a schema tag, the columns with their meanings, a row per object, and the notes."""
    names = [column.name for column in table.columns]
    content = {
        "schema": TABLE_SCHEMA,
        "title": table.title,
        "columns": {column.name: column.explanation for column in table.columns},
        "rows": [dict(zip(names, map(json_cell, row), strict=True)) for row in table.rows],
        "notes": [note for note in table.notes if note],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def json_cell(cell: Cell) -> Cell:
    """Return the cell, or None where json has no number for it."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


MACHINE_FORMATS: dict[str, Callable[[Table], str]] = {
    "json": as_json,
    "csv": as_csv,
    "md": as_markdown,
    "latex": as_latex,
}


if TYPE_CHECKING:
    import rich.console

GAP = 2  # spaces between columns
WHOLE_NAME = 30  # a name of so many characters is shown whole
NARROW = 16  # sentences are wrapped no narrower than this
LONGEST = 400  # characters of a sentence, so that one long name does not fill the screen
EVERYTHING = "a wider terminal, --format csv or | less -S shows them"


@dataclass(frozen=True, kw_only=True)
class WidthLimits:
    """The minimum and the preferred width of a column; only text may have a width between them."""

    minimum: int
    preferred: int
    stretches: bool


def as_terminal_table(table: Table, columns: int, *, explained: bool = False) -> "rich.console.Group":
    """Return title, table and notes for a terminal of this width; ``explained`` adds the meanings of columns."""
    import rich.box
    import rich.console
    import rich.table
    import rich.text

    names = [shorten_words(clean_text(column.name), WHOLE_NAME, WHOLE_NAME // 2) for column in table.columns]
    cells = [
        [shortened(text, max(column.most, LONGEST)) for text in texts]
        for column, texts in zip(table.columns, zip(*table.cells(), strict=True), strict=True)
    ] or [[] for _ in names]
    numeric = table.numeric()
    limits = [measure_column(name, texts, numbers) for name, texts, numbers in zip(names, cells, numeric, strict=True)]
    kept = choose_columns(table, limits, columns)
    widths = divide_width([limits[k] for k in kept], columns)
    grid = rich.table.Table(box=rich.box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
    for k, size in zip(kept, widths, strict=True):
        grid.add_column(rich.text.Text(names[k]), justify="right" if numeric[k] else "left", width=size)
    for row in zip(*(fit_texts(cells[k], size) for k, size in zip(kept, widths, strict=True)), strict=True):
        grid.add_row(*map(rich.text.Text, row))
    hidden = [name for k, name in enumerate(names) if k not in kept]
    notes = [*(table.with_meanings(*kept) if explained else table).notes]
    notes += [f"no room for {', '.join(hidden)}: {EVERYTHING}"] if hidden else []
    title = [rich.text.Text(table.title, style="table.title")] if table.title else []
    return rich.console.Group(*title, grid, *(rich.text.Text(note, style="table.caption") for note in notes))


def measure_column(name: str, texts: Sequence[str], numbers: bool) -> WidthLimits:
    """Return the widths of a column: numbers in full, text at least up to a long name; headings wrap at spaces."""
    heading, widest = max(map(width, name.split()), default=0), max(map(width, texts), default=0)
    minimum = widest if numbers else min(widest, max(NARROW, measure_distinct_words(texts)))
    return WidthLimits(minimum=max(heading, minimum), preferred=max(width(name), widest), stretches=not numbers)


def measure_distinct_words(texts: Sequence[str]) -> int:
    """Return the width at which the words of a column stay different when longer ones are shortened to it."""
    words = {word for text in texts for word in text.split()}
    longest = max(map(width, words), default=0)
    for most in range(WHOLE_NAME, longest, 10):
        head = distinct_head(list(words), most)
        if len({shorten_to(word, most, head) for word in words}) == len(words):
            return most
    return longest


def choose_columns(table: Table, limits: Sequence[WidthLimits], columns: int) -> list[int]:
    """Return the positions of the columns that fit, in order: the most important ones first, and at least one."""
    place = {column.name: k for k, column in enumerate(table.columns)}
    first = [place[name] for name in table.telling if name in place]
    rest = [k for k in range(len(limits)) if k not in first]
    kept: list[int] = []
    left = columns + GAP
    for group in [*([k] for k in first), rest] if first else ([k] for k in rest):
        left -= sum(limits[k].minimum + GAP for k in group)
        if left < 0 and kept:
            break
        kept += group
    return sorted(kept)


def divide_width(limits: Sequence[WidthLimits], columns: int) -> list[int]:
    """Return the width of every column: the preferred ones if they fit, else text columns share what is left."""
    inside = columns - GAP * (len(limits) - 1)
    if sum(one.preferred for one in limits) <= inside:
        return [one.preferred for one in limits]
    widths = [min(one.minimum, inside) for one in limits]
    for _ in range(inside - sum(widths)):
        narrow = [k for k, one in enumerate(limits) if one.stretches and widths[k] < one.preferred]
        if narrow:
            widths[min(narrow, key=lambda k: widths[k] / limits[k].preferred)] += 1
    return widths


def fit_texts(texts: Sequence[str], size: int) -> list[str]:
    """Return texts that wrap at spaces within a width; words that are too long are shortened in the middle."""
    wide = any(width(text) != len(text) for text in texts)
    most = max(3, size // 2 if wide else size)  # characters that take two columns each
    if all(width(word) <= size for text in texts for word in text.split()):
        return list(texts)
    head = distinct_head([word for text in texts for word in text.split()], most)
    return [shorten_words(text, most, head) for text in texts]


def shorten_words(text: str, most: int, head: int) -> str:
    """Return a text whose words have at most ``most`` characters, ``head`` of them before the ellipsis."""
    return " ".join(shorten_to(word, most, head) for word in text.split(" "))
