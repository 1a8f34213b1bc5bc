"""Payoffs: antisymmetric by construction, finite always."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nashboard as nb
from strategies import matches as any_matches
from strategies import payoffs as any_payoffs

COUNTS = nb.Matches.from_counts([[0, 9, 0], [1, 0, 5], [0, 5, 0]], list("xyz"))


def test_payoffs_are_log_odds_of_smoothed_win_rates() -> None:
    matches = nb.Matches.from_counts([[0, 3], [0, 0]], draws=[[0, 1], [1, 0]])
    A = nb.payoffs(matches).A
    p = (3 + 0.5 + 0.5) / (4 + 1)  # a draw is half a win, the prior one game
    assert A[0, 1] == pytest.approx(np.log(p / (1 - p)))
    assert nb.payoffs(matches, prior=3).A[0, 1] == pytest.approx(np.log(5 / 2))


def test_margins_are_win_rate_minus_loss_rate() -> None:
    matches = nb.Matches.from_counts([[0, 3], [0, 0]], draws=[[0, 1], [1, 0]])
    assert nb.payoffs(matches, scale="margin").A[0, 1] == 0.75
    assert nb.payoffs(matches, scale="margin", prior=1).A[0, 1] == pytest.approx(0.6)


def test_pairs_that_never_met_are_an_error_or_even() -> None:
    with pytest.raises(
        nb.InputError, match=r"1 pair never met \(coverage 66.7%\), among them 'x' and 'z': fill='model'"
    ):
        nb.payoffs(COUNTS)
    filled = nb.payoffs(COUNTS, fill="zero")
    assert (filled.A[0, 2], filled.filled) == (0, 1)
    assert filled.made == "log-odds of win rates, with 1 prior game per pair; 1 that never met count as even"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": 0.0}, "entirely one-sided: its log-odds are infinite without a prior"),
        ({"prior": -1.0}, "the prior is -1 games per pair: it must be finite and not negative"),
        ({"scale": "logits"}, r"no scale 'logits' \(did you mean 'logit'\?\): use 'logit' or 'margin'"),
        ({"fill": "zeros"}, r"no fill 'zeros' \(did you mean 'zero'\?\)"),
    ],
)
def test_a_wrong_option_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(nb.InputError, match=message):
        nb.payoffs(nb.Matches.from_counts([[0, 3], [0, 0]]), **options)


@pytest.mark.parametrize(
    ("A", "message"),
    [
        ([[0, 3], [-2, 0]], "'agent 1' against 'agent 2' is 3, the other way -2, not -3"),
        ([[1, 0], [0, 0]], "'agent 1' against itself is 1, not 0; symmetrise=True"),
        ([[0, 3]], "must be square.*not 1 x 2"),
        ([[0, np.nan], [np.nan, 0]], "a payoff must be finite"),
        (np.zeros((0, 0)), "the payoff matrix is empty"),
    ],
)
def test_a_matrix_that_is_no_payoff_matrix_is_refused(A: Any, message: str) -> None:
    with pytest.raises(nb.InputError, match=message):
        nb.Payoffs.from_array(A)


def test_a_noisy_cross_table_is_averaged_only_when_told_to() -> None:
    made = nb.Payoffs.from_array([[1, 3], [-2, 0]], symmetrise=True)
    np.testing.assert_array_equal(made.A, [[0, 2.5], [-2.5, 0]])
    assert made.made == "given as a matrix, its two directions averaged (they disagreed by up to 2)"


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8, 1e300])
def test_rounding_is_forgiven_at_every_scale(scale: float) -> None:
    A = scale * np.array([[0, 1 + 1e-12], [-1, 0]])
    np.testing.assert_array_equal(nb.Payoffs.from_array(A).A, -nb.Payoffs.from_array(A).A.T)


@given(any_matches(), st.sampled_from(["logit", "margin"]))
def test_payoffs_of_any_matches_are_finite_and_antisymmetric(matches: nb.Matches, scale: Any) -> None:
    A = nb.payoffs(matches, scale=scale, fill="zero").A
    assert np.isfinite(A).all()
    np.testing.assert_array_equal(A, -A.T)


@given(any_payoffs())
def test_an_antisymmetric_matrix_comes_back_to_the_last_bit(payoffs: nb.Payoffs) -> None:
    np.testing.assert_array_equal(nb.Payoffs.from_array(payoffs.A, payoffs.agents).A, payoffs.A)
    np.testing.assert_array_equal(payoffs.select(payoffs.agents[::-1]).A, payoffs.A[::-1, ::-1])


def test_repr_is_one_line_and_str_is_a_table() -> None:
    payoffs = nb.Payoffs.from_array([[0, -2], [2, 0]], ["x", "y"])
    assert repr(payoffs) == "Payoffs(2 agents, given, largest 2)"
    assert str(payoffs).splitlines()[-2:] == [
        "y            1.000  x             2.000  y               0.000",
        "x           -1.000  x             0.000  y              -2.000",
    ]


def test_pairs_that_are_even_have_a_payoff_of_zero_to_the_last_bit() -> None:
    wins = np.random.default_rng(5).integers(0, 40, (60, 60))
    A = nb.payoffs(nb.Matches.from_counts(wins + wins.T - 2 * np.diag(np.diag(wins)))).A
    assert (A == 0).all()
