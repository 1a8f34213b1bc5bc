"""Standard errors of Elo ratings: one covariance for every interval, difference and rank.

Symbols: ``V = H^-1`` the inverse Hessian of the loss, with the prior; ``M`` the covariance of the score. The
covariance of the ratings is ``V M V`` (Huber 1967, White 1980).

**The score.** One decisive game between agents with win rate ``p`` has a score of variance ``p (1 - p)``, its share of
the Hessian. Draws vary less: of the squared residuals, ``draws / 4`` are missing. So each agent has a dispersion

    phi = 1 - (draws / 4 + PRIOR_GAMES even games' worth of the league's) / (squared residuals with draws as half a
          win and half a loss + the same),

exactly 1 without draws, and a pair's games have ``phi p (1 - p)`` each, with the mean of its two agents. Where matches
have clusters (a voter, a prompt, an opening), ``M`` is the sum over clusters of their squared scores, corrected for
what the fit took up of them (CR2) and, with Student's t, for their number. An agent with few clusters is taken to have
the league's dispersion, and gets as much more as its own residuals lack: an agent that never lost has surprised nobody,
and its rating is not known the better for it. The prior's edges have their Hessian as covariance, so that with
``phi = 1`` the whole is ``V``: estimates that are drawn together are off by the prior's bias too, and intervals include
it.

**The origin.** Ratings are known up to a constant. Ratings and errors are those of the distance to the mean of the
well-measured agents, so that a newcomer with three games moves nobody's rating or error. The error of a difference does
not depend on it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from nashboard._parallel import threads_for
from nashboard._types import Bools, Floats, Ints, read_only
from nashboard.data.matches import Matches
from nashboard.errors import ConvergenceError
from nashboard.ratings.likelihood import (
    DENSE,
    NormalPrior,
    PairTotals,
    dense_laplacian,
    solver,
    sparse_laplacian,
    win_rates,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PROBES = 100
BLOCK = 256  # rows of the covariance at a time
EVEN_GAME = 0.25  # information p (1 - p) of one decisive game between equals
# An agent's dispersion is the league's until it has played so many informative games: measured in m games it varies by
# 2 / m of its square, and between agents by about a tenth (a third up or down); both are equal at 20.
PRIOR_GAMES = 20
SIMULATED = 200  # agents up to which the largest difference is simulated; beyond, bounded by Bonferroni
DRAWS = 2000
UPPER = 0.975  # of the distributions whose quantiles are compared where clusters are few
MOST_PARTS = 400  # pairs in one cluster up to which its share of the fit is taken into account
LEAST_LEFT = 0.01  # share of the scatter that the fit leaves at least
WELL_MEASURED = 0.1  # share of the average agent's information from which an agent counts for the origin


@dataclass(frozen=True, kw_only=True, eq=False)
class Score:
    """Covariance of the slopes of the loss by the leads: a variance for each row, and the slopes of each cluster."""

    i: Ints
    j: Ints
    variance: Floats
    clusters: "csr_array | None" = None  # (clusters, rows)
    prior: PairTotals | None = None  # whose edges are the last rows, and are drawn by the normal prior itself
    of_prior: float = 1.0  # covariance of the normal prior's slopes, relative to its Hessian

    def matrix(self, J: "csr_array") -> "csr_array":
        """Return ``M``, the covariance of the score, given ``J``: the derivative of each row's lead."""
        from scipy.sparse import csr_array

        M = J.T @ J.multiply(self.variance[:, None])
        if self.clusters is not None:
            by_cluster = self.clusters @ J
            M = M + by_cluster.T @ by_cluster
        return csr_array(M)

    def flows(self, count: int, rng: np.random.Generator, rows: int | None = None) -> Floats:
        """Return ``(rows, count)`` normal slopes of the first rows."""
        variance = self.variance[:rows]
        flows = np.sqrt(variance)[:, None] * rng.standard_normal((variance.size, count))
        if self.clusters is not None:
            flows += self.clusters[:, : variance.size].T @ rng.standard_normal((self.clusters.shape[0], count))
        return np.asarray(flows)

    def draw(self, nodes: int, count: int, rng: np.random.Generator) -> Floats:
        """Return ``(nodes, count)`` normal scores with covariance ``M``."""
        normal = None if self.prior is None else self.prior.normal
        rows = self.variance.size - (0 if normal is None else normal.i.size)
        score = np.asarray(incidence(nodes, self.i[:rows], self.j[:rows]).T @ self.flows(count, rng, rows))
        if normal is not None:
            assert self.prior is not None
            score += np.sqrt(self.of_prior) * normal.noise(self.prior.sigma, count, rng)
        return score


