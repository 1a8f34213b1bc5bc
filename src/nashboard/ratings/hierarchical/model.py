"""A hierarchical model of matches: ratings, a cyclic part for each pair, and how large both are.

The log-odds that ``i`` beats ``j`` are

    x_ij = r_i - r_j + c_ij,
    r_i ~ N(0, sigma^2),   c_ij ~ N(0, tau^2) for each unordered pair,
    sigma ~ half-normal(1.5),   tau: see below,

(around the mean of the opponents of ``i`` where strength decided who met whom, see `schedule`)
and the points of a pair are binomial given ``x``. Where a ladder explains the results, ``tau`` is close to 0 and
payoffs are differences of ratings; where cycles are real, ``tau`` is large and every pair keeps its own payoff. A pair
without games has ``c ~ N(0, tau^2)``, and an agent with few games stays close to the average agent.

**The prior of tau** adds what is known beforehand to what the schedule can tell (`Schedule.tau_prior`). Public logs
have a tau of 0.03 to 0.1, hence a half-Cauchy density of scale 0.05; and each value of tau that these games can tell
from its neighbours counts as much as that, hence Jeffreys' density, the square root of the information, which fades out
where that is next to nothing. Against a single baseline, or in single games, no cycle can be seen, and experience
decides; with many games between all pairs the data do.

**Computation.** Given ``r``, the pairs are independent, and each ``c`` is integrated numerically (adaptive
Gauss-Hermite quadrature), which leaves a log-concave likelihood ``l(r_i - r_j)`` per pair. For ``sigma`` and ``tau`` on
a grid, Newton's method finds the mode of ``r``, and Laplace's approximation the weight of the grid point. The grid is
refined until it resolves the posterior. A draw picks a grid point, then ``r`` from the normal approximation
(its mean corrected for skewness to first order; agents with few games, and sigma, which Laplace's approximation
underestimates there, are moved by Metropolis steps), then each ``c`` given ``r`` exactly, by rejection sampling.

**Information.** Draws and other shares of the point make results less variable than a coin toss, ``p (1 - p)`` less the
mean of ``y (1 - y)`` over outcomes ``y``, and games of one cluster may agree with each other. Counts are divided by
this dispersion before they are fitted.

References
----------
Tierney and Kadane (1986), Accurate approximations for posterior moments; Rue, Martino and Chopin (2009), INLA.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from nashboard._parallel import threads_for
from nashboard._types import Floats, Ints, read_only
from nashboard.data.matches import Matches
from nashboard.ratings.hierarchical.pairs import (
    FEW_PAIRS,
    SIGMA_SCALE,
    TAU_RANGE,
    Pairs,
    count_pairs,
    signed_sums,
)
from nashboard.ratings.hierarchical.systems import DENSE, RatingPrior, System, rating_prior, system_for
from nashboard.ratings.likelihood import NormalPrior
from nashboard.ratings.prior import choose_prior, order_by_schedule
from nashboard.ratings.sides import neutralise_sides

BLOCK = 4_000_000  # numbers that the fits of one block of grid points may occupy
RESOLVED = 0.5  # log-density between neighbours at the peak below which the grid is fine enough: tails count too
NEGLIGIBLE = 7.0  # log-density below the peak beyond which the grid is cut
HOPELESS = 50.0  # log-density below the peak beyond which larger values of tau are not tried
POSITIVE = 1.0  # log Bayes factor from which there is positive evidence (Kass and Raftery 1995)
MOST_IN_LINE = 300  # agents up to which the order along the schedule is tried: its prior is dense


@dataclass(frozen=True, kw_only=True, eq=False)
class Modes:
    """The fits at some grid points: one row each."""

    sigma: Floats  # (G,)
    tau: Floats  # (G,)
    ratings: Floats  # (G, n) modes
    cyclic: Floats  # (G, p) modes of c given the ratings
    slope: Floats  # (G, p) first derivative of the log-likelihood
    curvature: Floats  # (G, p) minus its second derivative
    log_density: Floats  # (G,) log posterior density of (log sigma, log tau), up to a constant


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelDraws:
    """Draws from the posterior; the cyclic parts are drawn when they are asked for, each from a key of its own.

    ``ratings`` are (S, n) with mean 0 in each draw, ``sigma`` and ``tau`` (S,), ``seeds`` the keys of the draws.
    ``planes`` are coordinates (S, n, 2 k) in planes of rotation, where there are any.
    """

    ratings: Floats
    sigma: Floats
    tau: Floats
    seeds: Any
    counts: Pairs
    planes: Floats | None = None

    def payoffs(self, draws: slice) -> Floats:
        """Return the log-odds of all pairs in some draws, ``(b, n, n)``."""
        r = self.ratings[draws]
        base = r[:, :, None] - r[:, None, :]
        if self.planes is not None:
            u, v = self.planes[draws, :, 0::2], self.planes[draws, :, 1::2]
            turn = u @ v.transpose(0, 2, 1)
            base += turn - turn.transpose(0, 2, 1)
        return self.counts.draw_all(base, self.tau[draws].copy(), self.seeds[draws].copy())

    def columns(self, draw: int, agents: Ints) -> Floats:
        """Return the log-odds of everybody against some agents in one draw, ``(n, k)``."""
        given = self.ratings[draw].copy(), float(self.tau[draw]), self.seeds[draw]
        return self.counts.draw_columns(*given, agents)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HierarchicalFit:
    """The posterior of the hierarchical model of matches."""

    agents: tuple[str, ...]  # names, in the order of the matches
    ratings: Floats  # posterior means in log-odds, mean 0
    expected: Floats  # (p,) posterior mean log-odds of the pairs that met
    # sigma, tau: posterior means of the spread of ratings and of the cyclic parts
    sigma: float
    tau: float
    # grid, weights: (G, 2) values of sigma and tau, and their posterior probabilities
    grid: Floats
    weights: Floats
    log_evidence: float  # logarithm of the marginal likelihood of all results
    counts: Pairs
    modes: Modes
    system: System

    @property
    def around_opponents(self) -> bool:
        """Whether ratings are normal around each agent's opponents, not around the average agent."""
        return self.system.prior.deviations is not None

    @property
    def tau_interval(self) -> tuple[float, float]:
        """The central 95% of the posterior of tau."""
        order = np.argsort(self.grid[:, 1], kind="stable")
        below = np.cumsum(self.weights[order])
        low, high = np.searchsorted(below, [0.025, 0.975])
        values = self.grid[order, 1]
        return float(values[low]), float(values[min(high, len(values) - 1)])

    @cached_property
    def cyclic_share(self) -> float:
        """Expected share of the variance of log-odds between two agents that is cyclic."""
        sigma, tau = self.grid.T
        spread = self.modes.ratings.var(axis=1) if self.around_opponents else sigma**2
        return float(self.weights @ (tau**2 / (tau**2 + 2 * spread)))

    def draw(self, count: int, rng: np.random.Generator) -> ModelDraws:
        """Draw ratings, and keys for the cyclic parts; each draw has a random stream of its own."""
        counts = self.counts
        order = np.lexsort(self.grid.T)
        points = (rng.random() + np.arange(count)) / count  # systematic: each grid point as often as its weight says
        at = order[np.minimum(np.searchsorted(np.cumsum(self.weights[order]), points), len(order) - 1)]
        seeds = rng.integers(2**63, size=count, dtype=np.uint64)
        ratings = np.empty((count, counts.n))
        with threads_for(counts.n):
            for g in np.unique(at):
                chosen = np.flatnonzero(at == g)
                precision = 1 / self.grid[g, 0] ** 2
                W = self.modes.curvature[g]
                centre = self.modes.ratings[g] + self.skewness_shift(int(g))
                streams = [np.random.default_rng(int(seed)) for seed in seeds[chosen]]
                ratings[chosen] = centre + self.system.sample(W, precision, streams)
        sigma, tau = (np.array(column) for column in self.grid[at].T)
        counts.refine(ratings, sigma, tau, seeds, self.system.prior)
        ratings -= ratings.mean(axis=1, keepdims=True)
        return ModelDraws(ratings=ratings, sigma=sigma, tau=tau, seeds=seeds, counts=counts)

    def skewness_shift(self, g: int) -> Floats:
        """Return mean minus mode to first order: ``H^-1 B' (l''' v) / 2`` with ``v = diag(B H^-1 B')``."""
        counts = self.counts
        r, W, sigma = self.modes.ratings[g], self.modes.curvature[g], self.grid[g, 0]
        variances = self.system.pair_variances(W, 1 / sigma**2)
        if variances is None:
            return np.zeros(counts.n)
        d = r[counts.i] - r[counts.j]
        step = 0.05
        _, _, above, _ = counts.integrate((d + step)[None], self.grid[g : g + 1, 1])
        _, _, below, _ = counts.integrate((d - step)[None], self.grid[g : g + 1, 1])
        third = (below - above)[0] / (2 * step)
        force = signed_sums(counts, (third * variances / 2)[None])[0]
        return np.asarray(self.system.solve(W[None], np.array([1 / sigma**2]), force[None])[0])

    def __repr__(self) -> str:
        return f"HierarchicalFit({len(self.agents):,} agents, sigma {self.sigma:.3g}, tau {self.tau:.3g})"


