"""Wide tables of scores: a row per agent, a column per task."""

import re
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from nashboard._text import listed, shortened
from nashboard.data.cells import CELL, NO_SCORE, averages_left_out, number, runs_of, scores_of
from nashboard.data.columns import AGENT, STDERR, derived, given, optional, recognised
from nashboard.data.engines import collected
from nashboard.data.formats.format import Format, Input, Options
from nashboard.data.origin import Fact, LeftOut, Origin
from nashboard.data.recoding import MISSING, TRUTHS, as_number, lowered
from nashboard.data.scan import Scan, without_blank_lines
from nashboard.data.scores import Scores
from nashboard.data.spelling import key, spelling, spelt, text
from nashboard.data.task_names import (
    counted_as_tasks,
    errors_of,
    low_by_name,
    perhaps_errors_of,
    spreads_of,
    taken_for_errors,
)
from nashboard.errors import InputError

# Columns that say which row it is; pandas writes its index without a name, and reads it back as "Unnamed: 0".
BOOKKEEPING = re.compile(r"seed|run|run id|trial|index|id|row", re.IGNORECASE)
MOST_ROWS = 1_000_000  # a wide table is fetched as it is, since it is its own result; more rows are only averaged
SMALL = 0.25  # standard errors are less than this part of the largest score
NAMELESS = re.compile(r"|unnamed: \d+", re.IGNORECASE)


