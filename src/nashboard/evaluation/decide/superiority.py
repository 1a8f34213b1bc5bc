"""Who is above whom, with what probability: all pairs of agents from one posterior."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nashboard._tables import Cell, Column, Table, Tabular
from nashboard._types import Floats, read_only
from nashboard.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Superiority(Tabular):
    """``matrix[i, j]``: the probability that agent i is above agent j on the board, ties half; best agents first."""

    agents: tuple[str, ...]
    matrix: Floats

    def __post_init__(self) -> None:
        read_only(self.matrix)

    def table(self) -> Table:
        """Return a row and a column per agent."""
        rows: list[tuple[Cell, ...]] = [
            (name, *(None if i == j else float(p) for j, p in enumerate(self.matrix[i])))
            for i, name in enumerate(self.agents)
        ]
        return Table(
            columns=(Column(name="P(row above column)"), *(Column(name=name, decimals=2) for name in self.agents)),
            rows=tuple(rows),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"agents": list(self.agents), "matrix": self.matrix.tolist()}

    def __repr__(self) -> str:
        return f"Superiority({len(self.agents):,} agents)"


def superiority(evaluation: Any, *, top: int | None = None) -> Superiority:
    """Return the probability that each agent is above each other agent on the board.

    Parameters
    ----------
    evaluation
        What `evaluate` returned.
    top
        Only the first agents of the board.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.superiority(nb.evaluate(nb.load_dataset("atari"), n_resamples=50), top=3)
    >>> bool(found.matrix[0, 2] > 0.5)
    True
    """
    posterior = evaluation.posterior
    if posterior.source is None:
        raise InputError("a saved evaluation does not contain the draws: evaluate the data")
    if posterior.draws == 1:
        raise InputError("the data were taken as exact, so that there are no probabilities: their noise is unknown")
    order = posterior.order[:top]
    gaps = posterior.source.gaps[:, posterior.classes[order]]
    tie = 1e-9 * posterior.source.gaps.max(axis=1, keepdims=True)
    n = len(order)
    matrix = np.full((n, n), 0.5)
    for i in range(n):
        lead = gaps - gaps[:, [i]]
        matrix[i] = ((lead > tie) + 0.5 * (np.abs(lead) <= tie)).mean(axis=0)
    return Superiority(agents=tuple(posterior.agents[k] for k in order), matrix=matrix)
