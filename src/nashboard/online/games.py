"""Games in the order they were played: from frames or arrays of names to numbers for the compiled loop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from nashboard._types import Floats, Ints
from nashboard.data.counting.outcomes import Question, Rules, SeenLabel, check_rules, learn_vocabulary
from nashboard.data.games import Games as GameRows
from nashboard.data.sources.frames import lazy_frame
from nashboard.data.table.columns import OUTCOME, WEIGHT, Named, check_column, find_column, find_sides, require_column
from nashboard.errors import InputError
from nashboard.online import kernels
from nashboard.online.kernels import EMPTY, Codes, Hashes

# Polars hashes the texts (64 bits), a compiled table numbers them: two to three times as fast as categories of Polars.
# Two names are taken for one if their hashes agree, by chance once in 36 million leagues of a million agents.
FIRST_PLACES = 1 << 10


class Numbering:
    """Numbers for texts, in the order of their first appearance; grows in place."""

    def __init__(self, known: Sequence[str] = ()) -> None:
        self.known = 0
        self.make_table(FIRST_PLACES)
        if known:
            self.number(hashes(pl.Series(known, dtype=pl.String)))

    def make_table(self, places: int) -> None:
        """Start an empty table."""
        self.keys, self.values = np.zeros(places, np.uint64), np.full(places, EMPTY, np.uint32)

    def number(self, first: Hashes, second: Hashes | None = None) -> tuple[Codes, Codes, Ints]:
        """Return the numbers of one or two columns, and the cells (2 row + side) where new texts first stand."""
        second = np.empty(0, np.uint64) if second is None else second
        codes = np.empty(first.size, np.uint32), np.empty(second.size, np.uint32)
        before, row = self.known, 0
        found = np.empty(self.keys.size, np.int64)
        while True:
            row, self.known = kernels.numbered(first, second, *codes, self.keys, self.values, found, self.known, row)
            if row == first.size:
                return *codes, found[before : self.known].copy()
            found = np.concatenate([found, np.empty(self.keys.size, np.int64)])
            self.grow()

    def grow(self) -> None:
        """Put everything into a table of twice the size."""
        used = self.values != EMPTY
        old = self.keys[used][np.argsort(self.values[used])]
        self.make_table(2 * self.keys.size)
        spare = np.empty(self.keys.size, np.int64)
        none = np.empty(0, np.uint64)
        kernels.numbered(
            old, none, np.empty(old.size, np.uint32), np.empty(0, np.uint32), self.keys, self.values, spare, 0, 0
        )


def hashes(texts: pl.Series) -> Hashes:
    """Return the hash of each text."""
    return np.ascontiguousarray(texts.hash(seed=0).to_numpy())


@dataclass(frozen=True, kw_only=True, eq=False)
class Columns:
    """Which column is what; None where it has its usual name, False for no weight."""

    a: str | None = None
    b: str | None = None
    outcome: str | None = None
    weight: Named = None
    time: str | None = None


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """Where games come from, for messages: a frame, or the rows of a log that come next."""

    log: str | None = None
    rows_before: int = 0
    resumed: bool = False  # rows before are those of this run: what was read in another one is not counted

    @property
    def source(self) -> str:
        """The name of the table that columns stand in."""
        return "frame" if self.log is None else self.log

    def row(self, place: int) -> str:
        """Return in words which row stands at a place of the excerpt."""
        return self.number(place) if self.log is None else f"{self.log!r}, {self.number(place)}"

    def number(self, place: int) -> str:
        """Return the same without the name of a log, whose first line is no row of data."""
        after = " after those that were read before" if self.resumed else ""
        return f"{'data ' * (self.log is not None)}row {self.rows_before + place + 1:,}{after}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Chosen:
    """A frame with the columns a, b, outcome and perhaps weight, and the names that these have in the data."""

    frame: pl.DataFrame
    names: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, eq=False)
class Games:
    """Games between numbered agents, checked: who met whom, the first one's share of the point, the weight."""

    first: Codes
    second: Codes
    outcome: Floats
    weight: Floats
    joined: tuple[str, ...]


