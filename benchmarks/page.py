"""Write ``docs/benchmarks.md`` from ``results/*.json``: the page is never typed."""

import json
from pathlib import Path
from typing import Any

from harness import RESULTS

from nashboard.data.write import atomically

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
EQUILIBRIA = Path(__file__).parents[1] / "docs" / "benchmarks" / "equilibrium.md"
README = Path(__file__).parents[1] / "README.md"
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


# What the README shows: a few rows of the table of equilibria, and online ratings.
SHOWN = (
    ("dense 200", "cvxpy (OpenSpiel's program)"),
    ("dense 200", "HiGHS interior point"),
    ("dense 200", "nashpy"),
    ("realistic 2,000", "cvxpy (OpenSpiel's program)"),
    ("table 20 x 54", "cvxpy (OpenSpiel's program)"),
    ("table 20 x 54", "HiGHS"),
)
MARKS = "<!-- comparison, written by benchmarks/page.py -->\n", "<!-- end of comparison -->\n"


def comparison() -> str:
    """Return the table of the README: how many times the processor time of ours a peer takes, and how exact it is."""
    lines = (EQUILIBRIA.read_text(encoding="utf-8")).splitlines()
    rows = [[cell.strip() for cell in line.split("|")] for line in lines if line.startswith("| ")]
    by_solver = {(row[1], row[2]): row for row in rows}
    found = [
        "| game | peer | processor time, times ours | what a deviation gains: peer | ours |",
        "|---|---|---:|---:|---:|",
    ]
    for game, peer in SHOWN:
        if (game, peer) in by_solver:
            theirs, ours = by_solver[game, peer], by_solver[game, "nashboard"]
            found.append(f"| {game} | {peer} | {theirs[6]} | {theirs[7] or '-'} | {ours[7]} |")
    return "\n".join(found) + "\n"


def readme() -> str:
    """Return the README with the table in its place."""
    text = README.read_text(encoding="utf-8")
    head, _, rest = text.partition(MARKS[0])
    return head + MARKS[0] + comparison() + MARKS[1] + rest.partition(MARKS[1])[2]


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    atomically(PAGE, lambda part: part.write_text(page(), encoding="utf-8"))
    atomically(README, lambda part: part.write_text(readme(), encoding="utf-8"))
    print(f"Wrote {PAGE.name}, and the comparison in {README.name}.")
