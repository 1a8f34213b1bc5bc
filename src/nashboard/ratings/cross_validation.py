"""Predicting games that the fit has not seen: how many planes, how strong a prior.

Every game is dealt to one of five parts at random (every cluster, where the matches have clusters). A weight that is
not whole goes, beyond its whole games, to one part as one piece.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.ratings import kernels
from nashboard.ratings.likelihood import Prior, loss, pair_totals
from nashboard.ratings.melo_fit import Candidate, MeloLoss, fitted
from nashboard.ratings.newton import learn_sigma

FOLDS = 5
EXACT = (
    200  # pairs up to which fits for a comparison are exact; rough ones have six right digits in a tenth of the time
)
FEW_PAIRS = 5_000  # up to which every game is held out once; beyond, one part in five
# Of the coordinates of planes, in logits: from planes that vanish unless they are strong, to hardly any prior.
PRECISIONS = (32.0, 16.0, 8.0, 4.0, 2.0, 1.0, 0.3, 0.03)
PATIENCE = 2  # numbers of planes in a row that must fail to help before the search ends


@dataclass(frozen=True, kw_only=True)
class Landscapes:
    """How the loss of mElo is made of matches, with learned or given priors."""

    prior: Prior
    mu: float
    orthogonal: bool = False

    @staticmethod
    def of(
        matches: Matches,
        prior: Prior,
        cyclic_prior: Prior,
        *,
        orthogonal: bool = False,
        planes: int | Literal["auto"] = 1,
        rng: np.random.Generator | None = None,
    ) -> "Landscapes":
        """Return the losses with these priors; the planes' is learned where asked, from held-out games."""
        if cyclic_prior != "learned":
            return Landscapes(prior=prior, mu=float(cyclic_prior) / 4, orthogonal=orthogonal)
        made = Landscapes(prior=prior, mu=PRECISIONS[0], orthogonal=orthogonal)
        if planes == 0 or len(matches.agents) < 3 + orthogonal:
            return made
        return made.learned(matches, 1 if planes == "auto" else planes, rng or np.random.default_rng(0))

    def __call__(self, matches: Matches) -> MeloLoss:
        """Return the loss on some matches."""
        if self.prior == "learned":
            totals = pair_totals(matches, sigma=learn_sigma(matches).sigma)
        else:
            totals = pair_totals(matches, float(self.prior))
        return MeloLoss(totals=totals, mu=self.mu, orthogonal=self.orthogonal)

    def learned(self, matches: Matches, k: int, rng: np.random.Generator) -> "Landscapes":
        """Return the same with the precision of planes that predicts held-out games best."""
        parts = dealt(matches, rng)[: held_out_parts(matches)]
        splits = [split for part in parts if (split := hold_out(matches, part, self)) is not None]
        if not splits:
            return self
        losses = [
            held_out_loss(
                [replace(split, landscape=replace(split.landscape, mu=mu)) for split in splits], k, rough=True
            )
            for mu in PRECISIONS
        ]
        return replace(self, mu=PRECISIONS[int(np.argmin([found.log_loss for found in losses]))])


def held_out_parts(matches: Matches) -> int:
    """Return how many of the five parts to hold out in turn: one is enough where it has many games."""
    return FOLDS if len(matches.pairs) <= FEW_PAIRS else 1


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
    splits = [split for part in parts if (split := hold_out(matches, part, landscape_of)) is not None]
    candidates: list[Candidate] = []
    for k in range(most + 1):
        candidates.append(held_out_loss(splits, k, rough=rough))
        best = min(candidates, key=lambda tried: tried.log_loss).k
        if k - best >= PATIENCE:
            break
    return tuple(candidates)


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldOut:
    """Games to fit and games to predict."""

    seen: Matches
    landscape: MeloLoss
    pairs: Ints
    part: Floats


