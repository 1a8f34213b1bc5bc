"""Kemeny-Young: the order that contradicts the fewest votes, proved optimal by a linear program and a search.

Symbols: ``w`` margins of votes (k, k), antisymmetric; an order costs ``sum of w[i, j]`` over pairs it contradicts.
"""

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.errors import InputError
from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_1, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.orders import MOST, cheapest_order, disagreement
from nashboard.ranking.pairwise import Pairwise, chain_lengths, group_equal_rows, order_without_names

NODES = 10_000_000  # sets that each of two searches may keep, the same on every machine
FEW_NODES = 50_000  # for many orders
MOST_COMPARED = 20  # agents in one cycle for which all optimal orders are compared


@register(
    Counterexample("clones", WINS_1, 0),
    Counterexample("irrelevant", WINS_1, 2),
    LUCKY_NEWCOMER,
    title="Kemeny-Young",
    unit="minus the place",
    slow=True,
    learn=lambda data: {"nodes": FEW_NODES},
    complexity="exponential; a bound beyond 63 agents in a cycle",
    reference="Kemeny 1959; Young and Levenglick 1978",
)
def kemeny(data: Pairwise, nodes: int = NODES) -> Outcome:
    """Find the order of agents that contradicts the smallest total margin.

    Agents fall into groups, each of which beats all later groups and is ordered by itself. Groups of up to 63 agents
    are solved exactly unless a search among sets of agents would keep more than ``nodes`` sets; then, and in larger
    groups, the order is the best found, and ``bound`` is a proved lower bound of ``disagreement``.

    Exact copies share a place. In groups of up to 20 agents, those that optimal orders place differently share a place
    too, and ``unique`` says whether the order is the only one; in larger groups the order does not depend on names.
    """
    from scipy.sparse.csgraph import connected_components

    if not nodes >= 1:
        raise InputError(f"nodes is {nodes:g}: it must be at least 1")
    M = data.margins
    first, group = group_equal_rows(M)
    size = np.bincount(group)
    w = M[np.ix_(first, first)] * np.outer(size, size)
    _, part = connected_components(w >= 0, directed=True, connection="strong")
    members = [np.flatnonzero(part == k) for k in range(part.max() + 1)]
    members.sort(key=lambda group: -int((w[group[0]] > 0).sum() - (w[group[0]] < 0).sum()))
    place = np.zeros(len(first))
    cost = bound = 0.0
    unique: bool | None = True
    at = 0
    for block in members:
        level, paid, least, only = order_group(w[np.ix_(block, block)], nodes)
        place[block] = at + level
        at += int(level.max()) + 1
        cost, bound = cost + paid, bound + least
        unique = False if unique is False or only is False else unique and only
    optimal = cost - bound <= 1e-6 * max(1.0, cost)
    certificate: dict[str, float | bool] = {"disagreement": cost, "bound": bound, "optimal": bool(optimal)}
    return Outcome(
        scores=-place[group], certificate=certificate if unique is None else {**certificate, "unique": unique}
    )


def order_group(w: Floats, nodes: int) -> tuple[Ints, float, float, bool | None]:
    """Return the place of each agent of one group, the cost, a lower bound, and whether only one order is optimal.

    The last is None if this is not checked; the order then does not depend on names.
    """
    k = len(w)
    if k <= MOST_COMPARED:
        from nashboard.ranking.kernels import compare_orders

        agreed = ~np.eye(k, dtype=np.bool_)
        paid = compare_orders(np.maximum(-w, 0.0), agreed)
        return chain_lengths(agreed), paid, paid, int(agreed.sum()) == k * (k - 1) // 2
    nameless, _ = order_without_names(w)
    w = w[np.ix_(nameless, nameless)]
    order = local_search(w, np.argsort(-w.sum(axis=1), kind="stable"))
    if k > MOST:
        least = bound_by_triangles(w)
    else:
        found, least = cheapest_order(w, local_search, nodes)
        order = min(order, found, key=lambda one: disagreement(w, one))
    paid = disagreement(w, order)
    return invert_order(nameless[order]), paid, min(least, paid), None


def invert_order(order: Ints) -> Ints:
    """Return the place of each agent in an order."""
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return place


def local_search(w: Floats, order: Ints) -> Ints:
    """Move single agents to their best places until no move helps."""
    improved = True
    while improved:
        improved = False
        for agent in range(len(w)):
            at = int(np.flatnonzero(order == agent)[0])
            rest = np.delete(order, at)
            # after the first l others, an agent gains its margins against the others behind it
            gains = np.concatenate([[0.0], np.cumsum(2 * w[rest, agent])])
            best = int(gains.argmax())
            if gains[best] > gains[at] + 1e-12:
                order = np.insert(rest, best, agent)
                improved = True
    return np.asarray(order, dtype=np.intp)


def bound_by_triangles(w: Floats) -> float:
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
