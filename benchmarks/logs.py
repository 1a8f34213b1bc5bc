"""Logs of matches to measure with: agents with ratings, ids and times, as parquet or csv; and their counts."""

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq

PIECE = 2_000_000  # rows made at once
LABELS = ["model_a", "model_b", "tie"]
POINTS = 400 / np.log(10)


def piece(rng: np.random.Generator, ratings: np.ndarray, start: int, size: int) -> pl.DataFrame:
    """Return some rows: every tenth match is a tie."""
    agents = len(ratings)
    names = pl.Series([f"some-lab/model-{k:04d}" for k in range(agents)])
    a = rng.integers(0, agents, size)
    b = (a + rng.integers(1, agents, size)) % agents
    won = rng.random(size) < 1 / (1 + np.exp((ratings[b] - ratings[a]) / POINTS))
    code = np.where(rng.random(size) < 0.1, 2, np.where(won, 0, 1))
    return pl.DataFrame(
        {
            "id": np.arange(start, start + size),
            "model_a": names.gather(a),
            "model_b": names.gather(b),
            "winner": pl.Series(LABELS).gather(code),
            "tstamp": 1.7e9 + np.arange(start, start + size),
        }
    )


def frame(matches: int, agents: int = 100, seed: int = 0) -> pl.DataFrame:
    """Return a log in memory."""
    rng = np.random.default_rng(seed)
    return piece(rng, rng.normal(0, 150, agents), 0, matches)


def write(folder: Path, matches: int, agents: int = 100) -> Path:
    """Write a log piece by piece into one parquet file, unless it is there, and return its path."""
    path = folder / f"log-{matches}-{agents}.parquet"
    if path.exists():
        return path
    rng = np.random.default_rng(0)
    ratings = rng.normal(0, 150, agents)
    writer = None
    for start in range(0, matches, PIECE):
        rows = piece(rng, ratings, start, min(PIECE, matches - start)).to_arrow(compat_level=pl.CompatLevel.oldest())
        writer = writer or pq.ParquetWriter(path, rows.schema, compression="zstd")
        writer.write_table(rows, row_group_size=1 << 20)
    if writer is not None:
        writer.close()
    return path


def counts(path: Path) -> pl.DataFrame:
    """Return how often each pair ended how: Polars' bare scan and group-by."""
    scan = pl.scan_parquet(path)
    return scan.group_by("model_a", "model_b", "winner").agg(pl.len()).collect(engine="streaming")


def log_loss(counted: pl.DataFrame, ratings: dict[str, float]) -> float:
    """Return the mean negative log-likelihood per match of ratings in Elo points; a tie is half a win for each."""
    a, b = (counted[side].replace_strict(ratings, return_dtype=pl.Float64).to_numpy() for side in LABELS[:2])
    lead = (a - b) / POINTS
    won = counted["winner"].replace_strict({"model_a": 1.0, "model_b": 0.0, "tie": 0.5}, return_dtype=pl.Float64)
    loss = np.logaddexp(0, lead) - won.to_numpy() * lead
    return float(np.average(loss, weights=counted["len"].to_numpy()))
