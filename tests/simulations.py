"""The simulations of ``benchmarks/decisions.py``, of which the tests run small versions."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

# only for these imports: other modules of that folder have the names of folders of tests
FOLDER = str(Path(__file__).parents[1] / "benchmarks")
sys.path.insert(0, FOLDER)
decisions: Any = import_module("decisions")
data: Any = import_module("decision_data")
peers: Any = import_module("decision_peers")
sys.path.remove(FOLDER)
