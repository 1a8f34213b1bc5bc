"""Columns beside the gap: intervals of Elo and of the plain mean cover the truth, and so do their ranks."""

import numpy as np
import pytest

import nashboard as nb
from arenas import leads, played
from nashboard._types import Bools, Floats
from nashboard._units import POINTS_PER_LOGIT

ELO = {  # agents, spread, cyclic, games, share of draws, share of pairs that met
    "ladder": (12, 0.8, 0.0, 20, 0.0, 1.0),
    "mild cycles": (10, 0.8, 0.4, 30, 0.0, 1.0),
    "draws": (8, 0.6, 0.0, 25, 0.5, 1.0),
    "half of the pairs": (14, 0.8, 0.3, 15, 0.0, 0.45),
    "one game": (16, 1.0, 0.0, 1, 0.0, 1.0),
}
MEANS = ("items", "unknown noise", "missing")


def thinned(matches: nb.Matches, share: float, rng: np.random.Generator) -> nb.Matches:
    """Return the games of a share of the pairs; neighbours in a circle always met, so that all are connected."""
    n = len(matches.agents)
    i, j = matches.pairs.T
    kept = (rng.random(len(i)) < share) | (j - i == 1) | (j - i == n - 1)
    return nb.Matches(
        agents=matches.agents,
        pairs=matches.pairs[kept],
        wins=matches.wins[kept],
        draws=matches.draws[kept],
        losses=matches.losses[kept],
    )


def covered(data: nb.Matches | nb.Scores, truth: Floats, *, centred: bool = False) -> tuple[Bools, Bools]:
    """Return whether the truth of every agent lies inside its interval, and its rank inside the interval of ranks.

    Elo has mean 0 over classes, and agents that are pooled share one rating: theirs is the mean of the truth.
    """
    board = nb.evaluate(data, n_resamples=100).board
    found = board.rating
    assert found is not None
    label = board.classes if centred else np.arange(len(truth))
    first, true = np.unique(label, return_index=True)[1], np.bincount(label, truth) / np.bincount(label)
    true = true - true.mean() if centred else true
    rank = 1 + (true[:, None] < true).sum(axis=1)
    inside = (found.low[first] - 1e-9 <= true) & (true <= found.high[first] + 1e-9)
    return inside, (found.rank_low[first] <= rank) & (rank <= found.rank_high[first])


def elo_coverage(regime: str, arenas: int, seed: int) -> tuple[float, float]:
    n, spread, cyclic, games, draws, share = ELO[regime]
    rng = np.random.default_rng(seed)
    values, ranks = [], []
    for _ in range(arenas):
        X = leads(rng, n, spread=spread, cyclic=cyclic)
        matches = thinned(played(rng, X, games, draws), share, rng)
        inside, ranked = covered(matches, X.mean(axis=1) * POINTS_PER_LOGIT, centred=True)
        values.append(inside)
        ranks.append(ranked)
    return float(np.concatenate(values).mean()), float(np.concatenate(ranks).mean())


def mean_coverage(regime: str, tables: int, seed: int) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    values, ranks = [], []
    for _ in range(tables):
        m, n = 12, 18
        logits = rng.normal(0, 0.7, m)[:, None] * rng.uniform(0.5, 1.5, n) + rng.normal(0, 0.8, n)
        P = 1 / (1 + np.exp(-logits))
        if regime == "unknown noise":
            scores = nb.Scores.from_array(P + 0.05 * rng.standard_normal(P.shape))
        else:
            S = rng.binomial(100, P) / 100
            if regime == "missing":
                S[rng.random(S.shape) < 0.1] = np.nan
            scores = nb.Scores.from_array(S, n=np.full(P.shape, 100.0))
        inside, ranked = covered(scores, P.mean(axis=1))
        values.append(inside)
        ranks.append(ranked)
    return float(np.concatenate(values).mean()), float(np.concatenate(ranks).mean())


@pytest.mark.slow
@pytest.mark.parametrize("regime", ELO)
def test_intervals_of_elo_have_their_coverage_in_every_regime(regime: str) -> None:
    values, ranks = elo_coverage(regime, 30, seed=430)
    assert 0.92 <= values <= 0.99
    assert ranks >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize("regime", MEANS)
def test_intervals_of_plain_means_have_their_coverage_in_every_regime(regime: str) -> None:
    values, ranks = mean_coverage(regime, 60, seed=440)
    assert 0.92 <= values <= 0.99
    assert ranks >= 0.92
