"""A slow twin of the intervals, written differently: plain loops over resamples."""

import math

Rows = list[list[float]]


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low, high = math.floor(at), math.ceil(at)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def intervals(gaps: Rows, level: float) -> list[tuple[float, float]]:
    tail = (1 - level) / 2
    return [(quantile(list(column), tail), quantile(list(column), 1 - tail)) for column in zip(*gaps, strict=True)]


def ranks(row: list[float]) -> list[int]:
    return [1 + sum(other > value + 1e-9 for other in row) for value in row]


def rank_intervals(gaps: Rows, level: float) -> list[tuple[int, int]]:
    tail = (1 - level) / 2
    columns = [sorted(column) for column in zip(*map(ranks, gaps), strict=True)]
    last = len(gaps) - 1
    return [(column[math.floor(tail * last)], column[math.ceil((1 - tail) * last)]) for column in columns]


def told_apart(gaps: Rows, a: int, b: int, level: float) -> bool:
    """Say whether one of two agents is above the other in nearly all resamples."""
    above = sum(row[a] > row[b] + 1e-9 for row in gaps) / len(gaps)
    below = sum(row[b] > row[a] + 1e-9 for row in gaps) / len(gaps)
    return max(above, below) >= (1 + level) / 2 - 1e-12
