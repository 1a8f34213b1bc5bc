"""Logs of Inspect (json, or ``.eval`` archives; of tasks, or of samples whose epochs are runs) and Every Eval Ever."""

import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import polars as pl

from nashboard.data.counting.cells import (
    Cell,
    average_runs,
    frame_cells,
    leave_out_averages,
    refuse_two_directions,
)
from nashboard.data.formats.format import (
    FURTHER,
    MOST_LOOKED_AT,
    Input,
    Leftovers,
    find_files,
    finish_scores,
    holds_any,
    note_replaced,
    read_documents,
)
from nashboard.data.origin import LeftOut
from nashboard.data.scores import Scores
from nashboard.data.sources.paths import PlainFile
from nashboard.data.table.columns import is_derived
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
        raise InputError(f"{file.name!r} is damaged or not a zip archive: {error}") from None


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


def fits_logs(source: Input) -> bool:
    """Return whether this is a log, or a folder with logs."""
    if source.opened is None and source.files and source.kind == "zip":
        return is_archive(source.files[0])
    if source.kind == "directory" and any(is_archive(file) for file in find_files(source, "*.eval")[:MOST_LOOKED_AT]):
        return True
    return holds_any(source, is_log, "*.json")


def open_logs(source: Input) -> tuple[list[Log], Leftovers]:
    """Return the finished logs, oldest first, and what was left out."""
    logs, left = [], Leftovers()
    for file, log in read_documents(source, open_log, left, "*.eval", "*.json"):
        if log is None:
            left.add("files", "not a log of Inspect", file.name)
        elif log.finished:
            logs.append(log)
        else:
            left.add("logs", "the evaluation did not finish", file.name)
    if not logs:
        raise InputError(f"{source.name!r} contains no finished log of Inspect")
    return sorted(logs, key=lambda log: (log.created, log.file.name)), left


def read_tasks(source: Input) -> Scores:
    """Read a score per agent and task, with its standard error and number of samples."""
    logs, left = open_logs(source)
    cells: dict[tuple[str, str], Cell] = {}
    replaced = 0
    for log in logs:
        for cell in score_tasks(log, source.options.metric, left):
            replaced += (cell.agent, cell.task) in cells
            cells[cell.agent, cell.task] = cell
    if not cells:
        raise InputError(f"{source.name!r} contains no score with a number: are the logs scored?")
    left_out = (*left.entries(), *note_replaced(replaced, "log"))
    return finish_scores(source, list(cells.values()), "inspect", rows=len(logs), left_out=left_out)


def score_tasks(log: Log, wanted: str | None, left: Leftovers) -> Iterator[Cell]:
    """Yield the score of each scorer of a log; the scorer's name is added where there are several."""
    results = log.header.get("results")
    results = results if isinstance(results, dict) else {}
    scores = [score for score in results.get("scores") or [] if isinstance(score, dict)]
    samples = results.get("completed_samples") or results.get("total_samples")
    for score in scores:
        metrics = score.get("metrics") if isinstance(score.get("metrics"), dict) else {}
        values = {name: one.get("value") if isinstance(one, dict) else one for name, one in (metrics or {}).items()}
        names = [name for name in values if name != "stderr" and is_number(values[name])]
        usable = [name for name in names if wanted in (None, name)]
        if not usable:
            left.add("scores", f"no metric {wanted!r}" if names else "no number", f"{log.task} ({score.get('name')})")
            continue
        chosen = min(usable, key=lambda name: PREFERRED.index(name) if name in PREFERRED else len(PREFERRED))
        left.add_once(*FURTHER, *(name for name in names if name != chosen))
        where = f"{log.file.name!r}, metric {chosen!r}"
        yield Cell(
            agent=log.agent,
            task=log.task if len(scores) == 1 else f"{log.task} ({score.get('name')})",
            score=parse_number(values[chosen], where),
            stderr=parse_number(values.get("stderr"), f"{where}, stderr"),
            n=parse_number(samples, f"{where}, number of samples"),
        )


def read_samples(source: Input) -> Scores:
    """Read a score per agent and sample; the epochs of a sample are runs."""
    logs, left = open_logs(source)
    cells: list[Cell] = []
    groups: dict[str, str] = {}
    unscored = rows = 0
    for log in logs:
        for sample in iterate_samples(log):
            rows += 1
            item = f"{log.task}/{sample.get('id')}"
            score = score_sample(sample, source.options.metric, left)
            if score is None:
                unscored += 1
                continue
            groups[item] = log.task
            cells.append(Cell(agent=log.agent, task=item, score=score, n=1.0))
    if not cells:
        raise InputError(f"{source.name!r} contains no sample with a score")
    left_out = (*left.entries(), *((LeftOut("samples", unscored, "no score"),) if unscored else ()))
    scores = average_runs(frame_cells(cells)).with_columns(n=pl.lit(None, dtype=pl.Float64))
    return finish_scores(source, scores, "inspect-samples", rows=rows, left_out=left_out, groups=groups)


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


