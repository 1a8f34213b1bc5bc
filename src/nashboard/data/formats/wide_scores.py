"""Wide tables of scores: a row per agent, a column per task."""

import re
from typing import Any

import narwhals as nw
import polars as pl

from nashboard.data.cells import NO_SCORE, Cell, averages_left_out, frame_of, number, runs_of, scores_of
from nashboard.data.columns import AGENT, derived, given, optional
from nashboard.data.engines import collected
from nashboard.data.formats.format import Format, Input, Options
from nashboard.data.origin import LeftOut, Origin
from nashboard.data.scan import Scan, without_blank_lines
from nashboard.data.scores import Scores
from nashboard.errors import InputError, listed

# Columns that say which row it is; pandas writes its index without a name, and reads it back as "Unnamed: 0".
BOOKKEEPING = re.compile(r"seed|run|run id|trial|index|id|row", re.IGNORECASE)
MOST_ROWS = 1_000_000  # a wide table is fetched as it is; a log that passes for one must not be
NAMELESS = re.compile(r"|unnamed: \d+", re.IGNORECASE)


def scores_from_wide(frame: nw.LazyFrame[Any], options: Options, *, source: str, scan: Scan | None = None) -> Scores:
    """Read a row per agent and a column per task."""
    if scan is not None and scan.kind == "delimited":
        scan.explain()  # a row that is too short would pass for missing scores
    table = collected(frame.head(MOST_ROWS + 1), source, scan)
    if len(table) > MOST_ROWS:
        raise InputError(
            f"{source!r} has more than {MOST_ROWS:,} rows: a wide table has one for each agent; name the columns of "
            f"a long one with agent=, task= and score="
        )
    nested = nested_columns(table, scan)
    table = table.drop(nested, strict=False)
    if not table.columns:
        raise InputError(f"{source!r} is no table of scores: {listed(nested)} holds lists or objects, not numbers")
    if table.is_empty():
        raise InputError(f"{source!r} has columns but no rows")
    agent = agent_column(table, options, source)
    for name in options.ignore:
        given(name, table.columns, source)
    averages = [name for name in table.columns if derived(name) and name != agent and name not in options.ignore]
    books = [name for name in table.columns if keeps_books(table[name]) and name not in (agent, *options.ignore)]
    tasks = [name for name in table.columns if name not in (agent, *averages, *books, *options.ignore)]
    if not tasks:
        others = [name for name in table.columns if name != agent]
        besides = f"there is only {listed(others)}, which is no task" if others else "there is no column"
        raise InputError(f"{source!r} has no task: besides {agent!r} {besides}")
    names = agent_names(table[agent], source)
    cells = [
        Cell(agent=name, task=task, score=score(value, row, task, source))
        for row, (name, values) in enumerate(zip(names, table.select(tasks).rows(), strict=True), start=1)
        for task, value in zip(tasks, values, strict=True)
    ]
    repeated = len(set(names)) < len(names)
    if repeated and options.repeats != "runs":
        twice = next(name for name in names if names.count(name) > 1)
        rows = [k + 1 for k, name in enumerate(names) if name == twice]
        raise InputError(
            f"{source!r}: agent {twice!r} stands in data rows {rows[0]:,} and {rows[1]:,}; names must be unique, "
            f"or pass repeats='runs' if these are repeated runs"
        )
    reasons = {
        "they tell rows apart and are no scores": books,
        "they hold lists or objects, not numbers": nested,
        "ignored as asked": options.ignore,
    }
    left_out = averages_left_out(averages) + tuple(
        LeftOut(what="columns", count=len(which), why=f"{why}: {listed(which)}")
        for why, which in reasons.items()
        if which
    )
    measured = frame_of(cells).filter(pl.col("score").is_not_null() & pl.col("score").is_not_nan())
    return scores_of(
        runs_of(measured) if repeated else measured,
        agents=list(dict.fromkeys(names)),
        tasks=tasks,
        source=source,
        origin=Origin(
            source=source,
            format="scores-wide",
            rows=len(table),
            left_out=left_out,
            notes=scan.notes if scan else (),
        ),
        lower_is_better=options.lower_is_better,
    )


def agent_column(table: pl.DataFrame, options: Options, source: str) -> str:
    """Return the column of agents: as named, by its usual name, or the first if it holds text."""
    found = optional("agent", AGENT, table.columns, source, options.agent)
    if found is not None:
        return found
    first = next((name for name in table.columns if not is_unnamed_index(table[name])), table.columns[0])
    if table[first].dtype.is_numeric() or not table[first].cast(pl.String).cast(pl.Float64, strict=False).null_count():
        raise InputError(
            f"{source!r} has no column of agents: name it 'agent' or 'model', put it first, or pass agent= "
            f"(its columns are {listed(table.columns, 12)})"
        )
    return first


def nested_columns(table: pl.DataFrame, scan: Scan | None) -> list[str]:
    """Return the columns of lists and objects; a scan of json lines has left them out already."""
    nested = [name for name, kind in table.schema.items() if kind.is_nested()]
    if scan is None:
        return nested
    read = scan.frame.collect_schema()
    return nested + [name for name in scan.columns if name not in read]


def keeps_books(column: pl.Series) -> bool:
    """Say whether a column tells rows apart and measures nothing, as a seed and an index do."""
    words = re.sub(r"[\s_-]+", " ", column.name.strip())
    return BOOKKEEPING.fullmatch(words) is not None or is_unnamed_index(column)


def is_unnamed_index(column: pl.Series) -> bool:
    """Say whether a column without a name holds row numbers: a data frame's index, written beside the data."""
    if not NAMELESS.fullmatch(column.name.strip()):
        return False
    return not column.cast(pl.String).cast(pl.Int64, strict=False).null_count()


def score(value: object, row: int, task: str, source: str) -> float | None:
    """Return a cell as a number; a column of text is likelier a detail of the agents than a task."""
    hint = (
        f"{NO_SCORE}, or pass ignore=[{task!r}] if the column is no task; if rows are matches, name the columns with "
        f"a=, b= and outcome= (on the command line -r a=... -r b=... -r outcome=...)"
    )
    return number(value, f"{source!r}, data row {row:,}, column {task!r}", hint)


def agent_names(column: pl.Series, source: str) -> list[str]:
    """Return the names in a column, none of them empty."""
    names = ["" if name is None else str(name) for name in column]
    for k, name in enumerate(names):
        if not name.strip():
            raise InputError(
                f"{source!r}, data row {k + 1:,}, column {column.name!r} is empty: every agent needs a name"
            )
    return names


def read_wide(source: Input) -> Scores:
    """Read a wide table of scores on disk."""
    table = source.scan
    frame = without_blank_lines(nw.from_native(table.frame), table.columns, table)
    return scores_from_wide(frame, source.options, source=table.name, scan=table)


WIDE_SCORES = Format(
    name="scores-wide",
    makes="scores",
    holds="a row per agent, a column per task",
    fits=lambda x: bool(x.columns),
    read=read_wide,
)
