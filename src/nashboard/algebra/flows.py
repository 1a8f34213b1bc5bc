"""Flows: antisymmetric data on the pairs of agents, known on every pair or only where agents met.

Symbols: ``A`` payoffs (n, n) with ``A = -A'``. On the pairs ``i < j`` that met: ``y`` values (p,) as seen
from ``i``, ``w`` weights, ``v`` sampling variances of ``y``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nashboard._types import Floats, Ints, floats, frozen_copy, read_only
from nashboard.algebra.precision import USUAL
from nashboard.data.matches import Matches
from nashboard.data.payoffs import ROUNDING, Payoffs, payoffs, refuse_asymmetric
from nashboard.data.scores import Scores
from nashboard.data.validation import checked_names
from nashboard.errors import InputError

FlowLike = ArrayLike | Payoffs | Matches

# A result larger than this is refused with its size, rather than left to fill the memory.
MOST_BYTES = 4 * 2**30
BLOCK = 1024
TILE = 128  # a square of this side fits the cache, also when it is read across rows


@dataclass(frozen=True, kw_only=True, eq=False)
class CompleteFlow:
    """A flow known on every pair, each pair counting the same: the matrix ``A``."""

    A: Floats

    @property
    def size(self) -> int:
        """How many agents."""
        return len(self.A)

    @cached_property
    def pairs(self) -> Ints:
        """All pairs ``i < j``, ``(p, 2)``."""
        return read_only(np.stack(np.triu_indices(self.size, k=1), axis=1))

    @cached_property
    def values(self) -> Floats:
        """The flow on each pair, ``(p,)``."""
        return read_only(self.A[*self.pairs.T])

    @cached_property
    def weights(self) -> Floats:
        """The weight of each pair: one."""
        return read_only(np.ones(len(self.pairs)))

    def matrix(self) -> Floats:
        """Return the flow as a matrix."""
        return self.A


@dataclass(frozen=True, kw_only=True, eq=False)
class ObservedFlow:
    """A flow known on the pairs that met: values, weights (games) and sampling variances per pair.

    ``pairs`` are i < j, in ascending order.
    """

    size: int
    pairs: Ints
    values: Floats
    weights: Floats
    variances: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", frozen_copy(self.pairs, np.intp))
        for name in ("values", "weights", "variances"):
            object.__setattr__(self, name, frozen_copy(getattr(self, name)))

    def matrix(self) -> Floats:
        """Return the flow as a matrix, NaN where a pair never met."""
        return self.spread(self.values)

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """The first and the second agent of each pair."""
        i, j = np.ascontiguousarray(self.pairs.T)
        return i, j

    @cached_property
    def rows(self) -> tuple[Any, Any]:
        """The compressed rows of a matrix above the diagonal: columns, and where each row starts."""
        small = np.int32 if max(self.size, len(self.pairs)) < 2**31 else np.int64
        starts = np.searchsorted(self.ends[0], np.arange(self.size + 1))
        return self.ends[1].astype(small), starts.astype(small)

    @property
    def is_sparse(self) -> bool:
        """Whether a matrix over all pairs would waste memory."""
        return self.size > 2000 and 16 * len(self.pairs) < self.size**2

    def spread(self, values: Floats) -> Floats:
        """Return an antisymmetric matrix that holds one value per pair, NaN where a pair never met."""
        refuse_size((self.size, self.size), "the matrix of a flow", "use its values per pair")
        A = np.full((self.size, self.size), np.nan)
        np.fill_diagonal(A, 0.0)
        i, j = self.pairs.T
        A[i, j], A[j, i] = values, -values
        return A


def named_flow(data: FlowLike, *, copy: bool = True) -> tuple[tuple[str, ...], Floats, str]:
    """Return agents, payoff matrix and unit of an array, of payoffs, or of matches in which all pairs met."""
    if isinstance(data, Scores):
        raise InputError("scores are a table of agents by tasks, not agents by agents: use latent(scores)")
    if isinstance(data, Matches):
        data = payoffs(data)
    if isinstance(data, Payoffs):
        return data.agents, data.A, data.scale
    A = antisymmetric_array(data, copy=copy)
    return checked_names(None, size=len(A), kind="agent"), A, "given"


def antisymmetric_array(values: ArrayLike, *, copy: bool = True) -> Floats:
    """Return a payoff matrix that is antisymmetric to the last bit, or say where it is not.

    Rounding (a share of 1e-9 of the largest payoff, as in `Payoffs.from_array`) is averaged away. The work is
    done block by block, so that a large matrix which needs no change is never copied (``copy=False``).
    """
    ours = type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == 2 and not copy
    A: Floats = np.asarray(values) if ours else floats(values, "the payoff matrix", ndim=2)
    if A.shape[0] != A.shape[1]:
        raise InputError(
            f"the payoff matrix must be square, one row and one column per agent, not {A.shape[0]} x {A.shape[1]}"
        )
    if not len(A):
        raise InputError("the payoff matrix is empty: it needs at least one agent")
    if is_antisymmetric(A) and np.isfinite(A.max()):
        if not ours:
            A += 0.0  # no negative zeros
        return A
    largest = max(float(A.max()), -float(A.min()))
    if not np.isfinite(largest):
        i, j = np.argwhere(~np.isfinite(A))[0]
        raise InputError(
            f"row 'agent {i + 1}', column 'agent {j + 1}' is {A[i, j]:g}: a payoff must be finite; "
            f"pairs that never met need Matches"
        )
    gap, where = worst_gap(A)
    if gap > ROUNDING * largest / 2:
        names = checked_names(None, size=len(A), kind="agent")
        refuse_asymmetric(A, *where, names, "Payoffs.from_array(A, symmetrise=True)")
    return antisymmetric_part(A)


def is_antisymmetric(A: Floats) -> bool:
    """Whether ``A = -A'`` to the last bit; by halves, so that what is compared fits the caches."""
    n, half = len(A), len(A) // 2
    if n <= 2 * TILE:
        return bool((A == -A.T).all())
    across = bool((A[:half, half:] == -A[half:, :half].T).all())
    return across and is_antisymmetric(A[:half, :half]) and is_antisymmetric(A[half:, half:])


