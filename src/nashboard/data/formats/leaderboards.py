"""Tables that benchmarks publish, from OpenCompass, the Open LLM Leaderboard and AlpacaEval to HELM and WildBench."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from nashboard._text import listed
from nashboard.data.counting.cells import Cell, name_source
from nashboard.data.formats.format import Input, Leftovers, finish_scores
from nashboard.data.formats.long_scores import read_long_table
from nashboard.data.formats.wide_scores import fetch_flat_rows, fetch_rows, read_turned, read_wide_table
from nashboard.data.matches import Matches
from nashboard.data.origin import LeftOut, Origin
from nashboard.data.scores import Scores
from nashboard.data.segments import Segments
from nashboard.data.table.columns import is_derived
from nashboard.data.table.json_lines import read_document
from nashboard.data.table.table import ROW
from nashboard.data.table.values import MISSING, as_number, parse_number
from nashboard.errors import InputError

OPENCOMPASS_KEYS = ("dataset", "version", "metric", "mode")
ALPACA_ERRORS = {"length_controlled_winrate": "lc_standard_error", "win_rate": "standard_error"}
MQM, MQM_ITEMS = "mqm_avg_score", ("seg_id", "global_seg_id", "globalSegId", "segment", "segment_id")
GRADES = {"win_much": 1.0, "win": 0.75, "tie": 0.5, "lose": 0.25, "lose_much": 0.0}  # shares of the point
BASELINE = "baseline"
LARGEST_HELM = 64 << 20  # bytes
DETAIL = re.compile(r"# |truncated$")  # HELM: what was run, such as "# eval" and "# prompt tokens"


def read_opencompass(source: Input) -> Scores:
    """Read a summary whose rows are data sets and whose columns are models; average rows are left out."""
    source.require(*OPENCOMPASS_KEYS)
    head = fetch_flat_rows(source.table)
    keys = [tuple("" if cell is None else str(cell) for cell in row) for row in head.select(OPENCOMPASS_KEYS).rows()]
    measured = head.select(pl.any_horizontal(pl.exclude(*OPENCOMPASS_KEYS, ROW).cast(pl.String).is_in(MISSING).not_()))
    average = find_opencompass_averages(keys, measured.to_series().to_list())
    several = {name for (name, *_), times in Counter(key[:1] for key in keys).items() if times > 1}
    tasks = [f"{name} ({by}, {mode})" if name in several else name for name, _, by, mode in keys]
    head = head.with_columns(dataset=pl.Series(tasks)).drop(OPENCOMPASS_KEYS[1:])
    if all(average):
        raise InputError(f"{source.name!r} has no row of a data set, only averages")
    gone = head.filter(pl.Series(average) & measured.to_series())["dataset"].to_list()
    left_out = (LeftOut("rows", len(gone), f"averages of other rows: {listed(gone)}"),) if gone else ()
    tasks_only = head.filter(~pl.Series(average))
    return read_turned(
        source.table, tasks_only, "dataset", source.options, "opencompass", "(data sets)", left_out, len(head)
    )


def find_opencompass_averages(keys: Sequence[tuple[str, ...]], measured: Sequence[bool]) -> list[bool]:
    """Return which rows are averages of others, or headings: they have no version of their own.

    That of a group, such as ``mmlu``, is a score like any other where no row of its tasks or parts is listed.
    """
    whole = [version in ("", "-") or "average" in by.casefold() for _, version, by, _ in keys]
    names = [(name, group) for (name, *_), group, there in zip(keys, whole, measured, strict=True) if there]

    def is_split(name: str) -> bool:
        root = re.split("[-_]", name)[0]
        return any(
            other.startswith((f"{name}-", f"{name}_")) or (not group and re.split("[-_]", other)[0] == root)
            for other, group in names
        )

    return [
        is_derived(name) or (group and (not there or is_split(name)))
        for (name, *_), group, there in zip(keys, whole, measured, strict=True)
    ]


def read_open_llm(source: Input) -> Scores:
    """Read the table of the Open LLM Leaderboard: normalised scores, without averages and model details."""
    table = source.table
    agent = source.options.agent or ("fullname" if "fullname" in table.columns else "Model")
    source.require(agent, "IFEval", "IFEval Raw")
    raw = [name for name in table.columns if name.endswith(" Raw") and name.removesuffix(" Raw") in table.columns]
    tasks = [name.removesuffix(" Raw") for name in raw]
    options = replace(source.options, agent=agent)
    scores = read_wide_table(replace(table, frame=table.frame.select(agent, *tasks), columns=(agent, *tasks)), options)
    details = [name for name in table.columns if name not in (agent, *tasks, *raw)]
    left_out = [LeftOut("columns", len(raw), "the same task before normalisation")]
    if details:
        why = f"averages and details of the model: {listed(details)}"
        left_out.append(LeftOut("columns", len(details), why))
    origin = replace(scores.origin, format="open-llm-leaderboard", left_out=(*left_out, *scores.origin.left_out))
    return replace(scores, origin=origin)


def read_helm(source: Input) -> Scores:
    """Read the first table of a HELM groups file; derived columns are left out."""
    if source.kind == "directory":
        raise InputError(f"{source.name!r} is a folder: name the json file of a HELM group in it")
    document = source.content if source.content is not None else read_document(source.files[0])
    tables = document if isinstance(document, list) else [document]
    try:
        first, *others = [table for table in tables if table["rows"]]  # a group that was not run has an empty table
        header = [str(column["value"]) for column in first["header"]]
        lower = [column.get("lower_is_better") for column in first["header"]]
        rows = [[cell.get("value") for cell in row] for row in first["rows"]]
    except (KeyError, TypeError, AttributeError, ValueError):
        raise InputError(f"{source.name!r} is not a HELM table: it needs a title, a header and rows of cells") from None
    averages = [name for name in header[1:] if is_derived(name)]
    details = [name for name, low in zip(header, lower, strict=True) if low is None and DETAIL.match(name)]
    tasks = [k for k in range(1, len(header)) if header[k] not in (*averages, *details)]
    left, cells = Leftovers(), list[Cell]()
    for row in rows:
        where = f"{source.name!r}, row {row[0]!r}, column"
        with left.skip_bad(source.options, str(row[0])):
            scores = {k: parse_number(row[k], f"{where} {header[k]!r}") for k in tasks if k < len(row)}
            name = str(row[0] or "")
            cells += [Cell(agent=name, task=header[k], score=scores[k], lower_is_better=lower[k]) for k in scores]
    left.add("columns", "computed from the others", *averages)
    left.add("columns", "numbers of instances and tokens, not scores", *details)
    titles = [str(table.get("title", "untitled")) for table in others if isinstance(table, dict)]
    left.add("tables", "only the first is read", *titles)
    return finish_scores(source, cells, "helm", rows=len(rows), left_out=left.entries(), in_order=True)


def is_helm(source: Input) -> bool:
    """Return whether a json file is a list of tables with a header and rows."""
    if source.opened is not None or not source.files:
        return False
    if source.kind == "json list":
        return source.files[0].path.stat().st_size <= LARGEST_HELM and source.has("header", "rows")
    return isinstance(source.document, dict) and {"header", "rows"} <= set(source.document)


def read_alpaca_board(source: Input) -> Scores:
    """Read AlpacaEval's leaderboard: one win rate with its standard error and number of items; the rest is metadata.

    The length-controlled win rate is read where there is one; ``metric="win_rate"`` chooses the plain one.
    """
    table = source.table
    metric = source.options.metric or next((name for name in ALPACA_ERRORS if name in table.columns), "win_rate")
    source.require(metric, "n_total")
    if metric not in ALPACA_ERRORS:
        raise InputError(f"{source.name!r}: {metric!r} is not a win rate; choose {listed(ALPACA_ERRORS)} with metric=")
    frame = fetch_rows(table, table.schema.names())
    agent = source.options.agent or table.columns[0]
    names = ["" if name is None else str(name) for name in frame[agent]]
    error = ALPACA_ERRORS[metric]
    left, cells = Leftovers(), list[Cell]()
    for name, record in zip(names, frame.to_dicts(), strict=True):
        where = f"{table.name!r}, data row {record[ROW]:,} ({name!r}), column"
        with left.skip_bad(source.options, name):
            score, stderr, n = (
                parse_number(record.get(column), f"{where} {column!r}") for column in (metric, error, "n_total")
            )
            cells.append(Cell(agent=name, task=metric, score=score, stderr=stderr, n=n))
    unused = [name for name in table.columns if name not in (agent, metric, error, "n_total")]
    left.add("columns", "counts, lengths and other metrics", *unused)
    return finish_scores(
        source, cells, "alpaca-eval-leaderboard", rows=len(frame), left_out=left.entries(), notes=table.notes,
        in_order=True,
    )  # fmt: skip


def read_livecodebench(source: Input) -> Scores | Segments:
    """Read LiveCodeBench's performances: a row per model and question; the difficulty is the group of a question."""
    table = source.table
    source.require("question_id", "model", "pass@1")
    options = replace(source.options, agent=source.options.agent or "model", task="question_id", score="pass@1")
    group = "difficulty" if "difficulty" in table.columns else None
    return read_long_table(table, options, format="livecodebench", group=group)


