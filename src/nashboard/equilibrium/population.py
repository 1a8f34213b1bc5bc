"""A population as the solver sees it: identical players collapsed, payoffs fetched in blocks, scaled near 1.

Symbols: ``A`` payoffs of all agents, as a matrix or a model; ``K`` the same between classes of identical
agents, multiplied by a power of two so that nothing is rounded.
"""

from dataclasses import dataclass

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.equilibrium.clones import Classes, between_classes, identical_agents, identical_rows
from nashboard.equilibrium.models import PayoffModel, RatingsModel

# How many cells of a model's columns are in memory at a time.
CELLS = 1 << 25


@dataclass(frozen=True, kw_only=True, eq=False)
class Matrix:
    """An antisymmetric matrix as a `PayoffModel`; nothing is copied.

    ``exact`` is false where the last bits of the two directions disagree; blocks then average them.
    """

    A: Floats
    exact: bool = True

    @property
    def size(self) -> int:
        """How many agents."""
        return len(self.A)

    def columns(self, indices: Ints) -> Floats:
        """Payoffs of every agent against some; rows are contiguous, so they are what is read."""
        return -self.A[indices].T

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Payoffs of some agents against some others."""
        block = self.A[np.ix_(rows, columns)]
        return block if self.exact else block / 2 - self.A[np.ix_(columns, rows)].T / 2

    def product(self, weights: Floats) -> Floats:
        """Average payoff against a mixture; only the rows of agents with weight are read."""
        held = np.flatnonzero(weights)
        if 2 * len(held) > len(weights):
            return self.A @ weights
        return -(weights[held] @ self.A[held])

    def scale(self) -> float:
        """Return the largest payoff."""
        return largest(self.A)


def largest(A: Floats) -> float:
    """Return the largest absolute value, without a copy of the matrix."""
    return max(float(A.max(initial=0.0)), -float(A.min(initial=0.0)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Population:
    """Classes of agents and the payoffs between them."""

    source: PayoffModel
    classes: Classes
    scale: float
    exponent: int

    @staticmethod
    def of(source: PayoffModel) -> "Population":
        """Collapse identical agents and choose the power of two."""
        if isinstance(source, Matrix):
            scale = source.scale()
            classes = identical_rows(source.A, scale, scale)
        elif isinstance(source, RatingsModel):
            scale = source.scale()
            classes = identical_rows(source.signatures(), 1.0, 1.0)
        else:
            some = np.unique(np.linspace(0, source.size - 1, min(source.size, 32)).astype(np.intp))
            scale = max(largest(columns_of(source, np.array([k]))) for k in some)  # as good as a sample shows
            classes = identical_agents(source, scale)
        exponent = int(np.frexp(scale)[1]) if scale > 0 else 0
        return Population(source=source, classes=classes, scale=scale, exponent=exponent)

    @property
    def size(self) -> int:
        """How many classes."""
        return len(self.classes.first)

    def product(self, weights: Floats) -> Floats:
        """``K @ weights`` over classes."""
        first = self.classes.first
        if len(first) == self.source.size:
            return np.ldexp(self.source.product(weights), -self.exponent)
        everybody = np.zeros(self.source.size)
        everybody[first] = weights
        return np.ldexp(self.source.product(everybody)[first], -self.exponent)

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """``K`` between some classes."""
        fetch = self.source.block if isinstance(self.source, Matrix | RatingsModel) else self.fetched
        return np.ldexp(between_classes(fetch, self.classes, self.classes, rows, columns), -self.exponent)

    def fetched(self, rows: Ints, columns: Ints) -> Floats:
        """Return the payoffs of some agents against some others, of a model that has only columns."""
        step = max(1, CELLS // self.source.size)
        parts = [columns_of(self.source, columns[at : at + step])[rows] for at in range(0, len(columns), step)]
        return np.hstack(parts)


def columns_of(source: PayoffModel, indices: Ints) -> Floats:
    """Return columns of a stranger's model as our own array."""
    return np.asarray(source.columns(indices), dtype=np.float64)
