"""From what the user names (a path, a glob, ``-``) to plain files on disk that are safe to read.

Compressed files and standard input are unpacked into temporary files by chunks, so that memory does not
grow with them; what is read afterwards is always a plain, uncompressed file. Files come from strangers, so
lines and objects have a largest size.
"""

import contextlib
import errno
import glob
import gzip
import shutil
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from nashboard._files import ELSEWHERE, NO_ROOM, Workspace
from nashboard._text import listed, nearest
from nashboard.data.sources.addresses import find_scheme, hide_secrets
from nashboard.data.sources.folders import find_below, find_tables
from nashboard.errors import InputError, WriteError

CHUNK = 1 << 20
# No line, json object or quoted field of a real data set comes near this; a hostile one goes past it.
LONGEST_RECORD = 64 << 20
STANDARD_INPUT = "-"

# The source is open by then: these are about the copy.
NO_COPY = (*NO_ROOM, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT)
SMALL, SPARED = 16 << 20, 256 << 20  # bytes: a copy larger than the first leaves the second free for everybody else

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True, kw_only=True)
class PlainFile:
    """An uncompressed file, and the name under which the user knows it."""

    path: Path
    name: str


@contextlib.contextmanager
def open_files(
    source: str | Path, workspace: Workspace | None = None, *, may_grow: bool = False
) -> Iterator[list[PlainFile]]:
    """Yield the plain files behind a source; unpacked copies are in the workspace, or removed afterwards.

    A file that changes inside the block is an error, unless it ``may_grow`` and its reader looks after that.
    """
    with contextlib.ExitStack() as stack:
        if workspace is None:
            workspace = stack.enter_context(Workspace())
        if str(source) == STANDARD_INPUT:
            named = [(workspace.path("standard-input"), "standard input")]
            if sys.stdin is None:
                raise InputError("standard input is closed: there is nothing to read")
            copy_stream(sys.stdin.buffer, named[0][0], "standard input")
        else:
            named = [(path, str(path)) for path in find_paths(source)]
        stack.enter_context(refuse_changes([] if may_grow else [path for path, _ in named]))
        yield [unpack(path, name, workspace, f"unpacked-{k}") for k, (path, name) in enumerate(named)]


def find_paths(source: str | Path) -> list[Path]:
    """Return the file, the folder, or what the pattern matches, in alphabetical order."""
    if not str(source):
        raise InputError("the name of the file is empty")
    if find_scheme(source) is not None:
        raise InputError(f"{hide_secrets(str(source))!r} is an address: here a file of this machine is needed")
    try:
        path = Path(source).expanduser()
        if path.exists():
            return find_tables(path) or [path]
        if path.is_symlink():
            raise InputError(f"{str(source)!r} is a link to a file that is not there")
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise InputError(f"cannot read {str(source)!r}: {error.strerror}") from None
    except InputError:
        raise
    except (ValueError, RuntimeError):  # a NUL in the name, a home that is not there
        raise InputError(f"{str(source)!r} is not a file name") from None
    if glob.has_magic(str(source)):
        root = Path(path.anchor or ".")
        found = sorted(root.glob(str(path.relative_to(path.anchor)) if path.anchor else str(path)))
        if not found:
            raise InputError(f"no file matches {str(source)!r}")
        return found
    folder = path.parent
    near = nearest(path.name, [entry.name for entry in folder.iterdir()]) if folder.is_dir() else ""
    raise InputError(f"there is no file {str(source)!r}{near}")


def unpack(path: Path, name: str, workspace: Workspace, copy: str) -> PlainFile:
    """Return the file itself, or its unpacked ``copy`` in the workspace."""
    if path.is_dir():
        return PlainFile(path=path, name=name)
    try:
        if not path.is_file():
            raise InputError(f"{name!r} is not a regular file: to read a pipe, send it to standard input and name it -")
        with path.open("rb") as stream:
            magic = stream.read(4)
            stream.seek(0)
            if not magic:
                raise InputError(f"{name!r} is empty")
            if magic.startswith(GZIP):
                with gzip.open(stream) as unpacked:
                    copy_stream(unpacked, target := workspace.path(copy), name)
            elif magic == ZSTD:
                copy_stream(ZstdStream(stream), target := workspace.path(copy), name)
            elif glob.has_magic(str(path)):
                (target := workspace.path(copy)).symlink_to(path.resolve())  # scanners take the name for a pattern
            else:
                return PlainFile(path=path, name=name)
    except WriteError:
        raise
    except OSError as error:
        raise InputError(f"cannot read {name!r}: {error.strerror or error}") from None
    if not target.stat().st_size:
        raise InputError(f"{name!r} is empty")
    return PlainFile(path=target, name=name)


