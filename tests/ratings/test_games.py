"""Games one by one: reading, sorting, counting, and commands that use them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from commands import run
from nashboard.data.games import Games
from nashboard.online.models import load
from nashboard.ratings.rating import Coefficient

FILES = Path(__file__).parents[1] / "files"


def log_of(rows: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    names = np.array([f"agent {k}" for k in range(6)])
    a = rng.integers(0, 6, rows)
    b = (a + rng.integers(1, 6, rows)) % 6
    return pl.DataFrame(
        {
            "model_a": names[a],
            "model_b": names[b],
            "winner": rng.choice(["model_a", "model_b", "tie"], rows),
            "longer": rng.normal(0, 100, rows).round(1),
            "same": rng.random(rows) < 0.5,
            "when": rng.permutation(rows),
        }
    )


def same_counts(one: nb.Matches, other: nb.Matches) -> bool:
    return one.agents == other.agents and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("pairs", "wins", "draws", "losses")
    )


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_games_are_the_matches_that_are_counted(ending: str, tmp_path: Path) -> None:
    log, path = log_of(300), tmp_path / f"log{ending}"
    {".csv": log.write_csv, ".jsonl": log.write_ndjson, ".parquet": log.write_parquet}[ending](path)  # type: ignore[operator]
    games = nb.read_games(path, covariates=["longer", "same"], time="when")
    assert isinstance(games, Games)
    counted = nb.read_matches(path)
    assert same_counts(games.matches(), counted)
    found, known = games.matches().sides, counted.sides
    assert found is not None
    assert known is not None
    np.testing.assert_array_equal(found.first, known.first)
    np.testing.assert_allclose(games.covariates["longer"], log["longer"])
    np.testing.assert_allclose(games.covariates["same"], log["same"].cast(float))
    by_time = games.by_time()
    np.testing.assert_allclose(by_time.covariates["longer"], log.sort("when")["longer"])
    assert games.origin.format == counted.origin.format


def test_frames_rules_and_clusters_are_read_as_matches_are() -> None:
    log = log_of(200).with_columns(session=pl.Series(np.arange(200) // 4), verdict=pl.col("winner"))
    options: dict[str, Any] = {"outcome": "verdict", "cluster": "session", "outcomes": {"tie": None}}
    games, matches = nb.read_games(log, **options), nb.read_matches(log, **options)
    assert same_counts(games.matches(), matches)
    assert games.matches().clusters is not None
    assert matches.clusters is not None
    elo = nb.elo(games.matches()), nb.elo(matches)
    np.testing.assert_allclose(elo[0].stderr, elo[1].stderr)


def test_pgn_games_keep_their_order_and_dates() -> None:
    games = nb.read_games(FILES / "games.pgn")
    matches = nb.read_matches(FILES / "games.pgn")
    assert same_counts(games.matches(), matches)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"covariates": "lenght"}, "longer"),
        ({"covariates": "model_a"}, "no number"),
        ({"min_games": 3}, "after reading"),
    ],
)
def test_what_cannot_be_read_is_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(nb.InputError, match=message):
        nb.read_games(log_of(20), **options)


def test_counts_are_no_games() -> None:
    with pytest.raises(nb.InputError, match="one by one"):
        nb.read_games("dataset:alphago")
    with pytest.raises(nb.InputError, match="one by one"):
        nb.elo(nb.Matches.from_counts([[0, 1], [1, 0]]), covariates=["x"])
    with pytest.raises(nb.InputError, match="year first"):
        nb.read_games(log_of(20).with_columns(day=pl.lit("31/12/2024")), time="day").by_time()


def test_covariates_on_the_command_line(tmp_path: Path) -> None:
    log, path = log_of(400), tmp_path / "log.csv"
    log.write_csv(path)
    shown = run("elo", path, "--covariate", "longer", "--covariate", "same", "--first-advantage", "--draws", "davidson")
    for word in ("first side:", "longer:", "same:", "draws:"):
        assert word in shown.stdout
    elo = nb.elo(path, covariates=["longer", "same"], first_advantage=True, draws="davidson")
    assert elo.coefficients[0].sentence(" per unit") in shown.stdout
    assert "covariates move" in shown.stderr
    assert len(json.loads(run("elo", path, "--covariate", "longer", "--format", "json").stdout)["rows"]) == 6


def test_online_follows_pgn_and_logs_sorted_by_time(tmp_path: Path) -> None:
    state = tmp_path / "league.npz"
    run("online", FILES / "games.pgn", "--state", state)
    games = nb.read_games(FILES / "games.pgn")
    assert load(state).league.games == games.n_games
    run("online", FILES / "games.pgn", "--state", state)
    assert load(state).league.games == games.n_games
    log, path = log_of(300), tmp_path / "log.csv"
    log.write_csv(path)
    sorted_state = tmp_path / "sorted.npz"
    run("online", path, "--state", sorted_state, "--time", "when")
    model = nb.OnlineElo()
    model.update_many(log.sort("when"))
    np.testing.assert_allclose(load(sorted_state).league.sums, model.league.sums)
    for source, column in ((nb.read_games(path, time="when").by_time(), None), (path, "when")):
        direct = nb.OnlineElo()
        direct.update_many(source, time=column)
        np.testing.assert_allclose(direct.league.sums, model.league.sums)
    pgn = nb.OnlineElo()
    assert pgn.update_many(FILES / "games.pgn") == games.n_games


def test_a_log_that_inspect_reads_is_no_traceback_online(tmp_path: Path) -> None:
    path = tmp_path / "season.csv"
    path.write_text("winner,loser\nann,bob\ncat,bob\nann,cat\nbob,ann\n")
    run("online", path, "--state", tmp_path / "league.npz")
    assert load(tmp_path / "league.npz").league.games == 4


def test_an_effect_is_shown_with_the_digits_that_its_error_leaves() -> None:
    small = Coefficient(name="length", value=-0.0234, stderr=0.029)
    large = Coefficient(name="first side", value=35.26, stderr=4.0)
    assert small.sentence(" per unit") == "length: -0.023 Elo points per unit, 95% interval -0.080 to 0.033"
    assert large.sentence() == "first side: +35.3 Elo points, 95% interval 27.4 to 43.1"
