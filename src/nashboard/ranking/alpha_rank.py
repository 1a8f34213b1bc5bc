"""alpha-rank: how often an evolving population is found at each agent (Omidshafiei et al. 2019).

Symbols: ``C`` transition matrix between profiles, ``pi`` its stationary distribution, ``u`` gain of the entering
strategy, ``m`` population size, ``eta`` probability that a given strategy enters.
"""

from typing import Any

import numpy as np

from nashboard._types import Bools, Floats, Ints
from nashboard.errors import ConvergenceError, InputError
from nashboard.ranking.method import Outcome
from nashboard.ranking.pairwise import Pairwise

POPULATION = 50
TIE = 0.5  # chance that an equally good strategy takes over, where selection is infinitely strong
DENSE = 2500  # profiles whose chain is solved directly
EDGES = 30_000_000  # of a sparse chain
NOISE = 1e-10  # where the chain has several closed classes: chance of a step to a worse profile


def alpha_rank(
    data: Pairwise, alpha: float | None = None, population: int = POPULATION, populations: int | None = None
) -> Outcome:
    """Find the stationary distribution of a population in which better strategies take over.

    Parameters
    ----------
    data
        Payoffs of agents against agents (one population), or scores of agents on tasks (a population of agents and one
        of tasks, which gains what agents lose).
    alpha
        Strength of selection; None for the limit of infinite strength, in which only better strategies take over.
    population
        Individuals per population, for a finite alpha.
    populations
        1 or 2; by default 2 for scores. With 1, a table of scores is reduced to margins of tasks won.
    """
    if alpha is not None and not alpha >= 0:
        raise InputError(f"alpha is {alpha:g}: it must be at least 0, or None for its infinite limit")
    if populations not in (None, 1, 2):
        raise InputError(f"populations is {populations}: it must be 1 or 2")
    two = data.table is not None if populations is None else populations == 2
    if two and data.table is None:
        raise InputError("two populations need scores of agents on tasks")
    if two and data.table is not None:
        pi, residual = two_populations(data.table, alpha, population)
        weights = pi.reshape(data.table.shape).sum(axis=1)
    else:
        A = data.margins if data.table is not None else data.payoffs
        weights, residual = one_population(A, alpha, population)
    return Outcome(scores=weights, weights=weights, certificate={"residual": residual})


def one_population(A: Floats, alpha: float | None, m: int) -> tuple[Floats, float]:
    """Return the stationary distribution over agents; agent r enters a population of s with gain ``2 A[r, s]``."""
    n = len(A)
    if n == 1:
        return np.ones(1), 0.0
    gain = 2 * A.T  # [s, r]: what r gains over s
    C = takeover(gain, alpha, m) / (n - 1)
    np.fill_diagonal(C, 0.0)
    if alpha is not None:
        return stationary(C)
    closed = closed_class(C > 0)  # one, since of two agents one beats the other or they tie
    pi = np.zeros(n)
    pi[closed], residual = stationary(C[np.ix_(closed, closed)])
    return pi, residual


def two_populations(S: Floats, alpha: float | None, m: int) -> tuple[Floats, float]:
    """Return the stationary distribution over profiles (agent, task), row by row.

    Only one population changes at a time: the agent to one with a higher score on the task, or the task to one with a
    lower score of the agent.
    """
    n, t = S.shape
    if n * t == 1:
        return np.ones(1), 0.0
    if n * t * (n + t - 2) > EDGES:
        raise InputError(
            f"two populations of {n:,} agents and {t:,} tasks have {n * t:,} profiles, too many: use populations=1"
        )
    C = profile_chain(S, alpha, m)
    if alpha is not None:
        return stationary(C.toarray()) if n * t <= DENSE else iterated(C)
    from scipy.sparse.csgraph import connected_components

    C.eliminate_zeros()
    parts, part = connected_components(C, directed=True, connection="strong")
    i, j = C.nonzero()
    leaves = np.zeros(parts, dtype=np.bool_)
    leaves[part[i[part[i] != part[j]]]] = True
    closed = np.flatnonzero(~leaves)
    if closed.size > 1:  # ties between profiles: the limit of a vanishing noise
        if n * t > DENSE:
            raise ConvergenceError(f"the {n * t:,} profiles have {closed.size:,} closed classes: use a finite alpha")
        noisy = profile_chain(S, None, m, noise=NOISE)
        return stationary(noisy.toarray())
    inside = np.flatnonzero(part == closed[0])
    pi = np.zeros(n * t)
    within = C[inside][:, inside]
    pi[inside], residual = stationary(within.toarray()) if inside.size <= DENSE else iterated(within)
    return pi, residual


