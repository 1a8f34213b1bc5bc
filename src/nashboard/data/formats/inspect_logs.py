"""Logs of Inspect: json, or ``.eval`` archives; scores of whole tasks, or of single samples, whose epochs are runs."""

import json
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from nashboard.data.counting.cells import Cell, average_runs, frame_cells, make_scores
from nashboard.data.formats.format import (
    MOST_LOOKED_AT,
    Format,
    Input,
    Leftovers,
    find_files,
    holds_any,
    note_replaced,
    read_documents,
)
from nashboard.data.origin import LeftOut, Origin
from nashboard.data.scores import Scores
from nashboard.data.sources.paths import PlainFile
from nashboard.data.table.json_lines import parse_json, read_document
from nashboard.data.table.values import is_number, parse_number
from nashboard.errors import InputError

HEADER = "header.json"
LARGEST_ENTRY = 64 << 20  # bytes of one entry of an archive, unpacked
PREFERRED = ("accuracy", "mean", "score")  # metrics that a task is usually quoted by
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partial, incorrect, no answer


@dataclass(frozen=True, kw_only=True)
class Log:
    """One evaluation log: its description, and where its samples are."""

    file: PlainFile
    header: dict[str, Any]

    @property
    def agent(self) -> str:
        """The model."""
        return str(self.header["eval"]["model"])

    @property
    def task(self) -> str:
        """The task, without the package that it is from."""
        return str(self.header["eval"]["task"]).rpartition("/")[2]

    @property
    def created(self) -> str:
        """When the log was made."""
        return str(self.header["eval"].get("created") or "")

    @property
    def finished(self) -> bool:
        """Whether the evaluation reached its end."""
        return bool(self.header.get("status", "success") == "success")


def is_log(content: Any) -> bool:
    """Return whether a json document is an evaluation log."""
    described = content.get("eval") if isinstance(content, dict) else None
    return isinstance(described, dict) and "model" in described and "task" in described


def read_entry(archive: zipfile.ZipFile, name: str, file: PlainFile) -> Any:
    """Return one json entry of an archive, within a limit."""
    where = f"{file.name}, {name}"
    try:
        if archive.getinfo(name).file_size > LARGEST_ENTRY:
            raise InputError(f"{where!r} is larger than {LARGEST_ENTRY >> 20} MB")
        with archive.open(name) as stream:
            text = stream.read(LARGEST_ENTRY + 1)
        if len(text) > LARGEST_ENTRY:
            raise InputError(f"{where!r} is larger than {LARGEST_ENTRY >> 20} MB")
        return parse_json(text.decode("utf-8"), where)
    except NotImplementedError:
        raise InputError(
            f"{file.name!r} is compressed by a method that Python cannot unpack: convert it with `inspect log convert "
            f"--to json`"
        ) from None
    except (KeyError, RuntimeError, OSError, zlib.error, zipfile.BadZipFile, UnicodeDecodeError, EOFError) as error:
        raise InputError(f"{where!r} cannot be read: {error}") from None


def open_archive(file: PlainFile) -> zipfile.ZipFile:
    """Open an archive, or say that it is damaged."""
    try:
        return zipfile.ZipFile(file.path)
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
        raise InputError(f"{file.name!r} is damaged or no zip archive: {error}") from None


def is_archive(file: PlainFile) -> bool:
    """Return whether a file is a zip archive with a log in it."""
    try:
        with open_archive(file) as archive:
            names = set(archive.namelist())
            return HEADER in names or any(name.startswith("_journal/") for name in names)
    except InputError:
        return False


def open_log(file: PlainFile) -> Log | None:
    """Return the log in a file, None where it is something else."""
    if zipfile.is_zipfile(file.path):
        with open_archive(file) as archive:
            if HEADER not in archive.namelist():
                raise InputError(f"{file.name!r} has no {HEADER}: the evaluation did not finish")
            content = read_entry(archive, HEADER, file)
    else:
        content = read_document(file)
    return Log(file=file, header=content) if is_log(content) else None


def fits(source: Input) -> bool:
    """Return whether this is a log, or a folder with logs."""
    if source.opened is None and source.files and source.kind == "zip":
        return is_archive(source.files[0])
    if source.kind == "directory" and any(is_archive(file) for file in find_files(source, "*.eval")[:MOST_LOOKED_AT]):
        return True
    return holds_any(source, is_log, "*.json")


def open_logs(source: Input) -> tuple[list[Log], tuple[LeftOut, ...]]:
    """Return the finished logs, oldest first, and what was left out."""
    logs, left = [], Leftovers()
    for file, log in read_documents(source, open_log, left, "*.eval", "*.json"):
        if log is None:
            left.add("files", "they are not logs of Inspect", file.name)
        elif log.finished:
            logs.append(log)
        else:
            left.add("logs", "the evaluation did not finish", file.name)
    if not logs:
        raise InputError(f"{source.name!r} contains no finished log of Inspect")
    return sorted(logs, key=lambda log: (log.created, log.file.name)), left.entries()


