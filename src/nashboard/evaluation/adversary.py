"""The adversary: which single entry to clone so that the board of uniform averages moves most."""

import numpy as np

from nashboard.equilibrium.ranks import tied_ranks
from nashboard.evaluation.contest import Contest


def adversary(game: Contest, counts: tuple[int, ...]) -> int:
    """Return the entry whose clones change the winner with the fewest copies, or else move ranks most.

    Every entry is tried with every number of copies; ties go to the one listed first.
    """
    M, n = game.M, len(game.entries)
    totals = M.sum(axis=1)
    before = tied_ranks(totals / n, game.scale)
    best: tuple[float, float, float] | None = None
    chosen = 0
    for k in range(n):
        soonest, most_moved = np.inf, 0.0
        for count in counts:
            ranks = tied_ranks((totals + count * M[:, k]) / (n + count), game.scale)
            if ((ranks == 1) != (before == 1)).any():
                soonest = min(soonest, float(count))
            most_moved = max(most_moved, float(np.abs(ranks - before).max()))
        after = (totals + counts[-1] * M[:, k]) / (n + counts[-1])
        score = (soonest, -most_moved, -float(np.abs(after - totals / n).max()))
        if best is None or score < best:
            best, chosen = score, k
    return chosen
