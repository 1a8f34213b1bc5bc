"""Atomic writes, temporary folders that are removed, and a cache of texts.

A file is written beside its target and then moved into its place, so that a run that is killed leaves the old file or
the new one. While it writes, a run holds a lock on the unfinished part; a part that can be locked was left by a run
that was killed, and the next write to the same target removes it. The cache only saves time: where it cannot be
written, or its content is damaged or of another version, the text is computed again.
"""

import contextlib
import errno
import glob
import hashlib
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nashboard._text import either
from nashboard.errors import InputError, NashboardError, WriteError

if TYPE_CHECKING:
    import polars as pl

if sys.platform != "win32":
    import fcntl

# Errors that another file name avoids: wrong input. Others, such as a full disk, are not the user's mistake.
WRONG_NAME = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.ELOOP, errno.ENOTEMPTY)
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
ELSEWHERE = "set TMPDIR to a folder that can be written and has room"
NO_FOLDER = "No usable temporary directory found"  # as Python words it, with all folders that were tried


def check_place(path: str | Path) -> None:
    """Raise an error, before long work, if nothing can be written at a path: no such folder, or it is a folder."""
    path = Path(path)
    with explain_os_errors(path):
        if not path.parent.is_dir():
            raise InputError(f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}, create it first")
        if path.is_dir():
            raise InputError(f"cannot write {str(path)!r}: it is a folder")


@contextlib.contextmanager
def explain_os_errors(path: Path) -> Iterator[None]:
    """Turn an error of the operating system while a file is written into one of ours, of one sentence."""
    try:
        yield
    except OSError as error:
        kind = InputError if error.errno in WRONG_NAME else WriteError
        raise kind(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def write_atomically(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file in the target's folder, then move it into the target's place."""
    path = Path(path)
    check_place(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    lock = None
    try:
        with explain_os_errors(path):
            remove_abandoned_parts(path)
            lock = create_locked(part)
            write(part)
            os.fsync(lock)  # or a power cut could leave the new name with no content
            part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically, with the same line ends on every system."""
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


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
        write_atomically(path, lambda part: WRITERS[ending](frame, part))
    except pl.exceptions.PolarsError as error:  # Polars wraps errors of the operating system
        raise WriteError(f"cannot write {str(path)!r}: {error}") from None


def create_locked(path: Path) -> int:
    """Create a file and return it open and locked; its permissions follow the user's umask."""
    while True:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        if sys.platform == "win32" or (try_lock(descriptor) and os.fstat(descriptor).st_nlink):
            return descriptor
        os.close(descriptor)  # another run took it for an abandoned part and removed it


def try_lock(descriptor: int) -> bool:
    """Try to lock an open file; return whether no other process holds it."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def remove_abandoned_parts(path: Path) -> None:
    """Remove the unfinished parts that killed runs left beside a file."""
    with contextlib.suppress(OSError):
        for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
            descriptor = os.open(part, os.O_RDWR)
            try:
                if try_lock(descriptor):
                    part.unlink(missing_ok=True)
            finally:
                os.close(descriptor)


def describe_no_temporary_folder(error: OSError) -> str:
    """Return one sentence: where no temporary file could be made, why, and what to do."""
    reason = error.strerror or str(error)  # lists the folders if none of them can be used
    if NO_FOLDER not in reason:
        reason = f"{tempfile.gettempdir()!r} cannot be used ({reason})"
    return f"cannot make temporary files: {reason}; {ELSEWHERE}"


class Workspace:
    """A temporary folder that is made when the first file in it is needed; most sources need none."""

    def __init__(self) -> None:
        self.folder: tempfile.TemporaryDirectory[str] | None = None

    def path(self, name: str) -> Path:
        """Return the path of a file of that name in the folder."""
        if self.folder is None:
            try:
                self.folder = tempfile.TemporaryDirectory(prefix="nashboard-", ignore_cleanup_errors=True)
            except OSError as error:
                raise WriteError(describe_no_temporary_folder(error)) from None
        return Path(self.folder.name, name)

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(self, *_: object) -> None:
        if self.folder is not None:
            self.folder.cleanup()


def cached_text(name: str, version: str, make: Callable[[], str]) -> str:
    """Return the text that ``make`` returns in this version; the file's first line is the version and its hash."""
    from platformdirs import user_cache_path

    path = user_cache_path("nashboard", appauthor=False) / name
    with contextlib.suppress(OSError):
        label, _, content = path.read_bytes().partition(b"\n")
        if label == cache_label(version, content):
            return content.decode()
    text = make()
    content = text.encode()
    with contextlib.suppress(OSError, NashboardError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, lambda part: part.write_bytes(cache_label(version, content) + b"\n" + content))
    return text


def cache_label(version: str, content: bytes) -> bytes:
    """Return the first line of a file that keeps this content."""
    return f"{version} {hashlib.sha256(content).hexdigest()}".encode()
