"""From what the user names (a path, a glob, ``-``) to plain files on disk that are safe to read.

Compressed files and standard input are unpacked into temporary files by chunks, so that memory does not
grow with them; what is read afterwards is always a plain, uncompressed file. Files come from strangers, so
lines and objects have a largest size.
"""

import contextlib
import errno
import glob
import gzip
import os
import re
import shutil
import stat
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, unquote_plus

from nashboard._files import ELSEWHERE, NO_ROOM, Workspace
from nashboard._text import either, listed, nearest, shortened
from nashboard.errors import InputError, WriteError

DATABASES = ("sqlite", "duckdb", "postgresql", "postgres")
# What Polars reads on its own, by byte ranges, with credentials from the usual places of each service.
STORES = ("s3", "s3a", "gs", "gcs", "az", "azure", "adl", "abfs", "abfss", "hf", "http", "https", "file")
ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
HIDDEN = "***"


def find_scheme(source: Any) -> str | None:
    """Return what stands before ``://``, in small letters; None where the source is not an address."""
    found = ADDRESS.match(source) if isinstance(source, str) else None
    if found is None:
        return None
    scheme = found[1].lower()
    if scheme not in (*DATABASES, *STORES):
        raise InputError(
            f"{hide_secrets(source)!r} is not an address that can be read{nearest(scheme, (*DATABASES, *STORES))}: "
            f"databases start with {either(f'{name}://' for name in DATABASES[:3])}, object stores with "
            f"{either(f'{name}://' for name in STORES)}"
        )
    return scheme


def hide_secrets(source: str) -> str:
    """Return an address without password and without what follows ``?``; anything else as it is."""
    found = ADDRESS.match(source)
    if found is None:
        return source
    # a password may hold any character unquoted: whatever stands before the last @ is not shown, but for the user
    account, at, place = source[found.end() :].rpartition("@")
    user, colon, _ = account.partition(":")
    shown, question, _ = place.partition("?")
    return f"{found[0]}{user.partition('?')[0]}{f':{HIDDEN}' * bool(colon)}{at}{shown}{f'?{HIDDEN}' * bool(question)}"


def find_secrets(source: str) -> list[str]:
    """Return every text in an address that nobody else should see, as it is written and as it is meant."""
    found = ADDRESS.match(source)
    if found is None:
        return []
    account, _, _ = source[found.end() :].rpartition("@")
    password, query = account.partition(":")[2], source.partition("?")[2]
    values = [pair.partition("=")[2] for pair in query.split("&")]
    spelt = {way(text) for text in (password, *values) for way in (str, unquote, unquote_plus)}
    return sorted((text for text in spelt if text), key=len, reverse=True)


def scrub_secrets(message: str, source: str) -> str:
    """Return a message without the secrets of an address, whoever wrote it."""
    message = message.replace(source, hide_secrets(source))
    for secret in find_secrets(source):
        if len(secret) > 2 or not secret.isalnum():  # a password of one letter would tear every word apart
            message = message.replace(secret, HIDDEN)
    return message


# Tables of text and games, by the ends of their names; both spellings of json lines are one kind.
TABLES = {".csv": ".csv", ".tsv": ".tsv", ".jsonl": ".jsonl", ".ndjson": ".jsonl", ".pgn": ".pgn"}
PACKED = (".gz", ".zst")
SAMPLES = re.compile(r"samples_.+\.jsonl")  # of lm-evaluation-harness: not one table, but one for each model and task


