"""Write ``docs/benchmarks.md`` and the comparison in the README from ``results/*.json``: they are never typed.

python benchmarks/page.py             of everything
python benchmarks/page.py --small     of the small version: its own page in out/benchmarks.md, and nothing else
"""

import argparse
from pathlib import Path

import numpy as np
from results import RESULTS, ROOT, SMALL, Row, read

from nashboard._files import write_text

PAGE = ROOT / "docs" / "benchmarks.md"
SMALL_PAGE = ROOT / "out" / "benchmarks.md"
README = ROOT / "README.md"
ORDER = (
    "equilibrium",
    "elo",
    "ratings",
    "online",
    "counting",
    "end_to_end",
    "startup",
    "evaluation",
    "algebra",
    "ranking",
)
INTRO = """# Benchmarks

{written}

Each task was measured in one run: all programs on the same data, in turns, each time in a fresh process that has its
libraries loaded. Imports and the preparation of data are not timed unless a row says so. A program that fails, takes
too long or too much memory, or answers wrongly, is shown as such; it is not tried on a larger task, nor named there.

{columns}
- **growth**: the slope of log time over log size, fitted where a program finished three sizes or more.
"""
COLUMNS = """\
- **reference**: the program that the others are compared with, its median wall time and its largest memory.
- **others**: their wall time as a multiple of the reference, the median over turns. Above 1, they are slower. Of
  several sizes the smallest and the largest are shown; the others, processor time, spreads, memory and what each
  program answered are in `benchmarks/results`."""
COLUMNS_SMALL = """\
- **times** and **CPU, times**: ratios of wall and of processor time, the median over turns, then least and most.
- **s**, **CPU s**: median seconds; **MB**: the most memory of any turn, without pages of mapped files, looked at
  every 20 milliseconds; **new MB**: beyond what was held before the timed part began; **turns**: how often it ran."""
WRITTEN = """\
Written by `python benchmarks/page.py` from `benchmarks/results`; do not edit. `make bench-full` measures everything;
`make bench` measures a small version, with a page of its own in `out/benchmarks.md`."""
WRITTEN_SMALL = "The small version, written by `make bench`; `make bench-full` measures everything."
RATIOS = ("times {}", "least to most", "CPU, times {}")
HEAD = ("what", "who", *RATIOS, "s", "least to most", "CPU s", "MB", "new MB", "turns", "quality")


