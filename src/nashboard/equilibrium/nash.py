"""Nash averaging for agents against agents (section 4 of the paper).

Symbols: ``A`` payoffs (n, n), antisymmetric; ``p`` weights. ``p`` is an equilibrium exactly when ``A p <=
0``.
"""

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from nashboard._notebook import Drawn
from nashboard._tables import Column, Table
from nashboard._text import either, nearest
from nashboard._threads import threads_for
from nashboard._types import Floats, Ints, read_only
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.equilibrium.certificate import entropy_residual, require_certified
from nashboard.equilibrium.models import PayoffModel
from nashboard.equilibrium.oracle import oracle_equilibrium
from nashboard.equilibrium.population import Population
from nashboard.equilibrium.ranks import tied_ranks
from nashboard.equilibrium.source import Source, source_of
from nashboard.equilibrium.stopping import Progress, progress_on
from nashboard.errors import InputError

Selection = Literal["clone-invariant", "maxent"]


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
        Agents that have weight in *some* equilibrium; all of them have weight in this one.
    clone_groups
        Groups of identical agents; each group shares its weight evenly.
    entropy
        What was maximised: over classes of identical agents, or over agents for ``"maxent"``; in nats.
    unique
        Whether there is only one equilibrium, up to how clones share their weight.
    exploitability
        What the best deviation gains, in the unit of the payoffs: zero at an exact equilibrium.
    residual
        How far the weights may be from those of maximum entropy, see `nashboard.equilibrium.certificate`.
    scale
        The largest payoff; ``exploitability / scale`` and ``residual`` are at most 1e-9.
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
    selection: Selection
    scale: float
    unit: str
    made: str
    iterations: int
    seconds: float

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
        return read_only(tied_ranks(self.averages, self.scale))

    @cached_property
    def excluded(self) -> tuple[str, ...]:
        """Agents that have weight in no equilibrium."""
        inside = set(self.support)
        return tuple(agent for agent in self.agents if agent not in inside)

    def table(self) -> Table:
        """Return rank, weight, average and clones of each agent, the best first."""
        order = np.lexsort([np.arange(len(self.agents)), -self.weights, self.ranks])
        group = {agent: k + 1 for k, names in enumerate(self.clone_groups) for agent in names}
        inside = set(self.support)
        return Table(
            title=repr(self),
            columns=(
                Column(
                    name="rank",
                    meaning="1 for the best; equal where averages tie within the certified tolerance",
                ),
                Column(name="agent"),
                Column(name="weight", meaning="share in the maximum-entropy equilibrium", decimals=4),
                Column(
                    name="average",
                    meaning=f"Nash average, payoff against the equilibrium ({self.unit})",
                    decimals=4,
                ),
                Column(name="margin", meaning="how far the agent misses the equilibrium", decimals=4),
                Column(name="in equilibrium", meaning="whether the agent has weight in some equilibrium"),
                Column(name="clones", meaning="number of the group of identical agents"),
            ),
            rows=tuple(
                (
                    int(self.ranks[k]),
                    self.agents[k],
                    float(self.weights[k]),
                    float(self.averages[k]),
                    float(self.margins[k]),
                    self.agents[k] in inside,
                    group.get(self.agents[k]),
                )
                for k in order
            ),
            notes=self.notes(),
        )

    def notes(self) -> tuple[str, ...]:
        """Return what to know about the numbers."""
        kind = "the only equilibrium" if self.unique else "one of many equilibria, the one of maximum entropy"
        over = " over classes of identical agents" if self.selection == "clone-invariant" else " over agents"
        return (
            f"{kind}{'' if self.unique else over}; {len(self.support):,} of {len(self.agents):,} agents have "
            f"weight, effective number {self.effective_number:.2f}",
            f"certificates: exploitability {self.exploitability:.1e} (largest payoff {self.scale:.4g}), "
            f"residual {self.residual:.1e}",
            f"payoffs: {self.made}",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, the same for the same input (so without the time it took)."""
        return {
            "agents": list(self.agents),
            "weights": self.weights.tolist(),
            "averages": self.averages.tolist(),
            "support": list(self.support),
            "clone_groups": [list(group) for group in self.clone_groups],
            "entropy": self.entropy,
            "unique": self.unique,
            "exploitability": self.exploitability,
            "residual": self.residual,
            "selection": self.selection,
            "scale": self.scale,
            "unit": self.unit,
            "made": self.made,
            "iterations": self.iterations,
        }

    def __repr__(self) -> str:
        return (
            f"NashAverage({len(self.agents):,} agents, {len(self.support):,} with weight, "
            f"{'unique' if self.unique else 'not unique'}, exploitability {self.exploitability:.1e})"
        )


def checked_selection(selection: str) -> Selection:
    """Return the selection, or say which there are."""
    allowed = get_args(Selection)
    if selection not in allowed:
        raise InputError(f"there is no selection {selection!r}{nearest(selection, allowed)}: use {either(allowed)}")
    return cast(Selection, selection)


def nash_average(
    data: ArrayLike | Payoffs | Matches | PayoffModel | Any,
    *,
    selection: Selection = "clone-invariant",
    progress: bool = False,
) -> NashAverage:
    """Average each agent's payoffs over the opponents that matter: the equilibrium of the population.

    Play ``max_p min_q p'Aq`` over teams of agents. Its value is 0, and the weights ``p`` are the team that
    nobody beats on average, ``A p <= 0``. Of all such teams the one of maximum entropy is chosen.

    Parameters
    ----------
    data
        An antisymmetric matrix, `Payoffs`, `Matches` (their log-odds), ratings with cyclic planes, or any
        object with ``size``, ``columns`` and ``product`` (see `nashboard.equilibrium.models`).
    selection
        ``"clone-invariant"``: maximum entropy over classes of identical agents, each class shared evenly, so
        that entering an agent twice changes nothing. ``"maxent"``: maximum entropy over agents, as in the
        paper's definition. They agree where the equilibrium is unique up to clones.
    progress
        Show progress on standard error where that is a terminal.

    Examples
    --------
    >>> import nashboard as nb
    >>> result = nb.nash_average([[0, 1, -1, -1], [-1, 0, 1, 1], [1, -1, 0, 0], [1, -1, 0, 0]])
    >>> result.weights.round(4)
    array([0.3333, 0.3333, 0.1667, 0.1667])
    >>> result.clone_groups
    (('agent 3', 'agent 4'),)

    References
    ----------
    Balduzzi, Tuyls, Perolat, Graepel 2018, Re-evaluating Evaluation, section 4.
    """
    selection = checked_selection(selection)
    began = time.perf_counter()
    source = source_of(data)
    with threads_for(len(source.agents)), progress_on(progress) as show:
        return averaged(source, selection, show, began)


def averaged(source: Source, selection: Selection, show: Progress, began: float) -> NashAverage:
    """Solve, certify on the payoffs as they came in, and put the result together."""
    population = Population.of(source.model)
    classes = population.classes
    log_m = np.log(classes.size) if selection == "maxent" else np.zeros(population.size)
    solution = oracle_equilibrium(population, log_m, show)
    totals = solution.weights(population.size)
    weights = classes.spread(totals)
    averages = np.asarray(source.model.product(weights), dtype=np.float64) + 0.0
    exploitability = max(0.0, float(averages.max()))
    side = solution.side
    residual = entropy_residual(solution.K, side, side.support, log_m[solution.members])
    require_certified(exploitability, residual, population.scale)
    return NashAverage(
        agents=source.agents,
        weights=read_only(weights),
        averages=read_only(averages),
        support=tuple(source.agents[k] for k in np.flatnonzero(weights)),
        clone_groups=tuple(tuple(source.agents[k] for k in group) for group in classes.groups()),
        entropy=entropy_of(totals, log_m),
        unique=side.unique,
        exploitability=exploitability,
        residual=residual,
        selection=selection,
        scale=population.scale,
        unit=source.unit,
        made=source.made,
        iterations=solution.iterations,
        seconds=time.perf_counter() - began,
    )


def entropy_of(totals: Floats, log_m: Floats) -> float:
    """Return ``-sum x log(x / m)``, in nats."""
    held = totals > 0
    return max(0.0, -float(totals[held] @ (np.log(totals[held]) - log_m[held])))
