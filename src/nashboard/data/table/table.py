"""One lazy table, whoever holds its rows: files, an object store, a database, or a data frame of any engine.

Everything that reads rows is written once, as a lazy expression of narwhals. It runs where the data is: in this
process (Polars, pandas, PyArrow), in DuckDB or another database, or on the workers of Dask and Spark. Only what an
expression has summed up comes back.
"""

import contextlib
import math
import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import polars as pl

from nashboard._files import Workspace
from nashboard._text import first_line, listed
from nashboard.data.origin import LeftOut
from nashboard.data.sources.paths import PlainFile
from nashboard.data.table.delimited import (
    SEPARATORS,
    check_records,
    decode_head,
    first_records,
    repeats_header,
    rewrite_commas,
    scan_delimited,
)
from nashboard.data.table.exact_sums import Totals, join_digits
from nashboard.data.table.files import Kind, count_rows, find_kind, folder_values, scan_parquet, unite
from nashboard.data.table.json_lines import (
    check_objects,
    find_columns,
    list_to_lines,
    scan_objects,
    without_broken_lines,
    without_mark,
)
from nashboard.errors import InputError, NashboardError

TEXT_KINDS = ("delimited", "json lines", "json list")
SMALL = 1 << 22  # bytes of text files that are read at once
IN_ORDER = 1 << 30  # bytes of memory that all rows of a table may take at once
MOST_ROWS_NAMED = 5  # row numbers in a message
ROW = "nashboard_row"
PANDAS_INDEX = "__index_level_0__"  # what pandas calls an index without a name
NO_TEXT = re.compile(r"Could not convert (b(['\"]).{0,60}?\2?) with type bytes")  # a blob, in PyArrow's words


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """A lazy frame in its own engine, with everything a reader has to know about it."""

    name: str  # what the user calls the table
    # which library or kind of file holds the rows: parquet, delimited, pandas frame, sqlite table
    engine: str
    frame: nw.LazyFrame[Any]  # the rows. Cells of text files are text; what they mean is decided by the reader.
    columns: tuple[str, ...]  # all columns, also nested ones of json lines that the frame does not have
    notes: tuple[str, ...] = ()  # what was noticed on the way in
    kind: Kind | None = None  # the kind of file; None for frames and databases
    files: tuple[PlainFile, ...] = ()  # the files of this machine, as far as the rows are in some
    separator: str = ","  # of a text table
    folders: frozenset[str] = frozenset()  # the columns that are names of folders, and so text
    left_out: tuple[LeftOut, ...] = ()  # bad rows that were skipped as asked

    @property
    def schema(self) -> nw.Schema:
        """The types of the columns."""
        return nw.Schema({name: kind for name, kind in self.frame.collect_schema().items() if name != ROW})

    @property
    def is_text(self) -> bool:
        """Whether cells are text because the file says nothing about types."""
        return self.kind in TEXT_KINDS

    @property
    def nested(self) -> list[str]:
        """The columns that hold lists or objects."""
        schema = self.schema
        nested = [name for name, kind in schema.items() if kind.is_nested()]
        return nested + [name for name in self.columns if name not in schema]

    def with_frame(self, frame: nw.LazyFrame[Any], *notes: str) -> "Table":
        """Return the same table with other rows or columns."""
        changed = replace(self, frame=frame, notes=(*self.notes, *notes))
        return replace(changed, columns=tuple(changed.schema.names()))

    def with_row_numbers(self) -> "Table":
        """Return the table with the number of each row as a column, where rows have an order; `schema` hides it.

        A scan reads it only where it is asked for, and it stays with a row whatever is filtered or stacked later.
        """
        native = self.frame.to_native()
        if ROW in self.frame.collect_schema():
            return self
        if isinstance(native, pl.LazyFrame):
            return replace(self, frame=nw.from_native(native.with_row_index(ROW, offset=1)))
        if self.frame.implementation.is_pandas_like() or self.frame.implementation.is_pyarrow():
            numbered = self.frame.collect().with_row_index(ROW).with_columns(nw.col(ROW) + 1)
            return replace(self, frame=numbered.lazy())
        return self

    def collect(self, query: nw.LazyFrame[Any], *, in_order: bool = False) -> pl.DataFrame:
        """Run a query in the table's own engine; what comes back is small, and in memory as Polars.

        ``in_order`` adds up the rows of a file as they are, so that it gives the same to the last bit each time. That
        takes them into memory, and is done for tables that are not large.
        """
        native = query.to_native()
        with self.explain_failures():
            if not isinstance(native, pl.LazyFrame):
                found = query.collect()
                rows = found.to_polars()
                rows.columns = found.columns  # Polars renames a column of Arrow that has no name
                return rows
            at_once = self.is_small or (in_order and self.kind is not None and self.bytes_in_memory() <= IN_ORDER)
            return native.collect(engine="in-memory" if at_once else "streaming")

    def sum_up(self, totals: Totals) -> pl.DataFrame:
        """Sum up rows in the table's own engine; the result does not depend on the order in which it adds."""
        with self.explain_failures():
            in_pieces = isinstance(totals.rows.to_native(), pl.LazyFrame) and not self.is_small
            sums = totals.sum_in_pieces() if in_pieces else totals.query().collect().to_polars()
            return join_digits(sums, totals.fractions)

    @cached_property
    def is_small(self) -> bool:
        """Whether the rows are in text files so small that streaming them would take longer."""
        return bool(self.files) and self.is_text and sum(file.path.stat().st_size for file in self.files) <= SMALL

    def bytes_in_memory(self) -> float:
        """Return about how many bytes all rows take in memory; infinite where nobody knows."""
        if not self.files:
            return math.inf
        if self.kind == "parquet":  # compressed on disk: the footers tell how many rows
            rows: Any = self.frame.select(nw.len()).to_native().collect().item()
            return 16.0 * len(self.columns) * float(rows)
        return 8.0 * sum(file.path.stat().st_size for file in self.files)

    def drop_blank_lines(self, columns: Sequence[str]) -> "Table":
        """Return the table without rows that are empty lines of a text file: all these columns are missing."""
        if self.kind != "delimited":
            return self
        blank = nw.all_horizontal(*(nw.col(name).is_null() for name in columns), ignore_nulls=False)
        return replace(self, frame=self.frame.filter(~blank))

    def skip_rows(self, bad: nw.Expr, why: str, what: str = "bad rows") -> "Table":
        """Return the table without the bad rows; ``left_out`` says how many they are, and where."""
        marked = nw.when(bad).then(nw.lit(1)).otherwise(nw.lit(0))
        count = int(self.collect(self.frame.select(bad=marked).select(nw.col("bad").sum())).item() or 0)
        if not count:
            return self
        left = LeftOut(what, count, why + self.describe_rows(bad, count))
        return replace(self, frame=self.frame.filter(marked == 0), left_out=(*self.left_out, left))

    def skip_headers(self, columns: Sequence[str]) -> "Table":
        """Return the table without rows in which these columns have their own names."""
        words = [name for name in columns if self.schema[name] == nw.String]
        cells = [column(self.frame, name).fill_null("").str.strip_chars(" \ufeff") == name.strip() for name in words]
        if len(words) < len(columns):
            return self
        return self.skip_rows(nw.all_horizontal(*cells, ignore_nulls=False), "the header again", "rows")

    def describe_rows(self, condition: nw.Expr, count: int) -> str:
        """Return `` (data rows 3, 8 and 2 more)``, or nothing where rows have no numbers."""
        if ROW not in self.frame.collect_schema():
            return ""
        rows = self.collect(self.frame.filter(condition).select(ROW).sort(ROW).head(MOST_ROWS_NAMED))[ROW]
        return describe_rows(rows.unique(maintain_order=True).to_list(), count)

    @contextlib.contextmanager
    def explain_failures(self) -> Iterator[None]:
        """Turn whatever goes wrong while the rows are read into one sentence about the user's data."""
        if self.kind is None:
            with name_errors(f"{self.name!r} cannot be counted"):
                yield
            return
        try:
            yield
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            self.explain()
            raise InputError(f"{self.name!r} cannot be read as {self.kind}: {first_line(error)}") from None

    def explain(self) -> None:
        """Look for the first broken record of a text file, and raise an error that says where it is."""
        for file in self.files:
            if self.kind == "delimited":
                check_records(file, self.separator)
            elif self.kind in ("json lines", "json list"):
                check_objects(file)

    def with_nested(self, types: Mapping[str, Any]) -> nw.LazyFrame[Any]:
        """Return the rows with nested columns of these types; json lines have to be read again for that."""
        if self.kind not in ("json lines", "json list"):
            return self.frame
        flat = dict.fromkeys(self.schema.names(), pl.String)
        rows = scan_objects([file.path for file in self.files], {**flat, **types})
        return nw.from_native(rows.with_row_index(ROW, offset=1))


