"""Tables elsewhere: in object stores, on web servers, and in databases that count them themselves.

Nothing is fetched unless a user gives such an address. Parquet is read by byte ranges, only the columns that are
needed. Text is fetched, and then read like a file of this machine. Credentials come from where each service keeps them
(environment, configuration files).

    sqlite:///games.db                  a file (four slashes for an absolute path)
    duckdb:///games.duckdb              a file
    postgresql://user@host:5432/arena   a server; all that libpq knows: parameters, ``.pgpass``

Every connection to a database is read-only, and closed when the reading is done.
"""

import contextlib
import re
import sqlite3
import urllib.error
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, unquote, urlsplit

import narwhals as nw
import polars as pl

from nashboard._files import Workspace
from nashboard._text import either, first_line, listed, nearest
from nashboard.data.sources.paths import (
    ADDRESS,
    PlainFile,
    copy_chunks,
    find_scheme,
    hide_secrets,
    iterate_chunks,
    scrub_secrets,
    unpack,
)
from nashboard.data.table.files import find_database, folder_values, scan_parquet, unite
from nashboard.data.table.table import Table, is_ours
from nashboard.errors import InputError, MissingExtraError, WriteError

PARQUET = ".parquet"
TEXTS = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson", ".pgn", ".md")  # what a store is asked for line by line
MOST_FOOTERS = 100  # files whose columns are compared one by one
# Of more files the columns of the first count, whole numbers may be fractions there, and further columns are an error.
ALIKE: dict[str, Any] = {
    "missing_columns": "insert",
    "extra_columns": "raise",
    "cast_options": pl.ScanCastOptions(integer_cast=["upcast", "allow-float"], float_cast=["upcast", "downcast"]),
}
LENIENT = ALIKE | {"extra_columns": "ignore"}
TIMEOUT = 60.0  # seconds without an answer


def local_path(address: str) -> str:
    """Return the path of a ``file://`` address."""
    parts = urlsplit(address)
    if parts.netloc not in ("", "localhost"):
        raise InputError(f"{address!r} names the machine {parts.netloc!r}: write file:/// and the whole path")
    return unquote(address.partition("://")[2].removeprefix("localhost"))


def is_parquet(address: str) -> bool:
    """Return whether an address names parquet files, which are read where they are."""
    path = address.partition("?")[0] if address.lower().startswith("http") else address
    return path.lower().endswith(PARQUET)


def fetch_files(address: str, workspace: Workspace) -> tuple[PlainFile, ...]:
    """Fetch a file from a web server, or the files of text that an address of an object store names."""
    if address.lower().startswith("http"):
        return (fetch_file(address, workspace),)
    name = hide_secrets(address)
    if not address.lower().endswith(TEXTS):
        raise InputError(
            f"{name!r} must end in {either((PARQUET, *TEXTS))}, which decides the format of a file in a store: "
            f"fetch the file first if it has another one"
        )
    targets = fetch_lines(address, workspace)
    return tuple(PlainFile(path=target, name=hide_secrets(path)) for path, target in sorted(targets.items()))


def fetch_lines(address: str, workspace: Workspace) -> dict[str, Path]:
    """Copy files of text from an object store; return where the copy of each is.

    Polars has the credentials of every service. It gives no bytes, but lines: those of a table of one column.
    """
    lines = pl.scan_csv(
        address,
        has_header=False,
        separator="\x01",
        quote_char=None,
        infer_schema=False,
        new_columns=["line"],
        include_file_paths="file",
    )
    targets: dict[str, Path] = {}
    for batch in lines.collect_batches(maintain_order=True):
        for (path,), part in batch.group_by("file", maintain_order=True):
            target = targets.setdefault(str(path), workspace.path(f"fetched-{len(targets)}"))
            with target.open("ab") as copy:
                part.select("line").write_csv(copy, include_header=False, quote_style="never")
    return targets


def fetch_file(address: str, workspace: Workspace) -> PlainFile:
    """Fetch a file from a web server into the workspace."""
    name = hide_secrets(address)
    target = workspace.path("fetched")
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:
            copy_chunks(iterate_chunks(answer), target, name)
    except urllib.error.URLError as error:  # of a server, with its code, or of the network
        reason = getattr(error.reason, "strerror", None) or error.reason
        code = f"{error.code} " if isinstance(error, urllib.error.HTTPError) else ""
        raise InputError(f"{name!r} cannot be read: {code}{reason}") from None
    return unpack(target, name, workspace, "fetched-unpacked")


def open_remote(address: str) -> Table:
    """Return a lazy table of the parquet files that an address names."""
    frame, notes, folders = scan_remote_parquet(address)
    return Table(
        name=hide_secrets(address),
        engine="parquet",
        kind="parquet",
        frame=nw.from_native(frame),
        columns=tuple(frame.collect_schema().names()),
        notes=notes,
        folders=folders,
    )


