"""alpha-rank: the share of time that an evolving population spends at each agent (Omidshafiei et al. 2019).

Symbols: ``C`` transition matrix between profiles, ``pi`` its stationary distribution, ``u`` gain of the entering
strategy, ``m`` population size, ``eta`` probability that a given strategy enters.
"""

from collections.abc import Callable

import numpy as np

from nashboard._types import Bools, Floats, Ints
from nashboard.errors import ConvergenceError, InputError
from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, SCORES_7, SCORES_8, WINS_1, WINS_3, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise

POPULATION = 50
TIE = 0.5  # chance that an equally good strategy takes over, where selection is infinitely strong
DENSE = 2500  # profiles whose chain is solved directly
MOVES = 125_000_000  # between profiles, kept in a gigabyte
STEPS, CHECK_EVERY, TOLERANCE = 100_000, 10, 2e-12  # of the iteration for large chains; the tolerance is for flows
DAMPING = 0.7  # share of a step of that iteration
NOISE = 1e-10  # where the chain has several closed classes: chance of a step to a worse profile


@register(
    Counterexample("clones", WINS_1, 0),
    Counterexample("irrelevant", WINS_3, 0),
    LUCKY_NEWCOMER,
    Counterexample("condorcet", SCORES_7, 0, of_scores=True),
    # a better score drives the population of tasks away from profiles with the agent
    Counterexample("monotone", SCORES_8, 0, against=2, more=1, of_scores=True),
    title="alpha-rank",
    unit="stationary probability",
    complexity="n^3; (n t)^3 for scores",
    reference="Omidshafiei et al. 2019, alpha-rank: multi-agent evaluation by evolution",
)
def alpha_rank(
    data: Pairwise, alpha: float | None = None, population: int | None = None, populations: int | None = None
) -> Outcome:
    """Find the stationary distribution of a population in which better strategies take over.

    Parameters
    ----------
    data
        Payoffs of agents against agents (one population), or scores of agents on tasks (a population of agents and one
        of tasks, which gains what agents lose).
    alpha
        Strength of selection; None for infinite strength: a better strategy always takes over, an equally good one with
        probability 1/2, as in the reference. Where no two payoffs are equal, that is the limit of finite strengths.
    population
        Individuals per population, for a finite alpha: 50 by default.
    populations
        1 or 2; by default 2 for scores. With 1, a table of scores is reduced to margins of tasks won.
    """
    if alpha is not None and not alpha >= 0:
        raise InputError(f"alpha is {alpha:g}: it must be at least 0, or None for infinite strength")
    alpha = None if alpha == np.inf else alpha
    if population is not None and alpha is None:
        raise InputError("a population has no effect on infinitely strong selection", "pass {option}", "alpha")
    if population is not None and not (isinstance(population, int | np.integer) and population >= 2):
        raise InputError(f"population is {population}: it must be a whole number of at least 2")
    population = POPULATION if population is None else int(population)
    if populations not in (None, 1, 2):
        raise InputError(f"populations is {populations}: it must be 1 or 2")
    S = data.scores
    two = S is not None if populations is None else populations == 2
    if two and S is None:
        raise InputError("two populations need scores of agents on tasks")
    if two and S is not None:
        pi, residual = solve_two_populations(S, alpha, population)
        weights = pi.reshape(S.shape).sum(axis=1)
    else:
        A = data.margins if S is not None else data.payoffs
        weights, residual = solve_one_population(A, alpha, population)
    notes = data.counted_tasks if two and data.in_own_units else ()
    return Outcome(scores=weights, weights=weights, certificate={"residual": residual}, notes=notes)


def solve_one_population(A: Floats, alpha: float | None, m: int) -> tuple[Floats, float]:
    """Return the stationary distribution over agents; agent r enters a population of s with gain ``2 A[r, s]``."""
    n = len(A)
    if n == 1:
        return np.ones(1), 0.0
    gain = 2 * A.T  # [s, r]: what r gains over s
    C = takeover_probability(gain, alpha, m) / (n - 1)
    np.fill_diagonal(C, 0.0)
    if alpha is not None:
        return solve_stationary(C)
    closed = find_closed_class(C > 0)  # exactly one, since of two agents one beats the other or they tie
    pi = np.zeros(n)
    pi[closed], residual = solve_stationary(C[np.ix_(closed, closed)])
    return pi, residual


