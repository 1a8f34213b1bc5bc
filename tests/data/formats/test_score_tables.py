"""Tables of scores, long and wide: runs, holes, directions, averages."""

import csv
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import nashboard as nb
from data.formats.reading import FILES, everything, left_out, low_is_good, table

LONG, WIDE = FILES / "scores_long.csv", FILES / "scores_wide.csv"


def records(file: Path) -> list[dict[str, Any]]:
    """Return the rows of a csv file with numbers as numbers and holes as null."""

    def value(cell: str) -> object:
        if cell in ("", "-", "NA"):
            return None
        try:
            return float(cell)
        except ValueError:
            return cell

    with file.open(encoding="utf-8", newline="") as stream:
        return [{name: value(cell) for name, cell in row.items()} for row in csv.DictReader(stream)]


def test_repeated_rows_of_a_long_table_are_runs() -> None:
    scores = nb.read_scores(LONG)
    assert table(scores) == {
        "dqn": {"breakout": 12, "error rate": 0.25},
        "rainbow": {"breakout": 30},
        "random": {"breakout": 1, "error rate": 0.9},
    }
    assert scores.runs.tolist() == [[2, 1], [1, 0], [1, 1]]


def test_the_standard_error_is_the_given_one_or_that_of_the_runs() -> None:
    assert table(nb.read_scores(LONG), "stderr") == {
        "dqn": {"breakout": pytest.approx(2), "error rate": 0.05},  # 10 and 14: deviation sqrt(8), by sqrt(2)
        "rainbow": {"breakout": 1.5},
        "random": {"breakout": 0.5},
    }


def test_the_items_of_runs_add_up() -> None:
    assert table(nb.read_scores(LONG), "n") == {
        "dqn": {"breakout": 200, "error rate": 40},
        "rainbow": {"breakout": 100},
        "random": {"error rate": 50},
    }


def test_a_long_table_says_its_directions_and_its_holes() -> None:
    scores = nb.read_scores(LONG)
    assert low_is_good(scores) == {"error rate"}
    assert scores.origin.rows == 7
    assert left_out(scores) == [("rows", 1, "no score")]


@pytest.mark.parametrize(
    ("asked", "low"),
    [(True, {"breakout", "error rate"}), (False, set()), ("breakout", {"breakout"}), (["error rate"], {"error rate"})],
)
def test_the_direction_that_is_asked_for_overrides_the_files(asked: bool | str | list[str], low: set[str]) -> None:
    assert low_is_good(nb.read_scores(LONG, lower_is_better=asked)) == low


def test_a_direction_for_a_task_that_is_not_there_is_refused() -> None:
    with pytest.raises(nb.InputError, match=r"has no task 'breakou' \(did you mean 'breakout'\?\)"):
        nb.read_scores(LONG, lower_is_better="breakou")


def test_a_long_table_reads_the_same_from_every_kind_of_file(tmp_path: Path) -> None:
    rows = records(LONG)
    (tmp_path / "list.json").write_text(json.dumps(rows, indent=1))
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pl.DataFrame(rows).write_parquet(tmp_path / "table.parquet")
    (tmp_path / "table.tsv").write_text(LONG.read_text().replace(",", "\t"))
    for name in ("list.json", "lines.jsonl", "table.parquet", "table.tsv"):
        assert everything(nb.read_scores(tmp_path / name)) == everything(nb.read_scores(LONG)), name