def describe_rows(rows: Sequence[int], count: int) -> str:
    """Return `` (data rows 3, 8 and 2 more)``, or nothing where no numbers are known.

    >>> describe_rows([3], 1), describe_rows([3, 8], 4)
    (' (data row 3)', ' (data rows 3, 8 and 2 more)')
    """
    if not rows:
        return ""
    more = f" and {count - len(rows):,} more" if count > len(rows) else ""
    return f" (data row{'s' * (count > 1)} {', '.join(f'{row:,}' for row in rows)}{more})"


def column(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """Return a column of a frame by its name; Spark takes a dot in a name for a field, unless the name is quoted."""
    quote = frame.implementation.is_spark_like() and not name.isidentifier()
    return nw.col("`" + name.replace("`", "``") + "`" if quote else name)


@contextlib.contextmanager
def name_errors(what: str) -> Iterator[None]:
    """Turn whatever a frame's own library raises inside into one sentence; a bug of ours stays what it is.

    Engines raise errors of their own, of the file system, or an assertion without a message.
    """
    try:
        yield
    except (NashboardError, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # Rust's panics are no ordinary exceptions
        if is_ours(error):
            raise
        raise InputError(f"{what}: {describe_error(error)}") from error


def is_ours(error: BaseException) -> bool:
    """Return whether an error was raised by code of this package, not by a library that it called."""
    frames = list(traceback.walk_tb(error.__traceback__))
    return bool(frames) and str(frames[-1][0].f_globals.get("__name__")).partition(".")[0] == "nashboard"


def describe_error(error: BaseException) -> str:
    """Return the message of an engine's error; one whose session is closed often has none."""
    if no_text := NO_TEXT.match(str(next(iter(error.args), ""))):
        return f"a cell contains {no_text[1]}, which is not text: leave such rows out or cast them to text with a query"
    message = f"{type(error).__name__}: {first_line(error)}" if str(error).strip() else type(error).__name__
    if isinstance(error, AssertionError | AttributeError):
        return f"{message}; is its session or connection still open?"
    return message if type(error) in (KeyError, IndexError) else first_line(error)


def open_table(
    files: Sequence[PlainFile], workspace: Workspace, separator: str | None = None, *, skip_broken: bool = False
) -> Table:
    """Return one or more files of one kind as a table; the workspace takes temporary files."""
    kinds = {find_kind(file): file for file in files}
    if len(kinds) > 1:
        names = listed([file.name for file in kinds.values()])
        raise InputError(f"files of different kinds cannot be read together: {names}")
    kind = next(iter(kinds))
    if kind == "parquet":
        return open_parquet(files)
    if kind == "delimited":
        return open_delimited(files, workspace, separator, skip_broken=skip_broken)
    left_out: list[LeftOut] = []
    if kind == "json list":
        found = left_out if skip_broken else None
        lines = [list_to_lines(file, workspace.path(f"lines-{k}"), found) for k, file in enumerate(files)]
        return open_json_lines(lines, kind, left_out)
    if kind == "json lines":
        lines = [without_mark(file, workspace, f"plain-{k}") for k, file in enumerate(files)]
        if skip_broken:
            lines = [without_broken_lines(file, workspace, k, left_out) for k, file in enumerate(lines)]
        return open_json_lines(lines, kind, left_out)
    raise InputError(f"{files[0].name!r} is {kind}, not a table of rows and columns")


def name_files(files: Sequence[PlainFile]) -> str:
    """Return what the user calls these files together."""
    return files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more"


def open_parquet(files: Sequence[PlainFile]) -> Table:
    """Return parquet files as a table; the folders they are in may be columns."""
    try:
        if not sum(map(count_rows, files)):
            raise InputError(f"{files[0].name!r} has columns but no rows")
        parts, said = scan_parquet({file.name: str(file.path) for file in files})
        frame, notes = unite(parts)
        schema = frame.collect_schema()
        if PANDAS_INDEX in schema:  # names of rows are agents, as in the frame itself; numbers say nothing
            named = schema[PANDAS_INDEX] == pl.String and "agent" not in schema
            index = [pl.col(PANDAS_INDEX).alias("agent")] if named else []
            frame = frame.select(*index, pl.exclude(PANDAS_INDEX))
        columns = tuple(frame.collect_schema().names())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(f"{name_files(files)!r} cannot be read as parquet: {first_line(error)}") from None
    return Table(
        name=name_files(files),
        engine="parquet",
        kind="parquet",
        frame=nw.from_native(frame),
        columns=columns,
        files=tuple(files),
        notes=(*said, *notes),
        folders=frozenset(column for file in files for column in folder_values(file.name)),
    )


def open_delimited(
    files: Sequence[PlainFile], workspace: Workspace, separator: str | None, *, skip_broken: bool
) -> Table:
    """Return csv or tsv files as a table whose cells are all text."""
    parts, mark, scanned, left_out, said = scan_delimited(files, separator, workspace, skip_broken=skip_broken)
    frame, notes = unite(parts)
    frame, commas = rewrite_commas(frame, first_records(decode_head(scanned[0]), mark))
    notes = (*said, *notes, *commas)
    if mark not in ",\t":
        notes = (f"columns are separated by {SEPARATORS.get(mark, repr(mark))}", *notes)
    table = Table(
        name=name_files(files),
        engine="delimited",
        kind="delimited",
        frame=nw.from_native(frame),
        columns=tuple(dict.fromkeys(name for part in parts for name in part.kinds)),
        files=scanned,
        separator=mark,
        notes=notes,
        left_out=left_out,
    )
    return table.with_row_numbers().skip_headers(table.columns) if any(map(repeats_header, scanned)) else table


def open_json_lines(files: Sequence[PlainFile], kind: Kind, left_out: Sequence[LeftOut] = ()) -> Table:
    """Return json lines as a table whose plain cells are all text; nested cells wait for `Table.with_nested`."""
    columns = find_columns(files)
    flat = {name: pl.String for name, nested in columns.items() if not nested}
    frame = scan_objects([file.path for file in files], flat)
    if left_out:  # broken lines became empty objects, so that rows keep their numbers
        filled = pl.any_horizontal(pl.col(name).is_not_null() for name in flat) if flat else pl.lit(value=True)
        frame = frame.with_row_index(ROW, offset=1).filter(filled)
    return Table(
        name=name_files(files),
        engine=kind,
        kind=kind,
        frame=nw.from_native(frame),
        columns=tuple(columns),
        files=tuple(files),
        left_out=tuple(left_out),
    )
