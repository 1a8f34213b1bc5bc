"""Names to numbers, fast: texts are hashed by Polars (64 bits) and numbered by a compiled table.

Two different names are taken for one if their hashes agree, by chance once in 36 million leagues of a million agents.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from nashboard._types import Ints
from nashboard.ratings import kernels
from nashboard.ratings.kernels import EMPTY, Codes, Hashes

FIRST_PLACES = 1 << 10


class Numbering:
    """Numbers for texts, in the order of their first appearance; grows in place."""

    def __init__(self, known: Sequence[str] = ()) -> None:
        self.known = 0
        self.make_table(FIRST_PLACES)
        if known:
            self.number(hashes(pl.Series(known, dtype=pl.String)))

    def make_table(self, places: int) -> None:
        """Start an empty table."""
        self.keys, self.values = np.zeros(places, np.uint64), np.full(places, EMPTY, np.uint32)

    def number(self, first: Hashes, second: Hashes | None = None) -> tuple[Codes, Codes, Ints]:
        """Return the numbers of one or two columns, and the cells (2 row + side) where new texts first stand."""
        second = np.empty(0, np.uint64) if second is None else second
        codes = np.empty(first.size, np.uint32), np.empty(second.size, np.uint32)
        before, row = self.known, 0
        found = np.empty(self.keys.size, np.int64)
        while True:
            row, self.known = kernels.numbered(first, second, *codes, self.keys, self.values, found, self.known, row)
            if row == first.size:
                return *codes, found[before : self.known].copy()
            found = np.concatenate([found, np.empty(self.keys.size, np.int64)])
            self.grow()

    def grow(self) -> None:
        """Put everything into a table of twice the size."""
        used = self.values != EMPTY
        old = self.keys[used][np.argsort(self.values[used])]
        self.make_table(2 * self.keys.size)
        spare = np.empty(self.keys.size, np.int64)
        none = np.empty(0, np.uint64)
        kernels.numbered(
            old, none, np.empty(old.size, np.uint32), np.empty(0, np.uint32), self.keys, self.values, spare, 0, 0
        )


def hashes(texts: pl.Series) -> Hashes:
    """Return the hash of each text."""
    return np.ascontiguousarray(texts.hash(seed=0).to_numpy())
