"""Json one record at a time, so that a list of a billion objects needs no more memory than one."""

import codecs
import contextlib
import json
import shutil
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from nashboard._files import Workspace
from nashboard._text import plural
from nashboard.data.origin import LeftOut
from nashboard.data.sources.paths import CHUNK, LONGEST_RECORD, PlainFile, check_lines
from nashboard.data.table.columns import (
    CLUSTER,
    ITEMS,
    LOWER,
    NEUTRAL,
    OUTCOME,
    RUNS,
    STDERR,
    TIME,
    WEIGHT,
    find_agent_pairs,
    find_usual,
)
from nashboard.data.table.delimited import describe_not_utf8
from nashboard.errors import InputError

SPACE = " \t\r\n"
LARGEST_DOCUMENT = 256 << 20  # bytes; a single document is held in memory whole
SMALL = 1 << 25  # bytes of json lines that are all read to learn the columns
FIRST_LINES = 1000
MOST_CELLS = 1 << 24  # of a table that is mostly holes, in the lines that are read to learn the columns
ROLES = tuple(sorted({*OUTCOME, *WEIGHT, *TIME, *CLUSTER, *NEUTRAL, *STDERR, *ITEMS, *RUNS, *LOWER}))
MATCH_ROLES = tuple(sorted({*WEIGHT, *CLUSTER, *NEUTRAL}))  # of a log of matches whose outcome is known
FEW_WORDS = 4  # that are looked for in the text of a file; for more of them it is parsed
TRIPLE = ("first", "second", "result")  # the columns of a list of triples


def parse_json(text: str, name: str, *, strict: bool = False) -> Any:
    """Parse one json document, or raise an error that says where it is broken; ``strict`` refuses NaN."""

    def refuse(word: str) -> None:
        raise InputError(f"{name!r} contains {word}, which is not valid json: write null where a value is missing")

    try:
        return json.loads(text, parse_constant=refuse if strict else None)
    except json.JSONDecodeError as error:
        raise InputError(f"{name!r} is not valid json: {error}") from None
    except RecursionError:
        raise InputError(f"{name!r} nests json far deeper than any data set does") from None
    except InputError:
        raise
    except ValueError:  # Python's own limit, since parsing takes longer than the square of the digits
        raise InputError(f"{name!r} contains a whole number of more digits than any data set needs") from None


def read_document(file: PlainFile) -> Any:
    """Return a whole json file of moderate size."""
    if file.path.stat().st_size > LARGEST_DOCUMENT:
        raise InputError(f"{file.name!r} is a single json document of more than {LARGEST_DOCUMENT >> 20} MB")
    try:
        text = file.path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file.name!r} is not UTF-8 (byte {error.start:,}): save it as UTF-8") from None
    return parse_json(text, file.name)


def iterate_items(file: PlainFile) -> Iterator[str]:
    """Yield the text of each item of a top-level json list, in order."""
    scan = json.JSONDecoder().raw_decode
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    with file.path.open("rb") as stream:
        text, at, ended = "", 0, False
        expecting = "["
        while True:
            at = skip_space(text, at)
            if at == len(text) and not ended:
                text, at, ended = read_more(stream, decoder, "", file)
                continue
            if expecting == "[":
                if not text.startswith("[", at):
                    raise InputError(f"{file.name!r} is not a json list: it starts with {text[at : at + 20]!r}")
                at, expecting = at + 1, "item or ]"
                continue
            if at < len(text) and text[at] == "]" and expecting != "item":
                if text[at + 1 :].strip(SPACE) or stream.read(CHUNK).strip():
                    raise InputError(f"{file.name!r} has more text after the end of its json list")
                return
            if at < len(text) and text[at] == "," and expecting == ", or ]":
                at, expecting = at + 1, "item"
                continue
            if expecting == ", or ]" and at < len(text):
                raise InputError(f"{file.name!r} is not valid json: {expecting} expected, {text[at : at + 20]!r} found")
            try:
                _, end = scan(text, at)
            except RecursionError:
                raise InputError(f"{file.name!r} nests json far deeper than any data set does") from None
            except json.JSONDecodeError as error:
                if ended:
                    cut = "it is cut short" if at >= len(text) or error.pos >= len(text) - 1 else str(error)
                    raise InputError(f"{file.name!r} is not valid json: {cut}") from None
                if len(text) - at > LONGEST_RECORD:
                    raise InputError(
                        f"{file.name!r} contains a json object of more than {LONGEST_RECORD >> 20} MB"
                    ) from None
                text, at, ended = read_more(stream, decoder, text[at:], file)
                continue
            except ValueError:
                raise InputError(
                    f"{file.name!r} contains a whole number of more digits than any data set needs"
                ) from None
            yield text[at:end]
            at, expecting = end, ", or ]"


def read_more(stream: Any, decoder: Any, text: str, file: PlainFile) -> tuple[str, int, bool]:
    """Return the text with at least as much again behind it, so that retries cost no more than twice."""
    piece = stream.read(max(CHUNK, len(text)))
    try:
        return text + decoder.decode(piece, final=not piece), 0, not piece
    except UnicodeDecodeError:
        raise InputError(f"{file.name!r} is not UTF-8: save it as UTF-8") from None


