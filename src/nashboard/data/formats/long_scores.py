"""Long tables of scores: a row per agent, task and run."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import polars as pl

from nashboard.data.cells import MISSING, number, scores_of
from nashboard.data.columns import AGENT, ITEMS, LOWER, RUNS, SCORE, STDERR, TASK, one, optional, recognised
from nashboard.data.formats.format import Format, Input, Options
from nashboard.data.origin import LeftOut, Origin
from nashboard.data.scan import Scan, without_blank_lines
from nashboard.data.scores import Scores
from nashboard.errors import InputError, listed

OPTIONAL_NUMBERS = {"stderr": STDERR, "n": ITEMS, "runs": RUNS}
METRIC = ("metric", "metric_name")


def is_long(columns: Sequence[str], options: Options) -> bool:
    """Say whether a table has a column of tasks and a column of scores."""
    if options.task is not None or options.score is not None:
        return True
    return all(recognised(usual, columns) for usual in (AGENT, TASK, SCORE))


def scores_from_long(frame: nw.LazyFrame[Any], options: Options, *, source: str, scan: Scan | None = None) -> Scores:
    """Read a row per agent, task and run; runs are averaged in the frame's own engine."""
    columns = frame.collect_schema().names()
    agent = one("agent", AGENT, columns, source, options.agent)
    task = one("task", TASK, [name for name in columns if name != agent], source, options.task)
    score = one("score", SCORE, [name for name in columns if name not in (agent, task)], source, options.score)
    roles = {"agent": agent, "task": task, "score": score}
    for role, usual in (*OPTIONAL_NUMBERS.items(), ("lower_is_better", LOWER)):
        if (name := optional(role, usual, columns, source, None)) and name not in roles.values():
            roles[role] = name
    measures = [name for name in recognised(METRIC, columns) if name not in roles.values()]
    if measures and options.metric is not None:
        frame = frame.filter(nw.col(measures[0]).cast(nw.String) == options.metric)
    if scan is not None:
        frame = nw.from_native(with_numbers(scan, frame.to_native(), roles))
    numbers = [role for role in ("score", *OPTIONAL_NUMBERS) if role in roles]
    cells = frame.select(
        *(nw.col(roles[role]).cast(nw.Float64).alias(role) for role in numbers),
        *(
            nw.when(~nw.col(roles[role]).is_null()).then(nw.col(roles[role]).cast(nw.String)).alias(role)
            for role in ("agent", "task")
        ),
        *(
            nw.col(roles[role]).cast(nw.String).str.to_lowercase().alias(role)
            for role in ("lower_is_better",)
            if role in roles
        ),
        *(nw.col(name).alias("metric") for name in measures[:1]),
    ).with_columns(
        missing=nw.when(nw.col("score").is_null() | nw.col("score").is_nan()).then(nw.lit(1)).otherwise(nw.lit(0))
    )
    totals = {
        "rows": nw.len(),
        "score": nw.col("score").mean(),
        "spread": nw.col("score").std(ddof=1),
        **{role: nw.col(role).max() for role in ("stderr", "runs") if role in roles},
        **{role: nw.col(role).sum() for role in ("n",) if role in roles},
        **({"metrics": nw.col("metric").n_unique()} if measures else {}),
    }
    keys = ["agent", "task", "missing"] + ["lower_is_better"] * ("lower_is_better" in roles)
    query = cells.group_by(*keys).agg(**totals)
    found = scan.collect(query.to_native()) if scan is not None else query.collect().to_polars()
    rows, holes = int(found["rows"].sum()), int(found.filter(pl.col("missing") == 1)["rows"].sum())
    if not rows:
        chosen = f" with the metric {options.metric!r}" if measures and options.metric else ""
        raise InputError(f"{source!r} has columns but no rows{chosen}")
    if measures:
        refuse_several_metrics(found.filter(pl.col("missing") == 0), measures[0], source)
    left_out = (LeftOut(what="rows", count=holes, why="they have no score"),) if holes else ()
    return scores_of(
        one_row_per_cell(found.filter(pl.col("missing") == 0), source),
        agents=sorted(set(found["agent"].drop_nulls())),
        tasks=sorted(set(found["task"].drop_nulls())),
        source=source,
        origin=Origin(
            source=source,
            format="scores-long",
            rows=rows,
            left_out=left_out,
            notes=scan.notes if scan else (),
        ),
        lower_is_better=options.lower_is_better,
    )


