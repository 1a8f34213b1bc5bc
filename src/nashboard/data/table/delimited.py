"""Tables of text: which character separates the cells, what the columns are called, where a record is broken."""

import codecs
import contextlib
import csv
import io
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from nashboard._files import Workspace
from nashboard._text import listed, number_of, shortened
from nashboard.data.origin import LeftOut
from nashboard.data.sources.paths import CHUNK, LONGEST_RECORD, PlainFile, check_lines
from nashboard.data.table.columns import OUTCOME, find_agent_pairs, find_usual
from nashboard.data.table.files import HEAD, Part, read_head
from nashboard.errors import InputError

RULE = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)+\|?")  # below the header of a Markdown table
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
FIELD_LIMIT = threading.RLock()
UTF8 = "utf-8-sig"  # with or without a byte order mark
SPACE = " "  # any run of spaces and tabs
SEPARATORS = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar"}
NAMES = {"comma": ",", "tab": "\t", "\\t": "\t", "semicolon": ";", "bar": "|", "pipe": "|", "space": SPACE}
NAMES |= {"spaces": SPACE, "whitespace": SPACE, "white space": SPACE}
EXCEL = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # the first line of a table for Excel
MARKS = re.compile(r"[,\t;|]")
NUMBER = re.compile(r"[+-]?\d*\.?\d+%?")
FIGURE = re.compile(r"[+-]?\d*\.\d+(e[+-]?\d+)?")  # no name of a column, as 2024 may be
NOT_WINDOWS = frozenset(b"\x81\x8d\x8f\x90\x9d")  # bytes that mean nothing in Windows-1252
ALLOWED = "a single character, or one of comma, tab, semicolon, bar and space (any white space)"


def parse_separator(separator: str | None) -> str | None:
    """Return the character that a user's ``separator=`` means, or raise an error that says what is allowed."""
    if separator is None:
        return None
    found = NAMES.get(separator.casefold(), separator)
    if len(found) != 1 or found in '"\r\n' or not found.isascii():
        raise InputError(f"separator={separator!r} cannot separate cells: give {ALLOWED}")
    return found


def scan_delimited(
    files: Sequence[PlainFile], separator: str | None, workspace: Workspace, *, skip_broken: bool
) -> tuple[list[Part], str, tuple[PlainFile, ...], tuple[LeftOut, ...], tuple[str, ...]]:
    """Return csv files by their headers, the separator, the files that are scanned, what was left out, and notes.

    All cells are text. ``skip_broken`` leaves out records with more or fewer cells than the header.
    """
    plain = [as_plain_text(file, workspace, k) for k, file in enumerate(files)]
    files, separator = [file for file, _, _ in plain], plain[0][1] if separator is None else separator
    if separator is None and is_markdown(files[0]):
        files = [copy_as_tabs(file, workspace, k, split_markdown) for k, file in enumerate(files)]
        separator = "tab"
    separator = read_header(files[0], parse_separator(separator))[0]
    left_out: list[LeftOut] = []
    if separator == SPACE:
        files = [
            copy_as_tabs(file, workspace, k, partial(split_at_spaces, is_wide=has_wide_gaps(decode_head(file))))
            for k, file in enumerate(files)
        ]
        separator = "\t"
    if skip_broken:
        files = [without_broken_records(file, separator, workspace, k, left_out) for k, file in enumerate(files)]
    by_header: dict[tuple[str, ...], list[PlainFile]] = {}
    for file in files:
        by_header.setdefault(read_header(file, separator)[1], []).append(file)
    notes = dict.fromkeys(note for _, _, said in plain for note in said)
    padded = any(is_padded(first_records(decode_head(file), separator)) for file in files)
    notes |= {"white space around cells is left out": None} if padded else {}
    parts = [
        Part(
            file=alike[0].name,
            frame=pl.scan_csv(
                [file.path for file in alike], separator=separator, infer_schema=False, new_columns=list(header)
            ).with_columns([pl.all().str.strip_chars().replace("", None)] if padded else []),
            kinds=dict.fromkeys(header, pl.String),
        )
        for header, alike in by_header.items()
    ]
    return parts, separator, tuple(files), tuple(left_out), tuple(notes)


