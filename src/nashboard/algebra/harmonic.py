"""Splitting what ratings leave over: local cycles round triangles, and a harmonic part round holes.

Symbols: ``y`` a flow without divergence on ``p`` pairs, ``w`` weights, ``C`` the curl (t, p) on the
triangles of the graph. In the inner product weighted by ``w``, ``y = local + harmonic``, where ``local = C'
phi / w`` for some ``phi`` on triangles, and the harmonic part has no curl: it is the flow without curl that
is nearest to ``y``.

A triangle is three pairs (``edges``, rows of the list of pairs) and three ``signs``: going round it, pair ``(i, j)``
with ``i < j`` counts ``+1`` from i to j and ``-1`` from j to i, so that the curl of a flow ``y`` is
``(signs * y[edges]).sum(axis=1)``. Triangles are listed vertex by vertex in memory linear in the pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from nashboard._types import Bools, Floats, Ints
from nashboard.algebra.flows import ObservedFlow
from nashboard.errors import InputError

SmallInts = NDArray[np.int32] | Ints


# Beyond this many triangles per pair a spanning subset of them is used instead.
TRIANGLES_PER_PAIR = 8
TRIANGLES_ALWAYS = 4_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Triangles:
    """Triangles: their corners, pairs and signs, each ``(t, 3)``; pair 0 leads from corner 0 to 1."""

    corners: SmallInts
    edges: SmallInts
    signs: SmallInts

    def __len__(self) -> int:
        return len(self.edges)


@dataclass(frozen=True, kw_only=True, eq=False)
class Neighbours:
    """For each vertex, whom it is paired with and in which pair: compressed rows."""

    start: Ints
    vertex: Ints
    edge: Ints

    def of(self, v: int) -> tuple[Ints, Ints]:
        """Return the neighbours of ``v`` and the pairs that lead to them."""
        row = slice(self.start[v], self.start[v + 1])
        return self.vertex[row], self.edge[row]


def neighbours(n: int, tails: Ints, heads: Ints, edges: Ints) -> Neighbours:
    """Return the rows of a graph with an arrow from each tail to its head."""
    order = np.lexsort([heads, tails])
    start = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=n))])
    return Neighbours(start=start, vertex=heads[order], edge=edges[order])


def both_ways(n: int, pairs: Ints) -> Neighbours:
    """Return the neighbours of every vertex."""
    i, j = pairs.T
    edges = np.arange(len(pairs))
    return neighbours(n, np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([edges, edges]))


def triangles_by_vertex(n: int, pairs: Ints) -> Iterator[Triangles]:
    """Yield every triangle of the graph once, in parts; O(p^1.5) time at worst.

    Pairs become arrows towards the vertex with more pairs, so that no vertex has many arrows out.
    """
    i, j = pairs.T
    degree = np.bincount(pairs.ravel(), minlength=n)
    rank = np.empty(n, dtype=np.intp)
    rank[np.lexsort([np.arange(n), degree])] = np.arange(n)
    up = rank[i] < rank[j]
    tails, heads = np.where(up, i, j), np.where(up, j, i)
    out = neighbours(n, tails, heads, np.arange(len(pairs)))
    place = np.full(n, -1)
    for v in np.flatnonzero(np.diff(out.start) > 1):
        first, edges = out.of(int(v))
        place[first] = edges
        begin = out.start[first]
        many = out.start[first + 1] - begin
        which = np.repeat(np.arange(first.size), many)
        at = np.arange(which.size) + np.repeat(begin - (np.cumsum(many) - many), many)
        last = out.vertex[at]
        hit = np.flatnonzero(place[last] >= 0)
        if hit.size:
            second, third = first[which[hit]], last[hit]
            yield closed_triangles(
                np.full(hit.size, v), second, third, edges[which[hit]], out.edge[at[hit]], place[third]
            )
        place[first] = -1


def triangles_on(n: int, pairs: Ints, chosen: Ints, around: Neighbours) -> Iterator[Triangles]:
    """Yield every triangle that has one of the chosen pairs among its three, once, in parts."""
    turn = np.full(len(pairs), len(pairs))
    turn[chosen] = np.arange(chosen.size)  # a triangle is listed by its earliest chosen pair
    place = np.full(n, -1)
    order = np.argsort(pairs[chosen, 0], kind="stable")
    at = -1
    for e in chosen[order]:
        i, j = pairs[e]
        if i != at:
            if at >= 0:
                place[around.of(at)[0]] = -1
            at = int(i)
            place[around.of(at)[0]] = around.of(at)[1]
        third, edges = around.of(int(j))
        back = place[third]
        hit = (back >= 0) & (turn[edges] > turn[e])
        hit[hit] = turn[back[hit]] > turn[e]
        if hit.any():
            size = int(hit.sum())
            yield closed_triangles(
                np.full(size, i), np.full(size, j), third[hit], np.full(size, e), edges[hit], back[hit]
            )


def closed_triangles(a: Ints, b: Ints, c: Ints, ab: Ints, bc: Ints, ca: Ints) -> Triangles:
    """Return triangles with corners a, b, c and the pairs between them."""
    signs = np.stack([np.where(a < b, 1, -1), np.where(b < c, 1, -1), np.where(c < a, 1, -1)], axis=1)
    return Triangles(corners=np.stack([a, b, c], axis=1), edges=np.stack([ab, bc, ca], axis=1), signs=signs)


def gathered(parts: Iterator[Triangles], most: int) -> Triangles | None:
    """Return all triangles at once, or nothing if there are more than ``most``."""
    kept: list[Triangles] = []
    size = 0
    for part in parts:
        size += len(part)
        if size > most:
            return None
        small = (array.astype(np.int32) for array in (part.corners, part.edges, part.signs))
        kept.append(Triangles(**dict(zip(("corners", "edges", "signs"), small, strict=True))))
    none = np.empty((0, 3), dtype=np.int32)
    return Triangles(
        corners=np.concatenate([none, *(part.corners for part in kept)]),
        edges=np.concatenate([none, *(part.edges for part in kept)]),
        signs=np.concatenate([none, *(part.signs for part in kept)]),
    )


def harmonic_part(flow: ObservedFlow, y: Floats, *, most_triangles: int | None = None) -> Floats:
    """Return the harmonic part of a flow ``y`` that has no divergence, ``(p,)``; the rest is local.

    Exactly zero where every pair can be reached from a spanning tree through triangles (as in complete and in
    most dense graphs: shown by propagation, without iterating), exactly ``y`` where there are no triangles.
    Memory is linear in the pairs: when there are many more triangles than pairs, a subset that spans the same
    space is used.

    Raises
    ------
    ConvergenceError
        The least squares problem on triangles misses its tolerance.
    """
    n, p = flow.size, len(flow.pairs)
    if p == n * (n - 1) // 2 or p == 0:
        return np.zeros(p)
    around = both_ways(n, flow.pairs)
    most = TRIANGLES_PER_PAIR * p + TRIANGLES_ALWAYS if most_triangles is None else most_triangles
    triangles = gathered(triangles_by_vertex(n, flow.pairs), most)
    if triangles is not None:
        if not len(triangles):
            return y.copy()
        filled = bool(fill_from(spanning_tree(flow, around), triangles.edges).all())
    else:
        triangles, open_pairs = spanning_triangles(flow, around, most)
        filled = not open_pairs.size
    if filled:
        return np.zeros(p)
    # Only here, because the compiler takes longer to load than most graphs take to solve.
    from nashboard.algebra.projection import projected

    return projected(triangles, y, flow.weights)


def spanning_tree(flow: ObservedFlow, around: Neighbours) -> Bools:
    """Return which pairs form a tree of shortest paths from the vertex with most pairs."""
    n = flow.size
    graph: Any = csr_array((np.ones(around.vertex.size), around.vertex, around.start), shape=(n, n))
    hub = int(np.argmax(np.diff(around.start)))
    parent = breadth_first_order(graph, hub)[1]
    i, j = flow.pairs.T
    return np.asarray((parent[i] == j) | (parent[j] == i))


def fill_from(known: Bools, edges: SmallInts) -> Bools:
    """Return the pairs on which a curl-free flow that vanishes on the known pairs must vanish too.

    A triangle with two such pairs makes a third, round after round; each round looks only at the
    triangles of the pairs that the last one added.
    """
    known = known.copy()
    order = np.argsort(edges.ravel(), kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(edges.ravel(), minlength=known.size))])
    touching = order // 3  # the triangles of pair e are touching[start[e] : start[e + 1]]
    count = np.zeros(len(edges), dtype=np.int8)
    fresh = np.flatnonzero(known)
    while fresh.size:
        many = start[fresh + 1] - start[fresh]
        at = np.arange(many.sum()) + np.repeat(start[fresh] - (np.cumsum(many) - many), many)
        met, times = np.unique(touching[at], return_counts=True)
        count[met] += times.astype(np.int8)
        third = np.unique(edges[met[count[met] == 2]])
        fresh = third[~known[third]]
        known[fresh] = True
    return known


def spanning_triangles(flow: ObservedFlow, around: Neighbours, most: int) -> tuple[Triangles, Ints]:
    """Return triangles that span all others, and the pairs that propagation leaves open.

    Starting from a tree, a pair is closed by a triangle whose other two pairs are closed: these triangles,
    one per closed pair, and those with an open pair imply all the rest. Vertices are tried as the third
    corner, those with most branches of the tree first, as long as that closes pairs.
    """
    n, pairs = flow.size, flow.pairs
    closed = spanning_tree(flow, around)
    branches = np.bincount(pairs[closed].ravel(), minlength=n)
    corners = np.lexsort([-np.diff(around.start), -branches])
    open_pairs = np.flatnonzero(~closed)
    parts: list[Triangles] = []
    place = np.full(n, -1)
    progress = True
    while progress and open_pairs.size:
        progress = False
        for c in corners:
            vertex, edge = around.of(int(c))
            vertex, edge = vertex[closed[edge]], edge[closed[edge]]
            place[vertex] = edge
            i, j = pairs[open_pairs].T
            hit = (place[i] >= 0) & (place[j] >= 0)
            if hit.any():
                i, j, e = i[hit], j[hit], open_pairs[hit]
                parts.append(closed_triangles(np.full(i.size, c), i, j, place[i], e, place[j]))
                closed[e] = True
                open_pairs = open_pairs[~hit]
                progress = True
            place[vertex] = -1
            if not open_pairs.size:
                break
    touching = gathered(triangles_on(n, pairs, open_pairs, around), most)
    if touching is None:
        raise InputError(
            "the split into local cycles and harmonic part would not fit: "
            f"more than {most:,} triangles touch the {open_pairs.size:,} pairs that no chain of triangles "
            f"ties to a spanning tree; ratings and transitivity do not need it"
        )
    every = gathered(iter([*parts, touching]), len(pairs) + most)
    assert every is not None  # one triangle per closed pair, and at most `most` more
    return every, open_pairs
