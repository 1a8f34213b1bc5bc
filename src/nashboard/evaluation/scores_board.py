"""The boards of agents against tasks: skill and weight of agents, difficulty and weight of tasks."""

import numpy as np

from nashboard._types import Floats
from nashboard.data.scores import Scores
from nashboard.equilibrium.nash_average import nash_average_scores
from nashboard.equilibrium.results import ScoreNashAverage, Selection, tied_ranks
from nashboard.evaluation.board.board import Board, places, tie_groups
from nashboard.evaluation.classes import Classes


def scores_boards(
    scores: Scores, of_agents: Classes, of_tasks: Classes, selection: Selection
) -> tuple[Board, Board, ScoreNashAverage, Scores]:
    """Return the boards of agents and of tasks, with the equilibrium and the scores of the classes they stand on."""
    by_class = scores.select([scores.agents[k] for k in of_agents.first], [scores.tasks[k] for k in of_tasks.first])
    found = nash_average_scores(by_class, selection=selection)
    S, unit = by_class.values, f"scaling {scores.scaling}"
    over_tasks, over_agents = of_tasks.size / of_tasks.size.sum(), of_agents.size / of_agents.size.sum()
    agents = side(
        "agent", "skill", unit, scores.agents, found.skills, found.value, found.agent_weights, found.scale,
        S @ over_tasks, of_agents,
    )  # fmt: skip
    tasks = side(
        "task", "difficulty", unit, scores.tasks, found.difficulties, -found.value, found.task_weights, found.scale,
        -(S.T @ over_agents), of_tasks,
    )  # fmt: skip
    return agents, tasks, found, by_class


def side(
    kind: str,
    average_name: str,
    unit: str,
    names: tuple[str, ...],
    averages: Floats,
    best: float,
    weights: Floats,
    scale: float,
    uniform: Floats,
    roll: Classes,
) -> Board:
    """Return the board of one side; everybody in the support is exactly at the best average."""
    averages = np.where(weights > 0, best, np.minimum(averages, best))
    ranks = tied_ranks(averages, scale)[roll.label]
    unknown = np.full(len(names), np.nan)
    everyone = uniform[roll.label]
    return Board(
        kind=kind,
        average_name=average_name,
        unit=unit,
        names=names,
        averages=averages[roll.label],
        gaps=averages[roll.label] - best,
        weights=roll.shares(weights),
        ranks=ranks,
        ties=tie_groups(ranks),
        classes=np.array(roll.label),
        uniform=everyone,
        uniform_ranks=places(everyone, 1e-12 * max(scale, 1e-300)),
        games=unknown.copy(),
        rating_name="",
        ratings=unknown.copy(),
        rating_low=unknown.copy(),
        rating_high=unknown.copy(),
        rating_ranks=np.zeros(len(names), dtype=np.intp),
    )
