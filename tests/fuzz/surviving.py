"""What every input owes: it is read, or refused by an error of our own in one sentence; nothing else."""

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nashboard as nb
from fuzz.corpus import Input
from nashboard.data.inspection import inspected
from nashboard.data.read import read
from nashboard.errors import NashboardError
from nashboard.online.follow import Interruption, follow
from nashboard.online.games import Columns

LONGEST_SENTENCE = 2000  # characters: a message that repeats the file is no message


def learn(path: Path) -> object:
    """Let a league follow the log."""
    return list(follow(nb.OnlineElo(), str(path), path.with_name("state.npz"), Columns(), Interruption()))


ENTRIES: dict[str, Callable[[Any], object]] = {
    "read": lambda path: inspected(read(path)).table(),
    "read_matches": nb.read_matches,
    "read_scores": nb.read_scores,
    "read_payoffs": nb.read_payoffs,
    "skip": lambda path: inspected(read(path, bad_rows="skip")).table(),
    "drop": lambda path: read(path, self_matches="drop"),
    "runs": lambda path: nb.read_scores(path, repeats="runs"),
    "online": learn,
    "state": nb.OnlineMelo.load,
    "sqlite": lambda path: nb.read_matches(f"sqlite:///{path}", table="log"),
    "duckdb": lambda path: nb.read_matches(f"duckdb:///{path}", query="select * from log"),
}


def written(files: Input, folder: Path) -> Path:
    """Write an input into an empty folder; return the file, or the folder of several."""
    for name, data in files.items():
        path = folder / "input" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, ns=(0, 0))  # readers wait a moment where a file was written just now
    return (
        folder / "input" / next(iter(files)) if len(files) == 1 and "/" not in next(iter(files)) else folder / "input"
    )


def entry_for(files: Input, number: int) -> str:
    """Return by which entry a case is read; a reader of one kind refuses most files at the door."""
    database = next(iter(files)).partition(".")[2]
    if number % 8:  # most cases are told apart by `read` itself, which knows no file of a database
        return database if database in ENTRIES else "skip" if number % 8 < 4 else "read"
    return tuple(ENTRIES)[number // 8 % len(ENTRIES)]


def survive(files: Input, entry: str, folder: Path) -> bool:
    """Read an input; return whether it was sound, and raise whatever is not an error of our own in one sentence."""
    path = written(files, folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ENTRIES[entry](path)
    except NashboardError as error:
        refuse_bad_sentence(str(error))
        return False
    return True


def refuse_bad_sentence(said: str) -> None:
    """Raise an error about a message that is not one sentence of a length that people read."""
    assert said, "the error says nothing"
    assert "\n" not in said, f"not one sentence: {said!r}"
    assert len(said) <= LONGEST_SENTENCE, f"a message of {len(said):,} characters: {said[:200]!r}"
