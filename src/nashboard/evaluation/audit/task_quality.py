"""What tasks test: latent components, and tasks without information or with the opposite order of the others."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nashboard._tables import Column, Table
from nashboard._text import number_of
from nashboard._types import Floats
from nashboard.algebra.latent import Component, joined, latent
from nashboard.data.scores import Scores
from nashboard.evaluation.audit.checks import Check, Part, bracket_names, shorten
from nashboard.evaluation.posterior.scores import adjust_holm, fill_noise, find_limits, judge_tasks
from nashboard.evaluation.problem import Problem

PASSED, FAILED = 0.95, 0.05
COMPONENTS = 3
UNJUDGED: tuple["TaskStatus", ...] = ("unknown", "everybody passes", "everybody fails")

TaskStatus = Literal[
    "fine",
    "the same for everybody",
    "everybody passes",
    "everybody fails",
    "equivalent",
    "unknown",
    "wrong way",
    "near the ceiling",
    "near the floor",
    "leans wrong",
]
MEANINGS: dict[TaskStatus, str] = {
    "fine": "separates agents, in the direction of the others",
    "the same for everybody": "one score for all agents: it separates none of them",
    "everybody passes": f"a share of at least {PASSED:.0%} for every agent",
    "everybody fails": f"a share of at most {FAILED:.0%} for every agent",
    "equivalent": "shown: the true standard deviation between agents is smaller than the noise of one score",
    "unknown": "these data show neither that agents differ nor that they differ by less than the noise of one score",
    "wrong way": "agents that are good elsewhere are bad here, more than by chance",
    "near the ceiling": f"half of the agents or more have a share of at least {PASSED:.0%}, so the best are tied",
    "near the floor": f"half of the agents or more have a share of at most {FAILED:.0%}",
    "leans wrong": "negative correlation with the mean of the others, perhaps by chance",
}


@dataclass(frozen=True, kw_only=True)
class TaskFinding:
    """The quality of one task.

    ``correlation`` is that with the mean of the other tasks. ``p_noise`` is the probability of such differences between
    agents by noise alone, ``spread_bound`` an upper confidence bound of the true standard deviation between agents, as
    a multiple of the noise of one score. They are NaN if they are unknown. ``saturated`` tasks are those on
    which half of the agents or more are near the best or worst possible score, whatever else is true of them.
    """

    task: str
    lowest: float
    mean: float
    highest: float
    correlation: float
    p_noise: float
    spread_bound: float
    status: TaskStatus
    saturated: bool


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TaskQuality(Part):
    """What tasks test beyond an average, and which tasks separate no agents or have the opposite order.

    Parameters
    ----------
    components
        The strongest latent skills, with the agents and tasks at their ends.
    averages_share
        Share of the scores (squared norm around the mean) that average skill and difficulty explain.
    findings
        One per task.
    level
        Error of the test for wrong directions (Holm). Differences beyond noise are tested as on the board, at 5%.
    """

    components: tuple[Component, ...]
    averages_share: float
    findings: tuple[TaskFinding, ...]
    level: float

    def tasks_with(self, *status: TaskStatus) -> tuple[str, ...]:
        """Return the tasks of this status."""
        return tuple(finding.task for finding in self.findings if finding.status in status)

    def sentences(self) -> tuple[str, ...]:
        """Return what tasks test."""
        lines = [f"averages of agents and tasks explain {self.averages_share:.1%} of the scores"]
        for part in self.components:
            if part.strength > 0:
                ends = ((part.tasks_high, part.agents_high), (part.tasks_low, part.agents_low))
                named = (f"{', '.join(agents)} on {', '.join(tasks)}" for tasks, agents in ends)
                lines.append(f"component {part.number} ({part.share:.1%}): better than expected are {'; '.join(named)}")
        for status, meaning in MEANINGS.items():
            tasks = self.tasks_with(status)
            if tasks and status != "fine":
                lines.append(f"{status}: {shorten(tasks)} ({meaning})")
        return tuple(lines)

    def table(self) -> Table:
        """Return the tasks, those that failed first."""
        order = {status: k for k, status in enumerate([*list(MEANINGS)[1:], "fine"])}
        return Table.of(
            sorted(self.findings, key=lambda finding: order[finding.status]),
            Column("task"),
            Column("status", "; ".join(f"{name}: {text}" for name, text in MEANINGS.items())),
            Column("lowest", "lowest score of an agent, as read"),
            Column("mean", "mean score, as read"),
            Column("highest", "highest score of an agent, as read"),
            Column("correlation", "with the mean of the other tasks, over agents"),
            Column("p noise", "probability of such differences between agents by noise alone", cell="p_noise"),
            Column(
                "spread at most",
                "upper bound of the true standard deviation between agents, in noise of one score",
                cell="spread_bound",
            ),
            title="what each task does",
        )

    def checks(self) -> tuple[Check, ...]:
        """Check whether every task separates agents, and in the direction of the others."""
        idle, unknown = self.tasks_with("the same for everybody", "equivalent"), self.tasks_with(*UNJUDGED)
        wrong, leaning = self.tasks_with("wrong way"), self.tasks_with("leans wrong")
        saturated = tuple(finding.task for finding in self.findings if finding.saturated)
        of = f"of {len(self.findings):,}"
        separate = f"tasks that separate no agents beyond noise: {len(idle):,} {of}{bracket_names(idle)}"
        if unknown:
            separate += f"; {len(unknown):,} cannot be judged with these data{bracket_names(unknown)}"
        near = "near the ceiling or floor for half of the agents or more"
        opposite = f"{self.name_some(wrong, 'correlate')} negatively with the rest beyond chance"
        if leaning:
            opposite += f"; {shorten(leaning)} {'do' if len(leaning) > 1 else 'does'} so perhaps by chance"
        return (
            Check("every task separates agents", False if idle else None if unknown else True, separate),
            Check("no task is saturated", not saturated, f"{self.name_some(saturated, 'are')} {near}"),
            Check("no task points the wrong way", not wrong, opposite),
        )

    def name_some(self, tasks: tuple[str, ...], verb: str) -> str:
        """Return ``2 of 12 tasks (a, b)`` with the verb, ``no task`` where there are none."""
        verb = verb if len(tasks) > 1 else "is" if verb == "are" else f"{verb}s"
        if not tasks:
            return f"no task {verb}"
        return f"{len(tasks):,} of {number_of(len(self.findings), 'tasks')} ({shorten(tasks)}) {verb}"

    def tables(self) -> dict[str, Table]:
        """Return the tasks and the components as tables."""
        return {"tasks": self.table(), "components": self.component_table()}

    def component_table(self) -> Table:
        """Return the latent components with the agents and tasks at their ends."""
        return Table.of(
            self.components,
            Column("component", cell="number"),
            Column("share", "share of the squared norm of the scores around their mean"),
            Column("agents high", "better than expected on the tasks high", cell=joined("agents_high")),
            Column("tasks high", "tasks on which the agents high are better than expected", cell=joined("tasks_high")),
            Column("agents low", "better than expected on the tasks low", cell=joined("agents_low")),
            Column("tasks low", "tasks on which the agents low are better than expected", cell=joined("tasks_low")),
            title="what tasks test beyond an average",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for machines."""
        document = super().to_dict()
        return {**document, "tasks": document.pop("findings")}

    def __repr__(self) -> str:
        odd = len(self.findings) - len(self.tasks_with("fine"))
        return f"TaskQuality({len(self.findings):,} tasks, {odd:,} to look at)"


