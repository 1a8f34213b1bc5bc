"""lm-evaluation-harness of every generation: result files, recognised by their content, and samples of single items.

An agent is a model and its revision, so that checkpoints of one model stay apart.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nashboard._text import listed, nearest
from nashboard.data.counting.cells import Cell, refuse_mixed_metrics
from nashboard.data.formats.format import (
    FURTHER,
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
from nashboard.data.sources.paths import SAMPLES, PlainFile, check_lines
from nashboard.data.table.json_lines import iterate_lines, parse_object, read_document, without_broken_lines
from nashboard.data.table.values import parse_number
from nashboard.errors import InputError

# The metric that a task is usually quoted by comes first; metric= chooses another.
PREFERRED = (
    "acc_norm", "acc", "exact_match", "pass@1", "prompt_level_strict_acc", "f1", "em", "mc2", "bleu", "word_perplexity",
)  # fmt: skip
# Results before version 0.4.3 do not say which metrics are good when low; the harness's own tasks do.
LOW_IS_GOOD = (
    "perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte", "brier_score", "ter", "wer",
    "likelihood_difference", "likelihood_diff",
)  # fmt: skip
# What stands beside the metrics of a task, where keys have no filter to tell metrics by.
NOT_METRICS = ("alias", "name", "samples", "sample_len", "sample_count")
NOT_ITEM_METRICS = ("doc_id", "doc_hash", "prompt_hash", "target_hash", "target")
# The arguments that hold a model's name, in the harness's own order.
MODEL_ARGUMENTS = ("peft", "delta", "pretrained", "model", "path", "engine")
MAIN = ("", "main", "none")  # revisions that are the model itself


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


def is_results(content: Any) -> bool:
    """Return whether a json document has an object of results by task, of one of the generations."""
    if not isinstance(content, dict):
        return False
    results = content.get("results")
    if not isinstance(results, dict) or not all(isinstance(result, dict) for result in results.values()):
        return False
    cells = [(name, cell) for result in results.values() for name, cell in result.items()]
    named = len(content) > 1 or any("," in name for name, _ in cells)  # results alone may be scores by agent
    return named and bool(results) and not any(isinstance(cell, dict) for _, cell in cells)


def fits_results(source: Input) -> bool:
    """Return whether this is a result file, or a folder with result files."""
    return any(holds_any(source, is_results, pattern) for pattern in ("results*.json", "*.json"))


def read_results(source: Input) -> Scores:
    """Read subtasks without their group rows, one metric per task, the newest result of each agent."""
    gathered, left, metric = Gathered(), Leftovers(), source.options.metric
    contents = []
    for file, content in read_documents(source, read_document, left, "*.json"):
        if is_results(content):
            contents.append((find_time(content, file.name), file.name, content))
        elif source.kind == "directory" and not Path(file.name).name.startswith("results"):
            left.add("files", "not a file of results", file.name)
        else:
            with left.skip_bad(source.options, file.name, "bad files"):
                raise InputError(f"{file.name!r} is not a result of lm-evaluation-harness: it has no object 'results'")
    for _, name, content in sorted(contents, key=lambda entry: entry[:2]):
        with left.skip_bad(source.options, name, "bad files"):
            gather_results(content, name, metric, gathered)
    # a group in one file is a group in all, also where another file does not list its subtasks
    cells = {key: cell for key, cell in gathered.cells.items() if key[1] not in gathered.groups}
    if not cells:
        raise describe_nothing(source.name, metric, gathered)
    refuse_mixed_metrics([(*key, gathered.metrics[key]) for key in cells], repr(source.name))
    if source.kind == "directory":
        samples = sorted({split_name(file.name)[0] for file in find_sample_files(source)})
        left.add("samples", "of single items, which format lm-eval-samples reads", *samples)
    left.add("groups", "a group's row repeats its subtasks", *sorted(gathered.groups))
    left.add("tasks", f"no metric {metric!r}", *sorted(gathered.unmeasured))
    left.add(*FURTHER, *sorted(gathered.other_metrics))
    left_out = (*left.entries(), *note_replaced(gathered.replaced, "file"))
    return finish_scores(source, list(cells.values()), "lm-eval", rows=gathered.rows, left_out=left_out)


def find_time(content: dict[str, Any], name: str) -> str:
    """Return when a result was made, so that times sort as text: from the file's name, or its content."""
    found = re.search(r"results_(.+)\.json", Path(name).name)
    if found:
        return found.group(1)
    date = content.get("date")
    return f"{float(date):020.3f}" if isinstance(date, int | float) else ""


def describe_nothing(name: str, metric: str | None, gathered: Gathered) -> InputError:
    """Return the error for files without a usable result."""
    if metric is not None and gathered.unmeasured:
        known = sorted(gathered.other_metrics)
        return InputError(
            f"{name!r}: no task has the metric {metric!r}{nearest(metric, known)}: there are {listed(known)}"
        )
    return InputError(f"{name!r} contains no result with a number: is it a folder of lm-evaluation-harness results?")


