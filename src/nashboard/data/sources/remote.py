"""Files elsewhere: addresses of object stores and web servers.

Nothing is fetched unless a user gives such an address. Parquet is read by byte ranges, only the columns that are
needed. Text in an object store is streamed by Polars; a file on a web server is fetched, and then read like a file of
this machine. Credentials come from where each service keeps them (environment, configuration files).
"""

import urllib.error
import urllib.request
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import narwhals as nw
import polars as pl

from nashboard._files import Workspace
from nashboard._text import either, first_line
from nashboard.data.sources.paths import PlainFile, copy_chunks, hide_secrets, iterate_chunks, scrub_secrets, unpack
from nashboard.data.table.delimited import SEPARATORS, parse_separator
from nashboard.data.table.files import Kind, Part, unite
from nashboard.data.table.json_lines import FIRST_LINES, scan_objects
from nashboard.data.table.parquet import folder_values
from nashboard.data.table.table import Table
from nashboard.errors import InputError

# There are no first bytes to look at before the file is fetched, so in a store the name has to tell the kind.
ENDINGS: dict[str, Kind] = {
    ".parquet": "parquet",
    ".csv": "delimited",
    ".tsv": "delimited",
    ".jsonl": "json lines",
    ".ndjson": "json lines",
}
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


def is_fetched(address: str) -> bool:
    """Return whether the file at an address is fetched whole: on a web server, and not parquet."""
    scheme, _, rest = address.partition("://")
    return scheme.lower() in ("http", "https") and not rest.partition("?")[0].lower().endswith(".parquet")


def fetch_file(address: str, workspace: Workspace) -> PlainFile:
    """Fetch a file from a web server into the workspace."""
    name = hide_secrets(address)
    target = workspace.path("fetched")
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:
            copy_chunks(iterate_chunks(answer), target, name)
    except urllib.error.HTTPError as error:
        raise InputError(f"{name!r} cannot be read: {error.code} {error.reason}") from None
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise InputError(scrub_secrets(f"{name!r} cannot be read: {first_line(error)}", address)) from None
    return unpack(target, name, workspace, "fetched-unpacked")


def open_remote(address: str, separator: str | None = None) -> Table:
    """Return a lazy table of what an address names: a file, or a glob of files of one kind."""
    name = hide_secrets(address)
    path = address.partition("?")[0] if address.startswith("http") else address
    kind = next((kind for ending, kind in ENDINGS.items() if path.lower().endswith(ending)), None)
    if kind is None:
        raise InputError(
            f"{name!r} must end in {either(ENDINGS)}, which tells what a file in a store is: fetch it first if it is "
            f"something else"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the store's library says on the way to an error of its own
            frame, mark, notes, folders = scan_remote(address, path, kind, parse_separator(separator))
            columns = tuple(frame.collect_schema().names())
    except (pl.exceptions.SchemaError, pl.exceptions.SchemaFieldNotFoundError) as error:
        message = (
            f"{name!r} has files of different columns or types ({first_line(error)}): fetch them, and read them here"
        )
        raise InputError(scrub_secrets(message, address)) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ImportError) as error:
        raise InputError(scrub_secrets(f"{name!r} cannot be read: {first_line(error)}", address)) from None
    return Table(
        name=name,
        engine=kind,
        kind=kind,
        frame=nw.from_native(frame),
        columns=columns,
        separator=mark,
        notes=notes,
        folders=folders,
        address=address,
    )


def scan_remote(
    address: str, path: str, kind: Kind, separator: str | None
) -> tuple[pl.LazyFrame, str, tuple[str, ...], frozenset[str]]:
    """Return the lazy frame over an address, the separator, notes, and the columns that are folders."""
    if kind == "parquet":
        frame, notes, folders = scan_remote_parquet(address)
        return frame, ",", notes, folders
    if kind == "json lines":
        seen = pl.scan_ndjson(address, infer_schema_length=FIRST_LINES).collect_schema()
        return scan_objects(address, plain_columns(seen)), ",", (), frozenset()
    mark = separator or ("\t" if path.lower().endswith(".tsv") else ",")
    frame = pl.scan_csv(address, separator=mark, infer_schema=False)
    names = frame.collect_schema().names()
    if separator is None and len(names) == 1:  # another separator, as programs of other countries write it
        mark = max(SEPARATORS, key=names[0].count)
        frame = pl.scan_csv(address, separator=mark, infer_schema=False)
    stripped = {name: name.strip() for name in frame.collect_schema().names()}
    if len(set(stripped.values())) == len(stripped):
        frame = frame.rename(stripped)
    return frame, mark, (), frozenset()


def scan_remote_parquet(address: str) -> tuple[pl.LazyFrame, tuple[str, ...], frozenset[str]]:
    """Return the lazy frame over parquet files, with the rules that files of this machine have."""
    everything = pl.scan_parquet(address, hive_partitioning=False, include_file_paths="nashboard_file", **LENIENT)
    paths = sorted(everything.select(pl.col("nashboard_file").unique()).collect()["nashboard_file"].to_list())
    named = dict.fromkeys(folder_values(paths[0] if paths else ""), pl.String)
    if not 1 < len(paths) <= MOST_FOOTERS:
        frame = pl.scan_parquet(address, hive_partitioning=bool(named), hive_schema=named or None, **ALIKE)
        return frame, (), frozenset(named)
    groups: dict[Any, list[str]] = {}
    for path in paths:
        kinds = pl.scan_parquet(path, hive_partitioning=False).collect_schema()
        groups.setdefault((tuple(folder_values(path)), tuple(kinds.items())), []).append(path)
    parts = []
    for (columns, kinds), alike in groups.items():
        types = dict.fromkeys(columns, pl.String)
        frame = pl.scan_parquet(alike, hive_partitioning=bool(types), hive_schema=types or None)
        file = PlainFile(path=Path(alike[0]), name=hide_secrets(alike[0]))
        parts.append(Part(file=file, frame=frame, kinds={**dict(kinds), **types}))
    frame, notes = unite(parts)
    return frame, notes, frozenset(named)


def plain_columns(schema: pl.Schema) -> dict[str, Any]:
    """Return a schema whose plain columns are text: what they mean is decided by us, as for files."""
    return {name: pl.String for name, kind in schema.items() if not kind.is_nested()}
