"""Triangles of a graph of pairs, listed vertex by vertex in memory linear in the pairs.

A triangle is three pairs (``edges``, rows of the list of pairs) and three ``signs``: going round it, pair
``(i, j)`` with ``i < j`` counts ``+1`` from i to j and ``-1`` from j to i, so that the curl of a flow ``y``
is ``(signs * y[edges]).sum(axis=1)``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashboard._types import Ints

SmallInts = NDArray[np.int32] | Ints


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
