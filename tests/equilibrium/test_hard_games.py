"""Every kind of degenerate and badly scaled game, by certificate and against an exact solve.

`fuzz.py` beside this file does the same, and more, by the thousand.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import nashboard as nb
from equilibrium_games import antisymmetric, rng_of, seeds
from hard_games import CLEAN, HARD, hard_game, hard_table
from nashboard.equilibrium.batch import nash_averages, nash_averages_scores
from nashboard.equilibrium.precision import ZERO
from reference_equilibrium import exact_value, optimal_vertices, require_right_claim, require_the_only_one

TIGHT = 1e-9
families = pytest.mark.parametrize("family", HARD)


@families
@given(seed=seeds)
@settings(max_examples=4, deadline=None)
def test_games_are_solved_to_their_certificates_and_the_same_in_a_stack(family: str, seed: int) -> None:
    A = hard_game(family, seed, most=9)
    result = nb.nash_average(A)
    assert result.weights.min() >= 0
    assert abs(result.weights.sum() - 1) <= 1e-14
    assert result.residual <= TIGHT
    w = [Fraction(x) for x in result.weights.tolist()]
    gains = [sum(Fraction(a) * x for a, x in zip(row, w, strict=True)) for row in A.tolist()]
    assert max(gains) <= TIGHT * float(np.abs(A).max())
    np.testing.assert_allclose(nash_averages(A[None]).weights[0], result.weights, atol=TIGHT)


@families
@given(seed=seeds)
@settings(max_examples=4, deadline=None)
def test_tables_have_the_value_of_an_exact_solve_and_the_same_weights_in_a_stack(family: str, seed: int) -> None:
    S = hard_table(family, seed, most=7)
    result = nb.nash_average_scores(S)
    allowed = TIGHT * np.ptp(S) + 64 * np.spacing(np.abs(S).max())
    exact = exact_value([[Fraction(x) for x in row] for row in S.tolist()])
    assert abs(Fraction(result.value) - exact) <= allowed
    assert result.exploitability <= allowed
    assert result.residual <= TIGHT
    for weights in (result.agent_weights, result.task_weights):
        assert weights.min() >= 0
        assert abs(weights.sum() - 1) <= 1e-14
    stack = nash_averages_scores(S[None])
    np.testing.assert_allclose(stack.agent_weights[0], result.agent_weights, atol=TIGHT)
    np.testing.assert_allclose(stack.task_weights[0], result.task_weights, atol=TIGHT)


@pytest.mark.parametrize(("seed", "support"), [(52, (1, 2, 4, 6)), (327, (0, 2))])
def test_a_tie_without_weight_is_not_a_member_of_the_only_equilibrium(seed: int, support: tuple[int, ...]) -> None:
    """The square system of the tied agents has one solution, in which one of them has weight 0 to the last bit."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    wins = np.zeros((n, n))
    i, j = np.triu_indices(n, 1)
    wins[i, j] = rng.integers(1, 12, i.size)
    wins[j, i] = 12 - wins[i, j]
    A = np.log(wins + 0.5) - np.log(wins.T + 0.5)
    result = nb.nash_average(A)
    assert not result.unique
    assert result.support == tuple(f"agent {k + 1}" for k in support)
    assert tuple(np.flatnonzero(result.weights)) == support
    assert not nash_averages(A[None]).unique[0]
    require_right_claim(A / np.abs(A).max(), 0.0, result.weights, np.arange(n), result.unique, "agents")


@pytest.mark.thin(3)
@pytest.mark.parametrize("family", CLEAN)
def test_claims_about_uniqueness_and_support_agree_with_linear_programs(family: str) -> None:
    for seed in range(3):
        A, S = hard_game(family, seed, most=6), hard_table(family, seed, most=5)
        scale, spread = np.abs(A).max(), np.ptp(S)
        if scale > 0:
            game = nb.nash_average(A)
            label = np.array([np.flatnonzero((row == A).all(axis=1))[0] for row in A])
            require_right_claim(A / scale, 0.0, game.weights, label, game.unique, "agents")
        if spread > 0:
            table = nb.nash_average_scores(S)
            v = table.value / spread
            rows, columns = (np.array([np.flatnonzero((row == T).all(axis=1))[0] for row in T]) for T in (S, S.T))
            require_right_claim(S / spread, v, table.task_weights, columns, table.tasks_unique, "tasks")
            require_right_claim(-S.T / spread, -v, table.agent_weights, rows, table.agents_unique, "agents")


