"""Tables on disk as lazy frames: csv, tsv, parquet, json and json lines.

Text formats are scanned as text: what a column means is decided later, by us, so that a wrong value is
reported with its row and column instead of becoming a silent null.
"""

import codecs
import contextlib
import math
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import narwhals as nw
import polars as pl

from nashboard._files import Workspace
from nashboard._text import first_line, listed
from nashboard.data.columns import CLUSTER, ITEMS, LOWER, OUTCOME, RUNS, STDERR, TIME, WEIGHT, recognised, usual_sides
from nashboard.data.delimited import SEPARATORS, check_records, not_utf8, recognised_header
from nashboard.data.json_objects import list_to_lines, parsed
from nashboard.data.kinds import Kind, kind_of
from nashboard.data.parquet_claims import checked_rows
from nashboard.data.parts import Part, folder_values, parquet_parts, united
from nashboard.data.sources import PlainFile, check_lines
from nashboard.errors import InputError

SMALL = 1 << 25  # bytes of json lines that are all read to learn the columns
FIRST_LINES = 1000
IN_ORDER = 1 << 30  # bytes of memory that all rows of a table may take at once
MOST_CELLS = 1 << 24  # of a table that is mostly holes, in the lines that are read to learn the columns
DIFFERENT = "has files of different columns or types"
FETCH = "fetch them, and read them here"  # where `parts` can look at each before any is scanned
LATE = re.compile(r"late column (\w+):")
ROLES = tuple(sorted({*OUTCOME, *WEIGHT, *TIME, *CLUSTER, *STDERR, *ITEMS, *RUNS, *LOWER}))


@dataclass(frozen=True, kw_only=True)
class Scan:
    """A table on disk: its columns, its first rows, and a lazy frame over all of it."""

    files: tuple[PlainFile, ...]
    kind: Kind
    columns: tuple[str, ...]
    frame: pl.LazyFrame
    separator: str = ","
    notes: tuple[str, ...] = ()
    late: tuple[str, ...] = ()  # columns of large json lines that must not appear after the first lines
    label: str = "frame"  # what a table that is no file of this machine is called

    @property
    def name(self) -> str:
        """The name under which the user knows the table."""
        if not self.files:
            return self.label
        return self.files[0].name if len(self.files) == 1 else f"{self.files[0].name} and {len(self.files) - 1} more"

    @property
    def folders(self) -> set[str]:
        """The columns that are folders on the way to the files."""
        names = [file.name for file in self.files] or [self.label]
        return {column for name in names for column in folder_values(name)}

    @property
    def unpacked(self) -> float:
        """About how many bytes all rows take in memory; infinite where nobody knows."""
        if not self.files:
            return math.inf
        if self.kind == "parquet":  # packed on disk: the footers tell how many rows
            return 16 * len(self.columns) * float(self.frame.select(pl.len()).collect().item())
        return 8 * sum(file.path.stat().st_size for file in self.files)

    def collect(self, frame: pl.LazyFrame, *, in_order: bool = False) -> pl.DataFrame:
        """Run a query by streaming; what goes wrong in the file becomes one clear sentence.

        ``in_order``: rows are added up as they stand, so that a file gives the same to the last bit each time. That
        takes them into memory, and is done for tables that are not large.
        """
        with self.explaining():
            ordered = in_order and self.unpacked <= IN_ORDER
            return frame.collect(engine="in-memory" if ordered else "streaming")

    @contextlib.contextmanager
    def explaining(self) -> Iterator[None]:
        """Turn a failure of the scan into an error about the file."""
        try:
            yield
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            if late := LATE.search(str(error)):
                raise InputError(
                    f"{self.name!r}: the column {late[1]!r} first appears after line {FIRST_LINES:,}: give it to all"
                ) from None
            self.explain()
            if not self.files and isinstance(error, pl.exceptions.SchemaError):
                raise InputError(f"{self.name!r} {DIFFERENT} ({first_line(error)}): {FETCH}") from None
            raise InputError(f"{self.name!r} cannot be read as {self.kind}: {first_line(error)}") from None

    def explain(self) -> None:
        """Look for the place where a csv or json lines file is broken, and raise an error that names it."""
        for file in self.files:
            if self.kind == "delimited":
                check_records(file, self.separator, len(recognised_header(file, self.separator)[1]))
            elif self.kind in ("json lines", "json list"):
                check_objects(file)

    def with_schema(self, schema: dict[str, Any]) -> pl.LazyFrame:
        """Scan json lines again, with the types of nested columns given."""
        return scan_objects([file.path for file in self.files], schema, self.late)


def scan(files: Sequence[PlainFile], workspace: Workspace, separator: str | None = None) -> Scan:
    """Return a lazy scan of one or more files of one kind; the workspace takes temporary files."""
    kinds = {kind_of(file): file for file in files}
    if len(kinds) > 1:
        raise InputError(
            f"files of different kinds cannot be read together: {listed([f.name for f in kinds.values()])}"
        )
    kind = next(iter(kinds))
    if kind == "parquet":
        return scan_parquet(files)
    if kind == "delimited":
        return scan_delimited(files, separator)
    if kind == "json list":
        lines = [list_to_lines(file, workspace.path(f"lines-{k}")) for k, file in enumerate(files)]
        return scan_lines(lines, kind)
    if kind == "json lines":
        return scan_lines([without_mark(file, workspace, f"plain-{k}") for k, file in enumerate(files)], kind)
    raise InputError(f"{files[0].name!r} is {kind}, not a table of rows and columns")


def without_mark(file: PlainFile, workspace: Workspace, copy_name: str) -> PlainFile:
    """Return a file without the byte order mark that some programs put first."""
    with file.path.open("rb") as stream:
        if stream.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            return file
        target = workspace.path(copy_name)
        with target.open("wb") as copy:
            shutil.copyfileobj(stream, copy)
    return PlainFile(path=target, name=file.name)


