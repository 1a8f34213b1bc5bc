"""Long tables of scores: a row per agent, task and run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import polars as pl

from nashboard._text import listed
from nashboard.data.cells import LOWER_NUMBER, NUMBER, number, scores_of
from nashboard.data.chosen import chosen_rows, shown, there_instead
from nashboard.data.columns import AGENT, ITEMS, LOWER, RUNS, SCORE, STDERR, TASK, derived, one, optional, recognised
from nashboard.data.counting import Filter
from nashboard.data.engines import collected
from nashboard.data.formats.format import Format, Input, Options
from nashboard.data.origin import CHOSEN, Fact, LeftOut, Origin, columns_taken
from nashboard.data.recoding import MISSING, NO, TRUTHS, YES, as_number, recoded
from nashboard.data.scan import Scan, without_blank_lines
from nashboard.data.scores import Scores
from nashboard.data.segments import by_value, checked_split
from nashboard.data.spelling import key, spelt, text
from nashboard.data.task_names import low_by_name
from nashboard.errors import InputError

OPTIONAL_NUMBERS = {"stderr": STDERR, "n": ITEMS, "runs": RUNS}
ROLES = {"stderr": "standard error", "n": "number of items", "lower_is_better": "lower is better"}  # in words
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
        if role == "lower_is_better" and options.lower_is_better is not None:
            continue  # what the user says about directions stands above what the file says
        if (name := optional(role, usual, columns, source, None)) and name not in roles.values():
            roles[role] = name
    measures = [name for name in recognised(METRIC, columns) if name not in roles.values()]
    refuse_nested(frame, [*roles.values(), *measures[:1]], source)
    split = checked_split(options.segment, frame, source, scan)
    if measures and options.metric is not None:
        frame = frame.filter(text(frame, measures[0]) == options.metric)
    filters = chosen_rows(frame, options.where, source, scan)
    chosen = frame
    for part in filters:
        chosen = chosen.filter(part.keep)
    taken = {ROLES.get(role, role): name for role, name in roles.items()}
    taken |= {"metric": measures[0]} if measures else {}
    table = Summed(
        frame=frame,
        filters=filters,
        options=options,
        source=source,
        scan=scan,
        metric=measures[:1],
        taken=columns_taken(taken, columns),
    )
    frame = with_numbers(chosen, roles, scan, source)
    numbers = [role for role in ("score", *OPTIONAL_NUMBERS) if role in roles]
    named = {"agent": agent, "task": task} | ({"segment": split.column} if split else {})
    kinds = {role: chosen.collect_schema()[name] for role, name in named.items()}
    cells = frame.select(
        *(as_number(frame, roles[role]).alias(role) for role in numbers),
        *(key(frame, name).alias(role) for role, name in named.items()),
        *(text(frame, roles[role]).alias(role) for role in ("lower_is_better",) if role in roles),
        *(text(frame, name).fill_null("").alias("metric") for name in measures[:1]),
    ).with_columns(  # neither null nor NaN is at most infinity, in any engine
        missing=nw.when(nw.col("score") <= float("inf")).then(nw.lit(0)).otherwise(nw.lit(1))
    )
    totals = {
        "rows": nw.len(),
        "score": nw.col("score").mean(),
        "spread": nw.col("score").std(ddof=0),  # with ddof=1 some engines stumble over a single run
        **{role: nw.col(role).max() for role in ("stderr", "runs") if role in roles},
        **{role: nw.col(role).sum() for role in ("n",) if role in roles},
    }
    if "lower_is_better" in roles:
        words = collected(cells.group_by("lower_is_better").agg(rows=nw.len()), source, scan)
        refuse_unknown_directions(words, roles, source)
        word = nw.col("lower_is_better").str.strip_chars().str.to_lowercase()
        cells = cells.with_columns(
            low=nw.when(word.is_in(YES)).then(nw.lit(1)).otherwise(nw.lit(0)),
            high=nw.when(word.is_in(NO)).then(nw.lit(1)).otherwise(nw.lit(0)),
        )
        totals |= {"low": nw.col("low").sum(), "high": nw.col("high").sum()}
    keys = [*named, "missing"]
    found = spelt(collected(cells.group_by(*keys).agg(**totals), source, scan, in_order=True), kinds)
    metrics = cells.group_by(*keys, *(["metric"] * bool(measures))).agg(rows=nw.len())
    used = spelt(collected(metrics, source, scan), kinds) if measures else None
    if split is None:
        return table.scores(found, used)
    parts, rest = by_value(found)
    measured = by_value(used)[0] if used is not None else {}
    split.without.append(int(rest["rows"].sum()))
    made = []
    for value, sums in parts.items():
        try:
            made.append(table.scores(sums, measured.get(value), split.said(value)))
            split.parts[value] = made[-1]
        except InputError as error:
            split.refused[value] = error
    if not made:
        raise InputError(f"{source!r}: no {split.column} has scores that can be read{split.reason()}")
    return made[0]  # the caller takes them all from the split


@dataclass(frozen=True, kw_only=True)
class Summed:
    """A long table whose rows were summed up: what is left is to check the sums and to put them into a table."""

    options: Options
    source: str
    scan: Scan | None
    metric: list[str]  # the column that says by what a task was scored, if there is one
    frame: nw.LazyFrame[Any]  # all rows, with those that were not chosen
    filters: tuple[Filter, ...]
    taken: Fact

    def scores(self, found: pl.DataFrame, used: pl.DataFrame | None, *notes: str) -> Scores:
        """Return the scores of sums by agent and task; ``used`` has the metrics of each."""
        options, source = self.options, self.source
        rows, holes = int(found["rows"].sum()), int(found.filter(pl.col("missing") == 1)["rows"].sum())
        wanted = only_rows(options)
        if not rows:
            chosen = f" with the metric {options.metric!r}" if self.metric and options.metric else ""
            chosen += f" where {wanted}{there_instead(self.frame, self.filters, source, self.scan)}" if wanted else ""
            raise InputError(f"{source!r} has columns but no rows{chosen}")
        if used is not None:
            refuse_several_metrics(used.filter(pl.col("missing") == 0), self.metric[0], source)
        tasks = sorted(set(found["task"].drop_nulls()))
        averages = [task for task in tasks if derived(task)]
        looks = (f"{listed(averages)} looks computed from the other tasks, and counts as a task",) if averages else ()
        only = (f"{CHOSEN} {wanted}",) if wanted else ()
        cells = one_row_per_cell(found.filter(pl.col("missing") == 0), source)
        said = cells.filter(pl.col("lower_is_better").is_not_null())["task"].unique()
        low = low_by_name(tasks, options.lower_is_better, said)
        return scores_of(
            cells,
            agents=sorted(set(found["agent"].drop_nulls())),
            tasks=tasks,
            source=source,
            origin=Origin(
                source=source,
                format="scores-long",
                rows=rows,
                left_out=(LeftOut(what="rows", count=holes, why="they have no score"),) if holes else (),
                notes=(*(self.scan.notes if self.scan else ()), *only, *notes, *looks, *low),
                taken=(self.taken,),
            ),
            lower_is_better=options.lower_is_better,
        )


def only_rows(options: Options) -> str:
    """Say which rows ``where=`` keeps, or nothing."""
    return " and ".join(f"{name} is {shown(wanted)}" for name, wanted in options.where.items())


def refuse_nested(frame: nw.LazyFrame[Any], columns: Sequence[str], source: str) -> None:
    """Raise an error at a column of lists or objects where a name or a number is needed."""
    schema = frame.collect_schema()
    if nested := [name for name in columns if schema[name].is_nested()]:
        raise InputError(
            f"{source!r}, column {nested[0]!r} holds lists or objects: a table of scores has one name or number a cell"
        )


def refuse_unknown_directions(words: pl.DataFrame, roles: dict[str, str], source: str) -> None:
    """Raise an error at words that do not say whether lower is better."""
    word = pl.col("lower_is_better").str.strip_chars().str.to_lowercase()
    unknown = words.filter(~word.is_in([*YES, *NO, *MISSING])).sort("rows", "lower_is_better", descending=[True, False])
    if len(unknown):
        raise InputError(
            f"{source!r}, column {roles['lower_is_better']!r} is {listed(unknown['lower_is_better'], 3)} in "
            f"{unknown['rows'].sum():,} rows",
            hint="write true or false, or pass {option}",
            option="lower_is_better",
        )


def refuse_several_metrics(used: pl.DataFrame, column: str, source: str) -> None:
    """Raise an error where a task is scored by more than one metric: within an agent, or from agent to agent."""
    first: dict[str, tuple[str, str]] = {}
    for agent, task, metric in used.select("agent", "task", "metric").sort("agent", "task", "metric").rows():
        other, other_metric = first.setdefault(task, (agent, metric))
        if metric == other_metric:
            continue
        if agent == other:
            here = used.filter(pl.col("agent").eq_missing(agent) & pl.col("task").eq_missing(task))
            raise InputError(
                f"{source!r}, column {column!r}: {agent!r} has scores by {len(here)} metrics on {task!r}, which are "
                f"not runs of one",
                hint="pass {option} to choose one",
                option="metric",
            )
        raise InputError(
            f"{source!r}, column {column!r}: the task {task!r} is scored by {other_metric or 'nothing'!r} for "
            f"{other!r} but by {metric or 'nothing'!r} for {agent!r}",
            hint="pass {option} to choose one",
            option="metric",
        )


def one_row_per_cell(found: pl.DataFrame, source: str) -> pl.DataFrame:
    """Return the common frame of cells from the aggregated rows of a long table."""
    single = pl.col("rows") == 1
    empty = pl.lit(None, dtype=pl.Float64)
    has = set(found.columns)
    lower = pl.lit(None, dtype=pl.Boolean)
    if "low" in has:
        torn = found.filter((pl.col("low") > 0) & (pl.col("high") > 0))
        if len(torn):
            raise InputError(
                f"{source!r} says of {listed(torn['task'].unique().sort())} both that lower and that higher is better",
                hint="pass {option}",
                option="lower_is_better",
            )
        lower = pl.when(pl.col("low") + pl.col("high") > 0).then(pl.col("low") > 0)
    return found.select(
        "agent",
        "task",
        "score",
        stderr=pl.when(single)
        .then(pl.col("stderr") if "stderr" in has else empty)
        .otherwise(pl.col("spread") / (pl.col("rows").cast(pl.Float64) - 1).sqrt()),
        n=pl.when(pl.col("n") > 0).then("n") if "n" in has else empty,
        runs=pl.when(single & pl.col("runs").is_not_null()).then("runs").otherwise("rows").cast(pl.Int64)
        if "runs" in has
        else pl.col("rows").cast(pl.Int64),
        lower_is_better=lower,
    )


def with_numbers(frame: nw.LazyFrame[Any], roles: dict[str, str], scan: Scan | None, source: str) -> nw.LazyFrame[Any]:
    """Turn columns of text into numbers; text that is no number is an error with row and column."""
    schema = frame.collect_schema()
    wanted = [roles[role] for role in ("score", *OPTIONAL_NUMBERS) if role in roles]
    for name in wanted:
        if schema[name].is_numeric() or schema[name] == nw.Boolean:
            continue
        if scan is None:
            refuse_words(frame, name, roles, source)
        else:
            refuse_text(scan, frame.to_native(), name)
        cell = text(frame, name).str.strip_chars()
        figure = recoded(cell.str.to_lowercase(), TRUTHS)
        frame = frame.with_columns(nw.when(~figure.is_in(MISSING)).then(figure).cast(nw.Float64).alias(name))
    return frame


def refuse_words(frame: nw.LazyFrame[Any], name: str, roles: dict[str, str], source: str) -> None:
    """Raise an error at a cell of a frame's column that is neither a number nor missing; its rows have no numbers."""
    cell = text(frame, name).str.strip_chars().str.to_lowercase()
    sound = cell.is_null() | cell.is_in([*MISSING, *TRUTHS]) | cell.str.contains(f"^(?:{LOWER_NUMBER})$")
    place = {"agent": text(frame, roles["agent"]), "task": text(frame, roles["task"]), "cell": text(frame, name)}
    for agent, task, value in collected(frame.filter(~sound).select(**place).head(1), source).rows():
        number(value, f"{source!r}, column {name!r}, {agent!r} on {task!r},")


def refuse_text(scan: Scan, frame: pl.LazyFrame, name: str) -> None:
    """Raise an error at the first cell of a file's column that is neither a number nor missing."""
    cell = pl.col(name).cast(pl.String).str.strip_chars()
    word = cell.str.to_lowercase()
    sound = cell.is_null() | word.is_in([*MISSING, *TRUTHS]) | cell.str.contains(f"^({NUMBER})$")
    numbered = frame.with_row_index("nashboard_row", offset=1)
    bad = scan.collect(numbered.filter(~sound).select("nashboard_row", cell).head(1))
    if len(bad):
        scan.explain()
        row, value = bad.row(0)
        number(value, f"{scan.name!r}, data row {row:,}, column {name!r}")


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
