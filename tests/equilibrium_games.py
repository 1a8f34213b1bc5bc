"""Families of games for the tests, the degenerate ones first: ties, integers, many equilibria, clones."""

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def antisymmetric(upper: Matrix) -> Matrix:
    U = np.triu(upper, 1)
    return np.asarray(U - U.T + 0.0)


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def dense(seed: int, n: int) -> Matrix:
    return antisymmetric(rng_of(seed).normal(size=(n, n)))


def signs(seed: int, n: int) -> Matrix:
    """Win, draw, loss."""
    return antisymmetric(rng_of(seed).integers(-1, 2, size=(n, n)).astype(float))


def integers(seed: int, n: int) -> Matrix:
    return antisymmetric(rng_of(seed).integers(-3, 4, size=(n, n)).astype(float))


def tenths(seed: int, n: int) -> Matrix:
    """Win rates in tenths, as margins."""
    return antisymmetric(np.round(rng_of(seed).random((n, n)), 1) - 0.5)


def log_odds(seed: int, n: int) -> Matrix:
    """Log-odds of a few games per pair: many exact ties."""
    wins = rng_of(seed).integers(0, 5, size=(n, n))
    return antisymmetric(np.log(wins + 0.5) - np.log(4 - wins + 0.5))


def ladder(seed: int, n: int) -> Matrix:
    """A transitive game with ties."""
    r = rng_of(seed).integers(0, 3, size=n).astype(float)
    return np.asarray(r[:, None] - r + 0.0)


def disjoint_cycles(seed: int, n: int) -> Matrix:
    """Rock-paper-scissors several times over, even between the groups."""
    groups = 1 + n // 3
    A = np.zeros((3 * groups, 3 * groups))
    sizes = rng_of(seed).integers(1, 4, size=groups)
    for k in range(groups):
        A[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = sizes[k] * np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    return A


def low_rank(seed: int, n: int) -> Matrix:
    """Two cyclic planes with small whole numbers: many equilibria, clones by chance."""
    C = rng_of(seed).integers(-2, 3, size=(n, 4)).astype(float)
    return np.asarray(C[:, ::2] @ C[:, 1::2].T - C[:, 1::2] @ C[:, ::2].T)


def tied_blocks(seed: int, n: int) -> Matrix:
    """A small game with every agent entered twice; one pair of copies differs against one opponent."""
    A: Matrix = np.kron(signs(seed, max(2, n // 2)), np.ones((2, 2))).astype(np.float64)
    A[0, -1] += 1
    A[-1, 0] -= 1
    return A


def near_clones(seed: int, n: int) -> Matrix:
    """Copies at a distance of 1e-9."""
    rng = rng_of(seed)
    who = np.concatenate([np.arange(n), rng.integers(0, n, size=2)])
    return np.asarray(dense(seed, n)[np.ix_(who, who)]) + 1e-9 * antisymmetric(rng.normal(size=(n + 2, n + 2)))


def badly_scaled(seed: int, n: int) -> Matrix:
    """Payoffs from 1e-6 to 1e6 in one matrix."""
    d = 10.0 ** rng_of(seed).uniform(-3, 3, size=n)
    return dense(seed, n) * d * d[:, None]


def nothing(seed: int, n: int) -> Matrix:
    return np.zeros((n, n))


FAMILIES = (
    dense, signs, integers, tenths, log_odds, ladder, disjoint_cycles, low_rank, tied_blocks, near_clones,
    badly_scaled, nothing,
)  # fmt: skip

sizes = st.integers(2, 12)
seeds = st.integers(0, 2**32 - 1)


def uniform(seed: int, m: int, n: int) -> Matrix:
    return rng_of(seed).random((m, n))


def zero_one(seed: int, m: int, n: int) -> Matrix:
    return rng_of(seed).integers(0, 2, size=(m, n)).astype(float)


def percent(seed: int, m: int, n: int) -> Matrix:
    return rng_of(seed).integers(0, 101, size=(m, n)) / 100.0


def rounded(seed: int, m: int, n: int) -> Matrix:
    return np.round(rng_of(seed).random((m, n)), 1)


def thin(seed: int, m: int, n: int) -> Matrix:
    rng = rng_of(seed)
    return np.asarray((rng.integers(-2, 3, size=(m, 2)) @ rng.integers(-2, 3, size=(2, n))).astype(float))


def skill_and_difficulty(seed: int, m: int, n: int) -> Matrix:
    rng = rng_of(seed)
    return rng.integers(0, 3, size=m)[:, None] - rng.integers(0, 3, size=n) * 1.0


def far_from_zero(seed: int, m: int, n: int) -> Matrix:
    return 1000.0 + rounded(seed, m, n)


def wide_range(seed: int, m: int, n: int) -> Matrix:
    rng = rng_of(seed)
    return rng.normal(size=(m, n)) * 10.0 ** rng.uniform(-3, 3, size=m)[:, None] * 10.0 ** rng.uniform(-3, 3, size=n)


def nearly_tied(seed: int, m: int, n: int) -> Matrix:
    return zero_one(seed, m, n) + 1e-9 * rng_of(seed).normal(size=(m, n))


def constant(seed: int, m: int, n: int) -> Matrix:
    return np.full((m, n), 0.1)


TABLES = (
    uniform, zero_one, percent, rounded, thin, skill_and_difficulty, far_from_zero, wide_range, nearly_tied,
    constant,
)  # fmt: skip

sides = st.integers(1, 9)
