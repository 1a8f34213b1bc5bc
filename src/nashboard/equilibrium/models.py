"""Payoffs of agents against agents: a matrix, ratings with cyclic planes, or any model that is never written down.

Any object with these three can be given to `nash_average`:

    size              how many agents
    columns(indices)  (size, len(indices)) payoffs of every agent against those agents
    product(weights)  (size,) average payoff of every agent against a mixture, ``A @ weights``

An attribute ``agents`` with names is used where there is one. Models of up to 1,024 agents are written out and checked
in full; of larger ones samples, and every payoff that takes part in a solve, are checked.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from nashboard._types import Floats, Ints, floats, frozen_copy, refuse_unreal
from nashboard.data.payoffs import ROUNDING
from nashboard.data.validation import checked_names
from nashboard.equilibrium.clones import Classes, identical_rows, irrational_weights
from nashboard.errors import InputError

SLICE = 4096  # agents at a time whose payoffs fit the caches
SAMPLE = 32  # agents of a large model whose payoffs are checked against each other


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Matrix:
    """An antisymmetric matrix as a `PayoffModel`; nothing is copied."""

    A: Floats

    @property
    def size(self) -> int:
        """How many agents."""
        return len(self.A)

    def columns(self, indices: Ints) -> Floats:
        """Payoffs of every agent against some; rows are contiguous, so they are what is read."""
        return -self.A[indices].T

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Payoffs of some agents against some others."""
        return self.A[np.ix_(rows, columns)]

    def product(self, weights: Floats) -> Floats:
        """Average payoff against a mixture; only the rows of agents with weight are read."""
        held = np.flatnonzero(weights)
        if 2 * len(held) > len(weights):
            return self.A @ weights
        return -(weights[held] @ self.A[held])


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RatingsModel:
    """Ratings plus cyclic planes, what mElo learns (section 3.1 of the paper).

    ``r`` (n,) ratings, ``C`` (n, 2k) cyclic coordinates, one pair of columns per plane; the payoff of i against j is
    ``r_i - r_j + sum_p C[i, 2p] C[j, 2p+1] - C[j, 2p] C[i, 2p+1]``, in the unit of the ratings.

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
        return self.block(slice(None), indices)

    def block(self, rows: Ints | slice, columns: Ints | slice) -> Floats:
        """Payoffs of some agents against some others."""
        a, b = self.cyclic[rows], self.cyclic[columns]
        turning = a[:, ::2] @ b[:, 1::2].T - a[:, 1::2] @ b[:, ::2].T
        return np.asarray(self.ratings[rows][:, None] - self.ratings[columns] + turning)

    def product(self, weights: Floats) -> Floats:
        """Average payoff of every agent against a mixture, ``(n,)``."""
        held = np.flatnonzero(weights)
        w = weights[held]
        return np.asarray(
            self.ratings * w.sum() - w @ self.ratings[held] + self.cyclic @ swapped(w @ self.cyclic[held])
        )

    def centred(self) -> "RatingsModel":
        """Return the same payoffs with cyclic coordinates and ratings of mean 0.

        With ``C = D + 1 m'``, ``c_i x c_j = d_i x d_j + d_i x m - d_j x m``, and the last two are a gradient.
        """
        m = self.cyclic.mean(axis=0)
        D = self.cyclic - m
        r = self.ratings + D @ swapped(m)
        return RatingsModel(agents=self.agents, ratings=r - r.mean(), cyclic=D)

    def scale(self, rounds: int = 8) -> float:
        """Return the largest payoff, or of a large model the largest that a search finds; never more than it.

        From an agent to the opponent it gains or loses most against, from there to that one's, and so on, from
        the agents at both ends of the ratings and the one furthest from the middle of each plane.
        """
        D = self.cyclic - self.cyclic.mean(axis=0)
        far = (D[:, ::2] ** 2 + D[:, 1::2] ** 2).argmax(axis=0)
        at = np.unique(np.append(far, [self.ratings.argmin(), self.ratings.argmax()]))
        best = 0.0
        for _ in range(rounds):
            reached, partner = np.zeros((2, len(at)))
            for start in range(0, self.size, SLICE):
                rows = np.abs(self.block(at, slice(start, start + SLICE)))
                new = rows.argmax(axis=1)
                values = rows[np.arange(len(at)), new]
                partner = np.where(values > reached, start + new, partner)
                reached = np.maximum(values, reached)
            if reached.max() <= best:
                break
            best, at = float(reached.max()), np.unique(partner).astype(np.intp)
        return best

    def classes(self, scale: float, zero: float) -> Classes:
        """Sort the agents into classes by their payoffs; nearly always one product shows that all differ."""
        weights = irrational_weights(self.size)
        size = largest(self.ratings) + largest(self.cyclic) ** 2 * self.cyclic.shape[1]
        gap = 2 * (zero * scale + float(np.spacing(size))) * float(weights.sum())
        if (np.diff(np.sort(self.product(weights))) > gap).all():
            return Classes.all_differ(self.size)
        rows = self.signatures()
        return identical_rows(rows, scale, largest(rows), zero)

    def signatures(self) -> Floats:
        """Return rows whose distances bound the largest difference between the payoffs of two agents.

        With ``C`` centred, the payoffs of i are ``r_i 1 + C W c_i`` up to what all agents share. ``C = Q R`` with
        orthonormal ``Q``, so two agents differ by at most ``|r_i - r_j| + max |Q row| |R W (c_i - c_j)|``. A plane
        that changes no payoff changes no signature.
        """
        model = self.centred()
        Q, R = np.linalg.qr(model.cyclic)
        reach = float(np.sqrt((Q**2).sum(axis=1).max(initial=0.0)))
        rows = np.column_stack([model.ratings, reach * (swapped(model.cyclic) @ R.T)])
        return np.asarray(rows * (1 + np.sqrt(Q.shape[1])))

    def __repr__(self) -> str:
        return f"RatingsModel({self.size:,} agents, {self.cyclic.shape[1] // 2} cyclic planes)"


def swapped(C: Floats) -> Floats:
    """Return ``C W'``: the columns of each plane exchanged, the second of them negative."""
    other: Floats = np.empty_like(C)
    other[..., ::2], other[..., 1::2] = C[..., 1::2], -C[..., ::2]
    return other


