"""Classes of exact copies, in an order that depends only on the data.

Agents whose data are the same in every count (or score) form one class. The model is fitted to classes and random
numbers are drawn for classes, so that entering an agent twice changes neither a point nor an interval. The canonical
order of classes comes from the data (names break ties between mirror images), so the order of rows does not matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores

Tags = np.ndarray[tuple[int], np.dtype[np.bytes_]]
ROUNDS = 2  # refinements of signatures by the signatures of the opponents


@dataclass(frozen=True, kw_only=True, eq=False)
class Classes:
    """The class of each entry (``label``), and a representative (``first``) and the size of each class."""

    label: Ints
    first: Ints
    size: Ints

    def shares(self, weights: Floats) -> Floats:
        """Return each entry's even share of its class's weight."""
        return np.asarray((weights / self.size)[self.label])

    def groups(self, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Return the names in every class that has more than one, in order of the names given."""
        members: dict[int, list[str]] = {}
        for name, k in zip(names, self.label, strict=True):
            members.setdefault(int(k), []).append(name)
        return tuple(tuple(group) for group in members.values() if len(group) > 1)

    def names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return a name per class: the first of its members in alphabetical order."""
        first_names = [""] * len(self.first)
        for name, k in zip(names, self.label, strict=True):
            first_names[k] = min(first_names[k], name) if first_names[k] else name
        return tuple(first_names)


def find_match_classes(matches: Matches, *, merge: bool = True, sided: bool = False) -> Classes:
    """Return the classes of agents with the same counts against all others, and even results among themselves.

    ``sided``: counts must be the same as the first side and as the second.
    """
    n = len(matches.agents)
    i, j = np.concatenate([matches.pairs, matches.pairs[:, ::-1]]).T
    from_first = np.column_stack([matches.wins, matches.draws, matches.losses, *measure_clusters(matches)])
    from_second = from_first.copy()
    from_second[:, :3] = from_second[:, 2::-1]
    if sided and matches.sides is not None:
        first, second = matches.sides.first, matches.sides.second
        from_first = np.column_stack([from_first, first, second])
        from_second = np.column_stack([from_second, second[:, ::-1], first[:, ::-1]])
    counts = np.concatenate([from_first, from_second])
    by_agent = np.lexsort([j, i])
    i, j, counts = i[by_agent], j[by_agent], counts[by_agent] + 0.0
    leader, merging = np.arange(n), merge
    while merging:  # two agents may differ only in their games with the copies of one of them
        names = np.unique(leader)
        found = find_leaders(np.searchsorted(names, j), counts, np.append(np.searchsorted(i, names), len(i)))
        leader = names[found][np.searchsorted(names, leader)]
        kept = (leader[i] == i) & (leader[j] == j)
        i, j, counts = i[kept], j[kept], counts[kept]
        merging = len(np.unique(found)) < len(names)
    tags = hash_neighbours(n, i, j, counts)
    return order_classes(leader, tags[np.unique(leader)], matches.agents)


def measure_clusters(matches: Matches) -> list[Floats]:
    """Return the sums of squares of each pair's clusters, which the model uses too."""
    split, pairs = matches.clusters, len(matches.pairs)
    if split is None:
        return []
    code, where = np.unique(split.cluster * pairs + split.pair, return_inverse=True)
    size = np.bincount(where, split.wins + split.draws + split.losses)
    lead = np.bincount(where, split.wins - split.losses)
    return [np.bincount(code % pairs, x**2, minlength=pairs).astype(np.float64) for x in (size, lead)]


def find_leaders(j: Ints, counts: Floats, ends: Ints) -> Ints:
    """Return for each agent the first agent that is identical to it, which may be itself."""
    n = len(ends) - 1
    uneven = counts[:, 0] != counts[:, 2]
    leader = np.arange(n)
    candidates: dict[tuple[int, bytes], list[int]] = {}
    for k in range(n):
        row = slice(ends[k], ends[k + 1])
        decided = uneven[row]  # games among copies are even, and each copy has them against other names
        key = (ends[k + 1] - ends[k], hash_bytes(j[row][decided].tobytes() + counts[row][decided].tobytes()))
        same = candidates.setdefault(key, [])
        for other in same:
            if are_identical(k, other, j, counts, ends):
                leader[k] = other
                break
        else:
            same.append(k)
    return leader


