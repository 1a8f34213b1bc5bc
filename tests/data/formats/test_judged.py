"""Matches decided by a judge model: AlpacaEval, arena-hard, MT-bench."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import nashboard as nb
from data.formats.reading import FILES, counts, everything, left_out

ALPACA, ARENA_HARD, MT_BENCH = (
    FILES / name for name in ("alpaca_eval.json", "arena_hard.jsonl", "mt_bench_pair.jsonl")
)


def annotations(*preferences: object) -> str:
    """AlpacaEval annotations of one pair."""
    return json.dumps([{"generator_1": "x", "generator_2": "y", "preference": value} for value in preferences])


def judgment(**fields: Any) -> str:
    """A line of arena-hard."""
    line = {"uid": "u", "category": "c", "judge": "j", "model": "x", "baseline": "y", "games": []}
    return json.dumps(line | fields) + "\n"


def pair(first: str | None, second: str | None) -> str:
    """A line of MT-bench."""
    line = {"question_id": 1, "model_1": "x", "model_2": "y", "judge": ["gpt-4", "pair-v2"], "turn": 1}
    return json.dumps(line | {"g1_winner": first, "g2_winner": second}) + "\n"


def test_alpaca_preferences_are_wins_losses_draws_and_fractions() -> None:
    matches = nb.read_matches(ALPACA)
    assert counts(matches) == {
        ("alpaca-7b", "text_davinci_003"): (1, 1, 1),
        ("claude", "text_davinci_003"): (0.75, 1, 0.25),
    }
    assert matches.origin.rows == 7


def test_alpaca_annotations_without_a_preference_are_left_out() -> None:
    assert left_out(nb.read_matches(ALPACA)) == [("rows", 2, "no preference was given")]


@pytest.mark.parametrize(
    ("preference", "expected"),
    [
        (1, (1, 0, 0)),
        (1.0, (1, 0, 0)),
        (2, (0, 0, 1)),
        (1.5, (0, 1, 0)),
        (0, (0, 1, 0)),
        (0.0, (0, 1, 0)),
        (1.25, (0.75, 0, 0.25)),
        ("2.0", (0, 0, 1)),
    ],
)
def test_an_alpaca_preference_has_one_meaning(
    preference: object, expected: tuple[float, float, float], tmp_path: Path
) -> None:
    (tmp_path / "annotations.json").write_text(annotations(preference))
    assert counts(nb.read_matches(tmp_path / "annotations.json")) == {("x", "y"): expected}


@pytest.mark.thin(2)
@pytest.mark.parametrize("preference", [0.7, 3, -1, 2.01, "first"])
def test_an_alpaca_preference_without_meaning_is_refused_with_its_value(preference: object, tmp_path: Path) -> None:
    (tmp_path / "annotations.json").write_text(annotations(1, preference, None))
    with pytest.raises(nb.InputError, match=f"column 'preference' has an unknown outcome: 'preference {preference}"):
        nb.read_matches(tmp_path / "annotations.json")


def test_alpaca_annotations_read_the_same_from_json_lines_and_parquet(tmp_path: Path) -> None:
    rows = json.loads(ALPACA.read_text(), parse_constant=lambda _: None)
    flat = [{key: value for key, value in row.items() if key != "raw_completion"} for row in rows]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pl.DataFrame(flat, infer_schema_length=None, strict=False).write_parquet(tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.parquet"):
        assert everything(nb.read_matches(tmp_path / name)) == everything(nb.read_matches(ALPACA)), name


def test_a_column_of_alpaca_preferences_can_be_given(tmp_path: Path) -> None:
    file = tmp_path / "annotations.json"
    file.write_text(json.dumps([{"generator_1": "x", "generator_2": "y", "preference": 1, "second_judge": 1.75}]))
    assert counts(nb.read_matches(file, outcome="second_judge")) == {("x", "y"): (0.25, 0, 0.75)}


def test_alpaca_annotations_can_be_chosen_by_data_set() -> None:
    matches = nb.read_matches(ALPACA, where={"dataset": "helpful_base"})
    assert counts(matches) == {("alpaca-7b", "text_davinci_003"): (0, 0, 1)}
    assert left_out(matches)[1] == ("rows", 4, "dataset is not helpful_base")


def test_nan_in_json_lines_is_refused_with_its_line(tmp_path: Path) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in json.loads(annotations(1, float("nan"))))
    (tmp_path / "a.jsonl").write_text(lines)
    with pytest.raises(nb.InputError, match="line 2' contains NaN, which is not valid json: write null"):
        nb.read_matches(tmp_path / "a.jsonl")


def test_the_second_game_of_arena_hard_has_the_sides_swapped_and_clear_verdicts_count_three_times() -> None:
    matches = nb.read_matches(ARENA_HARD)
    assert counts(matches) == {
        ("gemini-2.0-flash", "qwen3-32b"): (0, 0, 1),
        ("gemma-3-27b", "o3-mini"): (1, 1, 3),
        ("o3-mini", "qwen3-32b"): (3, 1, 4),
    }


def test_games_of_arena_hard_without_a_verdict_are_left_out() -> None:
    matches = nb.read_matches(ARENA_HARD)
    assert matches.origin.rows == 5  # lines, of two games each
    assert left_out(matches) == [("games", 2, "the judge gave no verdict")]
    assert matches.origin.notes == (
        "every match has the baseline: agents are compared only through it",
        "a clear verdict (>>) counts three times",
    )


# of the first game, in which the baseline y is A: what the model x takes from it
VERDICTS: dict[str, tuple[float, float, float]] = {
    "A>>B": (0, 0, 3),
    "A>B": (0, 0, 1),
    "A=B": (0, 1, 0),
    "B>A": (1, 0, 0),
    "B>>A": (3, 0, 0),
    "A<B": (1, 0, 0),
    "A<<B": (3, 0, 0),
    "B<A": (0, 0, 1),
    "B<<A": (0, 0, 3),
    "B=A": (0, 1, 0),
}


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_verdict_of_arena_hard_has_one_meaning(verdict: str, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(judgment(games=[{"score": verdict}, {"score": "A=B"}]))
    wins, draws, losses = VERDICTS[verdict]
    assert counts(nb.read_matches(tmp_path / "x.jsonl")) == {("x", "y"): (wins, draws + 1, losses)}


def test_an_unknown_verdict_of_arena_hard_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(judgment(games=[{"score": "A>B"}, {"score": "A>=B"}]))
    with pytest.raises(nb.InputError, match="column 'verdict' has an unknown outcome: 'A>=B' in 1 row"):
        nb.read_matches(tmp_path / "x.jsonl")


def test_a_judgment_with_one_game_has_one_verdict(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(judgment(games=[{"score": "A>B"}]))
    matches = nb.read_matches(tmp_path / "x.jsonl")
    assert counts(matches) == {("x", "y"): (0, 0, 1)}
    assert left_out(matches) == [("games", 1, "the judge gave no verdict")]


def test_the_games_of_one_prompt_of_arena_hard_are_a_cluster() -> None:
    found = nb.read_matches(ARENA_HARD)
    assert found.clusters is not None
    prompts = {json.loads(line)["uid"] for line in ARENA_HARD.read_text(encoding="utf-8").splitlines()}
    assert found.clusters.size == len(prompts)
    assert nb.read_matches(ARENA_HARD, cluster=False).clusters is None


def test_alpaca_annotations_name_the_columns_of_the_file() -> None:
    facts = str(nb.read_matches(ALPACA).origin.taken)
    assert "preference" in facts
    assert not any(repr(name) in facts for name in ("rated", "share", "unknown"))


def test_judgments_of_arena_hard_can_be_chosen_and_clustered() -> None:
    matches = nb.read_matches(ARENA_HARD, where={"category": "hard_prompt"}, cluster="uid")
    assert set(counts(matches)) == {("gemma-3-27b", "o3-mini"), ("o3-mini", "qwen3-32b")}
    assert left_out(matches)[1] == ("games", 1, "category is not hard_prompt")
    assert matches.clusters is not None
    assert matches.clusters.size == 2


def test_judgments_of_arena_hard_read_the_same_from_parquet(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in ARENA_HARD.read_text().splitlines()]
    slim = [row | {"games": [game and {"score": game["score"]} for game in row["games"]]} for row in rows]
    pl.DataFrame(slim).write_parquet(tmp_path / "judgments.parquet")
    assert everything(nb.read_matches(tmp_path / "judgments.parquet")) == everything(nb.read_matches(ARENA_HARD))


def test_a_wide_table_of_scores_with_such_columns_is_not_arena_hard(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("model,baseline,games\nx,1,2\ny,3,4\n")
    assert nb.read_scores(tmp_path / "table.csv").origin.format == "scores-wide"


def test_the_two_games_of_mt_bench_must_agree() -> None:
    matches = nb.read_matches(MT_BENCH)
    assert counts(matches) == {
        ("alpaca-13b", "claude-v1"): (0, 1, 0),
        ("alpaca-13b", "gpt-4"): (0, 1, 1),
        ("claude-v1", "gpt-4"): (1, 1, 0),
    }
    assert matches.origin.rows == 7
    assert matches.origin.notes == ("where the two games of a pair disagree the match is a draw",)


def test_failures_of_the_mt_bench_judge_are_left_out() -> None:
    matches = nb.read_matches(MT_BENCH)
    assert left_out(matches) == [("rows", 2, "the judge failed (error)")]
    assert matches.origin.period == ("2023-06-20 00:56:50+00:00", "2023-06-20 00:57:40+00:00")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("model_1", "model_1", (1, 0, 0)),
        ("model_2", "model_2", (0, 0, 1)),
        ("tie", "tie", (0, 1, 0)),
        ("model_1", "model_2", (0, 1, 0)),
        ("model_1", "tie", (0, 1, 0)),
    ],
)
def test_two_verdicts_of_mt_bench_make_one(
    first: str, second: str, expected: tuple[float, float, float], tmp_path: Path
) -> None:
    (tmp_path / "pairs.jsonl").write_text(pair(first, second))
    assert counts(nb.read_matches(tmp_path / "pairs.jsonl")) == {("x", "y"): expected}


def test_an_unknown_winner_of_mt_bench_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text(pair("model_1", "model_1") + pair("model_1", "modell_2"))
    with pytest.raises(nb.InputError, match="unknown outcome: 'model_1 / modell_2' in 1 row"):
        nb.read_matches(tmp_path / "pairs.jsonl")


def test_turns_of_mt_bench_can_be_chosen_and_questions_kept_together() -> None:
    matches = nb.read_matches(MT_BENCH, where={"turn": 1}, cluster="question_id")
    assert counts(matches)["claude-v1", "gpt-4"] == (1, 0, 0)
    assert matches.clusters is not None
    assert matches.clusters.size == 4
