"""Sound inputs to damage: all of ``tests/files``, and what only programs write (parquet, npz, a league, databases)."""

import gzip
import io
import sqlite3
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import zstandard

import nashboard as nb

FILES = Path(__file__).parents[1] / "files"
Input = dict[str, bytes]  # a file under one name, or a folder of several


@cache
def corpus() -> tuple[Input, ...]:
    """Return all sound inputs; the same in every run."""
    touch = FILES / "first_touch"
    entries = [*sorted(path for path in FILES.iterdir() if path != touch), *sorted(touch.iterdir())]
    plain = [{path.name: path.read_bytes()} for path in entries if path.is_file()]
    folders = [folder(path) for path in entries if path.is_dir()]
    packed = [{f"{name}.gz": gzip.compress(data, mtime=0)} for name, data in list(plain[2].items())]
    packed += [{f"{name}.zst": zstandard.compress(data)} for name, data in list(plain[4].items())]
    packed += [{f"{name}.zip": zipped(name, data)} for name, data in list(plain[6].items())]
    return (*plain, *folders, *packed, *parquets(), *arrays(), league(), *databases())


def zipped(name: str, data: bytes) -> bytes:
    """Return a zip file with one entry; the same bytes in every run."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(name), data)
    return stream.getvalue()


def folder(root: Path) -> Input:
    """Return the files of a folder by their relative names."""
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def parquets() -> list[Input]:
    """Return parquet files as different writers make them: packed or not, with holes, lists, several groups."""
    log = pl.DataFrame(
        {
            "model_a": ["x", "y", "é", "x"] * 30,
            "model_b": ["y", "z", "x", "z"] * 30,
            "winner": ["model_a", "tie", "model_b", None] * 30,
            "weight": [1.0, 2.5, 0.0, 1.0] * 30,
            "turns": [[1, 2], [], None, [3]] * 30,
        }
    )
    table = pl.DataFrame({"model": ["x", "y", "z"], "go": [0.1, 0.5, None], "chess": [1, 2, 3]})
    found = []
    for frame, options in (
        (log, {"compression": "zstd"}),
        (log.drop("turns"), {"compression": "uncompressed"}),
        (log.drop("turns"), {"compression": "snappy", "row_group_size": 50, "statistics": False}),
        (log.drop_nulls("winner").with_columns(pl.col("model_a").cast(pl.Categorical)), {"compression": "lz4"}),
        (table, {"compression": "gzip"}),
    ):
        stream = io.BytesIO()
        frame.write_parquet(stream, **options)
        found.append({"log.parquet": stream.getvalue()})
    return found


def arrays() -> list[Input]:
    """Return arrays of numpy: scores of runs by agent, packed and plain, and a single one."""
    scores: dict[str, Any] = {
        "first agent": np.arange(12.0).reshape(4, 3),
        "second": np.arange(12.0)[::-1].reshape(4, 3),
    }
    found = []
    for save in (np.savez, np.savez_compressed):
        stream = io.BytesIO()
        save(stream, **scores)
        found.append({"scores.npz": stream.getvalue()})
    stream = io.BytesIO()
    np.save(stream, scores["second"])
    return [*found, {"scores.npy": stream.getvalue()}]


def league() -> Input:
    """Return the state of an online league."""
    model = nb.OnlineMelo(1, rng=0)
    model.update_many(pl.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["model_a", "tie"]}))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "league.npz")
        model.save(path)
        return {"league.npz": path.read_bytes()}


def databases() -> list[Input]:
    """Return a table in a file of SQLite and of DuckDB."""
    rows = [("x", "y", "model_a", 1.0), ("y", "z", "tie", 2.5), ("é", "x", "model_b", 0.0)] * 20
    with tempfile.TemporaryDirectory() as place:
        paths = Path(place, "log.sqlite"), Path(place, "log.duckdb")
        kept, counted = sqlite3.connect(paths[0]), duckdb.connect(str(paths[1]))
        for connection in (kept, counted):
            connection.execute("create table log (model_a text, model_b text, winner text, weight double)")
            connection.executemany("insert into log values (?, ?, ?, ?)", rows)
        kept.commit()
        kept.close()
        counted.close()
        return [{path.name: path.read_bytes()} for path in paths]
