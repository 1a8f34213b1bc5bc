"""Files as strangers send them: compressed, piped, globbed, huge, hostile."""

import gzip
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import zstandard

import nashboard as nb
from data.conftest import needs_proc
from nashboard.data.sources.paths import copy_chunks
from nashboard.data.table import files, json_lines

LOG = "model_a,model_b,winner\nx,y,model_a\ny,z,tie\n"
EXPECTED = "Matches(3 agents, 2 of 3 pairs met, 2 games)"


PACKED = {
    "log.csv": LOG.encode(),
    "log.csv with a byte order mark": b"\xef\xbb\xbf" + LOG.encode(),
    "log.csv with carriage returns": LOG.replace("\n", "\r\n").encode(),
    "log.csv without a last line break": LOG.rstrip().encode(),
    "log.csv with blank lines at its end": (LOG + "\n\n").encode(),
    "log.tsv": LOG.replace(",", "\t").encode(),
    "semicolons.csv": LOG.replace(",", ";").encode(),
    "bars.txt": LOG.replace(",", "|").encode(),
    "log.csv.gz": gzip.compress(LOG.encode()),
    "log.csv.gz of two parts": gzip.compress(LOG[:30].encode()) + gzip.compress(LOG[30:].encode()),
    "log.csv.zst": zstandard.compress(LOG.encode()),
    "log.csv.zst of two parts": zstandard.compress(LOG[:30].encode()) + zstandard.compress(LOG[30:].encode()),
    "a name that lies.parquet": LOG.encode(),
}


@pytest.mark.parametrize("name", PACKED)
def test_the_same_log_comes_in_the_same_however_it_is_packed(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(PACKED[name])
    assert repr(nb.read_matches(path)) == EXPECTED
    assert repr(nb.read_matches(str(path))) == EXPECTED


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "json", "csv"])
def test_every_kind_of_file_gives_the_same_matches(kind: str, tmp_path: Path) -> None:
    frame = pl.read_csv(io.StringIO(LOG))
    path = tmp_path / f"log.{kind}"
    getattr(
        frame, {"parquet": "write_parquet", "jsonl": "write_ndjson", "json": "write_json", "csv": "write_csv"}[kind]
    )(path)
    assert repr(nb.read_matches(path)) == EXPECTED
    packed = tmp_path / f"log.{kind}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert repr(nb.read_matches(packed)) == EXPECTED


def test_a_glob_reads_all_its_files_as_one_log(tmp_path: Path) -> None:
    for k in range(3):
        (tmp_path / f"log-{k}.csv").write_text(LOG)
    assert nb.read_matches(tmp_path / "log-*.csv").n_games == 6
    assert nb.read_matches(f"{tmp_path}/log-[01].csv").n_games == 4


def test_standard_input_is_read_once_and_may_be_compressed() -> None:
    for content in (LOG.encode(), gzip.compress(LOG.encode())):
        code = "import nashboard as nb; print(repr(nb.read_matches('-')))"
        done = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True, check=True)
        assert done.stdout.decode().strip() == EXPECTED


def test_names_may_hold_commas_quotes_line_breaks_and_emoji(tmp_path: Path) -> None:
    names = ['a, "b"', "line\nbreak", "🤖 é \t", "<script>alert(1)</script>"]
    frame = pl.DataFrame({"model_a": names, "model_b": [*names[1:], names[0]], "winner": ["tie"] * 4})
    frame.write_csv(tmp_path / "log.csv")
    assert nb.read_matches(tmp_path / "log.csv").agents == tuple(sorted(names))


def test_a_json_list_is_read_object_by_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "CHUNK", 7)  # every object is cut many times
    path = tmp_path / "log.json"
    path.write_text(' [\n {"model_a": "x]", "model_b": "y,\\"", "winner": "tie", "more": {"a": [1, {}]}} ,\n'
                    '{"model_a": "x]", "model_b": "é",\n "winner": "model_a"}\n]\n ', encoding="utf-8")  # fmt: skip
    assert nb.read_matches(path).agents == ("x]", 'y,"', "é")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a": 1} {"a": 2}]', "', or ]'|, or ] expected"),
        ('[{"a": 1},]', "not valid json"),
        ('[{"a": 1}] tail', "has more text after the end of its json list"),
        ('[{"a": 1}', "cut short"),
        ("[", "cut short"),
        ("[]", "has no records"),
    ],
)
def test_a_broken_json_list_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(text)
    with pytest.raises(nb.InputError, match=message):
        nb.read_matches(path)


