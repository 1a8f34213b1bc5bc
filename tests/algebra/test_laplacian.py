"""Hodge on matches: incomplete and uneven data against dense least squares."""

import numpy as np
import pytest
from hypothesis import given

import nashboard as nb
from nashboard._types import Floats
from nashboard.algebra import laplacian
from nashboard.algebra.cycles import strongest_on_graph
from nashboard.algebra.flows import ObservedFlow
from reference_algebra import connected_matches, cycles_by_force, hodge_by_lstsq, stderr_by_pinv


@given(connected_matches())
def test_all_parts_agree_with_dense_least_squares(matches: nb.Matches) -> None:
    h = nb.hodge(matches)
    n, y, w = len(matches.agents), h.flow.values, h.flow.weights
    r, gradient, local, harmonic = hodge_by_lstsq(n, matches.pairs, y, w)
    np.testing.assert_allclose(h.ratings, r, atol=1e-9)
    np.testing.assert_allclose(h.gradient, gradient, atol=1e-9)
    np.testing.assert_allclose(h.local, local, atol=1e-7)
    np.testing.assert_allclose(h.harmonic, harmonic, atol=1e-7)


@given(connected_matches())
def test_the_three_parts_are_orthogonal_and_their_shares_add_up(matches: nb.Matches) -> None:
    h = nb.hodge(matches)
    w = h.flow.weights
    size = float(w @ h.flow.values**2)
    for a, b in ((h.gradient, h.local), (h.gradient, h.harmonic), (h.local, h.harmonic)):
        assert abs(float(w @ (a * b))) <= 1e-8 * max(size, 1e-300)
    assert h.transitivity + h.local_share + h.harmonic_share == pytest.approx(1)
    np.testing.assert_allclose(h.gradient + h.local + h.harmonic, h.flow.values, atol=1e-12)
    assert abs(h.ratings.sum()) < 1e-9


@given(connected_matches())
def test_standard_errors_are_those_of_the_whole_covariance(matches: nb.Matches) -> None:
    h = nb.hodge(matches)
    flow = h.flow
    assert isinstance(flow, ObservedFlow)
    slow = stderr_by_pinv(flow.size, flow.pairs, flow.weights, flow.variances)
    np.testing.assert_allclose(h.stderr, slow, rtol=1e-6)
    assert h.stderr_error == 0.0


@pytest.mark.parametrize("n", [2, 3, 7, 20])
def test_complete_evenly_weighted_matches_give_the_closed_form(n: int) -> None:
    rng = np.random.default_rng(n)
    W = np.triu(rng.integers(0, 11, size=(n, n)), 1)
    W = W + np.tril(10 - W.T, -1)
    matches = nb.Matches.from_counts(W)
    closed = nb.hodge(nb.payoffs(matches))
    h = nb.hodge(matches)
    np.testing.assert_allclose(h.ratings, closed.ratings, atol=1e-12)
    np.testing.assert_allclose(h.transitive, closed.transitive, atol=1e-12)
    np.testing.assert_allclose(h.cyclic, closed.cyclic, atol=1e-12)
    assert h.transitivity == pytest.approx(closed.transitivity)
    assert h.elo_is_exact == closed.elo_is_exact
    assert (h.harmonic == 0).all()
    assert h.unit == closed.unit == "logit"
    assert [c.agents for c in h.cycles()] == [c.agents for c in closed.cycles()]


@given(connected_matches())
def test_cycles_are_sought_only_where_agents_met(matches: nb.Matches) -> None:
    h = nb.hodge(matches)
    assert isinstance(h.flow, ObservedFlow)
    A = h.flow.matrix()
    for closed in (True, False):
        expected = cycles_by_force(A, 6, closed=closed)
        place = {name: k for k, name in enumerate(matches.agents)}
        dense = [tuple(place[a] for a in cycle.agents) for cycle in h.cycles(6, closed=closed)]
        triples, payoffs = strongest_on_graph(h.flow, 6, closed=closed)
        assert dense == [triple for triple, _ in expected]
        assert [tuple(map(int, triple)) for triple in triples] == dense
        np.testing.assert_allclose(payoffs.sum(axis=1), [curl for _, curl in expected], rtol=1e-12)


