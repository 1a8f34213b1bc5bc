"""Importance: which entries decide the outcome, and what changes if one is left out.

If the equilibrium is unique, leaving out an entry without weight and with a positive margin changes nothing: the
equilibrium is the same and still unique. Only for the other entries the game is solved again, as a stack of games.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nashboard._tables import Column, Table
from nashboard._types import Bools, Floats, Ints, read_only
from nashboard.equilibrium.batch import nash_averages, nash_averages_scores
from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
from nashboard.equilibrium.precision import TOLERANCE
from nashboard.equilibrium.results import NashAverage, ScoreNashAverage, Selection, tied_ranks
from nashboard.errors import ConvergenceError
from nashboard.evaluation.audit.checks import Check, Part, shorten
from nashboard.evaluation.board.headline import LIKELY, SURE
from nashboard.evaluation.problem import Kind, Problem


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Importance(Part):
    """The weight of each entry, and the effect of leaving it out on the Nash averages of the other agents.

    Parameters
    ----------
    kind, names
        Agents or tasks.
    weights
        ``(n,)`` shares in the equilibrium.
    score_moved, rank_moved
        ``(n,)`` the largest change of a Nash average and of a rank among the remaining agents, when this entry is
        left out; NaN and -1 if nothing remains, or no certified equilibrium was found.
    new_winner
        ``(n,)`` whether first place among the remaining agents changes.
    first
        The agents in first place by the estimates.
    likely, sure
        The agents in first place on the board, none where that is undecided; whether each has a P(top) of 0.95 or more.
    effective_number
        ``exp(entropy)`` of the weights.
    solved
        Number of games that had to be solved again; for the other entries it is proved that nothing changes.
    """

    kind: Kind
    names: tuple[str, ...]
    weights: Floats
    score_moved: Floats
    rank_moved: Ints
    new_winner: Bools
    first: tuple[str, ...]
    likely: tuple[str, ...]
    sure: bool
    effective_number: float
    solved: int

    @property
    def decisive(self) -> tuple[str, ...]:
        """Entries without which first place changes; a sole winner leaves it to another and does not count."""
        sole = self.first if self.kind == "agents" and len(self.first) == 1 else ()
        return tuple(self.names[k] for k in np.flatnonzero(self.new_winner) if self.names[k] not in sole)

    @property
    def open(self) -> str:
        """Why these data cannot decide whether first place depends on one entry; nothing where they can."""
        noise = f"what leaving out one {self.kind[:-1]} changes is not beyond noise"
        if len(self.names) == 1:
            return f"there is only one {self.kind[:-1]}"
        if not self.likely:
            return f"first place is undecided: {noise}"
        if set(self.likely) != set(self.first):
            return f"{shorten(self.likely)} may be first, by the estimates alone {shorten(self.first)}: {noise}"
        unknown = np.isnan(self.score_moved)
        if self.decisive or not unknown.any():
            return ""
        stays = "" if unknown.all() else f"first place stays the same without {(~unknown).sum():,} of the {self.kind}; "
        return f"{stays}what happens without {'one' if unknown.all() else 'the others'} is unknown"

    def sentences(self) -> tuple[str, ...]:
        """Return how many entries matter, and whether first place depends on one."""
        n, kind, one = len(self.names), self.kind, self.kind[:-1]
        lines = [
            f"effective number of {kind} in the equilibrium of the estimates: {self.effective_number:.2f} of {n:,}"
        ]
        agents, by = kind == "agents", "" if self.sure else "by the estimates, "
        if self.open:
            return (*lines, self.open)
        if self.decisive:
            which = "any one of " * (len(self.decisive) > 1) + shorten(self.decisive)
            whom = "which of the other agents are" if agents else "who is"
            lines.append(f"{by}leaving out {which} changes {whom} first")
        elif agents and len(self.first) == 1:
            lines.append(f"{by}{self.first[0]} stays first whichever other agent is left out")
        else:
            lines.append(f"{by}first place stays the same whichever {one} is left out")
        if agents and len(self.first) == 1 and self.new_winner[self.names.index(self.first[0])]:
            lines.append(f"without {self.first[0]}, the agent with the next highest Nash average is not first")
        return tuple(lines)

    def checks(self) -> tuple[Check, ...]:
        """Check whether first place depends on a single entry."""
        passed = None if self.open else not self.decisive
        return (Check(f"first place does not depend on one {self.kind[:-1]}", passed, self.sentences()[1]),)

    def tables(self) -> dict[str, Table]:
        """Return the entries as a table."""
        return {f"important {self.kind}": self.table()}

    def table(self) -> Table:
        """Return the entries, the largest weight first."""
        left = len(self.names) - self.solved
        unknown = ("a dash: no certified answer without this one",) if np.isnan(self.score_moved).any() else ()
        return Table.of(
            np.lexsort([np.arange(len(self.names)), -np.nan_to_num(self.score_moved), -self.weights]),
            Column(self.kind[:-1], cell=self.names),
            Column("weight", "share in the maximum-entropy equilibrium", decimals=4, cell=self.weights),
            Column("score moved", "largest change of another's Nash average without it", decimals=4,
                   cell=self.score_moved),
            Column("ranks moved", "largest change of another's rank without it",
                   cell=lambda k: self.rank_moved[k] if self.rank_moved[k] >= 0 else None),
            Column("new winner", "whether first place among the others changes without it", cell=self.new_winner),
            title=f"how much each of the {self.kind} matters",
            notes=(
                f"{self.solved:,} of the {self.kind} {'was' if self.solved == 1 else 'were'} left out and the "
                f"equilibrium solved again; the others ({left:,}) have no weight, and nothing changes without them",
                *unknown,
            ),
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for machines."""
        ranks = [None if x < 0 else x for x in self.rank_moved.tolist()]
        return {**super().to_dict(), "rank_moved": ranks, "decisive": list(self.decisive)}

    def __repr__(self) -> str:
        return f"Importance({len(self.names):,} {self.kind}, effective number {self.effective_number:.2f})"


