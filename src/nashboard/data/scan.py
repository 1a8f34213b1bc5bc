"""Tables on disk as lazy frames: csv, tsv, parquet, json and json lines.

Text formats are scanned as text: what a column means is decided later, by us, so that a wrong value is
reported with its row and column instead of becoming a silent null.
"""

import contextlib
import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import polars as pl

from nashboard.data.json_objects import list_to_lines, parsed
from nashboard.data.parquet_claims import checked_rows
from nashboard.data.sources import LONGEST_RECORD, PlainFile, check_lines
from nashboard.errors import InputError, listed

Kind = Literal["delimited", "parquet", "json lines", "json list", "json", "pgn", "cutechess", "numpy"]

HEAD = 1 << 18  # bytes that are looked at to tell what a file is
SEPARATORS = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar"}


def kind_of(file: PlainFile) -> Kind:
    """Tell what a file is by its first bytes; names can lie."""
    head = head_of(file)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY")):
        return "numpy"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{file.name!r} is UTF-16: save it as UTF-8")
    text = head.decode("latin-1").removeprefix("ï»¿").lstrip()
    if re.match(r'\[[A-Za-z_]+\s+"', text) or (text.startswith("%") and '\n[Event "' in text):
        return "pgn"
    if re.search(r"^(Started|Finished) game \d+ \(", text, re.MULTILINE):
        return "cutechess"
    if text.startswith("["):
        return "json list"
    if text.startswith("{"):
        return "json lines" if first_line_is_an_object(text) else "json"
    if b"\0" in head:
        raise InputError(f"{file.name!r} is not a table: it is neither text nor parquet nor npz")
    return "delimited"


def head_of(file: PlainFile) -> bytes:
    """Return the first bytes of a file."""
    try:
        with file.path.open("rb") as stream:
            head = stream.read(HEAD)
    except OSError as error:
        raise InputError(f"cannot read {file.name!r}: {error.strerror}") from None
    if not head.strip():
        raise InputError(f"{file.name!r} is empty")
    return head


def first_line_is_an_object(text: str) -> bool:
    """Say whether the first line is an object of its own: then the file is json lines."""
    first, line_break, _ = text.partition("\n")
    if not line_break and len(text) >= HEAD:
        return not re.match(r"\{\s*\n", text)
    try:
        return isinstance(json.loads(first), dict) and not only_document(first, bool(line_break))
    except (json.JSONDecodeError, RecursionError):
        return False


def only_document(first: str, goes_on: bool) -> bool:
    """Say whether a single line is a whole document with nested content, not a row of a table."""
    return not goes_on and any(isinstance(value, dict) for value in json.loads(first).values())


def one_line(file: PlainFile) -> bool:
    """Say whether nothing stands behind the first line, as far as the first bytes show."""
    _, _, rest = head_of(file).lstrip().partition(b"\n")
    return not rest.strip()


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


def recognised_header(file: PlainFile, separator: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the separator and the column names of a csv file."""
    text = decoded_head(file)
    found = {mark: first_records(text, mark) for mark in ([separator] if separator else SEPARATORS)}
    if separator is None:
        if file.name.removesuffix(".gz").removesuffix(".zst").endswith((".tsv", ".tab")):
            separator = "\t"
        else:
            # the separator that cuts the first records most often, and into equal numbers of cells
            separator = max(SEPARATORS, key=lambda mark: (even(found[mark]), len(found[mark][0])))
    records = found[separator]
    header = tuple(cell.strip() for cell in records[0])
    if len(header) < 2:
        better = [mark for mark in SEPARATORS if mark != separator and len(first_records(text, mark)[0]) > 1]
        hint = f"; it looks separated by {SEPARATORS[better[0]]}: pass separator={better[0]!r}" if better else ""
        raise InputError(
            f"{file.name!r} has a single column {header[0][:60]!r} when cut at {SEPARATORS.get(separator, separator)}"
            f"{hint or ': cells must be separated by a comma, a tab, a semicolon or a bar, or pass separator='}"
        )
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(f"{file.name!r} has the column {listed(twice)} more than once: column names must be unique")
    if len(records) < 2:
        raise InputError(f"{file.name!r} has a header but no rows")
    return separator, header


def decoded_head(file: PlainFile) -> str:
    """Return the first part of a text file; it must be UTF-8."""
    head = head_of(file)
    cut = head if len(head) < HEAD else head[: head.rfind(b"\n") + 1] or head
    try:
        return cut.decode("utf-8-sig", errors="strict" if cut != head or len(head) < HEAD else "ignore")
    except UnicodeDecodeError as error:
        raise InputError(not_utf8(file, head[: error.start].count(b"\n") + 1)) from None


def not_utf8(file: PlainFile, line: int) -> str:
    """Say where a file stops being UTF-8."""
    return f"{file.name!r} is not UTF-8 (line {line:,}): save it as UTF-8, for example with iconv"


def first_records(text: str, separator: str) -> list[list[str]]:
    """Return up to twenty records of csv text."""
    records: list[list[str]] = []
    with contextlib.suppress(csv.Error), long_fields():
        for record in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            if record:
                records.append(record)
            if len(records) == 20:
                break
    return records or [[text[:80]]]


def even(records: list[list[str]]) -> bool:
    """Say whether the first records have as many cells as the header, more than one."""
    complete = records[:-1] if len(records) > 2 else records  # the last one may be cut by the sample's end
    return len(records[0]) > 1 and all(len(record) == len(records[0]) for record in complete)


@contextlib.contextmanager
def long_fields() -> Iterator[None]:
    """Allow csv fields as long as a record may be: whole conversations stand in one."""
    before = csv.field_size_limit(LONGEST_RECORD)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def check_records(file: PlainFile, separator: str, width: int) -> None:
    """Read a csv file record by record and raise an error at the first that is broken."""
    with long_fields(), file.path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, delimiter=separator, strict=True)
        row = -1
        try:
            for record in reader:
                if not record:
                    continue
                row += 1
                if len(record) != width:
                    raise InputError(
                        f"{file.name!r}: data row {row:,} (line {reader.line_num:,}) has {len(record)} cells, "
                        f"the header has {width}"
                    )
        except UnicodeDecodeError:
            raise InputError(not_utf8(file, reader.line_num + 1)) from None
        except csv.Error as error:
            raise InputError(f"{file.name!r}: line {reader.line_num:,} is not valid csv: {error}") from None


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
