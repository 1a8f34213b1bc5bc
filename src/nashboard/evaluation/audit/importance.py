"""Importance: who decides the outcome, and what is left if one is taken away.

Taking away an entry that has no weight, misses the equilibrium by a margin, and whose equilibrium is the only one,
changes nothing for the others: the equilibrium stays one, and stays the only one. So only the others are solved anew,
together, as a stack of games.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nashboard._tables import Column, Table
from nashboard._types import Bools, Floats, Ints, read_only
from nashboard.equilibrium.batch import nash_averages, nash_averages_scores
from nashboard.equilibrium.results import NashAverage, ScoreNashAverage, Selection, tied_ranks
from nashboard.equilibrium.thresholds import TOLERANCE
from nashboard.errors import ConvergenceError
from nashboard.evaluation.audit.checks import Check, Part
from nashboard.evaluation.problem import Kind, Problem


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Importance(Part):
    """The weight of each entry, and what leaving it out does to the Nash board of the other agents.

    Parameters
    ----------
    kind, names
        Agents or tasks.
    weights
        ``(n,)`` shares in the equilibrium.
    score_moved, rank_moved
        ``(n,)`` the largest change of a Nash average and of a rank among the agents that stay, when this entry is
        left out; NaN and -1 where nothing would be left, or no certified equilibrium was found.
    new_winner
        ``(n,)`` whether others are in first place then, the one left out apart.
    effective_number
        ``exp(entropy)``: as many equally important entries would be as diverse.
    solved
        How many games had to be solved anew; for the others it is proved that nothing changes.
    """

    kind: Kind
    names: tuple[str, ...]
    weights: Floats
    score_moved: Floats
    rank_moved: Ints
    new_winner: Bools
    effective_number: float
    solved: int

    @property
    def decisive(self) -> tuple[str, ...]:
        """Entries without which somebody else is in first place."""
        return tuple(self.names[k] for k in np.flatnonzero(self.new_winner))

    def sentences(self) -> tuple[str, ...]:
        """Return how many matter, and whether first place depends on one."""
        n, kind, one = len(self.names), self.kind, self.kind[:-1]
        lines = [f"{self.effective_number:.2f} of {n:,} {kind} matter (effective number of {kind})"]
        among = " among those who stay" if kind == "agents" else ""
        if self.decisive:
            shown = ", ".join(self.decisive[:5])
            more = f" and {len(self.decisive) - 5:,} more" if len(self.decisive) > 5 else ""
            lines.append(f"first place{among} changes without {'any one of ' * (len(self.decisive) > 1)}{shown}{more}")
        elif np.isnan(self.score_moved).any():
            lines.append(f"first place{among} is the same without most {kind}; of the others it is not known")
        else:
            lines.append(f"first place{among} is the same whichever {one} is left out")
        return tuple(lines)

    def checks(self) -> tuple[Check, ...]:
        """Check whether first place depends on a single entry."""
        passed = False if self.decisive else None if np.isnan(self.score_moved).any() else True
        name = f"first place survives the loss of one {self.kind[:-1]}"
        return (Check(name=name, passed=passed, sentence=self.sentences()[1]),)

    def tables(self) -> dict[str, Table]:
        """Return the entries as a table."""
        return {f"important {self.kind}": self.table()}

    def table(self) -> Table:
        """Return the entries, the largest weight first."""
        order = np.lexsort([np.arange(len(self.names)), -np.nan_to_num(self.score_moved), -self.weights])
        return Table(
            title=f"how much each of the {self.kind} matters",
            columns=(
                Column(name=self.kind[:-1]),
                Column(name="weight", meaning="share in the maximum-entropy equilibrium", decimals=4),
                Column(name="score moved", meaning="largest change of another's Nash average without it", decimals=4),
                Column(name="ranks moved", meaning="largest change of another's rank without it"),
                Column(name="new winner", meaning="whether first place changes without it"),
            ),
            rows=tuple(
                (
                    self.names[k],
                    float(self.weights[k]),
                    float(self.score_moved[k]),
                    int(self.rank_moved[k]) if self.rank_moved[k] >= 0 else None,
                    bool(self.new_winner[k]),
                )
                for k in order
            ),
            notes=(
                f"{self.solved:,} solved anew; the other {len(self.names) - self.solved:,} {self.kind} have no weight "
                f"and a margin, so that nothing changes without them",
                *(("a dash: no certified answer without this one",) if np.isnan(self.score_moved).any() else ()),
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        return {
            "kind": self.kind,
            "names": list(self.names),
            "weights": self.weights.tolist(),
            "score_moved": [None if x != x else x for x in self.score_moved.tolist()],
            "rank_moved": [None if x < 0 else x for x in self.rank_moved.tolist()],
            "new_winner": self.new_winner.tolist(),
            "effective_number": self.effective_number,
            "decisive": list(self.decisive),
            "solved": self.solved,
        }

    def __repr__(self) -> str:
        return f"Importance({len(self.names):,} {self.kind}, effective number {self.effective_number:.2f})"


def measure_importance(problem: Problem, kind: Kind) -> Importance:
    """Leave out each agent or task in turn and solve the equilibrium of the expected payoffs again."""
    found, selection = problem.full_equilibrium, problem.settings.selection
    A = problem.full_payoffs()
    if isinstance(found, NashAverage):
        return importance_of_agents(A, found, selection)
    assert problem.tasks is not None
    kept = np.flatnonzero(np.isin(problem.tasks.label, problem.kept_tasks))
    return importance_in_scores(kind, A[:, kept], found, selection)


def importance_of_agents(A: Floats, found: NashAverage, selection: Selection) -> Importance:
    """Leave out each agent of a game in turn."""
    n = len(A)
    todo = unproved(found.weights, found.margins, found.scale, unique=found.unique)
    keep = [np.delete(np.arange(n), k) for k in todo]
    after: list[Floats] = []
    if n > 1 and len(todo):
        stack = np.stack([A[np.ix_(rest, rest)] for rest in keep])
        after = each_or_nan(lambda games: nash_averages(games, selection=selection).averages, stack, n - 1)
    return compared(
        "agents", found.agents, found.weights, found.averages, found.scale, todo, keep, after, found.effective_number
    )


def importance_in_scores(kind: Kind, S: Floats, found: ScoreNashAverage, selection: Selection) -> Importance:
    """Leave out each agent, or each task, of a table in turn; scores keep the scaling of the whole table."""
    axis = 0 if kind == "agents" else 1
    weights, margins, names = (
        (found.agent_weights, found.agent_margins, found.agents)
        if axis == 0
        else (found.task_weights, found.task_margins, found.tasks)
    )
    todo = unproved(weights, margins, found.scale, unique=found.unique)
    everybody = np.arange(len(found.agents))
    keep = [np.delete(everybody, k) if axis == 0 else everybody for k in todo]
    after: list[Floats] = []
    if S.shape[axis] > 1 and len(todo):
        stack = np.stack([np.delete(S, k, axis=axis) for k in todo])
        size = len(found.agents) - (axis == 0)
        after = each_or_nan(lambda tables: nash_averages_scores(tables, selection=selection).skills, stack, size)
    effective = found.effective_agents if axis == 0 else found.effective_tasks
    return compared(kind, names, weights, found.skills, found.scale, todo, keep, after, effective)


def each_or_nan(solve: Callable[[Floats], Floats], stack: Floats, size: int) -> list[Floats]:
    """Solve all together; where one misses its certificate, each alone, with NaN for those that do."""
    try:
        return list(solve(stack))
    except ConvergenceError:
        found = []
        for game in stack:
            try:
                found.append(solve(game[None])[0])
            except ConvergenceError:
                found.append(np.full(size, np.nan))
        return found


def unproved(weights: Floats, margins: Floats, scale: float, *, unique: bool) -> Ints:
    """Return the entries for which it is not proved that leaving them out changes nothing."""
    nothing = (weights == 0) & (margins > TOLERANCE * scale) & unique
    return np.flatnonzero(~nothing)


def compared(
    kind: Kind,
    names: tuple[str, ...],
    weights: Floats,
    averages: Floats,
    scale: float,
    todo: Ints,
    keep: list[Ints],
    after: list[Floats],
    effective: float,
) -> Importance:
    """Compare the averages of those who stay, before and after."""
    n = len(names)
    score, rank, winner = np.zeros(n), np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.bool_)
    if not after:
        score[todo], rank[todo] = np.nan, -1
    for k, rest, new in zip(todo, keep, after, strict=False):
        if np.isnan(new).any():
            score[k], rank[k] = np.nan, -1
            continue
        old = averages[rest]
        before, now = tied_ranks(old, scale), tied_ranks(new, scale)
        score[k], rank[k] = np.abs(new - old).max(), np.abs(now - before).max()
        # among those who stay: without the only winner, the next in line should be first
        winner[k] = bool(((now == 1) != (before == 1)).any())
    return Importance(
        kind=kind,
        names=names,
        weights=weights,
        score_moved=read_only(score),
        rank_moved=read_only(rank),
        new_winner=read_only(winner),
        effective_number=effective,
        solved=len(after),
    )
