"""The oracle and the models: large populations give the answer of the whole game."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import nashboard as nb
from equilibrium_games import Matrix, antisymmetric, seeds
from nashboard.equilibrium.game import game_of, matrix_of
from nashboard.equilibrium.models import PayoffModel, RatingsModel
from nashboard.equilibrium.solver import DIRECT, find_equilibrium, solve


def realistic(seed: int, n: int, planes: int = 2, noise: float = 0.05) -> Matrix:
    """Ratings, cyclic planes and noise."""
    rng = np.random.default_rng(seed)
    model = RatingsModel.from_arrays(rng.normal(size=n), rng.normal(size=(n, 2 * planes)))
    everybody = np.arange(n)
    return np.asarray(model.block(everybody, everybody) + noise * antisymmetric(rng.normal(size=(n, n))))


def whole(A: Matrix) -> NDArray[np.float64]:
    """Solve without the oracle."""
    return solve(A / np.abs(A).max(), [np.zeros(len(A))]).sides[0].weights


@pytest.mark.parametrize("seed", range(3))
def test_the_oracle_agrees_with_the_whole_game(seed: int) -> None:
    A = realistic(seed, 2 * DIRECT)
    result = nb.nash_average(A)
    np.testing.assert_allclose(result.weights, whole(A), atol=1e-12)
    assert len(result.support) < 40


def test_dense_games_are_handed_to_the_solver_for_the_whole() -> None:
    A = antisymmetric(np.random.default_rng(0).normal(size=(DIRECT + 50, DIRECT + 50)))
    result = nb.nash_average(A)
    assert len(result.support) > 100
    np.testing.assert_allclose(result.weights, whole(A), atol=1e-12)


def test_ties_outside_the_first_choice_are_found() -> None:
    # 400 agents in a ladder of three steps, the best of which play a cycle that is the same for all of them
    rng = np.random.default_rng(1)
    steps = rng.integers(0, 3, size=400).astype(float)
    turn = rng.integers(0, 7, size=400) * (2 * np.pi / 7)
    C = np.column_stack([np.cos(turn), np.sin(turn)]) * (steps == 2)[:, None]
    A = steps[:, None] - steps + np.round(C[:, :1] @ C[:, 1:].T - C[:, 1:] @ C[:, :1].T, 12)
    result = nb.nash_average(antisymmetric(A))
    assert {agent for agent, step in zip(result.agents, steps, strict=True) if step == 2} == set(result.support)


@given(seed=seeds, copies=st.lists(st.integers(0, 299), max_size=30))
@settings(max_examples=4)
def test_clones_in_a_large_population_change_nothing(seed: int, copies: list[int]) -> None:
    A = realistic(seed, 300)
    best = np.flatnonzero(nb.nash_average(A).weights)
    who = np.concatenate([np.arange(300), np.array(copies, dtype=np.intp), best[:2]])
    before, after = nb.nash_average(A), nb.nash_average(A[np.ix_(who, who)])
    np.testing.assert_allclose(np.bincount(who, weights=after.weights), before.weights, atol=1e-9)
    np.testing.assert_allclose(after.averages, before.averages[who], atol=1e-9)


def model_of(seed: int, n: int) -> RatingsModel:
    rng = np.random.default_rng(seed)
    return RatingsModel.from_arrays(200 * rng.normal(size=n), 12 * rng.normal(size=(n, 4)))


@pytest.mark.parametrize("n", [1, 2, 50, 600])
def test_a_model_gives_the_answer_of_its_matrix(n: int) -> None:
    model = model_of(3, n)
    everybody = np.arange(n)
    A = model.columns(everybody)
    np.testing.assert_allclose(A, -A.T, atol=1e-9)
    by_model, by_matrix = nb.nash_average(model), nb.nash_average(antisymmetric(A))
    np.testing.assert_allclose(by_model.weights, by_matrix.weights, atol=1e-9)
    np.testing.assert_allclose(by_model.averages, by_matrix.averages, atol=1e-7)
    assert by_model.unit == "Elo points"


def test_two_hundred_thousand_agents_are_solved_without_a_matrix() -> None:
    result = nb.nash_average(model_of(0, 200_000))
    assert result.exploitability <= 1e-12 * result.scale
    assert result.residual <= 1e-12
    assert result.averages.max() <= 1e-9


@dataclass
class Melo:
    """What a fitted mElo looks like."""

    agents: tuple[str, ...]
    ratings: NDArray[np.float64]
    cyclic: NDArray[np.float64]


def test_fitted_ratings_are_accepted_with_their_names() -> None:
    turn = np.array([0, 1, 2]) * (2 * np.pi / 3)
    fitted = Melo(("a", "b", "c"), np.zeros(3), 10 * np.column_stack([np.cos(turn), np.sin(turn)]))
    result = nb.nash_average(fitted)
    assert result.agents == ("a", "b", "c")
    np.testing.assert_allclose(result.weights, 1 / 3, atol=1e-12)


class Stranger:
    """The smallest model there can be: size, columns, product."""

    def __init__(self, A: Matrix) -> None:
        self.A = A
        self.size = len(A)

    def columns(self, indices: NDArray[np.intp]) -> Matrix:
        return self.A[:, indices]

    def product(self, weights: Matrix) -> Matrix:
        return np.asarray(self.A @ weights)


def test_any_object_with_size_columns_and_product_is_a_model() -> None:
    A = realistic(5, 320)
    who = np.concatenate([np.arange(320), np.flatnonzero(nb.nash_average(A).weights)])
    A = A[np.ix_(who, who)]
    model = Stranger(A)
    assert isinstance(model, PayoffModel)
    by_model, by_matrix = nb.nash_average(model), nb.nash_average(A)
    np.testing.assert_allclose(by_model.weights, by_matrix.weights, atol=1e-12)
    assert by_model.clone_groups == by_matrix.clone_groups
    assert len(by_model.clone_groups) == len(who) - 320


def test_an_empty_model_is_refused() -> None:
    model: Any = Stranger(np.zeros((0, 0)))
    with pytest.raises(nb.InputError, match="at least one agent"):
        nb.nash_average(model)


@pytest.mark.parametrize(
    ("ratings", "cyclic", "words"),
    [
        ([0.0, 1.0], [[1.0], [2.0]], "two columns per plane"),
        ([0.0, np.nan], None, "must be finite"),
        ([], None, "at least one agent"),
    ],
)
def test_wrong_models_are_explained(ratings: list[float], cyclic: Any, words: str) -> None:
    with pytest.raises(nb.InputError, match=words):
        RatingsModel.from_arrays(ratings, cyclic)


def test_a_large_matrix_is_used_without_a_copy_when_it_is_antisymmetric() -> None:
    A = antisymmetric(np.random.default_rng(2).normal(size=(1100, 1100)))
    assert matrix_of(A).A is A
    noisy = A.copy()
    noisy[0, 1] *= 1 + 1e-10
    own = matrix_of(noisy).A
    np.testing.assert_array_equal(own, -own.T)
    with pytest.raises(nb.InputError, match="not antisymmetric"):
        matrix_of(A + 1)
    for value in (np.nan, np.inf):
        A[3, 4], A[4, 3] = value, -value
        with pytest.raises(nb.InputError, match="a payoff must be finite"):
            matrix_of(A)


def test_progress_is_told_while_agents_join() -> None:
    told: list[tuple[int, float]] = []
    A = realistic(0, 300)
    find_equilibrium(game_of(A), [np.zeros(300)], lambda count, gap: told.append((count, gap)))
    assert len(told) > 3


def test_an_interrupt_leaves_the_solver_at_once() -> None:
    def stop(count: int, gap: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_equilibrium(game_of(realistic(0, 300)), [np.zeros(300)], stop)


def low_rank_table(seed: int, m: int, n: int) -> Matrix:
    """Skills and difficulties in a few dimensions, with noise: what benchmark tables look like."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, 3)) @ rng.normal(size=(3, n)) + 0.05 * rng.normal(size=(m, n))


