"""What readers of evaluation harnesses share: the files of a folder, how one is recognised, and what is left out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from nashboard._text import listed
from nashboard.data.formats.format import Input
from nashboard.data.origin import LeftOut
from nashboard.data.sources.paths import PlainFile, find_below
from nashboard.data.table.json_lines import read_document
from nashboard.errors import InputError

LARGEST_RESULT = 64 << 20  # bytes; a result file is far smaller, a log of json lines may be far larger
MOST_LOOKED_AT = 20  # files of a folder that are looked at to tell what it holds
BAD_FILES = ("bad files", "they cannot be read")


@dataclass
class Leftovers:
    """Names of what was found but not used, by what it is and why."""

    names: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, what: str, why: str, *names: str) -> None:
        """Add what was not used."""
        if names:
            self.names.setdefault((what, why), []).extend(names)

    def entries(self) -> tuple[LeftOut, ...]:
        """Return an entry for each reason."""
        return tuple(
            LeftOut(what=what, count=len(names), why=f"{why}: {listed(names)}")
            for (what, why), names in self.names.items()
        )


def find_files(source: Input, *patterns: str) -> list[PlainFile]:
    """Return the files of a folder with such names, or the files named."""
    if source.kind != "directory":
        return list(source.files)
    folder = source.files[0].path
    paths = sorted({path for pattern in patterns for path in find_below(folder, pattern)})
    return [PlainFile(path=path, name=str(path)) for path in paths if path.is_file()]


def holds_any(source: Input, is_one: Callable[[Any], bool], *patterns: str) -> bool:
    """Return whether a json document is of a kind, or one of the first files of a folder."""
    if source.opened is not None or not source.files:
        return False
    if source.kind != "directory":
        return is_one(source.document)
    for file in find_files(source, *patterns)[:MOST_LOOKED_AT]:
        try:
            if file.path.stat().st_size <= LARGEST_RESULT and is_one(read_document(file)):
                return True
        except InputError:
            continue
    return False


def read_documents(
    source: Input, read: Callable[[PlainFile], Any], left: Leftovers, *patterns: str
) -> Iterator[tuple[PlainFile, Any]]:
    """Yield what is read from each file; one that cannot be read is an error, or left out where bad rows are."""
    for file in find_files(source, *patterns):
        try:
            content = read(file)
        except InputError:
            if not source.options.skip_bad:
                raise
            left.add(*BAD_FILES, file.name)
        else:
            yield file, content


def note_replaced(number: int, what: str) -> tuple[LeftOut, ...]:
    """Return the entry for older results of the same agent and task."""
    return (LeftOut(what="results", count=number, why=f"a newer {what} has the same agent and task"),) if number else ()
