"""Files are written whole or not at all: first beside the target, then moved into its place."""

import contextlib
import errno
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nashboard._text import either
from nashboard.data.abandoned import claimed, sweep_parts
from nashboard.errors import InputError, WriteError

if TYPE_CHECKING:
    import polars as pl

WRITERS: dict[str, Callable[["pl.DataFrame", Path], object]] = {
    ".csv": lambda frame, path: frame.write_csv(path),
    ".tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    ".parquet": lambda frame, path: frame.write_parquet(path),
    ".jsonl": lambda frame, path: frame.write_ndjson(path),
}
# what another name would mend; the rest, such as a full disk, is no fault of the user's
WRONG_NAME = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.ELOOP, errno.ENOTEMPTY)


def check_place(path: str | Path) -> None:
    """Say at once, not after long work, that nothing can be written there: there is no such folder, or it is one."""
    path = Path(path)
    with refusals_named(path):
        if not path.parent.is_dir():
            raise InputError(f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}, make it first")
        if path.is_dir():
            raise InputError(f"cannot write {str(path)!r}: it is a folder")


@contextlib.contextmanager
def refusals_named(path: Path) -> Iterator[None]:
    """Turn what the system refuses while a file is written into one sentence."""
    try:
        yield
    except OSError as error:
        kind = InputError if error.errno in WRONG_NAME else WriteError
        raise kind(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def atomically(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file in the target's folder, then put it in the target's place.

    Killed at any moment, it leaves the old target or the new one, and at most one temporary file, which the next
    write to the same target removes.
    """
    path = Path(path)
    check_place(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    held = None
    try:
        with refusals_named(path):
            sweep_parts(path)
            held = claimed(part)
            write(part)
            os.fsync(held)  # or a power cut could leave the new name with no content
            part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        if held is not None:
            os.close(held)


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
