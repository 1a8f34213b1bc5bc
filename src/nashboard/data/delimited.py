"""Tables of text: which character separates the cells, what the columns are called, where a record is broken."""

import contextlib
import csv
import io
import threading
from collections import Counter
from collections.abc import Iterator

from nashboard._text import listed
from nashboard.data.kinds import HEAD, head_of
from nashboard.data.sources import LONGEST_RECORD, PlainFile
from nashboard.errors import InputError

FIELD_LIMIT = threading.RLock()
SEPARATORS = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar"}
ONE_SEPARATOR = "separate cells by a comma, a tab, a semicolon or a bar, or pass {option}"


def recognised_header(file: PlainFile, separator: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the separator and the column names of a csv file."""
    text = decoded_head(file)
    if "\r" in text and "\n" not in text:
        raise InputError(f"{file.name!r} ends its lines with a bare carriage return: save it with ordinary line ends")
    found = {mark: first_records(text, mark) for mark in ([separator] if separator else SEPARATORS)}
    if separator is None:
        if file.name.removesuffix(".gz").removesuffix(".zst").endswith((".tsv", ".tab")):
            separator = "\t"
        else:
            # the separator that cuts the first records most often, and into equal numbers of cells
            separator = max(SEPARATORS, key=lambda mark: (even(found[mark]), len(found[mark][0])))
    records = found[separator]
    header = tuple(cell.strip() for cell in records[0])
    if len(set(header)) < len(header) == len(set(records[0])):
        header = tuple(records[0])  # white space that tells two names apart belongs to them
    if len(header) < 2:
        better = [mark for mark in SEPARATORS if mark != separator and len(first_records(text, mark)[0]) > 1]
        hint = f"it looks separated by {SEPARATORS[better[0]]}, pass {{option}}" if better else ONE_SEPARATOR
        raise InputError(
            f"{file.name!r} has a single column {header[0][:60]!r} when cut at {SEPARATORS.get(separator, separator)}",
            hint,
            {"separator": better[0] if better else None},
        )
    twice = sorted(name for name, number in Counter(header).items() if number > 1)
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
    with FIELD_LIMIT:  # the limit belongs to the whole process: one at a time may change it and put it back
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
