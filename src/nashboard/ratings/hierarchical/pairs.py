"""Results of pairs: what they tell about their log-odds, and draws of these.

Given the ratings, pairs are independent: each has the likelihood of its games (`PairCounts`), or a measured payoff with
its standard error (`MeasuredPairs`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.ratings.hierarchical.kernels import (
    draw_all_pairs,
    draw_columns,
    draw_signed_normals,
    integrate_pairs,
    refine_ratings,
)
from nashboard.ratings.hierarchical.systems import RatingPrior
from nashboard.ratings.likelihood import SCALE
from nashboard.ratings.prior import measure_dispersion

SIGMA_SCALE, TAU_SCALE = SCALE, 0.05  # of the half-normal prior of sigma and the half-Cauchy part of the prior of tau
TAU_RANGE = 0.01, 5.0
FEW_PAIRS = 1_000  # up to which sigma is integrated; beyond, its relative error is small and its mode is used
TELLING = 2.0  # pairs: fewer cannot tell tau from e times tau by two standard errors
FEW_GAMES, SWEEPS = 25.0, 16  # agents with fewer games are moved by so many Metropolis steps in every draw


@dataclass(frozen=True, kw_only=True, eq=False)
class Schedule:
    """Who met whom among ``n`` agents: agents ``i < j`` of each pair."""

    n: int
    i: Ints
    j: Ints

    @cached_property
    def neighbours(self) -> tuple[Ints, Ints]:
        """Return the pairs of each agent: those of agent ``k`` are ``pair[start[k] : start[k + 1]]``."""
        agent = np.concatenate([self.i, self.j])
        order = np.argsort(agent, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(agent, minlength=self.n))])
        return start.astype(np.int64), (order % max(len(self.i), 1)).astype(np.int64)

    @cached_property
    def cycles(self) -> int:
        """Number of independent cycles among the pairs that met: none against a single baseline."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        met = coo_array((np.ones(len(self.i)), (self.i, self.j)), shape=(self.n, self.n))
        return len(self.i) - self.n + int(connected_components(met)[0])

    def information_about(self, tau: Floats) -> Floats:
        """Return the information of all pairs about log tau, at each value of tau."""
        raise NotImplementedError

    def telling_pairs(self, tau: Floats) -> Floats:
        """Return how many exact pairs would tell as much about each tau, beyond what ratings explain."""
        return np.asarray(self.information_about(tau) * self.cycles / max(len(self.i), 1) / 2)

    @cached_property
    def tau_prior(self) -> Callable[[Floats], Floats]:
        """Return the log-density of log tau: of experience, and of what this schedule can tell (Jeffreys).

        Of ``p`` pairs only the independent cycles count: the ratings explain the rest. Experience is half of Student's
        t with one degree of freedom (Cauchy), and with four where no games could show that it is wrong. Cycles
        are not expected to be larger than ladders: the tail is that of sigma. Jeffreys' density fades out where
        these games tell less than `TELLING` pairs would.
        """
        tau = np.geomspace(*TAU_RANGE, 40)
        telling = np.maximum(self.telling_pairs(tau), 0.0)
        jeffreys = np.sqrt(telling / np.pi) * telling / (telling + TELLING)
        freedom, height = (1, 2 / np.pi) if self.cycles else (4, 3 / 4)
        ratio = tau / TAU_SCALE
        known = height * ratio / (1 + ratio**2 / freedom) ** ((freedom + 1) / 2)
        density = (known + jeffreys) * np.exp(-((tau / SIGMA_SCALE) ** 2) / 2)
        area = float((density[1:] + density[:-1]).sum() / 2 * np.log(tau[1] / tau[0]))
        return lambda at: np.interp(np.log(at), np.log(tau), np.log(density / area))


