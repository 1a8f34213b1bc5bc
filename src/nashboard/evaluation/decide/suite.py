"""`reduce_suite`: the smallest set of tasks that keeps the board, and what each task adds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nashboard._tables import Column, Result, Table, percent
from nashboard._types import Bools, Floats, Ints
from nashboard.data.scores import Scores
from nashboard.errors import InputError
from nashboard.evaluation.decide.compare import comparable_values

HELD_OUT = 40  # agents that are left out, one at a time, to measure how far the choice generalises
SATURATED = 0.02  # of the range of a share: all agents within this of the best possible (or worst possible) score


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Reduction(Result):
    """A smaller suite.

    Parameters
    ----------
    kept, dropped
        Tasks, those that are kept in the order in which they were chosen.
    decided
        Pairs of agents whose order the full suite decides.
    preserved
        How many of them have the same order on the kept tasks.
    saturated, constant
        Tasks on which all agents are near the best or worst possible score; tasks with equal scores for all.
    held_out
        Share of the decided pairs of an agent whose order holds on tasks chosen without looking at that agent: what to
        expect of an agent that is entered later.
    adds
        For every task: how many decided pairs the full suite would lose without it.
    """

    tasks: tuple[str, ...]
    kept: tuple[str, ...]
    dropped: tuple[str, ...]
    decided: int
    preserved: int
    saturated: tuple[str, ...]
    constant: tuple[str, ...]
    adds: Ints
    held_out: float
    level: float

    hidden = ("tasks", "level")
    computed = ("sentence",)

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        if not self.decided:
            return f"The {len(self.tasks):,} tasks decide no pair of agents at {self.level:.0%}."
        kept = f"{len(self.kept):,} of {len(self.tasks):,} tasks keep the order"
        if self.decided == 1:
            kept = f"{kept} of the only pair that the full suite decides at {self.level:.0%}"
            return f"{kept}; one pair does not show whether they suit other agents."
        later = "" if np.isnan(self.held_out) else f"; for agents left out of the choice: {percent(self.held_out)}"
        return (
            f"{kept} of {self.preserved:,} of {self.decided:,} pairs ({percent(self.preserved / self.decided)}) that "
            f"the full suite decides at {self.level:.0%}{later}."
        )

    def table(self) -> Table:
        """Return a row per task, kept tasks first."""
        place = {task: k + 1 for k, task in enumerate(self.kept)}
        state = dict.fromkeys(self.saturated, "saturated") | dict.fromkeys(self.constant, "constant")
        order = sorted(range(len(self.tasks)), key=lambda k: (place.get(self.tasks[k], len(self.tasks) + 1), k))
        return Table.of(
            [self.tasks[k] for k in order],
            Column("task", cell=str),
            Column("chosen", "order in which it was chosen; a dash: not needed", cell=place.get),
            Column("adds", "pairs that the full suite decides with it and not without it", cell=self.added.get),
            Column(
                "state",
                "saturated: all near the limit of the scale; constant: all scores equal",
                cell=lambda task: state.get(task, ""),
            ),
        )

    @property
    def added(self) -> dict[str, int]:
        """What every task adds, by name."""
        return dict(zip(self.tasks, map(int, self.adds), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for machines."""
        return {**super().to_dict(), "adds": self.added}

    def __repr__(self) -> str:
        return f"Reduction({len(self.kept):,} of {len(self.tasks):,} tasks)"


def reduce_suite(scores: Scores, *, level: float = 0.95, share: float = 1.0) -> Reduction:
    """Find a small set of tasks (or items) that keeps the order of the agents, as far as the full suite decides it.

    A pair of agents is decided where a paired t-test over the tasks rejects equal means at ``level``. Tasks are chosen
    greedily, among those whose scores differ, until, for ``share`` of all pairs, the mean lead over the chosen tasks
    lies within the interval of the full suite and decided pairs keep their order.

    Parameters
    ----------
    scores
        A complete table, tasks or items as columns.
    level
        Of the paired tests.
    share
        Share of the pairs that must be kept.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.reduce_suite(nb.load_dataset("atari"))
    >>> found.preserved == found.decided and len(found.kept) < 54
    True
    """
    scores.require_complete()
    if not 0 < share <= 1:
        raise InputError(f"the share is {share!r}: it must lie in (0, 1]", option="share")
    low, high = scores.values.min(axis=0), scores.values.max(axis=0)
    constant = low == high
    differing = np.flatnonzero(~constant)
    values = comparable_values(scores)[0][:, differing]
    pairs = measure_pairs(values, level)
    chosen = choose_tasks(pairs, share)
    kept = differing[chosen].tolist()
    in_shares = bool((low >= 0).all() and (high <= 1).all())
    saturated = ((low >= 1 - SATURATED) | (high <= SATURATED)) & ~constant if in_shares else np.zeros(len(low), bool)
    names = scores.tasks
    adds = np.zeros(len(names), dtype=np.intp)
    adds[differing] = pairs_lost(values, level)
    return Reduction(
        tasks=names,
        kept=tuple(names[k] for k in kept),
        dropped=tuple(names[k] for k in range(len(names)) if k not in set(kept)),
        decided=int(pairs.decided.sum()),
        preserved=int((pairs.decided & (pairs.leads[:, chosen].sum(axis=1) > 0)).sum()),
        held_out=check_held_out(values, level, share),
        saturated=pick(names, saturated),
        constant=pick(names, constant),
        adds=adds,
        level=level,
    )


