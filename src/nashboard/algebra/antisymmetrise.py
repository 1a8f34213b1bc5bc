"""Two ways to see agents and tasks as players of one antisymmetric matrix, ``(m + n, m + n)``.

`flow_of_scores` (section 3.3) also compares agents with agents by skill and tasks with tasks by difficulty;
its curl vanishes exactly when averages explain the scores. `game_of_scores` (appendix D, and proposition 2)
has zeros there: agents meet only tasks, and its equilibrium is that of the matrix game ``S``.
"""

import numpy as np

from nashboard._types import Floats
from nashboard.algebra.averages import ScoresLike, averages, comparable_scores
from nashboard.algebra.operators import gradient


def flow_of_scores(S: ScoresLike) -> Floats:
    """Return ``[[grad(s), S], [-S', grad(d)]]``: S minus its mean, ``s`` skills, ``d`` difficulties.

    Agents come first, then tasks. It equals ``grad(r)`` plus the game of what averages leave over, where
    ``r`` is ``s`` followed by ``d`` (section 3.3).

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.flow_of_scores([[3, 1], [1, -1]])
    array([[ 0.,  2.,  2.,  0.],
           [-2.,  0.,  0., -2.],
           [-2.,  0.,  0., -2.],
           [ 0.,  2.,  2.,  0.]])
    """
    parts = averages(comparable_scores(S).values)
    centred = parts.flow + parts.rest
    return np.block([[gradient(parts.skills), centred], [-centred.T, gradient(parts.difficulties)]]) + 0.0


def game_of_scores(S: ScoresLike) -> Floats:
    """Return ``[[0, S], [-S', 0]]``: agents gain their scores, tasks lose them (appendix D).

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.game_of_scores([[3, 1]])
    array([[ 0.,  3.,  1.],
           [-3.,  0.,  0.],
           [-1.,  0.,  0.]])
    """
    scores = comparable_scores(S).values
    m, n = scores.shape
    return np.block([[np.zeros((m, m)), scores], [-scores.T, np.zeros((n, n))]]) + 0.0
