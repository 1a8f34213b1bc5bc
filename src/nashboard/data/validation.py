"""Checks on what users give: names of agents and tasks, and matrices whose rows and columns carry names."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nashboard._text import listed, nearest, shortened
from nashboard._types import Floats, square
from nashboard.errors import InputError

HALF_CHARACTER = "contains an unpaired surrogate, which is not valid UTF-8"
HALF = re.compile(r"[\ud800-\udfff]")


def checked_names(names: Iterable[object] | None, *, size: int, kind: str) -> tuple[str, ...]:
    """Return ``size`` distinct, non-empty names; ``agent 1, agent 2, ...`` where none are given."""
    if names is None:
        return numbered_names(kind, size)
    if isinstance(names, str):
        raise InputError(f"{kind} names must be a list of names, not the single text {names!r}")
    shape = getattr(names, "shape", (size,))
    if not isinstance(names, Iterable) or len(shape) != 1:
        what = f"an array of shape {shape}" if len(shape) > 1 else repr(names)
        raise InputError(f"{kind} names must be a list of names, not {what}: pass other arguments by keyword")
    given = [str(name) for name in names]
    if len(given) != size:
        raise InputError(f"there are {len(given):,} {kind} names for {size:,} {kind}s: give one name each")
    text = "\n".join(given)
    if all(map(str.strip, given)) and "\0" not in text and not HALF.search(text) and len(set(given)) == size:
        return tuple(given)
    blank = [k for k, name in enumerate(given) if not name.strip()]
    if blank:
        raise InputError(f"{kind} number {blank[0] + 1:,} has an empty name: every {kind} needs one")
    cut = [name for name in given if "\0" in name]
    if cut:
        raise InputError(f"the {kind} name {shortened(cut[0])!r} contains the character NUL: rename it")
    halves = [name for name in given if HALF.search(name)]
    if halves:
        raise InputError(f"the {kind} name {shortened(halves[0])!a} {HALF_CHARACTER}: rename it")
    twice = [name for name, times in Counter(given).items() if times > 1]
    if twice:
        raise InputError(
            f"{kind} names must be unique: {listed(twice)} {'occurs' if len(twice) == 1 else 'occur'} more than once"
        )
    return tuple(given)


@lru_cache(maxsize=32)
def numbered_names(kind: str, size: int) -> tuple[str, ...]:
    """Return ``agent 1, agent 2, ...``."""
    return tuple(f"{kind} {k + 1}" for k in range(size))


def positions(wanted: Iterable[str], names: Sequence[str], *, kind: str) -> list[int]:
    """Return where each wanted name stands, or say which is not there."""
    where = {name: k for k, name in enumerate(names)}
    found = []
    for name in wanted:
        if name not in where:
            raise InputError(f"there is no {kind} {shortened(name)!r}{nearest(name, names)}: there are {listed(names)}")
        found.append(where[name])
    return found


TWO_SPELLINGS = "differ only in case or white space: probably one agent in two spellings"


def look_alikes(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return groups of names that differ only in case or white space: probably one agent spelt twice."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(" ".join(name.casefold().split()), []).append(name)
    return [tuple(group) for group in groups.values() if len(group) > 1]


MOST_GAMES = 1e100  # of a pair: sums and products of such counts are still finite
COUNTS = f"counts must be finite and not negative, and at most {MOST_GAMES:g}"


def refuse_cells(
    bad: Any, values: Floats, rows: Sequence[str], rule: str, *, columns: Sequence[str] | None = None
) -> None:
    """Raise an error that names the first bad cell of a matrix and counts the others."""
    if bad.any():
        where = np.argwhere(bad)
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