def assess_tasks(problem: Problem, level: float) -> TaskQuality:
    """Assess every task of the raw table; components and correlations come from the scores in task units."""
    raw, comparable = problem.given, problem.scaled
    assert isinstance(raw, Scores)
    data, merged, classes = problem.data, problem.merged, problem.tasks
    assert isinstance(data, Scores)
    assert isinstance(merged, Scores)
    assert classes is not None
    if not set(data.tasks) <= set(raw.tasks):  # items that were pooled into tasks
        raw = data
    S = comparable.values
    components = latent(comparable, k=min(COMPONENTS, min(S.shape) - 1))
    place = {task: k for k, task in enumerate(comparable.tasks)}
    r = correlate_with_rest(S)
    correlation = np.array([r[place[task]] if task in place else np.nan for task in raw.tasks])
    tests = judge_tasks(merged.values, fill_noise(merged))
    column_of = dict(zip(data.tasks, classes.label, strict=True))
    unrelated = {task for fact in ("unrelated", "unclear") for task in problem.draws.facts.get(fact, ())}
    wrong = ~np.isnan(correlation)
    wrong[wrong] = adjust_holm(negative_p_values(correlation[wrong], len(S))) <= level
    findings = []
    for k, (task, column, limit) in enumerate(zip(raw.tasks, raw.values.T, find_limits(raw), strict=True)):
        at = column_of.get(task)  # None: constant
        p_noise, bound, state = (
            (np.nan, np.nan, "") if at is None else (tests.p_value[at], tests.bound[at], tests.state[at])
        )
        near = classify_median(column / limit)
        status: TaskStatus | None = classify_range(column, limit)
        if status == "the same for everybody":
            pass
        elif state == "equivalent":
            status = "equivalent"
        elif wrong[k] and status is None:  # noise alone does not correlate, whether or not it is known
            status = "wrong way"
        elif state != "tells agents apart" and (status or p_noise == p_noise or task in unrelated):
            status = status or "unknown"
        else:
            status = near or ("leans wrong" if correlation[k] < 0 else "fine")
        findings.append(
            TaskFinding(
                task=task,
                lowest=float(np.nanmin(column)),
                mean=float(np.nanmean(column)),
                highest=float(np.nanmax(column)),
                correlation=float(correlation[k]),
                p_noise=float(p_noise),
                spread_bound=float(bound),
                status=status,
                saturated=near is not None,
            )
        )
    return TaskQuality(
        components=tuple(components.component(t) for t in range(components.strengths.size)),
        averages_share=components.averages_share,
        findings=tuple(findings),
        level=level,
    )