def gather_results(content: dict[str, Any], name: str, metric: str | None, gathered: Gathered) -> None:
    """Add the cells of one result file."""
    agent, groups = name_agent(content, name), find_groups(content)
    gathered.groups |= groups
    for task, result in content["results"].items():  # a row of the table that the harness prints
        gathered.rows += 1
        if task in groups or not list_metrics(result):
            continue
        key = choose_metric(result, metric)
        gathered.other_metrics |= list_further_metrics(result, key)
        if key is None:
            gathered.unmeasured.add(task)
            continue
        metric_name, comma, filter_name = key.partition(",")
        higher = get_object(get_object(content, "higher_is_better"), task).get(metric_name)
        samples = get_object(get_object(content, "n-samples"), task)
        stderr = result.get(f"{metric_name}_stderr{comma}{filter_name}")
        gathered.replaced += (agent, task) in gathered.cells
        gathered.metrics[agent, task] = f"{metric_name},{filter_name or 'none'}"
        gathered.cells[agent, task] = Cell(
            agent=agent,
            task=task,
            score=parse_number(result[key], f"{name!r}, task {task!r}, metric {key!r}"),
            stderr=parse_number(stderr, f"{name!r}, task {task!r}, stderr of {key!r}"),
            n=parse_number(samples.get("effective"), f"{name!r}, task {task!r}, number of samples"),
            lower_is_better=not higher if isinstance(higher, bool) else is_low_metric(metric_name),
        )


def is_low_metric(metric: str) -> bool | None:
    """Return True for a metric that is good when low, None where nobody says so."""
    return True if metric in LOW_IS_GOOD else None


def name_agent(content: dict[str, Any], name: str) -> str:
    """Return the model's name, with its revision where it has one; older files have both among the arguments."""
    config = get_object(content, "config") or get_object(content, "config_general")  # the second is lighteval's
    arguments = config.get("model_args")
    if isinstance(arguments, str):
        arguments = dict(part.split("=", 1) for part in arguments.split(",") if "=" in part)
    arguments = arguments if isinstance(arguments, dict) else {}
    named = next((arguments[key] for key in MODEL_ARGUMENTS if arguments.get(key)), None)
    model = content.get("model_name") or named or config.get("model_name")
    model = model or config.get("model_args") or config.get("model")
    if not model:
        raise InputError(f"{name!r} does not name its model: it has no 'model_name'")
    revision = str(arguments.get("revision") or config.get("model_revision") or "").strip()
    return str(model) if revision.casefold() in MAIN else f"{model}@{revision}"


def find_groups(content: dict[str, Any]) -> set[str]:
    """Return the tasks whose row is the mean of others; a group whose subtasks are not there is a task itself."""
    results, members = content["results"], get_object(content, "group_subtasks")
    groups = {
        group
        for group, tasks in members.items()
        if isinstance(tasks, list) and any(isinstance(task, str) and task in results for task in tasks)
    }
    groups |= {group for group in get_object(content, "groups") if group not in members}
    if "config_general" in content:  # lighteval's own averages
        groups |= {task for task in results if task == "all" or ":_average|" in task}
    return groups & set(results)


