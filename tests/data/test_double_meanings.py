"""Files whose columns could be read in two ways: what their source means comes out, or an error that names both."""

import io
import json
import re
from pathlib import Path

import chess.pgn
import numpy as np
import pandas as pd
import polars as pl
import pytest

import nashboard as nb
from data.formats.reading import Counts, counts, left_out, table
from nashboard.data.counting import pairs
from nashboard.data.formats.games import iterate_pgn
from nashboard.data.sources.paths import PlainFile


def write(folder: Path, text: str, name: str = "log.csv") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_who_won_goes_before_the_scores_where_they_are_not_what_decides(tmp_path: Path) -> None:
    rows = [("Alpha", "Beta", True, 30, 20), ("Gamma", "Alpha", False, 32, 20), ("Beta", "Gamma", True, 1, 20)]
    names = ("radiant_name", "dire_name", "radiant_win", "radiant_score", "dire_score")
    path = write(tmp_path, json.dumps([dict(zip(names, row, strict=True)) for row in rows]), "games.json")
    wins: Counts = {("Alpha", "Beta"): (1, 0, 0), ("Alpha", "Gamma"): (1, 0, 0), ("Beta", "Gamma"): (1, 0, 0)}
    assert counts(nb.read_matches(path)) == wins
    goals = write(tmp_path, "home_team,away_team,home_goals,away_goals,home_win\nx,y,1,1,0\ny,z,2,1,1\n")
    assert counts(nb.read_matches(goals)) == {("x", "y"): (0, 1, 0), ("y", "z"): (1, 0, 0)}


@pytest.mark.parametrize("name", ["winner", "choice", "label"])
def test_0_and_1_are_the_numbers_of_player_0_and_player_1(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, f"player_0,player_1,{name}\nx,y,0\ny,z,0\nz,x,1\n")
    assert counts(nb.read_matches(path)) == dict.fromkeys((("x", "y"), ("x", "z"), ("y", "z")), (1, 0, 0))
    one = write(tmp_path, f"player_0,player_1,{name}\n" + "x,y,0\n" * 3)  # also where only one of them won
    assert counts(nb.read_matches(one)) == {("x", "y"): (3, 0, 0)}
    tied = write(tmp_path, f"player_0,player_1,{name}\nx,y,0\nx,y,tie\nx,y,0\n")
    assert counts(nb.read_matches(tied)) == {("x", "y"): (2, 1, 0)}
    online = nb.OnlineElo()
    for log in (path, one):
        online.update_many(log)
    assert online.ratings().ratings.argmax() == 0
    shares = write(tmp_path, "player_0,player_1,result\nx,y,0\ny,z,0\nz,x,1\n")
    assert counts(nb.read_matches(shares))["x", "y"] == (0, 0, 1)


def test_online_ratings_read_places_from_1_as_matches_do(tmp_path: Path) -> None:
    path = write(tmp_path, "player_1,player_2,winner\nx,y,1\ny,z,1\nz,x,2\n")
    assert counts(nb.read_matches(path)) == dict.fromkeys((("x", "y"), ("x", "z"), ("y", "z")), (1, 0, 0))
    online = nb.OnlineElo()
    online.update_many(path)
    assert online.ratings().ratings.argmax() == 0


def test_a_winner_that_is_0_or_1_is_not_guessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "agent_a,agent_b,winner\nx,y,0\ny,z,1\n")
    with pytest.raises(nb.InputError, match="0 and 1 may be the first and the second agent, or a loss and a win"):
        nb.read_matches(path)
    for read in (nb.read_games, nb.OnlineElo().update_many):
        with pytest.raises(nb.InputError, match="0 and 1 may be"):
            read(path)
    monkeypatch.setattr(pairs, "SAMPLE", 1)  # also where the other number comes late
    with pytest.raises(nb.InputError, match="0 and 1 may be"):
        nb.read_matches(path)
    assert counts(nb.read_matches(path, outcomes={"0": 1, "1": 0})) == {("x", "y"): (1, 0, 0), ("y", "z"): (0, 0, 1)}


def test_results_that_stand_from_both_sides_are_noted(tmp_path: Path) -> None:
    twice = "team,opponent,result\nx,y,W\ny,x,L\ny,z,D\nz,y,D\n"
    note = "if these are the same games, each counts twice"
    assert note in " ".join(nb.read_matches(write(tmp_path, twice)).origin.notes)
    assert note not in " ".join(nb.read_matches(write(tmp_path, twice + "z,x,W\n")).origin.notes)
    sided = nb.read_matches(write(tmp_path, "home,away,winner\nx,y,x\ny,x,x\n"))
    assert note not in " ".join(sided.origin.notes)
    counted = "agent_a,agent_b,wins,draws,losses\nx,y,3,1,2\ny,x,2,1,3\n"
    assert note in " ".join(nb.read_matches(write(tmp_path, counted)).origin.notes)


