"""The strongest planes from products alone: against the full decomposition."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import nashboard as nb
from nashboard._types import Floats
from nashboard.algebra import schur as schur_module
from nashboard.algebra.schur import dense_planes, leading_planes


def low_rank(n: int, strengths: list[float], noise: float, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(n, 2 * len(strengths))))[0]
    half = (Q[:, 0::2] * strengths) @ Q[:, 1::2].T
    N = rng.normal(size=(n, n)) * noise / np.sqrt(n)
    A: Floats = half - half.T + N - N.T
    return A


def product_with(A: Floats) -> Callable[[Floats], Floats]:
    return lambda X: A @ X


def require_planes(A: Floats, found: tuple[Floats, Floats, float], k: int, atol: float) -> None:
    Q, s, residual = found
    full_Q, full_s = dense_planes(A)
    np.testing.assert_allclose(s, full_s[:k], atol=1e-10)
    np.testing.assert_allclose(Q, full_Q[:, : 2 * k], atol=atol)
    assert np.abs(Q.T @ Q - np.eye(2 * k)).max() < 1e-12
    assert residual <= 1e-11


@pytest.mark.parametrize(
    ("strengths", "noise", "k"),
    [
        ([9, 7, 5, 3], 0.3, 1),
        ([9, 7, 5, 3], 0.3, 4),
        ([9, 9, 7, 7, 5, 4], 0.01, 4),
        ([9, 8, 8, 8, 5, 4], 0.0, 5),  # strengths that repeat
        ([9, 9, 9, 9, 4, 3], 0.0, 5),
        ([1], 1.0, 3),
        ([5, 1e-6], 0.0, 2),
        ([5, 4, 3], 0.0, 3),  # the images of a vector span no more
        ([9, 9, 5, 4, 3, 2.5], 0.0, 3),
        ([9, 9, 5, 4, 3], 0.05, 1),
    ],
)
def test_products_find_the_planes_of_the_full_decomposition(strengths: list[float], noise: float, k: int) -> None:
    A = low_rank(300, strengths, noise)
    norm = float(np.linalg.norm(A))
    found = leading_planes(product_with(A), 300, k, norm=norm, tolerance=1e-11, most_products=5000)
    require_planes(A, found, k, 1e-4 if 1e-6 in strengths else 1e-7)


@pytest.mark.parametrize("k", [1, 5])
def test_a_rank_below_2k_is_completed_by_planes_of_no_strength(k: int) -> None:
    A = low_rank(200, [3.0], 0.0)
    Q, s, _ = leading_planes(product_with(A), 200, k, norm=np.inf, tolerance=1e-10, most_products=2000)
    np.testing.assert_allclose(s, [3.0] + [0.0] * (k - 1), atol=1e-12)
    assert np.abs(Q.T @ Q - np.eye(2 * k)).max() < 1e-12
    assert (leading_planes(product_with(0 * A), 200, k, norm=np.inf, tolerance=1e-10, most_products=2000)[1] == 0).all()


def test_a_space_that_is_exhausted_is_left_for_the_rest_of_the_whole() -> None:
    A = low_rank(40, [3.0, 2.0], 0.0)
    Q, s, residual = leading_planes(product_with(A), 40, 2, norm=np.inf, tolerance=0.0, most_products=400)
    np.testing.assert_allclose(s, [3, 2], rtol=1e-13)
    assert residual < 1e-13
    assert np.abs(Q.T @ Q - np.eye(4)).max() < 1e-12


def test_planes_that_are_not_found_are_not_returned() -> None:
    A = low_rank(400, [], 1.0)
    with pytest.raises(nb.ConvergenceError, match="after 10 products, not to 1e-10"):
        leading_planes(product_with(A), 400, 5, norm=np.inf, tolerance=1e-10, most_products=10)


def test_an_operator_that_is_not_antisymmetric_is_refused() -> None:
    with pytest.raises(nb.InputError, match="the operator is not antisymmetric"):
        leading_planes(lambda X: X, 100, 1, norm=np.inf, tolerance=1e-10, most_products=1000)


def test_large_arrays_sparse_matrices_and_operators_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schur_module, "large_enough", lambda n, k: 0 < k < 10)
    rng = np.random.default_rng(1)
    R = random_array((200, 200), density=0.05, rng=rng).tolil()
    R[0, 1], R[2, 3], R[4, 5] = 30.0, 20.0, 12.0  # planes that stand out
    S = csr_array(R - R.T)
    A = S.toarray()
    full = nb.schur(A)
    operator = aslinearoperator(S)
    for given in (A, S, operator):
        part = nb.schur(given, k=2)
        np.testing.assert_allclose(part.strengths, full.strengths[:2], rtol=1e-9)
        np.testing.assert_allclose(part.Q, full.Q[:, :4], atol=1e-6)
        assert part.norm == pytest.approx(full.norm)
        assert 1e-15 < part.residual <= 1e-10
    assert nb.schur(operator, k=2, norm=1.0).norm == 1.0
    tiny = nb.schur(A * 1e-200, k=2)
    np.testing.assert_allclose(tiny.strengths, full.strengths[:2] * 1e-200, rtol=1e-9)


def test_an_array_whose_planes_products_cannot_settle_is_decomposed_in_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unsettled(*_: object, **__: object) -> None:
        raise nb.ConvergenceError("too close together")

    A = low_rank(40, [], 1.0)
    full = nb.schur(A, k=2)
    monkeypatch.setattr(schur_module, "large_enough", lambda n, k: True)
    monkeypatch.setattr(schur_module, "leading_planes", unsettled)
    assert (nb.schur(A, k=2).Q == full.Q).all()
    monkeypatch.setattr(schur_module, "STILL_DECOMPOSED", 10)
    with pytest.raises(nb.ConvergenceError):
        nb.schur(A, k=2)


def test_small_operators_are_written_out_and_large_ones_need_k() -> None:
    A = low_rank(6, [2.0, 1.0], 0.1)
    assert (nb.schur(aslinearoperator(A)).strengths == nb.schur(A).strengths).all()
    big = LinearOperator((5000, 5000), matvec=lambda x: x, dtype=np.float64)
    with pytest.raises(nb.InputError, match="say how many with k="):
        nb.schur(big)
    with pytest.raises(nb.InputError, match="norm= is for operators"):
        nb.schur(A, norm=3.0)
    with pytest.raises(nb.InputError, match="must be square"):
        nb.schur(aslinearoperator(np.zeros((2, 3))))


def test_the_switch_to_products_keeps_to_large_matrices_and_few_planes() -> None:
    assert schur_module.large_enough(20_000, 10)
    assert schur_module.large_enough(1000, 41)
    assert schur_module.large_enough(400, 5)
    assert schur_module.large_enough(100, 1)
    assert not schur_module.large_enough(400, 34)
    assert not schur_module.large_enough(60, 1)
    assert not schur_module.large_enough(20_000, 10_000)
    assert not schur_module.large_enough(20_000, 0)
