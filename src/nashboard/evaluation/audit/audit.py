"""The audit: what is redundant, who matters, what tasks test, how far ratings go, and whether data can carry it."""

import json
from dataclasses import dataclass
from typing import Any

from nashboard._notebook import chart, mimebundle
from nashboard._tables import Table, as_html, plain
from nashboard._threads import threads_for
from nashboard.data.matches import Matches
from nashboard.data.scores import Scores
from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
from nashboard.equilibrium.results import Selection, check_selection
from nashboard.errors import InputError
from nashboard.evaluation.audit.checks import (
    Check,
    data_checks,
    equilibrium_checks,
    importance_check,
    merging_check,
    redundancy_check,
    task_checks,
    transitivity_check,
    trust_table,
)
from nashboard.evaluation.audit.data_quality import DataQuality, quality_of_matches, quality_of_scores
from nashboard.evaluation.audit.importance import Importance, importance_in_scores, importance_of_agents
from nashboard.evaluation.audit.redundancy import Redundancy, redundant_agents, redundant_tasks
from nashboard.evaluation.audit.task_quality import TaskQuality, task_quality
from nashboard.evaluation.audit.transitivity import Transitivity, transitivity
from nashboard.evaluation.comparable import comparable_matches, comparable_scores, matches_or_scores

