"""Public layouts in miniature, with made-up content, read with no options: one line each says what comes out."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nashboard as nb
from data.conftest import in_sqlite
from data.formats.reading import FILES, counts, left_out, low_is_good, table
from nashboard.data.formats.format import Data
from nashboard.data.read import read

TOUCH = FILES / "first_touch"
READ = {
    "tennis_season.csv": "winner-loser: Matches(4 agents, 3 of 6 pairs met, 4 games)",
    "football.csv": "two-scores: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "premier.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "tennis_data_uk.csv": "winner-loser: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "winner_ids.csv": "winner-loser: Matches(4 agents, 4 of 6 pairs met, 4 games)",
    "two_teams.csv": "two-scores: Matches(3 agents, 2 of 3 pairs met, 2 games)",
    "nba_games.csv": "two-scores: Matches(3 agents, 2 of 3 pairs met, 2 games)",
    "csgo.csv": "two-scores: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "lichess.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "game_list.json": "matches: Matches(3 agents, 2 of 3 pairs met, 2 games)",
    "swiss.json": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "genai_arena.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 4 games)",
    "mt_bench_human.jsonl": "matches: Matches(3 agents, 3 of 3 pairs met, 4 games)",
    "lmarena.jsonl": "lmarena: Matches(3 agents, 3 of 3 pairs met, 5 games)",
    "engine_triples.json": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "votes_with_voters.csv": "voters: Matches(3 agents, 3 of 3 pairs met, 5 games)",
    "pgn_folder": "pgn: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "wildbench.json": "wildbench: Matches(3 agents, 2 of 3 pairs met, 2,048 games)",
    "readme.md": "scores-wide: Scores(2 agents x 2 tasks, raw)",
    "board.md": "scores-wide: Scores(3 agents x 2 tasks, raw)",
    "by_benchmark.csv": "scores-by-task: Scores(3 agents x 3 tasks, raw)",
    "by_game.csv": "scores-by-task: Scores(3 agents x 3 tasks, raw)",
    "items_by_question.csv": "scores-by-task: Scores(3 agents x 4 tasks, raw)",
    "items.csv": "scores-long: Scores(3 agents x 3 tasks, raw)",
    "runs_of_policies.csv": "scores-long: Scores(2 agents x 2 tasks, raw)",
    "ids_beside_names.csv": "scores-wide: Scores(2 agents x 2 tasks, raw)",
    "nested_scores.json": "scores-wide: Scores(2 agents x 2 tasks, raw)",
    "lighteval": "lm-eval: Scores(2 agents x 2 tasks, raw)",
    "open_llm_2023.csv": "scores-wide: Scores(3 agents x 4 tasks, raw)",
    "livebench.csv": "scores-wide: Scores(3 agents x 4 tasks, 1 missing, raw)",
    "board_with_metadata.csv": "scores-wide: Scores(3 agents x 3 tasks, raw)",
    "percentages.csv": "scores-wide: Scores(2 agents x 2 tasks, 1 missing, raw)",
    "nested_results.json": "scores-wide: Scores(2 agents x 2 tasks, raw)",
    "scores_by_agent.json": "scores-wide: Scores(2 agents x 2 tasks, raw)",
    "alpaca_leaderboard.csv": "alpaca-eval-leaderboard: Scores(3 agents x 1 task, raw)",
    "livecodebench.json": "livecodebench: Scores(2 agents x 3 tasks, raw)",
    "wmt_mqm.txt": "wmt-mqm: Scores(2 agents x 2 tasks, raw)",
    "lm_eval_old": "lm-eval: Scores(2 agents x 2 tasks, raw)",
    "lm_eval_new": "lm-eval: Scores(2 agents x 2 tasks, raw)",
    "lm_eval_samples": "lm-eval-samples: Scores(2 agents x 5 tasks, raw)",
    "inspect_logs": "inspect: Scores(2 agents x 2 tasks, raw)",
    "judge_verdict.jsonl": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "left_right_pref.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "answer_models.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "chosen_rejected.csv": "winner-loser: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "pairrm.jsonl": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "vision_arena.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "ufc.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "ipl.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "lol.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "radiant.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "tennis_slam.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "score_dash.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "overwatch.csv": "winner-loser: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "sumo.csv": "pair-counts: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "kaggle_sim.csv": "two-scores: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "rps.csv": "pair-counts: Matches(3 agents, 3 of 3 pairs met, 49 games)",
    "pairwise_winrate.csv": "pair-rates: Matches(3 agents, 3 of 3 pairs met, 270 games)",
    "crosstable.csv": "payoff-matrix (counts): Matches(3 agents, 3 of 3 pairs met, 6 games)",
    "glue.tsv": "scores-wide: Scores(3 agents x 4 tasks, raw)",
    "bigcode.csv": "scores-wide: Scores(3 agents x 5 tasks, raw)",
    "mteb.csv": "scores-wide: Scores(3 agents x 3 tasks, raw)",
    "helm_wide.csv": "scores-wide: Scores(3 agents x 4 tasks, raw)",
    "rl_seeds.csv": "scores-long: Scores(2 agents x 2 tasks, raw)",
    "rl_wide_pm.csv": "scores-by-task: Scores(3 agents x 3 tasks, raw)",
    "livebench_judgment.jsonl": "scores-long: Scores(2 agents x 2 tasks, raw)",
    "evalplus.json": "scores-wide: Scores(2 agents x 2 tasks, raw)",
    "rewardbench.jsonl": "winner-loser: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "chesscom.csv": "two-scores: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "round_robin.csv": "payoff-matrix (counts): Matches(3 agents, 3 of 3 pairs met, 12 games)",
    "boxing.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "smash.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "bayeselo_pairs.txt": "pair-counts: Matches(3 agents, 3 of 3 pairs met, 49 games)",
    "elimination.json": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "bfcl.csv": "scores-wide: Scores(3 agents x 4 tasks, raw)",
    "kaggle_lb.csv": "scores-wide: Scores(2 agents x 1 task, raw)",
    "d4rl.md": "scores-by-task: Scores(3 agents x 3 tasks, raw)",
    "hellaswag_long.csv": "scores-long: Scores(2 agents x 2 tasks, raw)",
    "results_tree.json": "scores-long: Scores(2 agents x 2 tasks, raw)",
    "challonge.json": "matches: Matches(3 agents, 2 of 3 pairs met, 2 games)",
    "arena_vote.jsonl": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "arena_conversations.jsonl": "chatbot-arena: Matches(3 agents, 2 of 3 pairs met, 2 games)",
    "arena_objects.jsonl": "matches: Matches(3 agents, 2 of 3 pairs met, 2 games)",
    "atp_matches.csv": "winner-loser: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "battles.json": "matches: Matches(3 agents, 2 of 3 pairs met, 2 games)",
    "chess_results.csv": "matches: Matches(4 agents, 4 of 6 pairs met, 4 games)",
    "concatenated.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "csgo_maps.csv": "two-scores: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "football_data.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "helm_runs.csv": "scores-wide: Scores(3 agents x 5 tasks, raw)",
    "humaneval.jsonl": "scores-long: Scores(2 agents x 3 tasks, raw)",
    "lichess_api.ndjson": "matches: Matches(3 agents, 2 of 3 pairs met, 2 games)",
    "mmlu_by_subject.json": "scores-long: Scores(2 agents x 2 tasks, raw)",
    "model_index.json": "scores-long: Scores(2 agents x 2 tasks, raw)",
    "mt_bench_pairwise.jsonl": "mt-bench: Matches(3 agents, 2 of 3 pairs met, 2 games)",
    "mteb_long.csv": "scores-long: Scores(2 agents x 2 tasks, raw)",
    "nested_models.jsonl": "scores-wide: Scores(2 agents x 2 tasks, raw)",
    "nfl_elo.csv": "two-scores: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "nfl_games.csv": "two-scores: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "no_result.pgn": "pgn: Matches(3 agents, 2 of 3 pairs met, 2 games)",
    "open_llm_v2.csv": "scores-wide: Scores(3 agents x 6 tasks, raw)",
    "swebench_results.jsonl": "scores-long: Scores(2 agents x 2 tasks, raw)",
    "tennis_data_xls.csv": "winner-loser: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "european.csv": "scores-wide: Scores(2 agents x 2 tasks, raw)",
    "thousands.csv": "scores-wide: Scores(3 agents x 3 tasks, raw)",
    "empty_columns.csv": "scores-wide: Scores(2 agents x 2 tasks, raw)",
    "errors_first.csv": "scores-wide: Scores(3 agents x 2 tasks, raw)",
    "wmt_da.csv": "scores-long: Scores(2 agents x 2 tasks, raw)",
    "excel_separator.csv": "scores-wide: Scores(2 agents x 2 tasks, raw)",
    "comment_lines.csv": "matches: Matches(3 agents, 2 of 3 pairs met, 2 games)",
    "rank_header.csv": "scores-wide: Scores(2 agents x 2 tasks, raw)",
    "windows_1252.csv": "matches: Matches(3 agents, 2 of 3 pairs met, 2 games)",
    "pairs_by_name.json": "pair-counts: Matches(3 agents, 2 of 3 pairs met, 11 games)",
    "score_matrix.json": "scores-wide: Scores(2 agents x 3 tasks, 1 missing, raw)",
    "pandas_split.json": "scores-wide: Scores(2 agents x 2 tasks, raw)",
    "white_space_comments.txt": "scores-wide: Scores(3 agents x 3 tasks, raw)",
    "numpy_header.txt": "scores-wide: Scores(2 agents x 2 tasks, raw)",
    "payoff_matrix.json": "payoff-matrix (payoffs): Payoffs(3 agents, given, largest 0.3)",
    "mteb_board.csv": "scores-wide: Scores(3 agents x 6 tasks, raw)",
    "bigcodebench.json": "scores-wide: Scores(2 agents x 2 tasks, raw)",
    "arrows.csv": "scores-wide: Scores(3 agents x 4 tasks, raw)",
    "spread_in_brackets.csv": "scores-wide: Scores(3 agents x 3 tasks, raw)",
    "wandb.csv": "scores-wide: Scores(3 agents x 3 tasks, raw)",
    "contest.csv": "scores-wide: Scores(3 agents x 4 tasks, raw)",
    "results_by_model.json": "scores-long: Scores(2 agents x 2 tasks, raw)",
    "results_below.json": "scores-long: Scores(2 agents x 2 tasks, raw)",
    "percent_long.csv": "scores-long: Scores(2 agents x 2 tasks, raw)",
    "percent_rates.csv": "pair-rates: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "vote_counts.csv": "pair-counts: Matches(3 agents, 3 of 3 pairs met, 308 games)",
    "checkpoints.csv": "pair-counts: Matches(3 agents, 3 of 3 pairs met, 44 games)",
    "no_contest.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "graded_labels.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "llm_pairs.csv": "matches: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "pokemon.csv": "matches: Matches(5 agents, 4 of 10 pairs met, 4 games)",
    "rewards.jsonl": "two-scores: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "returns.csv": "two-scores: Matches(3 agents, 3 of 3 pairs met, 3 games)",
    "row_per_team.csv": "two-scores: Matches(3 agents, 2 of 3 pairs met, 3 games)",
    "columns_and_data.json": "scores-wide: Scores(2 agents x 2 tasks, raw)",
    "average_rank.csv": "scores-wide: Scores(3 agents x 1 task, raw)",
    "grades_by_prompt.csv": "scores-by-task: Scores(3 agents x 3 tasks, raw)",
    "winner_objects.json": "winner-loser: Matches(3 agents, 3 of 3 pairs met, 3 games)",
}
NAMED = {
    "aider.yml": "is YAML, which is not read: convert it to json",
    "results.toml": "is TOML, which is not read: convert it to json",
    "swebench.json": "closest is the list of records in 'leaderboards > 0 > results': save it as a file of its own",
    "sgf_result.csv": "closest is a log of matches between 'PB' and 'PW', which have the same names",
    "rating_list.txt": "is a finished leaderboard .*: ratings cannot be evaluated again",
    "engine_ratings.csv": "is a finished leaderboard .*: ratings cannot be evaluated again",
    "swiss_standings.csv": "is a finished leaderboard .*: ratings cannot be evaluated again",
    "fide_standings.csv": "is a finished leaderboard .*: ratings cannot be evaluated again",
    "wmt_da_seg.tsv": "several columns that may be the score: 'raw_score' and 'z_score'",
    "nba_box.csv": "several columns that may be the agent: 'TEAM_ID' and 'TEAM_NAME'",
    "wmt_pairs.csv": "has no column for the outcome",
    "bigbench.json": "is a json document in no known layout",
    "saved_page.csv": "is a web page or XML, which is not read: download the file itself",
    "without_header.csv": "closest is a log of matches without column names: 'beta' is in the first line and below",
    "finished_arena.csv": "is a finished leaderboard .*: ratings cannot be evaluated again",
    "fide_list.txt": "is a finished leaderboard .*: ratings cannot be evaluated again",
    "swiss_crosstable.csv": "is a finished leaderboard .*: ratings cannot be evaluated again",
    "engine_standings.txt": "is a finished leaderboard .*: ratings cannot be evaluated again",
    "places.csv": "a log of games of several agents, with the place of each in 'rank': write a row for each two",
    "races.csv": "a log of games of several agents, with the place of each in 'position'",
    "mixed_percentages.csv": "2 of 3 scores on 'mmlu' have a per cent sign and the others have none",
}


def touched(name: str) -> Any:
    return read(TOUCH / name)


@pytest.mark.thin(2)
@pytest.mark.parametrize("name", READ)
def test_a_public_layout_is_read_with_no_options(name: str) -> None:
    data = touched(name)
    assert f"{data.origin.format}: {data!r}" == READ[name]


@pytest.mark.slow  # a hundred evaluations
def test_every_public_layout_is_evaluated_with_no_options() -> None:
    for name in READ:
        assert nb.evaluate(touched(name), n_resamples=10).verdict, name


@pytest.mark.parametrize("name", NAMED)
def test_what_is_not_read_is_named_for_what_it_is(name: str) -> None:
    with pytest.raises(nb.InputError, match=NAMED[name]):
        touched(name)


def test_every_miniature_is_tested() -> None:
    assert {path.name for path in TOUCH.iterdir()} == {*READ, *NAMED}


def notes(data: Data) -> str:
    return "; ".join(data.origin.notes)


def test_winners_beat_losers_and_ids_beside_names_are_not_used() -> None:
    matches = touched("tennis_season.csv")
    assert counts(matches)["Ada Alm", "Cy Cole"] == (1, 0, 1)
    assert matches.sides is None
    assert "'winner_id' and 'loser_id' name the same agents and are not used" in notes(matches)
    assert matches.origin.period == ("20230102", "20230109")


def test_scores_of_both_sides_decide_and_games_without_scores_are_counted() -> None:
    matches = touched("football.csv")
    assert counts(matches) == {
        ("Avalon", "Borduria"): (1, 0, 0), ("Avalon", "Syldavia"): (1, 0, 0), ("Borduria", "Syldavia"): (0, 1, 0),
    }  # fmt: skip
    assert left_out(matches) == [("rows", 1, "no score in 'home_score' or 'away_score'")]
    assert matches.sides is not None
    assert matches.sides.played.tolist() == [1, 0, 1]  # one was at a neutral place


def test_commas_in_numbers_are_decimals_or_thousands_as_the_file_shows(tmp_path: Path) -> None:
    german = touched("european.csv")
    assert german.values.tolist() == [[0.75, 0.61], [0.55, 0.81]]
    assert "numbers have a decimal comma, such as '0,75'" in notes(german)
    large = touched("thousands.csv")
    assert large.values.tolist() == [[12345, 0.71, 1000200], [9876, 0.66, 998000], [10002, 0.69, 1200000]]
    assert notes(large) == "commas separate thousands, such as in '12,345'"
    path = tmp_path / "unclear.csv"
    path.write_text("model;speed;rate\nx;0,345;0,900\ny;1,234;0,125\n")  # no group of thousands begins with 0
    assert nb.read_scores(path).values.tolist() == [[0.345, 0.9], [1.234, 0.125]]
    path.write_text("model;speed\nx;12,345\ny;1,234\n")
    with pytest.raises(nb.InputError, match="such as '12,345', which may be decimals or thousands: write a point"):
        read(path)


NOTED = {
    "excel_separator.csv": "the first line, 'sep=;', names the separator",
    "comment_lines.csv": "2 comment lines above the header not used, from '# arena export' on",
    "white_space_comments.txt": "2 comment lines above the header not used, from '# made-up results of spring' on",
    "payoff_matrix.json": "rows are those of 'payoffs', with the names in 'agents' and 'agents'",
    "windows_1252.csv": "the file is not UTF-8 and is read as Windows-1252",
    "pairs_by_name.json": "the names of the object are pairs of agents",
    "score_matrix.json": "rows are those of 'scores', with the names in 'models' and 'tasks'",
    "pandas_split.json": "rows are those of 'data', with the names in 'index' and 'columns'",
}


@pytest.mark.parametrize("name", NOTED)
def test_what_was_recognised_is_noted_alike_for_paths_addresses_and_objects(name: str) -> None:
    data = touched(name)
    assert NOTED[name] in notes(data)
    assert str(read(f"file://{TOUCH / name}")) == str(data)
    if name.endswith(".json"):
        given = read(json.loads((TOUCH / name).read_text()))
        assert (repr(given), notes(given)) == (repr(data), notes(data))


def test_rows_below_comments_keep_their_lines_and_letters_of_windows_are_read(tmp_path: Path) -> None:
    assert touched("windows_1252.csv").agents == ("Björn", "José", "Zoë")
    path = tmp_path / "log.csv"
    path.write_text("# one\n# two\na,b,winner\nx,y,a\ny,z\n")
    with pytest.raises(nb.InputError, match=r"data row 2 \(line 5, 'y'\) has 2 cells"):
        read(path)
    path.write_bytes("a,b,winner\nJosé,y,a\n".encode() + b"Zo\xe9,y,a\n")  # UTF-8 that is damaged
    with pytest.raises(nb.InputError, match=r"is not UTF-8 \(line 3\)"):
        read(path)


def test_a_matrix_whose_size_is_not_that_of_its_names_is_refused() -> None:
    with pytest.raises(nb.InputError, match="'scores' must be a list of 1 row, one for each of 'models', with 2 cells"):
        read({"models": ["x"], "tasks": ["go", "hex"], "scores": np.ones((2, 2))})


def test_standard_errors_may_be_named_before_their_task() -> None:
    scores = touched("errors_first.csv")
    assert scores.tasks == ("mmlu", "gsm8k")
    assert scores.stderr[:, 0].tolist() == [1.0, 0.9, 0.8]
    assert [what for what, *_ in left_out(scores)] == ["columns"]  # the average of the two


@pytest.mark.parametrize("kind", ["scores", "payoffs", "numbers"])
def test_the_index_that_pandas_writes_into_parquet_is_that_of_the_frame(kind: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [0.0, -1.0], "y": [1.0, 0.0]}, index=["m", "n"] if kind == "scores" else ["x", "y"])
    if kind == "numbers":
        frame = pd.DataFrame({"winner": ["m", "n"], "loser": ["n", "m"]}, index=[7, 9])
    frame.to_parquet(tmp_path / "frame.parquet")
    assert str(read(tmp_path / "frame.parquet")) == str(read(frame))


def test_empty_columns_of_a_spreadsheet_are_left_out() -> None:
    why = "neither a name nor content: 'Unnamed: 3' and 'Unnamed: 4'"
    assert left_out(touched("empty_columns.csv")) == [("columns", 2, why)]


def test_a_table_that_is_alone_in_a_zip_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "games.csv.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(TOUCH / "football.csv", "games.csv")
    assert str(read(path)) == str(touched("football.csv"))
    assert f"read 'games.csv' of the zip file {path}" in notes(read(path))
    whole = path.read_bytes()
    for damaged in (whole[:4] + b"??" + whole[4:], whole[:60] + b"?????" + whole[65:]):  # its header, its content
        path.write_bytes(damaged)
        with pytest.raises(nb.InputError, match=r"games.csv.zip' is damaged"):
            read(path)
    path.write_bytes(whole)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("README.md", "more")
    with pytest.raises(nb.InputError, match=r"contains 'games.csv' and 'README.md', no array; unpack it"):
        read(path)


@pytest.mark.parametrize(
    ("begins", "named"),
    [
        (b"ARROW1\0\0", "an Arrow file, which is not read: save it as parquet"),
        (b"\x80\x04\x95\0", "a pickle, which may run any code and is never opened"),
        (b"BZh91AY", "packed by bzip2, xz or 7-Zip, which is not read: unpack it"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an Excel workbook, which is not read: save its sheet as csv"),
        (b"<table><tr><td>Model</td></tr>", "a web page or XML, which is not read"),
        (b"\\begin{tabular}{lcc}", "LaTeX, which is not read: save the table as csv"),
    ],
)
def test_files_that_are_not_read_are_named(begins: bytes, named: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(begins + bytes(range(100)))
    with pytest.raises(nb.InputError, match=named):
        read(tmp_path / "file")


def test_matches_that_were_not_finished_are_counted() -> None:
    assert left_out(touched("game_list.json")) == [("rows", 1, "they were not finished (*)")]


def test_a_row_per_task_is_turned_and_its_text_and_averages_are_left_out(tmp_path: Path) -> None:
    scores = touched("by_benchmark.csv")
    assert (scores.agents, scores.tasks) == (("Alpha", "Beta", "Gamma"), ("MMLU", "GSM8K", "HumanEval"))
    assert notes(scores) == "rows are tasks (by the name 'Benchmark'), and columns are agents"
    path = tmp_path / "board.csv"
    path.write_text("task,kind,x,y\nagent,a,1,2\ngo,b,3,oops\nAverage,,2,3\n")
    with pytest.raises(nb.InputError, match=r"data row 2 \('go'\), column 'y' is 'oops', not a number"):
        read(path)
    skipped = nb.read_scores(path, bad_rows="skip")
    assert (skipped.agents, skipped.tasks) == (("x", "y"), ("agent", "Average"))
    assert [what for what, *_ in left_out(skipped)] == ["columns", "bad rows"]


WINS = {  # of the first in each pair of agents: wins, draws, losses
    "judge_verdict.jsonl": {("alpha", "beta"): (1, 0, 0), ("alpha", "gamma"): (0, 1, 0), ("beta", "gamma"): (0, 0, 1)},
    "pairrm.jsonl": {("alpha", "beta"): (1, 0, 0), ("alpha", "gamma"): (1, 0, 0), ("beta", "gamma"): (0, 0, 1)},
    "ufc.csv": {("ada", "bo"): (1, 0, 0), ("ada", "cy"): (0, 1, 0), ("bo", "cy"): (0, 0, 1)},
    "lol.csv": {("ash", "bor"): (1, 0, 0), ("ash", "cor"): (0, 0, 1), ("bor", "cor"): (0, 0, 1)},
    "tennis_slam.csv": {("ada", "bo"): (1, 0, 0), ("ada", "cy"): (1, 0, 0), ("bo", "cy"): (0, 0, 1)},
    "score_dash.csv": {("ash", "bor"): (1, 0, 0), ("ash", "cor"): (0, 1, 0), ("bor", "cor"): (0, 0, 1)},
    "sumo.csv": {("ada", "bo"): (0, 0, 1), ("ada", "cy"): (1, 0, 0), ("bo", "cy"): (1, 0, 0)},
    "kaggle_sim.csv": {("ada", "bo"): (1, 0, 0), ("ada", "cy"): (1, 0, 0), ("bo", "cy"): (0, 1, 0)},
    "rewardbench.jsonl": {("alpha", "beta"): (1, 0, 0), ("alpha", "gamma"): (1, 0, 0), ("beta", "gamma"): (0, 0, 1)},
    "chesscom.csv": {("ada", "bo"): (1, 0, 0), ("ada", "cy"): (0, 1, 0), ("bo", "cy"): (0, 0, 1)},
    "boxing.csv": {("ada", "bo"): (1, 0, 0), ("ada", "cy"): (0, 1, 0), ("bo", "cy"): (0, 0, 1)},
    "rps.csv": {("alpha", "beta"): (10, 2, 5), ("alpha", "gamma"): (9, 3, 3), ("beta", "gamma"): (8, 1, 8)},
    "crosstable.csv": {("alpha", "beta"): (1.5, 0, 0.5), ("alpha", "gamma"): (2, 0, 0), ("beta", "gamma"): (1, 0, 1)},
    "checkpoints.csv": {("s1", "s2"): (10, 1, 5), ("s1", "s3"): (9, 0, 3), ("s2", "s3"): (7, 2, 7)},
    "graded_labels.csv": {("x", "y"): (1, 0, 0), ("x", "z"): (0, 1, 0), ("y", "z"): (0, 0, 1)},
    "rewards.jsonl": {("v1", "v2"): (1, 0, 0), ("v1", "v3"): (0, 1, 0), ("v2", "v3"): (0, 0, 1)},
    "row_per_team.csv": {("CHS", "NYK"): (1, 0, 0), ("NYK", "TRH"): (2, 0, 0)},
    "winner_objects.json": {("a", "b"): (1, 0, 0), ("a", "c"): (1, 0, 0), ("b", "c"): (1, 0, 0)},
}


@pytest.mark.parametrize("name", WINS)
def test_who_won_is_understood(name: str) -> None:
    assert counts(touched(name)) == WINS[name]


def test_arrows_in_names_say_which_tasks_are_good_when_low(tmp_path: Path) -> None:
    assert low_is_good(touched("arrows.csv")) == {"FID ↓", "LPIPS(↓)"}
    (tmp_path / "long.csv").write_text("model,task,score\nx,FID ↓,1\nx,IS ↑,2\ny,FID ↓,2\ny,IS ↑,1\n")
    assert low_is_good(nb.read_scores(tmp_path / "long.csv")) == {"FID ↓"}
    assert not low_is_good(nb.read_scores(TOUCH / "arrows.csv", lower_is_better=False))


def test_games_without_a_decision_are_left_out_and_a_row_of_one_team_has_no_first_side() -> None:
    assert left_out(touched("no_contest.csv")) == [("rows", 1, "they were not finished (No Contest)")]
    assert touched("row_per_team.csv").sides is None


def test_scores_by_agent_and_task_keep_the_errors_beside_them() -> None:
    scores = touched("results_by_model.json")
    assert table(scores)["model-b"] == {"arc_easy": 0.6, "hellaswag": 0.45}
    assert table(scores, "stderr")["model-b"] == {"arc_easy": 0.01, "hellaswag": 0.02}
    assert table(touched("mmlu_by_subject.json"), "n")["beta"] == {"algebra": 100, "law": 50}


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("task,x,y\nmmlu,45%,0.5\nppl,12.5,9.5\n", "mmlu"),
        ("model,task,score\nx,mmlu,45%\ny,mmlu,0.5\n", "mmlu"),
        ("task,x,y\nmmlu,45%,0\nppl,12.5,9.5\n", ""),
        ("model,task,score\nx,mmlu,45%\ny,mmlu,0\nx,ppl,12.5\n", ""),
    ],
)
def test_percentages_are_not_mixed_with_other_numbers_of_a_task(text: str, task: str, tmp_path: Path) -> None:
    (tmp_path / "file.csv").write_text(text)
    if not task:
        assert table(nb.read_scores(tmp_path / "file.csv"))["x"] == {"mmlu": 45, "ppl": 12.5}
        return
    with pytest.raises(nb.InputError, match=f"1 of 2 scores on '{task}' have a per cent sign"):
        nb.read_scores(tmp_path / "file.csv")


@pytest.mark.parametrize("column", ["choice", "preferred", "winner_side_chosen"])
def test_a_choice_of_0_and_1_may_be_a_place_and_is_not_guessed(column: str) -> None:
    log = pl.DataFrame({"model_a": ["x", "y", "x"], "model_b": ["y", "z", "z"], column: [0, 1, 1]})
    with pytest.raises(nb.InputError, match="0 and 1 may be the first and the second agent, or a loss and a win"):
        nb.read_matches(log, outcome=column)


def test_even_counts_and_sizes_of_models_that_are_averaged_are_noted() -> None:
    games = nb.read_matches({"agent": ["x", "y", "z"], "x": [0, 5, 7], "y": [5, 0, 2], "z": [7, 2, 0]})
    assert "every pair is even: if these are numbers of games" in notes(games)
    scores = pl.DataFrame(
        {"model": ["x", "x", "y", "y"], "size": ["7b", "13b"] * 2, "task": "go", "score": [1, 2, 3, 4]}
    )
    assert "differ in 'size' are averaged as runs" in notes(nb.read_scores(scores))


def test_what_is_not_said_by_a_table_is_noted() -> None:
    assert "'winner' is taken for the outcome, not 'result'" in notes(touched("ipl.csv"))
    assert "numbers behind ± or in brackets in 'PPO', 'SAC' and 'TD3' are not used" in notes(touched("rl_wide_pm.csv"))
    assert touched("spread_in_brackets.csv").values[0].tolist() == [52.3, 70.1, 88.1]
    assert "'n_games' is the number of games of each pair" in notes(touched("pairwise_winrate.csv"))
    assert left_out(touched("crosstable.csv")) == [("columns", 2, "not an agent: 'Rank' and 'Score'")]
    assert touched("livebench_judgment.jsonl").groups == ("math", "math")
    assert left_out(touched("glue.tsv"))[0][2] == "computed from the others: 'Score'"


def test_a_log_whose_agents_are_not_known_by_name_is_no_table_of_scores(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("id,turns,winner,gambler,croupier\ng1,13,gambler,ada,bo\ng2,16,croupier,bo,cy\n")
    with pytest.raises(nb.InputError, match="closest is a log of matches by 'winner', but without two agents"):
        read(path)


def test_tasks_called_like_sides_beside_a_column_called_like_an_outcome_are_tasks(tmp_path: Path) -> None:
    path = tmp_path / "board.csv"
    path.write_text("model,type,left,right\nx,chat,0.4,0.5\ny,base,0.2,0.1\n")
    scores = nb.read_scores(path)
    assert scores.tasks == ("left", "right")
    path.write_text("benchmark,Model A,Model B\nmmlu,0.4,0.5\narc,0.2,0.1\n")
    assert nb.read_scores(path).agents == ("Model A", "Model B")


def test_an_excel_workbook_is_named_for_what_it_is(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "book.xlsx", "w") as book:
        book.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(nb.InputError, match="is an Excel workbook, which is not read: save its sheet as csv"):
        read(tmp_path / "book.xlsx")


def test_home_and_away_letters_are_understood_beside_goals() -> None:
    assert counts(touched("premier.csv"))["Ashton", "Corley"] == (1, 0, 0)


def test_votes_with_the_same_id_are_a_cluster() -> None:
    matches = touched("votes_with_voters.csv")
    assert matches.clusters is not None
    assert matches.clusters.size == 3
    assert matches.agents == ("Alpha", "Beta", "Gamma")


def test_graded_counts_against_a_baseline_keep_the_published_reward() -> None:
    matches = touched("wildbench.json")
    wins, draws, losses = counts(matches)["alpha", "baseline"]
    reward = (100 + 200 / 2 - 400 / 2 - 274) / 1024
    assert (wins - losses) / (wins + draws + losses) == pytest.approx(reward)


def test_averages_links_and_sizes_are_no_tasks() -> None:
    scores = touched("open_llm_2023.csv")
    assert [(what, why) for what, _, why in left_out(scores)] == [
        ("columns", "computed from the others: 'Average'"),
        ("columns", "text, not numbers: 'URL'"),
        ("columns", "metadata by name: 'Parameters'"),
    ]
    board = touched("board_with_metadata.csv")
    assert board.tasks == ("Math", "Code", "Writing")
    said = " ".join(why for *_, why in left_out(board))
    others = (
        "Rank",
        "Organization",
        "License",
        "Release Date",
        "Context Length",
        "Cost ($/M tokens)",
        "Overall",
        "Votes",
    )
    assert all(repr(name) in said for name in others)


def test_metadata_that_the_user_names_as_low_is_a_task() -> None:
    scores = nb.read_scores(TOUCH / "board_with_metadata.csv", lower_is_better=["Cost ($/M tokens)"])
    assert low_is_good(scores) == {"Cost ($/M tokens)"}


def test_patterns_choose_columns_and_directions() -> None:
    scores = nb.read_scores(TOUCH / "livebench.csv", ignore=["*_comp*"], lower_is_better="plot_*")
    assert scores.tasks == ("AMPS_Hard", "plot_unscrambling")
    assert low_is_good(scores) == {"plot_unscrambling"}
    with pytest.raises(nb.InputError, match=r"has no column '\*_nothing'"):
        nb.read_scores(TOUCH / "livebench.csv", ignore="*_nothing")


def test_a_win_rate_of_alpaca_eval_has_its_error_and_counts_are_metadata() -> None:
    scores = touched("alpaca_leaderboard.csv")
    assert table(scores) == {"alpha": {L: 50.0}, "beta": {L: 47.1}, "gamma": {L: 18.9}}
    assert table(scores, "stderr")["beta"] == {L: 0.7}
    assert table(scores, "n")["beta"] == {L: 805}
    plain = nb.read_scores(TOUCH / "alpaca_leaderboard.csv", metric="win_rate")
    assert (plain.tasks, table(plain, "stderr")["gamma"]) == (("win_rate",), {"win_rate": 1.0})


L = "length_controlled_winrate"


def test_items_keep_their_groups() -> None:
    assert touched("livecodebench.json").groups == ("easy", "medium", "hard")
    samples = touched("lm_eval_samples")
    assert samples.groups == ("arc_easy",) * 3 + ("gsm8k",) * 2
    assert samples.agents == ("lab/alpha", "lab/beta")
    assert table(samples)["lab/beta"] == {"arc_easy/0": 1, "arc_easy/1": 1, "arc_easy/2": 0, "gsm8k/0": 1, "gsm8k/1": 1}
    flexible = nb.read_scores(
        TOUCH / "lm_eval_samples", metric="exact_match,flexible-extract", format="lm-eval-samples"
    )
    assert table(flexible)["lab/alpha"] == {"gsm8k/0": 1, "gsm8k/1": 1}


def test_penalties_of_wmt_are_good_when_near_zero(tmp_path: Path) -> None:
    scores = touched("wmt_mqm.txt")
    assert table(scores)["eTranslation.737"] == {"1": -2.333333, "2": 0.0}
    assert not low_is_good(scores)
    positive = tmp_path / "mqm.txt"
    positive.write_text(
        (TOUCH / "wmt_mqm.txt").read_text().replace("-0.5", "0.5").replace("-1.0", "1").replace("-2", "2")
    )
    assert low_is_good(nb.read_scores(positive)) == {"1", "2"}


def test_checkpoints_of_one_model_are_agents_of_their_own() -> None:
    scores = touched("lm_eval_old")
    assert scores.agents == ("lab/tiny-1b@step1000", "lab/tiny-1b@step2000")
    assert low_is_good(scores) == {"crows_pairs_english"}
    assert table(scores, "stderr")["lab/tiny-1b@step1000"] == {"arc_easy": 0.01, "crows_pairs_english": 0.1}
    assert low_is_good(touched("lm_eval_new")) == {"wikitext"}


def test_logs_of_inspect_are_tasks_or_samples_whose_epochs_are_runs() -> None:
    scores = touched("inspect_logs")
    assert table(scores) == {"openai/alpha": {"arc": 0.75, "gsm8k": 0.75}, "openai/beta": {"arc": 0.25, "gsm8k": 0.25}}
    assert table(scores, "n")["openai/beta"] == {"arc": 4, "gsm8k": 4}
    assert left_out(scores)[0][:2] == ("logs", 1)
    items = nb.read_scores(TOUCH / "inspect_logs", format="inspect-samples")
    assert items.groups == ("arc", "arc", "gsm8k", "gsm8k")
    assert table(items)["openai/alpha"] == {"arc/1": 1.0, "arc/2": 0.5, "gsm8k/1": 0.5, "gsm8k/2": 1.0}
    assert (items.runs == 2).all()


def test_metrics_and_scorers_of_inspect_that_are_not_used_are_counted(tmp_path: Path) -> None:
    for model, score in (("x", 0.5), ("y", 0.25)):
        metrics = {"accuracy": {"value": score}, "stderr": {"value": 0.1}, "f1": {"value": 0.9}}
        log = {
            "eval": {"model": model, "task": "arc"},
            "results": {"scores": [{"name": "choice", "metrics": metrics}]},
            "samples": [{"id": 1, "epoch": 1, "scores": {"choice": {"value": "C"}, "judge": {"value": 0.5}}}],
        }
        (tmp_path / f"{model}.json").write_text(json.dumps(log))
    assert left_out(read(tmp_path)) == [("further metrics", 1, "each task keeps one metric, not these: 'f1'")]
    items = read(tmp_path, format="inspect-samples")
    assert left_out(items) == [("further scorers", 1, "each sample keeps one: 'judge'")]


GAMES = [("x", "y", "x"), ("y", "z", "draw"), ("z", "x", 0)]
PYTHON: dict[str, tuple[Any, str]] = {
    "tuples": (GAMES[:2], "Matches(3 agents, 2 of 3 pairs met, 2 games)"),
    "weighted tuples": ([("x", "y", 1.0, 2.0)], "Matches(2 agents, 1 of 1 pairs met, 2 games)"),
    "rows": ([{"a": "x", "b": "y", "winner": "a"}], "Matches(2 agents, 1 of 1 pairs met, 1 game)"),
    "columns": ({"model": ["x", "y"], "go": [0.1, 0.2]}, "Scores(2 agents x 1 task, raw)"),
    "scores by agent": ({"x": {"go": 1, "chess": 2}, "y": {"go": 3}}, "Scores(2 agents x 2 tasks, 1 missing, raw)"),
    "arrays of runs": ({"x": np.ones((3, 2)), "y": np.zeros((2, 2))}, "Scores(2 agents x 2 tasks, raw)"),
    "rows below names": (
        [["model_a", "model_b", "winner"], *GAMES[:2]],
        "Matches(3 agents, 2 of 3 pairs met, 2 games)",
    ),
    "wins by pair": ({("x", "y"): 3, ("y", "x"): 1}, "Matches(2 agents, 1 of 1 pairs met, 4 games)"),
}


@pytest.mark.parametrize("name", PYTHON)
def test_python_objects_are_read(name: str) -> None:
    source, said = PYTHON[name]
    assert repr(read(source)) == said


@pytest.mark.parametrize(
    "source", [[], {}, [1, 2], {"x": 1}, [("x", "y")], {1: [2]}, {"x": [[1], [1, 2]]}, np.ones(3), 3.0]
)
def test_other_objects_are_refused_with_the_shapes_that_are_read(source: Any) -> None:
    with pytest.raises(nb.InputError, match="give"):
        read(source)


def test_a_pandas_index_of_names_is_the_column_of_agents() -> None:
    frame = pl.DataFrame({"n": ["x", "y"], "x": [0.0, -1.0], "y": [1.0, 0.0]}).to_pandas().set_index("n")
    assert nb.read_payoffs(frame).A.tolist() == [[0, 1], [-1, 0]]
    assert nb.read_scores(frame.rename(columns={"x": "go", "y": "chess"}).rename_axis(None)).agents == ("x", "y")


def test_groups_of_pandas_are_a_long_table() -> None:
    frame = pd.DataFrame({"model": ["x", "x", "y"], "task": ["go", "go", "go"], "acc": [0.25, 0.75, 1.0]})
    groups = frame.groupby(["model", "task"])["acc"].mean()
    for source in (groups, groups.to_frame(), frame.set_index(["model", "task"])):
        assert table(nb.read_scores(source)) == {"x": {"go": 0.5}, "y": {"go": 1.0}}


def test_numbers_and_text_in_one_column_of_pandas_are_read_as_in_a_file() -> None:
    frame = pd.DataFrame({"model": ["x", "y", "z"], "go": [1, "2", "none yet"], "chess": [None, 3.5, 1]}, dtype=object)
    message = r"data row 3 \('z'\), column 'go' is 'none yet', not a number"
    with pytest.raises(nb.InputError, match=message):
        nb.read_scores(frame)
    assert table(nb.read_scores(frame, bad_rows="skip")) == {"x": {"go": 1}, "y": {"go": 2, "chess": 3.5}}
    log = pd.DataFrame({"a": ["x", "y", 7], "b": ["y", 7, "x"], "outcome": [1, "tie", 0]}, dtype=object)
    assert counts(nb.read_matches(log)) == {("7", "x"): (0, 0, 1), ("7", "y"): (0, 1, 0), ("x", "y"): (1, 0, 0)}


def test_an_empty_column_of_a_frame_is_called_empty() -> None:
    scores = read(pl.DataFrame({"model": ["x", "y"], "go": [1.0, 2.0], "hex": [None, None]}))
    assert left_out(scores) == [("columns", 1, "empty: 'hex'")]


def test_a_folder_of_games_has_those_of_its_folders(tmp_path: Path) -> None:
    for name, text in (("a.pgn", "AB"), ("old/b.pgn", "BC")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f'[White "{text[0]}"]\n[Black "{text[1]}"]\n[Result "1-0"]\n\n1. e4 1-0\n')
    assert read(tmp_path).agents == ("A", "B", "C")


@pytest.mark.parametrize("separator", ["", "ab", "\n", "é", '"'])
def test_a_separator_that_cannot_be_one_is_refused(separator: str) -> None:
    with pytest.raises(nb.InputError, match="cannot separate cells: give a single character"):
        nb.read_scores(TOUCH / "livebench.csv", separator=separator)


@pytest.mark.parametrize("separator", ["space", " ", "whitespace"])
def test_white_space_can_be_asked_for(separator: str) -> None:
    assert nb.read_scores(TOUCH / "wmt_mqm.txt", separator=separator).agents == ("Human-A.0", "eTranslation.737")


def test_a_table_in_no_known_layout_lists_what_was_looked_for() -> None:
    with pytest.raises(nb.InputError, match="closest is a row per agent, but no column has names"):
        nb.read_scores(pl.DataFrame({"u": [1.0], "v": [2.0]}))


@pytest.mark.parametrize("orient", ["columns", "list", "index", "records", "split", "table"])
def test_json_of_pandas_is_the_frame_in_every_orientation(orient: Any, tmp_path: Path) -> None:
    scores = pd.DataFrame({"model": ["x", "y", "z"], "go": [1.5, 2.0, 3.0], "chess": [3, 2, 1]})
    log = pd.DataFrame(
        {"model_a": ["x", "y", "z"], "model_b": ["y", "z", "x"], "winner": ["model_a", "tie", "model_b"]}
    )
    for frame, name in ((scores, "scores.json"), (log, "log.json")):
        text = json.dumps(frame.to_dict("list")) if orient == "list" else frame.to_json(orient=orient)
        (tmp_path / name).write_text(text)
    assert table(nb.read_scores(tmp_path / "scores.json")) == table(nb.read_scores(scores))
    assert counts(nb.read_matches(tmp_path / "log.json")) == counts(nb.read_matches(log))


def test_a_board_in_arrow_whose_first_column_has_no_name_is_read_as_its_file() -> None:
    file = TOUCH / "alpaca_leaderboard.csv"
    frame = pl.read_csv(file)
    arrow = frame.rename({frame.columns[0]: ""}).to_arrow()
    assert table(nb.read_scores(arrow)) == table(nb.read_scores(file))


def test_results_of_one_agent_each_are_not_read_with_tasks_as_agents(tmp_path: Path) -> None:
    for agent in ("x", "y"):
        (tmp_path / f"{agent}.csv").write_text("task,score\nchess,0.5\ngo,0.7\n")
    for source in (tmp_path, tmp_path / "x.csv"):
        with pytest.raises(nb.InputError, match="a row per task, 'task', of one agent, but no column names the agent"):
            read(source)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Pos,Team,Pld,W,D,L,GF,GA,GD,Pts\n1,x,4,3,1,0,9,2,7,10\n2,y,4,0,1,3,2,9,-7,1\n", "is a table of standings"),
        ("team,wins,losses\nx,3,1\ny,1,3\n", "is a table of standings"),
        ("x 0.5\ny 0.6\nz 0.7\n", "without column names: the first line has numbers"),
    ],
)
def test_what_would_be_misread_is_named(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "file.csv").write_text(text)
    with pytest.raises(nb.InputError, match=why):
        read(tmp_path / "file.csv")


def test_points_of_standings_are_a_score_if_asked(tmp_path: Path) -> None:
    (tmp_path / "file.csv").write_text("team,W,L,Pts\nx,3,1,10\ny,1,3,2\n")
    assert nb.read_scores(tmp_path / "file.csv", ignore=["W", "L"]).tasks == ("Pts",)


def test_bounds_around_a_score_are_left_out_and_other_columns_called_alike_are_tasks(tmp_path: Path) -> None:
    (tmp_path / "file.csv").write_text(
        "model,acc,acc_ci_low,acc_ci_high,maze,maze_low,maze_high\nx,0.5,0.4,0.6,1,2,3\ny,0.7,0.6,0.8,3,2,1\n"
    )
    found = nb.read_scores(tmp_path / "file.csv")
    assert found.tasks == ("acc", "maze", "maze_low", "maze_high")
    assert left_out(found) == [("columns", 2, "metadata by name: 'acc_ci_low' and 'acc_ci_high'")]


def test_white_space_around_cells_is_no_part_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "file.csv").write_text("model_a, model_b, winner\nx, y, model_a\ny, x, tie\nx, z, model_a\n")
    found = nb.read_matches(tmp_path / "file.csv")
    assert counts(found) == {("x", "y"): (1, 1, 0), ("x", "z"): (1, 0, 0)}
    assert notes(found) == "white space around cells is left out"


def test_a_row_of_averages_is_no_agent_and_another_one_called_so_is_noted(tmp_path: Path) -> None:
    for mean, agents, said in (("0.55", "x y", ""), ("0.45", "x y Average", "'Average' counts as an agent")):
        (tmp_path / "file.csv").write_text(f"model,go,chess\nx,0.5,0.4\ny,0.6,0.7\nAverage,{mean},0.55\n")
        found = nb.read_scores(tmp_path / "file.csv")
        assert (found.agents, notes(found), found.origin.rows) == (tuple(agents.split()), said, 3)
        assert left_out(found) == [("agents", 1, "computed from the others: 'Average'")] * (not said)


def test_tasks_and_agents_without_any_score_are_left_out() -> None:
    cells = [(agent, task, None if "u" in (agent, task) else 0.5) for agent in "uxy" for task in ("go", "hex", "u")]
    long = pl.DataFrame(cells, schema=["system", "seg_id", "score"], orient="row")
    found = nb.read_scores(long)
    assert (found.agents, found.tasks) == (("x", "y"), ("go", "hex"))
    assert left_out(found) == [
        ("rows", 5, "no score"),
        ("agents", 1, "no score at all: 'u'"),
        ("tasks", 1, "no score at all: 'u'"),
    ]
    wide = pl.DataFrame({"model": ["u", "x", "y"], "go": [None, 0.5, 0.7], "total": [10, 10, 10]})
    assert table(nb.read_scores(wide)) == {"x": {"go": 0.5}, "y": {"go": 0.7}}


@pytest.mark.parametrize("holder", ["polars", "sqlite"])
def test_rows_that_are_averaged_but_are_no_runs_are_noted(holder: str, tmp_path: Path) -> None:
    cells = [(agent, seed, step, step + seed) for agent in "xy" for seed in (1, 2) for step in (100, 200)]
    frame = pl.DataFrame(cells, schema=["algo", "seed", "step", "return"], orient="row").with_columns(env=pl.lit("go"))
    curves = frame if holder == "polars" else in_sqlite(frame.to_dict(as_series=False), tmp_path)
    said = "rows of one agent and task that differ in 'step' are averaged as runs: where={'step': ...}"
    assert said in notes(nb.read_scores(curves))
    final = nb.read_scores(curves, where={"step": 200})
    assert (final.values.tolist(), said in notes(final)) == ([[201.5], [201.5]], False)


def test_outcomes_of_minus_one_are_advised_as_losses() -> None:
    log = pl.DataFrame({"a": ["x", "y", "x"], "b": ["y", "z", "z"], "result": [-1, 0, 1]})
    with pytest.raises(nb.InputError, match="if 1 and -1 say that the first or the second agent won, and 0 that"):
        nb.read_matches(log)
    rules = {"1": 1, "-1": 0, "0": 0.5}
    assert counts(nb.read_matches(log, outcomes=rules)) == {
        ("x", "y"): (0, 0, 1), ("y", "z"): (0, 1, 0), ("x", "z"): (1, 0, 0),
    }  # fmt: skip


def test_whole_numbers_are_averages_only_if_they_differ_by_more_than_their_rounding(tmp_path: Path) -> None:
    columns = {"model": ["x", "y", "z"], "go": [1.5, 2.0, 2.0], "hex": [3, 2, 1], "average": [2.0, 2.0, 2.0]}
    pl.DataFrame(columns).write_ndjson(tmp_path / "file.jsonl")  # 2.25 and 1.5 are near 2, but not 2
    for source in (columns, pd.DataFrame(columns), tmp_path / "file.jsonl"):
        assert nb.read_scores(source).tasks == ("go", "hex", "average")
    (tmp_path / "file.csv").write_text("model,go,hex,average\nx,60.5,71,66\ny,40.5,51,46\nz,20.5,31,26\n")
    assert nb.read_scores(tmp_path / "file.csv").tasks == ("go", "hex")


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_runs_have_the_same_mean_and_error_to_the_last_bit_in_every_engine(make: Any) -> None:
    cells = [("x", "go", 0.1 * k**1.5) for k in range(40)] + [("y", "go", 0.3 * k**1.1) for k in range(40)]
    columns = dict(zip(("model", "task", "score"), map(list, zip(*cells, strict=True)), strict=True))
    wanted = nb.read_scores(pl.DataFrame(columns)[::-1])
    found = nb.read_scores(make(columns))
    assert (table(found), table(found, "stderr")) == (table(wanted), table(wanted, "stderr"))


def test_a_row_per_metric_is_turned_and_scores_by_agent_one_level_down_are_read(tmp_path: Path) -> None:
    (tmp_path / "file.csv").write_text("Metric,GPT-4,Claude\nacc,0.8,0.9\nf1,0.7,0.6\n")
    assert table(nb.read_scores(tmp_path / "file.csv")) == {
        "GPT-4": {"acc": 0.8, "f1": 0.7},
        "Claude": {"acc": 0.9, "f1": 0.6},
    }
    document = {"version": 1, "models": {"x": {"go": 0.5, "hex": 0.4}, "y": {"go": 0.6, "hex": 0.1}}}
    (tmp_path / "file.json").write_text(json.dumps(document))
    found = nb.read_scores(tmp_path / "file.json")
    assert table(found) == table(nb.read_scores(document)) == document["models"]
    assert "scores are those of 'models'; not used: 'version'" in notes(found)


def test_steps_and_downloads_are_no_tasks_and_ratings_with_their_deviation_are_finished(tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    path.write_text("checkpoint,step,downloads_total,acc\na,1000,7,0.5\nb,2000,9,0.6\n")
    assert nb.read_scores(path).tasks == ("acc",)
    path.write_text("player,rating,rd\nx,1500,50\ny,1600,60\n")
    with pytest.raises(nb.InputError, match="is a finished leaderboard"):
        read(path)
