"""Calibration: of the games that were given 70%, are 70% won? Measured on games that the fit has not seen.

Every pair is seen from both sides, so a curve through (1/2, 1/2) is no finding: the finding is its slope.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtri

from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import Matches
from nashboard.errors import InputError
from nashboard.ratings.cross_validation import EXACT, Landscapes, dealt, hold_out, pair_leads, points_of
from nashboard.ratings.likelihood import loss
from nashboard.ratings.melo import MeloRatings
from nashboard.ratings.melo_fit import fitted
from nashboard.ratings.rating import Rating


@dataclass(frozen=True, kw_only=True)
class Bin:
    """Games whose predicted win rates lie together: their mean, what was won of them, with an interval, and how many.

    Each game counts from both sides, so that ``games`` is half the number of sides.
    """

    predicted: float
    observed: float
    low: float
    high: float
    games: float


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """How well a model's predictions come true.

    Parameters
    ----------
    model
        ``"Elo"`` or ``"mElo"``, with its planes.
    log_loss
        Mean loss per game in nats; 0.693 is guessing.
    held_out
        Whether the games were unseen by the fit that predicted them.
    bins
        Predicted against observed win rates, from low to high.
    """

    model: str
    log_loss: float
    held_out: bool
    bins: tuple[Bin, ...]

    @property
    def error(self) -> float:
        """Mean distance of observed from predicted win rates over the bins, weighted by their games."""
        games = sum(one.games for one in self.bins)
        return sum(one.games * abs(one.observed - one.predicted) for one in self.bins) / games


def held_out_calibration(matches: Matches, k: int, *, bins: int = 10, rng: int = 0) -> Calibration:
    """Return how well ``k`` planes (0 is Elo) predict games that were held out.

    Examples
    --------
    >>> import nashboard as nb
    >>> from nashboard.ratings.calibration import held_out_calibration
    >>> cycle = nb.Matches.from_counts([[0, 90, 10], [10, 0, 90], [90, 10, 0]])
    >>> [held_out_calibration(cycle, k).log_loss < 0.5 for k in (0, 1)]
    [False, True]
    """
    counts = np.stack([matches.wins, matches.draws, matches.losses])
    won, lost = points_of(counts)
    total, expected = 0.0, np.zeros(len(won))
    landscapes = Landscapes.of(matches, "learned", "learned", planes=k)
    for part in dealt(matches, np.random.default_rng(rng)):
        split = hold_out(matches, part, landscapes)
        if split is None:
            continue
        x = pair_leads(fitted(split.seen, split.landscape, k, rough=len(matches.pairs) > EXACT).Z, matches.pairs)
        total += loss(*points_of(part), x)
        expected += part.sum(axis=0) * expit(x)
    if not total:
        raise InputError("there are too few games to hold some out: calibration needs at least two")
    games = won + lost  # a pair is one point: to sort its parts by prediction would sort them by luck
    return measured(plane_name(k), expected / games, won, lost, total / float(games.sum()), bins=bins, held_out=True)


def calibration_of(fit: Rating, matches: Matches, *, bins: int = 10) -> Calibration:
    """Return how well ratings made elsewhere predict these matches; they may have been fitted to them."""
    missing = [agent for agent in matches.agents if agent not in set(fit.agents)]
    if missing:
        raise InputError(f"the ratings do not know {missing[0]!r}, who plays in these matches")
    place = {agent: k for k, agent in enumerate(fit.agents)}
    i, j = (np.array([place[matches.agents[t]] for t in side], dtype=np.intp) for side in matches.pairs.T)
    name = plane_name(fit.k) if isinstance(fit, MeloRatings) else fit.label
    x = fit.leads_between(i, j) / POINTS_PER_LOGIT
    won, lost = points_of(np.stack([matches.wins, matches.draws, matches.losses]))
    return measured(name, expit(x), won, lost, loss(won, lost, x) / matches.n_games, bins=bins, held_out=False)


def plane_name(k: int) -> str:
    """Return what a model with ``k`` planes is called."""
    return "Elo" if k == 0 else f"mElo, {k} plane{'s' * (k > 1)}"


def measured(
    model: str, expected: Floats, won: Floats, lost: Floats, log_loss: float, *, bins: int, held_out: bool
) -> Calibration:
    """Put predictions into bins that hold equally many games, each seen from both sides."""
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or not 2 <= bins <= 100:
        raise InputError(f"bins is {bins!r}: it must be a whole number from 2 to 100 (10 is usual)")
    games = won + lost
    predicted = np.concatenate([expected, 1 - expected])
    points, weight = np.concatenate([won, lost]), np.concatenate([games, games])
    order = np.argsort(predicted, kind="stable")
    predicted, points, weight = predicted[order], points[order], weight[order]
    middle = (np.cumsum(weight) - weight / 2) / weight.sum()
    label = np.minimum((middle * bins).astype(np.intp), bins - 1)
    found = []
    for t in np.unique(label[weight > 0]):
        inside = label == t
        n, mean = float(weight[inside].sum()), float(weight[inside] @ predicted[inside])
        share = float(points[inside].sum()) / n
        low, high = wilson(share, n)
        found.append(Bin(predicted=mean / n, observed=share, low=low, high=high, games=n / 2))
    return Calibration(model=model, log_loss=log_loss, held_out=held_out, bins=tuple(found))


def wilson(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of Wilson (1927) for a share of ``n`` games."""
    z = float(ndtri((1 + level) / 2))
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n)
    return max(centre - half, 0.0), min(centre + half, 1.0)