def written_out(model: PayoffModel, agents: Sequence[str]) -> Matrix:
    """Return the matrix of a small model, checked in full."""
    A = columns_of(model, np.arange(model.size))
    refuse_one_way(A, agents)
    return Matrix(A=A / 2 - A.T / 2 + 0.0)


def sampled_scale(model: PayoffModel, agents: Sequence[str]) -> float:
    """Return the largest payoff of some agents of a large model, whose columns and product have to agree."""
    some = np.unique(np.linspace(0, model.size - 1, SAMPLE).astype(np.intp))
    columns = np.hstack([columns_of(model, some[k : k + 1]) for k in range(len(some))])
    scale = largest(columns)
    refuse_one_way(columns[some], [agents[k] for k in some], scale)
    weights = np.zeros(model.size)
    weights[some] = 1 / len(some)
    if not np.abs(np.asarray(model.product(weights)) - columns.mean(axis=1)).max() <= ROUNDING * scale:
        raise InputError("the model contradicts itself: product(weights) is not what columns(indices) add up to")
    return scale


def refuse_one_way(A: Floats, agents: Sequence[str], scale: float | None = None) -> None:
    """Raise an error that names two agents whose payoffs against each other do not cancel."""
    gap = np.abs(A / 2 + A.T / 2)
    allowed = ROUNDING * (largest(A) if scale is None else scale)
    if not (np.isfinite(A).all() and gap.max(initial=0.0) <= allowed):
        i, j = map(int, np.unravel_index(int(np.nan_to_num(gap, nan=np.inf).argmax()), gap.shape))
        raise InputError(
            f"the model is not antisymmetric: {agents[i]!r} against {agents[j]!r} is {A[i, j]:g}, "
            f"but {agents[j]!r} against {agents[i]!r} is {A[j, i]:g}"
        )


def columns_of(model: PayoffModel, indices: Ints) -> Floats:
    """Return columns of a user's model as our own array."""
    columns = np.asarray(model.columns(indices))
    refuse_unreal(columns, "the columns of the model")
    if columns.shape != (model.size, len(indices)):
        raise InputError(
            f"columns(indices) of the model has shape {columns.shape}, not (size, len(indices)) = "
            f"({model.size}, {len(indices)})"
        )
    return columns.astype(np.float64, copy=False)


def largest(A: Floats) -> float:
    """Return the largest absolute value, without a copy of the matrix."""
    return max(float(A.max(initial=0.0)), -float(A.min(initial=0.0)))
