"""The long commands, as `kill.py` kills them: what each writes, and what tells that it is whole."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from nashboard.online.models import load

ROOT = Path(__file__).parents[2]
OLD = "what stood there before\n"
NO_ROWS = '{"title": "", "about": "", "rows": []}\n'
# Commands write for an instant of their time; this one writes most of it, so that kills fall into writing.
SAVES = """
import nashboard as nb, polars as pl
model = nb.OnlineMelo(2, rng=0)
names = [f"agent {k}" for k in range(20_000)]
model.update_many(pl.DataFrame({"model_a": names, "model_b": names[1:] + names[:1], "winner": "tie"}))
for _ in range(40):
    model.save("saved.npz")
"""
# The real benchmark of start-up, on next to nothing, in a copy of the benchmarks: their results stand beside them. Its
# pages are written again and again, so that kills fall into writing them too.
MEASURES = """
import dataclasses, sys
sys.path.insert(0, "benchmarks")
import page, run, startup
def few(size, folder):
    return (dataclasses.replace(one, repeats=1) for one in all_of_it("tiny", folder))
def again(small):
    for _ in range(100):
        write(small)
all_of_it, write = startup.comparisons, page.main
startup.SECTION = dataclasses.replace(startup.SECTION, comparisons=few)
page.main = again
sys.exit(run.main(["--full", "--only", "startup"]))
"""
PAGES = ("README.md", "docs/benchmarks.md")  # which the benchmarks write besides their results


@dataclass(frozen=True, kw_only=True)
class Victim:
    """A long command: what it is given, what it writes (or prints, where that is nothing), and whether that is whole.

    ``old`` stands in the output's place before; without it the command goes on where the last one was killed. Some
    outputs are of their moment, so that two runs do not write the ``same``. ``beside`` looks at what else the command
    writes in its folder, where it stands from the start: it must be whole at any moment. A command that is stopped says
    one line, or as many as ``says``.
    """

    name: str
    arguments: tuple[str, ...]
    output: str = ""
    whole: Callable[[Path], None]
    old: str = OLD
    same: bool = True
    program: tuple[str, ...] = ("-m", "nashboard")
    beside: Callable[[Path], None] = lambda folder: None
    says: int = 1


def is_json(path: Path) -> None:
    """Raise an error unless this is a whole json document."""
    assert json.loads(path.read_text(encoding="utf-8"))


def is_page(path: Path) -> None:
    """Raise an error unless this is a whole page."""
    assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")


def is_league(path: Path) -> None:
    """Raise an error unless this is a whole league."""
    load(path)


ENDS = {".png": b"IEND\xaeB`\x82", ".svg": b"</svg>", ".html": b"</html>", ".json": b"}", ".csv": b"\n", ".md": b"\n"}


def is_paper(page: Path) -> None:
    """Raise an error unless every file beside this page is whole, and the page points at nothing that is not there."""
    for path in page.parent.rglob("*"):
        if path.is_file() and not path.name.endswith(".part"):
            content = path.read_bytes()
            end = ENDS[path.suffix]
            assert content.endswith(end) or content.rstrip().endswith(end), f"{path} is half-written"


def are_pages(folder: Path) -> None:
    """Raise an error unless the README and the page of benchmarks in this folder are whole."""
    readme, page = ((folder / name).read_text(encoding="utf-8") for name in PAGES)
    # the README's table is of another section, so that it is written again as it was
    assert readme == (ROOT / "README.md").read_text(encoding="utf-8"), "the README is half-written"
    measured = [json.loads(path.read_text(encoding="utf-8")) for path in (folder / "benchmarks/results").glob("*.json")]
    titles = {f"## {section['title']}" for section in measured if section["rows"]}
    assert titles <= set(page.splitlines()), "the page of benchmarks is half-written"
    assert re.match("- .*Measured ", page.splitlines()[-1]), "the page of benchmarks is half-written"
    assert page.endswith(".\n"), "the page of benchmarks is half-written"


def write_log(path: Path, rows: int) -> None:
    """Write a log of random games between 30 agents."""
    rng = np.random.default_rng(0)
    names = pl.Series([f"agent {k:02d}" for k in range(30)])
    a = rng.integers(0, 30, rows)
    log = pl.DataFrame(
        {
            "model_a": names.gather(a),
            "model_b": names.gather((a + rng.integers(1, 30, rows)) % 30),
            "winner": pl.Series(["model_a", "model_b", "tie"]).gather(rng.integers(0, 3, rows)),
        }
    )
    log.write_csv(path)
    subprocess.run(["gzip", "-kf1", path.name], cwd=path.parent, check=True)


VICTIMS = (
    Victim(
        name="evaluate",
        arguments=("evaluate", "../log.csv.gz", "--resamples", "48", "-o", "board.json"),
        output="board.json",
        whole=is_json,
    ),
    Victim(
        name="elo by bootstrap",
        arguments=("elo", "../log.csv.gz", "--errors", "bootstrap", "--resamples", "9600", "--format", "json"),
        whole=is_json,
    ),
    Victim(
        name="report",
        arguments=("report", "dataset:atari", "--resamples", "50", "-o", "board.html"),
        output="board.html",
        whole=is_page,
    ),
    Victim(
        name="online",
        arguments=("online", "../log.csv", "--k", "1", "--state", "league.npz"),
        output="league.npz",
        whole=is_league,
        old="",
        says=2,  # what is saved, and how to go on
    ),
    Victim(name="saving a state", arguments=(), program=("-c", SAVES), output="saved.npz", whole=is_league),
    Victim(name="audit", arguments=("audit", "../log.csv.gz", "--format", "json"), whole=is_json),
    Victim(name="stress", arguments=("stress", "../log.csv.gz", "--format", "json"), whole=is_json),
    Victim(
        name="paper",
        arguments=("paper", "-o", "reproduced"),
        output="reproduced/index.html",
        whole=is_paper,
        old="",
    ),
    Victim(
        name="bench",
        arguments=(),
        program=("-c", MEASURES),
        output="benchmarks/results/startup.json",
        whole=is_json,
        old=NO_ROWS,
        same=False,
        beside=are_pages,
    ),
)


def prepare(victim: Victim, folder: Path) -> None:
    """Make the folder in which a command runs."""
    folder.mkdir()
    if victim.name == "bench":
        shutil.copytree(ROOT / "benchmarks", folder / "benchmarks", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "docs").mkdir()
        for name in PAGES:
            shutil.copy(ROOT / name, folder / name)
