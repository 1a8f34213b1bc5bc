"""Deviation ratings: the gains of agents by deviating from the strictest equilibrium."""

from typing import Any

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.equilibrium.results import ScoreNashAverage
from nashboard.errors import ConvergenceError, InputError
from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, SCORES_5, SCORES_6, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise, group_equal_rows

WEIGHT = 1e-12  # smaller weights are rounding
SLACK = 1e-9  # by which fixed gains may exceed their values in later programs
MOST_PROFILES = 1_000_000  # of different prompts and pairs of models
KNOWN = 1000.0  # gains of programs with prompts that differ by less than 1e-6 are equal: fixed gains have slack
DIRECT = 20_000  # gains from profiles up to which the matrix of gains is dense
FLAT = 1e-10  # a row that moves less than this share of the payoffs over the equilibria is constant


@register(
    LUCKY_NEWCOMER,
    Counterexample("condorcet", SCORES_5, 2, of_scores=True),
    Counterexample("irrelevant", SCORES_6, 0, of_scores=True),  # the ranges of tasks change
    title="deviation rating",
    unit="gain of deviating",
    by_prompt=True,
    complexity="one equilibrium, and linear programs if many",
    reference="Marris, Liu, Gemp, Piliouras, Lanctot 2025, Deviation ratings",
)
def deviation(data: Pairwise) -> Outcome:
    """Rate agents by their gains from deviating from the strictest equilibrium (Marris et al. 2025).

    In a zero-sum game of two players these are Nash averages; if there are several equilibria, those of the one whose
    averages, sorted from the largest, are smallest: a sequence of linear programs. If prompts are known, they are a
    third player, see `solve_prompts`.
    """
    if data.prompts is not None:
        return Outcome(scores=solve_prompts(data.prompts), unit="gain of deviating (margin)", scale=KNOWN)
    found = data.equilibrium
    if isinstance(found, ScoreNashAverage):
        assert data.table is not None
        averages = found.skills - found.value
        if np.count_nonzero(found.task_weights > 0) > 1:
            averages = find_strictest(data.table, found.task_weights, found.agent_weights) - found.value
        return Outcome(
            scores=averages,
            unit="scaled score behind the best",
            scale=found.scale,
            certificate={"exploitability": found.exploitability},
        )
    averages = find_strictest(data.payoffs, found.weights, found.weights)
    return Outcome(
        scores=averages,
        unit=f"gain of deviating ({data.unit})",
        scale=data.largest,
        certificate={"exploitability": max(found.exploitability, float(averages.max()))},
    )


