"""Small examples in which a method breaks a promise that others keep; the documentation shows them, the tests run them.

Each example is a table of wins (``wins[i][j]`` how often i beat j) or, for methods that need scores, of scores, and
one change to it. `Counterexample.run` ranks before and after the change.
"""

from dataclasses import dataclass
from itertools import pairwise as pairwise_of

import numpy as np

from nashboard._types import Bools, Ints
from nashboard.data.matches import Matches
from nashboard.data.scores import Scores
from nashboard.ranking.method import ranking_of
from nashboard.ranking.pairwise import Pairwise, pairwise
from nashboard.ranking.registry import METHODS, find_method

PROMISES = ("clones", "condorcet", "irrelevant", "monotone")
NAMES = "ABCDEFGH"  # of the agents of small examples


@dataclass(frozen=True, kw_only=True)
class Counterexample:
    """Data, and a change to them that a method does not take as promised.

    Parameters
    ----------
    method, promise
        Whose promise is missing, and which: a field of `Promises`.
    table
        Wins of agents against agents, or scores of agents on tasks.
    agent
        The agent that is copied, dropped or improved; for ``"condorcet"`` the one that beats every other. In a table of
        scores the task that is copied.
    copies
        How many copies enter, for ``"clones"``.
    against, games
        For ``"monotone"``: the opponent against whom the winner does better, and by how many games.
    """

    method: str
    promise: str
    table: tuple[tuple[float, ...], ...]
    agent: int
    copies: int = 1
    against: int = 0
    games: int = 0

    @property
    def scores(self) -> bool:
        """Whether the table holds scores."""
        return "matches" not in find_method(self.method).needs

    def before(self) -> Pairwise:
        """Return the data before the change."""
        return data_of(np.array(self.table, dtype=np.float64), scores=self.scores)

    def after(self) -> Pairwise:
        """Return the data after the change; unchanged for ``"condorcet"``, which is broken at once."""
        T = np.array(self.table, dtype=np.float64)
        n = len(T)
        if self.promise == "clones" and self.scores:
            return data_of(np.hstack([T, np.repeat(T[:, [self.agent]], self.copies, axis=1)]), scores=True)
        if self.promise == "clones":
            return self.before().take([*range(n), *[self.agent] * self.copies])
        if self.promise == "irrelevant":
            return self.before().take([k for k in range(n) if k != self.agent])
        if self.promise == "monotone":
            T[self.agent, self.against] += self.games
            T[self.against, self.agent] -= self.games
        return data_of(T, scores=self.scores)

    def run(self) -> tuple[Ints, Ints]:
        """Return the ranks before and after the change."""
        method = find_method(self.method)
        return ranking_of(method, self.before(), {}).ranks, ranking_of(method, self.after(), {}).ranks

    def holds(self) -> bool:
        """Say whether the promise is broken here."""
        before, after = self.run()
        n = len(before)
        if self.promise == "clones":
            return bool((order_of(before) != order_of(after[:n])).any())
        if self.promise == "irrelevant":
            kept = np.delete(np.arange(n), self.agent)
            return bool(before[self.agent] > 1 and set(kept[after == 1]) != set(np.flatnonzero(before == 1)))
        if self.promise == "monotone":
            return bool(before[self.agent] == 1 and (before == 1).sum() == 1 and after[self.agent] > 1)
        return bool(beats_all(np.array(self.table), self.agent, scores=self.scores)
                    and not (before[self.agent] == 1 and (before == 1).sum() == 1))  # fmt: skip

    def words(self) -> str:
        """Return the example as one sentence."""
        before, after = (named_order(ranks) for ranks in self.run())
        who = NAMES[self.agent]
        if self.promise == "clones":
            what = f"task {self.agent + 1}" if self.scores else who
            times = "once more" if self.copies == 1 else f"{self.copies} times more"
            return f"{before}; with {what} entered {times}: {named_order(self.run()[1][: len(self.table)])}"
        if self.promise == "irrelevant":
            names = [name for k, name in enumerate(NAMES[: len(self.table)]) if k != self.agent]
            return f"{before}; without {who}: {named_order(self.run()[1], names)}"
        if self.promise == "monotone":
            return f"{before}; after {who} won {self.games} more against {NAMES[self.against]}: {after}"
        return f"{who} beats every other agent, but the order is {before}"


def data_of(T: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]", *, scores: bool) -> Pairwise:
    """Return a table of wins, or of scores, as data."""
    names = tuple(NAMES[: len(T)]) if len(T) <= len(NAMES) else None
    return pairwise(Scores.from_array(T, names) if scores else Matches.from_counts(T, names))


def order_of(ranks: Ints) -> Ints:
    """Return for each two agents which is ahead, ``(n, n)`` of -1, 0 and 1."""
    return np.asarray(np.sign(ranks[:, None] - ranks))


def beats_all(T: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]", agent: int, *, scores: bool) -> Bools:
    """Say whether an agent wins more than it loses against every other one (on tasks, for scores)."""
    others = np.delete(np.arange(len(T)), agent)
    if scores:
        lead = np.sign(T[agent] - T[others]).sum(axis=1)
        return np.asarray((lead > 0).all())
    return np.asarray((T[agent, others] > T[others, agent]).all())


