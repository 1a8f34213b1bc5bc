"""Wide tables of scores: a row per agent, a column per task, or turned round; `score_columns` tells columns apart."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import narwhals as nw
import numpy as np
import polars as pl

from nashboard._text import listed, shortened
from nashboard.data.counting.cells import (
    CELL,
    average_runs,
    leave_out_averages,
    make_scores,
    refuse_mixed_units,
)
from nashboard.data.formats.format import Input, Options
from nashboard.data.formats.match_tables import are_numbers
from nashboard.data.formats.score_columns import (
    Roles,
    as_numbers,
    describe_layout,
    find_agent_column,
    find_averages,
    find_roles,
    is_text,
    leave_out,
    list_columns,
)
from nashboard.data.origin import Fact, LeftOut, Origin
from nashboard.data.scores import Scores
from nashboard.data.table.columns import (
    AGENT,
    OUTCOME,
    PERHAPS_ERROR_OF,
    SCORE,
    SPREAD_OF,
    TASK,
    find_agent_pairs,
    find_by_ending,
    find_usual,
    fold_words,
    is_average,
    is_rank,
    list_names,
    match_names,
    note_counted,
    note_errors,
    note_low_names,
)
from nashboard.data.table.delimited import LINK
from nashboard.data.table.json_lines import infer_objects
from nashboard.data.table.table import MOST_ROWS_NAMED, ROW, Table, describe_rows
from nashboard.data.table.values import (
    NO_SCORE,
    PERCENT,
    TRUTHS,
    is_number,
    is_number_or_missing,
    parse_number,
    spell,
)
from nashboard.errors import InputError

# The first column of a row per task, which elsewhere says no more about a row.
TASK_OF_ROW = (
    "metric",
    "metrics",
    "evaluation",
    "eval",
    "test",
    "category",
    "subject",
    "capability",
    "suite",
    "prompt",
)
MOST_ROWS = 1_000_000  # a wide table is fetched as it is, since it is its own result
MOST_AVERAGED = 1000  # rows of a table that may end with their average
# A score with its spread in one cell: 52.3 ± 1.2, 52.3 (1.2) or 52.3 [51, 54].
SPREAD = re.compile(r"^\s*([-+.0-9]+ ?%?)\s*(?:(?:±|\+/-|\+-)\s*[0-9.]+\s*%?|\([^()]*\d\)|\[[^\[\]]*\d\])\s*$")


def read_wide_table(table: Table, options: Options, *, format: str = "scores-wide") -> Scores:
    """Read a row per agent and a column per task."""
    table = unnest_scores(table)
    head = fetch_flat_rows(table)
    if len(head) > MOST_ROWS:
        raise InputError(
            f"{table.name!r} has more than {MOST_ROWS:,} rows, and a wide table has one for each agent",
            hint="name the columns of a long table with {agent}, {task} and {score}",
            option={"agent": None, "task": None, "score": None},
        )
    if head.is_empty():
        raise InputError(f"{table.name!r} has columns but no rows")
    head, spreads = split_spreads(head)
    agent = find_agent_column(head, options, table.name)
    refuse_places(head, agent, table, options)
    left_out = table.left_out
    if options.skip_bad:
        head, skipped = skip_nameless(head, agent)
        left_out += skipped
    roles = find_roles(head, agent, table, options)
    if options.skip_bad:
        head, skipped = skip_bad_cells(head, roles)
        left_out += skipped
    names = name_agents(head, roles.agent, table.name)
    averages, said = find_average_agents(head, names, roles, table.name)
    if averages:
        left_out += leave_out_averages(averages, "agents")
        head = head.filter(pl.Series([name not in averages for name in names]))
        names = [name for name in names if name not in averages]
    refuse_mixed_units({task: count_percentages(head[task]) for task in roles.tasks}, table.name)
    cells = single = make_cells(head, names, roles, table.name)
    if len(set(names)) < len(names):
        if options.repeats != "runs":
            if task := find_usual(TASK, list_columns(head)):
                raise InputError(
                    f"{table.name!r} has a row per agent and task, {agent!r} and {task[0]!r}, and no column of scores",
                    hint="pass {option}",
                    option="score",
                )
            if options.agent is None and not find_usual(AGENT, [agent]):  # a row per side of a game, perhaps
                closest = f"a row per agent, but {agent!r}, the first column, has {names[0]!r} and others several times"
                raise describe_layout(table.name, table.columns, closest)
            refuse_repeats(names, head[ROW], table.name)
        cells = average_runs(cells)
    notes = (
        *table.notes,
        *spreads,
        *roles.notes,
        *said,
        *note_errors(roles.errors),
        *note_counted(find_by_ending(PERHAPS_ERROR_OF, roles.tasks), "standard errors"),
        *note_counted(find_by_ending(SPREAD_OF, roles.tasks), "the spread"),
        *note_low_names(roles.tasks, options.lower_is_better, ()),
        *note_booleans(head.select(roles.tasks)),
    )
    return make_scores(
        cells,
        agents=list(dict.fromkeys(names)),
        tasks=roles.tasks,
        source=table.name,
        origin=Origin(
            source=table.name,
            format=format,
            rows=len(head) + sum(entry.count for entry in left_out if entry.what != "columns"),
            left_out=(*left_out, *roles.left_out),
            notes=notes,
            taken=(
                Fact(
                    "columns",
                    f"{len(roles.tasks) + 1:,} of {len(table.columns):,}",
                    f"agent {shortened(roles.agent)!r}, and a column for each task",
                ),
            ),
        ),
        lower_is_better=options.lower_is_better,
        single=single,
        narrow=pl.Float32 in head.select(roles.tasks).dtypes,
    )


def refuse_places(head: pl.DataFrame, agent: str, table: Table, options: Options) -> None:
    """Raise an error for a log of games of several agents, a row for each agent with its place."""
    repeated = options.repeats is None and head[agent].is_duplicated().any()
    for name in (
        name for name in list_columns(head) if repeated and is_rank(name) and head[name].is_duplicated().any()
    ):
        closest = (
            f"a log of games of several agents, with the place of each in {name!r}: write a row for each two agents of "
            f"a game, with the better one as winner"
        )
        raise describe_layout(table.name, table.columns, closest)


def fetch_rows(table: Table, columns: Sequence[str]) -> pl.DataFrame:
    """Return the rows with these columns and their numbers, one more than a wide table may have."""
    numbered = ROW in table.frame.collect_schema()
    head = table.collect(table.frame.select(*columns, *([ROW] if numbered else [])).head(MOST_ROWS + 1))
    head = head.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))  # numbers may be among the words
    return head if numbered else head.with_row_index(ROW, offset=1)


def unnest_scores(table: Table) -> Table:
    """Return a table whose objects of numbers, such as ``"scores": {"go": 0.4, "chess": 0.9}``, are columns."""
    frame = table.frame.to_native()
    if not table.nested or not isinstance(frame, pl.LazyFrame):
        return table
    schema = infer_objects(table.files) if table.is_text else frame.collect_schema()
    kinds = {name: kind for name, kind in schema.items() if isinstance(kind, pl.Struct) and name in table.nested}
    taken = {
        name: kind
        for name, kind in kinds.items()
        if all(field.dtype.is_numeric() and field.name not in table.columns for field in kind.fields)
    }
    if len(taken) != 1:  # two objects may have the same tasks, and cannot both be columns
        return table
    found = table.with_nested(taken).to_native().unnest(*taken)
    return table.with_frame(nw.from_native(found), f"the tasks are those of the objects in {next(iter(taken))!r}")


def split_spreads(head: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the table with ``2000 ± 100`` and ``2000 (100)`` as 2000, and a note: it does not say what the 100 is."""
    words = [name for name in head.columns if head[name].dtype == pl.String]
    found = [name for name in words if 2 * head[name].str.contains(SPREAD.pattern).sum() > len(head)]
    if not found:
        return head, ()
    note = f"numbers behind ± or in brackets in {listed(found)} are not used: nothing says if they are standard errors"
    return head.with_columns(pl.col(found).str.replace(SPREAD.pattern, "$1")), (note,)


