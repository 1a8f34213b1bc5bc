"""Elo and mElo online: the update, names, labels, resuming."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nashboard as nb
from nashboard._types import Floats
from nashboard.online import kernels
from nashboard.online.games import codes, find_names
from nashboard.online.models import load
from reference_ratings import ALPHA, loss_of_one_game, melo_step

Online = nb.OnlineElo | nb.OnlineMelo


def random_log(games: int, agents: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, agents, games)
    b = (a + rng.integers(1, agents, games)) % agents
    return pl.DataFrame(
        {
            "model_a": [f"agent {k}" for k in a],
            "model_b": [f"agent {k}" for k in b],
            "outcome": rng.choice([0.0, 0.5, 1.0], games),
        }
    )


def same(one: Online, other: Online) -> bool:
    x, y = one.league, other.league
    return (
        x.names == y.names
        and np.array_equal(x.ratings, y.ratings)
        and np.array_equal(x.cyclic, y.cyclic)
        and np.array_equal(x.played[: x.size], y.played[: y.size])
        and np.array_equal(x.sums, y.sums)
    )


@given(st.integers(0, 10**6), st.integers(0, 3), st.floats(0, 1))
def test_the_update_is_the_gradient_of_the_loss(seed: int, k: int, outcome: float) -> None:
    rng = np.random.default_rng(seed)
    n, h = 3, 1e-5
    Z = np.ascontiguousarray(rng.normal(0, 10, (n, 1 + 2 * k)))
    z = np.concatenate([Z[:, 0], Z[:, 1:].ravel()])
    slope = np.array(
        [
            (loss_of_one_game(z + h * e, n, 0, 2, outcome) - loss_of_one_game(z - h * e, n, 0, 2, outcome)) / (2 * h)
            for e in np.eye(z.size)
        ]
    )
    before = Z.copy()
    one, rate = np.ones(1), 2.0**-10  # a step so short that it cannot overshoot, which would cut it
    kernels.play(
        Z,
        np.zeros(n),
        np.zeros(2),
        np.array([0], np.uint32),
        np.array([2], np.uint32),
        one * outcome,
        one,
        rate,
        rate,
        0,
        ALPHA,
    )
    step = np.concatenate([(Z - before)[:, 0], (Z - before)[:, 1:].ravel()]) / rate
    # a step of 1 in points is minus the gradient, in which one point is ALPHA logits
    np.testing.assert_allclose(step, -slope / ALPHA, atol=1e-6)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_the_kernel_is_the_slow_twin(k: int) -> None:
    log = random_log(300, 7, seed=k)
    model = nb.OnlineMelo(k, rate=20, cyclic_rate=0.5, rng=5)
    model.update_many(log)
    agents = model.league.names
    rng = np.random.default_rng(5)
    r, c = np.zeros(7), rng.standard_normal((7, 2 * k))
    for a, b, outcome in log.rows():
        melo_step(r, c, agents.index(a), agents.index(b), outcome, 20, 0.5)
    np.testing.assert_allclose(model.league.ratings, r, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(model.league.cyclic, c, rtol=1e-10, atol=1e-9)


def test_the_paper_updates_by_16_delta() -> None:
    model = nb.OnlineElo(rate=16)
    assert model.predict("ann", "bob") == 0.5
    model.update("ann", "bob", 1)
    np.testing.assert_allclose(model.ratings().ratings, [8, -8])


@pytest.mark.parametrize("decay", [None, 30])
def test_one_game_at_a_time_equals_many_at_once_bit_for_bit(decay: float | None) -> None:
    log = random_log(500, 9, seed=1)
    many, single, pieces = (nb.OnlineMelo(2, decay=decay, rng=3) for _ in range(3))
    assert many.update_many(log) == 500
    for a, b, outcome in log.rows():
        single.update(a, b, outcome)
    for start in range(0, 500, 70):
        pieces.update_many(log.slice(start, 70))
    assert same(many, single)
    assert same(many, pieces)


def test_saving_and_loading_changes_nothing(tmp_path: Path) -> None:
    log = random_log(600, 12, seed=2)
    for model, stopped in ((nb.OnlineElo(), nb.OnlineElo()), (nb.OnlineMelo(2, rng=7), nb.OnlineMelo(2, rng=7))):
        model.update_many(log)
        stopped.update_many(log.head(5))  # most agents join only after the pause: the generator must go on, too
        stopped.save(tmp_path / "league.npz")
        resumed = load(tmp_path / "league.npz")
        assert type(resumed) is type(model)
        resumed.update_many(log.slice(5))
        assert same(model, resumed)


def test_another_generator_goes_on_after_loading(tmp_path: Path) -> None:
    log = random_log(300, 40, seed=3)
    model = nb.OnlineMelo(1, rng=np.random.Generator(np.random.MT19937(4)))
    stopped = nb.OnlineMelo(1, rng=np.random.Generator(np.random.MT19937(4)))
    model.update_many(log)
    stopped.update_many(log.head(10))
    stopped.save(tmp_path / "league.npz")
    again = nb.OnlineMelo.load(tmp_path / "league.npz")
    again.update_many(log.slice(10))
    assert same(model, again)


def test_the_state_is_a_plain_archive_with_the_same_bytes_each_time(tmp_path: Path) -> None:
    model = nb.OnlineMelo(1)
    model.update_many(random_log(50, 4, seed=3))
    model.save(tmp_path / "one.npz")
    model.save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    with np.load(tmp_path / "one.npz", allow_pickle=False) as arrays:
        assert arrays["ratings"].shape == (4,)
        assert arrays["cyclic"].shape == (4, 2)
    with zipfile.ZipFile(tmp_path / "one.npz") as archive:
        assert json.loads(archive.read("league.json"))["version"] == 2
    assert list(tmp_path.iterdir()) == sorted(tmp_path.iterdir())
    assert {path.name for path in tmp_path.iterdir()} == {"one.npz", "two.npz"}


def test_a_truncated_state_is_refused_wherever_it_is_cut(tmp_path: Path) -> None:
    model = nb.OnlineMelo(1)
    model.update_many(random_log(30, 5, seed=4))
    path = tmp_path / "league.npz"
    model.save(path)
    whole = path.read_bytes()
    for size in (0, 1, 10, len(whole) // 3, len(whole) // 2, len(whole) - 30, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(nb.InputError, match="league"):
            nb.OnlineMelo.load(path)
    for place in range(100, len(whole), 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        try:
            nb.OnlineMelo.load(path)
        except nb.InputError:
            continue  # most damage is noticed; what is not lies in bytes of the archive that nothing reads


def test_foreign_files_and_later_versions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    np.savez(path, x=np.ones(3))
    with pytest.raises(nb.InputError, match=r"no league\.json"):
        nb.OnlineElo.load(path)
    path.write_text("model_a,model_b,winner\n")
    with pytest.raises(nb.InputError, match="not a whole state"):
        nb.OnlineElo.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("league.json", json.dumps({"format": "nashboard league", "version": 3}))
    with pytest.raises(nb.InputError, match="version 3"):
        nb.OnlineElo.load(path)
    with pytest.raises(nb.InputError, match="cannot read"):
        nb.OnlineElo.load(tmp_path / "nothing.npz")
    nb.OnlineMelo(1).save(path)
    with pytest.raises(nb.InputError, match=r"OnlineMelo\.load"):
        nb.OnlineElo.load(path)
    with pytest.raises(nb.InputError, match="cannot write"):
        nb.OnlineElo().save(tmp_path / "no folder" / "league.npz")


def test_frames_labels_and_arrays_mean_the_same() -> None:
    labels = {1.0: "model_a", 0.0: "model_b", 0.5: "tie"}
    log = random_log(80, 5, seed=5)
    said = log.select("model_a", "model_b", winner=pl.col("outcome").replace_strict(labels, return_dtype=pl.String))
    by_name = said.with_columns(
        winner=pl.when(pl.col("winner") == "tie").then(pl.lit("tie"))
        .when(pl.col("winner") == "model_a").then("model_a").otherwise("model_b")
    )  # fmt: skip
    expected = nb.OnlineElo()
    expected.update_many(log)
    forms: list[Any] = [
        said,
        by_name,
        said.lazy(),
        said.cast(pl.Categorical),
        pd.DataFrame(log.to_dict(as_series=False)),
        log.to_arrow(),
        log.to_dict(as_series=False),
        tuple(log[name].to_numpy() for name in log.columns),
        (log["model_a"], log["model_b"], log["outcome"], np.ones(80)),
    ]
    for form in forms:
        model = nb.OnlineElo()
        assert model.update_many(form) == 80
        assert same(model, expected)


def test_columns_rules_and_weights_are_taken() -> None:
    log = pl.DataFrame({"x": ["a", "b", "a"], "y": ["b", "c", "c"], "how": ["yes", "no", "void"], "weight": [1, 2, 1]})
    model = nb.OnlineElo(rate=10)
    used = model.update_many(log, a="x", b="y", outcome="how", outcomes={"yes": 1, "no": 0, "void": None})
    assert used == 2
    twice = nb.OnlineElo(rate=10)
    twice.update("a", "b", 1)
    assert model.league.ratings[0] == twice.league.ratings[0]
    assert model.league.ratings[2] == pytest.approx(20 * twice.predict("b", "c"))
    assert model.league.games == 3


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ({"a": ["x", "y"], "b": ["y", "y"], "outcome": [1, 1]}, r"row 2: 'y' met itself"),
        ({"a": ["x", None], "b": ["y", "z"], "outcome": [1, 1]}, r"row 2: a game needs two named agents"),
        ({"a": ["x", " "], "b": ["y", "z"], "outcome": [1, 1]}, r"row 2: a game needs two named agents"),
        ({"a": ["x", "y"], "b": ["y", "z"], "outcome": [1, 1.5]}, r"row 2 has 1.5 .*\[0, 1\]"),
        ({"a": ["x", "y"], "b": ["y", "z"], "outcome": [1, None]}, r"row 2 has nan"),
        ({"a": ["x", "y"], "b": ["y", "z"], "outcome": ["win", "hm"]}, r"unknown outcome: 'hm'"),
        (
            {"a": ["x", "x", "y"], "b": ["y", "z", "z"], "outcome": ["x"] * 3},
            r"did not play there: 'x' in 1 row \(row 3\)$",
        ),
        ({"a": ["x", "y"], "b": ["y", "z"], "outcome": [1, 0], "weight": [1, -1]}, r"row 2 has -1"),
        ({"a": ["x"], "b": ["y"]}, r"no column for the outcome"),
        ({"left": ["x"], "outcome": [1]}, r"no columns for the two agents"),
        ((["x"], ["y"]), r"not 2 of them"),
        ((["x"], ["y"], [1, 0]), r"different lengths"),
        (7, r"cannot read games from a int"),
    ],
)
def test_wrong_games_are_named_and_nothing_is_learnt(log: Any, message: str) -> None:
    model, untouched = nb.OnlineMelo(1), nb.OnlineMelo(1)
    for league in (model, untouched):
        league.update("p", "q", 1)
    with pytest.raises(nb.InputError, match=message):
        model.update_many(log)
    assert same(model, untouched)
    for league in (model, untouched):
        league.update_many({"a": ["x", "q"], "b": ["p", "y"], "outcome": [1, 0]})
    assert same(model, untouched)


def test_wrong_single_games_and_options_are_named() -> None:
    model = nb.OnlineElo()
    for game, message in (
        (("a", "a", 1.0), "meet itself"),
        (("a", "b", 1.1), r"\[0, 1\]"),
        (("a", "b", float("nan")), r"\[0, 1\]"),
        (("", "b", 1.0), "empty"),
    ):
        with pytest.raises(nb.InputError, match=message):
            model.update(*game)
    with pytest.raises(nb.InputError, match="no game has been played"):
        model.ratings()
    for options in ({"rate": -1}, {"rate": np.inf}, {"decay": 0}):
        with pytest.raises(nb.InputError, match=next(iter(options))):
            nb.OnlineElo(**options)
    with pytest.raises(nb.InputError, match="k is -1"):
        nb.OnlineMelo(-1)


def test_the_snapshot_predicts_what_the_league_predicts() -> None:
    model = nb.OnlineMelo(2, rate=16, rng=1)
    model.update_many(random_log(400, 6, seed=6))
    ratings = model.ratings()
    assert isinstance(ratings, nb.MeloRatings)
    for a in ratings.agents:
        for b in ratings.agents:
            assert ratings.predict(a, b) == pytest.approx(model.predict(a, b), abs=1e-9)
    np.testing.assert_allclose(ratings.cyclic.mean(axis=0), 0, atol=1e-9)
    G = ratings.cyclic.T @ ratings.cyclic
    np.testing.assert_allclose(G, np.diag(np.diag(G)), atol=1e-8 * G.max())
    before = ratings.ratings.copy()
    model.update("agent 0", "agent 1", 1)
    np.testing.assert_array_equal(ratings.ratings, before)
    assert isinstance(nb.OnlineElo().league.size, int)


def test_the_log_loss_is_of_predictions_made_before_each_game() -> None:
    model, total = nb.OnlineElo(), 0.0
    log = random_log(50, 4, seed=7)
    for a, b, outcome in log.rows():
        p = model.predict(a, b)
        total -= outcome * np.log(p) + (1 - outcome) * np.log(1 - p)
        model.update(a, b, outcome)
    assert model.ratings().log_loss == pytest.approx(total / 50)


def test_decay_halves_the_step_after_so_many_games() -> None:
    model = nb.OnlineElo(rate=10, decay=1)
    model.update("a", "b", 1)
    before = model.predict("c", "a")
    r = model.league.ratings[0]
    model.update("a", "c", 1)
    assert model.league.ratings[0] - r == pytest.approx(10 / 2 * before)
    assert model.league.ratings[2] == pytest.approx(-10 * before)


def test_a_slowing_rate_approaches_the_maximum_likelihood() -> None:
    rng = np.random.default_rng(0)
    r = np.array([100.0, 0.0, -100.0])
    a = rng.integers(0, 3, 60_000)
    b = (a + rng.integers(1, 3, a.size)) % 3
    won = rng.random(a.size) < 1 / (1 + 10 ** (-(r[a] - r[b]) / 400))
    names = np.array(["x", "y", "z"])
    log = pl.DataFrame({"a": names[a], "b": names[b], "outcome": won.astype(float)})
    model = nb.OnlineElo(decay=100)
    model.update_many(log)
    fit = nb.elo(nb.read_matches(log))
    for name in names:
        online = model.ratings().lead(name, "y")
        assert online == pytest.approx(fit.lead(name, "y"), abs=4)


def test_names_are_numbered_in_the_order_of_first_appearance_however_many() -> None:
    names = [f"agent {k}" for k in range(5000)]
    first, second = pl.Series(names[::2] * 2), pl.Series(names[1::2] * 2)
    assert find_names([], first, second) == tuple(names)
    assert find_names(names[:10], first, second) == tuple(names[10:])
    assert find_names(names, second, first) == ()
    np.testing.assert_array_equal(codes(first, names), np.tile(np.arange(0, 5000, 2), 2))
    np.testing.assert_array_equal(codes(second, names), np.tile(np.arange(1, 5000, 2), 2))


@pytest.mark.thin(3)
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("agents", [12, 40])
def test_online_melo_at_its_default_rates_never_runs_away(agents: int, k: int) -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, agents, 100_000)
    b = (a + rng.integers(1, agents, a.size)) % agents
    ahead = (b - a) % agents < agents / 2
    won = np.where(rng.random(a.size) < 0.1, ~ahead, ahead)  # a circle with one upset in ten games
    league = nb.OnlineMelo(k=k)
    league.update_many(pl.DataFrame({"a": a.astype(str), "b": b.astype(str), "outcome": won.astype(float)}))
    assert league.ratings().log_loss < 0.6  # guessing has 0.693; unbounded steps gave 0.94, or no number at all


def played(r: Floats, c: Floats, games: int, rng: np.random.Generator) -> tuple[pl.DataFrame, float]:
    """Games between agents with ratings (periods, agents) and planes in logits, and the loss of the truth."""
    n = r.shape[-1]
    a = rng.integers(0, n, games)
    b = (a + rng.integers(1, n, games)) % n
    when = np.arange(games) * len(r) // games
    x = r[when, a] - r[when, b] + c[a, 0] * c[b, 1] - c[a, 1] * c[b, 0]
    p = 1 / (1 + np.exp(-x))
    names = np.array([f"agent {k}" for k in range(n)])
    log = pl.DataFrame({"a": names[a], "b": names[b], "outcome": (rng.random(games) < p).astype(float)})
    return log, float(-(p * np.log(p) + (1 - p) * np.log(1 - p)).mean())


def loss_of(model: nb.OnlineElo | nb.OnlineMelo, log: pl.DataFrame) -> float:
    model.update_many(log)
    return model.ratings().log_loss


def test_online_melo_predicts_its_own_model_far_better_than_a_coin_and_elo() -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        log, truth = played(rng.normal(0, 0.5, (1, 30)), rng.normal(0, 1, (30, 2)), 40_000, rng)
        elo, melo = loss_of(nb.OnlineElo(), log), loss_of(nb.OnlineMelo(1), log)
        assert melo < truth + 0.02
        assert melo < elo - 0.05
        assert melo < np.log(2) - 0.08


def test_online_melo_is_as_good_as_elo_on_a_ladder() -> None:
    for seed, games in ((0, 600), (1, 5_000)):
        rng = np.random.default_rng(seed)
        log, _ = played(rng.normal(0, 0.8, (1, 25)), np.zeros((25, 2)), games, rng)
        assert loss_of(nb.OnlineMelo(1), log) < loss_of(nb.OnlineElo(), log) + 0.005


@pytest.mark.slow
@pytest.mark.parametrize("outcomes", ["wins", "draws", "fractions"])
def test_filtered_intervals_cover_ratings_that_stay(outcomes: str) -> None:
    inside = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        r = rng.normal(0, 1, 20)
        log, _ = played(r[None], np.zeros((20, 2)), 1_000 if outcomes == "wins" else 3_000, rng)
        if outcomes != "wins":  # 1.00 if they counted as wins and losses
            x = np.array([r[int(a.split()[1])] - r[int(b.split()[1])] for a, b, _ in log.rows()])
            p = 1 / (1 + np.exp(-x))
            draw, u = 1.2 * np.minimum(p, 1 - p), rng.random(x.size)
            drawn = np.where(u < p - draw / 2, 1.0, np.where(u < p + draw / 2, 0.5, 0.0))
            y = drawn if outcomes == "draws" else rng.beta(8 * p, 8 * (1 - p))
            log = log.with_columns(pl.Series(log.columns[2], y))
        model = nb.OnlineElo()
        model.update_many(log)
        found = model.ratings()
        order = [int(name.split()[1]) for name in found.agents]
        truth = (r[order] - r.mean()) * 400 / np.log(10)
        low, high = found.interval
        inside += ((low < truth) & (truth < high)).tolist()
    assert 0.92 < np.mean(inside) < 0.99


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.015, 0.04])
def test_filtered_intervals_cover_ratings_that_change(step: float) -> None:
    inside = []
    for seed in range(20):  # 0.91 with filters for no, quick and quicker change only
        rng = np.random.default_rng([seed, 41])
        r, games = rng.normal(0, 0.9, 40), []
        for _ in range(6_000):
            a, b = both = rng.choice(40, 2, replace=False)
            games.append((f"{a}", f"{b}", float(rng.random() < 1 / (1 + np.exp(r[b] - r[a])))))
            r[both] += step * rng.normal(size=2)
        model = nb.OnlineElo()
        model.update_many(pl.DataFrame(games, schema=["a", "b", "outcome"], orient="row"))
        found = model.ratings()
        truth = (r[[int(name) for name in found.agents]] - r.mean()) * 400 / np.log(10)
        low, high = found.interval
        inside += ((low < truth) & (truth < high)).tolist()
    assert 0.92 < np.mean(inside) < 0.985


def test_a_time_column_sorts_games_first() -> None:
    log = random_log(300, 6, seed=2).with_columns(when=pl.Series(np.arange(300)))
    there, mixed = nb.OnlineElo(), nb.OnlineElo()
    there.update_many(log)
    mixed.update_many(log.sample(fraction=1, shuffle=True, seed=1), time="when")
    assert mixed.ratings().log_loss == there.ratings().log_loss
    with pytest.raises(nb.InputError, match="no time"):
        mixed.update_many(log.with_columns(when=pl.lit(None, pl.Int64)), time="when")


@pytest.mark.parametrize("rate", [None, 16])
def test_history_has_both_ratings_after_every_game(rate: float | None) -> None:
    model = nb.OnlineElo(rate=rate, history=True)
    log = random_log(60, 5, seed=4)
    model.update_many(log.head(40))
    for a, b, outcome in log.tail(20).rows():
        model.update(a, b, outcome)
    frame = model.history().to_polars()
    assert frame.height == 120
    last = frame.group_by("agent").last()
    now = dict(zip(model.league.names, model.league.ratings, strict=True))
    for agent, rating in zip(last["agent"], last["rating"], strict=True):
        if rate is None:  # weights of the filters have changed since its last game
            assert rating == pytest.approx(now[agent], abs=5)
        else:
            assert rating == now[agent]
    assert set(model.history().select("agent 1").to_polars()["agent"]) == {"agent 1"}
    with pytest.raises(nb.InputError, match="history=True"):
        nb.OnlineElo().history()


def test_a_pgn_with_dates_says_that_they_can_sort_it(tmp_path: Path) -> None:
    from nashboard.online.follow import find_unused_time
    from nashboard.online.games import Columns

    game = '[Event "x"]\n{date}[White "ann"]\n[Black "bob"]\n[Result "1-0"]\n\n1. e4 1-0\n\n'
    for date, said in (('[Date "2024.02.03"]\n', "date"), ("", None), ('[Date "????.??.??"]\n', None)):
        (tmp_path / "log.pgn").write_text(game.format(date=date))
        assert find_unused_time(str(tmp_path / "log.pgn"), Columns()) == said
    (tmp_path / "log.pgn").write_text(game.format(date='[Date "2024.02.03"]\n'))
    assert find_unused_time(str(tmp_path / "log.pgn"), Columns(time="date")) is None