def test_an_agent_that_misses_by_little_is_judged_to_have_no_weight() -> None:
    """One agent misses by 1e-5 of the largest payoff, so linear programs with a slack of 1e-10 give it weight 1e-5."""
    A = hard_game("counts", 771000549)
    result = nb.nash_average(A)
    assert result.unique
    require_right_claim(A / np.abs(A).max(), 0.0, result.weights, np.arange(len(A)), result.unique, "agents")


def test_wrong_claims_are_refuted() -> None:
    circle = np.array([[0, 1, 0, -1], [-1, 0, 1, 0], [0, -1, 0, 1], [1, 0, -1, 0.0]])
    some, label = np.array([0.5, 0, 0.5, 0]), np.arange(4)
    for weights in (np.full(4, 0.25), some):
        with pytest.raises(AssertionError, match="claim to be unique"):
            require_right_claim(circle, 0.0, weights, label, True, "agents")
    with pytest.raises(AssertionError, match="have none"):
        require_right_claim(circle, 0.0, some, label, False, "agents")


@pytest.mark.parametrize("family", ["crumbs", "rule-clones", "wild", "nearly"])
def test_an_equilibrium_that_is_called_the_only_one_is_the_only_one_in_fractions(family: str) -> None:
    only = 0
    for seed in range(60):
        A, S = hard_game(family, seed, most=8), hard_table(family, seed, most=8)
        game, table = nb.nash_average(A), nb.nash_average_scores(S)
        if game.unique and not game.clone_groups:
            require_the_only_one(A, game.weights, game.weights)
            only += 1
        if table.unique and not (table.agent_clone_groups or table.task_clone_groups):
            require_the_only_one(S, table.agent_weights, table.task_weights)
            only += 1
    assert only > 20


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99, 1.01, 1.3, 2.0, 3.0, 3.9, 4.1, 10.0, 1000.0])
def test_a_gradient_near_the_rule_of_zero_is_a_tie_or_decides(share: float) -> None:
    circle = np.array([[0, 1, 0, -1], [-1, 0, 1, 0], [0, -1, 0, 1], [1, 0, -1, 0.0]])
    better = share * ZERO * np.array([1, 0, 1, 0])
    result = nb.nash_average(circle + better[:, None] - better)
    assert not result.unique
    assert result.condition == np.inf
    np.testing.assert_allclose(result.weights, [0.25] * 4 if share <= 1 else [0.5, 0, 0.5, 0], atol=1e-15)


# seeds of circles of so many agents in which one pair is changed by so little
NEARLY = [(8, 456), (40, 750), (40, 1049), (80, 288), (150, 1462), (300, 109)]


@pytest.mark.parametrize(("n", "seed"), NEARLY)
def test_one_small_payoff_among_ordinary_ones_leaves_a_game_solvable(n: int, seed: int) -> None:
    rng = rng_of(seed)
    angle = 2 * np.pi * np.arange(n) / n
    for change in 10.0 ** rng.uniform(-12, -7, size=4):
        A = antisymmetric(np.sin(angle[:, None] - angle))
        i, j = rng.choice(n, 2, replace=False)
        A[i, j], A[j, i] = change, -change
        game = nb.nash_average(A)
        assert game.exploitability <= 1e-12
        assert game.residual <= TIGHT
        better = change * rng.integers(0, 2, size=n)
        assert nb.nash_average(np.sin(angle[:, None] - angle) + better[:, None] - better).residual <= TIGHT


# seeds of games that turn on noise about as large as the rule of zero
UNDECIDED_GAMES = [("crumbs", 127), ("crumbs", 216), ("crumbs", 666), ("rule-clones", 30162), ("nearly", 6661113)]
UNDECIDED_TABLES = [
    ("rule-clones", seed)
    for seed in (26, 61, 224, 431, 571, 651, 410721)
] + [("crumbs", 262), ("crumbs", 449), ("near-clones", 1200744)]  # fmt: skip


