"""Promises of methods, and small examples in which one is broken; the documentation shows them, the tests run them.

Each example is a table of wins (``wins[i][j]`` how often i beat j) or, for methods that need scores, of scores, and
one change to it.
"""

from dataclasses import dataclass
from itertools import pairwise as pairwise_of
from typing import TYPE_CHECKING

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.data.scores import Scores
from nashboard.ranking.pairwise import Pairwise, pairwise

if TYPE_CHECKING:
    from nashboard.ranking.method import Method

PROMISES = {
    "clones": "exact copies leave the order of the others as it was",
    "condorcet": "an agent that beats every other is alone in first place",
    "irrelevant": "dropping an agent that is not first leaves first place as it was",
    "monotone": "a sole winner that does better stays first",
    "noise": "an agent that won its only game is not first; of scores: one score puts nobody else in first place",
}
NAMES = "ABCDEFGH"  # of the agents of small examples

Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Counterexample:
    """Data, and a change to them for which a method breaks a promise."""

    promise: str  # which is broken, of `PROMISES`
    table: Rows  # wins of agents against agents, or scores of agents on tasks
    # the agent that is copied, dropped or improved; for "condorcet" the one that beats every other, for
    # "noise" the one that a newcomer beats once. In a table of scores the task that is copied.
    agent: int
    copies: int = 1  # how many copies enter, for "clones"
    # against, more: for "monotone": the opponent against whom the winner wins more, and how many games. For
    # "noise" in a table of scores: the task on which the agent does better, and by how much.
    against: int = 0
    more: float = 0
    added: bool = False  # whether these are more games, for "monotone"; otherwise games that were lost are won
    draws: Rows = ()  # of agents against agents, beside the wins
    of_scores: bool = False  # whether the table is one of scores

    def data(self, T: Floats) -> Pairwise:
        """Return wins (with the draws of the example), or scores, as data."""
        names = tuple(NAMES[: len(T)]) if len(T) <= len(NAMES) else None
        if self.of_scores:
            return pairwise(Scores.from_array(T, names))
        return pairwise(Matches.from_counts(T, names, draws=np.array(self.draws) if self.draws else None))

    def changed_data(self) -> Pairwise:
        """Return the data after the change; unchanged for ``"condorcet"``, which needs no change."""
        T = np.array(self.table, dtype=np.float64)
        n = len(T)
        if self.promise == "clones" and self.of_scores:
            T = np.hstack([T, np.repeat(T[:, [self.agent]], self.copies, axis=1)])
        elif self.promise == "clones":
            return self.data(T).take([*range(n), *[self.agent] * self.copies])
        elif self.promise == "irrelevant":
            return self.data(T).take([k for k in range(n) if k != self.agent])
        elif self.promise == "noise" and not self.of_scores:
            T = np.pad(T, (0, 1))
            T[n, self.agent] = 1
        elif self.promise in ("monotone", "noise"):
            T[self.agent, self.against] += self.more
            if not self.of_scores and not self.added:
                T[self.against, self.agent] -= self.more
        return self.data(T)

    def rank_both(self, method: "Method") -> tuple[Ints, Ints]:
        """Return the ranks before and after the change."""
        before = self.data(np.array(self.table, dtype=np.float64))
        return method.rank(before).ranks, method.rank(self.changed_data()).ranks

    def breaks_promise(self, method: "Method") -> bool:
        """Return whether a method breaks the promise on this example."""
        before, after = self.rank_both(method)
        n, who = len(before), self.agent
        first = set(np.flatnonzero(before == 1).tolist())
        if self.promise == "clones":
            return bool((pairwise_order(before) != pairwise_order(after[:n])).any())
        if self.promise == "irrelevant":
            kept = np.delete(np.arange(n), who)
            return who not in first and set(kept[after == 1].tolist()) != first
        if self.promise == "monotone":
            return first == {who} and after[who] > 1
        if self.promise == "noise":
            return bool(after[n] == 1 if len(after) > n else who not in first and after[who] == 1)
        T = np.array(self.table)
        others = np.delete(np.arange(n), who)
        lead = np.sign(T[who] - T[others]).sum(axis=1) if self.of_scores else T[who, others] - T[others, who]
        return bool((lead > 0).all()) and first != {who}

    def words(self, method: "Method") -> str:
        """Return the example as one sentence."""
        before, after = self.rank_both(method)
        n, who = len(before), NAMES[self.agent]
        was = format_order(before)
        if self.promise == "clones":
            what = f"task {self.agent + 1}" if self.of_scores else who
            times = "once more" if self.copies == 1 else f"{self.copies} times more"
            return f"{was}; with {what} entered {times}: {format_order(after[:n])}"
        if self.promise == "irrelevant":
            return f"{was}; without {who}: {format_order(after, NAMES[:n].replace(who, ''))}"
        if self.promise == "monotone" and not self.of_scores:
            return f"{was}; after {who} won {self.more:g} more against {NAMES[self.against]}: {format_order(after)}"
        if self.promise == "noise" and len(after) > n:
            return f"{was}; after one game, in which {NAMES[n]} beat {who}: {format_order(after)}"
        if self.promise in ("monotone", "noise"):
            return f"{was}; after {who} scored {self.more:g} more on task {self.against + 1}: {format_order(after)}"
        where = " on most tasks" if self.of_scores else ""
        return f"{who} beats every other agent{where}, but the order is {was}"


