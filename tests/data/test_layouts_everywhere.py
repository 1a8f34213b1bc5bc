"""The public layouts in every engine: one path reads them all, and the counts are those of a file."""

import json
from typing import Any

import numpy as np
import pytest

import nashboard as nb
from data.conftest import LOCAL, SERVERS, Columns, Engine, every_local_engine, with_slow
from data.formats.reading import counts, left_out

VARIED = ("pandas", "polars lazy", "duckdb", "sqlite")  # where other types of the same columns are tried


def varied(name: str, first: Any, *others: Any) -> pytest.MarkDecorator:
    """Try the first value in every engine of this process, the others in some of each kind."""
    cases = with_slow(LOCAL, first) + [case for other in others for case in with_slow(VARIED, other)]
    return pytest.mark.parametrize(("engine", name), cases, indirect=["engine"])


# SQLite and PostgreSQL have no objects, and Dask makes them text; these read them as text, below
WITHOUT_OBJECTS = ["sqlite", "ibis", "dask threads"]
WITH_OBJECTS = [name for name in LOCAL if name not in WITHOUT_OBJECTS]

TAGS = [{"high_freq": False, "sampled": True}, {"high_freq": True, "sampled": False}, None, TAGS_TRUE := {
    "high_freq": True, "sampled": True}, TAGS_TRUE]  # fmt: skip
BATTLES: Columns = {
    "model_a": ["x", "y", "x", "é", "x"],
    "model_b": ["y", "x", "y", "x", "y"],
    "winner": ["model_a", "model_a", "model_b", "tie (bothbad)", "model_b"],
    "anony": [True, True, True, True, False],
}
SAMPLED = {("x", "y"): (1, 0, 0), ("x", "é"): (0, 1, 0)}
NOT_SAMPLED = [
    ("rows", 1, "the models were not anonymous"),
    ("rows", 2, "duplicate prompts (dedup_tag.sampled is false)"),
]


@pytest.mark.parametrize("engine", with_slow(WITH_OBJECTS), indirect=True)
def test_duplicate_prompts_are_left_out_where_the_tag_is_an_object(engine: Engine) -> None:
    matches = nb.read_matches(engine(BATTLES | {"dedup_tag": TAGS}))
    assert matches.origin.format == "chatbot-arena"
    assert (counts(matches), left_out(matches)) == (SAMPLED, NOT_SAMPLED)


@varied("write", json.dumps, str, lambda tag: json.dumps(tag, separators=(",", ":")))
def test_duplicate_prompts_are_left_out_where_the_tag_is_text(engine: Engine, write: Any) -> None:
    matches = nb.read_matches(engine(BATTLES | {"dedup_tag": [tag and write(tag) for tag in TAGS]}))
    assert (counts(matches), left_out(matches)) == (SAMPLED, NOT_SAMPLED)


@varied("kind", int, float, bool, str)
def test_marks_of_the_winner_are_counted(engine: Engine, kind: type) -> None:
    hot = {"winner_model_a": [1, 0, 0, 0], "winner_model_b": [0, 1, 0, 0], "winner_tie": [0, 0, 1, 1]}
    log: Columns = {"model_a": ["x", "x", "z", "é"], "model_b": ["y", "y", "x", "x"]}
    log |= {name: [kind(mark) for mark in marks] for name, marks in hot.items()}
    matches = nb.read_matches(engine(log))
    assert (matches.origin.format, matches.origin.rows) == ("kaggle", 4)
    assert counts(matches) == {("x", "y"): (1, 0, 1), ("x", "z"): (0, 1, 0), ("x", "é"): (0, 1, 0)}
    if kind is int:
        broken = log | {"winner_tie": [1, 0, 1, None]}
        with pytest.raises(
            nb.InputError, match=r"unknown outcome: '0 / 0 / nothing' in 1 row .*, '1 / 0 / 1' in 1 row"
        ):
            nb.read_matches(engine(broken))


@varied("as_text", False, True)
def test_preferences_of_alpaca_eval_are_counted(engine: Engine, as_text: bool) -> None:
    preferences = [1.0, 2.0, 1.5, 0.0, 1.25, None, 1.0]
    log: Columns = {
        "generator_1": ["x", "x", "x", "x", "y", "x", "é"],
        "generator_2": ["y", "y", "y", "y", "z", "y", "x"],
        "preference": [value if value is None or not as_text else f" {value}" for value in preferences],
    }
    matches = nb.read_matches(engine(log))
    assert (matches.origin.format, matches.origin.rows) == ("alpaca-eval", 7)
    assert counts(matches) == {("x", "y"): (1, 2, 1), ("x", "é"): (0, 0, 1), ("y", "z"): (0.75, 0, 0.25)}
    assert left_out(matches) == [("rows", 1, "no preference was given")]
    broken = log | {"preference": [*log["preference"][:-1], "first" if as_text else 3.0]}
    label = "preference first" if as_text else "preference 3"
    with pytest.raises(nb.InputError, match=f"column 'preference' has an unknown outcome: '{label}' in 1 row"):
        nb.read_matches(engine(broken))
    assert nb.read_matches(engine(broken), outcomes={label: None}).n_games == 5


