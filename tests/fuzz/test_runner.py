"""The long run itself: what fails is told, and ends it with code 1."""

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).with_name("run.py")


def fuzzed(*options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(RUN), *options], capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read as Linux tells it")
def test_a_sound_run_ends_with_0_and_a_case_over_its_limit_with_1(tmp_path: Path) -> None:
    sound = fuzzed("--cases", "8", "--limit", "60", "--keep", str(tmp_path / "sound"))
    assert (sound.returncode, "0 failed" in sound.stdout) == (0, True), sound.stdout + sound.stderr
    hangs = fuzzed("--cases", "1", "--limit", "1e-9", "--keep", str(tmp_path / "hangs"))
    assert (hangs.returncode, "1 failed" in hangs.stdout, "hang" in hangs.stdout) == (1, True, True), hangs.stdout