def hold_out(matches: Matches, part: Floats, landscape_of: Callable[[Matches], MeloLoss]) -> HeldOut | None:
    """Return matches without a part of the games, which is to be predicted; None where one of the two is empty."""
    rest = np.stack([matches.wins, matches.draws, matches.losses]) - part
    if not part.sum() or not rest.sum():
        return None
    seen = with_counts(matches, rest)
    return HeldOut(seen=seen, landscape=landscape_of(seen), pairs=matches.pairs, part=part)


def held_out_loss(splits: Sequence[HeldOut], k: int, *, rough: bool) -> Candidate:
    """Return how well ``k`` planes predict the games that they have not seen."""
    losses, games = [], []
    for split in splits:
        fit = fitted(split.seen, split.landscape, k, rough=rough)
        losses.append(loss(*points_of(split.part), pair_leads(fit.Z, split.pairs)))
        games.append(float(split.part.sum()))
    means = np.array(losses) / np.array(games)
    spread = float(means.std(ddof=1) / np.sqrt(means.size)) if means.size > 1 else 0.0
    return Candidate(k=k, log_loss=sum(losses) / sum(games) if games else np.nan, stderr=spread)


def candidate(
    matches: Matches, landscape_of: Callable[[Matches], MeloLoss], parts: Floats, k: int, *, rough: bool = False
) -> Candidate:
    """Return how well ``k`` planes predict each of these parts after a fit to the others."""
    splits = [split for part in parts if (split := hold_out(matches, part, landscape_of)) is not None]
    return held_out_loss(splits, k, rough=rough)


def pair_leads(Z: Floats, pairs: Ints) -> Floats:
    """Return the leads in logits on pairs of agents."""
    i, j = (np.ascontiguousarray(side) for side in pairs.T)
    return np.asarray(kernels.leads(np.ascontiguousarray(Z), i, j))


def with_counts(matches: Matches, counts: Floats) -> Matches:
    """Return matches of the same agents with other counts; pairs without games are left out."""
    counts = np.maximum(counts, 0.0)
    met = counts.sum(axis=0) > 0
    wins, draws, losses = counts[:, met]
    return Matches(agents=matches.agents, pairs=matches.pairs[met], wins=wins, draws=draws, losses=losses)


def dealt(matches: Matches, rng: np.random.Generator) -> Floats:
    """Return the games dealt into parts: ``(FOLDS, 3, pairs)``, wins, draws and losses.

    Pairs are dealt in the order of names, so that the order of agents does not matter.
    """
    counts = np.stack([matches.wins, matches.draws, matches.losses])
    parts = np.zeros((FOLDS, *counts.shape))
    if matches.clusters is not None:
        split = matches.clusters
        fold = rng.integers(0, FOLDS, size=split.size)[split.cluster]
        for outcome, weights in enumerate((split.wins, split.draws, split.losses)):
            np.add.at(parts[:, outcome], (fold, split.pair), weights)
        return parts
    rank = np.empty(len(matches.agents), dtype=np.intp)
    rank[sorted(range(rank.size), key=matches.agents.__getitem__)] = np.arange(rank.size)
    sides = rank[matches.pairs]
    turned = sides[:, 0] > sides[:, 1]
    order = np.lexsort((sides.max(axis=1), sides.min(axis=1)))
    counts = np.where(turned, counts[::-1], counts)[:, order]
    whole = np.floor(counts)
    found = np.moveaxis(rng.multinomial(whole.astype(np.int64), np.full(FOLDS, 1 / FOLDS)), -1, 0).astype(np.float64)
    fold = rng.integers(0, FOLDS, size=counts.shape)
    for k in range(FOLDS):
        found[k] += np.where(fold == k, counts - whole, 0.0)
    parts[:, :, order] = found
    return np.where(turned, parts[:, ::-1], parts)


def points_of(counts: Floats) -> tuple[Floats, Floats]:
    """Return points won and lost, a draw half each."""
    wins, draws, losses = counts
    return wins + draws / 2, losses + draws / 2
