"""The board over time: one evaluation after another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nashboard._tables import Cell, Column, Table, Tabular
from nashboard._types import Floats
from nashboard.errors import InputError, number_of


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class History(Tabular):
    """Gaps of every agent in a series of evaluations; NaN where an agent was not there.

    Parameters
    ----------
    labels
        Names of the evaluations, the oldest first.
    agents
        The order of the last evaluation, then agents that it does not have.
    gap, low, high, probability_top
        ``(agents, evaluations)`` distance to the best with its interval, and P(top).
    """

    labels: tuple[str, ...]
    agents: tuple[str, ...]
    unit: str
    gap: Floats
    low: Floats
    high: Floats
    probability_top: Floats
    ranks: tuple[tuple[str, ...], ...]

    def table(self) -> Table:
        """Return rank intervals, a column per evaluation."""
        rows: list[tuple[Cell, ...]] = [(name, *self.ranks[k]) for k, name in enumerate(self.agents)]
        return Table(
            title="Rank intervals",
            columns=(Column(name="agent"), *(Column(name=label) for label in self.labels)),
            rows=tuple(rows),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        arrays = {name: getattr(self, name) for name in ("gap", "low", "high", "probability_top")}
        plain = {
            name: [[None if np.isnan(cell) else float(cell) for cell in row] for row in array]
            for name, array in arrays.items()
        }
        return {"labels": list(self.labels), "agents": list(self.agents), "unit": self.unit, **plain}

    def __repr__(self) -> str:
        return f"History({len(self.agents):,} agents, {number_of(len(self.labels), 'evaluations')})"


def history(evaluations: Sequence[Any], labels: Sequence[str] | None = None) -> History:
    """Put a series of evaluations side by side, the oldest first.

    Parameters
    ----------
    evaluations
        Results of `evaluate`, or of `Evaluation.from_json`.
    labels
        A name for each; 1, 2, 3, ... unless given.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.evaluate(nb.load_dataset("rock-paper-scissors"), n_resamples=20)
    >>> nb.history([found, found], ["October", "November"])
    History(3 agents, 2 evaluations)
    """
    if not evaluations:
        raise InputError("a history needs at least one evaluation")
    names = [str(label) for label in labels] if labels is not None else [str(k + 1) for k in range(len(evaluations))]
    if len(names) != len(evaluations):
        raise InputError(f"there are {len(names)} labels for {len(evaluations)} evaluations: give one each")
    posteriors = [one.posterior for one in evaluations]
    if len({one.unit for one in posteriors}) > 1:
        raise InputError("the evaluations are in different units: matches and scores cannot be mixed")
    last = posteriors[-1]
    agents = [last.agents[k] for k in last.order]
    agents += sorted({name for one in posteriors for name in one.agents} - set(agents))
    place = {name: k for k, name in enumerate(agents)}
    values = np.full((4, len(agents), len(posteriors)), np.nan)
    ranks = [["–"] * len(posteriors) for _ in agents]
    for t, one in enumerate(posteriors):
        rows = [place[name] for name in one.agents]
        values[:, rows, t] = [one.gap, one.gap_low, one.gap_high, one.probability_top]
        for row, text in zip(rows, one.rank_ranges(), strict=True):
            ranks[row][t] = str(text)
    gap, low, high, probability_top = values
    return History(
        labels=tuple(names),
        agents=tuple(agents),
        unit=last.unit,
        gap=gap,
        low=low,
        high=high,
        probability_top=probability_top,
        ranks=tuple(map(tuple, ranks)),
    )
