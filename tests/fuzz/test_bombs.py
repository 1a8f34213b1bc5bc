"""Small files that ask for much: memory and time stay bounded, and the answer is one sentence.

Each bomb is read in a process that may not have more than 1.5 GB beyond what Python and its libraries reserve.
"""

import gzip
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import zstandard

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
READ = """
import resource, sys
import nashboard as nb
from nashboard.data.read import read
read("dataset:rock-paper-scissors")
sized = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, ((sized << 10) + (3 << 29),) * 2)
try:
    print("read", repr(read(sys.argv[1]))[:100])
except nb.NashboardError as error:
    print(type(error).__name__, error)
"""


def rows_in_parquet(rows: int) -> bytes:
    """A few kilobytes that are millions of rows."""
    stream = io.BytesIO()
    pl.DataFrame({name: pl.repeat("x", rows, eager=True) for name in ("model_a", "model_b", "winner")}).write_parquet(
        stream, compression="zstd"
    )
    return stream.getvalue()


def lying_parquet() -> bytes:
    """A sound file in which every number of the footer that can be made larger is."""
    return rows_in_parquet(10).replace(b"\x14", b"\xff")


def packed_array(size: int) -> bytes:
    """An npz file of zeros, packed a thousand times smaller."""
    stream = io.BytesIO()
    np.savez_compressed(stream, agent=np.zeros((1, size)))
    return stream.getvalue()


def league_of_many() -> bytes:
    """A zip whose description unpacks to far more than it holds."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("league.json", " " * (1 << 28))
    return stream.getvalue()


BOMBS: dict[str, Callable[[], bytes]] = {
    "a.csv.gz of 128 MB in one line": lambda: gzip.compress(b"model_a,model_b,winner\n" + b"x" * (1 << 27), 1),
    "b.csv.zst of 128 MB in one line": lambda: zstandard.compress(b"model_a,model_b,winner\n" + b"x" * (1 << 27)),
    "c.csv with a field of 8 MB": lambda: b'model_a,model_b,winner\nx,y,"' + b"z\n" * 4_000_000 + b'"\n',
    "d.csv with a quote that never closes": lambda: b'model_a,model_b,winner\nx,y,"tie\n' + b"x,y,tie\n" * 1_000_000,
    "e.json nested 100,000 deep": lambda: b"[" * 100_000 + b"]" * 100_000,
    "f.jsonl nested 100,000 deep": lambda: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "g.json with a number of a million digits": lambda: b'[{"model_a": ' + b"9" * 1_000_000 + b"}]",
    "h.jsonl with a number of a million digits": lambda: b'{"model_a": ' + b"9" * 1_000_000 + b"}\n",
    "i.csv of 50,000 columns": lambda: (",".join(f"c{k}" for k in range(50_000)) + "\n" + "1," * 49_999).encode(),
    "j.parquet of 10 million rows": lambda: rows_in_parquet(10_000_000),
    "k.parquet whose footer lies": lying_parquet,
    "l.npz of 256 MB": lambda: packed_array(1 << 25),
    "m.npz of spaces": league_of_many,
    "n.json of 100,000 keys": lambda: json.dumps({f"k{k}": {"a": k} for k in range(100_000)}).encode(),
    "o.csv.gz within itself": lambda: gzip.compress(gzip.compress(gzip.compress(b"\0" * (1 << 28)))),
    "p.jsonl of 20,000 keys": lambda: b"\n".join(b'{"k%d": 1}' % k for k in range(20_000)),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_in_one_sentence_within_its_memory_and_time(name: str, tmp_path: Path) -> None:
    path = tmp_path / name.partition(" ")[0]
    path.write_bytes(BOMBS[name]())
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, timeout=180, cwd=tmp_path
    )
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-500:]}"
    assert done.stdout.count("\n") == 1
    assert done.stdout.partition(" ")[0] in ("read", "InputError")