def test_the_day_is_the_time_of_a_match_and_not_the_hour_beside_it(tmp_path: Path) -> None:
    path = write(tmp_path, "date,time,home,away,winner\n2024-01-02,09:00,x,y,x\n2024-01-01,21:00,y,z,y\n")
    assert nb.read_matches(path).origin.period == ("2024-01-01", "2024-01-02")


OUTCOMES = {
    "go": "black,white,result\nx,y,B+R\ny,z,W+3.5\nz,x,Jigo\n",
    "choice": "system_a,system_b,choice\nx,y,A\ny,z,B\nz,x,Same\n",
    "yes": "player,opponent,won\nx,y,yes\ny,z,no\nz,x,draw\n",
    "1x2": "home,away,result\nx,y,1\ny,z,2\nz,x,X\n",
    "teams": "team_one_players,team_two_players,winner\nx,y,1\ny,z,2\nz,x,tie\n",
    "halves": "white,black,result\nx,y,1–0\ny,z,0–1\nz,x,0.5-0.5\n",
    "items": "item1,item2,pref\nx,y,1\ny,z,0\nz,x,0.5\n",
    "label": "model_0,model_1,label_0,label_1\nx,y,1,0\ny,z,0,1\nz,x,0.5,0.5\n",
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_more_ways_to_write_an_outcome(name: str, tmp_path: Path) -> None:
    expected = {("x", "y"): (1, 0, 0), ("x", "z"): (0, 1, 0), ("y", "z"): (0, 0, 1)}
    assert counts(nb.read_matches(write(tmp_path, OUTCOMES[name]))) == expected


def test_grades_that_the_judge_did_not_give_are_no_scores(tmp_path: Path) -> None:
    rows = [("x", 81, 1, 8), ("x", 81, 2, 6), ("y", 81, 1, -1), ("y", 82, 1, 5), ("x", 82, 1, 4)]
    lines = [
        {"question_id": item, "model": model, "judge": ["j", "single"], "judgment": "", "score": score, "turn": turn}
        for model, item, turn, score in rows
    ]
    scores = nb.read_scores(write(tmp_path, "".join(json.dumps(line) + "\n" for line in lines), "single.jsonl"))
    assert table(scores) == {"x": {"81": 7, "82": 4}, "y": {"82": 5}}
    assert left_out(scores) == [("rows", 1, "the judge gave no grade (-1) (data row 3)")]


def test_arena_hard_without_a_baseline_is_read_against_one(tmp_path: Path) -> None:
    games = [{"score": "A>>B"}, {"score": "B>A"}]
    lines = [{"question_id": str(k), "model": "m", "judge": "j", "games": games} for k in range(2)]
    path = write(tmp_path, "".join(json.dumps(line) + "\n" for line in lines), "judged.jsonl")
    matches = nb.read_matches(path)
    assert counts(matches) == {("baseline", "m"): (8, 0, 0)}
    assert "every match has the baseline, not named here: agents are" in matches.origin.notes[0]


def test_an_average_of_a_group_counts_where_its_tasks_are_not_listed(tmp_path: Path) -> None:
    summary = "dataset,version,metric,mode,x,y\n"
    summary += "mmlu,-,naive_average,gen,60,55\nceval,-,naive_average,gen,1,2\nceval-law,a1,accuracy,gen,1,2\n"
    scores = nb.read_scores(write(tmp_path, summary))
    assert scores.tasks == ("mmlu", "ceval-law")


def test_lists_of_numbers_by_agent_and_task_are_runs(tmp_path: Path) -> None:
    runs = {"x": {"go": [0.5, 0.7], "chess": [0.1]}, "y": {"go": [0.4], "chess": [0.2]}}
    expected = {"x": {"chess": 0.1, "go": 0.6}, "y": {"chess": 0.2, "go": 0.4}}
    assert table(nb.read_scores(write(tmp_path, json.dumps(runs), "runs.json"))) == expected
    assert table(nb.read_scores({k: {t: np.array(x) for t, x in row.items()} for k, row in runs.items()})) == expected


def test_lists_of_several_lengths_are_no_runs() -> None:
    with pytest.raises(nb.InputError, match="in no known layout"):
        nb.read_scores({"x": {"go": [[1], [1, 2]]}, "y": {"go": [[1], [2]]}})


def test_a_count_of_rows_that_are_alike_is_a_weight(tmp_path: Path) -> None:
    path = write(tmp_path, "model_a,model_b,winner,count\nx,y,model_a,30\nx,y,model_b,10\nx,y,tie,5\n")
    matches = nb.read_matches(path)
    assert counts(matches) == {("x", "y"): (30, 5, 10)}
    assert "column 'count' is used" in matches.origin.notes[0]
    assert counts(nb.read_matches(path, weight=False)) == {("x", "y"): (1, 1, 1)}


def test_percentages_are_win_rates(tmp_path: Path) -> None:
    rates = nb.read_matches(write(tmp_path, "deck_a,deck_b,win_rate,n\nx,y,60,100\ny,z,25,40\n"))
    assert counts(rates) == {("x", "y"): (60, 0, 40), ("y", "z"): (10, 0, 30)}
    matrix = nb.read_matches(write(tmp_path, "deck,x,y,z\nx,50%,25%,50%\ny,75%,50%,40%\nz,50%,60%,50%\n"))
    assert counts(matrix) == {("x", "y"): (0.25, 0, 0.75), ("x", "z"): (0.5, 0, 0.5), ("y", "z"): (0.4, 0, 0.6)}


def test_counts_of_solved_items_are_shares_of_all(tmp_path: Path) -> None:
    scores = nb.read_scores(write(tmp_path, "model,task,correct,total\nx,a,45,100\nx,b,5,10\ny,a,50,100\ny,b,4,10\n"))
    assert table(scores) == {"x": {"a": 0.45, "b": 0.5}, "y": {"a": 0.5, "b": 0.4}}
    assert table(scores, "n")["x"] == {"a": 100, "b": 10}
    single = nb.read_scores(write(tmp_path, "model,task,correct,total\nx,a,1,1\nx,b,0,1\ny,a,1,1\ny,b,1,1\n"))
    assert table(single)["x"] == {"a": 1, "b": 0}
    with pytest.raises(nb.InputError, match="column 'total' is 'many', not a number"):
        nb.read_scores(write(tmp_path, "model,task,correct,total\nx,a,45,many\ny,a,50,100\n"))


def test_counts_and_intervals_beside_scores_are_no_tasks(tmp_path: Path) -> None:
    text = "model,go,go_n,go_ci,chess_mean,chess_std\nx,0.5,100,0.05,0.6,0.1\ny,0.4,90,0.1,0.7,0.1\n"
    scores = nb.read_scores(write(tmp_path, text))
    assert scores.tasks == ("go", "chess_mean", "chess_std")
    assert "'chess_std' may contain the spread of 'chess_mean'" in " ".join(scores.origin.notes)


def test_single_spaces_belong_to_names_where_cells_are_further_apart(tmp_path: Path) -> None:
    path = write(tmp_path, "model name   go  chess\ngpt 4   50  60\nllama 2  40  30\n", "printed.txt")
    assert table(nb.read_scores(path)) == {"gpt 4": {"go": 50, "chess": 60}, "llama 2": {"go": 40, "chess": 30}}


@pytest.mark.parametrize(
    "text", ["rank model   go\n1 x      0.5\n2 y      0.4\n3 z      0.2\n", "model go  hex\nx   0.5 1\ny 0.4 2\n"]
)
def test_single_spaces_separate_cells_where_every_line_has_as_many(text: str, tmp_path: Path) -> None:
    scores = nb.read_scores(write(tmp_path, text, "board.txt"))
    assert scores.agents[:2] == ("x", "y")
    assert scores.values[:2, 0].tolist() == [0.5, 0.4]


def test_a_dictionary_of_numbered_columns_is_a_table_and_not_runs() -> None:
    matches = nb.read_matches({"player_a": [101, 102], "player_b": [102, 103], "winner": [101, 103]})
    assert counts(matches) == {("101", "102"): (1, 0, 0), ("102", "103"): (0, 0, 1)}
    scores = nb.read_scores({"model": [1, 1, 2, 2], "task": [7, 8, 7, 8], "score": [0.1, 0.2, 0.3, 0.4]})
    assert table(scores) == {"1": {"7": 0.1, "8": 0.2}, "2": {"7": 0.3, "8": 0.4}}


def test_numbers_among_the_words_of_a_category_are_scores() -> None:
    frame = pl.DataFrame(
        {"model": ["x", "y", "z"], "go": ["10%", "n/a", "45%"]}, schema_overrides={"go": pl.Categorical}
    )
    assert table(nb.read_scores(frame)) == {"x": {"go": 10.0}, "z": {"go": 45.0}}


def test_a_first_column_that_repeats_is_not_taken_for_agents(tmp_path: Path) -> None:
    path = write(tmp_path, "gameid,teamname,side,kills\nG1,x,Blue,20\nG1,y,Red,10\n")
    with pytest.raises(nb.InputError, match="'gameid', the first column, has 'G1' and others several times"):
        nb.read_scores(path)


GAMES = """\ufeff[Event "1 [x] \\"q\\""]
[White "A"]
[Black "B"]
[Result "1-0"]

1. e4 {a comment
[%clk 0:01]} e5 (1... c5) 1-0
"""
NEXT = '[Event "2"]\n[White "B"]\n[Black "C"]\n[Result "1/2-1/2"]\n1. e4 1/2-1/2\n\n[White "C"]\n[Black "A"]\n\n*\n'


def test_pgn_games_without_a_blank_line_between_them_are_games(tmp_path: Path) -> None:
    path = write(tmp_path, GAMES + NEXT, "games.pgn")
    assert counts(nb.read_matches(path)) == {("A", "B"): (1, 0, 0), ("B", "C"): (0, 1, 0)}


def test_tags_inside_a_comment_are_no_tags_but_an_open_comment_hides_no_game(tmp_path: Path) -> None:
    inside = GAMES.replace("{a comment\n", '{a comment\n[White "nobody"]\n{[%eval 1]\n')
    assert counts(nb.read_matches(write(tmp_path, inside + NEXT, "games.pgn"))) == {
        ("A", "B"): (1, 0, 0),
        ("B", "C"): (0, 1, 0),
    }
    never_closed = GAMES.replace("0:01]}", "0:01]") + "\n" + NEXT
    assert len(nb.read_matches(write(tmp_path, never_closed, "games.pgn")).pairs) == 2


def test_a_bye_is_advised_to_be_left_out_and_a_matrix_without_names_is_named_so(tmp_path: Path) -> None:
    with pytest.raises(nb.InputError, match=r"outcomes=\{'\+': None\}"):
        nb.read_matches(write(tmp_path, "White,Black,Res\nx,y,1\ny,z,0\nx,BYE,+\n"))
    for text in ("0.0,-0.5,0.7\n0.5,0.0,-0.2\n-0.7,0.2,0.0\n", "0.0,-1.0e-1,-1.0e-1\n0.1,0.0,1.5\n"):
        with pytest.raises(nb.InputError, match="has numbers in its first line and no names of columns"):
            nb.read(write(tmp_path, text))


def test_games_of_an_opening_can_be_a_cluster(tmp_path: Path) -> None:
    rng, games, rows = np.random.default_rng(4), [], []
    for k in range(60):
        a, b = rng.choice(list("ABCD"), 2, replace=False)
        result, opening = str(rng.choice(["1-0", "0-1", "1/2-1/2"])), f"start {k // 4}"
        tag = f'[FEN "{opening}"]\n[ECO "B00"]' if k % 2 else f'[Opening "{opening}"]'
        games.append(f'[White "{a}"]\n[Black "{b}"]\n[Result "{result}"]\n{tag}\n\n1. e4 {result}\n\n')
        rows.append((a, b, result, opening))
    path = write(tmp_path, "".join(games), "games.pgn")
    log = pl.DataFrame(rows, schema=["white", "black", "result", "opening"], orient="row")
    there, here = (nb.elo(nb.read_matches(data, cluster="opening")) for data in (log, path))
    np.testing.assert_allclose(sorted(here.stderr), sorted(there.stderr))
    assert not np.allclose(sorted(here.stderr), sorted(nb.elo(nb.read_matches(path)).stderr))
    plain = re.sub(r"\[(FEN|ECO|Opening).*\n", "", path.read_text())
    with pytest.raises(nb.InputError, match="no column 'opening'"):
        nb.read_matches(write(tmp_path, plain, "plain.pgn"), cluster="opening")


@pytest.mark.parametrize("seed", range(20))
def test_games_are_those_that_python_chess_finds(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    moves = ["1. e4 e5 {a\ncomment [%clk 0:01]} 1-0", "1. e4\n1... e5 ; x\n2. Nf3 (2. f4) *", "1/2-1/2", "{c}\n*"]
    text = ""
    for _ in range(8):
        tags = [f'[White "{rng.choice(list("AB"))}"]', f'[Black "{rng.choice(list("CD"))}"]',
                f'[Result "{rng.choice(["1-0", "0-1", "*"])}"]', '[Date "2020.01.01"]', "% for programs"]  # fmt: skip
        text += "\n".join(rng.permutation(tags)) + "\n\n" + str(rng.choice(moves)) + "\n" * int(rng.integers(2, 4))
    stream, found = io.StringIO(text), []
    while (game := chess.pgn.read_headers(stream)) is not None:
        found.append((*(game[tag] for tag in ("White", "Black", "Result", "Date")), ""))
    assert list(iterate_pgn(PlainFile(path=write(tmp_path, text, "games.pgn"), name="games"))) == found


def test_points_under_one_name_belong_to_the_side_before_them(tmp_path: Path) -> None:
    text = "Date,Visitor/Neutral,PTS,Home/Neutral,PTS,,,Notes\n2024-01-01,x,90,y,100,,,\n2024-01-02,y,80,z,70,,,\n"
    path = write(tmp_path, text)
    assert counts(nb.read_matches(path)) == {("x", "y"): (0, 0, 1), ("y", "z"): (1, 0, 0)}
    assert counts(nb.read_matches(pd.read_csv(path))) == {("x", "y"): (0, 0, 1), ("y", "z"): (1, 0, 0)}
    for text in ("home,home,away,winner\nx,y,z,x\n", "home,away,winner,winner\nx,y,x,x\n", "agent,go,go\nx,1,2\n"):
        with pytest.raises(nb.InputError, match="more than once"):
            nb.read(write(tmp_path, text))


def test_games_to_come_are_left_out_where_scores_are_text(tmp_path: Path) -> None:
    text = "Wk,Home,xG,Score,xG,Away\n1,x,0.3,0–3,1.9,y\n1,y,0.8,2–1,1.2,z\n,,,,,\n2,z,,,,x\n"
    matches = nb.read_matches(write(tmp_path, text))
    assert counts(matches) == {("x", "y"): (0, 0, 1), ("y", "z"): (1, 0, 0)}
    assert left_out(matches) == [("rows", 1, "no score in 'Score'")]


def test_pairs_in_a_dictionary_have_wins_or_wins_draws_and_losses() -> None:
    expected: Counts = {("x", "y"): (3, 1, 2), ("y", "z"): (1, 0, 4)}
    assert counts(nb.read_matches({("x", "y"): (3, 1, 2), ("y", "z"): (1, 4)})) == expected
    for wrong in ("often", (1, 2, 3, 4), (1, None)):
        with pytest.raises(nb.InputError, match=r"'x' against 'y' is .*: give wins, or wins, draws and losses"):
            nb.read_matches({("x", "y"): wrong})


def test_what_is_no_table_of_scores_is_not_read_as_one(tmp_path: Path) -> None:
    beaten = pd.crosstab(pd.Series(["x", "x", "y"], name="winner"), pd.Series(["y", "z", "z"], name="loser"))
    with pytest.raises(nb.InputError, match="a table of counts by winner and loser"):
        nb.read(beaten)
    with pytest.raises(nb.InputError, match="is a finished leaderboard"):
        nb.read(write(tmp_path, "player,elo\nx,1500\ny,1400\n"))
    with pytest.raises(nb.InputError, match="a row per agent and task, 'model' and 'task', and no column of scores"):
        nb.read(write(tmp_path, "model,task,loss\nx,a,1\nx,b,2\ny,a,3\ny,b,4\n"))


def test_numbers_under_names_of_two_sides_are_scores_where_nothing_says_who_won(tmp_path: Path) -> None:
    scores = nb.read(write(tmp_path, "student,item_1,item_2\nann,1,0\nbob,0,1\n"))
    assert isinstance(scores, nb.Scores)
    assert table(scores) == {"ann": {"item_1": 1, "item_2": 0}, "bob": {"item_1": 0, "item_2": 1}}


def test_who_asks_for_matches_of_numbered_agents_is_told_what_they_lack() -> None:
    with pytest.raises(nb.InputError, match="has no column for the outcome"):
        nb.read_matches(pl.DataFrame({"player_a": [1, 2, 3], "player_b": [2, 3, 1], "odd": [1, 0, 1]}))


def test_an_array_is_sent_to_the_types_that_take_one() -> None:
    with pytest.raises(
        nb.InputError, match=r"goes to Payoffs\.from_array, Matches\.from_counts or Scores\.from_array$"
    ):
        nb.read(np.eye(3))


def test_a_rate_of_toxicity_is_noted_as_good_when_low(tmp_path: Path) -> None:
    scores = nb.read_scores(write(tmp_path, "model,toxicity_rate,toxicity_detection\nx,0.1,0.8\ny,0.2,0.7\n"))
    (note,) = scores.origin.notes
    assert note.startswith("a high score counts as good on 'toxicity_rate': if a low one is")
