"""The scores of one method, and how far they moved.

Ranks compare only those who are in both results, so that a copy that was entered takes no place from anybody.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from nashboard._types import Floats, Ints, read_only
from nashboard.equilibrium.results import tied_ranks

Method = Literal["uniform", "elo", "nash"]
LABELS: dict[Method, str] = {
    "uniform": "uniform average",
    "elo": "Elo",
    "nash": "Nash average",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MethodResult:
    """Scores by one method, the ranks they give, and how exact they are.

    Parameters
    ----------
    method
        ``"uniform"``, ``"elo"`` or ``"nash"``.
    names, scores
        Who, and their scores; higher is better.
    unit
        What a score is measured in.
    scale
        Scores closer than a billionth of it share a rank.
    certificate
        The larger of exploitability (relative to the largest payoff) and residual; 0 where nothing was solved.
    top
        Who is at the top with a probability of at least 1/2, of a posterior; None for a plain score.
    """

    method: Method
    names: tuple[str, ...]
    scores: Floats
    unit: str
    scale: float
    certificate: float = 0.0
    top: tuple[str, ...] | None = None

    @cached_property
    def ranks(self) -> Ints:
        """``(n,)`` 1 for the best; ties share a rank."""
        return read_only(tied_ranks(self.scores, self.scale))

    @cached_property
    def winners(self) -> tuple[str, ...]:
        """Everybody in first place: the top of a posterior, or those with the best score."""
        if self.top is not None:
            return self.top
        return tuple(self.names[k] for k in np.flatnonzero(self.ranks == 1))

    def only(self, names: tuple[str, ...]) -> "MethodResult":
        """Return the result among the named, in their order."""
        place = {name: k for k, name in enumerate(self.names)}
        return MethodResult(
            method=self.method,
            names=names,
            scores=self.scores[[place[name] for name in names]],
            unit=self.unit,
            scale=self.scale,
            certificate=self.certificate,
            top=None if self.top is None else tuple(name for name in self.top if name in place and name in names),
        )

    def __repr__(self) -> str:
        return f"MethodResult({LABELS[self.method]}, {len(self.names):,} entries, first: {', '.join(self.winners[:3])})"


@dataclass(frozen=True, kw_only=True)
class Movement:
    """How far a result moved: the largest change of a rank and of a score, and whether first place changed.

    Parameters
    ----------
    method
        Which result.
    who, rank_before, rank_after
        Whoever moved most by rank (the highest placed before, on a tie), from where to where.
    rank_moved
        How many places that is.
    score_moved
        The largest change of anybody's score, in ``unit``.
    share_moved
        The same as a share of the distance from last to first, before or after, whichever is larger.
    winners_before, winners_after
        Who was and who is in first place.
    certificate
        How exact both results are: the larger of their certificates.
    """

    method: Method
    who: str
    rank_before: int
    rank_after: int
    score_moved: float
    share_moved: float
    unit: str
    winners_before: tuple[str, ...]
    winners_after: tuple[str, ...]
    certificate: float

    @property
    def rank_moved(self) -> int:
        """The largest change of a rank."""
        return abs(self.rank_after - self.rank_before)

    @property
    def winner_changed(self) -> bool:
        """Whether other agents are in first place than before."""
        return set(self.winners_before) != set(self.winners_after)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        return {
            "method": self.method,
            "who": self.who,
            "rank_before": self.rank_before,
            "rank_after": self.rank_after,
            "rank_moved": self.rank_moved,
            "score_moved": self.score_moved,
            "share_moved": self.share_moved,
            "unit": self.unit,
            "winners_before": list(self.winners_before),
            "winners_after": list(self.winners_after),
            "winner_changed": self.winner_changed,
            "certificate": self.certificate,
        }


def movement(before: MethodResult, after: MethodResult) -> Movement:
    """Compare two results by the same method, among those who are in both."""
    there = set(after.names)
    shared = tuple(name for name in before.names if name in there)
    old, new = before.only(shared), after.only(shared)
    moved = np.abs(new.ranks - old.ranks)
    k = int(np.lexsort([np.arange(len(shared)), old.ranks, -moved])[0])
    by_score = float(np.abs(new.scores - old.scores).max())
    spread = max(float(np.ptp(old.scores)), float(np.ptp(new.scores)))
    return Movement(
        method=before.method,
        who=shared[k],
        rank_before=int(old.ranks[k]),
        rank_after=int(new.ranks[k]),
        score_moved=by_score,
        share_moved=by_score / spread if spread > 0 else 0.0,
        unit=before.unit,
        winners_before=old.winners,
        winners_after=new.winners,
        certificate=max(before.certificate, after.certificate),
    )


def named_first(winners: tuple[str, ...], most: int = 3) -> str:
    """Return who is first, in a few words."""
    shown = " = ".join(winners[:most])
    return shown if len(winners) <= most else f"{shown} = {len(winners) - most:,} more"
