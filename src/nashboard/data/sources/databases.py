"""Databases: a connection address and a table or query become a lazy frame that the database itself counts.

    sqlite:///games.db                  a file (four slashes for an absolute path)
    duckdb:///games.duckdb              a file
    postgresql://user@host:5432/arena   a server; all that libpq knows: parameters, ``.pgpass``

Every connection is read-only, and closed when the reading is done.
"""

import contextlib
import re
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, unquote

import narwhals as nw
import polars as pl

from nashboard._text import first_line, listed, nearest
from nashboard.data.sources.paths import ADDRESS, find_scheme, hide_secrets, scrub_secrets
from nashboard.data.table.files import find_database
from nashboard.data.table.table import Table
from nashboard.errors import InputError, MissingExtraError

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
    kind = {"postgres": "postgresql"}.get(find_scheme(source) or "", find_scheme(source) or "")
    name = hide_secrets(source)
    if table is not None and query is not None:
        raise InputError(f"{name!r}: give table= or query=, not both")
    try:
        with contextlib.closing(CONNECTIONS[kind](source, name)) as database, warnings.catch_warnings():
            # ibis sets an option of pandas that newer versions of pandas no longer need
            warnings.filterwarnings("ignore", message="The 'future.infer_string' option")
            if query is None:
                table = choose_table(table, database.tables(), name)
            elif not (query := END.sub("", query).strip()):
                raise InputError(f"{name!r}: the query is empty")
            frame: nw.LazyFrame[Any] = nw.from_native(database.relation(table, query))
            what = "query" if query is not None else "table"
            said = f"{name}, {what}" if query is not None else f"{name}, {what} {table}"
            yield Table(name=said, engine=f"{kind} {what}", frame=frame, columns=tuple(frame.collect_schema().names()))
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
class Sqlite:
    """A SQLite file, opened for reading, counted through ibis."""

    connection: Any

    def tables(self) -> list[str]:
        """Return the names of its tables and views."""
        return list(self.connection.list_tables())

    def relation(self, table: str | None, query: str | None) -> Any:
        """Return a table or the answer to a query, as an expression that is not run yet."""
        return self.connection.table(table) if query is None else self.connection.sql(nest(query))

    def close(self) -> None:
        """Close the file."""
        self.connection.disconnect()


@dataclass(frozen=True, eq=False)
class Duckdb:
    """A DuckDB file, opened for reading, counted by its own relations."""

    connection: Any
    name: str

    def tables(self) -> list[str]:
        """Return the names of its tables and views."""
        return [name for (name,) in self.connection.execute("show tables").fetchall()]

    def relation(self, table: str | None, query: str | None) -> Any:
        """Return a table or the answer to a query, as an expression that is not run yet."""
        if query is None:
            return self.connection.query(select_all(table or "", self.tables()))
        if [one.type.name for one in self.connection.extract_statements(query)] != ["SELECT"]:  # copy writes a file
            raise InputError(f"{self.name!r}: {ONE_SELECT}")
        return self.connection.query(nest(query))

    def close(self) -> None:
        """Close the file."""
        self.connection.close()


@dataclass(frozen=True, eq=False)
class Postgresql:
    """A PostgreSQL server, connected for reading, counted through ibis."""

    connection: Any

    def tables(self) -> list[str]:
        """Return the names of the tables and views in the current schema."""
        return list(self.connection.list_tables())

    def relation(self, table: str | None, query: str | None) -> Any:
        """Return a table or the answer to a query, its types learnt without making a view: nothing is written."""
        asked = query if query is not None else select_all(table or "", self.tables())
        with self.connection.con.cursor() as cursor:
            cursor.execute(f"{nest(asked)} limit 0")
            found = {column.name: column.type_display for column in cursor.description or ()}
        plain = {name: bool(PLAIN_TYPES.fullmatch(kind)) for name, kind in found.items()}
        columns = ", ".join(
            quote_name(name) if plain[name] else f"cast({quote_name(name)} as text) as {quote_name(name)}"
            for name in found
        )
        mapper = self.connection.compiler.type_mapper
        types = {name: mapper.from_string(kind if plain[name] else "text") for name, kind in found.items()}
        return self.connection.sql(nest(asked, columns), schema=types)

    def close(self) -> None:
        """Close the connection."""
        self.connection.disconnect()


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
        raise InputError(
            f"{str(path)!r} is a {found} file: write {found.lower()}:/// in the place of {kind.lower()}:///"
        )
    return path


def open_sqlite(source: str, name: str) -> Sqlite:
    """Open a SQLite file for reading."""
    path = find_file(source, name, "SQLite")
    connect = load_ibis("sqlite").from_connection
    return Sqlite(connect(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)))


def open_duckdb(source: str, name: str) -> Duckdb:
    """Open a DuckDB file for reading; it fetches no extension from the network."""
    path = find_file(source, name, "DuckDB")
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", "sql", "reading a DuckDB file") from None
    return Duckdb(duckdb.connect(str(path), read_only=True, config=NO_NETWORK), name)


def open_postgresql(source: str, name: str) -> Postgresql:
    """Connect to a PostgreSQL server; the session may not write."""
    connect = load_ibis("postgres").from_connection
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError("psycopg", "sql", "reading a PostgreSQL database") from None
    server = psycopg.connect(source, autocommit=True)
    server.execute("set session characteristics as transaction read only")
    return Postgresql(connect(server))


Database = Sqlite | Duckdb | Postgresql
CONNECTIONS: dict[str, Callable[[str, str], Database]] = {
    "sqlite": open_sqlite,
    "duckdb": open_duckdb,
    "postgresql": open_postgresql,
}


def load_ibis(kind: str) -> Any:
    """Return ibis for a kind of database, or say how to install it."""
    try:
        import ibis

        return getattr(ibis, kind)
    except (ImportError, AttributeError):
        raise MissingExtraError("ibis-framework", "sql", f"reading a {kind} database") from None