@pytest.mark.thin(3)
@pytest.mark.parametrize(("m", "n"), [(300, 400), (20, 2000), (2000, 20), (260, 1050), (1050, 260)])
@pytest.mark.parametrize("kind", ["low rank", "dense"])
def test_large_tables_give_the_answer_of_the_whole(m: int, n: int, kind: str) -> None:
    rng = np.random.default_rng(m + n)
    S = low_rank_table(m, m, n) if kind == "low rank" else rng.random((m, n))
    result = nb.nash_average_scores(S)
    agents, tasks = solve(S / np.abs(S).max(), [np.zeros(m), np.zeros(n)]).sides
    np.testing.assert_allclose(result.agent_weights, agents.weights, atol=1e-10)
    np.testing.assert_allclose(result.task_weights, tasks.weights, atol=1e-10)


def test_ties_in_large_tables_are_found() -> None:
    S = np.zeros((300, 1500))
    S[:, 700:] = np.arange(1, 801)  # easier tasks
    S[np.arange(300), np.arange(300)] = -1.0  # each agent fails at one of the hardest
    result = nb.nash_average_scores(S, selection="maxent")
    np.testing.assert_allclose(result.agent_weights, 1 / 300, atol=1e-12)
    np.testing.assert_allclose(result.task_weights[:300], 1 / 300, atol=1e-12)
    assert result.value == pytest.approx(-1 / 300, abs=1e-12)
