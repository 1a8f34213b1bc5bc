"""Names that are too long for their place: they keep their two ends, cut where they stay different from each other."""

from collections.abc import Sequence


def cut(name: str, most: int, head: int) -> str:
    """Return a name of at most so many characters, of which so many stand before the ellipsis."""
    return name if len(name) <= most else f"{name[:head]}…{name[len(name) - (most - 1 - head) :]}"


def telling_head(names: Sequence[str], most: int) -> int:
    """Return how many characters a long name keeps before its ellipsis: half, unless that makes names look alike."""
    heads = sorted(range(4, most - 4), key=lambda head: (abs(head - most // 2), head))
    long = [name for name in names if len(name) > most]
    return max(heads, key=lambda head: len({cut(name, most, head) for name in long}), default=most // 2)
