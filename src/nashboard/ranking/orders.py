"""The cheapest order of agents: a linear program, and a search among sets from both ends that proves it.

Symbols: ``c[i, j]`` is the cost of i before j; ``x[i, j]`` is 1 if i is before j. Every order has
``x[p, q] + x[q, s] + x[s, p] >= 1`` in each cycle of three. With a price ``y >= 0`` for each cycle, an order costs
``bound + sum of lead[i, j] over i before j + sum of y over cycles (p, q, s) that it passes twice``, where ``lead`` is
never negative: the cost of an order beyond the bound is a sum over its agents, and the term of an agent depends only on
the set of agents before it. If searches from both ends meet, one costs at most half: sets that cost more are skipped.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashboard._parallel import run_interruptibly
from nashboard._types import Floats, Ints

MOST = 63  # agents, whose sets are the bits of a number
CUTS = 4000  # cycles added at a time
ROUNDS = 60
WIDTH = 1000  # sets of each size that the first, incomplete search keeps
STEPS = (0.4, 0.7, 1.0)  # shares of the gap that are searched in turn
CHUNK = 20_000  # sets extended at a time
SLACK = 1e-9  # rounding, as a share of what orders cost

Sets = NDArray[np.uint64]
Level = tuple[Sets, Floats]  # sets of one size in rising order, and their least costs


@dataclass(frozen=True, kw_only=True, eq=False)
class Excess:
    """The cost of orders beyond a bound."""

    bound: float
    lead: Floats  # (n, n) the cost of i before j beyond the bound
    # cycles (before, agent, after), by agent from start[agent]: price is added if the agent comes between the others
    start: Ints
    before: Ints
    after: Ints
    price: Floats

    @staticmethod
    def of(c: Floats, cycles: Ints, y: Floats) -> "Excess":
        """Return the excess for these prices of cycles; any prices give a bound, those of the program the highest."""
        p, q, s = cycles[y > 0].T
        y = y[y > 0]
        reduced = c.copy()
        for one, two in ((p, q), (q, s), (s, p)):
            np.subtract.at(reduced, (one, two), y)
        least = np.minimum(reduced, reduced.T)
        turns = np.concatenate([np.stack(turn) for turn in ((p, q, s), (q, s, p), (s, p, q))], axis=1)
        by_agent = turns[1].argsort(kind="stable")
        before, agent, after = turns[:, by_agent]
        return Excess(
            bound=float(np.triu(least, 1).sum() + y.sum()),
            lead=reduced - least,
            start=np.searchsorted(agent, np.arange(len(c) + 1)),
            before=np.ascontiguousarray(before),
            after=np.ascontiguousarray(after),
            price=np.tile(y, 3)[by_agent],
        )

    @cached_property
    def reversed(self) -> "Excess":
        """The same for orders read from the last agent."""
        return replace(self, lead=np.ascontiguousarray(self.lead.T), before=self.after, after=self.before)

    def extend(self, level: Level, limit: float) -> Iterator[Level]:
        """Yield parts of the sets with one agent more, and their costs, up to a limit; sets may occur again."""
        from nashboard.ranking.kernels import extend_sets

        for at in range(0, level[0].size, CHUNK):
            part = slice(at, at + CHUNK)
            yield extend_sets(
                level[0][part], level[1][part], self.lead, self.start, self.before, self.after, self.price, limit
            )

    def levels(self, limit: float, most: int, width: int | None = None) -> list[Level] | None:
        """Return the sets of each size that cost at most ``limit``, all or the ``width`` cheapest of each size.

        None for more than ``most`` sets.
        """
        levels = [(np.zeros(1, dtype=np.uint64), np.zeros(1))]
        left = most
        for _ in range(len(self.lead)):
            level = keep_cheapest(list(self.extend(levels[-1], limit)))
            if width is not None and level[0].size > width:
                kept = np.sort(level[1].argsort(kind="stable")[:width])
                level = level[0][kept], level[1][kept]
            left -= level[0].size
            if left < 0:
                return None
            if not level[0].size:
                break
            levels.append(level)
        return levels

    def trace_order(self, levels: list[Level], last: int) -> list[int]:
        """Return the cheapest order of a set, from the levels that led to it."""
        order: list[int] = []
        for sets, paid in reversed(levels[: last.bit_count()]):
            ways = []
            for v in range(len(self.lead)):
                parent = last ^ (1 << v)
                k = int(np.searchsorted(sets, np.uint64(parent)))
                if last >> v & 1 and k < sets.size and int(sets[k]) == parent:
                    child, cost = next(self.extend((sets[k : k + 1], paid[k : k + 1]), np.inf))
                    ways.append((float(cost[child == np.uint64(last)][0]), v, parent))
            _, v, last = min(ways)
            order.append(v)
        return order[::-1]

    def join_searches(self, front: list[Level], back: list[Level], limit: float) -> Ints | None:
        """Return the cheapest order, up to a limit, whose sets are in one of both searches; None if there is none."""
        n = len(self.lead)
        all_agents = np.uint64((1 << n) - 1)
        best: int | None = None
        for k, level in enumerate(front[:n]):
            if n - k - 1 >= len(back):
                continue
            sets, paid = back[n - k - 1]
            for child, total in self.extend(level, limit - float(paid.min())):
                if child.size:
                    at = np.minimum(np.searchsorted(sets, all_agents ^ child), sets.size - 1)
                    cost = np.where(sets[at] == all_agents ^ child, total + paid[at], np.inf)
                    first = int(cost.argmin())
                    if cost[first] <= limit:
                        limit, best = float(cost[first]), int(child[first])
        if best is None:
            return None
        rear = self.reversed.trace_order(back, int(all_agents) ^ best)
        return np.array(self.trace_order(front, best) + rear[::-1], dtype=np.intp)


def cheapest_order(w: Floats, improve: Callable[[Floats, Ints], Ints], most: int) -> tuple[Ints, float]:
    """Return the order of up to 63 agents with the least disagreement, and a proved lower bound of it.

    ``improve`` is a local search. The bound is below the disagreement if a search would keep more than ``most`` sets.
    """
    cycles, y, X = price_cycles(w)
    excess = Excess.of(np.maximum(-w, 0.0), cycles, y)
    all_agents = (1 << len(w)) - 1
    first = excess.levels(np.inf, most=WIDTH * len(w), width=WIDTH)
    assert first is not None
    starts = [np.argsort(-X.sum(axis=1), kind="stable"), np.array(excess.trace_order(first, all_agents), dtype=np.intp)]
    order = min((improve(w, one) for one in starts), key=lambda one: disagreement(w, one))
    small, least = SLACK * max(1.0, float(np.abs(w).sum())), excess.bound
    for share in STEPS:
        gap = disagreement(w, order) - excess.bound
        if gap <= small:
            return order, disagreement(w, order)
        front = excess.levels(share * gap / 2, most)
        back = None if front is None else excess.reversed.levels(share * gap / 2, most)
        if front is None or back is None:
            break
        order = next((one for one in [excess.join_searches(front, back, gap - small)] if one is not None), order)
        least = excess.bound + share * gap
        if disagreement(w, order) <= least + small:
            return order, disagreement(w, order)
    return order, least


def disagreement(w: Floats, order: Ints) -> float:
    """Return the total margin of the pairs that an order contradicts."""
    placed = w[np.ix_(order, order)]
    return float(-np.triu(np.minimum(placed, 0.0), 1).sum())


def keep_cheapest(parts: list[Level]) -> Level:
    """Return each set once, in rising order, with its least cost."""
    sets, paid = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((paid, sets))
    sets, paid = sets[order], paid[order]
    first = np.append(True, sets[1:] != sets[:-1])[: sets.size]
    return sets[first], paid[first]


def price_cycles(w: Floats) -> tuple[Ints, Floats, Floats]:
    """Return cycles of three, their prices in the linear program, and its ``x``; cycles are added as they are violated.

    ``w`` are margins, and ``i`` before ``j`` costs ``max(-w[i, j], 0)``.
    """
    from scipy.optimize import linprog

    i, j = np.triu_indices(len(w), 1)
    number = np.zeros(w.shape, dtype=np.intp)
    number[i, j] = np.arange(i.size)
    cycles, y, X = np.zeros((0, 3), dtype=np.intp), np.zeros(0), (1 + np.sign(w)) / 2
    for _ in range(ROUNDS):
        new = find_violated(X)
        if not new.size:
            break
        cycles = np.unique(np.concatenate([cycles, new]), axis=0)
        rows, least = build_constraints(cycles, number)
        program = partial(linprog, -w[i, j], A_ub=-rows, b_ub=-least, bounds=(0.0, 1.0), method="highs")
        solution = run_interruptibly(program)
        x: Floats = np.asarray(solution.x)
        X[i, j], X[j, i], y = x, 1 - x, np.maximum(-solution.ineqlin.marginals, 0.0)
    return cycles, y, X


def find_violated(X: Floats) -> Ints:
    """Return the most violated cycles ``(p, q, s)``: ``x[p, q] + x[q, s] + x[s, p] < 1``, p the smallest."""
    k = len(X)
    parts: list[Floats] = []
    for p in range(k - 2):
        shortfall = 1 - X[p, p + 1 :, None] - X[p + 1 :, p + 1 :] - X[p + 1 :, p][None, :]
        np.fill_diagonal(shortfall, 0.0)
        q, s = np.nonzero(shortfall > 1e-6)
        parts.append(np.stack([np.full(q.size, p), q + p + 1, s + p + 1, shortfall[q, s]], axis=1))
    rows = np.concatenate(parts) if parts else np.zeros((0, 4))
    worst = np.argsort(-rows[:, 3], kind="stable")[:CUTS]
    return np.asarray(rows[worst, :3], dtype=np.intp)


def build_constraints(cycles: Ints, number: Ints) -> tuple[Any, Floats]:
    """Return one row per cycle in terms of pairs ``i < j``, and its lower bound."""
    from scipy.sparse import csr_array

    p, q, s = cycles.T
    rising = q < s  # x[q, s] is a variable; otherwise 1 - x[s, q] is; x[s, p] is 1 - x[p, s]
    columns = np.stack([number[p, q], number[np.minimum(q, s), np.maximum(q, s)], number[p, s]], axis=1)
    values = np.stack([np.ones(p.size), np.where(rising, 1.0, -1.0), -np.ones(p.size)], axis=1)
    shape = (p.size, int(number.max()) + 1)
    rows = csr_array((values.ravel(), columns.ravel(), np.arange(0, 3 * p.size + 1, 3)), shape=shape)
    return rows, np.where(rising, 0.0, -1.0)
