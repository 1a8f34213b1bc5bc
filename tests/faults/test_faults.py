"""Full disks, limits, files that change: one sentence and the right exit code; pipes that close: the code alone."""

import errno
import gzip
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import psutil
import pytest

import nashboard as nb
from commands import error_sentence, run_process
from nashboard._files import write_atomically

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs files and signals as Unix has them")
LOG = "model_a,model_b,winner\n" + "x,y,model_a\ny,z,tie\n" * 50_000
BOARD = ("evaluate", "dataset:rock-paper-scissors", "--resamples", "2")


def test_a_full_disk_is_named_and_leaves_no_half_output(mounted: Callable[[str], Path]) -> None:
    place = mounted("size=16k")
    done = run_process("evaluate", "dataset:atari", "--resamples", "2", "-o", str(place / "board.json"))
    assert "cannot write" in error_sentence(done)
    assert os.strerror(errno.ENOSPC) in done.stderr
    assert (done.returncode, done.stdout, list(place.iterdir())) == (1, "", [])


def test_the_state_of_a_league_on_a_full_disk_stays_the_old_one(mounted: Callable[[str], Path], tmp_path: Path) -> None:
    state, log = mounted("size=24k") / "league.npz", tmp_path / "log.csv"
    log.write_text("a,b,winner\nx,y,a\n")
    assert run_process("online", str(log), "--state", str(state)).returncode == 0
    before = state.read_bytes()
    with log.open("a") as stream:
        stream.writelines(f"agent {k},y,a\n" for k in range(5000))
    done = run_process("online", str(log), "--state", str(state))
    assert os.strerror(errno.ENOSPC) in error_sentence(done, after_others=True)
    assert (done.returncode, state.read_bytes()) == (1, before)
    assert [path.name for path in state.parent.iterdir()] == [state.name]


@pytest.mark.parametrize("how", ["packed", "standard input"])
def test_no_room_for_a_temporary_copy_is_named(how: str, mounted: Callable[[str], Path], tmp_path: Path) -> None:
    place, path = mounted("size=64k"), tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(LOG.encode()))
    environment = os.environ | {"TMPDIR": str(place)}
    if how == "packed":
        done = run_process("inspect", str(path), env=environment)
    else:
        done = run_process("inspect", "-", env=environment, input=LOG)
    assert f"{str(place)!r} ({os.strerror(errno.ENOSPC)}): set TMPDIR to a folder " in error_sentence(done)
    assert (done.returncode, list(place.iterdir())) == (1, [])


def test_a_limit_on_the_size_of_files_is_named_as_a_full_disk_is(tmp_path: Path) -> None:
    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    program = "-B", "-m", "nashboard"  # Python itself would leave half a file of bytecode
    words = "evaluate", "dataset:atari", "--resamples", "2", "-o", str(tmp_path / "b.json")
    done = run_process(*words, program=program, preexec_fn=limited)
    assert os.strerror(errno.EFBIG) in error_sentence(done)
    assert (done.returncode, list(tmp_path.iterdir())) == (1, [])


def test_polars_own_writers_name_a_full_disk_too(mounted: Callable[[str], Path]) -> None:
    place = mounted("size=16k")
    counts = np.random.default_rng(0).random((150, 150))
    matches = nb.Matches.from_counts(counts - np.diag(np.diag(counts)))
    for ending in ("csv", "parquet", "jsonl"):
        with pytest.raises(nb.WriteError, match="cannot write"):
            matches.write(place / f"matches.{ending}")
    assert list(place.iterdir()) == []


def test_a_closed_standard_output_is_named() -> None:
    command = f"{sys.executable} -m nashboard datasets >&-"
    done = subprocess.run(["bash", "-c", command], stderr=subprocess.PIPE, text=True)
    assert "standard output is closed" in error_sentence(done)
    assert done.returncode == 1


def test_a_closed_standard_error_harms_nothing() -> None:
    command = f"{sys.executable} -m nashboard {' '.join(BOARD)} 2>&-"
    assert subprocess.run(["bash", "-c", command], stdout=subprocess.DEVNULL).returncode == 0


def test_a_pipe_that_closes_early_is_silent_and_has_the_code_of_shells() -> None:
    command = f"{sys.executable} -m nashboard {' '.join(BOARD)} --format json | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_pipe_of_both_outputs_that_closes_early_leaves_nothing_to_say() -> None:
    command = f"{sys.executable} -m nashboard {' '.join(BOARD)} --format json 2>&1 | true; exit ${{PIPESTATUS[0]}}"
    assert subprocess.run(["bash", "-c", command]).returncode == 141


