"""Scores: directions, runs, holes and scaling."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

import nashboard as nb
from strategies import scores as any_scores

TABLE = nb.Scores.from_array([[89, 93, 76], [85, 85, 85], [79, 74, 99]], list("ABC"), ["t1", "t2", "t3"])
HOLES = nb.Scores.from_array(
    np.array([[1, 2, np.nan], [3, np.nan, np.nan], [5, 6, 7]]),
    list("xyz"),
    list("abc"),
    lower_is_better=[False, False, True],
)


def test_range_scaling_puts_each_task_on_0_to_1() -> None:
    scaled = TABLE.scale("range")
    np.testing.assert_allclose(scaled.values, np.array([[1, 1, 0], [0.6, 11 / 19, 9 / 23], [0, 0, 1]]))
    assert scaled.scaling == "range"


def test_lower_is_better_is_turned_round_by_every_scaling() -> None:
    golf = nb.Scores.from_array(
        [[70, 1], [80, 2], [75, 3]], ["a", "b", "c"], ["golf", "goals"], lower_is_better=[True, False]
    )
    assert golf.scale("range").values[:, 0].tolist() == [1, 0, 0.5]
    assert golf.scale("rank").values[:, 0].tolist() == [1, 0, 0.5]
    assert golf.scale("none").values[:, 0].tolist() == [-70, -80, -75]
    assert golf.scale("zscore").values[:, 0].argmax() == 0
    assert golf.scale("reference", reference=("b", "a")).values[:, 0].tolist() == [1, 0, 0.5]
    assert not golf.scale("range").lower_is_better.any()


def test_reference_scaling_puts_two_named_agents_at_0_and_1() -> None:
    scaled = nb.load_dataset("atari")
    assert isinstance(scaled, nb.Scores)
    human = scaled.scale("reference", reference=("random", "human"))
    np.testing.assert_allclose(human.values[[0, 1]], [np.zeros(54), np.ones(54)])
    assert human.scaling == "reference (random = 0, human = 1)"
    with pytest.raises(nb.InputError, match="the scaling 'reference' and only it needs reference="):
        scaled.scale("range", reference=("random", "human"))
    with pytest.raises(nb.InputError, match=r"no agent 'humans' \(did you mean 'human'\?\)"):
        scaled.scale("reference", reference=("random", "humans"))


def test_zscore_scaling_has_mean_0_and_deviation_1() -> None:
    values = TABLE.scale("zscore").values
    np.testing.assert_allclose([values.mean(axis=0), values.std(axis=0)], [np.zeros(3), np.ones(3)], atol=1e-12)


def test_rank_scaling_is_the_share_of_others_beaten_with_ties_half() -> None:
    tied = nb.Scores.from_array([[1, 7], [1, 7], [2, 7]])
    np.testing.assert_allclose(tied.scale("rank").values, [[0.25, 0.5], [0.25, 0.5], [1, 0.5]])


def test_standard_errors_are_scaled_with_their_scores() -> None:
    noisy = nb.Scores.from_array([[0.0], [50.0]], stderr=[[5.0], [10.0]])
    np.testing.assert_allclose(noisy.scale("range").stderr, [[0.1], [0.2]])


@pytest.mark.parametrize("method", ["range", "zscore"])
def test_constant_tasks_are_named_and_refused(method: Any) -> None:
    flat = nb.Scores.from_array([[0.1, 1], [0.1, 2], [0.1, 3]], tasks=["flat", "steep"])
    with pytest.raises(nb.InputError, match=f"cannot scale 'flat' by {method}: every agent has the same score"):
        flat.scale(method)
    assert flat.scale("rank").values[:, 0].tolist() == [0.5, 0.5, 0.5]


def test_an_unknown_scaling_is_answered_with_the_nearest() -> None:
    with pytest.raises(nb.InputError, match=r"no scaling 'ranges' \(did you mean 'range'\?\)"):
        TABLE.scale("ranges")  # type: ignore[arg-type] # the mistake under test


def test_missing_cells_are_reported_with_the_worst_agents_and_tasks() -> None:
    with pytest.raises(nb.InputError, match=r"3 of 9 scores are missing \(agents with most: 'y' 2, 'x' 1; tasks with"):
        HOLES.require_complete()
    TABLE.require_complete()


def test_holes_are_dropped_or_filled_only_on_request() -> None:
    assert HOLES.drop("agents").agents == ("z",)
    assert HOLES.drop("tasks").tasks == ("a",)
    assert HOLES.drop("tasks").origin.notes == ("2 tasks with missing scores dropped: 'b' and 'c'",)
    assert HOLES.fill("mean").values[1].tolist() == [3, 4, 7]
    assert HOLES.fill(0).values[1].tolist() == [3, 0, 0]
    assert HOLES.fill("worst").values[1].tolist() == [3, 2, 7]
    assert HOLES.fill("median").origin.notes == ("3 missing scores filled with the task's median",)
    assert TABLE.fill("mean") is TABLE
    assert TABLE.drop("agents") is TABLE


@pytest.mark.parametrize("how", ["means", float("nan"), float("inf")])
def test_a_filling_that_makes_no_sense_is_refused(how: Any) -> None:
    with pytest.raises(nb.InputError, match="cannot fill with"):
        HOLES.fill(how)


def test_dropping_everything_is_refused() -> None:
    crossed = nb.Scores.from_array([[np.nan, 1], [1, np.nan]])
    with pytest.raises(nb.InputError, match="every one of the 2 agents has a missing score"):
        crossed.drop("agents")
    with pytest.raises(nb.InputError, match="drop takes 'agents' or 'tasks', not 'rows'"):
        crossed.drop("rows")  # type: ignore[arg-type] # the mistake under test


def test_identical_and_constant_rows_and_columns_are_found() -> None:
    table = nb.Scores.from_array([[1, 5, 1], [2, 5, 2], [1, 5, 1]], list("xyz"), list("abc"))
    assert table.identical_agents == (("x", "z"),)
    assert table.identical_tasks == (("a", "c"),)
    assert table.constant_tasks == ("b",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"S": np.zeros((0, 3))}, "at least one agent and one task, not 0 x 3"),
        ({"S": [[1, np.inf]]}, "row 'agent 1', column 'task 2' is inf: a score must be finite"),
        ({"S": [[1, np.nan], [2, np.nan]]}, "task 'task 2' has no score at all: leave it out"),
        ({"S": [[1, 2], [np.nan, np.nan]]}, "agent 'agent 2' has no score at all: leave it out"),
        ({"S": [[1, 2]], "tasks": ["x", "x"]}, "task names must be unique"),
        ({"S": [[1, 2]], "stderr": [[1, -1]]}, "is -1: a standard error must be finite and not negative"),
        ({"S": [[1, 2]], "stderr": [[1]]}, "a standard error for each score"),
        ({"S": [[1, 2]], "n": [[1, -3]]}, "a number of items must be finite and not negative"),
    ],
)
def test_a_wrong_table_is_refused_with_its_reason(options: dict[str, Any], message: str) -> None:
    with pytest.raises(nb.InputError, match=message):
        nb.Scores.from_array(**options)


def test_repr_is_one_line_and_str_is_a_table() -> None:
    assert repr(HOLES) == "Scores(3 agents x 3 tasks, 3 missing, raw)"
    assert str(HOLES).splitlines()[1:] == [
        "task  agents  lowest   mean  highest  best agent  better",
        "----  ------  ------  -----  -------  ----------  ------",
        "a          3   1.000  3.000    5.000  z           high",
        "b          2   2.000  4.000    6.000  z           high",
        "c          1   7.000  7.000    7.000  z           low",
    ]
    assert HOLES._repr_html_().startswith("<table>")


@given(any_scores())
def test_range_scaling_stays_within_0_and_1_and_keeps_holes(scores: nb.Scores) -> None:
    assume(not scores.constant_tasks)
    scaled = scores.scale("range").values
    present = ~np.isnan(scaled)
    np.testing.assert_array_equal(present, ~scores.missing)
    assert ((scaled[present] >= 0) & (scaled[present] <= 1)).all()


@given(any_scores())
def test_selecting_turns_the_table_and_nothing_else(scores: nb.Scores) -> None:
    turned = scores.select(agents=scores.agents[::-1], tasks=scores.tasks[::-1])
    np.testing.assert_array_equal(turned.values, scores.values[::-1, ::-1])
    np.testing.assert_array_equal(turned.lower_is_better, scores.lower_is_better[::-1])


def test_arrays_are_read_only_and_the_input_is_unchanged() -> None:
    S = np.array([[1.0, 2.0], [3.0, 4.0]])
    scores = nb.Scores.from_array(S)
    with pytest.raises(ValueError, match="read-only"):
        scores.values[0, 0] = 9
    S[0, 0] = 9
    assert scores.values[0, 0] == 1


def test_tasks_with_one_score_for_everybody_are_left_out_and_named() -> None:
    scores = nb.Scores.from_array([[1.0, 0.2], [1.0, 0.5]], tasks=["easy", "fair"])
    left = scores.without_constant_tasks()
    assert left.tasks == ("fair",)
    assert "easy" in left.origin.notes[-1]
    assert left.without_constant_tasks() is left
    with pytest.raises(nb.InputError, match="nothing to compare"):
        scores.select(tasks=["easy"]).without_constant_tasks()


def test_groups_say_to_which_task_an_item_belongs() -> None:
    scores = nb.Scores.from_array([[1, 0, 1], [0, 0, 1]], tasks=["arc/1", "arc/2", "gsm/1"])
    assert scores.groups is None
    grouped = replace(scores, groups=("arc", "arc", "gsm"))
    assert grouped.select(tasks=["gsm/1", "arc/2"]).groups == ("gsm", "arc")
    with pytest.raises(nb.InputError, match="there are 2 groups for 3 tasks: give one each"):
        replace(scores, groups=("arc", "gsm"))
