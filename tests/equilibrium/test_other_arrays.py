"""Arrays of PyTorch and JAX, in every precision, are the same games as arrays of numpy."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import nashboard as nb
from equilibrium_games import Matrix, rng_of
from nashboard._types import spacing_of

Convert = Callable[[Matrix], Any]
BYTES = {"float64": 1e-9, "float32": 1e-5}  # precision, and how far weights may be from those of doubles


def rank_six(n: int) -> Matrix:
    """Return a game with many equilibria, whose exact choice rounding to single precision moves far."""
    C = rng_of(1).normal(size=(n, 6))
    half = C[:, ::2] @ C[:, 1::2].T
    return np.asarray(half - half.T)


@pytest.fixture(params=["numpy", "torch", "jax"])
def convert(request: pytest.FixtureRequest) -> Callable[[Matrix, str], Any]:
    """Return what turns an array into one of a library, in a precision by name."""
    if request.param == "numpy":
        return lambda A, name: A.astype(name)
    if request.param == "torch":
        torch = pytest.importorskip("torch", reason="PyTorch is not installed")
        return lambda A, name: torch.tensor(A, dtype=getattr(torch, name))
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jax.config.update("jax_enable_x64", True)
    return lambda A, name: jax.numpy.asarray(A, dtype=name)


@pytest.mark.parametrize("name", BYTES)
def test_equilibria_of_every_library_nearly_agree(convert: Callable[[Matrix, str], Any], name: str) -> None:
    A = rank_six(80)
    exact = nb.nash_average(A)
    given = convert(A, name)
    found, growing = nb.nash_average(given), nb.MetaGame(given[:40, :40])
    np.testing.assert_allclose(found.weights, exact.weights, atol=BYTES[name])
    assert (found.tolerance > 0) == (name == "float32")
    for k in range(40, 80):
        growing.append(given[k, :k])
    np.testing.assert_allclose(growing.weights, exact.weights, atol=BYTES[name])
    assert growing.nash.tolerance == pytest.approx(found.tolerance)
    assert growing.layers(1)[0] == found.support
    tables = nb.nash_average_scores(given[:20]), nb.nash_average_scores(A[:20])
    np.testing.assert_allclose(tables[0].task_weights, tables[1].task_weights, atol=1e3 * BYTES[name])


@pytest.mark.parametrize("name", BYTES)
def test_decompositions_of_every_library_agree(convert: Callable[[Matrix, str], Any], name: str) -> None:
    A = rank_six(70)
    given, off = convert(A, name), 1e-5 if name == "float32" else 1e-12
    np.testing.assert_allclose(nb.hodge(given).ratings, nb.hodge(A).ratings, atol=off)
    np.testing.assert_allclose(nb.schur(given, 3).strengths, nb.schur(A, 3).strengths, rtol=off)
    np.testing.assert_allclose(nb.latent(given[:9], 2).strengths, nb.latent(A[:9], 2).strengths, rtol=off)


def test_half_precision_is_allowed_what_it_loses(convert: Callable[[Matrix, str], Any]) -> None:
    A = rank_six(40)
    found = nb.nash_average(convert(A, "float16"))
    assert found.tolerance == pytest.approx(2 * 2.0**-10 * np.abs(A).max(), rel=1e-3)
    np.testing.assert_allclose(found.weights, nb.nash_average(A).weights, atol=0.01)


def test_numbers_of_sixteen_bits_of_another_kind_have_their_own_precision() -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    A = rank_six(40)
    found = nb.nash_average(jax.numpy.asarray(A, dtype="bfloat16"))
    assert found.tolerance == pytest.approx(2 * 2.0**-7 * np.abs(A).max(), rel=1e-2)


@pytest.mark.parametrize("name", BYTES)
def test_views_and_detached_tensors_are_the_same_games(name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    A = rank_six(40)
    whole = torch.tensor(A, dtype=getattr(torch, name), requires_grad=True).detach()
    for view, same in ((whole.T, A.T), (whole[::2, ::2], A[::2, ::2]), (-whole.T[5:30, 5:30], A[5:30, 5:30])):
        assert not view.is_contiguous()
        copy = np.ascontiguousarray(same, dtype=name)
        np.testing.assert_allclose(nb.nash_average(view).weights, nb.nash_average(copy).weights, atol=1e-12)
        np.testing.assert_allclose(nb.hodge(view).ratings, nb.hodge(copy).ratings, atol=1e-12)
        np.testing.assert_allclose(nb.schur(view, 3).strengths, nb.schur(copy, 3).strengths, rtol=1e-12)
    growing = nb.MetaGame()
    for k in range(40):
        growing.append(whole.T[:k, k].neg())  # a column: every 40th number
    np.testing.assert_allclose(growing.weights, nb.nash_average(-A).weights, atol=BYTES[name])


def test_tensors_that_cannot_be_read_are_explained() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    for tensor, words in (
        (torch.zeros((2, 2), requires_grad=True), "detach"),
        (torch.zeros((2, 2), dtype=torch.bfloat16), "BFloat16"),
        (torch.zeros((2, 2), dtype=torch.complex64), "complex numbers"),
    ):
        for call in (nb.nash_average, nb.nash_average_scores, nb.MetaGame, nb.hodge, nb.schur, nb.latent):
            with pytest.raises(nb.InputError, match=words):
                call(tensor)


def test_rows_and_frames_in_single_precision_are_seen_as_such() -> None:
    pandas = pytest.importorskip("pandas")
    A = rank_six(20).astype(np.float32)
    expected = nb.nash_average(A)
    for same in (list(A), pandas.DataFrame(A)):
        assert nb.nash_average(same).tolerance == expected.tolerance > 0


class Columns:
    """A model whose payoffs are given in single precision."""

    def __init__(self, A: Any) -> None:
        self.A, self.size = A, len(A)

    def columns(self, indices: Any) -> Any:
        return self.A[:, indices]

    def product(self, weights: Any) -> Any:
        return self.A @ weights


@pytest.mark.parametrize("wrap", [nb.Payoffs.from_array, Columns], ids=["payoffs", "a model"])
def test_single_precision_is_known_of_payoffs_and_models(wrap: Any) -> None:
    A = rank_six(60)
    exact, single = nb.nash_average(A), nb.nash_average(wrap(A.astype(np.float32)))
    assert single.tolerance > 0
    np.testing.assert_allclose(single.weights, exact.weights, atol=1e-5)
    if wrap is not Columns:
        grown = nb.MetaGame(wrap(A.astype(np.float32))).nash
        np.testing.assert_allclose(grown.weights, single.weights, atol=1e-12)
        assert wrap(A).spacing < 1e-15


@pytest.mark.parametrize(("dtype", "eps"), [("f8", 2.0**-52), ("f4", 2.0**-23), ("f2", 2.0**-10), ("i8", 0), ("O", 0)])
def test_the_spacing_of_types_is_that_of_numpy(dtype: str, eps: float) -> None:
    assert spacing_of(np.dtype(dtype)) == eps


def scores_in_single_precision(kind: str, S: Matrix, folder: Path) -> nb.Scores:
    """Return the table as scores, given in single precision in some way."""
    single = S.astype(np.float32)
    wide = pl.DataFrame({"agent": [f"a{k}" for k in range(len(S))], **{f"t{k}": x for k, x in enumerate(single.T)}})
    if kind == "array":
        return nb.Scores.from_array(single)
    if kind == "wide":
        return nb.read_scores(wide)
    if kind == "pandas":
        return nb.read_scores(pytest.importorskip("pandas").DataFrame(wide.to_dict(as_series=False)).astype(
            {f"t{k}": "float32" for k in range(S.shape[1])}))  # fmt: skip
    long = wide.unpivot(index="agent", variable_name="task", value_name="score")
    if kind == "long":
        return nb.read_scores(long)
    long.write_parquet(folder / "scores.parquet")
    return nb.read_scores(folder / "scores.parquet")


@pytest.mark.parametrize("kind", ["array", "wide", "long", "pandas", "parquet"])
def test_single_precision_is_known_of_scores(kind: str, tmp_path: Path) -> None:
    S = 50 + rank_six(60)  # many equilibria: the exact one of rounded scores is far from that of doubles
    exact = nb.nash_average(nb.Scores.from_array(S).scale("none"))
    given = scores_in_single_precision(kind, S, tmp_path)
    found = nb.nash_average(given.scale("none"))
    assert found.tolerance == pytest.approx(2 * 2.0**-23 * S.max())
    order = [given.tasks.index(f"t{k}" if kind != "array" else f"task {k + 1}") for k in range(60)]
    np.testing.assert_allclose(found.task_weights[order], exact.task_weights, atol=2e-3)
    rounded = nb.nash_average(given.scale("none"), tolerance=0)
    assert np.abs(rounded.task_weights[order] - exact.task_weights).max() > 0.01
    assert given.select(given.agents[:5]).spacing == given.spacing
    assert nb.nash_average(given).tolerance > found.tolerance / np.ptp(S)  # scaled to a range, a task has more rounding
    assert nb.evaluate(given, noise="none").model["tolerance"] == nb.nash_average(given).tolerance
    assert nb.Scores.from_array(S).spacing == given.scale("rank").spacing == 0


def test_rounding_of_scores_far_from_zero_is_a_larger_share_of_their_spread() -> None:
    S = rng_of(0).random((6, 9))
    near, far = (nb.nash_average_scores((S + shift).astype(np.float32)) for shift in (0, 1000))
    assert far.tolerance == pytest.approx(1001 * near.tolerance, rel=0.1)
    assert nb.Scores.from_array((S + 1000).astype(np.float32)).scale().spacing > 1000 * 2.0**-23