def read_games(
    data: Any, columns: Columns, rules: Rules | None, numbering: Numbering, excerpt: Excerpt | None = None
) -> Games:
    """Return the games of a frame, a mapping of columns or a tuple of arrays ``(a, b, outcome)``.

    New names are numbered on from the known ones. Where something is wrong an error says in which row.
    """
    excerpt = excerpt or Excerpt()
    chosen = chosen_columns(data, columns, excerpt.source)
    a, b = (texts(chosen.frame[side], excerpt) for side in ("a", "b"))
    first, second = hashes(a), hashes(b)
    outcome = outcomes(chosen, first, second, rules, excerpt)
    weight = weights(chosen, excerpt)
    same = np.flatnonzero(first == second)
    if same.size:
        raise InputError(
            f"{excerpt.row(int(same[0]))}: {a[int(same[0])]!r} met itself ({same.size:,} such rows); leave such rows "
            f"out"
        )
    used = ~np.isnan(outcome)
    rows = np.flatnonzero(used)
    if rows.size < used.size:  # a rule said to leave them out
        first, second, outcome, weight = first[used], second[used], outcome[used], weight[used]
    left, right, new = numbering.number(first, second)
    joined = tuple((b if cell % 2 else a)[int(rows[cell // 2])] for cell in new)
    for name, cell in zip(joined, new, strict=True):
        if not name.strip():
            refuse_nameless(int(rows[cell // 2]), excerpt)
    return Games(first=left, second=right, outcome=outcome, weight=weight, joined=joined)


def chosen_columns(data: Any, columns: Columns, source: str) -> Chosen:
    """Return a Polars frame with the columns a, b, outcome and perhaps weight."""
    if isinstance(data, GameRows):
        data = data.to_polars()
    if isinstance(data, tuple | list):
        arrays = from_arrays(data)
        return Chosen(frame=arrays, names={name: name for name in arrays.columns})
    if isinstance(data, Mapping):
        data = pl.DataFrame({str(name): pl.Series(values, strict=False) for name, values in data.items()})
    frame = lazy_frame(data)
    if frame is None:
        raise InputError(
            f"cannot read games from a {type(data).__name__}: give a data frame, a mapping of columns, or arrays "
            f"(a, b, outcome)"
        )
    names = frame.collect_schema().names()
    a, b = find_sides(names, source, columns.a, columns.b)
    chosen = {"a": a, "b": b, "outcome": require_column("outcome", OUTCOME, names, source, columns.outcome)}
    weight = find_column("weight", WEIGHT, names, source, columns.weight)
    if weight is not None:
        chosen["weight"] = weight
    if columns.time is not None:
        chosen["time"] = check_column(columns.time, names, source)
    native = frame.to_native()
    by_role = {role: pl.col(name) for role, name in chosen.items()}
    if isinstance(native, pl.LazyFrame):
        wanted = native.select(**by_role).collect()
    else:
        wanted = frame.select(list(dict.fromkeys(chosen.values()))).collect().to_polars().select(**by_role)
    return Chosen(
        frame=wanted if columns.time is None else sorted_by_time(wanted, chosen["time"], source), names=chosen
    )


def sorted_by_time(frame: pl.DataFrame, name: str, source: str) -> pl.DataFrame:
    """Return the games in the order of their times; every game needs one."""
    time = frame["time"]
    if time.dtype == pl.String:
        numbers = time.cast(pl.Float64, strict=False)
        time = numbers if numbers.null_count() == time.null_count() else time
        frame = frame.with_columns(time=time)
    if time.null_count():
        raise InputError(f"{source!r}, column {name!r}: row {int(time.is_null().arg_max() or 0) + 1:,} has no time")
    return frame.sort("time", maintain_order=True).drop("time")


def from_arrays(data: Sequence[Any]) -> pl.DataFrame:
    """Return a frame of arrays a, b, outcome and perhaps weight."""
    if len(data) not in (3, 4):
        raise InputError(f"give arrays (a, b, outcome) or (a, b, outcome, weight), not {len(data)} of them")
    columns = [pl.Series(name, values) for name, values in zip(("a", "b", "outcome", "weight"), data, strict=False)]
    if len({len(column) for column in columns}) > 1:
        raise InputError(f"the arrays have different lengths: {', '.join(f'{len(column):,}' for column in columns)}")
    return pl.DataFrame(columns)


def texts(column: pl.Series, excerpt: Excerpt) -> pl.Series:
    """Return a column of names; every game needs two."""
    names = column.cast(pl.String)
    if names.null_count():
        refuse_nameless(int(names.is_null().arg_max() or 0), excerpt)
    return names


def refuse_nameless(row: int, excerpt: Excerpt) -> None:
    """Raise an error about a name that is missing."""
    raise InputError(f"{excerpt.row(row)}: a game needs two named agents, and one name is missing")


def weights(chosen: Chosen, excerpt: Excerpt) -> Floats:
    """Return the weight of each game, 1 where there is no such column."""
    if "weight" not in chosen.names:
        return np.broadcast_to(np.ones(1), len(chosen.frame))
    values = numbers(chosen, "weight", excerpt)
    refuse(~((values >= 0) & (values < np.inf)), values, "a weight must be a finite number of at least 0", excerpt)
    return values


def outcomes(chosen: Chosen, first: Hashes, second: Hashes, rules: Rules | None, excerpt: Excerpt) -> Floats:
    """Return each game's share of the point for the first agent; NaN where a rule says to leave the game out."""
    column = chosen.frame["outcome"]
    if (column.dtype.is_numeric() or column.dtype == pl.Boolean) and not rules:
        values = numbers(chosen, "outcome", excerpt)
        rule = "an outcome is a number in [0, 1]: 1 a win, 0.5 a draw, 0 a loss"
        refuse(~((values >= 0) & (values <= 1)), values, rule, excerpt)
        return values
    labels = column.cast(pl.String).fill_null("")
    hashed = hashes(labels)
    codes, _, where = Numbering().number(hashed)
    case = codes * np.uint32(4) + np.uint32(2) * (hashed == first) + (hashed == second)
    rows = np.bincount(case, minlength=4 * where.size)
    names = [labels[int(cell) // 2] for cell in where]
    seen = [
        SeenLabel(label=names[c // 4], is_first=bool(c & 2), is_second=bool(c & 1), rows=int(rows[c]))
        for c in np.flatnonzero(rows)
    ]
    asked = Question(
        a=chosen.names["a"],
        b=chosen.names["b"],
        outcome=chosen.names["outcome"],
        source=excerpt.source,
        where=lambda label: excerpt.number(int(where[names.index(label)]) // 2),
    )
    words = learn_vocabulary(seen, check_rules(rules), asked)
    meaning = np.full(rows.size, np.nan)
    for c in np.flatnonzero(rows):
        named = words.by_name and c & 3 and names[c // 4] not in words.ignored
        meaning[c] = (1.0 if c & 2 else 0.0) if named else words.outcomes.get(names[c // 4], np.nan)
    return np.asarray(meaning[case])


def numbers(chosen: Chosen, role: str, excerpt: Excerpt) -> Floats:
    """Return a column of numbers, NaN where one is missing."""
    column = chosen.frame[role]
    try:
        return np.ascontiguousarray(column.cast(pl.Float64).fill_null(np.nan).to_numpy())
    except pl.exceptions.PolarsError:
        raise InputError(
            f"{excerpt.source!r}, column {chosen.names[role]!r}: the column of the {role} must hold numbers, not "
            f"{'text' if column.dtype == pl.String else column.dtype}"
        ) from None


def refuse(wrong: Any, values: Floats, rule: str, excerpt: Excerpt) -> None:
    """Raise an error that shows the first wrong value and its row."""
    bad = np.flatnonzero(wrong)
    if bad.size:
        raise InputError(f"{excerpt.row(int(bad[0]))} has {values[bad[0]]:g} ({bad.size:,} such rows): {rule}")
