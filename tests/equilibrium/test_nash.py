"""Nash averages of agents against agents: laws, the paper's numbers, and an exact twin."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, linprog, minimize

import nashboard as nb
from equilibrium_games import FAMILIES, Matrix, antisymmetric, low_rank, seeds, signs, sizes
from reference_equilibrium import optimal_vertices, uphill

TIGHT = 1e-9
Family = Callable[[int, int], Matrix]
families = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)


def with_clones(A: Matrix, copies: NDArray[np.intp]) -> Matrix:
    return A[np.ix_(copies, copies)]


@families
@given(seed=seeds, n=sizes)
@settings(max_examples=4)
def test_every_family_is_solved_to_its_certificates(family: Family, seed: int, n: int) -> None:
    A = family(seed, n)
    result = nb.nash_average(A)
    scale = np.abs(A).max()
    assert result.exploitability <= TIGHT * scale
    assert result.residual <= TIGHT
    assert result.weights.min() >= 0
    assert abs(result.weights.sum() - 1) <= 4e-16 * len(A)
    assert (A @ result.weights).max() <= TIGHT * scale
    np.testing.assert_allclose(result.averages, A @ result.weights, atol=1e-12 * max(scale, 1e-300))
    np.testing.assert_allclose(result.averages[result.weights > 0], 0, atol=TIGHT * scale)


@families
@given(seed=seeds, n=sizes, data=st.data())
@settings(max_examples=4)
def test_clones_in_any_number_change_nothing(family: Family, seed: int, n: int, data: st.DataObject) -> None:
    A = family(seed, n)
    n = len(A)
    copies = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=12)), dtype=np.intp)
    who = np.random.default_rng(seed).permutation(np.concatenate([np.arange(n), copies]))
    before, after = nb.nash_average(A), nb.nash_average(with_clones(A, who))
    group = np.unique(A, axis=0, return_inverse=True)[1].ravel()  # who was identical before is one class
    shared = np.bincount(group[who], weights=after.weights)
    np.testing.assert_allclose(shared, np.bincount(group, weights=before.weights), atol=TIGHT)
    np.testing.assert_allclose(after.averages, before.averages[who], atol=TIGHT * np.abs(A).max())
    np.testing.assert_allclose(after.weights, (shared / np.bincount(group[who]))[group[who]], atol=1e-15)
    assert abs(after.entropy - before.entropy) <= TIGHT


@families
@given(seed=seeds, n=sizes)
@settings(max_examples=4)
def test_relabelling_agents_permutes_the_answer(family: Family, seed: int, n: int) -> None:
    A = family(seed, n)
    order = np.random.default_rng(seed).permutation(len(A))
    np.testing.assert_allclose(
        nb.nash_average(A[np.ix_(order, order)]).weights, nb.nash_average(A).weights[order], atol=TIGHT
    )


@families
def test_the_same_input_gives_the_same_bytes_and_stays_unchanged(family: Family) -> None:
    A = family(7, 9)
    before = A.copy()
    first, second = nb.nash_average(A), nb.nash_average(A.copy())
    assert first.weights.tobytes() == second.weights.tobytes()
    assert first.to_dict() == second.to_dict()
    np.testing.assert_array_equal(A, before)


@given(seed=seeds, n=st.integers(2, 5), family=st.sampled_from([signs, low_rank]), plain=st.booleans())
@settings(max_examples=6)
def test_small_integer_games_agree_with_exact_arithmetic(seed: int, n: int, family: Family, plain: bool) -> None:
    A = family(seed, n)
    result = nb.nash_average(A, selection="maxent" if plain else "clone-invariant")
    value, vertices = optimal_vertices(A)
    assert value == 0
    held = [name for k, name in enumerate(result.agents) if any(u[k] > 0 for u in vertices)]
    assert list(result.support) == held
    sizes = np.ones(n)
    for group in result.clone_groups:
        for name in group:
            sizes[result.agents.index(name)] = len(group)
    # over classes, a member of a class of m with weight w has log total log(m w)
    assert uphill(result.weights, vertices, None if plain else 1 / sizes) <= TIGHT
    distinct = {tuple(sum(u[k] for k in range(n) if (A[k] == A[i]).all()) for i in range(n)) for u in vertices}
    assert result.unique == (len(distinct) == 1 and (n == 1 or bool(A.any())))  # of even payoffs, every mixture is one


@pytest.mark.parametrize("seed", range(6))
def test_a_general_convex_solver_finds_the_same_entropy(seed: int) -> None:
    A = low_rank(seed, 8)
    result = nb.nash_average(A, selection="maxent")
    n = len(A)

    def negative_entropy(p: Matrix) -> float:
        return float(p @ np.log(np.maximum(p, 1e-300)))

    def log_slope(p: Matrix) -> Matrix:
        return np.asarray(np.log(np.maximum(p, 1e-300)) + 1)

    found = minimize(
        negative_entropy,
        np.full(n, 1 / n),
        method="SLSQP",
        jac=log_slope,
        bounds=[(1e-12, 1.0)] * n,
        constraints=[LinearConstraint(np.ones((1, n)), 1.0, 1.0), LinearConstraint(A, -np.inf, 1e-10)],
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    assert result.entropy == pytest.approx(-negative_entropy(found.x), abs=1e-4)


@given(seed=seeds, n=st.integers(2, 30))
@settings(max_examples=4)
def test_no_other_equilibrium_exists_where_the_result_says_unique(seed: int, n: int) -> None:
    A = signs(seed, n)
    result = nb.nash_average(A, selection="maxent")
    away = np.random.default_rng(seed).normal(size=n)
    far = linprog(-away, A_ub=A, b_ub=np.zeros(n), A_eq=np.ones((1, n)), b_eq=[1.0])
    found = np.array(far.x)
    if result.unique and not result.clone_groups:
        np.testing.assert_allclose(found, result.weights, atol=1e-6)
    assert {name for name, weight in zip(result.agents, found, strict=True) if weight > 1e-7} <= set(result.support)


@given(seed=seeds, n=sizes, size=st.floats(1e-3, 1.0))
@settings(max_examples=4)
def test_p2_an_equilibrium_of_perturbed_payoffs_is_nearly_one_of_the_original(seed: int, n: int, size: float) -> None:
    A = signs(seed, n)
    E = size * antisymmetric(np.random.default_rng(seed).uniform(-1, 1, size=(n, n)))
    result = nb.nash_average(A + E)
    assert (A @ result.weights).max() <= np.abs(E).max() + 1e-12


@given(seed=seeds, n=st.integers(2, 9))
@settings(max_examples=4)
def test_p3_cyclic_games_are_uniform_under_plain_maximum_entropy(seed: int, n: int) -> None:
    A = signs(seed, n)
    A = A - A.mean(axis=1)[:, None] + A.mean(axis=1)  # the rotation part: div(A) = 0
    result = nb.nash_average(A, selection="maxent")
    np.testing.assert_allclose(result.weights, 1 / n, atol=TIGHT)
    np.testing.assert_allclose(result.averages, 0, atol=TIGHT)


@given(seed=seeds, n=st.integers(2, 4))
@settings(max_examples=6)
def test_p3_plain_maximum_entropy_is_uniform_only_where_nobody_is_ahead(seed: int, n: int) -> None:
    A = signs(seed, n)
    uniform = np.allclose(nb.nash_average(A, selection="maxent").weights, 1 / n, atol=TIGHT)
    assert uniform == (not A.sum(axis=1).any())


@given(ratings=st.lists(st.integers(-5, 5), min_size=1, max_size=12))
def test_p3_transitive_games_are_uniform_over_the_best(ratings: list[int]) -> None:
    r = np.array(ratings, dtype=float)
    result = nb.nash_average(r[:, None] - r)
    best = r == r.max()
    np.testing.assert_allclose(result.weights, best / best.sum(), atol=1e-15)
    np.testing.assert_allclose(result.averages, r - r.max(), atol=1e-12)


def test_the_invariance_example_of_the_paper() -> None:
    A = 4.6 * np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    who = np.array([0, 1, 2, 2])
    np.testing.assert_allclose(nb.nash_average(A).weights, [1 / 3] * 3, atol=1e-15)
    for selection in ("clone-invariant", "maxent"):
        result = nb.nash_average(with_clones(A, who), selection=selection)
        np.testing.assert_allclose(result.weights, [1 / 3, 1 / 3, 1 / 6, 1 / 6], atol=1e-15)
        np.testing.assert_allclose(result.averages, 0, atol=1e-14)
        assert result.unique
        assert result.clone_groups == (("agent 3", "agent 4"),)


@pytest.mark.parametrize("eps", [0.0, 0.1, 0.25, 0.4999, 0.5, 0.5001, 0.75, 3.0])
def test_the_continuity_example_of_the_paper(eps: float) -> None:
    C = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0.0]])
    T = np.array([[0, 1, 2], [-1, 0, 1], [-2, -1, 0.0]])
    result = nb.nash_average(C + eps * T)
    p = [(1 + eps) / 3, (1 - 2 * eps) / 3, (1 + eps) / 3] if eps <= 0.5 else [1, 0, 0]
    averages = [0, 0, 0] if eps <= 0.5 else [0, -1 - eps, 1 - 2 * eps]
    np.testing.assert_allclose(result.weights, p, atol=1e-12)
    np.testing.assert_allclose(result.averages, averages, atol=1e-12)
    assert result.unique == (eps != 0.5)


def test_plain_maximum_entropy_moves_with_a_clone_and_the_default_does_not() -> None:
    C = np.array([[0, 1, 0, -1], [-1, 0, 1, 0], [0, -1, 0, 1], [1, 0, -1, 0.0]])
    who = np.array([0, 0, 1, 2, 3])
    np.testing.assert_allclose(nb.nash_average(C).weights, 0.25, atol=1e-15)
    plain = nb.nash_average(with_clones(C, who), selection="maxent").weights
    np.testing.assert_allclose(plain, [0.1464, 0.1464, 0.2071, 0.2929, 0.2071], atol=5e-5)
    default = nb.nash_average(with_clones(C, who)).weights
    np.testing.assert_allclose(default, [0.125, 0.125, 0.25, 0.25, 0.25], atol=1e-15)


def test_scaling_payoffs_scales_averages_and_leaves_weights() -> None:
    A = signs(3, 9)
    one = nb.nash_average(A)
    for factor in (1e-300, 1e-6, 7.0, 1e6, 1e300):
        other = nb.nash_average(factor * A)
        np.testing.assert_allclose(other.weights, one.weights, atol=1e-12)
        np.testing.assert_allclose(other.averages / factor, one.averages, atol=1e-12)


def test_payoffs_and_matches_keep_their_names() -> None:
    roshambo = nb.load_dataset("roshambo")
    result = nb.nash_average(roshambo)
    assert result.agents == roshambo.agents
    assert set(result.support) == {"randbot", "markovbails", "shofar", "iocainebot", "greenberg"}
    matches = nb.load_dataset("rock-paper-scissors")
    assert isinstance(matches, nb.Matches)
    of_matches = nb.nash_average(matches)
    np.testing.assert_allclose(of_matches.weights, 1 / 3, atol=1e-15)
    np.testing.assert_array_equal(of_matches.weights, nb.nash_average(nb.payoffs(matches)).weights)
    assert of_matches.unit == "logit"


def test_support_margins_and_excluded_agents_fit_together() -> None:
    result = nb.nash_average(nb.load_dataset("alphago"))
    assert result.support == ("alpha_rvp",)
    assert len(result.excluded) == 7
    assert set(result.support) | set(result.excluded) == set(result.agents)
    np.testing.assert_array_equal(result.margins, np.maximum(-result.averages, 0))
    assert result.effective_number == pytest.approx(1)
    assert result.ranks[0] == 1
    assert not result.weights.flags.writeable


def test_agents_with_tied_averages_share_a_rank() -> None:
    r = np.array([2.0, 2.0, 1.0, 1.0 + 1e-13, 0.0])
    assert nb.nash_average(r[:, None] - r).ranks.tolist() == [1, 1, 3, 3, 5]


def test_the_text_shows_weights_certificates_and_no_negative_zero() -> None:
    text = str(nb.nash_average(nb.load_dataset("roshambo")))
    assert "randbot" in text
    assert "certificates: exploitability" in text
    assert "-0.0000" not in text
    assert "<table>" in nb.nash_average([[0.0, 1.0], [-1.0, 0.0]])._repr_html_()
    assert repr(nb.nash_average([[0.0]])) == "NashAverage(1 agent, 1 with weight, unique, exploitability 0.0e+00)"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([[0, np.nan], [np.nan, 0]], "a payoff must be finite"),
        ([[0, np.inf], [-np.inf, 0]], "a payoff must be finite"),
        ([[0, 1.5], [-1, 0]], "not antisymmetric: 'agent 1' against 'agent 2' is 1.5, .*symmetrise=True. averages"),
        ([[0.5, 0.7], [0.3, 0.5]], "'agent 1' against itself is 0.5, not 0; these are win rates, .*from_win_rates"),
        ([[0, 12], [8, 0]], "numbers of wins are for Matches.from_counts"),
        ([[0, 1, 2]], "square"),
        ([0, 1], "two axes"),
        (np.zeros((0, 0)), "empty"),
    ],
)
def test_wrong_input_is_explained(data: object, words: str) -> None:
    with pytest.raises(nb.InputError, match=words):
        nb.nash_average(data)


def test_an_unknown_selection_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(nb.InputError, match=r"did you mean 'maxent'.*'clone-invariant' or 'maxent'"):
        nb.nash_average([[0.0]], selection="maxnt")  # type: ignore[call-overload]  # the mistake is the test
