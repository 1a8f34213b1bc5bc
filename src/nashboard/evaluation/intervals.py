"""Intervals from resamples: of the average, of the rank, how often in the support, and who cannot be told apart."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from nashboard._tables import Cell
from nashboard._types import Bools, Floats, Ints
from nashboard.equilibrium.results import tied_ranks

DUST = 1e-12  # of the scale: what rounding leaves of zero


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """What every resample said of one side: one row per resample, one column per class; NaN where it was not drawn.

    ``gaps`` are averages minus the best of the resample, ``scale`` the unit in which ties are judged, ``inside`` is 1
    where a class belongs to the support in the draw that its probability is made of (see `pooling`). ``terms``
    (resamples, classes, some) are parts of the gaps that somebody wants to know about, often none.
    """

    averages: Floats
    gaps: Floats
    weights: Floats
    inside: Floats
    scale: Floats
    terms: Floats


def joined(parts: Iterable[Samples]) -> Samples:
    """Return the samples of several pieces as one."""
    pieces = list(parts)
    return Samples(
        **{one.name: np.concatenate([getattr(part, one.name) for part in pieces]) for one in fields(Samples)}
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Uncertainty:
    """The answer to one question about one side, an entry for every agent (or task).

    Parameters
    ----------
    question
        ``"again"``: what if the same were measured again? ``"suite"``: would another suite agree?
    level
        Of the intervals, and for telling two agents apart.
    average_low, average_high, gap_low, gap_high, rank_low, rank_high
        Ends of the intervals; NaN where there is nothing to say.
    support
        Probability of having weight. Of scores: the share of resamples in which it has. Of matches: the share of draws
        in which it has when pairs lend each other strength, so that noise is not taken for cycles (see `pooling`).
    support_resampled
        The plain share of resamples in which it has weight; with few games it leans to the high side.
    groups
        ``"2"`` or ``"2-4"``: the groups it belongs to; two that share one cannot be told apart. Groups are stretches of
        the board, so that now and then two that share none cannot be told apart either.
    """

    question: str
    level: float
    resamples: int
    average_low: Floats
    average_high: Floats
    gap_low: Floats
    gap_high: Floats
    rank_low: Floats
    rank_high: Floats
    support: Floats
    support_resampled: Floats
    groups: tuple[str, ...]

    def rank_ranges(self) -> list[Cell]:
        """Return ``3-5`` for every agent, or ``3`` where the ends agree."""
        return [
            None if np.isnan(low) else f"{low:.0f}" if low == high else f"{low:.0f}-{high:.0f}"
            for low, high in zip(self.rank_low, self.rank_high, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; NaN becomes None."""
        found: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value = [None if np.isnan(cell) else cell for cell in value.tolist()]
            found[field.name] = list(value) if isinstance(value, tuple) else value
        return found

    @staticmethod
    def from_dict(values: dict[str, Any]) -> "Uncertainty":
        """Return what `to_dict` wrote down."""
        found = {"support_resampled": values["support"]} | values  # which older files do not have
        for name, value in found.items():
            if name == "groups":
                found[name] = tuple(value)
            elif isinstance(value, list):
                found[name] = np.array([np.nan if cell is None else cell for cell in value], dtype=np.float64)
        return Uncertainty(**found)


def uncertainty(question: str, samples: Samples, label: Ints, ranks: Ints, level: float) -> Uncertainty:
    """Sum up the resamples; ``label`` is the class of every agent, ``ranks`` the point estimate's of every class."""
    complete = not np.isnan(samples.gaps).any()
    size = samples.gaps.shape[1]
    if complete:
        rank_low, rank_high = rank_interval(samples, level)
        groups = groups_of(clearly_better(samples, level), samples, ranks)
    else:
        rank_low = rank_high = np.full(size, np.nan)
        groups = ["–"] * size
    dust = DUST * float(samples.scale.max())
    average_low, average_high, gap_low, gap_high = (
        np.where(np.abs(end) < dust, 0.0, end)
        for values in (samples.averages, samples.gaps)
        for end in interval(values, level)
    )
    drawn = np.maximum((~np.isnan(samples.weights)).sum(axis=0), 1)
    support = np.nansum(samples.inside, axis=0) / drawn
    resampled = (samples.weights > 0).sum(axis=0) / drawn
    return Uncertainty(
        question=question,
        level=level,
        resamples=len(samples.gaps),
        average_low=average_low[label],
        average_high=average_high[label],
        gap_low=gap_low[label],
        gap_high=gap_high[label],
        rank_low=rank_low[label],
        rank_high=rank_high[label],
        support=support[label],
        support_resampled=resampled[label],
        groups=tuple(groups[k] for k in label),
    )


def interval(values: Floats, level: float) -> tuple[Floats, Floats]:
    """Return percentiles of each column that leave out ``1 - level``, half on each side; NaN is not counted."""
    known = ~np.isnan(values).all(axis=0)
    low, high = np.full((2, values.shape[1]), np.nan)
    if known.any():
        tail = (1 - level) / 2
        low[known], high[known] = np.nanquantile(values[:, known], [tail, 1 - tail], axis=0)
    return low + 0.0, high + 0.0


def rank_interval(samples: Samples, level: float) -> tuple[Floats, Floats]:
    """Return the ranks that hold at least ``level`` of the resamples: ends are ranks that occurred."""
    ranks = np.stack([tied_ranks(row, scale) for row, scale in zip(samples.gaps, samples.scale, strict=True)])
    tail = (1 - level) / 2
    low = np.quantile(ranks, tail, axis=0, method="lower")
    high = np.quantile(ranks, 1 - tail, axis=0, method="higher")
    return low.astype(np.float64), high.astype(np.float64)


def clearly_better(samples: Samples, level: float) -> Bools:
    """Say of every ordered pair whether the first is above the second in at least ``(1 + level) / 2`` of resamples."""
    n = samples.gaps.shape[1]
    above = np.zeros((n, n), dtype=np.intp)
    for row, scale in zip(samples.gaps, samples.scale, strict=True):
        above += row[:, None] > row[None, :] + 1e-9 * scale
    return np.asarray(above >= (1 + level) / 2 * len(samples.gaps) - 1e-9)


def groups_of(better: Bools, samples: Samples, ranks: Ints) -> list[str]:
    """Return for each class the groups it belongs to: longest stretches of the board in which nobody is clearly better.

    Stretches are taken in the order of the point estimate, and of the mean gap among those that tie.
    """
    order = np.lexsort([-samples.gaps.mean(axis=0), ranks])
    table = better[np.ix_(order, order)] | better[np.ix_(order, order)].T
    n, reach = len(order), -1
    starts: list[int] = []
    ends: list[int] = []
    for start in range(n):
        end = max(reach, start)  # a stretch without its first member is still one
        while end + 1 < n and not table[start : end + 1, end + 1].any():
            end += 1
        if end > reach:
            starts.append(start)
            ends.append(end)
            reach = end
    found = [""] * n
    for place, k in enumerate(order):
        first, last = np.searchsorted(ends, place) + 1, np.searchsorted(starts, place, side="right")
        found[int(k)] = str(first) if first == last else f"{first}-{last}"
    return found
