"""The most even mixture within a tolerance: right, unique, continuous, clone-proof, exact as the tolerance fades."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import nashboard as nb
from equilibrium_games import Matrix, antisymmetric, dense, disjoint_cycles, low_rank, rng_of, seeds, signs

TIGHT = 1e-9


def entropy(p: Matrix) -> float:
    return float(-(p[p > 0] @ np.log(p[p > 0])))


def bound_of_movement(change: float, tolerance: float, classes: int, groups: int = 1) -> float:
    """Return the modulus of continuity as `nashboard.equilibrium.entropy` states it."""
    t = groups * change / (tolerance + groups * change)
    return float(2 * t + 2 * np.sqrt(t * np.log(classes)))


def slow_twin(F: Matrix, limit: float) -> Matrix:
    """Maximise the entropy over ``F x <= limit`` by sequential quadratic programming."""
    n = F.shape[1]
    solve: Any = minimize
    found = solve(
        lambda x: float(x @ np.log(np.maximum(x, 1e-12))),
        np.full(n, 1 / n),
        jac=lambda x: np.log(np.maximum(x, 1e-12)) + 1,
        bounds=[(1e-12, 1)] * n,
        constraints=[
            {"type": "eq", "fun": lambda x: x.sum() - 1, "jac": lambda x: np.ones(n)},
            {"type": "ineq", "fun": lambda x: limit - F @ x, "jac": lambda x: -F},
        ],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    return np.asarray(found.x / found.x.sum())


@given(seed=seeds, n=st.integers(2, 8), share=st.sampled_from([0.3, 0.05, 0.01]))
@settings(max_examples=4, deadline=None)
def test_a_slow_twin_finds_nothing_more_even(seed: int, n: int, share: float) -> None:
    A = dense(seed, n)
    tolerance = share * float(np.abs(A).max())
    result = nb.nash_average(A, tolerance=tolerance)
    assert result.exploitability <= tolerance * (1 + 1e-9)
    assert result.residual <= TIGHT
    twin = slow_twin(A, tolerance)
    if (A @ twin).max() <= tolerance * (1 + 1e-7):
        assert entropy(twin) <= entropy(result.weights) + 1e-6
        np.testing.assert_allclose(result.weights, twin, atol=2e-3)


@given(seed=seeds, share=st.sampled_from([0.2, 0.02]))
@settings(max_examples=4, deadline=None)
def test_both_sides_of_a_table_agree_with_the_slow_twin(seed: int, share: float) -> None:
    S = rng_of(seed).random((4, 5))
    exact, result = nb.nash_average_scores(S), nb.nash_average_scores(S, tolerance=share)
    np.testing.assert_allclose(result.task_weights, slow_twin(S, exact.value + share), atol=2e-3)
    np.testing.assert_allclose(result.agent_weights, slow_twin(-S.T, -exact.value + share), atol=2e-3)
    assert (S @ result.task_weights).max() <= exact.value + share + TIGHT
    assert (S.T @ result.agent_weights).min() >= exact.value - share - TIGHT


@pytest.mark.parametrize("family", [dense, low_rank, disjoint_cycles, signs])
def test_small_tolerances_lead_to_the_exact_answer(family: Any) -> None:
    A = family(3, 6)
    exact = nb.nash_average(A)
    apart = [np.abs(nb.nash_average(A, tolerance=e).weights - exact.weights).max() for e in (1e-2, 1e-4, 1e-6)]
    assert apart[2] < 1e-4
    assert apart[2] <= apart[1] + 1e-9 <= apart[0] + 1e-8
    np.testing.assert_array_equal(nb.nash_average(A, tolerance=0).weights, exact.weights)


@given(seed=seeds, n=st.integers(3, 10), change=st.sampled_from([1e-2, 1e-4, 1e-6]))
@settings(max_examples=4, deadline=None)
def test_weights_move_no_further_than_the_modulus(seed: int, n: int, change: float) -> None:
    # also where the exact answer jumps: games with many equilibria, disturbed
    rng = rng_of(seed)
    for A in (dense(seed, n), signs(seed, n), disjoint_cycles(seed, 3)):
        noise = antisymmetric(rng.uniform(-1, 1, size=A.shape))
        A = A + 1e-3 * antisymmetric(rng.uniform(-1, 1, size=A.shape))  # no copies before, none after
        tolerance = 0.01
        one, other = nb.nash_average(A, tolerance=tolerance), nb.nash_average(A + change * noise, tolerance=tolerance)
        moved = np.abs(one.weights - other.weights).sum()
        assert moved <= bound_of_movement(change, tolerance, len(A)) + 1e-9


@given(seed=seeds, change=st.sampled_from([1e-2, 1e-4, 1e-6]))
@settings(max_examples=4, deadline=None)
def test_weights_of_tables_move_no_further_than_the_modulus(seed: int, change: float) -> None:
    rng = rng_of(seed)
    for S in (rng.random((5, 8)), rng.integers(0, 3, size=(6, 6)) + 1e-3 * rng.random((6, 6))):
        moved = S + change * rng.uniform(-1, 1, size=S.shape)
        one, other = (nb.nash_average_scores(table, tolerance=0.01) for table in (S, moved))
        for before, after in (one.agent_weights, other.agent_weights), (one.task_weights, other.task_weights):
            apart = np.abs(before - after).sum()
            assert apart <= bound_of_movement(change, 0.01, len(before), groups=2) + 1e-9


def test_a_step_of_rounding_moves_exact_weights_far_and_tolerant_ones_hardly() -> None:
    better = 1e-10 * np.array([1, 0, 1, 0.0])
    circle = np.array([[0, 1, 0, -1], [-1, 0, 1, 0], [0, -1, 0, 1], [1, 0, -1, 0.0]])
    near = circle + better[:, None] - better
    assert np.abs(nb.nash_average(circle).weights - nb.nash_average(near).weights).max() > 0.2
    one, other = (nb.nash_average(A, tolerance=1e-3).weights for A in (circle, near))
    assert np.abs(one - other).max() < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_single_and_double_precision_nearly_agree(seed: int) -> None:
    C = rng_of(seed).normal(size=(200, 6))
    half = C[:, ::2] @ C[:, 1::2].T
    A = half - half.T
    exact, single = nb.nash_average(A), nb.nash_average(A.astype(np.float32))
    assert np.abs(exact.weights - single.weights).max() < 1e-5
    assert single.effective_number == pytest.approx(exact.effective_number, rel=1e-3)
    assert not single.unique
    assert single.condition < 1e6
    S = A[:30]
    by_single = nb.nash_average_scores(S.astype(np.float32))
    np.testing.assert_allclose(by_single.task_weights, nb.nash_average_scores(S).task_weights, atol=1e-3)


@given(seed=seeds, tolerance=st.sampled_from([0.3, 0.01, 1e-5]))
@settings(max_examples=4, deadline=None)
def test_copies_change_nothing(seed: int, tolerance: float) -> None:
    rng = rng_of(seed)
    A = dense(seed, 7)
    who = rng.permutation(np.append(np.arange(7), rng.integers(0, 7, size=5)))
    before, after = (nb.nash_average(B, tolerance=tolerance) for B in (A, A[np.ix_(who, who)]))
    np.testing.assert_allclose(np.bincount(who, weights=after.weights, minlength=7), before.weights, atol=TIGHT)
    np.testing.assert_allclose(after.averages, before.averages[who], atol=TIGHT)


def test_a_ladder_keeps_its_order_and_its_best_agent() -> None:
    r = np.arange(6.0)[::-1]
    result = nb.nash_average(r[:, None] - r, tolerance=0.1)
    assert result.support == ("agent 1",)
    assert result.ranks.tolist() == [1, 2, 3, 4, 5, 6]
    # one constraint presses: weights fall off exponentially
    np.testing.assert_allclose(np.diff(np.log(result.weights)), np.log(result.weights[1] / result.weights[0]))
    assert "most even mixture" in str(result)


def test_where_the_tolerance_allows_everything_all_classes_weigh_the_same() -> None:
    A = dense(0, 5)
    result = nb.nash_average(A, tolerance=10 * np.abs(A).max())
    np.testing.assert_allclose(result.weights, 0.2)
    assert result.condition == 0


@pytest.mark.parametrize("share", [1 + 1e-10, 1, 1 - 1e-10])
def test_a_tolerance_that_even_weights_just_meet_has_a_condition(share: float) -> None:
    rng = np.random.default_rng(4)
    for _ in range(5):
        A = dense(int(rng.integers(99)), 6)
        e = share * A.mean(axis=1).max()
        before = nb.nash_average(A, tolerance=e)
        assert before.condition > 0
        noise = np.triu(rng.choice([-1e-9, 1e-9], size=A.shape), 1) * before.scale
        after = nb.nash_average(A + noise - noise.T, tolerance=e)
        assert np.abs(after.weights - before.weights).max() <= 1e-9 * before.condition


def test_large_populations_have_a_tolerance_too() -> None:
    from nashboard.equilibrium.models import RatingsModel

    rng = rng_of(5)
    r, C = 0.2 * rng.normal(size=1100), rng.normal(size=(1100, 4))
    model = RatingsModel.from_arrays(r, C)
    result = nb.nash_average(model, tolerance=0.01)
    assert result.exploitability <= 0.01 + 1e-9 * result.scale
    columns = model.columns(np.arange(1100))
    A = (columns - columns.T) / 2
    np.testing.assert_allclose(nb.nash_average(A, tolerance=0.01).weights, result.weights, atol=1e-8)


def test_a_tolerance_needs_no_proof_of_an_exact_equilibrium(monkeypatch: pytest.MonkeyPatch) -> None:
    A, S = dense(4, 60), rng_of(4).random((40, 50))
    before = nb.nash_average(A, tolerance=1e-4), nb.nash_average_scores(S, tolerance=1e-4)
    monkeypatch.setattr("nashboard.equilibrium.solver.find_side_face", lambda *ignored: None)
    assert nb.nash_average(A).tolerance > 0
    for average, data in ((nb.nash_average, A), (nb.nash_average_scores, S)):
        with pytest.raises(nb.ConvergenceError, match="could not be proved"):
            average(data, tolerance=0)
    after = nb.nash_average(A, tolerance=1e-4), nb.nash_average_scores(S, tolerance=1e-4)
    np.testing.assert_allclose(after[0].weights, before[0].weights, atol=1e-9)
    np.testing.assert_allclose(after[1].task_weights, before[1].task_weights, atol=1e-9)


@pytest.mark.parametrize("tolerance", [-1, np.nan, np.inf, "0.1", True])
def test_wrong_tolerances_are_refused(tolerance: Any) -> None:
    with pytest.raises(nb.InputError, match="the tolerance is"):
        nb.nash_average(dense(0, 3), tolerance=tolerance)


@pytest.mark.parametrize("kind", [np.float32, np.float16])
@pytest.mark.parametrize("seed", range(12))
def test_copies_up_to_rounding_in_a_narrow_type_are_one_class_and_solved(kind: Any, seed: int) -> None:
    A = dense(seed, 7).astype(kind)
    step = np.spacing(np.abs(A).max())
    who = np.append(np.arange(7), [1, 4, 4])
    A = A[np.ix_(who, who)]
    A[7, :3] += step  # an agent and its copy differ in the last place
    A[:3, 7] -= step
    A[8, 9], A[9, 8] = step, -step
    result = nb.nash_average(A)
    assert ("agent 2", "agent 8") in result.clone_groups
    assert ("agent 5", "agent 9", "agent 10") in result.clone_groups
    assert result.exploitability <= result.tolerance + 1e-9 * result.scale
    assert result.tolerance <= 4.01 * np.finfo(kind).eps * result.scale
    game = nb.MetaGame(A[:8, :8])
    for k in (8, 9):
        game.append(A[k, :k])
    np.testing.assert_allclose(game.weights, result.weights, atol=1e-6)
    scores = nb.nash_average_scores(A)
    assert scores.exploitability <= 2 * scores.tolerance + 1e-9 * scores.scale


@pytest.mark.parametrize("average", [nb.nash_average, nb.nash_average_scores])
def test_a_tolerance_of_zero_takes_a_narrow_type_as_exact(average: Any) -> None:
    for seed in range(5):
        A = np.triu(dense(seed, 6)[np.ix_([0, 1, 2, 3, 4, 5, 5], [0, 1, 2, 3, 4, 5, 5])].astype(np.float32), 1)
        A[2, 6] += np.spacing(np.float32(1))
        A = A - A.T
        narrow, wide = average(A, tolerance=0), average(A.astype(np.float64))
        assert narrow.tolerance == 0
        assert narrow.to_dict() | {"iterations": 0} == wide.to_dict() | {"iterations": 0}


@pytest.mark.parametrize("seed", [494, 1460, 1502, 1762, 2314, 2362])
def test_near_ties_far_larger_than_a_small_tolerance_need_careful_steps(seed: int) -> None:
    """Multipliers are about 1e9 here, so that the normal equations of a step lose all digits of some rows."""
    rng = np.random.default_rng(seed)
    m, n = rng.integers(2, 10, size=2)
    S = rng.integers(0, 3, size=(m, n)) * 1.0
    spread = np.ptp(S)
    tolerance, change = 10 ** rng.uniform(-9, -0.5) * spread, 10 ** rng.uniform(-11, -1) * spread
    S = S + rng.uniform(-change, change, size=S.shape)
    result = nb.nash_average_scores(S, tolerance=tolerance)
    assert result.residual <= 1e-9
    assert result.exploitability <= 2 * tolerance + 1e-9 * spread
