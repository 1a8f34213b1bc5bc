"""The shape of a chart's specification, small enough to read and to keep: what is drawn, not the numbers.

``python tests/report/chart_summaries.py`` writes the summaries of the gallery to ``tests/files/charts``; look at the
difference before committing it.
"""

import importlib.util
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
SUMMARIES = ROOT / "tests" / "files" / "charts"
MOST = 8  # entries of a list that is kept in full


@cache
def gallery() -> ModuleType:
    """Return the script that makes the gallery."""
    found = importlib.util.spec_from_file_location("make_gallery", ROOT / "docs" / "make_gallery.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


DRAWN: dict[str, Callable[[], Any]] = {draw.__name__: draw for draw in gallery().CHARTS}


@cache
def drawn(name: str) -> dict[str, Any]:
    """Return the specification of a chart of the gallery."""
    found: dict[str, Any] = DRAWN[name]().to_dict()
    return found


def summary(spec: dict[str, Any]) -> Any:
    """Return a specification without its numbers: data as rows and fields, long lists by their length."""
    data = spec.get("datasets", {})
    kept = {key: value for key, value in spec.items() if key not in ("$schema", "config", "datasets")}
    return summed_up(kept, data)


def summed_up(value: Any, data: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        if set(value) == {"name"} and value["name"] in data:
            rows = data[value["name"]]
            return {"rows": len(rows), "fields": sorted({field for row in rows for field in row})}
        return {key: summed_up(inner, data) for key, inner in sorted(value.items())}
    if isinstance(value, list):
        return [summed_up(inner, data) for inner in value] if len(value) <= MOST else f"{len(value)} entries"
    if isinstance(value, float):
        return float(f"{value:.3g}")
    return value


def written(found: Any) -> str:
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SUMMARIES.mkdir(exist_ok=True)
    for old in SUMMARIES.glob("*.json"):
        old.unlink()
    for name in DRAWN:
        (SUMMARIES / f"{name}.json").write_text(written(summary(drawn(name))))
