"""lm-evaluation-harness: a folder of results, one or more files per model."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import nashboard as nb
from data.formats.reading import FILES, everything, left_out, low_is_good, table

FOLDER = FILES / "lm_eval"
SMALL, LARGE, GPT2 = "EleutherAI/pythia-160m", "EleutherAI/pythia-410m", "openai-community/gpt2"


def result(model: str, **fields: Any) -> dict[str, Any]:
    """A result file of one task, to be changed by a test."""
    return {"results": {"t": {"alias": "t", "acc,none": 0.5}}, "model_name": model, **fields}


def folder_of(tmp_path: Path, **files: dict[str, Any]) -> Path:
    for name, content in files.items():
        (tmp_path / f"results_{name}.json").write_text(json.dumps(content))
    return tmp_path


def test_each_model_has_its_newest_score_of_each_subtask() -> None:
    assert table(nb.read_scores(FOLDER)) == {
        SMALL: {
            "gsm8k": 0.0,
            "hellaswag": 0.31,
            "mmlu_abstract_algebra": 0.2,
            "mmlu_anatomy": 0.24,
            "mmlu_philosophy": 0.28,
            "wikitext": 33.5,
        },
        LARGE: {
            "hellaswag": 0.41,
            "mmlu_abstract_algebra": 0.26,
            "mmlu_anatomy": 0.27,
            "mmlu_philosophy": 0.33,
            "wikitext": 20.1,
        },
        GPT2: {"hellaswag": 0.3114, "wikitext": 37.37},
    }


def test_groups_further_metrics_and_older_results_are_left_out() -> None:
    scores = nb.read_scores(FOLDER)
    assert scores.origin.rows == 20  # results of tasks and groups, in four files
    assert left_out(scores) == [
        ("samples", 1, "of single items, which format lm-eval-samples reads: 'hellaswag'"),
        ("groups", 2, "a group's row repeats its subtasks: 'mmlu' and 'mmlu_stem'"),
        (
            "further metrics",
            3,
            "each task keeps one metric, not these: 'acc', 'byte_perplexity' and 'exact_match,flexible-extract'",
        ),
        ("results", 2, "a newer file has the same agent and task"),
    ]


def test_standard_errors_are_kept_where_they_are_numbers() -> None:
    errors = table(nb.read_scores(FOLDER), "stderr")
    assert errors[SMALL] == {
        "gsm8k": 0.0,
        "hellaswag": 0.0046,
        "mmlu_abstract_algebra": 0.04,
        "mmlu_anatomy": 0.037,
        "mmlu_philosophy": 0.025,
    }
    assert errors[GPT2] == {"hellaswag": 0.0046}


def test_the_number_of_items_is_that_of_the_items_used() -> None:
    items = table(nb.read_scores(FOLDER), "n")
    assert items[SMALL]["mmlu_philosophy"] == 300
    assert items[LARGE]["mmlu_philosophy"] == 311
    assert items[GPT2] == {}


def test_a_perplexity_is_good_when_low_also_where_an_old_file_does_not_say_so(tmp_path: Path) -> None:
    assert low_is_good(nb.read_scores(FOLDER)) == {"wikitext"}
    old = {"results": {"w": {"word_perplexity,none": 9.0}, "t": {"acc,none": 0.5}}}
    folder = folder_of(tmp_path, a={**old, "model_name": "x"}, b={**old, "model_name": "y"})
    assert low_is_good(nb.read_scores(folder)) == {"w"}


def test_another_metric_can_be_chosen() -> None:
    scores = nb.read_scores(FOLDER, metric="acc")
    assert table(scores)[LARGE] == {
        "hellaswag": 0.34,
        "mmlu_abstract_algebra": 0.26,
        "mmlu_anatomy": 0.27,
        "mmlu_philosophy": 0.33,
    }
    assert ("tasks", 2, "no metric 'acc': 'gsm8k' and 'wikitext'") in left_out(scores)


def test_a_metric_can_be_chosen_with_its_filter(tmp_path: Path) -> None:
    both = {"exact_match,strict-match": 0.1, "exact_match,flexible-extract": 0.3}
    folder = folder_of(tmp_path, a=result("x", results={"gsm8k": both}), b=result("y", results={"gsm8k": both}))
    assert table(nb.read_scores(folder))["x"] == {"gsm8k": 0.1}
    assert table(nb.read_scores(folder, metric="exact_match,flexible-extract"))["x"] == {"gsm8k": 0.3}


def test_a_metric_that_no_task_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(nb.InputError, match=r"no task has the metric 'acc_nrm' \(did you mean 'acc_norm'\?\)"):
        nb.read_scores(FOLDER, metric="acc_nrm")


def test_models_scored_by_different_metrics_are_not_compared(tmp_path: Path) -> None:
    norm = {"acc,none": 0.4, "acc_norm,none": 0.6}
    folder = folder_of(tmp_path, a=result("x"), b=result("y", results={"t": norm}))
    with pytest.raises(
        nb.InputError, match="task 't' is scored by 'acc,none' for 'x' but by 'acc_norm,none' for 'y': pass metric="
    ):
        nb.read_scores(folder)
    assert table(nb.read_scores(folder, metric="acc")) == {"x": {"t": 0.5}, "y": {"t": 0.4}}


def test_files_can_be_named_by_a_glob_and_the_newest_wins_whatever_their_folders_are_called(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "lm_eval")
    newest = tmp_path / "lm_eval/EleutherAI__pythia-160m/results_2024-05-02T10-20-30.123456.json"
    moved = tmp_path / "lm_eval/A"
    moved.mkdir()
    newest.rename(moved / newest.name)
    scores = nb.read_scores(str(tmp_path / "lm_eval/*/results*.json"))
    assert everything(scores) == everything(nb.read_scores(str(FOLDER / "*/results*.json")))


def test_a_single_file_holds_one_model_only() -> None:
    with pytest.raises(nb.InputError, match=f"has scores of one agent only \\('{LARGE}'\\)"):
        nb.read_scores(FOLDER / "EleutherAI__pythia-410m/results_2024-05-03T08-00-00.000000.json")


def test_results_on_a_single_line_are_recognised(tmp_path: Path) -> None:
    folder_of(tmp_path, a=result("x"), b=result("y"))
    scores = nb.read_scores(str(tmp_path / "results_*.json"))
    assert (scores.origin.format, table(scores)) == ("lm-eval", {"x": {"t": 0.5}, "y": {"t": 0.5}})


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({"model": "hf", "model_args": "pretrained=org/m,dtype=float16"}, "org/m"),
        ({"model": "hf", "model_args": "dtype=auto,pretrained=org/m,peft=org/adapter"}, "org/adapter"),
        ({"model": "local-completions", "model_args": {"num_concurrent": 4, "model": "m"}}, "m"),
        ({"model": "hf", "model_args": "somewhere"}, "somewhere"),
        ({"model": "dummy", "model_args": ""}, "dummy"),
    ],
)
def test_a_model_without_a_name_is_named_by_its_arguments(config: dict[str, Any], name: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, a=result("", config=config), b=result("other"))
    assert set(nb.read_scores(folder).agents) == {name, "other"}


def test_a_result_without_any_model_is_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, a={"results": {"t": {"acc,none": 0.5}}})
    with pytest.raises(nb.InputError, match=r"results_a.json' does not name its model"):
        nb.read_scores(folder)


def test_a_group_whose_subtasks_are_not_there_is_a_task(tmp_path: Path) -> None:
    fields = {"group_subtasks": {"t": ["t_a", "t_b"]}, "groups": {"t": {"acc,none": 0.5}}}
    folder = folder_of(tmp_path, a=result("x", **fields), b=result("y", **fields))
    scores = nb.read_scores(folder)
    assert (scores.tasks, scores.origin.left_out) == (("t",), ())


def test_a_group_of_one_model_is_a_group_of_all(tmp_path: Path) -> None:
    members = {"t_a": {"acc,none": 0.4}, "t_b": {"acc,none": 0.6}}
    whole = result("x", group_subtasks={"t": ["t_a", "t_b"]})
    whole["results"] |= members
    bare = result("y")
    bare["results"] |= members
    scores = nb.read_scores(folder_of(tmp_path, a=whole, b=bare))
    assert scores.tasks == ("t_a", "t_b")


def test_scores_that_are_not_numbers_are_holes(tmp_path: Path) -> None:
    broken = {"t": {"acc,none": float("nan")}, "u": {"acc,none": 0.3, "acc_stderr,none": float("nan")}}
    sound = {"t": {"acc,none": 0.1}, "u": {"acc,none": 0.2}}
    scores = nb.read_scores(folder_of(tmp_path, a=result("x", results=broken), b=result("y", results=sound)))
    assert table(scores) == {"x": {"u": 0.3}, "y": {"t": 0.1, "u": 0.2}}


def test_results_before_version_0_4_have_no_filters(tmp_path: Path) -> None:
    old = {"acc": 0.89, "acc_stderr": 0.01, "acc_norm": 0.81, "acc_norm_stderr": 0.012, "sample_len": 7}
    new = {"alias": "sciq", "acc,none": 0.5, "acc_norm,none": 0.6, "acc_norm_stderr,none": 0.02, "sample_len": 7}
    files = {"a": result("x", results={"sciq": old}), "b": result("y", results={"sciq": new})}
    scores = nb.read_scores(folder_of(tmp_path, **files))
    assert table(scores) == {"x": {"sciq": 0.81}, "y": {"sciq": 0.6}}
    assert table(scores, "stderr") == {"x": {"sciq": 0.012}, "y": {"sciq": 0.02}}


@pytest.mark.parametrize("content", [{"results": []}, [1, 2], {"scores": {}}])
def test_another_json_file_in_the_folder_is_refused_by_name(content: Any, tmp_path: Path) -> None:
    folder = folder_of(tmp_path, a=result("x"), b=content)
    with pytest.raises(nb.InputError, match=r"results_b.json' is not a result of lm-evaluation-harness"):
        nb.read_scores(folder)


def test_results_without_a_number_are_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, a=result("x", results={"t": {"alias": "t", " ": " "}}))
    with pytest.raises(nb.InputError, match="contains no result with a number"):
        nb.read_scores(folder)


def write_samples(folder: Path, rows: list[dict[str, Any]], task: str = "gsm8k", day: int = 1) -> None:
    folder.mkdir(exist_ok=True)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / f"samples_{task}_2024-05-0{day}T10-00-00.jsonl").write_text(lines)


def test_samples_that_are_not_used_are_counted_with_their_reason(tmp_path: Path) -> None:
    rows = [
        {"doc_id": k, "filter": name, "exact_match": value, "f1": 0.5}
        for k, value in enumerate((1.0, 0.0, 1.0))
        for name in ("strict", "flexible")
    ]
    write_samples(tmp_path / "x", [*rows, {"doc_id": 3, "filter": "strict", "exact_match": None}])
    write_samples(tmp_path / "y", rows[::2])
    write_samples(tmp_path / "y", rows[:1], day=2)
    scores = nb.read_scores(tmp_path)
    assert (scores.tasks, scores.origin.rows) == (("gsm8k/0", "gsm8k/1", "gsm8k/2"), 11)
    assert left_out(scores) == [
        ("samples", 3, "another filter than 'strict': 'flexible'"),
        ("samples", 1, "no number: 'gsm8k/3'"),
        ("further metrics", 1, "each task keeps one metric, not these: 'f1'"),
        ("results", 1, "a newer file has the same agent and task"),
    ]


def test_samples_scored_by_different_metrics_are_not_compared(tmp_path: Path) -> None:
    write_samples(tmp_path / "x", [{"doc_id": 0, "acc": 1.0, "acc_norm": 0.0}])
    write_samples(tmp_path / "y", [{"doc_id": 0, "acc": 0.0}])
    with pytest.raises(nb.InputError, match="task 'gsm8k' is scored by 'acc_norm' for 'x' but by 'acc' for 'y'"):
        nb.read_scores(tmp_path)
    assert table(nb.read_scores(tmp_path, metric="acc")) == {"x": {"gsm8k/0": 1.0}, "y": {"gsm8k/0": 0.0}}