def measure_importance(problem: Problem, kind: Kind) -> Importance:
    """Leave out each agent or task in turn and solve the equilibrium of the expected payoffs again."""
    A = problem.full_payoffs()
    if problem.tasks is not None:
        A = A[:, np.isin(problem.tasks.label, problem.kept_tasks)]
    chances = problem.posterior.probability_top
    need = SURE if len(problem.classes.first) == 2 else LIKELY  # of two, one always has 1/2
    likely = np.flatnonzero(chances >= need)
    return replace(
        leave_out(kind, A, problem.full_equilibrium, problem.settings.selection),
        likely=tuple(problem.agents[k] for k in likely),
        sure=bool((chances[likely] >= SURE).all()),
    )


def leave_out(kind: Kind, A: Floats, nash: NashAverage | ScoreNashAverage, selection: Selection) -> Importance:
    """Leave out each entry of a game or of a table in turn; scores keep the scaling of the complete table."""
    of_agents, allowed, game = kind == "agents", nash.tolerance, isinstance(nash, NashAverage)
    if isinstance(nash, NashAverage):
        names, weights, margins, effective = nash.agents, nash.weights, nash.margins, nash.effective_number
    elif of_agents:
        names, weights, margins = nash.agents, nash.agent_weights, nash.agent_margins
        effective = nash.effective_agents
    else:
        names, weights, margins, effective = nash.tasks, nash.task_weights, nash.task_margins, nash.effective_tasks
    averages = nash.averages if isinstance(nash, NashAverage) else nash.skills

    def solve(stack: Floats) -> Floats:
        if allowed:
            one_by_one: Any = nash_average if game else nash_average_scores
            every = [one_by_one(one, selection=selection, tolerance=allowed) for one in stack]
            return np.stack([one.averages if game else one.skills for one in every])
        if game:
            return nash_averages(stack, selection=selection).averages
        return nash_averages_scores(stack, selection=selection).skills

    def remove_entry(k: int) -> Floats:
        rest = np.delete(A, k, axis=0 if of_agents else 1)
        return np.delete(rest, k, axis=1) if game else rest

    proved = (weights == 0) & (margins > TOLERANCE * nash.scale) & nash.unique
    todo, n = np.flatnonzero(~proved), len(names)
    score, rank, winner = np.zeros(n), np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.bool_)
    score[todo], rank[todo] = np.nan, -1
    size = len(nash.agents) - of_agents
    after = solve_each(solve, np.stack([remove_entry(int(k)) for k in todo]), size) if n > 1 and len(todo) else []
    for k, new in zip(todo, after, strict=False):
        if np.isnan(new).any():
            continue
        old = np.delete(averages, k) if of_agents else averages
        before, now = (tied_ranks(x, nash.scale, 2 * allowed) for x in (old, new))
        score[k], rank[k] = np.abs(new - old).max(), np.abs(now - before).max()
        # among the remaining agents; without the only winner, the next one should be first
        winner[k] = bool(((now == 1) != (before == 1)).any())
    first = tuple(nash.agents[k] for k in np.flatnonzero(tied_ranks(averages, nash.scale, 2 * allowed) == 1))
    return Importance(
        kind=kind,
        names=names,
        weights=weights,
        score_moved=read_only(score),
        rank_moved=read_only(rank),
        new_winner=read_only(winner),
        first=first,
        likely=first,
        sure=True,
        effective_number=effective,
        solved=len(after),
    )


def solve_each(solve: Callable[[Floats], Floats], stack: Floats, size: int) -> list[Floats]:
    """Solve all games at once; if one fails its certificate, solve each alone, with NaN for those that fail."""
    try:
        return list(solve(stack))
    except ConvergenceError:
        if len(stack) == 1:
            return [np.full(size, np.nan)]
        return [solve_each(solve, game[None], size)[0] for game in stack]
