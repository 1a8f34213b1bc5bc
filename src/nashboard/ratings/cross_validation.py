"""How many planes? Cross-validation: fit without a part of the games, and predict that part.

Every game is dealt to one of five parts at random (every cluster, where the matches have clusters). A weight that is
not whole goes, beyond its whole games, to one part as one piece.

Calibration: of the games that were given 70%, are 70% won? Measured on games that the fit has not seen.

Games are dealt into five parts, as for the choice of planes in `selection`; each part is predicted by a fit to the
others, a rough one where there are many pairs. Every pair is seen from both sides, so a curve through (1/2, 1/2) is no
finding: the finding is its slope.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtri

from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import Matches
from nashboard.errors import InputError
from nashboard.ratings.elo import PRIOR, EloRatings
from nashboard.ratings.likelihood import loss, pair_totals
from nashboard.ratings.melo import MeloRatings
from nashboard.ratings.melo_fit import Candidate, MeloLoss, fitted

FOLDS = 5
EXACT = (
    200  # pairs up to which fits for a comparison are exact; rough ones have six right digits in a tenth of the time
)
PATIENCE = 2  # numbers of planes in a row that must fail to help before the search ends


def compared(
    matches: Matches,
    landscape_of: Callable[[Matches], MeloLoss],
    most: int,
    rng: np.random.Generator,
    *,
    rough: bool = False,
    held_out: int = FOLDS,
) -> tuple[Candidate, ...]:
    """Return the cross-validated log-loss of 0, 1, 2, ... planes, until more no longer help.

    ``rough`` fits end early, and ``held_out`` is how many of the five parts are held out in turn: one is enough where
    it has many games.
    """
    parts = dealt(matches, rng)[:held_out]
    candidates: list[Candidate] = []
    for k in range(most + 1):
        candidates.append(candidate(matches, landscape_of, parts, k, rough=rough))
        best = min(candidates, key=lambda tried: tried.log_loss).k
        if k - best >= PATIENCE:
            break
    return tuple(candidates)


def candidate(
    matches: Matches, landscape_of: Callable[[Matches], MeloLoss], parts: Floats, k: int, *, rough: bool = False
) -> Candidate:
    """Return how well ``k`` planes predict the games that they have not seen."""
    counts = np.stack([matches.wins, matches.draws, matches.losses])
    losses, games = [], []
    for part in parts:
        if not part.sum():
            continue
        seen = with_counts(matches, counts - part)
        fit = fitted(seen, landscape_of(seen), k, rough=rough)
        x = MeloLoss.leads(landscape_of(matches), fit.Z)[: len(matches.pairs)]
        wins, draws, defeats = part
        won, lost = wins + draws / 2, defeats + draws / 2
        losses.append(loss(won, lost, x))
        games.append(float(part.sum()))
    means = np.array(losses) / np.array(games)
    spread = float(means.std(ddof=1) / np.sqrt(means.size)) if means.size > 1 else 0.0
    return Candidate(k=k, log_loss=sum(losses) / sum(games), stderr=spread)


def with_counts(matches: Matches, counts: Floats) -> Matches:
    """Return matches of the same agents with other counts; pairs without games are left out."""
    counts = np.maximum(counts, 0.0)
    met = counts.sum(axis=0) > 0
    wins, draws, losses = counts[:, met]
    return Matches(agents=matches.agents, pairs=matches.pairs[met], wins=wins, draws=draws, losses=losses)


def dealt(matches: Matches, rng: np.random.Generator) -> Floats:
    """Return the games dealt into parts: ``(FOLDS, 3, pairs)``, wins, draws and losses."""
    counts = np.stack([matches.wins, matches.draws, matches.losses])
    parts = np.zeros((FOLDS, *counts.shape))
    if matches.clusters is not None:
        split = matches.clusters
        fold = rng.integers(0, FOLDS, size=split.size)[split.cluster]
        for outcome, weights in enumerate((split.wins, split.draws, split.losses)):
            np.add.at(parts[:, outcome], (fold, split.pair), weights)
        return parts
    whole = np.floor(counts)
    parts += np.moveaxis(rng.multinomial(whole.astype(np.int64), np.full(FOLDS, 1 / FOLDS)), -1, 0)
    fold = rng.integers(0, FOLDS, size=counts.shape)
    for k in range(FOLDS):
        parts[k] += np.where(fold == k, counts - whole, 0.0)
    return parts


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


def held_out_calibration(matches: Matches, k: int, *, bins: int = 10, rng: int = 0) -> Calibration:
    """Return how well ``k`` planes (0 is Elo) predict games that were held out.

    Examples
    --------
    >>> import nashboard as nb
    >>> from nashboard.ratings.cross_validation import held_out_calibration
    >>> cycle = nb.Matches.from_counts([[0, 90, 10], [10, 0, 90], [90, 10, 0]])
    >>> [held_out_calibration(cycle, k).log_loss < 0.5 for k in (0, 1)]
    [False, True]
    """
    counts = np.stack([matches.wins, matches.draws, matches.losses])
    won, lost = points_of(counts)
    total, expected = 0.0, np.zeros(len(won))
    everything = MeloLoss(totals=pair_totals(matches, PRIOR), mu=PRIOR / 4)
    rough = len(matches.pairs) > EXACT
    for part in dealt(matches, np.random.default_rng(rng)):
        if not part.sum() or not (counts - part).sum():
            continue
        seen = with_counts(matches, counts - part)
        fit = fitted(seen, MeloLoss(totals=pair_totals(seen, PRIOR), mu=PRIOR / 4), k, rough=rough)
        x = everything.leads(fit.Z)[: len(matches.pairs)]
        total += loss(*points_of(part), x)
        expected += part.sum(axis=0) * expit(x)
    if not total:
        raise InputError("there are too few games to hold some out: calibration needs at least two")
    name = "Elo" if k == 0 else f"mElo, {k} plane{'s' * (k > 1)}"
    games = won + lost  # a pair is one point: to sort its parts by prediction would sort them by luck
    return measured(name, expected / games, won, lost, total / float(games.sum()), bins=bins, held_out=True)


def points_of(counts: Floats) -> tuple[Floats, Floats]:
    """Return points won and lost, a draw half each."""
    wins, draws, losses = counts
    return wins + draws / 2, losses + draws / 2


def calibration_of(fit: EloRatings | MeloRatings, matches: Matches, *, bins: int = 10) -> Calibration:
    """Return how well ratings made elsewhere predict these matches; they may have been fitted to them."""
    missing = [agent for agent in matches.agents if agent not in set(fit.agents)]
    if missing:
        raise InputError(f"the ratings do not know {missing[0]!r}, who plays in these matches")
    place = {agent: k for k, agent in enumerate(fit.agents)}
    i, j = (np.array([place[matches.agents[t]] for t in side], dtype=np.intp) for side in matches.pairs.T)
    leads = fit.ratings[i] - fit.ratings[j]
    name = "Elo"
    if isinstance(fit, MeloRatings):
        C = fit.cyclic
        leads = leads + (C[i, 0::2] * C[j, 1::2] - C[i, 1::2] * C[j, 0::2]).sum(axis=1)
        name = f"mElo, {fit.k} plane{'s' * (fit.k > 1)}"
    x = leads / POINTS_PER_LOGIT
    won, lost = points_of(np.stack([matches.wins, matches.draws, matches.losses]))
    return measured(name, expit(x), won, lost, loss(won, lost, x) / matches.n_games, bins=bins, held_out=False)


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
