"""Wide tables of scores: a row per agent, a column per task."""

from typing import Any

import narwhals as nw
import polars as pl

from nashboard.data.cells import Cell, frame_of, number, runs_of, scores_of
from nashboard.data.columns import AGENT, derived, given, optional
from nashboard.data.formats.format import Format, Input, Options
from nashboard.data.origin import LeftOut, Origin
from nashboard.data.scan import Scan, without_blank_lines
from nashboard.data.scores import Scores
from nashboard.errors import InputError, listed


def scores_from_wide(frame: nw.LazyFrame[Any], options: Options, *, source: str, scan: Scan | None = None) -> Scores:
    """Read a row per agent and a column per task."""
    if scan is not None and scan.kind == "delimited":
        scan.explain()  # a row that is too short would pass for missing scores
    table = scan.collect(frame.to_native()) if scan is not None else frame.collect().to_polars()
    if table.is_empty():
        raise InputError(f"{source!r} has columns but no rows")
    agent = agent_column(table, options, source)
    for name in options.ignore:
        given(name, table.columns, source)
    averages = [name for name in table.columns if derived(name) and name != agent and name not in options.ignore]
    tasks = [name for name in table.columns if name not in (agent, *averages, *options.ignore)]
    if not tasks:
        raise InputError(f"{source!r} has no task: besides {agent!r} there is only {listed(averages)}")
    cells = [
        Cell(agent=name, task=task, score=number(value, f"{source!r}, data row {row:,}, column {task!r}"))
        for row, (name, *values) in enumerate(table.select(agent, *tasks).rows(), start=1)
        for task, value in zip(tasks, values, strict=True)
    ]
    names = agent_names(table[agent], source)
    repeated = len(set(names)) < len(names)
    if repeated and options.repeats != "runs":
        twice = next(name for name in names if names.count(name) > 1)
        rows = [k + 1 for k, name in enumerate(names) if name == twice]
        raise InputError(
            f"{source!r}: agent {twice!r} stands in data rows {rows[0]:,} and {rows[1]:,}; names must be unique, "
            f"or pass repeats='runs' if these are repeated runs"
        )
    left_out = (
        [LeftOut(what="columns", count=len(averages), why=f"computed from the others: {listed(averages)}")]
        if averages
        else []
    )
    if options.ignore:
        left_out.append(
            LeftOut(what="columns", count=len(options.ignore), why=f"ignored as asked: {listed(options.ignore)}")
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
            left_out=tuple(left_out),
            notes=scan.notes if scan else (),
        ),
        lower_is_better=options.lower_is_better,
    )


def agent_column(table: pl.DataFrame, options: Options, source: str) -> str:
    """Return the column of agents: as named, by its usual name, or the first if it holds text."""
    found = optional("agent", AGENT, table.columns, source, options.agent)
    if found is not None:
        return found
    first = table.columns[0]
    if table[first].dtype.is_numeric() or not table[first].cast(pl.String).cast(pl.Float64, strict=False).null_count():
        raise InputError(
            f"{source!r} has no column of agents: name it 'agent' or 'model', put it first, or pass agent= "
            f"(its columns are {listed(table.columns, 12)})"
        )
    return first


def agent_names(column: pl.Series, source: str) -> list[str]:
    """Return the names in a column, none of them empty."""
    names = [str(name or "") for name in column]
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