def score_sample(sample: dict[str, Any], wanted: str | None, left: Leftovers) -> float | None:
    """Return the score of a sample by the scorer asked for, or by the first."""
    scores = sample.get("scores")
    if not isinstance(scores, dict):
        return None
    for scorer, score in scores.items():
        if wanted is not None and scorer != wanted:
            continue
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, str):
            value = LETTERS.get(value, value)
        if isinstance(value, bool | int | float | str) and is_number(value):
            left.add_once("further scorers", "each sample keeps one", *(name for name in scores if name != scorer))
            return parse_number(value, json.dumps(scorer))
    return None


METRIC_NAMES = ("metric_id", "metric_name", "evaluation_description")  # the most exact first
UNKNOWN_LEVEL = -1  # what a score means whose metric has levels and says that one may be unknown


@dataclass(frozen=True, kw_only=True)
class Result:
    """One evaluation result: the cell, and what tells it from others of the same evaluation name."""

    cell: Cell
    dataset: str
    metric: str
    file: str


def is_record(content: Any) -> bool:
    """Return whether a json document has a model and evaluation results."""
    return isinstance(content, dict) and "model_info" in content and "evaluation_results" in content


def read_records(source: Input) -> Scores:
    """Read the scores of all files; repeated results of one model and evaluation are runs."""
    left, results = Leftovers(), list[Result]()
    for file, content in read_documents(source, read_document, left, "*.json"):
        with left.skip_bad(source.options, file.name, "bad files"):
            model, records = read_record(content, file.name)
            for k, record in enumerate(records, start=1):
                with left.skip_bad(source.options, f"{file.name}, result {k}", "bad results"), name_missing(file.name):
                    results.append(read_result(model, record, file.name))
    scored = [result for result in results if result.cell.score is not None and not isnan(result.cell.score)]
    tasks = [result for result in scored if not is_derived(result.cell.task)]
    if not tasks:  # a source may publish nothing but an overall score
        tasks = scored
    cells = frame_cells(name_apart(tasks))
    if source.options.lower_is_better is None:
        refuse_two_directions(cells, source.name)
    left_out = [*left.entries()]
    if holes := len(results) - len(scored):
        left_out.append(LeftOut("results", holes, "no score"))
    if averages := len(scored) - len(tasks):
        names = sorted({result.cell.task for result in scored if is_derived(result.cell.task)})
        left_out.extend(leave_out_averages(names, "results", averages))
    return finish_scores(source, average_runs(cells), "every-eval-ever", rows=len(results), left_out=left_out)


def name_apart(results: list[Result]) -> list[Cell]:
    """Return the cells; an evaluation of several data sets or metrics becomes a task for each of them.

    Converters name an evaluation after the task or the scorer alone, so one name may stand for the accuracy
    and for the F1 of a task: different things, whose mean would be nothing. Only metrics that stand in one
    file are told apart, because different sources describe the same metric in different words.
    """
    datasets: dict[str, set[str]] = {}
    metrics: dict[tuple[str, str], set[str]] = {}
    for result in results:
        datasets.setdefault(result.cell.task, set()).add(result.dataset)
        metrics.setdefault((result.cell.task, result.file), set()).add(result.metric)
    several = {task for (task, _), names in metrics.items() if len(names) > 1}
    cells = []
    for result in results:
        task = result.cell.task
        marks = [result.dataset] * (len(datasets[task]) > 1) + [result.metric] * (task in several)
        told = ", ".join(filter(None, marks))
        cells.append(replace(result.cell, task=f"{task} ({told})") if told else result.cell)
    return cells


@contextmanager
def name_missing(name: str) -> Iterator[None]:
    """Turn a field that is missing or of another kind into one sentence."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{name!r} is not a record of Every Eval Ever: {type(error).__name__} at {error}") from None


def read_record(content: Any, name: str) -> tuple[str, list[Any]]:
    """Return the model of one file, and its results."""
    with name_missing(name):
        info = content["model_info"]
        model = info.get("id") or info["name"]  # the id is the same in every source, the name is the source's own
        return str(model), list(content["evaluation_results"])


def read_result(model: str, result: dict[str, Any], name: str) -> Result:
    """Return one evaluation result; a field that is missing is an ordinary error of Python."""
    task, details = str(result["evaluation_name"]), result["score_details"]
    config, data = result.get("metric_config") or {}, result.get("source_data")
    uncertainty = details.get("uncertainty") or {}
    error = uncertainty.get("standard_error")
    error = error.get("value") if isinstance(error, dict) else error
    where = f"{name!r}, evaluation {task!r}"
    score = parse_number(details["score"], where)
    return Result(
        cell=Cell(
            agent=model,
            task=task,
            score=None if config.get("has_unknown_level") and score == UNKNOWN_LEVEL else score,
            stderr=parse_number(error, f"{where}, standard error"),
            n=parse_number(uncertainty.get("num_samples"), f"{where}, number of samples"),
            lower_is_better=config.get("lower_is_better"),
        ),
        dataset=str(data.get("dataset_name") or "") if isinstance(data, dict) else "",
        metric=next((str(config[key]) for key in METRIC_NAMES if config.get(key)), ""),
        file=name,
    )
