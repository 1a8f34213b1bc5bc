"""Battles of the public arenas: filters, both spellings of a double failure, sessions, one-hot outcomes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from data.formats.reading import FILES, counts, everything, left_out

ARENA = FILES / "chatbot_arena.json"
BATTLES = {
    ("claude-1", "gpt-4"): (0.0, 0.0, 1.0),
    ("claude-1", "vicuna-13b"): (0.0, 0.0, 1.0),
    ("gpt-4", "vicuna-13b"): (0.0, 2.0, 0.0),
}


@pytest.fixture
def battles() -> list[dict[str, Any]]:
    return list(json.loads(ARENA.read_text()))


def test_both_kinds_of_tie_are_draws_and_the_official_filters_apply() -> None:
    matches = nb.read_matches(ARENA)
    assert counts(matches) == BATTLES
    assert matches.origin.rows == 7
    assert left_out(matches) == [
        ("rows", 2, "the models were not anonymous"),
        ("rows", 1, "duplicate prompts (dedup_tag.sampled is false)"),
    ]


def test_the_period_is_that_of_the_battles_that_count() -> None:
    assert nb.read_matches(ARENA).origin.period == ("2023-04-24 15:53:11+00:00", "2023-04-24 15:56:40+00:00")


def test_the_first_releases_have_no_tag_for_duplicates(battles: list[dict[str, Any]], tmp_path: Path) -> None:
    older = [{key: value for key, value in battle.items() if key != "dedup_tag"} for battle in battles]
    (tmp_path / "clean_battle.json").write_text(json.dumps(older))
    matches = nb.read_matches(tmp_path / "clean_battle.json")
    assert matches.origin.format == "chatbot-arena"
    assert counts(matches) == BATTLES | {("claude-1", "gpt-4"): (1, 0, 1)}
    assert left_out(matches) == [("rows", 2, "the models were not anonymous")]


def test_a_release_without_anonymity_is_filtered_by_duplicates(battles: list[dict[str, Any]], tmp_path: Path) -> None:
    plain = [{key: value for key, value in battle.items() if key != "anony"} for battle in battles]
    (tmp_path / "battles.json").write_text(json.dumps(plain))
    matches = nb.read_matches(tmp_path / "battles.json")
    assert counts(matches) == BATTLES | {("claude-1", "gpt-4"): (1, 0, 1)}
    assert left_out(matches) == [("rows", 2, "duplicate prompts (dedup_tag.sampled is false)")]


def test_battles_read_the_same_from_json_lines_parquet_and_csv(battles: list[dict[str, Any]], tmp_path: Path) -> None:
    wanted = everything(nb.read_matches(ARENA))
    lines, parquet, text = (tmp_path / f"battles.{ending}" for ending in ("jsonl", "parquet", "csv"))
    lines.write_text("".join(json.dumps(battle) + "\n" for battle in battles))
    pl.DataFrame(battles).write_parquet(parquet)
    # pandas writes a nested object to csv as Python writes it
    flat = [{**battle, "conv_metadata": "", "dedup_tag": str(battle["dedup_tag"])} for battle in battles]
    pl.DataFrame(flat).write_csv(text)
    for file in (lines, parquet, text):
        assert everything(nb.read_matches(file)) == wanted, file.name


def test_battles_can_be_chosen_and_their_columns_given(battles: list[dict[str, Any]], tmp_path: Path) -> None:
    renamed = [battle | {"second_opinion": "model_b"} for battle in battles]
    (tmp_path / "battles.json").write_text(json.dumps(renamed))
    matches = nb.read_matches(
        tmp_path / "battles.json", where={"language": "English"}, outcome="second_opinion", cluster="judge"
    )
    assert counts(matches) == {
        ("claude-1", "gpt-4"): (1, 0, 0),
        ("claude-1", "vicuna-13b"): (0, 0, 1),
        ("gpt-4", "vicuna-13b"): (1, 0, 0),
    }
    assert left_out(matches)[2] == ("rows", 1, "language is not English")
    assert matches.clusters is not None
    assert matches.clusters.size == 3


def test_a_file_of_which_nothing_is_left_says_why(battles: list[dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "battles.json").write_text(json.dumps([battle | {"anony": False} for battle in battles]))
    with pytest.raises(nb.InputError, match="none of 7 rows is left: the models were not anonymous"):
        nb.read_matches(tmp_path / "battles.json")


def test_the_later_arena_spells_a_double_failure_another_way(lmarena: Path) -> None:
    matches = nb.read_matches(lmarena)
    assert counts(matches) == {
        ("claude", "gemini"): (1, 1, 0),
        ("claude", "gpt-4o"): (0, 1, 1),
        ("gemini", "gpt-4o"): (0, 0, 1),
    }
    assert (matches.origin.rows, matches.origin.left_out) == (5, ())
    assert matches.origin.period == ("2025-04-24 10:00:00", "2025-07-17 23:59:00")


def test_the_votes_of_a_session_are_a_cluster(lmarena: Path) -> None:
    split = nb.read_matches(lmarena).clusters
    assert split is not None
    assert split.size == 3
    games = np.bincount(split.cluster, weights=split.wins + split.draws + split.losses)
    assert games.tolist() == [2, 2, 1]


def test_another_cluster_can_be_given_for_the_later_arena(lmarena: Path) -> None:
    split = nb.read_matches(lmarena, cluster="language").clusters
    assert split is not None
    assert split.size == 2
    assert nb.read_matches(lmarena, cluster=False).clusters is None


def test_the_later_arena_reads_the_same_from_json_lines(lmarena: Path, tmp_path: Path) -> None:
    file = tmp_path / "votes.jsonl"
    pl.read_parquet(lmarena).drop("timestamp").write_ndjson(file)
    from_lines, from_parquet = nb.read_matches(file), nb.read_matches(lmarena)
    assert counts(from_lines) == counts(from_parquet)
    assert from_lines.origin.format == "lmarena"


def test_one_hot_outcomes_are_counted_and_fields_may_hold_commas_quotes_and_line_breaks() -> None:
    matches = nb.read_matches(FILES / "kaggle_55k.csv")
    assert counts(matches) == {
        ("gpt-3.5-turbo-0613", "koala-13b"): (1, 1, 0),
        ("gpt-3.5-turbo-0613", "llama-2-13b-chat"): (0, 0, 1),
        ("gpt-4-0613", "gpt-4-1106-preview"): (0, 0, 1),
        ("gpt-4-0613", "koala-13b"): (1, 0, 0),
    }
    assert matches.origin.rows == 5


HEADER = "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"


@pytest.mark.parametrize(
    ("marks", "label"),
    [
        ("0,0,0", "0 / 0 / 0"),
        ("1,1,0", "1 / 1 / 0"),
        ("1,,0", "1 / nothing / 0"),
        ("2,0,0", "nothing / 0 / 0"),
    ],
)
def test_a_row_without_exactly_one_mark_is_refused(marks: str, label: str, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(f"{HEADER}1,x,y,1,0,0\n2,x,y,{marks}\n")
    with pytest.raises(nb.InputError, match=f"has an unknown outcome: '{label}' in 1 row"):
        nb.read_matches(file)


@pytest.mark.parametrize("kind", [pl.Int8, pl.Float64, pl.Boolean])
def test_marks_may_be_integers_floats_or_truth_values(kind: type[pl.DataType], tmp_path: Path) -> None:
    marks = {"winner_model_a": [1, 0, 0], "winner_model_b": [0, 1, 0], "winner_tie": [0, 0, 1]}
    frame = pl.DataFrame({"model_a": ["x", "x", "x"], "model_b": ["y", "y", "z"], **marks})
    frame.cast(dict.fromkeys(marks, kind)).write_parquet(tmp_path / "log.parquet")
    assert counts(nb.read_matches(tmp_path / "log.parquet")) == {("x", "y"): (1, 0, 1), ("x", "z"): (0, 1, 0)}
