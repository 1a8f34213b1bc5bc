"""Everything that is shown is run: docstrings, the README, the commands it names."""

import doctest
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nashboard
import pages
from commands import Run

ROOT = Path(__file__).parents[1]
SOURCE = Path(nashboard.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if ">>>" in path.read_text(encoding="utf-8")
)
SLOW = ("charts", "report", "paper")  # rooms whose examples draw and write pages
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
RUN = [page for page in PAGES if pages.runs(page.read_text())]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name.split(".")[1] in SLOW)) for name in MODULES]
)
def test_the_examples_of_a_docstring_give_what_they_show(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=str(page.relative_to(ROOT)), marks=[pytest.mark.slow] * (page.name != "README.md"))
        for page in RUN
    ],
)
def test_a_page_runs_and_prints_what_it_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text()
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if "<!-- needs:" in text:  # clusters start processes, which need a process of their own to start from
        # Spark lives for seconds: Java compiles quickly rather than well
        env = os.environ | {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
        spark = "ignore:PySpark does not yet fully support pandas:FutureWarning"  # not about the page
        words = [sys.executable, "-W", "error", "-W", spark, str(ROOT / "tests" / "pages.py"), str(page)]
        done = subprocess.run(words, capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
    else:
        monkeypatch.chdir(tmp_path)
        assert pages.run(page) == []
    if missing := pages.lacks(text):
        pytest.skip(f"all ran but what needs {' and '.join(missing)}")


def test_what_is_said_about_damaged_files_is_on_record() -> None:
    said = re.search(r"more than ([\d,]+) cases", (ROOT / "docs" / "faq.md").read_text())
    assert said is not None
    runs = [json.loads(line) for line in (ROOT / "tests" / "long_runs.jsonl").read_text().splitlines()]
    fuzz = [run for run in runs if run["run"] == "fuzz"]
    cases, failed = (sum(run[word] for run in fuzz) for word in ("cases", "failed"))
    assert cases > int(said[1].replace(",", ""))
    assert failed < cases / 10_000


def test_links_of_pages_lead_to_files_of_the_checkout() -> None:
    links = [(page, link) for page in PAGES for link in re.findall(r"\]\(([^)\s#]+)", page.read_text())]
    local = [(page, link) for page, link in links if ":" not in link]
    assert len(local) > 50
    assert [f"{page.name}: {link}" for page, link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("target", ["demo", "test"])
def test_the_two_commands_of_the_readme_are_targets_of_make(target: str) -> None:
    assert f"    make {target} " in (ROOT / "README.md").read_text()
    assert f"\n{target}: " in (ROOT / "Makefile").read_text()


def test_the_ci_script_runs_lint_and_all_tests() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    made = [line for line in lines if line.startswith("make")]
    assert made[0].startswith("make test-lowest ")
    assert made[1:] == ["make dev-environment docs-environment", "make lint", "make test-all"]


def test_every_command_of_the_readme_exists(command: Run) -> None:
    shown = re.findall(r"^    (nashboard [a-z-]+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert shown
    for words in set(shown):
        command(words.split()[1], "--help")


def test_the_numbers_of_the_readme_are_those_of_the_stress_test() -> None:
    matches = nashboard.load_dataset("rock-paper-scissors")
    assert isinstance(matches, nashboard.Matches)
    readme = (ROOT / "README.md").read_text()
    for copies in (1, 100):
        W = matches.win_rates()
        entered = [0] * (copies + 1) + [1, 2]
        P = W[entered][:, entered]
        P[np.isnan(P)] = 0.5  # copies of one agent are even
        names = [f"A{k}" for k in range(copies + 1)] + ["B", "C"]
        ratings = nashboard.elo(nashboard.Matches.from_win_rates(P, names, games=10), prior=0)
        points = dict(zip(ratings.agents, ratings.ratings - ratings.ratings[0], strict=True))
        assert points["C"] == pytest.approx(-points["B"])
        assert f"{points['C']:.0f} points" in readme.replace("72 Elo points", "72 points")