def test_ctrl_c_is_one_line_and_130_at_whatever_moment() -> None:
    command = [sys.executable, "-m", "nashboard", "evaluate", "dataset:atari", "--resamples", "100000"]
    for moment in (0.0, 0.5, 2.0):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            # before Python has read our first line, nobody can answer but Python itself
            while psutil.Process(process.pid).memory_info().rss < 60e6:
                time.sleep(0.02)
            time.sleep(moment)
            process.send_signal(signal.SIGINT)
            try:
                out, err = process.communicate(timeout=30)
            except subprocess.TimeoutExpired:  # in one of its own callbacks Python drops it: a person presses again
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=60)
                err = err[-len("nashboard: stopped\n") :]
        ended = process.returncode in (130, -signal.SIGINT)  # a shell shows both as 130
        assert (ended, out, err) == (True, "", "nashboard: stopped\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_league_that_is_asked_to_stop_saves_and_ends_with_the_code_of_that_signal(
    number: signal.Signals, tmp_path: Path
) -> None:
    state = tmp_path / "league.npz"
    command = [sys.executable, "-m", "nashboard", "online", "-", "--state", str(state)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        process.stdin.write(LOG)
        process.stdin.flush()
        while not state.exists():
            time.sleep(0.02)
            assert process.poll() is None
        process.send_signal(number)
        assert process.wait(timeout=60) == 128 + number
        assert process.stderr is not None
        assert process.stderr.read().endswith("stopped; run the same command again to go on\n")
    assert nb.OnlineElo.load(state).league.size > 1


CHANGES: dict[str, Callable[[Path], object]] = {
    "shrank": lambda path: os.truncate(path, 40),
    "grew": lambda path: path.write_text(LOG + "x,y,tie\n"),
    "it was deleted": lambda path: path.unlink(),
    "it was replaced by another file": lambda path: path.with_name("other").replace(path),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_while_it_is_read_is_refused(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    path.with_name("other").write_text(LOG)
    shutil.copystat(path, path.with_name("other"))  # of the same size and time, as `cp -p` and `rsync -t` leave it
    collect = pl.LazyFrame.collect

    def racing(frame: pl.LazyFrame, *args: object, **kwargs: object) -> object:
        if path.exists() and path.stat().st_size == len(LOG):  # another process gets there first
            CHANGES[change](path)
        return collect(frame, *args, **kwargs)  # type: ignore[call-overload]  # whatever it was called with

    monkeypatch.setattr(pl.LazyFrame, "collect", racing)
    with pytest.raises(nb.InputError, match="changed while it was read: read it again, or a copy"):
        nb.read_matches(path)


def test_a_log_that_shrinks_under_a_league_is_refused_and_the_state_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nashboard.online import follow as logs
    from nashboard.online.follow import Interruption, follow
    from nashboard.online.games import Columns

    monkeypatch.setattr(logs, "PIECE", 1 << 16)
    path, state, model = tmp_path / "log.csv", tmp_path / "league.npz", nb.OnlineElo()
    path.write_text(LOG)

    def followed() -> None:
        for progress in follow(model, str(path), state, Columns(), Interruption()):
            if progress.rows > 20_000:
                os.truncate(path, 1000)

    with pytest.raises(nb.InputError, match="shrank while it was read"):
        followed()
    assert nb.OnlineElo.load(state).league.games == model.league.games


def test_what_native_code_says_of_damage_stays_unheard(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pl.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["tie", "tie"]}).write_parquet(path)
    code = (
        "import sys, os, polars as pl; from nashboard.cli.app import main\n"
        "real = pl.LazyFrame.collect\n"
        "def collect(frame, *args, **kwargs):\n"
        "    os.write(2, b'thread panicked at ...\\nstack backtrace: ...\\n')\n"
        "    raise pl.exceptions.PanicException('a panic')\n"
        "pl.LazyFrame.collect = collect\n"
        f"sys.argv = ['nashboard', 'inspect', {str(path)!r}]; main()"
    )
    done = run_process(program=("-c", code))
    assert "a panic" in error_sentence(done)
    assert done.returncode == 2


def test_wrong_names_are_the_users_and_full_disks_are_not(tmp_path: Path) -> None:
    with pytest.raises(nb.InputError, match="there is no folder"):
        write_atomically(tmp_path / "nowhere" / "x", Path.touch)

    def full(part: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(nb.WriteError, match="No space left"):
        write_atomically(tmp_path / "x", full)
    assert list(tmp_path.iterdir()) == []
