"""The Hodge decomposition of complete data, and its strongest cycles."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nashboard as nb
from nashboard._types import Floats
from reference_algebra import antisymmetric, cycles_by_force


@given(antisymmetric())
def test_ratings_are_the_divergence_and_the_parts_add_up(A: Floats) -> None:
    h = nb.hodge(A)
    size = np.abs(A).max()
    assert (h.ratings == nb.div(A)).all()
    assert (h.transitive == nb.grad(h.ratings)).all()
    assert np.abs(h.transitive + h.cyclic - A).max() <= 1e-14 * size
    assert abs(h.ratings.sum()) <= 1e-13 * size
    explained = np.linalg.norm(h.transitive / max(size, 1e-300)) ** 2
    total = np.linalg.norm(A / max(size, 1e-300)) ** 2
    assert h.transitivity == pytest.approx(explained / total if size else 1.0, abs=1e-12)


@given(antisymmetric())
def test_per_pair_parts_are_the_matrices(A: Floats) -> None:
    h = nb.hodge(A)
    i, j = h.pairs.T
    assert (h.gradient == h.transitive[i, j]).all()
    assert (h.residual == h.cyclic[i, j]).all()


def test_complete_payoffs_have_no_harmonic_part_and_no_standard_errors() -> None:
    h = nb.hodge([[0, 1, -2], [-1, 0, 3], [2, -3, 0]])
    assert (h.harmonic == 0).all()
    assert (h.local == h.residual).all()
    assert h.local_share == pytest.approx(1 - h.transitivity)
    assert np.isnan(h.stderr).all()
    assert (h.flow.weights == 1).all()


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=8))
def test_proposition_3_win_rates_made_by_elo_ratings_give_the_ratings_back(r: list[float]) -> None:
    x = nb.grad(np.array(r) - np.mean(r))
    P = 1 / (1 + np.exp(-x))
    A = np.log(P) - np.log(P.T)
    h = nb.hodge(nb.Payoffs.from_array(A))
    np.testing.assert_allclose(h.ratings, np.array(r) - np.mean(r), atol=1e-10)


@given(antisymmetric(most=7))
def test_proposition_3_elo_is_exact_where_the_curl_vanishes_and_only_there(A: Floats) -> None:
    curl = np.abs(nb.curl(A)).max()
    assert nb.hodge(A).elo_is_exact == bool(curl <= 1e-12 * np.abs(A).max())


@given(antisymmetric(most=8), st.integers(0, 12), st.booleans())
def test_cycles_are_the_largest_of_all_triples(A: Floats, k: int, closed: bool) -> None:
    cycles = nb.hodge(A).cycles(k, closed=closed)
    expected = cycles_by_force(A, k, closed=closed)
    place = {f"agent {i + 1}": i for i in range(len(A))}
    assert [tuple(place[a] for a in cycle.agents) for cycle in cycles] == [triple for triple, _ in expected]
    np.testing.assert_allclose([cycle.curl for cycle in cycles], [curl for _, curl in expected], rtol=1e-12)
    assert all(cycle.closed for cycle in cycles) or not closed


@pytest.mark.parametrize("kind", ["noise", "signs", "ladder", "cyclic"])
def test_cycles_of_larger_games_are_exact_too(kind: str) -> None:
    rng = np.random.default_rng(3)
    n = 40
    G = np.triu(rng.normal(size=(n, n)), 1)
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    A = {
        "noise": G - G.T,
        "signs": np.sign(G) - np.sign(G).T,
        "ladder": nb.grad(5 * rng.normal(size=n)) + 0.5 * (G - G.T),
        "cyclic": np.sin(angle[None, :] - angle[:, None]),
    }[kind]
    A = (A - A.T) / 2
    for closed in (True, False):
        got = [cycle.curl for cycle in nb.hodge(A).cycles(20, closed=closed)]
        np.testing.assert_allclose(got, [curl for _, curl in cycles_by_force(A, 20, closed=closed)], rtol=1e-12)


def test_a_cycle_says_who_beats_whom() -> None:
    A = nb.Payoffs.from_array([[0, 1, -2], [-1, 0, 3], [2, -3, 0]], agents=["rock", "scissors", "paper"])
    (cycle,) = nb.hodge(A).cycles()
    assert str(cycle) == "rock > scissors > paper > rock (curl 6 = 1 + 3 + 2)"
    assert cycle.to_dict()["closed"] is True


def test_an_open_triple_is_not_called_a_cycle() -> None:
    A = nb.Payoffs.from_array([[0, 3, 1], [-3, 0, 1], [-1, -1, 0]], agents=["a", "b", "c"])
    assert nb.hodge(A).cycles() == ()
    (triple,) = nb.hodge(A).cycles(closed=False)
    assert str(triple) == "a > b > c < a (curl 3 = 3 + 1 - 1)"


def test_a_ladder_is_transitive_and_rock_paper_scissors_is_not() -> None:
    assert nb.hodge(nb.grad([3, 1, 0, -4])).transitivity == 1.0
    assert nb.hodge([[0, 1, -1], [-1, 0, 1], [1, -1, 0]]).transitivity == 0.0
    assert nb.hodge(np.zeros((4, 4))).transitivity == 1.0
    assert nb.hodge([[0]]).transitivity == 1.0
    assert nb.hodge([[0, 5], [-5, 0]]).elo_is_exact


@given(antisymmetric(most=8), st.integers(0, 1000))
def test_relabelling_agents_permutes_the_ratings(A: Floats, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(A))
    h, p = nb.hodge(A), nb.hodge(A[np.ix_(order, order)])
    np.testing.assert_allclose(p.ratings, h.ratings[order], atol=1e-14 * np.abs(A).max())
    assert p.transitivity == pytest.approx(h.transitivity, abs=1e-12)


@pytest.mark.parametrize("exponent", [-300, -150, 150, 300])
def test_extreme_payoffs_neither_overflow_nor_vanish(exponent: int) -> None:
    G = np.random.default_rng(0).normal(size=(6, 6))
    A = G - G.T
    assert nb.hodge(A * 10.0**exponent).transitivity == pytest.approx(nb.hodge(A).transitivity, rel=1e-12)


@pytest.mark.parametrize("k", [-1, 1.5, True])
def test_a_wrong_number_of_cycles_is_refused(k: Any) -> None:
    with pytest.raises(nb.InputError, match="number of cycles"):
        nb.hodge(np.zeros((3, 3))).cycles(k)


def test_later_changes_to_the_input_do_not_reach_the_result() -> None:
    A = np.array([[0, 1.0], [-1, 0]])
    h = nb.hodge(A)
    A *= 5
    assert h.cyclic.tolist() == [[0, 0], [0, 0]]
    with pytest.raises(ValueError, match="read-only"):
        h.ratings[0] = 1.0


def test_results_show_themselves() -> None:
    bots = nb.load_dataset("roshambo")
    assert isinstance(bots, nb.Payoffs)
    h = nb.hodge(bots)
    assert repr(h).startswith("Hodge(43 agents, ")
    assert str(h).splitlines()[1].split() == ["rank", "agent", "rating"]
    assert "<table>" in h._repr_html_()


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_ranks_do_not_depend_on_the_unit(unit: float) -> None:
    r = np.array([3.0, 1.0, 1.0 + 1e-15, 2.0, -7.0])
    assert nb.hodge(unit * (r[:, None] - r)).ranks.tolist() == [1, 3, 3, 2, 5]
    assert [row[0] for row in nb.hodge(unit * (r[:, None] - r)).table().rows] == [1, 2, 3, 3, 5]
    cycle = unit * np.array([[0, 0.1, -0.1], [-0.1, 0, 0.1], [0.1, -0.1, 0]])
    assert nb.hodge(cycle + unit * 1e-17).ranks.tolist() == [1, 1, 1]
