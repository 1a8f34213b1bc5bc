"""The Schur decomposition: exact, orthonormal, the same every time; appendix F."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nashboard as nb
from nashboard._types import Floats
from reference_algebra import antisymmetric, strengths_by_eigenvalues

# Appendix F: a transitive and a cyclic matrix of rank two.
T = np.array([[0, 1, 2, 3], [-1, 0, 1, 2], [-2, -1, 0, 1], [-3, -2, -1, 0.0]])
C = np.array([[0, 1, 0, -1], [-1, 0, 1, 0], [0, -1, 0, 1], [1, 0, -1, 0.0]])


@given(antisymmetric(most=14))
def test_planes_are_orthonormal_descending_and_add_up_to_the_matrix(A: Floats) -> None:
    S = nb.schur(A)
    k = len(A) // 2
    size = np.abs(A).max()
    assert S.Q.shape == (len(A), 2 * k)
    assert S.strengths.shape == (k,)
    assert np.abs(S.Q.T @ S.Q - np.eye(2 * k)).max(initial=0.0) < 2e-14
    assert (np.diff(S.strengths) <= 0).all()
    assert (S.strengths >= 0).all()
    assert np.abs(S.reconstruct() - A).max() <= 2e-14 * size
    assert S.residual < 1e-13
    np.testing.assert_allclose(
        S.strengths, strengths_by_eigenvalues(A), rtol=0, atol=1e-13 * max(len(A) * size, 1e-300)
    )
    assert S.norm == pytest.approx(np.linalg.norm(A), rel=1e-13)
    assert S.shares.sum() == pytest.approx(float(size > 0) * float(len(A) > 1), abs=1e-13)


@given(antisymmetric(most=10))
def test_an_entry_is_a_sum_of_signed_areas(A: Floats) -> None:
    S = nb.schur(A)
    turn = S.angles[None, :, :] - S.angles[:, None, :]
    areas = (S.strengths * S.radii[:, None] * S.radii[None, :] * np.sin(turn)).sum(axis=2)
    assert np.abs(areas - A).max() <= 2e-14 * max(np.abs(A).max(), 1e-300)


@given(antisymmetric(most=10))
def test_the_convention_holds_the_agent_furthest_out_is_at_angle_zero(A: Floats) -> None:
    S = nb.schur(A)
    apart = np.diff(S.strengths, prepend=np.inf, append=-np.inf)
    for t in np.flatnonzero((np.minimum(-apart[:-1], -apart[1:]) > 1e-9 * np.abs(A).max()) & (S.strengths > 0)):
        radii = S.radii[:, t]
        lead = int(np.argmax(radii >= (1 - 1e-8) * radii.max()))
        assert S.Q[lead, 2 * t] > 0
        assert S.Q[lead, 2 * t + 1] == 0.0


@given(st.integers(3, 9), st.integers(0, 1000))  # two agents tie in radius
def test_relabelling_agents_relabels_the_planes(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(n, n))
    A, order = G - G.T, rng.permutation(n)
    S, P = nb.schur(A), nb.schur(A[np.ix_(order, order)])
    np.testing.assert_allclose(P.strengths, S.strengths, atol=1e-12)
    clear = np.flatnonzero(S.strengths > 1e-2)  # a nearly flat plane is nearly arbitrary
    columns = np.sort(np.concatenate([2 * clear, 2 * clear + 1]))
    np.testing.assert_allclose(P.Q[:, columns], S.Q[np.ix_(order, columns)], atol=1e-6)


def test_planes_of_one_strength_do_not_depend_on_how_the_matrix_was_rounded() -> None:
    rng = np.random.default_rng(7)
    X = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    J = np.kron(np.diag([3.0, 3, 3, 1, 1, 0.5]), [[0, 1], [-1, 0]])
    A = X @ J @ X.T
    A = (A - A.T) / 2
    noise = rng.normal(size=A.shape) * 1e-15
    S, N = nb.schur(A), nb.schur(A + noise - noise.T)
    np.testing.assert_allclose(S.strengths, [3, 3, 3, 1, 1, 0.5], rtol=1e-14)
    assert S.strengths[0] == S.strengths[1] == S.strengths[2]
    np.testing.assert_allclose(N.Q, S.Q, atol=1e-12)
    lead = S.Q[np.argmax(np.hypot.reduce(S.Q[:, :6], axis=1))]
    assert (lead[1:6] == 0).all()
    assert lead[0] > 0


def test_appendix_f_the_transitive_matrix_lies_on_a_line() -> None:
    S = nb.schur(T)
    assert S.rank == 2
    assert S.strengths[0] == pytest.approx(np.sqrt(20))
    steps = np.diff(S.Q[:, :2], axis=0)
    np.testing.assert_allclose(steps, np.broadcast_to(steps[0], steps.shape), atol=1e-14)


def test_appendix_f_the_cyclic_matrix_lies_on_a_circle() -> None:
    S = nb.schur(C)
    assert S.rank == 2
    np.testing.assert_allclose(S.radii[:, 0], np.sqrt(0.5))
    np.testing.assert_allclose(S.angles[:, 0] % (2 * np.pi), np.arange(4) * np.pi / 2, atol=1e-14)


@pytest.mark.parametrize(
    ("A", "printed"),
    [
        (T, [[0.793, 0.267], [0.538, -0.101], [0.284, -0.469], [0.029, -0.836]]),
        (C, [[-0.296, -0.642], [-0.642, 0.296], [0.296, 0.642], [0.642, -0.296]]),
    ],
)
def test_appendix_f_the_printed_planes_are_ours_up_to_a_turn(A: Floats, printed: list[list[float]]) -> None:
    Q = np.array(printed)
    ours = nb.schur(A).Q[:, :2]
    np.testing.assert_allclose(ours @ ours.T, Q @ Q.T / Q[:, 0].dot(Q[:, 0]), atol=2e-3)


@given(antisymmetric(most=10), st.integers(0, 5))
def test_fewer_planes_are_the_first_of_all_planes(A: Floats, k: int) -> None:
    k = min(k, len(A) // 2)
    S, part = nb.schur(A), nb.schur(A, k)
    assert (S.Q[:, : 2 * k] == part.Q).all()
    assert (part.strengths == S.strengths[:k]).all()
    assert (part.reconstruct() == S.reconstruct(k)).all()
    assert (part.shares == S.shares[:k]).all()


def test_zero_matrices_and_single_agents_have_planes_of_no_strength() -> None:
    assert nb.schur([[0]]).Q.shape == (1, 0)
    assert nb.schur([[0]]).reconstruct().tolist() == [[0.0]]
    for n in (2, 3, 5):
        S = nb.schur(np.zeros((n, n)))
        assert (S.strengths == 0).all()
        assert S.rank == 0
        assert (S.shares == 0).all()


@pytest.mark.parametrize("exponent", [-300, -8, 8, 300])
def test_any_size_of_payoffs_is_met_to_machine_precision(exponent: int) -> None:
    G = np.random.default_rng(1).normal(size=(30, 30)) * 10.0**exponent
    A = G - G.T
    S = nb.schur(A)
    assert np.abs(S.reconstruct() - A).max() <= 1e-14 * np.abs(A).max()
    assert S.shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("k", [-1, 2, 1.0, True, "1"])
def test_a_wrong_number_of_planes_is_refused(k: Any) -> None:
    with pytest.raises(nb.InputError, match="k must be a whole number, 0 to 1"):
        nb.schur(np.zeros((3, 3)), k)


def test_results_are_closed_and_show_themselves() -> None:
    bots = nb.load_dataset("roshambo")
    assert isinstance(bots, nb.Payoffs)
    S = nb.schur(bots)
    assert repr(S).startswith("Schur(43 agents, 21 planes, strongest ")
    assert "in turn" in str(S)
    assert "<table>" in S._repr_html_()
    assert len(S.to_dict()["strengths"]) == 21
    with pytest.raises(ValueError, match="read-only"):
        S.Q[0, 0] = 1.0
    assert (nb.schur(bots).Q == S.Q).all()
