"""The same answers as rliable and OpenSpiel, where they are installed; elsewhere slow twins stand in for them."""

import numpy as np
import pytest

import nashboard as nb
from nashboard._types import Floats
from reference_ranking import rliable_aggregates


def random_runs(seed: int) -> dict[str, Floats]:
    rng = np.random.default_rng(seed)
    return {f"a{k}": rng.normal(k / 3, 1.0, size=(rng.integers(1, 9), 6)) for k in range(4)}


def test_the_twin_and_our_aggregates_are_those_of_rliable() -> None:
    metrics = pytest.importorskip("rliable.metrics", reason="rliable is not installed")
    for seed in range(50):
        runs = random_runs(seed)
        twin = rliable_aggregates(runs)
        for name in ("iqm", "median", "mean"):
            theirs = [float(getattr(metrics, f"aggregate_{name}")(one)) for one in runs.values()]
            np.testing.assert_allclose(nb.rank(runs, name).scores, theirs, rtol=0, atol=1e-9)
            np.testing.assert_allclose(twin[name], theirs, rtol=0, atol=1e-9)
