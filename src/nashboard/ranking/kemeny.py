"""Kemeny-Young: the order that contradicts the fewest votes, proved optimal by integer programming.

Symbols: ``w`` margins of votes (k, k), antisymmetric; ``x[i, j]`` is 1 if i is placed above j. An order is
``0 <= x[i, j] + x[j, l] - x[i, l] <= 1`` for all triples; it costs ``sum of w[i, j]`` over pairs it contradicts.
"""

from typing import Any

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.ranking.method import Outcome
from nashboard.ranking.pairwise import Pairwise, equal_rows
from nashboard.ranking.tournaments import rounded

EXACT = 60  # agents in one cycle for which the integer program is solved
LINEAR = 120  # and its linear relaxation, for a bound
NODES = 20_000  # branch and bound nodes: a limit on work that does not depend on the machine
CUTS = 4000  # triples added at a time
ROUNDS = 60


def kemeny(data: Pairwise) -> Outcome:
    """Find the order of agents that contradicts the smallest total margin.

    Agents fall into groups, each of which beats all later groups, so each group is ordered by itself. Groups of up to
    60 agents are solved exactly unless branch and bound gets too large; otherwise the order is the best found by local
    search, and ``bound`` is a proved lower bound of ``disagreement``. Exact copies share a place. Where several orders
    are optimal, one of them is returned and ``unique`` is False.
    """
    from scipy.sparse.csgraph import connected_components

    M = rounded(data.margins)
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
        order, paid, least, only = ordered(w[np.ix_(block, block)])
        place[block[order]] = at + np.arange(block.size)
        at += block.size
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
    """Return an order of one group, what it costs, a lower bound, and whether it is the only optimal one."""
    k = len(w)
    if k == 1:
        return np.zeros(1, dtype=np.intp), 0.0, 0.0, True
    order = local_search(w)
    paid = disagreement(w, order)
    if k > LINEAR:
        return order, paid, packed_triangles(w), False
    exact, least, only = solved(w, order, paid, whole=k <= EXACT)
    if disagreement(w, exact) < paid - 1e-12:
        order = exact
    return order, disagreement(w, order), min(least, disagreement(w, order)), only


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


def solved(w: Floats, order: Ints, paid: float, *, whole: bool) -> tuple[Ints, float, bool]:
    """Solve the program with triples added as they are violated; return an order, a bound and whether it is unique."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    k = len(w)
    i, j = np.triu_indices(k, 1)
    number = np.zeros((k, k), dtype=np.intp)
    number[i, j] = np.arange(i.size)
    cost = -w[i, j]  # of x[i, j] = 1, beside the constant sum of max(w, 0)
    base = float(np.maximum(w[i, j], 0.0).sum())
    rows: list[Ints] = []
    integral = np.zeros(i.size, dtype=np.intp)
    best, least, only = order, packed_triangles(w), False
    for _ in range(ROUNDS):
        matrix = triple_matrix(rows, number, i.size)
        limits = LinearConstraint(matrix, 0.0, 1.0) if matrix is not None else ()
        found = milp(cost, integrality=integral, bounds=Bounds(0, 1), constraints=limits, options={"node_limit": NODES})
        dual = getattr(found, "mip_dual_bound", None)
        if integral.any() and dual is not None:
            least = max(least, base + float(dual))
        elif found.status == 0:
            least = max(least, base + float(found.fun))
        if found.x is None:
            break
        X = np.zeros((k, k))
        X[i, j], X[j, i] = found.x, 1 - found.x
        new = violated(X)
        if new.size:
            rows.append(new)
            continue
        if np.abs(found.x - np.round(found.x)).max() < 1e-6:
            best = np.argsort(-np.round(X).sum(axis=1), kind="stable")
            only = whole and another_is_worse(w, best, cost, rows, number, base)
            break
        if not whole or integral.any():
            break
        integral = np.ones(i.size, dtype=np.intp)
    return np.asarray(best, dtype=np.intp), min(least, paid), only


def another_is_worse(w: Floats, order: Ints, cost: Floats, rows: list[Ints], number: Ints, base: float) -> bool:
    """Say whether every other order costs more: the program again, without the order that was found."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, vstack

    k = len(w)
    place = np.empty(k, dtype=np.intp)
    place[order] = np.arange(k)
    i, j = np.triu_indices(k, 1)
    x = (place[i] < place[j]).astype(np.float64)
    paid = disagreement(w, order)
    rows = list(rows)
    integral = np.ones(i.size, dtype=np.intp)
    other = csr_array(np.where(x > 0, 1.0, -1.0)[None])  # at least one pair is placed the other way
    for _ in range(ROUNDS):
        matrix = triple_matrix(rows, number, i.size)
        limits = [LinearConstraint(other, -np.inf, x.sum() - 1)]
        if matrix is not None:
            limits = [LinearConstraint(vstack([matrix, other]), np.concatenate([np.zeros(matrix.shape[0]), [-np.inf]]),
                                       np.concatenate([np.ones(matrix.shape[0]), [x.sum() - 1]]))]  # fmt: skip
        found = milp(cost, integrality=integral, bounds=Bounds(0, 1), constraints=limits, options={"node_limit": NODES})
        if found.x is None or found.status != 0:
            return False
        if base + found.fun > paid + 1e-9:
            return True
        X = np.zeros((k, k))
        X[i, j], X[j, i] = found.x, 1 - found.x
        new = violated(X)
        if not new.size:
            return False
        rows.append(new)
    return False


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
