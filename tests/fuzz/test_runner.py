"""The long run itself: what fails is told, and ends it with code 1."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nashboard as nb
from fuzz import run
from long_runs import recorded

RUN = Path(__file__).with_name("run.py")


def fuzzed(*options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(RUN), *options], capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read as Linux tells it")
def test_a_sound_run_ends_with_0_and_a_case_over_its_limit_with_1(tmp_path: Path) -> None:
    sound = fuzzed("--cases", "8", "--limit", "60", "--keep", str(tmp_path / "sound"))
    assert (sound.returncode, "0 failed" in sound.stdout) == (0, True), sound.stdout + sound.stderr
    hangs = fuzzed("--cases", "1", "--limit", "1e-9", "--keep", str(tmp_path / "hangs"))
    assert (hangs.returncode, "1 failed" in hangs.stdout, "hang" in hangs.stdout) == (1, True, True), hangs.stdout


def test_a_long_run_is_recorded(tmp_path: Path) -> None:
    recorded("fuzz", tmp_path / "record", cases=8, failed=0)
    recorded("kill", tmp_path / "record", kills={"report": 3})
    lines = [json.loads(line) for line in (tmp_path / "record").read_text().splitlines()]
    assert [(line["run"], line["nashboard"]) for line in lines] == [("fuzz", nb.__version__), ("kill", nb.__version__)]
    assert (lines[0]["cases"], lines[1]["kills"]) == (8, {"report": 3})


@pytest.mark.parametrize(("code", "why"), [("os.abort()", f"Polars {run.ABORTS}"), ("1 / 0", "died with -6")])
def test_a_death_is_blamed_on_a_library_that_dies_alone(
    code: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(run.ALONE, "Polars", (b"PAR1", 0, f"import os; {code}"))
    assert run.describe_death(tmp_path, -6) == why


LARGE = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[1]]
import fuzz.surviving as surviving
from fuzz.run import Limits, work
from multiprocessing import Value
surviving.ENTRIES = {"read": None}
surviving.survive = lambda files, entry, folder: bool(bytearray(200 << 20))
shared = [Value(kind, 0) for kind in "qddq"]
work(0, 2, sys.argv[2], Limits(60, 100, Path(sys.argv[3])), *shared)
"""


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the highest memory cannot start anew here")
def test_every_large_case_is_told_also_after_one_as_large(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    call = [sys.executable, "-c", LARGE, str(RUN.parents[1]), str(tmp_path / "work"), str(kept)]
    subprocess.run(call, check=True, timeout=120)
    told = (kept / "failures.txt").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in told] == ["memory read", "memory skip"]  # two ways to read, in turn
