"""Compiled code that cannot be kept: the commands take some seconds longer, and answer as always."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import nashboard as nb
from commands import run_process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs file systems as Unix has them")
PLACES = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")


def environment(**variables: str) -> dict[str, str]:
    """Return our environment with such variables, and without the user's own cache of compiled code."""
    return {name: value for name, value in os.environ.items() if name not in PLACES} | variables


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text("model_a,model_b,winner\n" + "x,y,model_a\ny,z,tie\nz,x,model_a\n" * 20)
    return path


def test_an_installation_that_cannot_be_written_answers_as_any_other(mounted: Callable[[str], Path], log: Path) -> None:
    place = mounted("size=64m")
    package = Path(nb.__file__).parent
    shutil.copytree(package, place / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
    away = environment(PYTHONPATH=str(place), HOME=str(place))
    code = (
        "import numpy as np; from nashboard.algebra import projection as p\n"
        "q = np.ones(1); p.turn(2.0, np.full(1, 3.0), np.full(1, 4.0), q); d = p.turn.dispatcher\n"
        "print(p.__file__, d.stats.cache_path, q[0], d.signatures)"
    )
    said = run_process(program=("-c", code), env=away).stdout.split(maxsplit=3)
    assert said[:3] == [str(place / "nashboard/algebra/projection.py"), "None", "14.0"]
    assert said[3].startswith("[(float64, ")
    state = log.with_name("league.npz")
    words = ("online", str(log), "--state", str(state))
    here = run_process(*words, env=environment())
    state.unlink()
    there = run_process(*words, env=away)
    assert (there.returncode, "Traceback" in there.stderr) == (0, False), there.stderr
    assert there.stdout == here.stdout != ""


def test_a_cache_on_a_full_disk_is_done_without(full: Path, log: Path) -> None:
    state = log.with_name("league.npz")
    done = run_process("online", str(log), "--state", str(state), env=environment(NUMBA_CACHE_DIR=str(full)))
    assert (done.returncode, "cannot" in done.stderr) == (0, False), done.stderr
    assert nb.OnlineElo.load(state).league.games == 60
    assert any(path.is_dir() for path in full.iterdir())  # it was tried there


def test_a_damaged_cache_is_done_without(tmp_path: Path) -> None:
    code = (
        "from nashboard.algebra.projection import turn\n"
        "print(len(turn.dispatcher.signatures), len(turn.dispatcher.stats.cache_hits))"
    )

    def printed() -> str:
        return run_process(program=("-c", code), env=environment(NUMBA_CACHE_DIR=str(tmp_path))).stdout

    assert [printed(), printed()] == ["1 0\n", "1 1\n"]
    for ending in ("nbc", "nbi"):
        kept = list(tmp_path.rglob(f"*.{ending}"))
        assert kept
        for path in kept:
            path.write_bytes(path.read_bytes()[:10])
        assert printed() == "1 0\n"


def test_a_function_that_cannot_be_compiled_says_so() -> None:
    code = (
        "import numba; from nashboard._compiled import compiled\n"
        "compiled(numba.types.float64(numba.types.float64))(lambda x: x.nothing)(1.0)"
    )
    done = run_process(program=("-c", code), env=environment())
    assert (done.returncode, "Unknown attribute 'nothing'" in done.stderr) == (1, True)
