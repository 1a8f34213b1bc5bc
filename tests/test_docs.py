"""Everything that is shown is run: docstrings, the README, the commands it names."""

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nashboard
import servers

ROOT = Path(__file__).parents[1]
MODULES = sorted(module.name for module in pkgutil.walk_packages(nashboard.__path__, "nashboard."))
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
SNIPPET = re.compile(r"(?:<!-- needs: (\w+) -->\n)?```python\n(.*?)```", re.DOTALL)
SNIPPETS = [(page, needs, code) for page in PAGES for needs, code in SNIPPET.findall(page.read_text())]
# What Spark says about a version of pandas is not about the snippet.
SPARK_WARNING = "ignore:PySpark does not yet fully support pandas:FutureWarning"


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_the_examples_of_a_docstring_give_what_they_show(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


@pytest.mark.parametrize(
    ("page", "needs", "code"), SNIPPETS, ids=[f"{page.name} {k}" for k, (page, *_) in enumerate(SNIPPETS)]
)
def test_a_snippet_runs_as_shown(page: Path, needs: str, code: str, tmp_path: Path) -> None:
    if needs:
        absent = {"spark": servers.no_spark, "dask": servers.no_dask}[needs]()
        if absent:
            pytest.skip(absent)
    warnings = ["-W", "error", *(["-W", SPARK_WARNING] if needs == "spark" else [])]
    subprocess.run([sys.executable, *warnings, "-c", code], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.parametrize("target", ["demo", "test"])
def test_the_two_commands_of_the_readme_are_targets_of_make(target: str) -> None:
    assert f"    make {target} " in (ROOT / "README.md").read_text()
    assert f"\n{target}: " in (ROOT / "Makefile").read_text()


def test_the_ci_script_runs_lint_and_the_readme_test_command() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in lines if line.startswith("make")][:2] == ["make lint", "make test"]


def test_every_command_of_the_readme_exists() -> None:
    shown = re.findall(r"^    (nashboard [a-z-]+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert shown
    for command in set(shown):
        program, name = shlex.split(command)
        subprocess.run([sys.executable, "-m", program, name, "--help"], check=True, capture_output=True)


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
        assert f"C, +{points['C']:.0f} points" in readme
        assert f"B, {points['B']:.0f} points" in readme
