"""Data frames of any library as one lazy table, without moving their rows."""

import contextlib
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
from narwhals.exceptions import DuplicateError

from nashboard._text import listed
from nashboard.data.table.table import Table, name_errors
from nashboard.errors import InputError

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
    """Return a pandas frame whose index of names is a column; anything else as it is."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(source, pandas.DataFrame) or isinstance(source.index, pandas.MultiIndex):
        return source
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

    One missing value is enough for pandas to keep such a column as objects of no type; categories hide theirs.
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
            untyped = pandas.api.types.infer_dtype(cells.dropna().head(LOOK)) in ("boolean", "date", "decimal")
        if untyped and isinstance(name, str):
            with contextlib.suppress(Exception):  # other objects further down: text, as they would be alone
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


def find_duplicates(source: Any) -> list[str]:
    """Return the names that several columns of a frame have; some libraries allow that, and Polars does not."""
    if isinstance(source, pl.DataFrame | pl.LazyFrame | nw.DataFrame | nw.LazyFrame):
        return []
    arrow = sys.modules.get("pyarrow")
    names = source.column_names if arrow and isinstance(source, arrow.Table) else getattr(source, "columns", ())
    return sorted(name for name, times in Counter(name for name in names if isinstance(name, str)).items() if times > 1)
