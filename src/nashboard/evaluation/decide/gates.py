"""Named conditions that let a build fail: ``--fail-on`` of the commands, `check` in Python."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from nashboard.errors import InputError, either, listed, nearest
from nashboard.evaluation.decide.changes import Changes
from nashboard.evaluation.decide.compare import Comparison, Comparisons

FAILED = 3  # exit code of a command whose condition holds


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A named condition on a result; ``holds`` returns the reason, or an empty text."""

    name: str
    meaning: str
    holds: Callable[[Any], str]


def verdict_is(*verdicts: str) -> Callable[[Any], str]:
    """Return a condition on the verdict of a comparison, or of any row of several."""

    def holds(found: Any) -> str:
        rows = found.rows if isinstance(found, Comparisons) else (found,)
        return " ".join(row.sentence for row in rows if row.verdict in verdicts)

    return holds


def names_or_nothing(text: str, names: Iterable[str]) -> str:
    """Return a sentence about names, or nothing where there are none."""
    names = tuple(names)
    return f"{text}: {listed(names)}" if names else ""


COMPARE = (
    Condition(name="worse", meaning="a is worse than b", holds=verdict_is("worse")),
    Condition(
        name="not-better", meaning="a is not shown to be better", holds=verdict_is("worse", "equivalent", "undecided")
    ),
    Condition(name="undecided", meaning="the data do not decide", holds=verdict_is("undecided")),
    Condition(name="different", meaning="a is better or worse", holds=verdict_is("better", "worse")),
)
CHANGES = (
    Condition(
        name="first-changed",
        meaning="first place was decided and is no longer held by the same agent",
        holds=lambda found: found.summary[0] if found.first_changed else "",
    ),
    Condition(
        name="moved",
        meaning="an agent moved beyond noise",
        holds=lambda found: names_or_nothing("moved beyond noise", found.moved),
    ),
    Condition(
        name="worse",
        meaning="an agent fell beyond noise",
        holds=lambda found: names_or_nothing(
            "fell beyond noise", (move.agent for move in found.moves if move.beyond_noise and move.relative < 0)
        ),
    ),
    Condition(
        name="missing",
        meaning="an agent of the old evaluation is not in the new one",
        holds=lambda found: names_or_nothing("no longer there", found.left),
    ),
)


def conditions_for(found: Any) -> tuple[Condition, ...]:
    """Return the conditions that a result can be checked for."""
    if isinstance(found, Comparison | Comparisons):
        return COMPARE
    if isinstance(found, Changes):
        return CHANGES
    raise InputError(f"there are no conditions for {type(found).__name__}")


def check(found: Any, names: Iterable[str], conditions: tuple[Condition, ...] | None = None) -> list[str]:
    """Return a sentence for every named condition that holds."""
    known = {one.name: one for one in conditions or conditions_for(found)}
    sentences = []
    for name in names:
        if name not in known:
            raise InputError(
                f"there is no condition {name!r}{nearest(name, known)}: use {either(known)}", option="fail_on"
            )
        reason = known[name].holds(found)
        if reason:
            sentences.append(f"{name}: {reason}")
    return sentences
