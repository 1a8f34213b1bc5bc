"""Methods from voting theory: Copeland, Schulze, ranked pairs, Soft Condorcet Optimization.

Games (or tasks) are votes. Symbols: ``M`` margins (n, n), win rate minus loss rate of the row agent; ``r`` ratings in
[0, 100], ``B = W + D / 2`` votes for the row agent, ``tau`` temperature.
"""

from itertools import product

import numpy as np

from nashboard._types import Bools, Floats, Ints
from nashboard.errors import InputError
from nashboard.ranking.method import Outcome
from nashboard.ranking.pairwise import Pairwise

EQUAL = 1e-12  # margins closer than this are equal
LOW, HIGH = 0.0, 100.0  # ratings of Soft Condorcet Optimization
DIRECT = 200  # agents up to which its search starts at the last temperature too


def copeland(data: Pairwise) -> Outcome:
    """Count the opponents that an agent beats, half for those it ties with."""
    M = rounded(data.margins)
    return Outcome(scores=(M > 0).sum(axis=1) + ((M == 0).sum(axis=1) - 1) / 2)


def schulze(data: Pairwise) -> Outcome:
    """Rank a above b if the strongest chain of wins from a to b is stronger than that from b to a.

    A chain is as strong as its smallest margin. The relation is transitive; scores are minus the number of agents in
    the longest chain above an agent, so agents that the relation does not separate tie.
    """
    from nashboard.ranking.kernels import widest_paths

    S = widest_paths(rounded(data.margins))
    return Outcome(scores=-levels(S > S.T).astype(np.float64))


def ranked_pairs(data: Pairwise) -> Outcome:
    """Lock pairs in the order of their margins, skipping those that contradict what is locked (Tideman).

    Pairs with equal margins are treated alike: of those, the ones that would close a cycle together are all skipped,
    so that no order of names or of copies decides. Scores are minus the number of agents in the longest chain above.
    """
    M = rounded(data.margins)
    above, below = np.nonzero(M > 0)
    order = np.argsort(-M[above, below], kind="stable")
    above, below = above[order], below[order]
    values = M[above, below]
    changes = np.flatnonzero(values[1:] < values[:-1]) + 1
    reach = np.zeros((data.size, (data.size + 63) // 64), dtype=np.uint64)
    for group in np.split(np.arange(values.size), changes):
        lock_together(reach, np.ascontiguousarray(above[group]), np.ascontiguousarray(below[group]))
    return Outcome(scores=-levels(bits_set(reach, data.size)).astype(np.float64))


def lock_together(reach: "np.ndarray[tuple[int, int], np.dtype[np.uint64]]", above: Ints, below: Ints) -> None:
    """Lock pairs of equal margin, in place: all that are in no cycle of these pairs and those locked before."""
    from scipy.sparse.csgraph import connected_components

    from nashboard.ranking.kernels import lock_pairs

    before = reach.copy() if above.size > 1 else reach
    locked = np.zeros(above.size, dtype=np.bool_)
    if lock_pairs(reach, above, below, locked) or above.size <= 1:
        return
    reach[:] = before
    graph = bits_set(reach, len(reach))
    free = ~graph[below, above]
    above, below = above[free], below[free]
    graph[above, below] = True
    _, part = connected_components(graph, directed=True, connection="strong")
    apart = part[above] != part[below]
    keep_above, keep_below = np.ascontiguousarray(above[apart]), np.ascontiguousarray(below[apart])
    lock_pairs(reach, keep_above, keep_below, np.zeros(keep_above.size, dtype=np.bool_))


def bits_set(reach: "np.ndarray[tuple[int, int], np.dtype[np.uint64]]", n: int) -> Bools:
    """Return rows of bits as a boolean matrix, ``(n, n)``."""
    return np.unpackbits(reach.view(np.uint8), axis=1, bitorder="little")[:, :n].astype(np.bool_)


def levels(above: Bools) -> Ints:
    """Return for a strict partial order, ``above[i, j]`` if i is above j, how long the longest chain above each is."""
    level = np.zeros(len(above), dtype=np.intp)
    waiting = above.sum(axis=0)
    left = np.ones(len(above), dtype=np.bool_)
    for depth in range(len(above)):
        top = left & (waiting == 0)
        level[top] = depth
        left &= ~top
        if not left.any():
            break
        waiting = waiting - above[top].sum(axis=0)
    return level


def rounded(M: Floats) -> Floats:
    """Return margins in which those that differ by rounding only are equal, and antisymmetric."""
    half = np.triu(np.round(M / EQUAL) * EQUAL, 1)
    return np.ascontiguousarray(half - half.T) + 0.0


def soft_condorcet(data: Pairwise, temperature: float = 1.0) -> Outcome:
    """Minimise ``sum of B[a, b] / (1 + e^((r_a - r_b) / tau))`` over ratings in [0, 100] (Lanctot et al. 2024).

    As ``tau`` goes to 0 this counts contradicted votes, as Kemeny-Young does. The loss has several minima: the search
    starts from equal ratings and from the orders of four other methods, at falling temperatures and, of up to 200
    agents, at the last one at once (falling temperatures can end between agents in a cycle), and keeps the best.
    """
    from scipy.optimize import minimize  # takes a fifth of a second to import

    if not temperature > 0:
        raise InputError(f"the temperature is {temperature:g}: it must be positive")
    B = np.array(data.points)
    np.fill_diagonal(B, 0.0)
    total = float(B.sum()) or 1.0
    C, against = (B - B.T) / total, float(np.triu(B.T, 1).sum()) / total
    bounds = [(LOW, HIGH)] * data.size
    found = []
    falling = tuple(tau for tau in (50.0, 10.0) if tau > 2 * temperature)  # the loss is nearly convex at first
    ways = [(*falling, temperature), *([(temperature,)] if data.size <= DIRECT else [])]
    for start, way in product(starts(data), ways):
        r = start
        for tau in way:
            done = minimize(
                loss, r, (C, against, tau), "L-BFGS-B", jac=True, bounds=bounds,
                options={"maxiter": 3000, "maxfun": 6000, "ftol": 1e-15, "gtol": 1e-10},
            )  # fmt: skip
            r = np.asarray(done.x)
        found.append((float(done.fun), r))
    best = min(value for value, _ in found)
    r = next(r for value, r in found if value <= best + 1e-9)  # the first start that does as well as any
    _, gradient = loss(r, C, against, temperature)
    projected = float(np.abs(np.clip(r - gradient, LOW, HIGH) - r).max())
    return Outcome(scores=r, certificate={"contradicted_votes": best * total, "gradient_norm": projected})


def starts(data: Pairwise) -> list[Floats]:
    """Return where to start, none of which depends on the order of agents."""
    middle = np.full(data.size, (LOW + HIGH) / 2)
    scores = [data.margins.sum(axis=1), *(method(data).scores for method in (copeland, schulze, ranked_pairs))]
    spans = [LOW + (HIGH - LOW) * (one - one.min()) / (np.ptp(one) or 1.0) for one in scores]
    return [middle, *spans]


def loss(r: Floats, C: Floats, against: float, tau: float) -> tuple[float, Floats]:
    """Return the loss and its gradient from ``C = B - B'`` and the votes for the second agents of the pairs i < j."""
    from nashboard.ranking.kernels import soft_loss

    gradient = np.empty(r.size)
    return against + soft_loss(r, C, tau, gradient), gradient
