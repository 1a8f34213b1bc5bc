"""Workers: threads, processes and a cluster give the same bytes, and one that dies is one sentence."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

import nashboard as nb
from deadly import Deadly, DeadlyOnce, Unreadable
from evaluation.arenas import leads, played
from nashboard._workers import plan_of, spread_out


@pytest.fixture(scope="module")
def arena() -> nb.Matches:
    rng = np.random.default_rng(1)
    return played(rng, leads(rng, 6, spread=0.4, cyclic=0.7), 25, draws=0.2)


@contextmanager
def dask_cluster(workers: int, patience: str = "60s") -> Iterator[None]:
    """Run a real Dask cluster of some processes on this machine, which does not wait for ever for a lost worker."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    dask = pytest.importorskip("dask", reason="Dask is not installed")
    with (
        dask.config.set({"distributed.scheduler.no-workers-timeout": patience}),
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1", silence_logs=50
        ) as local,
        distributed.Client(local),
    ):
        yield


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    with dask_cluster(2):
        yield


def spread(matches: nb.Matches, **options: Any) -> bytes:
    """Return the standard errors by resampling."""
    return nb.elo(matches, errors="bootstrap", n_resamples=40, **options).stderr.tobytes()  # three pieces of work


def test_processes_and_threads_give_the_same_bytes(arena: nb.Matches) -> None:
    assert spread(arena, workers=2, backend="loky") == spread(arena, workers=1)


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_a_dask_cluster_gives_the_same_bytes(arena: nb.Matches) -> None:
    with joblib.parallel_config(backend="dask"):
        found = spread(arena)
    assert found == spread(arena, backend="dask") == spread(arena, workers=1)


def test_a_worker_process_that_dies_is_one_sentence() -> None:
    with pytest.raises(nb.WorkerError, match="a worker died while it resampled"):
        spread_out(Deadly(os.getpid()), plan_of(40, 0, 2, False, "loky"), 0, "")


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_a_worker_of_a_cluster_that_dies_is_replaced(tmp_path: Path) -> None:
    work = DeadlyOnce(os.getpid(), str(tmp_path / "died"))
    found = spread_out(work, plan_of(40, 0, None, False, "dask"), 0, "")
    assert (tmp_path / "died").exists()
    assert [x for piece in found for x in piece] == [
        float(rng.random()) for rng in plan_of(40, 0, None, False).streams(0)
    ]


@pytest.mark.slow
def test_work_that_kills_every_worker_of_a_cluster_is_one_sentence() -> None:
    dask = pytest.importorskip("dask", reason="Dask is not installed")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        dask_cluster(2),
        pytest.raises(nb.WorkerError, match="a worker died while it resampled"),
    ):
        spread_out(Deadly(os.getpid()), plan_of(16, 0, None, False, "dask"), 0, "")


@pytest.mark.slow
def test_work_that_no_worker_of_a_cluster_can_read_is_one_sentence() -> None:
    with dask_cluster(2, patience="2s"), pytest.raises(nb.WorkerError, match="a worker died while it resampled"):
        spread_out(Unreadable(os.getpid()), plan_of(40, 0, None, False, "dask"), 0, "")


@pytest.mark.slow
def test_the_command_ends_with_code_1_when_a_worker_dies(arena: nb.Matches, tmp_path: Path) -> None:
    arena.write(tmp_path / "counts.csv")
    # the sitecustomize of the workers kills them as soon as they import what they are to run
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "if any('popen_loky' in part for part in sys.orig_argv):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "nashboard", "elo", str(tmp_path / "counts.csv"), "--errors", "bootstrap", "--backend",
         "loky", "--workers", "2"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("nashboard: a worker died")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_a_backend_that_does_not_exist_is_refused(arena: nb.Matches) -> None:
    with pytest.raises(nb.InputError, match="the backend 'nobody' cannot be used"):
        nb.elo(arena, errors="bootstrap", backend="nobody")


@pytest.mark.slow  # imports Dask in a process of its own
@pytest.mark.parametrize(("backend", "what"), [("ray", "register_ray"), ("dask", "distributed.Client")])
def test_a_cluster_that_was_not_started_is_for_python(backend: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("a,b,winner\nx,y,x\ny,z,y\nz,x,tie\n")
    resampled = ["elo", str(tmp_path / "log.csv"), "--errors", "bootstrap", "--backend", backend]
    # a process of its own: other tests start clusters in this one
    done = subprocess.run([sys.executable, "-m", "nashboard", *resampled], capture_output=True, text=True)
    assert done.returncode == 2
    said = done.stderr.strip()
    assert said.startswith(f"nashboard: the backend '{backend}' cannot be used: ")
    assert what in said
    assert said.endswith("call nashboard from Python, as docs/cluster.md shows; a command takes threading or loky")
    assert len(said.splitlines()) == 1
