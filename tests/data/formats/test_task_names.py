"""What names of tasks say: standard errors beside them, and tasks where low is good."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import nashboard as nb
from nashboard.data.table.columns import is_called_low

AGENTS = {"model": ["x", "y", "z"]}


def wide(**columns: list[Any]) -> pl.DataFrame:
    return pl.DataFrame({**AGENTS, **columns}, strict=False)


@pytest.mark.parametrize(
    ("task", "name"),
    [("maths", "maths_stderr"), ("Maths", "maths std_err"), ("maths", "Maths Standard Error"), ("maths", "maths-se"),
     ("maths", "maths_sem"), ("acc,none", "acc_stderr,none")],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["frame", "pandas", "csv"])
def test_a_column_beside_a_task_holds_its_standard_errors(task: str, name: str, kind: str, tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {task: [0.5, 0.6, 0.7], "go": [1.0, 2.0, 3.0], name: [0.01, None, 0.03]}
    frame = wide(**columns)
    source: Any = frame.to_pandas() if kind == "pandas" else frame
    if kind == "csv":
        frame.write_csv(source := tmp_path / "wide.csv")
    scores = nb.read_scores(source)
    assert scores.tasks == (task, "go")
    np.testing.assert_array_equal(scores.stderr[:, 0], [0.01, np.nan, 0.03])
    assert np.isnan(scores.stderr[:, 1]).all()
    assert scores.origin.notes[0].startswith(f"column {name!r} is taken for the standard errors of {task!r}; ignore=[")
    left = nb.read_scores(source, ignore=[name])
    assert left.tasks == (task, "go")
    assert np.isnan(left.stderr).all()
    assert left.origin.notes == ()


def test_without_its_task_such_a_column_is_a_task() -> None:
    assert nb.read_scores(wide(go=[1, 2, 3], maths_stderr=[0.1, 0.2, 0.3])).tasks == ("go", "maths_stderr")


def test_the_standard_errors_of_the_only_task_need_no_name() -> None:
    scores = nb.read_scores(wide(go=[1, 2, 3], stderr=[0.1, 0.2, 0.3]))
    assert scores.tasks == ("go",)
    assert scores.stderr[:, 0].tolist() == [0.1, 0.2, 0.3]
    assert nb.read_scores(wide(go=[1, 2, 3], chess=[1, 2, 4], stderr=[0.1, 0.2, 0.3])).tasks[-1] == "stderr"


@pytest.mark.parametrize("values", [[0.4, 0.5, 0.2], [-0.01, 0.01, 0.01]])
def test_a_short_ending_with_large_or_negative_numbers_is_a_task(values: list[float]) -> None:
    scores = nb.read_scores(wide(mmlu=[0.6, 0.5, 0.7], mmlu_se=values))
    assert scores.tasks == ("mmlu", "mmlu_se")
    assert scores.origin.notes == (
        "'mmlu_se' may contain standard errors of 'mmlu', but counts as a task: pass ignore=['mmlu_se'] ("
        "-r ignore=mmlu_se), or give names that end in _stderr to standard errors",
    )


def test_a_standard_deviation_is_no_standard_error_and_is_told() -> None:
    scores = nb.read_scores(wide(go=[1, 2, 3], go_std=[0.1, 0.2, 0.3]))
    assert scores.tasks == ("go", "go_std")
    assert "'go_std' may contain the spread of 'go', but counts as a task" in scores.origin.notes[0]


def test_the_standard_errors_of_an_average_go_with_it() -> None:
    scores = nb.read_scores(wide(go=[1, 2, 3], average=[1, 2, 3], average_stderr=[0.1, 0.2, 0.3], chess=[1, 3, 2],
                                 chess_stderr=[0.1, 0.1, 0.1]), ignore=["chess"])  # fmt: skip
    assert scores.tasks == ("go",)
    assert any("standard errors of what is left out: 'average_stderr'" in str(left) for left in scores.origin.left_out)
    assert scores.origin.notes == ()


def test_a_standard_error_below_zero_or_of_words_is_refused() -> None:
    with pytest.raises(nb.InputError, match="a standard error must be finite and not negative"):
        nb.read_scores(wide(go=[1, 2, 3], go_stderr=[0.1, -0.1, 0.1]))
    with pytest.raises(nb.InputError, match="column 'go_stderr' is 'little', not a number"):
        nb.read_scores(wide(go=[1, 2, 3], go_stderr=["0.1", "little", "0.1"]))
    assert np.isnan(nb.read_scores(wide(go=[1, 2, 3], go_stderr=["0.1", "N/A", "0.1"])).stderr[1, 0])


def test_runs_have_the_standard_errors_of_their_spread() -> None:
    frame = pl.DataFrame({"model": ["x", "x", "y"], "go": [1.0, 3.0, 5.0], "go_stderr": [0.1, 0.1, 0.2]})
    scores = nb.read_scores(frame, repeats="runs")
    np.testing.assert_allclose(scores.stderr[:, 0], [1.0, 0.2])


@pytest.mark.parametrize("task", ["latency_ms", "Validation loss", "word_perplexity", "error-rate", "time",
                                  "wall time (s)", "Time in seconds", "WER"])  # fmt: skip
def test_a_task_may_say_that_low_is_good(task: str) -> None:
    assert is_called_low(task)
    columns: dict[str, list[Any]] = {"go": [1, 2, 3], task: [3.0, 2.0, 1.0]}
    frame = wide(**columns)
    (note,) = nb.read_scores(frame).origin.notes
    assert note.startswith(f"a high score counts as good on {task!r}: if a low one is, pass lower_is_better=[{task!r}]")
    for said in ([task], task, True, False):
        assert nb.read_scores(frame, lower_is_better=said).origin.notes == ()
    assert nb.read_scores(frame, lower_is_better=["go"]).origin.notes == (note,)


@pytest.mark.parametrize("task", ["time_series", "error_correction", "loss_aversion", "gloss", "sometimes", "costume"])
def test_other_words_say_nothing(task: str) -> None:
    assert not is_called_low(task)


def test_a_long_table_is_told_too_unless_it_says_itself(tmp_path: Path) -> None:
    long = pd.DataFrame({"agent": ["x", "y"] * 2, "task": ["go", "go", "a loss", "a loss"], "score": [1, 2, 3, 4]})
    long.to_csv(tmp_path / "long.csv", index=False)
    for source in (long, tmp_path / "long.csv"):
        assert nb.read_scores(source).origin.notes == (
            "a high score counts as good on 'a loss': if a low one is, pass lower_is_better=['a loss'] ("
            "-r 'lower_is_better=a loss')",
        )
    assert nb.read_scores(long.assign(lower_is_better=[False, False, True, True])).origin.notes == ()