def are_identical(a: int, b: int, j: Ints, counts: Floats, ends: Ints) -> bool:
    """Return whether two agents can be exchanged without a change of the data."""
    rows = []
    for k in (a, b):
        row = slice(ends[k], ends[k + 1])
        others = (j[row] != a) & (j[row] != b)
        if (counts[row][~others, 0] != counts[row][~others, 2]).any():
            return False
        rows.append((j[row][others], counts[row][others]))
    return all(np.array_equal(x, y) for x, y in zip(*rows, strict=True))


def hash_neighbours(n: int, i: Ints, j: Ints, counts: Floats) -> Tags:
    """Return a signature per agent that depends on the counts, not on names or order."""
    tags = np.zeros(n, dtype="S16")
    for _ in range(ROUNDS):
        order = np.lexsort([*counts.T, tags[j], i])
        ends = np.searchsorted(i[order], np.arange(n + 1))
        cells, there = counts[order], tags[j[order]]
        tags = np.array([hash_bytes(there[a:b].tobytes() + cells[a:b].tobytes()) for a, b in pairwise(ends)], "S16")
    return tags


def find_score_classes(scores: Scores, *, merge: bool = True, like: Classes | None = None) -> tuple[Classes, Classes]:
    """Return the classes of agents with the same row and of tasks with the same column, errors included.

    Known classes of agents, ``like``, are only put in the order of these scores.
    """
    turned = np.broadcast_to(scores.lower_is_better, scores.values.shape)
    cells = np.stack([scores.values, *(np.nan_to_num(x, nan=-1.0) for x in (scores.stderr, scores.n)), turned], axis=-1)
    cells = cells + 0.0
    agents, tasks = (find_same_rows(side) if merge else np.arange(len(side)) for side in (cells, cells.swapaxes(0, 1)))
    agents = agents if like is None else like.first[like.label]
    kept = cells[np.ix_(np.unique(agents), np.unique(tasks))]
    of_agents, of_tasks = np.zeros(len(kept), "S16"), np.zeros(kept.shape[1], "S16")
    for _ in range(ROUNDS):
        of_agents, of_tasks = hash_rows(kept, of_tasks), hash_rows(kept.swapaxes(0, 1), of_agents)
    return order_classes(agents, of_agents, scores.agents), order_classes(tasks, of_tasks, scores.tasks)


def find_payoff_classes(payoffs: Payoffs, *, merge: bool = True) -> Classes:
    """Return the classes of agents with the same payoffs."""
    errors = [np.nan_to_num(x, nan=-1.0) for x in (payoffs.stderr, payoffs.games) if x is not None]
    cells = np.stack([payoffs.A, *errors], axis=2)
    leader = find_same_rows(cells) if merge else np.arange(len(cells))
    first = np.unique(leader)
    i, j = (side.ravel() for side in np.indices((len(first),) * 2))
    tags = hash_neighbours(len(first), i, j, cells[np.ix_(first, first)].reshape(len(first) ** 2, -1))
    return order_classes(leader, tags, payoffs.agents)


def find_same_rows(cells: Floats) -> Ints:
    """Return for each row the first row that is the same."""
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(np.ascontiguousarray(row).tobytes(), k) for k, row in enumerate(cells)])


def hash_rows(cells: Floats, there: Tags) -> Tags:
    """Return a signature per row, from its cells and the signatures of the columns, in any order."""
    hashes = []
    for row in cells:
        order = np.lexsort([*row.T, there])
        hashes.append(hash_bytes(there[order].tobytes() + row[order].tobytes()))
    return np.array(hashes, "S16")


def order_classes(leader: Ints, tags: Tags, names: Sequence[str]) -> Classes:
    """Number the classes by the signatures of their leaders, and by name if signatures are equal."""
    first, members = np.unique(leader, return_inverse=True)
    least = Classes(label=members, first=first, size=np.bincount(members)).names(names)
    order = np.array(sorted(range(len(first)), key=lambda c: (bytes(tags[c]), least[c])))
    label = np.argsort(order)[members]
    return Classes(label=label, first=first[order], size=np.bincount(label))


def hash_bytes(content: bytes) -> bytes:
    """Return a short hash without zero bytes at its end, which fixed-width strings would lose."""
    return blake2b(content, digest_size=8).hexdigest().encode()
