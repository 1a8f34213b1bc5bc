"""The adaptive filters in leagues of many kinds, none of which was used to choose their settings."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from nashboard._types import Floats

Rng = np.random.Generator


def log_of(a: Any, b: Any, outcome: Floats) -> pl.DataFrame:
    names = pl.Series([f"agent {k}" for k in range(200)])
    return pl.DataFrame({"a": names[a], "b": names[b], "outcome": outcome})


def pairs(rng: Rng, agents: int, games: int) -> tuple[Any, Any]:
    a = rng.integers(0, agents, games)
    return a, (a + rng.integers(1, agents, games)) % agents


def toss(rng: Rng, x: Floats) -> Floats:
    return (rng.random(x.size) < 1 / (1 + np.exp(-x))).astype(float)


def two_tiers(rng: Rng) -> pl.DataFrame:
    r = np.repeat([1.5, -1.5], 40) + rng.normal(0, 0.3, 80)
    a, b = pairs(rng, 80, 4_000)
    return log_of(a, b, toss(rng, r[a] - r[b]))


def heavy_tails(rng: Rng) -> pl.DataFrame:
    r = 0.7 * rng.standard_t(3, 150)
    a, b = pairs(rng, 150, 3_000)
    return log_of(a, b, toss(rng, r[a] - r[b]))


def jumps(rng: Rng) -> pl.DataFrame:
    """After one game in a hundred an agent is another one."""
    r = rng.normal(0, 1, 50)
    a, b = pairs(rng, 50, 8_000)
    won = np.empty(a.size)
    for game, (i, j) in enumerate(zip(a, b, strict=True)):
        won[game] = rng.random() < 1 / (1 + np.exp(r[j] - r[i]))
        for k in (i, j):
            if rng.random() < 0.01:
                r[k] = rng.normal()
    return log_of(a, b, won)


def matched(rng: Rng) -> pl.DataFrame:
    """Agents meet those of about their own strength."""
    r = np.sort(rng.normal(0, 2, 100))
    a = rng.integers(0, 100, 10_000)
    b = (a + rng.integers(1, 8, a.size) * rng.choice([-1, 1], a.size)).clip(0, 99)
    a, b = a[a != b], b[a != b]
    return log_of(a, b, toss(rng, r[a] - r[b]))


def many_draws(rng: Rng) -> pl.DataFrame:
    r = rng.normal(0, 1, 60)
    a, b = pairs(rng, 60, 4_000)
    x = r[a] - r[b]
    weights = np.stack([np.exp(x / 2), np.full(x.size, 1.5), np.exp(-x / 2)])
    win, draw, _ = weights / weights.sum(axis=0)
    u = rng.random(x.size)
    return log_of(a, b, np.where(u < win, 1.0, np.where(u < win + draw, 0.5, 0.0)))


def learners(rng: Rng) -> pl.DataFrame:
    """Agents get better, some faster."""
    r, gain = rng.normal(0, 0.7, 40), rng.gamma(1, 1, 40)
    a, b = pairs(rng, 40, 12_000)
    t = np.linspace(0, 1, a.size)
    return log_of(a, b, toss(rng, r[a] + gain[a] * t - r[b] - gain[b] * t))


def two_planes(rng: Rng) -> pl.DataFrame:
    C = rng.normal(0, 0.8, (20, 4))
    a, b = pairs(rng, 20, 10_000)
    x = C[a, 0] * C[b, 1] - C[a, 1] * C[b, 0] + 0.6 * (C[a, 2] * C[b, 3] - C[a, 3] * C[b, 2])
    return log_of(a, b, toss(rng, x))


def rock_paper_scissors(rng: Rng) -> pl.DataFrame:
    """Three kinds of agents that beat each other in turn, and ratings."""
    kind, r = np.arange(24) % 3, rng.normal(0, 0.4, 24)
    a, b = pairs(rng, 24, 6_000)
    cycle = np.array([0.0, 1.2, -1.2])[(kind[a] - kind[b]) % 3]
    return log_of(a, b, toss(rng, cycle + r[a] - r[b]))


def loss_of(model: nb.OnlineElo | nb.OnlineMelo, log: pl.DataFrame) -> float:
    model.update_many(log)
    return model.ratings().log_loss


LADDERS = (two_tiers, heavy_tails, jumps, matched, many_draws, learners)


@pytest.mark.parametrize("league", [*LADDERS, two_planes, rock_paper_scissors])
def test_filters_predict_as_well_as_the_best_rate_in_hindsight(league: Callable[[Rng], pl.DataFrame]) -> None:
    log = league(np.random.default_rng(2026))
    best = min(loss_of(nb.OnlineElo(rate=rate), log) for rate in (8, 16, 32, 64))
    adaptive, planes = loss_of(nb.OnlineElo(), log), loss_of(nb.OnlineMelo(1), log)
    assert adaptive < best + 0.002
    assert planes < adaptive + 0.005 if league in LADDERS else planes < adaptive - 0.01


def test_a_mixture_of_filters_is_as_good_as_the_best_of_them() -> None:
    # -log of a mean with weights 1/m is at most that of any filter, plus log m, however many games there are
    log = learners(np.random.default_rng(7))
    mixed = nb.OnlineElo()
    alone = []
    for k in range(len(mixed.league.filters)):
        one = nb.OnlineElo()
        one.league.weights = np.eye(len(one.league.filters))[k]
        alone.append(loss_of(one, log) * len(log))
    shares = 1e-5 * len(log) * 2  # what filters exchange
    assert loss_of(mixed, log) * len(log) < min(alone) + np.log(len(alone)) + shares


@pytest.mark.parametrize("weight", [1.0, 100.0])
def test_a_chain_of_newcomers_who_all_draw_keeps_ratings_finite(weight: float) -> None:
    names = [f"agent {k}" for k in range(3000)]
    games = {"model_a": names, "model_b": names[1:] + names[:1], "winner": "tie", "weight": weight}
    model = nb.OnlineMelo(2, rng=0)
    model.update_many(pl.DataFrame(games))
    assert np.isfinite(model.ratings().ratings).all()
    assert np.abs(model.ratings().ratings).max() < 400
