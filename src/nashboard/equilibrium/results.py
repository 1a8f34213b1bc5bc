"""The results of Nash averaging: weights, averages, certificates, and tables of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, cast, get_args

import numpy as np

from nashboard._display import Drawn
from nashboard._tables import Column, Table, as_html, title_of
from nashboard._text import number_of
from nashboard._types import Floats, Ints, read_only
from nashboard.equilibrium.precision import TOLERANCE
from nashboard.errors import check_choice

Selection = Literal["clone-invariant", "maxent"]


def check_selection(selection: str) -> Selection:
    """Return the selection, if it is a known one."""
    return cast(Selection, check_choice(selection, get_args(Selection), "selection"))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NashAverage(Drawn):
    """The maximum-entropy equilibrium of a population and everybody's payoff against it.

    Parameters
    ----------
    agents
        Names.
    weights
        ``(n,)`` shares of the agents in the equilibrium, never negative, sum 1.
    averages
        ``(n,)`` Nash averages ``A @ weights``: zero for the best agents, below zero for the others.
    support
        Agents that have weight in *some* equilibrium; all of them have weight in this one. With a tolerance, agents
        whose average is within twice the tolerance of the best.
    clone_groups
        Groups of identical agents; each group shares its weight evenly.
    entropy
        What was maximised: over classes of identical agents, or over agents for ``"maxent"``; in nats.
    unique
        Whether there is only one equilibrium, up to how clones share their weight; False with a tolerance.
    exploitability
        What the best deviation gains, in the unit of the payoffs: zero at an exact equilibrium.
    residual
        How far the weights may be from those of maximum entropy, see `nashboard.equilibrium.certificate`.
    condition
        How far a weight can move per share of the largest payoff by which payoffs change: a change of 1e-9 of the
        largest payoff moves a weight by at most about ``1e-9 * condition``. Infinite where there are many equilibria,
        or nearly so. Clones stay clones: a change that tells them apart can give the weight of all to one. With a
        tolerance it is 0 only where even weights need less than is allowed, by more than such a change.
    tolerance
        The exploitability that was allowed, in the unit of the payoffs; 0 for an exact equilibrium.
    scale
        The largest payoff; ``exploitability / scale`` (beyond ``tolerance``) and ``residual`` are at most 1e-9. Of a
        model of your own with more than 1,024 agents it is the largest against 32 of them.
    iterations, seconds
        Linear systems solved, and the time it took.
    """

    agents: tuple[str, ...]
    weights: Floats
    averages: Floats
    support: tuple[str, ...]
    clone_groups: tuple[tuple[str, ...], ...]
    entropy: float
    unique: bool
    exploitability: float
    residual: float
    condition: float
    tolerance: float
    selection: Selection
    scale: float
    unit: str
    made: str
    iterations: int
    seconds: float

    hidden = ("seconds",)

    @property
    def effective_number(self) -> float:
        """``exp(entropy)``: how many equally strong agents (or classes of them) would be as diverse."""
        return float(np.exp(self.entropy))

    @cached_property
    def margins(self) -> Floats:
        """``(n,)`` how far below zero each average is: by how much an agent misses the equilibrium."""
        return read_only(np.maximum(-self.averages, 0.0))

    @cached_property
    def ranks(self) -> Ints:
        """``(n,)`` 1 for the best; averages within the certified tolerance of each other share a rank."""
        return read_only(tied_ranks(self.averages, self.scale, 2 * self.tolerance))

    @cached_property
    def excluded(self) -> tuple[str, ...]:
        """Agents that have weight in no equilibrium."""
        return left_out(self.agents, self.support)

    def table(self) -> Table:
        """Return rank, weight, average and clones of each agent, the best first."""
        return side_table(
            title_of(self), "agent", self.agents, self.ranks, self.weights,
            ("average", f"Nash average, payoff against the equilibrium ({self.unit})", self.averages), self.margins,
            self.support, self.clone_groups, self.notes(),
        )  # fmt: skip

    def notes(self) -> tuple[str, ...]:
        """Return what to know about the numbers."""
        over = "classes of identical agents" if self.selection == "clone-invariant" else "agents"
        return (
            f"{kind_of(self)}{'' if self.unique else f' over {over}'}; agents "
            f"{'among the best' if self.tolerance else 'with weight'}: {len(self.support):,} of {len(self.agents):,}, "
            f"effective number {self.effective_number:.2f}",
            f"certificates: exploitability {self.exploitability:.1e} (largest payoff {self.scale:.4g}), "
            f"residual {self.residual:.1e}",
            sensitivity_of(self.condition, bool(self.clone_groups)),
            f"payoffs: {self.made}",
        )

    def __repr__(self) -> str:
        return (
            f"NashAverage({number_of(len(self.agents), 'agents')}, {len(self.support):,} with weight, "
            f"{'unique' if self.unique else 'not unique'}, exploitability {self.exploitability:.1e})"
        )


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
    condition
        How far a weight can move per share of the range of scores by which scores change; infinite where there are
        many equilibria, or nearly so. Clones stay clones.
    tolerance
        The exploitability that was allowed, in the unit of the scores; 0 for an exact equilibrium.
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
    condition: float
    tolerance: float
    selection: str
    scaling: str
    scale: float
    iterations: int
    seconds: float

    hidden = ("seconds",)
    computed = ("unique",)

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
        return left_out(self.agents, self.agent_support)

    @cached_property
    def excluded_tasks(self) -> tuple[str, ...]:
        """Tasks that have weight in no equilibrium."""
        return left_out(self.tasks, self.task_support)

    @cached_property
    def agent_ranks(self) -> Ints:
        """``(m,)`` 1 for the most skilled; skills within the certified tolerance share a rank."""
        return read_only(tied_ranks(self.skills, self.scale, 2 * self.tolerance))

    @cached_property
    def task_ranks(self) -> Ints:
        """``(n,)`` 1 for the hardest; difficulties within the certified tolerance share a rank."""
        return read_only(tied_ranks(self.difficulties, self.scale, 2 * self.tolerance))

    def table(self) -> Table:
        """Return rank, weight, skill and margin of each agent, the best first."""
        return side_table(
            title_of(self), "agent", self.agents, self.agent_ranks, self.agent_weights,
            ("skill", "Nash average: mean score over the tasks' equilibrium", self.skills), self.agent_margins,
            self.agent_support, self.agent_clone_groups, self.notes(),
        )  # fmt: skip

    def task_table(self) -> Table:
        """Return rank, weight, difficulty and margin of each task, the hardest first."""
        return side_table(
            title_of(self), "task", self.tasks, self.task_ranks, self.task_weights,
            ("difficulty", "Nash average: minus the mean score of the agents", self.difficulties), self.task_margins,
            self.task_support, self.task_clone_groups, self.notes(),
        )  # fmt: skip

    def notes(self) -> tuple[str, ...]:
        """Return what to know about the numbers."""
        unit = "as given" if self.scaling == "as given" else f"scaled by {self.scaling!r}"
        return (
            f"{kind_of(self)}; value {self.value:.6g} on scores {unit}",
            f"with weight: {len(self.agent_support):,} of {len(self.agents):,} agents (effective number "
            f"{self.effective_agents:.2f}) and {len(self.task_support):,} of {len(self.tasks):,} tasks "
            f"(effective number {self.effective_tasks:.2f})",
            f"certificates: exploitability {self.exploitability:.1e} (range of scores {self.scale:.4g}), "
            f"residual {self.residual:.1e}",
            sensitivity_of(self.condition, bool(self.agent_clone_groups or self.task_clone_groups)),
        )

    def __repr__(self) -> str:
        return (
            f"ScoreNashAverage({number_of(len(self.agents), 'agents')} x {number_of(len(self.tasks), 'tasks')}, "
            f"value {self.value:.4g}, {'unique' if self.unique else 'not unique'}, "
            f"exploitability {self.exploitability:.1e})"
        )

    def _repr_html_(self) -> str:
        return as_html(self.table().head(50)) + as_html(self.task_table().head(50))


def kind_of(result: "NashAverage | ScoreNashAverage") -> str:
    """Return in words which equilibrium a result is."""
    if result.tolerance > 0:
        return f"the most even mixture with an exploitability of at most {result.tolerance:.2g}"
    if result.unique:
        return "the only equilibrium"
    return "one of many equilibria, the one of maximum entropy"


def sensitivity_of(condition: float, clones: bool) -> str:
    """Return in words how far the weights can move."""
    if not np.isfinite(condition):
        return "sensitivity: equilibria are many, or nearly so: a small change of the payoffs can move weights far"
    moved = min(1.0, TOLERANCE * condition)
    change = "a change of 1e-9 of the largest payoff" + (" that is the same for clones" if clones else "")
    return f"sensitivity: {change} moves a weight by at most about {moved:.1e}"


def left_out(names: tuple[str, ...], support: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that are not in the support."""
    inside = set(support)
    return tuple(name for name in names if name not in inside)