def test_a_ring_is_harmonic_and_a_triangle_is_local() -> None:
    W = np.zeros((4, 4))
    for a, b in ((0, 1), (1, 2), (2, 3), (3, 0)):
        W[a, b], W[b, a] = 9, 1
    h = nb.hodge(nb.Matches.from_counts(W))
    assert h.transitivity == pytest.approx(0, abs=1e-12)
    assert h.harmonic_share == pytest.approx(1)
    assert h.local_share == 0
    assert h.cycles() == ()
    triangle = nb.hodge(nb.Matches.from_counts(W[:3, :3] + [[0, 0, 1], [0, 0, 0], [9, 0, 0]]))
    assert triangle.local_share == pytest.approx(1)
    assert triangle.harmonic_share == 0


def test_unmet_pairs_have_a_prediction_but_no_residual() -> None:
    h = nb.hodge(nb.Matches.from_counts([[0, 3, 0], [1, 0, 3], [0, 1, 0]]))
    assert np.isnan(h.cyclic[0, 2])
    assert h.transitive[0, 2] == pytest.approx(2 * np.log(3.5 / 1.5))
    assert h.elo_is_exact


def test_groups_that_never_met_are_named() -> None:
    W = np.zeros((4, 4))
    W[0, 1] = W[2, 3] = 1
    matches = nb.Matches.from_counts(W, agents=["a", "b", "c", "d"])
    with pytest.raises(nb.InputError, match=r"2 groups that never met: 'a' and 'b' .*'c' and 'd'"):
        nb.hodge(matches)


def test_more_games_count_more() -> None:
    # a beats b and b beats c clearly over many games; a loses one game to c
    W = np.array([[0, 900, 0], [100, 0, 900], [1, 100, 0.0]])
    h = nb.hodge(nb.Matches.from_counts(W, agents=["a", "b", "c"]))
    step = np.log(900.5 / 100.5)
    np.testing.assert_allclose(h.ratings, [step, 0, -step], rtol=4e-3, atol=1e-12)


def test_the_prior_is_the_one_of_payoffs_and_only_for_matches() -> None:
    matches = nb.Matches.from_counts([[0, 3, 2], [1, 0, 2], [2, 2, 0]])
    h, p = nb.hodge(matches, prior=4), nb.hodge(nb.payoffs(matches, prior=4))
    np.testing.assert_allclose(h.ratings, p.ratings, atol=1e-14)
    with pytest.raises(nb.InputError, match="prior= is for matches"):
        nb.hodge(np.zeros((2, 2)), prior=1)
    with pytest.raises(nb.InputError, match="entirely one-sided"):
        nb.hodge(nb.Matches.from_counts([[0, 1], [0, 0]]), prior=0)
    with pytest.raises(nb.InputError, match="must be finite and not negative"):
        nb.hodge(matches, prior=-1)


def test_results_show_themselves_and_turn_into_plain_values() -> None:
    go = nb.load_dataset("alphago")
    assert isinstance(go, nb.Matches)
    h = nb.hodge(go)
    assert str(h).splitlines()[1].split() == ["rank", "agent", "rating", "stderr", "Elo", "points"]
    plain = h.to_dict()
    assert plain["ratings"] == h.ratings.tolist()
    assert plain["transitivity"] + plain["local_share"] + plain["harmonic_share"] == pytest.approx(1)
    # Section 3.2: these three interact non-transitively (Tuyls et al. 2018).
    assert any(set(cycle.agents) == {"alpha_v", "alpha_p", "Zen"} for cycle in h.cycles())


