"""How many planes? Cross-validation: fit without a part of the games, and predict that part.

Every game is dealt to one of five parts at random (every cluster, where the matches have clusters). A weight that is
not whole goes, beyond its whole games, to one part as one piece.
"""

from collections.abc import Callable

import numpy as np

from nashboard._types import Floats
from nashboard.data.matches import Matches
from nashboard.ratings.likelihood import loss
from nashboard.ratings.melo_fit import fitted
from nashboard.ratings.melo_loss import MeloLoss
from nashboard.ratings.melo_ratings import Candidate

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
