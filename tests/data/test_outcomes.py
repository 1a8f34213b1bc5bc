"""What the labels of a log mean."""

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import nashboard as nb
from data.formats.reading import counts
from nashboard.data.counting import pairs

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
    assert str(matches.origin.left_out[0]) == "2 rows left out: outcomes= ignores their label"


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
    monkeypatch.setattr(pairs, "SAMPLE", 3)
    log = pl.DataFrame({"a": ["x"] * 6, "b": ["y"] * 6, "winner": ["model_a"] * 4 + ["Draw", "model_b"]})
    numbers = log.with_columns(winner=pl.Series(["1", "0", "1", "0.25", "draw", "0.5"]))
    for frame, expected in ((log, (4, 1, 1)), (numbers, (2.25, 2, 1.75))):
        path = tmp_path / f"log.{kind}"
        getattr(frame, {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}[kind])(path)
        matches = nb.read_matches(path)
        assert (matches.wins[0], matches.draws[0], matches.losses[0]) == expected


def test_an_unknown_label_is_counted_over_the_whole_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "SAMPLE", 3)
    path = tmp_path / "log.csv"
    path.write_text("a,b,winner\n" + "x,y,a\n" * 2 + "x,y,stalemate\n" * 1234)
    with pytest.raises(nb.InputError, match="'stalemate' in 1,234 rows"):
        nb.read_matches(path)


@pytest.mark.parametrize(
    ("share", "word"),
    [
        (1, "Model A"), (1, "model-a"), (0, "model b"), (0, "Player-2"), (1, "a_wins"), (0.5, "both bad"),
        (0.5, "Both-Bad"), (0.5, "both good"), (0.5, "both_good"), (0.5, "tie (both good)"), (0.5, "Tie (both_bad)"),
    ],
)  # fmt: skip
def test_spaces_underscores_and_hyphens_are_alike_in_words(share: float, word: str) -> None:
    matches = nb.read_matches(pl.DataFrame({"a": ["x"], "b": ["y"], "winner": [word]}))
    assert (matches.wins[0], matches.draws[0]) == {1: (1, 0), 0: (0, 0), 0.5: (0, 1)}[share]


@pytest.mark.parametrize(
    ("sides", "label", "share"),
    [
        ("model_a model_b", "Assistant B wins", 0), ("model_a model_b", "[[A]]", 1), ("model_a model_b", "[[C]]", 0.5),
        ("model_a model_b", "A>>B", 1), ("model_a model_b", "both are bad", None), ("model_a model_b", "Both Bad", 0.5),
        ("player1 player2", "2", 0), ("R_fighter B_fighter", "Red", 1), ("R_fighter B_fighter", "Blue", 0),
        ("home_team away_team", "A", 0), ("left_model right_model", "L", 1), ("black white", "B", 1),
        ("blueTeam redTeam", "red", 0), ("team_1 team_2", "3-2", 1), ("team_1 team_2", "1:4", 0),
        ("white black", "1-0", 1), ("white black", "W", 1), ("radiant dire", "dire", 0),
        ("first second", "Response 1 is better", 1),
    ],
)  # fmt: skip
def test_a_label_is_understood_by_its_words_and_by_the_names_of_the_sides(
    sides: str, label: str, share: float | None
) -> None:
    a, b = sides.split()
    log = pl.DataFrame({a: ["x"], b: ["y"], "winner": [label]})
    if share is None:
        with pytest.raises(nb.InputError, match="unknown outcome"):
            nb.read_matches(log, a=a, b=b)
    else:
        assert counts(nb.read_matches(log, a=a, b=b))["x", "y"] == (share == 1, share == 0.5, share == 0)


def test_two_beside_nought_is_not_taken_for_the_second_side() -> None:
    log = pl.DataFrame({"player1": ["x", "x"], "player2": ["y", "y"], "winner": ["0", "2"]})
    with pytest.raises(nb.InputError, match=r"outside \[0, 1\]: '2'"):
        nb.read_matches(log)


def test_a_word_that_is_an_agents_name_stays_its_name() -> None:
    frame = pl.DataFrame({"a": ["Player 1", "Player 2"], "b": ["Player 2", "Player 1"], "winner": ["Player 1"] * 2})
    assert nb.read_matches(frame).wins.tolist() == [2]


def test_a_word_for_a_side_follows_the_columns_that_the_user_named() -> None:
    frame = pl.DataFrame({"model_a": ["x"], "model_b": ["y"], "winner": ["Model A"]})
    assert nb.read_matches(frame, a="model_b", b="model_a").wins.tolist() == [1]
    torn = frame.rename({"model_a": "team 1", "model_b": "team-1"}).with_columns(winner=pl.lit("team_1"))
    assert nb.read_matches(torn, a="team 1", b="team-1").wins.tolist() == [1]  # as everywhere else
    with pytest.raises(nb.InputError, match="unknown outcome: 'team__1'"):
        nb.read_matches(torn.with_columns(winner=pl.lit("team__1")), a="team 1", b="team-1")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["stale mate"], r"rule such as outcomes={'stale mate': 0\.5}"),
        (["modelb"], r"did you mean 'model_b'\?\).* such as outcomes={'modelb': 0}"),
        (["drawwn"], r"such as outcomes={'drawwn': 0\.5}"),
        (["a,b"], r"such as outcomes={'a,b': 0\.5}"),
        (["1", "2"], r": if 1 and 2 say that the first or the second agent won, pass outcomes={'1': 1, '2': 0}"),
        (["1", "2", "0", "tie"], r"won, and 0 that neither did, pass outcomes={'1': 1, '2': 0, '0': 0\.5}"),
        (["10", "1"], r"outside \[0, 1\]: '10' in 1 row \(data row 1, 'x' against 'y'\); .*divide by the largest, or"),
    ],
)  # fmt: skip
def test_the_advice_about_an_unknown_label_can_be_followed(labels: list[str], message: str) -> None:
    frame = pl.DataFrame({"a": ["x"] * len(labels), "b": ["y"] * len(labels), "winner": labels})
    with pytest.raises(nb.InputError, match=f"{message}.*, or leave such rows out with bad_rows='skip'$"):
        nb.read_matches(frame)


