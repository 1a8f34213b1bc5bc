"""The mean of the raw scores."""

from nashboard.errors import InputError
from nashboard.ranking.counterexamples import SCORES_1, Counterexample
from nashboard.ranking.method import Outcome, register, scale_of
from nashboard.ranking.pairwise import Pairwise


@register(
    Counterexample("clones", SCORES_1, 0, of_scores=True),
    Counterexample("condorcet", SCORES_1, 0, of_scores=True),
    Counterexample("noise", SCORES_1, 0, against=1, more=4, of_scores=True),
    title="mean score",
    needs=("scores",),
    unit="mean of the raw scores",
    complexity="n t",
    reference="the mean over tasks, as published tables show it",
)
def mean(data: Pairwise) -> Outcome:
    """Average the raw scores, as published tables do; with single runs, the mean over tasks of the mean over runs."""
    if data.raw is None:
        raise InputError("the mean score needs scores of agents on tasks")
    return Outcome(scores=data.raw.mean(axis=1), scale=scale_of(data.raw), notes=data.counted_tasks)
