"""Python objects as tables or documents: dictionaries, and lists of tuples or dictionaries.

::

    [("x", "y", "x"), ("y", "z", 0.5)]                matches: two agents and an outcome, and perhaps a weight
    [{"model_a": "x", "model_b": "y", ...}, ...]      rows of any table
    {"model": ["x", "y"], "chess": [0.4, 0.6]}        columns of any table
    {"x": {"chess": 0.4, "go": 0.9}, "y": {...}}      scores by agent and task
    {("x", "y"): 3, ("y", "x"): 1}                    how often the first beat the second
    {"x": array, "y": array}                          scores of runs x tasks, as rliable has them
"""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from nashboard._text import first_line
from nashboard.data.table.table import Table
from nashboard.errors import InputError

GAME = ("first", "second", "result", "weight")
SHAPES = (
    "a list of (agent, agent, outcome), a list of dictionaries, a dictionary of columns, of {agent: {task: score}}, of "
    "{agent: array of runs x tasks} or of {(winner, loser): times}"
)


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
        widths = {len(row) for row in source}
        if len(widths) != 1 or not widths <= {3, 4}:
            raise InputError(f"a list of matches has 3 or 4 cells in each: agent, agent, outcome, weight; not {widths}")
        width = widths.pop()
        rows = [dict(zip(GAME[:width], row, strict=True)) for row in source]
        return make_table(rows, "list of tuples")
    raise InputError(f"cannot read a {type(source).__name__} of {type(source[0]).__name__}: give {SHAPES}")


def open_mapping(source: Mapping[Any, Any]) -> Table | dict[str, Any]:
    """Return a dictionary as a table, or as a document of arrays."""
    values = list(source.values())
    if all(isinstance(key, tuple) and len(key) == 2 for key in source):
        rows = [
            {"first": str(a), "second": str(b), "wins": float(times), "losses": 0.0} for (a, b), times in source.items()
        ]
        return make_table(rows, "dictionary of pairs")
    if not all(isinstance(key, str) for key in source):
        raise InputError(f"the keys of a dictionary must be text, or pairs of agents: give {SHAPES}")
    if all(isinstance(value, Mapping) for value in values):
        return make_table([{"agent": agent, **scores} for agent, scores in source.items()], "dictionary of scores")
    arrays = [np.asarray(value) for value in values if not isinstance(value, str | int | float | bool | None)]
    if len(arrays) == len(values) and all(array.dtype.kind in "biuf" for array in arrays):
        lists = {agent: array.tolist() for agent, array in zip(source, arrays, strict=True)}
        if all(array.ndim in (1, 2) for array in arrays):
            return lists
    if len(arrays) == len(values) and all(array.ndim == 1 for array in arrays):
        return make_table(dict(source), "dictionary of columns")
    raise InputError(f"cannot read this dictionary: give {SHAPES}")


def make_table(content: Any, what: str) -> Table:
    """Return rows or columns of Python objects as a table."""
    try:
        frame = pl.DataFrame(content, infer_schema_length=None, strict=False)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"the {what} is not a table: {first_line(error)}") from None
    return Table(name=what, engine=what, frame=nw.from_native(frame.lazy()), columns=tuple(frame.columns))