def read_mt_bench_grades(source: Input) -> Scores | Segments:
    """Read MT-bench's grades of single answers, 1 to 10; a grade of -1 says that the judge gave none."""
    source.require("model", "question_id", "score")
    table = source.table
    graded = ~(as_number(table.frame, "score") == -1) | as_number(table.frame, "score").is_null()
    failed = table.skip_rows(~graded, "the judge gave no grade (-1)", "rows")
    options = replace(source.options, agent="model", task="question_id", score="score")
    return read_long_table(failed, options, format="mt-bench-grades")


def read_mqm(source: Input) -> Scores | Segments:
    """Read WMT's MQM scores of segments: penalties, which are negative in some years and positive in others."""
    table = source.table
    source.require("system", MQM)
    task = next((name for name in MQM_ITEMS if name in table.columns), None)
    if task is None:
        raise InputError(f"{source.name!r} has no column for the segment: it needs one of {listed(MQM_ITEMS)}")
    score = as_number(table.frame, MQM)
    above = table.collect(table.frame.select(score=score).select(highest=nw.col("score").max()))["highest"].item()
    positive = above is not None and above > 0
    asked = source.options.lower_is_better
    options = replace(
        source.options, agent="system", task=task, score=MQM, lower_is_better=positive if asked is None else asked
    )
    note = "penalties are positive, so that a low score is good" if positive else "penalties are negative: 0 is best"
    return read_long_table(table, options, format="wmt-mqm", notes=(note,))