def refuse_several_metrics(found: pl.DataFrame, column: str, source: str) -> None:
    """Raise an error where the rows of an agent and task are not runs but different metrics."""
    several = found.filter(pl.col("metrics") > 1).sort("agent", "task")
    if len(several):
        agent, task, metrics = several.select("agent", "task", "metrics").row(0)
        raise InputError(
            f"{source!r}, column {column!r}: {agent!r} has scores by {metrics} metrics on {task!r}, which are not runs "
            f"of one: pass metric= to choose"
        )


def one_row_per_cell(found: pl.DataFrame, source: str) -> pl.DataFrame:
    """Return the common frame of cells from the aggregated rows of a long table."""
    single = pl.col("rows") == 1
    empty = pl.lit(None, dtype=pl.Float64)
    has = set(found.columns)
    lower = (
        pl.col("lower_is_better").is_in(["true", "1", "yes"])
        if "lower_is_better" in has
        else pl.lit(None, dtype=pl.Boolean)
    )
    cells = found.select(
        "agent",
        "task",
        "score",
        stderr=pl.when(single)
        .then(pl.col("stderr") if "stderr" in has else empty)
        .otherwise(pl.col("spread") / pl.col("rows").sqrt()),
        n=pl.when(pl.col("n") > 0).then("n") if "n" in has else empty,
        runs=pl.when(single & pl.col("runs").is_not_null()).then("runs").otherwise("rows").cast(pl.Int64)
        if "runs" in has
        else pl.col("rows").cast(pl.Int64),
        lower_is_better=lower,
    )
    torn = cells.filter(cells.select("agent", "task").is_duplicated())
    if len(torn):
        raise InputError(
            f"{source!r} says of {listed(torn['task'].unique().sort())} both that lower and that higher is better: "
            f"pass lower_is_better="
        )
    return cells


def with_numbers(scan: Scan, frame: pl.LazyFrame, roles: dict[str, str]) -> pl.LazyFrame:
    """Turn text columns of a file into numbers; text that is no number is an error with row and column."""
    schema = frame.collect_schema()
    text = [roles[role] for role in ("score", *OPTIONAL_NUMBERS) if role in roles and schema[roles[role]] == pl.String]
    for name in text:
        empty = pl.col(name).is_null() | pl.col(name).str.strip_chars().str.to_lowercase().is_in(MISSING)
        value = pl.col(name).str.strip_chars().cast(pl.Float64, strict=False)
        numbered = frame.with_row_index("nashboard_row", offset=1)
        bad = scan.collect(numbered.filter(~empty & value.is_null()).select("nashboard_row", name).head(1))
        if len(bad):
            scan.explain()
            row, cell = bad.row(0)
            number(cell, f"{scan.name!r}, data row {row:,}, column {name!r}")
    return frame.with_columns(pl.col(text).str.strip_chars().cast(pl.Float64, strict=False).fill_nan(None))


def read_long(source: Input) -> Scores:
    """Read a long table of scores on disk."""
    table = source.scan
    frame = without_blank_lines(nw.from_native(table.frame), table.columns, table)
    return scores_from_long(frame, source.options, source=table.name, scan=table)


LONG_SCORES = Format(
    name="scores-long",
    makes="scores",
    holds="a row per agent, task and run",
    fits=lambda x: bool(x.columns) and is_long(x.columns, x.options),
    read=read_long,
)