def find_average_agents(
    head: pl.DataFrame, names: Sequence[str], roles: Roles, source: str
) -> tuple[list[str], tuple[str, ...]]:
    """Return the rows called averages that are the averages of the others in every task, and a note on other ones."""
    called = [name for name in names if is_average(name)]
    if not called or len(set(names)) < len(names) or len(names) > MOST_AVERAGED:
        return [], ()
    rows = {name: map(str, row) for name, row in zip(names, head.select(roles.tasks).rows(), strict=True)}
    turned = pl.DataFrame({name: list(row) for name, row in rows.items()})
    found = find_averages(turned, names, (), source)
    kept = [name for name in called if name not in found]
    return found, (f"{listed(kept)} {'counts' if len(kept) == 1 else 'count'} as an agent",) if kept else ()


def count_percentages(cells: Iterable[object]) -> tuple[int, int]:
    """Return how many numbers other than 0 have a per cent sign, and how many have none."""
    words = [cell.rstrip() for cell in cells if isinstance(cell, str) and is_number(cell) and parse_number(cell, "")]
    marked = sum(word.endswith(PERCENT) for word in words)
    return marked, len(words) - marked


def note_booleans(scores: pl.DataFrame) -> tuple[str, ...]:
    """Return a note about columns of true and false: more often a detail of the agents than a task."""
    found = []
    for column in scores:
        word = column.str.strip_chars().str.to_lowercase() if column.dtype == pl.String else None
        if column.dtype == pl.Boolean or (word is not None and word.is_in(list(TRUTHS)).any()):
            found.append(column.name)
    note = "their true and false count as 1 and 0; pass ignore= if they are not tasks"
    return (f"{listed(found)}: {note}",) if found else ()


