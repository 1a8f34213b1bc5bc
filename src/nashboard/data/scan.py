"""Tables on disk as lazy frames: csv, tsv, parquet, json and json lines.

Text formats are scanned as text: what a column means is decided later, by us, so that a wrong value is
reported with its row and column instead of becoming a silent null.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from nashboard.data.delimited import SEPARATORS, check_records, not_utf8, recognised_header
from nashboard.data.json_objects import list_to_lines, parsed
from nashboard.data.kinds import Kind, kind_of
from nashboard.data.parquet_claims import checked_rows
from nashboard.data.sources import PlainFile, check_lines
from nashboard.errors import InputError, listed


@dataclass(frozen=True, kw_only=True)
class Scan:
    """A table on disk: its columns, its first rows, and a lazy frame over all of it."""

    files: tuple[PlainFile, ...]
    kind: Kind
    columns: tuple[str, ...]
    frame: pl.LazyFrame
    separator: str = ","
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name under which the user knows the table."""
        return self.files[0].name if len(self.files) == 1 else f"{self.files[0].name} and {len(self.files) - 1} more"

    @cached_property
    def first_rows(self) -> list[dict[str, Any]]:
        """The first rows, to recognise a format by."""
        flat = [name for name, kind in self.frame.collect_schema().items() if not kind.is_nested()]
        return self.collect(self.frame.select(flat).head(50)).to_dicts()

    def collect(self, frame: pl.LazyFrame) -> pl.DataFrame:
        """Run a query by streaming; what goes wrong in the file becomes one clear sentence."""
        with self.explaining():
            return frame.collect(engine="streaming")

    @contextlib.contextmanager
    def explaining(self) -> Iterator[None]:
        """Turn a failure of the scan into an error about the file."""
        try:
            yield
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            self.explain()
            reason = str(error).strip().partition("\n")[0]
            raise InputError(f"{self.name!r} cannot be read as {self.kind}: {reason}") from None

    def explain(self) -> None:
        """Look for the place where a csv or json lines file is broken, and raise an error that names it."""
        for file in self.files:
            if self.kind == "delimited":
                check_records(file, self.separator, len(self.columns))
            elif self.kind in ("json lines", "json list"):
                check_objects(file)

    def with_schema(self, schema: dict[str, Any]) -> pl.LazyFrame:
        """Scan json lines again, with the types of nested columns given."""
        return pl.scan_ndjson([file.path for file in self.files], schema=schema)


def scan(files: Sequence[PlainFile], folder: Path, separator: str | None = None) -> Scan:
    """Return a lazy scan of one or more files of one kind; ``folder`` takes temporary files."""
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
        lines = [list_to_lines(file, folder / f"lines-{k}") for k, file in enumerate(files)]
        return scan_lines(lines, kind)
    if kind == "json lines":
        return scan_lines(files, kind)
    raise InputError(f"{files[0].name!r} is {kind}, not a table of rows and columns")


def scan_parquet(files: Sequence[PlainFile]) -> Scan:
    """Return a scan of parquet files, after a look at what their headers claim."""
    rows = sum(map(checked_rows, files))
    if not rows:
        raise InputError(f"{files[0].name!r} has columns but no rows")
    frame = pl.scan_parquet([file.path for file in files])
    table = Scan(files=tuple(files), kind="parquet", columns=(), frame=frame)
    with table.explaining():
        return replace(table, columns=tuple(frame.collect_schema().names()))


def scan_delimited(files: Sequence[PlainFile], separator: str | None) -> Scan:
    """Return a scan of csv or tsv files whose cells are all text."""
    for file in files:
        check_lines(file)
    separator, header = recognised_header(files[0], separator)
    for file in files[1:]:
        other = recognised_header(file, separator)[1]
        if other != header:
            raise InputError(f"{file.name!r} has other columns than {files[0].name!r}: {listed(other)}")
    notes = () if separator in ",\t" else (f"columns are separated by {SEPARATORS.get(separator, repr(separator))}",)
    frame = pl.scan_csv(
        [file.path for file in files], separator=separator, infer_schema=False, new_columns=list(header)
    )
    return Scan(files=tuple(files), kind="delimited", columns=header, frame=frame, separator=separator, notes=notes)


def check_objects(file: PlainFile) -> None:
    """Read json lines one by one and raise an error at the first that is broken."""
    with file.path.open("rb") as stream:
        for k, line in enumerate(stream):
            if line.strip():
                try:
                    text = line.decode("utf-8-sig")
                except UnicodeDecodeError:
                    raise InputError(not_utf8(file, k + 1)) from None
                if not isinstance(parsed(text, f"{file.name}, line {k + 1:,}", strict=True), dict):
                    raise InputError(f"{file.name!r}: line {k + 1:,} is not a json object")


def scan_lines(files: Sequence[PlainFile], kind: Kind) -> Scan:
    """Return a scan of json lines whose plain cells are all text; nested cells wait for `with_schema`."""
    columns: dict[str, bool] = {}
    for file in files:
        check_lines(file)
        for k, line in enumerate(first_lines(file)):
            record = parsed(line, f"{file.name}, line {k + 1:,}")
            if not isinstance(record, dict):
                raise InputError(f"{file.name!r}: line {k + 1:,} is not a json object")
            for name, value in record.items():
                columns[name] = columns.get(name, False) or isinstance(value, dict | list)
    if not columns:
        raise InputError(f"{files[0].name!r} has no records")
    flat = {name: pl.String for name, nested in columns.items() if not nested}
    frame = pl.scan_ndjson([file.path for file in files], schema=flat)
    return Scan(files=tuple(files), kind=kind, columns=tuple(columns), frame=frame)


def first_lines(file: PlainFile, most: int = 1000) -> Iterator[str]:
    """Yield the first lines that hold something, at most a few megabytes of them."""
    seen = 0
    with file.path.open("rb") as stream:
        for line in stream:
            if line.strip():
                seen += len(line)
                most -= 1
                try:
                    yield line.decode("utf-8-sig")
                except UnicodeDecodeError:
                    raise InputError(f"{file.name!r} is not UTF-8: save it as UTF-8") from None
            if most <= 0 or seen > (16 << 20):
                return


def without_blank_lines(frame: nw.LazyFrame[Any], columns: Sequence[str], table: Scan | None) -> nw.LazyFrame[Any]:
    """Return a frame without the rows that are empty lines of a text file: all these columns are missing."""
    if table is None or table.kind != "delimited":
        return frame
    return frame.filter(~nw.all_horizontal(*(nw.col(name).is_null() for name in columns), ignore_nulls=False))
