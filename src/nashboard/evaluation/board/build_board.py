"""Boards of a problem: agents, and tasks if there are tasks, all from the same draws."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np

from nashboard._types import Floats, Ints
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import NO_COUNTS, Matches
from nashboard.data.scores import Scores
from nashboard.evaluation.board.board import Board, Second, rank_places
from nashboard.evaluation.posterior.draws import ELO_PRIOR, Draws
from nashboard.evaluation.posterior.posterior import TIE, Posterior, draw_ranks, rank_interval, summarise_draws
from nashboard.evaluation.problem import LOG_ODDS, Data, Problem
from nashboard.ranking.registry import check_options, find_method, score_draws
from nashboard.ratings.elo import elo
from nashboard.ratings.errors import origin_weights
from nashboard.ratings.rating import checked_anchor, describe_origin

OWN_METHODS = ("nash", "elo", "uniform", "mean")  # methods with columns of their own
ELO_POINTS = "Elo points"


def build_board(problem: Problem) -> Board:
    """Return the board of agents."""
    scale = POINTS_PER_LOGIT if problem.unit == LOG_ODDS else 1.0
    uniform = uniform_averages(problem)[problem.classes.label] * scale
    second = filter(None, (rating_column(problem), mean_column(problem), *method_columns(problem)))
    board = make_board(problem.posterior, "agent", problem.settings.call, uniform, count_games(problem.data), scale)
    return replace(board, unit=ELO_POINTS if problem.unit == LOG_ODDS else problem.unit, second=tuple(second))


def make_board(posterior: Posterior, kind: str, call: str, uniform: Floats, games: Floats, scale: float = 1.0) -> Board:
    """Return the board of a posterior, with the plain averages."""
    point = posterior.gap[np.unique(posterior.classes, return_index=True)[1]]
    return Board(
        kind=kind,
        call=call,
        unit=posterior.unit,
        level=posterior.level,
        draws=posterior.draws,
        names=posterior.agents,
        gaps=posterior.gap * scale,
        gap_low=posterior.gap_low * scale,
        gap_high=posterior.gap_high * scale,
        probability_top=np.array(posterior.probability_top),
        ranks=rank_places(-point, TIE * float(point.max()))[posterior.classes],
        rank_low=np.array(posterior.rank_low),
        rank_high=np.array(posterior.rank_high),
        weights=np.array(posterior.weight),
        classes=np.array(posterior.classes),
        uniform=uniform,
        uniform_ranks=rank_places(uniform, 1e-12 * float(np.abs(uniform).max())),
        games=games,
    )


def uniform_averages(problem: Problem) -> Floats:
    """Return the plain average of each class over all opponents or tasks as entered."""
    entered = problem.classes if problem.tasks is None else problem.tasks
    shares = entered.size / entered.size.sum()
    if problem.large:  # payoffs are differences of ratings, but for the cyclic part
        assert problem.draws.ratings is not None
        ratings = problem.draws.ratings.mean(axis=0)
        return np.asarray(ratings - shares @ ratings)
    return np.asarray(problem.expected @ shares)


def count_games(data: Data) -> Floats:
    """Return the games of each agent, NaN if they were not counted."""
    if isinstance(data, Matches) and NO_COUNTS not in data.origin.notes:
        return np.array(data.games_per_agent)
    return np.full(len(data.agents), np.nan)


def rating_column(problem: Problem) -> Second | None:
    """Return the Elo ratings of `elo`, with its intervals; if agents are pooled, the ratings of the draws.

    A pooled agent has the games of several, and would count as several in a fit; in the draws it is one opponent.
    """
    classes, level = problem.classes, problem.settings.level
    if not isinstance(problem.merged, Matches) or "elo" not in problem.settings.methods:
        return None
    anchor = average_anchors(problem)
    names = tuple(problem.agents[k] for k in classes.first)
    weights = origin_weights(problem.pooled()) if len(names) > 1 else np.ones(1)
    meaning = f"Elo rating in points, {describe_origin(problem.settings.anchor, names, weights)}"
    if len(names) == 1 or problem.pools:
        meaning += ", agents that are pooled count once" * bool(problem.pools)
        return summarise_second("Elo", meaning, draw_ratings(problem, names, anchor), problem, decimals=0)
    fit = elo(
        problem.merged,
        prior=ELO_PRIOR if problem.literal else "learned",
        first_advantage=not problem.literal and problem.neutral[1] is not None,
        anchor=anchor or None,
    )
    if problem.literal:
        return summarise_second("Elo", meaning, fit.ratings[None], problem, decimals=0)
    assert fit.covariance is not None
    half = NormalDist().inv_cdf((1 + level) / 2) * fit.stderr
    ranks = fit.intervals_of_ranks(level)
    assert ranks is not None
    label = classes.label
    return Second(
        name="Elo",
        meaning=meaning,
        values=fit.ratings[label],
        low=(fit.ratings - half)[label],
        high=(fit.ratings + half)[label],
        rank_low=ranks.low[label],
        rank_high=ranks.high[label],
        simultaneous=True,
    )


def draw_ratings(problem: Problem, names: tuple[str, ...], anchor: dict[str, float]) -> Floats:
    """Return the ratings of the draws in points: each class's mean lead over all others, shifted to the anchors."""
    assert problem.draws.ratings is not None
    points = problem.draws.ratings * POINTS_PER_LOGIT
    if not anchor:
        return points
    anchored = [names.index(name) for name in anchor]
    return np.asarray(points + (np.array(list(anchor.values())) - points[:, anchored]).mean(axis=1, keepdims=True))


