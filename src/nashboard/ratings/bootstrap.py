"""Standard errors of Elo ratings by resampling: the Bayesian bootstrap of games, or of clusters of games."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nashboard._parallel import Plan, make_plan, run_resamples
from nashboard._types import Bools, Floats
from nashboard.data.matches import Matches
from nashboard.errors import InputError
from nashboard.ratings.errors import Covariance, LinearLeague, incidence, results_of
from nashboard.ratings.likelihood import DENSE, PairTotals, newton, win_rates, with_points

if TYPE_CHECKING:
    from scipy.sparse import csr_array

CLOSE = 0.01  # logits: after a step of this length less than 1e-4 is missing, and a spread needs no more


def spread_plan(n_resamples: int, rng: int | np.random.Generator, workers: int | None, progress: bool) -> Plan:
    """Check the options of resampling; a spread takes two ratings."""
    plan = make_plan(n_resamples, rng, workers, progress)
    if plan.n_resamples < 2:
        raise InputError("n_resamples is 1: the spread of ratings takes 2 or more (100 is usual)")
    return plan


def bootstrap_covariance(
    matches: Matches,
    totals: PairTotals,
    r: Floats,
    free: Bools,
    weights: Floats,
    plan: Plan,
    log_variance: float = 0.0,
) -> Covariance:
    """Return the covariance of ratings fitted to games that count more or less by chance.

    This is the Bayesian bootstrap (Rubin 1981): each game has a random weight from an exponential distribution, so
    that a pair's wins together have one from a gamma distribution, whatever their number. It takes weights that are not
    whole, and no result ever drops out. Where the matches have clusters, a cluster's games share one weight. What these
    lack of the scatter that the sandwich knows is added (`Lacking`), and so is what ``log_variance``, that of
    ``log sigma^2``, moves. One resample costs a draw and two steps of Newton's method.
    """
    work = Resample(matches=matches, totals=totals, r=r, free=free, lacking=Lacking.of(matches, totals, r, free))
    moves = np.concatenate(run_resamples(work, plan, 0, "Resampling the league ..."))
    from_origin = moves - (moves @ weights)[:, None]
    centred = moves - moves.mean(axis=0)
    matrix = centred.T @ centred / (len(moves) - 1) if moves.shape[1] <= DENSE else None
    found = Covariance(
        matrix=matrix,
        variances=from_origin.var(axis=0, ddof=1),
        weights=weights,
        accuracy=1 / float(np.sqrt(2 * (len(moves) - 1))),
    )
    if not log_variance:
        return found
    return found.widened(work.lacking.league.moved_by_prior(r[totals.i] - r[totals.j]) * np.sqrt(log_variance))


@dataclass(frozen=True, kw_only=True, eq=False)
class Lacking:
    """What the sandwich adds to the scatter of games or clusters, for random weights of these: to first order.

    In ``rows`` (pairs, nodes) are standard deviations of slopes beside them: an agent that never lost has surprised
    nobody, and random weights of its wins do not move it. ``clusters`` (clusters, nodes) are the corrected slopes of
    clusters minus the plain ones, which weights alone bring in. Weights whose sum is fixed spread a mean of ``K``
    clusters by ``K / (K + 1)`` of its variance: the corrected slopes are larger by as much.
    """

    league: LinearLeague
    rows: "csr_array"
    clusters: "csr_array | None"

    @staticmethod
    def of(matches: Matches, totals: PairTotals, r: Floats, free: Bools) -> "Lacking":
        """Return it for ratings in logits."""
        from scipy.sparse import csr_array

        x, played, split = r[totals.i] - r[totals.j], len(matches.pairs), matches.clusters
        league = LinearLeague.at(totals, x, free)
        edges, clusters = incidence(totals.nodes, totals.i, totals.j), None
        if split is None:
            variance = results_of(matches, totals, x, league.curvatures).lacking()
        else:
            score = league.score(matches, x)
            assert score is not None
            assert score.clusters is not None
            variance = score.variance[:played]
            slopes = (split.wins + split.draws + split.losses) * win_rates(x)[split.pair] - split.wins - split.draws / 2
            plain = csr_array((slopes, (split.cluster, split.pair)), shape=score.clusters.shape)
            clusters = csr_array((score.clusters * np.sqrt((split.size + 1) / split.size) - plain) @ edges)
        rows = csr_array(edges[:played].multiply(np.sqrt(variance)[:, None]))
        return Lacking(league=league, rows=rows, clusters=clusters)

    def move(self, rng: np.random.Generator, weight: Floats | None = None) -> Floats:
        """Return by how much agents' ratings move in a resample beyond what the weights of games or clusters do."""
        slopes = self.rows.T @ rng.standard_normal(self.rows.shape[0])
        if self.clusters is not None and weight is not None:
            slopes += self.clusters.T @ (weight - 1)
        return -self.league.outside(self.league.solve(slopes[self.league.kept][:, None]))[:, 0]


