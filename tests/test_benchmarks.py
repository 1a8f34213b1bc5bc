"""The page of benchmarks is what the results say: it is never typed."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_page_of_benchmarks_is_written_from_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    page = importlib.import_module("page")
    try:
        assert page.PAGE.read_text(encoding="utf-8") == page.page()
    finally:
        for name in ("page", "harness"):
            sys.modules.pop(name, None)