@contextlib.contextmanager
def name_remote_errors(address: str) -> Iterator[None]:
    """Turn whatever a store or server raises into one sentence, without the password or signature of its address."""
    name = hide_secrets(address)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the store's library says on the way to an error of its own
            yield
    except InputError as error:
        raise InputError(scrub_secrets(error.message, address), error.hint, error.options) from None
    except WriteError:
        raise
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, ImportError) as error:
        if is_ours(error):
            raise
        reason = first_line(error)
        message = f"{name!r} cannot be read: {reason}"
        if "invalid utf-8" in reason:
            message = f"{name!r} is not UTF-8: download it and read the local file"
        if isinstance(error, pl.exceptions.SchemaError | pl.exceptions.SchemaFieldNotFoundError):
            message = f"{name!r} has files of different columns or types ({reason}): fetch them, and read them here"
        raise InputError(scrub_secrets(message, address)) from None


def scan_remote_parquet(address: str) -> tuple[pl.LazyFrame, tuple[str, ...], frozenset[str]]:
    """Return the lazy frame over parquet files, with the rules that files of this machine have."""
    everything = pl.scan_parquet(address, hive_partitioning=False, include_file_paths="nashboard_file", **LENIENT)
    paths = sorted(everything.select(pl.col("nashboard_file").unique()).collect()["nashboard_file"].to_list())
    named = dict.fromkeys(folder_values(paths[0] if paths else ""), pl.String)
    if not 0 < len(paths) <= MOST_FOOTERS:
        frame = pl.scan_parquet(address, hive_partitioning=bool(named), hive_schema=named or None, **ALIKE)
        return frame, (), frozenset(named)
    parts, said = scan_parquet({hide_secrets(path): path for path in paths})
    frame, notes = unite(parts)
    return frame, (*said, *notes), frozenset(named)


# PostgreSQL's types that every engine knows; all others (enumerations, citext, uuid, json) are taken as their text.
PLAIN_TYPES = re.compile(
    r"(text|varchar|bool|int[248]|float[48]|date|numeric|timestamp|timestamptz)(\(\d+(,\s*-?\d+)?\))?"
)
NO_NETWORK: dict[str, Any] = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
ONE_SELECT = "the query must be one select statement: databases are only read"
READS = re.compile(r"(\s|--[^\n]*\n|/\*.*?\*/)*(select|with|values|table|\()", re.IGNORECASE | re.DOTALL)
END = re.compile(r"(\s*;\s*(--[^\n]*)?)+\s*$")  # semicolons and a comment after a query


@contextlib.contextmanager
def open_database(source: str, table: str | None, query: str | None) -> Iterator[Table]:
    """Yield a table or a query of the database at an address; whatever goes wrong is one sentence without secrets."""
    scheme = find_scheme(source) or ""
    kind = "postgresql" if scheme == "postgres" else scheme
    name = hide_secrets(source)
    if table is not None and query is not None:
        raise InputError(f"{name!r}: give table= or query=, not both")
    try:
        with contextlib.closing(OPENERS[kind](source, name)) as database, warnings.catch_warnings():
            # ibis sets an option of pandas that newer versions of pandas no longer need
            warnings.filterwarnings("ignore", message="The 'future.infer_string' option")
            only = table is None and query is None
            if query is None:
                table = choose_table(table, database.tables(), name)
            elif not (query := END.sub("", query).strip()):
                raise InputError(f"{name!r}: the query is empty")
            frame: nw.LazyFrame[Any] = nw.from_native(database.relation(table, query))
            what = "query" if query is not None else "table"
            said = f"{name}, {what}" if query is not None else f"{name}, {what} {table}"
            columns, notes = tuple(frame.collect_schema().names()), (f"read table {table!r}, the only one of {name}",)
            yield Table(name=said, engine=f"{kind} {what}", frame=frame, columns=columns, notes=notes if only else ())
    except InputError as error:
        raise InputError(scrub_secrets(error.message, source), error.hint, error.options) from None
    except (MissingExtraError, MemoryError):
        raise
    # whatever the database or its driver raises is about the user's address, file or query; Rust's panics are apart
    except (Exception, pl.exceptions.PanicException) as error:
        if query is not None and (not READS.match(query) or ";" in query):
            raise InputError(f"{name!r}: {ONE_SELECT}") from None
        raise InputError(scrub_secrets(f"{name!r} cannot be read: {first_line(error)}", source)) from None


def choose_table(table: str | None, there: list[str], name: str) -> str:
    """Return the table that was asked for, or the only one that there is."""
    if table is None:
        if len(there) == 1:
            return there[0]
        raise InputError(
            f"{name!r} contains {f'the tables {listed(sorted(there), 12)}' if there else 'no table'}",
            hint="pass {table} or {query}",
            option={"table": None, "query": None},
        )
    if table not in there and "." not in table:  # a name with a dot may stand in another schema
        held = f"there are {listed(sorted(there), 12)}" if there else "it contains no table at all"
        raise InputError(f"{name!r} has no table {table!r}{nearest(table, there)}: {held}")
    return table


