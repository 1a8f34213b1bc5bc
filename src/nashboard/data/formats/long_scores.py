"""Long tables of scores: a row per agent, task and run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import polars as pl

from nashboard._text import listed, rows_have
from nashboard.data.counting.cells import (
    MOST_RUNS,
    make_scores,
    refuse_mixed_metrics,
    refuse_mixed_units,
    refuse_torn,
)
from nashboard.data.formats.format import Input, Options
from nashboard.data.formats.match_tables import check_numbers, check_segment
from nashboard.data.origin import CHOSEN, Fact, LeftOut, Origin, columns_taken
from nashboard.data.scores import Scores
from nashboard.data.segments import Segments, read_each, split_by_value
from nashboard.data.table.columns import (
    AGENT,
    ERROR_BEFORE,
    ERROR_OF,
    ITEMS,
    LOWER,
    PERHAPS_ERROR_OF,
    RUNS,
    SCORE,
    STDERR,
    TASK,
    find_by_ending,
    find_column,
    find_usual,
    fold,
    is_derived,
    note_low_names,
    require_column,
)
from nashboard.data.table.table import Table
from nashboard.data.table.values import (
    MISSING,
    NO,
    PERCENT,
    YES,
    Filter,
    as_key,
    as_lower,
    as_number,
    as_text,
    describe_values,
    is_blank,
    make_filters,
    show_values,
    spell_columns,
)
from nashboard.errors import InputError

OPTIONAL_NUMBERS = {"stderr": STDERR, "n": ITEMS, "runs": RUNS}
ROLES = {"stderr": "standard error", "n": "number of items", "lower_is_better": "lower is better"}  # in words
ITEM = ("question", "question_id", "item", "item_id", "instance_id", "sample_id", "doc_id", "seg_id")
METRIC = ("metric", "metric_name")
# Columns of counts, and how many items there were.
SOLVED, TOTAL = (
    ("correct", "n_correct", "num_correct", "passed", "solved", "resolved"),
    ("total", "n_total", "num_total"),
)
# Columns that make rows of one agent and task something else than runs, if they differ there.
APART = (
    "step", "steps", "global_step", "env_step", "env_steps", "timestep", "timesteps", "total_timesteps", "epoch",
    "iteration", "episode", "checkpoint", "split", "subset", "category", "subcategory", "subject", "domain", "language",
    "lang", "level", "difficulty", "turn", "shots", "n_shots", "num_fewshot", "temperature", "size", "mode",
    "variant", "version", "revision", "quantization", "precision", "prompt", "template", "setting", "config",
    "condition", "params",
)  # fmt: skip


def is_long(columns: Sequence[str], options: Options) -> bool:
    """Return whether a table has a column of tasks and a column of scores."""
    if options.task is not None or options.score is not None:
        return True
    return all(find_usual(usual, columns) for usual in (AGENT, TASK, SCORE))


@dataclass(frozen=True, kw_only=True)
class LongTable:
    """A long table, which column is what, and the rows that were chosen."""

    table: Table  # the chosen rows, with sound cells
    all_rows: Table
    filters: tuple[Filter, ...]
    options: Options
    roles: Mapping[str, str]
    metric: str | None  # the column that says by what a task was scored, if there is one
    format: str
    notes: tuple[str, ...]
    group: str | None  # the column of the task that an item belongs to

    @property
    def name(self) -> str:
        """What the user calls the table."""
        return self.table.name

    @property
    def taken(self) -> Fact:
        """Which columns were taken for what."""
        taken: dict[str, str | tuple[str, ...] | None] = {
            ROLES.get(role, role): name for role, name in self.roles.items()
        }
        taken |= {"metric": self.metric, "group": self.group}
        return columns_taken(taken, self.all_rows.schema.names())


def read_long_table(
    table: Table,
    options: Options,
    *,
    format: str = "scores-long",
    notes: tuple[str, ...] = (),
    group: str | None = None,
) -> Scores | Segments:
    """Read a row per agent, task and run; runs are averaged in the table's own engine."""
    long = open_long(table, options, format, notes, group)
    segment = check_segment(long.all_rows, options)
    found, used = sum_cells(long, segment)
    if segment is None:
        if (single := list_runs(long, found)) is not None:
            found = average_alike(found, single)
        return finish_scores(long, found, used, *note_apart(long, found), single=single)
    parts, rest = split_by_value(found)
    measured = split_by_value(used)[0] if used is not None else {}

    def read(value: str, sums: pl.DataFrame) -> Scores:
        return finish_scores(long, sums, measured.get(value), f"{CHOSEN} {segment} is {value}")

    made, refused = read_each(parts, read)
    if not made:
        reason = next((f": {value!r}: {why}" for value, why in refused.items()), "")
        raise InputError(f"{long.name!r}: no {segment} has scores that can be read{reason}")
    return Segments(column=segment, parts=made, refused=refused, without=int(rest["rows"].sum()))


