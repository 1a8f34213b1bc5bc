"""What columns of score tables may hold: numbers, directions, metrics, details of rows; and what is refused."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nashboard as nb
from data.formats.reading import left_out, low_is_good, table

Columns = dict[str, list[Any]]
ENGINES: dict[str, Callable[[Columns], Any]] = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "lazy polars": lambda columns: pl.LazyFrame(columns, strict=False),
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.sql("SELECT * FROM df", connection=connection_with(pd.DataFrame(columns))),
}


def connection_with(df: pd.DataFrame) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("df", df)
    return connection


def file_of(folder: Path, text: str) -> Path:
    (folder / "table.csv").write_text(text)
    return folder / "table.csv"


def test_metrics_are_not_mixed_from_agent_to_agent(tmp_path: Path) -> None:
    file = file_of(tmp_path, "model,task,metric,score\nx,t,acc,0.5\ny,t,ppl,12.0\n")
    with pytest.raises(
        nb.InputError, match=r"'metric': the task 't' is scored by 'acc' for 'x' but by 'ppl' for 'y': pass metric="
    ):
        nb.read_scores(file)


def test_a_metric_that_is_missing_is_another_metric(tmp_path: Path) -> None:
    file = file_of(tmp_path, "model,task,metric,score\nx,t,acc,0.5\ny,t,,12.0\n")
    with pytest.raises(nb.InputError, match="by 'acc' for 'x' but by 'nothing' for 'y'"):
        nb.read_scores(file)


@pytest.mark.parametrize("engine", ENGINES)
def test_metrics_of_a_frame_are_not_mixed_either(engine: str) -> None:
    frame: Columns = {"model": ["x", "y"], "task": ["t", "t"], "metric": ["acc", "ppl"], "score": [0.5, 12.0]}
    with pytest.raises(nb.InputError, match="the task 't' is scored by 'acc' for 'x' but by 'ppl' for 'y'"):
        nb.read_scores(ENGINES[engine](frame))


@pytest.mark.parametrize(
    ("yes", "no"), [("true", "false"), ("1", "0"), ("1.0", "0.0"), ("Y", "n"), ("T", "F"), ("yes", "No")]
)
def test_a_direction_has_many_spellings(yes: str, no: str, tmp_path: Path) -> None:
    rows = f"x,t,1,{yes}\ny,t,2,{yes}\nx,u,1,{no}\ny,u,2,\n"
    assert low_is_good(nb.read_scores(file_of(tmp_path, f"model,task,score,lower_is_better\n{rows}"))) == {"t"}


@pytest.mark.thin(3)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("words", [[True, True, False, False], [1.0, 1.0, 0.0, 0.0], [1, 1, 0, 0]])
def test_a_direction_is_read_from_every_frame(words: list[Any], engine: str) -> None:
    tasks, scores = ["t", "t", "u", "u"], [1, 2, 3, 4]
    frame: Columns = {"model": ["x", "y", "x", "y"], "task": tasks, "score": scores, "lower_is_better": words}
    assert low_is_good(nb.read_scores(ENGINES[engine](frame))) == {"t"}


def test_one_direction_spelt_twice_or_left_out_is_one_direction(tmp_path: Path) -> None:
    file = file_of(tmp_path, "model,task,score,lower_is_better\nx,t,1,true\nx,t,3,1\nx,t,2,\ny,t,2,yes\n")
    scores = nb.read_scores(file)
    assert (table(scores), low_is_good(scores)) == ({"x": {"t": 2}, "y": {"t": 2}}, {"t"})


def test_a_word_that_is_no_direction_is_refused_with_its_rows(tmp_path: Path) -> None:
    file = file_of(tmp_path, "model,task,score,lower_is_better\nx,t,1,up\ny,t,2,up\nx,u,1,down\ny,u,1,no\n")
    message = r"column 'lower_is_better' is 'up' and 'down' in 3 rows: write true or false, or pass lower_is_better="
    with pytest.raises(nb.InputError, match=message):
        nb.read_scores(file)
    assert low_is_good(nb.read_scores(file, lower_is_better=["u"])) == {"u"}


def test_a_contradiction_about_runs_is_settled_by_the_user(tmp_path: Path) -> None:
    file = file_of(tmp_path, "model,task,score,lower_is_better\nx,t,1,true\nx,t,2,false\ny,t,2,true\n")
    with pytest.raises(nb.InputError, match="marks 't' both as lower is better and as higher is better: pass"):
        nb.read_scores(file)
    assert low_is_good(nb.read_scores(file, lower_is_better=True)) == {"t"}


@pytest.mark.thin(2)
@pytest.mark.parametrize("number", ["7", "+7", "7.", ".5", "-.5", "1e3", "1E+3", "+.5e-3", "007", " 7 ", "-0"])
def test_a_number_is_the_same_in_long_and_wide_tables(number: str, tmp_path: Path) -> None:
    long = nb.read_scores(file_of(tmp_path, f"model,task,score\nx,t,{number}\ny,t,0.25\n"))
    wide = nb.read_scores(file_of(tmp_path, f"model,t\nx,{number}\ny,0.25\n"))
    assert table(long) == table(wide) == {"x": {"t": float(number)}, "y": {"t": 0.25}}


@pytest.mark.parametrize("text", ["1_000", "１２", "٣", "0x10", "1e", "1 000", "12%%", "1.2.3", "one"])
def test_what_only_looks_like_a_number_is_refused_in_long_and_wide_tables(text: str, tmp_path: Path) -> None:
    said = re.escape(f"{text!r}, not a number: empty the cell")
    with pytest.raises(nb.InputError, match=rf"table.csv', data row 1 \('x' on 't'\), column 'score' is {said}"):
        nb.read_scores(file_of(tmp_path, f"model,task,score\nx,t,{text}\ny,t,2\n"))
    with pytest.raises(nb.InputError, match=rf"table.csv', data row 1 \('x'\), column 't' is {said}"):
        nb.read_scores(file_of(tmp_path, f"model,t\nx,{text}\ny,2\n"))


@pytest.mark.parametrize("engine", ENGINES)
def test_text_among_the_scores_of_a_frame_is_refused_with_column_and_value(engine: str) -> None:
    frame = {"model": ["x", "y"], "task": ["t", "t"], "score": ["0.5", "high"]}
    with pytest.raises(nb.InputError, match=r"'frame', .*'y' on 't'.*'high', not a number"):
        nb.read_scores(ENGINES[engine](frame))


@pytest.mark.parametrize("engine", ["polars", "lazy polars", "pyarrow"])
@pytest.mark.parametrize("column", ["model", "task", "score", "metric", "lower_is_better"])
def test_lists_in_a_long_frame_are_refused_with_their_column(column: str, engine: str) -> None:
    frame: Columns = {"model": ["x", "y"], "task": ["t", "t"], "score": [1, 2]}
    with pytest.raises(nb.InputError, match=f"'frame', column '{column}' contains lists or objects"):
        nb.read_scores(ENGINES[engine](frame | {column: [[1], [2]]}))


@pytest.mark.parametrize("engine", ENGINES)
def test_scores_of_a_frame_may_be_text_that_is_a_number_or_missing(engine: str) -> None:
    frame = {"model": ["x", "y", "x", "y"], "task": ["t", "t", "u", "u"], "score": [" 0.5", "1e1", "N/A", "3"]}
    assert table(nb.read_scores(ENGINES[engine](frame))) == {"x": {"t": 0.5}, "y": {"t": 10, "u": 3}}


@pytest.mark.parametrize(
    "name",
    ["mean_score", "avg_score", "Overall Score", "average_accuracy", "Average (↑)", "Average ⬆️", "Avg."],
)
def test_averages_of_a_wide_table_are_left_out(name: str, tmp_path: Path) -> None:
    scores = nb.read_scores(file_of(tmp_path, f"model,t,u,{name}\nx,1,2,1.5\ny,2,3,2.5\n"))
    assert scores.tasks == ("t", "u")
    assert left_out(scores) == [("columns", 1, f"computed from the others: {name!r}")]


def test_an_average_of_scores_that_were_rounded_later_is_left_out(tmp_path: Path) -> None:
    table = "model,t,u,v,Average\nx,0.12,0.33,0.51,0.31667\ny,0.92,0.18,0.44,0.517\n"  # 0.124, 0.326 and 0.5 in full
    assert left_out(nb.read_scores(file_of(tmp_path, table)))[0] == (
        "columns",
        1,
        "computed from the others: 'Average'",
    )
    whole = "model,t,u,Average\nx,1,2,1.4\ny,2,3,2.5\n"  # whole numbers are not rounded
    assert nb.read_scores(file_of(tmp_path, whole)).tasks == ("t", "u", "Average")


def test_columns_without_any_number_are_left_out_and_listed(tmp_path: Path) -> None:
    scores = nb.read_scores(file_of(tmp_path, "model,t,u,notes\nx,1,,none\ny,2,-,none\n"))
    assert table(scores) == {"x": {"t": 1}, "y": {"t": 2}}
    assert left_out(scores) == [("columns", 2, "empty: 'u' and 'notes'")]


def test_a_link_around_the_name_of_an_agent_is_not_part_of_it(tmp_path: Path) -> None:
    content = "Rank (Borda),Model,t,Mean (Task)\n1,[x](https://x.org),1,1\n2,y,2,2\n"
    scores = nb.read_scores(file_of(tmp_path, content))
    assert (scores.agents, scores.tasks) == (("x", "y"), ("t",))


@pytest.mark.parametrize("name", ["mean of squares", "total recall", "average precision", "eloquence"])
def test_a_task_whose_name_only_begins_like_an_average_is_kept(name: str, tmp_path: Path) -> None:
    assert nb.read_scores(file_of(tmp_path, f"model,t,{name}\nx,1,2\ny,2,3\n")).tasks == ("t", name)


@pytest.mark.parametrize("name", ["seed", "run", "Trial", "index", "id", "run_id", "Unnamed: 0"])
def test_columns_that_tell_rows_apart_are_left_out(name: str, tmp_path: Path) -> None:
    scores = nb.read_scores(file_of(tmp_path, f"model,{name},t\nx,1,2\nx,2,4\ny,1,3\n"), repeats="runs")
    assert table(scores) == {"x": {"t": 3}, "y": {"t": 3}}
    assert left_out(scores) == [("columns", 1, f"row labels, not scores: {name!r}")]


@pytest.mark.parametrize("agents", ["model", "whoever"])
def test_the_index_of_a_data_frame_that_was_written_to_csv_is_left_out(agents: str, tmp_path: Path) -> None:
    scores = nb.read_scores(file_of(tmp_path, f",{agents},t\n0,x,2\n1,y,4\n"))
    assert table(scores) == {"x": {"t": 2}, "y": {"t": 4}}
    assert left_out(scores) == [("columns", 1, "row labels, not scores: ''")]


def test_agents_may_stand_in_a_first_column_without_a_name(tmp_path: Path) -> None:
    assert table(nb.read_scores(file_of(tmp_path, ",t\nx,2\ny,4\n"))) == {"x": {"t": 2}, "y": {"t": 4}}


@pytest.mark.parametrize("name", ["win_rate", "Average", "mean score"])
def test_what_is_called_an_average_and_is_none_is_a_task_and_noted(name: str, tmp_path: Path) -> None:
    scores = nb.read_scores(file_of(tmp_path, f"model,t,u,{name}\nx,1,2,1.4\ny,2,3,2.5\n"))
    assert scores.tasks == ("t", "u", name)
    noted = [
        f"{name!r} is not the average of the other columns, and counts as a task" in note
        for note in scores.origin.notes
    ]
    assert noted == ([] if name == "win_rate" else [True])


def test_a_table_of_averages_alone_has_them_as_tasks(tmp_path: Path) -> None:
    assert nb.read_scores(file_of(tmp_path, "model,seed,Average\nx,1,2\ny,1,3\n")).tasks == ("Average",)
    with pytest.raises(nb.InputError, match="closest is a row per agent, 'model', but no other column has scores"):
        nb.read_scores(file_of(tmp_path, "model,seed\nx,1\ny,1\n"))


def test_a_task_of_a_long_table_that_looks_like_an_average_is_kept_and_noted(tmp_path: Path) -> None:
    scores = nb.read_scores(file_of(tmp_path, "model,task,score\nx,t,1\nx,average,1\ny,t,2\ny,average,2\n"))
    assert scores.tasks == ("average", "t")
    assert scores.origin.notes == ("'average' looks computed from the other tasks, and counts as a task",)


def test_columns_of_lists_and_objects_are_left_out_and_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"model":"x","t":1,"tags":["a"]}\n{"model":"y","t":2,"tags":{"b":1}}\n')
    why = "lists or objects, not numbers: 'tags'"
    assert left_out(nb.read_scores(tmp_path / "t.jsonl")) == [("columns", 1, why)]
    pl.DataFrame({"model": ["x", "y"], "t": [1, 2], "tags": [["a"], []]}).write_parquet(tmp_path / "t.parquet")
    assert left_out(nb.read_scores(tmp_path / "t.parquet")) == [("columns", 1, why)]


def test_a_column_of_text_is_set_aside_and_one_word_among_numbers_is_refused(tmp_path: Path) -> None:
    file = file_of(tmp_path, "model,t,team\nx,1,Meta\ny,2,Acme\n")
    assert nb.read_scores(file).tasks == ("t",)
    assert left_out(nb.read_scores(file)) == [("columns", 1, "text, not numbers: 'team'")]
    assert left_out(nb.read_scores(file, ignore=["te*"])) == [("columns", 1, "ignored as asked: 'team'")]
    file = file_of(tmp_path, "model,t\nx,1\ny,high\nz,2\n")
    with pytest.raises(
        nb.InputError, match=r"data row 2 \('y'\), column 't' is 'high', not a number: .* ignore=\['t'\]"
    ):
        nb.read_scores(file)
    file = file_of(tmp_path, "one,other,who won\nx,y,x\ny,z,z\n")
    with pytest.raises(nb.InputError, match=r"name columns with a=, b= and outcome="):
        nb.read_scores(file)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_agent_may_be_called_zero(engine: str) -> None:
    scores = nb.read_scores(ENGINES[engine]({"model": [0, 1], "t": [0.5, 0.25]}))
    assert table(scores) == {"0": {"t": 0.5}, "1": {"t": 0.25}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,t\nx,inf\ny,1\n", "row 'x', column 't' is inf: a score must be finite"),
        ("model,task,score\nx,t,inf\ny,t,1\n", r"data row 1 \('x' on 't'\), column 'score' is 'inf', not a finite"),
    ],
)
def test_an_error_about_scores_names_the_file(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(nb.InputError, match=f"table.csv'[:,] {message}"):
        nb.read_scores(file_of(tmp_path, text))


@pytest.mark.parametrize("error", ["acc_stderr", "stderr_acc", "acc_se"])
def test_standard_errors_of_long_tables_are_named_after_their_score(error: str) -> None:
    found = nb.read_scores({"model": ["a", "b"], "task": ["t", "t"], "acc": [0.5, 0.7], error: [0.05, 0.04]})
    np.testing.assert_allclose(found.stderr.ravel(), [0.05, 0.04])
