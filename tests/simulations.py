"""The simulations of ``benchmarks/decisions.py``, of which the tests run small versions."""

import importlib.util
from pathlib import Path
from typing import Any

PATH = Path(__file__).parents[1] / "benchmarks" / "decisions.py"


def load() -> Any:
    """Return the benchmark program as a module."""
    spec = importlib.util.spec_from_file_location("decisions", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


decisions = load()
