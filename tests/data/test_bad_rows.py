"""Rows that cannot be used: an error names the row, the agent and what is wrong; ``skip`` counts and lists them."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import nashboard as nb
from commands import Run
from data.conftest import Columns, Engine, every_local_engine
from data.formats.reading import counts, left_out, table
from nashboard.data.formats import FORMATS
from nashboard.data.read import read


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


LOG: Columns = {
    "model_a": ["x", "x", None, "y", "y", "z"],
    "model_b": ["y", "y", "y", "z", "z", "x"],
    "winner": ["model_a", "nobody", "tie", "tie", None, "model_b"],
    "weight": [1.0, 1.0, 1.0, 2.0, 1.0, -1.0],
}


@every_local_engine
def test_bad_rows_of_a_log_are_skipped_and_counted_in_every_engine(engine: Engine) -> None:
    with pytest.raises(nb.InputError):
        nb.read_matches(engine(LOG))
    matches = nb.read_matches(engine(LOG), bad_rows="skip")
    assert counts(matches) == {("x", "y"): (1, 0, 0), ("y", "z"): (0, 2, 0)}
    assert sum(count for what, count, _ in left_out(matches) if what == "bad rows") == 4
    assert matches.origin.rows == 6


def test_skipped_rows_of_a_file_are_listed_with_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    pl.DataFrame(LOG).write_csv(path)
    assert left_out(nb.read_matches(path, bad_rows="skip")) == [
        ("bad rows", 1, "no agent name in 'model_a' (data row 3)"),
        ("bad rows", 1, "no weight of at least 0 in 'weight' (data row 6)"),
        ("bad rows", 2, "unknown outcome: nothing, 'nobody' (data rows 2, 5)"),
    ]


@every_local_engine
def test_matches_of_an_agent_with_itself_are_bad_rows_unless_it_is_said_what_they_are(engine: Engine) -> None:
    log = engine({"a": ["x", "x", "y", "z"], "b": ["x", "y", "z", "z"], "winner": ["x", "x", "y", "draw"]})
    matches = nb.read_matches(log, bad_rows="skip")
    assert (matches.n_games, matches.origin.rows) == (2, 4)
    assert [(what, count, why[:19]) for what, count, why in left_out(matches)] == [
        ("bad rows", 2, "an agent met itself")
    ]
    assert left_out(nb.read_matches(log, bad_rows="skip", self_matches="drop"))[0][0] == "rows"
    for chosen in ({}, {"bad_rows": "skip", "self_matches": "error"}):
        options: Any = chosen
        with pytest.raises(nb.InputError, match="'x' and 'z' met themselves in 2 rows"):
            nb.read_matches(log, **options)


def test_matches_of_an_agent_with_itself_are_listed_with_their_rows(tmp_path: Path) -> None:
    pairs = put(tmp_path / "p.csv", "agent_a,agent_b,wins,draws,losses\nx,x,1,1,1\nx,y,1,2,3\n")
    log = put(tmp_path / "l.csv", "a,b,winner,lang\nx,x,a,en\nx,y,a,en\nz,z,b,de\ny,z,a,en\n")
    why = "an agent met itself (data row 1)"
    assert left_out(nb.read_matches(pairs, bad_rows="skip")) == [("bad rows", 1, why)]
    assert left_out(nb.read_matches(log, bad_rows="skip", where={"lang": "en"}))[0] == ("bad rows", 1, why)
    segments = nb.read_segments(log, "lang", bad_rows="skip")
    assert left_out(segments.parts["en"]) == [("bad rows", 1, "an agent met itself")]


def test_rows_with_too_few_or_too_many_cells_are_skipped_and_the_first_is_named(tmp_path: Path) -> None:
    path = put(tmp_path / "log.csv", "model_a,model_b,winner\nx,y,model_a\ny,z\nz,x,tie,1,2\n\ny,x,tie\n")
    with pytest.raises(
        nb.InputError, match=r"data row 2 \(line 3, 'y'\) has 2 cells, the header has 3: .*bad_rows='skip'"
    ):
        nb.read_matches(path)
    matches = nb.read_matches(path, bad_rows="skip")
    assert counts(matches) == {("x", "y"): (1, 1, 0)}
    assert left_out(matches) == [("bad rows", 2, "other than 3 cells: row 2 ('y') has 2, row 3 ('z') has 5")]


def test_a_table_that_stops_being_text_behind_a_bad_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(b"model_a,model_b,winner\nx,y\n" + b"x,y,tie\n" * 40_000 + b"\xff,y,tie\n")
    with pytest.raises(nb.InputError, match="is not UTF-8"):
        nb.read_matches(path, bad_rows="skip")


def test_broken_lines_of_json_are_skipped(tmp_path: Path) -> None:
    good = '{"a": "x", "b": "y", "winner": "a"}\n'
    path = put(tmp_path / "log.jsonl", good + '{"a": "x", "b"\n' + good + "[1]\n")
    with pytest.raises(nb.InputError, match="line 2"):
        nb.read_matches(path)
    matches = nb.read_matches(path, bad_rows="skip")
    assert (matches.n_games, left_out(matches)) == (2, [("bad rows", 2, "not a json object (lines 2, 4)")])


@every_local_engine
def test_bad_rows_of_a_long_table_are_skipped_in_every_engine(engine: Engine) -> None:
    rows: Columns = {"model": ["x", "y", "y", "x", None], "task": ["t"] * 5, "score": ["1", "2", "high", "4", "5"]}
    with pytest.raises(nb.InputError, match=r"'y' on 't'.* is 'high', not a number"):
        nb.read_scores(engine(rows))
    scores = nb.read_scores(engine(rows), bad_rows="skip")
    assert table(scores) == {"x": {"t": 2.5}, "y": {"t": 2.0}}
    assert [(what, count) for what, count, _ in left_out(scores)] == [("bad rows", 1), ("bad rows", 1)]


def test_an_agent_with_a_word_among_its_scores_is_named_or_skipped(tmp_path: Path) -> None:
    path = put(tmp_path / "s.csv", "model,go,chess\nx,1,2\ny,2,high\n,3,4\nz,0.5,1\n")
    with pytest.raises(nb.InputError, match=r"data row 3, column 'model' is empty: .*bad_rows='skip'"):
        nb.read_scores(path)
    scores = nb.read_scores(path, bad_rows="skip")
    assert scores.agents == ("x", "z")
    assert left_out(scores) == [
        ("bad rows", 1, "no name in 'model' (data row 3)"),
        ("bad rows", 1, "a score is not a number: 'y'"),
    ]


def test_a_short_row_of_a_leaderboard_names_its_model(tmp_path: Path) -> None:
    path = put(tmp_path / "live.csv", "model,a,b,c\nalpha,1,2,3\nbeta,1,2\ngamma,3,2,1\n")
    with pytest.raises(nb.InputError, match=r"data row 2 \(line 3, 'beta'\) has 3 cells, the header has 4"):
        nb.read_scores(path)
    assert nb.read_scores(path, bad_rows="skip").agents == ("alpha", "gamma")


def test_bad_counts_games_and_scores_of_matches_are_skipped(tmp_path: Path) -> None:
    pairs = put(tmp_path / "p.csv", "agent_a,agent_b,wins,losses\nx,y,3,1\ny,z,-1,0\nx,z,1,many\n")
    assert nb.read_matches(pairs, bad_rows="skip").n_games == 4
    goals = put(tmp_path / "g.csv", "home,away,home_score,away_score\nx,y,3,1\ny,z,won,0\nz,x,0,0\n")
    with pytest.raises(nb.InputError, match=r"data row 2 \('y' against 'z'\), column 'home_score' is 'won', not"):
        nb.read_matches(goals)
    assert nb.read_matches(goals, bad_rows="skip").n_games == 2
    pgn = put(tmp_path / "g.pgn", '[White "x"]\n[Black "y"]\n[Result "1-0"]\n\n1-0\n\n[White "x"]\n[Black "y"]\n'
                                  '[Result "maybe"]\n\n*\n')  # fmt: skip
    with pytest.raises(nb.InputError, match="unknown outcome: 'maybe' in 1 row"):
        nb.read_matches(pgn)
    assert nb.read_matches(pgn, bad_rows="skip").n_games == 1


SKIPPED: dict[str, tuple[str, str, tuple[str, ...], str]] = {  # file, content, agents or tasks that are left, bad rows
    "opencompass": (
        "summary.csv",
        "dataset,version,metric,mode,x,y\nmmlu,v1,acc,gen,60,70\narc,v1,acc,gen,oops,80\nhs,v1,acc,gen,1,2\n",
        ("mmlu", "hs"), "'arc'",
    ),
    "alpaca-eval-leaderboard": (
        "board.csv",
        ",win_rate,standard_error,n_wins,n_wins_base,n_draws,n_total\nx,50,1,1,1,0,2\ny,many,1,1,1,0,2\nz,40,1,1,1,0,2\n",
        ("x", "z"), "'y'",
    ),
    "helm": (
        "groups.json",
        '{"header": [{"value": "Model"}, {"value": "EM"}], "rows": [[{"value": "x"}, {"value": 1}], '
        '[{"value": "y"}, {"value": "?"}], [{"value": "z"}, {"value": 2}]]}',
        ("x", "z"), "'y'",
    ),
    "wildbench": (
        "wild.json",
        '{"x": {"win_much": 1, "win": 1, "tie": 1, "lose": 1, "lose_much": 1}, '
        '"y": {"win_much": -1, "win": 1, "tie": 1, "lose": 1, "lose_much": 1}}',
        ("baseline", "x"), "'y'",
    ),
    "rliable": (
        "runs.json", '{"x": [[1, 2], [2, 3]], "y": [[1], [2]], "z": [[0, 1]], "w": [["?", 1]]}', ("x", "z"), "'w'",
    ),
    "payoff-matrix (payoffs)": ("m.csv", ",x,y,z\nx,0,1,-1\ny,-1,0,?\nz,1,-1,0\n", ("x", "z"), "'y'"),
    "payoff-matrix (counts)": ("n.csv", ",x,y,z\nx,0,5,7\ny,2\nz,1,9,0\n", ("x", "z"), "row 2"),
    "scores-by-task": ("t.csv", "task,x,y\ngo,1,2\nchess,?,1\nhex,4,1\n", ("go", "hex"), "'chess'"),
    "livecodebench": (
        "live.csv", "question_id,model,pass@1\nq,x,1\nq,y,0\nr,y,?\nr,x,1\n", ("x", "y"), "data row 3",
    ),
    "wmt-mqm": ("mqm.tsv", "system\tseg_id\tmqm_avg_score\nx\t1\t-1\ny\t1\t-2\ny\t2\tbad\n", ("x", "y"), "data row 3"),
    "lm-eval-samples": (
        "lab__x/samples_arc_2024-01-01T00-00-00.jsonl",
        '{"doc_id": 0, "acc": 1}\n{"doc_id": 1, "acc"\n{"doc_id": 2, "acc": 0}\n', ("lab/x", "lab/y"), "line 2",
    ),
    "every-eval-ever": (
        "x.json",
        '{"model_info": {"id": "x"}, "evaluation_results": [{"evaluation_name": "go", "score_details": {"score": 1}}, '
        '{"evaluation_name": "hex", "score_details": {"score": "?"}}, {"score": 1}]}',
        ("x", "y"), "result 2",
    ),
}  # fmt: skip


def test_every_reader_takes_bad_rows() -> None:
    assert [entry.name for entry in FORMATS if "bad_rows" not in entry.options] == []


@pytest.mark.parametrize("name", SKIPPED)
def test_every_reader_names_a_bad_row_or_skips_it(name: str, tmp_path: Path) -> None:
    place, content, left, bad = SKIPPED[name]
    path = tmp_path / "data" / place
    path.parent.mkdir(parents=True)
    put(path, content)
    if name == "lm-eval-samples":  # two agents in a folder
        other = path.parents[1] / "lab__y" / path.name
        other.parent.mkdir()
        put(other, '{"doc_id": 0, "acc": 1}\n{"doc_id": 2, "acc": 1}\n')
    if name == "every-eval-ever":
        put(path.with_name("y.json"), content.replace('"x"', '"y"').replace('"?"', "2").replace(', {"score": 1}', ""))
        put(path.with_name("z.json"), '{"model_info": {}, "evaluation_results": []}')
    source = tmp_path / "data" if name in ("lm-eval-samples", "every-eval-ever") else path
    with pytest.raises(nb.InputError, match="bad_rows='skip'"):
        read(source)
    data = read(source, bad_rows="skip")
    assert data.origin.format == name
    assert left == data.agents or left == getattr(data, "tasks", ())
    assert any(what.startswith("bad") and bad in why for what, _, why in left_out(data)), left_out(data)


def test_a_table_of_bad_rows_alone_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path / "s.csv", "model,go\n,high\n,2\n")
    with pytest.raises(nb.InputError, match="a comparison needs at least two"):
        nb.read_scores(path, bad_rows="skip")


def test_a_choice_that_does_not_exist_is_refused() -> None:
    frame = pl.DataFrame({"a": ["x"], "b": ["y"], "winner": ["a"]})
    for options, message in (
        ({"bad_rows": "skp"}, r"'bad_rows' is 'skp' \(did you mean 'skip'\?\): use 'error' or 'skip'"),
        ({"components": "each"}, "'components' is 'each'.*: use 'all' or 'largest'"),
        ({"self_matches": "keep"}, "'self_matches' is 'keep'"),
    ):
        chosen: Any = options
        with pytest.raises(nb.InputError, match=message):
            nb.read_matches(frame, **chosen)


TWO_GROUPS = [("x", "y", 1), ("y", "x", 1), ("y", "v", 0), ("p", "q", 1)]


def test_rare_agents_and_smaller_groups_are_left_out_where_asked() -> None:
    assert len(nb.read_matches(TWO_GROUPS).components) == 2
    largest = nb.read_matches(TWO_GROUPS, components="largest")
    assert largest.agents == ("v", "x", "y")
    assert "2 agents of 1 other group that never met the largest left out" in largest.origin.notes
    often = nb.read_matches(TWO_GROUPS, min_games=2)
    assert often.agents == ("x", "y")
    assert any("3 agents with fewer than 2 games left out: 'p', 'q' and 'v'" in note for note in often.origin.notes)
    with pytest.raises(nb.InputError, match="fewer than two agents have 9 games"):
        nb.read_matches(TWO_GROUPS, min_games=9)
    with pytest.raises(nb.InputError, match="min_games is -1"):
        nb.read_matches(TWO_GROUPS, min_games=-1)


def test_components_are_split_kept_or_refused() -> None:
    from nashboard.data.segments import split_components

    matches = read(TWO_GROUPS)
    assert isinstance(matches, nb.Matches)
    assert [part.agents for part in split_components(matches, "each")] == [("v", "x", "y"), ("p", "q")]
    with pytest.raises(nb.InputError, match="fall into 2 groups that never met"):
        split_components(matches)
    wrong: Any = "some"
    with pytest.raises(nb.InputError, match="there is no choice 'some'"):
        split_components(matches, wrong)


STRESS = pytest.param("stress", marks=pytest.mark.slow)


@pytest.mark.thin(3)
@pytest.mark.parametrize("name", ["elo", "melo", "hodge", "nash", "rank", "audit", STRESS, "predict"])
def test_every_command_that_meets_groups_apart_names_an_option_that_it_has(
    name: str, tmp_path: Path, command: Run
) -> None:
    path = put(tmp_path / "log.csv", "a,b,winner\nx,y,a\ny,x,a\nx,z,a\nz,y,b\ny,z,a\nu,v,a\nv,u,a\n")
    words = [name, str(path), *(["x", "y"] if name == "predict" else [])]
    told = command(*words, code=2).stderr
    option = re.search(r"keep the largest with (--\w+ \w+)", told)
    assert option, told
    again = command(*words, *option[1].split())
    assert "2 agents of 1 other group that never met the largest left out" in again.stderr


def test_rows_that_filters_leave_out_are_no_bad_rows(tmp_path: Path) -> None:
    path = put(tmp_path / "log.csv", "a,b,winner,mode\nx,y,a,rated\ny,z,huh,rated\nz,x,huh,casual\n,x,a,casual\n")
    matches = nb.read_matches(path, where={"mode": "rated"}, bad_rows="skip")
    assert left_out(matches) == [
        ("bad rows", 1, "unknown outcome: 'huh' (data row 2)"),
        ("rows", 2, "mode is not rated"),
    ]


def test_a_preference_beyond_its_scale_is_a_bad_row_and_none_at_all_is_not(tmp_path: Path) -> None:
    pairs = [("x", "y", 1), ("x", "z", 7), ("x", "z", None), ("y", "z", 1.25)]
    rows = [{"generator_1": a, "generator_2": b, "preference": share} for a, b, share in pairs]
    matches = nb.read_matches(put(tmp_path / "annotations.json", json.dumps(rows)), bad_rows="skip")
    assert matches.n_games == 2
    assert left_out(matches) == [
        ("bad rows", 1, "no preference from 1 to 2, and none of 0, in 'preference' (data row 2)"),
        ("rows", 1, "no preference was given"),
    ]


def test_the_advice_about_a_bad_row_can_be_followed(tmp_path: Path) -> None:
    rates = put(tmp_path / "rates.csv", "model_a,model_b,win_rate\nx,y,0.6\ny,z,1.6\nx,z,0.2\n")
    with pytest.raises(nb.InputError, match=r"'y' against 'z'\): leave such rows out with bad_rows='skip'$"):
        nb.read_matches(rates)  # rules for labels have no meaning there
    assert nb.read_matches(rates, bad_rows="skip").n_games == 2
    lines = put(
        tmp_path / "log.jsonl", '{"a": "x", "b": "y", "winner": "a"}\n{"a":\n{"a": "y", "b": "z", "winner": "b"}\n'
    )
    with pytest.raises(
        nb.InputError, match=r"line 2' is not valid json: .*: leave such lines out with bad_rows='skip'$"
    ):
        nb.read_matches(lines)
    assert left_out(nb.read_matches(lines, bad_rows="skip")) == [("bad rows", 1, "not a json object (line 2)")]


def test_a_word_among_the_scores_of_agents_that_are_called_like_sides_is_named(tmp_path: Path) -> None:
    path = put(tmp_path / "by_task.csv", "task,A,B,C\ngo,1,2,3\nchess,1,oops,3\nshogi,1,1,2\n")
    with pytest.raises(nb.InputError, match=r"data row 2 \('chess'\), column 'B' is 'oops', not a number"):
        nb.read_scores(path)
    assert nb.read_scores(path, bad_rows="skip").tasks == ("go", "shogi")


def test_a_log_of_opponents_without_an_outcome_is_no_table_of_scores(tmp_path: Path) -> None:
    path = put(tmp_path / "log.csv", "player,opponent,minutes\nx,y,30\ny,z,40\nv,w,20\n")
    with pytest.raises(nb.InputError, match="a log of matches between 'player' and 'opponent', but without an outcome"):
        nb.read_scores(path)


@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize("bad", ['["y", "z"]', "3"])
def test_bad_items_of_a_json_list_are_named_and_skipped(bad: str, place: int, tmp_path: Path) -> None:
    good = ['["x", "y", 1]', '["y", "z", 0]', '["z", "x", "draw"]']
    path = put(tmp_path / "log.json", f"[{', '.join([*good[:place], bad, *good[place:]])}]")
    if bad == "3" and not place:  # then it is no list of triples
        with pytest.raises(nb.InputError, match="item 1 of the list is 3, not an object"):
            read(path)
        return
    with pytest.raises(nb.InputError, match=rf"item {place + 1} of the list is .*, not 3 cells .*: .*bad_rows='skip'"):
        read(path)
    matches = nb.read_matches(path, bad_rows="skip")
    assert (matches.n_games, matches.origin.rows) == (3, 4)
    assert left_out(matches) == [("bad rows", 1, f"not a json object (item {place + 1})")]


def test_short_tuples_of_a_list_are_bad_rows() -> None:
    games = [("x", "y", 1), ("y", "z"), ("x", "y", 0, 2)]
    with pytest.raises(nb.InputError, match=r"unknown outcome: nothing in 1 row \(data row 2, 'y' against 'z'\)"):
        nb.read_matches(games, weight=False)
    assert nb.read_matches(games, weight=False, bad_rows="skip").n_games == 2
    with pytest.raises(nb.InputError, match="item 2 of the list has 5 cells: give agent, agent, outcome"):
        nb.read_matches([("x", "y", 1), ("x", "y", 1, 1, 1)])


@every_local_engine
def test_infinite_scores_are_bad_rows_in_every_engine(engine: Engine) -> None:
    wide: Columns = {"model": ["x", "y", "z"], "go": [1.0, float("inf"), 2.0], "chess": [1.0, 2.0, None]}
    long: Columns = {"model": ["x", "y", "z"], "task": ["go"] * 3, "score": [1.0, float("-inf"), 2.0]}
    goals: Columns = {"home": ["x", "y", "z"], "away": ["y", "z", "x"], "home_goals": [1.0, float("inf"), 2.0],
                      "away_goals": [0.0, 1.0, 2.0]}  # fmt: skip
    for columns in (wide, long):
        source = engine(columns)  # some engines keep one table, in one file
        with pytest.raises(nb.InputError, match="inf: a score must be finite"):
            nb.read_scores(source)
        assert nb.read_scores(source, bad_rows="skip").agents == ("x", "z")
    assert nb.read_matches(engine(goals), bad_rows="skip").n_games == 2
