"""Sides: who was home, white or on the left is counted in every engine, and kept by select and merge."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nashboard as nb
from data.conftest import Columns, Engine, every_local_engine

SEASON: Columns = {
    "home_team": ["x", "y", "x", "z", "y"],
    "away_team": ["y", "x", "z", "x", "x"],
    "result": ["H", "D", "A", "H", "H"],
    "neutral": ["TRUE", "FALSE", "FALSE", None, "no"],
}


def sides_of(matches: nb.Matches) -> dict[tuple[str, str], tuple[list[float], list[float]]]:
    """Return the counts of the first agent of each pair, at home and away."""
    assert matches.sides is not None
    names = [(matches.agents[i], matches.agents[j]) for i, j in matches.pairs]
    parts = zip(matches.sides.first.tolist(), matches.sides.second.tolist(), strict=True)
    return dict(zip(names, parts, strict=True))


WANTED = {("x", "y"): ([0, 0, 0], [0, 1, 1]), ("x", "z"): ([0, 0, 1], [0, 0, 1])}


@every_local_engine
def test_sides_are_counted_where_the_data_is(engine: Engine) -> None:
    matches = nb.read_matches(engine(SEASON))
    assert sides_of(matches) == WANTED
    assert matches.n_games == 5
    assert "neutral 'neutral'" in matches.origin.taken[0].meaning


@every_local_engine
def test_neutral_may_be_true_and_false_themselves(engine: Engine) -> None:
    assert sides_of(nb.read_matches(engine(SEASON | {"neutral": [True, False, False, False, False]}))) == WANTED


def test_the_neutral_column_can_be_left_out_or_named() -> None:
    log = pl.DataFrame(SEASON)
    assert sides_of(nb.read_matches(log, neutral=False))["x", "y"] == ([1, 0, 0], [0, 1, 1])
    named = nb.read_matches(log.rename({"neutral": "abroad"}), neutral="abroad")
    assert sides_of(named) == WANTED
    with pytest.raises(
        nb.InputError, match=r"column 'neutral': 1 row has neither true nor false \(data row 2, .+ against .+\)"
    ):
        nb.read_matches(written(log.with_columns(neutral=pl.Series(["true", "perhaps", "false", "0", "1"]))))


def written(frame: pl.DataFrame) -> Path:
    import tempfile

    path = Path(tempfile.mkdtemp()) / "log.csv"
    frame.write_csv(path)
    return path


@pytest.mark.parametrize(
    "columns",
    [
        {"agent": ["x"], "opponent": ["y"], "result": ["win"]},
        {"agent_a": ["x"], "agent_b": ["y"], "wins": [3], "losses": [1]},
        {"generator_1": ["x"], "generator_2": ["y"], "preference": [1]},
        {"model_1": ["x"], "model_2": ["y"], "g1_winner": ["model_1"], "g2_winner": ["model_1"]},
    ],
)
def test_sides_are_unknown_where_the_first_column_is_no_side(columns: Columns) -> None:
    assert nb.read_matches(pl.DataFrame(columns)).sides is None


games = st.lists(
    st.tuples(
        st.sampled_from("abcd"), st.sampled_from("abcd"), st.sampled_from(["1", "0", "0.5"]), st.booleans()
    ).filter(lambda game: game[0] != game[1]),
    min_size=1,
    max_size=30,
)


@given(games=games, order=st.permutations("abcd"))
def test_selecting_and_merging_give_what_reading_the_renamed_log_gives(
    games: list[tuple[str, str, str, bool]], order: list[str]
) -> None:
    log = pl.DataFrame(games, schema=["white", "black", "result", "neutral"], orient="row")
    matches = nb.read_matches(log)
    assert matches.sides is not None
    total = matches.sides.first + matches.sides.second
    played = sum(not neutral for *_, neutral in games)
    assert total.sum() == played == matches.sides.played.sum()
    there = [name for name in order if name in matches.agents]
    selected = matches.select(there)
    assert selected.sides is not None
    for (i, j), first, second in zip(selected.pairs, selected.sides.first, selected.sides.second, strict=True):
        a, b = there[i], there[j]
        for side, counted in (((a, b), first), ((b, a), second)):
            met = [float(r) for w, k, r, neutral in games if (w, k) == side and not neutral]
            seen = met if side == (a, b) else [1 - r for r in met]
            assert counted.tolist() == [seen.count(1), seen.count(0.5), seen.count(0)]
    if {"a", "b"} <= set(there) and len(there) > 2:
        renamed = log.with_columns(pl.col("white", "black").replace({"b": "a"})).filter(
            pl.col("white") != pl.col("black")
        )
        if len(renamed):
            merged, again = matches.merge({"a": ["a", "b"]}), nb.read_matches(renamed)
            assert sides_of(merged.select(again.agents)) == sides_of(again)


def test_sides_that_count_more_games_than_there_are_refuse_a_replacement() -> None:
    matches = nb.read_matches(pl.DataFrame(SEASON))
    with pytest.raises(nb.InputError, match="sides count more games of 'x' against 'y' than there are"):
        replace(matches, losses=np.zeros(2), wins=np.ones(2))
    assert replace(matches, losses=np.zeros(2), wins=np.ones(2), sides=None).n_games == 3
