"""A table as a terminal has room for it: numbers whole, names told apart, sentences wrapped at words.

Where not all columns fit, the most telling ones are shown, and a line below names the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nashboard._tables import Table, printable, width
from nashboard._text import distinct_head, shorten_to, shortened

if TYPE_CHECKING:
    import rich.console

GAP = 2  # spaces between columns
NAME = 30  # a name of so many characters is shown whole
NARROW = 16  # sentences are wrapped no narrower than this
LONGEST = 400  # characters of a sentence: one name from a stranger's file must not fill the screen
EVERYTHING = "a wider terminal, --format csv or | less -S shows them"


@dataclass(frozen=True, kw_only=True)
class Room:
    """How wide a column would like to be, and how narrow it can be; only text uses what lies between."""

    least: int
    wish: int
    stretches: bool


def on_screen(table: Table, columns: int, *, explained: bool = False) -> "rich.console.Group":
    """Return a title, a table and its notes for a terminal of so many columns; explained, with what numbers mean."""
    import rich.box
    import rich.console
    import rich.table
    import rich.text

    names = [wrappable(printable(column.name), NAME, NAME // 2) for column in table.columns]
    cells = [
        [shortened(text, max(column.most, LONGEST)) for text in texts]
        for column, texts in zip(table.columns, zip(*table.cells(), strict=True), strict=True)
    ] or [[] for _ in names]
    numeric = table.numeric()
    rooms = [room(name, texts, numbers) for name, texts, numbers in zip(names, cells, numeric, strict=True)]
    kept = most_telling(table, rooms, columns)
    widths = shared([rooms[k] for k in kept], columns)
    drawn = rich.table.Table(box=rich.box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
    for k, size in zip(kept, widths, strict=True):
        drawn.add_column(rich.text.Text(names[k]), justify="right" if numeric[k] else "left", width=size)
    for row in zip(*(fitting(cells[k], size) for k, size in zip(kept, widths, strict=True)), strict=True):
        drawn.add_row(*map(rich.text.Text, row))
    hidden = [name for k, name in enumerate(names) if k not in kept]
    notes = [*(table.explained(*kept) if explained else table).notes]
    notes += [f"no room for {', '.join(hidden)}: {EVERYTHING}"] if hidden else []
    title = [rich.text.Text(table.title, style="table.title")] if table.title else []
    return rich.console.Group(*title, drawn, *(rich.text.Text(note, style="table.caption") for note in notes))


def room(name: str, texts: Sequence[str], numbers: bool) -> Room:
    """Return how much room a column needs: numbers as they are, text up to a long name; headings wrap at spaces."""
    heading, widest = max(map(width, name.split()), default=0), max(map(width, texts), default=0)
    least = widest if numbers else min(widest, max(NARROW, telling_width(texts)))
    return Room(least=max(heading, least), wish=max(width(name), widest), stretches=not numbers)


def telling_width(texts: Sequence[str]) -> int:
    """Return how wide the words of a column must be shown: long ones only as far as they stay different."""
    words = {word for text in texts for word in text.split()}
    longest = max(map(width, words), default=0)
    for most in range(NAME, longest, 10):
        head = distinct_head(list(words), most)
        if len({shorten_to(word, most, head) for word in words}) == len(words):
            return most
    return longest


def most_telling(table: Table, rooms: Sequence[Room], columns: int) -> list[int]:
    """Return the positions of the columns that are shown: at least one, and no later one before an earlier one."""
    place = {column.name: k for k, column in enumerate(table.columns)}
    first = [place[name] for name in table.telling if name in place]
    rest = [k for k in range(len(rooms)) if k not in first]
    kept: list[int] = []
    left = columns + GAP
    for group in [*([k] for k in first), rest] if first else ([k] for k in rest):
        left -= sum(rooms[k].least + GAP for k in group)
        if left < 0 and kept:
            break
        kept += group
    return sorted(kept)


def shared(rooms: Sequence[Room], columns: int) -> list[int]:
    """Return the width of every column: all wishes if they fit, else what is over goes to text in proportion."""
    inside = columns - GAP * (len(rooms) - 1)
    if sum(room.wish for room in rooms) <= inside:
        return [room.wish for room in rooms]
    widths = [min(room.least, inside) for room in rooms]
    for _ in range(inside - sum(widths)):
        short = [k for k, room in enumerate(rooms) if room.stretches and widths[k] < room.wish]
        if short:
            widths[min(short, key=lambda k: widths[k] / rooms[k].wish)] += 1
    return widths


def fitting(texts: Sequence[str], size: int) -> list[str]:
    """Return texts that wrap at spaces within a width: words that are too long keep their two ends."""
    wide = any(width(text) != len(text) for text in texts)
    most = max(3, size // 2 if wide else size)  # characters that take two columns each
    if all(width(word) <= size for text in texts for word in text.split()):
        return list(texts)
    head = distinct_head([word for text in texts for word in text.split()], most)
    return [wrappable(text, most, head) for text in texts]


def wrappable(text: str, most: int, head: int) -> str:
    """Return a text whose words are at most so long."""
    return " ".join(shorten_to(word, most, head) for word in text.split(" "))
