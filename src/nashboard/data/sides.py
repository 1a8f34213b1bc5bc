"""Counts of matches split by who was the first side: home, white, or the answer on the left."""

from dataclasses import dataclass

import numpy as np

from nashboard._types import Bools, Floats, Ints, frozen_copy
from nashboard.errors import InputError

REVERSED = [2, 1, 0]  # wins, draws and losses as the other agent sees them


@dataclass(frozen=True, kw_only=True, eq=False)
class Sides:
    """The counts of each pair by which of its agents was the first side.

    Parameters
    ----------
    first, second
        ``(p, 3)`` wins, draws and losses of agent ``i`` of the pair ``(i, j)``: in games where ``i`` was the first
        side, and where ``j`` was. Games at a neutral place are in neither.
    """

    first: Floats
    second: Floats

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            counts = frozen_copy(getattr(self, name))
            if counts.ndim != 2 or counts.shape[1] != 3 or not (counts >= 0).all():
                raise InputError(f"sides.{name} must hold wins, draws and losses of each pair, none of them negative")
            object.__setattr__(self, name, counts)

    @property
    def played(self) -> Floats:
        """Games with a first side, ``(p,)``."""
        return np.asarray(self.first.sum(axis=1) + self.second.sum(axis=1), dtype=np.float64)

    def renumbered(self, new: Ints, flip: Bools, size: int) -> "Sides":
        """Return the sides after pair k became pair ``new[k]`` of ``size`` (-1: gone), seen from j if flipped."""
        turned = flip[:, None]
        first = np.where(turned, self.second[:, REVERSED], self.first)
        second = np.where(turned, self.first[:, REVERSED], self.second)
        kept = new >= 0
        totals = np.zeros((2, size, 3))
        np.add.at(totals[0], new[kept], first[kept])
        np.add.at(totals[1], new[kept], second[kept])
        return Sides(first=totals[0], second=totals[1])