def skip_space(text: str, at: int) -> int:
    """Return the position of the next character that is not white space."""
    while at < len(text) and text[at] in SPACE:
        at += 1
    return at


def list_to_lines(file: PlainFile, target: Path, left_out: list[LeftOut] | None) -> PlainFile:
    """Write a json list as json lines, one object per line; a bad item is an error, or an empty object and left out.

    Items may be objects, or lists: triples of two agents and a result, or rows below a first row of column names.
    """
    items = iterate_items(file)
    head = list(islice(items, 2))
    header, bad = find_header(head, file), list[int]()
    first = 1 + (header not in (None, TRIPLE))
    with target.open("w", encoding="utf-8") as lines:
        for k, item in enumerate(chain(head[first - 1 :], items), start=first):
            try:
                found = as_object(item, header, f"{file.name!r}: item {k:,} of the list")
            except InputError:
                if left_out is None:
                    raise
                bad.append(k)
                found = "{}"
            # a line break between tokens is white space; inside a string json forbids it
            lines.write(replace_nan(found).replace("\n", " ").replace("\r", " ") + "\n")
    if bad and left_out is not None:
        left_out.append(LeftOut("bad rows", len(bad), describe_broken(bad, "item")))
    return PlainFile(path=target, name=file.name)


def as_object(item: str, header: Sequence[str] | None, where: str) -> str:
    """Return an item of a json list as an object, or raise an error that says why it is none."""
    if item.startswith("{"):
        return item
    cells = json.loads(item) if item.startswith("[") and header else None
    if header and cells is not None and len(cells) == len(header):
        return json.dumps(dict(zip(header, cells, strict=True)))
    what = f"not {len(header)} cells ({', '.join(header[:4])})" if header else "not an object"
    raise InputError(f"{where} is {item[:60]}, {what}", "leave such items out with {option}", {"bad_rows": "skip"})


def find_header(head: Sequence[str], file: PlainFile) -> Sequence[str] | None:
    """Return the column names of a json list of lists: those of triples, or its first row; None for objects."""
    if not head or not head[0].startswith("["):
        return None
    first, *others = (json.loads(item) for item in head if item.startswith("["))
    named = is_header(first)
    if is_triple(first) or (any(map(is_triple, others)) and not (named and find_agent_pairs(first))):
        return TRIPLE
    if not named:
        raise InputError(
            f"{file.name!r}: item 1 of the list is {str(first)[:60]}: write triples such as "
            f'["x", "y", "1-0"], or a row of column names first'
        )
    names: list[str] = first
    return names


def is_triple(cells: Sequence[Any]) -> bool:
    """Return whether a row is two names and a result, such as ``["x", "y", "1-0"]``, not a header of columns."""
    if len(cells) != 3 or not all(isinstance(name, str) for name in cells[:2]):
        return False
    from nashboard.data.counting.outcomes import KNOWN, fold_label

    result = cells[2]
    return isinstance(result, int | float) or result is None or fold_label(str(result)) in KNOWN or result in cells[:2]


def is_header(cells: Sequence[Any]) -> bool:
    """Return whether the first row of a list of lists may be a header of columns."""
    return all(isinstance(name, str) and name for name in cells) and len(set(cells)) == len(cells) > 1


def replace_nan(item: str) -> str:
    """Return the text of an object with null for NaN: Python writes NaN for a missing value, json has no such word."""
    if "NaN" not in item:
        return item
    return json.dumps(json.loads(item, parse_constant=lambda word: None if word == "NaN" else float(word)))


def without_mark(file: PlainFile, workspace: Workspace, copy_name: str) -> PlainFile:
    """Return a file without the byte order mark that some programs put first."""
    with file.path.open("rb") as stream:
        if stream.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            return file
        target = workspace.path(copy_name)
        with target.open("wb") as copy:
            shutil.copyfileobj(stream, copy)
    return PlainFile(path=target, name=file.name)


def check_objects(file: PlainFile) -> None:
    """Read json lines one by one and raise an error at the first that is broken."""
    with file.path.open("rb") as stream:
        for k, line in iterate_lines(stream, file):
            parse_object(line, k, file, strict=True)


def without_broken_lines(file: PlainFile, workspace: Workspace, number: int, left_out: list[LeftOut]) -> PlainFile:
    """Return json lines with an empty object for each line that is none; the file itself where all are objects."""
    try:
        check_objects(file)
    except InputError:
        pass
    else:
        return file
    target = workspace.path(f"sound-{number}")
    broken = []
    with file.path.open("rb") as stream, target.open("wb") as copy:
        for k, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                parse_object(line.decode("utf-8-sig"), k, file, strict=True)
            except (InputError, UnicodeDecodeError):
                broken.append(k)
                copy.write(b"{}\n")
            else:
                copy.write(line)
    left_out.append(LeftOut("bad rows", len(broken), describe_broken(broken, "line")))
    return PlainFile(path=target, name=file.name)


