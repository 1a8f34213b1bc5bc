"""Wrong mixtures are never certified, whoever claims them."""

from dataclasses import replace

import numpy as np
import pytest

import nashboard as nb
from equilibrium_games import Matrix, antisymmetric, rng_of
from nashboard.equilibrium.certificate import certify, certify_point
from nashboard.equilibrium.face import SideSolution
from nashboard.equilibrium.precision import COMPLEMENTARY, TOLERANCE
from nashboard.equilibrium.solver import solve


def game_of_kind(rng: np.random.Generator, kind: str) -> Matrix:
    """Return a game with one equilibrium or many, payoffs from about -1 to 1."""
    n = int(rng.integers(2, 13))
    if kind == "noise":
        return antisymmetric(rng.normal(size=(n, n))) / 8
    if kind == "ties":
        return antisymmetric(rng.integers(-2, 3, size=(n, n)).astype(float)) / 4
    if kind == "disc":
        C = rng.normal(size=(n, 2))
        return (np.outer(C[:, 0], C[:, 1]) - np.outer(C[:, 1], C[:, 0])) / 16
    m = int(rng.integers(2, 13))
    if kind == "table":
        return np.asarray(rng.normal(size=(n, m)) / 4)
    return np.asarray(rng.integers(-2, 3, size=(n, m)) / 2.0)


def spoil(rng: np.random.Generator, side: SideSolution) -> SideSolution:
    """Return a side with other weights, and maybe another witness, other multipliers, another claim."""
    x, size = side.weights.copy(), 10.0 ** rng.uniform(-8, 0)
    how = rng.integers(6)
    if how == 0:
        x *= np.exp(size * rng.normal(size=len(x)))
    elif how == 1:
        x[rng.integers(len(x))] += size
    elif how == 2 and (x > 0).sum() > 1:
        x[rng.choice(np.flatnonzero(x))] = 0
    elif how == 3:
        x = rng.dirichlet(np.ones(len(x)))
    elif how == 4:  # another equilibrium, where there is one
        x += rng.random() * (side.inner - x)
    x /= x.sum()
    y = side.y + (rng.random() < 0.3) * size * rng.normal(size=len(side.y))
    return replace(side, weights=x, inner=x if rng.random() < 0.5 else side.inner, y=y, unique=bool(rng.random() < 0.6))


@pytest.mark.parametrize("kind", ["noise", "ties", "disc", "table", "tied table"])
def test_nothing_but_the_most_even_equilibrium_is_certified(kind: str) -> None:
    rng = rng_of(len(kind))
    accepted = 0
    for _ in range(60):
        F = game_of_kind(rng, kind)
        log_m = [np.zeros(size) for size in (F.shape if "table" in kind else F.shape[:1])]
        right = solve(F, log_m).sides
        for _ in range(8):
            claimed = [spoil(rng, side) for side in right]
            proved = certify(F, claimed, log_m)
            p, q = claimed[0].weights, claimed[-1].weights
            value = 0.0 if len(claimed) == 1 else p @ F @ q
            gain = max((F @ q).max() - value, value - (p @ F).min())
            if max(gain, proved.residual) <= TOLERANCE and proved.complementarity <= COMPLEMENTARY:
                off = max(np.abs(a.weights - b.weights).max() for a, b in zip(claimed, right, strict=True))
                assert off <= 2 * TOLERANCE
                accepted += 1
    assert accepted  # changes near rounding are none


@pytest.mark.parametrize("shift", [1e-3, 1e-6, 1e-8])
def test_the_residual_of_a_point_bounds_how_far_the_weights_are_off(shift: float) -> None:
    rng = rng_of(5)
    A = antisymmetric(rng.normal(size=(15, 15))) / 8
    x = solve(A, [np.zeros(15)]).sides[0].weights
    assert certify_point(A, [x]).residual < 1e-14
    moved = x * (1 + shift * rng.choice([-1, 1], size=15))
    moved /= moved.sum()
    assert certify_point(A, [moved]).residual >= np.abs(moved - x).max()


@pytest.mark.parametrize("n", [50, 256, 257, 600])
def test_the_condition_is_infinite_where_a_player_outside_is_about_to_enter(n: int) -> None:
    ratings = np.linspace(1, 0, n)
    A = ratings[:, None] - ratings
    A[0, 1:], A[1:, 0] = 1, -1
    A[-1, 0], A[0, -1] = -1e-11, 1e-11
    assert nb.nash_average(A).condition == np.inf
    A[-1, 0], A[0, -1] = -1e-3, 1e-3
    assert nb.nash_average(A).condition < 10


@pytest.mark.parametrize("outside", [0, 2, 400])
def test_the_condition_is_in_units_of_the_whole_game(outside: int) -> None:
    """Payoffs of players without weight are payoffs, too: the largest one may be among them."""
    rng, n = rng_of(outside), 60
    A = np.zeros((n + outside, n + outside))
    A[:5, :5] = antisymmetric(rng.normal(size=(5, 5)))
    A[5:n, :5] = -1
    A[n:, :n] = -7 - rng.random((outside, n))
    A = np.tril(A) - np.tril(A).T
    result = nb.nash_average(A)
    game = nb.MetaGame(A[:n, :n])
    for row in range(n, len(A)):
        game.append(A[row, :row])
    assert game.nash.condition == pytest.approx(result.condition, rel=1e-12)
    change = 1e-9 * result.scale
    moved = 0.0
    for _ in range(8):
        noise = antisymmetric(rng.choice([-1.0, 1.0], size=A.shape))
        moved = max(moved, float(np.abs(nb.nash_average(A + change * noise).weights - result.weights).max()))
    assert 0.05 * 1e-9 * result.condition <= moved <= 1.001e-9 * result.condition


def test_the_condition_of_a_table_is_in_units_of_its_range() -> None:
    rng = rng_of(3)
    for _ in range(20):
        S = 3 * rng.normal(size=rng.integers(2, 9, size=2))
        before = nb.nash_average_scores(S)
        after = nb.nash_average_scores(S + 1e-9 * before.scale * rng.choice([-1.0, 1.0], size=S.shape))
        moved = max(
            np.abs(after.agent_weights - before.agent_weights).max(),
            np.abs(after.task_weights - before.task_weights).max(),
        )
        assert moved <= 1.001e-9 * before.condition + 1e-13
    half = nb.nash_average_scores([[0.0, 1.0], [1.0, 0.0]]).condition
    assert nb.nash_average_scores([[-1.0, 1.0], [1.0, -1.0]]).condition == pytest.approx(half)


def test_the_condition_of_a_meta_game_knows_agents_that_were_appended() -> None:
    game = nb.MetaGame([[0.0, 1.0], [-1.0, 0.0]])
    assert game.nash.condition < 10
    game.append([-1e-11, 1.0])
    assert game.nash.condition == nb.nash_average(game.payoffs).condition == np.inf
