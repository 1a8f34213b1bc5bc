"""Data frames of any library, Python objects and records of json documents as one lazy table.

Rows of a frame are not moved. Python objects are dictionaries, and lists of tuples or dictionaries:

::

    [("x", "y", "x"), ("y", "z", 0.5)]                matches: two agents and an outcome, and perhaps a weight
    [{"model_a": "x", "model_b": "y", ...}, ...]      rows of any table
    {"model": ["x", "y"], "chess": [0.4, 0.6]}        columns of any table
    {"x": {"chess": 0.4, "go": 0.9}, "y": {...}}      scores by agent and task
    {("x", "y"): 3, ("y", "x"): 1}                    how often the first beat the second
    {("x", "y"): (3, 2, 1)}                           wins, draws and losses of the first
    {"x vs y": {"wins": 3, "losses": 1}, ...}         cells of a row per pair of agents
    {"models": ["x", "y"], "tasks": ["chess", "go"], "scores": [[0.4, 0.9], [0.6, 0.1]]}
    {"x": array, "y": array}                          scores of runs x tasks, as rliable has them
"""

import contextlib
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from narwhals.exceptions import DuplicateError

from nashboard._text import first_line, listed, number_of, shortened
from nashboard.data.table.columns import (
    AGENT,
    SCORE,
    TASK,
    find_agent_pairs,
    find_usual,
    find_winner_pairs,
    fold,
    split_words,
)
from nashboard.data.table.json_lines import TRIPLE, infer_objects, is_header, is_triple, with_text
from nashboard.data.table.table import Table, name_errors
from nashboard.errors import InputError

# Columns whose lists of two are the agents of a match, or what they scored.
PAIRS = tuple((name,) for name in ("models", "agents", "players", "teams", "scores", "rewards", "returns", "points"))
MOST_FIELDS = 1000  # of objects that become columns
LOOK = 1000  # objects of a column that are looked at to learn what they are
READABLE = "a path, an address, a frame of pandas, Polars, PyArrow, DuckDB, Dask, PySpark or ibis, a dict or a list"


def open_frame(source: Any) -> Table | None:
    """Return a data frame as a table, or None if the source is not a frame."""
    frame = lazy_frame(with_named_rows(source))
    if frame is None:
        return None
    engine = f"{type(source).__module__.partition('.')[0]} frame"
    return Table(name="frame", engine=engine, frame=frame, columns=tuple(frame.collect_schema().names()))


def lazy_frame(source: Any) -> nw.LazyFrame[Any] | None:
    """Return any data frame as a lazy one, or None if the source is none."""
    if isinstance(source, str | Path):
        return None
    with name_errors("the frame cannot be read"):
        try:
            frame = nw.from_native(infer_types(as_polars_scan(source)), pass_through=True)
            if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
                return None
            names = frame.collect_schema().names()
            twice = find_duplicates(source)
        except DuplicateError:
            if not (twice := find_duplicates(source)):
                raise
    if twice:
        raise InputError(f"the frame has the column {listed(twice)} more than once: column names must be unique")
    other = [name for name in names if not isinstance(name, str)]
    if other:
        raise InputError(f"the frame has a column called {other[0]!r}: names of columns must be text")
    lazy: nw.LazyFrame[Any] = frame.lazy()
    return lazy


