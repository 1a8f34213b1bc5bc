"""Standard errors of Elo ratings by resampling: the spread of fits in which every game counts more or less by chance.

This is the Bayesian bootstrap (Rubin 1981): each game has a random weight from an exponential distribution, so that
a pair's wins together have one from a gamma distribution, whatever their number. Against drawing games with repetition
it costs the same for a thousand games and for a billion, takes weights that are not whole, and no result ever drops
out: where the ratings are finite, those of every resample are. Where the matches have clusters, a cluster's games share
one weight.

One resample costs a draw and two steps of Newton's method from the ratings of all games.
"""

from dataclasses import dataclass, replace

import numpy as np

from nashboard._types import Bools, Floats
from nashboard._workers import Plan, plan_of, spread_out
from nashboard.data.matches import Matches
from nashboard.errors import InputError
from nashboard.ratings.likelihood import PairTotals
from nashboard.ratings.newton import newton

CLOSE = 0.01  # logits: after a step of this length less than 1e-4 is missing, and a spread needs no more


def spread_plan(
    n_resamples: int, rng: int | np.random.Generator, workers: int | None, progress: bool, backend: str | None
) -> Plan:
    """Check the options of resampling; a spread takes two ratings."""
    plan = plan_of(n_resamples, rng, workers, progress, backend)
    if plan.n_resamples < 2:
        raise InputError("n_resamples is 1: the spread of ratings takes 2 or more (100 is usual)")
    return plan


def spread_of_ratings(matches: Matches, totals: PairTotals, r: Floats, free: Bools, plan: Plan) -> Floats:
    """Return ``(n,)`` standard deviations in logits around the fit ``r``; 0 for anchors."""
    work = LeagueAgain(matches=matches, totals=totals, r=r, free=free)
    moves = np.concatenate(spread_out(work, plan, 0, "Playing the league again ..."))
    return np.asarray(moves.std(axis=0, ddof=1))


@dataclass(frozen=True, kw_only=True, eq=False)
class LeagueAgain:
    """The work of one worker: leagues played again and rated."""

    matches: Matches
    totals: PairTotals
    r: Floats
    free: Bools

    def __call__(self, streams: list[np.random.Generator]) -> Floats:
        """Return ``(streams, n)`` moves of ratings in logits, their mean taken out where nothing is anchored."""
        moves = np.stack([self.rated(rng) - self.r for rng in streams])[:, :-1]
        return moves - moves.mean(axis=1, keepdims=True) if self.free[:-1].all() else moves

    def rated(self, rng: np.random.Generator) -> Floats:
        """Return the ratings of one more run of the league."""
        wins, draws, losses = reweighted(self.matches, rng)
        played = len(self.matches.pairs)
        won, lost = self.totals.won.copy(), self.totals.lost.copy()  # after the pairs, the prior's games stay
        won[:played], lost[:played] = wins + draws / 2, losses + draws / 2
        r = self.r.copy()
        newton(replace(self.totals, won=won, lost=lost), r, self.free, close=CLOSE)
        return r


def reweighted(matches: Matches, rng: np.random.Generator) -> Floats:
    """Return wins, draws and losses of one more run, ``(3, pairs)``."""
    if matches.clusters is not None:
        return clusters_reweighted(matches, rng)
    return rng.standard_gamma(np.stack([matches.wins, matches.draws, matches.losses]))


def clusters_reweighted(matches: Matches, rng: np.random.Generator) -> Floats:
    """Return wins, draws and losses, ``(3, pairs)``: the games of a cluster share a random weight, 1 on average."""
    split = matches.clusters
    assert split is not None
    weight = rng.standard_exponential(split.size)
    weight = (weight / weight.mean())[split.cluster]
    parts = (split.wins, split.draws, split.losses)
    return np.stack([np.bincount(split.pair, weight * part, minlength=len(matches.pairs)) for part in parts])