def copy_stream(stream: Any, target: Path, name: str) -> None:
    """Copy a stream to a file by chunks; a damaged or endless one ends in one clear sentence."""
    try:
        with target.open("wb") as copy:
            while chunk := stream.read(CHUNK):
                copy.write(chunk)
                if copy.tell() > SMALL and shutil.disk_usage(target.parent).free < SPARED:
                    raise OSError(errno.ENOSPC, "too little would stay free")
    except EOFError:
        raise InputError(f"{name!r} is cut short: the compressed data ends too early") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{name!r} is damaged: {error}") from None
    except OSError as error:
        if error.errno not in NO_COPY:
            raise
        place = str(target.parent.parent)
        raise WriteError(f"cannot unpack {name!r} in {place!r} ({error.strerror}): {ELSEWHERE}") from None
    if not target.stat().st_size:
        raise InputError(f"{name} is empty" if name == "standard input" else f"{name!r} is empty")


class ZstdStream:
    """Read a zstandard file by chunks.

    The library's own readers take a file that is cut short for a whole one; this one raises an EOFError.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        import zstandard

        self.error = zstandard.ZstdError
        # A window of 128 MiB is the most that the command-line tool allows by default, too.
        self.new: Callable[[], Any] = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj
        self.stream, self.frame, self.rest = stream, self.new(), b""

    def read(self, size: int) -> bytes:
        """Return the next bytes, none at the end."""
        while True:
            # zstd unpacks up to some 10,000-fold, so little is fed at a time
            packed = self.rest or self.stream.read(size >> 6)
            if not packed:
                if not self.frame.eof and self.started:
                    raise EOFError
                return b""
            self.started = True
            try:
                unpacked: bytes = self.frame.decompress(packed)
            except self.error as error:
                raise zlib.error(str(error)) from None
            self.rest = b""
            if self.frame.eof:
                self.rest = self.frame.unused_data
                self.frame, self.started = self.new(), bool(self.rest)
            if unpacked:
                return unpacked

    started = False


def check_lines(file: PlainFile) -> None:
    """Refuse a text file with a line longer than any real one, reading only a little of it.

    Every stretch of half the limit must hold a line break. A line longer than the limit would cover one
    such stretch whole, so looking for one break in each is enough.
    """
    stretch = LONGEST_RECORD // 2
    size = file.path.stat().st_size
    with file.path.open("rb") as stream:
        for start in range(0, size - stretch, stretch):
            stream.seek(start)
            for _ in range(0, stretch, CHUNK):
                if b"\n" in (piece := stream.read(CHUNK)) or b"\r" in piece:
                    break
            else:
                raise InputError(
                    f"{file.name!r} has a line of more than {stretch >> 20} MB near byte {start:,}: "
                    f"this is not a table with one record per line"
                )


def require_one_file(files: list[PlainFile], what: str) -> PlainFile:
    """Return the only file, for formats that are one file."""
    if len(files) != 1:
        raise InputError(f"{what} is read from one file at a time, not {listed([file.name for file in files], 3)}")
    return files[0]


@contextlib.contextmanager
def refuse_changes(paths: Sequence[Path]) -> Iterator[None]:
    """Raise an error if any of these files is written to inside this block: what was read is then of no single moment.

    It also takes the place of an error about content that such a write has broken.
    """
    inside = [found for path in paths if path.is_dir() for found in find_below(path, "*") if found.is_file()]
    before = {path: find_state(path) for path in (*paths, *inside)}
    failed = None
    try:
        yield
    except InputError as error:
        failed = error
    for path, old in before.items():
        if (new := find_state(path)) != old:
            raise InputError(
                f"{str(path)!r} changed while it was read: {describe_change(old, new)}; read it again when nothing "
                f"writes to it, or read a copy"
            )
    if failed is not None:
        raise failed


def find_state(path: Path) -> tuple[int, int, int] | None:
    """Return size, time of the last write and number of a file; None where it is not there, zeros for a folder."""
    try:
        about = path.stat()
    except OSError:
        return None
    return (0, 0, 0) if stat.S_ISDIR(about.st_mode) else (about.st_size, about.st_mtime_ns, about.st_ino)


def describe_change(old: tuple[int, int, int] | None, new: tuple[int, int, int] | None) -> str:
    """Return what happened to a file."""
    if old is None or new is None:
        return "it was taken away" if new is None else "it was put there"
    if old[2] != new[2]:
        return "another file took its place"
    if old[0] != new[0]:
        return f"it {'shrank' if new[0] < old[0] else 'grew'} from {old[0]:,} to {new[0]:,} bytes"
    return "it was written to"
