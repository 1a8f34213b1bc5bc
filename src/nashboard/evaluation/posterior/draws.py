"""Draws of the truth: the result of every model of the data, and the basis of the board.

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
    # (S, C, C) payoffs, or (S, C, T) scores in task units; None if they do not fit in memory
    payoffs: Floats | None = None
    # payoffs of a number of draws, spread evenly, if those of all do not fit in memory
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


def solve_matches(matches: Matches, selection: Selection, tolerance: float | None = None) -> Draws:
    """Return the equilibrium of the smoothed log-odds; pairs that never met as Elo predicts."""
    game = payoffs(matches, fill="model")
    ratings = elo(matches, prior=ELO_PRIOR).ratings / POINTS_PER_LOGIT
    return solve_game(game, selection, tolerance, ratings, {"filled": game.filled, "payoffs": game.made})


def solve_payoffs(given: Payoffs, selection: Selection, tolerance: float | None = None) -> Draws:
    """Return the equilibrium of the payoffs."""
    return solve_game(given, selection, tolerance, None, {"filled": given.filled, "payoffs": given.made})


def solve_game(
    game: Payoffs, selection: Selection, tolerance: float | None, ratings: Floats | None, facts: dict[str, object]
) -> Draws:
    """Return one draw: the game itself."""
    nash = nash_average(game, selection=selection, tolerance=tolerance)
    gaps = np.where(np.isin(game.agents, nash.support), 0.0, np.maximum(-nash.averages, 0.0))
    return Draws(
        gaps=gaps[None],
        weights=np.array(nash.weights)[None],
        point=gaps.copy(),
        ratings=None if ratings is None else ratings[None],
        payoffs=np.array(game.A)[None],
        expected=np.array(game.A),
        facts=facts | {"tolerance": nash.tolerance},
    )


def solve_scores(scores: Scores, scaling: Scaling, selection: Selection, tolerance: float | None = None) -> Draws:
    """Return the equilibrium of the table in comparable units; scores that were scaled are not changed."""
    scaled = scores.scale(scaling) if scores.scaling == "raw" else scores
    nash = nash_average_scores(scaled, selection=selection, tolerance=tolerance)
    best = np.isin(scores.agents, nash.agent_support)
    gaps = np.where(best, 0.0, np.maximum(nash.value - nash.skills, 0.0))
    return Draws(
        gaps=gaps[None],
        weights=np.array(nash.agent_weights)[None],
        point=gaps.copy(),
        means=scores.values.mean(axis=1)[None],
        task_weights=np.array(nash.task_weights)[None],
        payoffs=np.array(scaled.values)[None],
        expected=np.array(scaled.values),
        facts={"scaling": scaled.scaling, "tolerance": nash.tolerance},
    )


def draw_single_class(data: Matches | Scores | Payoffs, draws: int) -> Draws:
    """Return draws for a single class, which is always at the top."""
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
