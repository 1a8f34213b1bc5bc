"""What an average is made of, and why the Nash order and another order disagree.

Symbols: ``gap_i = sum over k of weight_k (X[i, k] - best_k)``: one term for each opponent (or task) that has weight.
From the plain average to the Nash average an agent moves by ``sum over k of (weight_k - share_k) (X[i, k] - mean_k)``;
those with weight that pull hardest in the direction of the move are named as its reasons.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nashboard._tables import number
from nashboard._text import listed
from nashboard._types import Floats, Ints
from nashboard.evaluation.board.board import Board

KEPT = 10  # contributions of each agent
MOST = 3  # movers named
LEAST = 2  # places that an agent has to move to be worth a sentence


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """One term of an agent's gap: the opponent or task, its weight, the agent's result there, and what it adds.

    ``low`` and ``high`` are the interval of the term over the resamples of the first question that was answered (of
    suites those that hold the task); None where nothing was resampled. An opponent that drops out of the support
    adds nothing, so intervals often begin or end at 0.
    """

    name: str
    weight: float
    result: float
    term: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Mover:
    """An agent whose place differs between the Nash order and another, and what moves it."""

    name: str
    against: str
    nash_rank: int
    other_rank: int
    because: tuple[str, ...]

    def sentence(self) -> str:
        """Say who moves, from where to where, and because of what."""
        way = "up" if self.nash_rank < self.other_rank else "down"
        reason = f", mostly because of {listed(self.because)}" if self.because else ""
        return (
            f"{self.name!r} moves {way} from place {self.other_rank:,} by {self.against} "
            f"to place {self.nash_rank:,} by Nash average{reason}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self) | {"because": list(self.because)}


def largest(X: Floats, weights: Floats, best: Floats, names: tuple[str, ...]) -> Ints:
    """Return, for each row of ``X``, the columns of the largest terms of its gap, in either direction."""
    inside = sorted(np.flatnonzero(weights > 0), key=lambda k: names[k])
    order = np.argsort(-np.abs(weights * (X - best))[:, inside], axis=1, kind="stable")[:, :KEPT]
    return np.asarray(np.array(inside, dtype=np.intp)[order])


def contributions(
    X: Floats, weights: Floats, best: Floats, names: tuple[str, ...], columns: Ints, ends: tuple[Floats, Floats] | None
) -> tuple[tuple[Contribution, ...], ...]:
    """Return, for each row of ``X``, the terms of its gap in the given columns, with the ends of their intervals."""
    terms = weights * (X - best) + 0.0
    return tuple(
        tuple(
            Contribution(
                name=names[k],
                weight=float(weights[k]),
                result=float(X[row, k]),
                term=float(terms[row, k]),
                low=None if ends is None else known(ends[0][row, place]),
                high=None if ends is None else known(ends[1][row, place]),
            )
            for place, k in enumerate(columns[row])
        )
        for row in range(len(X))
    )


def known(end: float) -> float | None:
    """Return the end of an interval, None where it is not known."""
    return None if np.isnan(end) else float(end)


def movers(
    board: Board, others: Ints, against: str, X: Floats, weights: Floats, shares: Floats, names: tuple[str, ...]
) -> tuple[Mover, ...]:
    """Return the agents that move furthest between an order and the Nash order; ``X`` has a row per class."""
    moved = np.abs(board.ranks - others)
    order = sorted(range(len(moved)), key=lambda k: (-moved[k], board.ranks[k], board.names[k]))
    pull = (weights - shares) * (X - (shares_of_rows(board) @ X))
    found = []
    for k in order[:MOST]:
        if moved[k] < LEAST:
            break
        toward = pull[board.classes[k]] * (1 if board.ranks[k] < others[k] else -1)
        reasons = [
            int(t)
            for t in sorted(range(len(names)), key=lambda t: (-toward[t], names[t]))
            if toward[t] > 0 and weights[t] > 0 and names[t] != board.names[k]
        ][:2]
        found.append(
            Mover(
                name=board.names[k],
                against=against,
                nash_rank=int(board.ranks[k]),
                other_rank=int(others[k]),
                because=tuple(names[t] for t in reasons),
            )
        )
    return tuple(found)


def shares_of_rows(board: Board) -> Floats:
    """Return the share of each class among all entries."""
    return np.asarray(np.bincount(board.classes) / len(board.classes))


def described(one: Contribution) -> str:
    """Return a contribution in words."""
    return f"{one.name} {number(one.term)} (weight {number(one.weight, 2)}, result {number(one.result)})"