@pytest.mark.parametrize("change", [2e-11, 5e-11, 1e-10])
def test_a_change_near_rounding_moves_no_weight_far_where_many_matter(change: float) -> None:
    """Payoffs of rank 4 among 100 agents: rounding them all to decide such a change would leave half of the weights."""
    C = rng_of(0).normal(size=(100, 4))
    A = C[:, ::2] @ C[:, 1::2].T
    A = A - A.T
    even = nb.nash_average(A)
    A[3, 7] += change
    A[7, 3] -= change
    result = nb.nash_average(A)
    assert np.abs(result.weights - even.weights).max() < 0.01
    assert result.effective_number > 0.95 * even.effective_number
    assert not result.unique
    assert result.condition == np.inf


@pytest.mark.parametrize(("family", "seed"), UNDECIDED_GAMES)
def test_games_that_turn_on_differences_near_rounding_are_solved(family: str, seed: int) -> None:
    A = hard_game(family, seed)
    result = nb.nash_average(A)
    assert result.exploitability <= TIGHT * np.abs(A).max()
    assert result.residual <= TIGHT
    assert result.condition == float("inf")


@pytest.mark.thin(3)
@pytest.mark.parametrize(("family", "seed"), UNDECIDED_TABLES)
def test_tables_that_turn_on_differences_near_rounding_are_solved(family: str, seed: int) -> None:
    S = hard_table(family, seed)
    result = nb.nash_average_scores(S)
    assert result.exploitability <= TIGHT * np.ptp(S)
    assert result.residual <= TIGHT
    exact = exact_value([[Fraction(x) for x in row] for row in S.tolist()])
    assert abs(result.value - float(exact)) <= TIGHT * np.ptp(S)


@pytest.mark.parametrize("seed", [7710298, 8400054, 8600189])
def test_faces_whose_equations_nearly_depend_on_each_other_are_solved(seed: int) -> None:
    result = nb.nash_average_scores(hard_table("nearly", seed))
    assert result.exploitability <= 1e-11
    assert result.residual <= TIGHT


@pytest.mark.parametrize("seed", [40, 72, 118, 169, 178, 193])
def test_margins_that_hardly_change_on_a_face_decide_what_is_most_even(seed: int) -> None:
    # a circle in which rows and columns gain a little: who is outside loses by that little wherever the mixture is
    rng = rng_of(seed)
    n = int(rng.choice([6, 8, 10, 12]))
    angle = 2 * np.pi * np.arange(n) / n
    rows, columns = rng.integers(0, 2, size=(2, n))
    circle = np.sin(angle[:, None] - angle) + 10.0 ** rng.uniform(-9, -7) * (rows[:, None] - columns)
    result = nb.nash_average(np.triu(circle, 1) - np.triu(circle, 1).T)
    assert result.exploitability <= 1e-11
    assert result.residual <= TIGHT


def test_one_side_is_called_unique_where_the_value_is_zero_up_to_rounding() -> None:
    S = hard_table("counts", 61517633)  # a task that all fail alike: the value is 6e-33 where the task's score is 0
    result = nb.nash_average_scores(S)
    assert result.agents_unique
    assert not result.tasks_unique


def test_agents_that_tie_only_by_the_rule_are_not_called_the_only_ones() -> None:
    S = 2 + 1e-11 * np.array([[-0.96, 0, 2.33], [3.09, -1.17, 0.81], [-3.3, 1.86, -0.51]])
    S[0, 1:] -= 1
    result = nb.nash_average_scores(S)
    value, vertices = optimal_vertices(S)
    off = np.abs([[float(x) for x in p] for p in vertices] - result.agent_weights).max()
    assert abs(result.value - float(value)) <= TIGHT
    assert off <= TIGHT or not (result.agents_unique or np.isfinite(result.condition))


def test_scores_that_differ_by_little_around_a_value_far_from_zero_are_solved() -> None:
    # found by fuzzing: all tasks but one are the same to 1e-10 of the largest score, and so far from zero
    table = hard_table("rule-clones", 2600296)
    result = nb.nash_average_scores(table)
    assert result.exploitability <= 1e-9 * result.scale
    assert result.residual <= 1e-9
    assert result.value == pytest.approx(
        float(exact_value([[Fraction(x) for x in row] for row in table.tolist()])), rel=1e-9
    )
