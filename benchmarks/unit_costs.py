"""What one match and one pair cost on this machine: the numbers from which docs/cluster.md works out a cluster.

    python benchmarks/unit_costs.py [MATCHES]

Agents meet at random, so that hardly any pair stands in a task twice: the worst case for a shuffle.
"""

import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import nashboard as nb

AGENTS = 1_000_000
LABELS = ["model_a", "model_b", "tie"]


def log(matches: int) -> pl.DataFrame:
    """Return a log of matches between agents drawn at random."""
    rng = np.random.default_rng(0)
    first, step = rng.integers(AGENTS, size=matches), rng.integers(1, AGENTS, size=matches)
    names = pl.Series([f"agent {k}" for k in range(AGENTS)])
    return pl.DataFrame(
        {
            "model_a": names.gather(first),
            "model_b": names.gather((first + step) % AGENTS),
            "winner": pl.Series(LABELS).gather(rng.integers(3, size=matches)),
        }
    )


def anonymous_bytes() -> int:
    """Return how much memory of its own this process holds."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon"))


def peak_of(work: Any) -> tuple[Any, float, int]:
    """Return what a piece of work gives, its seconds of processor, and the most memory it took above that before."""
    before, most, done = anonymous_bytes(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.01):
            most[0] = max(most[0], anonymous_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.process_time()  # of all threads: a busy machine does not change it
    try:
        found = work()
    finally:
        seconds = time.process_time() - start
        done.set()
        watcher.join()
    return found, seconds, most[0] - before


def stages_of(session: Any) -> list[Any]:
    """Return what Spark has done so far, as it keeps it, in that order."""
    java = session._jvm
    none = session.sparkContext._gateway.new_array(java.double, 0)
    kept = session._jsc.sc().statusStore().stageList(None, False, False, none, java.java.util.ArrayList())
    return sorted((kept.apply(k) for k in range(kept.size())), key=lambda stage: (stage.stageId(), stage.attemptId()))


def spark_costs(path: Path, matches: int) -> list[str]:
    """Count the log with Spark on two threads; its own stages say what was shuffled."""
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.master("local[2]")
    settings = {"ui.enabled": "false", "driver.bindAddress": "127.0.0.1", "driver.host": "127.0.0.1",
                "driver.memory": "3g", "sql.shuffle.partitions": "8", "log.level": "ERROR",
                "sql.execution.arrow.pyspark.enabled": "true", "ui.showConsoleProgress": "false"}  # fmt: skip
    for name, value in settings.items():
        builder = builder.config(f"spark.{name}", value)
    session = builder.getOrCreate()
    games = session.read.parquet(str(path))
    for _ in range(3):  # a cluster works for hours: the first seconds, in which Java compiles, are not its cost
        nb.read_matches(games.limit(matches // 20))
    begun = len(stages_of(session))
    found, _, peak = peak_of(lambda: nb.read_matches(games))
    stages = stages_of(session)[begun:]
    shuffled = max((stage.shuffleWriteRecords(), stage.shuffleWriteBytes()) for stage in stages)
    cpu = sum(stage.executorCpuTime() for stage in stages) / 1e9
    session.stop()
    pairs = len(found.pairs)
    return [
        f"Spark, executors: {1e6 * cpu / matches:.1f} core-seconds per 10^6 matches",
        f"Spark, shuffled: {shuffled[0] / matches:.2f} rows per match, {shuffled[1] / shuffled[0]:.0f} bytes each",
        f"Spark, peak in this process: {peak / pairs:.0f} bytes per pair that comes back",
    ]


def main() -> None:
    """Measure and print."""
    matches = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    warnings.simplefilter("ignore")  # what Spark says about versions of pandas
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.parquet")
        log(matches).write_parquet(path)
        print(f"{matches:,} matches of {AGENTS:,} agents drawn at random")
        print(f"parquet: {path.stat().st_size / matches:.1f} bytes per match")
        found, seconds, peak = peak_of(lambda: nb.read_matches(path))
        pairs = len(found.pairs)
        kept = sum(getattr(found, name).nbytes for name in ("pairs", "wins", "draws", "losses"))
        print(
            f"file, this process: {1e6 * seconds / matches:.1f} core-seconds per 10^6 matches, "
            f"{peak / pairs:.0f} bytes per pair at the peak"
        )
        print(f"Matches keeps {kept / pairs:.0f} bytes per pair, for {pairs / matches:.3f} pairs per match")
        del found
        for line in spark_costs(path, matches):
            print(line)


if __name__ == "__main__":
    main()
