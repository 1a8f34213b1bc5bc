"""Files are written whole or not at all: first beside the target, then moved into its place."""

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from nashboard.errors import InputError, listed

if TYPE_CHECKING:
    import polars as pl

WRITERS: dict[str, Callable[["pl.DataFrame", Path], object]] = {
    ".csv": lambda frame, path: frame.write_csv(path),
    ".tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    ".parquet": lambda frame, path: frame.write_parquet(path),
    ".jsonl": lambda frame, path: frame.write_ndjson(path),
}


def atomically(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file in the target's folder, then put it in the target's place."""
    path = Path(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        part.touch(exist_ok=False)  # not a private temporary file: the finished one follows the user's umask
        write(part)
        part.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def write_frame(frame: "pl.DataFrame", path: str | Path) -> None:
    """Write a frame in the format of the file's ending."""
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise InputError(f"cannot write {str(path)!r}: the name must end in {listed(WRITERS)}")
    atomically(path, lambda part: WRITERS[ending](frame, part))