def scores_from_wide(frame: nw.LazyFrame[Any], options: Options, *, source: str, scan: Scan | None = None) -> Scores:
    """Read a row per agent and a column per task."""
    if scan is not None and scan.kind == "delimited":
        scan.explain()  # a row that is too short would pass for missing scores
    table = collected(frame.head(MOST_ROWS + 1), source, scan)
    large = len(table) > MOST_ROWS
    if large and options.repeats != "runs":
        raise InputError(
            f"{source!r} has more than {MOST_ROWS:,} rows, and a wide table has one for each agent",
            hint="name the columns of a long one with {agent}, {task} and {score}, or pass {repeats} if these are "
            "repeated runs",
            option={"agent": None, "task": None, "score": None, "repeats": "runs"},
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
    measured_in = [name for name in table.columns if name not in (agent, *books)]
    errors = errors_in(table, measured_in, {*averages, *options.ignore}, source)
    tasks = [name for name in measured_in if name not in (*averages, *errors, *options.ignore)]
    if not tasks:
        others = [name for name in table.columns if name != agent]
        besides = f"there is only {listed(others)}, which is no task" if others else "there is no column"
        raise InputError(f"{source!r} has no task: besides {agent!r} {besides}")
    if large:
        measured, names, rows = averaged(frame, agent, tasks, source, scan)
    else:
        names, rows = agent_names(table[agent], source), len(table)
        measured = cells_of(table, names, tasks, source, {task: name for name, task in errors.items()})
        if len(set(names)) < len(names):
            if options.repeats != "runs":
                refuse_repeats(names, source)
            measured = runs_of(measured)
    reasons = {
        "they tell rows apart and are no scores": books,
        "they hold lists or objects, not numbers": nested,
        "ignored as asked": options.ignore,
        "standard errors of what is left out": [name for name, task in errors.items() if task not in tasks],
        "standard errors in a table so large that its runs are averaged": list(errors) if large else [],
    }
    errors = {name: task for name, task in errors.items() if task in tasks and not large}
    notes = (
        *taken_for_errors(errors),
        *counted_as_tasks(perhaps_errors_of(tasks), "standard errors"),
        *counted_as_tasks(spreads_of(tasks), "the spread"),
        *low_by_name(tasks, options.lower_is_better, ()),
    )
    left_out = averages_left_out(averages) + tuple(
        LeftOut(what="columns", count=len(which), why=f"{why}: {listed(which)}")
        for why, which in reasons.items()
        if which
    )
    return scores_of(
        measured,
        agents=list(dict.fromkeys(names)),
        tasks=tasks,
        source=source,
        origin=Origin(
            source=source,
            format="scores-wide",
            rows=rows,
            left_out=left_out,
            notes=(*(scan.notes if scan else ()), *notes, *truths_noted(table.select(tasks))),
            taken=(
                Fact(
                    name="columns",
                    value=f"{len(tasks) + 1:,} of {len(table.columns):,}",
                    meaning=f"agent {shortened(agent)!r}, and a column for each task",
                ),
            ),
        ),
        lower_is_better=options.lower_is_better,
    )


def truths_noted(scores: pl.DataFrame) -> tuple[str, ...]:
    """Return a note about columns of true and false: more often a detail of the agents than a task."""
    found = []
    for column in scores:
        word = column.str.strip_chars().str.to_lowercase() if column.dtype == pl.String else None
        if column.dtype == pl.Boolean or (word is not None and word.is_in(list(TRUTHS)).any()):
            found.append(column.name)
    said = "their true and false count as 1 and 0; pass ignore= if they are no tasks"
    return (f"{listed(found)}: {said}",) if found else ()


def errors_in(table: pl.DataFrame, columns: list[str], without: set[str], source: str) -> dict[str, str]:
    """Return the columns of standard errors, and the tasks they belong to; a short ending needs small numbers too."""
    there = [name for name in columns if name not in without]
    found = {name: task for name, task in errors_of(columns).items() if name in there}
    nameless, tasks = recognised(STDERR, there), [name for name in there if name not in found]
    if len(nameless) == 1 and len(tasks) == 2:  # the standard errors of the only task
        found |= {nameless[0]: next(name for name in tasks if name != nameless[0])}
    for name, task in perhaps_errors_of(columns).items():
        if name in there and small_beside(score_column(table[name], source), score_column(table[task], source)):
            found[name] = task
    return found


def small_beside(errors: pl.Series, scores: pl.Series) -> bool:
    """Say whether numbers can be the standard errors of scores: none is negative, and all are small beside them."""
    errors, scores = errors.drop_nulls().drop_nans(), scores.drop_nulls().drop_nans()
    if errors.is_empty() or scores.is_empty() or (errors < 0).any():
        return False
    return bool((errors <= SMALL * np.abs(scores.to_numpy()).max()).all())


def cells_of(
    table: pl.DataFrame, names: list[str], tasks: list[str], source: str, errors: Mapping[str, str]
) -> pl.DataFrame:
    """Return the common frame of the cells that hold a score; ``errors`` has the columns of their standard errors."""
    columns = [score_column(table[task], source).alias(f"task {k}") for k, task in enumerate(tasks)]
    cells = pl.DataFrame([pl.Series("agent", names, dtype=pl.String), *columns]).unpivot(
        index="agent", variable_name="task", value_name="score"
    )
    unknown = pl.Series([None] * len(table), dtype=pl.Float64)
    spread = [score_column(table[errors[task]], source) if task in errors else unknown for task in tasks]
    cells = cells.with_columns(pl.concat([column.alias("stderr") for column in spread]).fill_nan(None))
    known = cells.filter(pl.col("score").is_not_null() & pl.col("score").is_not_nan())
    task = pl.col("task").replace_strict([f"task {k}" for k in range(len(tasks))], tasks, return_dtype=pl.String)
    empty = {name: pl.lit(None, dtype=kind) for name, kind in CELL.items() if name not in cells.columns}
    return known.with_columns(task, **(empty | {"runs": pl.lit(1, dtype=pl.Int64)})).select(*CELL)


def score_column(column: pl.Series, source: str) -> pl.Series:
    """Return a column as numbers; text is read cell by cell, so that what is no number is told with its row."""
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column.cast(pl.Float64)
    values = [score(value, row, column.name, source) for row, value in enumerate(column, start=1)]
    return pl.Series(column.name, values, dtype=pl.Float64)


def averaged(
    frame: nw.LazyFrame[Any], agent: str, tasks: list[str], source: str, scan: Scan | None
) -> tuple[pl.DataFrame, list[str], int]:
    """Average the runs of each agent in the frame's own engine; return the cells, the agents by name, and the rows."""
    scores = {f"task {k}": as_number(frame, task) for k, task in enumerate(tasks)}
    words = {f"task {k}": is_word(frame, task) for k, task in enumerate(tasks)}
    marks = {f"word {name}": nw.when(word).then(nw.lit(1)).otherwise(nw.lit(0)) for name, word in words.items()}
    runs = frame.select(agent=key(frame, agent), **scores, **marks).with_columns(
        # neither null nor NaN is at most infinity, in any engine
        nw.when(nw.col(name) <= float("inf")).then(nw.col(name)).alias(name)
        for name in scores
    )
    totals = {
        f"{what} {name}": part
        for name in scores
        for what, part in (
            ("mean", nw.col(name).mean()),
            ("spread", nw.col(name).std(ddof=0)),
            ("runs", nw.col(name).count()),
            ("words", nw.col(f"word {name}").sum()),
        )
    }
    found = collected(runs.group_by("agent").agg(rows=nw.len(), **totals), source, scan, in_order=True)
    found = spelt(found, {"agent": frame.collect_schema()[agent]}).sort("agent")
    names = agent_names(found["agent"], source)
    parts = []
    for task, name in zip(tasks, scores, strict=True):
        if found[f"words {name}"].sum():
            cell = collected(frame.filter(words[name]).select(cell=text(frame, task)).head(1), source, scan).item()
            raise InputError(f"{source!r}, column {task!r} is {cell[:60]!r} somewhere, not a finite number; {NO_SCORE}")
        times = pl.col(f"runs {name}").cast(pl.Float64)
        parts.append(
            found.select(
                "agent",
                task=pl.lit(task),
                score=pl.col(f"mean {name}").cast(pl.Float64),
                stderr=pl.when(times > 1).then(pl.col(f"spread {name}") / (times - 1).sqrt()),
                n=pl.lit(None, dtype=pl.Float64),
                runs=times.cast(pl.Int64),
                lower_is_better=pl.lit(None, dtype=pl.Boolean),
            ).filter(pl.col("runs") > 0)
        )
    return pl.concat(parts), names, int(found["rows"].sum())


def is_word(frame: nw.LazyFrame[Any], column: str) -> nw.Expr:
    """Say whether a cell holds something that is neither a finite number nor a word for nothing."""
    if frame.collect_schema()[column].is_numeric() or frame.collect_schema()[column] == nw.Boolean:
        return nw.lit(0) == 1
    return ~lowered(frame, column).fill_null("").is_in(MISSING) & as_number(frame, column).is_null()


def refuse_repeats(names: list[str], source: str) -> None:
    """Raise an error that names the first agent that stands in two rows."""
    first: dict[str, int] = {}
    for row, name in enumerate(names, start=1):
        if (other := first.setdefault(name, row)) != row:
            raise InputError(
                f"{source!r}: agent {name!r} stands in data rows {other:,} and {row:,}, but names must be unique",
                hint="pass {option} if these are repeated runs",
                option={"repeats": "runs"},
            )


def agent_column(table: pl.DataFrame, options: Options, source: str) -> str:
    """Return the column of agents: as named, by its usual name, or the first if it holds text."""
    found = optional("agent", AGENT, table.columns, source, options.agent)
    if found is not None:
        return found
    first = next((name for name in table.columns if not is_unnamed_index(table[name])), table.columns[0])
    if table[first].dtype.is_numeric() or not table[first].cast(pl.String).cast(pl.Float64, strict=False).null_count():
        raise InputError(
            f"{source!r} has no column of agents; its columns are {listed(table.columns, 12)}",
            hint="name it 'agent' or 'model', put it first, or pass {option}",
            option="agent",
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
        f"{NO_SCORE}, or pass {{ignore}} if the column is not a task; if rows are matches, name the columns with "
        f"{{a}}, {{b}} and {{outcome}}"
    )
    options = {"ignore": [task], "a": None, "b": None, "outcome": None}
    return number(value, f"{source!r}, data row {row:,}, column {task!r}", hint, options)


def agent_names(column: pl.Series, source: str) -> list[str]:
    """Return the names in a column, none of them empty."""
    names = ["" if name is None else str(name) for name in spelling(column)]
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
