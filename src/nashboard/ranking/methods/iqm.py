"""The interquartile mean of the scaled scores."""

from collections.abc import Sequence

import numpy as np

from nashboard._types import Floats
from nashboard.errors import InputError
from nashboard.ranking.counterexamples import SCORES_1, SCORES_3, SCORES_4, Counterexample
from nashboard.ranking.method import Outcome, register, scale_of
from nashboard.ranking.pairwise import Pairwise

SCALED = "single runs are scaled by {}, as rliable expects; for scores that are normalised already use the scaling none"
AVERAGED = (
    "scores are means of up to {:,} runs; over single runs, as in rliable, it needs as many of them on every task, "
    "and no scaling to ranks"
)


@register(
    Counterexample("clones", SCORES_1, 1, of_scores=True),
    Counterexample("condorcet", SCORES_4, 0, of_scores=True),
    Counterexample("irrelevant", SCORES_3, 2, of_scores=True),
    Counterexample("noise", SCORES_1, 1, against=0, more=2, of_scores=True),
    title="interquartile mean",
    needs=("scores",),
    unit="mean of the middle half of the scaled scores",
    complexity="n t log t",
    reference="Agarwal et al. 2021, Deep RL at the edge of the statistical precipice (rliable)",
)
def iqm(data: Pairwise) -> Outcome:
    """Average the middle half of each agent's scores over tasks, and over runs if single ones are given."""
    values: Sequence[Floats] | None = data.single_scores
    if values is not None:
        notes: tuple[str, ...] = () if data.in_own_units else (SCALED.format(data.scaling),)
    else:
        values = None if data.scores is None else list(data.scores)
        notes = (AVERAGED.format(data.averaged),) if data.averaged > 1 else ()
    if values is None:
        raise InputError("the interquartile mean needs scores of agents on tasks")
    notes += data.counted_tasks if data.in_own_units else ()
    unit = "mean of the middle half of the scores" if data.in_own_units else None
    scores, scale = np.array([trimmed_mean(one.ravel()) for one in values]), max(map(scale_of, values))
    return Outcome(scores=scores, scale=scale, unit=unit, notes=notes)


def trimmed_mean(values: Floats, share: float = 0.25) -> float:
    """Return the mean without a share of the values (rounded down) at each end."""
    cut = int(share * values.size)
    return float(np.sort(values)[cut : values.size - cut].mean())
