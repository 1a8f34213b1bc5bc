"""Kemeny-Young: the order that contradicts the fewest votes, proved optimal by integer programming.

Symbols: ``w`` margins of votes (k, k), antisymmetric; ``x[i, j]`` is 1 if i is placed above j. An order is
``0 <= x[i, j] + x[j, l] - x[i, l] <= 1`` for all triples; it costs ``sum of w[i, j]`` over pairs it contradicts.
"""

from functools import partial
from typing import Any

import numpy as np

from nashboard._threads import interruptible
from nashboard._types import Floats, Ints
from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_1, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise, equal_rows, levels

EXACT = 40  # agents in one cycle for which the integer program is solved
LINEAR = 60  # and its linear relaxation, for a bound
NODES = 200  # of branch and bound, a limit that no machine changes
ROOT = 1  # where many orders are wanted: the cuts at the root decide most
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
    learn=lambda data: {"nodes": ROOT},
    complexity="exponential; a bound beyond 40 agents in a cycle",
    reference="Kemeny 1959; Young and Levenglick 1978",
)
def kemeny(data: Pairwise, nodes: int = NODES) -> Outcome:
    """Find the order of agents that contradicts the smallest total margin.

    Agents fall into groups, each of which beats all later groups, so each group is ordered by itself. Groups of up to
    40 agents are solved exactly unless branch and bound needs more than ``nodes`` nodes; then the order is the best
    found by local search, and ``bound`` is a proved lower bound of ``disagreement``. Leagues are solved in seconds, 35
    agents of pure noise in a minute or so; trials of copies and columns of a board use one node. Exact copies share a
    place. Where several orders are optimal, agents that these place differently share a place; this is checked in
    groups of up to 20 agents, and ``unique`` says whether it was found to be the only one.
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
        level, paid, least, only = ordered(w[np.ix_(block, block)], nodes)
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


def ordered(w: Floats, nodes: int) -> tuple[Ints, float, float, bool]:
    """Return the place of each agent of one group, the cost, a lower bound, and whether one order only is optimal."""
    k = len(w)
    if k <= COMPARED:
        from nashboard.ranking.kernels import compare_orders

        agreed = ~np.eye(k, dtype=np.bool_)
        paid = compare_orders(np.maximum(-w, 0.0), agreed)
        return levels(agreed), paid, paid, int(agreed.sum()) == k * (k - 1) // 2
    order = local_search(w, np.argsort(-w.sum(axis=1), kind="stable"))
    if k > LINEAR:
        found, least = order, packed_triangles(w)
    else:
        found, least = solve_program(w, nodes)
    order = min(order, local_search(w, found), key=lambda one: disagreement(w, one))
    paid = disagreement(w, order)
    return place_of(order), paid, min(least, paid), False


def place_of(order: Ints) -> Ints:
    """Return the place of each agent in an order."""
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return place


def disagreement(w: Floats, order: Ints) -> float:
    """Return the total margin of the pairs that an order contradicts."""
    placed = w[np.ix_(order, order)]
    return float(-np.triu(np.minimum(placed, 0.0), 1).sum())


def local_search(w: Floats, order: Ints) -> Ints:
    """Move single agents to their best places until no move helps."""
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


def solve_program(w: Floats, nodes: int) -> tuple[Ints, float]:
    """Return an order and a lower bound of the cost, which is that of the order unless the limit on work was reached.

    Triples are added as they are violated. The linear relaxation comes first, and the integer program, of up to 40
    agents, where its solution is fractional.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    i, j = np.triu_indices(len(w), 1)
    number = np.zeros(w.shape, dtype=np.intp)
    number[i, j] = np.arange(i.size)
    base = float(np.maximum(w[i, j], 0.0).sum())
    least, triples = packed_triangles(w), np.zeros((0, 3), dtype=np.intp)
    integral, X = np.zeros(i.size, dtype=np.intp), (1 + np.sign(w)) / 2
    for _ in range(ROUNDS):
        constraints = LinearConstraint(triple_matrix(triples, number), 0.0, 1.0)
        found = interruptible(
            partial(milp, -w[i, j], integrality=integral, bounds=Bounds(0.0, 1.0), constraints=constraints,
                    options={"node_limit": nodes})
        )  # fmt: skip
        bound = found.mip_dual_bound if integral.any() else found.fun
        least = max(least, base + float(bound)) if bound is not None else least
        if found.x is None:
            break
        X[i, j], X[j, i] = found.x, 1 - found.x
        new = violated(X)
        if found.status != 0:  # the limit on work
            break
        if new.size:
            triples = np.unique(np.concatenate([triples, np.sort(new, axis=1)]), axis=0)
        elif integral.any() or len(w) > EXACT or np.abs(found.x - np.round(found.x)).max() < 1e-6:
            break
        else:
            integral = np.ones(i.size, dtype=np.intp)
    return np.argsort(-X.sum(axis=1), kind="stable"), least


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


def triple_matrix(triples: Ints, number: Ints) -> Any:
    """Return one row per triple: ``x[i, j] + x[j, l] - x[i, l]`` in terms of pairs ``i < j``, between 0 and 1."""
    from scipy.sparse import csr_array

    i, j, l = triples.T  # noqa: E741 - three agents, as in the docstring
    columns = np.stack([number[i, j], number[j, l], number[i, l]], axis=1)
    values = np.tile([1.0, 1.0, -1.0], len(triples))
    shape = (len(triples), int(number.max()) + 1)
    return csr_array((values, columns.ravel(), np.arange(0, 3 * len(triples) + 1, 3)), shape=shape)
