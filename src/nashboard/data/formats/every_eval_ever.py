"""Every Eval Ever: one json file per model and source, with a direction for each metric."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

from nashboard.data.counting.cells import (
    Cell,
    average_runs,
    frame_cells,
    leave_out_averages,
    make_scores,
    refuse_two_directions,
)
from nashboard.data.formats.format import Format, Input, Leftovers, holds_any, read_documents
from nashboard.data.origin import LeftOut, Origin
from nashboard.data.scores import Scores
from nashboard.data.table.columns import is_derived
from nashboard.data.table.json_lines import read_document
from nashboard.data.table.values import parse_number
from nashboard.errors import InputError

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


def read(source: Input) -> Scores:
    """Read the scores of all files; repeated results of one model and evaluation are runs."""
    left, results = Leftovers(), list[Result]()
    for file, content in read_documents(source, read_document, left, "*.json"):
        with left.skip_bad(source.options, file.name, "bad files"):
            model, records = read_record(content, file.name)
            for k, record in enumerate(records, start=1):
                with left.skip_bad(source.options, f"{file.name}, result {k}", "bad results"):
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
        left_out.append(LeftOut("results", holes, "they have no score"))
    if averages := len(scored) - len(tasks):
        names = sorted({result.cell.task for result in scored if is_derived(result.cell.task)})
        left_out.extend(leave_out_averages(names, "results", averages))
    return make_scores(
        average_runs(cells),
        source=source.name,
        origin=Origin(source=source.name, format="every-eval-ever", rows=len(results), left_out=tuple(left_out)),
        lower_is_better=source.options.lower_is_better,
    )


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


def read_result(model: str, result: Any, name: str) -> Result:
    """Return one evaluation result."""
    with name_missing(name):
        return make_result(model, result, name)


def make_result(model: str, result: dict[str, Any], name: str) -> Result:
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


EVERY_EVAL_EVER = Format(
    "every-eval-ever",
    "scores",
    "Every Eval Ever records, one file or a folder",
    fits=lambda x: holds_any(x, is_record, "*.json"),
    read=read,
    options=("lower_is_better", "metric", "bad_rows"),
    on_frames=False,
)