def read_tasks(source: Input) -> Scores:
    """Read a score per agent and task, with its standard error and number of samples."""
    logs, left_out = open_logs(source)
    cells: dict[tuple[str, str], Cell] = {}
    replaced = 0
    for log in logs:
        for cell in score_tasks(log, source.options.metric):
            replaced += (cell.agent, cell.task) in cells
            cells[cell.agent, cell.task] = cell
    if not cells:
        raise InputError(f"{source.name!r} contains no score with a number: are the logs scored?")
    left_out += note_replaced(replaced, "log")
    return make_scores(
        frame_cells(list(cells.values())),
        source=source.name,
        origin=Origin(source=source.name, format="inspect", rows=len(logs), left_out=left_out),
        lower_is_better=source.options.lower_is_better,
    )


def score_tasks(log: Log, wanted: str | None) -> Iterator[Cell]:
    """Yield the score of each scorer of a log; the scorer's name is added where there are several."""
    results = log.header.get("results")
    results = results if isinstance(results, dict) else {}
    scores = [score for score in results.get("scores") or [] if isinstance(score, dict)]
    samples = results.get("completed_samples") or results.get("total_samples")
    for score in scores:
        metrics = score.get("metrics") if isinstance(score.get("metrics"), dict) else {}
        values = {name: get_value(metric) for name, metric in (metrics or {}).items()}
        names = [name for name in values if name != "stderr" and is_number(values[name])]
        if wanted is not None:
            names = [name for name in names if name == wanted]
        if not names:
            continue
        chosen = min(names, key=lambda name: PREFERRED.index(name) if name in PREFERRED else len(PREFERRED))
        where = f"{log.file.name!r}, metric {chosen!r}"
        yield Cell(
            agent=log.agent,
            task=log.task if len(scores) == 1 else f"{log.task} ({score.get('name')})",
            score=parse_number(values[chosen], where),
            stderr=parse_number(values.get("stderr"), f"{where}, stderr"),
            n=parse_number(samples, f"{where}, number of samples"),
        )


def get_value(metric: Any) -> Any:
    """Return the value of a metric, which is an object or a plain number."""
    return metric.get("value") if isinstance(metric, dict) else metric


def read_samples(source: Input) -> Scores:
    """Read a score per agent and sample; the epochs of a sample are runs."""
    logs, left_out = open_logs(source)
    cells: list[Cell] = []
    groups: dict[str, str] = {}
    unscored = rows = 0
    for log in logs:
        for sample in iterate_samples(log):
            rows += 1
            item = f"{log.task}/{sample.get('id')}"
            score = score_sample(sample, source.options.metric)
            if score is None:
                unscored += 1
                continue
            groups[item] = log.task
            cells.append(Cell(agent=log.agent, task=item, score=score, n=1.0))
    if not cells:
        raise InputError(f"{source.name!r} contains no sample with a score")
    if unscored:
        left_out += (LeftOut("samples", unscored, "they have no score"),)
    return make_scores(
        average_runs(frame_cells(cells)).with_columns(n=pl.lit(None, dtype=pl.Float64)),
        source=source.name,
        origin=Origin(source=source.name, format="inspect-samples", rows=rows, left_out=left_out),
        lower_is_better=source.options.lower_is_better,
        groups=groups,
    )


def iterate_samples(log: Log) -> Iterator[dict[str, Any]]:
    """Yield the samples of a log, one at a time."""
    if not zipfile.is_zipfile(log.file.path):
        samples = log.header.get("samples")
        yield from (sample for sample in samples or [] if isinstance(sample, dict))
        return
    with open_archive(log.file) as archive:
        for name in sorted(
            name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json")
        ):
            sample = read_entry(archive, name, log.file)
            if isinstance(sample, dict):
                yield sample


def score_sample(sample: dict[str, Any], wanted: str | None) -> float | None:
    """Return the score of a sample by the scorer asked for, or by the first."""
    scores = sample.get("scores")
    if not isinstance(scores, dict):
        return None
    for scorer, score in scores.items():
        if wanted is not None and scorer != wanted:
            continue
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, str) and value in LETTERS:
            return LETTERS[value]
        if isinstance(value, bool | int | float | str) and is_number(value):
            return parse_number(value, json.dumps(scorer))
    return None


INSPECT = (
    Format(
        "inspect",
        "scores",
        "logs of Inspect, json or .eval: a score per agent and task",
        fits=fits,
        read=read_tasks,
        options=("lower_is_better", "metric", "bad_rows"),
        on_frames=False,
    ),
    Format(
        "inspect-samples",
        "scores",
        "logs of Inspect, a score per agent and sample (only if asked for)",
        fits=lambda x: False,
        read=read_samples,
        options=("lower_is_better", "metric", "bad_rows"),
        on_frames=False,
    ),
)
