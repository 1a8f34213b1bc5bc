"""Anchors: agents whose ratings are held, ``{"gnugo": 1800}``, checked once for every rating."""

import math
from collections.abc import Mapping, Sequence
from numbers import Real

from nashboard.data.names import positions
from nashboard.errors import InputError


def checked_anchor(anchor: Mapping[str, float] | None, agents: Sequence[str]) -> dict[int, float]:
    """Return the held ratings in Elo points, by the place of the agent; nothing where there is no anchor."""
    given = {} if anchor is None else anchor
    if not isinstance(given, Mapping):
        name = given if isinstance(given, str) and given else next(iter(agents), "gnugo")
        raise InputError(
            f"the anchor is {given!r}: it must be a mapping from agents to the ratings that are held, such as "
            f"{{{name!r}: 1500}}"
        )
    places = positions(given, agents, kind="agent")
    for name, points in given.items():
        if isinstance(points, bool) or not isinstance(points, Real) or not math.isfinite(points):
            raise InputError(f"the anchor of {name!r} is {points!r}: it must be a finite number of Elo points")
    return dict(zip(places, map(float, given.values()), strict=True))
