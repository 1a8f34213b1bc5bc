"""How long it takes to count matches, beside Polars' own scan and group-by of the same file; and memory.

Usage: python benchmarks/reading.py [rows ...]     (default: 1,000,000 and 10,000,000)

Both sides run in fresh processes, interleaved, five times each; the ratio is of medians. The bare query is the
least that any program has to do: scan three columns and count the rows of each (agent, agent, outcome).
"""

import json
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import nashboard

REPEATS = 5
OURS = """
import nashboard as nb
matches = nb.read_matches(path)
games = matches.n_games
"""
BARE = """
import polars as pl
scan = pl.scan_parquet(path) if path.endswith("parquet") else pl.scan_csv(path, infer_schema=False)
counts = scan.group_by("model_a", "model_b", "winner").agg(pl.len()).collect(engine="streaming")
games = counts["len"].sum()
"""
# Imports are timed apart: they cost the same whatever the size of the file.
MEASURED = """
import json, sys, time
import {module}
path = {path!r}
start = time.perf_counter()
{code}
seconds = time.perf_counter() - start
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([seconds, peak / 1024, float(games)]))
"""


def write_log(folder: Path, rows: int) -> list[Path]:
    """Write a log of 100 agents with ids and times, as parquet and as csv."""
    rng = np.random.default_rng(0)
    names = np.array([f"model-{k:03d}" for k in range(100)])
    a = rng.integers(0, 100, rows)
    b = (a + rng.integers(1, 100, rows)) % 100
    log = pl.DataFrame(
        {
            "id": np.arange(rows),
            "model_a": names[a],
            "model_b": names[b],
            "winner": rng.choice(np.array(["model_a", "model_b", "tie", "tie (bothbad)"]), rows),
            "tstamp": 1.7e9 + np.arange(rows),
        }
    )
    paths = [folder / f"log-{rows}.{ending}" for ending in ("parquet", "csv")]
    log.write_parquet(paths[0])
    log.write_csv(paths[1])
    return paths


def measured(code: str, module: str, path: Path) -> tuple[float, float, float]:
    """Run code in a fresh process; return seconds, peak memory in MB, and the games it counted."""
    script = MEASURED.format(code=code, module=module, path=str(path))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    seconds, peak, games = json.loads(done.stdout)
    return seconds, peak, games


HEADINGS = ("rows", "file", "bare s", "ours s", "ratio", "least", "most", "bare MB", "ours MB")


def line(*cells: object) -> str:
    return "  ".join(f"{cell:>10}" if isinstance(cell, str) else f"{cell:10,.2f}" for cell in cells)


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or [1_000_000, 10_000_000]
    print(f"nashboard {nashboard.__version__}, polars {pl.__version__}, Python {platform.python_version()}")
    print(line(*HEADINGS))
    with tempfile.TemporaryDirectory() as folder:
        for rows in sizes:
            for path in write_log(Path(folder), rows):
                bare, ours = [], []
                for _ in range(REPEATS):
                    bare.append(measured(BARE, "polars", path))
                    ours.append(measured(OURS, "nashboard.data.read", path))
                assert {run[2] for run in bare} == {run[2] for run in ours} == {float(rows)}
                ratios = sorted(mine[0] / theirs[0] for mine, theirs in zip(ours, bare, strict=True))
                seconds = [statistics.median(run[0] for run in runs) for runs in (bare, ours)]
                memory = [statistics.median(run[1] for run in runs) for runs in (bare, ours)]
                ratio = seconds[1] / seconds[0]
                print(line(f"{rows:,}", path.suffix[1:], *seconds, ratio, ratios[0], ratios[-1], *memory))
                path.unlink()


if __name__ == "__main__":
    main()
