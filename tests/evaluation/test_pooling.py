"""Pooling against the normal posterior it stands for."""

from dataclasses import replace

import numpy as np
import pytest

import nashboard as nb
from evaluation.arenas import leads, played
from nashboard._types import Floats
from nashboard.data.clusters import Clusters
from nashboard.evaluation.pooling import TAUS, Pooling, payoff_variances, pooling

N = 4
PAIRS = np.array([(i, j) for i in range(N) for j in range(i + 1, N) if (i, j) != (0, 3)])


def posterior(x: Floats, v: Floats, tau: float) -> tuple[Floats, Floats]:
    """Return mean and covariance of the payoffs of all pairs, written down as one normal model with a flat prior."""
    G = np.zeros((len(PAIRS), N))
    G[np.arange(len(PAIRS)), PAIRS[:, 0]], G[np.arange(len(PAIRS)), PAIRS[:, 1]] = 1, -1
    prior = 1e6 * G @ G.T + tau**2 * np.eye(len(PAIRS))  # a prior so wide that it is flat
    gain = prior @ np.linalg.inv(prior + np.diag(v))
    return gain @ x, prior - gain @ prior


@pytest.mark.parametrize("k", [0, 15, len(TAUS) - 1])
def test_draws_have_the_mean_and_the_covariance_of_the_posterior(k: int) -> None:
    rng = np.random.default_rng(0)
    x, v = rng.normal(size=len(PAIRS)), rng.uniform(0.1, 0.5, size=len(PAIRS))
    model = Pooling(agents=N, pairs=PAIRS, variances=v, chances=(np.arange(len(TAUS)) >= k) / 1.0)
    draws = []
    for _ in range(4000):
        A = np.zeros((N, N))
        A[tuple(PAIRS.T)] = x + np.sqrt(v) * rng.normal(size=len(x))
        draws.append(model.drawn(A - A.T, rng)[tuple(PAIRS.T)])
    mean, covariance = posterior(x, v, TAUS[k])
    np.testing.assert_allclose(np.mean(draws, axis=0), mean, atol=0.05)
    np.testing.assert_allclose(np.cov(np.transpose(draws)), covariance, atol=0.05)


def test_a_pair_that_never_met_has_the_difference_of_ratings() -> None:
    rng = np.random.default_rng(0)
    model = Pooling(agents=N, pairs=PAIRS, variances=np.full(5, 0.1), chances=np.ones(len(TAUS)))
    r = np.array([1.0, 0.5, -0.5, -1.0])
    A = r[:, None] - r[None, :]
    A[0, 3] = A[3, 0] = 0
    assert model.drawn(A, rng)[0, 3] == pytest.approx(2.0)


def test_the_size_of_cycles_is_learned_from_the_data() -> None:
    rng = np.random.default_rng(1)
    ladder = pooling(played(rng, leads(rng, 10, spread=0.8, cyclic=0.0), 200))
    cycles = pooling(played(rng, leads(rng, 10, spread=0.3, cyclic=1.0), 200))
    middle = [float(TAUS[np.searchsorted(model.chances, 0.5)]) for model in (ladder, cycles)]
    assert middle[0] < 0.15
    assert 0.5 < middle[1] < 2


def test_variances_are_those_of_the_delta_method_and_clusters_make_them_larger() -> None:
    matches = nb.Matches.from_counts([[0, 30], [10, 0]])
    assert payoff_variances(matches) == pytest.approx([1 / 30.5 + 1 / 10.5])
    whole = Clusters(
        size=2,
        cluster=np.array([0, 1]),
        pair=np.array([0, 0]),
        wins=np.array([30.0, 0.0]),
        draws=np.zeros(2),
        losses=np.array([0.0, 10.0]),
    )
    assert payoff_variances(replace(matches, clusters=whole))[0] > 10 / 40