ROWS = 12  # of a table in the text


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Audit:
    """Everything that was found out about an evaluation; parts that do not apply (tasks of matches) are empty.

    Parameters
    ----------
    kind
        ``"matches"`` or ``"scores"``.
    redundancy
        Clones among agents, and among tasks where there are some.
    importance
        What leaving out an agent, or a task, would change.
    tasks
        What tasks test; empty for matches.
    transitivity
        How far ratings go.
    data
        What is missing, thin or lopsided.
    checks
        The list "can you trust this?".
    level
        Of every test.
    notes
        What was left out to make the data comparable.
    """

    kind: str
    size: str
    redundancy: tuple[Redundancy, ...]
    importance: tuple[Importance, ...]
    tasks: tuple[TaskQuality, ...]
    transitivity: Transitivity
    data: DataQuality
    checks: tuple[Check, ...]
    level: float
    notes: tuple[str, ...]

    @property
    def passed(self) -> int:
        """How many checks were passed."""
        return sum(check.passed for check in self.checks)

    def summary(self) -> tuple[str, ...]:
        """Say what was found, section by section."""
        found = [one.sentences() for one in self.redundancy] + [one.sentences() for one in self.importance]
        found += [one.sentences() for one in self.tasks] + [self.transitivity.sentences()]
        return tuple(line for lines in found for line in lines)

    def trust_table(self) -> Table:
        """Return the list of checks."""
        return trust_table(self.checks)

    def tables(self) -> dict[str, Table]:
        """Return all tables by name; those without rows are left out."""
        every = {"trust": self.trust_table()}
        for found in self.redundancy:
            every[f"alike {found.kind}"] = found.table()
            every[f"merged {found.kind}"] = found.merge_table()
        for part in self.importance:
            every[f"important {part.kind}"] = part.table()
        for quality in self.tasks:
            every["tasks"] = quality.table()
            every["components"] = quality.component_table()
        every |= {"cycles": self.transitivity.table(), "data": self.data.table()}
        return {name: table for name, table in every.items() if table.rows}

    def shown(self) -> tuple[Table, ...]:
        """Return the tables of the text, long ones cut; what the list of checks says already is left out."""
        every = self.tables()
        return tuple(every[name].head(99 if name == "trust" else ROWS) for name in every if name != "data")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        return {
            "kind": self.kind,
            "level": self.level,
            "redundancy": {found.kind: found.to_dict() for found in self.redundancy},
            "importance": {part.kind: part.to_dict() for part in self.importance},
            "tasks": self.tasks[0].to_dict() if self.tasks else None,
            "transitivity": self.transitivity.to_dict(),
            "data": self.data.to_dict(),
            "checks": [dict(vars(check)) for check in self.checks],
            "passed": self.passed,
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """Return `to_dict` as json."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def __repr__(self) -> str:
        return f"Audit({self.size}, {self.passed} of {len(self.checks)} checks passed)"

    def __str__(self) -> str:
        return "\n\n".join(
            ["\n".join(self.summary()), *map(plain, self.shown()), *(["\n".join(self.notes)] if self.notes else [])]
        )

    chart = chart
    _repr_mimebundle_ = mimebundle

    def _repr_html_(self) -> str:
        return "".join(as_html(table.head(50)) for table in self.tables().values())


def audit(
    data: Matches | Scores,
    *,
    level: float = 0.05,
    margin: float | None = None,
    selection: Selection = "clone-invariant",
) -> Audit:
    """Ask how good an evaluation is: what is redundant, who and what matters, what tasks test, what data carry.

    Nothing here is random: the same data give the same answer.

    Parameters
    ----------
    data
        Matches, or scores of agents on tasks. Where agents cannot be compared, or scores are missing, the largest
        part that can be is looked at, and the result says so.
    level
        Chance of error of every test, over all pairs (or tasks) together; below 0.5.
    margin
        How different two must be at least to matter; see `nashboard.evaluation.audit.redundancy`. By default a win rate
        of 0.1 at even odds for matches, and 0.05 of a task's range for scores.
    selection
        As for `nash_average`.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.audit(nb.load_dataset("rock-paper-scissors"))
    >>> round(found.transitivity.share, 6)
    0.0
    >>> round(found.importance[0].effective_number, 6)
    3.0
    """
    data = matches_or_scores(data, "audit")
    check_level(level)
    selection = check_selection(selection)
    with threads_for(len(data.agents)):
        if isinstance(data, Matches):
            return audit_of_matches(data, level, margin, selection)
        return audit_of_scores(data, level, margin, selection)


def check_level(level: float) -> None:
    """Refuse a level that no test can have, or that is a confidence: 0.95 would find clones and cycles everywhere."""
    if not 0 < level < 0.5:
        raise InputError(f"the level is {level!r}: it is a chance of error, such as 0.05, and lies between 0 and 0.5")


def audit_of_matches(data: Matches, level: float, margin: float | None, selection: Selection) -> Audit:
    """Look at agents against agents."""
    ready = comparable_matches(data)
    found = nash_average(ready.payoffs, selection=selection)
    clones = redundant_agents(ready.matches, ready.payoffs, level=level, margin=margin, selection=selection)
    matter = importance_of_agents(ready.payoffs.A, found, selection)
    ladder = transitivity(ready.matches, level)
    quality = quality_of_matches(data, ready.payoffs)
    return Audit(
        kind="matches",
        size=f"{len(data.agents):,} agents",
        redundancy=(clones,),
        importance=(matter,),
        tasks=(),
        transitivity=ladder,
        data=quality,
        checks=(
            *data_checks(quality),
            redundancy_check(clones),
            merging_check(clones),
            importance_check(matter),
            transitivity_check(ladder),
            *equilibrium_checks(found.unique, found.exploitability / (found.scale or 1.0), found.residual),
        ),
        level=level,
        notes=ready.notes,
    )


def audit_of_scores(data: Scores, level: float, margin: float | None, selection: Selection) -> Audit:
    """Look at agents against tasks."""
    ready = comparable_scores(data)
    scores = ready.scores
    found = nash_average_scores(scores, selection=selection)
    clones = (
        redundant_agents(scores, None, level=level, margin=margin, selection=selection),
        redundant_tasks(scores, level=level, margin=margin, selection=selection),
    )
    matter = tuple(importance_in_scores(kind, scores.values, found, selection) for kind in ("agents", "tasks"))
    ladder = transitivity(scores, level)
    tasks = task_quality(data, scores, level)
    quality = quality_of_scores(data)
    return Audit(
        kind="scores",
        size=f"{len(data.agents):,} agents x {len(data.tasks):,} tasks",
        redundancy=clones,
        importance=matter,
        tasks=(tasks,),
        transitivity=ladder,
        data=quality,
        checks=(
            *data_checks(quality),
            *(redundancy_check(found) for found in clones),
            *(merging_check(found) for found in clones),
            *(importance_check(part) for part in matter),
            *task_checks(tasks),
            *equilibrium_checks(found.unique, found.exploitability / (found.scale or 1.0), found.residual),
        ),
        level=level,
        notes=ready.notes,
    )
