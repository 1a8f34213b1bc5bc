"""Folders: which files in one are read. Hidden folders and Python environments are never entered."""

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from nashboard._text import listed
from nashboard.errors import InputError

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
    if not by_kind:
        return [path for path in find_below(folder, "*.pgn") if path.is_file()]
    return next(iter(by_kind.values()))


def kind_of_name(path: Path) -> str | None:
    """Return what kind of table a file is by its name, packed or not; nothing for others and for hidden ones."""
    if path.name.startswith((".", "_")):
        return None
    return TABLES.get((path.with_suffix("") if path.suffix in PACKED else path).suffix)
