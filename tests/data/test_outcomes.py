"""What the labels of a log mean."""

from pathlib import Path

import polars as pl
import pytest

import nashboard as nb
from nashboard.data import counting

WORDS: dict[float, list[object]] = {
    1.0: ["model_a", "left", "a", "win", "1-0", "1", "1.0", "player_1", "White", "WON", True],
    0.0: ["model_b", "right", "b", "loss", "0-1", "0", "0.0", "player_2", "Black", "lost", False],
    0.5: ["tie", "tie (bothbad)", "both_bad", "draw", "1/2-1/2", "½-½", "0.5", "Tie", " draw  ", "d"],
}


@pytest.mark.parametrize(("share", "word"), [(share, word) for share, words in WORDS.items() for word in words])
def test_a_usual_word_has_its_usual_meaning(share: float, word: object) -> None:
    matches = nb.read_matches(pl.DataFrame({"a": ["x"], "b": ["y"], "winner": [word]}))
    assert (matches.wins[0], matches.draws[0]) == {1.0: (1, 0), 0.0: (0, 0), 0.5: (0, 1)}[share]


def test_the_winner_may_stand_there_by_name() -> None:
    frame = pl.DataFrame({"a": ["x", "y", "z"], "b": ["y", "z", "left"], "winner": ["x", "tie", "left"]})
    matches = nb.read_matches(frame)
    assert matches.agents == ("left", "x", "y", "z")
    assert matches.win_rates()[matches.agents.index("left"), matches.agents.index("z")] == 1


def test_a_rule_gives_a_label_its_meaning_or_leaves_it_out() -> None:
    frame = pl.DataFrame({"a": ["x"] * 4, "b": ["y"] * 4, "result": ["Alpha", "beta", "aborted", None]})
    rules = {"alpha": 1, "beta": 0.25, "aborted": None, "": None}
    matches = nb.read_matches(frame, outcomes=rules)
    assert (matches.wins.tolist(), matches.losses.tolist()) == ([1.25], [0.75])
    assert str(matches.origin.left_out[0]) == "2 rows left out: their outcome was to be ignored"


def test_a_rule_for_numbers_replaces_their_meaning() -> None:
    frame = pl.DataFrame({"a": ["x"] * 3, "b": ["y"] * 3, "outcome": [1, 2, 3]})
    matches = nb.read_matches(frame, outcomes={1: 1, 2: 0, 3: 0.5})
    assert (matches.wins[0], matches.draws[0], matches.losses[0]) == (1, 1, 1)


def test_a_rule_outside_0_to_1_is_refused() -> None:
    with pytest.raises(nb.InputError, match=r"outcomes= gives 'x' the value 2: use a number in \[0, 1\], or None"):
        nb.read_matches(pl.DataFrame({"a": ["x"], "b": ["y"], "winner": ["x"]}), outcomes={"x": 2})


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_a_label_that_first_appears_late_is_understood_too(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "SAMPLE", 3)
    log = pl.DataFrame({"a": ["x"] * 6, "b": ["y"] * 6, "winner": ["model_a"] * 4 + ["Draw", "model_b"]})
    numbers = log.with_columns(winner=pl.Series(["1", "0", "1", "0.25", "draw", "0.5"]))
    for frame, expected in ((log, (4, 1, 1)), (numbers, (2.25, 2, 1.75))):
        path = tmp_path / f"log.{kind}"
        getattr(frame, {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}[kind])(path)
        matches = nb.read_matches(path)
        assert (matches.wins[0], matches.draws[0], matches.losses[0]) == expected


def test_an_unknown_label_is_counted_over_the_whole_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "SAMPLE", 3)
    path = tmp_path / "log.csv"
    path.write_text("a,b,winner\n" + "x,y,a\n" * 2 + "x,y,stalemate\n" * 1234)
    with pytest.raises(nb.InputError, match="'stalemate' in 1,234 rows"):
        nb.read_matches(path)