def open_long(table: Table, options: Options, format: str, notes: tuple[str, ...], group: str | None) -> LongTable:
    """Find the columns of a long table, choose its rows, and check their cells."""
    columns, name = table.schema.names(), table.name
    agent = require_column("agent", AGENT, columns, name, options.agent)
    task = require_column("task", TASK, [one for one in columns if one != agent], name, options.task)
    rest = [one for one in columns if one not in (agent, task)]
    score = require_column("score", SCORE, rest, name, options.score)
    roles = {"agent": agent, "task": task, "score": score}
    for role, usual in (*OPTIONAL_NUMBERS.items(), ("lower_is_better", LOWER)):
        if role == "lower_is_better" and options.lower_is_better is not None:
            continue  # what the user says about directions goes before what the file says
        if (found := find_column(role, usual, columns, name, None)) and found not in roles.values():
            roles[role] = found
    ends = {
        key: of for end in (ERROR_OF, ERROR_BEFORE, PERHAPS_ERROR_OF) for key, of in find_by_ending(end, rest).items()
    }
    if "stderr" not in roles and (errors := [key for key, of in ends.items() if of == score]):
        roles["stderr"] = errors[0]  # such as acc_stderr beside acc
    metrics = [one for one in find_usual(METRIC, columns) if one not in roles.values()]
    refuse_nested(table, [*roles.values(), *metrics[:1]])
    if metrics and options.metric is not None:
        table = replace(table, frame=table.frame.filter(as_text(table.frame, metrics[0]) == options.metric))
    filters = make_filters(table, options.where)
    chosen = table
    for part in filters:
        chosen = replace(chosen, frame=chosen.frame.filter(part.keep))
    if options.skip_bad:
        for role in ("agent", "task"):
            chosen = chosen.skip_rows(is_blank(chosen.frame, roles[role]), f"no {role} name in {roles[role]!r}")
    for role in ("score", *OPTIONAL_NUMBERS):
        if role in roles:
            chosen = check_numbers(chosen, roles[role], (agent, task), "on", skip=options.skip_bad)
    if "n" not in roles and fold(score) in SOLVED and (total := find_usual(TOTAL, rest)):
        chosen = check_numbers(chosen, total[0], (agent, task), "on", skip=options.skip_bad)
        solved, items = (as_number(chosen.frame, one) for one in (score, total[0]))
        if (chosen.collect(chosen.frame.select(most=solved).select(nw.col("most").max())).item() or 0) > 1:
            share = nw.when(items > 0).then(solved / items)
            chosen, roles["n"] = replace(chosen, frame=chosen.frame.with_columns(share.alias(score))), total[0]
            notes = (*notes, f"scores are {score!r} of {total[0]!r} items")
    return LongTable(
        table=chosen,
        all_rows=table,
        filters=filters,
        options=options,
        roles=roles,
        metric=metrics[0] if metrics else None,
        format=format,
        notes=notes,
        group=group,
    )