def read_wildbench(source: Input) -> Matches:
    """Read WildBench's counts against one baseline; a slight win or loss is half a reward, as published."""
    document = source.require_document()
    if not is_wildbench_document(document):
        raise InputError(f"{source.name!r} is not a WildBench result: it needs win_much, win, tie, lose and lose_much")
    left, rows = Leftovers(), []
    for model, counts in document.items():
        if not isinstance(counts, dict) or not set(GRADES) <= set(counts):
            left.add("models", "without counts", str(model))
            continue
        where = f"{source.name!r}, model {model!r}"
        with left.skip_bad(source.options, str(model)):
            numbers = {grade: parse_number(counts[grade], f"{where}, {grade!r}") or 0.0 for grade in GRADES}
            if not all(0 <= number < float("inf") for number in numbers.values()):
                raise InputError(f"{where} has counts {numbers}: a count must be a number of at least 0")
            rows.append((str(model), numbers))
    agents = tuple(sorted({model for model, _ in rows} | {BASELINE}))
    W, D = np.zeros((2, len(agents), len(agents)))
    base = agents.index(BASELINE)
    for model, numbers in rows:
        k = agents.index(model)
        W[k, base] += sum(GRADES[grade] * number for grade, number in numbers.items() if grade != "tie")
        W[base, k] += sum((1 - GRADES[grade]) * number for grade, number in numbers.items() if grade != "tie")
        D[k, base] = D[base, k] = numbers["tie"]
    if len(agents) < 2 or not (W + D).any():
        raise InputError(f"{source.name!r} contains no comparison with the baseline")
    with name_source(source.name):
        made = Matches.from_counts(W, agents, draws=D)
    notes = (
        f"every match has the baseline, called {BASELINE!r} here: agents are compared only through it",
        "win and lose count 0.75 and 0.25 of the point, win_much and lose_much 1 and 0",
    )
    origin = Origin(source=source.name, format="wildbench", rows=len(document), left_out=left.entries(), notes=notes)
    return replace(made, origin=origin)


def is_wildbench_document(document: Any) -> bool:
    """Return whether a json object has graded counts for each model."""
    return (
        isinstance(document, dict)
        and bool(document)
        and any(isinstance(counts, dict) and set(GRADES) <= set(counts) for counts in document.values())
    )
