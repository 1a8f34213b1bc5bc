"""Writing the types as files that the readers read back."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from nashboard._files import atomically
from nashboard._text import either
from nashboard.errors import InputError, WriteError

if TYPE_CHECKING:
    import polars as pl

WRITERS: dict[str, Callable[["pl.DataFrame", Path], object]] = {
    ".csv": lambda frame, path: frame.write_csv(path),
    ".tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    ".parquet": lambda frame, path: frame.write_parquet(path),
    ".jsonl": lambda frame, path: frame.write_ndjson(path),
}


def write_frame(frame: "pl.DataFrame", path: str | Path) -> None:
    """Write a frame in the format of the file's ending."""
    import polars as pl

    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise InputError(f"cannot write {str(path)!r}: the name must end in {either(WRITERS)}")
    try:
        atomically(path, lambda part: WRITERS[ending](frame, part))
    except pl.exceptions.PolarsError as error:  # where Polars wraps what the system said
        raise WriteError(f"cannot write {str(path)!r}: {error}") from None
