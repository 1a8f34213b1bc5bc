"""From a log of matches to a full board with 200 resamples: the time, and the share of each stage.

    python benchmarks/evaluation.py [matches] [agents] [resamples]

The log is made up: 300 agents with ratings and a cyclic part, 2,000,000 matches between random pairs, in
a parquet file.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import nashboard as nb
from nashboard.evaluation import evaluate as stages


def made_up_log(path: Path, matches: int, agents: int) -> None:
    rng = np.random.default_rng(0)
    r, c = rng.normal(size=agents), 0.5 * rng.normal(size=(agents, 2))
    i = rng.integers(0, agents, size=matches)
    j = (i + rng.integers(1, agents, size=matches)) % agents
    lead = r[i] - r[j] + c[i, 0] * c[j, 1] - c[i, 1] * c[j, 0]
    won = rng.random(matches) < 1 / (1 + np.exp(-lead))
    drawn = rng.random(matches) < 0.1
    winner = np.where(drawn, "tie", np.where(won, "model_a", "model_b"))
    names = np.array([f"agent-{k:03}" for k in range(agents)])
    pl.DataFrame({"model_a": names[i], "model_b": names[j], "winner": winner}).write_parquet(path)


def main() -> None:
    matches, agents, resamples = (int(x) for x in (sys.argv[1:] + ["2000000", "300", "200"][len(sys.argv) - 1 :]))
    spent: dict[str, float] = {}

    def timed(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **options: Any) -> Any:
            began = time.perf_counter()
            try:
                return work(*given, **options)
            finally:
                spent[name] = spent.get(name, 0.0) + time.perf_counter() - began

        return run

    named = {
        "matches_roll": "identical agents",
        "matches_board": "point estimates (Nash, Elo)",
        "matches_again": "resampling",
        "uncertainty": "intervals and groups",
        "assembled": "verdict",
    }
    for attribute, name in named.items():
        setattr(stages, attribute, timed(name, getattr(stages, attribute)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.parquet")
        made_up_log(path, matches, agents)
        began = time.perf_counter()
        data = timed("reading", nb.read_matches)(path)
        result = stages.evaluate(data, n_resamples=resamples)
        text = timed("json", result.to_json)()
        total = time.perf_counter() - began
    print(f"{matches:,} matches, {agents:,} agents, {resamples:,} resamples: {result!r}, {len(text):,} bytes of json")
    for name, seconds in [*spent.items(), ("everything else", total - sum(spent.values()))]:
        print(f"{seconds / total:7.1%}  {seconds:7.2f} s  {name}")
    print(f"{1:7.1%}  {total:7.2f} s  parquet to full board")


if __name__ == "__main__":
    main()