def find_below(folder: Path, pattern: str) -> Iterator[Path]:
    """Yield what has such a name in a folder and in the folders below it, in alphabetical order."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if may_hold_data(Path(here, name)))
        for name in sorted([*folders, *files]):
            if fnmatchcase(name, pattern):
                yield Path(here, name)


def may_hold_data(folder: Path) -> bool:
    """Return whether a folder below another may hold data: not if it is hidden, or a Python environment."""
    return not folder.name.startswith(".") and not (folder / "pyvenv.cfg").is_file()


def find_tables(folder: Path) -> list[Path]:
    """Return the files of a folder that are one table; none where it holds something else.

    Engines write a table as parquet files, in folders below this one too. Text tables and games stand in it side by
    side; where json files or logs are beside them they may be the samples of results, and stay for those formats.
    """
    if not folder.is_dir():
        return []
    parts = sorted(path for path in find_below(folder, "*.parquet") if not path.name.startswith((".", "_")))
    if found := [path for path in parts if path.is_file()]:
        return found
    if any(next(find_below(folder, pattern), None) is not None for pattern in ("*.json", "*.eval", "samples_*.jsonl")):
        return []
    by_kind: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        if (kind := kind_of_name(path)) and path.is_file():
            by_kind.setdefault(kind, []).append(path)
    if len(by_kind) > 1:
        first = folder / f"*{next(iter(by_kind))}"
        raise InputError(
            f"{str(folder)!r} is a folder with files of several kinds, {listed(by_kind)}: name those of one kind, "
            f"such as '{first}'"
        )
    if not by_kind or ".pgn" in by_kind:  # games stand in folders by year or event, too
        return [path for path in find_below(folder, "*") if kind_of_name(path) == ".pgn" and path.is_file()]
    return next(iter(by_kind.values()))


def kind_of_name(path: Path) -> str | None:
    """Return what kind of table a file is by its name, packed or not; nothing for others and for hidden ones."""
    if path.name.startswith((".", "_")):
        return None
    return TABLES.get((path.with_suffix("") if path.suffix in PACKED else path).suffix)


CHUNK = 1 << 20
# No line, json object or quoted field of a real data set comes near this; a hostile one goes past it.
LONGEST_RECORD = 64 << 20
STANDARD_INPUT = "-"

# The source is open by then: these are about the copy.
NO_COPY = (*NO_ROOM, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT)
SMALL, SPARED = 16 << 20, 256 << 20  # bytes: a copy larger than the first leaves the second free for everybody else

GZIP, ZSTD, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"


@dataclass(frozen=True, kw_only=True)
class PlainFile:
    """An uncompressed file, the name under which the user knows it, and a note about where it was found."""

    path: Path
    name: str
    note: str = ""


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
            copy_chunks(iterate_chunks(sys.stdin.buffer), named[0][0], "standard input")
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
    note = ""
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
                    copy_chunks(iterate_chunks(unpacked), target := workspace.path(copy), name)
            elif magic == ZIP and (entry := find_packed_table(stream)):
                note = f"read {shortened(entry)!r} of the zip file {name}"
                with zipfile.ZipFile(stream) as archive, archive.open(entry) as unpacked:
                    copy_chunks(iterate_chunks(unpacked), target := workspace.path(copy), name)
            elif magic == ZSTD:
                copy_chunks(iterate_zstd(stream), target := workspace.path(copy), name)
            elif glob.has_magic(str(path)):
                (target := workspace.path(copy)).symlink_to(path.resolve())  # scanners take the name for a pattern
            else:
                return PlainFile(path=path, name=name)
    except (InputError, WriteError):
        raise
    except OSError as error:
        raise InputError(f"cannot read {name!r}: {error.strerror or error}") from None
    except (zipfile.BadZipFile, ValueError, RuntimeError) as error:
        raise InputError(f"{name!r} is damaged: {error}") from None
    if not target.stat().st_size:
        raise InputError(f"{name!r} is empty")
    return PlainFile(path=target, name=name, note=note)


def find_packed_table(stream: IO[bytes]) -> str | None:
    """Return the table in a zip file that has nothing else, as downloads have it."""
    try:
        with zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError):  # said by the formats that are zip files
        return None
    return names[0] if len(names) == 1 and names[0].lower().endswith((*TABLES, ".json", ".parquet")) else None


def iterate_chunks(stream: Any) -> Iterator[bytes]:
    """Yield the content of a stream by chunks."""
    while chunk := stream.read(CHUNK):
        yield chunk


def copy_chunks(chunks: Iterator[bytes], target: Path, name: str) -> None:
    """Write the chunks of a stream to a file; a damaged or endless stream ends in one clear sentence."""
    try:
        with target.open("wb") as copy:
            for chunk in chunks:
                copy.write(chunk)
                if copy.tell() > SMALL and shutil.disk_usage(target.parent).free < SPARED:
                    raise OSError(errno.ENOSPC, "too little space would be left")
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


def iterate_zstd(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of a zstandard file by chunks.

    The library's own readers take a file that is cut short for a whole one; this one raises an EOFError.
    """
    import zstandard

    # A window of 128 MiB is the most that the command-line tool allows by default, too.
    start = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj
    frame, packed, open_frame = start(), b"", False
    while packed := packed or stream.read(CHUNK >> 6):  # zstd unpacks up to some 10,000-fold: little at a time
        try:
            yield frame.decompress(packed)
        except zstandard.ZstdError as error:
            raise zlib.error(str(error)) from None
        packed, open_frame = (frame.unused_data, False) if frame.eof else (b"", True)
        frame = start() if frame.eof else frame
    if open_frame:
        raise EOFError


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
        if find_state(path) != old:
            raise InputError(f"{str(path)!r} changed while it was read: read it again, or a copy")
    if failed is not None:
        raise failed


def find_state(path: Path) -> tuple[int, int, int] | None:
    """Return size, time of the last write and number of a file; None where it is not there, zeros for a folder."""
    try:
        about = path.stat()
    except OSError:
        return None
    return (0, 0, 0) if stat.S_ISDIR(about.st_mode) else (about.st_size, about.st_mtime_ns, about.st_ino)
