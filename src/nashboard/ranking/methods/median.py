"""The median of the scaled scores."""

import numpy as np

from nashboard.errors import InputError
from nashboard.ranking.counterexamples import SCORES_1, SCORES_2, SCORES_3, Counterexample
from nashboard.ranking.method import Outcome, register, scale_of
from nashboard.ranking.pairwise import Pairwise


@register(
    Counterexample("clones", SCORES_1, 1, of_scores=True),
    Counterexample("condorcet", SCORES_2, 2, of_scores=True),
    Counterexample("irrelevant", SCORES_3, 2, of_scores=True),
    Counterexample("noise", SCORES_1, 1, against=0, more=2, of_scores=True),
    title="median score",
    needs=("scores",),
    unit="median of the scaled scores",
    complexity="n t",
    reference="Agarwal et al. 2021, Deep RL at the edge of the statistical precipice (rliable)",
)
def median(data: Pairwise) -> Outcome:
    """Take the median over tasks of each agent's comparable score (its mean over runs)."""
    if data.scores is None:
        raise InputError("the median needs scores of agents on tasks")
    own = data.in_own_units
    return Outcome(
        scores=np.median(data.scores, axis=1),
        scale=scale_of(data.scores),
        unit="median of the scores" if own else None,
        notes=data.counted_tasks if own else (),
    )
