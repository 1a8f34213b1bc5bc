"""Engines: any data frame as one lazy frame, and the one place where an engine is asked to run a query.

Everything that reads a frame is written once, as a lazy expression of narwhals. It runs where the data is: in
this process (pandas, Polars, PyArrow), in DuckDB or another database, or on the workers of Dask and Spark. Only
what an expression has summed up comes back.
"""

import contextlib
import re
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
from narwhals.exceptions import DuplicateError

from nashboard._text import first_line, listed
from nashboard.data.exact_sums import joined
from nashboard.data.scan import Scan
from nashboard.data.totals import Totals, run
from nashboard.errors import InputError, NashboardError

LOOK = 1000  # objects of a column that are looked at to learn what they are
READABLE = "a path, an address, or a frame of pandas, Polars, PyArrow, DuckDB, Dask, PySpark or ibis"
NO_TEXT = re.compile(r"Could not convert (b(['\"]).{0,60}?\2?) with type bytes")  # a blob, as PyArrow says it


def lazy_frame(source: Any) -> nw.LazyFrame[Any] | None:
    """Return any data frame as a lazy one, or None if the source is none."""
    if isinstance(source, str | Path):
        return None
    with own_errors_named("the frame cannot be read"):
        try:
            frame = nw.from_native(with_types(polars_scan(source)), pass_through=True)
            if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
                return None
            names = frame.collect_schema().names()
            twice = doubled(source)
        except DuplicateError:
            if not (twice := doubled(source)):
                raise
    if twice:
        raise InputError(f"the frame has the column {listed(twice)} more than once: column names must be unique")
    other = [name for name in names if not isinstance(name, str)]
    if other:
        raise InputError(f"the frame has a column called {other[0]!r}: names of columns must be text")
    lazy: nw.LazyFrame[Any] = frame.lazy()
    return lazy


def polars_scan(source: Any) -> Any:
    """Return a PyArrow dataset, which has no expressions of its own, as a scan; anything else as it is."""
    dataset = sys.modules.get("pyarrow.dataset")  # who holds a dataset has imported it
    return pl.scan_pyarrow_dataset(source) if dataset and isinstance(source, dataset.Dataset) else source


def with_types(source: Any) -> Any:
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
            untold = kind.categories.dtype.kind in "biufM"
        elif isinstance(kind, pandas.api.extensions.ExtensionDtype) or kind.kind != "O":
            continue
        else:
            untold = pandas.api.types.infer_dtype(cells.dropna().head(LOOK)) in ("boolean", "date", "decimal")
        if untold and isinstance(name, str):
            with contextlib.suppress(Exception):  # other objects further down: text, as they would be alone
                typed[name] = arrow_typed(cells)
    return source.assign(**typed) if typed and source.columns.is_unique else source


def arrow_typed(cells: Any) -> Any:
    """Return a column of pandas with the type that Arrow finds for its objects."""
    import pandas as pd
    import pyarrow as pa

    array = pa.array(cells, from_pandas=True)
    array = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    return pd.Series(pd.arrays.ArrowExtensionArray(array), index=cells.index)


def column(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return a column of a frame by its name; Spark takes a dot in a name for a field, unless the name is quoted."""
    quote = frame.implementation.is_spark_like() and not name.isidentifier()
    return nw.col("`" + name.replace("`", "``") + "`" if quote else name)


def with_objects(frame: nw.LazyFrame[Any], column: str) -> nw.LazyFrame[Any]:
    """Return a frame whose lists and objects can be looked into; pandas and PyArrow lend theirs to Polars."""
    in_memory = frame.implementation.is_pandas_like() or frame.implementation.is_pyarrow()
    if not in_memory:
        return frame
    try:
        return nw.from_native(frame.collect().to_polars().lazy())
    except Exception:  # cells of several kinds: the caller says what the column should hold
        return frame


def collected(
    query: nw.LazyFrame[Any], source: str, scan: Scan | None = None, *, in_order: bool = False
) -> pl.DataFrame:
    """Run a query in the frame's own engine; what comes back is small, and in memory as Polars."""
    native = query.to_native()
    if scan is not None:
        return scan.collect(native, in_order=in_order)
    with failures_named(source):
        return native.collect(engine="streaming") if isinstance(native, pl.LazyFrame) else query.collect().to_polars()


def summed_up(totals: Totals, source: str, scan: Scan | None = None) -> pl.DataFrame:
    """Sum up rows in the frame's own engine; what comes back does not depend on the order in which it adds."""
    return joined(digits_summed_up(totals, source, scan), totals.fractions)


def digits_summed_up(totals: Totals, source: str, scan: Scan | None) -> pl.DataFrame:
    """Sum up rows in the frame's own engine; Polars does it piece by piece, so that memory is bounded."""
    if not isinstance(totals.rows.to_native(), pl.LazyFrame):
        return collected(totals.query(), source, scan)
    with scan.explaining() if scan is not None else failures_named(source):
        if (
            scan is not None and scan.kind == "parquet" and totals.few_groups()
        ):  # other kinds cannot be read from their end
            return run(totals.query())
        return totals.in_pieces()


def doubled(source: Any) -> list[str]:
    """Return the names that several columns of a frame have; some libraries allow that, and Polars does not."""
    if isinstance(source, pl.DataFrame | pl.LazyFrame | nw.DataFrame | nw.LazyFrame):
        return []
    arrow = sys.modules.get("pyarrow")
    names = source.column_names if arrow and isinstance(source, arrow.Table) else getattr(source, "columns", ())
    return sorted(name for name, times in Counter(name for name in names if isinstance(name, str)).items() if times > 1)


def failures_named(source: str) -> contextlib.AbstractContextManager[None]:
    """Turn whatever the frame's own library raises while it counts into an error about the user's data."""
    return own_errors_named(f"{source!r} cannot be counted")


@contextlib.contextmanager
def own_errors_named(what: str) -> Iterator[None]:
    """Turn whatever a frame's own library raises inside into one sentence; a bug of ours stays what it is.

    Engines raise what they like: errors of their own, of the file system, an assertion without a word.
    """
    try:
        yield
    except (NashboardError, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # Rust's panics are no exceptions like others
        if ours(error):
            raise
        raise InputError(f"{what}: {reason(error)}") from error


def ours(error: BaseException) -> bool:
    """Say whether an error was raised by code of this package, not by a library that it called."""
    frames = list(traceback.walk_tb(error.__traceback__))
    return bool(frames) and str(frames[-1][0].f_globals.get("__name__")).partition(".")[0] == "nashboard"


def reason(error: BaseException) -> str:
    """Return what an error says; an engine whose session is gone stumbles over itself, or says nothing at all."""
    if no_text := NO_TEXT.match(str(next(iter(error.args), ""))):
        return f"a cell holds {no_text[1]}, which is no text: leave such rows out, or turn them into text, with a query"
    said = f"{type(error).__name__}: {first_line(error)}" if str(error).strip() else type(error).__name__
    if isinstance(error, AssertionError | AttributeError):
        return f"{said}; is its session or connection still open?"
    return said if type(error) in (KeyError, IndexError) else first_line(error)


def engine_of(source: Any) -> str:
    """Name the library a frame belongs to."""
    return f"{type(source).__module__.partition('.')[0]} frame"