def scan_parquet(files: Sequence[PlainFile]) -> Scan:
    """Return a scan of parquet files, after a look at what their headers claim."""
    rows = sum(map(checked_rows, files))
    if not rows:
        raise InputError(f"{files[0].name!r} has columns but no rows")
    table = Scan(files=tuple(files), kind="parquet", columns=(), frame=pl.LazyFrame())
    with table.explaining():
        parts, said = parquet_parts(files)
        frame, notes = united(parts)
        columns = tuple(frame.collect_schema().names())
    return replace(table, columns=columns, frame=frame, notes=(*said, *notes))


def scan_delimited(files: Sequence[PlainFile], separator: str | None) -> Scan:
    """Return a scan of csv or tsv files whose cells are all text."""
    for file in files:
        check_lines(file)
    separator = recognised_header(files[0], separator)[0]
    by_header: dict[tuple[str, ...], list[PlainFile]] = {}
    for file in files:
        by_header.setdefault(recognised_header(file, separator)[1], []).append(file)
    parts = [
        Part(
            file=alike[0],
            frame=pl.scan_csv(
                [file.path for file in alike], separator=separator, infer_schema=False, new_columns=list(header)
            ),
            kinds=dict.fromkeys(header, pl.String),
        )
        for header, alike in by_header.items()
    ]
    frame, notes = united(parts)
    if separator not in ",\t":
        notes = (f"columns are separated by {SEPARATORS.get(separator, repr(separator))}", *notes)
    columns = tuple(dict.fromkeys(name for header in by_header for name in header))
    return Scan(files=tuple(files), kind="delimited", columns=columns, frame=frame, separator=separator, notes=notes)


def check_objects(file: PlainFile) -> None:
    """Read json lines one by one and raise an error at the first that is broken."""
    with file.path.open("rb") as stream:
        for k, line in text_lines(stream, file):
            parsed_object(line, k, file, strict=True)


def text_lines(stream: BinaryIO, file: PlainFile) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, as text, with their numbers."""
    for k, line in enumerate(stream, start=1):
        if line.strip():
            try:
                yield k, line.decode("utf-8-sig")
            except UnicodeDecodeError:
                raise InputError(not_utf8(file, k)) from None


def parsed_object(line: str, k: int, file: PlainFile, *, strict: bool = False) -> dict[str, Any]:
    """Return the object that a line holds, or say which line is something else."""
    record = parsed(line, f"{file.name}, line {k:,}", strict=strict)
    if not isinstance(record, dict):
        raise InputError(f"{file.name!r}: line {k:,} is not a json object")
    return record


def scan_lines(files: Sequence[PlainFile], kind: Kind) -> Scan:
    """Return a scan of json lines whose plain cells are all text; nested cells wait for `with_schema`."""
    columns: dict[str, bool] = {}
    lines = filled = 0
    for file in files:
        check_lines(file)
        for k, line in lines_to_learn_from(file):
            record = parsed_object(line, k, file)
            lines, filled = lines + 1, filled + len(record)
            for name, value in record.items():
                columns[name] = columns.get(name, False) or isinstance(value, dict | list)
    if not columns:
        raise InputError(f"{files[0].name!r} has no records")
    if lines * len(columns) > MOST_CELLS and filled * 10 < lines * len(columns):
        raise InputError(
            f"{files[0].name!r} is no table: its first {lines:,} lines have {len(columns):,} different names, and "
            f"hardly any two lines have the same"
        )
    flat = {name: pl.String for name, nested in columns.items() if not nested}
    large = any(file.path.stat().st_size > SMALL for file in files)
    late = late_roles(tuple(columns)) if large else ()
    frame = scan_objects([file.path for file in files], flat, late)
    return Scan(files=tuple(files), kind=kind, columns=tuple(columns), frame=frame, late=late)


def lines_to_learn_from(file: PlainFile) -> Iterator[tuple[int, str]]:
    """Yield the lines that tell the columns: all of a small file, the first of a large one."""
    small = file.path.stat().st_size <= SMALL
    with file.path.open("rb") as stream:
        for k, text in text_lines(stream, file):
            yield k, text
            if not small and k > FIRST_LINES:
                return


def late_roles(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that would change what is read, were they to appear after the lines that told the columns.

    In a log of matches these are the weights and clusters. Each costs about 5% of the scan.
    """
    roles = (*WEIGHT, *CLUSTER) if usual_sides(columns) and recognised(OUTCOME, columns) else ROLES
    return tuple(name for name in roles if name not in columns)


def scan_objects(source: str | Sequence[Path], schema: dict[str, Any], late: Sequence[str]) -> pl.LazyFrame:
    """Scan json lines; a value in one of the late columns ends the scan with an error that names the column."""
    whole = {**schema, **dict.fromkeys(late, pl.String)}
    frame = pl.scan_ndjson(source if isinstance(source, str) else list(source), schema=whole)
    if not late:
        return frame
    # null where all are missing; a text that is no number anywhere else, so that the cast fails
    found = pl.coalesce(pl.concat_str(pl.lit(f"late column {name}:"), pl.col(name)) for name in late)
    return frame.filter(found.cast(pl.Int8, strict=True).is_null()).select(*schema)


def without_blank_lines(frame: nw.LazyFrame[Any], columns: Sequence[str], table: Scan | None) -> nw.LazyFrame[Any]:
    """Return a frame without the rows that are empty lines of a text file: all these columns are missing."""
    if table is None or table.kind != "delimited":
        return frame
    return frame.filter(~nw.all_horizontal(*(nw.col(name).is_null() for name in columns), ignore_nulls=False))