def find_strictest(S: Floats, q: Floats, p: Floats) -> Floats:
    """Return ``S q'`` for the equilibrium ``q'`` on the support of ``q`` with the lexicographically smallest payoffs.

    ``S`` (n, t) are the payoffs of the rows; ``p`` (n,) and ``q`` (t,) are an equilibrium with the largest supports.
    Rows with weight in ``p`` have the same payoff against every equilibrium, so equilibria are ``q + N z`` with ``N`` a
    basis of the directions that do not change these rows and the total weight. Each linear program lowers the largest
    payoff that can still change and fixes the rows that are tight in all solutions, so there are at most as many
    programs as directions.
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
        solution = linprog(objective, A_ub=rows, b_ub=limits, bounds=(None, None), method="highs")
        z = np.asarray(solution.x)[:k]
        base = np.maximum(base + N @ z, 0.0)
        values = S[:, support] @ base
        duals = -solution.ineqlin.marginals
        fixed = loose[duals[: loose.size] > 1e-9]
        at_zero = np.flatnonzero(duals[loose.size :] > 1e-9)
        bound = np.vstack([move[fixed] / scale, N[at_zero]])
        N = N @ null_space(bound, rcond=FLAT)
    return np.asarray(values)


def solve_prompts(M: Floats) -> Floats:
    """Return the gains of models from deviating from the strictest coarse correlated equilibrium with prompts.

    ``M`` (t, n, n) are margins of models on prompts. Two players choose a model each and get the margin of theirs; a
    third chooses the prompt and gets ``|M|``, so that prompts which separate strong models matter. Since both model
    players have the same choices, a joint distribution ``x`` over prompts and unordered pairs is enough. Deviating to
    model i gains ``sum of y[p, a] M[p, i, a]``, with ``y`` the share of model a on prompt p; deviating to prompt p
    gains ``sum of z[a, b] |M[p, a, b]| - u``, with ``z`` the share of a pair and ``u`` the payoff of the prompts. Each
    linear program lowers the largest gain that is not fixed yet, and fixes those that its multipliers prove tight
    (Marris et al. 2025). In large games ``y``, ``z`` and ``u`` are variables (`build_sparse_gains`). Prompts with equal
    margins are one prompt, and so are, for a pair without games on them, all prompts: neither changes a gain.
    """
    from scipy.optimize import linprog

    n = M.shape[1]
    M = M[group_equal_rows(M.reshape(len(M), -1))[0]]
    t = len(M)
    a, b = np.triu_indices(n)
    played = (M != 0).any(axis=1)
    used = played[:, a] | played[:, b]
    used[np.argmin(used, axis=0), np.arange(a.size)] = True  # one prompt without games represents all of them
    prompt, pair = np.nonzero(used)
    if prompt.size > MOST_PROFILES:
        raise InputError(
            f"{t:,} different prompts and {n:,} models have {prompt.size:,} profiles, more than {MOST_PROFILES:,}: "
            f"use categories of prompts"
        )
    spread = np.abs(M[:, a, b])
    profiles = prompt.size
    gain: Any
    equal: Any
    stack: Any
    if (n + t) * profiles <= DIRECT:
        by_model = (M[prompt, :, a[pair]] + M[prompt, :, b[pair]]).T / 2
        gain = np.vstack([by_model, spread[:, pair] - spread[prompt, pair]])
        equal, stack = np.append(np.ones(profiles), 0.0)[None], np.hstack
    else:
        gain, equal = build_sparse_gains(M, spread, a, b, prompt, pair)
        stack = stack_sparse
    variables = gain.shape[1]
    value, free = np.zeros(n + t), np.ones(n + t, dtype=np.bool_)
    goal = np.append(np.zeros(variables), 1.0)
    bounds: Any = np.array([(0.0, np.inf)] * variables + [(-np.inf, np.inf)])
    total = np.append(np.zeros(equal.shape[0] - 1), 1.0)
    while free[:n].any():
        solution = linprog(
            goal, A_ub=stack([gain, -free[:, None].astype(np.float64)]),
            b_ub=np.where(free, 0.0, value + SLACK),  # a fixed gain cannot be lower, as its own program proved
            A_eq=equal, b_eq=total, bounds=bounds, method="highs",
            options={"primal_feasibility_tolerance": SLACK / 10, "dual_feasibility_tolerance": SLACK / 10},
        )  # fmt: skip
        if solution.status != 0:
            raise ConvergenceError(f"the linear program of deviation ratings failed: {solution.message}")
        tight = free & (-solution.ineqlin.marginals > 1e-9)
        value[tight], free[tight] = float(solution.fun or 0.0), False
    return value[:n]


def build_sparse_gains(M: Floats, spread: Floats, a: Ints, b: Ints, prompt: Ints, pair: Ints) -> tuple[Any, Any]:
    """Return gains and equations in terms of ``x``, ``y``, ``z`` and ``u``: about five numbers per profile.

    The last equation is the total of ``x``; equations have a last column for the largest gain.
    """
    from scipy.sparse import coo_array, csr_array, hstack, vstack

    t, n = M.shape[:2]
    x, profiles, pairs = np.arange(prompt.size), prompt.size, a.size
    share = [
        coo_array((np.full(x.size, 0.5), (prompt * n + side[pair], x)), shape=(t * n, profiles)) for side in (a, b)
    ]
    sums = vstack([
        share[0] + share[1], coo_array((np.ones(x.size), (pair, x)), shape=(pairs, profiles)),
        csr_array(spread[prompt, pair][None]), csr_array(np.ones((1, profiles))),
    ])  # fmt: skip
    named = t * n + pairs + 1  # y, z and u
    minus = coo_array((-np.ones(named), (np.arange(named), np.arange(named))), shape=(named + 1, named + 1))
    by_model = csr_array(M.transpose(1, 0, 2).reshape(n, t * n))
    by_prompt = csr_array(np.hstack([spread, -np.ones((t, 1))]))
    gain = vstack([
        hstack([csr_array((n, profiles)), by_model, csr_array((n, pairs + 1))]),
        hstack([csr_array((t, profiles + t * n)), by_prompt]),
    ])  # fmt: skip
    return gain, csr_array(hstack([sums, minus]))


def stack_sparse(parts: list[Any]) -> Any:
    """Stack matrices horizontally into a sparse one."""
    from scipy.sparse import csr_array, hstack

    return csr_array(hstack([csr_array(part) for part in parts]))
