"""Neither the order of players nor the number of their copies decides anything, not even where rounding would."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nashboard as nb
from equilibrium_games import Matrix, antisymmetric, dense, rng_of, rounded, seeds, signs, uniform
from nashboard.equilibrium.solver import canonical_orders, solve


def scaled_agents(seed: int, n: int) -> Matrix:
    """Payoffs from 1e-6 to 1e6 because agents differ in size."""
    d = 10.0 ** rng_of(seed).uniform(-3, 3, size=n)
    return dense(seed, n) * d * d[:, None]


def scaled_pairs(seed: int, n: int) -> Matrix:
    """Payoffs from 1e-6 to 1e6, each of a size of its own."""
    return antisymmetric(dense(seed, n) * 10.0 ** rng_of(seed).uniform(-6, 6, size=(n, n)))


def scaled_integers(seed: int, n: int) -> Matrix:
    """The same with small whole numbers and powers of ten: ties on every scale."""
    d = 10.0 ** rng_of(seed).integers(-3, 4, size=n)
    return antisymmetric(rng_of(seed).integers(-3, 4, size=(n, n)) * d * d[:, None])


@pytest.mark.thin(3)
@pytest.mark.parametrize("family", [scaled_agents, scaled_pairs, scaled_integers], ids=lambda family: family.__name__)
def test_copies_change_nothing_where_payoffs_span_twelve_orders_of_magnitude(
    family: Callable[[int, int], Matrix],
) -> None:
    for seed in range(60):
        rng = rng_of(seed)
        n = int(rng.integers(3, 13))
        A = family(seed, n)
        who = rng.permutation(np.append(np.arange(n), rng.integers(0, n, size=int(rng.integers(1, 9)))))
        before, after = nb.nash_average(A), nb.nash_average(A[np.ix_(who, who)])
        group = np.unique(A, axis=0, return_inverse=True)[1].ravel()
        shared = np.bincount(group[who], weights=after.weights, minlength=group.max() + 1)
        np.testing.assert_allclose(shared, np.bincount(group, weights=before.weights), atol=1e-14)
        np.testing.assert_allclose(after.averages, before.averages[who], atol=1e-14 * np.abs(A).max())


@given(seed=seeds, n=st.integers(1, 12))
@settings(max_examples=4)
def test_sorted_players_are_the_same_matrix_whoever_came_first(seed: int, n: int) -> None:
    A = dense(seed, n)
    who = rng_of(seed + 1).permutation(n)
    B = A[np.ix_(who, who)]
    one, other = canonical_orders(A, 1)[0], canonical_orders(B, 1)[0]
    np.testing.assert_array_equal(A[np.ix_(one, one)], B[np.ix_(other, other)])


@given(seed=seeds, m=st.integers(1, 9), n=st.integers(1, 9))
@settings(max_examples=4)
def test_sorted_agents_and_tasks_are_the_same_table(seed: int, m: int, n: int) -> None:
    S = uniform(seed, m, n)
    rng = rng_of(seed + 1)
    T = S[np.ix_(rng.permutation(m), rng.permutation(n))]
    np.testing.assert_array_equal(S[np.ix_(*canonical_orders(S, 2))], T[np.ix_(*canonical_orders(T, 2))])


@given(seed=seeds, n=st.integers(2, 12))
@settings(max_examples=4)
def test_ties_are_told_apart_by_whom_the_payoffs_are_against(seed: int, n: int) -> None:
    # equal payoffs everywhere: the order is still a permutation, and joins only what stands alike
    for order, size in ((canonical_orders(signs(seed, n), 1)[0], n), (canonical_orders(rounded(seed, n, 3), 2)[1], 3)):
        assert sorted(order) == list(range(size))


def test_a_path_of_five_is_sorted_from_its_ends_inwards() -> None:
    # a beats b beats c beats d beats e, all else even: rows of b, c and d have the same cells
    A = np.diag(np.ones(4), 1) - np.diag(np.ones(4), -1)
    for seed in range(10):
        who = rng_of(seed).permutation(5)
        B = A[np.ix_(who, who)]
        order = canonical_orders(B, 1)[0]
        assert who[order].tolist() == who[canonical_orders(B, 1)[0]].tolist()
        np.testing.assert_array_equal(B[np.ix_(order, order)], A[np.ix_(*2 * [canonical_orders(A, 1)[0]])])


def test_the_same_bits_come_out_in_every_order() -> None:
    A = dense(5, 30) / 8
    one = solve(A, [np.zeros(30)]).sides[0]
    for seed in range(5):
        who = rng_of(seed).permutation(30)
        other = solve(np.ascontiguousarray(A[np.ix_(who, who)]), [np.zeros(30)]).sides[0]
        np.testing.assert_array_equal(other.weights, one.weights[who])
        np.testing.assert_array_equal(other.y, one.y[who])
