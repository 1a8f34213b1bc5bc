"""Around what ratings are learned to be normal: the average agent, or the opponents that each agent met.

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
   In a nearly random schedule the evidence must be strong: few games of a knock-out look like matchmaking.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nashboard._types import Floats
from nashboard.data.matches import Matches
from nashboard.ratings.likelihood import (
    SCALE,
    LearnedPrior,
    NormalPrior,
    PairTotals,
    dense_laplacian,
    fitted_pairs,
    learn_sigma,
    pair_totals,
    win_rates,
)

FEWEST = 8  # agents: of fewer, opponents say little
JUDGED = 1_000  # agents who decide for larger leagues: those nearest to one of them in the schedule
MOST_EDGES = 20_000_000  # of the opponents' prior: beyond, some agents have met nearly everybody
APART = 0.1
RANDOM = 0.95  # second eigenvalue relative to that of a random schedule from which on opponents are a sample
# Pairs were made from results if the surprise under the opponents' prior, at 40 agents, and `PER_GAP` times the
# relative eigenvalue are together above `BY_RESULTS`: a line between Swiss tournaments, knock-outs and online ratings
# and matchmaking of 43 simulated kinds, seeds 75001 to 77001.
BY_RESULTS, PER_GAP = 5.2, 4.0
DRAWS = 40
STRONG = 3.0  # logarithm of a Bayes factor (Kass and Raftery 1995)


def learn_prior_of(matches: Matches, r: Floats) -> LearnedPrior:
    """Return the learned prior of matches; ``r`` (n + 1,) is moved in place to about the ratings under it."""
    return learn_sigma(matches, r, choose_prior(matches)).for_all_agents()


def choose_prior(matches: Matches) -> NormalPrior | None:
    """Return the prior around opponents where it suits the matches."""
    n, (i, j) = len(matches.agents), matches.pairs.T
    met = np.bincount(matches.pairs.ravel(), minlength=n)
    if (met**2).sum() > MOST_EDGES or not follows_strength(judged_part(matches)):
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


def parts_of_schedule(matches: Matches) -> Floats | None:
    """Return the eigenvalues of a schedule; None where all met, or where no games say how far apart parts are."""
    if len(matches.agents) < FEWEST or matches.coverage == 1:
        return None
    gaps = spectrum(matches)
    return None if gaps[1] < 1e-9 else gaps


def relative_gap(matches: Matches, gap: float) -> float:
    """Return the second eigenvalue of a schedule relative to what as many games between random agents have.

    The normalised adjacency of ``d`` random games each has eigenvalues up to ``2 / sqrt(d)``, less where agents are few
    (the semicircle law; Tracy and Widom 1996). Games of one pair in one cluster are one meeting.
    """
    split, n = matches.clusters, len(matches.agents)
    meetings = matches.n_games if split is None else len(np.unique(split.cluster * len(matches.pairs) + split.pair))
    largest = (2 - 1.21 * n ** (-2 / 3)) / np.sqrt(2 * meetings / n)
    return float(gap / max(1 - largest, 0.05))


def follows_strength(matches: Matches) -> bool:
    """Return whether strength decided who met whom, as far as the games can tell."""
    n, gaps = len(matches.agents), parts_of_schedule(matches)
    if gaps is None or (gap := relative_gap(matches, gaps[1])) >= RANDOM:
        return False
    i, j = matches.pairs.T
    around_opponents = Model.of(matches, NormalPrior.around_opponents(n, i, j, matches.games))
    surprise = around_opponents.surprise(matches, np.random.default_rng(0)) * np.sqrt(40 / n)
    if surprise + PER_GAP * gap > BY_RESULTS:
        return False
    needed = STRONG * (2 * gap - 1) - int((gaps[1:] < APART).sum()) * np.log(n) / 2
    return bool(around_opponents.log_evidence > Model.of(matches, None).log_evidence + needed)


def spectrum(matches: Matches) -> Floats:
    """Return the eigenvalues of the normalised Laplacian of the schedule, ascending."""
    return np.asarray(np.linalg.eigvalsh(normalised_laplacian(matches)))


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
        # draws as half a win and half a loss: with their own information too few leagues of strength are recognised
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
        share = float(matches.draws.sum() / matches.games.sum())  # draws scatter less: as many are simulated
        halves = rng.binomial(games[:, None], share, size=(games.size, DRAWS))
        decisive = np.clip((win_rates(r[i] - r[j]) - share / 2) / max(1 - share, 1e-300), 0.0, 1.0)
        won = rng.binomial(games[:, None] - halves, decisive) + halves / 2
        drawn = np.array([agreement(matches, column, games.astype(np.float64)) for column in won.T])
        seen = agreement(matches, matches.wins + matches.draws / 2, matches.games)
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