def run_with_peak_memory(code: str) -> tuple[str, int]:
    """Run code in a fresh process; return what it printed and its peak memory in MB."""
    tail = "\nprint(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    done = subprocess.run([sys.executable, "-c", code + tail], capture_output=True, check=True, text=True)
    *said, peak = done.stdout.strip().splitlines()
    return "\n".join(said), int(peak) // 1024


READ = """
import nashboard as nb
try:
    print(repr(nb.read_matches({path!r})))
except nb.InputError as error:
    print(error)
"""


@pytest.mark.slow
@needs_proc
def test_a_line_of_2_gb_is_refused_without_reading_it_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    with path.open("wb") as stream:
        stream.write(LOG.encode() + b"x,y,tie\n" * 40_000)
        stream.seek(2 << 30, io.SEEK_CUR)  # a hole: two gigabytes that take no room on the disk
        stream.write(b"\n")
    said, peak = run_with_peak_memory(READ.format(path=str(path)))
    assert "has a line of more than 32 MB" in said
    assert peak < 300


@pytest.mark.slow
@needs_proc
def test_a_json_object_of_2_gb_is_refused_without_reading_it_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    with path.open("wb") as stream:
        stream.write(b'[{"model_a": "')
        stream.write(b"x" * (1 << 19))
        stream.seek(2 << 30, io.SEEK_CUR)
        stream.write(b'"}]')
    said, peak = run_with_peak_memory(READ.format(path=str(path)))
    assert "contains a json object of more than 64 MB" in said
    assert peak < 900


def test_a_parquet_file_that_claims_far_more_rows_than_bytes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST_ROW_GROUP", 99)
    monkeypatch.setattr(files, "MOST_PER_BYTE", 0.01)
    path = tmp_path / "log.parquet"
    pl.DataFrame({name: ["x"] * 100 for name in ("model_a", "model_b", "winner")}).write_parquet(path)
    with pytest.raises(nb.InputError, match=r"claims 100 rows in [\d,]+ bytes"):
        nb.read_matches(path)


@pytest.mark.slow
def test_a_parquet_file_with_damaged_bytes_is_refused_or_read_but_never_crashes(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    log = {"model_a": ["x", "y"] * 50, "model_b": ["y", "z"] * 50, "winner": ["tie", "model_a"] * 50}
    pl.DataFrame(log).write_parquet(path)
    sound = path.read_bytes()
    random = np.random.default_rng(0)
    refused = 0
    for _ in range(200):
        damaged = bytearray(sound)
        damaged[int(random.integers(4, len(sound) - 8))] = int(random.integers(256))
        path.write_bytes(damaged)
        os.utime(path, ns=(0, 0))  # reading waits where a file was written just now
        try:
            nb.read_matches(path)
        except nb.InputError:
            refused += 1
    assert refused > 50


def test_a_gzip_bomb_fills_neither_memory_nor_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(b"\0" * (32 << 20)))
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=1))
    with pytest.raises(nb.WriteError, match=r"cannot unpack .*: set TMPDIR to a folder .* has room"):
        nb.read_matches(path)


def test_a_small_packed_file_is_read_where_little_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(b"model_a,model_b,winner\nx,y,tie\n"))
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=1 << 20))
    assert nb.read_matches(path).n_games == 1


def test_a_temporary_folder_that_is_taken_away_is_named(tmp_path: Path) -> None:
    with pytest.raises(nb.WriteError, match=r"cannot unpack 'log' in .*: set TMPDIR to a folder that can be written"):
        copy_chunks(iter([b"x"]), tmp_path / "away" / "copy", "log")
