"""Bradley-Terry with draws: Davidson's model, whose likelihood Newman's iteration maximises too."""

from nashboard._units import POINTS_PER_LOGIT
from nashboard.ranking.counterexamples import DRAWN, LUCKY_NEWCOMER, WINS_1, WINS_2, WINS_DRAWN, Counterexample
from nashboard.ranking.method import ROUNDING, Outcome, register
from nashboard.ranking.pairwise import Pairwise
from nashboard.ratings.likelihood import Prior


@register(
    Counterexample("clones", WINS_1, 0),
    Counterexample("condorcet", WINS_2, 1),
    Counterexample("irrelevant", WINS_1, 2),
    # a game that is not drawn lowers the chance of draws, which spreads all ratings, some more than others
    Counterexample("monotone", WINS_DRAWN, 0, against=4, more=1, draws=DRAWN),
    LUCKY_NEWCOMER,
    title="Newman (Davidson)",
    unit="Elo points",
    counts_games=True,
    complexity="n^3 per Newton step",
    reference="Davidson 1970; Newman 2023, Efficient computation of rankings from pairwise comparisons",
)
def newman(data: Pairwise, prior: Prior = 0.01) -> Outcome:
    """Fit Bradley-Terry with draws (Davidson's model), whose likelihood Newman's iteration maximises too.

    Newman's ratings have no prior. The default is nearly none, so that unbeaten agents have finite ratings.
    """
    from nashboard.ratings.elo import elo as fit
    from nashboard.ratings.likelihood import check_prior, require_finite_maximum
    from nashboard.ratings.regression import fit_draws

    matches, prior = data.matches, check_prior(prior)
    if prior == "learned" or not matches.draws.any():
        found = fit(matches, prior=prior, draws="davidson")
        scores, nu, norm = found.ratings, found.draw_strength, found.gradient_norm
    else:  # no standard errors
        if prior == 0:
            require_finite_maximum(matches)
        r, nu, norm = fit_draws(matches, prior)
        scores = (r - r.mean()) * POINTS_PER_LOGIT
    return Outcome(scores=scores, scale=ROUNDING, certificate={"gradient_norm": norm, "draw_parameter": nu / 2})
