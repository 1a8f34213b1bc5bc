"""Games in the order they were played: from frames or arrays of names to numbers for the compiled loop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nashboard._types import Floats
from nashboard.data.counting.outcomes import Question, Rules, SeenLabel, check_rules, learn_vocabulary
from nashboard.data.games import Games as GameLog
from nashboard.data.read import read_games as read_any_games
from nashboard.data.sources.frames import lazy_frame
from nashboard.data.table.columns import WEIGHT, Named, check_column, find_column, find_outcome, find_sides
from nashboard.data.table.values import is_sound_weight
from nashboard.errors import InputError

HEAD = 1 << 12  # rows in which most names appear: those of the rest are looked for only among the unknown
Codes = NDArray[np.uint32]


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


def read_log(source: str | Path, columns: Columns, rules: Rules | None) -> GameLog:
    """Return the games of a file or an address in any format, in their order or by a column of times."""
    given = {**vars(columns), "outcomes": rules}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    games = read_any_games(source, **options)
    return games if columns.time is None else games.by_time()


def read_games(
    data: Any, columns: Columns, rules: Rules | None, known: Sequence[str], excerpt: Excerpt | None = None
) -> Games:
    """Return the games of a frame, a mapping of columns or a tuple of arrays ``(a, b, outcome)``.

    New names are numbered on from the known ones. Where something is wrong an error says in which row.
    """
    excerpt = excerpt or Excerpt()
    if isinstance(data, str | Path):
        data, columns, rules = read_log(data, columns, rules), Columns(), None
    chosen = chosen_columns(data, columns, excerpt.source)
    a, b = (texts(chosen.frame[side], excerpt) for side in ("a", "b"))
    outcome = outcomes(chosen, a, b, rules, excerpt)
    weight = weights(chosen, excerpt)
    same = (a == b).arg_true()
    if len(same):
        raise InputError(
            f"{excerpt.row(same[0])}: {a[same[0]]!r} met itself ({len(same):,} such rows); leave such rows out"
        )
    used = ~np.isnan(outcome)
    if not used.all():  # a rule said to leave them out
        a, b, outcome, weight = a.filter(used), b.filter(used), outcome[used], weight[used]
    joined = find_names(known, a, b)
    for name in joined:
        if not name.strip():
            refuse_nameless(int((chosen.frame["a"].eq(name) | chosen.frame["b"].eq(name)).arg_max() or 0), excerpt)
    first, second = (codes(side, [*known, *joined]) for side in (a, b))
    return Games(first=first, second=second, outcome=outcome, weight=weight, joined=joined)


def codes(names: pl.Series, known: Sequence[str]) -> Codes:
    """Return the positions of names in a list."""
    return np.ascontiguousarray(names.cast(pl.Enum(known)).to_physical().cast(pl.UInt32).to_numpy())


def find_names(known: Sequence[str], a: pl.Series, b: pl.Series) -> tuple[str, ...]:
    """Return the new names in the order of their first appearance, row by row and ``a`` before ``b``."""
    found = list(known)
    for rows in (HEAD, len(a)):
        label, parts = pl.Enum(found), []
        for side, names in enumerate((a.head(rows), b.head(rows))):
            unknown = names.cast(label, strict=False).is_null()
            cell = pl.int_range(len(names), eager=True) * 2 + side
            parts.append(pl.DataFrame({"name": names.filter(unknown), "cell": cell.filter(unknown)}))
        new = pl.concat(parts).group_by("name").agg(pl.col("cell").min()).sort("cell")
        found += new["name"].to_list()
    return tuple(found[len(known) :])


def chosen_columns(data: Any, columns: Columns, source: str) -> Chosen:
    """Return a Polars frame with the columns a, b, outcome and perhaps weight."""
    if isinstance(data, GameLog):
        data = data.to_polars()
    if isinstance(data, tuple | list):
        arrays = from_arrays(data)
        return Chosen(frame=arrays, names={name: name for name in arrays.columns})
    if isinstance(data, Mapping):
        data = pl.DataFrame({str(name): pl.Series(values, strict=False) for name, values in data.items()})
    frame = lazy_frame(data)
    if frame is None:
        raise InputError(
            f"cannot read games from a {type(data).__name__}: give a file, a data frame, a mapping of columns, or "
            f"arrays (a, b, outcome)"
        )
    names = frame.collect_schema().names()
    a, b = find_sides(names, source, columns.a, columns.b)
    chosen = {"a": a, "b": b, "outcome": find_outcome(names, source, columns.outcome, (a, b))[0]}
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
    refuse(~is_sound_weight(values), values, "a weight must be a finite number of at least 0", excerpt)
    return values


def outcomes(chosen: Chosen, a: pl.Series, b: pl.Series, rules: Rules | None, excerpt: Excerpt) -> Floats:
    """Return each game's share of the point for the first agent; NaN where a rule says to leave the game out."""
    column = chosen.frame["outcome"]
    if (column.dtype.is_numeric() or column.dtype == pl.Boolean) and not rules:
        values = numbers(chosen, "outcome", excerpt)
        names = chosen.names
        asked = Question(a=names["a"], b=names["b"], outcome=names["outcome"], source=excerpt.source)
        are_places = asked.may_name_places and np.isin(values, (0.0, 1.0)).all()
        if not are_places and not ((values == 2).any() and np.isin(values, (1.0, 2.0)).all()):
            rule = "an outcome is a number in [0, 1]: 1 a win, 0.5 a draw, 0 a loss"
            refuse(~((values >= 0) & (values <= 1)), values, rule, excerpt)
            return values
    labels = column.cast(pl.String).fill_null("")
    frame = pl.DataFrame({"label": labels, "is_first": labels == a, "is_second": labels == b})
    cases = (
        frame.with_row_index("row").group_by("label", "is_first", "is_second").agg(pl.col("row").min(), rows=pl.len())
    )
    cases = cases.sort("row")
    seen = [SeenLabel(**case) for case in cases.drop("row").iter_rows(named=True)]
    asked = Question(
        a=chosen.names["a"],
        b=chosen.names["b"],
        outcome=chosen.names["outcome"],
        source=excerpt.source,
        where=lambda unknown, label: excerpt.number(
            next(
                row
                for row, entry in zip(cases["row"], seen, strict=True)
                if entry.label == label and unknown.covers(entry)
            )
        ),
    )
    words = learn_vocabulary(seen, check_rules(rules), asked)
    meaning = pl.col("label").replace_strict(
        list(words.outcomes), list(words.outcomes.values()), default=np.nan, return_dtype=pl.Float64
    )
    if words.by_name:
        named = (pl.col("is_first") | pl.col("is_second")) & ~pl.col("label").is_in(list(words.ignored))
        meaning = pl.when(named).then(pl.col("is_first").cast(pl.Float64)).otherwise(meaning)
    return frame.select(meaning.alias("share"))["share"].to_numpy()


def numbers(chosen: Chosen, role: str, excerpt: Excerpt) -> Floats:
    """Return a column of numbers, NaN where one is missing."""
    column = chosen.frame[role]
    try:
        return np.ascontiguousarray(column.cast(pl.Float64).fill_null(np.nan).to_numpy())
    except pl.exceptions.PolarsError:
        raise InputError(
            f"{excerpt.source!r}, column {chosen.names[role]!r}: the column of the {role} must contain numbers, not "
            f"{'text' if column.dtype == pl.String else column.dtype}"
        ) from None


def refuse(wrong: Any, values: Floats, rule: str, excerpt: Excerpt) -> None:
    """Raise an error that shows the first wrong value and its row."""
    bad = np.flatnonzero(wrong)
    if bad.size:
        raise InputError(f"{excerpt.row(int(bad[0]))} has {values[bad[0]]:g} ({bad.size:,} such rows): {rule}")
