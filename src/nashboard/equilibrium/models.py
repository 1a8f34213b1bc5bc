"""Payoffs between agents that need not be written down.

Any object with these three is a game:

    size              how many agents
    columns(indices)  (size, len(indices)) payoffs of every agent against those agents
    product(weights)  (size,) average payoff of every agent against a mixture, ``A @ weights``

An attribute ``agents`` with names is used where there is one. Models of up to 1,024 agents are written out and checked
in full. Of larger ones ``product`` is checked to be antisymmetric with random mixtures, ``y'A x + x'A y = 0``, which a
single wrong pair is enough to miss, and all columns that a solve uses to be those of ``product``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from nashboard._types import Floats, Ints, floats, frozen_copy, refuse_unreal
from nashboard.algebra.flows import largest
from nashboard.data.payoffs import ROUNDING
from nashboard.data.validation import checked_names
from nashboard.equilibrium.clones import Classes, identical_rows, irrational_weights
from nashboard.equilibrium.precision import EPS
from nashboard.errors import InputError

FIRST = 64  # agents of a model whose payoffs are looked at together, where its largest payoff is sought
SEARCHED = 1 << 22  # payoffs that are looked at for that, at most
SAMPLE = 32  # agents of a large model whose payoffs are looked at for its largest
SEED = 20180715  # of the mixtures against which large models are checked


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

    def near_zero(self) -> "RatingsModel":
        """Return the model itself or, where its numbers are further from zero than from each other, centred.

        Payoffs are differences, and products of numbers far from zero are rounded by more than these differ.
        """
        far = any(np.abs(part.mean(axis=0)).max(initial=0.0) > np.ptp(part, axis=0).max(initial=0.0)
                  for part in (self.ratings[:, None], self.cyclic))  # fmt: skip
        return self.centred() if far else self

    def centred(self) -> "RatingsModel":
        """Return the same payoffs with cyclic coordinates and ratings of mean 0.

        With ``C = D + 1 m'``, ``c_i x c_j = d_i x d_j + d_i x m - d_j x m``, and the last two are a gradient.
        """
        m = self.cyclic.mean(axis=0)
        D = self.cyclic - m
        r = self.ratings + D @ swapped(m)
        return RatingsModel(agents=self.agents, ratings=r - r.mean(), cyclic=D)

    def scale(self) -> float:
        """Return the largest payoff; of a very large model the largest that a search finds, never more than it.

        With ratings ``r`` and coordinates centred, and ``c`` the length of an agent's coordinates, a payoff is at most
        ``r_i + r_j + c_i c_j``. Agents with the largest bound come first, and meet those against whom it is more than
        what was found, until there are none, or until `SEARCHED` payoffs were looked at.
        """
        C = self.cyclic - (m := self.cyclic.mean(axis=0))
        r = self.ratings + C @ swapped(m)
        r, c = np.abs(r - r.mean()), np.sqrt(np.einsum("ij,ij->i", C, C))
        key = r + c * c.max()
        left = np.argpartition(-key, min(FIRST, self.size) - 1)
        best, seen = largest(self.block(left[:FIRST], left[:FIRST])), 0
        left = left[key[left] + r.max() > best]
        left = left[np.argsort(-key[left], kind="stable")]
        while left.size and seen < SEARCHED:
            left = left[r[left].max() + r[left] + c[left].max() * c[left] > best]
            some = left[:FIRST]
            best = max(best, largest(self.block(some, left)))
            seen += some.size * left.size
            left = left[FIRST:]
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


def written_out(model: PayoffModel, agents: Sequence[str], precision: float) -> Matrix:
    """Return the matrix of a small model, checked in full, up to the precision of its numbers."""
    A = columns_of(model, np.arange(model.size))
    refuse_one_way(A, agents, share=share_of(precision))
    return Matrix(A=A / 2 - A.T / 2 + 0.0)


def sampled_scale(model: PayoffModel, agents: Sequence[str], share: float) -> float:
    """Return the largest payoff of some agents of a large model that is antisymmetric, up to a share of it."""
    some = np.unique(np.linspace(0, model.size - 1, SAMPLE).astype(np.intp))
    columns = np.hstack([columns_of(model, some[k : k + 1]) for k in range(len(some))])
    scale = largest(columns)
    refuse_one_way(columns[some], [agents[k] for k in some], scale, share)
    refuse_contradiction(model, some, columns, share * scale)
    rng = np.random.default_rng(SEED)
    x, y = rng.uniform(0.5, 1.0, (2, model.size)) * rng.choice([-1.0, 1.0], (2, model.size))
    everybody = np.arange(model.size)
    allowed = max(share, 4 * EPS * model.size**1.5) * scale  # rounding of averages, added up over all agents
    if not abs(sum_both_ways(model, x, y, everybody, everybody)) <= allowed:
        pair = find_one_way(model, x, y)
        refuse_one_way(columns_of(model, pair)[pair], [agents[k] for k in pair], scale, share)
    return scale


def sum_both_ways(model: PayoffModel, x: Floats, y: Floats, rows: Ints, columns: Ints) -> float:
    """Return ``y'A x + x'A y`` over some pairs, from products with mixtures: 0 where ``A`` is antisymmetric."""
    total = 0.0
    for some, here, others, there in ((columns, x, rows, y), (rows, y, columns, x)):
        for sign in (1.0, -1.0):
            weights = np.zeros(model.size)
            weights[some] = np.maximum(sign * here[some], 0.0)
            if size := float(weights.sum()):
                averages = np.asarray(model.product(weights / size), dtype=np.float64)
                total += sign * size * float(there[others] @ averages[others])
    return total


def find_one_way(model: PayoffModel, x: Floats, y: Floats) -> Ints:
    """Return the two agents whose payoffs against each other are furthest from cancelling, by bisection."""
    rows, columns = np.arange(model.size), np.arange(model.size)
    while len(rows) > 1 or len(columns) > 1:
        if len(rows) >= len(columns):
            rows = max(np.array_split(rows, 2), key=lambda half: abs(sum_both_ways(model, x, y, half, columns)))
        else:
            columns = max(np.array_split(columns, 2), key=lambda half: abs(sum_both_ways(model, x, y, rows, half)))
    return np.unique([rows[0], columns[0]])


def refuse_contradiction(model: PayoffModel, indices: Ints, columns: Floats, allowed: float) -> None:
    """Raise an error where ``product`` of a model is not what its columns add up to."""
    weights, some = np.zeros(model.size), irrational_weights(len(indices))
    weights[indices] = some / some.sum()
    off = np.abs(np.asarray(model.product(weights)) - columns @ weights[indices]).max()
    if not off <= allowed / np.sqrt(len(indices)):
        raise InputError("the model contradicts itself: product(weights) is not what columns(indices) add up to")


def share_of(precision: float) -> float:
    """Return the share of the largest payoff by which payoffs of a model may contradict each other."""
    return max(ROUNDING, 4 * precision)


def refuse_one_way(A: Floats, agents: Sequence[str], scale: float | None = None, share: float = ROUNDING) -> None:
    """Raise an error that names two agents whose payoffs against each other do not cancel."""
    gap = np.abs(A / 2 + A.T / 2)
    allowed = share * (largest(A) if scale is None else scale)
    if not gap.max(initial=0.0) <= allowed:
        i, j = map(int, np.unravel_index(int(gap.argmax()), gap.shape))
        raise InputError(
            f"the model is not antisymmetric: {agents[i]!r} against {agents[j]!r} is {A[i, j]:g}, "
            f"but {agents[j]!r} against {agents[i]!r} is {A[j, i]:g}"
        )


def columns_of(model: PayoffModel, indices: Ints) -> Floats:
    """Return columns of a user's model as our own array."""
    columns = np.asanyarray(model.columns(indices))
    refuse_unreal(columns, "the columns of the model")
    if columns.shape != (model.size, len(indices)):
        raise InputError(
            f"columns(indices) of the model has shape {columns.shape}, not (size, len(indices)) = "
            f"({model.size}, {len(indices)})"
        )
    columns = columns.astype(np.float64, copy=False)
    if not np.isfinite(columns).all():
        i, j = np.argwhere(~np.isfinite(columns))[0]
        pair = f"agent {i + 1:,} against agent {indices[j] + 1:,}"
        raise InputError(f"the model is not finite: the payoff of {pair} is {columns[i, j]:g}")
    return columns


def ratings_model(data: Any) -> RatingsModel:
    """Return the model of an object with ``ratings`` and maybe ``cyclic`` coordinates and ``agents``."""
    if isinstance(data, RatingsModel):
        return data
    cyclic: Any = getattr(data, "cyclic", None)
    n = len(data.ratings)
    C = np.zeros((n, 0)) if cyclic is None else floats(cyclic, "the cyclic coordinates", ndim=2)
    if C.shape == (n, n) and n > 1 and np.abs(C + C.T).max() <= ROUNDING * np.abs(C).max():
        raise InputError(
            f"the cyclic part of this {type(data).__name__} is a matrix of payoffs, not coordinates in planes: "
            f"pass payoffs, or ratings with (n, 2k) coordinates"
        )
    return RatingsModel.from_arrays(data.ratings, cyclic, getattr(data, "agents", None))
