"""Every Eval Ever: one json file per model and source, with a direction for each metric."""

from typing import Any

import polars as pl

from nashboard.data.cells import Cell, frame_of, number, runs_of, scores_of
from nashboard.data.formats.format import Format, Input
from nashboard.data.json_objects import document
from nashboard.data.origin import Origin
from nashboard.data.scores import Scores
from nashboard.data.sources import PlainFile
from nashboard.errors import InputError


def record_files(source: Input) -> list[PlainFile]:
    """Return the json files of a folder, or the files named."""
    if source.kind != "directory":
        return list(source.files)
    return [PlainFile(path=path, name=str(path)) for path in sorted(source.files[0].path.rglob("*.json"))]


def fits(source: Input) -> bool:
    """Say whether the first file has a model and evaluation results."""
    files = record_files(source)
    if (
        not files
        or (source.kind not in ("directory", "json", "json lines"))
        or files[0].path.stat().st_size > (64 << 20)
    ):
        return False
    try:
        content = document(files[0])
    except InputError:
        return False
    return isinstance(content, dict) and "model_info" in content and "evaluation_results" in content


def read(source: Input) -> Scores:
    """Read the scores of all files; repeated results of one model and evaluation are runs."""
    cells: list[Cell] = []
    files = record_files(source)
    for file in files:
        cells.extend(cells_of(document(file), file.name))
    measured = frame_of(cells).filter(pl.col("score").is_not_null())
    return scores_of(
        runs_of(measured),
        source=source.name,
        origin=Origin(source=source.name, format="every-eval-ever", rows=len(cells)),
        lower_is_better=source.options.lower_is_better,
    )


def cells_of(content: Any, name: str) -> list[Cell]:
    """Return the cells of one file."""
    try:
        info, results = content["model_info"], content["evaluation_results"]
        model = info.get("name") or info["id"]
        return [cell_of(str(model), result, name) for result in results]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{name!r} is not a record of Every Eval Ever: {type(error).__name__} at {error}") from None


def cell_of(model: str, result: dict[str, Any], name: str) -> Cell:
    """Return the cell of one evaluation result."""
    task, details = result["evaluation_name"], result["score_details"]
    config = result.get("metric_config") or {}
    uncertainty = details.get("uncertainty") or {}
    error = uncertainty.get("standard_error") if isinstance(uncertainty, dict) else None
    error = error.get("value") if isinstance(error, dict) else error
    samples = uncertainty.get("num_samples") if isinstance(uncertainty, dict) else None
    where = f"{name!r}, evaluation {task!r}"
    return Cell(
        agent=model,
        task=task,
        score=number(details["score"], where),
        stderr=number(error, f"{where}, standard error"),
        n=number(samples, f"{where}, number of samples"),
        lower_is_better=config.get("lower_is_better"),
    )


EVERY_EVAL_EVER = Format(
    name="every-eval-ever",
    makes="scores",
    holds="Every Eval Ever records, one file or a folder",
    fits=fits,
    read=read,
)
