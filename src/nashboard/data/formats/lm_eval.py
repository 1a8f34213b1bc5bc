"""lm-evaluation-harness: a folder of ``results_<time>.json``, one or more per model."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nashboard.data.cells import Cell, frame_of, number, scores_of
from nashboard.data.formats.format import Format, Input
from nashboard.data.json_objects import document
from nashboard.data.origin import LeftOut, Origin
from nashboard.data.scores import Scores
from nashboard.data.sources import PlainFile
from nashboard.errors import InputError, listed

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

LARGEST_RESULT = 64 << 20  # bytes; a result file is far smaller, a log of json lines may be far larger


@dataclass
class Gathered:
    """What was found in the files so far."""

    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    groups: set[str] = field(default_factory=set)
    other_metrics: set[str] = field(default_factory=set)
    replaced: int = 0


def result_files(source: Input) -> list[PlainFile]:
    """Return the result files of a folder, or the files named, oldest first."""
    if source.kind != "directory":
        return list(source.files)
    found = sorted(source.files[0].path.rglob("results*.json"), key=lambda path: (time_in(path), str(path)))
    return [PlainFile(path=path, name=str(path)) for path in found]


def time_in(path: Path) -> str:
    """Return the time in a file's name: a later result of the same model replaces an earlier one."""
    found = re.search(r"results_(.+)\.json$", path.name)
    return found.group(1) if found else ""


def fits(source: Input) -> bool:
    """Say whether this is a result file, or a folder with result files."""
    if source.kind == "directory":
        return next(source.files[0].path.rglob("results*.json"), None) is not None
    return source.kind in ("json", "json lines") and looks_like_results(source)


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
    gathered = Gathered()
    files = result_files(source)
    for file in files:
        gather(document(file), file.name, source.options.metric, gathered)
    if not gathered.cells:
        raise InputError(
            f"{source.name!r} holds no result with a number: is it a folder of lm-evaluation-harness results?"
        )
    left_out = []
    if gathered.groups:
        why = f"a group's row repeats its subtasks: {listed(sorted(gathered.groups))}"
        left_out.append(LeftOut(what="groups", count=len(gathered.groups), why=why))
    if gathered.other_metrics:
        why = f"a task is scored by one metric: {listed(sorted(gathered.other_metrics))}"
        left_out.append(LeftOut(what="further metrics", count=len(gathered.other_metrics), why=why))
    if gathered.replaced:
        left_out.append(
            LeftOut(what="results", count=gathered.replaced, why="a newer file has the same model and task")
        )
    return scores_of(
        frame_of(list(gathered.cells.values())),
        source=source.name,
        origin=Origin(source=source.name, format="lm-eval", rows=len(files), left_out=tuple(left_out)),
        lower_is_better=source.options.lower_is_better,
    )


def gather(content: Any, name: str, metric: str | None, gathered: Gathered) -> None:
    """Add the cells of one result file."""
    if not isinstance(content, dict) or not isinstance(content.get("results"), dict):
        raise InputError(f"{name!r} is not a result of lm-evaluation-harness: it has no object 'results'")
    config = content.get("config") if isinstance(content.get("config"), dict) else {}
    model = content.get("model_name") or (config or {}).get("model_args") or (config or {}).get("model")
    if not model:
        raise InputError(f"{name!r} does not say which model it is of: it has no 'model_name'")
    groups = {group for group, members in (content.get("group_subtasks") or {}).items() if members}
    groups |= set(content.get("groups") or {}) & set(content["results"])
    gathered.groups |= groups & set(content["results"])
    for task, result in content["results"].items():
        if task in groups or not isinstance(result, dict):
            continue
        key = chosen_metric(result, metric)
        if key is None:
            continue
        metric_name, _, filter_name = key.partition(",")
        gathered.other_metrics |= {other.partition(",")[0] for other in metrics(result)} - {metric_name}
        lower = (content.get("higher_is_better") or {}).get(task, {}).get(metric_name)
        samples = (content.get("n-samples") or {}).get(task, {})
        gathered.replaced += (str(model), task) in gathered.cells
        stderr = result.get(f"{metric_name}_stderr,{filter_name}")
        gathered.cells[str(model), task] = Cell(
            agent=str(model),
            task=task,
            score=number(result[key], f"{name!r}, task {task!r}, metric {key!r}"),
            stderr=number(stderr, f"{name!r}, task {task!r}, stderr of {key!r}"),
            n=samples.get("effective") if isinstance(samples, dict) else None,
            lower_is_better=None if lower is None else not lower,
        )


def metrics(result: dict[str, Any]) -> list[str]:
    """Return the keys ``metric,filter`` of a task that hold numbers, standard errors left out."""
    return [
        key
        for key, value in result.items()
        if "," in key and not key.partition(",")[0].endswith("_stderr") and isinstance(value, int | float)
    ]


def chosen_metric(result: dict[str, Any], wanted: str | None) -> str | None:
    """Return the key of the metric asked for, or the usual one, or the first."""
    keys = metrics(result)
    if wanted is not None:
        return next((key for key in keys if wanted in (key, key.partition(",")[0])), None)
    by_rank = sorted(keys, key=lambda key: rank(key.partition(",")[0]))
    return by_rank[0] if by_rank else None


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