def pairwise_order(ranks: Ints) -> Ints:
    """Return for each pair of agents which is ahead, ``(n, n)`` of -1, 0 and 1."""
    return np.asarray(np.sign(ranks[:, None] - ranks))


def format_order(ranks: Ints, names: str = NAMES) -> str:
    """Return ranks as ``A > B = C``; of many agents the first ones."""
    order = np.argsort(ranks, kind="stable")[: len(names)]
    text = names[order[0]]
    for one, two in pairwise_of(order):
        if two >= len(names):
            return f"{text}, others"
        text += (" = " if ranks[one] == ranks[two] else " > ") + names[two]
    return text if len(ranks) <= len(names) else f"{text} > others"


def crowded_ladder(n: int) -> Rows:
    """Return wins in 100 games of agents in a line, the first of which beats all others, but only narrowly."""
    W = np.where(np.arange(n)[:, None] < np.arange(n), 90.0, 10.0)
    W[1, 2:], W[2:, 1] = 99.0, 1.0
    W[0], W[:, 0] = 51.0, 49.0
    np.fill_diagonal(W, 0.0)
    return tuple(map(tuple, W.tolist()))


# fmt: off
WINS_1 = ((0, 6, 4), (4, 0, 7), (6, 3, 0))
WINS_2 = ((0, 4, 9), (6, 0, 6), (1, 4, 0))
WINS_3 = ((0, 2, 8), (8, 0, 5), (2, 5, 0))
WINS_4 = ((0, 1, 2, 1), (8, 0, 5, 0), (0, 3, 0, 6), (4, 2, 1, 0))
WINS_5 = ((0, 6, 7, 6), (4, 0, 9, 8), (3, 1, 0, 1), (4, 2, 9, 0))
WINS_6 = ((0, 1, 3), (9, 0, 6), (7, 4, 0))
SCORES_1 = ((3, 0, 2), (1, 4, 1))
SCORES_2 = ((7, 6, 0), (0, 3, 8), (4, 7, 3))
SCORES_3 = ((2, 7, 9, 4), (3, 5, 4, 9), (9, 0, 0, 0))
SCORES_4 = ((9, 2, 4, 5, 6), (4, 1, 9, 6, 0), (8, 7, 1, 6, 5))
SCORES_5 = ((3, 8, 8), (4, 5, 3), (2, 9, 9))
SCORES_6 = ((1, 2, 9), (4, 7, 7), (6, 2, 4))
SCORES_7 = ((8, 8, 4, 8, 2), (0, 6, 5, 5, 6), (5, 9, 0, 7, 8))
SCORES_8 = ((9, 8, 5), (9, 3, 9), (8, 4, 6))
WINS_7 = (
    (0, 100, 200, 100, 1000), (900, 0, 900, 100, 300), (800, 100, 0, 200, 1000), (900, 900, 800, 0, 400),
    (0, 700, 0, 600, 0),
)
WINS_UNEQUAL = ((0, 6, 8, 11, 4), (6, 0, 1, 0, 3), (2, 11, 0, 6, 1), (2, 5, 3, 0, 0), (7, 7, 8, 1, 0))
WINS_FEW = ((0, 0, 0, 0, 1), (2, 0, 1, 2, 3), (4, 1, 0, 1, 1), (2, 1, 6, 0, 0), (0, 1, 1, 5, 0))
WINS_UNEVEN = ((0, 63, 0, 0, 0), (65, 0, 0, 1, 0), (1, 1, 0, 21, 1), (1, 0, 17, 0, 0), (1, 1, 0, 2, 0))
WINS_ALIKE = ((0, 2, 1, 1, 1), (2, 0, 2, 2, 3), (3, 2, 0, 2, 1), (3, 2, 2, 0, 3), (3, 1, 3, 1, 0))
WINS_DRAWN = ((0, 0, 15, 0, 7), (0, 0, 0, 1, 1), (0, 0, 0, 0, 0), (0, 0, 1, 0, 0), (1, 0, 0, 0, 0))
DRAWN = ((0, 1, 6, 1, 6), (1, 0, 1, 4, 0), (6, 1, 0, 0, 1), (1, 4, 0, 0, 4), (6, 0, 1, 4, 0))
WINS_TIED = ((0, 10, 1, 5, 2), (2, 0, 5, 8, 11), (11, 7, 0, 2, 2), (7, 4, 10, 0, 6), (10, 1, 10, 6, 0))
LUCKY_NEWCOMER = Counterexample("noise", WINS_2, 0)
# fmt: on
