"""Standard errors of Elo ratings, from the curvature of the loss at its minimum.

Symbols: ``V = L^-1`` inverse Hessian on the free nodes; ``B`` covariance of the score; ``T`` takes the mean of
the agents' ratings out where nothing is anchored. Variances are the diagonal of ``T V T'`` (``hessian``, the
inverse of the observed information) or of ``T V B V T'`` (``sandwich``; Huber 1967, White 1980).

**What the sandwich cannot see.** ``B`` is made of what surprised the fit. An agent that won thirty of thirty has
surprised nobody: its residuals, and with them its sandwich errors, are near 0 exactly where its rating is hardly known.
So errors have a floor. If games (or clusters) scatter ``phi`` times as much as the model's decisive games, ``phi < 1``
for draws, then ``B`` estimates ``phi`` times the information. For one agent ``a``

    phi_a = min(1, (B_aa + 1/4) / J_aa),    J_aa = sum over its games of p (1 - p)

where the quarter is one more even, decisive game. It makes up for the game's worth of scatter that a rating takes out
of its own residuals; and where all games of an agent together tell less than one even game, nothing is known of
``phi``, and it is 1. The floor is the diagonal of ``T V F V T'``, with ``F`` the Laplacian of the curvatures times the
larger ``phi`` of the pair, and the prior's as they are. With every ``phi = 1`` it is ``T V T'``, the errors of
``hessian``; with many informative games it is what the sandwich says, draws and negatively dependent clusters
included. An error is the larger of the two.

Standard errors of Elo ratings by resampling: the spread of fits in which every game counts more or less by chance.

This is the Bayesian bootstrap (Rubin 1981): each game has a random weight from an exponential distribution, so that
a pair's wins together have one from a gamma distribution, whatever their number. Against drawing games with repetition
it costs the same for a thousand games and for a billion, takes weights that are not whole, and no result ever drops
out: where the ratings are finite, those of every resample are. Where the matches have clusters, a cluster's games share
one weight.

One resample costs a draw and two steps of Newton's method from the ratings of all games.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit

from nashboard._types import Bools, Floats
from nashboard._workers import Plan, plan_of, spread_out
from nashboard.data.matches import Matches
from nashboard.errors import ConvergenceError, InputError
from nashboard.ratings.likelihood import PairTotals
from nashboard.ratings.newton import DENSE, newton, solver, sparse_laplacian

PROBES = 64
BLOCK = 256
EVEN_GAME = 0.25  # information p (1 - p) of one decisive game between equals


def standard_errors(matches: Matches, totals: PairTotals, x: Floats, free: Bools, *, robust: bool) -> Floats:
    """Return ``(n,)`` standard errors in logits; 0 for anchors, NaN where double precision does not tell.

    Up to 2,000 agents they are exact. For more, the diagonal is estimated from 64 fixed probe vectors
    (Bekas, Kokiopoulou and Saad 2007), to about one percent in a well-connected league.
    """
    n = totals.agents
    nodes = totals.nodes_in_play(free)
    moving = free[:nodes]
    loose = bool(moving.all())
    curvatures = totals.derivatives(x)[1]
    try:
        V = solver(nodes, totals.i, totals.j, curvatures, moving, rtol=1e-3)
    except ConvergenceError:  # curvatures too far apart for double precision: nobody knows
        return np.where(free[:n], np.nan, 0.0)
    kept = np.flatnonzero(moving)
    real = kept < n

    def variances(B: csr_array | None) -> Floats:
        """Return the diagonal of ``T V B V T'``, or of ``T V T'``."""
        inside = None if B is None else B[:nodes, :nodes][kept][:, kept]

        def covariance(columns: Floats) -> Floats:
            y = V(taken_out(columns, real, loose, adjoint=True))
            return taken_out(V(inside @ y) if inside is not None else y, real, loose)

        found = np.zeros(nodes)
        found[kept] = diagonal(covariance, kept.size, exact=kept.size <= DENSE)
        return np.maximum(found[:n], 0.0)

    if not robust:
        return np.sqrt(variances(None))
    B = score_covariance(matches, totals, x)
    F = floor_covariance(B, totals, curvatures, len(matches.pairs), game_unit(matches))
    return np.sqrt(np.maximum(variances(B), variances(F)))


def game_unit(matches: Matches) -> float:
    """Return the weight of one game: 1 where games were counted, the mean where clusters have weights, not numbers."""
    split = matches.clusters
    if split is None:
        return 1.0
    weights = split.wins + split.draws + split.losses
    return 1.0 if (weights == weights.round()).all() else float(weights.mean())


def floor_covariance(B: csr_array, totals: PairTotals, curvatures: Floats, played: int, unit: float) -> csr_array:
    """Return ``F``, the least covariance of the score that ``B`` is believed to show; see above.

    Games of weight ``unit`` have a score as large, and a covariance of its square: so errors do not depend on the unit.
    """
    i, j = totals.i[:played], totals.j[:played]
    both = np.bincount(i, curvatures[:played], totals.nodes) + np.bincount(j, curvatures[:played], totals.nodes)
    known, scatter = both / unit, B.diagonal() / unit**2 + EVEN_GAME
    phi = np.where(known > scatter, scatter / np.maximum(known, EVEN_GAME), 1.0)
    share = np.ones(curvatures.size)
    share[:played] = unit * np.maximum(phi[i], phi[j])
    return sparse_laplacian(totals.nodes, totals.i, totals.j, share * curvatures)


def taken_out(columns: Floats, real: Bools, loose: bool, *, adjoint: bool = False) -> Floats:
    """Apply ``T = I - 1 a'``, with ``a`` the mean over agents, or its transpose."""
    if not loose:
        return columns
    a = real / real.sum()
    return columns - np.outer(a, columns.sum(axis=0)) if adjoint else columns - a @ columns


def diagonal(product: Callable[[Floats], Floats], size: int, *, exact: bool) -> Floats:
    """Return the diagonal of a symmetric operator, exactly or from 64 fixed probe vectors."""
    if exact:
        found = np.empty(size)
        for start in range(0, size, BLOCK):
            rows = np.arange(start, min(start + BLOCK, size))
            unit = np.zeros((size, rows.size))
            unit[rows, rows - start] = 1.0
            found[rows] = product(unit)[rows, rows - start]
        return found
    signs: Floats = np.random.default_rng(0).choice(np.array([-1.0, 1.0]), size=(size, PROBES))
    return np.asarray((signs * product(signs)).mean(axis=1))


def score_covariance(matches: Matches, totals: PairTotals, x: Floats) -> csr_array:
    """Return ``B``, the sum over games (or clusters) of the squared score, without the prior's games."""
    played = len(matches.pairs)
    i, j = totals.i[:played], totals.j[:played]
    p = expit(x[:played])
    if matches.clusters is None:
        spread = matches.wins * (1 - p) ** 2 + matches.draws * (0.5 - p) ** 2 + matches.losses * p**2
        return sparse_laplacian(totals.nodes, i, j, spread)
    split = matches.clusters
    score = split.wins + split.draws / 2 - (split.wins + split.draws + split.losses) * p[split.pair]
    rows = np.concatenate([split.cluster, split.cluster])
    columns = np.concatenate([i[split.pair], j[split.pair]])
    scores = csr_array((np.concatenate([score, -score]), (rows, columns)), shape=(split.size, totals.nodes))
    return csr_array(scores.T @ scores)


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
