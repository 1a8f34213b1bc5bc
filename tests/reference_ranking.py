"""Slow twins of the methods: definitions written down, for a handful of agents."""

import itertools
import statistics
from collections.abc import Mapping

import numpy as np
from scipy.optimize import linprog

from nashboard._types import Floats


def schulze_beats(M: Floats) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
    """Compare the strongest of all simple paths, listed one by one."""
    n = len(M)
    strength = np.zeros((n, n))
    for i, j in itertools.permutations(range(n), 2):
        others = [k for k in range(n) if k not in (i, j)]
        for length in range(len(others) + 1):
            for middle in itertools.permutations(others, length):
                path = (i, *middle, j)
                weakest = min(M[a, b] for a, b in itertools.pairwise(path))
                strength[i, j] = max(strength[i, j], weakest)
    return strength > strength.T


def tideman_order(M: Floats) -> list[int]:
    """Lock pairs one by one, checking for cycles by search; for distinct margins only."""
    n = len(M)
    pairs = sorted(((M[i, j], i, j) for i in range(n) for j in range(n) if M[i, j] > 0), reverse=True)
    below: dict[int, set[int]] = {k: set() for k in range(n)}

    def reaches(a: int, b: int) -> bool:
        return b in below[a] or any(reaches(k, b) for k in below[a])

    for _, i, j in pairs:
        if not reaches(j, i):
            below[i].add(j)
    return sorted(range(n), key=lambda k: -sum(reaches(k, other) for other in range(n) if other != k))


def kemeny_costs(M: Floats) -> dict[tuple[int, ...], float]:
    """Return what every order contradicts."""
    return {
        order: sum(max(M[b, a], 0.0) for a, b in itertools.combinations(order, 2))
        for order in itertools.permutations(range(len(M)))
    }


