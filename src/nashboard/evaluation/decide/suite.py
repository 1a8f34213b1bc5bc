"""`reduce_suite`: the smallest set of tasks that keeps the board, and what each task adds."""

from dataclasses import dataclass

import numpy as np

from nashboard._tables import Column, Result, Table, percent
from nashboard._types import Bools, Floats, Ints
from nashboard.data.scores import Scores
from nashboard.errors import InputError, check_level
from nashboard.evaluation.decide.compare import make_comparable
from nashboard.evaluation.posterior.scores import find_limits

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
    adds: dict[str, int]
    held_out: float
    level: float

    hidden = ("tasks", "level")
    computed = ("sentence",)

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
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
            Column("adds", "pairs that the full suite decides with it and not without it", cell=self.adds),
            Column(
                "state",
                "saturated: all near the limit of the scale; constant: all scores equal",
                cell=lambda task: state.get(task, ""),
            ),
        )

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
    check_level(level)
    if not 0 < share <= 1:
        raise InputError(f"the share is {share!r}: it must lie in (0, 1]", option="share")
    low, high = scores.values.min(axis=0), scores.values.max(axis=0)
    constant = low == high
    differing = np.flatnonzero(~constant)
    if len(differing) < 2:
        raise InputError("fewer than two tasks separate agents: the suite cannot be reduced")
    pairs, leads = compute_leads(make_comparable(scores)[0][:, differing])
    decided = measure_leads(leads, level)[2]
    chosen = choose_tasks(leads, level, share)
    limit = find_limits(scores)
    saturated = ((low >= (1 - SATURATED) * limit) | (high <= SATURATED * limit)) & ~constant
    names = np.array(scores.tasks, dtype=object)
    kept = tuple(names[differing[chosen]])
    return Reduction(
        tasks=scores.tasks,
        kept=kept,
        dropped=tuple(name for name in scores.tasks if name not in set(kept)),
        decided=int(decided.sum()),
        preserved=int((decided & (leads[:, chosen].sum(axis=1) > 0)).sum()),
        held_out=check_held_out(pairs, leads, level, share),
        saturated=tuple(names[saturated]),
        constant=tuple(names[constant]),
        adds=dict.fromkeys(scores.tasks, 0) | dict(zip(names[differing], count_lost(leads, level), strict=True)),
        level=level,
    )


def compute_leads(values: Floats) -> tuple[Ints, Floats]:
    """Return all pairs of agents (q, 2), the better one first, and its lead on every task (q, n)."""
    pairs = np.column_stack(np.triu_indices(len(values), 1))
    worse = values[pairs[:, 0]].mean(axis=1) < values[pairs[:, 1]].mean(axis=1)
    pairs[worse] = pairs[worse, ::-1]
    return pairs, values[pairs[:, 0]] - values[pairs[:, 1]]


def measure_leads(leads: Floats, level: float) -> tuple[Floats, Floats, Bools]:
    """Return the mean lead of each pair, half its interval, and whether a paired t-test decides for the first agent."""
    from scipy.stats import t

    n = leads.shape[1]
    mean = leads.mean(axis=1)
    width = float(t.isf((1 - level) / 2, n - 1)) * leads.std(axis=1, ddof=1) / np.sqrt(n)
    return mean, width, (mean > width) & (mean > 0)


def choose_tasks(leads: Floats, level: float, share: float) -> list[int]:
    """Choose columns greedily until enough pairs are kept.

    A pair is kept where the mean lead over the chosen columns lies within the full suite's interval and, if the full
    suite decides the pair, has the same sign. Forward steps add the column that leaves the smallest excess over the
    intervals; backward steps remove columns that are not needed.
    """
    mean, width, decided = measure_leads(leads, level)
    wanted = int(np.ceil(share * len(mean)))

    def keeps_pairs(columns: list[int]) -> bool:
        lead = leads[:, columns].mean(axis=1)
        return bool(((np.abs(lead - mean) <= width) & ((lead > 0) | ~decided)).sum() >= wanted)

    chosen: list[int] = []
    while len(chosen) < leads.shape[1] and not (chosen and keeps_pairs(chosen)):
        free = np.setdiff1d(np.arange(leads.shape[1]), chosen)
        trial = (leads[:, chosen].sum(axis=1)[:, None] + leads[:, free]) / (len(chosen) + 1)
        excess = np.abs(trial - mean[:, None]) / np.where(width > 0, width, 1.0)[:, None] - 1
        chosen.append(int(free[np.argmin(np.maximum(excess, 0.0).sum(axis=0))]))
    for k in list(chosen):
        rest = [one for one in chosen if one != k]
        chosen = rest if rest and keeps_pairs(rest) else chosen
    return chosen


def check_held_out(pairs: Ints, leads: Floats, level: float, share: float) -> float:
    """Return the share of decided pairs of an agent whose order holds on tasks that were chosen without that agent."""
    decided = measure_leads(leads, level)[2]
    preserved: list[bool] = []
    for agent in range(min(int(pairs.max()) + 1, HELD_OUT)) if len(pairs) > 1 else ():
        own = (pairs == agent).any(axis=1)
        chosen = choose_tasks(leads[~own], level, share)
        preserved += (leads[own & decided][:, chosen].sum(axis=1) > 0).tolist()
    return float(np.mean(preserved)) if preserved else float("nan")


def count_lost(leads: Floats, level: float) -> list[int]:
    """Return for every column how many decided pairs are no longer decided without it."""
    decided = measure_leads(leads, level)[2]
    if leads.shape[1] == 2:  # one task decides nothing
        return [int(decided.sum())] * 2
    rest = (measure_leads(np.delete(leads, k, axis=1), level)[2] for k in range(leads.shape[1]))
    return [int((decided & ~still).sum()) for still in rest]
