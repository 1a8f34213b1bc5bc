"""Names of agents and tasks: any text, but present and unique."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from nashboard._text import listed, nearest, shortened
from nashboard.errors import InputError

HALF_CHARACTER = "holds half a character (a surrogate without its other half), which no table of text can hold"
HALF = re.compile(r"[\ud800-\udfff]")


def checked_names(names: Iterable[object] | None, *, size: int, kind: str) -> tuple[str, ...]:
    """Return ``size`` distinct, non-empty names; ``agent 1, agent 2, ...`` where none are given."""
    if names is None:
        return tuple(f"{kind} {k + 1}" for k in range(size))
    if isinstance(names, str):
        raise InputError(f"{kind} names must be a list of names, not the single text {names!r}")
    given = [str(name) for name in names]
    if len(given) != size:
        raise InputError(f"there are {len(given):,} {kind} names for {size:,} {kind}s: give one name each")
    blank = [k for k, name in enumerate(given) if not name.strip()]
    if blank:
        raise InputError(f"{kind} number {blank[0] + 1:,} has an empty name: every {kind} needs one")
    cut = [name for name in given if "\0" in name]
    if cut:
        raise InputError(
            f"the {kind} name {shortened(cut[0])!r} holds the character NUL, which no table of text can hold: rename it"
        )
    halves = [name for name in given if HALF.search(name)]
    if halves:
        raise InputError(f"the {kind} name {shortened(halves[0])!a} {HALF_CHARACTER}: rename it")
    twice = [name for name, times in Counter(given).items() if times > 1]
    if twice:
        raise InputError(
            f"{kind} names must be unique, and {listed(twice)} stand{'s' * (len(twice) == 1)} there more than once"
        )
    return tuple(given)


def positions(wanted: Iterable[str], names: Sequence[str], *, kind: str) -> list[int]:
    """Return where each wanted name stands, or say which is not there."""
    where = {name: k for k, name in enumerate(names)}
    found = []
    for name in wanted:
        if name not in where:
            raise InputError(f"there is no {kind} {shortened(name)!r}{nearest(name, names)}: there are {listed(names)}")
        found.append(where[name])
    return found


def look_alikes(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return groups of names that differ only in case or white space: probably one agent spelt twice."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(" ".join(name.casefold().split()), []).append(name)
    return [tuple(group) for group in groups.values() if len(group) > 1]
