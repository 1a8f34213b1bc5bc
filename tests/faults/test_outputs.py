"""Every command that writes, on a full disk and in a read-only folder; every way to print, into what takes no more."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs file systems and pipes as Unix has them")
ROCK = "dataset:rock-paper-scissors"
# The words of a command that writes into the folder {0}; the log is {1}.
WRITING = {
    "evaluate": ("evaluate", ROCK, "--resamples", "2", "-o", "{0}/board.json"),
    "segments": ("evaluate", "{1}", "--segment", "language", "--resamples", "2", "-o", "{0}/boards.json"),
    "report": ("report", ROCK, "--resamples", "2", "-o", "{0}/report.html"),
    "online": ("online", "{1}", "--state", "{0}/league.npz"),
    "paper": ("paper", "-o", "{0}/reproduced"),
}
PRINTING = {
    "help": ("evaluate", "--help"),
    "datasets": ("datasets",),
    "inspect": ("inspect", ROCK),
    "evaluate": ("evaluate", ROCK, "--resamples", "2"),
    "nash": ("nash", ROCK, "--format", "json"),
    "elo": ("elo", ROCK, "--format", "csv"),
    "audit": ("audit", ROCK, "--format", "json"),
    "stress": ("stress", ROCK, "--format", "json", "--draws", "0"),
    "report": ("report", ROCK, "--resamples", "2", "-o", "-"),
}
# One part of the paper is enough to write, and takes no minute to compute.
ONE_PART = """
import nashboard.report.paper.reproduction as module
from nashboard.cli import main
from nashboard.report.paper.elo import part
module.reproduction = lambda tell: module.Reproduction(claims=(), parts=(part(),))
main()
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text("model_a,model_b,winner,language\n" + "x,y,tie,de\ny,x,tie,en\n" * 20)
    return path


def run(what: str, place: Path, log: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command that writes into a place."""
    program = ["-c", ONE_PART] if what == "paper" else ["-m", "nashboard"]
    words = [word.format(place, log) for word in WRITING[what]]
    return subprocess.run([sys.executable, *program, *words], capture_output=True, text=True, timeout=120)


def sentence(done: "subprocess.CompletedProcess[str]") -> str:
    """Return the only line on standard error that is no progress or warning."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("nashboard: ")]
    assert len(lines) == 1, done.stderr
    assert done.stderr.endswith(lines[0] + "\n")
    assert "Traceback" not in done.stderr
    return lines[0]


@pytest.mark.parametrize("what", WRITING)
def test_a_full_disk_is_one_sentence_and_code_1(what: str, mounted: Callable[[str], Path], log: Path) -> None:
    place = mounted("size=16k")
    filler = place / "filler"
    filler.write_bytes(bytes(16 << 10))
    done = run(what, place, log)
    assert os.strerror(errno.ENOSPC) in sentence(done)
    assert "cannot write" in done.stderr
    assert (done.returncode, done.stdout) == (1, "")
    assert [path for path in place.rglob("*") if path.is_file()] == [filler]


@pytest.mark.parametrize("what", WRITING)
def test_a_read_only_folder_is_one_sentence_and_code_1(what: str, mounted: Callable[[str], Path], log: Path) -> None:
    done = run(what, mounted("ro"), log)
    assert os.strerror(errno.EROFS) in sentence(done)
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize("what", PRINTING)
def test_a_pipe_that_closes_early_is_one_sentence_and_141(what: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        command = [sys.executable, "-m", "nashboard", *PRINTING[what]]
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120)
    finally:
        os.close(writing)
    assert "the rest was not printed" in sentence(done)
    assert done.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("what", [what for what in PRINTING if what != "report"])
def test_standard_output_on_a_full_disk_is_one_sentence_and_code_1(what: str) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "nashboard", *PRINTING[what]]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert os.strerror(errno.ENOSPC) in sentence(done)
    assert done.returncode == 1
