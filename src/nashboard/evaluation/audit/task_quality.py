"""What tasks test: latent components, and tasks that say nothing or the opposite of the others."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from nashboard._tables import Column, Table, Tabular, plain
from nashboard._types import Floats
from nashboard.algebra.latent import Component, latent
from nashboard.data.scores import Scores
from nashboard.evaluation.audit.checks import Check, name_some
from nashboard.evaluation.audit.likeness import holm
from nashboard.evaluation.posterior.scores import known_noise
from nashboard.evaluation.problem import Problem

PASSED, FAILED = 0.95, 0.05
COMPONENTS = 3

TaskStatus = Literal[
    "fine", "the same for everybody", "everybody passes", "everybody fails", "within noise", "wrong way", "leans wrong"
]
MEANINGS: dict[TaskStatus, str] = {
    "fine": "separates agents, in the direction of the others",
    "the same for everybody": "one score for all agents: it separates nobody",
    "everybody passes": f"a share of at least {PASSED:g} for every agent",
    "everybody fails": f"a share of at most {FAILED:g} for every agent",
    "within noise": "the differences between agents are no larger than the noise of the scores",
    "wrong way": "agents that are good elsewhere are bad here, more than by chance",
    "leans wrong": "negative correlation with the mean of the others, perhaps by chance",
}


@dataclass(frozen=True, kw_only=True)
class TaskFinding:
    """What one task does.

    ``correlation`` with the mean of the other tasks and ``p_noise`` (chance of such differences between agents by noise
    alone) are NaN where they cannot be known.
    """

    task: str
    lowest: float
    mean: float
    highest: float
    correlation: float
    p_noise: float
    status: TaskStatus


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TaskQuality(Tabular):
    """What tasks test beyond an average, and which tasks say nothing or the opposite.

    Parameters
    ----------
    components
        The strongest latent skills, with the agents and tasks at their ends.
    averages_share
        How much of the scores (squared norm around the mean) average skill and difficulty explain.
    findings
        One per task.
    level
        Of the tests on noise and on correlation, Holm over all tasks.
    """

    components: tuple[Component, ...]
    averages_share: float
    findings: tuple[TaskFinding, ...]
    level: float

    def having(self, *status: TaskStatus) -> tuple[str, ...]:
        """Return the tasks of this status."""
        return tuple(finding.task for finding in self.findings if finding.status in status)

    def sentences(self) -> tuple[str, ...]:
        """Say what tasks test."""
        lines = [f"averages of agents and tasks explain {self.averages_share:.1%} of the scores"]
        for part in self.components:
            if part.strength > 0:
                ends = ((part.tasks_high, part.agents_high), (part.tasks_low, part.agents_low))
                said = (f"on {', '.join(tasks)}: {', '.join(agents)}" for tasks, agents in ends)
                lines.append(f"component {part.number} ({part.share:.1%}), better than averages say {'; '.join(said)}")
        for status, meaning in MEANINGS.items():
            tasks = self.having(status)
            if tasks and status != "fine":
                more = f" and {len(tasks) - 5:,} more" if len(tasks) > 5 else ""
                lines.append(f"{status}: {', '.join(tasks[:5])}{more} ({meaning})")
        return tuple(lines)

    def table(self) -> Table:
        """Return the tasks, those to look at first."""
        order = {status: k for k, status in enumerate([*list(MEANINGS)[1:], "fine"])}
        rows = sorted(self.findings, key=lambda f: order[f.status])
        return Table(
            title="what each task does",
            columns=(
                Column(name="task"),
                Column(name="status", meaning="; ".join(f"{name}: {text}" for name, text in MEANINGS.items())),
                Column(name="lowest", meaning="lowest score of an agent, as read"),
                Column(name="mean", meaning="mean score, as read"),
                Column(name="highest", meaning="highest score of an agent, as read"),
                Column(name="correlation", meaning="with the mean of the other tasks, over agents"),
                Column(name="p noise", meaning="chance of such differences between agents by noise alone"),
            ),
            rows=tuple((f.task, f.status, f.lowest, f.mean, f.highest, f.correlation, f.p_noise) for f in rows),
        )

    def checks(self) -> tuple[Check, ...]:
        """Check whether every task separates agents, and in the direction of the others."""
        idle = self.having("the same for everybody", "everybody passes", "everybody fails", "within noise")
        wrong, leaning = self.having("wrong way"), self.having("leans wrong")
        return (
            Check(
                name="every task separates agents",
                passed=not idle,
                sentence=f"{len(idle):,} of {len(self.findings):,} tasks separate nobody" + name_some(idle),
            ),
            Check(
                name="no task points the wrong way",
                passed=not wrong,
                sentence=f"{len(wrong):,} tasks correlate negatively with the rest more than by chance"
                f"{name_some(wrong)}; {len(leaning):,} more perhaps by chance",
            ),
        )

    def tables(self) -> dict[str, Table]:
        """Return the tasks and the components as tables."""
        return {"tasks": self.table(), "components": self.component_table()}

    def component_table(self) -> Table:
        """Return the latent components and who and what is at their ends."""
        return Table(
            title="what tasks test beyond an average",
            columns=(
                Column(name="component"),
                Column(name="share", meaning="share of the squared norm of the scores around their mean"),
                Column(name="agents high", meaning="better than averages say on the tasks high"),
                Column(name="tasks high"),
                Column(name="agents low", meaning="better than averages say on the tasks low"),
                Column(name="tasks low"),
            ),
            rows=tuple(
                (c.number, c.share, *map(", ".join, (c.agents_high, c.tasks_high, c.agents_low, c.tasks_low)))
                for c in self.components
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        return {
            "averages_share": self.averages_share,
            "level": self.level,
            "components": [asdict(part) for part in self.components],
            "tasks": [{k: None if v != v else v for k, v in vars(f).items()} for f in self.findings],
        }

    def __repr__(self) -> str:
        odd = len(self.findings) - len(self.having("fine"))
        return f"TaskQuality({len(self.findings):,} tasks, {odd:,} to look at)"

    def __str__(self) -> str:
        return "\n".join([*self.sentences(), plain(self.table().head(20))])


def assess_tasks(problem: Problem, level: float) -> TaskQuality:
    """Assess every task of the raw table; components and correlations come from the scores in task units."""
    raw, comparable = problem.given, problem.scaled
    assert isinstance(raw, Scores)
    S = comparable.values
    found = latent(comparable, k=min(COMPONENTS, min(S.shape) - 1))
    place = {task: k for k, task in enumerate(comparable.tasks)}
    r = correlations(S)
    correlation = np.array([r[place[task]] if task in place else np.nan for task in raw.tasks])
    p_noise = noise_alone(raw)
    noisy = ~np.isnan(p_noise)
    noisy[noisy] = ~holm(p_noise[noisy], level)
    wrong = ~np.isnan(correlation)
    wrong[wrong] = holm(negative_by_chance(correlation[wrong], len(S)), level)
    return TaskQuality(
        components=tuple(found.component(t) for t in range(found.strengths.size)),
        averages_share=found.averages_share,
        findings=tuple(
            TaskFinding(
                task=task,
                lowest=float(np.nanmin(column)),
                mean=float(np.nanmean(column)),
                highest=float(np.nanmax(column)),
                correlation=float(correlation[k]),
                p_noise=float(p_noise[k]),
                status=status_of(column, raw.scaling, bool(noisy[k]), bool(wrong[k]), float(correlation[k])),
            )
            for k, (task, column) in enumerate(zip(raw.tasks, raw.values.T, strict=True))
        ),
        level=level,
    )


def status_of(column: Floats, scaling: str, noisy: bool, wrong: bool, correlation: float) -> TaskStatus:
    """Return the first thing that is odd about a task."""
    low, high = float(np.nanmin(column)), float(np.nanmax(column))
    shares = scaling == "raw" and low >= 0 and high <= 1
    if shares and low >= PASSED:
        return "everybody passes"
    if shares and high <= FAILED:
        return "everybody fails"
    if low == high:
        return "the same for everybody"
    if noisy:
        return "within noise"
    if wrong:
        return "wrong way"
    return "leans wrong" if correlation < 0 else "fine"


def correlations(S: Floats) -> Floats:
    """Return each task's correlation with the mean of the others over agents; NaN where one of them is constant."""
    n = S.shape[1]
    if n < 2 or len(S) < 3:
        return np.full(n, np.nan)
    rest = (S.sum(axis=1, keepdims=True) - S) / (n - 1)
    a, b = S - S.mean(axis=0), rest - rest.mean(axis=0)
    size = np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0))
    some = size > 1e-12
    return np.where(some, np.clip((a * b).sum(axis=0) / np.where(some, size, 1.0), -1.0, 1.0), np.nan)


def negative_by_chance(r: Floats, agents: int) -> Floats:
    """Return the chance of so negative a correlation between unrelated tasks (Student's t, one-sided)."""
    from scipy.special import stdtr

    freedom = agents - 2
    return np.asarray(stdtr(freedom, r * np.sqrt(freedom / np.maximum(1 - r**2, 1e-300))))


def noise_alone(scores: Scores) -> Floats:
    """Return per task the chance of such differences between agents by noise alone; NaN where noise is unknown."""
    from scipy.special import chdtrc

    E = known_noise(scores)
    known = np.isfinite(E) & ~scores.missing
    w = np.where(known, 1 / np.where(known, E, 1.0) ** 2, 0.0)
    values = np.where(known, scores.values, 0.0)
    mean = (w * values).sum(axis=0) / np.maximum(w.sum(axis=0), 1e-300)
    spread = (w * (values - mean) ** 2).sum(axis=0)
    counted = known.sum(axis=0)
    enough = (counted >= 2) & (counted > (~scores.missing).sum(axis=0) / 2)
    return np.where(enough, chdtrc(np.maximum(counted - 1, 1), spread), np.nan)
