"""Methods compared on the same data: who wins, how certain that is, and the effects of copies and of dropped agents.

All changes are about first place: a change is a change of the set of agents in first place, where copies of an agent
count as the agent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from nashboard._tables import Column, Result, Table, plain_data, title_of
from nashboard._text import listed
from nashboard._types import Ints
from nashboard.errors import ConvergenceError, InputError
from nashboard.ranking.method import Method, Ranking
from nashboard.ranking.new_data import Simulation
from nashboard.ranking.pairwise import Pairwise
from nashboard.ranking.registry import find_methods
from nashboard.ranking.registry import methods as all_methods

COPIES = range(2, 33)
COPIES_FEW = (4, 16)  # of slow methods, and of many agents
COPIES_FIRM = (2, 8, 32)  # of agents, where a method promises that exact copies change nothing
NOISY = 5  # noisy copies of one agent that enter together
TRIED, TRIED_FEW = 40, 4  # agents that are copied or dropped, the best by the method
REPEATED, REPEATED_FEW = 100, 25  # new data
NOISY_TRIALS, NOISY_FEW = 50, 10

Winners = frozenset[int]
Entry = tuple[str, int]  # "agent" or "task", and its position
# of a draw and an agent: new data with noisy copies, and their originals
WithCopies = Callable[[int, int], tuple[Pairwise, Ints]]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The ranking by one method, and what changes its first place."""

    method: str
    ranking: Ranking | None  # its order of the agents; None where it does not apply, which reason explains
    reason: str = ""
    # share of new data, simulated from the posterior, with the same agents in first place; NaN if not known
    same: float = np.nan
    # rank correlation with the board (Kendall's tau-b), 1 for the same order; NaN where one of them ties all
    kendall: float = np.nan
    one_copy: int = 0  # agents and tasks of which one exact copy changes first place, of tried
    tried: int = 0
    # copies, copied: the smallest number of copies of one agent or task, of those tried (`COPIES` and below), that
    # changes first place (None: none does), and its name
    copies: int | None = None
    copied: str = ""
    # share of trials in which five noisy copies of one agent change first place; NaN where the noise is unknown
    noisy: float = np.nan
    dropped: int = 0  # agents not in first place whose absence changes first place, of dropped_of
    dropped_of: int = 0

    @property
    def winners(self) -> tuple[str, ...]:
        """Agents in first place; none where the method does not apply."""
        return () if self.ranking is None else self.ranking.winners


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Trials(Result):
    """All methods on the same data, a row each."""

    trials: tuple[Trial, ...]  # one per method
    # agents, board_ranks: names, and their ranks on the board
    agents: tuple[str, ...]
    board_ranks: Ints
    first: tuple[str, ...]  # agents in first place on the board

    @property
    def ranked(self) -> tuple[Trial, ...]:
        """Methods that apply to the data."""
        return tuple(trial for trial in self.trials if trial.ranking is not None)

    @property
    def agreeing(self) -> int:
        """Number of methods that have an agent in first place that is in first place on the board."""
        return sum(not set(self.first).isdisjoint(one.winners) for one in self.trials)

    def table(self) -> Table:
        """Return one row per method that applies."""
        skipped = tuple(f"not ranked by {one.method}: {one.reason}" for one in self.trials if one.ranking is None)
        return Table.of(
            self.ranked,
            Column("method", "its name in `nashboard methods`"),
            Column("first", "agents in first place", cell=lambda one: one.winners[0] + (
                   f" and {len(one.winners) - 1} more" if len(one.winners) > 1 else "")),
            Column("P(same)", "share of data sets, simulated from the posterior, with the same first place; error up "
                   "to 0.11 on average in simulations with a known truth, and a standard error of up to 0.05 from 100 "
                   "data sets, or 0.10 from 25 (slow methods, more than 200 agents)",
                   decimals=2, cell=lambda one: none_if_nan(one.same)),
            Column("Kendall", "rank correlation with the board", decimals=2, cell=lambda one: none_if_nan(one.kendall)),
            Column("one copy", "agents (and tasks) of which one exact copy changes first place, of those tried",
                   cell=lambda one: f"{one.one_copy} of {one.tried}"),
            Column("fewest copies", "smallest number of exact copies found to change first place; 1 to 32 are tried "
                   "(slow methods: up to 16; clone-proof methods: 1, 2, 8 and 32)",
                   cell=lambda one: "none" if one.copies is None else f"{one.copies} of {one.copied}"),
            Column("noisy copies", f"share of trials in which {NOISY} copies of one agent, with new results of their "
                   "own, change first place", decimals=2, cell=lambda one: none_if_nan(one.noisy)),
            Column("dropping", "agents not in first place whose absence changes first place, of those tried",
                   cell=lambda one: f"{one.dropped} of {one.dropped_of}" if one.dropped_of else None),
            title=title_of(self),
            notes=(self.summary(), *self.literal_nash(), *skipped),
            telling=("method", "first", "P(same)", "Kendall", "one copy", "fewest copies", "dropping"),
        )  # fmt: skip

    def summary(self) -> str:
        """Return one sentence on whether the methods agree."""
        of = len(self.ranked)
        moved = [one.method for one in self.ranked if one.copies is not None]
        agree = f"{self.agreeing} of {of} methods agree with the board on an agent in first place"
        return f"{agree}; exact copies change first place for {len(moved)} of {of}" + (
            f" ({listed(moved, 4)})" if moved else ""
        )

    def literal_nash(self) -> tuple[str, ...]:
        """Return a note if Nash averaging of the observed results has another first place than the board."""
        for one in self.ranked:
            if one.method == "nash" and set(one.winners) != set(self.first):
                own, board = (listed(names, 3) for names in (one.winners, self.first))
                return (
                    f"nash has {own} first and the board {board}: nash takes the observed results as exact, while the "
                    f"board averages over the posterior, in which few or noisy results count less",
                )
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for machines."""
        return {"first": list(self.first), "methods": plain_data(self.trials)}

    def __repr__(self) -> str:
        return f"Trials({len(self.ranked)} methods, first on the board: {listed(self.first, 3)})"


def none_if_nan(value: float) -> float | None:
    """Return None for NaN, an unknown number."""
    return None if np.isnan(value) else float(value)


def try_methods(
    data: Pairwise,
    board_ranks: Ints,
    *,
    first: tuple[str, ...] | None = None,
    methods: Sequence[str] | None = None,
    simulation: Simulation | None = None,
    seed: int = 0,
    progress: Callable[[str], None] = lambda name: None,
    quick: bool = False,
) -> Trials:
    """Rank by every method, and count what changes first place.

    Without a ``simulation`` the noise is not known: no new data and no noisy copies. ``seed`` is that of simulated
    data, the same for all methods; ``progress`` is called with each name; ``quick`` tries few copies and few new data.
    """
    chosen = all_methods() if methods is None else find_methods(methods)
    rng = np.random.default_rng([seed, data.size])
    most = REPEATED_FEW if quick else REPEATED
    again = [] if simulation is None else [simulation.draw(k, rng) for k in spread(simulation.count, most)]

    @cache  # methods share new data
    def with_copies(k: int, agent: int) -> tuple[Pairwise, Ints]:
        assert simulation is not None
        kept = np.append(np.arange(data.size), np.repeat(agent, NOISY))
        return simulation.draw(k, np.random.default_rng([seed, k, agent]), kept), kept

    count = 0 if simulation is None else simulation.count
    trials = []
    for method in chosen:
        progress(method.name)
        pooled = data.prompts is None or not method.by_prompt  # new data have no prompts
        few = quick or method.slow or data.size > 200 or (method.name == "alpha_rank" and data.table is not None)
        try:
            new = (again, with_copies, count) if pooled else ([], with_copies, 0)
            trials.append(try_method(method, data, board_ranks, *new, few=few))
        except (InputError, ConvergenceError) as error:
            trials.append(Trial(method=method.name, ranking=None, reason=str(error)))
    first = first or tuple(data.agents[k] for k in np.flatnonzero(board_ranks == board_ranks.min()))
    return Trials(trials=tuple(trials), agents=data.agents, board_ranks=np.array(board_ranks), first=first)


def try_method(
    method: Method,
    data: Pairwise,
    board_ranks: Ints,
    again: Sequence[Pairwise],
    with_copies: WithCopies,
    count: int,
    *,
    few: bool,
) -> Trial:
    """Return the trial of one method, or an error if it does not apply to the data.

    New data are ``again``, and those of ``count`` draws with noisy copies ``with_copies``.
    """
    if data.kind not in method.needs:
        raise InputError(f"needs {' or '.join(method.needs)}")
    method = method.learned(data)
    ranking = method.rank(data)
    all_agents = np.arange(data.size)
    first = find_winners(ranking, all_agents)
    tried, repeated, noisy = (TRIED_FEW, REPEATED_FEW, NOISY_FEW) if few else (TRIED, REPEATED, NOISY_TRIALS)
    new = [again[k] for k in spread(len(again), repeated)]
    best = np.argsort(ranking.ranks, kind="stable")[:tried]
    entries = [*(("agent", int(k)) for k in best), *choose_tasks(data, ranking, tried)]
    one_copy = [entry for entry in entries if rank_with_copies(method, data, entry, 1) != first]
    copies, copied = (1, one_copy[0]) if one_copy else find_fewest_copies(method, data, entries, first, few=few)
    others = np.flatnonzero(ranking.ranks > 1)
    others = others[np.argsort(ranking.ranks[others], kind="stable")][:tried]
    changed = [k for k in others if rank_without(method, data, int(k)) not in (first, None)]
    return Trial(
        method=method.name,
        ranking=ranking,
        same=float(np.mean([find_winners(method.rank(one), all_agents) == first for one in new])) if new else np.nan,
        kendall=kendall(ranking.ranks, board_ranks),
        one_copy=len(one_copy),
        tried=len(entries),
        copies=copies,
        copied="" if copied is None else name_entry(data, copied),
        noisy=enter_noisy(method, with_copies, spread(count, noisy), best[:5], first) if count else np.nan,
        dropped=len(changed),
        dropped_of=len(others),
    )


def name_entry(data: Pairwise, entry: Entry) -> str:
    """Return the name of an agent or of a task; tasks without names are numbered."""
    kind, k = entry
    return data.agents[k] if kind == "agent" else data.tasks[k] if data.tasks else f"task {k + 1}"


def spread(count: int, chosen: int) -> Ints:
    """Return evenly spread positions, at most as many as there are."""
    return np.linspace(0, count - 1, min(count, chosen)).astype(np.intp)


def find_winners(ranking: Ranking, original: Ints) -> Winners:
    """Return the agents in first place; a copy counts as its original."""
    return frozenset(original[np.flatnonzero(ranking.ranks == 1)].tolist())


def choose_tasks(data: Pairwise, ranking: Ranking, most: int) -> list[Entry]:
    """Return tasks, those first on which the second agent leads the first by most."""
    if data.table is None or data.size < 2:
        return []
    one, two = np.argsort(ranking.ranks, kind="stable")[:2]
    lead = data.table[two] - data.table[one]
    return [("task", int(k)) for k in np.argsort(-lead, kind="stable")[:most]]


def rank_with_copies(method: Method, data: Pairwise, entry: Entry, copies: int) -> Winners:
    """Return the agents in first place with this number of copies of an agent or of a task."""
    kind, agent = entry
    if kind == "task":
        return find_winners(method.rank(data.copy_task(agent, copies)), np.arange(data.size))
    kept = np.array([*range(data.size), *[agent] * copies])
    return find_winners(method.rank(data.take(kept)), kept)


def find_fewest_copies(
    method: Method, data: Pairwise, entries: Sequence[Entry], first: Winners, *, few: bool
) -> tuple[int | None, Entry | None]:
    """Return the smallest tried number of copies, two or more, of one entry that changes first place, and the entry."""
    before = 1
    for copies in COPIES_FEW if few else COPIES:
        for entry in entries:
            if method.clone_proof and entry[0] == "agent" and not few and copies not in COPIES_FIRM:
                continue
            if rank_with_copies(method, data, entry, copies) != first:
                return bisect_copies(method, data, entry, first, before, copies), entry
        before = copies
    return None, None


def bisect_copies(method: Method, data: Pairwise, entry: Entry, first: Winners, low: int, high: int) -> int:
    """Return a number of copies above ``low``, up to ``high``, that changes first place where one fewer does not."""
    while high - low > 1:
        middle = (low + high) // 2
        if rank_with_copies(method, data, entry, middle) != first:
            high = middle
        else:
            low = middle
    return high


def rank_without(method: Method, data: Pairwise, agent: int) -> Winners | None:
    """Return the agents in first place without an agent; None if the others cannot be ranked."""
    kept = np.delete(np.arange(data.size), agent)
    try:
        return find_winners(method.rank(data.take(kept)), kept)
    except InputError:
        return None


def enter_noisy(method: Method, with_copies: WithCopies, draws: Ints, agents: Ints, first: Winners) -> float:
    """Return how often noisy copies of one of these agents, in turn, change first place."""
    changed = 0
    for trial, k in enumerate(draws.tolist()):
        data, kept = with_copies(k, int(agents[trial % len(agents)]))
        changed += find_winners(method.rank(data), kept) != first
    return changed / len(draws)


def kendall(a: Ints, b: Ints) -> float:
    """Return Kendall's tau-b of two rankings with ties; scipy.stats takes half a second to import."""
    x, y = (np.sign(np.subtract.outer(ranks, ranks)) for ranks in (a, b))
    pairs = float((x != 0).sum()) * float((y != 0).sum())
    return float((x * y).sum() / np.sqrt(pairs)) if pairs else np.nan
