"""Resampling on a local Ray cluster, through joblib's backend of Ray: the same bytes; a lost worker is one sentence."""

import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
import pytest

import nashboard as nb
from deadly import Deadly
from evaluation.arenas import leads, played
from nashboard._workers import plan_of, spread_out

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install ray")
FEW: dict[str, Any] = {"errors": "bootstrap", "n_resamples": 40}  # three pieces of work


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Start Ray on this machine, for joblib to find."""
    from ray.util.joblib import register_ray

    with (
        tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as home,
        warnings.catch_warnings(),
        pytest.MonkeyPatch.context() as patch,
    ):
        warnings.simplefilter("ignore")  # what Ray says of its own future versions
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # its workers import the work by its name
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            object_store_memory=80_000_000,
            _temp_dir=home,
        )
        register_ray()
        try:
            yield
        finally:
            ray.shutdown()


@pytest.mark.usefixtures("cluster")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning")
def test_a_ray_cluster_gives_the_same_bytes() -> None:
    rng = np.random.default_rng(1)
    arena = played(rng, leads(rng, 6, spread=0.4, cyclic=0.7), 25, draws=0.2)
    expected = nb.elo(arena, workers=1, **FEW).stderr.tobytes()
    with joblib.parallel_config(backend="ray"):
        assert nb.elo(arena, **FEW).stderr.tobytes() == expected
    assert nb.elo(arena, workers=2, backend="ray", **FEW).stderr.tobytes() == expected


@pytest.mark.usefixtures("cluster")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning")
def test_work_that_kills_its_ray_worker_is_one_sentence() -> None:
    with pytest.raises(nb.WorkerError, match="a worker died while it resampled"):
        spread_out(Deadly(os.getpid()), plan_of(40, 0, 2, False, "ray"), 0, "")
