"""Elo with a first side, draws and covariates."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

import nashboard as nb
from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.games import Games

HOME, STYLE, LENGTH = 0.3, 0.5, -0.2  # logits


def log_of(
    seed: int, *, n: int = 12, rows: int = 400, draw: float = 0.0, clusters: bool = False, repeated: bool = False
) -> tuple[Floats, Games]:
    """Return true ratings in logits, and games with a first side, neutral places, two covariates, perhaps draws."""
    rng = np.random.default_rng(seed)
    r = rng.normal(0, 1, n)
    a = rng.integers(0, n, rows)
    b = (a + rng.integers(1, n, rows)) % n
    style = rng.integers(-1, 2, rows).astype(float)
    length = rng.integers(-2, 3, rows).astype(float) if repeated else rng.standard_normal(rows)
    neutral = rng.random(rows) < 0.2
    x = r[a] - r[b] + HOME * ~neutral + STYLE * style + LENGTH * length
    total = np.exp(x / 2) + draw + np.exp(-x / 2)
    u = rng.random(rows) * total
    won, drawn = u < np.exp(x / 2), (u >= np.exp(x / 2)) & (u < np.exp(x / 2) + draw)
    times = 4 if clusters else 1  # each game is judged four times, always alike
    columns: dict[str, Any] = {
        "first": a, "second": b, "wins": won.astype(float), "draws": drawn.astype(float),
        "losses": (~won & ~drawn).astype(float), "neutral": neutral,
    }  # fmt: skip
    columns = {name: np.repeat(values, times) for name, values in columns.items()}
    return r, Games(
        agents=tuple(f"agent {k:02d}" for k in range(n)),
        cluster=np.repeat(np.arange(rows), times) if clusters else None,
        covariates={"style": np.repeat(style, times), "length": np.repeat(length, times)},
        **columns,
    )


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [False, True])
@pytest.mark.parametrize(("draw", "draws"), [(0.0, "half"), (1.0, "davidson")])
def test_planted_effects_are_recovered_within_their_errors(draw: float, draws: Any, clusters: bool) -> None:
    truth = np.array([HOME, STYLE, LENGTH]) * POINTS_PER_LOGIT
    off, ratings = [], []
    for seed in range(100):
        r, games = log_of(seed, draw=draw, clusters=clusters)
        elo = nb.elo(games, first_advantage=True, draws=draws, covariates=["style", "length"])
        assert elo.first_advantage is not None
        effects = (elo.first_advantage, *elo.coefficients)
        off.append([(effect.value - value) / effect.stderr for effect, value in zip(effects, truth, strict=True)])
        assert elo.covariance is not None
        weights = elo.covariance.weights
        z = elo.ratings - weights @ elo.ratings - (r - weights @ r) * POINTS_PER_LOGIT
        ratings += (np.abs(z) < 1.96 * elo.stderr).tolist()
    z = np.array(off)
    assert 0.92 < (np.abs(z) < 1.96).mean() < 0.98
    assert (np.abs(z) < 2).mean() > 0.93  # 0.951 to 0.955 of 500 other leagues of each kind
    assert np.abs(z.mean(axis=0)).max() < 0.35
    assert 0.92 < np.mean(ratings) < 0.98


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "draws", "clusters"), [(0.0, "half", False), (1.0, "davidson", True)])
@pytest.mark.parametrize("kind", ["sparse", "newcomer"])
def test_effects_are_covered_in_sparse_leagues_and_beside_a_newcomer(
    kind: str, draw: float, draws: Any, clusters: bool
) -> None:
    truth = np.array([HOME, STYLE, LENGTH]) * POINTS_PER_LOGIT
    off, ratings = [], []
    for seed in range(1000, 1100):  # 0 to 99 were looked at before
        if kind == "sparse":  # 40 agents play ten games each on average
            r, games = log_of(seed, n=40, rows=200, draw=draw, clusters=clusters)
        else:  # of the games of the last of 13 agents only three are kept
            r, games = log_of(seed, n=13, draw=draw, clusters=clusters)
            with_last = (games.first == 12) | (games.second == 12)
            games = games.take(np.flatnonzero(~with_last | (np.cumsum(with_last) <= (12 if clusters else 3))))
        if len(games.matches().components) > 1:
            continue
        elo = nb.elo(games, first_advantage=True, draws=draws, covariates=["style", "length"])
        assert elo.first_advantage is not None
        effects = (elo.first_advantage, *elo.coefficients)
        off.append([(effect.value - value) / effect.stderr for effect, value in zip(effects, truth, strict=True)])
        assert elo.covariance is not None
        weights, place = elo.covariance.weights, [int(name[-2:]) for name in elo.agents]
        z = elo.ratings - (r[place] - weights @ r[place]) * POINTS_PER_LOGIT
        ratings += (np.abs(z) < 1.96 * elo.stderr).tolist()
    assert len(off) > 80
    assert 0.92 < (np.abs(off) < 1.96).mean() < 0.98
    assert 0.92 < np.mean(ratings) < 0.98


def test_the_fit_is_the_minimum_that_a_general_minimiser_finds() -> None:
    _, games = log_of(3, n=5, rows=120, draw=0.8)
    n, sigma = 5, 1.3

    def loss(z: Floats) -> float:
        r, home, style, length, eta = z[:n], *z[n:]
        total = 0.0
        for k in range(games.first.size):
            x = r[games.first[k]] - r[games.second[k]] + home * (not games.neutral[k])  # type: ignore[index]
            x += style * games.covariates["style"][k] + length * games.covariates["length"][k]
            norm = np.log(np.exp(x / 2) + np.exp(eta) + np.exp(-x / 2))
            total += norm - (games.wins[k] - games.losses[k]) * x / 2 - games.draws[k] * eta
        return float(total + ((r - r.mean()) ** 2).sum() / 2 / sigma**2)

    found = minimize(loss, np.zeros(n + 4), method="BFGS", options={"gtol": 1e-6}).x
    from nashboard.ratings.likelihood import pair_totals
    from nashboard.ratings.regression import fit_rows, rows_of_games

    matches, rows = rows_of_games(games, ["style", "length"], first_advantage=True)
    edges = pair_totals(matches, sigma=sigma).prior_edges(len(matches.pairs))
    fit = fit_rows(rows, edges, np.zeros(n + 1), np.ones(n + 1, dtype=bool), origin=np.full(n, 1 / n), davidson=True)
    np.testing.assert_allclose(fit.r[:n] - fit.r[:n].mean(), found[:n] - found[:n].mean(), atol=2e-4)
    np.testing.assert_allclose([*fit.b, fit.eta], found[n:], atol=2e-4)


def test_sides_of_matches_and_of_games_say_the_same() -> None:
    _, games = log_of(4, draw=1.0)
    for draws in ("half", "davidson"):
        counted = nb.elo(games.matches(), first_advantage=True, draws=draws)
        assert counted.first_advantage is not None
        assert 0 < counted.first_advantage.value < 2.5 * HOME * POINTS_PER_LOGIT
        p = counted.probabilities("agent 00", "agent 01", first="agent 00")
        assert sum(p) == pytest.approx(1)
        assert p.win + p.draw / 2 == pytest.approx(counted.predict("agent 00", "agent 01", first="agent 00"))
        assert p.win > counted.probabilities("agent 00", "agent 01").win
        assert (p.draw > 0) == (draws == "davidson")
        again = nb.EloRatings.from_dict(counted.to_dict())
        assert again.to_dict() == counted.to_dict()
        assert "first side" in str(counted)


def test_an_effect_of_nothing_changes_no_rating() -> None:
    # every pair met as often with either side, with the same results: the advantage is 0, and ratings those without it
    sides = nb.Matches.from_counts([[0, 8, 6], [2, 0, 7], [4, 3, 0]])
    from nashboard.data.matches import Sides

    half = np.stack([sides.wins, sides.draws, sides.losses], axis=1) / 2
    matches = nb.Matches(
        agents=sides.agents, pairs=sides.pairs, wins=sides.wins, draws=sides.draws, losses=sides.losses,
        sides=Sides(first=half, second=half),
    )  # fmt: skip
    fitted = nb.elo(matches, prior=0, first_advantage=True)
    assert fitted.first_advantage is not None
    assert fitted.first_advantage.value == pytest.approx(0, abs=1e-6)
    np.testing.assert_allclose(fitted.ratings, nb.elo(matches, prior=0).ratings, atol=1e-6)


def test_games_that_repeat_are_grouped_and_give_the_same_answer() -> None:
    _, games = log_of(5, rows=2_000, repeated=True)
    from nashboard.ratings.regression import rows_of_games

    _, rows = rows_of_games(games, ["style", "length"], first_advantage=True)
    assert rows.i.size < 1_950
    one = nb.elo(games, covariates=["style", "length"])
    order = np.random.default_rng(0).permutation(2_000)
    other = nb.elo(games.take(order), covariates=["style", "length"])
    np.testing.assert_allclose(other.ratings, one.ratings, atol=1e-6)
    assert one.without_covariates is not None
    plain = nb.elo(games.matches())
    np.testing.assert_allclose(one.without_covariates, plain.ratings, atol=1e-6)
    board, ranks = one.leaderboard().to_polars(), dict(plain.leaderboard().to_polars().select("agent", "rank").rows())
    assert board["plain rank"].to_list() == [ranks[agent] for agent in board["agent"]]


def frame_of(rows: int, *, repeated: bool) -> pl.DataFrame:
    _, games = log_of(6, rows=rows, repeated=repeated)
    columns = games.to_polars().drop("weight").with_columns(neutral=pl.Series(games.neutral))
    return columns.with_columns(batch_of_games=pl.Series(np.arange(rows) % 50))


@pytest.mark.slow
def test_covariates_are_counted_where_the_data_is(tmp_path: Path) -> None:
    frame = frame_of(6_000, repeated=True)
    frame.write_csv(tmp_path / "log.csv")
    database = duckdb.connect()
    database.register("log", frame.to_arrow())
    games = nb.read_games(frame, covariates=["style", "length"])
    names = ["style", "length"]
    cases: tuple[dict[str, Any], ...] = ({}, {"cluster": "batch_of_games"})
    for cluster in cases:
        expected = nb.elo(nb.read_games(frame, covariates=names, **cluster), covariates=names, first_advantage=True)
        for source in (frame, frame.lazy(), frame.to_pandas(), tmp_path / "log.csv", database.table("log")):
            grouped = nb.read_games(source, covariates=names, grouped=True, **cluster)
            if not cluster:
                assert grouped.first.size < games.first.size / 1.5
            assert grouped.n_games == 6_000
            found = nb.elo(grouped, covariates=names, first_advantage=True)
            np.testing.assert_array_equal(found.ratings, expected.ratings)
            np.testing.assert_array_equal(found.stderr, expected.stderr)


@pytest.mark.slow
def test_a_million_games_with_covariates_of_their_own_are_fitted() -> None:
    frame = frame_of(1_000_000, repeated=False)
    elo = nb.elo(frame, covariates=["style", "length"], first_advantage=True)
    truth = np.array([HOME, STYLE, LENGTH]) * POINTS_PER_LOGIT
    assert elo.first_advantage is not None
    for effect, value in zip((elo.first_advantage, *elo.coefficients), truth, strict=True):
        assert effect.stderr < 1
        assert abs(effect.value - value) < 4 * effect.stderr


def test_clusters_count_beside_the_first_side() -> None:
    errors = [
        nb.elo(log_of(8, rows=300, clusters=clusters)[1], first_advantage=True).stderr for clusters in (False, True)
    ]
    np.testing.assert_allclose(errors[1], errors[0], rtol=0.25)  # four equal verdicts are one


def test_the_draw_parameter_is_the_share_between_equals() -> None:
    rng = np.random.default_rng(0)
    D = np.zeros((4, 4))
    W = np.zeros((4, 4))
    for i in range(4):
        for j in range(i + 1, 4):
            W[i, j], D[i, j], W[j, i] = rng.multinomial(3_000, [0.3, 0.4, 0.3])
            D[j, i] = D[i, j]
    elo = nb.elo(nb.Matches.from_counts(W, draws=D), draws="davidson")
    assert elo.draw_strength / (2 + elo.draw_strength) == pytest.approx(0.4, abs=0.02)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": "third"}, "no way to count draws"),
        ({"prior": "strong"}, "'learned'"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], message: str) -> None:
    matches = nb.Matches.from_counts([[0, 3], [2, 0]])
    with pytest.raises(nb.InputError, match=message):
        nb.elo(matches, **options)


def test_what_the_matches_do_not_know_is_not_estimated_and_said() -> None:
    matches = nb.Matches.from_counts([[0, 3], [2, 0]])
    plain = nb.elo(matches)
    found = nb.elo(matches, first_advantage=True, draws="davidson")
    assert found.first_advantage is None
    assert found.draw_strength == 0
    assert found.probabilities("agent 1", "agent 2") == plain.probabilities("agent 1", "agent 2")
    assert "who was first is not known" in str(found)
    assert "no game was drawn" in str(found)
    with pytest.raises(nb.InputError, match="leave errors out"):
        nb.elo(log_of(1, draw=1.0)[1], draws="davidson", errors="bootstrap")


def test_a_covariate_that_never_varies_is_refused() -> None:
    _, games = log_of(1)
    from dataclasses import replace

    dead = replace(games, covariates={"style": np.zeros(games.first.size)})
    with pytest.raises(nb.InputError, match="0 in every game"):
        nb.elo(dead, covariates=["style"])
    with pytest.raises(nb.InputError, match="no covariate 'length'"):
        nb.elo(dead, covariates=["length"])


def confounded(kind: str, seed: int) -> Games:
    """Return games of 25 agents in which a covariate, or the first side, goes with strength; it is worth 40 points."""
    n, rows = 25, 2_500 if kind == "many games" else 600
    rng = np.random.default_rng([seed, 1978])
    r = rng.normal(0.0, 0.7, n)
    length = rng.normal(0.0, 1.0, n) + r / 0.7
    a = np.append(rng.integers(0, n, rows), np.arange(n))
    b = (a + np.append(rng.integers(1, n, rows), np.ones(n, dtype=int))) % n
    if kind == "side":  # of 20 games, the stronger has the first side in 19
        turned = (r[a] < r[b]) & (rng.random(a.size) < 0.9)
        a, b = np.where(turned, b, a), np.where(turned, a, b)
    if kind == "newcomer":
        with_last = (a == n - 1) | (b == n - 1)
        kept = ~with_last | (np.cumsum(with_last) <= 3)
        a, b = a[kept], b[kept]
    longer = length[a] - length[b] + rng.normal(0.0, 0.7, a.size)
    x = r[a] - r[b] + 40 / POINTS_PER_LOGIT * (1.0 if kind == "side" else longer)
    u = rng.random(a.size) * (np.exp(x / 2) + (kind == "draws") + np.exp(-x / 2))
    won, lost = u < np.exp(x / 2), u >= np.exp(x / 2) + (kind == "draws")
    return Games(
        agents=tuple(f"agent {k:02d}" for k in range(n)), first=a, second=b, covariates={"longer": longer},
        wins=won.astype(float), draws=(~won & ~lost).astype(float), losses=lost.astype(float),
    )  # fmt: skip


def effect_of(kind: str, seed: int) -> Any:
    """Return the estimated effect in a confounded league."""
    draws: Any = "davidson" if kind == "draws" else "half"
    fitted = nb.elo(
        confounded(kind, seed), draws=draws, first_advantage=kind == "side",
        covariates=None if kind == "side" else ["longer"],
    )  # fmt: skip
    return fitted.first_advantage or fitted.coefficients[0]


@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(100, 300), marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["length", "many games", "side", "newcomer", "draws"])
def test_effects_that_go_with_strength_are_covered(kind: str, seeds: range) -> None:
    z = np.array([(effect.value - 40) / effect.stderr for effect in (effect_of(kind, seed) for seed in seeds)])
    room = 2.6 * np.sqrt(0.05 * 0.95 / z.size)
    assert 0.95 - room < (np.abs(z) < 1.96).mean() < 0.95 + room
    assert abs(z.mean()) < 2.6 / np.sqrt(z.size)


def test_the_prior_is_centred_on_what_goes_with_agents_only_where_something_does() -> None:
    said = ["each agent's mean of 'longer'" in nb.elo(confounded("length", 3), covariates=["longer"]).made]
    from dataclasses import replace

    for seed in range(10):
        games = confounded("length", seed)
        shuffled = np.random.default_rng(seed).permutation(games.covariates["longer"])
        said.append("suggests" in nb.elo(replace(games, covariates={"longer": shuffled}), covariates=["longer"]).made)
    assert said[0]
    assert sum(said) < 9


def test_the_fit_around_covariates_of_agents_is_the_minimum_that_a_general_minimiser_finds() -> None:
    from nashboard.ratings.likelihood import SCALE, pair_totals
    from nashboard.ratings.regression import Point, Problem, minimise_rows, rows_of_games, typical_values

    matches, rows = rows_of_games(confounded("length", 1), ["longer"], first_advantage=False)
    n, sigma, (means, names) = 25, 0.6, typical_values(rows)
    assert names == ("longer",)
    # by hand: covariates are differences of agents' values, normal around 0, and noise
    B = np.zeros((rows.i.size, n))
    B[np.arange(rows.i.size), rows.i], B[np.arange(rows.i.size), rows.j] = 1.0, -1.0
    y, w = rows.Z[:, 0], rows.games
    between = float(y @ (w[:, None] * B) @ np.linalg.pinv(B.T @ (w[:, None] * B)) @ (B.T @ (w * y)))
    noise = (w @ y**2 - between) / (w.sum() - n + 1)
    own = (between - noise * (n - 1)) / (2 * w.sum())
    centre = np.eye(n) - 1 / n
    z = np.linalg.pinv(B.T @ (w[:, None] * B) + noise / own * centre) @ (B.T @ (w * y))
    np.testing.assert_allclose(means[:, 0], z / np.sqrt((z**2).mean()), atol=1e-5)

    def loss(v: Floats) -> float:
        r, b, g = v[:n], v[n], v[n + 1]
        x = B @ r + y * b
        u = r - means[:, 0] * g
        played = rows.wins @ np.logaddexp(0, -x) + rows.losses @ np.logaddexp(0, x)
        return float(played + ((u - u.mean()) ** 2).sum() / 2 / sigma**2 + g**2 / 2 / SCALE**2)

    found = minimize(loss, np.zeros(n + 2), method="BFGS", options={"gtol": 1e-6}).x
    edges = pair_totals(matches, sigma=sigma).prior_edges(len(matches.pairs))
    problem = Problem.of(rows, edges, means, davidson=False)
    start = Point(r=np.zeros(n + 1), b=np.zeros(2), eta=0.0)
    point, _, _ = minimise_rows(problem, start, np.ones(n + 1, dtype=bool))
    np.testing.assert_allclose(point.r[:n] - point.r[:n].mean(), found[:n] - found[:n].mean(), atol=2e-4)
    np.testing.assert_allclose(point.b, found[n:], atol=2e-4)


def test_a_property_of_agents_is_not_separated_from_their_ratings() -> None:
    from dataclasses import replace

    games = confounded("length", 2)
    property_of = np.arange(25) % 2.0
    games = replace(games, covariates={"open": property_of[games.first] - property_of[games.second]})
    effect = nb.elo(games, covariates=["open"]).coefficients[0]
    assert effect.stderr > 300  # points: what it is worth is what the prior allows
    with pytest.raises(nb.InputError, match="'open' cannot be separated from ratings"):
        nb.elo(games, covariates=["open"], prior=0)
