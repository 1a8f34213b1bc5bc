"""A population that grows has the answer of a new solve at every size, whatever a new agent does to it."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nashboard as nb
from equilibrium_games import Matrix, dense, disjoint_cycles, low_rank, near_clones, rng_of, seeds, signs
from nashboard.equilibrium import meta_game

TIGHT = 1e-9


def disc(seed: int, n: int) -> Matrix:
    """Agents on a disc: rank two, and with the centre among them every agent has weight."""
    C = rng_of(seed).normal(size=(n, 2))
    half = np.outer(C[:, 0], C[:, 1])
    return np.asarray(half - half.T)


def league(seed: int, n: int) -> Matrix:
    """A ladder with cycles."""
    r = rng_of(seed).normal(size=n)
    return np.asarray(r[:, None] - r + 0.5 * disc(seed, n) + 0.1 * dense(seed, n))


def copied(seed: int, n: int) -> Matrix:
    """Some agents are entered again."""
    who = rng_of(seed).integers(0, max(1, n // 2), size=n)
    return dense(seed, n)[np.ix_(who, who)]


def stretched(seed: int, n: int) -> Matrix:
    """Payoffs grow with every agent, so that the scale changes all the time."""
    size = 2.0 ** np.arange(n)
    return np.asarray(dense(seed, n) * size * size[:, None] / size.max())


FAMILIES = [dense, signs, disc, league, copied, low_rank, near_clones, stretched]


def require_same(grown: nb.NashAverage, fresh: nb.NashAverage) -> None:
    np.testing.assert_allclose(grown.weights, fresh.weights, atol=TIGHT)
    np.testing.assert_allclose(grown.averages, fresh.averages, atol=TIGHT * max(fresh.scale, 1.0))
    assert grown.support == fresh.support
    assert grown.clone_groups == fresh.clone_groups
    assert grown.unique == fresh.unique
    assert grown.residual <= TIGHT


@given(seed=seeds, n=st.integers(2, 18), family=st.sampled_from(FAMILIES))
@settings(max_examples=6, deadline=None)
def test_every_size_has_the_answer_of_a_new_solve(seed: int, n: int, family: Any) -> None:
    A = family(seed, n)
    game = nb.MetaGame()
    for k in range(len(A)):
        game.append(A[k, :k])
        require_same(game.nash, nb.nash_average(A[: k + 1, : k + 1]))
    assert game.size == len(game) == len(A)
    np.testing.assert_array_equal(game.payoffs.A, A)


@given(seed=seeds, family=st.sampled_from([disc, league, disjoint_cycles]))
@settings(max_examples=4, deadline=None)
def test_several_agents_may_join_before_the_next_question(seed: int, family: Any) -> None:
    A = family(seed, 12)
    start = int(rng_of(seed).integers(1, len(A) - 3))
    game = nb.MetaGame(A[:start, :start])
    assert len(game.nash.weights) == start
    for k in range(start, len(A)):
        game.append(A[k, :k])
    require_same(game.nash, nb.nash_average(A))


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count what a meta-game does."""
    done: Counter[str] = Counter()

    def counted(name: str) -> None:
        inner = getattr(meta_game, name)

        def call(*values: Any, **named: Any) -> Any:
            found = inner(*values, **named)
            done[name] += found is not None
            return found

        monkeypatch.setattr(meta_game, name, call)

    counted("grow_face")
    counted("find_equilibrium")
    return done


def test_agents_of_a_degenerate_game_join_without_a_new_solve(work: Counter[str]) -> None:
    A = disc(0, 120)
    game = nb.MetaGame()
    for k in range(120):
        game.append(A[k, :k])
        assert game.nash.exploitability <= 1e-12
    assert work["grow_face"] > 100
    assert work["find_equilibrium"] < 15
    require_same(game.nash, nb.nash_average(A))


def test_agents_that_lose_change_nothing_and_cost_no_solve(work: Counter[str]) -> None:
    A = dense(1, 40)
    game = nb.MetaGame(A)
    before = game.nash.weights
    for _ in range(20):
        game.append(np.full(game.size, -2.0))
    np.testing.assert_array_equal(game.nash.weights[:40], before)
    assert work["find_equilibrium"] == 1