def solve_two_populations(S: Floats, alpha: float | None, m: int) -> tuple[Floats, float]:
    """Return the stationary distribution over profiles (agent, task), row by row.

    Only one population changes at a time: the agent to one with a higher score on the task, or the task to one with a
    lower score of the agent.
    """
    n, t = S.shape
    everything = np.arange(n * t)
    if n * t == 1:
        return np.ones(1), 0.0
    if alpha is not None:
        return solve_stationary(make_chain(S, everything, alpha, m)) if n * t <= DENSE else iterate_chain(S, alpha, m)
    up, down = Moves(S), Moves(-S.T)
    closed = find_closed_profiles(S, up, down)
    if len(closed) > 1:  # ties between profiles: the limit of a vanishing noise
        if n * t > DENSE:
            raise ConvergenceError(f"the {n * t:,} profiles have {len(closed):,} closed classes: use a finite alpha")
        return solve_stationary(make_chain(S, everything, None, m, noise=NOISE))
    inside = closed[0]
    pi = np.zeros(n * t)
    if inside.size <= DENSE:
        pi[inside], residual = solve_stationary(make_chain(S, inside, None, m))
        return pi, residual
    pi[inside] = 1 / inside.size
    eta = 1 / (n + t - 2)

    def net_flow(pi: Floats) -> Floats:
        P = pi.reshape(n, t)
        return np.asarray(eta * (up.net_flow(P) + down.net_flow(P.T).T).ravel())

    return iterate(net_flow, eta * (up.leave + down.leave.T).ravel(), pi)


def make_chain(S: Floats, profiles: Ints, alpha: float | None, m: int, noise: float = 0.0) -> Floats:
    """Return the transition matrix between these profiles, without its diagonal."""
    agent, task = np.divmod(profiles, S.shape[1])
    gain = S[agent, task] - S[agent, task][:, None]  # [from, to]
    C = np.where(task[:, None] == task, takeover_probability(gain, alpha, m, noise), 0.0)
    C += np.where(agent[:, None] == agent, takeover_probability(-gain, alpha, m, noise), 0.0)
    np.fill_diagonal(C, 0.0)
    return np.asarray(C / (sum(S.shape) - 2))


class Moves:
    """Moves within each column of ``G`` to rows with larger entries, half as often to equal ones, by prefix sums."""

    def __init__(self, G: Floats) -> None:
        n = len(G)
        self.order = np.argsort(G, axis=0, kind="stable")
        rising = np.take_along_axis(G, self.order, axis=0)
        place = np.broadcast_to(np.arange(n)[:, None], G.shape)
        new = np.vstack([np.ones((1, G.shape[1]), dtype=np.bool_), rising[1:] > rising[:-1]])
        self.low = np.maximum.accumulate(np.where(new, place, 0), axis=0)  # the first of those with equal entries
        last = np.vstack([new[1:], new[:1]])
        self.high = np.minimum.accumulate(np.where(last, place, n)[::-1], axis=0)[::-1]
        leave = (n - 1 - self.high) + TIE * (self.high - self.low)
        self.leave = np.empty(G.shape)
        np.put_along_axis(self.leave, self.order, leave, axis=0)
        self.ties = self.high > self.low

    def net_flow(self, P: Floats) -> Floats:
        """Return the flow into each entry minus the flow out of it, at rate 1 to each better row."""
        p = np.take_along_axis(P, self.order, axis=0)
        below = np.vstack([np.zeros((1, p.shape[1])), np.cumsum(p, axis=0)])
        inflow = np.take_along_axis(below, self.low, axis=0)
        if self.ties.any():
            equal = np.take_along_axis(below, self.high + 1, axis=0) - inflow - p
            inflow = inflow + TIE * np.where(self.ties, equal, 0.0)
        flow = np.empty(P.shape)
        np.put_along_axis(flow, self.order, inflow, axis=0)
        return flow - self.leave * P

    def neighbours(self, number: Ints) -> tuple[Ints, Ints]:
        """Return moves to the next row, which generate all others; ``number`` are the numbers of the entries."""
        named = np.take_along_axis(number, self.order, axis=0)
        back = self.low[1:] == self.low[:-1]
        source, target = named[:-1].ravel(), named[1:].ravel()
        return np.concatenate([source, named[1:][back]]), np.concatenate([target, named[:-1][back]])


