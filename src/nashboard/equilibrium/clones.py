"""Clones: players that nobody can tell apart by their payoffs.

Two players are identical when all their payoffs are the same, by the rule of `precision`. Since identical
players are also identical as opponents, one pass is enough: classes of the collapsed game stay distinct.
The game is solved between classes, and each class shares its weight evenly among its members, which is what
makes the answer independent of how often somebody enters (property P1 of the paper, see the docs).

Being within the rule is not transitive: a and b may be, b and c, and not a and c. So players are linked from the
nearest pair on (single linkage), and a class is a group, as large as can be, in which no two players differ by
more than the rule. Where members of a class differ at all, the middle between their largest and smallest payoff
stands for the class. Both depend on the set of payoffs alone: not on who came first, nor on how often.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from nashboard._types import Bools, Floats, Ints, read_only
from nashboard.equilibrium.precision import ZERO

CELLS = 1 << 22  # how many cells are compared at a time
SKETCHED = 64  # opponents against whom near-copies are compared first, those against whom they vary most

Block = Callable[[Ints, Ints], Floats]


@dataclass(frozen=True, kw_only=True, eq=False)
class Classes:
    """Players sorted into classes: the class of each player; of each class the first member and the size.

    ``loose`` are classes whose members are the same by the rule, but not to the last bit.
    """

    label: Ints
    first: Ints
    size: Ints
    loose: Bools

    @staticmethod
    def all_differ(n: int) -> "Classes":
        """Return the classes of players of whom no two are alike."""
        each = np.arange(n)
        return Classes(label=each, first=each, size=np.ones(n, dtype=np.intp), loose=np.zeros(n, dtype=np.bool_))

    @property
    def trivial(self) -> bool:
        """Whether nobody has a clone."""
        return len(self.first) == len(self.label)

    def spread(self, totals: Floats) -> Floats:
        """Return each player's even share of its class's total; the shares add up to 1."""
        shares: Floats = (totals / self.size)[self.label]
        return np.asarray(shares / shares.sum())

    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Return the members of every class with more than one, in order of first appearance."""
        crowded = np.flatnonzero(self.size > 1)
        if not crowded.size:
            return ()
        members, starts = self.members(crowded, self.size[crowded])
        return tuple(tuple(group) for group in np.split(members, starts[1:]))

    def members(self, some: Ints, counts: Ints) -> tuple[Ints, Ints]:
        """Return the first few members of some classes, one class after the other, and where each begins."""
        order = np.argsort(self.label, kind="stable")
        begin = (np.cumsum(self.size) - self.size)[some]
        starts = np.cumsum(counts) - counts
        return order[np.arange(counts.sum()) + np.repeat(begin - starts, counts)], starts

    def that_differ(self, some: Ints) -> tuple[Ints, Ints]:
        """Return the members of some classes that differ: all where the class is loose, one where it is not."""
        return self.members(some, np.where(self.loose[some], self.size[some], 1))


