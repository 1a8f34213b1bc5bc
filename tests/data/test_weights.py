"""A column of weights: taken by its name and said to be, switched off, and what intervals make of it."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import nashboard as nb

TAKEN = "column 'weight' is used: a row of weight 2 counts as two matches"
UNEVEN = "weights in 'weight' are not whole numbers"
GAMES: dict[str, list[Any]] = {"model_a": ["x", "x"], "model_b": ["y", "y"], "winner": ["model_a", "model_b"]}


def log(weighed: list[Any], **others: list[Any]) -> pl.DataFrame:
    return pl.DataFrame({**GAMES, "weight": weighed, **others})


def noted(matches: nb.Matches, start: str) -> bool:
    return any(note.startswith(start) for note in matches.origin.notes)


def in_duckdb(frame: pl.DataFrame) -> Any:
    return duckdb.sql("select * from frame")


@pytest.mark.parametrize("make", [lambda frame: frame, pl.DataFrame.to_pandas, in_duckdb])
def test_a_weight_that_nobody_asked_for_is_told_and_one_that_was_asked_for_is_not(make: Any) -> None:
    frame = make(log([2, 3]))
    assert noted(nb.read_matches(frame), TAKEN)
    assert not noted(nb.read_matches(frame, weight="weight"), "column")
    assert nb.read_matches(frame).n_games == nb.read_matches(frame, weight="weight").n_games == 5


@pytest.mark.parametrize("off", [False, "none", "None", "false"])
def test_a_weight_can_be_switched_off(off: Any, tmp_path: Path) -> None:
    log([2, 3]).write_csv(tmp_path / "log.csv")
    for source in (log([2, 3]), tmp_path / "log.csv"):
        matches = nb.read_matches(source, weight=off)
        assert matches.n_games == 2
        assert matches.origin.notes == ()


def test_weights_that_are_no_numbers_do_not_matter_where_they_are_switched_off() -> None:
    assert nb.read_matches(log(["heavy", "light"]), weight=False).n_games == 2


@pytest.mark.parametrize("off", [False, "none"])
def test_clusters_and_times_can_be_switched_off_too(off: Any) -> None:
    frame = pl.DataFrame({**GAMES, "cluster": ["p", "q"], "date": ["2026-01-01", "2026-02-01"]})
    taken, left = nb.read_matches(frame), nb.read_matches(frame, cluster=off, time=off)
    assert taken.clusters is not None
    assert taken.origin.period == ("2026-01-01", "2026-02-01")
    assert left.clusters is None
    assert left.origin.period is None


def test_a_column_that_is_called_none_is_that_column() -> None:
    assert nb.read_matches(log([2, 3], none=[7, 8]), weight="none").n_games == 15
    with pytest.raises(nb.InputError, match="has no column ''"):
        nb.read_matches(log([2, 3]), weight="")


def test_of_two_columns_of_weights_none_need_be_chosen() -> None:
    with pytest.raises(nb.InputError, match="several columns that may be the weight"):
        nb.read_matches(log([2, 3], weights=[1, 1]))
    assert nb.read_matches(log([2, 3], weights=[1, 1]), weight=False).n_games == 2


@pytest.mark.parametrize("make", [lambda frame: frame, pl.DataFrame.to_pandas, in_duckdb])
def test_weights_that_are_no_numbers_of_games_are_told(make: Any) -> None:
    assert noted(nb.read_matches(make(log([0.5, 2]))), UNEVEN)
    assert noted(nb.read_matches(make(log([0.5, 2])), weight="weight"), UNEVEN)
    assert not noted(nb.read_matches(make(log([1.0, 2.0]))), UNEVEN)


def test_only_the_rows_that_count_say_what_weights_are() -> None:
    frame = log([0.5, 2], language=["en", "de"])
    assert not noted(nb.read_matches(frame, where={"language": "de"}), UNEVEN)
    assert noted(nb.read_matches(frame, where={"language": "en"}), UNEVEN)
    assert not noted(nb.read_matches(frame, outcomes={"model_a": None}), UNEVEN)
    parts = nb.read_segments(frame, "language").parts
    assert [noted(part, UNEVEN) for part in parts.values() if isinstance(part, nb.Matches)] == [False, True]


def test_clusters_make_intervals_that_do_not_depend_on_the_unit_of_weights() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 4, 300)
    second = (first + rng.integers(1, 4, 300)) % 4
    won = np.where(rng.random(300) < 0.5 + 0.1 * (first - second), "a", "b")
    rows = pl.DataFrame({"a": list(map("p{}".format, first)), "b": list(map("p{}".format, second)), "winner": won})
    rows = rows.with_columns(weight=rng.random(300) + 0.5).with_row_index("row")
    light, heavy = rows, rows.with_columns(pl.col("weight") * 7)
    apart = [nb.elo(nb.read_matches(frame, cluster="row"), prior=0).stderr for frame in (light, heavy)]
    np.testing.assert_allclose(apart[0], apart[1], rtol=1e-6)
    counted = [nb.elo(nb.read_matches(frame), prior=0).stderr for frame in (light, heavy)]
    np.testing.assert_allclose(counted[0], counted[1] * np.sqrt(7), rtol=1e-6)
    assert not noted(nb.read_matches(light, cluster="row"), UNEVEN)


def test_numbers_of_games_that_a_format_counts_cannot_be_switched_off(tmp_path: Path) -> None:
    pd.DataFrame({"agent_a": ["x"], "agent_b": ["y"], "wins": [3], "losses": [1]}).to_csv(tmp_path / "counts.csv")
    assert nb.read_matches(tmp_path / "counts.csv").origin.notes == ()
    with pytest.raises(nb.InputError, match="weight=False has no meaning for pair-counts"):
        nb.read_matches(tmp_path / "counts.csv", weight=False)


def test_a_league_takes_no_weights_where_they_are_switched_off() -> None:
    leagues = [nb.OnlineElo(), nb.OnlineElo(), nb.OnlineElo()]
    leagues[0].update_many(log([4, 4]), weight=False)
    leagues[1].update_many(log([1, 1]))
    leagues[2].update_many(log([4, 4]))
    assert leagues[0].predict("x", "y") == leagues[1].predict("x", "y") != leagues[2].predict("x", "y")