def average_anchors(problem: Problem) -> dict[str, float]:
    """Return anchored ratings by the name of the class; a class gets the mean of the anchors of its members."""
    anchors = checked_anchor(problem.settings.anchor or None, problem.agents)
    by_class: dict[str, list[float]] = {}
    for agent, points in anchors.items():
        first = problem.classes.first[problem.classes.label[agent]]
        by_class.setdefault(problem.agents[first], []).append(points)
    return {name: sum(points) / len(points) for name, points in by_class.items()}


def mean_column(problem: Problem) -> Second | None:
    """Return the plain means of the raw scores, with the spread of their draws, for pooled agents too."""
    draws, data = problem.draws.means, problem.data
    if draws is None or not isinstance(data, Scores) or len(set(data.lower_is_better.tolist())) > 1:
        return None  # a mean over tasks of both directions has no meaning
    meaning = "plain mean of the scores, missing ones as the model expects"
    if not data.missing.any():
        meaning = "plain mean of the scores as read"
        draws = data.values.mean(axis=1)[problem.exact.first] + (draws - draws.mean(axis=0))
    size = float(np.abs(draws).max())
    decimals = 3 if size < 10 else 1 if size < 1000 else 0
    label, lower = problem.exact.label, bool(data.lower_is_better.all())
    return summarise_second("mean", meaning, draws, problem, decimals=decimals, label=label, lower=lower)


def method_columns(problem: Problem) -> list[Second]:
    """Return the scores of other methods, computed in every draw between classes."""
    names = [name for name in problem.settings.methods if name not in OWN_METHODS]
    if not names:
        return []
    for name in names:
        check_options(find_method(name), problem.kind, {})
    tables, all_draws = problem.drawn_data(), len(problem.draws)
    few = f", from {len(tables)} of {all_draws:,} draws" if len(tables) < all_draws else ""
    columns = []
    for name in names:
        method = find_method(name)
        scores, unit = score_draws(method, tables)
        meaning = f"score by {method.title}, {unit}{few}"
        columns.append(summarise_second(method.title, meaning, scores, problem, decimals=3))
    return columns


def summarise_second(
    name: str,
    meaning: str,
    draws: Floats,
    problem: Problem,
    *,
    decimals: int,
    label: Ints | None = None,
    lower: bool = False,
) -> Second:
    """Summarise another number per class over the draws; ``label`` is the class of every agent, ``lower`` is better."""
    label, level = problem.classes.label if label is None else label, problem.settings.level
    entry = problem.classes.label
    tail = (1 - level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0, method="weibull")
    better = -draws if lower else draws
    if len(problem.classes.first) < draws.shape[1]:  # pooled entries count once, as in the ranks by gap
        pool = entry[problem.exact.first]
        better = np.stack([better[:, pool == k].mean(axis=1) for k in range(len(problem.classes.first))], axis=1)
    rank_low, rank_high = rank_interval(draw_ranks(better.max(axis=1, keepdims=True) - better), level)
    return Second(
        name=name,
        meaning=meaning,
        values=draws.mean(axis=0)[label],
        low=low[label],
        high=high[label],
        rank_low=rank_low[entry],
        rank_high=rank_high[entry],
        decimals=decimals,
    )


def build_task_board(problem: Problem) -> Board | None:
    """Return the board of tasks: the hardness of each for the agents at the top, and whether it decides."""
    if problem.tasks is None:
        return None
    assert isinstance(problem.data, Scores)
    draws, label = problem.draws, problem.tasks.label
    assert draws.task_weights is not None
    hardness = measure_hardness(problem)
    gaps = hardness.max(axis=1, keepdims=True) - hardness
    of_tasks = Draws(gaps=gaps, weights=draws.task_weights, point=gaps.mean(axis=0))
    summary = summarise_draws(of_tasks, problem.data.tasks, label, unit=problem.unit, level=problem.settings.level)
    decides = (draws.task_weights > 0).mean(axis=0)[label]
    uniform = -(problem.expected.T @ (problem.classes.size / problem.classes.size.sum()))[label]
    return replace(make_board(summary, "task", "tasks", uniform, np.full(len(label), np.nan)), probability_top=decides)


def measure_hardness(problem: Problem) -> Floats:
    """Return ``(S, T)`` minus the score of the agents at the top on each task, in task units."""
    draws = problem.draws
    if draws.payoffs is None:
        return np.asarray(-draws.weights @ problem.expected)
    return np.asarray(-np.einsum("sc,sct->st", draws.weights, draws.payoffs))