def test_columns_of_a_long_table_can_be_given(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("model,task,score,who,what,points\nx,t,1,p,u,10\nx,t,2,q,u,20\n")
    scores = nb.read_scores(file, agent="who", task="what", score="points")
    assert table(scores) == {"p": {"u": 10}, "q": {"u": 20}}


@pytest.mark.parametrize("header", ["agent,task,score", "Method,Dataset,Accuracy", "algorithm,environment,return"])
def test_the_usual_names_of_columns_are_recognised(header: str, tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text(f"{header}\nx,t,1\ny,t,2\n")
    scores = nb.read_scores(file)
    assert (scores.origin.format, table(scores)) == ("scores-long", {"x": {"t": 1}, "y": {"t": 2}})


def test_two_candidates_for_a_column_are_never_guessed_between(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("model,task,score,value\nx,t,1,2\ny,t,2,3\n")
    with pytest.raises(nb.InputError, match="several columns that may be the score: 'score' and 'value': pass score="):
        nb.read_scores(file)


def test_different_metrics_of_a_task_are_not_runs_of_it(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("model,task,metric,score\nx,t,acc,0.5\nx,t,f1,0.7\ny,t,acc,0.6\ny,t,f1,0.9\n")
    with pytest.raises(nb.InputError, match=r"column 'metric': 'x' has scores by 2 metrics on 't'.*: pass metric="):
        nb.read_scores(file)
    assert table(nb.read_scores(file, metric="f1")) == {"x": {"t": 0.7}, "y": {"t": 0.9}}
    with pytest.raises(nb.InputError, match="has columns but no rows with the metric 'bleu'"):
        nb.read_scores(file, metric="bleu")


def test_each_task_may_have_its_own_metric(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("model,task,metric,score\nx,t,acc,0.5\nx,u,f1,0.7\ny,t,acc,0.6\ny,u,f1,0.9\n")
    assert table(nb.read_scores(file)) == {"x": {"t": 0.5, "u": 0.7}, "y": {"t": 0.6, "u": 0.9}}


def test_a_long_table_that_contradicts_itself_about_a_direction_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("model,task,score,lower_is_better\nx,t,1,true\ny,t,2,false\n")
    with pytest.raises(nb.InputError, match="marks 't' both as lower is better and as higher is better"):
        nb.read_scores(file)


def test_a_wide_table_has_a_row_per_agent_and_averages_are_left_out() -> None:
    scores = nb.read_scores(WIDE)
    assert table(scores) == {
        "alpha": {"math": 0.5, "code, hard": 3.5, "latency": 120},
        'beta "mini"': {"math": 0.75, "latency": 80},
        "γ": {"code, hard": 1, "latency": 200},
    }
    assert scores.tasks == ("math", "code, hard", "latency")  # in the order of the file
    assert left_out(scores) == [("columns", 1, "computed from the others: 'Average'")]


def test_a_wide_table_reads_the_same_from_every_kind_of_file(tmp_path: Path) -> None:
    rows = records(WIDE)
    (tmp_path / "list.json").write_text(json.dumps(rows, indent=1))
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pl.DataFrame(rows).write_parquet(tmp_path / "table.parquet")
    for name in ("list.json", "lines.jsonl", "table.parquet"):
        assert everything(nb.read_scores(tmp_path / name)) == everything(nb.read_scores(WIDE)), name


def test_columns_of_a_wide_table_can_be_ignored_and_turned() -> None:
    scores = nb.read_scores(WIDE, ignore=["math", "Average"], lower_is_better=["latency"])
    assert (scores.tasks, low_is_good(scores)) == (("code, hard", "latency"), {"latency"})
    assert left_out(scores) == [("columns", 2, "ignored as asked: 'math' and 'Average'")]


def test_the_column_of_agents_can_be_given(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("1,2,who\n3,4,x\n5,6,y\n")
    with pytest.raises(nb.InputError, match="closest is a row per agent, but no column has names"):
        nb.read_scores(file)
    assert table(nb.read_scores(file, agent="who")) == {"x": {"1": 3, "2": 4}, "y": {"1": 5, "2": 6}}


def test_repeated_agents_of_a_wide_table_are_runs_only_when_asked(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("agent,t,u\nx,1,5\nx,4,\nx,7,9\ny,0,0\n")
    with pytest.raises(nb.InputError, match=r"agent 'x' is in data rows 1 and 2; .*repeats='runs'"):
        nb.read_scores(file)
    scores = nb.read_scores(file, repeats="runs")
    assert table(scores) == {"x": {"t": 4, "u": 7}, "y": {"t": 0, "u": 0}}
    assert scores.runs.tolist() == [[3, 2], [1, 1]]
    assert table(scores, "stderr") == {"x": {"t": pytest.approx(3**0.5), "u": pytest.approx(2)}, "y": {}}


@pytest.mark.parametrize("name", ["table.csv", "table.json", "table.jsonl"])
def test_numbers_in_text_are_read_to_the_last_digit(name: str, tmp_path: Path) -> None:
    values = [0.1 + 0.2, 1e-300, 12345678901234.567, -0.1]
    rows = [{"model": f"m{k}", "t": value} for k, value in enumerate(values)]
    text = {
        "table.csv": "model,t\n" + "".join(f"{row['model']},{row['t']!r}\n" for row in rows),
        "table.json": json.dumps(rows),
        "table.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
    }
    (tmp_path / name).write_text(text[name])
    assert nb.read_scores(tmp_path / name).values[:, 0].tolist() == values
