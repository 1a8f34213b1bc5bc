"""Methods that find an equilibrium: Nash averaging, maximal lotteries, deviation ratings.

Symbols: ``A`` payoffs (n, n), ``p`` weights with ``A p <= 0``; for tables ``S`` scores (n, t) and ``q`` task weights.
"""

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
from nashboard.equilibrium.results import NashAverage
from nashboard.ranking.method import Outcome
from nashboard.ranking.pairwise import Pairwise
from nashboard.ranking.tournaments import rounded

WEIGHT = 1e-12  # smaller weights are rounding
FLAT = 1e-10  # a row that moves less than this share of the payoffs over the equilibria is constant


def nash(data: Pairwise) -> Outcome:
    """Average over the opponents (or tasks) that matter: the maximum-entropy equilibrium."""
    if data.table is not None:
        of_scores = nash_average_scores(data.table)
        return Outcome(
            scores=of_scores.skills - of_scores.value,
            weights=of_scores.agent_weights,
            unit="scaled score behind the best",
            scale=of_scores.scale,
            certificate={"exploitability": of_scores.exploitability, "residual": of_scores.residual},
        )
    found = nash_average(data.payoffs)
    return Outcome(
        scores=found.averages,
        weights=found.weights,
        unit=f"payoff against the equilibrium ({data.unit})",
        scale=data.largest,
        certificate={"exploitability": found.exploitability, "residual": found.residual},
    )


def maximal_lottery(data: Pairwise) -> Outcome:
    """Find the lottery over agents that no agent beats by votes, then that of the remaining agents, and so on.

    Scores are minus the number of lotteries before the one in which an agent has weight; weights are of the first.
    """
    M = rounded(data.margins)
    level = np.zeros(data.size, dtype=np.intp)
    weights = np.zeros(data.size)
    left = np.arange(data.size)
    depth, worst = 0, 0.0
    while left.size:
        top = top_cycle(M[np.ix_(left, left)])
        found = nash_average(M[np.ix_(left[top], left[top])]) if top.size > 1 else None
        share = np.ones(1) if found is None else found.weights
        winners = left[top][share > 0]
        if depth == 0:
            weights[left[top]] = share
        worst = max(worst, 0.0 if found is None else found.exploitability)
        level[winners] = depth
        left = np.setdiff1d(left, winners)
        depth += 1
    return Outcome(scores=-level.astype(np.float64), weights=weights, certificate={"exploitability": worst})


def top_cycle(M: Floats) -> Ints:
    """Return the smallest set of agents that beat all others: the first strong component of the wins and ties."""
    from scipy.sparse.csgraph import connected_components

    if (M[0] >= 0).all() and (M[0, 1:] > 0).all():
        return np.zeros(1, dtype=np.intp)
    beats = (M > 0).sum(axis=1) + (M == 0).sum(axis=1) / 2
    best = int(beats.argmax())  # a Copeland winner belongs to it
    if (np.delete(M[best], best) > 0).all():
        return np.array([best], dtype=np.intp)
    _, part = connected_components(M >= 0, directed=True, connection="strong")
    return np.asarray(np.flatnonzero(part == part[best]), dtype=np.intp)


def deviation(data: Pairwise) -> Outcome:
    """Rate agents by what they gain by deviating from the strictest equilibrium (Marris et al. 2025).

    In a game of two players with opposite payoffs these are Nash averages; where there are many equilibria, the one
    whose averages, sorted from the largest, are smallest: a sequence of linear programs.
    """
    if data.table is not None:
        of_scores = nash_average_scores(data.table)
        averages = of_scores.skills - of_scores.value
        gain = of_scores.exploitability
        if np.count_nonzero(of_scores.task_weights > 0) > 1:
            averages = strictest(data.table, of_scores.task_weights, of_scores.agent_weights) - of_scores.value
        return Outcome(
            scores=averages,
            unit="scaled score behind the best",
            scale=of_scores.scale,
            certificate={"exploitability": gain},
        )
    found: NashAverage = nash_average(data.payoffs)
    averages = strictest(data.payoffs, found.weights, found.weights)
    return Outcome(
        scores=averages,
        unit=f"gain of deviating ({data.unit})",
        scale=data.largest,
        certificate={"exploitability": max(found.exploitability, float(averages.max()))},
    )


def strictest(S: Floats, q: Floats, p: Floats) -> Floats:
    """Return ``S q'`` for the equilibrium ``q'`` on the support of ``q`` with the lexicographically smallest payoffs.

    ``S`` (n, t) holds the payoffs of the rows; ``p`` (n,) and ``q`` (t,) are an equilibrium with the largest supports.
    Rows with weight in ``p`` have the same payoff against every equilibrium, so equilibria are ``q + N z`` with ``N`` a
    basis of the directions that leave these rows and the total weight as they are. Each
    linear program lowers the largest payoff that can still move and fixes the rows that are tight in all solutions, so
    there are at most as many programs as directions.
    """
    from scipy.linalg import null_space
    from scipy.optimize import linprog

    payoff = S @ q
    scale = float(np.ptp(S)) or 1.0
    support, top = np.flatnonzero(q > WEIGHT), np.flatnonzero(p > WEIGHT)
    N = null_space(np.vstack([S[np.ix_(top, support)] / scale, np.ones(support.size)]), rcond=FLAT)
    values = payoff.copy()
    base = q[support].copy()
    while N.shape[1]:
        move = S[:, support] @ N
        loose = np.flatnonzero(np.abs(move).max(axis=1) > FLAT * scale)
        if not loose.size:
            break
        k = N.shape[1]
        objective = np.zeros(k + 1)
        objective[k] = 1.0
        rows = np.vstack(
            [np.hstack([move[loose] / scale, -np.ones((loose.size, 1))]), np.hstack([-N, np.zeros((support.size, 1))])]
        )
        limits = np.concatenate([-(S[loose][:, support] @ base) / scale, base])
        found = linprog(objective, A_ub=rows, b_ub=limits, bounds=(None, None), method="highs")
        z = np.asarray(found.x)[:k]
        base = np.maximum(base + N @ z, 0.0)
        values = S[:, support] @ base
        duals = -found.ineqlin.marginals
        fixed = loose[duals[: loose.size] > 1e-9]
        at_zero = np.flatnonzero(duals[loose.size :] > 1e-9)
        bound = np.vstack([move[fixed] / scale, N[at_zero]])
        N = N @ null_space(bound, rcond=FLAT)
    return np.asarray(values)
