"""Checks on matrices whose rows and columns carry names."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nashboard._types import Floats, square
from nashboard.errors import InputError

MOST_GAMES = 1e100  # of a pair: sums and products of such counts are still finite
COUNTS = f"counts must be finite and not negative, and at most {MOST_GAMES:g}"


def refuse_cells(
    bad: Any, values: Floats, rows: Sequence[str], rule: str, *, columns: Sequence[str] | None = None
) -> None:
    """Raise an error that names the first bad cell of a matrix and counts the others."""
    where = np.argwhere(bad)
    if len(where):
        i, j = where[0]
        more = f" ({len(where):,} such cells)" if len(where) > 1 else ""
        names = rows if columns is None else columns
        raise InputError(f"row {rows[i]!r}, column {names[j]!r} is {values[i, j]:g}: {rule}{more}")


def game_counts(games: ArrayLike | None, names: Sequence[str]) -> Floats:
    """Return an ``(n, n)`` matrix of game counts from nothing (one game each), a number or a matrix."""
    n = len(names)
    N = np.asarray(1.0 if games is None else games, dtype=np.float64)
    N = square(np.full((n, n), float(N)) if N.ndim == 0 else N, "the matrix of games")
    if N.shape != (n, n):
        raise InputError(f"games must be one number or a {n} x {n} matrix, not shape {N.shape}")
    np.fill_diagonal(N, 0.0)
    refuse_cells(~((N >= 0) & (N <= MOST_GAMES)), N, names, f"game {COUNTS}")
    refuse_cells(N != N.T, N, names, "games must be the same in both directions")
    return N


def identical_rows(values: Floats) -> list[list[int]]:
    """Return groups of rows that agree in every cell (two missing cells agree), in order of appearance."""
    groups: dict[bytes, list[int]] = {}
    for k, row in enumerate(values + 0.0):  # + 0.0 turns -0.0 into 0.0
        groups.setdefault(row.tobytes(), []).append(k)
    return [group for group in groups.values() if len(group) > 1]
