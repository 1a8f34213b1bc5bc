"""Files elsewhere: addresses of object stores and web servers, which Polars reads on its own.

Nothing is fetched unless a user gives such an address. Parquet is read by byte ranges, only the columns that are
needed; text is streamed. Credentials come from where each service keeps them (environment, configuration files).
"""

import re
import warnings
from typing import Any

import polars as pl

from nashboard.data.addresses import scrubbed, without_secrets
from nashboard.data.delimited import SEPARATORS
from nashboard.data.kinds import Kind
from nashboard.data.scan import Scan
from nashboard.errors import InputError, either, first_line

# There are no first bytes to look at before the file is fetched, so here the name has to tell the kind.
ENDINGS: dict[str, Kind] = {
    ".parquet": "parquet",
    ".csv": "delimited",
    ".tsv": "delimited",
    ".jsonl": "json lines",
    ".ndjson": "json lines",
}
MAGIC = re.compile(r"[*?\[]")


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
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ImportError, ValueError) as error:
        raise InputError(scrubbed(f"{name!r} cannot be read: {first_line(error)}", address)) from None
    return Scan(files=(), kind=kind, columns=columns, frame=frame, separator=separator, label=name)


def lazy(address: str, path: str, kind: Kind, separator: str | None) -> tuple[pl.LazyFrame, str]:
    """Return the lazy frame over an address, and the separator of its cells; cells of text files stay text."""
    if kind == "parquet":
        hive = bool(MAGIC.search(path)) or re.search(r"/[^/=]+=[^/]*/", path) is not None
        return pl.scan_parquet(address, hive_partitioning=hive), ","
    if kind == "json lines":
        seen = pl.scan_ndjson(address, infer_schema_length=1000).collect_schema()
        return pl.scan_ndjson(address, schema=as_text(seen)), ","
    said = separator or ("\t" if path.lower().endswith(".tsv") else ",")
    frame = pl.scan_csv(address, separator=said, infer_schema=False)
    names = frame.collect_schema().names()
    if separator is None and len(names) == 1:  # another separator, as programs of other countries write it
        said = max(SEPARATORS, key=names[0].count)
        frame = pl.scan_csv(address, separator=said, infer_schema=False)
    return frame, said


def as_text(schema: pl.Schema) -> dict[str, Any]:
    """Return a schema whose plain columns are text: what they mean is decided by us, as for files."""
    return {name: pl.String for name, kind in schema.items() if not kind.is_nested()}