def find_closed_profiles(S: Floats, up: Moves, down: Moves) -> list[Ints]:
    """Return the closed classes of profiles: no move leads out of them."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    number = np.arange(S.size).reshape(S.shape)
    moves = (up.neighbours(number), down.neighbours(np.ascontiguousarray(number.T)))
    source, target = (np.concatenate(ends) for ends in zip(*moves, strict=True))
    graph = coo_array((np.ones(source.size, dtype=np.int8), (source, target)), shape=(S.size, S.size)).tocsr()
    parts, part = connected_components(graph, directed=True, connection="strong")
    leaves = np.zeros(parts, dtype=np.bool_)
    leaves[part[source[part[source] != part[target]]]] = True
    return [np.flatnonzero(part == one) for one in np.flatnonzero(~leaves)]


def iterate_chain(S: Floats, alpha: float, m: int) -> tuple[Floats, float]:
    """Return the stationary distribution over many profiles for a finite alpha, from a table of all moves."""
    n, t = S.shape
    if n * t * (n + t) > MOVES:
        raise InputError(
            f"at a finite alpha, two populations of {n:,} agents and {t:,} tasks have {n * t * (n + t - 2):,} moves, "
            f"and {MOVES:,} fit in a gigabyte: leave alpha out, or use populations=1"
        )
    eta = 1 / (n + t - 2)
    of_agents, of_tasks = move_probabilities(S, alpha, m), move_probabilities(-S.T, alpha, m)
    leave = of_agents.sum(axis=2).T + of_tasks.sum(axis=2)

    def net_flow(pi: Floats) -> Floats:
        P = pi.reshape(n, t)
        inflow = (P.T[:, None] @ of_agents)[:, 0].T + (P[:, None] @ of_tasks)[:, 0]
        return np.asarray(eta * (inflow - leave * P).ravel())

    return iterate(net_flow, eta * leave.ravel(), np.full(n * t, 1 / (n * t)))


def move_probabilities(G: Floats, alpha: float, m: int) -> Floats:
    """Return the probabilities of moves within each column of ``G``, ``[column, from row, to row]``."""
    probabilities = np.empty((G.shape[1], len(G), len(G)))
    for moves, column in zip(probabilities, G.T, strict=True):
        moves[:] = takeover_probability(column - column[:, None], alpha, m)
        np.fill_diagonal(moves, 0.0)
    return probabilities


def takeover_probability(gain: Floats, alpha: float | None, m: int, noise: float = 0.0) -> Floats:
    """Return the probability that one individual with this gain takes over a population of ``m``.

    ``(1 - e^(-u)) / (1 - e^(-m u))`` with ``u = alpha gain``; 1/m without gain.
    """
    if alpha is None:
        return np.where(gain > 0, 1 - noise, np.where(gain == 0, TIE, noise))
    with np.errstate(over="ignore"):  # of u, which may be infinite
        u = alpha * gain
        small = np.abs(u) < 1e-14
        v = np.where(small, 1.0, np.abs(u))
        forward = -np.expm1(-v) / -np.expm1(-m * v)
        # for u < 0: (e^v - 1) / (e^(m v) - 1) = forward * e^(-(m - 1) v)
        backward = forward * np.exp(-(m - 1) * v)
    return np.asarray(np.where(small, 1 / m, np.where(u > 0, forward, np.maximum(backward, 1e-300))))


def find_closed_class(moves: Bools) -> Ints:
    """Return the closed strong component: no move leads out of it."""
    from scipy.sparse.csgraph import connected_components

    parts, part = connected_components(moves, directed=True, connection="strong")
    out = np.zeros(parts, dtype=np.bool_)
    leaving = (moves & (part[:, None] != part)).any(axis=1)
    out[part[leaving]] = True
    return np.asarray(np.flatnonzero(part == np.flatnonzero(~out)[0]), dtype=np.intp)


def solve_stationary(C: Floats) -> tuple[Floats, float]:
    """Return the stationary distribution of a chain, and its residual; the diagonal is not used."""
    from nashboard.ranking.kernels import eliminate

    pi = eliminate(np.array(C, order="C"))
    without = C - np.diag(np.diag(C))
    return pi, float(np.abs(without.T @ pi - without.sum(axis=1) * pi).max())  # net flow of each profile


def iterate(net_flow: Callable[[Floats], Floats], leave: Floats, pi: Floats) -> tuple[Floats, float]:
    """Return the stationary distribution of a large chain by iteration from ``pi``, and its residual, or an error.

    Steps are those of the jump chain, in which every profile is left at once (damped, so that it does not alternate):
    profiles that are seldom left do not slow it down. ``leave`` is how often each profile is left.
    """
    pace = np.divide(DAMPING, leave, out=np.zeros_like(leave), where=leave > 0)
    tolerance = TOLERANCE * float(leave.max())
    for step in range(STEPS):
        flow = net_flow(pi)
        if step % CHECK_EVERY == 0 and np.abs(flow).sum() <= tolerance:
            return pi, float(np.abs(flow).max())
        pi = pi + flow * pace
        pi /= pi.sum()
    raise ConvergenceError(f"the chain of {pi.size:,} profiles did not settle in {STEPS:,} steps: use populations=1")
