"""Small games in fractions: the last resort where doubles cannot tell who has weight.

Payoffs that differ near the rule of zero, or that span twelve orders of magnitude, can make an equilibrium turn on
differences that the interior point loses in rounding. Doubles are fractions, so the game as it was given has an
exact set of equilibria. The simplex method with Edmonds' pivots, in which every division is without rest, finds an
optimal mixture and walks along the optimal face until it has met every player that has weight, and every opponent
that has a margin, somewhere on it; the mean of the points it met is inside the face.
What is left, the mixture of maximum entropy and the multipliers that prove it, is as for every other game (see `face`),
from equations that were not rounded before they were reduced.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nashboard._types import Bools, Floats
from nashboard.equilibrium.face import Apply, Face, SideFace, Terms, power_of_two

MOST_CELLS = 1200  # games with up to so many payoffs take three seconds at most, small ones a few hundredths

Row = list[Fraction]
Whole = NDArray[Any]  # Python's integers, which have no largest


def exact_side(F: Floats) -> SideFace:
    """Return the face of one side as the solver for all games knows it.

    Equations are reduced, and margins freed of them, before anything is rounded: differences between rows that all
    but agree are then numbers of their own, right in proportion however small they are.
    """
    found = exact_face(F)
    M, G = F[np.ix_(found.tight, found.own)], F[np.ix_(~found.tight, found.own)]
    x = [weight for weight in found.inside if weight]
    unit = power_of_two(M) if found.value == 0 else 1.0
    bordered = np.vstack([M / unit, np.ones((1, len(x)))])
    basis = reduce_rows(bordered)
    falls = [remove_basis(row, basis) for row in to_fractions(G)]
    moving = np.array([any(row) for row in falls], dtype=np.bool_)
    Z = null_directions(basis, len(x))
    point = Face(
        x=np.maximum(round_rows([x], len(x))[0], 1e-300),
        v=float(found.value),
        Z=Z,
        extent=Z.shape[1],
        unit=unit,
        bordered=bordered,
        pulls_back=(make_solver(bordered.T),),
    )
    moved = round_rows(falls, len(x))[moving]
    return SideFace(
        F=F,
        own=found.own,
        tight=found.tight,
        found=point,
        G=G,
        margins=np.array([float(found.value - dot(row, x)) for row in to_fractions(G)]),
        terms=Terms(
            equations=round_rows(basis.values(), len(x)).T,
            falls=moved,
            moving=moving,
            change=np.abs(moved @ Z).max(axis=1, initial=0.0),
        ),
    )


def to_fractions(A: Floats) -> list[Row]:
    """Return doubles as fractions."""
    return [[Fraction(x) for x in row] for row in A.tolist()]


def round_rows(rows: Iterable[Row], k: int) -> Floats:
    """Return rows of ``k`` fractions as doubles."""
    return np.array([[float(x) for x in row] for row in rows]).reshape(-1, k)


def dot(a: Row, b: Row) -> Fraction:
    """Return the sum of products."""
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction(0))


def eliminate(table: list[Row], k: int) -> list[tuple[int, int]]:
    """Bring the first ``k`` columns of a table into reduced form, in place; return rows and columns of the pivots.

    The largest pivot comes first: of equations that depend on each other the weightiest are kept.
    """
    pivots: list[tuple[int, int]] = []
    left = set(range(len(table)))
    while left:
        size, row, column = max((abs(table[i][j]), -i, -j) for i in left for j in range(k))
        if size == 0:
            break
        row, column = -row, -column
        left.remove(row)
        pivots.append((row, column))
        pivot = table[row] = [x / table[row][column] for x in table[row]]
        for i in range(len(table)):
            factor = table[i][column]
            if i != row and factor:
                table[i] = [a - factor * b for a, b in zip(table[i], pivot, strict=True)]
    return pivots


def reduce_rows(A: Floats) -> dict[int, Row]:
    """Return independent rows with the same span as a matrix, each the only one with weight in its column, 1."""
    table = to_fractions(A)
    return {column: table[row] for row, column in eliminate(table, A.shape[1])}


def remove_basis(row: Row, basis: dict[int, Row]) -> Row:
    """Return a row without what it has in common with the rows of a reduced basis."""
    for column, other in basis.items():
        factor = row[column]
        if factor:
            row = [a - factor * b for a, b in zip(row, other, strict=True)]
    return row


def null_directions(basis: dict[int, Row], k: int) -> Floats:
    """Return orthonormal columns on which the rows of a reduced basis are zero."""
    free = [j for j in range(k) if j not in basis]
    Z = np.zeros((k, len(free)))
    for at, j in enumerate(free):
        Z[j, at] = 1.0
        for column, row in basis.items():
            Z[column, at] = -float(row[j])
    return np.linalg.qr(Z)[0]


def make_solver(A: Floats) -> Apply:
    """Return a function that solves ``A y = b``, as many of its equations as are independent."""
    rows, k = A.shape
    table = [row + [Fraction(int(i == j)) for j in range(rows)] for i, row in enumerate(to_fractions(A))]
    pivots = eliminate(table, k)

    def apply(b: Floats) -> Floats:
        right = to_fractions(b[None])[0]
        y = np.zeros(k)
        for row, column in pivots:
            y[column] = float(dot(table[row][k:], right))
        return y

    return apply


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
    cells, unit = to_whole_numbers(F)
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


def to_whole_numbers(F: Floats) -> tuple[Whole, Fraction]:
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
