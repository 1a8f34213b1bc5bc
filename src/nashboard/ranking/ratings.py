"""Methods that fit one number per agent: Elo (Bradley-Terry), mElo, HodgeRank, Newman (Davidson)."""

from nashboard.ranking.method import Outcome
from nashboard.ranking.pairwise import Pairwise
from nashboard.ratings.rating import RatingMethod

PRIOR = 0.01  # drawn games against an average agent, as in `nashboard.elo`
ROUNDING = 1000.0  # Elo points: ratings that differ by a millionth of a point are equal


def elo(data: Pairwise, prior: float = PRIOR) -> Outcome:
    """Fit Elo ratings by maximum likelihood; on a table of scores each task is a game."""
    from nashboard.ratings.elo import elo as fit

    found = fit(data.matches, prior=prior)
    return Outcome(scores=found.ratings, scale=ROUNDING, certificate={"gradient_norm": found.gradient_norm})


def by_rating(rating: RatingMethod, data: Pairwise) -> Outcome:
    """Fit a registered rating."""
    return Outcome(scores=rating.fit(data.matches).ratings, scale=ROUNDING)


def melo(data: Pairwise, k: int = 1, prior: float = PRIOR) -> Outcome:
    """Fit mElo with ``k`` cyclic planes; agents are ordered by their ratings."""
    from nashboard.ratings.melo import melo as fit

    found = fit(data.matches, k=min(k, (data.size - 1) // 2), prior=prior)
    return Outcome(scores=found.ratings, scale=ROUNDING)


def hodge(data: Pairwise) -> Outcome:
    """Fit ratings by least squares on log-odds, pairs weighted by their precision; the mean payoff if none is known."""
    from nashboard.algebra.hodge import hodge as decompose
    from nashboard.data.payoffs import Payoffs

    if data.kind == "matches":
        return Outcome(scores=decompose(data.matches).ratings, unit="log-odds", scale=data.largest)
    found = decompose(Payoffs(agents=data.agents, A=data.payoffs))
    return Outcome(scores=found.ratings, unit=f"rating ({data.unit})", scale=data.largest)


def newman(data: Pairwise, prior: float = PRIOR) -> Outcome:
    """Fit Bradley-Terry with draws (Davidson's model), whose likelihood Newman's iteration maximises too."""
    from nashboard.ratings.elo import elo as fit

    found = fit(data.matches, prior=prior, draws="davidson")
    return Outcome(
        scores=found.ratings,
        scale=ROUNDING,
        certificate={"gradient_norm": found.gradient_norm, "draw_parameter": found.draw_strength / 2},
    )
