"""Every Eval Ever: one record per model and source."""

import json
from pathlib import Path
from typing import Any

import pytest

import nashboard as nb
from data.formats.reading import FILES, left_out, low_is_good, table

FOLDER = FILES / "every_eval_ever"


def evaluation(name: str, score: object, *, dataset: str = "d", **config: Any) -> dict[str, Any]:
    return {
        "evaluation_name": name,
        "source_data": {"dataset_name": dataset},
        "metric_config": {"lower_is_better": False, **config},
        "score_details": {"score": score},
    }


def folder_of(tmp_path: Path, records: dict[str, list[dict[str, Any]]]) -> Path:
    for k, (model, results) in enumerate(records.items()):
        content = {"model_info": {"name": model, "id": model}, "evaluation_results": results}
        (tmp_path / f"{k}.json").write_text(json.dumps(content))
    return tmp_path


def test_records_of_a_model_are_put_together_by_its_id() -> None:
    assert table(nb.read_scores(FOLDER)) == {
        "acme/large": {
            "Arena": 80.5,
            "Hallucination Rate": 0.12,
            "Safety level": 3,
            "hellaswag (acc)": pytest.approx(0.52),  # two sources: 0.50 and 0.54
            "hellaswag (acc_norm)": 0.75,
        },
        "acme/small": {
            "Arena": 60,
            "Hallucination Rate": 0.34,
            "hellaswag (acc)": 0.3,
            "hellaswag (acc_norm)": 0.4,
        },
    }


def test_the_same_result_from_two_sources_is_two_runs() -> None:
    scores = nb.read_scores(FOLDER)
    assert scores.runs.tolist() == [[1, 1, 1, 2, 1], [1, 1, 0, 1, 1]]
    assert table(scores, "stderr") == {
        "acme/large": {"hellaswag (acc)": pytest.approx(0.02), "hellaswag (acc_norm)": 0.004},
        "acme/small": {"hellaswag (acc)": 0.01},
    }
    assert table(scores, "n")["acme/large"] == {"hellaswag (acc)": 10142, "hellaswag (acc_norm)": 10042}


def test_the_direction_is_that_of_the_metric() -> None:
    assert low_is_good(nb.read_scores(FOLDER)) == {"Hallucination Rate"}


def test_overall_scores_and_unknown_levels_are_left_out() -> None:
    scores = nb.read_scores(FOLDER)
    assert scores.origin.rows == 13
    assert left_out(scores) == [
        ("results", 1, "no score"),
        ("results", 2, "computed from the others: 'Overall'"),
    ]


def test_an_overall_score_is_read_where_there_is_nothing_else(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"x": [evaluation("Overall", 1)], "y": [evaluation("Overall", 2)]})
    scores = nb.read_scores(folder)
    assert (table(scores), scores.origin.left_out) == ({"x": {"Overall": 1}, "y": {"Overall": 2}}, ())


def test_a_score_of_minus_one_is_a_score_unless_levels_may_be_unknown(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"x": [evaluation("t", -1)], "y": [evaluation("t", 2)]})
    assert table(nb.read_scores(folder)) == {"x": {"t": -1}, "y": {"t": 2}}


def test_one_evaluation_of_two_data_sets_is_two_tasks(tmp_path: Path) -> None:
    results = [evaluation("choice", 0.5, dataset="arc"), evaluation("choice", 0.7, dataset="mmlu")]
    scores = nb.read_scores(folder_of(tmp_path, {"x": results, "y": results}))
    assert table(scores)["x"] == {"choice (arc)": 0.5, "choice (mmlu)": 0.7}


def test_metrics_are_told_apart_by_their_id_before_their_description(tmp_path: Path) -> None:
    results = [
        evaluation("t", 0.5, metric_id="accuracy", evaluation_description="a text"),
        evaluation("t", 0.7, metric_id="f1", evaluation_description="a text"),
    ]
    scores = nb.read_scores(folder_of(tmp_path, {"x": results, "y": results}))
    assert scores.tasks == ("t (accuracy)", "t (f1)")


def test_sources_may_describe_one_metric_in_different_words(tmp_path: Path) -> None:
    records = {
        "x": [evaluation("t", 0.5, evaluation_description="accuracy, as we see it")],
        "y": [evaluation("t", 0.7, evaluation_description="accuracy")],
    }
    assert nb.read_scores(folder_of(tmp_path, records)).tasks == ("t",)


def test_sources_that_contradict_each_other_about_a_direction_are_refused_until_it_is_given(tmp_path: Path) -> None:
    records = {"x": [evaluation("t", 1), evaluation("t", 2, lower_is_better=True)], "y": [evaluation("t", 3)]}
    folder = folder_of(tmp_path, records)
    with pytest.raises(nb.InputError, match="marks 't' both as lower is better and as higher is better"):
        nb.read_scores(folder)
    scores = nb.read_scores(folder, lower_is_better="t")
    assert (low_is_good(scores), table(scores)) == ({"t"}, {"x": {"t": 1.5}, "y": {"t": 3}})


def test_records_on_a_single_line_can_be_named_by_a_glob(tmp_path: Path) -> None:
    folder_of(tmp_path, {"x": [evaluation("t", 1)], "y": [evaluation("t", 2)]})
    scores = nb.read_scores(str(tmp_path / "*.json"))
    assert (scores.origin.format, table(scores)) == ("every-eval-ever", {"x": {"t": 1}, "y": {"t": 2}})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"model_info": {"id": "y"}}, "KeyError at 'evaluation_results'"),
        ({"model_info": {}, "evaluation_results": []}, "KeyError at 'name'"),
        ({"model_info": {"id": "y"}, "evaluation_results": [{"evaluation_name": "t"}]}, "KeyError at 'score_details'"),
        ([], "TypeError"),
    ],
)
def test_a_file_that_is_no_record_is_refused_by_name(content: Any, message: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"x": [evaluation("t", 1)]})
    (folder / "other.json").write_text(json.dumps(content))
    with pytest.raises(nb.InputError, match=f"other.json' is not a record of Every Eval Ever: {message}"):
        nb.read_scores(folder)


def test_a_score_that_is_text_is_refused_with_its_place(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"x": [evaluation("t", "very good")], "y": [evaluation("t", 1)]})
    with pytest.raises(nb.InputError, match=r"0.json', evaluation 't' is 'very good', not a number"):
        nb.read_scores(folder)