def sum_cells(long: LongTable, segment: str | None) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Sum up the rows of each agent and task where the data is, and list the metrics of each."""
    table, roles = long.table, long.roles
    frame, schema = table.frame, table.schema
    numbers = [role for role in ("score", *OPTIONAL_NUMBERS) if role in roles]
    is_number = schema[roles["score"]].is_numeric() or schema[roles["score"]] == nw.Boolean
    named = {"agent": roles["agent"], "task": roles["task"]}
    named |= {"segment": segment} if segment else {}
    named |= {"group": long.group} if long.group else {}
    kinds = {role: schema[name] for role, name in named.items()}
    cells = frame.select(
        *(as_number(frame, roles[role]).alias(role) for role in numbers),
        *(as_key(frame, name).alias(role) for role, name in named.items()),
        *(as_text(frame, roles[role]).alias(role) for role in ("lower_is_better",) if role in roles),
        *(as_text(frame, name).fill_null("").alias("metric") for name in ([long.metric] if long.metric else [])),
        (nw.lit(False) if is_number else as_lower(frame, roles["score"]).str.ends_with(PERCENT)).alias("percent"),
    ).with_columns(  # neither null nor NaN is at most infinity, in any engine
        missing=nw.when(nw.col("score") <= float("inf")).then(nw.lit(0)).otherwise(nw.lit(1)),
        marked=nw.when(nw.col("percent") & (nw.col("score") != 0)).then(nw.lit(1)).otherwise(nw.lit(0)),
        plain=nw.when(~nw.col("percent") & (nw.col("score") != 0)).then(nw.lit(1)).otherwise(nw.lit(0)),
    )
    totals: dict[str, Any] = {
        "rows": nw.len(),
        "marked": nw.col("marked").sum(),
        "plain": nw.col("plain").sum(),
        "score": nw.col("score").mean(),
        "spread": nw.col("score").std(ddof=0),  # with ddof=1 some engines fail at a single run
        **{role: nw.col(role).max() for role in ("stderr", "runs") if role in roles},
        **{role: nw.col(role).sum() for role in ("n",) if role in roles},
    }
    if "lower_is_better" in roles:
        words = table.collect(cells.group_by("lower_is_better").agg(rows=nw.len()))
        refuse_unknown_directions(words, roles["lower_is_better"], table.name)
        word = nw.col("lower_is_better").str.strip_chars().str.to_lowercase()
        cells = cells.with_columns(
            low=nw.when(word.is_in(YES)).then(nw.lit(1)).otherwise(nw.lit(0)),
            high=nw.when(word.is_in(NO)).then(nw.lit(1)).otherwise(nw.lit(0)),
        )
        totals |= {"low": nw.col("low").sum(), "high": nw.col("high").sum()}
    keys = [*named, "missing"]
    found = spell_columns(table.collect(cells.group_by(*keys).agg(**totals), in_order=True), kinds)
    if not long.metric:
        return found, None
    return found, spell_columns(table.collect(cells.group_by(*keys, "metric").agg(rows=nw.len())), kinds)


def note_apart(long: LongTable, found: pl.DataFrame) -> tuple[str, ...]:
    """Return the note about rows that are averaged as runs, although a column says that they are something else."""
    frame, schema = long.table.frame, long.table.schema
    columns = [name for name in schema.names() if fold(name) in APART and not schema[name].is_nested()]
    columns = [name for name in columns if name not in (*long.roles.values(), *long.options.where, long.group)]
    if not columns or not (found.filter(pl.col("missing") == 0)["rows"] > 1).any():
        return ()
    keys = {role: as_key(frame, long.roles[role]).alias(role) for role in ("agent", "task")}
    words = {f"column {k}": as_text(frame, name) for k, name in enumerate(columns)}
    ends = {f"{end} {word}": getattr(nw.col(word), end)() for word in words for end in ("min", "max")}
    each = frame.select(*keys.values(), **words).group_by(*keys).agg(**ends)
    flags = {
        word: nw.when(nw.col(f"min {word}") != nw.col(f"max {word}")).then(nw.lit(1)).otherwise(nw.lit(0)).max()
        for word in words
    }
    differ = long.table.collect(each.select(**flags)).row(0)
    if not (apart := [name for name, flag in zip(columns, differ, strict=True) if flag]):
        return ()
    chosen = f"where={{{apart[0]!r}: ...}} (-r where={apart[0]}:...)"
    return (f"rows of one agent and task that differ in {listed(apart)} are averaged as runs: {chosen} chooses some",)


def list_runs(long: LongTable, found: pl.DataFrame) -> pl.DataFrame | None:
    """Return the score of each row, where agents ran tasks several times and the rows are not too many."""
    known = found.filter(pl.col("missing") == 0)
    if long.group or not (known["rows"] > 1).any() or known["rows"].sum() > MOST_RUNS:
        return None
    frame, names = long.table.frame, {role: long.roles[role] for role in ("agent", "task")}
    score = as_number(frame, long.roles["score"])
    rows = frame.select(*(as_key(frame, name).alias(role) for role, name in names.items()), score.alias("score"))
    rows = rows.filter(nw.col("score") <= float("inf"))
    schema = long.table.schema
    return spell_columns(long.table.collect(rows), {role: schema[name] for role, name in names.items()})


def average_alike(found: pl.DataFrame, single: pl.DataFrame) -> pl.DataFrame:
    """Return sums with the mean and spread of single runs, added up in one order: engines differ in the last bit."""
    runs = single.sort("agent", "task", "score").group_by("agent", "task", maintain_order=True)
    means = runs.agg(score=pl.col("score").mean(), spread=pl.col("score").std(ddof=0))
    keys = ["agent", "task", "missing"]
    means = means.with_columns(missing=pl.lit(0, dtype=found.schema["missing"]))
    return found.drop("score", "spread").join(means, on=keys, how="left", maintain_order="left")


def finish_scores(
    long: LongTable,
    found: pl.DataFrame,
    used: pl.DataFrame | None,
    *notes: str,
    single: pl.DataFrame | None = None,
) -> Scores:
    """Return the scores of sums by agent and task; ``used`` has the metrics of each, ``single`` the single runs."""
    options, source = long.options, long.name
    rows, holes = int(found["rows"].sum()), int(found.filter(pl.col("missing") == 1)["rows"].sum())
    wanted = " and ".join(f"{name} is {show_values(values)}" for name, values in options.where.items())
    if not rows:
        chosen = f" with the metric {options.metric!r}" if long.metric and options.metric else ""
        chosen += f" where {wanted}{describe_values(long.all_rows, long.filters)}" if wanted else ""
        raise InputError(f"{source!r} has columns but no rows{chosen}")
    refuse_nameless(long, found)
    if used is not None and long.metric is not None:
        known = used.filter(pl.col("missing") == 0).select("agent", "task", "metric").sort(pl.all())
        refuse_mixed_metrics(known.rows(), f"{source!r}, column {long.metric!r}")
    by_task = found.filter(pl.col("missing") == 0).group_by("task").agg(pl.col("marked", "plain").sum()).sort("task")
    refuse_mixed_units({task: (int(marked), int(plain)) for task, marked, plain in by_task.rows()}, source)
    groups = None
    if long.group:
        found = found.with_columns(pl.col("group").fill_null(""))
        if found.select("task", "group").unique()["task"].is_duplicated().any():  # ids that are unique in groups only
            found = found.with_columns(task=pl.concat_str("group", "task", separator="/"))
        groups = dict(found.select("task", "group").unique().rows())
        found = found.drop("group")
    tasks = sorted(set(found["task"].drop_nulls()))
    averages = [task for task in tasks if is_derived(task)]
    looks = (f"{listed(averages)} looks computed from the other tasks, and counts as a task",) if averages else ()
    only = (f"{CHOSEN} {wanted}",) if wanted else ()
    cells = make_cells(found.filter(pl.col("missing") == 0), source)
    given = set(cells.filter(pl.col("lower_is_better").is_not_null())["task"])
    skipped = sum(entry.count for entry in long.table.left_out)
    left_out = (LeftOut("rows", holes, "no score"),) if holes else ()
    return make_scores(
        cells,
        agents=sorted(set(found["agent"].drop_nulls())),
        tasks=tasks,
        source=source,
        origin=Origin(
            source=source,
            format=long.format,
            rows=rows + skipped,
            left_out=(*long.table.left_out, *left_out),
            notes=(
                *long.table.notes,
                *long.notes,
                *only,
                *notes,
                *looks,
                *note_low_names(tasks, options.lower_is_better, given),
            ),
            taken=(long.taken,),
        ),
        lower_is_better=options.lower_is_better,
        groups=groups,
        single=single,
        narrow=long.table.schema[long.roles["score"]] == nw.Float32,
    )


def refuse_nameless(long: LongTable, found: pl.DataFrame) -> None:
    """Raise an error where a row names no agent or no task."""
    for side in ("agent", "task"):
        blank = found.filter(pl.col(side).is_null() | (pl.col(side).str.strip_chars() == ""))
        if count := int(blank["rows"].sum()):
            name = long.roles[side]
            rows = long.table.describe_rows(is_blank(long.table.frame, name), count)
            raise InputError(
                f"{long.name!r}, column {name!r}: {rows_have(count)} no {side} name{rows}",
                hint="leave such rows out with {option}",
                option={"bad_rows": "skip"},
            )


def refuse_nested(table: Table, columns: Sequence[str]) -> None:
    """Raise an error at a column of lists or objects where a name or a number is needed."""
    schema = table.schema
    if nested := [name for name in columns if schema[name].is_nested()]:
        raise InputError(
            f"{table.name!r}, column {nested[0]!r} contains lists or objects: a cell of a table of scores is one name "
            f"or one number"
        )


def refuse_unknown_directions(words: pl.DataFrame, name: str, source: str) -> None:
    """Raise an error at words that do not say whether lower is better."""
    word = pl.col("lower_is_better").str.strip_chars().str.to_lowercase()
    unknown = words.filter(~word.is_in([*YES, *NO, *MISSING])).sort("rows", "lower_is_better", descending=[True, False])
    if len(unknown):
        raise InputError(
            f"{source!r}, column {name!r} is {listed(unknown['lower_is_better'], 3)} in {unknown['rows'].sum():,} rows",
            hint="write true or false, or pass {option}",
            option="lower_is_better",
        )


def make_cells(found: pl.DataFrame, source: str) -> pl.DataFrame:
    """Return the common frame of cells from the aggregated rows of a long table."""
    single = pl.col("rows") == 1
    empty = {name: pl.lit(None, dtype=pl.Float64) for name in OPTIONAL_NUMBERS if name not in found.columns}
    lower = pl.lit(None, dtype=pl.Boolean)
    if "low" in found.columns:
        refuse_torn(found.filter((pl.col("low") > 0) & (pl.col("high") > 0))["task"], source)
        lower = pl.when(pl.col("low") + pl.col("high") > 0).then(pl.col("low") > 0)
    error = pl.col("spread") / (pl.col("rows").cast(pl.Float64) - 1).sqrt()
    return found.with_columns(**empty).select(
        "agent",
        "task",
        "score",
        stderr=pl.when(single).then("stderr").otherwise(error),
        n=pl.when(pl.col("n") > 0).then("n"),
        runs=pl.when(single & pl.col("runs").is_not_null()).then("runs").otherwise("rows").cast(pl.Int64),
        lower_is_better=lower,
    )


def read_long(source: Input) -> Scores | Segments:
    """Read a long table of scores."""
    table = source.table.drop_blank_lines(source.table.schema.names())
    options, columns = source.options, table.schema.names()
    group = find_column("cluster", (), columns, table.name, options.cluster)
    notes: tuple[str, ...] = ()
    if group is None and options.task is None:
        several = [name for name in find_usual(TASK, columns) if name != options.agent]
        items = find_usual(ITEM, several)
        if len(several) == 2 and len(items) == 1:  # items of tasks
            options = replace(options, task=items[0])
            group = next(name for name in several if name != items[0])
            notes = (f"the items {items[0]!r} of each {group!r} are tasks, in groups by {group!r}",)
    return read_long_table(table, options, group=group, notes=notes)
