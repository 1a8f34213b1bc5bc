"""What audit and stress test work on: complete data in comparable units, with the noise that is known of it.

Nothing is left out silently: the notes say what and why.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nashboard._text import listed
from nashboard._types import Floats
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs, payoffs
from nashboard.data.scores import Scores
from nashboard.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparableMatches:
    """Matches of agents that can all be compared, their payoffs, and what was left out."""

    matches: Matches
    payoffs: Payoffs
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparableScores:
    """Complete scores in comparable units, higher better, with standard errors; and what was left out."""

    scores: Scores
    notes: tuple[str, ...]


def matches_or_scores(data: Any, what: str) -> Matches | Scores:
    """Return the data itself, or raise an error about data of another kind."""
    if isinstance(data, Matches | Scores):
        return data
    hint = ": they do not say how many games there were; see nash_average and hodge" * isinstance(data, Payoffs)
    raise InputError(f"{what} takes Matches or Scores, not {type(data).__name__}{hint}")


def complete_payoffs(matches: Matches) -> Payoffs:
    """Return log-odds of all pairs; those that never met as Elo predicts."""
    return payoffs(matches, fill="error" if matches.coverage == 1 else "model")


def comparable_matches(matches: Matches) -> ComparableMatches:
    """Keep the largest group of agents that are connected by matches."""
    notes: tuple[str, ...] = ()
    groups = matches.components
    if len(groups) > 1:
        kept = set(groups[0])
        if len(kept) < 2:
            matches.require_connected()
        gone = [agent for agent in matches.agents if agent not in kept]
        notes = (f"only the largest group of connected agents is looked at; left out: {listed(gone)}",)
        matches = matches.select([agent for agent in matches.agents if agent in kept])
    return ComparableMatches(matches=matches, payoffs=complete_payoffs(matches), notes=notes)


def comparable_scores(scores: Scores) -> ComparableScores:
    """Keep the larger complete part of a table with holes, leave out constant tasks, and scale as usual."""
    notes: list[str] = []
    if scores.missing.any():
        scores, note = complete_part(scores)
        notes.append(note)
    scores = replace(scores, stderr=known_noise(scores))
    if scores.scaling == "raw":
        varied = scores.without_constant_tasks()
        notes += [note for note in varied.origin.notes if note not in scores.origin.notes]
        scores = varied.scale("range")
    return ComparableScores(scores=scores, notes=tuple(notes))


def complete_part(scores: Scores) -> tuple[Scores, str]:
    """Drop the agents or the tasks with holes, whichever leaves more cells, and say so."""
    agents = int((~scores.missing.any(axis=1)).sum())
    tasks = int((~scores.missing.any(axis=0)).sum())
    if max(agents * len(scores.tasks), tasks * len(scores.agents)) == 0:
        scores.require_complete()
    by_tasks = tasks * len(scores.agents) >= agents * len(scores.tasks)
    kept = scores.drop("tasks" if by_tasks else "agents")
    return kept, (
        f"{int(scores.missing.sum()):,} of {scores.missing.size:,} scores are missing; only the complete part is "
        f"looked at, {len(kept.agents):,} agents x {len(kept.tasks):,} tasks"
    )


def known_noise(scores: Scores) -> Floats:
    """Return standard errors, from the file or of a share of ``n`` items; NaN where neither is known.

    A standard error of zero is no measurement of noise and counts as unknown. For raw shares in [0, 1] measured
    on n items it is ``sqrt(p (1 - p) / n)`` with ``p`` moved half an item towards the middle.
    """
    S, E, n = scores.values, scores.stderr, scores.n
    noise = np.where(E > 0, E, np.nan)
    if scores.scaling != "raw":
        return noise
    share = np.isnan(noise) & (n > 0) & (np.nanmin(S, axis=0) >= 0) & (np.nanmax(S, axis=0) <= 1)
    items = np.where(share, n, 1.0)
    p = (np.where(share, S, 0.5) * items + 0.5) / (items + 1)
    return np.where(share, np.sqrt(p * (1 - p) / items), noise)
