"""grad, div, curl and rot: the definitions and the four statements of the Hodge theorem."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nashboard as nb
from nashboard._types import Floats
from reference_algebra import antisymmetric, curl_by_loops

ratings = st.lists(st.floats(-1e8, 1e8), min_size=1, max_size=9).map(np.array)


def near(x: Floats, y: Floats, scale: float) -> bool:
    return bool(np.abs(x - y).max(initial=0.0) <= 1e-13 * scale)


@given(ratings)
def test_hodge_theorem_1_the_divergence_of_a_gradient_is_the_rating(r: Floats) -> None:
    assert near(nb.div(nb.grad(r)), r - r.mean(), np.abs(r).max())


@given(antisymmetric())
def test_hodge_theorem_2_a_rotation_has_no_divergence(A: Floats) -> None:
    assert near(nb.div(nb.rot(A)), np.zeros(len(A)), np.abs(A).max())


@given(ratings)
def test_hodge_theorem_3_a_gradient_has_no_rotation(r: Floats) -> None:
    assert near(nb.rot(nb.grad(r)), np.zeros((r.size, r.size)), np.abs(r).max())


@given(antisymmetric())
def test_hodge_theorem_4_a_flow_is_the_orthogonal_sum_of_gradient_and_rotation(A: Floats) -> None:
    transitive, cyclic = nb.grad(nb.div(A)), nb.rot(A)
    size = np.abs(A).max()
    assert near(transitive + cyclic, A, size)
    assert abs((transitive * cyclic).sum()) <= 1e-13 * len(A) ** 2 * size**2


@given(antisymmetric(most=6))
def test_curl_and_rot_are_as_the_paper_defines_them(A: Floats) -> None:
    slow = curl_by_loops(A)
    assert (nb.curl(A) == slow).all()
    assert near(nb.rot(A), slow.mean(axis=2), np.abs(A).max())


@given(antisymmetric())
def test_operators_do_not_touch_their_input_and_return_antisymmetric_matrices(A: Floats) -> None:
    before = A.copy()
    R = nb.rot(A)
    nb.div(A), nb.curl(A)
    assert (before == A).all()
    assert (R == -R.T).all()


def test_div_of_the_invariance_example_is_as_printed() -> None:
    # Section 4.1: a second copy of C is added to a rock-paper-scissors of 4.6 logits.
    A = np.array([[0, 4.6, -4.6, -4.6], [-4.6, 0, 4.6, 4.6], [4.6, -4.6, 0, 0], [4.6, -4.6, 0, 0]])
    np.testing.assert_allclose(nb.div(A), [-1.15, 1.15, 0, 0], atol=1e-12)


def test_payoffs_and_complete_matches_are_taken_where_arrays_are() -> None:
    matches = nb.Matches.from_counts([[0, 9, 2], [1, 0, 7], [8, 3, 0]])
    payoffs = nb.payoffs(matches)
    for operator in (nb.div, nb.curl, nb.rot):
        assert (operator(matches) == operator(payoffs)).all()
        assert (operator(payoffs) == operator(payoffs.A)).all()


def test_a_curl_that_would_not_fit_is_refused_with_its_size() -> None:
    with pytest.raises(nb.InputError, match=r"2,000 x 2,000 x 2,000 = 8,000,000,000 numbers, 59\.6 GiB"):
        nb.curl(np.zeros((2000, 2000)))
    with pytest.raises(nb.InputError, match="keep the ratings"):
        nb.grad(np.zeros(100_000))


@pytest.mark.parametrize(
    ("A", "message"),
    [
        ([[0, 1], [1, 0]], "not antisymmetric: 'agent 1' against 'agent 2' is 1, the other way 1, not -1"),
        ([[0, np.nan], [np.nan, 0]], "row 'agent 1', column 'agent 2' is nan"),
        ([[0, 1, 2], [-1, 0, 1]], "must be square"),
        (np.zeros((0, 0)), "at least one agent"),
        ([1, 2], "two axes"),
        ([["x"]], "array of numbers"),
    ],
)
def test_what_is_not_a_flow_is_refused_with_the_reason(A: Any, message: str) -> None:
    for operator in (nb.div, nb.curl, nb.rot, nb.hodge, nb.schur):
        with pytest.raises(nb.InputError, match=message):
            operator(A)


def test_scores_are_sent_to_latent() -> None:
    scores: Any = nb.load_dataset("suite-3")
    with pytest.raises(nb.InputError, match=r"use latent\(scores\)"):
        nb.div(scores)


def test_ratings_must_be_finite() -> None:
    with pytest.raises(nb.InputError, match="rating number 2 is inf"):
        nb.grad([0, np.inf])


def test_rounding_is_averaged_away() -> None:
    A = np.array([[0, 1 + 1e-12], [-1, 0]])
    assert nb.div(A)[0] == -nb.div(A)[1]
