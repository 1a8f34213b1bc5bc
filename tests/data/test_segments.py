"""Segments in every engine: one pass counts them all, each is what a filter would give, and no row is forgotten."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from data.conftest import Columns, Engine, every_engine, every_local_engine
from data.formats.reading import counts, left_out

LOG: Columns = {
    "model_a": ["x", "y", "x", "z", "x", "x", "y", "x"],
    "model_b": ["y", "x", "z", "x", "y", "y", "x", "y"],
    "winner": ["model_a", "tie", "model_b", "model_b", "Tie", "model_a", "model_a", "model_b"],
    "weight": [1.0, 0.5, 2.0, 1.0, 0.25, 1.0, 1.0, 4.0],
    "language": ["en", "en", "日本語", "日本語", "en", None, " ", "de"],
    "season": [1.0, 2.0, 1.0, 2.0, 1.0, 1.0, None, 2.0],
}
SCORES: Columns = {
    "model": ["x", "x", "y", "x", "y", "y", "y"],
    "task": ["go", "go", "go", "go", "go", "go", "chess"],
    "score": [1.0, 3.0, 4.0, 7.0, None, 8.0, 9.0],
    "language": ["en", "en", "en", "de", "de", None, "de"],
}


@every_engine
def test_the_segments_of_a_log_are_counted_apart(engine: Engine) -> None:
    segments = nb.read_segments(engine(LOG), "language", weight="weight", where={"season": 1})
    assert {value: counts(part) for value, part in segments.parts.items() if isinstance(part, nb.Matches)} == {
        "en": {("x", "y"): (1, 0.25, 0)},
        "日本語": {("x", "z"): (0, 0, 2)},
    }
    assert left_out(segments.parts["en"]) == [("rows", 1, "season is not 1")]
    assert (segments.without, segments.refused) == (1, {})
    assert repr(segments) == "Segments(2 by 'language', 1 row without a value)"
    assert "1 row has no language: in no segment" in str(segments)


@every_local_engine
def test_a_segment_is_what_a_filter_gives(engine: Engine) -> None:
    for column, values in {"language": ["de", "en", "日本語"], "season": ["1", "2"]}.items():
        segments = nb.read_segments(engine(LOG), column)
        assert list(segments.parts) == values
        for value, part in segments.parts.items():
            assert isinstance(part, nb.Matches)
            assert counts(part) == counts(nb.read_matches(pl.DataFrame(LOG), where={column: value}))
            assert f"only rows where {column} is {value}" in part.origin.notes
        assert segments.without == {"language": 2, "season": 1}[column]


@every_local_engine
def test_the_segments_of_a_long_table_of_scores_are_averaged_apart(engine: Engine) -> None:
    segments = nb.read_segments(engine(SCORES), "language")
    english, german = segments.parts["en"], segments.parts["de"]
    assert isinstance(english, nb.Scores)
    assert isinstance(german, nb.Scores)
    assert (english.agents, english.values.tolist(), english.runs.tolist()) == (("x", "y"), [[2], [4]], [[2], [1]])
    np.testing.assert_array_equal(german.values, [[np.nan, 7], [9, np.nan]])
    assert left_out(german) == [("rows", 1, "no score")]
    assert segments.without == 1


def test_a_segment_that_cannot_be_read_is_refused_and_the_others_stand() -> None:
    alone = pl.DataFrame(LOG | {"weight": [0.0 if value == "de" else 1.0 for value in LOG["language"]]})
    segments = nb.read_segments(alone, "language")
    assert list(segments.parts) == ["en", "日本語"]
    assert "contains no match with an outcome and a weight above zero" in str(segments.refused["de"])
    with pytest.raises(nb.InputError, match="unknown outcome: 'modle_a' in 1 row"):
        nb.read_segments(pl.DataFrame(LOG | {"winner": ["modle_a", *LOG["winner"][1:]]}), "language")


@pytest.mark.parametrize(
    ("column", "options", "message"),
    [
        ("lang", {}, r"has no column 'lang' \(did you mean 'language'\?\)"),
        ("number", {}, "column 'number' has more than 100 values: segments are for columns with up to 100"),
        ("number", {"most": 120}, "column 'number' has more than 120 values"),
        ("language", {"wher": {}}, r"there is no option 'wher' \(did you mean 'where'\?\)"),
        ("language", {"segment": "x"}, "there is no option 'segment'"),
    ],
)
def test_a_wrong_column_of_segments_is_told(column: str, options: dict[str, Any], message: str) -> None:
    rows = 150
    log = {name: (cells * rows)[:rows] for name, cells in LOG.items()} | {"number": list(range(rows))}
    with pytest.raises(nb.InputError, match=message):
        nb.read_segments(pl.DataFrame(log), column, **options)


def test_what_is_no_table_of_rows_has_no_segments(tmp_path: Path) -> None:
    wide = pl.DataFrame({"agent": ["x", "y"], "go": [1.0, 2.0], "language": [1.0, 2.0]})
    with pytest.raises(nb.InputError, match="'segment' has no meaning for scores-wide"):
        nb.read_segments(wide, "language")
    with pytest.raises(nb.InputError, match="segments are the values of a column of a table: 'dataset:atari'"):
        nb.read_segments("dataset:atari", "language")
    (tmp_path / "games.pgn").write_text('[White "x"]\n[Black "y"]\n[Result "1-0"]\n\n1. e4 1-0\n')
    with pytest.raises(nb.InputError, match="'segment' has no meaning for pgn"):
        nb.read_segments(tmp_path / "games.pgn", "white")


def test_pair_counts_are_segments_too() -> None:
    table = pl.DataFrame(
        {"a": ["x", "x", "x"], "b": ["y", "y", "y"], "wins": [1, 2, 3], "losses": [0, 1, 0], "season": ["1", "2", None]}
    )
    segments = nb.read_segments(table, "season")
    assert {value: part.origin.rows for value, part in segments.parts.items()} == {"1": 1, "2": 1}
    assert segments.without == 1
