"""A file that changes while it is read is refused: what was read would be of no single moment."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import nashboard as nb
from commands import error_sentence, run_process

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGBUS"), reason="there is no SIGBUS here")
WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "csv": lambda frame, path: frame.write_csv(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
    "parquet": lambda frame, path: frame.write_parquet(path),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_a_race_with_a_writer_never_counts_torn_content(ending: str, tmp_path: Path) -> None:
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
            done = run_process("inspect", str(path), "--format", "json")
            if done.returncode == 0:
                assert "20,000" in done.stdout
            elif done.returncode != -signal.SIGBUS:  # how the system ends a process that looks at a mapped page cut off
                assert error_sentence(done)
                assert (done.returncode, done.stdout) == (2, "")
    finally:
        stop.set()
        writer.join()
    assert nb.read_matches(path).n_games == 20_000


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
    run_process(*words, check=True)
    whole, size = board.read_bytes(), path.stat().st_size
    board.unlink()
    run_process(*words, program=("-c", growing), check=True)
    assert path.stat().st_size > size
    assert board.read_bytes() == whole
