"""Measure everything, or a part: each row is kept as soon as it is measured, and the page is written from all of them.

python benchmarks/run.py                          a small version, a few minutes: rows and page are kept in out/
python benchmarks/run.py --full                   everything: benchmarks/results, docs/benchmarks.md and the README
python benchmarks/run.py --full --only elo        one section; again for several
python benchmarks/run.py --full --task rounds     only tasks whose name contains this text; the other rows stay
python benchmarks/run.py --tiny                   every program once on next to nothing; keeps no results
"""

import argparse
import signal
import sys
import tempfile
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import page
from harness import Section, Size, compared, line, progress
from results import RESULTS, SMALL, Row, read, save, write

TURNS = {"tiny": 1, "small": 2}  # at most
KEPT = {
    "tiny": "nothing is kept",
    "small": "what was measured is kept; `python benchmarks/page.py --small` writes the page",
    "full": "what was measured is kept; `python benchmarks/page.py` writes the page",
}
# The quick ones first, those with the longest rows last.
SECTIONS = (
    "startup",
    "reading",
    "online",
    "evaluation",
    "algebra",
    "ranking",
    "end_to_end",
    "equilibrium",
    "elo",
    "ratings",
)


def measured(section: Section, size: Size, results: Path, folder: Path, task: str = "") -> None:
    """Measure a section, or those of its tasks whose name holds a text; a whole one forgets rows that left it."""
    path = results / f"{section.name}.json"
    before: list[Row] = []
    for comparison in section.comparisons(size, folder):
        if task not in comparison.what:
            continue
        if size != "full":
            comparison = replace(comparison, repeats=min(comparison.repeats, TURNS[size]))
        rows = compared(comparison, before, lambda rows: save(path, section.head, rows))
        before += rows
        for row in rows:
            print(line(row), flush=True)
    if task:
        return
    whats = {row["what"] for row in before}
    write(path, section.head, [row for row in read(path)["rows"] if row["what"] in whats])


def stopped(signum: int, frame: object) -> None:
    """End as after Ctrl-C: children are killed, the temporary files removed."""
    raise SystemExit(128 + signum)


def main(arguments: list[str] | None = None) -> int:
    """Measure, keep, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--full", dest="size", action="store_const", const="full", default="small")
    sizes.add_argument("--tiny", dest="size", action="store_const", const="tiny")
    parser.add_argument("--only", action="append", choices=SECTIONS, metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--task", default="", metavar="TEXT", help="only tasks whose name contains this text")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, stopped)
    began = time.monotonic()
    failed = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            results = {"tiny": Path(folder, "results"), "small": SMALL, "full": RESULTS}[given.size]
            for name in given.only or SECTIONS:
                section: Section = import_module(name).SECTION
                print(f"-- {section.title} ({name}), after {(time.monotonic() - began) / 60:.1f} minutes", flush=True)
                try:
                    measured(section, given.size, results, Path(folder), given.task)
                except Exception as error:  # the other sections are still worth their time
                    failed.append(name)
                    print(f"{name} stopped: {type(error).__name__}: {error}", file=sys.stderr)
        print(f"Done in {(time.monotonic() - began) / 60:.1f} minutes.")
        if given.size != "tiny":
            page.main(small=given.size == "small")
    except KeyboardInterrupt:
        progress("")
        print(f"Interrupted: {KEPT[given.size]}.", file=sys.stderr)
        return 130
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
