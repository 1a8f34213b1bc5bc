"""The strongest cycles: triples ``a > b > c > a`` with the largest curl, found without the three-tensor.

Symbols: ``A`` flow (n, n), NaN where a pair never met; ``r`` ratings, ``R = A - grad(r)``; the curl of a
triple is ``A[a, b] + A[b, c] + A[c, a]``, and ratings cancel in it, so ``R`` has the same curl and gives
tighter bounds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nashboard._tables import Record
from nashboard._types import Bools, Floats, Ints
from nashboard.algebra.flows import BLOCK, ObservedFlow, blocks
from nashboard.algebra.harmonic import triangles_by_vertex
from nashboard.algebra.precision import TRIANGLE_ROUNDING

NOTHING = -np.inf


@dataclass(frozen=True, kw_only=True)
class Cycle(Record):
    """Three agents, each gaining from the next: ``a > b > c > a``.

    Parameters
    ----------
    agents
        The three names in the order of play.
    payoffs
        What the first gains from the second, the second from the third, the third from the first.
    curl
        The sum of the three: zero if ratings explain them.
    """

    agents: tuple[str, str, str]
    payoffs: tuple[float, float, float]
    curl: float

    computed = ("closed",)

    @property
    def closed(self) -> bool:
        """Whether each of the three really beats the next."""
        return min(self.payoffs) > 0

    def __str__(self) -> str:
        a, b, c = self.agents
        signs = [">" if payoff > 0 else "<" if payoff < 0 else "=" for payoff in self.payoffs]
        gains = " + ".join(f"{payoff:.4g}" for payoff in self.payoffs).replace("+ -", "- ")
        return f"{a} {signs[0]} {b} {signs[1]} {c} {signs[2]} {a} (curl {self.curl:.4g} = {gains})"


class Bounds(NamedTuple):
    """The largest usable entry of each row and column of ``A`` and of ``R``, ``(n,)``, and of rounding."""

    out: Floats
    out_left: Floats
    into: Floats
    into_left: Floats
    slack: float


class Best:
    """The best ``k`` triples so far, ties in favour of the earlier one; in-place."""

    def __init__(self, k: int, floor: float = NOTHING) -> None:
        self.k, self.floor = k, floor
        self.triples = np.empty((0, 3), dtype=np.intp)
        self.curls = np.empty(0)

    def admits(self, curls: Floats) -> Bools:
        """Say which curls can still enter: those that beat the worst held, or reach the floor."""
        return curls > self.curls[-1] if len(self.curls) == self.k else curls >= self.floor

    def least(self) -> float:
        """Return what a triple has to reach."""
        return float(self.curls[-1]) if len(self.curls) == self.k else self.floor

    def add(self, triples: Ints, curls: Floats) -> None:
        """Take in triples; one that is held already, however it is turned, is not taken twice."""
        triples = np.concatenate([self.triples, earliest_first(triples)])
        triples, first = np.unique(triples, axis=0, return_index=True)  # in order of position
        curls = np.concatenate([self.curls, curls])[first]
        order = np.argsort(-curls, kind="stable")[: self.k]
        self.triples, self.curls = triples[order], curls[order]


def strongest_triples(A: Floats, r: Floats, k: int, *, closed: bool) -> tuple[Ints, Floats]:
    """Return the ``k`` triples of largest curl, smallest position first, and their payoffs, ``(k, 3)`` each.

    Exact. For each agent, bounds from the largest entries of rows leave few partners to look at; the bounds
    on ``A`` are monotone in floating point, those on ``R`` get a slack for rounding. Time is O(n^2) when
    they bite (as a rule) and O(n^3) at worst, memory O(n) beside ``A``.
    """
    n = len(A)
    if n < 3 or k < 1:
        return np.empty((0, 3), dtype=np.intp), np.empty((0, 3))
    bounds = row_bounds(A, r, closed=closed)
    seeds = Best(k)
    for a in np.argsort(-(bounds.out_left + bounds.into_left), kind="stable")[:8]:
        for triples, curls in candidates(A, r, int(a), 0, bounds, seeds, closed=closed):
            seeds.add(triples, curls)
    best = Best(k, floor=seeds.least() - bounds.slack)
    for a in range(n - 2):
        for triples, curls in candidates(A, r, a, a + 1, bounds, best, closed=closed):
            best.add(triples, curls)
    real = best.curls > bounds.slack  # a curl of rounding size is none
    return best.triples[real], payoffs_round(A, best.triples[real])


def payoffs_round(A: Floats, triples: Ints) -> Floats:
    """Return what each agent of a triple gains from the next, ``(k, 3)``."""
    a, b, c = triples.T
    return np.stack([A[a, b], A[b, c], A[c, a]], axis=1)


def strongest_on_graph(flow: ObservedFlow, k: int, *, closed: bool) -> tuple[Ints, Floats]:
    """Return the same for a flow on few pairs, by looking at every triangle of its graph."""
    best = Best(k)
    tiny = TRIANGLE_ROUNDING * float(np.abs(flow.values).max(initial=0.0))
    for part in triangles_by_vertex(flow.size, flow.pairs) if k else ():
        gains = part.signs * flow.values[part.edges]
        sums = gains.sum(axis=1)
        high = np.flatnonzero(np.abs(sums) >= max(best.least() - tiny, tiny))
        gains, corners = gains[high], part.corners[high].astype(np.intp)
        back = np.flatnonzero(sums[high] < 0)  # cycles in the other direction: c > b > a > c
        gains[back], corners[back] = -gains[back][:, [1, 0, 2]], corners[back][:, ::-1]
        turn = (corners.argmin(axis=1)[:, None] + np.arange(3)) % 3
        gains, corners = np.take_along_axis(gains, turn, axis=1), np.take_along_axis(corners, turn, axis=1)
        curls = (gains[:, 0] + gains[:, 1]) + gains[:, 2]
        good = (curls > tiny) & (curls >= best.least())
        if closed:
            good &= gains.min(axis=1) > 0
        if good.any():
            best.add(corners[good], curls[good])
    i, j = best.triples, np.roll(best.triples, -1, axis=1)
    codes = flow.pairs[:, 0] * flow.size + flow.pairs[:, 1]  # ascending
    pair = np.searchsorted(codes, np.minimum(i, j) * flow.size + np.maximum(i, j))
    return best.triples, np.where(i < j, 1.0, -1.0) * flow.values[pair]


def candidates(
    A: Floats,
    r: Floats,
    a: int,
    start: int,
    bounds: Bounds,
    best: Best,
    *,
    closed: bool,
) -> Iterator[tuple[Ints, Floats]]:
    """Yield triples ``(a, b, c)`` with ``b, c >= start`` that can enter ``best``, at most k at a time."""
    out, out_left, into, into_left, slack = bounds
    forth, back = A[a, start:], -A[a, start:]  # what a gains from b; what c gains from a
    lean = r[a] - r[start:]
    to_b, from_c = usable(forth, a, start, closed=closed), usable(back, a, start, closed=closed)
    if not to_b.any() or not from_c.any():
        return
    top_A, top_R = np.where(from_c, back, NOTHING).max(), np.where(from_c, back + lean, NOTHING).max()
    low = best.least() - slack
    B = np.flatnonzero(
        to_b & best.admits((forth + out[start:]) + top_A) & (forth - lean + out_left[start:] + top_R >= low)
    )
    if not B.size:
        return
    top_A, top_R = forth[B].max(), (forth - lean)[B].max()
    C = np.flatnonzero(
        from_c & best.admits((top_A + into[start:]) + back) & (top_R + into_left[start:] + back + lean >= low)
    )
    rows = max(1, BLOCK * BLOCK // max(C.size, 1))
    for first in range(0, B.size, rows):
        b = B[first : first + rows]
        inner = A[np.ix_(b + start, C + start)]
        curls = (forth[b, None] + inner) + back[C]
        good = best.admits(curls) & ((inner > 0) if closed else ~np.isnan(inner))
        x, y = np.nonzero(good & (b[:, None] != C))
        if x.size:
            strong = np.argsort(-curls[x, y], kind="stable")[: best.k]
            x, y = x[strong], y[strong]
            yield np.stack([np.full(x.size, a), b[x] + start, C[y] + start], axis=1), curls[x, y]


def row_bounds(A: Floats, r: Floats, *, closed: bool) -> Bounds:
    """Measure the bounds, block by block."""
    n = len(A)
    out, out_left, into, into_left = np.full((4, n), NOTHING)
    largest = 0.0
    for rows in blocks(n):
        forth = A[rows].copy()
        forth[np.arange(len(forth)), np.arange(rows.start, rows.stop)] = np.nan
        lean = r[rows, None] - r
        for sign, top_A, top_R in ((1.0, out, out_left), (-1.0, into, into_left)):
            ok = sign * forth > 0 if closed else ~np.isnan(forth)
            top_A[rows] = np.max(sign * forth, axis=1, initial=NOTHING, where=ok)
            top_R[rows] = np.max(sign * (forth - lean), axis=1, initial=NOTHING, where=ok)
        largest = max(largest, float(np.nanmax(np.abs(A[rows]))), float(np.abs(lean).max()))
    return Bounds(out, out_left, into, into_left, TRIANGLE_ROUNDING * largest)


def usable(values: Floats, a: int, start: int, *, closed: bool) -> Bools:
    """Say which entries of row ``a`` can be an edge of a cycle."""
    ok = values > 0 if closed else ~np.isnan(values)
    if a >= start:
        ok[a - start] = False
    return np.asarray(ok)


def earliest_first(triples: Ints) -> Ints:
    """Turn each cycle so that its smallest position comes first."""
    first = triples.argmin(axis=1)[:, None]
    return np.take_along_axis(triples, (first + np.arange(3)) % 3, axis=1)