@pytest.mark.parametrize("family", FAMILIES)
def test_growing_in_single_precision_has_the_answer_of_a_new_solve(family: Any) -> None:
    A = np.asarray(family(7, 14), dtype=np.float32)
    game = nb.MetaGame(A[:3, :3])
    for k in range(3, 14):
        game.append(A[k, :k])
        fresh = nb.nash_average(A[: k + 1, : k + 1])
        np.testing.assert_allclose(game.weights, fresh.weights, atol=1e-7)
        assert game.nash.tolerance == fresh.tolerance > 0
        assert game.nash.clone_groups == fresh.clone_groups


def test_single_precision_needs_no_proof_of_an_exact_equilibrium(monkeypatch: pytest.MonkeyPatch) -> None:
    A = dense(4, 40)
    single, double = nb.MetaGame(A.astype(np.float32)), nb.MetaGame(A)
    monkeypatch.setattr("nashboard.equilibrium.solver.find_side_face", lambda *ignored: None)
    np.testing.assert_allclose(single.weights, nb.nash_average(A.astype(np.float32)).weights, atol=1e-12)
    assert 0 < double.nash.tolerance < 3e-10 * double.nash.scale
    assert double.nash.condition == np.inf


def test_layers_peel_the_population() -> None:
    # three cycles of three, each beaten by all agents of the one before
    A = np.kron(np.array([[0, 1, 1], [-1, 0, 1], [-1, -1, 0]]), np.full((3, 3), 5.0))
    A += np.kron(np.eye(3), np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]]))
    game = nb.MetaGame(A, agents=[*"abcdefghi"])
    assert game.layers() == (tuple("abc"), tuple("def"), tuple("ghi"))
    assert game.layers(2) == (tuple("abc"), tuple("def"))


def test_relative_performance_is_the_value_between_two_groups() -> None:
    A = dense(3, 8)
    game = nb.MetaGame(A)
    names = game.agents
    value = game.relative_performance(names[:3], names[3:])
    assert value == pytest.approx(nb.nash_average_scores(A[:3, 3:]).value)
    assert game.relative_performance(names[3:], names[:3]) == pytest.approx(-value)
    assert game.relative_performance(names, names) == pytest.approx(0, abs=1e-9)


def test_effective_diversity_is_what_the_equilibrium_gains_from_itself() -> None:
    cycle = nb.MetaGame([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    assert cycle.effective_diversity == pytest.approx(1 / 3)
    assert nb.MetaGame([[0, 1], [-1, 0]]).effective_diversity == 0
    A = dense(5, 9)
    p = nb.nash_average(A).weights
    assert nb.MetaGame(A).effective_diversity == pytest.approx(p @ np.maximum(A, 0) @ p)


def test_names_and_units_are_kept() -> None:
    payoffs = nb.payoffs(nb.Matches.from_counts([[0, 3], [1, 0]], agents=["x", "y"]))
    game = nb.MetaGame(payoffs)
    game.append([0.1, 0.2], "z")
    assert game.agents == ("x", "y", "z")
    assert game.nash.unit == "logit"
    assert repr(game) == "MetaGame(3 agents)"


@pytest.mark.parametrize(
    ("row", "agent", "words"),
    [
        ([1.0], None, "has 1 payoffs: there are 2 agents"),
        ([1.0, np.nan], None, "must be finite"),
        ([1.0, 2.0], "x", "unique"),
        ([1j, 2.0], None, "complex"),
    ],
)
def test_wrong_rows_are_explained_and_leave_the_game_as_it_was(row: Any, agent: Any, words: str) -> None:
    game = nb.MetaGame([[0, 1], [-1, 0]], agents=["x", "y"])
    with pytest.raises(nb.InputError, match=words):
        game.append(row, agent)
    assert game.size == 2
    with pytest.raises(nb.InputError, match="empty"):
        assert nb.MetaGame().nash
