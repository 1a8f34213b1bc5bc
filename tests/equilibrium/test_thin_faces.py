"""Sets of equilibria that are thin: the best mixture of one spans many orders of magnitude."""

import numpy as np
import pytest
from scipy.optimize import linprog

import nashboard as nb
from equilibrium_games import Matrix, antisymmetric, disjoint_cycles, far_from_zero, rounded

TIGHT = 1e-9


def value_of(S: Matrix) -> float:
    """Return the value by linear programming."""
    m, n = S.shape
    found = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.hstack([-S.T, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return -float(found.fun or 0.0)


def reversed_ladder() -> Matrix:
    """Agents in a ladder, tasks that all but agree, one task reversed, scaled by range."""
    rng = np.random.default_rng(0)
    s = np.linspace(0.1, 0.9, 20)
    near = [s + rng.normal(0, 0.02, 20) for _ in range(2)]
    flat = [np.full(20, 0.97) + np.linspace(0, 0.02, 20), np.linspace(0, 0.04, 20)]
    S = np.clip(np.column_stack([s, *near, *flat, 1 - s]), 0, 1)
    return np.asarray((S - S.min(axis=0)) / np.ptp(S, axis=0))


def test_a_ladder_with_a_reversed_task_is_solved_without_any_of_its_agents() -> None:
    for k in range(20):
        S = np.delete(reversed_ladder(), k, axis=0)
        result = nb.nash_average_scores(S)
        assert result.exploitability <= TIGHT
        assert result.residual <= TIGHT
        assert abs(result.value - value_of(S)) <= TIGHT


def test_every_agent_of_a_thin_set_keeps_some_weight() -> None:
    result = nb.nash_average_scores(np.delete(reversed_ladder(), 1, axis=0))
    assert len(result.agent_support) == 19
    assert result.agent_weights.min() < 1e-16


@pytest.mark.thin(3)
@pytest.mark.parametrize("seed", [23, 24, 30, 33, 44, 54, 56, 73, 82, 83, 218, 224, 243, 276, 331, 347, 361, 461])
def test_tables_of_tasks_that_all_but_agree_and_one_reversed_are_solved(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = rng.integers(5, 25, size=2)
    s = np.linspace(0.1, 0.9, m)
    S = s[:, None] + rng.normal(size=(m, n)) * 10.0 ** -rng.integers(1, 7, size=n)
    S[:, rng.integers(n)] = 1 - s
    S = (S - S.min(axis=0)) / np.ptp(S, axis=0)
    result = nb.nash_average_scores(S)
    assert result.exploitability <= TIGHT
    assert result.residual <= TIGHT
    assert abs(result.value - value_of(S)) <= TIGHT


@pytest.mark.parametrize("small", [1e-3, 1e-6, 1e-9, 1e-10, 1e-11])
def test_the_most_even_mixture_of_a_segment_of_any_length_is_at_its_end(small: float) -> None:
    # the third agent alone is an equilibrium, and stays one with up to small / (1 + small) of the first; the
    # most even of these mixtures is the end of the segment
    A = np.array([[0, -1, 0], [1, 0, -small], [0, small, 0]])
    for scale in (1.0, 3e6, 1e-6):
        result = nb.nash_average(scale * A)
        assert result.residual <= TIGHT
        np.testing.assert_allclose(result.weights, [small / (1 + small), 0, 1 / (1 + small)], atol=1e-15)
        np.testing.assert_allclose(result.weights[0], small / (1 + small), rtol=1e-4)


def sizes_of_their_own(seed: int, n: int) -> Matrix:
    """Small whole numbers, each pair times a power of ten of its own from 1e-6 to 1e6."""
    rng = np.random.default_rng(seed)
    return antisymmetric(rng.integers(-3, 4, size=(n, n)) * 10.0 ** rng.integers(-6, 7, size=(n, n)))


ONCE_COLLAPSED = (
    (42, 4), (260, 8), (599, 5), (711, 10), (803, 10), (1586, 9), (1587, 4), (1976, 10), (2075, 12), (2288, 7),
    (2345, 6), (2572, 4), (2657, 5), (2704, 10), (2966, 11), (2999, 11),
)  # fmt: skip


@pytest.mark.thin(3)
@pytest.mark.parametrize(("seed", "n"), ONCE_COLLAPSED)
def test_payoffs_of_twelve_orders_of_magnitude_with_thin_sets_of_equilibria_are_solved(seed: int, n: int) -> None:
    A = sizes_of_their_own(seed, n)
    result = nb.nash_average(A)
    assert result.exploitability <= TIGHT * np.abs(A).max()
    assert result.residual <= TIGHT
    who = np.random.default_rng(seed).permutation(np.append(np.arange(n), [0, 0, n - 1]))
    again = nb.nash_average(A[np.ix_(who, who)])
    group = np.unique(A, axis=0, return_inverse=True)[1].ravel()
    shares = np.bincount(group[who], weights=again.weights)
    before = np.bincount(group, weights=result.weights)
    np.testing.assert_allclose(shares, before, atol=TIGHT)


@pytest.mark.parametrize(
    ("seed", "m", "n"), [(9093, 8, 6), (2619, 9, 4), (974, 8, 4), (984, 8, 5), (1027, 4, 8), (1124, 8, 5)]
)
def test_ties_that_an_offset_broke_in_the_last_bits_are_ties(seed: int, m: int, n: int) -> None:
    # 1000.1 - 1000 is 0.1 up to 1e-13, so that opponents tie in the one table and all but tie in the other
    near, far = nb.nash_average_scores(rounded(seed, m, n)), nb.nash_average_scores(far_from_zero(seed, m, n))
    np.testing.assert_allclose(far.agent_weights, near.agent_weights, atol=TIGHT)
    np.testing.assert_allclose(far.task_weights, near.task_weights, atol=TIGHT)
    assert far.agent_support == near.agent_support
    assert far.task_support == near.task_support


@pytest.mark.parametrize(
    ("seed", "m", "n"), [(59, 3, 3), (387, 3, 7), (2596, 7, 9), (2904, 7, 5), (21477, 6, 3), (50026, 4, 5)]
)
def test_tables_of_twelve_orders_of_magnitude_with_thin_sets_of_equilibria_are_solved(
    seed: int, m: int, n: int
) -> None:
    rng = np.random.default_rng(seed)
    S = rng.integers(-3, 4, size=(m, n)) * 10.0 ** rng.integers(-6, 7, size=(m, n))
    result = nb.nash_average_scores(S)
    assert result.exploitability <= TIGHT * np.ptp(S)
    assert result.residual <= TIGHT
    rows, columns = rng.permutation(m), rng.permutation(n)
    again = nb.nash_average_scores(S[np.ix_(rows, columns)])
    np.testing.assert_allclose(again.agent_weights, result.agent_weights[rows], atol=TIGHT)
    np.testing.assert_allclose(again.task_weights, result.task_weights[columns], atol=TIGHT)


def test_the_weight_of_an_agent_that_fades_takes_no_other_with_it() -> None:
    # the most even mixture leaves the fourth agent about exp(-1400), and then the others are a cycle of 1, 3 and 6
    A = np.array(
        [
            [0, -1e-2, -3e-2, -3e1, 3e1, 3e1],
            [1e-2, 0, -1, 3e3, 1e3, -3e3],
            [3e-2, 1, 0, 2e3, 3e3, -3e3],
            [3e1, -3e3, -2e3, 0, -2e6, -1e6],
            [-3e1, -1e3, -3e3, 2e6, 0, 2e6],
            [-3e1, 3e3, 3e3, 1e6, -2e6, 0],
        ]
    )
    result = nb.nash_average(A)
    assert result.exploitability <= TIGHT * 2e6
    assert result.residual <= TIGHT
    assert 0 < result.weights[3] < 1e-200
    np.testing.assert_allclose(result.weights[[0, 2, 5]], np.array([3e3, 3e1, 3e-2]) / 3030.03, rtol=1e-9)


def test_a_large_set_of_equilibria_takes_few_steps() -> None:
    # a hundred cycles, even with each other: rounding in long sums must not be taken for equations to be solved
    result = nb.nash_average(disjoint_cycles(1, 300))
    assert result.residual <= TIGHT
    assert result.iterations <= 40


def test_a_margin_that_is_all_but_tight_gets_no_multiplier() -> None:
    # the first, fourth and sixth agent are even, and mix as freely as the last allows: 0.02 a + 0.3 d <= 0.002 f.
    # At the best mixture the third agent too misses the equilibrium by no more than 1e-13 of the largest payoff
    rng = np.random.default_rng(50471)
    d = 10.0 ** rng.integers(-3, 4, size=7)
    result = nb.nash_average(antisymmetric(rng.integers(-3, 4, size=(7, 7)) * d * d[:, None]))
    assert result.residual <= TIGHT
    np.testing.assert_allclose(result.weights, [1 / 11, 0, 0, 0, 0, 10 / 11, 0], atol=1e-12)
