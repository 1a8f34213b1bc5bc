"""Who is a clone of whom, and what stands for a class, follow from the payoffs alone."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import nashboard as nb
from equilibrium_games import Matrix, antisymmetric, dense, rng_of, seeds
from hard_games import crumbs, hard_game, hard_table, wild
from nashboard.equilibrium.clones import Classes, between_classes, identical_agents, identical_rows, irrational_weights
from nashboard.equilibrium.game import AgentsGame
from nashboard.equilibrium.models import Matrix as Payoffs
from nashboard.equilibrium.models import RatingsModel
from nashboard.equilibrium.precision import ZERO

TIGHT = 1e-9
Indices = NDArray[np.intp]


def partition(classes: Classes) -> set[frozenset[int]]:
    return {frozenset(map(int, np.flatnonzero(classes.label == k))) for k in range(len(classes.first))}


@given(seed=seeds, m=st.integers(1, 12), n=st.integers(1, 5), step=st.sampled_from([0.3, 0.45, 0.6, 1.0]))
@settings(max_examples=8)
def test_neither_order_nor_copies_decide_who_is_in_a_class(seed: int, m: int, n: int, step: float) -> None:
    # rows on a grid finer than the rule: many are within it of some that are not within it of each other
    rng = rng_of(seed)
    near, far = rng.integers(0, 4, size=(m, n)), rng.integers(0, 2, size=(m, 1))
    rows: Matrix = np.array(step * ZERO * near + far, dtype=np.float64)
    before = identical_rows(rows, 1.0, 2.0)
    who = rng.permutation(np.append(np.arange(m), rng.integers(0, m, size=3)))
    columns = np.append(rng.permutation(n), rng.integers(0, n, size=2))
    after = identical_rows(rows[np.ix_(who, columns)], 1.0, 2.0)
    assert {frozenset(int(who[k]) for k in group) for group in partition(after)} == partition(before)
    for group in partition(before):
        assert np.ptp(rows[sorted(group)], axis=0).max() <= ZERO
    one = between_classes(
        lambda a, b: rows[np.ix_(a, b)], before, trivial(n), np.arange(len(before.first)), np.arange(n)
    )
    every = np.arange(len(after.first))
    other = between_classes(lambda a, b: rows[np.ix_(who[a], b)], after, trivial(n), every, np.arange(n))
    np.testing.assert_array_equal(other, one[before.label[who[after.first]]])


def trivial(n: int) -> Classes:
    everybody = np.arange(n)
    return Classes(label=everybody, first=everybody, size=np.ones(n, dtype=np.intp), loose=np.zeros(n, dtype=np.bool_))


def test_the_nearest_are_joined_first_and_a_chain_is_cut_where_it_is_longest() -> None:
    at = np.array([0.0, 0.5, 0.9, 1.6, 1.9, 1.9]) * ZERO
    classes = identical_rows(at[:, None], 1.0, 1.0)
    assert partition(classes) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}
    assert classes.groups() == ((0, 1, 2), (3, 4, 5))
    assert classes.loose.tolist() == [True, True]


def test_equal_steps_are_cut_together() -> None:
    # nobody can say where to cut a chain of equal steps that is too long
    classes = identical_rows(0.75 * ZERO * np.arange(5.0)[:, None], 1.0, 1.0)
    assert classes.groups() == ()


def test_long_runs_are_compared_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.append(np.zeros(20), ZERO * np.linspace(0, 3, 21))[:, None]
    whole = identical_rows(rows, 1.0, 1.0)
    monkeypatch.setattr("nashboard.equilibrium.clones.CELLS", 3)
    assert partition(identical_rows(rows, 1.0, 1.0)) == partition(whole)


def test_the_middle_stands_for_a_class_and_stays_antisymmetric() -> None:
    A = antisymmetric(np.array([[0, 1, 1 + ZERO / 2, 3], [0, 0, 0, 2], [0, 0, 0, 2], [0, 0, 0, 0.0]]))
    game = AgentsGame.of(Payoffs(A=A), ("a", "b", "c", "d"))
    K = game.block([np.arange(3)]) * 2.0**game.exponent
    np.testing.assert_array_equal(K, -K.T)
    np.testing.assert_array_equal(K[0], [0, 1 + ZERO / 4, 3])
    assert nb.nash_average(A).clone_groups == (("agent 2", "agent 3"),)


class Model:
    """Payoffs behind the protocol."""

    def __init__(self, A: Matrix) -> None:
        self.A, self.size = A, len(A)

    def columns(self, indices: Indices) -> Matrix:
        return self.A[:, indices]

    def product(self, weights: Matrix) -> Matrix:
        return np.asarray(self.A @ weights)


def test_a_model_has_the_same_classes_and_payoffs_as_its_matrix() -> None:
    who = np.array([0, 1, 2, 3, 1, 2, 2])
    A = dense(3, 4)[np.ix_(who, who)] + ZERO / 8 * antisymmetric(rng_of(0).normal(size=(7, 7)))
    matrix, model = AgentsGame.of(Payoffs(A=A), (*"abcdefg",)), Model(A)
    by_columns = identical_agents(7, model.columns, model.product, ZERO * matrix.scale)
    assert partition(matrix.classes[0]) == partition(by_columns)
    every = [np.arange(matrix.sizes[0])]
    read = replace(matrix, model=model)  # fetched column by column
    np.testing.assert_array_equal(matrix.block(every), read.block(every))
    np.testing.assert_allclose(nb.nash_average(Model(A)).weights, nb.nash_average(A).weights, atol=TIGHT)


def test_ratings_that_agree_to_the_last_bits_are_one_class_whoever_comes_first() -> None:
    ratings, cyclic = np.array([100.0, 100.0 + 1e-12, -3.0, 100.0]), np.array([[1, 2], [1, 2], [0, 1], [5, 2.0]])
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        found = nb.nash_average(RatingsModel.from_arrays(ratings[order], cyclic[order], agents=[*"abcd"]))
        assert len(found.clone_groups) == 1


# once the first row stood for all that are the same by the rule, and moved weights by 0.05 to 1 with the order
ONCE_MOVED: tuple[list[list[float]], ...] = (
    [[-2.4e-12, -2.1e-12, -8.6e-12], [2.0, 1e-13, 1.1e-12], [-2.5e-13, 1.7e-13, 4.8e-13], [2.1e-13, 1.6e-13, 1.7e-14]],
    [[-1.1e-13, 1.2e-13], [-3.1e-13, -9.6e-13], [-8.7e-12, 2.8e-12], [-3.8e-13, -2.0]],
)


def require_same_tables(S: Matrix, seed: int) -> None:
    rng = rng_of(seed)
    rows, columns = (
        rng.permutation(np.append(np.arange(k), rng.integers(0, k, size=rng.integers(0, 4)))) for k in S.shape
    )
    before, after = nb.nash_average_scores(S), nb.nash_average_scores(S[np.ix_(rows, columns)])
    for who, names, groups, old, new in (
        (rows, before.agents, before.agent_clone_groups, before.agent_weights, after.agent_weights),
        (columns, before.tasks, before.task_clone_groups, before.task_weights, after.task_weights),
    ):
        require_same_totals(names, groups, old, new, who)


def require_same_totals(
    names: tuple[str, ...], groups: tuple[tuple[str, ...], ...], old: Matrix, new: Matrix, who: Indices
) -> None:
    class_of = {name: group[0] for group in groups for name in group}
    label = np.unique([class_of.get(name, name) for name in names], return_inverse=True)[1]
    totals = np.bincount(label[who], weights=new, minlength=label.max() + 1)
    np.testing.assert_allclose(totals, np.bincount(label, weights=old), atol=TIGHT)


@pytest.mark.parametrize("cells", ONCE_MOVED)
def test_order_and_copies_of_players_that_are_the_same_by_the_rule_move_nothing(cells: list[list[float]]) -> None:
    for seed in range(8):
        require_same_tables(np.array(cells), seed)


@given(seed=seeds, family=st.sampled_from([wild, crumbs]))
@settings(max_examples=4, deadline=None)
def test_order_and_copies_move_nothing_in_tables_of_any_scales(seed: int, family: Callable[..., Matrix]) -> None:
    require_same_tables(hard_table(family.__name__, seed, most=7), seed)


@given(seed=seeds, family=st.sampled_from([wild, crumbs]))
@settings(max_examples=4, deadline=None)
def test_order_and_copies_move_nothing_in_games_of_any_scales(seed: int, family: Callable[..., Matrix]) -> None:
    A = hard_game(family.__name__, seed, most=8)
    who = rng_of(seed).permutation(np.append(np.arange(len(A)), rng_of(seed).integers(0, len(A), size=3)))
    before, after = nb.nash_average(A), nb.nash_average(A[np.ix_(who, who)])
    require_same_totals(before.agents, before.clone_groups, before.weights, after.weights, who)
    np.testing.assert_allclose(after.averages, before.averages[who], atol=TIGHT * np.abs(A).max())


@pytest.mark.parametrize("shape", [(5, 5), (7, 6), (40, 33), (3, 200)])
def test_in_a_flat_table_all_are_copies_whatever_rounding_does_to_sums(shape: tuple[int, int]) -> None:
    for seed in range(40):
        table = nb.nash_average_scores(np.full(shape, 10 * rng_of(seed).random()))
        assert len(table.agent_clone_groups) == len(table.task_clone_groups) == 1
        np.testing.assert_allclose(table.task_weights, 1 / shape[1])


def test_weights_that_tell_rows_apart_are_the_same_on_every_run() -> None:
    assert irrational_weights(4).tolist() == irrational_weights(4).tolist()
    assert 1 < irrational_weights(100).min() < irrational_weights(100).max() < 2
