"""Payoffs that are never written down as a matrix: models of a million agents.

Anything with these three can be given to `nash_average`:

    size              how many agents
    columns(indices)  (size, len(indices)) payoffs of every agent against those agents
    product(weights)  (size,) average payoff of every agent against a mixture, ``A @ weights``

An attribute ``agents`` with names is used where there is one. A fitted `MeloRatings` (or anything with
``ratings`` and ``cyclic``) is turned into a `RatingsModel`, whose products cost ``O(n k)``.

Symbols: ``r`` (n,) ratings, ``C`` (n, 2k) cyclic coordinates, one pair of columns per plane; the payoff of i
against j is ``r_i - r_j + sum_p C[i, 2p] C[j, 2p+1] - C[j, 2p] C[i, 2p+1]``, in the unit of the ratings.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from nashboard._types import Floats, Ints, floats, frozen_copy
from nashboard.data.names import checked_names
from nashboard.errors import InputError


@runtime_checkable
class PayoffModel(Protocol):
    """What `nash_average` needs of a model; see the module's text."""

    @property
    def size(self) -> int:
        """How many agents."""
        ...

    def columns(self, indices: Ints) -> Floats:
        """Payoffs of every agent against the agents of these indices, ``(size, len(indices))``."""
        ...

    def product(self, weights: Floats) -> Floats:
        """Average payoff of every agent against a mixture, ``(size,)``."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RatingsModel:
    """Ratings plus cyclic planes, what mElo learns (section 3.1 of the paper).

    Examples
    --------
    >>> import numpy as np
    >>> from nashboard.equilibrium.models import RatingsModel
    >>> turn = np.linspace(0, 2 * np.pi, 5, endpoint=False)
    >>> model = RatingsModel.from_arrays(np.zeros(5), np.column_stack([np.cos(turn), np.sin(turn)]))
    >>> model.product(np.full(5, 0.2)).round(12) + 0.0
    array([0., 0., 0., 0., 0.])
    """

    agents: tuple[str, ...]
    ratings: Floats
    cyclic: Floats

    def __post_init__(self) -> None:
        n = len(self.ratings)
        if self.cyclic.ndim != 2 or len(self.cyclic) != n or self.cyclic.shape[1] % 2:
            raise InputError(
                f"cyclic coordinates must have one row per agent and two columns per plane, "
                f"({n}, 2k), not shape {self.cyclic.shape}"
            )
        for what, array in (("ratings", self.ratings), ("cyclic coordinates", self.cyclic)):
            if not np.isfinite(array).all():
                raise InputError(f"{what} must be finite: {int((~np.isfinite(array)).sum()):,} are not")
        if not n:
            raise InputError("the model is empty: it needs at least one agent")

    @staticmethod
    def from_arrays(
        ratings: ArrayLike, cyclic: ArrayLike | None = None, agents: Iterable[object] | None = None
    ) -> "RatingsModel":
        """Make a model of ``(n,)`` ratings and ``(n, 2k)`` cyclic coordinates."""
        r = floats(ratings, "the ratings", ndim=1)
        C = np.zeros((len(r), 0)) if cyclic is None else floats(cyclic, "the cyclic coordinates", ndim=2)
        names = checked_names(agents, size=len(r), kind="agent")
        return RatingsModel(agents=names, ratings=frozen_copy(r), cyclic=frozen_copy(C))

    @property
    def size(self) -> int:
        """How many agents."""
        return len(self.ratings)

    def columns(self, indices: Ints) -> Floats:
        """Payoffs of every agent against some, ``(n, len(indices))``."""
        return self.block(np.arange(self.size), indices)

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Payoffs of some agents against some others."""
        a, b = self.cyclic[rows], self.cyclic[columns]
        turning = a[:, ::2] @ b[:, 1::2].T - a[:, 1::2] @ b[:, ::2].T
        return np.asarray(self.ratings[rows][:, None] - self.ratings[columns] + turning)

    def product(self, weights: Floats) -> Floats:
        """Average payoff of every agent against a mixture, ``(n,)``."""
        held = np.flatnonzero(weights)
        w = weights[held]
        c = w @ self.cyclic[held]
        partner = np.empty_like(c)
        partner[::2], partner[1::2] = c[1::2], -c[::2]
        return np.asarray(self.ratings * w.sum() - w @ self.ratings[held] + self.cyclic @ partner)

    def scale(self) -> float:
        """Return a bound on the largest payoff."""
        planes = self.cyclic[:, ::2] ** 2 + self.cyclic[:, 1::2] ** 2
        return float(np.ptp(self.ratings) + planes.max(axis=0, initial=0.0).sum())

    def signatures(self) -> Floats:
        """Return rows that are equal exactly for agents with equal payoffs, in units of the payoffs."""
        scale = self.scale() or 1.0
        return np.hstack([(self.ratings - self.ratings.min())[:, None] / scale, self.cyclic / np.sqrt(scale)])

    def __repr__(self) -> str:
        return f"RatingsModel({self.size:,} agents, {self.cyclic.shape[1] // 2} cyclic planes)"
