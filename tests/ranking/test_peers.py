"""The same answers as rliable and OpenSpiel, where they are installed; elsewhere slow twins stand in for them."""

import importlib
from pathlib import Path
from types import ModuleType

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


@pytest.fixture
def voting(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The comparisons of benchmarks/voting.py, which stop at a difference that has no reason."""
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    return importlib.import_module("voting")


@pytest.mark.parametrize(
    ("name", "fewest"),
    [("borda", 200), ("copeland", 200), ("schulze", 120), ("ranked_pairs", 120), ("kemeny", 120)],
)
def test_winners_and_scores_are_those_of_open_spiel(name: str, fewest: int, voting: ModuleType) -> None:
    found = voting.compare_profiles(name, 200)
    assert found[voting.SAME] >= fewest
    assert sum(found.values()) == 200


@pytest.mark.parametrize(("name", "count"), [("maximal_lottery", 200), ("soft_condorcet", 40)])
@pytest.mark.slow
def test_lotteries_and_losses_are_those_of_open_spiel(name: str, count: int, voting: ModuleType) -> None:
    found = voting.compare_profiles(name, count)
    assert sum(found.values()) == count


@pytest.mark.parametrize("populations", [1, 2])
def test_alpha_rank_at_finite_alpha_is_that_of_open_spiel(populations: int, voting: ModuleType) -> None:
    assert voting.compare_games(populations, 200)["largest difference"] < 1e-6


@pytest.mark.parametrize("kind", ["payoffs", "prompts"])
def test_deviation_ratings_are_the_gains_of_open_spiel(kind: str, voting: ModuleType) -> None:
    assert voting.compare_deviation(kind, 40)["largest difference"] < 1e-5
