"""The parts of the engine, each by its own law."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from token import NUMBER
from tokenize import tokenize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nashboard as nb
from equilibrium_games import (
    Matrix,
    antisymmetric,
    dense,
    disjoint_cycles,
    low_rank,
    near_clones,
    seeds,
    signs,
)
from nashboard.equilibrium import precision
from nashboard.equilibrium.central_path import central_path, dense_game, rectangular_game, stacked_game
from nashboard.equilibrium.certificate import Certificate, entropy_residual, require_certified
from nashboard.equilibrium.clones import identical_rows
from nashboard.equilibrium.entropy import Margins, independent_equations, maximum_entropy
from nashboard.equilibrium.precision import ZERO
from nashboard.equilibrium.results import tied_ranks
from nashboard.equilibrium.solver import missed, solve

ROOM = Path(nb.__file__).parent / "equilibrium"


@pytest.mark.parametrize("file", sorted(path.name for path in ROOM.glob("*.py") if path.name != "precision.py"))
def test_what_counts_as_zero_is_decided_in_one_file(file: str) -> None:
    with (ROOM / file).open("rb") as source:
        found = [token.string for token in tokenize(source.readline) if token.type == NUMBER]
    assert not [text for text in found if 0 < float(Fraction(text)) < 1e-4]


numbers = st.floats(-1e6, 1e6, allow_nan=False)


@given(rows=st.lists(st.lists(numbers, min_size=7, max_size=7), min_size=1, max_size=4))
def test_twofold_products_keep_what_rounding_drops(rows: list[list[float]]) -> None:
    M = np.array(rows)
    x = np.array([1.0, -1.0, 1e-9, 3.0, 1 / 3, -7.0, 1e9])
    high, low = precision.product(M, x)
    for k, row in enumerate(rows):
        exact = sum((Fraction(a) * Fraction(b) for a, b in zip(row, x.tolist(), strict=True)), Fraction(0))
        size = sum(abs(Fraction(a) * Fraction(b)) for a, b in zip(row, x.tolist(), strict=True))
        assert abs(exact - Fraction(float(high[k])) - Fraction(float(low[k]))) <= size * Fraction(1, 2**95)


def test_twofold_products_of_nothing_are_zero() -> None:
    high, low = precision.product(np.zeros((3, 0)), np.zeros(0))
    assert not high.any()
    assert not low.any()


@given(labels=st.lists(st.integers(0, 5), min_size=1, max_size=30), seed=seeds)
def test_identical_rows_are_found_and_no_others(labels: list[int], seed: int) -> None:
    label = np.array(labels)
    rows = np.random.default_rng(seed).normal(size=(6, 9))[label]
    classes = identical_rows(rows, 1.0, 5.0)
    np.testing.assert_array_equal(classes.label[:, None] == classes.label, label[:, None] == label)
    assert (classes.first == [int(np.flatnonzero(classes.label == k)[0]) for k in range(len(classes.first))]).all()
    assert classes.size.sum() == len(label)
    assert sorted(k for group in classes.groups() for k in group) == [
        k for k in range(len(label)) if (label == label[k]).sum() > 1
    ]


def test_rows_within_the_rule_are_identical_and_rows_at_a_billionth_are_not() -> None:
    rows = np.array([[1.0, 0.5], [1.0 + ZERO / 2, 0.5], [1.0 + 1e-9, 0.5]])
    assert identical_rows(rows, 1.0, 1.0).label.tolist() == [0, 0, 1]


def test_the_central_path_falls_to_zero_in_a_few_steps() -> None:
    for game in (
        dense_game(dense(0, 40) / 4),
        rectangular_game(np.random.default_rng(0).random((10, 30))),
        dense_game(low_rank(0, 20) / 16),
    ):
        gaps = [float(x.mu) for x, _ in zip(central_path(game), range(15), strict=False)]
        assert gaps[-1] < 1e-12
        assert all(later < sooner for sooner, later in pairwise(gaps) if sooner > 1e-12)


def test_all_linear_systems_agree() -> None:
    rng = np.random.default_rng(1)
    S = rng.random((4, 7))
    K = np.block([[np.zeros((4, 4)), S], [-S.T, np.zeros((7, 7))]])
    d = rng.random(11) * 3
    right, sums = rng.normal(size=11), rng.normal(size=2)
    flat = rectangular_game(S).factorise(d)(right, sums)
    stack = stacked_game(K[None], (0, 4)).factorise(d[None])(right[None], sums[None])
    np.testing.assert_allclose(flat[0], stack[0][0], atol=1e-12)
    np.testing.assert_allclose(flat[1], stack[1][0], atol=1e-12)
    square, total = dense_game(K).factorise(d)(right, sums[:1])
    np.testing.assert_allclose(d * square - K @ square + total, right, atol=1e-12)


def test_the_most_even_mixture_of_a_simplex_follows_the_multiplicities() -> None:
    log_m = np.log([1.0, 2.0, 5.0])
    found = maximum_entropy(
        np.array([0.2, 0.3, 0.5]), np.ones((3, 1)), Margins.of(np.zeros(0), np.zeros((0, 3)), np.zeros(0)), log_m
    )
    np.testing.assert_allclose(found.x, np.array([1, 2, 5]) / 8, atol=1e-15)


def test_a_margin_that_becomes_tight_gets_a_multiplier() -> None:
    # maximise entropy of (x, 1 - x) with x >= 0.8 written as a margin
    found = maximum_entropy(
        np.array([0.9, 0.1]),
        np.ones((2, 1)),
        Margins.of(np.array([0.1]), np.array([[-1.0, 0.0]]), np.ones(1)),
        np.zeros(2),
    )
    np.testing.assert_allclose(found.x, [0.8, 0.2], atol=1e-15)
    assert found.z[0] == pytest.approx(np.log(4))


def test_a_margin_that_touches_without_pressing_is_harmless() -> None:
    found = maximum_entropy(
        np.array([0.7, 0.3]),
        np.ones((2, 1)),
        Margins.of(np.array([0.2]), np.array([[-1.0, 0.0]]), np.ones(1)),
        np.zeros(2),
    )
    np.testing.assert_allclose(found.x, [0.5, 0.5], atol=1e-12)


@pytest.mark.parametrize("shift", [1e-3, 1e-6, 1e-8])
def test_the_residual_sees_an_equilibrium_that_is_not_the_most_even(shift: float) -> None:
    K = disjoint_cycles(0, 3) / 4
    side = solve(K, [np.zeros(len(K))]).sides[0]
    assert entropy_residual(K, side, side, np.zeros(len(K)), 0.0, side.weights > 0) < 1e-15
    other = side.weights.copy()
    other[:3] *= 1 + shift
    other /= other.sum()
    assert (K @ other).max() < 1e-15  # still an equilibrium
    moved = replace(side, weights=other)
    assert entropy_residual(K, moved, side, np.zeros(len(K)), 0.0, other > 0) > shift / 100


def test_wrong_multipliers_cannot_make_a_residual_small() -> None:
    K = signs(11, 9)
    side = solve(K, [np.zeros(9)]).sides[0]
    for y in (np.zeros(9), -side.y + 1):
        if side.support.sum() > 1 and np.ptp(side.weights[side.support]) > 1e-3:
            wrong = replace(side, y=y, y_low=0 * y)
            assert entropy_residual(K, wrong, side, np.zeros(9), 0.0, side.weights > 0) > 1e-4


def certificate(residual: float) -> Certificate:
    return Certificate(residual=residual, complementarity=0.0, condition=1.0)


def test_missed_tolerances_raise_and_say_what_was_reached() -> None:
    with pytest.raises(nb.ConvergenceError, match=r"gains 1\.0e-03.*residual is 0\.0e\+00"):
        require_certified(certificate(0.0), 1e-3, 1.0)
    with pytest.raises(nb.ConvergenceError, match="residual is nan"):
        require_certified(certificate(float("nan")), 0.0, 1.0)
    require_certified(certificate(1e-10), 1e-10, 1.0)
    with pytest.raises(nb.ConvergenceError, match="the support could not be certified"):
        require_certified(Certificate(residual=0.0, complementarity=1e-11, condition=1.0), 0.0, 1.0)
    assert "reached nothing" in str(missed(None))


def test_an_equation_of_which_nothing_is_left_is_left_out() -> None:
    W = independent_equations(np.diag([1, 1, 0.0]), 3)
    assert W.shape == (3, 2)
    assert np.linalg.matrix_rank(W) == 2


@pytest.mark.parametrize("average", [nb.nash_average, nb.nash_average_scores])
def test_where_no_face_is_proved_the_most_even_mixture_nearby_says_so(
    monkeypatch: pytest.MonkeyPatch, average: Callable[[Matrix], nb.NashAverage | nb.ScoreNashAverage]
) -> None:
    A = signs(0, 60)
    before = average(A)
    monkeypatch.setattr("nashboard.equilibrium.solver.find_side_face", lambda *ignored: None)
    near = average(A)
    assert 0 < near.tolerance < 3e-10 * near.scale
    assert near.exploitability <= 1e-9 * near.scale
    assert not near.unique
    assert near.condition == np.inf
    assert "the most even mixture with an exploitability of at most" in near.notes()[0]
    for weights in ("weights", "agent_weights", "task_weights"):
        if hasattr(near, weights):
            np.testing.assert_allclose(getattr(near, weights), getattr(before, weights), atol=1e-6)


def test_a_path_that_leads_nowhere_near_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nashboard.equilibrium.solver.find_side_face", lambda *ignored: None)
    monkeypatch.setattr("nashboard.equilibrium.nash_average.SOLVED", 1.0)
    with pytest.raises(nb.ConvergenceError, match="could not be proved: the interior point reached a gap of"):
        nb.nash_average(signs(0, 60))


def test_near_clones_are_told_apart_where_payoffs_say_so() -> None:
    A = antisymmetric(np.array([[0, 1, -1, -1], [0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0.0]]))
    better = A.copy()
    better[3, 0] += 1e-9  # a copy of the third that is a billionth better against the first
    better[0, 3] -= 1e-9
    result = nb.nash_average(better)
    assert result.clone_groups == ()
    assert result.weights[2] == 0
    assert nb.nash_average(A).clone_groups == (("agent 3", "agent 4"),)
    assert nb.nash_average(near_clones(0, 6)).clone_groups == ()


@given(values=st.lists(st.integers(-5, 5), min_size=1, max_size=20))
def test_ranks_are_one_plus_the_number_of_better_ones(values: list[int]) -> None:
    x: Matrix = np.array(values, dtype=float)
    jittered = x + np.linspace(-1e-12, 1e-12, len(x))
    assert tied_ranks(jittered, 1.0).tolist() == [1 + int((x > v).sum()) for v in x]