def incidence(nodes: int, i: Ints, j: Ints) -> "csr_array":
    """Return ``(rows, nodes)``: the derivative of each row's lead by the ratings."""
    from scipy.sparse import csr_array

    rows = np.arange(i.size)
    ones = np.ones(i.size)
    entries = np.concatenate([ones, -ones]), (np.concatenate([rows, rows]), np.concatenate([i, j]))
    return csr_array(entries, shape=(i.size, nodes))


@dataclass(frozen=True, kw_only=True, eq=False)
class Covariance:
    """The covariance of ratings in logits, up to a common constant where nothing is anchored."""

    matrix: Floats | None  # (n, n), for leagues small enough to hold it
    variances: Floats  # (n,) of the distance to the weighted origin
    weights: Floats  # (n,) weights of the origin; zeros where agents are anchored
    # relative standard error of the standard errors themselves, the largest of all agents; 0 where they are exact
    accuracy: float
    # products with the covariance of all nodes, for leagues that are too large for the matrix
    products: Callable[[Floats], Floats] | None = None

    @staticmethod
    def of(matrix: Floats, weights: Floats) -> "Covariance":
        """Return an exact covariance, with the variances of the distances to the origin."""
        at = matrix @ weights
        variances = np.maximum(np.diag(matrix) - 2 * at + weights @ at, 0.0)
        return Covariance(matrix=read_only(matrix), variances=variances, weights=weights, accuracy=0.0)

    def widened(self, move: Floats) -> "Covariance":
        """Return the covariance with an error more that moves all ratings together, by ``move`` (n,)."""
        products, matrix = self.products, self.matrix

        def moved(columns: Floats) -> Floats:
            assert products is not None
            return products(columns) + np.outer(move, move @ columns)

        return replace(
            self,
            matrix=None if matrix is None else read_only(matrix + np.outer(move, move)),
            variances=self.variances + (move - self.weights @ move) ** 2,
            products=None if products is None else moved,
        )

    def between(self, i: Any, j: Any) -> Floats:
        """Return variances of ``r[i] - r[j]`` in logits; without a matrix as if ratings were independent."""
        C = self.matrix
        if C is None:
            return np.asarray(np.where(np.equal(i, j), 0.0, self.variances[i] + self.variances[j]))
        return np.asarray(np.maximum(C[i, i] + C[j, j] - 2 * C[i, j], 0.0))

    def difference(self, i: int, j: int) -> float:
        """Return the standard error of ``r[i] - r[j]`` in logits; it does not depend on the origin."""
        if self.matrix is not None or self.products is None:
            return float(np.sqrt(self.between(i, j)))
        e = np.zeros((self.variances.size, 1))
        e[i, 0], e[j, 0] = 1.0, -1.0
        return float(np.sqrt(max(float((e * self.products(e)).sum()), 0.0)))

    def __getstate__(self) -> dict[str, object]:
        """Leave the products out where results are sent to another process."""
        return {**self.__dict__, "products": None}


