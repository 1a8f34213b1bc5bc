"""What others do for the same games, each written again here from its mathematics.

Every peer takes payoffs and returns weights (agents, or agents and tasks).
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def require_peers() -> None:
    """Install the peers into this environment when they are missing."""
    if not all(importlib.util.find_spec(name) for name in ("cvxpy", "nashpy")):
        wanted = Path(__file__).with_name("requirements.txt")
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "-r", str(wanted)], check=True)


def convex_program(A: Array) -> Array:
    """Maximise ``sum(entr(x))`` subject to ``A x <= 0``: the formulation of OpenSpiel."""
    import cvxpy as cp

    x = cp.Variable(len(A), nonneg=True)
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [A @ x <= 0, cp.sum(x) == 1])
    problem.solve()
    return np.array(x.value)


def convex_program_of_pairs(S: Array) -> tuple[Array, Array]:
    """Maximise both entropies with one constraint per pair of an agent and a task, as OpenSpiel does.

    Each meta-player of the antisymmetric game of appendix D picks an agent and a task, and no such pair may gain
    against the mixtures: with ``g`` everybody's payoff against them, ``g_i + g_j <= 0`` for each agent i and task
    j. As there, every constraint is a row with two ones times the whole of ``g``, and cvxpy compiles each of them.
    """
    import cvxpy as cp

    m, n = S.shape
    K = np.block([[np.zeros((m, m)), S], [-S.T, np.zeros((n, n))]])
    x, y = cp.Variable(m), cp.Variable(n)
    both = cp.hstack([x, y])
    g = K @ both
    choices = np.hstack([np.repeat(np.eye(m), n, axis=0), np.tile(np.eye(n), (m, 1))])
    no_gain = [choice[None, :] @ g <= 0 for choice in choices]
    mixtures = [x >= 0, y >= 0, cp.sum(x) == 1, cp.sum(y) == 1]
    cp.Problem(cp.Maximize(cp.sum(cp.entr(both))), [*mixtures, *no_gain]).solve()
    return np.array(x.value), np.array(y.value)


def convex_program_of_sides(S: Array) -> tuple[Array, Array]:
    """The same with one constraint per agent and one per task and the value as a variable."""
    import cvxpy as cp

    m, n = S.shape
    x, y, v = cp.Variable(m, nonneg=True), cp.Variable(n, nonneg=True), cp.Variable()
    both = cp.Maximize(cp.sum(cp.entr(x)) + cp.sum(cp.entr(y)))
    cp.Problem(both, [S @ y <= v, S.T @ x >= v, cp.sum(x) == 1, cp.sum(y) == 1]).solve()
    return np.array(x.value), np.array(y.value)


def highs(A: Array, method: str) -> Array:
    """Return any equilibrium of an antisymmetric game by a linear program."""
    from scipy.optimize import linprog

    n = len(A)
    return np.array(linprog(np.zeros(n), A_ub=A, b_ub=np.zeros(n), A_eq=np.ones((1, n)), b_eq=[1], method=method).x)


def highs_simplex(A: Array) -> Array:
    return highs(A, "highs-ds")


def highs_interior(A: Array) -> Array:
    return highs(A, "highs-ipm")


def highs_of_scores(S: Array) -> tuple[Array, Array]:
    """Return any equilibrium of a table: two linear programs, the faster of the two methods."""
    from scipy.optimize import linprog

    def best(F: Array) -> Array:
        m, n = F.shape
        program = linprog(
            np.append(np.zeros(m), -1.0),
            A_ub=np.column_stack([-F.T, np.ones(n)]),
            b_ub=np.zeros(n),
            A_eq=np.append(np.ones(m), 0.0)[None, :],
            b_eq=[1.0],
            bounds=[(0, None)] * m + [(None, None)],
            method="highs",
        )
        return np.array(program.x[:m])

    return best(S), best(-S.T)


def nashpy_program(A: Array) -> Array:
    """Return any equilibrium by nashpy's linear program."""
    import nashpy

    return np.array(nashpy.Game(A).linear_program()[0])
