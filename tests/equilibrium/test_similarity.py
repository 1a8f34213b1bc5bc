"""An entropy that knows how similar agents are (Leinster and Cobbold 2012): tried, and why it is not used."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import nashboard as nb
from equilibrium_games import Matrix, rng_of
from nashboard.equilibrium.precision import ZERO


def five_that_tie(d: float) -> Matrix:
    """Return five agents that tie, the last two at distance ``d``, and four that lose and tell them apart."""
    A = np.zeros((9, 9))
    A[:5, 5:] = 1.0
    A[[0, 1, 2, 3, 4], [5, 6, 7, 8, 8]] = [2, 2, 2, 2, 2 + d]
    return A - A.T


def most_diverse(A: Matrix, among: int, length: float) -> Matrix:
    """Maximise ``-sum p log(Z p)``, ``Z = exp(-distance / length)``, over equilibria of the first agents."""
    Z = np.exp(-np.abs(A[:among, None] - A[:among]).max(axis=2) / length)
    K = A[:among, :among]
    ties = np.linalg.svd(K)[2][: np.linalg.matrix_rank(K)]  # the equations of equilibria in which all have weight
    equations = np.vstack([np.ones(among), ties])
    solve: Any = minimize
    found = solve(
        lambda p: float(p @ np.log(Z @ p)),
        np.full(among, 1 / among) if not len(ties) else nb.nash_average(K).weights,
        jac=lambda p: np.log(Z @ p) + Z @ (p / (Z @ p)),
        bounds=[(1e-9, 1)] * among,
        constraints={
            "type": "eq",
            "fun": lambda p: equations @ p - np.eye(len(equations))[0],
            "jac": lambda p: equations,
        },
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return np.asarray(found.x)


@pytest.mark.parametrize(("d", "pair"), [(0, 0.25), (ZERO / 4, 0.25), (1e-9, 0.4), (0.1, 0.4)])
def test_the_weight_of_near_copies_jumps_where_they_become_copies(d: float, pair: float) -> None:
    assert nb.nash_average(five_that_tie(d)).weights[3:5].sum() == pytest.approx(pair, abs=1e-9)


def test_a_similarity_sensitive_entropy_has_no_jump() -> None:
    length = 0.01
    pairs = [most_diverse(five_that_tie(d), 5, length)[3:].sum() for d in np.array([0, 0.1, 0.3, 1, 3, 30]) * length]
    assert pairs[0] == pytest.approx(0.25, abs=1e-4)  # exact copies change nothing
    assert pairs[-1] == pytest.approx(0.4, abs=1e-4)
    assert (np.diff(pairs) > 0).all()
    assert max(np.diff(pairs)) < 0.08


def test_a_length_that_is_felt_moves_weights_where_nobody_has_a_copy() -> None:
    C = rng_of(0).normal(size=(20, 2))
    half = np.outer(C[:, 0], C[:, 1])
    A = np.asarray(half - half.T)
    exact = nb.nash_average(A)
    assert len(exact.support) == 20
    assert exact.clone_groups == ()
    np.testing.assert_allclose(most_diverse(A, 20, 1e-9), exact.weights, atol=1e-4)  # the slow twin of ours
    assert np.abs(most_diverse(A, 20, 0.1 * np.abs(A).max()) - exact.weights).max() > 0.01