def rating_covariance(
    matches: Matches, totals: PairTotals, x: Floats, free: Bools, *, robust: bool, log_variance: float = 0.0
) -> Covariance:
    """Return the covariance of the ratings; NaN where double precision does not resolve it.

    Up to 2,000 agents it is exact. For more, variances are estimated from samples whose own accuracy is reported.
    ``log_variance`` is that of ``log sigma^2``: the ratings' errors include what they move with it.
    """
    n = totals.agents
    weights = origin_weights(matches) if free[:n].all() else np.zeros(n)
    try:
        league = LinearLeague.at(totals, x, free)
    except ConvergenceError:  # curvatures too far apart for double precision
        unknown = np.where(free[:n], np.nan, 0.0)
        return Covariance(matrix=None, variances=unknown, weights=weights, accuracy=0.0)
    score = league.score(matches, x) if robust else None
    found = league.dense(score, weights) if league.kept.size <= DENSE else league.sampled(score, weights)
    return found.widened(league.moved_by_prior(x) * np.sqrt(log_variance)) if log_variance else found


def origin_weights(matches: Matches) -> Floats:
    """Return the weights of the origin: equal for all well-measured agents, 0 for those about whom little is known."""
    share = (matches.wins + matches.draws / 2 + 0.5) / (matches.games + 1)
    of_pairs = matches.games * share * (1 - share)
    information = matches.per_agent(of_pairs, of_pairs)
    known = information >= WELL_MEASURED * (1 - 1e-9) * information.mean()  # rounding must not decide
    return np.asarray(known / known.sum())