def profile_chain(S: Floats, alpha: float | None, m: int, noise: float = 0.0) -> Any:
    """Return the sparse transition matrix between profiles, without its diagonal."""
    from scipy.sparse import coo_array

    n, t = S.shape
    number = np.arange(n * t).reshape(n, t)
    eta = 1 / (n + t - 2)
    of_agents = eta * takeover(S[None, :, :] - S[:, None, :], alpha, m, noise)  # [from agent, to agent, task]
    of_tasks = eta * takeover(S[:, :, None] - S[:, None, :], alpha, m, noise)  # [agent, from task, to task]
    a, b, k = np.nonzero(of_agents * ~np.eye(n, dtype=np.bool_)[:, :, None])
    i, c, d = np.nonzero(of_tasks * ~np.eye(t, dtype=np.bool_))
    source = np.concatenate([number[a, k], number[i, c]])
    target = np.concatenate([number[b, k], number[i, d]])
    values = np.concatenate([of_agents[a, b, k], of_tasks[i, c, d]])
    return coo_array((values, (source, target)), shape=(n * t, n * t)).tocsr()


def takeover(gain: Floats, alpha: float | None, m: int, noise: float = 0.0) -> Floats:
    """Return the probability that one individual with this gain takes over a population of ``m``.

    ``(1 - e^(-u)) / (1 - e^(-m u))`` with ``u = alpha gain``; 1/m without gain.
    """
    if alpha is None:
        return np.where(gain > 0, 1 - noise, np.where(gain == 0, TIE, noise))
    u = alpha * gain
    small = np.abs(u) < 1e-14
    v = np.where(small, 1.0, np.abs(u))
    forward = -np.expm1(-v) / -np.expm1(-m * v)
    # for u < 0: (e^v - 1) / (e^(m v) - 1) = forward * e^(-(m - 1) v)
    backward = forward * np.exp(-(m - 1) * v)
    return np.asarray(np.where(small, 1 / m, np.where(u > 0, forward, np.maximum(backward, 1e-300))))


def closed_class(moves: Bools) -> Ints:
    """Return the strong component that no move leaves."""
    from scipy.sparse.csgraph import connected_components

    parts, part = connected_components(moves, directed=True, connection="strong")
    out = np.zeros(parts, dtype=np.bool_)
    leaving = (moves & (part[:, None] != part)).any(axis=1)
    out[part[leaving]] = True
    return np.asarray(np.flatnonzero(part == np.flatnonzero(~out)[0]), dtype=np.intp)


def stationary(C: Floats) -> tuple[Floats, float]:
    """Return the stationary distribution of a chain, and its residual; the diagonal is not used."""
    from nashboard.ranking.kernels import eliminate

    pi = eliminate(np.array(C, order="C"))
    return pi, flow_residual(pi, C)


def iterated(C: Any, steps: int = 100_000, tolerance: float = 1e-12) -> tuple[Floats, float]:
    """Return the stationary distribution of a large sparse chain by iteration, or an error."""
    leave = np.asarray(C.sum(axis=1)).ravel()
    speed = 0.5 / leave.max()
    T = C.T.tocsr()
    pi = np.full(C.shape[0], 1 / C.shape[0])
    for step in range(steps):
        change = speed * (T @ pi - leave * pi)
        pi = pi + change
        if step % 50 == 0 and np.abs(change).sum() <= tolerance:
            pi /= pi.sum()
            return pi, flow_residual(pi, C)
    raise ConvergenceError(f"the chain of {C.shape[0]:,} profiles did not settle in {steps:,} steps: use populations=1")


def flow_residual(pi: Floats, C: Any) -> float:
    """Return the largest difference between what flows into and out of a profile."""
    without = C - np.diag(np.diag(C)) if isinstance(C, np.ndarray) else C
    out = np.asarray(without.sum(axis=1)).ravel()
    return float(np.abs(without.T @ pi - out * pi).max())