def describe_broken(numbers: Sequence[int], what: str) -> str:
    """Return which lines or items are no objects."""
    shown = ", ".join(f"{k:,}" for k in numbers[:5]) + (f" and {len(numbers) - 5:,} more" if len(numbers) > 5 else "")
    return f"not a json object ({plural(len(numbers), what + 's')} {shown})"


def iterate_lines(stream: BinaryIO, file: PlainFile) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, as text, with their numbers."""
    for k, line in enumerate(stream, start=1):
        if line.strip():
            try:
                yield k, line.decode("utf-8-sig")
            except UnicodeDecodeError:
                raise InputError(describe_not_utf8(file, k)) from None


def parse_object(line: str, k: int, file: PlainFile, *, strict: bool = False) -> dict[str, Any]:
    """Return the object that a line holds, or raise an error that names the line."""
    try:
        record = parse_json(line, f"{file.name}, line {k:,}", strict=strict)
        if not isinstance(record, dict):
            raise InputError(f"{file.name!r}: line {k:,} is not a json object")
    except InputError as error:
        raise InputError(error.message, "leave such lines out with {option}", {"bad_rows": "skip"}) from None
    return record


def find_columns(files: Sequence[PlainFile]) -> dict[str, bool]:
    """Return the columns of json lines, and whether each holds lists or objects.

    All lines of a small file are read for that, the first of a large one; further down a large file only names are
    looked for that would change what is read, such as a weight.
    """
    columns: dict[str, bool] = {}
    lines = filled = 0
    for file in files:
        check_lines(file)
        for k, line in first_lines(file):
            record = parse_object(line, k, file)
            lines, filled = lines + 1, filled + len(record)
            for name, value in record.items():
                columns[name] = columns.get(name, False) or isinstance(value, dict | list)
    if not columns:
        raise InputError(f"{files[0].name!r} has no records")
    if lines * len(columns) > MOST_CELLS and filled * 10 < lines * len(columns):
        raise InputError(
            f"{files[0].name!r} is not a table: its first {lines:,} lines have {len(columns):,} different names, and "
            f"hardly any two lines have the same"
        )
    names = list(columns)
    roles = MATCH_ROLES if find_agent_pairs(names) and find_usual(OUTCOME, names) else ROLES
    for file in files:
        if file.path.stat().st_size > SMALL:
            columns |= dict.fromkeys(late_columns(file, [name for name in roles if name not in columns]), False)
    return columns


def infer_objects(files: Sequence[PlainFile]) -> dict[str, Any]:
    """Return the types of the columns of json lines with lists or objects; none where cells are of several kinds."""
    small = sum(file.path.stat().st_size for file in files) <= SMALL
    with contextlib.suppress(pl.exceptions.PolarsError):
        lines = pl.scan_ndjson([file.path for file in files], infer_schema_length=None if small else FIRST_LINES)
        return {name: kind for name, kind in lines.collect_schema().items() if kind.is_nested()}
    return {}


def with_text(kind: Any) -> Any:
    """Return a type whose plain cells are text: types are known of the first lines only."""
    if isinstance(kind, pl.Struct):
        return pl.Struct({field.name: with_text(field.dtype) for field in kind.fields})
    return pl.List(with_text(kind.inner)) if isinstance(kind, pl.List) else pl.String


def first_lines(file: PlainFile) -> Iterator[tuple[int, str]]:
    """Yield the lines that tell the columns: all of a small file, the first of a large one."""
    small = file.path.stat().st_size <= SMALL
    with file.path.open("rb") as stream:
        for k, text in iterate_lines(stream, file):
            yield k, text
            if not small and k > FIRST_LINES:
                return


def late_columns(file: PlainFile, names: Sequence[str]) -> list[str]:
    """Return which of these columns have a value anywhere in a large file of json lines."""
    words = [name for name in names if not any(name != other and name.startswith(other) for other in names)]
    if len(words) <= FEW_WORDS and not has_words(file, [f'"{word}'.encode() for word in words]):
        return []
    seen = pl.scan_ndjson(file.path, schema=dict.fromkeys(sorted(names), pl.String))
    there = seen.select(pl.all().is_not_null().any()).collect(engine="streaming")
    return [name for name in there.columns if there[name].item()]


def has_words(file: PlainFile, words: Sequence[bytes]) -> bool:
    """Return whether one of these words is anywhere in a file."""
    longest = max(map(len, words), default=1)
    rest = b""
    with file.path.open("rb") as stream:
        while words and (piece := stream.read(CHUNK)):
            text = rest + piece
            if any(word in text for word in words):
                return True
            rest = text[-longest:]
    return False


def scan_objects(paths: Sequence[Path], schema: dict[str, Any]) -> pl.LazyFrame:
    """Return a scan of json lines whose plain cells are all text."""
    return pl.scan_ndjson(list(paths), schema=schema)
