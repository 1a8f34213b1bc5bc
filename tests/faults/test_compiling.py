"""Compiled code that cannot be kept: the commands take some seconds longer, and answer as always."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import nashboard as nb

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs file systems as Unix has them")
PLACES = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")


def run(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run Python with such variables, and without the user's own cache of compiled code."""
    known = {name: value for name, value in os.environ.items() if name not in PLACES}
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=known | environment)


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
    away = {"PYTHONPATH": str(place), "HOME": str(place)}
    told = (
        "from nashboard.algebra import projection as p; print(p.__file__, p.turn.stats.cache_path, p.turn.signatures)"
    )
    said = run("-c", told, **away).stdout.split(maxsplit=2)
    assert said[:2] == [str(place / "nashboard/algebra/projection.py"), "None"]
    assert said[2].startswith("[(float64, ")
    state = log.with_name("league.npz")
    for words in (("online", str(log), "--state", str(state)), ("evaluate", str(log), "--resamples", "2")):
        here = run("-m", "nashboard", *words)
        state.unlink(missing_ok=True)
        there = run("-m", "nashboard", *words, **away)
        assert (there.returncode, "Traceback" in there.stderr) == (0, False), there.stderr
        assert there.stdout == here.stdout != ""


def test_a_cache_on_a_full_disk_is_done_without(mounted: Callable[[str], Path], log: Path) -> None:
    place, state = mounted("size=16k"), log.with_name("league.npz")
    (place / "filler").write_bytes(bytes(16 << 10))
    done = run("-m", "nashboard", "online", str(log), "--state", str(state), NUMBA_CACHE_DIR=str(place))
    assert (done.returncode, "cannot" in done.stderr) == (0, False), done.stderr
    assert nb.OnlineElo.load(state).league.games == 60
    assert any(path.is_dir() for path in place.iterdir())  # it was tried there


def test_a_damaged_cache_is_done_without(tmp_path: Path) -> None:
    code = "import nashboard.algebra.projection as p; print(len(p.turn.signatures), len(p.turn.stats.cache_hits))"
    assert [run("-c", code, NUMBA_CACHE_DIR=str(tmp_path)).stdout for _ in range(2)] == ["1 0\n", "1 1\n"]
    for ending in ("nbc", "nbi"):
        kept = list(tmp_path.rglob(f"*.{ending}"))
        assert kept
        for path in kept:
            path.write_bytes(path.read_bytes()[:10])
        assert run("-c", code, NUMBA_CACHE_DIR=str(tmp_path)).stdout == "1 0\n"


def test_a_function_that_cannot_be_compiled_says_so() -> None:
    code = (
        "import numba; from nashboard._compiled import compiled\n"
        "compiled(numba.types.float64(numba.types.float64))(lambda x: x.nothing)"
    )
    done = run("-c", code)
    assert (done.returncode, "Unknown attribute 'nothing'" in done.stderr) == (1, True)