def fit_hierarchical(matches: Matches, *, like: HierarchicalFit | None = None) -> HierarchicalFit:
    """Fit ratings, cyclic parts and the posterior of their sizes, at a neutral place; agents need not be connected.

    The dispersion of the results, and around what ratings are normal, are learned, or those of another fit: evidence
    can be compared only at the same dispersion.
    """
    matches, _ = neutralise_sides(matches)
    counts = count_pairs(matches, like.counts.dispersion if like else None)
    if like is None:
        normal = choose_prior(matches) if counts.n <= DENSE else None  # sparse systems around opponents take too long
    else:
        around = like.around_opponents
        normal = NormalPrior.around_opponents(counts.n, counts.i, counts.j, matches.games) if around else None
    fit = fit_pairs(matches.agents, counts, rating_prior(counts.n, normal))
    if normal is not None and counts.n <= MOST_IN_LINE:
        in_line = fit_pairs(matches.agents, counts, fit.system.prior.along(order_by_schedule(matches)))
        if in_line.log_evidence > fit.log_evidence + POSITIVE:
            fit = in_line
    return fit


def fit_pairs(agents: tuple[str, ...], counts: Pairs, prior: RatingPrior | None = None) -> HierarchicalFit:
    """Fit the model to counts of games, or to measured payoffs, with ratings around the average agent unless given."""
    system = system_for(prior or RatingPrior(n=counts.n), counts.i, counts.j)
    with threads_for(counts.n):
        modes = fit_grid(counts, system)
    grid = np.stack([modes.sigma, modes.tau], axis=1)
    peak = float(modes.log_density.max())
    weights = np.exp(modes.log_density - peak)
    log_evidence = peak + float(np.log(weights.sum() * cell_area(grid, counts.n)))
    weights /= weights.sum()
    sigma, tau = grid.T
    # the mean of c given r is tau^2 l'
    cyclic = weights @ (tau[:, None] ** 2 * modes.slope)
    ratings = weights @ modes.ratings
    ratings = ratings - ratings.mean()
    return HierarchicalFit(
        agents=agents,
        ratings=read_only(ratings),
        expected=read_only(ratings[counts.i] - ratings[counts.j] + cyclic),
        sigma=float(weights @ sigma),
        tau=float(weights @ tau),
        grid=read_only(grid),
        weights=read_only(weights),
        log_evidence=log_evidence,
        counts=counts,
        modes=modes,
        system=system,
    )