def select_all(table: str, there: list[str]) -> str:
    """Return the query for all of a table, whose name may begin with a schema."""
    parts = [table] if table in there else table.split(".", 1)
    return f"select * from {'.'.join(map(quote_name, parts))}"


def nest(query: str, columns: str = "*") -> str:
    """Return a query inside another: only one that selects can stand there. A comment ends with its line."""
    return f"select {columns} from ({query}\n) as asked"


def quote_name(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True, eq=False)
class Database:
    """A connection for reading: its tables and views, a lazy relation for a table or a query, and how it is closed."""

    tables: Callable[[], list[str]]
    relation: Callable[[str | None, str | None], Any]
    close: Callable[[], None]


def find_file(source: str, name: str, kind: Literal["SQLite", "DuckDB"]) -> Path:
    """Return the file that a sqlite or duckdb address names; each database reads its own files only."""
    path = Path(unquote(ADDRESS.sub("", source, count=1).removeprefix("/"))).expanduser()
    if not str(path) or str(path) == ".":
        raise InputError(f"{name!r} names no file: write sqlite:///games.db, with a fourth slash for an absolute path")
    if not path.is_file():
        raise InputError(f"there is no database file {str(path)!r}: {name!r} is opened for reading only")
    with path.open("rb") as stream:
        found = find_database(stream.read(16))
    if found not in (None, kind):
        raise InputError(f"{str(path)!r} is a {found} file: write {found.lower()}:/// instead of {kind.lower()}:///")
    return path


def find_address(path: str | Path) -> str | None:
    """Return the address of a file if it is a SQLite or DuckDB database."""
    try:
        plain = Path(path).expanduser()
        if not plain.is_file():
            return None
        with plain.open("rb") as stream:
            found = find_database(stream.read(16))
    except (OSError, ValueError, RuntimeError):  # said where files are opened
        return None
    return f"{found.lower()}:///{quote(str(plain))}" if found else None


def open_sqlite(source: str, name: str) -> Database:
    """Open a SQLite file for reading, counted through ibis."""
    path = find_file(source, name, "SQLite")
    there = load_ibis("sqlite").from_connection(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True))

    def relation(table: str | None, query: str | None) -> Any:
        return there.table(table) if query is None else there.sql(nest(query))

    return Database(there.list_tables, relation, there.disconnect)


def open_duckdb(source: str, name: str) -> Database:
    """Open a DuckDB file for reading, counted by its own relations; it fetches no extension from the network."""
    path = find_file(source, name, "DuckDB")
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", "sql", "reading a DuckDB file") from None
    there = duckdb.connect(str(path), read_only=True, config=NO_NETWORK)

    def tables() -> list[str]:
        return [table for (table,) in there.execute("show tables").fetchall()]

    def relation(table: str | None, query: str | None) -> Any:
        if query is None:
            return there.query(select_all(table or "", tables()))
        if [one.type.name for one in there.extract_statements(query)] != ["SELECT"]:  # copy writes a file
            raise InputError(f"{name!r}: {ONE_SELECT}")
        return there.query(nest(query))

    return Database(tables, relation, there.close)


def open_postgresql(source: str, name: str) -> Database:
    """Connect to a PostgreSQL server, counted through ibis; the session may not write."""
    connect = load_ibis("postgres").from_connection
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError("psycopg", "sql", "reading a PostgreSQL database") from None
    server = psycopg.connect(source, autocommit=True)
    server.execute("set session characteristics as transaction read only")
    there = connect(server)

    def relation(table: str | None, query: str | None) -> Any:
        """Learn the types without making a view, as ibis would: nothing is written."""
        asked = query if query is not None else select_all(table or "", there.list_tables())
        with there.con.cursor() as cursor:
            cursor.execute(f"{nest(asked)} limit 0")
            found = {column.name: column.type_display for column in cursor.description or ()}
        other = {name for name, kind in found.items() if not PLAIN_TYPES.fullmatch(kind)}
        names = {name: quote_name(name) for name in found}
        columns = ", ".join(f"cast({q} as text) as {q}" if name in other else q for name, q in names.items())
        parse = there.compiler.type_mapper.from_string
        types = {name: parse("text" if name in other else kind) for name, kind in found.items()}
        return there.sql(nest(asked, columns), schema=types)

    return Database(there.list_tables, relation, there.disconnect)


OPENERS: dict[str, Callable[[str, str], Database]] = {
    "sqlite": open_sqlite, "duckdb": open_duckdb, "postgresql": open_postgresql,
}  # fmt: skip


def load_ibis(kind: str) -> Any:
    """Return ibis for a kind of database, or say how to install it."""
    try:
        import ibis

        return getattr(ibis, kind)
    except (ImportError, AttributeError):
        raise MissingExtraError("ibis-framework", "sql", f"reading a {kind} database") from None