def as_plain_text(file: PlainFile, workspace: Workspace, number: int) -> tuple[PlainFile, str | None, list[str]]:
    """Return a text table as UTF-8 with nothing above its header, the separator that its first line names, and notes.

    Lines that are not used become blank in the copy, so that lines keep their numbers.
    """
    check_lines(file)
    encoding = find_encoding(file)
    lines = [line.strip("\r\n") for line in io.StringIO(decode_head(file, encoding), newline="")] or [""]
    excel = EXCEL.fullmatch(lines[0])
    top = next((k for k, line in enumerate(lines) if line and line[0] != "#" and (k or not excel)), 0)
    comments = [k for k in range(top) if lines[k].startswith("#")] if len(split_cells(lines[top])) > 1 else []
    header = comments.pop() if comments and is_header(lines[comments[-1]], lines[top]) else None
    notes = []
    if excel:
        notes.append(f"the first line, {excel[0]!r}, names the separator")
    if comments:
        said = number_of(len(comments), "comment lines")
        notes.append(f"{said} above the header not used, from {shortened(lines[comments[0]])!r} on")
    if encoding != UTF8:
        notes.append("the file is not UTF-8 and is read as Windows-1252: save it as UTF-8 if names look wrong")
    spaced = header is not None and not MARKS.search(lines[header])
    if not notes and not spaced:
        return file, None, notes
    unused = {*comments, *([0] if excel else [])}

    def rewrite(k: int, line: str) -> str:
        if k in unused:
            return line[len(line.rstrip("\r\n")) :]
        return line.lstrip("#") if spaced and k == header else line

    return copy_lines(file, workspace.path(f"text-{number}"), rewrite, encoding), excel[1] if excel else None, notes


def split_cells(line: str) -> list[str]:
    """Return the cells of a line that is cut at any separator, or else at white space."""
    return MARKS.split(line) if MARKS.search(line) else line.split()


def is_header(comment: str, row: str) -> bool:
    """Return whether a line that begins with ``#`` is the header of the row below it.

    Its first column may be called # or # model; and numpy writes ``# model chess go`` above rows with numbers.
    """
    if MARKS.search(row):
        return len(MARKS.split(comment)) == len(MARKS.split(row))
    cells = row.split()
    return len(comment.lstrip("#").split()) == len(cells) and any(NUMBER.fullmatch(cell) for cell in cells)


def find_encoding(file: PlainFile) -> str:
    """Return UTF-8, or Windows-1252 for a text that has its letters and none of UTF-8."""
    try:
        decode_head(file)
    except InputError:
        head = read_head(file)
        if NOT_WINDOWS & set(head) or not head.decode(errors="ignore").isascii():
            raise
        return "cp1252"
    return UTF8


COMMA_DECIMAL = re.compile(r"\s*[+-]?\d+,\d+\s*%?\s*")
THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?\s*%?\s*")
POINT_DECIMAL = re.compile(r"\s*[+-]?\d*\.\d+\s*%?\s*")


def rewrite_commas(frame: pl.LazyFrame, records: list[list[str]]) -> tuple[pl.LazyFrame, tuple[str, ...]]:
    """Return the rows with ``71,5`` as 71.5, or with ``12,345`` as 12345, and a note.

    The first records have to show which it is: by a comma that cannot be the other one, or by a point before decimals.
    """
    cells = [(name, cell) for record in records[1:] for name, cell in zip(records[0], record, strict=False)]
    commas = [(name, cell) for name, cell in cells if COMMA_DECIMAL.fullmatch(cell) or THOUSANDS.fullmatch(cell)]
    decimals = [cell for _, cell in commas if not THOUSANDS.fullmatch(cell)]
    points = any(
        POINT_DECIMAL.fullmatch(cell) or (THOUSANDS.fullmatch(cell) and cell.count(",") > 1) for _, cell in cells
    )
    if not commas or bool(decimals) == points:
        return frame, ()
    columns = pl.col(sorted({name.strip() for name, _ in commas} & set(frame.collect_schema().names())))
    if decimals:
        note = f"numbers have a decimal comma, such as {decimals[0]!r}"
        return frame.with_columns(columns.str.replace(r"^(\s*[+-]?\d+),(\d+\s*%?\s*)$", "${1}.${2}")), (note,)
    whole = pl.when(columns.str.contains(f"^{THOUSANDS.pattern}$")).then(columns.str.replace_all(",", ""))
    return frame.with_columns(whole.otherwise(columns)), (f"commas separate thousands, such as in {commas[0][1]!r}",)


