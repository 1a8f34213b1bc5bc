"""Held-out predictions: at random, by time, and against a simple online Elo."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from nashboard._types import Floats
from nashboard.data.games import Games


def games_of(x: Floats, a: Any, b: Any, n: int, rng: np.random.Generator) -> Games:
    won = (rng.random(x.size) < 1 / (1 + np.exp(-x))).astype(float)
    return Games(
        agents=tuple(f"agent {k:03d}" for k in range(n)), first=a, second=b, wins=won, draws=0 * won, losses=1 - won,
        time=np.arange(x.size),
    )  # fmt: skip


def tennis(seed: int, n: int = 300, rows: int = 3_000) -> Games:
    """A season of many players, most of whom play little, some late; ratings stay."""
    rng = np.random.default_rng(seed)
    active = rng.gamma(0.6, 1.0, n)
    joins = rng.uniform(-0.5, 0.7, n)
    r = rng.normal(0, 0.9, n)
    a, b = np.zeros((2, rows), dtype=int)
    for t in range(rows):
        weight = active * (joins < t / rows)
        a[t], b[t] = rng.choice(n, 2, replace=False, p=weight / weight.sum())
    return games_of(r[a] - r[b], a, b, n, rng)


def engines(seed: int) -> Games:
    """Few engines, many games, one of them replaced by a stronger version halfway; a mild cycle."""
    rng = np.random.default_rng(seed)
    n, rows = 16, 6_000
    r, c = rng.normal(0, 1.2, n), rng.normal(0, 0.4, (n, 2))
    a = rng.integers(0, n, rows)
    b = (a + rng.integers(1, n, rows)) % n
    late = np.arange(rows) > rows // 2
    x = r[a] - r[b] + 0.8 * late * ((a == 3).astype(float) - (b == 3)) + c[a, 0] * c[b, 1] - c[a, 1] * c[b, 0]
    return games_of(x, a, b, n, rng)


def votes(seed: int) -> Games:
    """An arena of language models: small differences, models that join over time."""
    rng = np.random.default_rng(seed)
    n, rows = 60, 5_000
    r = np.sort(rng.normal(0, 0.5, n))
    here = np.maximum(np.linspace(10, n, rows).astype(int), 10)
    a = rng.integers(0, here)
    b = (a + rng.integers(1, here)) % here
    return games_of(r[a] - r[b], a, b, n, rng)


def knockouts(seed: int, n: int = 60) -> Games:
    """Twelve knock-out tournaments of 32 players: few games, and winners meet winners."""
    rng = np.random.default_rng(seed)
    r, games = rng.normal(0, 1, n), []
    for _ in range(12):
        left = rng.permutation(n)[:32]
        while left.size > 1:
            a, b = left[::2], left[1::2]
            won = rng.random(a.size) < 1 / (1 + np.exp(r[b] - r[a]))
            games.append(np.stack([a, b, won]))
            left = np.where(won, a, b)
    a, b, won = np.concatenate(games, axis=1)
    return Games(
        agents=tuple(f"agent {k:03d}" for k in range(n)), first=a.astype(int), second=b.astype(int),
        wins=won.astype(float), draws=0.0 * won, losses=1.0 - won, time=np.arange(won.size),
    )  # fmt: skip


def drifting(seed: int, n: int = 80, rows: int = 4_000) -> Games:
    """A league whose players change a little after each game."""
    rng = np.random.default_rng(seed)
    r = rng.normal(0, 0.9, n)
    a = rng.integers(0, n, rows)
    b = (a + rng.integers(1, n, rows)) % n
    x = np.empty(rows)
    for t, both in enumerate(np.stack([a, b], axis=1)):
        x[t] = r[both[0]] - r[both[1]]
        r[both] += 0.03 * rng.normal(size=2)
    return games_of(x, a, b, n, rng)


def turnover(seed: int, n: int = 300, rows: int = 6_000, active: int = 30) -> Games:
    """A league in which 30 of 300 players are active at a time, and change a little after each game."""
    rng = np.random.default_rng(seed)
    joins = np.linspace(-active / n, 1, n)
    r = rng.normal(0, 0.9, n)
    a, b = np.zeros((2, rows), dtype=int)
    x = np.empty(rows)
    for t in range(rows):
        here = np.flatnonzero((joins <= t / rows) & (t / rows < joins + active / n))
        a[t], b[t] = both = rng.choice(here, 2, replace=False)
        x[t] = r[a[t]] - r[b[t]]
        r[both] += 0.05 * rng.normal(size=2)
    return games_of(x, a, b, n, rng)


def self_play(seed: int, n: int = 60, rows: int = 3_000) -> Games:
    """Checkpoints of one run: each is stronger than those before, and meets the last ten of them."""
    rng = np.random.default_rng(seed)
    r = np.linspace(0, 6, n) + rng.normal(0, 0.2, n)
    a, b = np.zeros((2, rows), dtype=int)
    for t in range(rows):
        newest = 2 + t * (n - 2) // rows
        a[t], b[t] = rng.choice(np.arange(max(0, newest - 10), newest + 1), 2, replace=False)
    return games_of(r[a] - r[b], a, b, n, rng)


def simple_online_elo(games: Games, tested: slice) -> float:
    """Eight lines of Elo with the best of three rates, chosen on the games that it predicts."""
    losses = []
    for rate in (16, 24, 32):
        r, total = np.zeros(len(games.agents)), []
        for a, b, won in zip(games.first, games.second, games.wins, strict=True):
            p = 1 / (1 + 10 ** ((r[b] - r[a]) / 400))
            total.append(-np.log(p if won else 1 - p))
            r[a] += rate * (won - p)
            r[b] -= rate * (won - p)
        losses.append(float(np.mean(total[tested])))
    return min(losses)


def seasons(seed: int, n: int = 20) -> Games:
    """Twelve double round robins of a league, between which ratings change."""
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(~np.eye(n, dtype=bool))
    r, played, x = rng.normal(0, 0.7, n), [], []
    for _ in range(12):
        a, b = rng.permutation(pairs).T
        played.append((a, b))
        x.append(r[a] - r[b])
        r = 0.8 * r + rng.normal(0, 0.35, n)
    a, b = np.concatenate(played, axis=1)
    return games_of(np.concatenate(x), a, b, n, rng)


MODELS = ["elo", "melo", "online elo", "online melo"]


@pytest.mark.slow
@pytest.mark.parametrize("log", [tennis, engines, votes, drifting])
def test_later_games_are_predicted_no_worse_than_by_a_simple_online_elo(log) -> None:  # type: ignore[no-untyped-def]
    for seed in (31, 32):  # 60 to 62 were looked at before
        games = log(seed)
        simple = simple_online_elo(games, slice(games.first.size // 5, None))
        for model in nb.calibration(games, by="time", models=MODELS).models:
            assert model.log_loss < simple + 0.005, (model.model, seed)


def test_checkpoints_that_are_new_are_predicted_as_good_as_their_opponents() -> None:
    for seed in (35, 36):  # others were looked at before
        games = self_play(seed)
        simple = simple_online_elo(games, slice(games.first.size // 5, None))
        for model in nb.calibration(games, by="time", models=MODELS).models:
            assert model.log_loss < simple + 0.005, (model.model, seed)


def test_online_models_follow_agents_that_join_and_change_and_a_note_recommends_them() -> None:
    for seed in (33, 34):  # 1 and 2 were looked at before
        games = turnover(seed)
        simple = simple_online_elo(games, slice(games.first.size // 5, None))
        found = nb.calibration(games, by="time", models=["elo", "online elo", "online melo"])
        of = {model.model: model.log_loss for model in found.models}
        assert of["online Elo"] < simple
        assert of["online mElo, 1 plane"] < simple
        assert simple < of["Elo"] < np.log(2)
        assert found.newcomers > 0.5
        assert "use online models" in str(found)
    assert "use online models" not in str(nb.calibration(engines(1), by="time", models=["online elo"]))


def test_a_note_says_that_ratings_change_where_online_models_predict_better() -> None:
    changing = nb.calibration(seasons(41), by="time", models=["elo", "online elo"])
    assert changing.change > 0.01
    assert "averages over time" in str(changing)
    for log in (votes, engines):  # ratings stay, or one of 16 changes
        staying = nb.calibration(log(41), by="time", models=["elo", "online elo"])
        assert staying.change == 0
        assert "averages over time" not in str(staying)


def test_online_models_follow_ratings_that_change_between_seasons() -> None:
    for seed in (42, 43):
        games = seasons(seed)
        simple = simple_online_elo(games, slice(games.first.size // 5, None))
        for model in nb.calibration(games, by="time", models=["online elo", "online melo"]).models:
            assert model.log_loss < simple + 0.005, (model.model, seed)


@pytest.mark.slow
def test_knockouts_are_predicted_no_worse_than_by_a_simple_online_elo_on_average() -> None:
    lost = []  # one log of 300 tested games leaves 0.014 of uncertainty
    for seed in range(61, 69):  # 31 to 38 and 51 to 58 were looked at before
        games = knockouts(seed)
        simple = simple_online_elo(games, slice(games.first.size // 5, None))
        lost.append([model.log_loss - simple for model in nb.calibration(games, by="time", models=MODELS).models])
    assert np.mean(lost, axis=0).max() < 0.005


@pytest.mark.slow
def test_melo_vanishes_where_it_does_not_predict() -> None:
    games = tennis(3, n=60, rows=900)
    found = {one.model: one.log_loss for one in nb.calibration(games, by="time", models=["elo", "melo"]).models}
    assert found["mElo, 1 plane"] < found["Elo"] + 0.01
    assert found["mElo, 1 plane"] < np.log(2)


@pytest.mark.slow
def test_planes_are_found_by_time_too() -> None:
    rng = np.random.default_rng(0)
    n, rows = 12, 2_500
    c = rng.normal(0, 1.4, (n, 2))
    a = rng.integers(0, n, rows)
    b = (a + rng.integers(1, n, rows)) % n
    games = games_of(c[a, 0] * c[b, 1] - c[a, 1] * c[b, 0], a, b, n, rng)
    result = nb.calibration(games, by="order")
    assert result.best.model in ("mElo, 1 plane", "online mElo, 1 plane")
    assert result.models[-1].log_loss > result.best.log_loss + 0.05
    assert "log-loss" in str(result)
    assert result.to_dict()["by"] == "order"
    assert result.chart() is not None


def test_a_log_is_read_from_a_file(tmp_path: Path) -> None:
    games = votes(1)
    frame = games.to_polars().drop("weight").with_columns(date=pl.Series(np.asarray(games.time)))
    frame.sample(fraction=1, shuffle=True, seed=0).write_csv(tmp_path / "log.csv")
    for by in ("time", "random"):
        there, here = (nb.calibration(data, by=by, models=["elo"]) for data in (games, tmp_path / "log.csv"))
        assert here.best.log_loss == pytest.approx(there.best.log_loss, abs=1e-6)


def test_unknown_ways_and_data_are_named() -> None:
    matches = nb.Matches.from_counts([[0, 9, 5], [3, 0, 5], [4, 5, 0]])
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"by": "date"}, "no way to hold games out"),
        ({"by": "time"}, "games one by one"),
        ({"models": ["glicko"]}, "no model"),
        ({"models": []}, "at least one"),
    )
    for options, message in cases:
        with pytest.raises(nb.InputError, match=message):
            nb.calibration(matches, **options)
    with pytest.raises(nb.InputError, match="no time"):
        nb.calibration(
            Games(
                agents=("a", "b"),
                first=np.zeros(20, dtype=int),
                second=np.ones(20, dtype=int),
                wins=np.ones(20),
                draws=np.zeros(20),
                losses=np.zeros(20),
            ),
            by="time",
        )
