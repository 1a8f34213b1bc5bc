"""Kemeny-Young: the order that contradicts the fewest votes, proved optimal by integer programming.

Symbols: ``w`` margins of votes (k, k), antisymmetric; ``x[i, j]`` is 1 if i is placed above j. An order is
``0 <= x[i, j] + x[j, l] - x[i, l] <= 1`` for all triples; it costs ``sum of w[i, j]`` over pairs it contradicts.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nashboard._types import Bools, Floats, Ints
from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_1, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise, equal_rows, levels

EXACT = 60  # agents in one cycle for which the integer program is solved
LINEAR = 120  # and its linear relaxation, for a bound
NODES = 10_000  # branch and bound nodes: a limit on work that does not depend on the machine
CUTS = 4000  # triples added at a time
ROUNDS = 60
COMPARED = 20  # agents in one cycle for which all optimal orders are compared


@register(
    Counterexample("clones", WINS_1, 0),
    Counterexample("irrelevant", WINS_1, 2),
    LUCKY_NEWCOMER,
    title="Kemeny-Young",
    unit="minus the place",
    slow=True,
    complexity="exponential; a bound beyond 60 agents in a cycle",
    reference="Kemeny 1959; Young and Levenglick 1978",
)
def kemeny(data: Pairwise) -> Outcome:
    """Find the order of agents that contradicts the smallest total margin.

    Agents fall into groups, each of which beats all later groups, so each group is ordered by itself. Groups of up to
    60 agents are solved exactly unless branch and bound gets too large; otherwise the order is the best found by local
    search, and ``bound`` is a proved lower bound of ``disagreement``. Exact copies share a place. Where several orders
    are optimal, agents that these place differently share a place; this is checked in groups of up to 20 agents, and
    ``unique`` says whether it was found to be the only one.
    """
    from scipy.sparse.csgraph import connected_components

    M = data.margins
    first, group = equal_rows(M)
    size = np.bincount(group)
    w = M[np.ix_(first, first)] * np.outer(size, size)
    _, part = connected_components(w >= 0, directed=True, connection="strong")
    members = [np.flatnonzero(part == k) for k in range(part.max() + 1)]
    members.sort(key=lambda group: -int((w[group[0]] > 0).sum() - (w[group[0]] < 0).sum()))
    place = np.zeros(len(first))
    cost = bound = 0.0
    unique, at = True, 0
    for block in members:
        level, paid, least, only = ordered(w[np.ix_(block, block)])
        place[block] = at + level
        at += int(level.max()) + 1
        cost, bound, unique = cost + paid, bound + least, unique and only
    optimal = cost - bound <= 1e-6 * max(1.0, cost)
    return Outcome(
        scores=-place[group],
        certificate={
            "disagreement": cost,
            "bound": bound,
            "optimal": bool(optimal),
            "unique": bool(unique and optimal),
        },
    )


def ordered(w: Floats) -> tuple[Ints, float, float, bool]:
    """Return the place of each agent of one group, the cost, a lower bound, and whether one order only is optimal."""
    k = len(w)
    if k == 1:
        return np.zeros(1, dtype=np.intp), 0.0, 0.0, True
    order = local_search(w)
    paid = disagreement(w, order)
    if k > LINEAR:
        return place_of(order), paid, packed_triangles(w), False
    program = Program.of(w)
    found, least = program.solve(whole=k <= EXACT)
    if found is not None and disagreement(w, found) < paid - 1e-12:
        order, paid = found, disagreement(w, found)
    if paid - least > 1e-9 * max(1.0, paid) or k > EXACT:
        return place_of(order), paid, min(least, paid), False
    if k > COMPARED or not program.has_other(order, paid):
        return place_of(order), paid, paid, k <= COMPARED
    return levels(program.agreed(order, paid)), paid, paid, False


def place_of(order: Ints) -> Ints:
    """Return the place of each agent in an order."""
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return place


def disagreement(w: Floats, order: Ints) -> float:
    """Return the total margin of the pairs that an order contradicts."""
    placed = w[np.ix_(order, order)]
    return float(-np.triu(np.minimum(placed, 0.0), 1).sum())


def local_search(w: Floats) -> Ints:
    """Move single agents to their best places until no move helps, starting from the order of mean margins."""
    order = np.argsort(-w.sum(axis=1), kind="stable")
    improved = True
    while improved:
        improved = False
        for agent in range(len(w)):
            at = int(np.flatnonzero(order == agent)[0])
            rest = np.delete(order, at)
            # placed before the first l others, an agent gains its margins against the others behind it
            gains = np.concatenate([[0.0], np.cumsum(2 * w[rest, agent])])
            best = int(gains.argmax())
            if gains[best] > gains[at] + 1e-12:
                order = np.insert(rest, best, agent)
                improved = True
    return np.asarray(order, dtype=np.intp)


def packed_triangles(w: Floats) -> float:
    """Return a lower bound: cycles of three without a common pair cost at least their smallest margin each."""
    left = np.maximum(w, 0.0)
    bound = 0.0
    for i in range(len(w)):
        for j in np.flatnonzero(left[i] > 0):
            while left[i, j] > 0:
                through = np.minimum(left[j], left[:, i])
                k = int(through.argmax())
                least = min(float(through[k]), float(left[i, j]))
                if least <= 0:
                    break
                bound += least
                left[i, j] -= least
                left[j, k] -= least
                left[k, i] -= least
    return bound


@dataclass(frozen=True, kw_only=True, eq=False)
class Program:
    """The integer program of one group; triples are added as they are violated, and kept for the next solve."""

    w: Floats
    i: Ints
    j: Ints
    number: Ints
    triples: list[Ints]

    @staticmethod
    def of(w: Floats) -> "Program":
        """Number the pairs."""
        i, j = np.triu_indices(len(w), 1)
        number = np.zeros(w.shape, dtype=np.intp)
        number[i, j] = np.arange(i.size)
        return Program(w=w, i=i, j=j, number=number, triples=[])

    def solve(self, *, whole: bool = True, low: Floats | None = None, high: Floats | None = None,
              other: Floats | None = None) -> tuple[Ints | None, float]:  # fmt: skip
        """Return an optimal order (None if there is none) and a lower bound of the cost.

        ``low`` and ``high`` fix pairs; ``other`` is an order, as pairs, that is not allowed. The linear relaxation
        comes first, and the integer program (``whole``) where its solution is fractional.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        size = self.i.size
        base = float(np.maximum(self.w[self.i, self.j], 0.0).sum())
        box = Bounds(np.zeros(size) if low is None else low, np.ones(size) if high is None else high)
        fixed = []
        if other is not None:  # at least one pair is placed the other way
            fixed.append(LinearConstraint(csr_array(np.where(other > 0, 1.0, -1.0)[None]), -np.inf, other.sum() - 1))
        integral = np.zeros(size, dtype=np.intp)
        least = packed_triangles(self.w)
        for _ in range(ROUNDS):
            matrix = triple_matrix(self.triples, self.number, size)
            limits = [*fixed, *([LinearConstraint(matrix, 0.0, 1.0)] if matrix is not None else [])]
            found = milp(
                -self.w[self.i, self.j], integrality=integral, bounds=box, constraints=limits,
                options={"node_limit": NODES},
            )  # fmt: skip
            if found.status == 2:  # infeasible
                return None, np.inf
            bound = found.mip_dual_bound if integral.any() else found.fun
            least = max(least, base + float(bound)) if bound is not None else least
            if found.x is None:
                return None, least
            X = np.zeros(self.w.shape)
            X[self.i, self.j], X[self.j, self.i] = found.x, 1 - found.x
            new = violated(X)
            if new.size:
                self.triples.append(new)
            elif np.abs(found.x - np.round(found.x)).max() < 1e-6:
                return np.argsort(-np.round(X).sum(axis=1), kind="stable"), least
            elif not whole or integral.any():
                return None, least
            else:
                integral = np.ones(size, dtype=np.intp)
        return None, least

    def has_other(self, order: Ints, paid: float) -> bool:
        """Say whether another order costs no more."""
        place = place_of(order)
        _, least = self.solve(other=(place[self.i] < place[self.j]).astype(np.float64))
        return least <= paid + 1e-9 * max(1.0, paid)

    def agreed(self, order: Ints, paid: float) -> Bools:
        """Return the pairs that every optimal order places alike, ``(k, k)``: a strict partial order."""
        place = place_of(order)
        above = place[:, None] < place
        for i, j in zip(*np.nonzero(above), strict=True):
            if not above[i, j]:
                continue  # an optimal order found meanwhile places them the other way
            low, high = np.zeros(self.i.size), np.ones(self.i.size)
            pair = self.number[min(i, j), max(i, j)]
            low[pair] = high[pair] = float(j < i)
            found, least = self.solve(low=low, high=high)
            if least > paid + 1e-9 * max(1.0, paid):
                continue
            if found is None:
                above[i, j] = False  # not settled within the limit on work
                continue
            cost = disagreement(self.w, found)
            if cost <= paid + 1e-9 * max(1.0, paid):
                new = place_of(found)
                above &= new[:, None] < new
        return np.asarray(above, dtype=np.bool_)


