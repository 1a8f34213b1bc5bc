"""What the tests of the formats share: the hand-written files, and data in a form that can be compared."""

import gzip
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

import nashboard as nb
from nashboard.data.origin import Origin

FILES = Path(__file__).parents[2] / "files"

Counts = dict[tuple[str, str], tuple[float, float, float]]


def counts(matches: nb.Matches) -> Counts:
    """Return wins, draws and losses of the first agent of each pair that met."""
    return {
        (matches.agents[i], matches.agents[j]): (float(wins), float(draws), float(losses))
        for (i, j), wins, draws, losses in zip(matches.pairs, matches.wins, matches.draws, matches.losses, strict=True)
    }


def table(scores: nb.Scores, what: str = "values") -> dict[str, dict[str, float]]:
    """Return the cells that are known, by agent and task."""
    return {
        agent: {task: float(cell) for task, cell in zip(scores.tasks, row, strict=True) if not np.isnan(cell)}
        for agent, row in zip(scores.agents, getattr(scores, what), strict=True)
    }


def low_is_good(scores: nb.Scores) -> set[str]:
    """Return the tasks where a low score is good."""
    return {task for task, lower in zip(scores.tasks, scores.lower_is_better, strict=True) if lower}


def left_out(data: nb.Matches | nb.Scores | nb.Payoffs) -> list[tuple[str, int, str]]:
    """Return what was left out, how often and why."""
    return [(entry.what, entry.count, entry.why) for entry in data.origin.left_out]


def everything(data: nb.Matches | nb.Scores | nb.Payoffs) -> dict[str, Any]:
    """Return all that was read, except the name of the source."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return [repr(cell) for cell in value.ravel().tolist()]  # NaN is equal to NaN only as text
        if isinstance(value, Origin):
            return (value.format, value.rows, value.left_out, value.notes, value.period)
        return {name: plain(part) for name, part in vars(value).items()} if is_dataclass(value) else value

    return {name: plain(getattr(data, name)) for name in data.__dataclass_fields__}


def packed(file: Path, packing: str, folder: Path) -> Path:
    """Return a compressed copy of a file."""
    if packing == "gzip":
        copy = folder / f"{file.name}.gz"
        copy.write_bytes(gzip.compress(file.read_bytes()))
    else:
        copy = folder / f"{file.name}.zst"
        copy.write_bytes(zstandard.compress(file.read_bytes()))
    return copy
