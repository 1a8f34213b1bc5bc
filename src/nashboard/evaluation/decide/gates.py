"""Named conditions that let a build fail: ``--fail-on`` of the commands, `check` in Python."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from nashboard.errors import InputError, either, listed, nearest
from nashboard.evaluation.decide.compare import Comparisons

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
        meaning="another agent took first place, beyond noise",
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
AUDIT = (
    Condition(name="failed", meaning="a check failed", holds=lambda found: name_checks(found.checks, False)),
    Condition(name="open", meaning="a check cannot be answered", holds=lambda found: name_checks(found.checks, None)),
    Condition(
        name="near-duplicates",
        meaning="the same agent or task was entered more than once",
        holds=lambda found: name_checks([check for part in found.redundancy for check in part.checks()], False),
    ),
)


def name_checks(checks: Iterable[Any], passed: bool | None) -> str:
    """Return what the checks with this answer say, or nothing."""
    return "; ".join(f"{check.heading}: {check.sentence}" for check in checks if check.passed is passed)


def check_names(names: Iterable[str], known: tuple[Condition, ...]) -> list[str]:
    """Return the names of conditions, split at commas; an unknown one is an error."""
    wanted = [name.strip() for text in names for name in text.split(",")]
    for name in wanted:
        if name not in [one.name for one in known]:
            words = [one.name for one in known]
            raise InputError(
                f"there is no condition {name!r}{nearest(name, words)}: use {either(words)}", option="fail_on"
            )
    return wanted


def check(found: Any, names: Iterable[str], known: tuple[Condition, ...]) -> list[str]:
    """Return a sentence for every named condition that holds."""
    wanted = check_names(names, known)
    reasons = {one.name: one.holds(found) for one in known if one.name in wanted}
    return [f"{name}: {reason}" for name, reason in reasons.items() if reason]
