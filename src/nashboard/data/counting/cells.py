"""From single scores to a table of scores: repeats, holes and directions are settled here.

The common shape of every source of scores is a small frame with one row per (agent, task): score, stderr, n,
runs, lower_is_better, in the order in which agents and tasks are to stand.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from nashboard._text import listed, rows_have
from nashboard._types import Floats, Ints
from nashboard.data.origin import LeftOut, Origin
from nashboard.data.scores import Scores
from nashboard.data.table.columns import Directions, has_low_arrow, list_names, match_names
from nashboard.errors import InputError

MOST_RUNS = 1_000_000  # single scores that are kept beside their means
CELL = {
    "agent": pl.String,
    "task": pl.String,
    "score": pl.Float64,
    "stderr": pl.Float64,
    "n": pl.Float64,
    "runs": pl.Int64,
    "lower_is_better": pl.Boolean,
}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One measured score."""

    agent: str
    task: str
    score: float | None
    stderr: float | None = None
    n: float | None = None
    lower_is_better: bool | None = None

    def row(self) -> tuple[Any, ...]:
        """Return the cell as a row of the common frame."""
        return (self.agent, self.task, self.score, self.stderr, self.n, 1, self.lower_is_better)


def frame_cells(cells: Sequence[Cell]) -> pl.DataFrame:
    """Return cells as the common frame."""
    return pl.DataFrame([cell.row() for cell in cells], schema=CELL, orient="row")


