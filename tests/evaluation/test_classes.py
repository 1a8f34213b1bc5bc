from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nashboard as nb
from nashboard.evaluation.classes import find_match_classes, find_payoff_classes, find_score_classes
from strategies import matches, payoffs, scores


@given(matches(), st.randoms())
def test_classes_come_in_the_same_order_whatever_the_order_of_agents(data: nb.Matches, random: Random) -> None:
    names = list(data.agents)
    random.shuffle(names)
    other = data.select(names)
    ours, theirs = find_match_classes(data), find_match_classes(other)
    assert dict(zip(data.agents, ours.label, strict=True)) == dict(zip(other.agents, theirs.label, strict=True))


@given(scores())
def test_the_roll_of_a_table_puts_identical_rows_together(data: nb.Scores) -> None:
    agents, tasks = find_score_classes(data)
    for roll, names in ((agents, data.agents), (tasks, data.tasks)):
        assert roll.size.sum() == len(names)
        assert (roll.label[roll.first] == np.arange(len(roll.first))).all()


@given(payoffs())
def test_a_copy_joins_its_original(data: nb.Payoffs) -> None:
    place = [*range(len(data.agents)), 0]
    more = nb.Payoffs(agents=(*data.agents, "a copy of the first"), A=data.A[np.ix_(place, place)])
    roll = find_payoff_classes(more)
    assert roll.label[0] == roll.label[-1]
    assert roll.size[roll.label[0]] >= 2


def test_agents_that_drew_with_each_other_are_identical_and_others_are_not() -> None:
    even = nb.Matches.from_counts([[0, 2, 5], [2, 0, 5], [1, 1, 0]], ["x", "y", "z"])
    assert find_match_classes(even).groups(even.agents) == (("x", "y"),)
    uneven = nb.Matches.from_counts([[0, 3, 5], [2, 0, 5], [1, 1, 0]], ["x", "y", "z"])
    assert find_match_classes(uneven).groups(uneven.agents) == ()
    assert find_match_classes(even, merge=False).groups(even.agents) == ()


@pytest.mark.parametrize("kind", ["agents", "tasks"])
def test_different_errors_make_different_entries(kind: str) -> None:
    S, E = np.zeros((2, 2)), np.array([[0.1, 0.1], [0.1, 0.2]])
    rolls = find_score_classes(nb.Scores.from_array(S, stderr=E))
    assert all(len(roll.first) == 2 for roll in rolls), kind


def test_even_agents_stay_one_class_when_copies_of_one_are_entered() -> None:
    even = nb.Matches.from_counts([[0, 1], [1, 0]], draws=[[0, 28], [28, 0]])
    copied = nb.Matches.from_counts([[0, 1, 0], [1, 0, 1], [0, 1, 0]], draws=[[0, 28, 0], [28, 0, 28], [0, 28, 0]])
    for data in (even, copied):  # the copy never met the original
        assert len(find_match_classes(data).first) == 1
        assert (nb.evaluate(data, n_resamples=10).posterior.probability_top == 1).all()
    stress = nb.evaluate(even, n_resamples=10).stress()
    assert "Nash average: did not move" in str(stress)