def classify_range(column: Floats, limit: float) -> TaskStatus | None:
    """Return how a task fails to separate agents, whatever the noise; ``limit`` is NaN where scores are no shares."""
    low, high = float(np.nanmin(column)), float(np.nanmax(column))
    if low == high:
        return "the same for everybody"
    return "everybody passes" if low >= PASSED * limit else "everybody fails" if high <= FAILED * limit else None


def classify_median(shares: Floats) -> TaskStatus | None:
    """Return whether at least half of the agents are at the ceiling or the floor; all are NaN in another unit."""
    known = shares[np.isfinite(shares)]
    median = float(np.median(known)) if known.size else np.nan
    return "near the ceiling" if median >= PASSED else "near the floor" if median <= FAILED else None


def correlate_with_rest(S: Floats) -> Floats:
    """Return each task's correlation with the mean of the others over agents; NaN where one of them is constant."""
    n = S.shape[1]
    if n < 2 or len(S) < 3:
        return np.full(n, np.nan)
    rest = (S.sum(axis=1, keepdims=True) - S) / (n - 1)
    a, b = S - S.mean(axis=0), rest - rest.mean(axis=0)
    size = np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0))
    some = size > 1e-12
    return np.where(some, np.clip((a * b).sum(axis=0) / np.where(some, size, 1.0), -1.0, 1.0), np.nan)


def negative_p_values(r: Floats, agents: int) -> Floats:
    """Return one-sided p-values of negative correlations between unrelated tasks (Student's t)."""
    from scipy.special import stdtr

    freedom = agents - 2
    return np.asarray(stdtr(freedom, r * np.sqrt(freedom / np.maximum(1 - r**2, 1e-300))))
