"""Ranked pairs (Tideman): the largest margins are locked first."""

import numpy as np

from nashboard._types import Bools, Ints
from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_1, WINS_TIED, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise, chain_lengths


@register(
    Counterexample("irrelevant", WINS_1, 2),
    # only through ties: pairs of equal margin that close a cycle are skipped together
    Counterexample("monotone", WINS_TIED, 1, against=3, more=2),
    LUCKY_NEWCOMER,
    title="ranked pairs (Tideman)",
    unit="minus the length of the longest chain of better agents",
    complexity="n^2 log n to n^4 / 64",
    reference="Tideman 1987, Independence of clones as a criterion for voting rules",
)
def ranked_pairs(data: Pairwise) -> Outcome:
    """Lock pairs in the order of their margins, skipping those that contradict earlier ones (Tideman).

    Pairs with equal margins are treated alike: those that would close a cycle together are all skipped, so that the
    order of names or of copies has no effect. Scores are minus the number of agents in the longest chain above.
    """
    M = data.margins
    above, below = np.nonzero(M > 0)
    order = np.argsort(-M[above, below], kind="stable")
    above, below = above[order], below[order]
    values = M[above, below]
    changes = np.flatnonzero(values[1:] < values[:-1]) + 1
    reach = np.zeros((data.size, (data.size + 63) // 64), dtype=np.uint64)
    for group in np.split(np.arange(values.size), changes):
        lock_equal_margins(reach, np.ascontiguousarray(above[group]), np.ascontiguousarray(below[group]))
    return Outcome(scores=-chain_lengths(unpack_bits(reach, data.size)).astype(np.float64))


def lock_equal_margins(reach: "np.ndarray[tuple[int, int], np.dtype[np.uint64]]", above: Ints, below: Ints) -> None:
    """Lock pairs of equal margin, in place: all that are in no cycle of these pairs and those locked before."""
    from scipy.sparse.csgraph import connected_components

    from nashboard.ranking.kernels import lock_pairs

    before = reach.copy() if above.size > 1 else reach
    locked = np.zeros(above.size, dtype=np.bool_)
    if lock_pairs(reach, above, below, locked) or above.size <= 1:
        return
    reach[:] = before
    graph = unpack_bits(reach, len(reach))
    free = ~graph[below, above]
    above, below = above[free], below[free]
    graph[above, below] = True
    _, part = connected_components(graph, directed=True, connection="strong")
    apart = part[above] != part[below]
    keep_above, keep_below = np.ascontiguousarray(above[apart]), np.ascontiguousarray(below[apart])
    lock_pairs(reach, keep_above, keep_below, np.zeros(keep_above.size, dtype=np.bool_))


def unpack_bits(reach: "np.ndarray[tuple[int, int], np.dtype[np.uint64]]", n: int) -> Bools:
    """Return rows of bits as a boolean matrix, ``(n, n)``."""
    return np.unpackbits(reach.view(np.uint8), axis=1, bitorder="little")[:, :n].astype(np.bool_)
