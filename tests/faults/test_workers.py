"""Worker processes of the real command: one that dies, and a Ctrl-C that reaches them all."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals as Unix has them")
Harm = Callable[[psutil.Process, list[psutil.Process]], object]
RESAMPLED = ("--errors", "bootstrap", "--resamples", "1000000", "--backend", "loky", "--workers", "2")
LONG = ("elo", "dataset:alphago", *RESAMPLED, "--format", "json")
DIED = (
    "nashboard: a worker died while it resampled, perhaps for lack of memory; nothing was written; try fewer workers\n"
)


def workers_of(process: psutil.Process) -> list[psutil.Process]:
    """Return the worker processes of a command."""
    found = []
    for child in process.children(recursive=True):
        try:
            found += [child] if any("popen_loky" in part for part in child.cmdline()) else []
        except psutil.Error:  # it ended meanwhile
            continue
    return found


def seen_at_work(worker: psutil.Process) -> bool:
    """Say whether a worker is past its imports."""
    return worker.cpu_times().user > 0.8 and worker.memory_info().rss > 60e6


def harmed(
    harm: Callable[[psutil.Process, list[psutil.Process]], object], folder: Path, at_work: bool
) -> tuple[int, str]:
    """Start a long command, do harm once its workers are there; return its exit code and all it said."""
    with subprocess.Popen(
        [sys.executable, "-m", "nashboard", *LONG],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        command = psutil.Process(process.pid)
        try:
            while process.poll() is None:
                workers = workers_of(command)
                if len(workers) == 2 and (not at_work or all(map(seen_at_work, workers))):
                    break
                time.sleep(0.02)
            harm(command, workers)
            out, err = process.communicate(timeout=60)
        finally:
            for worker in workers_of(command) if process.poll() is None else []:
                worker.kill()
            process.kill()
    assert psutil.wait_procs(workers, timeout=30)[1] == [], "workers are left behind"
    assert list(folder.iterdir()) == []
    return process.returncode, out + err


@pytest.mark.parametrize("at_work", [True, False], ids=["at work", "while they start"])
def test_a_worker_that_is_killed_is_one_sentence_and_code_1(at_work: bool, tmp_path: Path) -> None:
    assert harmed(lambda _, workers: workers[0].kill(), tmp_path, at_work) == (1, DIED)


@pytest.mark.parametrize("at_work", [True, False], ids=["at work", "while they start"])
def test_ctrl_c_reaches_every_process_and_is_still_one_line(at_work: bool, tmp_path: Path) -> None:
    found = harmed(lambda command, _: os.killpg(command.pid, signal.SIGINT), tmp_path, at_work)
    assert found == (130, "nashboard: stopped\n")


@pytest.mark.parametrize("at_work", [True, False], ids=["at work", "while they start"])
def test_a_request_to_terminate_ends_the_workers_too(at_work: bool, tmp_path: Path) -> None:
    assert harmed(lambda command, _: command.terminate(), tmp_path, at_work) == (143, "")


def test_the_workers_of_a_killed_command_end_by_themselves(tmp_path: Path) -> None:
    assert harmed(lambda command, _: command.kill(), tmp_path, at_work=True)[0] == -signal.SIGKILL
