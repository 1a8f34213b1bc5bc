"""Local cycles and the harmonic part: with all triangles, with a spanning subset, and by propagation."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import nashboard as nb
from nashboard._types import Ints
from nashboard.algebra import projection
from nashboard.algebra.flows import ObservedFlow
from nashboard.algebra.harmonic import (
    both_ways,
    gathered,
    harmonic_part,
    spanning_triangles,
    triangles_by_vertex,
    triangles_on,
)
from nashboard.algebra.projection import projected
from reference_algebra import connected_matches, hodge_by_lstsq


def triangles_by_force(n: int, pairs: Ints) -> set[tuple[int, ...]]:
    met = {tuple(map(int, pair)) for pair in pairs}
    return {(i, j, k) for i, j, k in itertools.combinations(range(n), 3) if {(i, j), (j, k), (i, k)} <= met}


@given(connected_matches())
def test_triangles_are_listed_once_with_their_pairs_and_signs(matches: nb.Matches) -> None:
    n, pairs = len(matches.agents), matches.pairs
    found = gathered(triangles_by_vertex(n, pairs), 10**6)
    assert found is not None
    listed = [tuple(sorted(map(int, corners))) for corners in found.corners]
    assert len(listed) == len(set(listed))
    assert set(listed) == triangles_by_force(n, pairs)
    r = np.random.default_rng(0).normal(size=n)
    y = r[pairs[:, 0]] - r[pairs[:, 1]]  # a gradient has no curl
    assert np.abs((found.signs * y[found.edges]).sum(axis=1)).max(initial=0.0) < 1e-14
    for corners, edges, signs in zip(found.corners, found.edges, found.signs, strict=True):
        for t in range(3):
            a, b = corners[t], corners[(t + 1) % 3]
            assert tuple(pairs[edges[t]]) == (min(a, b), max(a, b))
            assert signs[t] == (1 if a < b else -1)


@given(connected_matches())
def test_triangles_on_chosen_pairs_are_those_that_hold_one(matches: nb.Matches) -> None:
    n, pairs = len(matches.agents), matches.pairs
    chosen = np.arange(0, len(pairs), 3)[::-1].copy()
    found = gathered(triangles_on(n, pairs, chosen, both_ways(n, pairs)), 10**6)
    assert found is not None
    names = {tuple(map(int, pairs[e])) for e in chosen}
    expected = {t for t in triangles_by_force(n, pairs) if names & set(itertools.combinations(t, 2))}
    listed = [tuple(sorted(map(int, corners))) for corners in found.corners]
    assert len(listed) == len(set(listed))
    assert set(listed) == expected


@given(connected_matches(most=14))
def test_a_spanning_subset_of_the_triangles_gives_the_same_split(matches: nb.Matches) -> None:
    h = nb.hodge(matches)
    flow = h.flow
    assert isinstance(flow, ObservedFlow)
    triangles, open_pairs = spanning_triangles(flow, both_ways(flow.size, flow.pairs), 10**6)
    expected = hodge_by_lstsq(flow.size, flow.pairs, flow.values, flow.weights)[3]
    if open_pairs.size == 0:
        np.testing.assert_allclose(expected, 0, atol=1e-8)
    elif len(triangles):
        np.testing.assert_allclose(projected(triangles, h.residual, flow.weights), expected, atol=1e-7)


def grid_with_holes() -> nb.Matches:
    """Return matches on a triangulated strip that closes to a band, and a clique hung on it."""
    n, width = 60, 20
    met = {(k, (k + s) % width) for k in range(width) for s in (1, 2)}
    met |= {(a, b) for a in range(width, n) for b in range(a + 1, n)} | {(0, width)}
    pairs = np.array(sorted({(min(a, b), max(a, b)) for a, b in met}))
    rng = np.random.default_rng(5)
    wins = rng.integers(0, 10, size=len(pairs)).astype(float)
    around = (pairs < width).all(axis=1)
    wins[around] = np.where(pairs[around, 1] - pairs[around, 0] < 3, 8, 1)  # each beats the next
    return nb.Matches(
        agents=tuple(map(str, range(n))), pairs=pairs, wins=wins, draws=np.zeros(len(pairs)), losses=9 - wins
    )


def test_a_hole_among_many_triangles_is_found_with_few_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    matches = grid_with_holes()
    h = nb.hodge(matches)
    flow = h.flow
    assert isinstance(flow, ObservedFlow)
    assert h.harmonic_share > 1e-4
    few = harmonic_part(flow, h.residual, most_triangles=2 * len(flow.pairs))
    np.testing.assert_allclose(few, h.harmonic, atol=1e-8)
    with pytest.raises(nb.InputError, match="would not fit: more than 1 triangles"):
        harmonic_part(flow, h.residual, most_triangles=1)
    monkeypatch.setattr(projection, "MOST_STEPS", 1)
    with pytest.raises(nb.ConvergenceError, match="after 1 iterations"):
        harmonic_part(flow, h.residual)


def test_a_search_whose_curvature_vanishes_too_early_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    h = nb.hodge(grid_with_holes())
    flow, calls = h.flow, [0]
    assert isinstance(flow, ObservedFlow)
    inner = projection.curl_of_curl

    def flat_at_third(*arrays: Any) -> float:
        calls[0] += 1
        energy = inner(*arrays)
        return 0.0 if calls[0] == 3 else energy  # the first call is the start, the second the first step

    monkeypatch.setattr(projection, "curl_of_curl", flat_at_third)
    with pytest.raises(nb.ConvergenceError, match="of the flow left after 2 iterations"):
        harmonic_part(flow, h.residual)


def test_a_dense_graph_without_holes_has_no_harmonic_part_at_all() -> None:
    rng = np.random.default_rng(2)
    i, j = np.nonzero(np.triu(rng.random((80, 80)) < 0.6, k=1))
    wins = rng.integers(0, 10, size=i.size).astype(float)
    matches = nb.Matches(
        agents=tuple(map(str, range(80))),
        pairs=np.stack([i, j], axis=1),
        wins=wins,
        draws=np.zeros(i.size),
        losses=9 - wins,
    )
    h = nb.hodge(matches)
    assert isinstance(h.flow, ObservedFlow)
    assert (h.harmonic == 0).all()
    assert (harmonic_part(h.flow, h.residual, most_triangles=100) == 0).all()


def random_flow(n: int, share: float, seed: int, *, spread: float) -> ObservedFlow:
    """Return a connected random graph with weights that differ by up to ``10**spread``."""
    rng = np.random.default_rng(seed)
    met = np.triu(rng.random((n, n)) < share, k=1)
    met[np.arange(n - 1), np.arange(1, n)] = True
    pairs = np.argwhere(met)
    weights = 10 ** rng.uniform(0, spread, size=len(pairs))
    return ObservedFlow(
        size=n, pairs=pairs, values=rng.normal(size=len(pairs)), weights=weights, variances=np.ones(len(pairs))
    )


@pytest.mark.parametrize("spread", [0.0, 2.0, 4.0])
@pytest.mark.parametrize("share", [0.08, 0.15, 0.25])
def test_the_split_of_random_graphs_with_uneven_weights_is_that_of_dense_least_squares(
    share: float, spread: float
) -> None:
    flow = random_flow(60, share, 3, spread=spread)
    _, gradient, _, expected = hodge_by_lstsq(flow.size, flow.pairs, flow.values, flow.weights)
    found = harmonic_part(flow, flow.values - gradient)
    assert np.abs(expected).max() > 0.01  # there are holes, or pairs in no triangle
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_a_pair_in_no_triangle_keeps_its_flow_if_nothing_else_leads_round() -> None:
    pairs = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
    y = np.array([1.0, -1.0, 1.0, 0.0])
    flow = ObservedFlow(size=4, pairs=pairs, values=y, weights=np.ones(4), variances=np.ones(4))
    np.testing.assert_allclose(harmonic_part(flow, y), 0, atol=1e-12)
