"""mElo: ratings beside cyclic planes."""

from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_1, WINS_2, WINS_7, Counterexample
from nashboard.ranking.method import ROUNDING, Outcome, register
from nashboard.ranking.pairwise import Pairwise


@register(
    Counterexample("clones", WINS_1, 0, copies=2),
    Counterexample("condorcet", WINS_2, 1),
    Counterexample("irrelevant", WINS_1, 2),
    Counterexample("monotone", WINS_7, 2, against=1, more=9),
    LUCKY_NEWCOMER,
    title="mElo",
    unit="Elo points",
    counts_games=True,
    slow=True,
    complexity="pairs x planes per step",
    reference="Balduzzi et al. 2018, section 3",
)
def melo(data: Pairwise, k: int = 1, prior: float = 0.01) -> Outcome:
    """Fit mElo with ``k`` cyclic planes; agents are ordered by their ratings.

    The prior is fixed: a learned one is chosen by held-out games, which depend on the order of agents.
    """
    from nashboard.ratings.melo import melo as fit

    found = fit(data.matches, k=min(k, (data.size - 1) // 2), prior=prior, stderr=False)
    return Outcome(scores=found.ratings, scale=ROUNDING)