def between_classes(block: Block, rows: Classes, columns: Classes, some: Ints, others: Ints) -> Floats:
    """Return the payoffs of some classes of ``rows`` against some of ``columns``; ``block`` has those of players."""
    payoffs = block(rows.first[some], columns.first[others])
    loose = np.flatnonzero(rows.loose[some])
    for part in split_parts(loose, CELLS // (4 * max(1, len(others)))):
        payoffs[part] = middle_payoffs(block, rows, columns, some[part], others)
    loose = np.flatnonzero(columns.loose[others])
    for part in split_parts(loose, CELLS // (4 * max(1, len(some)))):
        payoffs[:, part] = middle_payoffs(block, rows, columns, some, others[part])
    return payoffs


def split_parts(indices: Ints, step: int) -> Iterator[Ints]:
    """Yield indices, so many at a time."""
    step = max(1, step)
    for at in range(0, len(indices), step):
        yield indices[at : at + step]


def middle_payoffs(block: Block, rows: Classes, columns: Classes, some: Ints, others: Ints) -> Floats:
    """Return the middle between the largest and the smallest payoff of all members of two classes."""
    (above, over), (beside, along) = rows.that_differ(some), columns.that_differ(others)
    payoffs = block(above, beside)
    low, high = (which.reduceat(which.reduceat(payoffs, over), along, axis=1) for which in (np.minimum, np.maximum))
    return np.asarray(low / 2 + high / 2)


@lru_cache(maxsize=8)
def irrational_weights(k: int) -> Floats:
    """Return weights from 1 to 2, the same on every run, under which different rows differ in their sums."""
    return read_only(1.0 + np.mod(np.arange(1, k + 1) * ((np.sqrt(5.0) - 1) / 2), 1.0) ** 2)


def identical_rows(rows: Floats, scale: float, largest: float, zero: float = ZERO) -> Classes:
    """Sort rows into classes whose members differ by at most ``zero * scale`` in every cell.

    ``largest`` is the largest absolute value: its last bit, for each cell, is what rounding can do to a sum.
    """
    same = zero * scale
    weights = irrational_weights(rows.shape[1])
    gap = 2 * (same + rows.shape[1] * float(np.spacing(largest))) * float(weights.sum())
    step = max(1, CELLS // max(rows.shape[1], 1))
    return classes_of(Players(payoffs=lambda k: rows[k], sums=rows @ weights, gap=gap, same=same, step=step))


def identical_agents(
    size: int, columns: Callable[[Ints], Floats], product: Callable[[Floats], Floats], same: float
) -> Classes:
    """Sort the agents of a model into classes by their payoffs against everybody, ``-columns(indices).T``."""
    weights = irrational_weights(size)
    gap = 2 * same * float(weights.sum())
    step = max(1, CELLS // size)
    sums = np.asarray(product(weights))
    return classes_of(Players(payoffs=lambda k: columns(k).T, sums=sums, gap=gap, same=same, step=step))


@dataclass(frozen=True, kw_only=True, eq=False)
class Players:
    """Players to be compared: ``payoffs(indices)`` gives their rows, ``step`` says how many at a time.

    Players whose ``sums`` are further apart than ``gap`` are known to differ by more than ``same`` in some cell.
    """

    payoffs: Callable[[Ints], Floats]
    sums: Floats
    gap: float
    same: float
    step: int

    def distances(self, members: Ints, at: int, sketch: Floats | None = None) -> Floats:
        """Return by how much each player differs from one of them, at most.

        Where that is known to be more than the rule, by sums or by the payoffs of a sketch, it is a lower bound.
        """
        away = np.full(len(members), np.inf)
        if sketch is None:
            near = np.flatnonzero(np.abs(self.sums[members] - self.sums[members[at]]) <= self.gap)
        else:
            near = np.flatnonzero(np.abs(sketch[:, 0] - sketch[at, 0]) <= 2 * self.same)
            away[near] = np.abs(sketch[near] - sketch[at]).max(axis=1)
            near = np.flatnonzero(away <= self.same)
        own = self.payoffs(members[at : at + 1])
        away[near] = np.concatenate(
            [np.abs(self.payoffs(part) - own).max(axis=1) for part in split_parts(members[near], self.step)]
        )
        return away

    def widths(self, members: Ints) -> Floats:
        """Return by how much any two of some players differ against each opponent, at most."""
        low, high = self.payoffs(members[:1])[0], self.payoffs(members[:1])[0]
        for part in split_parts(members, self.step):
            rows = self.payoffs(part)
            low, high = np.minimum(low, rows.min(axis=0)), np.maximum(high, rows.max(axis=0))
        return np.asarray(high - low)

    def sketch(self, members: Ints) -> Floats:
        """Return the payoffs of some players against the opponents against whom they vary most."""
        most = np.argsort(-self.widths(members), kind="stable")[:SKETCHED]
        return np.vstack([self.payoffs(part)[:, most] for part in split_parts(members, self.step)])


def classes_of(players: Players) -> Classes:
    """Sort players into classes.

    Only neighbours by sum are compared, so that one product with all payoffs does nearly all of the work.
    """
    order = np.argsort(players.sums, kind="stable")
    leader = np.arange(len(order))
    loose = np.zeros(len(order), dtype=np.bool_)
    rising = players.sums[order]
    gaps = rising[1:] - rising[:-1] > players.gap
    if gaps.all():
        return Classes.all_differ(len(order))
    for run in split_runs(order, gaps):
        for group, differ in group_members(players, np.sort(run)):
            first = group.min()
            leader[group], loose[first] = first, differ
    firsts, label, size = np.unique(leader, return_inverse=True, return_counts=True)
    return Classes(label=label, first=firsts, size=size, loose=loose[firsts])


def split_runs(order: Ints, gaps: Bools) -> Iterator[Ints]:
    """Yield stretches of at least two neighbours without a gap between them."""
    ends = np.append(np.flatnonzero(gaps) + 1, len(order))
    starts = np.append(0, ends[:-1])
    for k in np.flatnonzero(ends - starts > 1):
        yield order[starts[k] : ends[k]]


def group_members(players: Players, members: Ints) -> Iterator[tuple[Ints, bool]]:
    """Yield the classes among some players, and whether their members differ.

    Mostly a look at the distances from one player is enough: exact copies are a class, and so are those near it
    when nobody stands just outside.
    """
    same, sketch = players.same, None
    while len(members) > 1:
        away = players.distances(members, 0, sketch)
        if sketch is None and (away > 0).any():
            sketch = players.sketch(members)
        near = away <= same
        if not away[near].any():
            yield members[near], False
        elif not (away[~near] <= 2 * same).any() and players.widths(members[near]).max() <= same:
            yield members[near], True
        else:
            assert sketch is not None
            chain, links = link_nearest(players, members, sketch, away)
            near[:] = False
            near[chain] = True
            yield from cut_chain(players, members[chain], sketch[chain], links)
        members, sketch = members[~near], None if sketch is None else sketch[~near]


def link_nearest(players: Players, members: Ints, sketch: Floats, away: Floats) -> tuple[Ints, Floats]:
    """Return the positions of players linked to the first, each the nearest to those before it, and by what distance.

    This is Prim's tree: at every threshold, the groups of single linkage are stretches of this chain. ``away`` are
    the distances from the first.
    """
    chain, links = [np.zeros(1, dtype=np.intp)], [0.0]
    left, nearest, sketch = np.arange(1, len(members)), away[1:], sketch[1:]
    while len(left):
        at = int(np.argmin(nearest))
        if nearest[at] > players.same:
            break
        away = players.distances(members[left], at, sketch)
        copies = away == 0  # the player itself, and exact copies, whose distances are the same
        chain.append(left[copies])
        links.extend([float(nearest[at]), *[0.0] * (int(copies.sum()) - 1)])
        left, nearest, sketch = left[~copies], np.minimum(nearest, away)[~copies], sketch[~copies]
    return np.concatenate(chain), np.array(links)


def cut_chain(players: Players, chain: Ints, sketch: Floats, links: Floats) -> Iterator[tuple[Ints, bool]]:
    """Yield the largest groups of single linkage in which no two differ by more than the rule."""
    waiting = [(chain, sketch, links)]
    while waiting:
        chain, sketch, links = waiting.pop()
        if np.ptp(sketch, axis=0).max() <= players.same:  # otherwise some two are known to differ by more
            width = float(players.widths(chain).max())
            if width <= players.same:
                yield chain, width > 0
                continue
        at = np.flatnonzero(links[1:] == links[1:].max()) + 1
        waiting.extend(zip(*(np.split(part, at) for part in (chain, sketch, links)), strict=True))