@pytest.mark.parametrize("engine", with_slow(VARIED), indirect=True)
def test_continuous_preferences_are_no_labels(engine: Engine) -> None:
    preferences = np.linspace(1, 2, 1301).tolist()  # more than there may be different labels
    log: Columns = {"generator_1": ["x"] * 1301, "generator_2": ["y"] * 1301, "preference": preferences}
    matches = nb.read_matches(engine(log))
    assert matches.draws.tolist() == [1]
    np.testing.assert_allclose([matches.wins[0], matches.losses[0]], [650, 650], rtol=1e-12)
    with pytest.raises(nb.InputError, match="unknown outcome: 'preference 7' in 1 row"):
        nb.read_matches(engine(log | {"preference": [*preferences[:-1], 7.0]}))


@every_local_engine
def test_the_two_games_of_mt_bench_are_counted_as_one(engine: Engine) -> None:
    log: Columns = {
        "model_1": ["x", "x", "x", "é", "x", "x"],
        "model_2": ["y", "y", "y", "x", "y", "y"],
        "g1_winner": ["model_1", "model_1", "tie", "model_2", "error", None],
        "g2_winner": ["model_1", "model_2", "tie", "model_2", "model_1", "tie"],
    }
    matches = nb.read_matches(engine(log))
    assert (matches.origin.format, matches.origin.rows) == ("mt-bench", 6)
    assert counts(matches) == {("x", "y"): (1, 2, 0), ("x", "é"): (1, 0, 0)}
    assert left_out(matches) == [("rows", 2, "the judge failed (error)")]
    with pytest.raises(nb.InputError, match="unknown outcome: 'model_1 / modell_2' in 1 row"):
        nb.read_matches(engine(log | {"g2_winner": ["model_1", "modell_2", "tie", "model_2", "model_1", "tie"]}))


@varied("kind", int, float, str)
def test_counts_that_are_already_summed_are_summed_up(engine: Engine, kind: type) -> None:
    table: Columns = {
        "agent_a": ["x", "y", "x", "x"],
        "agent_b": ["y", "x", "é", "x"],
        "wins": [kind(count) for count in (3, 1, 10, 1)],
        "draws": [kind(count) for count in (2, 0, 0, 1)],
        "losses": [kind(count) for count in (1, 4, 5, 1)],
        "season": ["1", "1", "2", "1"],
    }
    matches = nb.read_matches(engine(table), self_matches="drop", where={"season": "1"})
    assert (matches.origin.format, matches.origin.rows) == ("pair-counts", 4)
    assert counts(matches) == {("x", "y"): (7, 2, 2)}
    assert left_out(matches) == [("rows", 1, "season is not 1"), ("rows", 1, "an agent met itself")]
    broken = table | {"draws": [kind(-1) if kind is not str else "many", *table["draws"][1:]]}
    with pytest.raises(
        nb.InputError,
        match=r"('x' against 'y'|data row 1 \('x' against 'y'\)), column 'draws' is '(-1|many)': a count must",
    ):
        nb.read_matches(engine(broken), self_matches="drop")


GAMES = [
    [{"score": "A>>B"}, {"score": "B>A"}],
    [{"score": "A=B"}, {"score": None}],
    [{"score": "B<<A"}],
]
JUDGMENTS: Columns = {
    "uid": ["u", "v", "w"],
    "model": ["x", "x", "é"],
    "baseline": ["y", "y", "y"],
    "games": GAMES,
}


@pytest.mark.parametrize("engine", with_slow(WITH_OBJECTS), indirect=True)
def test_the_games_of_arena_hard_are_counted(engine: Engine) -> None:
    matches = nb.read_matches(engine(JUDGMENTS), cluster="uid")
    assert (matches.origin.format, matches.origin.rows) == ("arena-hard", 3)
    assert counts(matches) == {("x", "y"): (0, 1, 4), ("y", "é"): (3, 0, 0)}
    assert left_out(matches) == [("games", 2, "the judge gave no verdict")]
    assert matches.clusters is not None
    assert matches.clusters.size == 3


@pytest.mark.parametrize("engine", with_slow(WITHOUT_OBJECTS), indirect=True)
def test_games_that_are_no_lists_are_refused_with_what_to_do(engine: Engine) -> None:
    as_text = JUDGMENTS | {"games": [json.dumps(games) for games in GAMES]}
    with pytest.raises(
        nb.InputError, match="'games' contains String, not lists of objects: read the json lines or parquet files"
    ):
        nb.read_matches(engine(as_text))


