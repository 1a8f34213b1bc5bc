"""Every kind of degenerate and badly scaled game, by certificate and against an exact solve.

`fuzz.py` beside this file does the same, and more, by the thousand.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import nashboard as nb
from equilibrium_games import seeds
from hard_games import HARD, hard_game, hard_table
from nashboard.equilibrium.batch import nash_averages, nash_averages_scores
from reference_equilibrium import exact_value

TIGHT = 1e-9
families = pytest.mark.parametrize("family", HARD)


@families
@given(seed=seeds)
@settings(max_examples=10, deadline=None)
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
@settings(max_examples=10, deadline=None)
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