def read_header(file: PlainFile, separator: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the separator and the column names of a text table."""
    text = decode_head(file)
    if "\r" in text and "\n" not in text:
        raise InputError(f"{file.name!r} ends its lines with a bare carriage return: save it with ordinary line ends")
    separator = separator or find_separator(file, text)
    records = first_records(text, separator)
    header = tuple(cell.strip() for cell in records[0])
    if len(set(header)) < len(header) == len(set(records[0])):
        header = tuple(records[0])  # white space that tells two names apart belongs to them
    if len(header) > 1 and all(FIGURE.fullmatch(name) for name in header):
        raise InputError(
            f"{file.name!r} has numbers in its first line and no names of columns: add a first line of names; a matrix "
            f"without names is read in Python, with Payoffs.from_array(numpy.loadtxt(...))"
        )
    if len(header) < 2:
        raise InputError(
            f"{file.name!r} has a single column {header[0][:60]!r}: cells must be separated by a comma, a tab, a "
            f"semicolon, a bar or white space",
            hint="another separator can be given with {option}",
            option="separator",
        )
    if header.count("") > 1:  # empty columns of a spreadsheet, which pandas calls so, too
        header = tuple(name or f"Unnamed: {k}" for k, name in enumerate(header))
    twice = sorted(name for name, number in Counter(header).items() if number > 1)
    sides = find_agent_pairs(list(dict.fromkeys(header))) if twice else []
    if sides and not set(twice) & {
        *sides[0],
        *find_usual(OUTCOME, header),
    }:  # points of both sides, as pandas calls them
        earlier = [header[:k].count(name) for k, name in enumerate(header)]
        header = tuple(f"{name}.{k}" if k else name for name, k in zip(header, earlier, strict=True))
    elif twice:
        raise InputError(f"{file.name!r} has the column {listed(twice)} more than once: column names must be unique")
    if len(records) < 2:
        raise InputError(f"{file.name!r} has a header but no rows")
    return separator, header


def is_padded(records: list[list[str]]) -> bool:
    """Return whether cells stand between separators and spaces, as in ``x, y, tie``: in all rows of a column."""
    columns = zip(*records[1:], strict=False)
    return len(records) > 2 and any(all(cell != cell.strip() for cell in column) for column in columns)


def find_separator(file: PlainFile, text: str) -> str:
    """Return the separator that cuts the first records most often, and into equal numbers of cells."""
    if file.name.removesuffix(".gz").removesuffix(".zst").endswith((".tsv", ".tab")):
        tabs = first_records(text, "\t")
        if len(tabs[0]) > 1:
            return "\t"
    found = {mark: first_records(text, mark) for mark in SEPARATORS}
    best = max(SEPARATORS, key=lambda mark: (is_even(found[mark]), len(found[mark][0])))
    spaced = first_records(text, SPACE)
    return SPACE if not is_even(found[best]) and is_even(spaced) and len(spaced) > 1 else best


def decode_head(file: PlainFile, encoding: str = UTF8) -> str:
    """Return the first part of a text file."""
    head = read_head(file)
    cut = head if len(head) < HEAD else head[: head.rfind(b"\n") + 1] or head
    try:
        return cut.decode(encoding, errors="strict" if cut != head or len(head) < HEAD else "ignore")
    except UnicodeDecodeError as error:
        raise InputError(describe_not_utf8(file, head[: error.start].count(b"\n") + 1)) from None


def describe_not_utf8(file: PlainFile, line: int) -> str:
    """Return the message for a file that stops being UTF-8 at a line."""
    return f"{file.name!r} is not UTF-8 (line {line:,}): save it as UTF-8, for example with iconv"


def first_records(text: str, separator: str) -> list[list[str]]:
    """Return up to twenty records of text."""
    if separator == SPACE:
        is_wide = has_wide_gaps(text)
        lines = [split_at_spaces(line, is_wide=is_wide) for line in text.splitlines()[:40]]
        return [cells for cells in lines if cells][:20] or [[text[:80]]]
    records: list[list[str]] = []
    with contextlib.suppress(csv.Error), allow_long_fields():
        for record in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            if record:
                records.append(record)
            if len(records) == 20:
                break
    return records or [[text[:80]]]


def has_wide_gaps(text: str) -> bool:
    """Return whether cells are apart by two spaces or more, as pandas prints them; names may have single ones.

    A number before a single space is a cell of its own, such as a rank, where every line has as many of them.
    """
    lines = text.splitlines()[:40]
    narrow, wide = (
        [cells for line in lines if (cells := split_at_spaces(line, is_wide=is_wide))][:20] for is_wide in (False, True)
    )
    if not wide or not is_even(wide):
        return False
    numbered = any(re.match(r"[-+.\d]+ ", cell) for cells in wide[1:] for cell in cells)
    return not (numbered and is_even(narrow))


def split_at_spaces(line: str, *, is_wide: bool) -> list[str]:
    """Return the cells of a line that is cut at any white space, or at two spaces and more."""
    return re.split(r" *\t\s*|\s{2,}", line.strip()) if is_wide and line.strip() else line.split()


def is_even(records: list[list[str]]) -> bool:
    """Return whether the first records have as many cells as the header, more than one."""
    complete = records[:-1] if len(records) > 2 else records  # the last one may be cut by the sample's end
    return len(records[0]) > 1 and all(len(record) == len(records[0]) for record in complete)


@contextlib.contextmanager
def allow_long_fields() -> Iterator[None]:
    """Allow csv fields as long as a record may be: whole conversations stand in one."""
    with FIELD_LIMIT:  # the limit belongs to the whole process: one at a time may change it and put it back
        before = csv.field_size_limit(LONGEST_RECORD)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def copy_as_tabs(
    file: PlainFile, workspace: Workspace, number: int, split: Callable[[str], Sequence[str]]
) -> PlainFile:
    """Return a copy of a table whose lines are split into cells by a function, with one tab between cells."""

    def rewrite(_: int, line: str) -> str:
        cells = split(line)  # blank lines stay, so that rows keep their numbers
        return "\t".join(cell.replace('"', '""') for cell in cells) + "\n" if cells or not line.strip() else ""

    return copy_lines(file, workspace.path(f"tabs-{number}"), rewrite)


def copy_lines(file: PlainFile, target: Path, rewrite: Callable[[int, str], str], encoding: str = UTF8) -> PlainFile:
    """Return a copy of a text file as UTF-8, each line rewritten by a function of its number and text."""
    with file.path.open(encoding=encoding, newline="") as lines, target.open("w", encoding="utf-8", newline="") as copy:
        k = 0
        try:
            for k, line in enumerate(lines):
                copy.write(rewrite(k, line))
        except UnicodeDecodeError:
            raise InputError(describe_not_utf8(file, k + 2)) from None
    return PlainFile(path=target, name=file.name)


def is_markdown(file: PlainFile) -> bool:
    """Return whether a text has a table of Markdown: the first line with bars has a line of dashes below it."""
    lines = decode_head(file).splitlines()
    header = next((k for k, line in enumerate(lines) if "|" in line), len(lines))
    return header + 1 < len(lines) and RULE.fullmatch(lines[header + 1].strip()) is not None


def split_markdown(line: str) -> list[str]:
    """Return the cells of a line of a Markdown table, without links and bold face; none of other lines.

    >>> split_markdown("| [Alpha](https://alpha.org) | **70.1** |"), split_markdown("|---|---:|")
    (['Alpha', '70.1'], [])
    """
    if "|" not in line or RULE.fullmatch(line.strip()):
        return []
    cells = line.strip().removeprefix("|").removesuffix("|").split("|")
    return [LINK.sub(r"\1", cell).replace("**", "").replace("`", "").strip() for cell in cells]


def repeats_header(file: PlainFile) -> bool:
    """Return whether the line of column names occurs again further down: files that were put together have it."""
    with file.path.open("rb") as stream:
        header = b""
        while not header and (line := stream.readline()):
            header = line.removeprefix(codecs.BOM_UTF8).strip(b"\r\n")
        rest = b""
        while header and (piece := stream.read(CHUNK)):
            if header in (piece := rest + piece):
                return True
            rest = piece[-len(header) :]
    return False


def number_records(reader: Iterable[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the header with 0, and then the records that are not blank lines with their numbers as data rows."""
    row = 0
    for record in reader:
        if record:
            yield row, record
        row += bool(record or row)  # blank lines before the header are no rows


def check_records(file: PlainFile, separator: str) -> None:
    """Read a text table record by record and raise an error at the first that is broken."""
    width = len(read_header(file, separator)[1])
    with allow_long_fields(), file.path.open(encoding=UTF8, newline="") as stream:
        reader = csv.reader(stream, delimiter=separator, strict=True)
        with name_broken_text(file, reader):
            for row, record in number_records(reader):
                if len(record) != width:
                    raise InputError(
                        f"{file.name!r}: data row {row:,} (line {reader.line_num:,}, {shortened(record[0])!r}) has "
                        f"{number_of(len(record), 'cells')}, the header has {width}",
                        hint="leave such rows out with {option}",
                        option={"bad_rows": "skip"},
                    )


@contextlib.contextmanager
def name_broken_text(file: PlainFile, reader: Any) -> Iterator[None]:
    """Turn what csv raises about a text into one sentence with the line."""
    try:
        yield
    except UnicodeDecodeError:
        raise InputError(describe_not_utf8(file, reader.line_num + 1)) from None
    except csv.Error as error:
        raise InputError(f"{file.name!r}: line {reader.line_num:,} is not valid csv: {error}") from None


def without_broken_records(
    file: PlainFile, separator: str, workspace: Workspace, number: int, left_out: list[LeftOut]
) -> PlainFile:
    """Return a text table whose broken records are blank lines, so that rows keep their numbers.

    The file itself is returned where no record is broken.
    """
    try:
        check_records(file, separator)
    except InputError as error:
        if "is not UTF-8" in str(error):
            raise
    else:
        return file
    width = len(read_header(file, separator)[1])
    target = workspace.path(f"sound-{number}")
    rows = []
    with (
        allow_long_fields(),
        file.path.open(encoding=UTF8, newline="") as stream,
        target.open("w", encoding="utf-8", newline="") as copy,
    ):
        writer = csv.writer(copy, delimiter=separator, lineterminator="\n")
        reader = csv.reader(stream, delimiter=separator)
        written = 0
        with name_broken_text(file, reader):
            for row, record in number_records(reader):
                copy.write("\n" * (row - written))
                written = row + 1
                if len(record) == width:
                    writer.writerow(record)
                else:
                    copy.write("\n")
                    rows.append((row, len(record), record[0]))
    named = ", ".join(f"row {row:,} ({shortened(first)!r}) has {cells}" for row, cells, first in rows[:3])
    more = f", and {len(rows) - 3:,} more" if len(rows) > 3 else ""
    left_out.append(LeftOut("bad rows", len(rows), f"other than {width} cells: {named}{more}"))
    return PlainFile(path=target, name=file.name)