@every_local_engine
def test_published_leaderboards_are_read(engine: Engine) -> None:
    board: Columns = {
        "Model": ["a", "b"], "fullname": ["org/a", "org/b"], "Average": [1.0, 2.0],
        "IFEval": [40.0, None], "IFEval Raw": [0.4, 0.5], "BBH": [10.0, 20.0], "BBH Raw": [0.1, 0.2],
    }  # fmt: skip
    scores = nb.read_scores(engine(board))
    assert (scores.origin.format, scores.agents, scores.tasks) == (
        "open-llm-leaderboard",
        ("org/a", "org/b"),
        ("IFEval", "BBH"),
    )
    np.testing.assert_array_equal(scores.values, [[40, 10], [np.nan, 20]])
    summary: Columns = {
        "dataset": ["mmlu", "gsm8k", "average"], "version": ["v1", "v2", "-"],
        "metric": ["acc", "acc", "naive_average"],
        "mode": ["gen", "gen", "gen"], "m-1": [1.0, 2.0, 1.5], "m-2": [3.0, 4.0, 3.5],
    }  # fmt: skip
    scores = nb.read_scores(engine(summary))
    assert (scores.origin.format, scores.agents, scores.values.tolist()) == (
        "opencompass",
        ("m-1", "m-2"),
        [[1, 2], [3, 4]],
    )


@every_local_engine
def test_the_leaderboard_of_alpaca_eval_names_its_agents_in_every_engine(engine: Engine) -> None:
    board: Columns = {
        "name": ["x", "y"], "win_rate": [60.0, 40.0], "standard_error": [1.5, 1.6], "n_wins": [480, 320],
        "n_wins_base": [320, 480], "n_draws": [5, 5], "n_total": [805, 805], "avg_length": [1500, 1700],
    }  # fmt: skip
    scores = nb.read_scores(engine(board))
    assert (scores.origin.format, sorted(scores.agents)) == ("alpaca-eval-leaderboard", ["x", "y"])
    assert scores.select(["x"]).stderr.tolist() == [[1.5]]
    assert scores.n.tolist() == [[805], [805]]


@every_local_engine
def test_rows_with_the_same_question_are_one_cluster_in_every_engine(engine: Engine) -> None:
    log: Columns = {
        "question_id": [f"q{k // 3}" for k in range(60)],
        "model_a": ["x", "y", "z"] * 20,
        "model_b": ["y", "z", "x"] * 20,
        "winner": ["model_a", "model_b", "tie", "model_a"] * 15,
    }
    clusters = nb.read_matches(engine(log)).clusters
    assert clusters is not None
    assert clusters.size == 20


# A cluster of Dask runs what Dask's threads run: that expressions reach its workers is shown with logs and scores.
@pytest.mark.parametrize("engine", [one for one in SERVERS if one.values[0] != "dask cluster"], indirect=True)
def test_every_layout_is_counted_by_servers(engine: Engine, request: pytest.FixtureRequest) -> None:
    pairs: dict[str, Any] = {"x": ["x", "x", "y"], "y": ["y", "y", "x"]}
    hot = {"winner_model_a": [1, 0, 0], "winner_model_b": [0, 1, 0], "winner_tie": [0, 0, 1]}
    layouts: dict[str, Columns] = {
        "chatbot-arena": BATTLES | {"dedup_tag": [tag and json.dumps(tag) for tag in TAGS]},
        "kaggle": {"model_a": pairs["x"], "model_b": pairs["y"], **hot},
        "alpaca-eval": {"generator_1": pairs["x"], "generator_2": pairs["y"], "preference": [1.0, 2.0, None]},
        "mt-bench": {
            "model_1": pairs["x"], "model_2": pairs["y"], "g1_winner": ["model_1", "tie", "error"],
            "g2_winner": ["model_1", "model_2", "tie"],
        },
        "pair-counts": {"agent_a": pairs["x"], "agent_b": pairs["y"], "wins": [3, 2, 1], "losses": [1, 0, 1]},
    }  # fmt: skip
    expected = {
        "chatbot-arena": SAMPLED,
        "kaggle": {("x", "y"): (1, 1, 1)},
        "alpaca-eval": {("x", "y"): (1, 0, 1)},
        "mt-bench": {("x", "y"): (1, 1, 0)},
        "pair-counts": {("x", "y"): (6, 0, 2)},
    }
    for name, columns in layouts.items():
        matches = nb.read_matches(engine(columns))
        assert (matches.origin.format, counts(matches)) == (name, expected[name])
    if request.node.callspec.params["engine"] == "spark":
        assert counts(nb.read_matches(engine(BATTLES | {"dedup_tag": TAGS}))) == SAMPLED
        assert counts(nb.read_matches(engine(JUDGMENTS))) == {("x", "y"): (0, 1, 4), ("y", "é"): (3, 0, 0)}
