"""The optimal face of a small game in whole numbers, without any rounding.

The simplex method with Edmonds' pivots, in which every division is without rest, finds an optimal mixture. Then it
walks along the optimal face until it has met every player that has weight, and every opponent that has a margin,
somewhere on it. The mean of the points it met is inside the face.

Symbols as in `face`: one side of a game is ``F``, what each opponent (row) gets against each own player (column).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashboard._types import Bools, Floats

Whole = NDArray[Any]  # Python's integers, which have no largest


@dataclass(frozen=True, kw_only=True, eq=False)
class ExactFace:
    """The optimal face of one side: who has weight in it, which rows are tight all over it, and a point inside."""

    own: Bools
    tight: Bools
    inside: list[Fraction]
    value: Fraction


def exact_face(F: Floats) -> ExactFace:
    """Return the mixtures with ``F x <= v`` for the least ``v`` that there is.

    With all payoffs lifted above zero these are the ``x`` with ``F x <= 1`` and the largest sum, up to a factor.
    """
    rows, k = F.shape
    cells, unit = whole_numbers(F)
    lift = 1 - int(cells.min())
    simplex = Simplex.of(cells + lift)
    simplex.climb(np.ones(k + rows, dtype=np.bool_))
    total = Fraction(int(simplex.table[-1, -1]), simplex.whole)
    optimal = simplex.table[-1, :-1] == 0  # on the face the others stay zero
    points = [simplex.point()]
    for player in np.flatnonzero(optimal):
        if not any(point[player] for point in points) and simplex.reach(int(player), optimal):
            points.append(simplex.point())
    inside = [sum((point[j] for point in points), Fraction(0)) / len(points) for j in range(k + rows)]
    positive = np.array([x > 0 for x in inside])
    return ExactFace(
        own=positive[:k],
        tight=~positive[k:],
        inside=[x / total for x in inside[:k]],
        value=(1 / total - lift) * unit,
    )


def whole_numbers(F: Floats) -> tuple[Whole, Fraction]:
    """Return doubles as whole numbers, and the unit they are counted in."""
    mantissa, exponent = np.frexp(F)
    lowest = int(exponent[F != 0].min(initial=0)) - 53
    digits = np.ldexp(mantissa, 53).astype(np.int64).astype(object)
    shift = np.where(F != 0, exponent - 53 - lowest, 0).astype(object)
    return np.asarray(digits * 2**shift, dtype=object), Fraction(2) ** lowest


@dataclass(kw_only=True, eq=False)
class Simplex:
    """A simplex tableau of whole numbers, all to be divided by ``whole``, with what is maximised in the last row.

    It changes from pivot to pivot. ``basis`` says whose equation each row is; players come first, then the margins
    of their opponents.
    """

    table: Whole
    basis: list[int]
    whole: int

    @staticmethod
    def of(cells: Whole) -> "Simplex":
        """Begin at zero; every payoff is positive."""
        rows, k = cells.shape
        table = np.zeros((rows + 1, k + rows + 1), dtype=object)
        table[:rows, :k], table[rows, :k], table[:rows, -1] = cells, -1, 1
        table[np.arange(rows), k + np.arange(rows)] = 1
        return Simplex(table=table, basis=list(range(k, k + rows)), whole=1)

    def point(self) -> list[Fraction]:
        """Return where we are."""
        x = [Fraction(0)] * (self.table.shape[1] - 1)
        for row, who in enumerate(self.basis):
            x[who] = Fraction(int(self.table[row, -1]), self.whole)
        return x

    def pivot(self, row: int, column: int) -> None:
        """Let the player of a column take the place of the player of a row."""
        table, pivot = self.table, int(self.table[row, column])
        keep = table[row].copy()
        self.table = (table * pivot - table[:, column, None] * keep) // self.whole
        self.table[row] = keep
        self.basis[row], self.whole = column, pivot

    def climb(self, allowed: Bools, until: int | None = None) -> None:
        """Go up until nothing is better, or until a player has weight, letting in only those who are allowed.

        The steepest column enters, and the first one after a step that led nowhere (Bland's rule: no cycles).
        """
        stuck = False
        while True:
            better = np.flatnonzero(allowed & (self.table[-1, :-1] < 0))
            if not better.size:
                return
            column = int(better[0] if stuck else better[np.argmin(self.table[-1, better])])
            _, _, row = min(
                (Fraction(int(self.table[row, -1]), int(self.table[row, column])), self.basis[row], row)
                for row in range(len(self.basis))
                if self.table[row, column] > 0
            )
            stuck = self.table[row, -1] == 0
            self.pivot(row, column)
            if until in self.basis and self.table[self.basis.index(until), -1] > 0:
                return

    def reach(self, player: int, allowed: Bools) -> bool:
        """Move along the face to where a player has weight, if there is such a point."""
        if player in self.basis:  # at zero: what it is worth in terms of the others
            self.table[-1] = self.table[self.basis.index(player)]
            self.table[-1, player] = 0
        else:
            self.table[-1] = 0
            self.table[-1, player] = -self.whole
        self.climb(allowed, until=player)
        return player in self.basis and bool(self.table[self.basis.index(player), -1] > 0)