def cell_area(grid: Floats, n: int) -> float:
    """Return the area of a cell of the grid in (log sigma, log tau); of a sigma at its mode, the width of a normal."""
    sigma, tau = (np.unique(np.log(column).round(9)) for column in grid.T)
    width = float(np.sqrt(np.pi / n))
    if len(sigma) > 1 and len(grid) == len(sigma) * len(tau):
        width = float(sigma[1] - sigma[0])
    return width * float(tau[1] - tau[0])


def fit_grid(counts: Pairs, system: System) -> Modes:
    """Fit at the points of a grid over (log sigma, log tau), zoomed in until it resolves the posterior.

    With many pairs only tau has a grid, and sigma is at its mode.
    """
    shape = [5, 8] if len(counts.i) <= FEW_PAIRS else [1, 7]
    box = np.log([system.prior.sigma_range, TAU_RANGE])
    start: Floats | None = None
    for _ in range(5):
        axes = [np.linspace(low, high, size) for (low, high), size in zip(box, shape, strict=True)]
        grid = np.exp(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2))
        modes = find_modes(counts, system, grid, start, learn_sigma=shape[0] == 1)
        surface = modes.log_density.reshape(shape)
        best = int(modes.log_density.argmax())
        start = modes.ratings[best]
        box[0, 0] = np.log(modes.sigma[best]) if shape[0] == 1 else box[0, 0]
        fine = True
        for axis, profile in enumerate((surface.max(axis=1), surface.max(axis=0))):
            peak = int(profile.argmax())
            beside = profile[max(peak - 1, 0) : peak + 2]
            if profile.max() - beside.min() <= RESOLVED:
                continue
            fine = False
            kept = np.flatnonzero(profile >= profile.max() - NEGLIGIBLE)
            gap = axes[axis][1] - axes[axis][0]
            low, high = axes[axis][kept[0]] - 0.8 * gap, axes[axis][kept[-1]] + 0.8 * gap
            low, high = max(low, box[axis][0]), min(high, box[axis][1])
            if high - low > 0.7 * (
                box[axis][1] - box[axis][0]
            ):  # a wide posterior wants more points, not a smaller box
                shape[axis] = 2 * shape[axis] - 1
            box[axis] = low, high
        if fine:
            break
    return modes


