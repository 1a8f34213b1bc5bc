"""Published leaderboards: OpenCompass, the Open LLM Leaderboard, HELM."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from data.formats.reading import FILES, everything, left_out, low_is_good, table

OPENCOMPASS = FILES / "opencompass_summary.csv"
OPEN_LLM = FILES / "open_llm_leaderboard.csv"
HELM = FILES / "helm_core_scenarios.json"
INTERN, QWEN = "internlm2-7b-hf", "qwen1.5-7b-hf"


@pytest.fixture
def tables() -> list[dict[str, Any]]:
    return list(json.loads(HELM.read_text()))


def read_helm(tables: Any, tmp_path: Path, **options: Any) -> nb.Scores:
    (tmp_path / "group.json").write_text(json.dumps(tables))
    return nb.read_scores(tmp_path / "group.json", **options)


def test_opencompass_is_turned_round_and_a_dash_is_a_hole() -> None:
    assert table(nb.read_scores(OPENCOMPASS)) == {
        INTERN: {
            "ceval-computer_network": 52.63,
            "ceval-operating_system": 57.89,
            "WiC": 50.94,
            "triviaqa": 60.25,
            "humaneval (humaneval_pass@1, gen)": 31.1,
            "humaneval (humaneval_pass@10, gen)": 40,
        },
        QWEN: {
            "ceval-computer_network": 73.68,
            "ceval-operating_system": 68.42,
            "triviaqa": 55.1,
            "humaneval (humaneval_pass@1, gen)": 36,
            "humaneval (humaneval_pass@10, gen)": 48.5,
        },
    }


def test_opencompass_averages_are_left_out_and_headings_are_no_tasks() -> None:
    scores = nb.read_scores(OPENCOMPASS)
    assert scores.origin.rows == 12
    assert left_out(scores) == [("rows", 3, "averages of other rows: 'ceval', 'ceval-stem' and 'Average'")]


def test_opencompass_takes_a_direction() -> None:
    assert low_is_good(nb.read_scores(OPENCOMPASS, lower_is_better=["WiC"])) == {"WiC"}


OPENCOMPASS_HEADER = "dataset,version,metric,mode,x,y\n"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("average,-,naive_average,gen,1,2\n", "has no row of a data set, only averages"),
        (
            "t,a1,acc,gen,1,2\nt,b2,acc,gen,3,4\n",
            r"task 't \(acc, gen\)' is in data rows 1 and 2; names must be",
        ),
        ("t,a1,acc,gen,1,2\nu,b2,acc,gen,1,much\n", r"data row 2 \('u'\), column 'y' is 'much', not a number"),
        ("t,a1,acc,gen,1\n", r"data row 1 \(line 2, 't'\) has 5 cells, the header has 6"),
    ],
)
def test_a_broken_opencompass_summary_is_refused(rows: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "summary.csv").write_text(OPENCOMPASS_HEADER + rows)
    with pytest.raises(nb.InputError, match=message):
        nb.read_scores(tmp_path / "summary.csv")


def test_the_open_llm_leaderboard_has_each_task_once_under_the_full_names() -> None:
    scores = nb.read_scores(OPEN_LLM)
    assert table(scores) == {
        "meta-llama/Llama-3-8B": {"IFEval": 14.55, "BBH": 24.5, "MMLU-PRO": 24.62},
        "org/merge-a": {"IFEval": 77.11, "BBH": 30.25, "MMLU-PRO": 31.1},
        "org/merge-b": {"IFEval": 77.11, "BBH": 30.25},
    }
    assert scores.origin.rows == 3


def test_raw_scores_averages_and_details_of_the_open_llm_leaderboard_are_left_out() -> None:
    assert left_out(nb.read_scores(OPEN_LLM)) == [
        ("columns", 3, "the same task before normalisation"),
        (
            "columns",
            8,
            "averages and details of the model: 'eval_name', 'Precision', 'Type', 'Model', 'Average ⬆️' and 3 more",
        ),
    ]


def test_the_open_llm_leaderboard_reads_the_same_from_parquet(tmp_path: Path) -> None:
    pl.read_csv(OPEN_LLM).write_parquet(tmp_path / "contents.parquet")
    assert everything(nb.read_scores(tmp_path / "contents.parquet")) == everything(nb.read_scores(OPEN_LLM))


def test_the_open_llm_leaderboard_may_have_the_model_alone(tmp_path: Path) -> None:
    (tmp_path / "board.csv").write_text(
        'Model,"Average ⬆️",IFEval,IFEval Raw,BBH,BBH Raw\nx,9,1,0.01,2,0.02\ny,9,3,0.03,4,0.04\n'
    )
    scores = nb.read_scores(tmp_path / "board.csv")
    assert table(scores) == {"x": {"IFEval": 1, "BBH": 2}, "y": {"IFEval": 3, "BBH": 4}}
    assert left_out(scores)[1] == ("columns", 1, "averages and details of the model: 'Average ⬆️'")


def test_a_model_in_two_precisions_is_refused_until_another_name_is_chosen(tmp_path: Path) -> None:
    text = OPEN_LLM.read_text().replace("org/merge-b,", "org/merge-a,")
    (tmp_path / "board.csv").write_text(text)
    with pytest.raises(nb.InputError, match="agent 'org/merge-a' is in data rows 2 and 3"):
        nb.read_scores(tmp_path / "board.csv")
    scores = nb.read_scores(tmp_path / "board.csv", agent="eval_name")
    assert scores.agents == ("meta-llama_Llama-3-8B_bfloat16", "org_merge-a_bfloat16", "org_merge-b_float16")


def test_a_task_of_the_open_llm_leaderboard_can_be_ignored() -> None:
    scores = nb.read_scores(OPEN_LLM, ignore=["BBH"])
    assert scores.tasks == ("IFEval", "MMLU-PRO")
    assert ("columns", 1, "ignored as asked: 'BBH'") in left_out(scores)


def test_helm_scores_have_the_direction_of_their_column_and_cells_without_value_are_holes() -> None:
    scores = nb.read_scores(HELM)
    assert table(scores) == {
        "GPT-4 (0613)": {"NarrativeQA - F1": 0.768, "The Pile - BPB": 0.61, "MMLU - EM": 0.735},
        "Yi (34B)": {"NarrativeQA - F1": 0.782, "MMLU - EM": 0.65},
        "text-davinci-002": {"The Pile - BPB": 0.55, "MMLU - EM": 0.568},
    }
    assert low_is_good(scores) == {"The Pile - BPB"}


def test_the_win_rate_the_details_and_the_further_tables_of_helm_are_left_out() -> None:
    scores = nb.read_scores(HELM)
    assert scores.origin.rows == 3
    assert left_out(scores) == [
        ("columns", 1, "computed from the others: 'Mean win rate'"),
        ("columns", 2, "numbers of instances and tokens, not scores: '# eval' and 'truncated'"),
        ("tables", 1, "only the first is read: 'Efficiency'"),
    ]


def test_a_single_helm_table_is_read(tables: list[dict[str, Any]], tmp_path: Path) -> None:
    scores = read_helm(tables[1], tmp_path)
    task = "NarrativeQA - Observed inference time (s)"
    assert scores.origin.format == "helm"
    assert (table(scores), low_is_good(scores)) == ({"GPT-4 (0613)": {task: 1.5}, "Yi (34B)": {task: 0.5}}, {task})


def test_empty_helm_tables_are_passed_over(tables: list[dict[str, Any]], tmp_path: Path) -> None:
    empty = {"title": "empty", "header": [], "rows": [], "links": []}
    assert everything(read_helm([empty, *tables], tmp_path)) == everything(nb.read_scores(HELM))


def test_the_direction_of_a_helm_column_can_be_given(tables: list[dict[str, Any]], tmp_path: Path) -> None:
    assert not np.any(read_helm(tables, tmp_path, lower_is_better=False).lower_is_better)


def test_a_helm_agent_with_two_rows_is_refused(tables: list[dict[str, Any]], tmp_path: Path) -> None:
    tables[0]["rows"][1][0]["value"] = "GPT-4 (0613)"
    with pytest.raises(nb.InputError, match=r"more than one score of 'GPT-4 \(0613\)' on 'NarrativeQA - F1'"):
        read_helm(tables, tmp_path)


def test_a_helm_file_without_cells_is_refused(tmp_path: Path) -> None:
    with pytest.raises(nb.InputError, match="is not a HELM table: it needs a title, a header and rows of cells"):
        read_helm([{"title": "t", "header": [{"value": "Model"}], "rows": [["x", 1]]}], tmp_path)
