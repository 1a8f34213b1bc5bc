"""What the fields of rating results have in common: checks, intervals, rows of a leaderboard, plain values.

Anchors: agents whose ratings are held, ``{"gnugo": 1800}``, checked once for every rating.
"""

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from nashboard._tables import Cell
from nashboard._text import either, listed, nearest
from nashboard._types import Floats, floats, frozen_copy, read_only
from nashboard.data.matches import whole
from nashboard.data.names import checked_names, positions
from nashboard.errors import InputError

NORMAL_95 = 1.959963984540054  # 97.5th percentile of the normal distribution


def settled(result: Any, numbers: dict[str, str]) -> None:
    """Check a new result's names and its arrays of one number per agent, and close them for writing."""
    names = checked_names(result.agents, size=len(result.agents), kind="agent")
    object.__setattr__(result, "agents", names)
    for field, what in numbers.items():
        values = floats(getattr(result, field), what, ndim=1)
        if values.shape != (len(names),):
            raise InputError(f"{what} are {values.size:,} numbers for {len(names):,} agents: give one each")
        if field != "stderr":
            require_finite(values, what)
        object.__setattr__(result, field, frozen_copy(values))


def require_finite(values: Floats, what: str) -> None:
    """Raise an error where a number is infinite or missing."""
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        raise InputError(f"{what} must be finite; number {bad[0][0] + 1:,} is {values[tuple(bad[0])]:g}")


def interval(ratings: Floats, stderr: Floats) -> tuple[Floats, Floats]:
    """Return the ends of the 95% intervals, assuming normal errors."""
    return read_only(ratings - NORMAL_95 * stderr), read_only(ratings + NORMAL_95 * stderr)


def leaders(agents: tuple[str, ...], *columns: Floats, games: Floats) -> tuple[tuple[Cell, ...], ...]:
    """Return rows of a leaderboard sorted by the first column: rank, agent, numbers, games."""
    order = np.argsort(-columns[0], kind="stable")
    return tuple(
        (place + 1, agents[k], *(float(column[k]) for column in columns), whole(games[k]))
        for place, k in enumerate(order)
    )


def number_or_nan(values: Any) -> Any:
    """Return numbers for json, which has no NaN: None stands for it."""
    if isinstance(values, list):
        return [number_or_nan(value) for value in values]
    return None if np.isnan(values) else values


def values_of(values: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the fields that a ``to_dict`` of this kind wrote, with NaN where it wrote None."""
    if not isinstance(values, dict) or values.get("kind") != kind:
        found = values.get("kind") if isinstance(values, dict) else type(values).__name__
        known = ("elo", "melo")
        raise InputError(f"these are not the values of {kind} ratings: their kind is {found!r}, one of {listed(known)}")
    fields = {name: value for name, value in values.items() if name != "kind"}
    for name in ("log_loss", "gradient_norm"):
        fields[name] = np.nan if fields.get(name) is None else fields[name]
    if "stderr" in fields:
        fields["stderr"] = [np.nan if value is None else value for value in fields["stderr"]]
    return fields


def chosen(value: str, allowed: tuple[str, ...], what: str) -> str:
    """Return an option's value, or say which there are."""
    if value not in allowed:
        raise InputError(f"there is no {what} {value!r}{nearest(str(value), allowed)}: use {either(allowed)}")
    return value


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