def number(value: float | None) -> str:
    """Return three digits, and no more."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 99.5 else f"{value:.3g}"


def small(value: float) -> str:
    """Return three digits of seconds or ratios, also of tiny ones."""
    return number(value) if value >= 0.001 or value == 0 else f"{value:.1e}"


def cells(row: Row) -> tuple[str, ...]:
    """Return the cells of a row; a side that failed says how."""
    if "failed" in row:
        least = f"over {number(row['ratio at least'])}" if "ratio at least" in row else ""
        who = f"{row['who']} ({row['version']})"
        return row["what"], who, least, *[""] * 8, row["failed"]
    ratios = " to ".join(map(small, row["ratios"])) if "ratios" in row and row["repeats"] > 1 else ""
    return (
        row["what"],
        row["who"],
        small(row["ratio"]) if "ratio" in row else "",
        ratios,
        small(row["cpu ratio"]) if row.get("cpu ratio") is not None else "",
        small(row["seconds"]),
        " to ".join(map(small, row["spread"])) if row["repeats"] > 1 else "",
        small(row["cpu"]),
        number(row["peak MB"]),
        number(row["new MB"]),
        str(row["repeats"]),
        row["quality"],
    )


def table(rows: list[tuple[str, ...]], texts: int = 2, last: bool = True) -> str:
    """Return rows as a table: the first columns are text, the others numbers, the last text again if it is quality."""
    width = len(rows[0])
    ruler = ["---"] * texts + ["---:"] * (width - texts - last) + ["---"] * last
    ruler = ["---"] * width if rows[0][1] == "reference" else ruler
    lines = [rows[0], tuple(ruler), *rows[1:]]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def growth(rows: list[Row]) -> str:
    """Return how the time grows with the size, where three sizes or more were measured."""
    points: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in rows:
        if row.get("series") and "seconds" in row:
            points.setdefault((row["series"], row["who"]), []).append((row["size"], row["seconds"]))
    found: dict[str, list[str]] = {}
    for (series, who), some in points.items():
        sizes, seconds = np.array(sorted(some)).T
        if len(set(sizes)) >= 3:
            slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
            found.setdefault(series, []).append(f"{who} {slope:.2f} ({sizes[0]:,.0f} to {sizes[-1]:,.0f})")
    lines = (f"{series}: {', '.join(some)}" for series, some in found.items())
    return f"Growth: {'; '.join(lines)}." if found else ""


def in_order(rows: list[Row]) -> list[Row]:
    """Return the rows with each series together, from small to large."""
    first: dict[str, int] = {}
    for place, row in enumerate(rows):
        first.setdefault(row.get("series", row["what"]), place)
    return sorted(rows, key=lambda row: (first[row.get("series", row["what"])], row.get("size", 0)))


def span(moments: list[tuple[str, float]]) -> str:
    """Return the first and the last date, each with the load at that time; rows are shown in another order."""
    first, last = min(moments), max(moments)
    if first[0] != last[0]:
        return f"{first[0]} (load {first[1]}) to {last[0]} (load {last[1]})"
    return f"{first[0]} (load {first[1]})" if first == last else f"{first[0]} (load {first[1]} to {last[1]})"


def measured(rows: list[Row]) -> str:
    """Return when the rows were measured and on what: a line for each machine, commit and set of versions."""
    runs: dict[str, list[tuple[str, float]]] = {}
    for row in rows:
        run = row["run"]
        commit = f" (commit {run['commit']})" if run.get("commit") else ""
        own = [name + commit if name.startswith("nashboard ") else name for name in run["versions"]]
        runs.setdefault(f"{run['machine']}; {', '.join(own)}", []).append((run["date"], run["load"]))
    peers = sorted({row["version"] for row in rows} - {v for row in rows for v in row["run"]["versions"]})
    others = f"; {', '.join(peers)}" if peers else ""
    return " ".join(f"Measured {span(moments)} on {on}{others}." for on, moments in runs.items())


def compared(row: Row) -> str:
    """Return a program as a multiple of the reference, or how it failed."""
    if "failed" in row:
        return f"{row['who']}: {row['failed'].split(': cvxpy')[0]}"
    wrong = " (wrong)" if "WRONG" in row["quality"] else ""
    return f"{row['who']} {small(row['ratio']) if 'ratio' in row else small(row['seconds']) + ' s'}{wrong}"


def compact(rows: list[Row]) -> tuple[str, str]:
    """Return a table and what has no peer: a line for each task, of a series for its two ends, with the reference and
    the others as multiples of it.
    """
    tasks: dict[str, list[Row]] = {}
    for row in rows:
        tasks.setdefault(row["what"], []).append(row)
    lines = {"": ("what", "reference", "s", "MB", "others", "quality of the reference")}
    alone: list[str] = []
    series: dict[str, list[str]] = {}
    for what, some in tasks.items():
        first = next((row for row in some if "failed" not in row), some[0])
        others = "; ".join(
            compared(row) for row in some if row is not first and not row.get("failed", "").startswith("not tried")
        )
        if not others and "failed" not in first:
            alone.append(f"{what} {small(first['seconds'])} s ({number(first['peak MB'])} MB)")
            continue
        series.setdefault(first.get("series") or what, []).append(what)
        figures = ("", "") if "failed" in first else (small(first["seconds"]), number(first["peak MB"]))
        lines[what] = (what, first["who"], *figures, others, first.get("failed") or first["quality"])
    for between in (what for some in series.values() for what in some[1:-1]):
        del lines[between]
    shown = table([*lines.values()], last=False) if len(lines) > 1 else ""
    return shown, f"Without a peer: {'; '.join(alone)}." if alone else ""


def section(content: Row, short: bool) -> str:
    """Return one section: what was measured, the table, how it grows, and on what."""
    rows = in_order(content["rows"])
    head = tuple(name.format(content["unit"]) for name in HEAD)
    shown, alone = compact(rows) if short else (table([head, *map(cells, rows)]), "")
    below = "\n".join(f"- {line}" for line in (alone, f"{growth(rows)} {measured(rows)}".strip()) if line)
    return f"## {content['title']}\n\n{content['about']}\n\n{shown}\n\n{below}\n"


def results(folder: Path) -> dict[str, Row]:
    """Return all sections, in the order of the page."""
    found = {path.stem: read(path) for path in folder.glob("*.json")}
    names = [*(name for name in ORDER if name in found), *sorted(set(found) - set(ORDER))]
    return {name: found[name] for name in names if found[name]["rows"]}


def page(small: bool = False) -> str:
    """Return the whole page, of the full version or of the small one."""
    intro = INTRO.format(written=WRITTEN_SMALL if small else WRITTEN, columns=COLUMNS_SMALL if small else COLUMNS)
    sections = results(SMALL if small else RESULTS).values()
    return "\n".join([intro, *(section(content, short=not small) for content in sections)])


# What the README shows: a few rows of the table of equilibria.
SHOWN = (
    ("dense 200", "cvxpy (OpenSpiel's program)"),
    ("dense 200", "HiGHS interior point"),
    ("dense 200", "nashpy"),
    ("dense 20", "polarix ce_maxent"),
    ("realistic 1,000", "cvxpy (OpenSpiel's program)"),
    ("realistic 1,000", "HiGHS simplex"),
    ("table 20 x 54", "cvxpy (OpenSpiel's program)"),
    ("table 20 x 54", "cvxpy, a constraint per player"),
    ("table 20 x 54", "HiGHS simplex"),
)
MARKS = "<!-- comparison, written by benchmarks/page.py -->\n", "<!-- end of comparison -->\n"


def comparison() -> str:
    """Return the table of the README: how many times our time a peer takes, and how exact it is."""
    rows = {(row["what"], row["who"]): row for row in results(RESULTS).get("equilibrium", {"rows": []})["rows"]}
    found = [("game", "peer", "time, times ours", "CPU, times ours", "what a deviation gains: peer", "ours")]
    for game, peer in SHOWN:
        theirs, ours = rows.get((game, peer)), rows.get((game, "nashboard"))
        if theirs and ours and "answer" in ours:
            cell = cells(theirs)
            gains = [f"{row['answer']['gain']:.0e}" if "answer" in row else "-" for row in (theirs, ours)]
            peer += " (wrong: not the maximum)" if "WRONG" in theirs.get("quality", "") else ""
            found.append((game, peer, cell[2] or theirs["failed"], cell[4] or "-", *gains))
    return table(found, last=False) + "\n"


def readme() -> str:
    """Return the README with the table in its place."""
    text = README.read_text(encoding="utf-8")
    head, _, rest = text.partition(MARKS[0])
    return head + MARKS[0] + comparison() + MARKS[1] + rest.partition(MARKS[1])[2]


def main(small: bool = False) -> None:
    """Write both; of the small version its own page alone, which git does not keep."""
    written = {SMALL_PAGE: page(small=True)} if small else {PAGE: page(), README: readme()}
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    names = [str(path.relative_to(ROOT)) for path in written]
    print(f"The page is {names[0]}." if small else f"The page is {names[0]}; the comparison is in {names[1]}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="of what `make bench` has measured")
    main(small=parser.parse_args().small)
