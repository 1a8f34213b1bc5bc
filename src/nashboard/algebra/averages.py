"""Average skill and difficulty, and what they leave of a table of scores (section 3.3 of the paper).

Symbols: ``S`` scores (m agents, n tasks) minus their mean; ``s`` (m,) skills, the means over tasks; ``d``
(n,) difficulties, minus the means over agents; ``rest = S - (s 1' - 1 d')`` has no averages left.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nashboard._types import Floats
from nashboard.data.scores import Scores

ScoresLike = ArrayLike | Scores

GIVEN = "as given"


@dataclass(frozen=True, kw_only=True, eq=False)
class Averages:
    """The mean of all scores, skills, difficulties, and the rest of the table."""

    mean: float
    skills: Floats
    difficulties: Floats
    rest: Floats

    @property
    def flow(self) -> Floats:
        """What averages explain of the centred scores: ``skill - difficulty``, ``(m, n)``."""
        return self.skills[:, None] - self.difficulties


def comparable_scores(data: ScoresLike) -> Scores:
    """Return complete scores in comparable units, higher better; the scaling is named in the result.

    Scores as read are scaled per task by minimum and maximum; scores that were scaled stay as they are; a
    bare array is used as it is.
    """
    if not isinstance(data, Scores):
        scores = Scores.from_array(data)
        scores.require_complete()
        return scores
    data.require_complete()
    return data.scale("range") if data.scaling == "raw" else data


def scaling_of(data: ScoresLike) -> str:
    """Return the name of the scaling that `comparable_scores` leaves."""
    if not isinstance(data, Scores):
        return GIVEN
    return "range" if data.scaling == "raw" else data.scaling


def averages(S: Floats) -> Averages:
    """Take the mean, the skills and the difficulties out of a table of scores."""
    mean = float(S.mean())
    rest = S - mean
    more = float(rest.mean())  # rounding of a large mean
    rest -= more
    skills = rest.mean(axis=1)
    rest -= skills[:, None]
    difficulties = -rest.mean(axis=0)
    rest += difficulties
    correction = rest.mean(axis=1)  # skills lose their own rounding
    rest -= correction[:, None]
    return Averages(
        mean=mean + more,
        skills=np.asarray(skills + correction),
        difficulties=np.asarray(difficulties),
        rest=rest,
    )