def named_order(ranks: Ints, names: "list[str] | str" = NAMES) -> str:
    """Return ranks as ``A > B = C``; of many agents those in front."""
    order = np.argsort(ranks, kind="stable")[: len(names)]
    text = names[order[0]]
    for one, two in pairwise_of(order):
        if two >= len(names):
            return f"{text} ..."
        text += (" = " if ranks[one] == ranks[two] else " > ") + names[two]
    return text if len(ranks) <= len(names) else f"{text} > ..."


def crowded_ladder(n: int) -> tuple[tuple[float, ...], ...]:
    """Return wins in 100 games of agents in a line, the first of which beats all others by a little only."""
    W = np.where(np.arange(n)[:, None] < np.arange(n), 90.0, 10.0)
    W[1, 2:], W[2:, 1] = 99.0, 1.0
    W[0], W[:, 0] = 51.0, 49.0
    np.fill_diagonal(W, 0.0)
    return tuple(map(tuple, W.tolist()))


# fmt: off
WINS_1 = ((0, 6, 4), (4, 0, 7), (6, 3, 0))
WINS_2 = ((0, 4, 9), (6, 0, 6), (1, 4, 0))
WINS_3 = ((0, 2, 8), (8, 0, 5), (2, 5, 0))
WINS_4 = ((0, 7, 3), (3, 0, 8), (7, 2, 0))
WINS_5 = ((0, 6, 7, 6), (4, 0, 9, 8), (3, 1, 0, 1), (4, 2, 9, 0))
WINS_6 = ((0, 1, 3), (9, 0, 6), (7, 4, 0))
SCORES_1 = ((3, 0, 2), (1, 4, 1))
SCORES_2 = ((7, 6, 0), (0, 3, 8), (4, 7, 3))
SCORES_3 = ((2, 7, 9, 4), (3, 5, 4, 9), (9, 0, 0, 0))
SCORES_4 = ((9, 2, 4, 5, 6), (4, 1, 9, 6, 0), (8, 7, 1, 6, 5))
WINS_7 = ((0, 1, 2, 1, 10), (9, 0, 9, 1, 3), (8, 1, 0, 2, 10), (9, 9, 8, 0, 4), (0, 7, 0, 6, 0))
WINS_TIED = ((0, 10, 1, 5, 2), (2, 0, 5, 8, 11), (11, 7, 0, 2, 2), (7, 4, 10, 0, 6), (10, 1, 10, 6, 0))
Row = tuple[str, tuple[tuple[float, ...], ...], int]
CLONES: tuple[Row, ...] = (  # method, table, the agent (of scores the task) that is copied once
    *((name, WINS_1, 0) for name in ("elo", "newman", "win_rate", "borda", "copeland", "kemeny", "soft_condorcet",
                                     "alpha_rank", "eigenvector", "pagerank")),
    ("mean", SCORES_1, 0), ("median", SCORES_1, 1), ("iqm", SCORES_1, 1),
)
CLONES_TWICE: tuple[Row, ...] = tuple((name, WINS_1, 0) for name in ("melo", "hodge", "uniform"))
CONDORCET: tuple[Row, ...] = (  # the agent that beats every other
    *((name, WINS_2, 1) for name in ("elo", "melo", "newman", "hodge", "uniform", "win_rate", "borda")),
    ("eigenvector", WINS_5, 0), ("pagerank", WINS_6, 1), ("soft_condorcet", crowded_ladder(60), 0),
    ("mean", SCORES_1, 0), ("median", SCORES_2, 2), ("iqm", SCORES_4, 0),
)
IRRELEVANT: tuple[Row, ...] = (  # the agent that is dropped
    *((name, WINS_1, 2) for name in ("elo", "melo", "newman", "hodge", "uniform", "win_rate", "borda", "schulze",
                                     "ranked_pairs", "kemeny", "soft_condorcet", "eigenvector")),
    ("copeland", WINS_3, 0), ("alpha_rank", WINS_3, 0), ("pagerank", WINS_1, 1),
    ("median", SCORES_3, 2), ("iqm", SCORES_3, 2),
)
EXAMPLES = (
    *(Counterexample(method=m, promise="clones", table=T, agent=k) for m, T, k in CLONES),
    *(Counterexample(method=m, promise="clones", table=T, agent=k, copies=2) for m, T, k in CLONES_TWICE),
    *(Counterexample(method=m, promise="condorcet", table=T, agent=k) for m, T, k in CONDORCET),
    *(Counterexample(method=m, promise="irrelevant", table=T, agent=k) for m, T, k in IRRELEVANT),
    # only through ties: pairs of equal margin that close a cycle are skipped together
    Counterexample(method="ranked_pairs", promise="monotone", table=WINS_TIED, agent=1, against=3, games=2),
    Counterexample(method="soft_condorcet", promise="monotone", table=WINS_4, agent=1, against=2, games=1),
    Counterexample(method="pagerank", promise="monotone", table=WINS_1, agent=0, against=1, games=3),
    Counterexample(method="melo", promise="monotone", table=WINS_7, agent=2, against=1, games=9),
)
NUMBER = {method.name: k for k, method in enumerate(METHODS)}
COUNTEREXAMPLES = tuple(sorted(EXAMPLES, key=lambda one: (NUMBER[one.method], PROMISES.index(one.promise))))
# fmt: on