@dataclass(frozen=True, kw_only=True, eq=False)
class Resample:
    """The work of one worker: leagues with reweighted games, rated again."""

    matches: Matches
    totals: PairTotals
    r: Floats
    free: Bools
    lacking: Lacking

    def __call__(self, streams: list[np.random.Generator]) -> Floats:
        """Return ``(streams, n)`` moves of ratings in logits, their mean taken out where nothing is anchored."""
        moves = np.stack([self.move(rng) for rng in streams])
        return moves - moves.mean(axis=1, keepdims=True) if self.free[:-1].all() else moves

    def move(self, rng: np.random.Generator) -> Floats:
        """Return how the ratings of one resample differ from those of all games."""
        split = self.matches.clusters
        if split is None:
            return self.fit(reweighted(self.matches, rng), rng) - self.r[:-1] + self.lacking.move(rng)
        weight = rng.standard_exponential(split.size)  # one for all games of a cluster, 1 on average
        weight /= weight.mean()
        parts, size = (split.wins, split.draws, split.losses), len(self.matches.pairs)
        counts = [np.bincount(split.pair, weight[split.cluster] * part, minlength=size) for part in parts]
        return self.fit(np.stack(counts, dtype=np.float64), rng) - self.r[:-1] + self.lacking.move(rng, weight)

    def fit(self, counts: Floats, rng: np.random.Generator) -> Floats:
        """Return the ratings of resampled wins, draws and losses."""
        wins, draws, losses = counts
        totals = with_points(self.totals, wins + draws / 2, losses + draws / 2)
        if totals.normal is not None:  # the prior's bias is an error too: its centre varies as ratings do
            noise = np.sqrt(totals.normal.dispersion) * totals.normal.noise(totals.sigma, 1, rng)
            totals = replace(totals, pull=noise[:-1, 0])
        r = self.r.copy()
        newton(totals, r, self.free, close=CLOSE)
        return r[:-1]


def reweighted(matches: Matches, rng: np.random.Generator) -> Floats:
    """Return wins, draws and losses of one resample, ``(3, pairs)``.

    Outcomes between 0 and 1 vary less than wins and losses with the same sum. A pair's are drawn as if a share of its
    games ended with its mean outcome and the others were decided: such that their squares have the sum that was seen.
    """
    counts = np.stack([matches.wins, matches.draws, matches.losses])
    if matches.fractions is None:
        return rng.standard_gamma(counts)
    decided = matches.wins + matches.losses
    mean = np.divide(matches.wins, decided, out=np.full(decided.size, 0.5), where=decided > 0)
    alike = np.minimum(matches.fractions / np.maximum(mean * (1 - mean), 1e-300), decided)
    counts[[0, 2]] -= np.stack([mean, 1 - mean]) * alike
    drawn, middle = rng.standard_gamma(np.maximum(counts, 0.0)), rng.standard_gamma(alike)
    drawn[[0, 2]] += np.stack([mean, 1 - mean]) * middle
    return drawn
