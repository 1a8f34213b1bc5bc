"""The same arena played again.

Symbols: ``A`` payoffs of a resample, ``p`` its equilibrium.
"""

from dataclasses import dataclass

import numpy as np

from nashboard._types import Floats, Ints
from nashboard._workers import Plan
from nashboard.data.matches import Matches
from nashboard.data.payoffs import payoffs
from nashboard.equilibrium.batch import nash_averages
from nashboard.equilibrium.nash_average import nash_average
from nashboard.equilibrium.results import Selection
from nashboard.evaluation import resampling
from nashboard.evaluation.intervals import Samples, joined
from nashboard.evaluation.pooling import Pooling, pooling
from nashboard.ratings.cross_validation import with_counts
from nashboard.ratings.errors import clusters_reweighted
from nashboard.ratings.filling import predicted_log_odds, smoothed_ratings

PSEUDO = 0.5  # wins added to each side: the prior of the payoffs


def matches_again(matches: Matches, selection: Selection, plan: Plan, watched: Ints | None = None) -> Samples:
    """Play the arena again: every game, or every cluster of games, counts more or less by chance.

    ``watched`` (agents, some) are the opponents whose part in an agent's average is kept.
    """
    work = ArenaAgain(
        matches=matches,
        selection=selection,
        start=smoothed_ratings(matches, 2 * PSEUDO),
        prior=prior_of(matches),
        watched=np.empty((len(matches.agents), 0), dtype=np.intp) if watched is None else watched,
        pooling=pooling(matches),
    )
    return resampling.sampled(work, plan, 0, "Playing the arena again ...")[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class ArenaAgain:
    """The work of one worker: arenas replayed and solved."""

    matches: Matches
    selection: Selection
    start: Floats
    prior: float
    watched: Ints
    pooling: Pooling

    def __call__(self, streams: list[np.random.Generator]) -> tuple[Samples, ...]:
        """Return a sample per stream."""
        if len(self.matches.agents) > resampling.STACKED:  # one by one, so that memory holds one game per worker
            return (joined(self.solved([rng]) for rng in streams),)
        return (self.solved(streams),)

    def solved(self, streams: list[np.random.Generator]) -> Samples:
        """Return Nash averages of arenas played again, and who has weight where pairs lend each other strength."""
        games = np.stack([self.game(rng) for rng in streams])
        pooled = np.stack([self.pooling.drawn(A, rng) for A, rng in zip(games, streams, strict=True)])
        averages, weights = equilibria(games, self.selection)
        rows = np.arange(games.shape[1])[:, None]
        return Samples(
            averages=averages,
            gaps=np.minimum(averages, 0.0),
            weights=weights,
            inside=(equilibria(pooled, self.selection)[1] > 0).astype(np.float64),
            scale=np.abs(games).max(axis=(1, 2)),
            terms=weights[:, self.watched] * games[:, rows, self.watched],
        )

    def game(self, rng: np.random.Generator) -> Floats:
        """Return the payoffs of one more run of the arena."""
        return payoff_matrix(with_counts(self.matches, replayed(self.matches, rng)), self.start, self.prior)


def equilibria(games: Floats, selection: Selection) -> tuple[Floats, Floats]:
    """Return averages and weights of a stack of games."""
    if len(games) > 1:
        many = nash_averages(games, selection=selection)
        return many.averages, many.weights
    one = nash_average(games[0], selection=selection)
    return one.averages[None], one.weights[None]


def replayed(matches: Matches, rng: np.random.Generator) -> Floats:
    """Return wins, draws and losses of one more run of the arena, ``(3, pairs)``, to be used with `prior_of`.

    Parametric on pair counts: the rates of wins, draws and losses of a pair are drawn from their posterior, the
    Dirichlet distribution with parameters ``(wins + 1/2, draws, losses + 1/2)``. The half wins, the prior of the
    payoffs, keep a pair that ended 3 to 0 from being taken for certain. Where there are no draws this is the Beta
    posterior of the win rate under Jeffreys' prior. It is the same as giving every game (and half win) a random
    weight from an exponential distribution (the Bayesian bootstrap, Rubin 1981), which is what is done by cluster
    where a cluster column was read: the games of a cluster share one weight. Rates, not whole numbers of games:
    whole numbers make accidental ties, and an equilibrium is not unique where payoffs tie.
    """
    if matches.clusters is not None:
        return clusters_reweighted(matches, rng)
    drawn = rng.standard_gamma(np.stack([matches.wins + PSEUDO, matches.draws, matches.losses + PSEUDO]))
    return np.asarray(drawn * ((matches.games + 2 * PSEUDO) / drawn.sum(axis=0)))


def prior_of(matches: Matches) -> float:
    """Return the pseudo-games that the payoffs of `replayed` counts still need: none where they took part already."""
    return 0.0 if matches.clusters is None else 2 * PSEUDO


def payoff_matrix(matches: Matches, start: Floats, prior: float) -> Floats:
    """Return log-odds; pairs that never met have what Elo, fitted to these counts and the prior, predicts."""
    n = len(matches.agents)
    A = payoffs(matches, prior=prior, fill="zero").A
    if len(matches.pairs) == n * (n - 1) // 2:
        return A
    met = np.eye(n, dtype=np.bool_)
    i, j = matches.pairs.T
    met[i, j] = met[j, i] = True
    return np.where(met, A, predicted_log_odds(matches, prior, start))