def kemeny_by_integer_program(w: Floats) -> float:
    """Return what the cheapest order contradicts, by an integer program over all pairs and triples."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    n = len(w)
    rows = []
    for i, j, k in itertools.permutations(range(n), 3):
        row = np.zeros((n, n))
        row[i, j] = row[j, k] = row[k, i] = 1
        rows.append(row.ravel())
    pairs = np.zeros((n * (n - 1) // 2, n, n))
    for row, (i, j) in zip(pairs, itertools.combinations(range(n), 2), strict=True):
        row[i, j] = row[j, i] = 1
    found = milp(
        np.maximum(-w, 0.0).ravel(), integrality=np.ones(n * n, dtype=np.intp), bounds=Bounds(0, 1),
        constraints=[LinearConstraint(np.array(rows), 1, 2), LinearConstraint(pairs.reshape(len(pairs), -1), 1, 1)],
        options={"mip_rel_gap": 0.0},
    )  # fmt: skip
    assert found.fun is not None
    return float(found.fun)


def davidson_gradient(r: Floats, nu: float, W: Floats, D: Floats) -> float:
    """Return the largest slope of the log-likelihood, by differences."""

    def value(x: Floats) -> float:
        pi, v = np.exp(x[:-1]), np.exp(x[-1])
        total = 0.0
        for i, j in itertools.combinations(range(len(W)), 2):
            tie = 2 * v * np.sqrt(pi[i] * pi[j])
            whole = pi[i] + pi[j] + tie
            total += W[i, j] * np.log(pi[i] / whole) + W[j, i] * np.log(pi[j] / whole) + D[i, j] * np.log(tie / whole)
        return float(total)

    x = np.append(r, np.log(nu))
    steps = 1e-5 * np.eye(len(x))
    return max(abs(value(x + step) - value(x - step)) / 2e-5 for step in steps)


def alpha_rank_finite(A: Floats, alpha: float, m: int) -> Floats:
    """Return the stationary distribution from the fixation probabilities written as sums."""
    n = len(A)
    C = np.zeros((n, n))
    for s, r in itertools.permutations(range(n), 2):
        u = alpha * (A[r, s] - A[s, r])
        C[s, r] = 1 / (1 + sum(np.exp(-u * step) for step in range(1, m))) / (n - 1)
    C += np.diag(1 - C.sum(axis=1))
    values, vectors = np.linalg.eig(C.T)
    pi = np.abs(vectors[:, np.argmax(values.real)].real)
    return np.asarray(pi / pi.sum())


def alpha_rank_two_populations(S: Floats, alpha: float, m: int) -> Floats:
    """Return the shares of agents, from the chain over profiles (agent, task) written down move by move.

    One population changes at a time: the agent's gains what the score gains, the task's what it loses. The fixation
    probability is a sum over the individuals that have changed.
    """
    n, t = S.shape
    profiles = list(itertools.product(range(n), range(t)))
    C = np.zeros((n * t, n * t))
    for (x, (a, k)), (y, (b, j)) in itertools.permutations(enumerate(profiles), 2):
        if k == j or a == b:
            u = alpha * (S[b, k] - S[a, k] if k == j else S[a, k] - S[a, j])
            C[x, y] = 1 / (1 + sum(np.exp(-u * step) for step in range(1, m))) / (n + t - 2)
    C += np.diag(1 - C.sum(axis=1))
    rows = np.vstack([C.T - np.eye(n * t), np.ones(n * t)])
    pi = np.linalg.lstsq(rows, np.append(np.zeros(n * t), 1.0), rcond=None)[0]
    return np.asarray(pi.reshape(n, t).sum(axis=1))


def deviation_gains(A: Floats) -> Floats:
    """Lower the largest gain of deviating over all coarse correlated equilibria, then the next, by linear programs.

    Variables: the joint distribution over pairs of agents (n * n), then the bound. Gains of the first player are
    ``sum of sigma[a, b] (A[i, b] - A[a, b])``; the second player has the payoffs ``-A'``. (Marris et al. 2025.)
    """
    n = len(A)
    first = np.array([[A[i, b] - A[a, b] for a in range(n) for b in range(n)] for i in range(n)])
    second = np.array([[A[i, a] + A[a, b] for a in range(n) for b in range(n)] for i in range(n)])
    gains = np.vstack([first, second])
    fixed: dict[int, float] = {}
    while len(fixed) < 2 * n:
        free = [k for k in range(2 * n) if k not in fixed]
        upper = np.hstack([gains[free], -np.ones((len(free), 1))])
        equal = np.vstack([np.append(np.ones(n * n), 0.0), *(np.append(gains[k], 0.0) for k in fixed)])
        limits = [1.0, *fixed.values()]
        goal = np.append(np.zeros(n * n), 1.0)
        bounds = [(0, None)] * (n * n) + [(None, None)]
        found = linprog(goal, A_ub=upper, b_ub=np.zeros(len(free)), A_eq=equal, b_eq=limits, bounds=bounds)
        if found.status != 0:  # rounding of what was fixed: allow a little
            slack = np.hstack([np.vstack([gains[k] for k in fixed]), np.zeros((len(fixed), 1))])
            both = np.vstack([upper, slack, -slack])
            at = np.array(list(fixed.values()))
            room = np.concatenate([np.zeros(len(free)), at + 1e-9, -at + 1e-9])
            found = linprog(goal, A_ub=both, b_ub=room, A_eq=equal[:1], b_eq=[1.0], bounds=bounds)
        tight = [k for k, dual in zip(free, found.ineqlin.marginals, strict=False) if dual < -1e-9]
        fixed.update(dict.fromkeys(tight, float(found.fun or 0.0)))
    return np.array([fixed[k] for k in range(n)])


def prompt_deviation_gains(M: Floats) -> Floats:
    """Do the same for two models and a prompt, over all joint distributions (t, n, n); the prompt gets ``|M|``."""
    t, n, _ = M.shape
    own = [(p, a, b) for p in range(t) for a in range(n) for b in range(n)]
    first = [[M[p, i, b] - M[p, a, b] for p, a, b in own] for i in range(n)]
    second = [[-M[p, a, i] + M[p, a, b] for p, a, b in own] for i in range(n)]
    asked = [[abs(M[q, a, b]) - abs(M[p, a, b]) for p, a, b in own] for q in range(t)]
    gains = np.array([*first, *second, *asked])
    goal = np.append(np.zeros(len(own)), 1.0)
    fixed: dict[int, float] = {}
    while len(fixed) < len(gains):
        free = np.array([k not in fixed for k in range(len(gains))])
        rows = np.hstack([gains, -free[:, None].astype(float)])
        limits = [fixed.get(k, 0.0) + (0 if free[k] else 1e-8) for k in range(len(gains))]
        found = linprog(
            goal, A_ub=rows, b_ub=limits, A_eq=np.append(np.ones(len(own)), 0.0)[None], b_eq=[1.0],
            bounds=[(0, None)] * len(own) + [(None, None)], method="highs-ds",
        )  # fmt: skip
        assert found.status == 0, found.message
        tight = [int(k) for k in np.flatnonzero(free) if found.ineqlin.marginals[k] < -1e-9]
        fixed.update(dict.fromkeys(tight, float(found.fun or 0.0)))
    return np.array([fixed[k] for k in range(n)])


def rliable_aggregates(runs: Mapping[str, Floats]) -> dict[str, list[float]]:
    """Return rliable's aggregates of runs x tasks, number by number: the middle half of all, and of means of tasks."""
    found: dict[str, list[float]] = {"iqm": [], "median": [], "mean": []}
    for one in runs.values():
        everything = sorted(float(score) for line in one for score in line)
        cut = len(everything) // 4
        middle = everything[cut : len(everything) - cut]
        means = [sum(float(line[task]) for line in one) / len(one) for task in range(len(one[0]))]
        found["iqm"].append(sum(middle) / len(middle))
        found["median"].append(statistics.median(means))
        found["mean"].append(sum(means) / len(means))
    return found
