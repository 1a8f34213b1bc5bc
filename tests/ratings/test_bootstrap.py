"""Standard errors by resampling: what they agree with, where they are wider, and that nothing else moves them."""

from typing import Any

import numpy as np
import pytest

import nashboard as nb
from arenas import planted
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import Clusters
from nashboard.ratings.bootstrap import Lacking, reweighted
from nashboard.ratings.likelihood import fit_totals, pair_totals

MANY: dict[str, Any] = {"errors": "bootstrap", "n_resamples": 400}


def test_they_agree_with_the_sandwich_where_there_are_many_games() -> None:
    _, matches = planted(20, games=500, seed=2)
    straight, resampled = nb.elo(matches, errors="sandwich"), nb.elo(matches, **MANY)
    np.testing.assert_array_equal(resampled.ratings, straight.ratings)
    np.testing.assert_allclose(resampled.stderr, straight.stderr, rtol=0.15)  # a spread of 400 is known to 3.5%
    assert resampled.stderr.mean() == pytest.approx(straight.stderr.mean(), rel=0.03)


def test_draws_shrink_them_as_they_shrink_the_sandwich() -> None:
    drawn = nb.Matches.from_counts([[0, 50], [50, 0]], draws=[[0, 900], [900, 0]])
    assert nb.elo(drawn, **MANY).stderr[0] == pytest.approx(nb.elo(drawn, errors="sandwich").stderr[0], rel=0.1)


def test_games_of_a_cluster_count_as_one() -> None:
    votes = np.arange(100)
    wins = np.where(votes % 2, 10.0, 0.0)
    clusters = Clusters(size=100, cluster=votes, pair=0 * votes, wins=wins, draws=0 * wins, losses=10 - wins)
    counts: dict[str, Any] = {"agents": ("a", "b"), "pairs": [[0, 1]], "wins": [500], "draws": [0], "losses": [500]}
    loose, tied = nb.Matches(**counts), nb.Matches(**counts, clusters=clusters)
    # ten votes of a cluster always agree: ten times the variance
    assert nb.elo(tied, **MANY).stderr[0] / nb.elo(loose, **MANY).stderr[0] == pytest.approx(np.sqrt(10), rel=0.15)


def test_clusters_count_as_in_the_sandwich_however_few() -> None:
    _, matches = planted(8, games=60, seed=6)
    i, j = matches.pairs.T
    rng = np.random.default_rng(3)
    for openings in (5, 40):
        taste, count, pair = rng.normal(0, 0.8, (openings, 8)), len(i), np.repeat(np.arange(len(i)), openings)
        opening = np.tile(np.arange(openings), count)
        lead = (taste[:, i] - taste[:, j]).T.ravel()
        games = np.full(count * openings, 12.0)
        wins = rng.binomial(12, 1 / (1 + np.exp(-lead))).astype(float)
        split = Clusters(size=openings, cluster=opening, pair=pair, wins=wins, draws=0 * wins, losses=games - wins)
        counts: dict[str, Any] = {"wins": np.bincount(pair, wins), "losses": np.bincount(pair, games - wins)}
        played = nb.Matches(agents=matches.agents, pairs=matches.pairs, clusters=split, draws=0.0 * i, **counts)
        resampled, straight = nb.elo(played, **MANY), nb.elo(played)
        assert resampled.stderr.mean() == pytest.approx(straight.stderr.mean(), rel=0.1)
        a, b = (one.difference("agent 1", "agent 5").stderr for one in (resampled, straight))
        assert a == pytest.approx(b, rel=0.15)


@pytest.mark.parametrize("games", [3, 40])
def test_outcomes_between_0_and_1_shrink_them_as_they_shrink_the_sandwich(games: int) -> None:
    r, matches = planted(10, games=games, seed=7)
    rng = np.random.default_rng(8)
    i, j = np.repeat(matches.pairs, games, axis=0).T
    p = 1 / (1 + 10 ** ((r[j] - r[i]) / 400))
    names = np.array(matches.agents)
    shares = nb.Matches.from_games(names[i], names[j], rng.beta(6 * p, 6 * (1 - p)))
    resampled, straight = nb.elo(shares, **MANY), nb.elo(shares)
    assert straight.stderr.mean() < 0.6 * nb.elo(shares, errors="hessian").stderr.mean()
    assert resampled.stderr.mean() == pytest.approx(straight.stderr.mean(), rel=0.1)


