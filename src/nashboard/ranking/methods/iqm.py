"""The interquartile mean of the scaled scores."""

import numpy as np

from nashboard._types import Floats
from nashboard.errors import InputError
from nashboard.ranking.counterexamples import SCORES_1, SCORES_3, SCORES_4, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise


@register(
    Counterexample("clones", SCORES_1, 1),
    Counterexample("condorcet", SCORES_4, 0),
    Counterexample("irrelevant", SCORES_3, 2),
    Counterexample("noise", SCORES_1, 1, against=0, more=2),
    title="interquartile mean",
    needs=("scores",),
    unit="mean of the middle half of the scaled scores",
    complexity="n t log t",
    reference="Agarwal et al. 2021, Deep RL at the edge of the statistical precipice (rliable)",
)
def iqm(data: Pairwise) -> Outcome:
    """Average the middle half of each agent's scores over tasks, and over runs where single ones are given."""
    if data.runs is not None:
        return Outcome(scores=np.array([trimmed_mean(runs.ravel()) for runs in data.runs]))
    if data.table is None:
        raise InputError("the interquartile mean needs scores of agents on tasks")
    note = (
        f"scores are means of up to {data.averaged:,} runs; over single runs, as in rliable, it needs a mapping from "
        f"each agent to its runs x tasks"
    )
    scores = np.array([trimmed_mean(row) for row in data.table])
    return Outcome(scores=scores, notes=(note,) if data.averaged > 1 else ())


def trimmed_mean(values: Floats, share: float = 0.25) -> float:
    """Return the mean without a share of the values (rounded down) at each end."""
    cut = int(share * values.size)
    return float(np.sort(values)[cut : values.size - cut].mean())