def antisymmetric_part(A: Floats) -> Floats:
    """Return ``(A - A') / 2``, square by square; halves first, so that nothing overflows."""
    part = np.empty_like(A, order="C")
    for rows in blocks(len(A), size=TILE):
        for columns in blocks(len(A), size=TILE, start=rows.start):
            square = A[rows, columns] / 2 - A[columns, rows].T / 2 + 0.0
            part[rows, columns], part[columns, rows] = square, 0.0 - square.T
    return part


def worst_gap(A: Floats) -> tuple[float, tuple[int, int]]:
    """Return the largest ``|A + A'| / 2`` and where it is."""
    worst, where = 0.0, (0, 0)
    for rows in blocks(len(A), size=TILE):
        for columns in blocks(len(A), size=TILE, start=rows.start):
            gap = np.abs(A[rows, columns] / 2 + A[columns, rows].T / 2)  # halves: no overflow
            if gap.max() > worst:
                i, j = np.unravel_index(int(gap.argmax()), gap.shape)
                worst, where = float(gap.max()), (rows.start + int(i), columns.start + int(j))
    return worst, where


def blocks(n: int, *, size: int = BLOCK, start: int = 0) -> Iterator[slice]:
    """Cut ``range(start, n)`` into slices of at most ``size``."""
    return (slice(k, min(k + size, n)) for k in range(start, n, size))


def refuse_size(shape: tuple[int, ...], what: str, instead: str) -> None:
    """Raise an error that says how large an array would be, if it would not fit."""
    entries = int(np.prod([float(side) for side in shape]))
    if entries * 8 > MOST_BYTES:
        axes = " x ".join(f"{side:,}" for side in shape)
        raise InputError(
            f"{what} would be {axes} = {entries:,} numbers, {entries * 8 / 2**30:,.1f} GiB "
            f"(at most {MOST_BYTES / 2**30:g} GiB is allowed): {instead}"
        )


def largest(values: Any) -> float:
    """Return the largest absolute value, without a copy."""
    return max(
        float(np.maximum.reduce(values, None, initial=0.0)), -float(np.minimum.reduce(values, None, initial=0.0))
    )


def unit_scale(values: Any) -> float:
    """Return a power of two near the largest absolute value (1 for zeros): dividing by it is exact."""
    size = largest(values)
    return float(np.ldexp(1.0, int(np.frexp(size)[1]))) if size > 0 else 1.0


def frobenius(A: Floats) -> float:
    """Return the norm of all entries, without overflow and without a copy of ``A``."""
    with np.errstate(over="ignore", under="ignore"):
        plain = float(np.linalg.norm(A))
    if USUAL[0] < plain < USUAL[1]:
        return plain
    scale = unit_scale(A)
    return float(np.hypot.reduce([float(np.linalg.norm(A[b] / scale)) for b in blocks(len(A))])) * scale
