"""Databases: a connection address and a table or query become a lazy frame that the database itself counts.

    sqlite:///games.db                  a file (four slashes for an absolute path)
    duckdb:///games.duckdb              a file
    postgresql://user@host:5432/arena   a server; all that libpq knows: parameters, ``.pgpass``

Every connection is read-only, and closed when the reading is done.
"""

import contextlib
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import narwhals as nw

from nashboard.data.addresses import ADDRESS, scheme_of, scrubbed, without_secrets
from nashboard.errors import InputError, MissingExtraError, listed, nearest

# PostgreSQL's types that every engine knows; all others (enumerations, citext, uuid, json) are taken as their text.
PLAIN_TYPES = re.compile(
    r"(text|varchar|bool|int[248]|float[48]|date|numeric|timestamp|timestamptz)(\(\d+(,\s*-?\d+)?\))?"
)
NO_NETWORK = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}


@dataclass(frozen=True, kw_only=True, eq=False)
class Relation:
    """A table of a database, or the answer to a query: what it is called, and a lazy frame over it."""

    name: str
    format: str
    frame: nw.LazyFrame[Any]


@contextlib.contextmanager
def database_relation(source: str, table: str | None, query: str | None) -> Iterator[Relation]:
    """Yield a table or a query of the database at an address; whatever goes wrong is one sentence without secrets."""
    kind = {"postgres": "postgresql"}.get(scheme_of(source) or "", scheme_of(source) or "")
    name = without_secrets(source)
    if table is not None and query is not None:
        raise InputError(f"{name!r}: give table= or query=, not both")
    connection: Any = None
    try:
        connection = CONNECTIONS[kind](source, name)
        chosen = table if query is not None else chosen_table(table, connection.list_tables(), name)
        frame: nw.LazyFrame[Any] = nw.from_native(relation_of(connection, kind, chosen, query, name))
        said = f"{name}, table {chosen}" if query is None else f"{name}, query"
        yield Relation(name=said, format=f"{kind} table" if query is None else f"{kind} query", frame=frame)
    except (InputError, MissingExtraError) as error:
        if isinstance(error, MissingExtraError):
            raise
        raise InputError(scrubbed(str(error), source)) from None
    except Exception as error:  # whatever the database or its driver raises: it is about the user's address or query
        raise InputError(scrubbed(f"{name!r} cannot be read: {first_line(error)}", source)) from None
    finally:
        if connection is not None:
            connection.disconnect()


def chosen_table(table: str | None, there: list[str], name: str) -> str:
    """Return the table that was asked for, or the only one that there is."""
    if table is None:
        if len(there) == 1:
            return there[0]
        raise InputError(
            f"{name!r} holds {f'the tables {listed(sorted(there), 12)}' if there else 'no table'}: pass table= or "
            f"query= (on the command line --table or --query)"
        )
    if table not in there and "." not in table:  # a name with a dot may stand in another schema
        raise InputError(
            f"{name!r} has no table {table!r}{nearest(table, there)}: there are {listed(sorted(there), 12)}"
        )
    return table


def relation_of(connection: Any, kind: str, table: str | None, query: str | None, name: str) -> Any:
    """Return a table or the answer to a query as ibis has it: an expression that is not run yet."""
    if query is not None:
        query = query.strip().rstrip(";").rstrip()
        if not query:
            raise InputError(f"{name!r}: the query is empty")
    if kind == "postgresql":
        return postgres_answer(connection, query or f"select * from {quoted(table, connection)}")
    if query is not None:
        return connection.sql(query)
    schema, dot, last = (table or "").rpartition(".")
    if table in connection.list_tables() or not dot:
        return connection.table(table)
    return connection.table(last, database=schema)


def quoted(table: str | None, connection: Any) -> str:
    """Return the name of a table, perhaps with its schema, as SQL writes it."""
    whole = table or ""
    parts = [whole] if whole in connection.list_tables() else whole.split(".", 1)
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def postgres_answer(connection: Any, query: str) -> Any:
    """Return a query as a table, its types learnt without making a view: the connection may not write."""
    with connection.con.cursor() as cursor:
        cursor.execute(f"select * from ({query}) as asked limit 0")
        found = {column.name: column.type_display for column in cursor.description or ()}
    plain = {name: bool(PLAIN_TYPES.fullmatch(kind)) for name, kind in found.items()}
    columns = ", ".join(
        f"{spelt} as {spelt}" if plain[name] else f"cast({spelt} as text) as {spelt}"
        for name in found
        for spelt in ['"' + name.replace('"', '""') + '"']
    )
    mapper = connection.compiler.type_mapper
    types = {name: mapper.from_string(kind if plain[name] else "text") for name, kind in found.items()}
    return connection.sql(f"select {columns} from ({query}) as asked", schema=types)


def file_of(source: str, name: str) -> Path:
    """Return the file that a sqlite or duckdb address names."""
    path = Path(unquote(ADDRESS.sub("", source, count=1).removeprefix("/"))).expanduser()
    if not str(path) or str(path) == ".":
        raise InputError(f"{name!r} names no file: write sqlite:///games.db, with a fourth slash for an absolute path")
    if not path.is_file():
        raise InputError(f"there is no database file {str(path)!r}: {name!r} is read, and never made")
    return path


def sqlite_connection(source: str, name: str) -> Any:
    """Open a SQLite file for reading."""
    path = file_of(source, name)
    connect = backend("sqlite").from_connection
    return connect(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True))


def duckdb_connection(source: str, name: str) -> Any:
    """Open a DuckDB file for reading; it fetches no extension from the network."""
    path = file_of(source, name)
    return backend("duckdb").connect(str(path), read_only=True, **NO_NETWORK)


def postgresql_connection(source: str, name: str) -> Any:
    """Connect to a PostgreSQL server; its sessions may not write."""
    connect = backend("postgres").from_connection
    import psycopg

    server = psycopg.connect(source, autocommit=True)
    server.execute("set session characteristics as transaction read only")
    return connect(server)


CONNECTIONS: dict[str, Callable[[str, str], Any]] = {
    "sqlite": sqlite_connection,
    "duckdb": duckdb_connection,
    "postgresql": postgresql_connection,
}


def backend(kind: str) -> Any:
    """Return ibis for a kind of database, or say how to install it."""
    try:
        import ibis

        return getattr(ibis, kind)
    except (ImportError, AttributeError):
        raise MissingExtraError("ibis-framework", "sql", f"reading a {kind} database") from None


def first_line(error: Exception) -> str:
    """Return what an error says in its first line."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