@dataclass(frozen=True, kw_only=True, eq=False)
class PairCounts(Schedule):
    """Points and games of each pair, ``(p,)``, in effective numbers: divided by the dispersion of results."""

    won: Floats
    games: Floats
    dispersion: float

    def integrate(self, d: Floats, tau: Floats, c: Floats | None = None) -> tuple[Floats, Floats, Floats, Floats]:
        """Integrate the cyclic parts: log-likelihood per difference of ratings, slope, minus curvature, mode of c.

        A single game is that of a flatter ladder, ``p = 1 / (1 + exp(-d / sqrt(1 + pi tau^2 / 8)))`` but for about a
        hundredth, and cannot show cycles. In large leagues it is taken so: what is left, and the error of Laplace's
        approximation, which grows with the number of agents, would decide tau. With the same curve at every tau
        the approximation is as good at all of them.
        """
        shape = d.shape
        start = np.zeros(shape) if c is None else c.copy(order="C")
        value, slope, curvature = np.empty(shape), np.empty(shape), np.empty(shape)
        integrate_pairs(
            self.won, self.games, np.array(d, order="C"), np.array(tau, order="C"), *self.quadrature, value, slope,
            curvature, start,
        )  # fmt: skip
        single = np.flatnonzero(self.games * self.dispersion <= 1.0)
        if len(self.i) > FEW_PAIRS and single.size:
            flatter = 1 / np.sqrt(1 + np.pi * tau[:, None] ** 2 / 8)
            x, won, games = flatter * d[:, single], self.won[single], self.games[single]
            p = np.exp(-np.logaddexp(0.0, -x))
            value[:, single] = won * x - games * np.logaddexp(0.0, x)
            slope[:, single] = flatter * (won - games * p)
            curvature[:, single] = flatter**2 * games * p * (1 - p)
        return value, slope, curvature, start

    @cached_property
    def quadrature(self) -> tuple[Floats, Floats]:
        """Nodes in standard deviations, and logarithms of weights that include the density of the nodes."""
        nodes, weights = np.polynomial.hermite.hermgauss(7 if len(self.i) <= FEW_PAIRS else 3)
        return np.sqrt(2.0) * nodes, np.log(weights) + nodes**2 - np.log(np.pi) / 2

    def normal(self, x: Floats) -> tuple[Floats, Floats]:
        """Return log-odds and variances of the normal approximation to the likelihood of each pair around ``x``."""
        p = 1 / (1 + np.exp(-x))
        information = np.maximum(self.games * p * (1 - p), 1e-3)
        return x + (self.won - self.games * p) / information, 1 / information

    def information_about(self, tau: Floats) -> Floats:
        """Return the information of all pairs about log tau: of each, as of so many games between equals."""
        share = (self.won + 0.5) / (self.games + 1)
        even = 4 * self.games * share * (1 - share)
        games, exact = information_of_games(tuple(tau.tolist()))
        total = np.zeros(len(tau))
        at = np.interp(np.log(np.maximum(even, 1.0)), np.log(games), np.arange(len(games)))
        low = np.minimum(at.astype(np.intp), len(games) - 2)
        for t, (value, column) in enumerate(zip(tau, exact.T, strict=True)):
            ratio = column[low] + (at - low) * (column[low + 1] - column[low])
            total[t] = (2 * (even / (even + 4 * value**-2)) ** 2) @ ratio
        return total

    def refine(self, ratings: Floats, sigma: Floats, tau: Floats, seeds: Any, prior: RatingPrior) -> None:
        """Correct drawn sigmas, and ratings of agents with few games, whose posterior is not normal, in place."""
        played = np.bincount(self.i, self.games, self.n) + np.bincount(self.j, self.games, self.n)
        agents = np.flatnonzero((played > 0) & (played < FEW_GAMES))
        width = 1.5 / np.sqrt(prior.diagonal[agents] / sigma.max() ** 2 + played[agents] / 6)
        refine_ratings(
            self.won, self.games, self.i, self.j, *self.neighbours, *self.quadrature, *prior.columns, *prior.spectrum,
            prior.weak, agents, sigma, tau, seeds, width, SWEEPS, SIGMA_SCALE, *prior.sigma_range, ratings,
        )  # fmt: skip

    def draw_all(self, base: Floats, tau: Floats, seeds: Any) -> Floats:
        """Draw the log-odds of all pairs given those without cyclic parts, both ``(b, n, n)``."""
        A = np.array(base, order="C")
        draw_all_pairs(self.won, self.games, self.i, self.j, tau, seeds, A)
        return A

    @cached_property
    def tables(self) -> tuple[Floats, Floats]:
        """Points and games as full matrices, seen from the row."""
        won, games = np.zeros((2, self.n, self.n))
        won[self.i, self.j], won[self.j, self.i] = self.won, self.games - self.won
        games[self.i, self.j] = games[self.j, self.i] = self.games
        return won, games

    def draw_columns(self, ratings: Floats, tau: float, seed: Any, agents: Ints) -> Floats:
        """Draw the log-odds of everybody against some agents given ratings, ``(n, k)``."""
        X = np.empty((len(agents), self.n))
        draw_columns(
            self.won, self.games, self.i, self.j, *self.neighbours, ratings, tau, seed,
            np.array(agents), X,
        )  # fmt: skip
        return X.T


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredPairs(Schedule):
    """Payoffs that were measured with a known standard error: ``measured`` and ``variance``, ``(p,)`` each."""

    measured: Floats
    variance: Floats
    dispersion: float = 1.0

    def integrate(self, d: Floats, tau: Floats, c: Floats | None = None) -> tuple[Floats, Floats, Floats, Floats]:
        """Integrate the cyclic parts, which is exact: ``measured ~ N(d, variance + tau^2)``."""
        total = self.variance + tau[:, None] ** 2
        rest = self.measured - d
        mode = rest * tau[:, None] ** 2 / total
        return -(rest**2 / total + np.log(total)) / 2, rest / total, 1 / total, mode

    def normal(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the measured payoffs and their variances."""
        return self.measured, self.variance

    def information_about(self, tau: Floats) -> Floats:
        """Return the information of all pairs about log tau: ``2 (tau^2 / (tau^2 + variance))^2`` of each."""
        return np.array([2 * ((t**2 / (t**2 + self.variance)) ** 2).sum() for t in tau])

    def refine(self, ratings: Floats, sigma: Floats, tau: Floats, seeds: Any, prior: RatingPrior) -> None:
        """Do nothing: the posterior of the ratings is normal."""

    def draw_all(self, base: Floats, tau: Floats, seeds: Any) -> Floats:
        """Draw the payoffs of all pairs given those without cyclic parts, both ``(b, n, n)``."""
        everybody = np.arange(self.n)
        return np.stack(
            [d + self.cyclic(d, float(t), seed, everybody) for d, t, seed in zip(base, tau, seeds, strict=True)]
        )

    def draw_columns(self, ratings: Floats, tau: float, seed: Any, agents: Ints) -> Floats:
        """Draw the payoffs of everybody against some agents given ratings, ``(n, k)``."""
        base = ratings[:, None] - ratings
        return np.asarray(base[:, agents] + self.cyclic(base, tau, seed, agents))

    def cyclic(self, base: Floats, tau: float, seed: Any, agents: Ints) -> Floats:
        """Draw the cyclic parts of everybody against some agents, ``(n, k)``."""
        mean, variance = np.zeros((self.n, self.n)), np.full((self.n, self.n), tau**2)
        total = self.variance + tau**2
        shrunk = (self.measured - base[self.i, self.j]) * tau**2 / total
        mean[self.i, self.j], mean[self.j, self.i] = shrunk, -shrunk
        variance[self.i, self.j] = variance[self.j, self.i] = tau**2 * self.variance / total
        noise = np.empty((self.n, len(agents)))
        draw_signed_normals(seed, np.array(agents), noise)
        return np.asarray(mean[:, agents] + np.sqrt(variance[:, agents]) * noise)


Pairs = PairCounts | MeasuredPairs


def count_pairs(matches: Matches, dispersion: float | None = None) -> PairCounts:
    """Return points and effective games per pair."""
    i, j = (np.array(column) for column in matches.pairs.T)
    spread = measure_dispersion(matches) if dispersion is None else dispersion
    won, games = (matches.wins + matches.draws / 2) / spread, matches.games / spread
    return PairCounts(n=len(matches.agents), i=i, j=j, won=won, games=games, dispersion=spread)


@lru_cache(maxsize=8)
def information_of_games(tau: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Return numbers of games, and the information of their result about log tau, relative to the normal approximation.

    The approximation for ``n`` games between equals is ``2 (tau^2 n / (4 + tau^2 n))^2``. A single game tells nothing,
    and if tau is large all games of a pair end alike, whatever tau is.
    """
    from scipy.special import gammaln

    games = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 256])  # of many games the normal approximation is right
    found = np.ones((len(games), len(tau)))
    z = np.linspace(-5, 5, 61)
    weights = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
    x = np.multiply.outer(np.array(tau), z)
    log_odd = -np.logaddexp(0, -x)
    for row, n in zip(found[:-1], games[:-1], strict=True):
        k = np.arange(n + 1)[:, None, None]
        chance = np.exp(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + k * x + n * (log_odd - x)) * weights
        change = (chance * (k - n * np.exp(log_odd)) * x).sum(axis=2)  # of the chance of k points, in log tau
        row[:] = (change**2 / chance.sum(axis=2)).sum(axis=0) / (2 * (n / (n + 4 * np.array(tau) ** -2)) ** 2)
    return games, found


def signed_sums(counts: Pairs, values: Floats) -> Floats:
    """Return ``B' values``: sums over each agent's pairs, minus where it is the second, ``(G, n)``."""
    G, n = len(values), counts.n
    shift = np.arange(G)[:, None] * n
    total = np.bincount((shift + counts.i).ravel(), values.ravel(), minlength=G * n)
    total -= np.bincount((shift + counts.j).ravel(), values.ravel(), minlength=G * n)
    return np.asarray(total.reshape(G, n))
