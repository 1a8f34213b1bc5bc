"""Tables that benchmarks publish, from OpenCompass, the Open LLM Leaderboard and AlpacaEval to HELM and WildBench."""

import re
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from nashboard._text import listed
from nashboard.data.counting.cells import Cell, frame_cells, leave_out_averages, make_scores, name_source
from nashboard.data.formats.format import SCORE_OPTIONS, Format, Input, Leftovers
from nashboard.data.formats.long_scores import LONG_OPTIONS, read_long_table
from nashboard.data.formats.wide_scores import WIDE_OPTIONS, fetch_rows, list_columns, read_wide_table
from nashboard.data.matches import Matches
from nashboard.data.origin import LeftOut, Origin
from nashboard.data.scores import Scores
from nashboard.data.segments import Segments
from nashboard.data.table.columns import is_derived
from nashboard.data.table.json_lines import read_document
from nashboard.data.table.table import ROW
from nashboard.data.table.values import as_number, parse_number
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
    table = source.table
    if table.kind == "delimited":
        table.explain()
    frame = fetch_rows(table, table.schema.names())
    models = [name for name in list_columns(frame) if name not in OPENCOMPASS_KEYS]
    left, cells, seen = Leftovers(), list[Cell](), set()
    names = frame["dataset"].to_list()
    for record in frame.to_dicts():
        row = record[ROW]
        where = f"{table.name!r}, data row {row:,}"
        dataset, metric = record["dataset"] or "", record["metric"] or ""
        with left.skip_bad(source.options, f"data row {row:,}"):
            scores = {model: parse_number(record[model], f"{where}, column {model!r}") for model in models}
            # an average row has no version of its own
            if is_derived(dataset) or "average" in metric.casefold() or (record["version"] or "-") == "-":
                if any(score is not None for score in scores.values()):
                    left.add("rows", "averages of other rows", dataset)
                continue
            task = dataset if names.count(dataset) == 1 else f"{dataset} ({metric}, {record['mode']})"
            if task in seen:
                raise InputError(f"{where}: the task {task!r} occurs twice")
            seen.add(task)
            cells += [Cell(agent=model, task=task, score=score) for model, score in scores.items()]
    left_out = (*table.left_out, *left.entries())
    if not cells:
        raise InputError(f"{table.name!r} has no row of a data set, only averages")
    return make_scores(
        frame_cells(cells).filter(pl.col("score").is_not_null()),
        agents=models,
        tasks=list(dict.fromkeys(cell.task for cell in cells)),
        source=table.name,
        origin=Origin(source=table.name, format="opencompass", rows=len(frame), left_out=left_out, notes=table.notes),
        lower_is_better=source.options.lower_is_better,
    )


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
    left, cells = Leftovers(), list[Cell]()
    tasks = [k for k in range(1, len(header)) if header[k] not in (*averages, *details)]
    for row in rows:
        where = f"{source.name!r}, row {row[0]!r}, column"
        with left.skip_bad(source.options, str(row[0])):
            scores = {k: parse_number(row[k], f"{where} {header[k]!r}") for k in tasks if k < len(row)}
            cells += [
                Cell(agent=str(row[0] or ""), task=header[k], score=score, lower_is_better=lower[k])
                for k, score in scores.items()
            ]
    left_out = [*left.entries(), *leave_out_averages(averages)]
    if details:
        why = f"numbers of instances and tokens, not scores: {listed(details)}"
        left_out.append(LeftOut("columns", len(details), why))
    if others:
        titles = [str(table.get("title", "untitled")) for table in others if isinstance(table, dict)]
        left_out.append(LeftOut("tables", len(others), f"only the first is read: {listed(titles)}"))
    return make_scores(
        frame_cells(cells).filter(pl.col("score").is_not_null()),
        agents=list(dict.fromkeys(cell.agent for cell in cells)),
        tasks=list(dict.fromkeys(cell.task for cell in cells)),
        source=source.name,
        origin=Origin(source=source.name, format="helm", rows=len(rows), left_out=tuple(left_out)),
        lower_is_better=source.options.lower_is_better,
    )


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
    agent = source.options.agent or frame.columns[0]
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
    return make_scores(
        frame_cells(cells).filter(pl.col("score").is_not_null()),
        agents=[cell.agent for cell in cells],
        tasks=[metric],
        source=table.name,
        origin=Origin(
            source=table.name,
            format="alpaca-eval-leaderboard",
            rows=len(frame),
            left_out=left.entries(),
            notes=table.notes,
        ),
        lower_is_better=source.options.lower_is_better,
    )


