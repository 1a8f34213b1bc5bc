"""The page of benchmarks is what the results say: it is never typed."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_page_of_benchmarks_and_the_table_of_the_readme_are_written_from_the_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    page = importlib.import_module("page")
    try:
        assert page.PAGE.read_text(encoding="utf-8") == page.page()
        assert page.README.read_text(encoding="utf-8") == page.readme()
        assert page.readme().count("| cvxpy (OpenSpiel's program) |") == 3
    finally:
        for name in ("page", "harness"):
            sys.modules.pop(name, None)