def with_named_rows(source: Any) -> Any:
    """Return a pandas frame, or a series, whose index of names is a column, or several; anything else as it is."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(source, pandas.DataFrame | pandas.Series):
        return source
    if isinstance(source, pandas.Series):  # as `groupby` gives it
        source = source.to_frame("score" if source.name is None else source.name)
    if isinstance(source.index, pandas.MultiIndex):
        known = all(isinstance(name, str) and name not in source.columns for name in source.index.names)
        return source.reset_index() if known else source
    named = pandas.api.types.infer_dtype(source.index) == "string" and len(source.index) > 0
    if not named or source.index.name in source.columns or (source.index.name is None and "agent" in source.columns):
        return source
    return source.rename_axis(index=source.index.name or "agent").reset_index()


def as_polars_scan(source: Any) -> Any:
    """Return a PyArrow dataset, which has no expressions of its own, as a scan; anything else as it is."""
    dataset = sys.modules.get("pyarrow.dataset")  # who holds a dataset has imported it
    return pl.scan_pyarrow_dataset(source) if dataset and isinstance(source, dataset.Dataset) else source


def infer_types(source: Any) -> Any:
    """Return a pandas frame whose columns of Python's own truths, dates and decimals say so; anything else as it is.

    One missing value is enough for pandas to keep such a column as objects of no type; categories hide theirs. Numbers
    and text in one column are text, as in a file: the reader says which cell is no number.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(source, pandas.DataFrame):
        return source
    typed = {}
    for place, (name, kind) in enumerate(zip(source.columns, source.dtypes, strict=True)):
        cells = source.iloc[:, place]
        if isinstance(kind, pandas.CategoricalDtype):
            untyped = kind.categories.dtype.kind in "biufM"
        elif isinstance(kind, pandas.api.extensions.ExtensionDtype) or kind.kind != "O":
            continue
        else:
            found = pandas.api.types.infer_dtype(cells)
            untyped = found in ("boolean", "date", "decimal")
            if found in ("mixed", "mixed-integer") and not any(isinstance(cell, dict | list) for cell in cells):
                cells, untyped = cells.map(str, na_action="ignore"), True
        if untyped and isinstance(name, str):
            with contextlib.suppress(Exception):  # objects that Arrow has no type for
                typed[name] = as_arrow_types(cells)
    return source.assign(**typed) if typed and source.columns.is_unique else source


def as_arrow_types(cells: Any) -> Any:
    """Return a column of pandas with the type that Arrow finds for its objects."""
    import pandas as pd
    import pyarrow as pa

    array = pa.array(cells, from_pandas=True)
    array = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    return pd.Series(pd.arrays.ArrowExtensionArray(array), index=cells.index)


