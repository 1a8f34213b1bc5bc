"""Small games in fractions: the last resort where doubles cannot tell who has weight.

Payoffs that differ near the rule of zero, or that span twelve orders of magnitude, can make an equilibrium turn on
differences that the interior point loses in rounding. Doubles are fractions, so the game as it was given has an
exact set of equilibria (see `exact_simplex`). What is left, the mixture of maximum entropy and the multipliers that
prove it, is as for every other game (see `side`), from equations that were not rounded before they were reduced.
"""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from nashboard._types import Floats
from nashboard.equilibrium.exact_simplex import exact_face
from nashboard.equilibrium.face import Apply, Face, power_of_two
from nashboard.equilibrium.side import SideFace, Terms

CELLS = 1200  # games with up to so many payoffs take three seconds at most, small ones a few hundredths

Row = list[Fraction]


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
    basis = reduced(bordered)
    falls = [freed(row, basis) for row in fractions(G)]
    moving = np.array([any(row) for row in falls], dtype=np.bool_)
    point = Face(
        x=np.maximum(rounded([x], len(x))[0], 1e-300),
        v=float(found.value),
        Z=directions(basis, len(x)),
        unit=unit,
        bordered=bordered,
        pulls_back=(solver(bordered.T),),
    )
    return SideFace(
        F=F,
        own=found.own,
        tight=found.tight,
        found=point,
        G=G,
        margins=np.array([float(found.value - dot(row, x)) for row in fractions(G)]),
        terms=Terms(equations=rounded(basis.values(), len(x)), falls=rounded(falls, len(x))[moving], moving=moving),
    )


def fractions(A: Floats) -> list[Row]:
    """Return doubles as fractions."""
    return [[Fraction(x) for x in row] for row in A.tolist()]


def rounded(rows: Iterable[Row], k: int) -> Floats:
    """Return rows of ``k`` fractions as doubles."""
    return np.array([[float(x) for x in row] for row in rows]).reshape(-1, k)


def dot(a: Row, b: Row) -> Fraction:
    """Return the sum of products."""
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction(0))


def eliminated(table: list[Row], k: int) -> list[tuple[int, int]]:
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


def reduced(A: Floats) -> dict[int, Row]:
    """Return independent rows with the same span as a matrix, each the only one with weight in its column, 1."""
    table = fractions(A)
    return {column: table[row] for row, column in eliminated(table, A.shape[1])}


def freed(row: Row, basis: dict[int, Row]) -> Row:
    """Return a row without what it has in common with the rows of a reduced basis."""
    for column, other in basis.items():
        factor = row[column]
        if factor:
            row = [a - factor * b for a, b in zip(row, other, strict=True)]
    return row


def directions(basis: dict[int, Row], k: int) -> Floats:
    """Return orthonormal columns on which the rows of a reduced basis are zero."""
    free = [j for j in range(k) if j not in basis]
    Z = np.zeros((k, len(free)))
    for at, j in enumerate(free):
        Z[j, at] = 1.0
        for column, row in basis.items():
            Z[column, at] = -float(row[j])
    return np.linalg.qr(Z)[0]


def solver(A: Floats) -> Apply:
    """Return a function that solves ``A y = b``, as many of its equations as are independent."""
    rows, k = A.shape
    table = [row + [Fraction(int(i == j)) for j in range(rows)] for i, row in enumerate(fractions(A))]
    pivots = eliminated(table, k)

    def apply(b: Floats) -> Floats:
        right = fractions(b[None])[0]
        y = np.zeros(k)
        for row, column in pivots:
            y[column] = float(dot(table[row][k:], right))
        return y

    return apply
