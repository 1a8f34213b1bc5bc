"""Stacks of games: every game as if it had been solved alone."""

from typing import Any

import numpy as np
import pytest

import nashboard as nb
from equilibrium_games import FAMILIES, TABLES, Matrix
from hard_games import hard_game
from nashboard.equilibrium.batch import nash_averages, nash_averages_scores


@pytest.mark.parametrize("selection", ["clone-invariant", "maxent"])
def test_a_stack_of_every_family_equals_single_solves(selection: Any) -> None:
    games = np.array([family(seed, 10)[:10, :10] for family in FAMILIES for seed in range(3)])
    stack = nash_averages(games, selection=selection)
    for k, game in enumerate(games):
        one = nb.nash_average(game, selection=selection)
        np.testing.assert_allclose(stack.weights[k], one.weights, atol=1e-9)
        np.testing.assert_allclose(stack.averages[k], one.averages, atol=1e-9 * max(1, np.abs(game).max()))
        assert stack.unique[k] == one.unique
        assert stack.residual[k] <= 1e-9
        assert stack.exploitability[k] <= 1e-9 * max(np.abs(game).max(), 1e-300)


def test_a_weight_that_rounding_made_does_not_make_an_equilibrium_the_only_one() -> None:
    # the agents of the middle tie, and the first loses to them unless the second has nearly all weight
    A = np.zeros((4, 4))
    A[0, 1:], A[1, 3], A[2, 3] = [6.8152e-8, -1.5006e-5, 1.0], 3.1165e-9, 3.8454e-2
    games = np.array([scale * (A - A.T) for scale in 2.0 ** np.arange(-3, 4) * np.pi] + [hard_game("wild", 170500248)])
    stack = nash_averages(games)
    assert not stack.unique.any()
    np.testing.assert_allclose(stack.weights, [[0, 0.5, 0.5, 0]] * len(games), atol=1e-12)


def resampled(S: Matrix, times: int) -> Matrix:
    """Draw tasks with replacement, so that clones are everywhere."""
    rng = np.random.default_rng(0)
    return np.array([S[:, rng.integers(0, S.shape[1], size=S.shape[1])] for _ in range(times)])


def test_a_stack_of_every_kind_of_table_equals_single_solves() -> None:
    tables = np.array([family(seed, 5, 7) for family in TABLES for seed in range(3)])
    tables = np.concatenate([tables, resampled(tables[0], 5), resampled(tables[5], 5)])
    stack = nash_averages_scores(tables)
    for k, table in enumerate(tables):
        one = nb.nash_average_scores(table)
        np.testing.assert_allclose(stack.agent_weights[k], one.agent_weights, atol=1e-9)
        np.testing.assert_allclose(stack.task_weights[k], one.task_weights, atol=1e-9)
        np.testing.assert_allclose(stack.skills[k], one.skills, atol=1e-9 * np.abs(table).max())
        np.testing.assert_allclose(stack.difficulties[k], one.difficulties, atol=1e-9 * np.abs(table).max())
        assert stack.values[k] == pytest.approx(one.value, abs=1e-9 * np.abs(table).max())
        assert stack.unique[k] == one.unique


def test_the_answer_does_not_depend_on_the_company() -> None:
    rng = np.random.default_rng(0)
    games = rng.normal(size=(70, 12, 12))
    games = games - games.transpose(0, 2, 1)
    together, alone = nash_averages(games), nash_averages(games[40:41])
    np.testing.assert_allclose(together.weights[40], alone.weights[0], atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 4), (0, 3, 3)])
def test_stacks_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(nb.InputError, match=r"\(games, n, n\)"):
        nash_averages(np.zeros(shape))


def test_stacks_of_tables_of_another_shape_are_refused() -> None:
    with pytest.raises(nb.InputError, match=r"\(tables, m, n\)"):
        nash_averages_scores(np.zeros((3, 3)))


def test_missing_numbers_in_one_game_are_explained() -> None:
    with pytest.raises(nb.InputError, match="finite"):
        nash_averages(np.array([[[0, np.nan], [np.nan, 0]]]))
    with pytest.raises(nb.InputError, match="missing"):
        nash_averages_scores(np.array([[[0, np.nan], [1, 0]]]))