def skip_nameless(head: pl.DataFrame, agent: str) -> tuple[pl.DataFrame, tuple[LeftOut, ...]]:
    """Return the rows that name an agent, and how many do not."""
    blank = spell(head[agent]).fill_null("").str.strip_chars() == ""
    rows = head[ROW].filter(blank).to_list()
    left = LeftOut("bad rows", len(rows), f"no name in {agent!r}{describe_rows(rows[:MOST_ROWS_NAMED], len(rows))}")
    return head.filter(~blank), (left,) if rows else ()


def skip_bad_cells(head: pl.DataFrame, roles: Roles) -> tuple[pl.DataFrame, tuple[LeftOut, ...]]:
    """Return the rows whose scores are all finite numbers or missing, and the agents of the others."""
    bad = np.zeros(len(head), dtype=bool)
    for name in (*roles.tasks, *roles.errors):
        if (column := head[name]).dtype == pl.String:
            bad |= np.array([not is_number_or_missing(cell) for cell in column], dtype=bool)
        bad |= np.isinf(as_numbers(column, ""))
    agents = [str(name) for name in spell(head[roles.agent].filter(pl.Series(bad)))]
    left = LeftOut("bad rows", len(agents), f"a score is not a number: {listed(agents)}")
    return head.filter(pl.Series(~bad)), (left,) if agents else ()


def make_cells(head: pl.DataFrame, names: list[str], roles: Roles, source: str) -> pl.DataFrame:
    """Return the common frame of the cells that hold a score."""
    tasks, errors = roles.tasks, {task: name for name, task in roles.errors.items()}
    columns = [parse_scores(head, task, names, source).alias(f"task {k}") for k, task in enumerate(tasks)]
    cells = pl.DataFrame([pl.Series("agent", names, dtype=pl.String), *columns]).unpivot(
        index="agent", variable_name="task", value_name="score"
    )
    unknown = pl.Series([None] * len(head), dtype=pl.Float64)
    spread = [parse_scores(head, errors[task], names, source) if task in errors else unknown for task in tasks]
    cells = cells.with_columns(pl.concat([column.alias("stderr") for column in spread]).fill_nan(None))
    known = cells.filter(pl.col("score").is_not_null() & pl.col("score").is_not_nan())
    task = pl.col("task").replace_strict([f"task {k}" for k in range(len(tasks))], tasks, return_dtype=pl.String)
    empty = {name: pl.lit(None, dtype=kind) for name, kind in CELL.items() if name not in cells.columns}
    return known.with_columns(task, **(empty | {"runs": pl.lit(1, dtype=pl.Int64)})).select(*CELL)


def parse_scores(head: pl.DataFrame, name: str, agents: Sequence[str], source: str) -> pl.Series:
    """Return a column as numbers; a cell that is not a number is an error with its row and agent."""
    column = head[name]
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return column.cast(pl.Float64)
    values = []
    for row, agent, cell in zip(head[ROW], agents, column, strict=True):
        if not is_number_or_missing(cell):
            raise InputError(
                f"{source!r}, data row {row:,} ({shortened(agent)!r}), column {name!r} is {str(cell)[:60]!r}, "
                f"not a number",
                hint=f"{NO_SCORE}, leave such rows out with {{bad_rows}}, or the column with {{ignore}}",
                option={"bad_rows": "skip", "ignore": [name]},
            )
        values.append(parse_number(cell, source))
    return pl.Series(name, values, dtype=pl.Float64)


def refuse_repeats(names: list[str], rows: Iterable[int], source: str, what: str = "agent") -> None:
    """Raise an error that names the first agent (or task) that stands in two rows."""
    first: dict[str, int] = {}
    for row, name in zip(rows, names, strict=True):
        if (other := first.setdefault(name, row)) != row:
            raise InputError(
                f"{source!r}: {what} {name!r} is in data rows {other:,} and {row:,}; names must be unique",
                hint="pass {option} if these are repeated runs" if what == "agent" else None,
                option={"repeats": "runs"} if what == "agent" else None,
            )


