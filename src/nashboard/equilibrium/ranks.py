"""Ranks that call a tie a tie: numbers within the certified tolerance share a place."""

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.equilibrium.tolerance import TOLERANCE


def tied_ranks(values: Floats, scale: float) -> Ints:
    """Return 1 for the largest; values within ``TOLERANCE * scale`` of the first of a place share it."""
    order = np.argsort(-values, kind="stable")
    falling = -values[order]
    places = np.arange(1, len(values) + 1)
    near = np.diff(falling) <= TOLERANCE * scale
    at = 0
    for k in np.flatnonzero(near):  # only neighbours can tie
        if k < at:
            continue
        at = int(np.searchsorted(falling, falling[k] + TOLERANCE * scale, side="right"))
        places[k:at] = k + 1
    ranks = np.empty(len(values), dtype=np.intp)
    ranks[order] = places
    return ranks