def violated(X: Floats) -> Ints:
    """Return the most violated triples ``(i, j, l)``: ``x[i, j] + x[j, l] + x[l, i] > 2``, i the smallest."""
    k = len(X)
    found: list[Floats] = []
    for i in range(k - 2):
        excess = X[i, i + 1 :, None] + X[i + 1 :, i + 1 :] + X[i + 1 :, i][None, :] - 2
        np.fill_diagonal(excess, 0.0)
        a, b = np.nonzero(excess > 1e-6)
        found.append(np.stack([np.full(a.size, i), a + i + 1, b + i + 1, excess[a, b]], axis=1))
    rows = np.concatenate(found) if found else np.zeros((0, 4))
    worst = np.argsort(-rows[:, 3], kind="stable")[:CUTS]
    return np.asarray(rows[worst, :3], dtype=np.intp)


def triple_matrix(rows: list[Ints], number: Ints, size: int) -> Any:
    """Return one row per triple: ``x[i, j] + x[j, l] - x[i, l]`` in terms of pairs ``i < j``, between 0 and 1."""
    from scipy.sparse import csr_array

    if not rows:
        return None
    triples = np.unique(np.sort(np.concatenate(rows), axis=1), axis=0)
    i, j, l = triples.T  # noqa: E741 - three agents, as in the docstring
    columns = np.stack([number[i, j], number[j, l], number[i, l]], axis=1)
    values = np.tile([1.0, 1.0, -1.0], len(triples))
    return csr_array((values, columns.ravel(), np.arange(0, 3 * len(triples) + 1, 3)), shape=(len(triples), size))
