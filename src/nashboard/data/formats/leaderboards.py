"""Published leaderboards: OpenCompass summaries, the Open LLM Leaderboard, HELM groups."""

import re
from dataclasses import replace
from typing import Any

import polars as pl

from nashboard._text import listed
from nashboard.data.cells import Cell, averages_left_out, frame_of, number, scores_of
from nashboard.data.columns import derived
from nashboard.data.engines import collected
from nashboard.data.formats.format import Format, Input
from nashboard.data.formats.wide_scores import MOST_ROWS, scores_from_wide
from nashboard.data.origin import LeftOut, Origin
from nashboard.data.scores import Scores
from nashboard.errors import InputError

OPENCOMPASS_KEYS = ("dataset", "version", "metric", "mode")
DETAIL = re.compile(r"# |truncated$")  # HELM: what was run, such as "# eval" and "# prompt tokens"


def read_opencompass(source: Input) -> Scores:
    """Read a summary whose rows are data sets and whose columns are models; average rows are left out."""
    source.require(*OPENCOMPASS_KEYS)
    table = source.scan
    table.explain()
    frame = collected(source.rows.head(MOST_ROWS), table.name, source.disk)
    models = [name for name in frame.columns if name not in OPENCOMPASS_KEYS]
    averages, cells, seen = [], [], set()
    names = frame["dataset"].to_list()
    for row, record in enumerate(frame.to_dicts(), start=1):
        dataset, metric = record["dataset"] or "", record["metric"] or ""
        # an average row has no version of its own
        if derived(dataset) or "average" in metric.casefold() or (record["version"] or "-") == "-":
            if any(
                number(record[model], f"{table.name!r}, data row {row:,}, column {model!r}") is not None
                for model in models
            ):
                averages.append(dataset)
            continue
        task = dataset if names.count(dataset) == 1 else f"{dataset} ({metric}, {record['mode']})"
        if task in seen:
            raise InputError(f"{table.name!r}, data row {row:,}: the task {task!r} stands there twice")
        seen.add(task)
        for model in models:
            cells.append(
                Cell(
                    agent=model,
                    task=task,
                    score=number(record[model], f"{table.name!r}, data row {row:,}, column {model!r}"),
                )
            )
    if not cells:
        raise InputError(f"{table.name!r} has no row of a data set, only averages: {listed(averages)}")
    left_out = (
        (LeftOut(what="rows", count=len(averages), why=f"averages of other rows: {listed(averages)}"),)
        if averages
        else ()
    )
    return scores_of(
        frame_of(cells).filter(pl.col("score").is_not_null()),
        agents=models,
        tasks=list(dict.fromkeys(cell.task for cell in cells)),
        source=table.name,
        origin=Origin(source=table.name, format="opencompass", rows=len(frame), left_out=left_out, notes=table.notes),
        lower_is_better=source.options.lower_is_better,
    )


def read_open_llm(source: Input) -> Scores:
    """Read the table of the Open LLM Leaderboard: normalised scores, without averages and model details."""
    table = source.scan
    agent = source.options.agent or ("fullname" if "fullname" in table.columns else "Model")
    source.require(agent, "IFEval", "IFEval Raw")
    raw = [name for name in table.columns if name.endswith(" Raw") and name.removesuffix(" Raw") in table.columns]
    tasks = [name.removesuffix(" Raw") for name in raw]
    options = replace(source.options, agent=agent)
    scores = scores_from_wide(source.rows.select(agent, *tasks), options, source=table.name, scan=source.disk)
    details = [name for name in table.columns if name not in (agent, *tasks, *raw)]
    left_out = [LeftOut(what="columns", count=len(raw), why="the same task before normalisation")]
    if details:
        why = f"averages and details of the model: {listed(details)}"
        left_out.append(LeftOut(what="columns", count=len(details), why=why))
    origin = replace(scores.origin, format="open-llm-leaderboard", left_out=(*left_out, *scores.origin.left_out))
    return replace(scores, origin=origin)


def read_helm(source: Input) -> Scores:
    """Read the first table of a HELM groups file; derived columns are left out."""
    if source.kind == "directory":
        raise InputError(f"{source.name!r} is a folder: name the json file of a HELM group in it")
    tables = source.document if isinstance(source.document, list) else [source.document]
    try:
        first, *others = [table for table in tables if table["rows"]]  # a group that was not run has an empty table
        header = [str(column["value"]) for column in first["header"]]
        lower = [column.get("lower_is_better") for column in first["header"]]
        rows = [[cell.get("value") for cell in row] for row in first["rows"]]
    except (KeyError, TypeError, AttributeError, ValueError):
        raise InputError(f"{source.name!r} is not a HELM table: it needs a title, a header and rows of cells") from None
    averages = [name for name in header[1:] if derived(name)]
    details = [name for name, low in zip(header, lower, strict=True) if low is None and DETAIL.match(name)]
    cells = [
        Cell(
            agent=str(row[0] or ""),
            task=header[k],
            score=number(row[k], f"{source.name!r}, row {row[0]!r}, column {header[k]!r}"),
            lower_is_better=lower[k],
        )
        for row in rows
        for k in range(1, len(header))
        if header[k] not in (*averages, *details) and k < len(row)
    ]
    left_out = [*averages_left_out(averages)]
    if details:
        why = f"numbers of instances and tokens, not scores: {listed(details)}"
        left_out.append(LeftOut(what="columns", count=len(details), why=why))
    if others:
        titles = [str(table.get("title", "untitled")) for table in others if isinstance(table, dict)]
        left_out.append(LeftOut(what="tables", count=len(others), why=f"only the first is read: {listed(titles)}"))
    return scores_of(
        frame_of(cells).filter(pl.col("score").is_not_null()),
        agents=list(dict.fromkeys(cell.agent for cell in cells)),
        tasks=list(dict.fromkeys(cell.task for cell in cells)),
        source=source.name,
        origin=Origin(source=source.name, format="helm", rows=len(rows), left_out=tuple(left_out)),
        lower_is_better=source.options.lower_is_better,
    )


def is_helm(source: Input) -> bool:
    """Say whether a json file is a list of tables with a header and rows."""
    if source.files[0].path.stat().st_size > (64 << 20):
        return False
    if source.kind == "json list":
        return source.has("header", "rows")
    if not source.is_document:
        return False
    try:
        content: Any = source.document
    except InputError:
        return False
    return isinstance(content, dict) and {"header", "rows"} <= set(content)


LEADERBOARDS = (
    Format(
        name="opencompass",
        makes="scores",
        holds="an OpenCompass summary",
        fits=lambda x: x.has(*OPENCOMPASS_KEYS),
        read=read_opencompass,
    ),
    Format(
        name="open-llm-leaderboard",
        makes="scores",
        holds="the table of the Open LLM Leaderboard",
        fits=lambda x: x.has("Model", "IFEval", "IFEval Raw"),
        read=read_open_llm,
    ),
    Format(name="helm", makes="scores", holds="HELM groups", fits=is_helm, read=read_helm),
)