def make_scores(
    cells: pl.DataFrame,
    *,
    source: str,
    origin: Origin,
    lower_is_better: Directions,
    agents: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    groups: Mapping[str, str] | None = None,
    single: pl.DataFrame | None = None,
    narrow: bool = False,
) -> Scores:
    """Put cells, one per agent and task, into a table; names are sorted unless an order is given.

    ``groups`` is, for a table of items, the task that each of them belongs to; ``single`` has the scores of single
    runs, a row each; ``narrow`` says that scores were given in single precision.
    """
    for side in ("agent", "task"):
        blank = cells.filter(pl.col(side).is_null() | (pl.col(side).str.strip_chars() == ""))
        if len(blank):
            raise InputError(f"{source!r}: {rows_have(len(blank), 'scores')} no {side} name; every score needs one")
    twice = cells.filter(cells.select("agent", "task").is_duplicated())
    if len(twice):
        agent, task = twice.select("agent", "task").row(0)
        raise InputError(f"{source!r} has more than one score of {agent!r} on {task!r}: each may occur once")
    agents, no_agents = split_empty(cells, "agent", agents)
    tasks, no_tasks = split_empty(cells, "task", tasks)
    origin = replace(origin, left_out=(*origin.left_out, *no_agents, *no_tasks))
    if len(agents) < 2:
        only = f" ({agents[0]!r})" if agents else ""
        raise InputError(f"{source!r} has scores of one agent only{only}: a comparison needs at least two")
    row, column = find_cells(cells, agents, tasks)
    shape = (len(agents), len(tasks))
    table = {name: np.full(shape, np.nan) for name in ("score", "stderr", "n", "runs")}
    for name, values in table.items():
        values[row, column] = cells[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
    if lower_is_better is None:
        refuse_two_directions(cells, source)
    said = cells.filter(pl.col("lower_is_better").is_not_null()).select("task", "lower_is_better")
    with name_source(source):
        return Scores(
            agents=tuple(agents),
            tasks=tuple(tasks),
            values=table["score"],
            lower_is_better=find_directions(tasks, lower_is_better, source, said=dict(said.iter_rows())),
            stderr=table["stderr"],
            n=table["n"],
            runs=np.nan_to_num(table["runs"]).astype(np.intp),
            origin=origin,
            groups=None if groups is None else tuple(groups[task] for task in tasks),
            single_runs=None if single is None else stack_runs(single, agents, tasks),
            spacing=float(np.finfo(np.float32).eps) if narrow else 0.0,
        )


def split_empty(cells: pl.DataFrame, side: str, names: Sequence[str] | None) -> tuple[list[str], tuple[LeftOut, ...]]:
    """Return the agents or tasks that have a score, and the entry for the others; one that is left is not enough."""
    known = cells.filter(pl.col("score").is_not_nan().fill_null(value=False))[side].unique()
    every = list(dict.fromkeys(sorted(cells[side].unique()) if names is None else names))
    scored = set(known)
    kept = [name for name in every if name in scored]
    if len(kept) == len(every) or len(kept) < (2 if side == "agent" else 1):
        return every, ()
    empty = [name for name in every if name not in scored]
    return kept, (LeftOut(f"{side}s", len(empty), f"no score at all: {listed(empty)}"),)


def find_cells(rows: pl.DataFrame, agents: Sequence[str], tasks: Sequence[str]) -> tuple[Ints, Ints]:
    """Return the row and the column in the table of each score."""
    row = rows["agent"].cast(pl.Enum(agents)).to_physical().to_numpy().astype(np.intp)
    return row, rows["task"].cast(pl.Enum(tasks)).to_physical().to_numpy().astype(np.intp)


def stack_runs(single: pl.DataFrame, agents: Sequence[str], tasks: Sequence[str]) -> Floats | None:
    """Return the scores of single runs, ``(r, m, n)``, lowest first; None for one run of each cell, or too many."""
    number = pl.int_range(pl.len()).over("agent", "task")
    rows = single.sort("agent", "task", "score").with_columns(number=number)  # in no engine's own order
    most = int(rows["number"].max() or 0) + 1 if len(rows) else 0  # type: ignore[arg-type]
    if most < 2 or most * len(agents) * len(tasks) > MOST_RUNS:
        return None
    found = np.full((most, len(agents), len(tasks)), np.nan)
    found[rows["number"].to_numpy(), *find_cells(rows, agents, tasks)] = rows["score"].to_numpy()
    return found


@contextlib.contextmanager
def name_source(source: str) -> Iterator[None]:
    """Put the source's name before what is wrong with its numbers."""
    try:
        yield
    except InputError as error:
        here = str(error).startswith(repr(source))
        message = error.message if here else f"{source!r}: {error.message}"
        raise InputError(message, error.hint, error.options) from None


def find_directions(
    tasks: Sequence[str], asked: Directions, source: str, *, said: Mapping[str, bool]
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return for each task whether lower is better: as asked, else as the file or an arrow in its name says."""
    if isinstance(asked, bool):
        return np.full(len(tasks), asked)
    if asked is not None:
        low = set(match_names(list_names(asked), tasks, source, "task"))
        return np.array([task in low for task in tasks])
    return np.array([said.get(task, has_low_arrow(task)) for task in tasks])


def refuse_two_directions(cells: pl.DataFrame, source: str) -> None:
    """Raise an error where a file says of one task that lower is better and that higher is."""
    said = cells.filter(pl.col("lower_is_better").is_not_null()).select("task", "lower_is_better").unique()
    refuse_torn(said["task"].filter(said["task"].is_duplicated()), source)


def refuse_torn(tasks: pl.Series, source: str) -> None:
    """Raise an error that names the tasks of which both directions were said, if there are any."""
    if len(tasks):
        raise InputError(
            f"{source!r} marks {listed(tasks.unique().sort())} both as lower is better and as higher is better",
            hint="pass {option}",
            option="lower_is_better",
        )


def refuse_mixed_units(found: Mapping[str, tuple[int, int]], source: str) -> None:
    """Raise an error where some scores of a task are percentages and others are not; ``found`` counts both."""
    for task, (marked, others) in found.items():
        if marked and others:
            raise InputError(
                f"{source!r}: {marked:,} of {marked + others:,} scores on {task!r} have a per cent sign and the others "
                f"have none: write all in one way"
            )


def refuse_mixed_metrics(used: Sequence[tuple[str, str, str]], where: str) -> None:
    """Raise an error where a task is scored by several metrics: within an agent, or from agent to agent."""
    first: dict[str, tuple[str, str]] = {}
    for agent, task, metric in used:
        other, other_metric = first.setdefault(task, (agent, metric))
        if metric == other_metric:
            continue
        said = f"the task {task!r} is scored by {other_metric or 'nothing'!r} for {other!r} but by "
        said += f"{metric or 'nothing'!r} for {agent!r}"
        if agent == other:
            number = sum(entry[:2] == (agent, task) for entry in used)
            said = f"{agent!r} has scores by {number} metrics on {task!r}, which are not runs of one"
        raise InputError(f"{where}: {said}", hint="pass {option} to choose one", option="metric")


def average_runs(cells: pl.DataFrame) -> pl.DataFrame:
    """Average repeated cells: their mean is the score, their spread gives the standard error."""
    repeated = pl.len() > 1
    spread = pl.col("score").std(ddof=1) / pl.len().sqrt()
    return cells.group_by("agent", "task", maintain_order=True).agg(
        score=pl.col("score").mean(),
        stderr=pl.when(repeated).then(spread).otherwise(pl.col("stderr").first()),
        n=pl.when(pl.col("n").count() > 0).then(pl.col("n").sum()),
        runs=pl.len().cast(pl.Int64),
        lower_is_better=pl.col("lower_is_better").drop_nulls().first(),
    )


def leave_out_averages(names: Sequence[str], what: str = "columns", count: int | None = None) -> tuple[LeftOut, ...]:
    """Return the entry for columns, rows or results that are computed from the others, if there are any."""
    why = f"computed from the others: {listed(names)}"
    return (LeftOut(what, len(names) if count is None else count, why),) if names else ()