def get_object(content: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the object of that name; anything else in its place says nothing."""
    found = content.get(name)
    return found if isinstance(found, dict) else {}


def list_metrics(result: dict[str, Any]) -> list[str]:
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


def choose_metric(result: dict[str, Any], wanted: str | None) -> str | None:
    """Return the key of the metric asked for, or the usual one, or the first."""
    keys = list_metrics(result)
    if wanted is not None:
        return next((key for key in keys if wanted in (key, key.partition(",")[0])), None)
    by_rank = sorted(keys, key=lambda key: rank_metric(key.partition(",")[0]))
    return by_rank[0] if by_rank else None


def list_further_metrics(result: dict[str, Any], chosen: str | None) -> set[str]:
    """Return the metrics of a task that are not used; a filter is named only where it makes the difference."""
    used = (chosen or "").partition(",")[0]
    names = {key: key.partition(",")[0] for key in list_metrics(result) if key != chosen}
    return {key if name == used else name for key, name in names.items()}


def rank_metric(metric: str) -> int:
    """Return how usual a metric is, the most usual first."""
    return PREFERRED.index(metric) if metric in PREFERRED else len(PREFERRED)


def find_sample_files(source: Input) -> list[PlainFile]:
    """Return the sample files of a folder, or of the files named."""
    if source.opened is not None or not source.files:
        return []
    return [file for file in find_files(source, "samples_*.jsonl") if SAMPLES.fullmatch(Path(file.name).name)]


def fits_samples(source: Input) -> bool:
    """Return whether all files are samples of single items."""
    files = find_sample_files(source)
    return bool(files) and (source.kind == "directory" or len(files) == len(source.files))


def read_samples(source: Input) -> Scores:
    """Read a score per agent and item; the same document of a task is the same item for every agent."""
    files = find_sample_files(source)
    if not files:
        raise InputError(f"{source.name!r} has no samples: their files are called samples_<task>_<time>.jsonl")
    cells: dict[tuple[str, str], Cell] = {}
    groups: dict[str, str] = {}
    hashes: dict[str, str] = {}
    metrics: dict[tuple[str, str, str], None] = {}
    changed: set[str] = set()
    rows = replaced = 0
    left, left_out = Leftovers(), list[LeftOut]()
    for number, file in enumerate(sorted(files, key=lambda one: split_name(one.name)[1])):
        task, _ = split_name(file.name)
        agent = name_agent_of_samples(file)
        sound = without_broken_lines(file, source.workspace, number, left_out) if source.options.skip_bad else file
        with left.skip_bad(source.options, file.name, "bad files"):
            for item, score, metric, digest in iterate_samples(sound, task, source.options.metric, left):
                rows += 1
                replaced += (agent, item) in cells
                metrics[agent, task, metric] = None
                if digest and hashes.setdefault(item, digest) != digest:
                    changed.add(item)
                groups[item] = task
                low = is_low_metric(metric)
                cells[agent, item] = Cell(agent=agent, task=item, score=score, n=1.0, lower_is_better=low)
    if not cells:
        raise InputError(f"{source.name!r} contains no sample with a number for a metric")
    notes = (
        (f"{len(changed):,} items have other content for some agents: {listed(sorted(changed))}",) if changed else ()
    )
    refuse_mixed_metrics(list(metrics), repr(source.name))
    rows += sum(len(names) for (what, _), names in left.names.items() if what == "samples")
    left_out += [*left.entries(), *note_replaced(replaced, "file")]
    return finish_scores(
        source, list(cells.values()), "lm-eval-samples", rows=rows, left_out=left_out, notes=notes, groups=groups
    )


def split_name(name: str) -> tuple[str, str]:
    """Return the task and the time in the name of a sample file.

    >>> split_name("m/samples_arc_easy_2024-05-01T10-00-00.123.jsonl")
    ('arc_easy', '2024-05-01T10-00-00.123')
    """
    stem = Path(name).name.removeprefix("samples_").removesuffix(".jsonl")
    found = re.fullmatch(r"(.+?)_(\d{4}-\d{2}-\d{2}T.*)", stem)
    return (found[1], found[2]) if found else (stem, "")


def name_agent_of_samples(file: PlainFile) -> str:
    """Return the agent of a sample file: that of the results beside it, or else the name of its folder."""
    folder, time = file.path.parent, split_name(file.name)[1]
    beside = sorted(folder.glob("results*.json"), key=lambda path: time not in path.name)
    for path in beside:
        try:
            content = read_document(PlainFile(path=path, name=str(path)))
            if is_results(content):
                return name_agent(content, str(path))
        except InputError:
            continue
    return Path(file.name).parent.name.replace("__", "/") or "unknown"  # the harness writes two underscores for a slash


def iterate_samples(
    file: PlainFile, task: str, wanted: str | None, left: Leftovers
) -> Iterator[tuple[str, float | None, str, str]]:
    """Yield item, score, metric and content hash of each line; of several filters the first is taken."""
    check_lines(file)
    chosen: str | None = None
    others: set[str] = set()
    metric_wanted, _, filter_wanted = (wanted or "").partition(",")
    with file.path.open("rb") as stream:
        for k, line in iterate_lines(stream, file):
            record = parse_object(line, k, file)
            filter_name = str(record.get("filter", ""))
            chosen = filter_wanted or (filter_name if chosen is None else chosen)
            if filter_name and filter_name != chosen:
                left.add("samples", f"another filter than {chosen!r}", filter_name)
                continue
            names = [
                name
                for name, value in record.items()
                if name not in NOT_ITEM_METRICS and isinstance(value, int | float) and not name.startswith("_")
            ]
            if "doc_id" not in record:
                raise InputError(
                    f"{file.name!r}: line {k:,} has no 'doc_id': it is not a sample of lm-evaluation-harness"
                )
            item = f"{task}/{record['doc_id']}"
            usable = [name for name in names if not metric_wanted or name == metric_wanted]
            if not usable:
                left.add("samples", f"no metric {metric_wanted!r}" if metric_wanted else "no number", item)
                continue
            metric = min(usable, key=rank_metric)
            others.update(name for name in names if name != metric)
            yield item, float(record[metric]), metric, str(record.get("doc_hash") or "")
    left.add_once(*FURTHER, *sorted(others))