def side_table(
    title: str,
    kind: str,
    names: tuple[str, ...],
    ranks: Ints,
    weights: Floats,
    average: tuple[str, str, Floats],
    margins: Floats,
    support: tuple[str, ...],
    clone_groups: tuple[tuple[str, ...], ...],
    notes: tuple[str, ...],
) -> Table:
    """Return the table of one side."""
    order = np.lexsort([np.arange(len(names)), -weights, ranks])
    group = {name: k + 1 for k, members in enumerate(clone_groups) for name in members}
    inside = set(support)
    margin = f"how far its average is below that of {kind}s in the equilibrium"
    shown = f"whether the {kind} has weight in some equilibrium"
    return Table.of(
        order,
        Column("rank", "1 for the best; equal where averages tie within the certified tolerance", cell=ranks),
        Column(kind, cell=names),
        Column("weight", "share in the maximum-entropy equilibrium", decimals=4, cell=weights),
        Column(average[0], average[1], decimals=4, cell=average[2]),
        Column("margin", margin, decimals=4, cell=margins),
        Column("in equilibrium", shown, cell=lambda k: names[k] in inside),
        Column("clones", f"number of the group of identical {kind}s", cell=lambda k: group.get(names[k])),
        title=title,
        notes=notes,
    )


def tied_ranks(values: Floats, scale: float, tolerance: float = 0.0) -> Ints:
    """Return 1 for the largest; values within ``TOLERANCE * scale`` of the first of a place share it.

    A larger ``tolerance`` is used instead where one is given.
    """
    apart = max(TOLERANCE * scale, tolerance)
    order = np.argsort(-values, kind="stable")
    falling = -values[order]
    places = np.arange(1, len(values) + 1)
    near = np.diff(falling) <= apart
    at = 0
    for k in np.flatnonzero(near):  # only neighbours can tie
        if k < at:
            continue
        at = int(np.searchsorted(falling, falling[k] + apart, side="right"))
        places[k:at] = k + 1
    ranks = np.empty(len(values), dtype=np.intp)
    ranks[order] = places
    return ranks
