"""What the system refuses, told for what it is: temporary folders, any other file, and no fault of standard output."""

import errno
import gzip
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import error_sentence, run_process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs file systems as Unix has them")
LOG = "model_a,model_b,winner\nx,y,model_a\ny,z,tie\n"
# Python looks for other folders where TMPDIR cannot be used; here there are none.
ONLY_ONE = """
import os, sys, tempfile
tempfile._candidate_tempdir_list = lambda: [os.environ["TMPDIR"]]
from nashboard.cli.app import main
main()
"""
# A file that fails below everything that names its own, after a first line was printed.
FAILING = """
import sys
import nashboard.data.datasets as module
def failing(name):
    print("a first line")
    raise {error}
module.described = failing
sys.argv = ["nashboard", "datasets", "atari"]
from nashboard.cli.app import main
main()
"""


@pytest.mark.parametrize("what", ["read-only", "full", "not there"])
@pytest.mark.parametrize("command", ["inspect", "evaluate", "online"])
def test_no_temporary_folder_is_one_sentence(
    what: str, command: str, mounted: Callable[[str], Path], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place = tmp_path / "nowhere"
    if what != "not there":  # only the others need a file system of their own
        place = mounted("ro") if what == "read-only" else request.getfixturevalue("full")
    log = tmp_path / "log.csv.gz"
    log.write_bytes(gzip.compress(LOG.encode()))
    state = ["--state", str(tmp_path / "league.npz")] if command == "online" else []
    done = run_process(command, str(log), *state, program=("-c", ONLY_ONE), env=os.environ | {"TMPDIR": str(place)})
    said = error_sentence(done)
    assert f"{str(place)!r}" in said
    assert "set TMPDIR to a folder that can be written and has room" in said
    assert (done.returncode, done.stdout) == (1, "")


def test_a_plain_csv_needs_no_temporary_folder(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(LOG)
    nowhere = os.environ | {"TMPDIR": str(tmp_path / "nowhere")}
    done = run_process("inspect", str(log), program=("-c", ONLY_ONE), env=nowhere)
    assert (done.returncode, done.stderr) == (0, "")
    assert "3" in done.stdout


def test_a_data_set_of_our_own_needs_no_temporary_folder(tmp_path: Path) -> None:
    words = ("evaluate", "dataset:rock-paper-scissors", "--resamples", "2")
    done = run_process(*words, program=("-c", ONLY_ONE), env=os.environ | {"TMPDIR": str(tmp_path / "nowhere")})
    assert (done.returncode, done.stdout) == (0, run_process(*words).stdout)


def test_a_temporary_folder_with_no_room_for_ours_is_named(mounted: Callable[[str], Path], tmp_path: Path) -> None:
    place, log = mounted("nr_inodes=2"), tmp_path / "log.csv.gz"  # room for the one file by which Python tries a folder
    log.write_bytes(gzip.compress(LOG.encode()))
    done = run_process("inspect", str(log), program=("-c", ONLY_ONE), env=os.environ | {"TMPDIR": str(place)})
    assert f"{str(place)!r} cannot be used ({os.strerror(errno.ENOSPC)}); set TMPDIR" in error_sentence(done)
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("PermissionError(13, 'Permission denied', '/etc/one')", "cannot use '/etc/one': Permission denied"),
        ("OSError(28, 'No space left on device')", "the operating system reports an error: No space left on device"),
        ("OSError('two\\nlines')", "the operating system reports an error: two lines"),
    ],
)
def test_what_is_no_fault_of_standard_output_is_not_said_to_be(error: str, said: str) -> None:
    done = run_process(program=("-c", FAILING.format(error=error)))
    assert error_sentence(done) == f"nashboard: {said}"
    assert (done.returncode, done.stdout) == (1, "a first line\n")  # what was printed before is not lost


def test_a_file_in_the_temporary_folder_is_named_with_what_to_do(tmp_path: Path) -> None:
    error = f"OSError(28, 'No space left on device', {str(tmp_path / 'x')!r})"
    done = run_process(program=("-c", FAILING.format(error=error)), env=os.environ | {"TMPDIR": str(tmp_path)})
    assert f"cannot use {str(tmp_path / 'x')!r}: No space left on device; set TMPDIR to a folder" in error_sentence(
        done
    )
    assert done.returncode == 1
