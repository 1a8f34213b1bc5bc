"""Predicting games that the fit has not seen: how many planes, how strong a prior, and are 70% of 70% won?

Every game is dealt to one of five parts at random (every cluster, where the matches have clusters). A weight that is
not whole goes, beyond its whole games, to one part as one piece. In a calibration every pair is seen from both sides,
so a curve through (1/2, 1/2) is no finding: the finding is its slope.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nashboard._types import Bools, Floats, Ints
from nashboard._units import CYCLIC_PER_LOGIT, POINTS_PER_LOGIT
from nashboard.data.matches import Matches
from nashboard.errors import InputError
from nashboard.ratings import kernels
from nashboard.ratings.elo import fit_pairs
from nashboard.ratings.errors import rating_covariance
from nashboard.ratings.likelihood import NormalPrior, Prior, loss, pair_totals, win_rates
from nashboard.ratings.melo import MeloRatings
from nashboard.ratings.melo_fit import Candidate, MeloLoss, fitted
from nashboard.ratings.prior import choose_prior, learn_sigma
from nashboard.ratings.rating import Rating, moderation, rating_method

FOLDS = 5
# Pairs up to which fits for a comparison are exact; rough ones have six right digits in a tenth of the time.
EXACT = 200
FEW_PAIRS = 5_000  # up to which every game is held out once; beyond, one part in five
# Of the coordinates of planes, in logits: from planes that vanish unless they are strong, to hardly any prior.
PRECISIONS = (32.0, 16.0, 8.0, 4.0, 2.0, 1.0, 0.3, 0.03)
REFINEMENTS = 2  # of the hashes that tell agents apart
PATIENCE = 2  # numbers of planes in a row that must fail to help before the search ends
Fit = Callable[[Matches], Rating]


@dataclass(frozen=True, kw_only=True)
class Landscapes:
    """How the loss of mElo is made of matches, with learned or given priors."""

    prior: Prior
    mu: float
    orthogonal: bool = False
    around_opponents: bool = False  # the learned prior of ratings

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
        mu = PRECISIONS[0] if cyclic_prior == "learned" else float(cyclic_prior) / 4
        around = prior == "learned" and choose_prior(matches) is not None
        made = Landscapes(prior=prior, mu=mu, orthogonal=orthogonal, around_opponents=around)
        if cyclic_prior != "learned" or planes == 0 or len(matches.agents) < 3 + orthogonal:
            return made
        return made.learned(matches, 1 if planes == "auto" else planes, rng or np.random.default_rng(0))

    def __call__(self, matches: Matches) -> MeloLoss:
        """Return the loss on some matches."""
        if self.prior == "learned":
            n, (i, j) = len(matches.agents), matches.pairs.T
            normal = NormalPrior.around_opponents(n, i, j, matches.games) if self.around_opponents else None
            learned = learn_sigma(matches, normal=normal).for_all_agents()
            totals = pair_totals(matches, sigma=learned.sigma, normal=learned.normal)
        else:
            totals = pair_totals(matches, float(self.prior))
        return MeloLoss(totals=totals, mu=self.mu, orthogonal=self.orthogonal)

    def learned(self, matches: Matches, k: int, rng: np.random.Generator) -> "Landscapes":
        """Return the same with the precision of planes that predicts held-out games best."""
        few = len(matches.pairs) <= FEW_PAIRS  # else one part has games enough
        splits = hold_out_each(matches, dealt(matches, rng)[: FOLDS if few else 1], self)
        if not splits:
            return self
        losses = [
            held_out_loss(
                [replace(split, landscape=replace(split.landscape, mu=mu)) for split in splits], k, rough=True
            )
            for mu in PRECISIONS
        ]
        return replace(self, mu=PRECISIONS[int(np.argmin([found.log_loss for found in losses]))])


def compared(
    matches: Matches, landscape_of: Callable[[Matches], MeloLoss], most: int, rng: np.random.Generator
) -> tuple[Candidate, ...]:
    """Return the cross-validated log-loss of 0, 1, 2, ... planes, until more no longer help."""
    splits = hold_out_each(matches, dealt(matches, rng), landscape_of)
    candidates: list[Candidate] = []
    for k in range(most + 1):
        candidates.append(held_out_loss(splits, k, rough=False))
        if k - min(candidates, key=lambda tried: tried.log_loss).k >= PATIENCE:
            break
    return tuple(candidates)


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldOut:
    """Games to fit and games to predict."""

    seen: Matches
    landscape: MeloLoss
    pairs: Ints
    part: Floats


def hold_out(matches: Matches, part: Floats) -> Matches | None:
    """Return matches without a part of the games; None where that part is empty, or all there is."""
    rest = np.maximum(np.stack([matches.wins, matches.draws, matches.losses]) - part, 0.0)
    if not part.sum() or not rest.sum():
        return None
    met = rest.sum(axis=0) > 0
    wins, draws, losses = rest[:, met]
    return Matches(agents=matches.agents, pairs=matches.pairs[met], wins=wins, draws=draws, losses=losses)


def hold_out_each(matches: Matches, parts: Floats, landscape_of: Callable[[Matches], MeloLoss]) -> list[HeldOut]:
    """Return each part that can be held out, with the loss on the others."""
    found = ((hold_out(matches, part), part) for part in parts)
    return [
        HeldOut(seen=seen, landscape=landscape_of(seen), pairs=matches.pairs, part=part)
        for seen, part in found
        if seen is not None
    ]


def held_out_loss(splits: Sequence[HeldOut], k: int, *, rough: bool) -> Candidate:
    """Return how well ``k`` planes predict the games that they have not seen."""
    losses, games = [], []
    for split in splits:
        fit = fitted(split.seen, split.landscape, k, rough=rough)
        i, j = (np.ascontiguousarray(side) for side in split.pairs.T)
        losses.append(loss(*points_of(split.part), kernels.leads(np.ascontiguousarray(fit.Z), i, j, i.size)))
        games.append(float(split.part.sum()))
    means = np.array(losses) / np.array(games)
    spread = float(means.std(ddof=1) / np.sqrt(means.size)) if means.size > 1 else 0.0
    return Candidate(k=k, log_loss=sum(losses) / sum(games) if games else np.nan, stderr=spread)


def dealt(matches: Matches, rng: np.random.Generator) -> Floats:
    """Return the games dealt into parts: ``(FOLDS, 3, pairs)``, wins, draws and losses.

    They are dealt in an order that the results decide: neither the order of agents nor their names matter, except
    between pairs that nobody could tell apart.
    """
    counts = np.stack([matches.wins, matches.draws, matches.losses])
    parts = np.zeros((FOLDS, *counts.shape))
    if matches.clusters is not None:
        split = matches.clusters
        fold = rng.integers(0, FOLDS, size=split.size)[split.cluster]
        for outcome, weights in enumerate((split.wins, split.draws, split.losses)):
            np.add.at(parts[:, outcome], (fold, split.pair), weights)
        return parts
    turned, order = order_pairs(matches)
    counts = np.where(turned, counts[::-1], counts)[:, order]
    whole = np.floor(counts)
    found = np.moveaxis(rng.multinomial(whole.astype(np.int64), np.full(FOLDS, 1 / FOLDS)), -1, 0).astype(np.float64)
    fold = rng.integers(0, FOLDS, size=counts.shape)
    for k in range(FOLDS):
        found[k] += np.where(fold == k, counts - whole, 0.0)
    parts[:, :, order] = found
    return np.where(turned, parts[:, ::-1], parts)


def order_pairs(matches: Matches) -> tuple[Bools, Ints]:
    """Return which pairs are turned around, and in which order they come, by their results and those of their agents.

    Every agent is known by a hash of its results, then of its results and its opponents' hashes (the refinement of
    Weisfeiler and Leman); where these are equal, names decide.
    """
    i, j = matches.pairs.T
    won = mix_bits(matches.wins, matches.draws, matches.losses)
    lost = mix_bits(matches.losses, matches.draws, matches.wins)
    known = np.zeros(len(matches.agents), dtype=np.uint64)
    for _ in range(REFINEMENTS):
        seen = known
        known = np.zeros_like(seen)
        np.add.at(known, i, mix_bits(won, seen[j], seen[i]))
        np.add.at(known, j, mix_bits(lost, seen[i], seen[j]))
    rank = np.empty(known.size, dtype=np.intp)
    rank[sorted(range(known.size), key=lambda k: (known[k], matches.agents[k]))] = np.arange(known.size)
    sides = rank[matches.pairs]
    return sides[:, 0] > sides[:, 1], np.lexsort((sides.max(axis=1), sides.min(axis=1)))


def mix_bits(*parts: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a hash of each row of columns of numbers of 64 bits (the finaliser of SplitMix64)."""
    mixed = np.zeros(parts[0].shape, dtype=np.uint64)
    for part in parts:
        mixed = (mixed + np.ascontiguousarray(part).view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def points_of(counts: Floats) -> tuple[Floats, Floats]:
    """Return points won and lost, a draw half each."""
    wins, draws, losses = counts
    return wins + draws / 2, losses + draws / 2


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


def quick_fit(model: str | int, matches: Matches) -> Fit:
    """Return what fits a registered rating, or a number of planes, to parts of these matches, connected or not."""
    if model in ("elo", 0):
        return lambda seen: fit_pairs(seen, "learned")
    if not isinstance(model, str) or model == "melo":
        return fit_planes(1 if isinstance(model, str) else model, matches)
    return lambda seen: rating_method(model).fit(seen.select(seen.components[0]))


def fit_planes(k: int, matches: Matches) -> Fit:
    """Return what fits ``k`` planes to parts of these matches; errors are those of ratings if planes were known."""
    landscapes = Landscapes.of(matches, "learned", "learned", planes=k)

    def fit(seen: Matches) -> Rating:
        landscape = landscapes(seen)
        Z = fitted(seen, landscape, k, rough=len(matches.pairs) > EXACT).Z
        covariance = rating_covariance(
            seen, landscape.totals, landscape.leads(Z), np.ones(len(Z), dtype=bool), robust=False
        )
        r = Z[:-1, 0] - Z[:-1, 0].mean()
        made = MeloRatings.from_arrays(r * POINTS_PER_LOGIT, Z[:-1, 1:] * CYCLIC_PER_LOGIT, seen.agents)
        errors = np.sqrt(covariance.variances) * POINTS_PER_LOGIT
        return replace(made, stderr=errors, covariance=covariance, sigma=landscape.totals.sigma * POINTS_PER_LOGIT,
                       around_opponents=landscapes.around_opponents)  # fmt: skip

    return fit


def predicted_leads(fit: Rating, agents: Sequence[str], i: Ints, j: Ints) -> Floats:
    """Return the leads in logits that predict games between ``agents[i]`` and ``agents[j]``.

    Who is new is average, or where the prior is around opponents as good as the opponent. As in `Rating.predict` leads
    are moderated by what is not known of them, for newcomers the spread of the prior.
    """
    place = {agent: number for number, agent in enumerate(fit.agents)}
    number = np.array([place.get(agent, -1) for agent in agents])
    i, j = number[i], number[j]
    met = (i >= 0) & (j >= 0)
    x = np.zeros(i.size) if fit.around_opponents else np.append(fit.ratings, 0.0)[i] - np.append(fit.ratings, 0.0)[j]
    x[met] = fit.leads_between(i[met], j[met])
    own = np.append(fit.stderr**2, fit.sigma**2) if np.isfinite(fit.sigma) else np.zeros(len(fit.agents) + 1)
    variances = (own[i] + own[j]) / POINTS_PER_LOGIT**2
    variances[met] = fit.lead_variances(i[met], j[met])
    return np.asarray(x / POINTS_PER_LOGIT / moderation(variances))


def held_out_calibration(matches: Matches, model: str | int, *, bins: int = 10, rng: int = 0) -> Calibration:
    """Return how well a registered rating, or a number of planes (0 is Elo), predicts games that were held out."""
    fit = quick_fit(model, matches)
    won, lost = points_of(np.stack([matches.wins, matches.draws, matches.losses]))
    total, expected = 0.0, np.zeros(len(won))
    for part in dealt(matches, np.random.default_rng(rng)):
        seen = hold_out(matches, part)
        if seen is None:
            continue
        seen = seen.select(seen.named(seen.games_per_agent > 0))
        x = predicted_leads(fit(seen), matches.agents, *matches.pairs.T)
        total += loss(*points_of(part), x)
        expected += part.sum(axis=0) * win_rates(x)
    if not total:
        raise InputError("calibration leaves games out and predicts them: it needs at least two games")
    games = won + lost  # a pair is one point: to sort its parts by prediction would sort them by luck
    name, mean = model_name(model), total / float(games.sum())
    return measured(name, expected / games, won, lost, mean, bins=bins, held_out=True)


def model_name(model: str | int) -> str:
    """Return what a registered rating, or a number of planes, is called."""
    planes = {"elo": 0, "melo": 1}.get(model) if isinstance(model, str) else model
    if planes is None:
        return rating_method(str(model)).label
    return "Elo" if planes == 0 else f"mElo, {planes} plane{'s' * (planes > 1)}"


def calibration_of(fit: Rating, matches: Matches, *, bins: int = 10) -> Calibration:
    """Return how well ratings made elsewhere predict these matches; they may have been fitted to them."""
    missing = [agent for agent in matches.agents if agent not in set(fit.agents)]
    if missing:
        raise InputError(f"{missing[0]!r} plays in these matches and has no rating")
    name = model_name(fit.k) if isinstance(fit, MeloRatings) else fit.label
    x = predicted_leads(fit, matches.agents, *matches.pairs.T)
    won, lost = points_of(np.stack([matches.wins, matches.draws, matches.losses]))
    return measured(name, win_rates(x), won, lost, loss(won, lost, x) / matches.n_games, bins=bins, held_out=False)


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
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))) / (1 + z * z / n)
    return max(centre - half, 0.0), min(centre + half, 1.0)
