"""The posterior of a board: probability of being at the top, gaps and ranks with their intervals."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nashboard._tables import Cell, Column, Result, Table, title_of
from nashboard._types import Floats, Ints, freeze
from nashboard.data.validation import positions
from nashboard.errors import InputError
from nashboard.evaluation.posterior.draws import Draws

TIE = 1e-9  # gaps closer than this share of the largest gap of a draw are equal up to rounding


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Posterior(Result):
    """The posterior of every agent, in the order of ``agents``.

    Parameters
    ----------
    agents
        Names, in the order of the data.
    unit
        Of the gaps: ``"log-odds"`` for matches, ``"task units"`` for scores.
    level
        Posterior probability inside the intervals.
    draws
        Number of draws.
    gap, gap_low, gap_high
        Distance to the best, at least 0: posterior mean and interval, which always contains the mean.
    gap_error
        Posterior standard deviation of the gap minus the mean gap: noise in the best agent, which all gaps share, does
        not count.
    probability_top
        Share of draws in which the gap is 0, that is, the agent is in the support of the equilibrium.
    rank_low, rank_high
        Interval of ranks; exact copies count once.
    weight
        Posterior mean of the equilibrium weight; exact copies share the weight of one.
    """

    agents: tuple[str, ...]
    unit: str
    level: float
    draws: int
    gap: Floats
    gap_low: Floats
    gap_high: Floats
    gap_error: Floats
    probability_top: Floats
    rank_low: Ints
    rank_high: Ints
    weight: Floats
    classes: Ints
    source: Draws | None = field(default=None)

    hidden = ("source",)

    def __post_init__(self) -> None:
        freeze(self)

    def probability_above(self, a: str, b: str) -> float:
        """Return the probability that agent ``a`` has a smaller gap than agent ``b``; a tie counts half."""
        i, j = (self.classes[self.position(name)] for name in (a, b))
        if self.source is None:
            raise InputError("this posterior was read from json, which does not contain the draws: evaluate the data")
        x, y = self.source.gaps[:, i], self.source.gaps[:, j]
        tie = TIE * self.source.gaps.max(axis=1)
        return float(((x < y - tie) + 0.5 * (np.abs(x - y) <= tie)).mean())

    def position(self, agent: str) -> int:
        """Return the position of an agent."""
        return positions([agent], self.agents, kind="agent")[0]

    @property
    def order(self) -> Ints:
        """Positions by gap, then by P(top), then in the canonical order of classes, then by name."""
        return sort_by_gap(self.gap, self.probability_top, self.classes, self.agents)

    def rank_ranges(self) -> list[Cell]:
        """Return ``3-5`` for every agent, or ``3`` if both ends are equal."""
        return format_ranges(self.rank_low, self.rank_high)

    def table(self) -> Table:
        """Return one row per agent, the smallest gap first."""
        level = f"{self.level:.0%}"
        return Table.of(
            self.order,
            Column("rank", f"ranks that contain {level} of the draws", cell=self.rank_ranges()),
            Column("agent", "name of the agent", cell=self.agents),
            Column("gap", f"distance to the best, posterior mean ({self.unit})", cell=self.gap),
            Column("gap low", f"lower end of its {level} interval", cell=self.gap_low),
            Column("gap high", f"upper end of its {level} interval", cell=self.gap_high),
            Column("P(top)", "probability of being in the support of the equilibrium", decimals=2,
                   cell=self.probability_top),
            title=title_of(self),
        )  # fmt: skip

    @staticmethod
    def from_dict(values: dict[str, Any]) -> "Posterior":
        """Return the posterior that `to_dict` wrote, without its draws."""
        whole = ("rank_low", "rank_high", "classes")
        arrays = {
            name: np.array(value, dtype=np.intp if name in whole else np.float64)
            for name, value in values.items()
            if isinstance(value, list) and name != "agents"
        }
        return Posterior(**{**values, **arrays, "agents": tuple(values["agents"])})

    def __repr__(self) -> str:
        best = self.order[0]
        return (
            f"Posterior({len(self.agents):,} agents, {self.draws:,} draws, "
            f"{self.agents[best]!r} at the top with P = {self.probability_top[best]:.2f})"
        )


def summarise_draws(draws: Draws, agents: tuple[str, ...], classes: Ints, *, unit: str, level: float) -> Posterior:
    """Summarise draws of classes for all agents; ``classes`` gives the class of each agent."""
    gaps = draws.gaps
    tail = (1 - level) / 2
    low, high = np.quantile(gaps, [tail, 1 - tail], axis=0, method="weibull")  # unbiased for few draws
    rank_low, rank_high = rank_interval(draw_ranks(gaps), level)
    size = np.bincount(classes, minlength=gaps.shape[1])
    return Posterior(
        agents=tuple(agents),
        unit=unit,
        level=level,
        draws=len(gaps),
        gap=draws.point[classes],
        gap_low=np.minimum(low, draws.point)[classes],
        gap_high=np.maximum(high, draws.point)[classes],  # a mean can lie outside the quantiles of a skewed posterior
        gap_error=(gaps - gaps.mean(axis=1, keepdims=True)).std(axis=0)[classes],
        probability_top=(gaps <= TIE * gaps.max(axis=1, keepdims=True)).mean(axis=0)[classes],
        rank_low=rank_low[classes],
        rank_high=rank_high[classes],
        weight=(draws.weights.mean(axis=0) / size)[classes],
        classes=np.array(classes, dtype=np.intp),
        source=draws,
    )


def sort_by_gap(gaps: Floats, top: Floats, classes: Ints, names: tuple[str, ...]) -> Ints:
    """Return positions from first to last: by gap, then P(top), then the canonical order of classes, then by name."""
    key = zip(gaps, -top, classes, names, range(len(names)), strict=True)
    return np.array([k for *_, k in sorted(key)], dtype=np.intp)


def format_ranges(low: Ints, high: Ints) -> list[Cell]:
    """Return ``3-5``, or ``3`` if both ends are equal."""
    return [f"{a}" if a == b else f"{a}-{b}" for a, b in zip(low, high, strict=True)]


def draw_ranks(gaps: Floats) -> Ints:
    """Return ``(S, C)`` ranks in each draw: 1 plus the number of classes with a smaller gap."""
    tie = TIE * gaps.max(axis=1)
    ranks = np.empty(gaps.shape, dtype=np.intp)
    for s, row in enumerate(gaps):
        ranks[s] = 1 + np.searchsorted(np.sort(row), row - tie[s], side="left")
    return ranks


def rank_interval(ranks: Ints, level: float) -> tuple[Ints, Ints]:
    """Return the ranks that contain at least ``level`` of the draws; the ends are ranks that occurred."""
    tail = (1 - level) / 2
    low = np.quantile(ranks, tail, axis=0, method="lower")
    high = np.quantile(ranks, 1 - tail, axis=0, method="higher")
    return low.astype(np.intp), high.astype(np.intp)
