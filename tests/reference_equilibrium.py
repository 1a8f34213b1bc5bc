"""A slow, differently written twin of the equilibrium engine: exact arithmetic, all vertices at once.

The optimal mixtures of a player form a polytope. Here its vertices are found by solving every square
subsystem in fractions, and the maximum of the entropy is recognised by comparing with every vertex: a concave
function is at its maximum over a polytope exactly when no vertex is uphill.
"""

from fractions import Fraction
from itertools import combinations
from math import lcm

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Array = NDArray[np.float64]
ROUNDED = Fraction(1, 2**48)  # what rounding is worth in a tie of payoffs of size 1


def solved(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Solve a square system exactly, by elimination; nothing where it is singular."""
    n = len(matrix)
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [rows[k][n] / rows[k][k] for k in range(n)]


def optimal_vertices(S: NDArray[np.float64]) -> tuple[Fraction, list[list[Fraction]]]:
    """Return the value of ``max_p min_j (S'p)_j`` and the vertices of the set of optimal ``p``."""
    m, n = S.shape
    F = [[Fraction(float(x)) for x in row] for row in S]
    total = [*([Fraction(1)] * m), Fraction(0)]
    tight = [[Fraction(int(i == k)) for i in range(m)] + [Fraction(0)] for k in range(m)]
    tight += [[F[i][j] for i in range(m)] + [Fraction(-1)] for j in range(n)]
    found: dict[tuple[Fraction, ...], Fraction] = {}
    for chosen in combinations(range(m + n), m):
        point = solved([total, *(tight[k] for k in chosen)], [Fraction(1), *([Fraction(0)] * m)])
        if point is None:
            continue
        p, v = point[:m], point[m]
        if min(p) >= 0 and all(sum(F[i][j] * p[i] for i in range(m)) >= v for j in range(n)):
            found[tuple(p)] = v
    value = max(found.values())
    return value, [list(p) for p, v in found.items() if v == value]


def uphill(p: NDArray[np.float64], vertices: list[list[Fraction]], m: NDArray[np.float64] | None = None) -> float:
    """Return by how much the entropy could still grow at most: zero at the maximum.

    For any optimal ``u``, ``H(u) - H(p) <= sum_i (u_i - p_i) (-log p_i / m_i)``, and the bound is linear in
    ``u``.
    """
    held = p > 0
    if any(float(u[i]) > 0 for u in vertices for i in range(len(p)) if not held[i]):
        return float("inf")
    slope = np.zeros(len(p))
    slope[held] = -np.log(p[held]) + (0.0 if m is None else np.log(m[held]))
    return max(float(np.array([float(x) for x in u]) @ slope) for u in vertices) - float(p @ slope)


def require_the_only_one(S: Array, p: Array, q: Array) -> None:
    """Refuse mixtures that are claimed to be the only ones of the agents and tasks of ``S`` and are not, in fractions.

    They are where the square system of their supports has one solution, with weights above zero, and everybody else
    does worse (Bohnenblust, Karlin and Shapley 1950).
    """
    for F, x, y in ((S, p, q), (-S.T, q, p)):
        rows, columns = np.flatnonzero(x), np.flatnonzero(y)
        assert len(rows) == len(columns), f"{len(rows)} and {len(columns)} have weight: one side has others"
        E = [[Fraction(float(F[i, j])) for j in columns] for i in range(len(F))]
        border = [Fraction(1)] * len(columns) + [Fraction(0)]
        found = solved([[*E[i], Fraction(-1)] for i in rows] + [border], [Fraction(0)] * len(rows) + [Fraction(1)])
        assert found is not None, "the system of the supports is singular"
        *exact, value = found
        assert min(exact) > 0, f"an exact weight is {float(min(exact)):.1e}"
        gains = [sum(a * w for a, w in zip(E[i], exact, strict=True)) - value for i in set(range(len(F))) - set(rows)]
        assert max(gains, default=-1) < 0, f"somebody without weight gains {float(max(gains)):.1e}"
        off = max(abs(float(a) - float(b)) for a, b in zip(exact, y[columns], strict=True))
        assert off <= 1e-9, f"weights are off by {off:.1e}"


def between_copies(S: Array, *sides: tuple[Array, NDArray[np.intp]]) -> tuple[Array, list[Array]] | None:
    """Return payoffs and totals of classes, given weights and labels of each side; nothing if members differ at all."""
    firsts, totals = [], []
    for rows, (weights, label) in zip((S, S.T), (sides[0], sides[-1]), strict=True):
        if (rows != rows[label]).any():
            return None
        firsts.append(np.unique(label))
        totals.append(np.asarray(np.bincount(label, weights=weights)[firsts[-1]], dtype=np.float64))
    return S[np.ix_(*firsts)], totals


def exact_value(S: list[list[Fraction]]) -> Fraction:
    """Return the value of ``max_p min_q p'Sq`` by the simplex method in whole numbers, with Bland's rule.

    Payoffs are lifted above zero, where the value is ``1 / max(sum x)`` over ``x >= 0`` with ``S x <= 1``. Every row
    is ``last`` times the row of the usual tableau, which keeps it whole (Edmonds 1967), and cancels nothing.
    """
    lift = 1 - min(min(row) for row in S)
    unit = lcm(*(x.denominator for row in S for x in row))
    m, n = len(S), len(S[0])
    rows = [[*(int((x + lift) * unit) for x in row), *(int(i == k) for k in range(m)), 1] for i, row in enumerate(S)]
    rows.append([-1] * n + [0] * (m + 1))  # the costs
    basis, last = list(range(n, n + m)), 1
    while True:
        enter = next((j for j in range(n + m) if rows[m][j] < 0), None)
        if enter is None:
            return Fraction(last, rows[m][-1] * unit) - lift
        _, _, leave = min((Fraction(rows[i][-1], rows[i][enter]), basis[i], i) for i in range(m) if rows[i][enter] > 0)
        basis[leave] = enter
        pivot, by = rows[leave], rows[leave][enter]
        for i, row in enumerate(rows):
            if i != leave:
                factor = row[enter]
                rows[i] = [(by * a - factor * b) // last for a, b in zip(row, pivot, strict=True)]
        last = by


def weight_ranges(F: Array, value: float, slack: float = 1e-10) -> Array:
    """Return the smallest and largest weight of each column over all ``x`` with ``F x <= value``, by linear programs.

    Payoffs should be of size 1. The value is rounded, so equations may be off by ``slack``.
    """
    k = F.shape[1]
    ends = np.zeros((2, k))
    for j in range(k):
        for row, sign in enumerate((1.0, -1.0)):
            goal = np.zeros(k)
            goal[j] = sign
            found = linprog(
                goal, A_ub=F, b_ub=np.full(len(F), value + slack), A_eq=np.ones((1, k)), b_eq=[1.0],
                options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
            )  # fmt: skip
            assert found.status == 0, found.message
            ends[row, j] = sign * float(found.fun or 0.0)
    return ends


def could_have(F: Array, j: int, least: float) -> bool:
    """Whether column ``j`` has at least this weight in an equilibrium, in fractions: a loser by m gets slack / m.

    Linear programs in doubles need a slack that is too much where margins are small; here it is that of rounded ties.
    The mixtures asked for are those of the columns with the share ``least`` of each given to ``j``.
    """
    E, share = [[Fraction(float(x)) for x in row] for row in F], Fraction(least)
    mixed = [[(1 - share) * x + share * row[j] for x in row] for row in E]
    return exact_value(mixed) <= exact_value(E) + ROUNDED


def could_lack(F: Array, j: int, most: float) -> bool:
    """Whether column ``j`` has at most this weight in an equilibrium, in fractions, as in `could_have`."""
    if F.shape[1] == 1 or most < 0:
        return False
    E, share = [[Fraction(float(x)) for x in row] for row in F], Fraction(most)
    others = [[*row[:j], *row[j + 1 :]] for row in E]
    mixed = [[*rest, *((1 - share) * x + share * row[j] for x in rest)] for rest, row in zip(others, E, strict=True)]
    return exact_value(mixed) <= exact_value(E) + ROUNDED


def require_right_claim(
    F: Array, value: float, weights: Array, label: NDArray[np.intp], unique: bool, what: str
) -> None:
    """Refuse a claim about uniqueness, or about who has weight, that linear programs and fractions refute."""
    firsts = np.unique(label)
    totals = np.bincount(label, weights=weights, minlength=len(weights))[firsts]
    low, high = weight_ranges(F[:, firsts], value)
    spread = float((high - low).max())
    for j in np.flatnonzero(high - low > 1e-6) if unique else ():
        wide = could_have(F[:, firsts], int(j), totals[j] + 1e-6) or could_lack(F[:, firsts], int(j), totals[j] - 1e-6)
        assert not wide, f"{what} claim to be unique, but a weight ranges over {high[j] - low[j]:.1e}"
    assert unique or spread > 1e-8 or len(firsts) == 1, f"{what} claim to be many, but no weight moves"
    assert not ((high < 1e-8) & (totals > 1e-7)).any(), f"{what} without weight in any equilibrium have some"
    for j in np.flatnonzero((high > 1e-5) & (totals == 0)):
        assert not could_have(F[:, firsts], int(j), 1e-5), f"{what} with weight in some equilibrium have none"
    assert not ((totals > 0) & (totals < 1e-12)).any(), f"a weight of {what} is rounding"
