"""Compiled loops of the tournament methods.

Symbols: ``M`` margins (n, n); ``reach`` one row of bits per agent: bit v of row u is set if u is locked above v.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from nashboard._compiled import compiled
from nashboard._types import Floats, Ints

types: Any = numba.types
TABLE, READ_TABLE = (types.Array(types.float64, 2, "C", readonly=closed) for closed in (False, True))
NUMBERS = types.Array(types.int64, 1, "C")
BITS = types.Array(types.uint64, 2, "C")
FLAGS, FLAG_TABLE = (types.Array(types.boolean, k, "C") for k in (1, 2))

VECTOR = types.Array(types.float64, 1, "C")
SETS = types.Array(types.uint64, 1, "C")

Bits = NDArray[np.uint64]


def _widest_paths(M: Floats) -> Floats:
    """Return the strength of the strongest path between each two agents, that of its weakest link."""
    n = M.shape[0]
    S = np.maximum(M, 0.0)
    for k in range(n):
        for i in range(n):
            through = S[i, k]
            if through > 0.0 and i != k:
                for j in range(n):
                    link = min(through, S[k, j])
                    S[i, j] = max(S[i, j], link)
    for i in range(n):
        S[i, i] = 0.0
    return S


widest_paths = compiled(TABLE(READ_TABLE))(_widest_paths)


def _lock_pairs(reach: Bits, above: Ints, below: Ints, locked: NDArray[np.bool_]) -> bool:
    """Lock pairs in order, skipping those that contradict earlier ones; return whether all were locked.

    A pair that follows from earlier ones needs no update.
    """
    n, words = reach.shape
    clean = True
    for k in range(above.size):
        x, y = above[k], below[k]
        if (reach[y, x >> 6] >> np.uint64(x & 63)) & np.uint64(1):
            clean = False
            continue
        locked[k] = True
        if (reach[x, y >> 6] >> np.uint64(y & 63)) & np.uint64(1):
            continue
        for u in range(n):
            if u == x or (reach[u, x >> 6] >> np.uint64(x & 63)) & np.uint64(1):
                for w in range(words):
                    reach[u, w] |= reach[y, w]
                reach[u, y >> 6] |= np.uint64(1) << np.uint64(y & 63)
    return clean


lock_pairs = compiled(types.boolean(BITS, NUMBERS, NUMBERS, FLAGS))(_lock_pairs)


def _eliminate(P: Floats) -> Floats:
    """Return the stationary distribution of a chain by GTH elimination, which overwrites ``P``.

    No subtractions, so every entry has full relative accuracy however small it is (Grassmann, Taksar, Heyman 1985).
    The diagonal is not used.
    """
    n = P.shape[0]
    for k in range(n - 1, 0, -1):
        out = 0.0
        for j in range(k):
            out += P[k, j]
        for i in range(k):
            share = P[i, k] / out
            P[i, k] = share
            if share > 0.0:
                for j in range(k):
                    P[i, j] += share * P[k, j]
    pi = np.zeros(n)
    pi[0] = 1.0
    for k in range(1, n):
        total = 0.0
        for i in range(k):
            total += pi[i] * P[i, k]
        pi[k] = total
        if total > 1e200:
            pi /= total
    pi /= pi.sum()
    return pi


eliminate = compiled(VECTOR(TABLE))(_eliminate)


def _soft_loss(r: Floats, C: Floats, tau: float, gradient: Floats) -> float:
    """Return ``sum over i < j of C[i, j] / (1 + e^((r_i - r_j) / tau))``, and write its gradient."""
    n = r.size
    gradient[:] = 0.0
    total = 0.0
    for i in range(n):
        own = 0.0
        for j in range(i + 1, n):
            wrong = 1.0 / (1.0 + np.exp((r[i] - r[j]) / tau))
            part = C[i, j] * wrong
            slope = part * (1.0 - wrong) / tau
            total += part
            own += slope
            gradient[j] += slope
        gradient[i] -= own
    return total


soft_loss = compiled(types.float64(VECTOR, TABLE, types.float64, VECTOR))(_soft_loss)


def _compare_orders(cost: Floats, agreed: NDArray[np.bool_]) -> float:
    """Return the cost of the cheapest order, and keep in ``agreed`` the pairs that all such orders place alike.

    ``cost[i, j]`` is the cost of i before j. Dynamic programming over the sets of agents that come first (Held and Karp
    1962): ``first`` is the least cost of a set, ``rest`` the least cost of the others after it.
    """
    n = cost.shape[0]
    half, last = n // 2, (1 << n) - 1
    sums = np.zeros((2, n, 1 << (n - half)))  # of the costs against a set, for its lower and upper half
    for part, start, width in ((0, 0, half), (1, half, n - half)):
        for i in range(n):
            for bits in range(1, 1 << width):
                j = 0
                while not (bits >> j) & 1:
                    j += 1
                sums[part, i, bits] = sums[part, i, bits & (bits - 1)] + cost[i, start + j]
    lower = (1 << half) - 1
    first, rest = np.full(last + 1, np.inf), np.full(last + 1, np.inf)
    first[0] = rest[last] = 0.0
    for bits in range(last):
        left = last ^ bits
        for i in range(n):
            if (left >> i) & 1:
                paid = first[bits] + sums[0, i, left & lower] + sums[1, i, left >> half]
                first[bits | 1 << i] = min(first[bits | 1 << i], paid)
    limit = first[last] + 1e-9 * max(1.0, first[last])
    for bits in range(last - 1, -1, -1):
        left = last ^ bits
        for i in range(n):
            if (left >> i) & 1:
                paid = sums[0, i, left & lower] + sums[1, i, left >> half] + rest[bits | 1 << i]
                rest[bits] = min(rest[bits], paid)
                if first[bits] + paid <= limit:  # i comes next in a cheapest order
                    for j in range(n):
                        if (left >> j) & 1:
                            agreed[j, i] = False
    return float(first[last])


compare_orders = compiled(types.float64(TABLE, FLAG_TABLE))(_compare_orders)


def _extend_sets(
    sets: Bits, paid: Floats, lead: Floats, start: Ints, before: Ints, after: Ints, price: Floats, limit: float
) -> tuple[Bits, Floats]:
    """Return each set of agents with one more, and its total cost, if that is at most ``limit``.

    An agent adds its leads over the remaining agents, and the prices of its cycles from the set to one of these.
    """
    n = lead.shape[0]
    one = np.uint64(1)
    children, totals = np.empty(sets.size * n, dtype=np.uint64), np.empty(sets.size * n)
    count = 0
    for k in range(sets.size):
        inside = sets[k]
        for v in range(n):
            own = one << np.uint64(v)
            if inside & own:
                continue
            left, total = ~(inside | own), paid[k]
            for u in range(n):
                if (left >> np.uint64(u)) & one:
                    total += lead[v, u]
            if total > limit:
                continue
            for t in range(start[v], start[v + 1]):
                if (inside >> np.uint64(before[t])) & (left >> np.uint64(after[t])) & one:
                    total += price[t]
            if total <= limit:
                children[count], totals[count] = inside | own, total
                count += 1
    return children[:count].copy(), totals[:count].copy()


extend_sets = compiled(
    types.Tuple((SETS, VECTOR))(SETS, VECTOR, TABLE, NUMBERS, NUMBERS, NUMBERS, VECTOR, types.float64)
)(_extend_sets)