def test_each_resample_is_fitted_to_its_maximum() -> None:
    _, matches = planted(8, games=6, seed=4)  # few games: resamples lie far from the start
    one = np.random.SeedSequence([7, 0], spawn_key=(0,)), np.random.SeedSequence([7, 0], spawn_key=(1,))
    totals = pair_totals(matches, 0.01)
    r = fit_totals(totals, np.zeros(8))
    lacking, fits = Lacking.of(matches, totals, np.append(r, 0.0), np.ones(9, dtype=bool)), []
    for seed in one:
        rng = np.random.default_rng(seed)
        wins, draws, losses = reweighted(matches, rng)
        again = nb.Matches(agents=matches.agents, pairs=matches.pairs, wins=wins, draws=draws, losses=losses)
        fits.append(nb.elo(again, prior=0.01).ratings + lacking.move(rng) * POINTS_PER_LOGIT)
    found = nb.elo(matches, prior=0.01, errors="bootstrap", n_resamples=2, rng=7)
    assert found.covariance is not None
    weights = found.covariance.weights  # of the origin, from the fit to all games
    ratings = [fit - weights @ fit for fit in fits]
    np.testing.assert_allclose(found.stderr, np.std(ratings, axis=0, ddof=1), rtol=1e-4)


def test_a_result_never_drops_out_so_that_ratings_stay_finite_without_a_prior() -> None:
    rare = nb.Matches.from_counts([[0, 400, 9], [1, 0, 9], [9, 9, 0]], agents=["champion", "b", "c"])
    errors = nb.elo(rare, prior=0, **MANY).stderr
    assert np.isfinite(errors).all()
    assert (errors > 0).all()


def test_weights_that_are_not_whole_count_as_so_many_games() -> None:
    W = np.array([[0.0, 30.5, 12.25], [20.5, 0, 40.0], [18.75, 33.0, 0]])
    plain = nb.Matches.from_counts(W)
    assert nb.elo(plain, **MANY).stderr == pytest.approx(nb.elo(plain, errors="sandwich").stderr, rel=0.2)


def test_anchors_do_not_move() -> None:
    _, matches = planted(6, games=30, seed=5)
    held = nb.elo(matches, anchor={"agent 3": 1500}, **MANY)
    assert held.stderr[2] == 0
    assert (np.delete(held.stderr, 2) > 0).all()


def test_the_seed_decides_and_not_the_workers() -> None:
    _, matches = planted(6, games=30, seed=5)
    found = nb.elo(matches, errors="bootstrap", n_resamples=40)
    for workers in (1, 2):
        again = nb.elo(matches, errors="bootstrap", n_resamples=40, workers=workers)
        np.testing.assert_array_equal(again.stderr, found.stderr)
    assert (nb.elo(matches, errors="bootstrap", n_resamples=40, rng=1).stderr != found.stderr).all()


def test_the_result_says_how_they_were_made() -> None:
    _, matches = planted(4, games=30, seed=5)
    assert "errors by bootstrap of 40 resamples" in nb.elo(matches, errors="bootstrap", n_resamples=40).made


@pytest.mark.parametrize(("n_resamples", "message"), [(1, "takes 2 or more"), (0, "a whole number, at least 1")])
def test_too_few_resamples_are_refused(n_resamples: int, message: str) -> None:
    _, matches = planted(4, games=30, seed=5)
    with pytest.raises(nb.InputError, match=message):
        nb.elo(matches, errors="bootstrap", n_resamples=n_resamples)


def test_they_are_as_wide_as_the_sandwich_for_agents_that_hardly_lost() -> None:
    ratios = []
    for seed in range(8):
        _, matches = planted(12, games=4, seed=seed, spread=300.0)
        best = int(nb.elo(matches).ratings.argmax())
        ratios.append(nb.elo(matches, **MANY).stderr[best] / nb.elo(matches).stderr[best])
    assert np.mean(ratios) == pytest.approx(1, abs=0.1)  # 0.88 without what their games lack


def test_they_know_that_the_spread_of_ratings_is_learned() -> None:
    ratios = []
    for seed in range(4):  # a Swiss tournament, which says little of the spread
        rng = np.random.default_rng([7654, seed])
        r, points, wins = rng.normal(0, 1, 24), np.zeros(24), np.zeros((24, 24))
        for _ in range(7):
            order = np.lexsort((rng.random(24), -points))
            for a, b in zip(order[::2].tolist(), order[1::2].tolist(), strict=True):
                winner, loser = (a, b) if rng.random() < 1 / (1 + np.exp(r[b] - r[a])) else (b, a)
                wins[winner, loser] += 1
                points[winner] += 1
        matches = nb.Matches.from_counts(wins)
        elo = nb.elo(matches)
        far = np.abs(elo.ratings).argsort()[-3:]
        ratios.append((nb.elo(matches, **MANY).stderr / elo.stderr)[far].mean())
    assert 0.95 < np.mean(ratios) < 1.2  # 0.70 without
