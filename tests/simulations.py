"""The simulations of ``benchmarks/decisions.py``, of which the tests run small versions."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
decisions: Any = import_module("decisions")
data: Any = import_module("decision_data")
peers: Any = import_module("decision_peers")
