"""A file that is cut while it is mapped into memory: a sentence and code 2, where the system would end the process."""

import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import nashboard as nb
from faults.commands import run, sentence
from nashboard.cli.shrinking import SHOWN_AGAIN
from nashboard.data.watching import TICK, unchanged

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGBUS"), reason="there is no SIGBUS here")
GONE = "changed while it was read: it shrank"
# The page is not there for any thread; one of them holds Python's own lock while it looks.
LOOKING = """
import mmap, os, sys, threading
from pathlib import Path
from nashboard.cli.ending import without_native_noise
from nashboard.cli.shrinking import named_if_it_shrinks

path = Path(sys.argv[1])
path.write_bytes(b"x" * 100_000)
with path.open("rb") as stream:
    mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
with named_if_it_shrinks("another.csv"):
    assert mapped[50_000] == ord("x")  # nothing happens where nothing is wrong
with named_if_it_shrinks("my lög.csv"), without_native_noise():
    os.truncate(path, 10)
    looking = [threading.Thread(target=lambda: mapped[50_000]) for _ in range(int(sys.argv[2]))]
    for thread in looking:
        thread.start()
    for thread in looking:
        thread.join()
"""
OUTSIDE = """
import mmap, os, sys
from pathlib import Path
from nashboard.cli.shrinking import named_if_it_shrinks

path = Path(sys.argv[1])
path.write_bytes(b"x" * 100_000)
with path.open("rb") as stream:
    mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
with named_if_it_shrinks("a.csv"):
    pass
os.truncate(path, 10)
mapped[50_000]
"""


@pytest.mark.parametrize("threads", [1, 4])
def test_a_look_at_what_is_gone_is_one_sentence_whoever_looks(threads: int, tmp_path: Path) -> None:
    done = run(str(tmp_path / "x"), str(threads), program=("-c", LOOKING))
    assert done.stderr == (
        "nashboard: 'my lög.csv' changed while it was read: it shrank, or its disk failed; read it again when nothing "
        "writes to it, or read a copy\n"
    )
    assert done.returncode == 2


def test_on_a_terminal_the_line_of_progress_goes_and_the_cursor_comes_back(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        done = run(str(tmp_path / "x"), "1", program=("-c", LOOKING), stderr=theirs)
        assert os.read(ours, 1000).decode().startswith(f"{SHOWN_AGAIN}nashboard: 'my lög.csv' changed")
        assert done.returncode == 2
    finally:
        os.close(ours)
        os.close(theirs)


def test_the_answer_is_given_only_while_a_file_is_read(tmp_path: Path) -> None:
    done = run(str(tmp_path / "x"), program=("-c", OUTSIDE))
    assert (done.returncode, done.stderr) == (-signal.SIGBUS, "")


WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "csv": lambda frame, path: frame.write_csv(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
    "parquet": lambda frame, path: frame.write_parquet(path),
}


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells what a process has mapped")
def test_a_log_that_is_cut_while_polars_has_it_mapped_is_one_sentence(tmp_path: Path) -> None:
    path, rows = tmp_path / "log.jsonl", 40_000
    lines = '{"model_a": "x", "model_b": "y", "winner": "tie", "note": "' + "-" * 200 + '"}\n'
    command = [sys.executable, "-m", "nashboard", "inspect", str(path)]
    for _ in range(5):  # Polars has it mapped for milliseconds, which we may miss on a busy machine
        path.write_text(lines * rows)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            maps = Path(f"/proc/{process.pid}/maps")
            while process.poll() is None:
                if str(path) in maps.read_text():
                    process.send_signal(signal.SIGSTOP)
                    os.truncate(path, 100)
                    process.send_signal(signal.SIGCONT)
                    break
            out, err = process.communicate(timeout=60)
        if process.returncode:
            break
        assert f"{rows:,}" in out  # it was read whole before it was cut
    assert (process.returncode, out, err.count("\n")) == (2, "", 1), err
    assert GONE in err


@pytest.mark.parametrize("ending", WRITERS)
def test_a_race_with_a_writer_never_counts_torn_content_and_never_ends_in_silence(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"log.{ending}"
    WRITERS[ending](pl.DataFrame({"model_a": ["x"] * 20_000, "model_b": ["y"] * 20_000, "winner": "tie"}), path)
    whole, stop = path.read_bytes(), threading.Event()

    def write() -> None:
        while not stop.wait(0.002):
            os.truncate(path, len(whole) // 3)
            path.write_bytes(whole)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(3):
            done = run("inspect", str(path), "--format", "json")
            if done.returncode == 0:
                assert "20,000" in done.stdout
            else:
                assert sentence(done)
                assert (done.returncode, done.stdout) == (2, "")
    finally:
        stop.set()
        writer.join()
    assert nb.read_matches(path).n_games == 20_000


def test_reading_begins_a_tick_after_the_last_write_so_that_the_next_has_another_time(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("first")
    with unchanged([path]):
        assert time.time_ns() - path.stat().st_mtime_ns >= TICK


def test_segments_are_read_in_one_pass_so_that_a_later_change_mixes_nothing(tmp_path: Path) -> None:
    path, board = tmp_path / "log.csv", tmp_path / "b.json"
    path.write_text("model_a,model_b,winner,language\n" + "x,y,tie,de\ny,x,tie,en\n" * 20)
    growing = (
        "import sys; import nashboard.evaluation.evaluate as module; from nashboard.cli.app import main\n"
        "real = module.evaluate\n"
        "def evaluate(*args, **kwargs):\n"
        "    open(sys.argv[2], 'a').write('x,y,tie,en\\n')\n"
        "    return real(*args, **kwargs)\n"
        "module.evaluate = evaluate\n"
        "main()"
    )
    words = ("evaluate", str(path), "--segment", "language", "--resamples", "2", "-o", str(board))
    run(*words, check=True)
    whole, size = board.read_bytes(), path.stat().st_size
    board.unlink()
    run(*words, program=("-c", growing), check=True)
    assert path.stat().st_size > size
    assert board.read_bytes() == whole
