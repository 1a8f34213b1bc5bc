"""New data like the given ones, and noisy copies, simulated from draws of the truth.

Symbols: ``x`` a draw of the log-odds (n, n), ``N`` games, ``phi`` the variance of their results relative to decisive
games that are independent: new points are ``N B / C`` with ``B ~ Binomial(C, s(x))`` and ``C = N / phi`` coins.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from nashboard._types import Bools, Floats, Ints
from nashboard.data.matches import Matches
from nashboard.ranking.pairwise import Pairwise, from_table, pairwise, scale_scores


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulation:
    """A model of repeated measurements of the data."""

    data: Pairwise  # what was observed
    # truths(k) is draw k of the truth for all agents: payoffs (n, n), or scores (n, t) in their own units, higher
    # better, up to a constant for each task
    truths: Callable[[int], Floats]
    count: int  # number of draws
    # standard errors of payoffs (n, n) or scores (n, t), or of every draw (count, n, t); games have their own
    noise: Floats | None = None
    dispersion: float = 1.0  # phi, below 1 with draws, above 1 where games of one cluster are alike

    def draw(self, k: int, rng: np.random.Generator, kept: Ints | None = None) -> Pairwise:
        """Return new results of all agents from draw k; with ``kept``, only of copies, positions that occur again.

        A noisy copy has as many games as the original, or scores with the same standard errors, and no game against it.
        """
        rows = np.arange(self.data.size) if kept is None else kept
        fresh = np.array([kept is None or k in rows[:at] for at, k in enumerate(rows)])
        old = self.data.take(rows)
        if self.data.table is not None:
            assert self.noise is not None
            noise = self.noise if self.noise.ndim == 2 else self.noise[k]
            return self.draw_scores(old, self.truths(k), noise, rows, fresh, rng)
        x = self.truths(k)[np.ix_(rows, rows)]
        new = (fresh[:, None] | fresh) & (rows[:, None] != rows)
        if self.data.kind == "matches":
            return draw_games(old, x, new, self.dispersion, rng)
        assert self.noise is not None
        error = np.triu(rng.normal(size=x.shape) * np.where(new, self.noise[np.ix_(rows, rows)], 0.0), 1)
        A = np.where(new & np.isfinite(error), x + error - error.T, old.payoffs)
        limit = 1.0 if self.data.unit == "margin" else np.inf
        return replace(old, payoffs=np.clip(A, -limit, limit))

    def draw_scores(
        self, old: Pairwise, truth: Floats, noise: Floats, rows: Ints, fresh: Bools, rng: np.random.Generator
    ) -> Pairwise:
        """Return a table with new scores of these rows, scaled as the observed table was.

        Single runs keep their deviations from the mean, which changes.
        """
        given = self.data.compared_raw
        truth = truth + (given - truth).mean(axis=0)
        raw = np.where(
            fresh[:, None], truth[rows] + rng.normal(size=(rows.size, truth.shape[1])) * noise[rows], given[rows]
        )
        S = raw if self.data.scaling == "given" else scale_scores(raw, self.data.scaling)
        assert old.raw is not None
        every = np.array(old.raw)
        every[:, self.data.compared_tasks] = raw
        new = from_table(old.agents, S, every, scaling=self.data.scaling, notes=self.data.notes)
        if old.runs is None:
            return new
        return replace(new, runs=tuple(one + shift for one, shift in zip(old.runs, every - old.raw, strict=True)))


def draw_games(old: Pairwise, x: Floats, new: Bools, dispersion: float, rng: np.random.Generator) -> Pairwise:
    """Return as many games of the new pairs; draws stay where the points allow it."""
    N, D = old.games, old.counts[1]
    coins = np.where(N > 0, np.maximum(np.rint(N / dispersion), 1), 0).astype(np.int64)
    won = np.triu(rng.binomial(coins, 1 / (1 + np.exp(-x))), 1) / np.maximum(coins, 1) * N
    points = np.where(new, won + np.tril(N - won.T, -1), old.points)
    D = np.where(new, np.minimum(D, 2 * np.minimum(points, points.T)), D)
    return pairwise(Matches.from_counts(np.maximum(points - D / 2, 0.0), old.agents, draws=D))
