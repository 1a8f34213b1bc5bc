"""Warnings of a board: what was left out, pooled or assumed, and what the data cannot show."""

from typing import Any

import numpy as np

from nashboard._text import listed
from nashboard.data.matches import NO_COUNTS, Matches
from nashboard.data.origin import CHOSEN
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.evaluation.problem import Problem
from nashboard.ratings.hierarchical.systems import DENSE
from nashboard.ratings.prior import choose_prior

FEW = 100  # draws below which the ends of intervals are rough
UNBEATEN = "never lost a game: only the prior limits the rating."
UNITS = 10  # times the median task: from here on a task has another unit
RELIES_ON_PRIOR = (
    "The schedule may follow strength (divisions, matchmaking), and in leagues of this size opponents are taken as met "
    "at random: those who are far apart may be further apart than shown."
)
BY_STRENGTH = (
    "The schedule may follow strength (divisions, matchmaking): each rating is learned around those of its opponents, "
    "and intervals between those who are far apart may be too narrow."
)
UNCOUNTED = "The win rates come without numbers of games: they are taken as exact, and there are no intervals."


def write_warnings(problem: Problem) -> tuple[str, ...]:
    """Return the warnings of a board: first what may make it wrong, then how the data were read."""
    data = problem.data
    what = "results" if isinstance(data, Matches) else "data"  # equal results of few games may be chance
    warnings = warn_of_copies(problem.exact.groups(data.agents), problem.settings.call, what)
    if problem.tasks is not None and isinstance(data, Scores):
        warnings += warn_of_copies(problem.tasks.groups(data.tasks), "tasks", "data")
    warnings += warn_of_pools(problem)
    warnings += warn_of_mean(data)
    if isinstance(data, Payoffs) and problem.literal and problem.settings.noise == "model":
        warnings.append("The payoffs have neither standard errors nor numbers of games: they are taken as exact.")
    if NO_COUNTS in problem.given.origin.notes:
        warnings.append(UNCOUNTED)
    if isinstance(data, Matches) and not problem.literal and 0 < len(data.unbeaten) < len(data.agents):
        warnings.append(f"{listed(data.unbeaten, 3)} {UNBEATEN}")
    warnings += describe_side(problem)
    if problem.draws.facts.get("around_opponents"):
        warnings.append(BY_STRENGTH)
    elif isinstance(data, Matches) and not problem.literal and len(data.agents) > DENSE and choose_prior(data):
        warnings.append(RELIES_ON_PRIOR)
    if problem.literal and not problem.equilibrium.unique:
        warnings.append("There are several equilibria: the weights are those of maximum entropy.")
    if 1 < (draws := len(problem.draws)) < FEW:
        off = f"a probability may be off by {draws**-0.5:.2f}"  # two standard errors at 1/2
        warnings.append(f"{draws:,} draws are few: {off}, and the ends of intervals are rough below {FEW}.")
    warnings += [as_sentence(note) for note in problem.notes]
    warnings += [as_sentence(str(left)) for left in problem.given.origin.left_out]
    warnings += [
        as_sentence(note)
        for note in problem.given.origin.notes
        if not note.startswith(CHOSEN) and note != NO_COUNTS and note not in problem.notes
    ]
    return tuple(dict.fromkeys(warnings))


def describe_side(problem: Problem) -> list[str]:
    """Return that a side has an advantage, which is taken out."""
    advantage = None if problem.literal or not isinstance(problem.merged, Matches) else problem.neutral[1]
    if advantage is None:
        return []
    low, high = advantage.interval
    side = "first" if advantage.value > 0 else "second"
    size = f"{abs(advantage.value):.0f} [{min(abs(low), abs(high)):.0f}, {max(abs(low), abs(high)):.0f}] Elo points"
    return [f"The {side} side has an advantage of {size}, which is taken out: the board is as at a neutral place."]


def warn_of_pools(problem: Problem) -> list[str]:
    """Return the near-duplicates that were pooled, and whether it is uncertain which entries are copies."""
    warnings = []
    if "copies" in problem.draws.facts:
        warnings.append(
            f"Some {problem.settings.call} are probably the same under several names "
            f"(P = {problem.draws.facts['copies']:.2f}); all numbers are averages over which ones these are."
        )
    if not problem.pools:
        return warnings
    groups = "; ".join(listed(group, 4) for group in problem.pools[:3])
    more = f"; and {len(problem.pools) - 3:,} more groups" if len(problem.pools) > 3 else ""
    apart = "pool=False (--no-pool) keeps them apart."
    return [*warnings, f"Probable near-duplicates are pooled and share their data: {groups}{more}. {apart}"]


def warn_of_copies(groups: tuple[tuple[str, ...], ...], call: str, what: str) -> list[str]:
    """Return the groups of entries with identical results or data, and how they count."""
    if not groups:
        return []
    many = f"{len(groups):,} groups of {call} have" if len(groups) > 1 else f"One group of {call} has"
    first = f"{listed(groups[0], 3)}{' first' if len(groups) > 1 else ''}"
    return [f"{many} identical {what} ({first}): each group counts once; the plain average counts them as entered."]


def warn_of_mean(data: Any) -> list[str]:
    """Return why there is no mean column, or which tasks dominate it because of their unit."""
    if not isinstance(data, Scores) or len(data.tasks) < 2:
        return []
    lower = data.lower_is_better
    if lower.any() and not lower.all():
        low = listed([task for task, is_low in zip(data.tasks, lower, strict=True) if is_low], 3)
        return [f"There is no mean column: on {low} a low score is good, and a mean cannot mix the two directions."]
    size = np.nanmax(np.abs(data.values), axis=0)
    width = np.nanmax(data.values, axis=0) - np.nanmin(data.values, axis=0)
    wide = (size >= UNITS * np.median(size)) & (width >= UNITS * np.median(width))
    if data.scaling != "raw" or width[wide].sum() <= width[~wide].sum():
        return []
    k = int(np.argmax(width))
    largest, middle = (f"{x:,.0f}" if x >= 100 else f"{x:.3g}" for x in (width[k], np.median(width)))
    most = listed([data.tasks[t] for t in np.argsort(-width, kind="stable") if wide[t]], 3)
    return [
        f"Tasks have different units, and the plain mean is dominated by {most} (scores differ by {largest} on "
        f"{data.tasks[k]!r}, by {middle} on the median task)."
    ]


def counts_are_known(warnings: tuple[str, ...]) -> bool:
    """Return whether games were counted, by the warnings of an evaluation: win rates may come without counts."""
    return UNCOUNTED not in warnings


def as_sentence(text: str) -> str:
    """Return a note as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")
