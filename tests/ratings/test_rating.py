"""The protocol of ratings: every entry of the registry predicts, has errors and a table."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import nashboard as nb
from arenas import planted
from commands import run
from nashboard.ratings.held_out import calibration_of
from nashboard.ratings.rating import RATINGS, Rating, RatingMethod, rating_method
from ratings.test_errors import graded, play


@pytest.mark.parametrize("name", list(RATINGS))
def test_every_rating_keeps_the_protocol(name: str) -> None:
    r, matches = planted(8, games=60, seed=2)
    fit = rating_method(name).fit(matches)
    assert isinstance(fit, Rating)
    assert fit.label == RATINGS[name].label
    assert abs(fit.ratings.mean()) < 1e-6
    assert np.corrcoef(fit.ratings, r)[0, 1] > 0.97
    assert (fit.stderr > 0).all()
    low, high = fit.interval
    assert ((low < fit.ratings) & (fit.ratings < high)).all()
    a, b = fit.agents[0], fit.agents[3]
    assert fit.predict(a, b) + fit.predict(b, a) == pytest.approx(1)
    assert sum(fit.probabilities(a, b)) == pytest.approx(1)
    P = fit.win_probabilities()
    np.testing.assert_allclose(P + P.T, 1, atol=1e-12)
    assert P[0, 3] == pytest.approx(fit.predict(a, b))
    found = fit.difference(a, b)
    assert found.low < found.lead < found.high
    assert len(fit.leaderboard().rows) == 8
    assert fit.to_dict()["agents"] == list(fit.agents)
    assert "\n" not in repr(fit)
    p = P[tuple(matches.pairs.T)]
    loss = -(matches.wins @ np.log(p) + matches.losses @ np.log(1 - p)) / matches.n_games
    assert calibration_of(fit, matches).log_loss == pytest.approx(loss)
    assert fit.log_loss == pytest.approx(loss, abs=1e-3)  # at the estimates, not averaged over what is not known
    assert fit.chart() is not None


def test_an_unknown_rating_is_named() -> None:
    with pytest.raises(nb.InputError, match="did you mean 'melo'"):
        rating_method("mello")


ONE_FILE = """
import numpy as np
import nashboard as nb
from nashboard.ratings.rating import RatingMethod, register

def win_points(matches):
    "Rate agents by their share of points, on a scale of 400 points."
    won = np.bincount(matches.pairs.ravel(), np.stack([matches.wins, matches.losses], axis=1).ravel())
    share = won / matches.games_per_agent
    return nb.EloRatings(
        agents=matches.agents, ratings=400 * (share - share.mean()), stderr=np.full(share.size, 50.0),
        games=matches.games_per_agent, log_loss=0.6,
    )

register(RatingMethod(name="win_points", label="win points", function=win_points))
"""


def test_a_new_rating_is_one_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(RATINGS, "win_points", None)  # forgotten after the test
    (tmp_path / "my_win_points.py").write_text(ONE_FILE)
    monkeypatch.syspath_prepend(tmp_path)
    win_points = import_module("my_win_points").win_points
    _, matches = planted(6, games=30, seed=1)
    assert nb.rank(matches, "win_points").order[0] == win_points(matches).agents[win_points(matches).ratings.argmax()]
    assert "win_points" in nb.methods()
    board = nb.evaluate(matches, methods=("nash", "win_points"), n_resamples=20).board
    assert "win points" in str(board.table())
    found = nb.calibration(matches, models=["elo", "win_points"])
    assert {one.model for one in found.models} == {"Elo", "win points"}
    assert found.chart() is not None
    i, j = matches.pairs.T
    games = [f"{matches.agents[a]},{matches.agents[b]},1" for a, b in (*zip(i, j, strict=True), (1, 0))]
    (tmp_path / "log.csv").write_text("\n".join(["a,b,outcome", *games]))
    assert "win points" in run("predict", str(tmp_path / "log.csv"), "agent 1", "agent 2").stdout
    assert "win points" in run("evaluate", str(tmp_path / "log.csv"), "--method", "win_points").stdout


def test_the_board_fits_a_registered_rating_with_a_prior_as_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RATINGS, "same", RatingMethod(name="same", label="Same", function="nashboard.ratings.elo:elo"))
    matches = nb.Matches.from_counts([[0, 80, 90], [20, 0, 75], [10, 25, 0]], agents=["a", "b", "c"])
    frame = nb.evaluate(matches, methods=["nash", "elo", "same"], n_resamples=60).to_polars()
    assert np.abs(frame["Same"].to_numpy() - frame["Elo"].to_numpy()).max() < 40


def test_the_leaderboard_has_intervals_at_any_level() -> None:
    ratings = nb.elo(nb.load_dataset("alphago"))
    half, sure = (ratings.leaderboard(level=level).to_polars() for level in (0.5, 0.95))
    assert (sure["high"] - sure["low"]).to_numpy() == pytest.approx(
        (half["high"] - half["low"]).to_numpy() * 1.959964 / 0.674490, rel=1e-6
    )
    assert "95%" in next(column.meaning for column in ratings.leaderboard().columns if column.name == "low")
    with pytest.raises(nb.InputError, match="a confidence between"):
        ratings.leaderboard(level=1.5)


@pytest.mark.parametrize("noise", ["draws", "fractions", "clusters"])
def test_every_rating_counts_draws_fractions_and_clusters_in_its_errors(noise: str) -> None:
    matches = (play("full", noise, 3, times=6) if noise == "clusters" else graded(noise, 3, 12, 1_500, 0.6))[1]
    elo = nb.elo(matches)
    for name in RATINGS:
        ratio = rating_method(name).fit(matches).stderr / elo.stderr
        # of Hodge ratings 2.7 with fractions, as if they were wins and losses; one-sided pairs widen their errors
        assert 0.85 < ratio.mean() < (2 if (name, noise) == ("hodge", "clusters") else 1.2), name
