"""Every input becomes one checked game: what is no game is refused, and what is the same game has the same answer."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nashboard as nb
from equilibrium_games import Matrix, antisymmetric, dense, rng_of, seeds
from nashboard._types import Floats
from nashboard.equilibrium.certificate import certify
from nashboard.equilibrium.clones import identical_rows
from nashboard.equilibrium.face import SideSolution
from nashboard.equilibrium.game import SMALL
from nashboard.equilibrium.models import RatingsModel, swapped
from nashboard.equilibrium.precision import COMPLEMENTARY, ZERO

CIRCLE = np.array([[0, 1, 0, -1], [-1, 0, 1, 0], [0, -1, 0, 1], [1, 0, -1, 0.0]])


def test_a_hodge_decomposition_is_not_taken_for_a_model() -> None:
    for n in (4, 5, 6):
        with pytest.raises(nb.InputError, match="a Hodge decomposition is not a game"):
            nb.nash_average(nb.hodge(dense(0, n)))


@pytest.mark.parametrize("rounding", [0.0, 1e-15])
def test_a_matrix_named_cyclic_is_not_taken_for_coordinates(rounding: float) -> None:
    class Parts:
        ratings = np.zeros(4)
        cyclic = CIRCLE + rounding * np.arange(16).reshape(4, 4)

    with pytest.raises(nb.InputError, match="matrix of payoffs, not coordinates"):
        nb.nash_average(Parts())


@pytest.mark.parametrize("copies", [1, 400])
def test_a_plane_that_changes_no_payoff_changes_no_weight(copies: int) -> None:
    turn = np.tile(np.array([0, 0, 1, 2, 3]) * np.pi / 2, copies)
    n = len(turn)
    idle = np.column_stack([np.cos(turn), np.sin(turn), rng_of(0).normal(size=n), np.zeros(n)])
    assert (n <= SMALL) == (copies == 1)
    result = nb.nash_average(RatingsModel.from_arrays(np.zeros(n), idle))
    expected = np.tile([0.125, 0.125, 0.25, 0.25, 0.25], copies)
    if copies > 1:  # every direction is one class
        expected = np.tile([0.125, 0.125, 0.25, 0.25, 0.25], copies) / copies
        assert len(result.clone_groups) == 4
    np.testing.assert_allclose(result.weights, expected, atol=1e-12)


@given(seed=seeds)
@settings(max_examples=5, deadline=None)
def test_copies_in_a_large_model_change_nothing(seed: int) -> None:
    rng = rng_of(seed)
    n = SMALL + 100
    r, C = 0.3 * rng.normal(size=n), rng.normal(size=(n, 4))
    before = nb.nash_average(RatingsModel.from_arrays(r, C))
    best = np.flatnonzero(before.weights)
    who = rng.permutation(np.concatenate([np.arange(n), best, best[:2], rng.integers(0, n, size=20)]))
    after = nb.nash_average(RatingsModel.from_arrays(r[who], C[who]))
    np.testing.assert_allclose(np.bincount(who, weights=after.weights, minlength=n), before.weights, atol=1e-9)
    assert before.clone_groups == ()
    assert sum(map(len, after.clone_groups)) >= 2 * len(best)


@pytest.mark.parametrize("average", [nb.nash_average, nb.nash_average_scores])
def test_numbers_whose_sums_a_double_cannot_be_are_refused(average: Any) -> None:
    A = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0.0]])
    np.testing.assert_allclose(average(1e300 * A).condition, average(A).condition)
    with pytest.raises(nb.InputError, match="sums overflow"):
        average(1.7e308 * A)
    with pytest.raises(nb.InputError, match="int too large"):
        average([[0, 10**400], [-(10**400), 0]])


@pytest.mark.parametrize("n", [5, 60, SMALL + 10])
def test_where_the_centre_of_a_model_is_changes_its_equilibrium_by_rounding_alone(n: int) -> None:
    rng = rng_of(n)
    r, C, m = 0.3 * rng.normal(size=n), rng.normal(size=(n, 2)), np.array([1e4, -3e3])
    near = nb.nash_average(RatingsModel.from_arrays(r, C))
    moved = RatingsModel.from_arrays(r - C @ swapped(m), C + m)
    far = nb.nash_average(moved)
    np.testing.assert_allclose(far.weights, near.weights, atol=1e-7)
    r_far, C_far = moved.ratings.astype(np.longdouble), moved.cyclic.astype(np.longdouble)
    turning = np.outer(C_far[:, 0], C_far[:, 1])
    gains = (r_far[:, None] - r_far + turning - turning.T) @ far.weights
    assert float(gains.max()) < 1e-9 * far.scale  # in more digits than doubles have


def test_the_scale_of_a_model_is_its_largest_payoff_wherever_its_centre_is() -> None:
    rng = rng_of(1)
    for n in (40, SMALL + 10, SMALL + 60, SMALL + 300):
        r, C, m = rng.normal(size=n), rng.normal(size=(n, 4)), np.array([1e6, 0, -2e6, 1.0])
        model = RatingsModel.from_arrays(r, C)
        moved = RatingsModel.from_arrays(r - C @ swapped(m), C + m)
        largest = np.abs(model.columns(np.arange(n))).max()
        assert nb.nash_average(model).scale == pytest.approx(largest)
        assert nb.nash_average(moved).scale == pytest.approx(largest, rel=1e-6)


class OneWay:
    """Everybody loses to everybody."""

    def __init__(self, size: int) -> None:
        self.size = size

    def columns(self, indices: Any) -> Matrix:
        return np.full((self.size, len(indices)), -1.0)

    def product(self, weights: Matrix) -> Matrix:
        return np.full(self.size, -weights.sum())


class Liar(OneWay):
    """Payoffs that are even, and products that are not."""

    def columns(self, indices: Any) -> Matrix:
        columns = np.zeros((self.size, len(indices)))
        columns[0], columns[:, indices == 0] = 1.0, -1.0
        columns[0, indices == 0] = 0.0
        return columns


@pytest.mark.parametrize("size", [5, 3000])
def test_models_that_are_not_antisymmetric_are_refused(size: int) -> None:
    with pytest.raises(nb.InputError, match="the model is not antisymmetric: 'agent 1' against"):
        nb.nash_average(OneWay(size))


def test_models_that_contradict_themselves_are_refused() -> None:
    with pytest.raises(nb.InputError, match="contradicts itself"):
        nb.nash_average(Liar(3000))


@pytest.mark.parametrize("size", [5, 3000])
def test_models_that_are_not_finite_are_refused(size: int) -> None:
    with pytest.raises(nb.InputError, match="the payoff of agent 4 against agent 1 is nan"):
        nb.nash_average(NearlyAntisymmetric(size, (3, 0), np.nan, products=True))


class NearlyAntisymmetric:
    """Two planes and ratings, except for one payoff, of columns alone or of products, too."""

    def __init__(self, size: int, wrong: tuple[int, int], by: float, products: bool) -> None:
        rng = rng_of(size)
        self.size, self.wrong, self.by, self.products = size, wrong, by, products
        self.right = RatingsModel.from_arrays(2 * rng.normal(size=size), rng.normal(size=(size, 4)))

    def columns(self, indices: Any) -> Matrix:
        columns = self.right.columns(indices)
        columns[self.wrong[0], indices == self.wrong[1]] += self.by
        return columns

    def product(self, weights: Matrix) -> Matrix:
        averages = self.right.product(weights)
        averages[self.wrong[0]] += self.by * weights[self.wrong[1]] * self.products
        return averages


@pytest.mark.parametrize("size", [1500, 20_000])
def test_one_wrong_payoff_of_a_large_model_is_found(size: int) -> None:
    found = nb.nash_average(NearlyAntisymmetric(size, (0, 1), 0.0, True))
    a, b = (found.agents.index(name) for name in found.support[:2])
    other = 0 if a else 3
    for wrong in ((a, b), (other, b), (b, other), (size // 2, size - 1), (7, 8)):
        i, j = (f"agent {k + 1}" for k in sorted(wrong))
        with pytest.raises(nb.InputError, match=f"not antisymmetric: '{i}' against '{j}'"):
            nb.nash_average(NearlyAntisymmetric(size, wrong, 1e-5, True))
    for row in (a, other):
        with pytest.raises(nb.InputError, match="contradicts itself"):
            nb.nash_average(NearlyAntisymmetric(size, (row, b), 1e-5, False))


@pytest.mark.parametrize("n", [4, 300])
def test_masked_and_complex_numbers_are_refused(n: int) -> None:
    A = dense(0, n)
    masked = np.ma.masked_array(A, mask=np.zeros((n, n), dtype=bool))
    masked[0, 1] = np.ma.masked
    games = (nb.nash_average, nb.MetaGame, nb.schur, nb.hodge, nb.div, nb.rot, nb.curl)
    for call in (*games, nb.nash_average_scores, nb.latent):
        with pytest.raises(nb.InputError, match="1 masked cells"):
            call(masked)
        with pytest.raises(nb.InputError, match="1 masked cells"):
            call(list(masked))
        with pytest.raises(nb.InputError, match="complex numbers"):
            call(A + 1j)
    np.testing.assert_array_equal(nb.div(np.ma.masked_array(A)), nb.div(A))


@pytest.mark.parametrize("n", [2, 5])
def test_of_an_even_game_every_mixture_is_an_equilibrium(n: int) -> None:
    result = nb.nash_average(np.zeros((n, n)))
    assert not result.unique
    assert result.condition == np.inf
    np.testing.assert_allclose(result.weights, 1 / n)
    table = nb.nash_average_scores(np.ones((n, 3)))
    assert not table.agents_unique
    assert not table.tasks_unique
    assert nb.nash_average([[0.0]]).unique


def test_long_chains_of_near_copies_are_cut_without_recursion() -> None:
    steps = 0.4 + 0.3 * np.arange(3000) / 3000  # each step another length, so that one cut makes two parts
    rows = np.cumsum(np.append(0.0, steps))[:, None] * ZERO
    assert len(identical_rows(rows, 1.0, float(rows.max())).first) > 1000


def test_scores_are_passed_on() -> None:
    scores = nb.load_dataset("atari")
    assert isinstance(scores, nb.Scores)
    one, other = nb.nash_average(scores), nb.nash_average_scores(scores)
    assert isinstance(one, nb.ScoreNashAverage)
    np.testing.assert_array_equal(one.task_weights, other.task_weights)


class MatrixGame:
    """What a matrix game of OpenSpiel offers."""

    def __init__(self, rows: Any, columns: Any) -> None:
        self.rows, self.columns = rows, columns

    def row_utilities(self) -> Any:
        return self.rows

    def col_utilities(self) -> Any:
        return self.columns

    def row_action_name(self, k: int) -> str:
        return f"row {k}"

    def col_action_name(self, k: int) -> str:
        return f"column {k}"


def test_matrix_games_are_accepted() -> None:
    result = nb.nash_average(MatrixGame(CIRCLE, -CIRCLE))
    np.testing.assert_allclose(result.weights, 0.25)
    S = rng_of(0).random((3, 4))
    table: Any = nb.nash_average(MatrixGame(S, 2 - S))
    np.testing.assert_array_equal(table.agent_weights, nb.nash_average_scores(S).agent_weights)
    assert table.tasks == tuple(f"column {k}" for k in range(4))
    with pytest.raises(nb.InputError, match="not zero-sum"):
        nb.nash_average(MatrixGame(S, S))


def test_matrix_games_in_single_precision_have_its_tolerance() -> None:
    A, narrow = dense(2, 9).astype(np.float32), rng_of(0).random((3, 4)).astype(np.float32)
    result, same = nb.nash_average(MatrixGame(A, -A)), nb.nash_average(A)
    assert result.tolerance == same.tolerance > 0
    np.testing.assert_array_equal(result.weights, same.weights)
    table: Any = nb.nash_average(MatrixGame(narrow, np.float32(2) - narrow))
    assert table.tolerance == nb.nash_average_scores(narrow).tolerance > 0


@pytest.mark.parametrize(("name", "kind"), [("matrix_rps", nb.NashAverage), ("matrix_mp", nb.ScoreNashAverage)])
def test_matrix_games_of_openspiel_are_accepted(name: str, kind: Any) -> None:
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    result: Any = nb.nash_average(pyspiel.load_matrix_game(name))
    assert isinstance(result, kind)
    assert result.unique


class Tensor:
    """An array of another library: numpy can read it, and it has a dtype."""

    def __init__(self, A: Matrix) -> None:
        self.A, self.dtype = A, "float32"

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.A, dtype=dtype)

    def __getitem__(self, k: Any) -> Any:
        return self.A[k]


def test_arrays_of_other_libraries_and_types_are_accepted() -> None:
    A = dense(2, 9)
    expected = nb.nash_average(A.astype(np.float32))
    assert expected.tolerance > 0
    other = nb.nash_average(Tensor(A.astype(np.float32)))
    np.testing.assert_array_equal(other.weights, expected.weights)
    assert other.tolerance == expected.tolerance
    assert nb.nash_average(A.tolist()).tolerance == 0
    assert nb.nash_average(np.sign(A).astype(np.int8)).tolerance == 0


def test_a_data_frame_of_payoffs_keeps_its_names() -> None:
    pandas = pytest.importorskip("pandas")
    names = ["w", "x", "y", "z"]
    found = nb.nash_average(pandas.DataFrame(CIRCLE, index=names, columns=names))
    assert found.agents == tuple(names)
    assert np.array_equal(found.weights, nb.nash_average(CIRCLE).weights)
    assert nb.nash_average(pandas.DataFrame(CIRCLE)).agents[0] == "agent 1"


def test_single_precision_need_not_be_antisymmetric_to_the_last_digit_of_a_double() -> None:
    rng = rng_of(3)
    U, V = rng.normal(size=(2, 60, 4)).astype(np.float32)
    A = U @ V.T - V @ U.T
    A[0, 1] = np.nextafter(A[0, 1], np.float32(np.inf))
    assert nb.nash_average(A).exploitability < 1e-5
    with pytest.raises(nb.InputError, match="not antisymmetric"):
        nb.nash_average((A + np.float32(0.01)).astype(np.float32))


def uniform_side(n: int) -> SideSolution:
    """Uniform weights with every multiplier zero, as a solver might claim them."""
    return SideSolution(
        weights=np.full(n, 1 / n),
        inner=np.full(n, 1 / n),
        value=0.0,
        support=np.ones(n, dtype=bool),
        unique=False,
        y=np.zeros(n),
        y_low=np.zeros(n),
        off=0.0,
        iterations=0,
    )


def test_the_certificate_sees_players_with_weight_that_do_not_tie() -> None:
    better = 1e-10 * np.array([1, 0, 1, 0.0])
    A = CIRCLE + better[:, None] - better
    claimed = certify(A, [uniform_side(4)], [np.zeros(4)])
    assert claimed.residual < 1e-15  # uniform is the most even of all mixtures
    assert claimed.complementarity > COMPLEMENTARY  # but no equilibrium
    assert certify(CIRCLE, [uniform_side(4)], [np.zeros(4)]).complementarity < 1e-15
    np.testing.assert_allclose(nb.nash_average(A).weights, [0.5, 0, 0.5, 0], atol=1e-12)


@pytest.mark.parametrize(("A", "weights"), [(CIRCLE, [0.5, 0, 0.5, 0]), (np.zeros((3, 3)), [1.0, 0, 0])])
def test_the_certificate_sees_players_that_should_have_weight(A: Floats, weights: list[float]) -> None:
    x = np.array(weights)
    claimed = certify(A, [replace(uniform_side(len(A)), weights=x, inner=x)], [np.zeros(len(A))])
    assert claimed.complementarity < 1e-15  # an equilibrium
    assert claimed.residual > 0.2  # but not the most even one


@given(seed=seeds, n=st.integers(3, 25))
@settings(max_examples=4, deadline=None)
def test_the_condition_bounds_how_far_weights_move(seed: int, n: int) -> None:
    A = dense(seed, n)
    before = nb.nash_average(A)
    change = 1e-9 * before.scale
    if not np.isfinite(before.condition):
        return
    for k in range(3):
        noise = antisymmetric(rng_of(seed + k).choice([-1.0, 1.0], size=(n, n)))
        after = nb.nash_average(A + change * noise)
        moved = np.abs(after.weights - before.weights).max()
        assert moved <= 1e-9 * before.condition * (1 + 1e-3) + 1e-13


def test_the_condition_says_where_equilibria_are_nearly_many() -> None:
    rng = rng_of(0)
    C = rng.normal(size=(60, 6))
    half = C[:, ::2] @ C[:, 1::2].T
    rounded = (half - half.T).astype(np.float32).astype(np.float64)
    result = nb.nash_average(rounded)
    assert result.unique
    assert result.condition == np.inf
    assert "nearly so" in str(result)
    assert nb.nash_average([[0, 1, -1], [-1, 0, 1], [1, -1, 0]]).condition < 10


def test_the_condition_is_that_of_clones_that_stay_clones() -> None:
    A = np.array([[0, 0, 4], [0, 0, 4], [-4, -4, 0.0]])
    result = nb.nash_average(A)
    assert "that is the same for clones moves a weight by at most about 0.0e+00" in str(result)
    apart = A + 4e-9 * np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(nb.nash_average(apart).weights, [1, 0, 0])
    assert "leaves clones alike" not in str(nb.nash_average(apart))
