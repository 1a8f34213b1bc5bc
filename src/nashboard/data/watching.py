"""Files that change while they are read: what was read is then of no single moment, so it is refused."""

import contextlib
import functools
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from nashboard.data.folders import below
from nashboard.errors import InputError

State = tuple[int, int, int, int]  # size, time of the last write, and which file it is
TICK = 20_000_000  # nanoseconds: file systems tell time by the kernel's tick, up to 10 ms apart


def state_of(path: Path) -> State | None:
    """Return what tells whether a file has been written to; None where it is not there."""
    try:
        about = path.stat()
    except OSError:
        return None
    # how large a folder is, and when it was written to, says nothing about the files in it
    size, written = (0, 0) if stat.S_ISDIR(about.st_mode) else (about.st_size, about.st_mtime_ns)
    return size, written, about.st_ino, about.st_dev


def states_of(paths: Sequence[Path]) -> dict[Path, State | None]:
    """Return the states of files, and of the files in folders."""
    inside = [found for path in paths if path.is_dir() for found in below(path, "*")]
    return {path: state_of(path) for path in (*paths, *inside)}


@contextlib.contextmanager
def unchanged(paths: Sequence[Path]) -> Iterator[Callable[[], None]]:
    """Raise an error if any of these files is written to inside this block, also in the place of what that breaks.

    Yields what raises it at once.
    """
    before = states_of(paths)
    let_clocks_tick(before)
    check = functools.partial(refuse_changed, before)
    try:
        yield check
    except InputError:
        check()
        raise
    check()


def let_clocks_tick(states: dict[Path, State | None]) -> None:
    """Wait where a file was written to just now: a write in the same tick of its clock would leave the same time."""
    now = time.time_ns()
    if any(state is not None and 0 <= now - state[1] < TICK for state in states.values()):
        time.sleep(TICK / 1e9)


def refuse_changed(before: dict[Path, State | None]) -> None:
    """Raise an error about the first file that is no longer as it was."""
    for path, old in before.items():
        new = state_of(path)
        if new != old:
            raise InputError(
                f"{str(path)!r} changed while it was read: {change(old, new)}; read it again when nothing writes to "
                f"it, or read a copy"
            )


def change(old: State | None, new: State | None) -> str:
    """Say what happened to a file."""
    if old is None or new is None:
        return "it was taken away" if new is None else "it was put there"
    if old[2:] != new[2:]:
        return "another file took its place"
    if old[0] != new[0]:
        return f"it {'shrank' if new[0] < old[0] else 'grew'} from {old[0]:,} to {new[0]:,} bytes"
    return "it was written to"
