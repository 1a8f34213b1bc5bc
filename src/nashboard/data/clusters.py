"""Matches that belong together, and so must be resampled together."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nashboard._types import Bools, Floats, Ints, frozen_copy

COLUMNS: dict[str, type[Any]] = {
    "cluster": np.intp,
    "pair": np.intp,
    "wins": np.float64,
    "draws": np.float64,
    "losses": np.float64,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Clusters:
    """The counts of matches split by cluster: a voter's session, a prompt, an opening.

    One row per cluster and pair: ``cluster`` in ``range(size)``, ``pair`` a row of ``Matches.pairs``.
    """

    size: int
    cluster: Ints
    pair: Ints
    wins: Floats
    draws: Floats
    losses: Floats

    def __post_init__(self) -> None:
        for name, kind in COLUMNS.items():
            object.__setattr__(self, name, frozen_copy(getattr(self, name), kind))

    def renumbered(self, new: Ints, flip: Bools) -> "Clusters":
        """Return the clusters after pair k became pair ``new[k]`` (-1: gone), seen from the other side if flipped."""
        kept = new[self.pair] >= 0
        turned = flip[self.pair]
        return Clusters(
            size=self.size,
            cluster=self.cluster[kept],
            pair=new[self.pair][kept],
            wins=np.where(turned, self.losses, self.wins)[kept],
            draws=self.draws[kept],
            losses=np.where(turned, self.wins, self.losses)[kept],
        )
