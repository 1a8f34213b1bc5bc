"""The result of Nash averaging for agents against tasks."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nashboard._notebook import Drawn
from nashboard._tables import Column, Table, as_html
from nashboard._types import Floats, Ints, read_only
from nashboard.equilibrium.ranks import tied_ranks


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ScoreNashAverage(Drawn):
    """The maximum-entropy equilibrium of agents against tasks, and everybody's average against it.

    Parameters
    ----------
    agents, tasks
        Names; ``m`` agents and ``n`` tasks.
    agent_weights, task_weights
        ``(m,)`` and ``(n,)`` shares in the equilibrium, never negative, each with sum 1.
    value
        What the agents' mixture scores against the tasks' mixture.
    skills
        ``(m,)`` Nash averages of agents, ``S @ task_weights``: the value for the best, below it for the
        others.
    difficulties
        ``(n,)`` Nash averages of tasks, ``-S.T @ agent_weights``: minus the value for the hardest, below it
        for others.
    agent_support, task_support
        Who has weight in *some* equilibrium; all of them have weight in this one.
    agent_clone_groups, task_clone_groups
        Groups of identical agents, and of identical tasks; each group shares its weight evenly.
    agent_entropy, task_entropy
        What was maximised: over classes of identical players, or over players for ``"maxent"``; in nats.
    agents_unique, tasks_unique
        Whether only one mixture is optimal, up to how clones share their weight.
    exploitability
        What the best deviation of either side gains, in the unit of the scores.
    residual
        How far the weights may be from those of maximum entropy, see `nashboard.equilibrium.certificate`.
    scaling
        The unit of the scores: ``"range"`` is [0, 1] per task, ``"as given"`` an array used as it is.
    scale
        Largest minus smallest score; ``exploitability / scale`` and ``residual`` are at most 1e-9.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    agent_weights: Floats
    task_weights: Floats
    value: float
    skills: Floats
    difficulties: Floats
    agent_support: tuple[str, ...]
    task_support: tuple[str, ...]
    agent_clone_groups: tuple[tuple[str, ...], ...]
    task_clone_groups: tuple[tuple[str, ...], ...]
    agent_entropy: float
    task_entropy: float
    agents_unique: bool
    tasks_unique: bool
    exploitability: float
    residual: float
    selection: str
    scaling: str
    scale: float
    iterations: int
    seconds: float

    @property
    def unique(self) -> bool:
        """Whether there is only one equilibrium, up to how clones share their weight."""
        return self.agents_unique and self.tasks_unique

    @property
    def entropy(self) -> float:
        """The entropy of both mixtures together."""
        return self.agent_entropy + self.task_entropy

    @property
    def effective_agents(self) -> float:
        """``exp(agent_entropy)``: how many equally important agents would be as diverse."""
        return float(np.exp(self.agent_entropy))

    @property
    def effective_tasks(self) -> float:
        """``exp(task_entropy)``: how many equally important tasks would be as diverse."""
        return float(np.exp(self.task_entropy))

    @cached_property
    def agent_margins(self) -> Floats:
        """``(m,)`` how far below the value each agent is."""
        return read_only(np.maximum(self.value - self.skills, 0.0))

    @cached_property
    def task_margins(self) -> Floats:
        """``(n,)`` how far each task is from hard enough: what agents score on it above the value."""
        return read_only(np.maximum(-self.difficulties - self.value, 0.0))

    @cached_property
    def excluded_agents(self) -> tuple[str, ...]:
        """Agents that have weight in no equilibrium."""
        inside = set(self.agent_support)
        return tuple(agent for agent in self.agents if agent not in inside)

    @cached_property
    def excluded_tasks(self) -> tuple[str, ...]:
        """Tasks that have weight in no equilibrium."""
        inside = set(self.task_support)
        return tuple(task for task in self.tasks if task not in inside)

    @cached_property
    def agent_ranks(self) -> Ints:
        """``(m,)`` 1 for the most skilled; skills within the certified tolerance share a rank."""
        return read_only(tied_ranks(self.skills, self.scale))

    @cached_property
    def task_ranks(self) -> Ints:
        """``(n,)`` 1 for the hardest; difficulties within the certified tolerance share a rank."""
        return read_only(tied_ranks(self.difficulties, self.scale))

    def table(self) -> Table:
        """Return rank, weight, skill and margin of each agent, the best first."""
        return side_table(
            repr(self), "agent", self.agents, self.agent_ranks, self.agent_weights, ("skill", self.skills),
            self.agent_margins, self.agent_support, self.agent_clone_groups, self.notes(),
        )  # fmt: skip

    def task_table(self) -> Table:
        """Return rank, weight, difficulty and margin of each task, the hardest first."""
        return side_table(
            repr(self), "task", self.tasks, self.task_ranks, self.task_weights, ("difficulty",
            self.difficulties), self.task_margins, self.task_support, self.task_clone_groups, self.notes(),
        )  # fmt: skip

    def notes(self) -> tuple[str, ...]:
        """Return what to know about the numbers."""
        kind = "the only equilibrium" if self.unique else "one of many equilibria, the one of maximum entropy"
        return (
            f"{kind}; value {self.value:.6g} on scores scaled by {self.scaling!r}"
            if self.scaling != "as given"
            else f"{kind}; value {self.value:.6g} on scores as given",
            f"{len(self.agent_support):,} of {len(self.agents):,} agents have weight (effective number "
            f"{self.effective_agents:.2f}), {len(self.task_support):,} of {len(self.tasks):,} tasks "
            f"(effective number {self.effective_tasks:.2f})",
            f"certificates: exploitability {self.exploitability:.1e} (range of scores {self.scale:.4g}), "
            f"residual {self.residual:.1e}",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, the same for the same input (so without the time it took)."""
        arrays = ("agent_weights", "task_weights", "skills", "difficulties")
        names = ("agents", "tasks", "agent_support", "task_support")
        groups = ("agent_clone_groups", "task_clone_groups")
        numbers = (
            "value", "agent_entropy", "task_entropy", "agents_unique", "tasks_unique", "unique",
            "exploitability", "residual", "selection", "scaling", "scale", "iterations",
        )  # fmt: skip
        return (
            {name: list(getattr(self, name)) for name in names}
            | {name: getattr(self, name).tolist() for name in arrays}
            | {name: [list(group) for group in getattr(self, name)] for name in groups}
            | {name: getattr(self, name) for name in numbers}
        )

    def __repr__(self) -> str:
        return (
            f"ScoreNashAverage({len(self.agents):,} agents x {len(self.tasks):,} tasks, "
            f"value {self.value:.4g}, {'unique' if self.unique else 'not unique'}, "
            f"exploitability {self.exploitability:.1e})"
        )

    def _repr_html_(self) -> str:
        return as_html(self.table().head(50)) + as_html(self.task_table().head(50))


def side_table(
    title: str,
    kind: str,
    names: tuple[str, ...],
    ranks: Ints,
    weights: Floats,
    average: tuple[str, Floats],
    margins: Floats,
    support: tuple[str, ...],
    clone_groups: tuple[tuple[str, ...], ...],
    notes: tuple[str, ...],
) -> Table:
    """Return the table of one side."""
    order = np.lexsort([np.arange(len(names)), -weights, ranks])
    group = {name: k + 1 for k, members in enumerate(clone_groups) for name in members}
    inside = set(support)
    meaning = "mean score over the tasks' equilibrium" if kind == "agent" else "minus the mean score of the agents"
    return Table(
        title=title,
        columns=(
            Column(name="rank", meaning="1 for the best; equal where averages tie within the certified tolerance"),
            Column(name=kind),
            Column(name="weight", meaning="share in the maximum-entropy equilibrium", decimals=4),
            Column(name=average[0], meaning=f"Nash average: {meaning}", decimals=4),
            Column(name="margin", meaning=f"how far the {kind} misses the equilibrium", decimals=4),
            Column(name="in equilibrium", meaning=f"whether the {kind} has weight in some equilibrium"),
            Column(name="clones", meaning=f"number of the group of identical {kind}s"),
        ),
        rows=tuple(
            (
                int(ranks[k]),
                names[k],
                float(weights[k]),
                float(average[1][k]),
                float(margins[k]),
                names[k] in inside,
                group.get(names[k]),
            )
            for k in order
        ),
        notes=notes,
    )