def test_the_advised_rule_for_1_and_2_reads_them(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["x"] * 3, "b": ["y"] * 3, "winner": [1, 2, 2]})
    frame.write_csv(tmp_path / "log.csv")
    for source in (frame, tmp_path / "log.csv"):
        with pytest.raises(nb.InputError, match=r"pass outcomes={'1': 1, '2': 0}"):
            nb.read_matches(source)
        matches = nb.read_matches(source, outcomes={"1": 1, "2": 0})
        assert (matches.wins[0], matches.losses[0]) == (1, 2)


def test_headers_in_the_middle_are_left_out_of_files_and_of_frames(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("a,b,score\nx,y,0.3\na,b,score\nx,y,1\na,b,score\n")
    for source in (path, pl.read_csv(path), pl.read_csv(path).to_pandas()):
        found = nb.read_matches(source)
        assert (found.agents, found.n_games) == (("x", "y"), 2)
        assert str(found.origin.left_out[0]) == "2 rows left out: the header again (data rows 2, 4)"


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet", "duckdb"])
def test_a_rule_for_a_label_that_no_row_has_is_told(kind: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["x"] * 3, "b": ["y"] * 3, "winner": ["tie", "a", "hm"]})
    source: Any = frame
    if kind == "duckdb":
        source = duckdb.sql("select * from frame")
    elif kind != "frame":
        source = tmp_path / f"log.{kind}"
        getattr(frame, f"write_{kind}")(source)
    matches = nb.read_matches(source, outcomes={"tei": None, "HM": 0.5, "1": 1})
    assert matches.origin.notes == (
        "no row has the label 'tei' (did you mean 'tie'?): the rule for it changes nothing",
        "no row has the label '1': the rule for it changes nothing",
    )
    assert nb.read_matches(source, outcomes={"Tie": None, "hm": 0.5}).origin.notes == ()


def test_a_label_that_first_appears_late_is_none_that_no_row_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "SAMPLE", 2)
    path = tmp_path / "log.csv"
    path.write_text("a,b,winner\n" + "x,y,a\n" * 3 + "x,y,hm\nx,y,b\n")
    rules = {"hm": 0.5, "": None, "b": 0, "oh": 0}
    assert nb.read_matches(path, outcomes=rules).origin.notes == (
        "no row is without an outcome: the rule for it changes nothing",
        "no row has the label 'oh': the rule for it changes nothing",
    )
    path.write_text("a,b,winner\n" + "x,y,x\n" * 3 + "z,y,z\n")  # winners by name: the vocabulary is not learnt again
    assert nb.read_matches(path, outcomes={"z": 1}).origin.notes == ()


def test_rows_that_are_left_out_may_have_the_label_of_a_rule() -> None:
    frame = pl.DataFrame({"a": ["x"] * 2, "b": ["y"] * 2, "winner": ["a", "hm"], "language": ["en", "de"]})
    matches = nb.read_matches(frame, where={"language": "en"}, outcomes={"hm": None})
    assert matches.origin.notes == ("no row that is kept has the label 'hm': the rule for it changes nothing",)


def test_a_rule_that_leaves_games_out_is_none_that_no_game_has(tmp_path: Path) -> None:
    game = '[White "x"]\n[Black "{}"]\n[Result "{}"]\n\n{}\n\n'
    results = [("y", "1-0"), ("y", "1/2-1/2"), ("?", "0-1")]
    (tmp_path / "games.pgn").write_text("".join(game.format(who, result, result) for who, result in results))
    matches = nb.read_matches(tmp_path / "games.pgn", outcomes={"1/2-1/2": None, "0-1": 0, "*": 0.5})
    assert matches.origin.notes == (
        "no row that is kept has the label '0-1': the rule for it changes nothing",
        "no row that is kept has the label '*': the rule for it changes nothing",
    )


def test_winners_may_be_named_in_another_case(monkeypatch: pytest.MonkeyPatch) -> None:
    log = {"player_1": ["Ann", "Bob", "Cid"], "player_2": ["Bob", "Cid", "Ann"], "winner": ["ANN", " cid", "Draw"]}
    matches = nb.read_matches(pl.DataFrame(log))
    exact = nb.read_matches(pl.DataFrame(log | {"winner": ["Ann", "Cid", "draw"]}))
    assert [matches.wins.tolist(), matches.losses.tolist()] == [exact.wins.tolist(), exact.losses.tolist()]
    assert matches.origin.notes == ("'winner' names winners in another case than 'player_1' and 'player_2'",)
    assert exact.origin.notes == ()
    with pytest.raises(nb.InputError, match="unknown outcome: 'ann'"):  # there are two
        nb.read_matches(pl.DataFrame({"a": ["Ann", "x"], "b": ["ANN", "y"], "winner": ["ann", "x"]}))
    monkeypatch.setattr(pairs, "SAMPLE", 1)  # what is exact further down needs no other case
    assert nb.read_matches(pl.DataFrame(log | {"winner": ["Ann", "Cid", "draw"]})).origin.notes == ()