def embed(matrix: Floats, kept: Ints, nodes: int) -> Floats:
    """Return a matrix of the free nodes as one of all nodes, 0 for anchors."""
    if kept.size == nodes:
        return matrix
    full = np.zeros((nodes, nodes))
    full[np.ix_(kept, kept)] = matrix
    return full


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearLeague:
    """The league near its fit: the Hessian on the free nodes, and the map that solves with it."""

    totals: PairTotals
    curvatures: Floats
    kept: Ints
    nodes: int
    solve: Callable[[Floats], Floats]

    @staticmethod
    def at(totals: PairTotals, x: Floats, free: Bools) -> "LinearLeague":
        """Return the league near leads ``x``."""
        nodes = totals.nodes_in_play(free)
        moving, curvatures = free[:nodes], totals.derivatives(x)[1]
        solve = solver(nodes, totals.i, totals.j, curvatures, moving, rtol=1e-4)
        return LinearLeague(totals=totals, curvatures=curvatures, kept=np.flatnonzero(moving), nodes=nodes, solve=solve)

    def score(self, matches: Matches, x: Floats) -> Score | None:
        """Return the covariance of the score at leads ``x``; None where it is the Hessian."""
        small = matches.clusters is not None and self.kept.size <= DENSE
        inverse = embed(self.inverse, self.kept, self.nodes) if small else None
        return score_covariance(matches, self.totals, x, self.curvatures, inverse)

    @cached_property
    def inverse(self) -> Floats:
        """The inverse Hessian of the free nodes."""
        return self.solve(np.eye(self.kept.size))

    @property
    def loose(self) -> bool:
        """Whether nothing is anchored, so that ratings are known up to a constant."""
        return self.kept.size == self.nodes

    def inside(self, columns: Floats) -> Floats:
        """Return values of agents as values of the free nodes."""
        full = np.zeros((self.nodes, columns.shape[1]))
        full[: len(columns)] = columns
        return full[self.kept]

    def outside(self, columns: Floats) -> Floats:
        """Return values of the free nodes as values of agents, 0 for anchors."""
        full = np.zeros((self.nodes, columns.shape[1]))
        full[self.kept] = columns
        return full[: self.totals.agents]

    def scores(self, score: Score) -> "csr_array | Floats":
        """Return ``M`` on the free nodes; without clusters it is a Laplacian, dense where that is small."""
        if score.clusters is None and self.totals.nodes <= DENSE:
            M = dense_laplacian(self.totals.nodes, score.i, score.j, score.variance)
            return M if self.kept.size == len(M) else M[np.ix_(self.kept, self.kept)]
        return score.matrix(incidence(self.totals.nodes, score.i, score.j))[:, self.kept][self.kept]

    def moved_by_prior(self, x: Floats) -> Floats:
        """Return ``d r / d log sigma^2``: how ratings move apart where their prior does (Kass and Steffey 1989)."""
        right = self.totals.prior_slopes(x)[:, None]
        return self.outside(self.solve(right[self.kept]))[:, 0]

    def dense(self, score: Score | None, weights: Floats) -> Covariance:
        """Return the exact covariance."""
        n, V = self.totals.agents, self.inverse
        C = V if score is None else V @ (self.scores(score) @ V)
        return Covariance.of(embed((C + C.T) / 2, self.kept, self.nodes)[:n, :n], weights)

    def sampled(self, score: Score | None, weights: Floats) -> Covariance:
        """Return variances from samples ``y = V z`` of ratings, with ``z`` normal with covariance ``H``.

        Given all other ratings, that of agent i has variance ``1 / H_ii`` exactly; only the variance of its mean given
        the others is estimated, so the sum is never 0 and varies less (Siden et al. 2018). Where ``M`` differs from
        ``H``, samples from both give the ratio.
        """
        n, rng = self.totals.agents, np.random.default_rng(0)
        i, j, h = self.totals.i, self.totals.j, self.curvatures
        model = Score(i=i, j=j, variance=h, prior=self.totals)
        S = sparse_laplacian(self.totals.nodes, i, j, h)
        H = S.diagonal()[:n]
        neighbours = S.copy()
        neighbours.setdiag(0.0)
        state = rng.bit_generator.state
        y = self.solve(model.draw(self.totals.nodes, PROBES, rng)[self.kept])
        full = np.zeros((self.totals.nodes, PROBES))
        full[self.kept] = y
        own = np.ones(n) if self.loose else np.isin(np.arange(n), self.kept).astype(np.float64)
        mean = -(neighbours @ full)[:n] / np.maximum(H, 1e-300)[:, None]  # of each rating, given the others
        rest = (weights @ full[:n])[None, :] - weights[:, None] * full[:n]
        share = (own * (1 - weights))[:, None]
        squares = (share * mean - own[:, None] * rest) ** 2
        base = share[:, 0] ** 2 / np.maximum(H, 1e-300)
        variances = base + squares.mean(axis=1)
        noise = squares.std(axis=1, ddof=1) / np.sqrt(PROBES)
        if score is not None:
            rng.bit_generator.state = state  # the same flows where edges agree: the ratio varies little
            score = replace(score, prior=self.totals)
            other = self.outside(self.solve(score.draw(self.totals.nodes, PROBES, rng)[self.kept]))
            robust, plain = ((z - weights @ z) ** 2 for z in (other, full[:n]))
            ratio = robust.mean(axis=1) / np.maximum(plain.mean(axis=1), 1e-300)
            ratio = np.where(own > 0, ratio, 0.0)
            spread = (robust - ratio[:, None] * plain).std(axis=1, ddof=1) / np.sqrt(PROBES)
            noise = np.hypot(ratio * noise, variances * spread / np.maximum(plain.mean(axis=1), 1e-300))
            variances = variances * ratio
        accuracy = float((noise / np.maximum(2 * variances, 1e-300))[own > 0].max())

        def products(columns: Floats) -> Floats:
            found = self.solve(self.inside(columns))
            return self.outside(found if score is None else self.solve(self.scores(score) @ found))

        return Covariance(matrix=None, variances=variances, weights=weights, accuracy=accuracy, products=products)


