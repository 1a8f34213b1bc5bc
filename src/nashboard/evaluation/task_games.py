"""Scores as matches: every task is a game between every two agents, won by the higher score."""

import numpy as np

from nashboard.data.matches import Matches
from nashboard.data.scores import Scores


def task_games(scores: Scores) -> Matches:
    """Return matches in which a task counts as one game; equal scores are a draw, missing ones no game.

    Examples
    --------
    >>> import nashboard as nb
    >>> from nashboard.evaluation.task_games import task_games
    >>> task_games(nb.load_dataset("suite-3"))
    Matches(3 agents, 3 of 3 pairs met, 9 games)
    """
    S = np.where(scores.lower_is_better, -scores.values, scores.values)
    m = len(scores.agents)
    W, D = np.zeros((m, m)), np.zeros((m, m))
    for column in S.T:
        W += column[:, None] > column
        D += column[:, None] == column
    np.fill_diagonal(D, 0.0)
    return Matches.from_counts(W, scores.agents, draws=D)
