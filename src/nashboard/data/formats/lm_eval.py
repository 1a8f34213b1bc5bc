"""lm-evaluation-harness: a folder of ``results_<time>.json``, one or more per model."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nashboard._text import listed, nearest
from nashboard.data.cells import Cell, frame_of, number, scores_of
from nashboard.data.folders import below
from nashboard.data.formats.format import Format, Input
from nashboard.data.json_objects import document
from nashboard.data.origin import LeftOut, Origin
from nashboard.data.scores import Scores
from nashboard.data.sources import PlainFile
from nashboard.errors import InputError

# The metric that a task is usually quoted by comes first; metric= chooses another.
PREFERRED = (
    "acc_norm",
    "acc",
    "exact_match",
    "pass@1",
    "prompt_level_strict_acc",
    "f1",
    "em",
    "mc2",
    "bleu",
    "word_perplexity",
)
# Results before version 0.4.3 do not say which metrics are good when low; the harness says it of these.
LOW_IS_GOOD = ("perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte", "brier_score", "ter")
# What stands beside the metrics of a task, where keys have no filter to tell metrics by.
NOT_METRICS = ("alias", "name", "samples", "sample_len", "sample_count")
# The arguments that hold a model's name, in the harness's own order.
MODEL_ARGUMENTS = ("peft", "delta", "pretrained", "model", "path", "engine")

RESULTS = "results*.json"
LARGEST_RESULT = 64 << 20  # bytes; a result file is far smaller, a log of json lines may be far larger


@dataclass
class Gathered:
    """What was found in the files so far."""

    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    metrics: dict[tuple[str, str], str] = field(default_factory=dict)
    groups: set[str] = field(default_factory=set)
    other_metrics: set[str] = field(default_factory=set)
    unmeasured: set[str] = field(default_factory=set)
    replaced: int = 0
    rows: int = 0


def result_files(source: Input) -> list[PlainFile]:
    """Return the result files of a folder, or the files named, oldest first."""
    if source.kind != "directory":
        files = list(source.files)
    else:
        files = [PlainFile(path=path, name=str(path)) for path in below(source.files[0].path, RESULTS)]
    return sorted(files, key=lambda file: (time_in(file.name), file.name))


def time_in(name: str) -> str:
    """Return the time in a file's name: a later result of the same model replaces an earlier one."""
    found = re.search(r"results_(.+)\.json", Path(name).name)
    return found.group(1) if found else ""


def fits(source: Input) -> bool:
    """Say whether this is a result file, or a folder with result files."""
    if source.kind == "directory":
        return next(below(source.files[0].path, RESULTS), None) is not None
    return source.is_document and looks_like_results(source)


def looks_like_results(source: Input) -> bool:
    """Say whether a json document has an object of results by task."""
    if source.files[0].path.stat().st_size > LARGEST_RESULT:
        return False
    try:
        content = source.document
    except InputError:
        return False
    return isinstance(content, dict) and isinstance(content.get("results"), dict)


def read(source: Input) -> Scores:
    """Read subtasks without their group rows, one metric per task, the newest result of each model."""
    gathered, metric = Gathered(), source.options.metric
    files = result_files(source)
    for file in files:
        gather(document(file), file.name, metric, gathered)
    # a group in one file is a group in all, also where another file does not list its subtasks
    cells = {key: cell for key, cell in gathered.cells.items() if key[1] not in gathered.groups}
    if not cells:
        raise nothing_found(source.name, metric, gathered)
    refuse_mixed_metrics({key: gathered.metrics[key] for key in cells}, source.name)
    return scores_of(
        frame_of(list(cells.values())),
        source=source.name,
        origin=Origin(source=source.name, format="lm-eval", rows=gathered.rows, left_out=left_out(gathered, metric)),
        lower_is_better=source.options.lower_is_better,
    )


def nothing_found(name: str, metric: str | None, gathered: Gathered) -> InputError:
    """Return the error for files without a usable result."""
    if metric is not None and gathered.unmeasured:
        known = sorted(gathered.other_metrics)
        return InputError(
            f"{name!r}: no task has the metric {metric!r}{nearest(metric, known)}: there are {listed(known)}"
        )
    return InputError(f"{name!r} holds no result with a number: is it a folder of lm-evaluation-harness results?")


def left_out(gathered: Gathered, metric: str | None) -> tuple[LeftOut, ...]:
    """Return what was found in the files but not used, and why."""
    entries = []
    if gathered.groups:
        why = f"a group's row repeats its subtasks: {listed(sorted(gathered.groups))}"
        entries.append(LeftOut(what="groups", count=len(gathered.groups), why=why))
    if gathered.unmeasured:
        why = f"they have no metric {metric!r}: {listed(sorted(gathered.unmeasured))}"
        entries.append(LeftOut(what="tasks", count=len(gathered.unmeasured), why=why))
    if gathered.other_metrics:
        why = f"a task is scored by one metric: {listed(sorted(gathered.other_metrics))}"
        entries.append(LeftOut(what="further metrics", count=len(gathered.other_metrics), why=why))
    if gathered.replaced:
        why = "a newer file has the same model and task"
        entries.append(LeftOut(what="results", count=gathered.replaced, why=why))
    return tuple(entries)