def sparse_matches(n: int, p: int, seed: int, reach: int | None = None) -> nb.Matches:
    """Return matches on about p random pairs, or among neighbours of a long chain, plus a path."""
    rng = np.random.default_rng(seed)
    i = rng.integers(0, n, size=p)
    j = rng.integers(0, n, size=p) if reach is None else i + rng.integers(1, reach + 1, size=p)
    i, j = np.append(np.minimum(i, j), np.arange(n - 1)), np.append(np.maximum(i, j), np.arange(1, n))
    code = np.unique((i * n + j)[(i < j) & (j < n)])
    games = rng.integers(1, 10, size=code.size)
    wins = rng.binomial(games, rng.random(code.size))
    return nb.Matches(
        agents=tuple(map(str, range(n))),
        pairs=np.stack(np.divmod(code, n), axis=1),
        wins=wins.astype(float),
        draws=np.zeros(code.size),
        losses=(games - wins).astype(float),
    )


@pytest.mark.parametrize("reach", [None, 3])
def test_many_agents_agree_with_the_dense_factorisation(reach: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Conjugate gradients on a random graph, a sparse factorisation on a chain; both against Cholesky."""
    matches = sparse_matches(600, 6000, seed=4, reach=reach)
    monkeypatch.setattr(laplacian, "FEW", 1000)
    dense = nb.hodge(matches)
    exact = dense.stderr
    for limit in ("FEW", "DENSE"):
        monkeypatch.setattr(laplacian, limit, 10)
    many = nb.hodge(matches)
    np.testing.assert_allclose(many.ratings, dense.ratings, atol=1e-9)
    assert 0 < many.stderr_error < 0.1
    assert np.median(np.abs(many.stderr / exact - 1)) < 2.5 * many.stderr_error
    np.testing.assert_array_equal(nb.hodge(matches).stderr, many.stderr)


def test_ratings_that_miss_their_equations_are_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplacian, "solver", lambda L, dense: lambda B, rtol: np.zeros_like(B))
    with pytest.raises(nb.ConvergenceError, match="the ratings could not be solved: the relative residual is 1"):
        nb.hodge(nb.Matches.from_counts([[0, 3], [1, 0]]))


def test_dense_parts_of_many_agents_are_refused_with_their_size() -> None:
    n = 30_000
    pairs = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    ones = np.ones(n - 1)
    matches = nb.Matches(agents=tuple(map(str, range(n))), pairs=pairs, wins=2 * ones, draws=ones, losses=ones)
    h = nb.hodge(matches)
    for part in ("transitive", "cyclic"):
        with pytest.raises(nb.InputError, match="30,000 x 30,000"):
            getattr(h, part)
    assert h.elo_is_exact
    assert h.transitivity == pytest.approx(1)
    assert h.cycles() == ()
    assert (h.harmonic == h.residual).all()


def test_extreme_weights_are_fitted() -> None:
    games: Floats = np.array([[0, 1e-6, 1e6], [1e-6, 0, 1], [1e6, 1, 0]])
    P = np.array([[0.5, 0.9, 0.3], [0.1, 0.5, 0.6], [0.7, 0.4, 0.5]])
    h = nb.hodge(nb.Matches.from_win_rates(P, games=games), prior=0)
    r = hodge_by_lstsq(3, h.pairs, h.flow.values, h.flow.weights)[0]
    np.testing.assert_allclose(h.ratings, r, rtol=1e-6)


def test_steps_that_lose_track_of_what_is_left_do_not_end_the_search() -> None:
    weights = np.geomspace(1e-20, 1e20, 49)  # a chain: the recursion says that it is solved where 0.4 is left
    H = np.diag(np.append(weights, 0) + np.append(0, weights) + 1e-30) - np.diag(weights, 1) - np.diag(weights, -1)
    B = np.sin(np.arange(50.0))[:, None]
    for steps in (500, 5000):
        found = laplacian.conjugate_gradients(H, B, steps, 1e-8)
        assert found is None or np.linalg.norm(H @ found - B) <= 1e-6 * np.linalg.norm(B)
