"""Section 2.1: Elo, its update, its stationary points, and where it says nothing."""

import numpy as np

from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.datasets import alphago
from nashboard.data.matches import Matches
from nashboard.online.models import OnlineElo
from nashboard.paper.claim import Found, error
from nashboard.paper.examples import ROCK_PAPER_SCISSORS, WIN_RATES_AND_COPY
from nashboard.paper.part import Part
from nashboard.ratings.elo import elo


def part() -> Part:
    """Check what section 2.1 says of Elo."""
    three = Matches.from_win_rates(ROCK_PAPER_SCISSORS, ["rock", "paper", "scissors"])
    ratings = elo(three, prior=0)
    P = ratings.win_probabilities()
    populations = (three, alphago(), Matches.from_win_rates(WIN_RATES_AND_COPY))
    return Part(
        title="Section 2.1: the Elo rating system",
        words="Elo is maximum likelihood of a model with one number per agent, so it cannot see a circle.",
        found={
            "elo.formula": Found(value=formula(), how="nb.elo of alphago: win_probabilities() by both formulas"),
            "elo.update.16": Found(value=step(16.0), how="nb.OnlineElo(rate=16), one game"),
            "elo.update.32": Found(value=step(32.0), how="nb.OnlineElo(rate=32), one game"),
            "elo.rps.ratings": Found(value=float(np.ptp(ratings.ratings)), how="nb.elo, the range of ratings"),
            "elo.rps.prediction": Found(
                value=float(P.ravel()[np.abs(P - 0.5).argmax()]), how="nb.elo, the prediction furthest from 1/2"
            ),
            "elo.rps.power": Found(
                value=error(1 - ratings.predict("paper", "rock") - 0.5), how="nb.elo: 1 - prediction - 1/2"
            ),
            "elo.centred": Found(value=centred(), how="nb.elo(alphago), and with Zen held at 1800 points"),
            "elo.stationary": Found(
                value=max(row_sums(matches) for matches in populations),
                how="nb.elo of three populations, the largest difference of row sums",
            ),
            "elo.gradient": Found(
                value=gradient_as_printed(alphago()),
                how="central differences of the loss of alphago at half its ratings",
            ),
        },
    )


def formula() -> float:
    """Return how far our predictions are from the paper's two formulas."""
    ratings = elo(alphago(), prior=0)
    r = ratings.ratings
    powers = 10.0 ** (r / 400)
    P = ratings.win_probabilities()
    leads = (r[:, None] - r) * np.log(10) / 400
    return error(P - powers[:, None] / (powers[:, None] + powers), P - 1 / (1 + np.exp(-leads)))


def centred() -> float:
    """Return the sum of ratings, and how far predictions move when another origin is chosen."""
    free, held = elo(alphago(), prior=0), elo(alphago(), prior=0, anchor={"Zen": 1800.0})
    return error(free.ratings.sum() / POINTS_PER_LOGIT, free.win_probabilities() - held.win_probabilities())


def step(rate: float) -> float:
    """Return how far one step of ours is from ``r + eta (S - p)``."""
    league = OnlineElo(rate=rate)
    league.update("a", "b", 1.0)  # so that they are no longer even
    before, p = league.ratings().ratings, league.predict("a", "b")
    league.update("a", "b", 0.0)
    return error(league.ratings().ratings - before - rate * (0.0 - p) * np.array([1.0, -1.0]))


def complete(matches: Matches) -> Floats:
    """Return win rates with 1/2 on the diagonal."""
    P = matches.win_rates().copy()
    np.fill_diagonal(P, 0.5)
    return P


def row_sums(matches: Matches) -> float:
    """Return by how much the row sums of empirical and predicted probabilities differ."""
    return error((complete(matches) - elo(matches, prior=0).win_probabilities()).sum(axis=1))


def gradient_as_printed(matches: Matches, h: float = 1e-5) -> float:
    """Return how far the gradient of agent i's loss is from the sum over j of (empirical - predicted), in logits."""
    P = complete(matches)
    r = elo(matches, prior=0).ratings / POINTS_PER_LOGIT / 2  # away from the stationary point, where all signs agree

    def loss(ratings: Floats, i: int) -> float:
        x = ratings[i] - ratings
        return float((np.logaddexp(0, x) - P[i] * x).sum())

    gradient = np.array([(loss(r + h * e, i) - loss(r - h * e, i)) / (2 * h) for i, e in enumerate(np.eye(len(r)))])
    predicted = 1 / (1 + np.exp(-(r[:, None] - r)))
    printed = (P - predicted).sum(axis=1)
    return error(gradient - printed) if error(gradient + printed) < 1e-6 else float("nan")
