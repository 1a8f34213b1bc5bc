"""One awkward log, one awkward table of scores, every data frame library: the same answer to the last count."""

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nashboard as nb

LOG: dict[str, list[Any]] = {
    "model_a": ["x", "y", "z", "x", 'é, "q"', "x", "y", "z"],
    "model_b": ["y", "z", "x", "y", "🤖", "y", "x", "z"],
    "winner": ["model_a", "model_b", "tie", "MODEL_B", "tie (bothbad)", " model_a ", "both_bad", "tie"],
    "share": [1.0, 0.0, 0.5, 0.0, 0.25, 1.0, 0.75, 0.5],
    "weight": [1.0, 2.0, 1.0, 1.0, 0.5, 1.0, 3.0, 1.0],
    "tstamp": [1.7e9, 1.7e9 + 60, 1.7e9 + 120, 1.7e9 + 30, 1.7e9, 1.7e9, 1.7e9, 1.7e9],
    "session": ["s1", "s1", "s2", "s2", "s3", "s3", None, None],
    "language": ["en", "en", "de", "en", "en", "de", "en", "en"],
}
SCORES: dict[str, list[Any]] = {
    "model": ["x", "x", "x", "y", "y", "🤖"],
    "task": ["go", "go", "chess", "go", "chess", "go"],
    "score": [1.0, 2.0, 5.0, 4.0, None, 0.5],
    "lower_is_better": [False, False, True, False, True, False],
}


def from_duckdb(columns: dict[str, list[Any]]) -> Any:
    arrow = pa.table(columns)  # noqa: F841 # duckdb finds it by name
    return duckdb.sql("select * from arrow")


ENGINES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas with arrow types": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "pandas with categories": lambda columns: pd.DataFrame(columns).astype(
        {name: "category" for name in columns if name in ("model_a", "winner", "model", "task")}
    ),
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": from_duckdb,
}
SAME = {"self_matches": "drop", "weight": "weight"}


def counts(matches: nb.Matches) -> tuple[object, ...]:
    return (
        matches.agents,
        matches.pairs.tolist(),
        *(getattr(matches, k).tolist() for k in ("wins", "draws", "losses")),
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_labels_weights_and_self_matches_are_counted_the_same(engine: str) -> None:
    matches = nb.read_matches(ENGINES[engine](LOG), cluster="session", time="tstamp", **SAME)  # type: ignore[arg-type] # options by name
    assert counts(matches) == (
        ("x", "y", "z", 'é, "q"', "🤖"),
        [[0, 1], [0, 2], [1, 2], [3, 4]],
        [2, 0, 0, 0],
        [3, 1, 0, 0.5],
        [1, 0, 2, 0],
    )
    assert [(entry.count, entry.why) for entry in matches.origin.left_out] == [(1, "an agent met itself")]
    assert matches.origin.rows == 8
    assert matches.origin.period == ("2023-11-14 22:13:20+00:00", "2023-11-14 22:15:20+00:00")
    assert matches.clusters is not None
    assert matches.clusters.size == 4
    assert np.bincount(matches.clusters.pair, matches.clusters.wins).tolist() == matches.wins.tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_numbers_between_0_and_1_are_shares_of_a_point(engine: str) -> None:
    matches = nb.read_matches(ENGINES[engine](LOG), outcome="share", where={"language": "en"}, **SAME)  # type: ignore[arg-type] # options by name
    assert matches.n_games == 1 + 2 + 1 + 0.5 + 3
    assert matches.wins.tolist() == [1 + 0.25 * 3, 0, 0.25 * 0.5]
    assert matches.losses.tolist() == [1 + 0.75 * 3, 2, 0.75 * 0.5]
    assert [(entry.count, entry.why) for entry in matches.origin.left_out] == [
        (2, "language is not en"),
        (1, "an agent met itself"),
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_long_scores_are_averaged_over_runs_the_same(engine: str) -> None:
    scores = nb.read_scores(ENGINES[engine](SCORES))
    assert (scores.agents, scores.tasks) == (("x", "y", "🤖"), ("chess", "go"))
    np.testing.assert_array_equal(scores.values, [[5, 1.5], [np.nan, 4], [np.nan, 0.5]])
    np.testing.assert_allclose(scores.stderr, [[np.nan, 0.5], [np.nan, np.nan], [np.nan, np.nan]])
    assert scores.runs.tolist() == [[1, 2], [0, 1], [0, 1]]
    assert scores.lower_is_better.tolist() == [True, False]
    assert [(entry.count, entry.why) for entry in scores.origin.left_out] == [(1, "they have no score")]


@pytest.mark.parametrize("engine", ENGINES)
def test_wide_scores_keep_their_order_and_their_holes(engine: str) -> None:
    wide: dict[str, list[Any]] = {
        "agent": ["y", "x", "z"],
        "go": [1.0, 2.0, 3.0],
        "chess": [None, 5.0, 6.0],
        "average": [1.0, 3.5, 4.5],
    }
    scores = nb.read_scores(ENGINES[engine](wide))
    assert (scores.agents, scores.tasks) == (("y", "x", "z"), ("go", "chess"))
    np.testing.assert_array_equal(scores.values, [[1, np.nan], [2, 5], [3, 6]])
    assert str(scores.origin.left_out[0]) == "1 columns left out: computed from the others: 'average'"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("winner", "modelb", r"unknown outcome: 'modelb' in 1 row \(did you mean 'model_b'\?\)"),
        ("winner", None, "unknown outcome: nothing in 1 row"),
        ("model_a", None, "column 'model_a': 1 rows have no agent name"),
        ("model_a", "", "column 'model_a': 1 rows have no agent name"),
        ("weight", -1.0, "column 'weight': 1 rows have a weight that is missing, negative or not finite"),
        ("weight", float("inf"), "missing, negative or not finite"),
        ("weight", float("nan"), "missing, negative or not finite"),
        ("weight", None, "missing, negative or not finite"),
    ],
)
def test_mistakes_are_found_in_every_engine(engine: str, column: str, value: object, message: str) -> None:
    broken = {name: [value, *cells[1:]] if name == column else cells for name, cells in LOG.items()}
    with pytest.raises(nb.InputError, match=message):
        nb.read_matches(ENGINES[engine](broken), **SAME)  # type: ignore[arg-type] # options by name


@pytest.mark.parametrize("engine", ENGINES)
def test_reading_leaves_the_frame_unchanged(engine: str) -> None:
    frame = ENGINES[engine]({"a": ["x", "y"], "b": ["y", "x"], "winner": ["x", "draw"]})
    assert counts(nb.Matches.from_frame(frame)) == counts(nb.read_matches(frame))
    columns = (
        frame.collect_schema() if isinstance(frame, pl.LazyFrame) else getattr(frame, "column_names", frame.columns)
    )
    assert list(columns) == ["a", "b", "winner"]
    assert isinstance(nb.read(frame), nb.Matches)


def test_integer_agents_and_booleans_are_understood() -> None:
    frame = pl.DataFrame({"player_1": [1, 2], "player_2": [2, 3], "win": [True, False]})
    matches = nb.read_matches(frame)
    assert matches.agents == ("1", "2", "3")
    assert (matches.wins.tolist(), matches.losses.tolist()) == ([1, 0], [0, 1])


def test_a_frame_has_no_file_format() -> None:
    with pytest.raises(nb.InputError, match="format='csv' is for files"):
        nb.read_matches(pl.DataFrame(LOG), format="csv")