def read_livecodebench(source: Input) -> Scores | Segments:
    """Read LiveCodeBench's performances: a row per model and question; the difficulty is the group of a question."""
    table = source.table
    source.require("question_id", "model", "pass@1")
    options = replace(source.options, agent=source.options.agent or "model", task="question_id", score="pass@1")
    group = "difficulty" if "difficulty" in table.columns else None
    return read_long_table(table, options, format="livecodebench", group=group)


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
        raise InputError(f"{source.name!r} is no WildBench result: it needs win_much, win, tie, lose and lose_much")
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
    agents = sorted({model for model, _ in rows} | {BASELINE})
    place = {name: k for k, name in enumerate(agents)}
    pairs, results = [], []
    for model, numbers in sorted(rows):
        if model == BASELINE or not sum(numbers.values()):
            continue
        share = sum(GRADES[grade] * number for grade, number in numbers.items() if grade != "tie")
        decided = sum(number for grade, number in numbers.items() if grade != "tie")
        i, j = sorted((place[model], place[BASELINE]))
        won, lost = (share, decided - share) if place[model] == i else (decided - share, share)
        pairs.append((i, j))
        results.append((won, numbers["tie"], lost))
    if not pairs:
        raise InputError(f"{source.name!r} contains no comparison with the baseline")
    order = sorted(range(len(pairs)), key=lambda k: pairs[k])
    wins, draws, losses = (np.array([results[k][part] for k in order]) for part in range(3))
    with name_source(source.name):
        return Matches(
            agents=tuple(agents),
            pairs=np.array([pairs[k] for k in order]),
            wins=wins,
            draws=draws,
            losses=losses,
            origin=Origin(
                source=source.name,
                format="wildbench",
                rows=len(document),
                left_out=left.entries(),
                notes=(
                    f"every match has the baseline, called {BASELINE!r} here: agents are compared only through it",
                    "win and lose count 0.75 and 0.25 of the point, win_much and lose_much 1 and 0",
                ),
            ),
        )


def is_wildbench_document(document: Any) -> bool:
    """Return whether a json object has graded counts for each model."""
    return (
        isinstance(document, dict)
        and bool(document)
        and any(isinstance(counts, dict) and set(GRADES) <= set(counts) for counts in document.values())
    )


LEADERBOARDS = (
    Format(
        "opencompass",
        "scores",
        "an OpenCompass summary",
        fits=lambda x: x.has(*OPENCOMPASS_KEYS),
        read=read_opencompass,
        options=SCORE_OPTIONS,
    ),
    Format(
        "open-llm-leaderboard",
        "scores",
        "the table of the Open LLM Leaderboard",
        fits=lambda x: x.has("Model", "IFEval", "IFEval Raw"),
        read=read_open_llm,
        options=WIDE_OPTIONS,
    ),
    Format(
        "alpaca-eval-leaderboard",
        "scores",
        "the leaderboard of AlpacaEval: a win rate with its error",
        fits=lambda x: x.has("win_rate", "n_wins", "n_wins_base", "n_draws", "n_total"),
        read=read_alpaca_board,
        options=("agent", "metric", *SCORE_OPTIONS),
    ),
    Format(
        "livecodebench",
        "scores",
        "LiveCodeBench performances, a row per model and question",
        fits=lambda x: x.has("question_id", "model", "pass@1"),
        read=read_livecodebench,
        options=LONG_OPTIONS,
    ),
    Format(
        "wmt-mqm",
        "scores",
        "MQM scores of WMT, a row per system and segment",
        fits=lambda x: x.has("system", MQM),
        read=read_mqm,
        options=LONG_OPTIONS,
    ),
    Format("helm", "scores", "HELM groups", fits=is_helm, read=read_helm, options=SCORE_OPTIONS, on_frames=False),
    Format(
        "wildbench",
        "matches",
        "WildBench pairwise counts against a baseline",
        fits=lambda x: is_wildbench_document(x.document),
        read=read_wildbench,
        options=("min_games", "components", "bad_rows"),
        on_frames=False,
    ),
)
