"""The learned prior of ratings: how widely they are spread, and around what they are normal.

`learn_prior` learns the standard deviation, `measure_dispersion` how much a result is worth, and `choose_prior` around
what ratings are normal: the average agent, or the opponents that each agent met.

A normal prior around the average agent takes schedules as unrelated to strength, or as made from results, as in Swiss
tournaments (results are part of the data). Divisions and matchmaking by strength break this: agents who meet are alike,
so their games suggest a small spread, and the prior pulls distant agents together. There each rating is normal around
the mean of its opponents' instead (a simultaneous autoregressive prior of the schedule, Whittle 1954), which leaves the
distances between groups to the games. The games decide which of the two is used:

1. Where parts of the schedule are set apart no more than if the same number of games were dealt at random (the second
   eigenvalue of its normalised Laplacian, relative to the semicircle law), opponents are a sample of all agents, and
   the priors hardly differ: the average agent.
2. Where scores of opponents agree more than the opponents' prior explains, pairs were made from results: the average
   agent. Results need time to set agents apart, so that such a schedule is still nearly random; the less it is, the
   more of this agreement is needed.
3. Else the prior with the larger evidence. Directions between parts that hardly meet (eigenvalues below ``APART``) do
   not count against the opponents' prior for being wider there, by ``sqrt(n)``: their games are too few to judge it.
   Far from a random schedule the evidence against it must be strong: it covers, if more widely, also where opponents
   are unrelated to strength.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.ratings.likelihood import (
    DENSE,
    SCALE,
    NormalPrior,
    PairTotals,
    Solve,
    dense_laplacian,
    newton,
    pair_totals,
    solver,
    win_rates,
)

EXACT_TRACE = 300  # agents up to which the trace of the inverse is exact; beyond, from probes, to a thousandth, unless
MOST_PER_ROW = 10_000  # the cube of the agents is at most so many rows, where inverting costs less than probes
PROBES = 64
MOST_SECANTS = 40
MOST_LOG_VARIANCE = 1.0  # of log sigma^2: with two or three agents the normal approximation has no meaning
CLOSE_SIGMA = 1e-6  # in log sigma^2
CLOSE = 1e-3  # logits: after a step of this length less than 1e-6 is missing
LEAST_SIGMA = 1e-4  # logits
LEAST_FROM_OPPONENTS = 0.01  # of the distance to opponents, 2 Elo points: in long chains the likelihood is flat below
LEAST_DISPERSION = 0.02
PRIOR_GAMES = 10.0  # games' worth of evidence that clusters do not matter, before they are measured
FEWEST = 8  # agents: of fewer, opponents say little
JUDGED = 1_000  # agents who decide for larger leagues: those nearest to one of them in the schedule
MOST_EDGES = 20_000_000  # of the opponents' prior: beyond, some agents have met nearly everybody
APART = 0.1
RANDOM = 0.95  # second eigenvalue relative to that of a random schedule from which on opponents are a sample
# Pairs were made from results if the surprise under the opponents' prior, at 40 agents, and `PER_GAP` times the
# relative eigenvalue are together above `BY_RESULTS`: a line between Swiss tournaments, knock-outs and online ratings
# and matchmaking of 14 simulated kinds with 16 to 60 agents, seed 771010.
BY_RESULTS, PER_GAP = 4.2, 2.0
DRAWS = 40
STRONG = 3.0  # logarithm of a Bayes factor (Kass and Raftery 1995)


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedPrior:
    """A normal prior with its learned standard deviation in logits, and the variance of ``log sigma^2``."""

    sigma: float
    log_variance: float
    normal: NormalPrior

    def for_all_agents(self) -> "LearnedPrior":
        """Return it with twice the variance where ratings are normal around opponents.

        Agents at the ends of the order are further from their opponents than those in the middle, from whom most of
        the variance is learned.
        """
        return self if self.normal.deviations is None else replace(self, sigma=self.sigma * float(np.sqrt(2)))


class FittedRows(NamedTuple):
    """A fit under a prior: ratings (n + 1,) of all nodes, and rows with three derivatives of the slope.

    Beside ratings there may be ``k`` effects ``b``: a row's lead is ``r[i] - r[j] + Z b``, and the prior is one of
    ``r - means b``.
    """

    r: Floats  # without means b
    solve: Solve  # of the Hessian by (r, b)
    i: Ints
    j: Ints
    h: Floats
    bend: Floats  # d h / d lead
    curl: Floats  # d2 h / d lead2
    Z: Floats  # (rows, k)
    means: Floats  # (n, k)

    def leads(self, moves: Floats) -> Floats:
        """Return by how much leads move where ``(r, b)`` do."""
        nodes = self.r.size
        return np.asarray(moves[self.i] - moves[self.j] + self.Z @ moves[nodes:])

    def lead_variances(self, C: Floats) -> Floats:
        """Return the variances of the leads where ``(r, b)`` have covariance ``C``."""
        own, beside = np.diag(C), C[:, self.r.size :]
        variances = own[self.i] + own[self.j] - 2 * C[self.i, self.j]
        of_effects = 2 * (beside[self.i] - beside[self.j]) + self.Z @ beside[self.r.size :]
        return np.asarray(variances + (of_effects * self.Z).sum(axis=1))

    def from_means(self, moves: Floats) -> Floats:
        """Return by how much ratings move from what the prior expects, ``(n, ...)``."""
        nodes = self.r.size
        return np.asarray(moves[: nodes - 1] - self.means @ moves[nodes:])

    def from_means_back(self, slopes: Floats) -> Floats:
        """Return the slopes by ``(r, b)`` of what has these slopes by ``(r - means b)`` on nodes."""
        return np.concatenate([slopes, -self.means.T @ slopes[:-1]])

    def draw_score(self, normal: NormalPrior, sigma: float, count: int, rng: np.random.Generator) -> Floats:
        """Return ``(n + 1 + k, count)`` normal values whose covariance is the Hessian, of rows and the prior."""
        nodes = self.r.size
        score = self.from_means_back(normal.noise(sigma, count, rng))
        for column in score.T:
            flow = np.sqrt(self.h) * rng.standard_normal(self.h.size)
            column[:nodes] += np.bincount(self.i, flow, nodes) - np.bincount(self.j, flow, nodes)
            column[nodes:] += self.Z.T @ flow
        return score


Under = Callable[[float], FittedRows]


def learn_prior(under: Under, normal: NormalPrior, *, close: float = CLOSE_SIGMA, start: float = 0.0) -> LearnedPrior:
    """Return the standard deviation of ratings that the games suggest.

    ``under(sigma)`` fits the ratings with a prior of that ``sigma``. The result is the maximum of the marginal
    likelihood of ``sigma`` (ratings integrated out by Laplace's method) times the density
    ``sigma exp(-sigma^2 / (2 SCALE^2))``, which is 0 at ``sigma = 0``: with few agents the likelihood alone often has
    its maximum there, and would call all of them equal (Chung et al. 2013). At the maximum

        sigma^2 = (d'd + phi trace D V D' - sigma^2 c) / (n - 2 + sigma^2 / SCALE^2),
        c = sum over pairs of h' v dx / d log sigma^2 + phi / 2 h'' v dv / d log sigma^2,

    with ``d = D r`` the deviations from the prior's mean, ``V`` the inverse Hessian, ``phi`` the dispersion and ``v``
    the variances of the leads by ``V``. Both parts of ``c`` matter where games are few. The first is how the
    determinant of the Hessian moves as ratings do. The second is what fourth derivatives add to Laplace's method: where
    opponents are about equal, as in Swiss tournaments, all of them have one sign, and without it ``sigma`` is too
    small. (What third derivatives add at this order makes it too large where agents have few games.) The fixed point is
    found by
    secants in ``log sigma^2``. There the density is taken as normal: its variance follows from the slope, and
    ``sigma^2`` is the mean, which is less biased than the mode.
    """
    n = int(normal.j[-1])

    def excess(s: float) -> float:
        """Return the logarithm of the right side of the fixed point minus that of the left."""
        sigma = float(np.exp(s / 2))
        fit = under(sigma)
        d = normal.deviate(fit.r[:n])
        trace, variances, widened = uncertainty(fit, normal, sigma)
        x = fit.r[normal.i] - fit.r[normal.j]
        pull = normal.dispersion * normal.unit / sigma**2 * x
        right: Floats = np.zeros(n + 1)
        right += np.bincount(normal.i, pull, minlength=n + 1) - np.bincount(normal.j, pull, minlength=n + 1)
        moved = float((fit.bend * variances * fit.leads(fit.solve(fit.from_means_back(right)))).sum())
        moved += normal.dispersion / 2 * float((fit.curl * variances * widened).sum())
        size = max(float(d @ d) + normal.dispersion * trace - sigma**2 * moved, 1e-300)
        return float(np.log(size / (n - 2 + np.exp(s) / SCALE**2))) - s

    least = LEAST_SIGMA if normal.deviations is None else LEAST_FROM_OPPONENTS
    s, slope = fixed_point(excess, close, start, 2 * float(np.log(least)))
    weight = (n - 2 + np.exp(s) / SCALE**2) / 2
    variance = min(1 / max(-slope * weight, 1e-9), MOST_LOG_VARIANCE)
    return LearnedPrior(sigma=float(np.exp(s / 2 + variance / 4)), log_variance=float(variance), normal=normal)


def uncertainty(fit: FittedRows, normal: NormalPrior, sigma: float) -> tuple[float, Floats, Floats]:
    """Return the trace of the deviations' covariance, the variances of the leads, and their derivative by log sigma^2.

    The covariance is the inverse Hessian ``V``; its derivative is ``V Q V``, with ``Q`` the prior's Hessian.
    """
    n = int(normal.j[-1])
    if n <= EXACT_TRACE or (n <= DENSE and n**3 <= MOST_PER_ROW * fit.i.size):
        C = fit.solve(np.eye(n + 1 + fit.means.shape[1]))
        away = normal.deviate(fit.from_means(C))
        trace = float(np.trace(normal.deviate(fit.from_means(away.T))))
        widened = fit.lead_variances(away.T @ away) * normal.dispersion / sigma**2
        return trace, fit.lead_variances(C), widened
    probes, rng = PROBES if n <= DENSE else PROBES // 4, np.random.default_rng(0)
    signs: Floats = rng.choice(np.array([-1.0, 1.0]), size=(n, probes))
    right = fit.from_means_back(np.concatenate([normal.deviate_back(signs), np.zeros((1, probes))]))
    found = fit.solve(right)
    trace = float((right * found).sum(axis=0).mean())
    widened = (fit.leads(found) ** 2).mean(axis=1) * normal.dispersion / sigma**2
    moves = fit.solve(fit.draw_score(normal, sigma, probes, rng))
    return trace, np.asarray((fit.leads(moves) ** 2).mean(axis=1)), np.asarray(widened)


def fixed_point(excess: Callable[[float], float], close: float, start: float, low: float) -> tuple[float, float]:
    """Return the root above ``low`` of a falling function by secants, and the slope there."""
    high = np.log(1e4)
    before, f_before = start, excess(start)
    s, slope = min(max(start + f_before, low), high), -1.0
    for _ in range(MOST_SECANTS):
        if abs(s - before) < close:
            break
        f = excess(s)
        slope = (f - f_before) / (s - before)
        step = -f / slope if slope < -1e-3 else f
        before, f_before = s, f
        s = min(max(s + min(max(step, -3.0), 3.0), low), high)
    return float(s), float(slope)


def measure_dispersion(matches: Matches) -> float:
    """Return the variance of results relative to independent decisive games: below 1 with draws, above with clusters.

    Of single games it is `dispersion_of_games`. With clusters it is measured between them, around each pair's own
    share ``q``: if the points of a cluster with ``m`` of the pair's ``N`` games have variance ``phi m q (1 - q)``, then
    ``sum (points - q m)^2`` has mean ``phi q (1 - q) (N - sum m^2 / N)``, and the measured ``q (1 - q)`` falls short by
    ``phi / N`` of it. ``phi`` solves both, summed over all pairs. A few games' worth of prior evidence for single
    games, on the scale of its logarithm, keeps it away from 0 where pairs have hardly any cluster.
    """
    single = dispersion_of_games(matches)
    split = matches.clusters
    if split is None:
        return single
    pairs = len(matches.pairs)
    code, where = np.unique(split.cluster * pairs + split.pair, return_inverse=True)
    m = np.bincount(where, split.wins + split.draws + split.losses)
    won, pair = np.bincount(where, split.wins + split.draws / 2), code % pairs
    N = np.maximum(np.bincount(pair, m, minlength=pairs), 1e-300)
    q = np.bincount(pair, won, minlength=pairs) / N
    scatter = np.bincount(pair, (won - q[pair] * m) ** 2, minlength=pairs)
    mean = float((q * (1 - q) * (N - np.bincount(pair, m**2, minlength=pairs) / N) + scatter / N).sum())
    measured = max(float(scatter.sum()) / mean, LEAST_DISPERSION) if mean > 0 else single
    known = 4 * mean / (4 * mean + PRIOR_GAMES)
    return float(max(measured**known * single ** (1 - known), LEAST_DISPERSION))


def dispersion_of_games(matches: Matches) -> float:
    """Return the variance of independent games relative to decisive ones, ``1 - sum y (1 - y) / sum n p (1 - p)``.

    ``p`` are each pair's shares ``q`` of its ``n`` games and one more that ends as ratings expect; ``q (1 - q)`` falls
    short of ``p (1 - p)`` by a share ``phi n / (n + 1)^2``.
    """
    shared = float(matches.shared.sum())
    if shared == 0 or not matches.games.sum():
        return 1.0
    totals, r = pair_totals(matches, prior=1.0), np.zeros(len(matches.agents) + 1)
    newton(totals, r, np.ones(r.size, dtype=bool), close=CLOSE)
    (i, j), n = matches.pairs.T, matches.games
    q = (matches.wins + matches.draws / 2 + win_rates(r[i] - r[j])) / (n + 1)
    phi, coin = 1.0, n * q * (1 - q)
    for _ in range(MOST_SECANTS):
        phi = max(1 - shared / float((coin / (1 - phi * n / (n + 1) ** 2)).sum()), LEAST_DISPERSION)
    return phi


def learn_sigma(
    matches: Matches, r: Floats | None = None, normal: NormalPrior | None = None, dispersion: float | None = None
) -> LearnedPrior:
    """Return the learned prior of matches, around the average agent unless given, with the measured dispersion.

    ``r`` (n + 1,) is moved in place to the ratings under it.
    """
    n = len(matches.agents)
    r = np.zeros(n + 1) if r is None else r
    everyone = np.ones(n + 1, dtype=bool)
    phi = measure_dispersion(matches) if dispersion is None else dispersion
    normal = replace(normal or NormalPrior.around_all(n), dispersion=phi)
    base = pair_totals(matches, sigma=1.0, normal=normal)

    def under(sigma: float) -> FittedRows:
        totals = replace(base, sigma=sigma)
        newton(totals, r, everyone, close=CLOSE)
        return fitted_pairs(totals, r, len(matches.pairs))

    return learn_prior(under, normal)


def fitted_pairs(totals: PairTotals, r: Floats, played: int) -> FittedRows:
    """Return the fit of ratings alone, for all nodes; the first rows were ``played``."""
    i, j = totals.i, totals.j
    x = r[i] - r[j]
    h = totals.derivatives(x)[1]
    solve = solver(totals.nodes, i, j, h, np.ones(totals.nodes, dtype=bool), rtol=1e-6, lift=True)
    i, j, h, x = i[:played], j[:played], h[:played], x[:played]
    nothing = np.zeros((played, 0)), np.zeros((totals.agents, 0))
    lean = np.tanh(x / 2)
    return FittedRows(r, solve, i, j, h, -h * lean, h * (3 * lean**2 - 1) / 2, *nothing)


def learn_prior_of(matches: Matches, r: Floats) -> LearnedPrior:
    """Return the learned prior of matches; ``r`` (n + 1,) is moved in place to about the ratings under it."""
    return learn_sigma(matches, r, choose_prior(matches)).for_all_agents()


def choose_prior(matches: Matches, *, in_doubt: bool = True) -> NormalPrior | None:
    """Return the prior around opponents where it suits the matches, and unless said otherwise in doubt."""
    n, (i, j) = len(matches.agents), matches.pairs.T
    met = np.bincount(matches.pairs.ravel(), minlength=n)
    if (met**2).sum() > MOST_EDGES or not follows_strength(judged_part(matches), in_doubt):
        return None
    return NormalPrior.around_opponents(n, i, j, matches.games)


def judged_part(matches: Matches) -> Matches:
    """Return the league, or of a large one the agents nearest to one with a median number of games."""
    n = len(matches.agents)
    if n <= JUDGED:
        return matches
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    start = int(np.argsort(matches.games_per_agent, kind="stable")[n // 2])
    met = coo_array((np.ones(len(matches.pairs)), tuple(matches.pairs.T)), shape=(n, n)).tocsr()
    near = breadth_first_order(met, start, directed=False, return_predecessors=False)[:JUDGED]
    return replace(matches, clusters=None, sides=None).select([matches.agents[k] for k in sorted(near.tolist())])


def relative_gap(matches: Matches, gap: float) -> float:
    """Return the second eigenvalue of a schedule relative to what as many games between random agents have.

    The normalised adjacency of ``d`` random games each has eigenvalues up to ``2 / sqrt(d)``, less where agents are few
    (the semicircle law; Tracy and Widom 1996). Games of one pair in one cluster are one meeting.
    """
    split, n = matches.clusters, len(matches.agents)
    meetings = matches.n_games if split is None else len(np.unique(split.cluster * len(matches.pairs) + split.pair))
    largest = (2 - 1.21 * n ** (-2 / 3)) / np.sqrt(2 * meetings / n)
    return float(gap / max(1 - largest, 0.05))


def follows_strength(matches: Matches, in_doubt: bool) -> bool:
    """Return whether strength decided who met whom, as far as games can tell; ``in_doubt`` where they cannot."""
    n = len(matches.agents)
    if n < FEWEST or matches.coverage == 1:
        return False
    gaps = np.linalg.eigvalsh(normalised_laplacian(matches))
    gap = relative_gap(matches, gaps[1])
    if gaps[1] < 1e-9 or gap >= RANDOM:  # no games say how far apart parts are, or opponents are a sample
        return False
    i, j = matches.pairs.T
    matches = decisive_games(matches)
    around_opponents = Model.of(matches, NormalPrior.around_opponents(n, i, j, matches.games))
    surprise = around_opponents.surprise(matches, np.random.default_rng(0)) * np.sqrt(40 / n)
    if surprise + PER_GAP * gap > BY_RESULTS:
        return False
    needed = STRONG * (min(2 * gap - 1, 0.0) if in_doubt else 2 * gap - 1)
    needed -= int((gaps[1:] < APART).sum()) * np.log(n) / 2
    return bool(around_opponents.log_evidence > Model.of(matches, None).log_evidence + needed)


def decisive_games(matches: Matches) -> Matches:
    """Return as many independent wins and losses as tell as much: draws tell more, games of a cluster less."""
    phi = measure_dispersion(matches)
    won, lost = matches.wins + matches.draws / 2, matches.losses + matches.draws / 2
    plain = replace(matches, clusters=None, sides=None, fractions=None)
    return replace(plain, wins=won / phi, draws=0 * won, losses=lost / phi)


def order_by_schedule(matches: Matches) -> Floats:
    """Return normal scores of the agents in their order along the schedule, that of its slowest eigenvector.

    Agents who met only others of about their strength are in line. At the ends of it all opponents of an agent are on
    one side, and the prior around opponents alone would pull the best and the worst towards them.
    """
    from scipy.special import ndtri

    slowest = np.linalg.eigh(normalised_laplacian(matches))[1][:, 1]
    place = np.argsort(np.argsort(slowest / np.sqrt(np.maximum(matches.games_per_agent, 1e-300)), kind="stable"))
    return np.asarray(ndtri((place + 0.5) / len(place)))


def normalised_laplacian(matches: Matches) -> Floats:
    """Return ``I - d^-1/2 A d^-1/2`` for games ``A`` and games of each agent ``d``."""
    n, (i, j) = len(matches.agents), matches.pairs.T
    root = np.sqrt(np.maximum(matches.games_per_agent, 1e-300))
    L = np.eye(n)
    L[i, j] = L[j, i] = -matches.games / (root[i] * root[j])
    return L


class Model(NamedTuple):
    """A fit under one prior, with its evidence."""

    totals: PairTotals
    r: Floats
    log_evidence: float

    @staticmethod
    def of(matches: Matches, normal: NormalPrior | None) -> "Model":
        """Fit the ratings and the scale of the prior."""
        n = len(matches.agents)
        r = np.zeros(n + 1)
        learned = learn_sigma(matches, r, normal, dispersion=1.0)
        totals = pair_totals(matches, sigma=learned.sigma, normal=learned.normal)
        x = r[totals.i] - r[totals.j]
        h, played = totals.derivatives(x)[1], len(matches.pairs)
        determinants = [
            np.linalg.slogdet(dense_laplacian(n + 1, totals.i[rows], totals.j[rows], h[rows]) + 1.0)[1]
            for rows in (slice(played, None), slice(None))
        ]
        density = 2 * np.log(learned.sigma) - learned.sigma**2 / (2 * SCALE**2) + np.log(learned.log_variance) / 2
        return Model(
            totals,
            r,
            float((determinants[0] - determinants[1]) / 2 - totals.loss(x) / learned.normal.dispersion + density),
        )

    def surprise(self, matches: Matches, rng: np.random.Generator) -> float:
        """Return by how many standard deviations the scores of opponents agree more than this model expects."""
        assert self.totals.normal is not None
        fit = fitted_pairs(self.totals, self.r, len(matches.pairs))
        moves = fit.solve(fit.draw_score(self.totals.normal, self.totals.sigma, DRAWS, rng))
        i, j, r = fit.i, fit.j, self.r[:, None] + moves
        games = np.rint(matches.games).astype(np.int64)
        won = rng.binomial(games[:, None], win_rates(r[i] - r[j]))
        drawn = np.array([agreement(matches, column, games.astype(np.float64)) for column in won.T])
        seen = agreement(matches, matches.wins, matches.games)
        spread = float(drawn.std())
        return float((seen - drawn.mean()) / spread) if spread > 0 else 0.0


def agreement(matches: Matches, won: Floats, games: Floats) -> float:
    """Return the correlation over games of the scores of both sides in all their other games."""
    n, (i, j) = len(matches.agents), matches.pairs.T
    points = np.bincount(i, won - games / 2, n) + np.bincount(j, games / 2 - won, n)
    played = np.bincount(i, games, n) + np.bincount(j, games, n)
    others = np.stack([played[i] - games, played[j] - games])
    rest = np.stack([points[i] - (won - games / 2), points[j] + (won - games / 2)])
    score = np.divide(rest, others, out=np.zeros_like(rest), where=others > 0)
    weight = games * (others > 0).all(axis=0)
    size = float(weight @ (score[0] ** 2 + score[1] ** 2)) / 2
    return float(weight @ (score[0] * score[1])) / size if size > 0 else 0.0