def name_agents(head: pl.DataFrame, column: str, source: str) -> list[str]:
    """Return the names in a column, none of them empty."""
    names = [LINK.sub(r"\1", name or "") if "](http" in (name or "") else name or "" for name in spell(head[column])]
    for row, name in zip(head[ROW], names, strict=True):
        if not name.strip():
            raise InputError(
                f"{source!r}, data row {row:,}, column {column!r} is empty: every agent needs a name",
                hint="leave such rows out with {option}",
                option={"bad_rows": "skip"},
            )
    return names


def read_wide(source: Input) -> Scores:
    """Read a wide table of scores."""
    return read_wide_table(source.table.drop_blank_lines(source.table.schema.names()), source.options)


def read_by_task(source: Input) -> Scores:
    """Read a row per task and a column per agent."""
    table = source.table.drop_blank_lines(source.columns)
    head = fetch_flat_rows(table)
    task = list_columns(head)[0]
    return read_turned(table, head, task, source.options, "scores-by-task", f"(by the name {task!r})")


def fetch_flat_rows(table: Table) -> pl.DataFrame:
    """Return the rows of a table, without columns of lists and objects, after a look for broken ones."""
    if table.kind == "delimited":
        table.explain()  # a row that is too short would pass for missing scores
    flat = [name for name in table.schema.names() if name not in table.nested]
    if not flat:
        raise describe_layout(table.name, table.columns, "a list of records, but their cells are lists or objects")
    return fetch_rows(table, flat)


def read_turned(
    table: Table,
    head: pl.DataFrame,
    task: str,
    options: Options,
    format: str,
    by: str,
    left_out: tuple[LeftOut, ...] = (),
    rows: int = 0,
) -> Scores:
    """Read rows that are tasks and columns that are agents: the table is turned, and then read like any wide one."""
    rows = rows or len(head)
    head, spreads = split_spreads(head)
    others = [name for name in list_columns(head) if name != task]
    words = [name for name in others if is_text(head[name])]
    ignored = match_names(list_names(options.ignore), others, table.name, "column")
    agents = [name for name in others if name not in (*words, *ignored)]
    if not agents:
        raise describe_layout(table.name, table.columns, f"a row per task, {task!r}, but no other column has scores")
    left_out += leave_out(words, f"text, not numbers: {listed(words)}")
    left_out += leave_out(ignored, f"ignored as asked: {listed(ignored)}")
    if options.skip_bad:
        head, nameless = skip_nameless(head, task)
        head, bad = skip_bad_cells(head, Roles(agent=task, tasks=agents, errors={}, left_out=(), notes=()))
        left_out += nameless + bad
    names = name_agents(head, task, table.name)
    refuse_repeats(names, head[ROW], table.name, "task")
    by_task = dict(zip(names, head.select(agents).rows(), strict=True))
    refuse_mixed_units({name: count_percentages(cells) for name, cells in by_task.items()}, table.name)
    columns = [parse_scores(head, agent, names, table.name) for agent in agents]
    corner = "agent"
    while corner in names:
        corner += "_"
    turned = pl.DataFrame({corner: agents, **{name: [column[k] for column in columns] for k, name in enumerate(names)}})
    made = Table(
        name=table.name, engine=table.engine, frame=nw.from_native(turned.lazy()), columns=tuple(turned.columns),
        notes=(*table.notes, *spreads, f"rows are tasks {by}, and columns are agents"),
        left_out=(*table.left_out, *left_out),
    )  # fmt: skip
    scores = read_wide_table(made, replace(options, agent=corner, ignore=()), format=format)
    return replace(scores, origin=replace(scores.origin, rows=rows, taken=()))


def fits_by_task(source: Input) -> bool:
    """Return whether the first column is called like a task, and the others may be agents."""
    columns = source.columns
    called = columns and (find_usual(TASK, columns[:1]) or fold_words(columns[0]) in TASK_OF_ROW)
    if source.options.agent is not None or len(columns) < 3 or not called:
        return False
    if any(find_usual(usual, columns) for usual in (AGENT, SCORE, OUTCOME)) or source.table.nested:
        return False
    return not find_agent_pairs(columns) or are_numbers(source)  # agents may be called Model A and Model B


def fits_wide(source: Input) -> bool:
    """Return whether this is a table, and not a single document of lists and objects."""
    whole = source.is_document and source.records is None and isinstance(source.document, dict)
    return bool(source.columns) and not (whole and set(source.table.nested) >= set(source.columns))
