"""What kind of file it is, told by its first bytes: names can lie."""

import json
import re
from typing import Literal

from nashboard.data.sources import PlainFile
from nashboard.errors import InputError

Kind = Literal["delimited", "parquet", "json lines", "json list", "json", "pgn", "cutechess", "numpy"]

SQLITE, DUCKDB = b"SQLite format 3\0", b"DUCK"  # the second behind eight bytes of checksum
HEAD = 1 << 18  # bytes that are looked at to tell what a file is


def kind_of(file: PlainFile) -> Kind:
    """Tell what a file is by its first bytes; names can lie."""
    head = head_of(file)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY")):
        return "numpy"
    if database := "sqlite" if head.startswith(SQLITE) else "duckdb" if is_duckdb(head) else "":
        raise InputError(
            f"{file.name!r} is a {database} database: give {database}:///{address(file)} with table= or query= (on the "
            f"command line --table or --query)"
        )
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


def is_duckdb(head: bytes) -> bool:
    """Say whether a file is a DuckDB database: the mark alone may stand in the header of a table."""
    return head[8:12] == DUCKDB and b"\0" in head[12:20]


def address(file: PlainFile) -> str:
    """Return the path that the address of a database ends with; what came packed must become a file first."""
    return file.name if str(file.path) == file.name else "FILE, unpacked,"


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
    except (ValueError, RecursionError):  # also a number of too many digits
        return False


def only_document(first: str, goes_on: bool) -> bool:
    """Say whether a single line is a whole document with nested content, not a row of a table."""
    return not goes_on and any(isinstance(value, dict) for value in json.loads(first).values())


def one_line(file: PlainFile) -> bool:
    """Say whether nothing stands behind the first line, as far as the first bytes show."""
    _, _, rest = head_of(file).lstrip().partition(b"\n")
    return not rest.strip()