def collect_objects(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Return a frame whose lists and objects can be looked into; pandas and PyArrow lend theirs to Polars."""
    in_memory = frame.implementation.is_pandas_like() or frame.implementation.is_pyarrow()
    if not in_memory:
        return frame
    try:
        return nw.from_native(frame.collect().to_polars().lazy())
    except Exception:  # cells of several kinds: the caller says what the column should hold
        return frame


def flatten_objects(table: Table) -> Table | None:
    """Return a table whose objects are columns such as ``match.winner_id``; None where it has no objects."""
    types = infer_objects(table.files) if table.kind in ("json lines", "json list") else {}
    texts = {name: with_text(kind) for name, kind in types.items()}
    frame = table.with_nested(texts) if types else collect_objects(table.frame)
    schema = frame.collect_schema()
    fields = {
        name: cell
        for column, kind in schema.items()
        if isinstance(kind, nw.Struct) or (split_words(column) in PAIRS and is_list_of_pairs(table, frame, column))
        for name, cell in list_fields(column, nw.col(column), kind)
        if name not in table.columns
    }
    if not 0 < len(fields) <= MOST_FIELDS:
        return None
    nested = [name for name, kind in schema.items() if kind.is_nested()]
    note = f"columns such as {next(iter(fields))!r} are from the lists or objects in {listed(nested)}"
    return table.with_frame(frame.with_columns(**fields).drop(*nested), note)


def is_list_of_pairs(table: Table, frame: nw.LazyFrame[Any], name: str) -> bool:
    """Return whether all cells of a column are lists of two names or numbers."""
    kind = frame.collect_schema()[name]
    if not isinstance(kind, nw.List) or kind.inner not in (nw.String, nw.Int64, nw.Float64):
        return False
    size = nw.col(name).list.len()
    shortest, longest = table.collect(frame.select(least=size.min(), most=size.max())).row(0)
    return bool(shortest == longest == 2)


def list_fields(path: str, value: nw.Expr, kind: Any) -> Iterator[tuple[str, nw.Expr]]:
    """Yield the plain cells of objects, and of objects in them, with their paths; those of a list by numbers."""
    if isinstance(kind, nw.List):
        yield from ((f"{path}.{k + 1}", value.list.get(k)) for k in range(2))
        return
    for field in kind.fields:
        cell, name = value.struct.field(field.name), f"{path}.{field.name}"
        inside = field.dtype() if isinstance(field.dtype, type) else field.dtype
        if isinstance(inside, nw.Struct):
            yield from list_fields(name, cell, inside)
        elif not inside.is_nested():
            yield name, cell


def find_duplicates(source: Any) -> list[str]:
    """Return the names that several columns of a frame have; some libraries allow that, and Polars does not."""
    if isinstance(source, pl.DataFrame | pl.LazyFrame | nw.DataFrame | nw.LazyFrame):
        return []
    arrow = sys.modules.get("pyarrow")
    names = source.column_names if arrow and isinstance(source, arrow.Table) else getattr(source, "columns", ())
    return sorted(name for name, times in Counter(name for name in names if isinstance(name, str)).items() if times > 1)


GAME = (*TRIPLE, "weight")
SHAPES = (
    "a list of (agent, agent, outcome), a list of dictionaries, a dictionary of columns, of {agent: {task: score}}, of "
    "{agent: array of runs x tasks} or of {(winner, loser): times}, or lists of models, of tasks and of rows of scores"
)
SQUARES = ("payoffs", "payoff_matrix", "matrix", "wins", "win_rates", "counts")  # rows of agents by agents
HEADERS = ("columns", "headers", "header", "fields")  # names of the columns of rows, as in a table of W&B
VERSUS = re.compile(r"\s+(?:vs\.?|versus)\s+", re.IGNORECASE)


def is_python_data(source: Any) -> bool:
    """Return whether a source is a plain dictionary or list."""
    return isinstance(source, Mapping) or (isinstance(source, Sequence) and not isinstance(source, str | bytes))


def open_python(source: Any) -> Table | dict[str, Any]:
    """Return a Python object as a table, or, for a dictionary of arrays of runs, as the document it is."""
    if not len(source):
        raise InputError(f"the {type(source).__name__} is empty: give {SHAPES}")
    if isinstance(source, Mapping):
        return open_mapping(source)
    if all(isinstance(row, Mapping) for row in source):
        return make_table(list(source), "list of dictionaries")
    if all(isinstance(row, Sequence) and not isinstance(row, str) for row in source):
        width, first = max(map(len, source)), list(source[0])
        if len(source) > 1 and len(first) == width and names_columns(first):
            rows = [dict(zip(first, [*row, *[None] * len(first)], strict=False)) for row in source[1:]]
            return make_table(rows, "list of rows", notes=(f"the first row names the columns: {listed(first)}",))
        if not 3 <= width <= len(GAME):
            k = next(k for k, row in enumerate(source, start=1) if len(row) == width)
            raise InputError(
                f"item {k:,} of the list has {number_of(width, 'cells')}: give agent, agent, outcome and perhaps weight"
            )
        rows = [dict(zip(GAME[:width], [*row, *[None] * width], strict=False)) for row in source]  # short ones are bad
        return make_table(rows, "list of tuples")
    raise InputError(f"cannot read a {type(source).__name__} of {type(source[0]).__name__}: give {SHAPES}")


def names_columns(cells: list[Any]) -> bool:
    """Return whether the first row of a list has the names of columns, two agents or one among them."""
    return is_header(cells) and not is_triple(cells) and bool(find_agent_pairs(cells) or find_usual(AGENT, cells))


def open_mapping(source: Mapping[Any, Any]) -> Table | dict[str, Any]:
    """Return a dictionary as a table, or as a document of arrays."""
    values = list(source.values())
    if all(isinstance(key, tuple) and len(key) == 2 for key in source):
        return make_table([count_pair(a, b, times) for (a, b), times in source.items()], "dictionary of pairs")
    if not all(isinstance(key, str) for key in source):
        raise InputError(f"the keys of a dictionary must be text, or pairs of agents: give {SHAPES}")
    if (table := find_records(source, "")) is not None:
        return table
    if all(isinstance(value, Mapping) for value in values):
        return make_table([{"agent": agent, **scores} for agent, scores in source.items()], "dictionary of scores")
    arrays = []
    with contextlib.suppress(ValueError):  # rows of different lengths
        arrays = [np.asarray(value) for value in values if not isinstance(value, str | int | float | bool | None)]
    names = list(source)
    is_table = find_agent_pairs(names) or (find_usual(AGENT, names) and find_usual(SCORE, names))  # of numbers alone
    if len(arrays) == len(values) and not is_table and all(array.dtype.kind in "biuf" for array in arrays):
        lists = {agent: array.tolist() for agent, array in zip(source, arrays, strict=True)}
        if all(array.ndim in (1, 2) for array in arrays):
            return lists
    if len(arrays) == len(values) and all(array.ndim == 1 for array in arrays):
        return make_table(dict(source), "dictionary of columns")
    raise InputError(f"cannot read this dictionary: give {SHAPES}")


def count_pair(first: Any, second: Any, times: Any) -> dict[str, Any]:
    """Return the row of a pair of agents: how often the first won, or its wins, draws and losses."""
    cells = list(times) if is_list(times) else [times, 0]
    if len(cells) not in (2, 3) or not are_numbers(cells):
        raise InputError(
            f"{first!r} against {second!r} is {shortened(str(times))!r}: give wins, or wins, draws and losses"
        )
    draws = float(cells[1]) if len(cells) == 3 else 0.0
    row = {"first": str(first), "second": str(second)}
    return row | {"wins": float(cells[0]), "draws": draws, "losses": float(cells[-1])}


OF_RUNS = "lists of numbers are the runs of an agent and task"
OF_PAIRS = "the names of the object are pairs of agents, such as 'x vs y'"


def split_pairs(source: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of an object whose names are all like ``x vs y``; none where they are not."""
    rows = [(VERSUS.split(name.strip()), cells) for name, cells in source.items()]
    if not all(len(pair) == 2 and all(pair) for pair, _ in rows):
        return []
    return [{"agent_a": pair[0], "agent_b": pair[1], **cells} for pair, cells in rows]


def list_runs(source: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row per run of an object of agents, tasks and lists of numbers; none where it is something else."""
    cells = [
        (agent, task, runs) for agent, row in source.items() if isinstance(row, Mapping) for task, runs in row.items()
    ]
    if len(source) < FEWEST or not all(is_list(runs) and are_numbers(runs) for *_, runs in cells):
        return []
    return [
        {"agent": agent, "task": task, "score": score}
        for agent, task, runs in cells
        for score in np.ravel(runs).tolist()
    ]


def find_matrix(source: Mapping[str, Any], name: str) -> tuple[list[dict[str, Any]], str] | None:
    """Return the rows of lists of agents, of tasks and of rows, and a note; pandas calls them index, columns, data.

    A square of agents by agents needs no second list of names.
    """
    lists = {key: list(value) for key, value in source.items() if is_list(value)}
    nested = [key for key, value in lists.items() if value and all(map(is_list, value))]
    rows = [key for key in lists if fold(key) in ("index", *(f"{agent}s" for agent in AGENT)) and key not in nested]
    columns = [key for key in lists if fold(key) in ("columns", *(f"{task}s" for task in TASK)) and key not in nested]
    if len(rows) == len(nested) == 1 and not columns and fold(nested[0]) in SQUARES:
        columns = rows
    heads = [key for key in lists if fold(key) in HEADERS and is_header(lists[key])]
    if not rows and len(nested) == len(heads) == 1:
        names, cells = lists[heads[0]], lists[nested[0]]
        if all(len(row) == len(names) for row in cells):
            note = f"rows are those of {nested[0]!r}, with the names of columns in {heads[0]!r}"
            return [dict(zip(names, row, strict=True)) for row in cells], note
    if not len(rows) == len(columns) == len(nested) == 1:
        return None
    agents, tasks, cells = lists[rows[0]], list(map(str, lists[columns[0]])), lists[nested[0]]
    if [len(row) for row in cells] != [len(tasks)] * len(agents) or len(set(tasks)) < len(tasks):
        raise InputError(
            f"{name!r}: {nested[0]!r} must be a list of {number_of(len(agents), 'rows')}, one for each of {rows[0]!r}, "
            f"with {number_of(len(tasks), 'cells')}, one for each of {columns[0]!r}, which must differ"
        )
    named = fold(rows[0]) != "index" or all(isinstance(agent, str) for agent in agents)  # pandas numbers rows otherwise
    note = f"rows are those of {nested[0]!r}, with the names in {rows[0]!r} and {columns[0]!r}"
    first = [{"agent": str(agent)} if named else {} for agent in agents]
    return [{**agent, **dict(zip(tasks, row, strict=True))} for agent, row in zip(first, cells, strict=True)], note


def is_list(value: Any) -> bool:
    """Return whether a value is a list, or an array of at least one axis."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def are_numbers(runs: Any) -> bool:
    """Return whether a list or an array contains numbers alone."""
    try:
        return np.asarray(runs).dtype.kind in "iuf"
    except ValueError:  # lists of several lengths in it
        return False


def make_table(content: Any, what: str, name: str = "", notes: tuple[str, ...] = ()) -> Table:
    """Return rows or columns of Python objects as a table; those of a json document have its name."""
    try:
        frame = pl.DataFrame(content, infer_schema_length=None, strict=False)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"the {what} is not a table: {first_line(error)}") from None
    rows = nw.from_native(frame.lazy())
    return Table(
        name=name or what, engine="json" if name else what, frame=rows, columns=tuple(frame.columns), notes=notes
    )


FEWEST = 2  # records or agents


def find_records(document: Any, name: str) -> Table | None:
    """Return the records in a document as a table: those of its only list, or of the only one with agents in it."""
    if not isinstance(document, Mapping) or has_agents(document):  # then it is a row itself
        return None
    if (found := find_matrix(document, name)) is not None:
        return make_table(found[0], "json object", name, found[1:])
    if list(document) == [str(row) for row in range(len(document))] and is_record_list(list(document.values())):
        return make_table(list(document.values()), "json object", name)
    lists = {
        key: [row if isinstance(row, dict) else dict(zip(GAME, row, strict=False)) for row in value]
        for key, value in document.items()
        if is_record_list(value) or is_triples(value)
    }
    if len(lists) > 1:
        known = {key: rows for key, rows in lists.items() if has_agents(rows[0])}
        longest = max(map(len, known.values()), default=0)
        lists = {key: rows for key, rows in known.items() if len(rows) == longest}
    if len(lists) == 1:
        key, rows = next(iter(lists.items()))
        others = [other for other in document if other != key]
        note = f"records are those of {key!r}" + (f"; not used: {listed(others)}" if others else "")
        return make_table([dict(row) for row in rows], "json list", name, (note,))
    if all(isinstance(value, dict) for value in document.values()) and (pairs := split_pairs(document)):
        return make_table(pairs, "json object", name, (OF_PAIRS,))
    if columns := find_lists(document):
        return make_table(columns, "json object", name)
    if runs := list_runs(document):
        return make_table(runs, "json object", name, (OF_RUNS,))
    if measured := list_scores(document):
        rows, metric = measured
        note = f"the names of the object are the agents, and their scores {metric!r}"
        return make_table(rows, "json object", name, (note,))
    if is_table_by_agent(document):
        rows = [{"agent": agent, **scores} for agent, scores in document.items()]
        return make_table(rows, "json object", name, ("the names of the object are the agents",))
    objects = {key: value for key, value in document.items() if isinstance(value, dict)}
    inside = [key for key, value in objects.items() if is_table_by_agent(value) or list_scores(value)]
    if len(inside) == 1 and (table := find_records(document[inside[0]], name)) is not None:
        others = [key for key in document if key != inside[0]]
        return table.with_frame(table.frame, f"scores are those of {inside[0]!r}; not used: {listed(others)}")
    return None


def find_lists(document: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the columns of an object of lists, or of objects by the number of the row, as pandas writes them."""
    same = {tuple(value) if isinstance(value, dict) else len(value) for value in document.values() if is_cells(value)}
    if len(same) != 1 or not all(map(is_cells, document.values())):
        return {}
    columns = {key: list(value.values() if isinstance(value, dict) else value) for key, value in document.items()}
    return columns if has_agents({key: cells[0] for key, cells in columns.items()}) else {}


def is_cells(value: Any) -> bool:
    """Return whether a value is a list or an object of plain cells."""
    cells = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return len(cells) >= FEWEST and not any(isinstance(cell, dict | list) for cell in cells)


def list_scores(document: Mapping[str, Any]) -> tuple[list[dict[str, Any]], str] | None:
    """Return a row per agent and task of cells such as ``{"acc": 0.5, "acc_stderr": 0.01}``, and which score it has."""
    table = [row for row in document.values() if isinstance(row, dict) and row]
    cells = [cell for row in table for cell in row.values()]
    if not len(table) == len(document) >= FEWEST or not all(isinstance(cell, dict) for cell in cells):
        return None
    for name in cells[0]:
        metric, comma, filtered = name.partition(",")  # as lm-evaluation-harness writes acc,none
        usual = bool(find_usual(SCORE, [metric])) or len(cells[0]) == 1
        if usual and all(isinstance(cell.get(name), int | float) for cell in cells):
            beside = {"score": name, "stderr": f"{metric}_stderr{comma}{filtered}", "n": "n"}
            known = {
                role: key for role, key in beside.items() if all(isinstance(c.get(key), int | float) for c in cells)
            }
            return [
                {"agent": agent, "task": task, **{role: cell[key] for role, key in known.items()}}
                for agent, row in document.items()
                for task, cell in row.items()
            ], name
    return None


def is_triples(value: Any) -> bool:
    """Return whether a value is a list of triples: two agents and a result."""
    return (
        isinstance(value, list)
        and len(value) >= FEWEST
        and all(
            isinstance(row, list) and len(row) == 3 and all(isinstance(name, str) for name in row[:2]) for row in value
        )
    )


def is_record_list(value: Any) -> bool:
    """Return whether a value is a list of at least two objects."""
    return isinstance(value, list) and len(value) >= FEWEST and all(isinstance(row, dict) and row for row in value)


def has_agents(row: Mapping[str, Any]) -> bool:
    """Return whether a record names an agent, or the two of a match."""
    columns = list(row)
    pairs = [name for pair in (*find_agent_pairs(columns), *find_winner_pairs(columns)) for name in pair]
    named = any(isinstance(row[name], str) for name in find_usual(AGENT, columns))
    return len(row) > 1 and (named or any(isinstance(row[name], str | int | float) for name in pairs))


def is_table_by_agent(document: Mapping[str, Any]) -> bool:
    """Return whether a document is an object of objects that hold numbers: scores by agent and task."""
    values = list(document.values())
    if len(values) < FEWEST or not all(isinstance(value, dict) and value and "agent" not in value for value in values):
        return False
    objects = {name for value in values for name, cell in value.items() if isinstance(cell, dict)}
    if len(objects) == 1:  # the tasks are inside, beside details of the agent
        inside = next(iter(objects))
        values = [value.get(inside) or {} for value in values]
        if not all(isinstance(value, dict) for value in values):
            return False
    cells = [cell for value in values for cell in value.values()]
    numbers = sum(isinstance(cell, int | float) for cell in cells)
    return numbers > len(cells) / 2 and not any(isinstance(cell, dict | list) for cell in cells)