@dataclass(frozen=True, kw_only=True, eq=False)
class Results:
    """Games on rows between two agents each, and what of them belongs to which cluster.

    ``p`` are the shares of points that the model expects, ``h`` the curvatures of the loss by the leads.
    """

    agents: int
    i: Ints
    j: Ints
    p: Floats
    h: Floats
    won: Floats
    lost: Floats
    shared: Floats
    parts: "Parts | None"

    def per_agent(self, values: Floats) -> Floats:
        """Sum values of rows over the rows of each agent."""
        return np.asarray(np.bincount(self.i, values, self.agents) + np.bincount(self.j, values, self.agents))

    @property
    def scatter(self) -> Floats:
        """Squared slopes of each row's games, draws as half a win and half a loss."""
        return np.asarray(self.won * (1 - self.p) ** 2 + self.lost * self.p**2)

    def without_draws(self) -> Floats:
        """Return the variance of each row's slope: draws and other shares of the point vary less than a coin toss."""
        return np.asarray(self.h * (self.dispersion[self.i] + self.dispersion[self.j]) / 2)

    @cached_property
    def dispersion(self) -> Floats:
        """Variance of each agent's results relative to decisive games."""
        scatter, prior = self.scatter, PRIOR_GAMES * EVEN_GAME
        league = self.shared.sum() / (scatter.sum() + EVEN_GAME)
        return np.asarray(1 - (self.per_agent(self.shared) + prior * league) / (self.per_agent(scatter) + prior))

    def lacking(self) -> Floats:
        """Return the variance of each row that its games lack, where agents surprise less than the model expects."""
        told, seen = self.per_agent(self.h), self.per_agent(self.scatter - self.shared)
        missing = np.maximum(self.dispersion * told - seen, 0.0) / np.maximum(told, 1e-300)
        return np.asarray(self.h * np.maximum(missing[self.i], missing[self.j]))

    def by_cluster(self, edges: int, V: Floats | None) -> "tuple[Floats, csr_array]":
        """Return the variance of rows that clusters lack, and the slopes of each cluster ``(clusters, edges)``."""
        from scipy.sparse import csr_array

        parts = self.parts
        assert parts is not None
        slopes = parts.games * self.p[parts.row] - parts.won
        told = self.h[parts.row] * parts.games / (self.won + self.lost)[parts.row]
        if V is not None:
            slopes = slopes + self.taken_by_fit(slopes, told, V)
        slopes *= self.few_clusters(told)[parts.row]
        scores = csr_array((slopes, (parts.cluster, parts.row)), shape=(parts.size, edges))
        by_agent = scores[:, : self.i.size] @ incidence(self.agents, self.i, self.j)
        seen, told, unit = np.asarray(by_agent.power(2).sum(axis=0)).ravel(), self.per_agent(self.h), parts.unit
        prior = PRIOR_GAMES * EVEN_GAME * unit
        league = max(seen.sum() / max(told.sum(), 1e-300), 1e-3 * unit)
        own = np.maximum(told - EVEN_GAME * unit, 0.0)  # a rating takes a game's worth of scatter out of its residuals
        expected = told * (seen + prior * league) / (own + prior)
        lacking = np.maximum(expected - seen, 0.0) / np.maximum(told, 1e-300)
        return self.h * np.maximum(lacking[self.i], lacking[self.j]), scores

    def taken_by_fit(self, slopes: Floats, told: Floats, V: Floats) -> Floats:
        """Return what to add to slopes so that they are as large as the errors whose scatter the fit took up.

        A cluster's residuals have covariance ``I - H`` of what errors have, in units of their standard deviations and
        if games were independent, with ``H`` its block of the hat matrix. They are multiplied by ``(I - H)^(-1/2)``
        (the CR2 correction of Bell and McCaffrey 2002). ``told`` is the information of each part, ``V`` the inverse
        Hessian.
        """
        parts = self.parts
        assert parts is not None
        order = np.argsort(parts.cluster, kind="stable")
        _, start, size = np.unique(parts.cluster[order], return_index=True, return_counts=True)
        more = np.zeros_like(slopes)
        for rows in np.unique(size):
            if rows > MOST_PARTS:
                continue
            at = order[start[size == rows][:, None] + np.arange(rows)]
            i, j, scale = self.i[parts.row[at]], self.j[parts.row[at]], np.sqrt(told[at])
            H = V[i[:, :, None], i[:, None, :]] + V[j[:, :, None], j[:, None, :]]
            H -= V[i[:, :, None], j[:, None, :]] + V[j[:, :, None], i[:, None, :]]
            taken, axes = np.linalg.eigh(scale[:, :, None] * H * scale[:, None, :])
            grown = 1 / np.sqrt(np.maximum(1 - taken, LEAST_LEFT)) - 1
            z = np.einsum("kab,ka->kb", axes, slopes[at] / np.maximum(scale, 1e-300))
            more[at] = scale * np.einsum("kab,kb->ka", axes, grown * z)
        return more

    def few_clusters(self, told: Floats) -> Floats:
        """Return by what to multiply each row's slopes, as the scatter of few clusters is itself not well known.

        The quantile of Student's t over that of the normal, with as many degrees of freedom as the row's agents have
        clusters of equal information (Carter et al. 2017), the games that stand for the league among them.
        """
        from scipy.special import stdtrit

        parts = self.parts
        assert parts is not None
        most = int(parts.cluster.max()) + 1
        agent = np.concatenate([self.i[parts.row], self.j[parts.row]])
        code, place = np.unique(agent * most + np.tile(parts.cluster, 2), return_inverse=True)
        of_cluster = np.bincount(place, np.tile(told, 2))
        total = np.bincount(code // most, of_cluster, self.agents)
        squares = np.bincount(code // most, of_cluster**2, self.agents)
        game = EVEN_GAME * parts.unit
        freedom = (total + PRIOR_GAMES * game) ** 2 / (squares + PRIOR_GAMES * game**2)
        wider = stdtrit(freedom, UPPER) / NormalDist().inv_cdf(UPPER)
        return np.asarray((wider[self.i] + wider[self.j]) / 2)


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """What of the games on which row belongs to which cluster: its games, and the points won by the first agent."""

    size: int
    cluster: Ints
    row: Ints
    games: Floats
    won: Floats

    @property
    def unit(self) -> float:
        """The weight of one game: 1 where games were counted, the mean where clusters have weights, not numbers."""
        return 1.0 if (self.games == self.games.round()).all() else float(self.games.mean())


def results_of(matches: Matches, totals: PairTotals, x: Floats, curvatures: Floats) -> Results:
    """Return the results of matches at leads ``x``."""
    split, here, parts = matches.clusters, slice(len(matches.pairs)), None
    if split is not None:
        games, won = split.wins + split.draws + split.losses, split.wins + split.draws / 2
        parts = Parts(size=split.size, cluster=split.cluster, row=split.pair, games=games, won=won)
    return Results(
        agents=totals.agents, i=totals.i[here], j=totals.j[here], p=win_rates(x[here]), h=curvatures[here],
        won=totals.won[here], lost=totals.lost[here], shared=matches.shared, parts=parts,
    )  # fmt: skip


def score_covariance(
    matches: Matches, totals: PairTotals, x: Floats, curvatures: Floats, V: Floats | None = None
) -> Score | None:
    """Return ``M``, or None where it is the Hessian: without draws and clusters; ``V`` the inverse Hessian if known."""
    if matches.clusters is None and not matches.shared.any():
        return None
    return with_prior_edges(
        results_of(matches, totals, x, curvatures), totals.i, totals.j, curvatures, V, totals.normal
    )


def with_prior_edges(
    results: Results, i: Ints, j: Ints, curvatures: Floats, V: Floats | None, normal: NormalPrior | None
) -> Score:
    """Return the score of rows and, after them, of the prior's edges.

    The covariance of those is their Hessian, times the dispersion of a normal prior, since what it weighs the games
    weigh less.
    """
    variance, played = curvatures.copy(), results.i.size
    of_prior = 1.0 if normal is None else normal.dispersion
    variance[played:] *= of_prior
    if results.parts is None:
        variance[:played] = results.without_draws()
        return Score(i=i, j=j, variance=variance, of_prior=of_prior)
    variance[:played], clusters = results.by_cluster(i.size, V)
    return Score(i=i, j=j, variance=variance, clusters=clusters, of_prior=of_prior)


@dataclass(frozen=True, kw_only=True, eq=False)
class RankIntervals:
    """Intervals of ranks that are right for all agents at once: an agent's rank is 1 plus the number of better ones.

    An agent surely better than ``b`` others has rank at most ``n - b``; if ``w`` others are surely better, its rank is
    at least ``1 + w`` (Mogstad, Romano, Shaikh and Wilhelm 2024). "Surely" is by more than a critical number of
    standard errors, one for all pairs.
    """

    low: Ints
    high: Ints
    level: float


def rank_intervals(
    ratings: Floats, covariance: Covariance, level: float = 0.95, *, posterior: bool = False
) -> RankIntervals | None:
    """Return the rank intervals of ratings in logits; None where errors are not known.

    With ``posterior`` the errors are those of a posterior, and all differences that are called sure have the right sign
    with this probability. Otherwise the intervals are right with it whatever the true ratings are, even if all of them
    are equal, and longer.
    """
    variances, n = covariance.variances, ratings.size
    if not np.isfinite(variances).all() or n < 2:
        return None
    critical = (posterior_value if posterior else critical_value)(ratings, covariance, level)
    low, high = np.ones(n, dtype=np.intp), np.full(n, n)
    for start in range(0, n, BLOCK):
        z = standard_leads(ratings, covariance, np.arange(start, min(start + BLOCK, n)))
        low[start : start + BLOCK] += (z < -critical).sum(axis=1)
        high[start : start + BLOCK] -= (z > critical).sum(axis=1)
    return RankIntervals(low=read_only(low), high=read_only(high), level=level)


def standard_leads(ratings: Floats, covariance: Covariance, rows: Ints) -> Floats:
    """Return leads of some agents over all, in standard errors."""
    lead = ratings[rows, None] - ratings
    errors = np.sqrt(covariance.between(rows[:, None], np.arange(ratings.size)))
    return np.divide(lead, errors, out=np.zeros_like(lead), where=errors > 0)


def posterior_value(ratings: Floats, covariance: Covariance, level: float) -> float:
    """Return the least number of standard errors such that all larger leads have the right sign with this probability.

    A lead of ``z`` standard errors has the wrong sign with probability ``Phi(-z)``; these are added up (Boole), from
    the largest lead on, until they exceed ``1 - level``.
    """
    from scipy.special import ndtr

    least, n = NormalDist().inv_cdf(level), ratings.size
    leads = (standard_leads(ratings, covariance, np.arange(k, min(k + BLOCK, n))) for k in range(0, n, BLOCK))
    z = np.sort(np.concatenate([block[block > least] for block in leads]))[::-1]
    sure = int(np.searchsorted(np.cumsum(ndtr(-z)), 1 - level, side="right"))
    return float(z[sure]) if sure < z.size else least


def critical_value(ratings: Floats, covariance: Covariance, level: float) -> float:
    """Return how many standard errors all differences stay within, at once, with this probability.

    It is simulated with the agents in the order of their ratings, so that the order of the data does not matter.
    """
    n = covariance.variances.size
    if covariance.matrix is None or n > SIMULATED:
        return -NormalDist().inv_cdf((1 - level) / (n * (n - 1)))
    order = np.argsort(-ratings, kind="stable")
    C = covariance.matrix[np.ix_(order, order)]
    with threads_for(n, scipy=False):
        bends, axes = np.linalg.eigh(C)
        root = axes * np.sqrt(np.maximum(bends, 0.0)) @ axes.T
        drawn = root @ np.random.default_rng(0).standard_normal((n, DRAWS))
    errors = np.sqrt(covariance.between(order[:, None], order))
    scale = np.divide(1.0, errors, out=np.zeros_like(errors), where=errors > 0)
    largest = np.zeros(DRAWS)
    for k in range(n - 1):
        away = drawn[k + 1 :] - drawn[k]
        away *= scale[k, k + 1 :, None]
        np.maximum(largest, np.abs(away, out=away).max(axis=0), out=largest)
    return float(np.quantile(largest, level))