def find_modes(
    counts: Pairs,
    system: System,
    grid: Floats,
    start: Floats | None = None,
    *,
    learn_sigma: bool = False,
) -> Modes:
    """Find the mode of the ratings at every grid point by Newton's method, in blocks that bound memory."""
    size = 1 if learn_sigma else max(1, int(BLOCK // (system.size + 12 * len(counts.i))))
    parts: list[Modes] = []
    for at in range(0, len(grid), size):
        block = grid[at : at + size].copy()
        if parts and learn_sigma:  # one point after the other, in ascending tau, until the density has vanished
            block[:, 0] = parts[-1].sigma[-1]
            if parts[-1].log_density[-1] < max(part.log_density[-1] for part in parts) - HOPELESS:
                parts.append(replace(parts[-1], tau=block[:, 1], log_density=np.array([-np.inf])))
                continue
        parts.append(find_some_modes(counts, system, block, start, learn_sigma))
        start = parts[-1].ratings[-1]
    names = Modes.__dataclass_fields__
    return Modes(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def find_some_modes(counts: Pairs, system: System, grid: Floats, start: Floats | None, learn_sigma: bool) -> Modes:
    """Find the modes of one block of grid points, all at once.

    Steps are damped by ``log(1 + s) / s`` for the largest change ``s`` of a log-odds: with a logistic likelihood every
    such step goes uphill (Bach 2010, Self-concordant analysis for logistic regression). With ``learn_sigma`` the
    given sigma is a start, and MacKay's fixed point ``sigma^2 = r'r / (n - tr H^-1 / sigma^2)`` is found on the way
    (deviations from what the prior expects in place of ``r``).
    """
    sigma, tau = (np.array(column) for column in grid.T)
    r = np.zeros((len(grid), counts.n)) if start is None else np.tile(start, (len(grid), 1))
    c = np.zeros((len(grid), len(counts.i)))
    for _ in range(20):
        precision = 1 / sigma**2
        _, slope, curvature, c = counts.integrate(r[:, counts.i] - r[:, counts.j], tau, c)
        gradient = signed_sums(counts, slope) - system.prior.pulls(r, precision)
        step = system.solve(curvature, precision, gradient)
        most = np.abs(step[:, counts.i] - step[:, counts.j]).max(axis=1, initial=0.0)
        r = r + step * (np.log1p(most) / np.maximum(most, 1e-300))[:, None]
        moved = 0.0
        if learn_sigma and most.max() < 0.5:
            known = system.prior.dimensions(sigma) - precision * system.traces(curvature, precision)
            # the half-normal prior of sigma, in log sigma: + 1 - sigma^2 / SIGMA_SCALE^2
            squares = (system.prior.deviate(r.T) ** 2).sum(axis=0)
            found = np.sqrt(squares / np.maximum(np.maximum(known, 0.1) - 1 + sigma**2 / SIGMA_SCALE**2, 0.1))
            found = np.clip(found, *system.prior.sigma_range)
            moved, sigma = float(np.abs(np.log(found / sigma)).max()), found
        if most.max() < 2e-3 and moved < 2e-3:
            break
    precision = 1 / sigma**2
    value, slope, curvature, c = counts.integrate(r[:, counts.i] - r[:, counts.j], tau, c)
    log_prior = -(sigma**2) / (2 * SIGMA_SCALE**2) + np.log(sigma) + counts.tau_prior(tau)
    log_density = (
        value.sum(axis=1)
        - system.prior.penalties(r, sigma)
        + system.prior.log_determinants(sigma) / 2
        - system.log_determinants(curvature, precision) / 2
        + log_prior
    )
    return Modes(sigma=sigma, tau=tau, ratings=r, cyclic=c, slope=slope, curvature=curvature, log_density=log_density)
