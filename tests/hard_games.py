"""Games where rounding, ties and scales conspire: what the fuzz runner and the tests draw from.

Every family makes a table (m, n) of scores; ``antisymmetric`` of a square one is a game of agents against agents.
"""

from collections.abc import Callable

import numpy as np

from equilibrium_games import Matrix, antisymmetric, disjoint_cycles, rng_of

Table = Callable[[np.random.Generator, int, int], Matrix]


def wild(rng: np.random.Generator, m: int, n: int) -> Matrix:
    """Every cell has a power of ten of its own, from 1e-6 to 1e6; sometimes few digits, so that cells tie."""
    digits = (
        rng.integers(-3, 4, size=(m, n)).astype(float),
        np.round(rng.normal(size=(m, n)), 1),
        rng.normal(size=(m, n)),
    )
    powers = (rng.integers(-6, 7, size=(m, n)).astype(float), rng.uniform(-6, 6, size=(m, n)))
    return np.asarray(digits[rng.integers(3)] * 10.0 ** powers[rng.integers(2)])


def wild_rows(rng: np.random.Generator, m: int, n: int) -> Matrix:
    """Every agent and every task has a power of ten of its own, from 1e-3 to 1e3."""
    digits = (rng.integers(-3, 4, size=(m, n)).astype(float), rng.normal(size=(m, n)))[rng.integers(2)]
    rows, columns = (10.0 ** rng.integers(-3, 4, size=k) for k in (m, n))
    if m == n and rng.integers(2):
        rows = columns
    return np.asarray(digits * rows[:, None] * columns)


def crumbs(rng: np.random.Generator, m: int, n: int) -> Matrix:
    """A few large cells, and many that are about as small as the rule of zero."""
    small = rng.normal(size=(m, n)) * 2.0 ** rng.integers(-44, -36, size=(m, n))
    return np.where(rng.random((m, n)) < rng.choice([0.1, 0.3, 0.6]), rng.integers(-2, 3, size=(m, n)), small)


def whole(rng: np.random.Generator, m: int, n: int) -> Matrix:
    return rng.integers(-3, 4, size=(m, n)).astype(float)


def tenths(rng: np.random.Generator, m: int, n: int) -> Matrix:
    return np.round(rng.random((m, n)), 1)


def zero_one(rng: np.random.Generator, m: int, n: int) -> Matrix:
    return rng.integers(0, 2, size=(m, n)).astype(float)


def ladder(rng: np.random.Generator, m: int, n: int) -> Matrix:
    """Skill minus difficulty, with ties."""
    skill = rng.integers(0, 3, size=m).astype(float)
    return np.asarray(skill[:, None] - (skill if m == n else rng.integers(0, 3, size=n)))


def cycles(rng: np.random.Generator, m: int, n: int) -> Matrix:
    """Rock-paper-scissors several times over, even between the groups."""
    return disjoint_cycles(int(rng.integers(2**32)), max(m, n))[:m, :n]


def copied(rng: np.random.Generator, table: Matrix) -> Matrix:
    """Return a table with some agents and tasks entered again, the same ones where it is square."""
    m, n = table.shape
    rows = np.append(np.arange(m), rng.integers(0, m, size=rng.integers(1, 5)))
    columns = rows if m == n else np.append(np.arange(n), rng.integers(0, n, size=rng.integers(1, 5)))
    return table[np.ix_(rows, columns)]


def clones(rng: np.random.Generator, m: int, n: int) -> Matrix:
    return copied(rng, (whole, tenths, zero_one, wild)[rng.integers(4)](rng, max(1, m - 2), max(1, n - 2)))


def near_clones(rng: np.random.Generator, m: int, n: int) -> Matrix:
    """Copies at a distance of 1e-9."""
    table = clones(rng, m, n)
    return np.asarray(table + 1e-9 * np.abs(table).max() * rng.normal(size=table.shape))


def rule_clones(rng: np.random.Generator, m: int, n: int) -> Matrix:
    """Copies at distances from 1e-13 to 1e-11, across the rule of zero: some are identical by it, some are not."""
    table = clones(rng, m, n)
    noise = rng.normal(size=table.shape) * 10.0 ** rng.uniform(-13, -11, size=table.shape)
    return np.asarray(table + np.abs(table).max() * noise * (rng.random(table.shape) < rng.choice([0.2, 1.0])))


def dense(rng: np.random.Generator, m: int, n: int) -> Matrix:
    return rng.normal(size=(m, n))


def counts(rng: np.random.Generator, m: int, n: int) -> Matrix:
    """Log-odds of a few games: values repeat, and sums of them tie."""
    games = int(rng.integers(2, 14))
    wins = rng.integers(0, games + 1, size=(m, n))
    return np.asarray(np.log(wins + 0.5) - np.log(games - wins + 0.5))


def nearly(rng: np.random.Generator, m: int, n: int) -> Matrix:
    """A game of many ties in which one payoff is tiny, or one payoff or a gradient is changed by little."""
    around = 2 * np.pi * np.arange(max(m, n)) / max(m, n)
    if m == n == 4 or rng.integers(2):
        table = np.asarray(np.sin(around[:, None] - around)[:m, :n])
    else:
        table = (whole, zero_one, tenths)[rng.integers(3)](rng, m, n)
    size, how = 10.0 ** rng.uniform(-13, -6), rng.integers(3)
    if how < 2:
        i, j = np.sort(rng.choice(min(m, n), 2, replace=False))
        table[i, j] = how * table[i, j] + size * rng.choice([-1, 1])
        return table
    return np.asarray(table + size * rng.integers(0, 2, size=m)[:, None] - size * rng.integers(0, 2, size=n))


# families whose ties are exact, or far above rounding: linear programs can judge who has weight
CLEAN = ("counts", "integer", "tenths", "zero-one", "ladder", "cycles")

HARD: dict[str, Table] = {
    "wild": wild, "wild-rows": wild_rows, "crumbs": crumbs, "integer": whole, "tenths": tenths, "zero-one": zero_one,
    "ladder": ladder, "cycles": cycles, "clones": clones, "near-clones": near_clones, "rule-clones": rule_clones,
    "dense": dense, "counts": counts, "nearly": nearly,
}  # fmt: skip


def hard_table(family: str, seed: int, most: int = 12) -> Matrix:
    """Return the table of a family and a seed, at most about ``most`` agents and tasks."""
    rng = rng_of(seed)
    m, n = rng.integers(2, most + 1, size=2)
    return HARD[family](rng, int(m), int(n))


def hard_game(family: str, seed: int, most: int = 12) -> Matrix:
    """Return the antisymmetric game of a family and a seed, at most about ``most`` agents."""
    rng = rng_of(seed)
    n = int(rng.integers(2, most + 1))
    table = HARD[family](rng, n, n)
    return table if family in ("ladder", "cycles") and (table == -table.T).all() else antisymmetric(table)
