"""Draws of the truth: what every model of the data returns, and all that the board is computed from.

With ``noise="none"`` there is one draw, the data themselves, as in the paper.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nashboard._types import Floats, freeze
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs, payoffs
from nashboard.data.scores import Scaling, Scores
from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
from nashboard.equilibrium.results import Selection
from nashboard.ratings.elo import elo

ELO_PRIOR = 0.01  # drawn games of each agent with the average: maximum likelihood, but finite


@dataclass(frozen=True, kw_only=True, eq=False)
class Draws:
    """S draws of the truth for C classes of agents (exact copies merged, canonical order)."""

    # (S, C) distance to the best in each draw, at least 0, and exactly 0 in the support of the equilibrium;
    # log-odds for matches, task units for scores
    gaps: Floats
    weights: Floats  # (S, C) equilibrium weights, each row sums to 1
    point: Floats  # (C,) point estimate of the gap: the posterior mean
    ratings: Floats | None = None  # (S, C) ratings in log-odds, for matches: mean 0 over well-measured classes
    means: Floats | None = None  # (S, C) plain means of the raw scores, for scores
    task_weights: Floats | None = None  # (S, T) equilibrium weights of the tasks
    # (S, C, C) payoffs, or (S, C, T) scores in task units; None where they do not fit in memory
    payoffs: Floats | None = None
    # payoffs of so many draws, spread evenly, where those of all do not fit in memory
    some_payoffs: Callable[[int], Floats] | None = None
    # (C, C) or (C, T) posterior mean of the payoffs; it fills pairs that never met and missing cells
    expected: Floats | None = None
    # facts about the fitted model, for sentences: sigma, tau, tasks set aside, the noise used, ...
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.gaps)

    def __repr__(self) -> str:
        draws, classes = self.gaps.shape
        return f"Draws({draws:,} draws of {classes:,} agents)"


def literal_matches(matches: Matches, selection: Selection, tolerance: float | None = None) -> Draws:
    """Return the equilibrium of the smoothed log-odds; pairs that never met as Elo predicts."""
    game = payoffs(matches, fill="model")
    ratings = elo(matches, prior=ELO_PRIOR).ratings / POINTS_PER_LOGIT
    return literal_game(game, selection, tolerance, ratings, {"filled": game.filled, "payoffs": game.made})


def literal_payoffs(given: Payoffs, selection: Selection, tolerance: float | None = None) -> Draws:
    """Return the equilibrium of the payoffs."""
    return literal_game(given, selection, tolerance, None, {"filled": given.filled, "payoffs": given.made})


def literal_game(
    game: Payoffs, selection: Selection, tolerance: float | None, ratings: Floats | None, facts: dict[str, object]
) -> Draws:
    """Return one draw: the game itself."""
    found = nash_average(game, selection=selection, tolerance=tolerance)
    gaps = np.where(np.isin(game.agents, found.support), 0.0, np.maximum(-found.averages, 0.0))
    return Draws(
        gaps=gaps[None],
        weights=np.array(found.weights)[None],
        point=gaps.copy(),
        ratings=None if ratings is None else ratings[None],
        payoffs=np.array(game.A)[None],
        expected=np.array(game.A),
        facts=facts | {"tolerance": found.tolerance},
    )


def literal_scores(scores: Scores, scaling: Scaling, selection: Selection, tolerance: float | None = None) -> Draws:
    """Return the equilibrium of the table in comparable units; scores that were scaled stay as they are."""
    scaled = scores.scale(scaling) if scores.scaling == "raw" else scores
    found = nash_average_scores(scaled, selection=selection, tolerance=tolerance)
    best = np.isin(scores.agents, found.agent_support)
    gaps = np.where(best, 0.0, np.maximum(found.value - found.skills, 0.0))
    return Draws(
        gaps=gaps[None],
        weights=np.array(found.agent_weights)[None],
        point=gaps.copy(),
        means=scores.values.mean(axis=1)[None],
        task_weights=np.array(found.task_weights)[None],
        payoffs=np.array(scaled.values)[None],
        expected=np.array(scaled.values),
        facts={"scaling": scaled.scaling, "tolerance": found.tolerance},
    )


def single_class(data: Matches | Scores | Payoffs, draws: int) -> Draws:
    """Return draws of a single class, which is always at the top."""
    zero = np.zeros((draws, 1))
    tasks = len(data.tasks) if isinstance(data, Scores) else None
    means = np.repeat([[float(np.nanmean(data.values[0]))]], draws, axis=0) if isinstance(data, Scores) else None
    return Draws(
        gaps=zero,
        weights=zero + 1.0,
        point=np.zeros(1),
        ratings=zero if isinstance(data, Matches) else None,
        means=means,
        task_weights=None if tasks is None else np.full((draws, tasks), 1.0 / tasks),
        payoffs=np.zeros((draws, 1, tasks or 1)),
        expected=np.zeros((1, tasks or 1)),
    )