def refuse_mixed_metrics(used: dict[tuple[str, str], str], name: str) -> None:
    """Raise an error where two models were scored on one task by different metrics."""
    first: dict[str, tuple[str, str]] = {}
    for (model, task), metric in used.items():
        other, other_metric = first.setdefault(task, (model, metric))
        if metric != other_metric:
            raise InputError(
                f"{name!r}: the task {task!r} is scored by {other_metric!r} for {other!r} but by {metric!r} for "
                f"{model!r}",
                hint="pass {option} to choose one",
                option="metric",
            )


def gather(content: Any, name: str, metric: str | None, gathered: Gathered) -> None:
    """Add the cells of one result file."""
    if not isinstance(content, dict) or not isinstance(content.get("results"), dict):
        raise InputError(f"{name!r} is not a result of lm-evaluation-harness: it has no object 'results'")
    model, results = model_of(content, name), content["results"]
    groups = groups_of(content)
    gathered.groups |= groups
    for task, result in results.items():  # a row of the table that the harness prints
        gathered.rows += 1
        if task in groups or not isinstance(result, dict) or not metrics(result):
            continue
        key = chosen_metric(result, metric)
        gathered.other_metrics |= further_metrics(result, key)
        if key is None:
            gathered.unmeasured.add(task)
            continue
        metric_name, comma, filter_name = key.partition(",")
        higher = inner(inner(content, "higher_is_better"), task).get(metric_name)
        samples = inner(inner(content, "n-samples"), task)
        stderr = result.get(f"{metric_name}_stderr{comma}{filter_name}")
        gathered.replaced += (model, task) in gathered.cells
        gathered.metrics[model, task] = f"{metric_name},{filter_name or 'none'}"
        gathered.cells[model, task] = Cell(
            agent=model,
            task=task,
            score=number(result[key], f"{name!r}, task {task!r}, metric {key!r}"),
            stderr=number(stderr, f"{name!r}, task {task!r}, stderr of {key!r}"),
            n=number(samples.get("effective"), f"{name!r}, task {task!r}, number of samples"),
            lower_is_better=not higher if higher is not None else True if metric_name in LOW_IS_GOOD else None,
        )


def model_of(content: dict[str, Any], name: str) -> str:
    """Return the model's name; older files have it only among the model's arguments."""
    config: dict[str, Any] = content["config"] if isinstance(content.get("config"), dict) else {}
    arguments = config.get("model_args")
    if not isinstance(arguments, dict | str):
        arguments = {}
    if isinstance(arguments, str):
        arguments = dict(part.split("=", 1) for part in arguments.split(",") if "=" in part)
    named = next((arguments[key] for key in MODEL_ARGUMENTS if arguments.get(key)), None)
    model = content.get("model_name") or named or config.get("model_args") or config.get("model")
    if not model:
        raise InputError(f"{name!r} does not say which model it is of: it has no 'model_name'")
    return str(model)


def groups_of(content: dict[str, Any]) -> set[str]:
    """Return the tasks whose row is the mean of others; a group whose subtasks are not there is a task itself."""
    results, members = content["results"], inner(content, "group_subtasks")
    groups = {group for group, tasks in members.items() if isinstance(tasks, list) and known(tasks, results)}
    groups |= {group for group in inner(content, "groups") if group not in members}
    return groups & set(results)


def known(tasks: list[Any], results: dict[str, Any]) -> bool:
    """Say whether one of these tasks has a result."""
    return any(isinstance(task, str) and task in results for task in tasks)


def inner(content: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the object of that name; anything else in its place says nothing."""
    found = content.get(name)
    return found if isinstance(found, dict) else {}


def metrics(result: dict[str, Any]) -> list[str]:
    """Return the keys ``metric,filter`` of a task that hold numbers, standard errors left out.

    Before version 0.4 there were no filters, and the key is the metric alone.
    """
    filtered = any("," in key for key in result)
    return [
        key
        for key, value in result.items()
        if ("," in key if filtered else key not in NOT_METRICS)
        and not key.partition(",")[0].endswith("_stderr")
        and isinstance(value, int | float)
    ]


def chosen_metric(result: dict[str, Any], wanted: str | None) -> str | None:
    """Return the key of the metric asked for, or the usual one, or the first."""
    keys = metrics(result)
    if wanted is not None:
        return next((key for key in keys if wanted in (key, key.partition(",")[0])), None)
    by_rank = sorted(keys, key=lambda key: rank(key.partition(",")[0]))
    return by_rank[0] if by_rank else None


def further_metrics(result: dict[str, Any], chosen: str | None) -> set[str]:
    """Return the metrics of a task that are not used; a filter is named only where it makes the difference."""
    used = (chosen or "").partition(",")[0]
    names = {key: key.partition(",")[0] for key in metrics(result) if key != chosen}
    return {key if name == used else name for key, name in names.items()}


def rank(metric: str) -> int:
    """Return how usual a metric is, the most usual first."""
    return PREFERRED.index(metric) if metric in PREFERRED else len(PREFERRED)


LM_EVAL = Format(
    name="lm-eval",
    makes="scores",
    holds="a folder of lm-evaluation-harness results, or one of them",
    fits=fits,
    read=read,
)
