"""What kind of file it is, told by its first bytes: names can be wrong."""

import json
import re
from typing import Literal
from urllib.parse import quote

from nashboard.data.sources.paths import PlainFile
from nashboard.errors import InputError

Kind = Literal["delimited", "parquet", "json lines", "json list", "json", "pgn", "cutechess", "zip"]

HEAD = 1 << 18  # bytes that are looked at to tell what a file is
SQLITE, DUCKDB = b"SQLite format 3\0", b"DUCK"  # the second after a checksum of 8 bytes
YAML_NAMES = (".yml", ".yaml")
YAML = re.compile(r"(---\s*\n|#[^\n]*\n|\s*\n)*- +[\w .\-]+:( |\n)")  # a list of mappings


def find_kind(file: PlainFile) -> Kind:
    """Return what a file is by its first bytes."""
    head = read_head(file)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY")):
        return "zip"
    if database := find_database(head):
        raise describe_database(file, database)
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
    if file.name.casefold().endswith(YAML_NAMES) or YAML.match(text):
        raise InputError(
            f"{file.name!r} is YAML, which is not read: convert it to json, for example with "
            f'python -c "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout, default=str)"'
        )
    return "delimited"


def find_database(head: bytes) -> Literal["SQLite", "DuckDB"] | None:
    """Return by its first bytes which database a file is."""
    if head.startswith(SQLITE):
        return "SQLite"
    return "DuckDB" if head[8:12] == DUCKDB and b"\0" in head[:16] else None  # text has no NUL


def describe_database(file: PlainFile, database: Literal["SQLite", "DuckDB"]) -> InputError:
    """Return the error that says how a database is read: by its address."""
    if str(file.path) != file.name:  # what was compressed, or came through a pipe, has no address
        return InputError(f"{file.name!r} is a {database} database: save it as a plain file, and give its address")
    address = f"{database.lower()}:///{quote(file.name)}"
    return InputError(
        f"{file.name!r} is a {database} database: give its address {address}",
        hint="with {table} or {query}",
        option={"table": None, "query": None},
    )


def read_head(file: PlainFile) -> bytes:
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
    """Return whether the first line is an object of its own: then the file is json lines."""
    first, line_break, _ = text.partition("\n")
    if not line_break and len(text) >= HEAD:
        return not re.match(r"\{\s*\n", text)
    try:
        return isinstance(json.loads(first), dict) and not is_whole_document(first, bool(line_break))
    except (ValueError, RecursionError):  # also a number of too many digits
        return False


def is_whole_document(first: str, continues: bool) -> bool:
    """Return whether a single line is a whole document with nested content, not a row of a table."""
    return not continues and any(isinstance(value, dict) for value in json.loads(first).values())


def is_one_line(file: PlainFile) -> bool:
    """Return whether nothing follows the first line, as far as the first bytes show."""
    _, _, rest = read_head(file).lstrip().partition(b"\n")
    return not rest.strip()