def pick(names: tuple[str, ...], chosen: Bools) -> tuple[str, ...]:
    """Return the names where a mask is true."""
    return tuple(names[k] for k in np.flatnonzero(chosen))


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """Leads (q, n) of the better over the worse agent of each pair by task, and what the full suite says of their mean.

    ``first`` and ``second`` are positions of the agents; ``width`` is half the interval of the mean lead.
    """

    first: Ints
    second: Ints
    leads: Floats
    width: Floats
    decided: Bools

    def without(self, agent: int) -> "Pairs":
        """Return the pairs of the other agents."""
        kept = (self.first != agent) & (self.second != agent)
        return Pairs(
            first=self.first[kept],
            second=self.second[kept],
            leads=self.leads[kept],
            width=self.width[kept],
            decided=self.decided[kept],
        )


def measure_pairs(values: Floats, level: float) -> Pairs:
    """Compare all pairs of agents by paired t-tests over the columns."""
    from scipy.stats import t

    n = values.shape[1]
    if n < 2:
        raise InputError("fewer than two tasks separate agents: the suite cannot be reduced")
    i, j = np.triu_indices(len(values), 1)
    flip = values[i].mean(axis=1) < values[j].mean(axis=1)
    first, second = np.where(flip, j, i), np.where(flip, i, j)
    leads = values[first] - values[second]
    width = float(t.isf((1 - level) / 2, n - 1)) * leads.std(axis=1, ddof=1) / np.sqrt(n)
    mean = leads.mean(axis=1)
    return Pairs(first=first, second=second, leads=leads, width=width, decided=(mean > width) & (mean > 0))


def choose_tasks(pairs: Pairs, share: float) -> list[int]:
    """Return columns, greedily, on which enough pairs are kept.

    A pair is kept where the mean lead over the chosen columns lies within the full suite's interval and, if the full
    suite decides the pair, has the same sign. Forward steps add the column that leaves the smallest excess over the
    intervals; backward steps remove columns that are not needed.
    """
    n = pairs.leads.shape[1]
    mean = pairs.leads.mean(axis=1)
    scale = np.where(pairs.width > 0, pairs.width, 1.0)
    wanted = int(np.ceil(share * len(mean)))

    def kept(total: Floats, size: int) -> Any:
        lead = total / size
        inside = np.abs(lead - (mean if lead.ndim == 1 else mean[:, None])) <= column(pairs.width, lead)
        return inside & ((lead > 0) | ~column(pairs.decided, lead))

    def column(values: Any, like: Floats) -> Any:
        return values if like.ndim == 1 else values[:, None]

    chosen: list[int] = []
    total = np.zeros(len(mean))
    while len(chosen) < n and (not chosen or kept(total, len(chosen)).sum() < wanted):
        free = np.setdiff1d(np.arange(n), chosen)
        trial = total[:, None] + pairs.leads[:, free]
        excess = np.maximum(np.abs(trial / (len(chosen) + 1) - mean[:, None]) / scale[:, None] - 1, 0.0)
        best = int(free[int(np.argmin(excess.sum(axis=0)))])
        chosen.append(best)
        total = total + pairs.leads[:, best]
    for k in list(chosen):
        if len(chosen) > 1 and kept(total - pairs.leads[:, k], len(chosen) - 1).sum() >= wanted:
            chosen.remove(k)
            total = total - pairs.leads[:, k]
    return chosen


def check_held_out(values: Floats, level: float, share: float) -> float:
    """Return the share of decided pairs of an agent whose order holds on tasks that were chosen without that agent."""
    pairs = measure_pairs(values, level)
    right = total = 0
    for agent in range(min(len(values), HELD_OUT)) if len(values) > 2 else ():
        chosen = choose_tasks(pairs.without(agent), share)
        own = pairs.decided & ((pairs.first == agent) | (pairs.second == agent))
        right += int((pairs.leads[own][:, chosen].sum(axis=1) > 0).sum())
        total += int(own.sum())
    return right / total if total else float("nan")


def pairs_lost(values: Floats, level: float) -> Ints:
    """Return for every column how many decided pairs are no longer decided without it."""
    n = values.shape[1]
    full = measure_pairs(values, level)
    decided = list(zip(full.first[full.decided].tolist(), full.second[full.decided].tolist(), strict=True))
    if n < 3:
        return np.full(n, len(decided), dtype=np.intp)
    lost = []
    for k in range(n):
        rest = measure_pairs(np.delete(values, k, axis=1), level)
        still = set(zip(rest.first[rest.decided].tolist(), rest.second[rest.decided].tolist(), strict=True))
        lost.append(sum(pair not in still for pair in decided))
    return np.array(lost, dtype=np.intp)
