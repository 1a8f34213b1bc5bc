"""Huge populations: solve among a few agents, ask who would beat them, repeat.

Real populations have equilibria with few agents (about as many as the payoffs have dimensions). The game is
solved among a small set ``R``, one product with all payoffs finds the agents that do well against the answer,
they join, and so on. The end is proved, not assumed: with ``p`` the strictly complementary equilibrium among
``R`` and ``w`` the one of maximum entropy,

    (K p)_j < 0 for every j outside R     no j outside has weight in any equilibrium of the whole game,
    (K w)_j <= 0 for every j outside R    no j outside is a reason to deviate,

so every equilibrium lives in ``R`` and ``w`` is the right one of them. Agents outside that tie join ``R``
too. Where the set grows past a third of the population, the whole game is solved at once.
"""

from dataclasses import dataclass

import numpy as np

from nashboard._threads import threads_for
from nashboard._types import Floats, Ints
from nashboard.equilibrium.interior_point import central_path
from nashboard.equilibrium.newton_systems import dense_game
from nashboard.equilibrium.population import Population
from nashboard.equilibrium.side import SideSolution
from nashboard.equilibrium.stopping import Progress, silent
from nashboard.equilibrium.symmetric import symmetric_equilibrium
from nashboard.equilibrium.tolerance import ZERO

DIRECT = 256  # populations up to this size are solved at once
OPENING = 48  # how many agents the search starts with
ROUGH = 1e-7  # how well the game is solved while agents still join


@dataclass(frozen=True, kw_only=True, eq=False)
class OracleSolution:
    """An equilibrium of the classes ``members`` that is one of the whole population."""

    members: Ints
    K: Floats
    side: SideSolution
    iterations: int

    def weights(self, size: int) -> Floats:
        """Return the weights of all classes."""
        w = np.zeros(size)
        w[self.members] = self.side.weights
        return w


def oracle_equilibrium(population: Population, log_m: Floats, progress: Progress = silent) -> OracleSolution:
    """Return the maximum-entropy equilibrium of a population; ``log_m`` the log-multiplicities of classes."""
    members, K, iterations = chosen(population, progress)
    while True:
        side = symmetric_equilibrium(K, log_m[members], progress)
        iterations += side.iterations
        if len(members) == population.size:
            break
        inner = population.product(embedded(side.inner, members, population.size))
        final = population.product(embedded(side.weights, members, population.size))
        joining = (inner >= -ZERO) | (final > ZERO / 64)
        joining[members] = False
        if not joining.any():
            break
        members, K = extended(population, members, K, np.flatnonzero(joining))
    return OracleSolution(members=members, K=K, side=side, iterations=iterations)


def chosen(population: Population, progress: Progress) -> tuple[Ints, Floats, int]:
    """Return agents that beat or tie with everybody's best reply, roughly, and the payoffs between them."""
    size = population.size
    everybody = np.arange(size)
    if size <= DIRECT:
        return everybody, population.block(everybody, everybody), 0
    uniform = population.product(np.full(size, 1.0 / size))
    members = np.sort(np.argsort(-uniform, kind="stable")[:OPENING])
    K = population.block(members, members)
    iterations, before = 0, 0
    while len(members) < size:
        p, held, count = rough_equilibrium(K)
        iterations += count
        if before and held > max(1.25 * before, len(members) / 3):  # no end in sight: many agents matter
            everybody = np.arange(size)
            return everybody, population.block(everybody, everybody), iterations
        before = held
        gain = population.product(embedded(p, members, size))
        gain[members] = -np.inf
        progress(iterations, max(0.0, float(gain.max())))
        better = np.flatnonzero(gain > 10 * ROUGH)
        if not better.size:
            break
        most = max(16, len(members) // 2)
        best = better[np.argsort(-gain[better], kind="stable")[:most]]
        members, K = extended(population, members, K, best)
    return members, K, iterations


def rough_equilibrium(K: Floats) -> tuple[Floats, int, int]:
    """Return a nearby point of the central path, how many have weight in it, and how many systems it took.

    The middle of the near-equilibria asks better questions than a corner would.
    """
    count = 0
    with threads_for(len(K)):
        for x in central_path(dense_game(K)):
            count += 1
            if float(x.mu) * len(K) < ROUGH:
                break
    return x.p / x.p.sum(), int((x.p > x.s).sum()), count


def embedded(p: Floats, members: Ints, size: int) -> Floats:
    """Return a mixture of some as a mixture of all."""
    w = np.zeros(size)
    w[members] = p
    return w


def extended(population: Population, members: Ints, K: Floats, joining: Ints) -> tuple[Ints, Floats]:
    """Return the set with more agents and its payoffs; only the new payoffs are fetched."""
    if len(members) + len(joining) > population.size / 3:
        everybody = np.arange(population.size)
        return everybody, population.block(everybody, everybody)
    old = len(members)
    together = np.append(members, joining)
    larger = np.zeros((len(together), len(together)))
    larger[:old, :old] = K
    new = population.block(together, joining)
    larger[:, old:] = new
    larger[old:, :old] = -new[:old].T
    return together, larger
