"""Clones: players that nobody can tell apart by their payoffs.

Two players are identical when all their payoffs are the same, by the rule of `tolerance`. Since identical
players are also identical as opponents, one pass is enough: classes of the collapsed game stay distinct.
The game is solved between classes, and each class shares its weight evenly among its members, which is what
makes the answer independent of how often somebody enters (property P1 of the paper, see the docs).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from nashboard._types import Bools, Floats, Ints, read_only
from nashboard.equilibrium.models import PayoffModel
from nashboard.equilibrium.tolerance import ZERO

CELLS = 1 << 22  # how many cells are compared at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class Classes:
    """Players sorted into classes: the class of each player, and each class's first member and size."""

    label: Ints
    first: Ints
    size: Ints

    def spread(self, totals: Floats) -> Floats:
        """Return each player's even share of its class's total; the shares add up to 1."""
        shares: Floats = (totals / self.size)[self.label]
        return np.asarray(shares / shares.sum())

    def some(self, rows: Floats) -> Floats:
        """Return the first member's row of every class: the rows themselves where nobody has a clone."""
        return rows if len(self.first) == len(self.label) else rows[self.first]

    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Return the members of every class with more than one, in order of first appearance."""
        if len(self.first) == len(self.label):
            return ()
        crowded = np.flatnonzero(self.size > 1)
        order = np.argsort(self.label, kind="stable")
        ends = np.cumsum(self.size)
        return tuple(tuple(map(int, order[ends[k] - self.size[k] : ends[k]])) for k in crowded)


@lru_cache(maxsize=8)
def irrational_weights(k: int) -> Floats:
    """Return weights from 1 to 2, the same on every run, under which different rows differ in their sums."""
    return read_only(1.0 + np.mod(np.arange(1, k + 1) * ((np.sqrt(5.0) - 1) / 2), 1.0) ** 2)


def identical_rows(rows: Floats, scale: float, largest: float) -> Classes:
    """Sort rows into classes whose members differ by at most ``ZERO * scale`` in every cell.

    ``largest`` is the largest absolute value, whose last bit is what rounding can do to a sum.
    """
    same = ZERO * scale
    weights = irrational_weights(rows.shape[1])
    step = max(1, CELLS // max(rows.shape[1], 1))

    def equal(members: Ints, leader: int) -> Bools:
        parts = [members[at : at + step] for at in range(0, len(members), step)]
        return np.concatenate([np.abs(rows[part] - rows[leader]).max(axis=1) <= same for part in parts])

    rounding = float(np.spacing(largest))
    return classes_of(rows @ weights, 2 * (same + rounding) * float(weights.sum()), equal)


def identical_agents(model: PayoffModel, scale: float) -> Classes:
    """Sort the agents of a model into classes by their payoffs against everybody."""
    same = ZERO * scale
    weights = irrational_weights(model.size)

    def column(k: int) -> Floats:
        return np.asarray(model.columns(np.array([k])), dtype=np.float64)[:, 0]

    def equal(members: Ints, leader: int) -> Bools:
        first = column(leader)
        return np.array([np.abs(column(int(k)) - first).max() <= same for k in members], dtype=np.bool_)

    return classes_of(np.asarray(model.product(weights)), 2 * same * float(weights.sum()), equal)


def classes_of(sums: Floats, gap: float, equal: Callable[[Ints, int], Bools]) -> Classes:
    """Sort players into classes; players whose ``sums`` are further apart than ``gap`` are known to differ.

    Only neighbours by sum are compared, so that one product with all payoffs does nearly all of the work.
    """
    order = np.argsort(sums, kind="stable")
    leader = np.arange(len(sums))
    rising = sums[order]
    gaps = rising[1:] - rising[:-1] > gap
    if gaps.all():
        return Classes(label=leader, first=leader, size=np.ones(len(leader), dtype=np.intp))
    for run in runs(order, gaps):
        members = np.sort(run)
        while len(members) > 1:
            same = equal(members[1:], int(members[0]))
            leader[members[1:][same]] = members[0]
            members = members[1:][~same]
    first, label, size = np.unique(leader, return_inverse=True, return_counts=True)
    return Classes(label=label, first=first, size=size)


def runs(order: Ints, gaps: Bools) -> Iterator[Ints]:
    """Yield stretches of at least two neighbours without a gap between them."""
    ends = np.append(np.flatnonzero(gaps) + 1, len(order))
    starts = np.append(0, ends[:-1])
    for k in np.flatnonzero(ends - starts > 1):
        yield order[starts[k] : ends[k]]
