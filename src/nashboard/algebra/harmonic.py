"""Splitting what ratings leave over: local cycles round triangles, and a harmonic part round holes.

Symbols: ``y`` a flow without divergence on ``p`` pairs, ``w`` weights, ``C`` the curl (t, p) on the
triangles of the graph. In the inner product weighted by ``w``, ``y = local + harmonic``, where ``local = C'
phi / w`` for some ``phi`` on triangles, and the harmonic part has no curl: it is the flow without curl that
is nearest to ``y``.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from nashboard._types import Bools, Floats, Ints
from nashboard.algebra.flows import ObservedFlow
from nashboard.algebra.triangles import (
    Neighbours,
    SmallInts,
    Triangles,
    both_ways,
    closed_triangles,
    gathered,
    triangles_by_vertex,
    triangles_on,
)
from nashboard.errors import InputError

# Beyond this many triangles per pair a spanning subset of them is used instead.
TRIANGLES_PER_PAIR = 8
TRIANGLES_ALWAYS = 4_000_000


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
