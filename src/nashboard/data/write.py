"""Files are written whole or not at all: first beside the target, then moved into its place."""

import os
import tempfile
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
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
    os.close(handle)
    part = Path(name)
    try:
        write(part)
        part.chmod(0o666 & ~current_umask())
        part.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def current_umask() -> int:
    """Return the process's umask: temporary files are private, finished ones follow the user's habit."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def write_frame(frame: "pl.DataFrame", path: str | Path) -> None:
    """Write a frame in the format of the file's ending."""
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise InputError(f"cannot write {str(path)!r}: the name must end in {listed(WRITERS)}")
    atomically(path, lambda part: WRITERS[ending](frame, part))
