"""mElo: ratings with cyclic planes."""

from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_1, WINS_2, WINS_7, Counterexample
from nashboard.ranking.method import ROUNDING, Outcome, register
from nashboard.ranking.methods.elo import choose_prior
from nashboard.ranking.pairwise import Pairwise
from nashboard.ratings.likelihood import Prior


def learn_planes(data: Pairwise) -> dict[str, float]:
    """Return the prior of the planes that predicts held-out games best, as games."""
    from nashboard.ratings.held_out import Landscapes

    if data.kind == "payoffs":
        return {}
    return {"cyclic_prior": 4 * Landscapes.of(data.matches, "learned", "learned").mu}


@register(
    Counterexample("clones", WINS_1, 0, copies=2),
    Counterexample("condorcet", WINS_2, 1),
    Counterexample("irrelevant", WINS_1, 2),
    Counterexample("monotone", WINS_7, 2, against=1, more=540),
    LUCKY_NEWCOMER,
    title="mElo",
    unit="Elo points",
    counts_games=True,
    slow=True,
    learn=learn_planes,
    complexity="pairs x planes per step",
    reference="Balduzzi et al. 2018, section 3",
)
def melo(data: Pairwise, k: int = 1, prior: Prior | None = None, cyclic_prior: Prior | None = None) -> Outcome:
    """Fit mElo with ``k`` cyclic planes as `nashboard.melo` does; agents are ordered by their ratings.

    Priors as of Elo. Trials learn the prior of the planes once, from the original data.
    """
    from nashboard.ratings.melo import melo as fit

    prior = choose_prior(data, prior)
    found = fit(data.matches, k=0 if data.size < 3 else k, prior=prior, cyclic_prior=cyclic_prior, stderr=False)
    return Outcome(scores=found.ratings, scale=ROUNDING)
