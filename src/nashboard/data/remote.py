"""Files elsewhere: addresses of object stores and web servers, which Polars reads on its own.

Nothing is fetched unless a user gives such an address. Parquet is read by byte ranges, only the columns that are
needed; text is streamed. Credentials come from where each service keeps them (environment, configuration files).
"""

import warnings
from typing import Any

import polars as pl

from nashboard._text import either, first_line
from nashboard.data.addresses import scrubbed, without_secrets
from nashboard.data.delimited import SEPARATORS
from nashboard.data.kinds import Kind
from nashboard.data.parts import folder_values
from nashboard.data.scan import DIFFERENT, FETCH, FIRST_LINES, Scan, late_roles, scan_objects
from nashboard.errors import InputError

# There are no first bytes to look at before the file is fetched, so here the name has to tell the kind.
ENDINGS: dict[str, Kind] = {
    ".parquet": "parquet",
    ".csv": "delimited",
    ".tsv": "delimited",
    ".jsonl": "json lines",
    ".ndjson": "json lines",
}
# Files need not have quite the same columns: those of the first count, and whole numbers may be fractions there.
LENIENT: dict[str, Any] = {
    "missing_columns": "insert",
    "extra_columns": "ignore",
    "cast_options": pl.ScanCastOptions(integer_cast=["upcast", "allow-float"], float_cast=["upcast", "downcast"]),
}


def remote_scan(address: str, separator: str | None = None) -> Scan:
    """Return a lazy scan of what an address names: a file, or a glob of files of one kind."""
    name = without_secrets(address)
    path = address.partition("?")[0] if address.startswith("http") else address
    kind = next((kind for ending, kind in ENDINGS.items() if path.lower().endswith(ending)), None)
    if kind is None:
        raise InputError(
            f"{name!r} must end in {either(ENDINGS)}: elsewhere the name tells what a file is; fetch it first if "
            f"it is packed or in another format"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the store's library says on the way to an error of its own
            frame, separator = lazy(address, path, kind, separator)
            columns = tuple(frame.collect_schema().names())
    except (pl.exceptions.SchemaError, pl.exceptions.SchemaFieldNotFoundError) as error:
        raise InputError(scrubbed(f"{name!r} {DIFFERENT} ({first_line(error)}): {FETCH}", address)) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ImportError, ValueError) as error:
        raise InputError(scrubbed(f"{name!r} cannot be read: {first_line(error)}", address)) from None
    return Scan(files=(), kind=kind, columns=columns, frame=frame, separator=separator, label=name)


def lazy(address: str, path: str, kind: Kind, separator: str | None) -> tuple[pl.LazyFrame, str]:
    """Return the lazy frame over an address, and the separator of its cells; cells of text files stay text."""
    if kind == "parquet":
        return lazy_parquet(address), ","
    if kind == "json lines":
        seen = pl.scan_ndjson(address, infer_schema_length=FIRST_LINES).collect_schema()
        return scan_objects(address, as_text(seen), late_roles(seen.names())), ","
    said = separator or ("\t" if path.lower().endswith(".tsv") else ",")
    frame = pl.scan_csv(address, separator=said, infer_schema=False)
    names = frame.collect_schema().names()
    if separator is None and len(names) == 1:  # another separator, as programs of other countries write it
        said = max(SEPARATORS, key=names[0].count)
        frame = pl.scan_csv(address, separator=said, infer_schema=False)
    return frame, said


def lazy_parquet(address: str) -> pl.LazyFrame:
    """Return the lazy frame over parquet files, whose folders are columns of text; the first file tells which."""
    first = pl.scan_parquet(address, hive_partitioning=False, include_file_paths="nashboard_file", **LENIENT)
    found = first.select("nashboard_file").head(1).collect()
    named = dict.fromkeys(folder_values(str(found.item()) if len(found) else ""), pl.String)
    return pl.scan_parquet(address, hive_partitioning=bool(named), hive_schema=named or None, **LENIENT)


def as_text(schema: pl.Schema) -> dict[str, Any]:
    """Return a schema whose plain columns are text: what they mean is decided by us, as for files."""
    return {name: pl.String for name, kind in schema.items() if not kind.is_nested()}
