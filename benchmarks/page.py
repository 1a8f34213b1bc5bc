"""Write ``docs/benchmarks.md`` from ``results/*.json``: the page is never typed."""

import json
from pathlib import Path
from typing import Any

from harness import RESULTS

from nashboard.data.write import atomically

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
ORDER = ("counting", "elo", "online", "end_to_end", "startup")
HEAD = ("what", "who", "times ours", "least to most", "median s", "peak MB", "quality")


def cells(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the cells of a row; a side that failed says how."""
    if "failed" in row:
        return row["what"], f"{row['who']} ({row['version']})", row["failed"], "", "", "", ""
    return (
        row["what"],
        row["who"],
        f"{row['ratio']:.2f}",
        "{:.2f} to {:.2f}".format(*row["ratios"]),
        f"{row['seconds']:.3g}",
        f"{row['peak MB']:,.0f}",
        row["quality"],
    )


def section(content: dict[str, Any]) -> str:
    """Return one section: what was measured, the table, and on what."""
    rows = [HEAD, ("---", "---", *["---:"] * 4, "---"), *map(cells, content["rows"])]
    table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
    runs: dict[str, list[str]] = {}
    for row in content["rows"]:
        run = row["run"]
        runs.setdefault(f"{run['date']}; {run['machine']}; {', '.join(run['versions'])}", []).append(row["what"])
    on = "\n".join(f"- {', '.join(dict.fromkeys(whats))}: {run}." for run, whats in runs.items())
    return f"## {content['title']}\n\n{content['about']}\n\n{table}\n\n{on}\n"


def page() -> str:
    """Return the whole page."""
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.glob("*.json")}
    names = [*(name for name in ORDER if name in found), *sorted(set(found) - set(ORDER))]
    intro = (
        "# Benchmarks\n\nWritten by `python benchmarks/page.py` from `benchmarks/results`; do not edit. Each row of a "
        "comparison was measured in one run, in turns, each in a fresh process; the ratio is of the median times, and "
        "above 1 the other is slower than nashboard. Imports are not timed unless the row says so. "
        "`make bench` measures a small version, `make bench-full` everything.\n"
    )
    return "\n".join([intro, *(section(found[name]) for name in names)])


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    atomically(PAGE, lambda part: part.write_text(page(), encoding="utf-8"))
    print(f"Wrote {PAGE.name}.")
