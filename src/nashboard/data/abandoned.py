"""Temporary files and folders, and how the next run knows those that a killed one left behind.

Whoever makes one holds a lock on it. The lock ends with the process, however it ends; so a temporary file that can be
locked belongs to nobody, and is removed. Where there are no such locks (Windows), what was left stays.
"""

import contextlib
import functools
import glob
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from nashboard.errors import WriteError

if sys.platform != "win32":
    import fcntl

PREFIX = "nashboard-"
LOCK = ".lock"
ELSEWHERE = "set TMPDIR to a folder that can be written and has room"
NO_FOLDER = "No usable temporary directory found"  # as Python says it, with all that were tried
DAY = 86_400.0  # a folder without a lock was left in the instant before it got one


def locked(descriptor: int) -> bool:
    """Try to lock an open file; say whether nobody else holds it."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def claimed(path: Path) -> int:
    """Make a file that is not there yet, and return it open and locked; it follows the user's umask."""
    while True:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        if sys.platform == "win32" or (locked(descriptor) and os.fstat(descriptor).st_nlink):
            return descriptor
        os.close(descriptor)  # somebody who swept held it for an instant, and took it away


def is_abandoned(path: Path) -> bool:
    """Say whether a temporary file belongs to nobody who is alive."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:  # taken away, or of another user
        return False
    try:
        return locked(descriptor)
    finally:
        os.close(descriptor)


def sweep_parts(path: Path) -> None:
    """Remove what killed runs left beside a file that they were writing."""
    with contextlib.suppress(OSError):
        for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
            if is_abandoned(part):
                part.unlink(missing_ok=True)


@functools.cache  # once in a process is enough
def sweep_folders(root: Path) -> None:
    """Remove the temporary folders of killed runs; only our own, and never through a link."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError), os.scandir(root) as entries:
        for entry in entries:
            if not entry.name.startswith(PREFIX) or not entry.is_dir(follow_symlinks=False):
                continue
            about = entry.stat(follow_symlinks=False)
            lock = Path(entry.path, LOCK)
            lockless = not lock.exists() and time.time() - about.st_mtime > DAY
            if about.st_uid == os.getuid() and (lockless or is_abandoned(lock)):
                shutil.rmtree(entry.path, ignore_errors=True)


def no_temporary_place(error: OSError) -> str:
    """Say in one sentence where no temporary file could be made, why, and what to do."""
    reason = error.strerror or str(error)  # names the folders itself where none of them can be used
    if NO_FOLDER not in reason:
        reason = f"{tempfile.gettempdir()!r} cannot be used ({reason})"
    return f"cannot make temporary files: {reason}; {ELSEWHERE}"


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a folder that is removed afterwards: at the end of the block, or by the next run if this one is killed."""
    try:
        root = Path(tempfile.gettempdir())
        sweep_folders(root)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = claimed(folder / LOCK)
    except OSError as error:
        raise WriteError(no_temporary_place(error)) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
