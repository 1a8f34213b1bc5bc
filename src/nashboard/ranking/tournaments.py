"""Methods from voting theory that compare two agents at a time: Copeland, Schulze, ranked pairs.

Games (or tasks) are votes. Symbols: ``M`` margins (n, n), win rate minus loss rate of the row agent.
"""

import numpy as np

from nashboard._types import Bools, Floats, Ints
from nashboard.ranking.method import Outcome
from nashboard.ranking.pairwise import Pairwise

EQUAL = 1e-12  # margins closer than this are equal


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
