"""Every command that writes, on a full disk and in a read-only folder; every way to print, into what takes no more."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import error_sentence, run_process

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
TALKING = ("segments", "online")  # they may warn, or tell how far they are, before they fail
PRINTING = {
    "help": ("evaluate", "--help"),
    "datasets": ("datasets",),
    "inspect": ("inspect", ROCK),
    "evaluate": ("evaluate", ROCK, "--resamples", "2"),
    "nash": ("nash", ROCK, "--format", "json", "--quiet"),  # without the note on exact results
    "elo": ("elo", ROCK, "--format", "csv"),
    "audit": ("audit", ROCK, "--format", "json"),
    "stress": ("stress", ROCK, "--format", "json", "--repeats", "0"),
    "report": ("report", ROCK, "--resamples", "2", "-o", "-"),
}
# One part of the paper is enough to write, and takes no minute to compute.
ONE_PART = """
import nashboard.paper.reproduction as module
from nashboard.cli.app import main
from nashboard.paper.ratings import elo_part as part
module.reproduction = lambda tell: module.Reproduction(claims=(), parts=(part(),))
main()
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text("model_a,model_b,winner,language\n" + "x,y,tie,de\ny,x,tie,en\n" * 20)
    return path


def written(what: str, place: Path, log: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command that writes into a place."""
    program = ("-c", ONE_PART) if what == "paper" else ("-m", "nashboard")
    return run_process(*(word.format(place, log) for word in WRITING[what]), program=program)


@pytest.mark.parametrize("what", WRITING)
def test_a_full_disk_is_one_sentence_and_code_1(what: str, full: Path, log: Path) -> None:
    done = written(what, full, log)
    assert os.strerror(errno.ENOSPC) in error_sentence(done, after_others=what in TALKING)
    assert "cannot write" in done.stderr
    assert (done.returncode, done.stdout) == (1, "")
    assert [path for path in full.rglob("*") if path.is_file()] == [full / "filler"]


@pytest.mark.parametrize("what", WRITING)
def test_a_read_only_folder_is_one_sentence_and_code_1(what: str, mounted: Callable[[str], Path], log: Path) -> None:
    done = written(what, mounted("ro"), log)
    assert os.strerror(errno.EROFS) in error_sentence(done, after_others=what in TALKING)
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize("what", PRINTING)
def test_a_pipe_that_closes_early_is_silent_and_141(what: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run_process(*PRINTING[what], stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("what", PRINTING)
def test_standard_output_on_a_full_disk_is_one_sentence_and_code_1(what: str) -> None:
    with Path("/dev/full").open("w") as output:
        done = run_process(*PRINTING[what], stdout=output)
    assert error_sentence(done) == f"nashboard: cannot print the result: {os.strerror(errno.ENOSPC)}"
    assert done.returncode == 1
