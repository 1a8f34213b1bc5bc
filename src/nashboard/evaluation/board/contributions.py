"""The terms of a gap, and agents whose place by Nash average differs from another one beyond noise.

Symbols: ``gap_i = - sum over k of w_k (X[i, k] - best_k)``: one term for each opponent (or task) with weight ``w_k``,
averaged over the draws. From the plain average to the Nash average an agent moves by
``sum over k of (w_k - share_k) (X[i, k] - mean_k)``; the largest of these in the direction of the move are its reasons.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nashboard._text import listed
from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.scores import Scores
from nashboard.evaluation.board.board import Board, Second
from nashboard.evaluation.problem import LOG_ODDS, Problem

KEPT = 10  # contributions of each agent
MOST = 3  # movers named
LEAST = 2  # places that an agent moves on an exact board, where every move is beyond noise


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """One term of an agent's gap: the opponent or task, its mean weight, the agent's expected result, and the term.

    ``term`` is negative if it increases the gap; ``low`` and ``high`` are its interval over the draws, None if there is
    one draw, or if the draws of the payoffs do not fit in memory.
    """

    name: str
    weight: float
    result: float
    term: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Mover:
    """An agent whose places by Nash average and by another number do not overlap, and the reasons."""

    name: str
    against: str
    nash: tuple[int, int]
    other: tuple[int, int]
    because: tuple[str, ...]

    def sentence(self) -> str:
        """Return the agent, both places and the reasons in one sentence."""
        way = "higher" if self.nash[0] < self.other[0] else "lower"
        reason = f", mostly because of {listed(self.because)}" if self.because else ""
        places = f"place {format_span(self.nash)} by Nash average and {format_span(self.other)} by {self.against}"
        return f"{self.name} is {way} on this board: {places}{reason}."

    @staticmethod
    def from_dict(values: dict[str, Any]) -> "Mover":
        """Return what `to_dict` wrote."""
        fields: dict[str, Any] = {k: tuple(value) if isinstance(value, list) else value for k, value in values.items()}
        return Mover(**fields)


def format_span(ends: tuple[int, int]) -> str:
    """Return ``3-5``, or ``3`` if both ends are equal."""
    return f"{ends[0]:,}" if ends[0] == ends[1] else f"{ends[0]:,}-{ends[1]:,}"


def find_contributions(problem: Problem) -> dict[str, tuple[Contribution, ...]]:
    """Return the largest terms of each agent's gap, by agent; none if payoffs do not fit in memory."""
    if problem.large:
        return dict.fromkeys(problem.agents, ())
    draws, X = problem.draws, problem.expected
    names = name_columns(problem)
    scores = problem.tasks is not None
    W = draws.task_weights if scores else draws.weights
    assert W is not None
    weights = W.mean(axis=0)
    if draws.payoffs is None:
        best = draws.weights.mean(axis=0) @ X if scores else np.zeros(len(names))
        terms = weights * (X - best)
        ends = None
    else:
        bests = np.einsum("sc,sck->sk", draws.weights, draws.payoffs) if scores else np.zeros_like(W)
        terms = np.einsum("sk,sck->ck", W, draws.payoffs) / len(W) - (W * bests).mean(axis=0)
        ends = (draws.payoffs, W, bests) if len(W) > 1 else None
    mean = draws.gaps.mean(axis=0)  # the estimate may leave out its tails
    terms *= np.divide(draws.point, mean, out=np.ones_like(mean), where=mean > 0)[:, None]
    inside = np.array(sorted(np.flatnonzero(weights > 0), key=lambda k: names[k]), dtype=np.intp)
    order = np.argsort(-np.abs(terms[:, inside]), axis=1, kind="stable")[:, :KEPT]
    columns = inside[order]
    low, high = term_intervals(*ends, columns, problem.settings.level) if ends else (None, None)
    scale = POINTS_PER_LOGIT if problem.unit == LOG_ODDS else 1.0  # in the unit of the board
    by_class = [
        tuple(
            Contribution(
                name=names[k],
                weight=float(weights[k]),
                result=float(X[row, k]) * scale,
                term=float(terms[row, k]) * scale + 0.0,
                low=None if low is None else float(low[row, place]) * scale + 0.0,
                high=None if high is None else float(high[row, place]) * scale + 0.0,
            )
            for place, k in enumerate(columns[row])
        )
        for row in range(len(X))
    ]
    return {name: by_class[k] for name, k in zip(problem.agents, problem.classes.label, strict=True)}


def term_intervals(X: Floats, W: Floats, best: Floats, columns: Any, level: float) -> tuple[Floats, Floats]:
    """Return quantiles over the draws of the terms in the given columns of each row."""
    rows = np.arange(X.shape[1])[:, None]
    terms = W[:, columns] * (X[:, rows, columns] - best[:, columns])
    tail = (1 - level) / 2
    low, high = np.quantile(terms, [tail, 1 - tail], axis=0, method="weibull")
    return low, high


def name_columns(problem: Problem) -> tuple[str, ...]:
    """Return the name of each class of opponents or tasks."""
    if problem.tasks is None:
        return problem.classes.names(problem.agents)
    assert isinstance(problem.data, Scores)
    return problem.tasks.names(problem.data.tasks)


def find_movers(problem: Problem, board: Board, other: Second | None) -> tuple[Mover, ...]:
    """Return the agents whose places by gap and by another number do not overlap, the largest moves first."""
    if other is None or problem.large:
        return ()
    apart = np.maximum(board.rank_low - other.rank_high, other.rank_low - board.rank_high)
    firsts = [k for k in board.order if apart[k] >= (LEAST if board.exact else 1)]
    chosen: list[int] = []
    for k in sorted(firsts, key=lambda k: -apart[k]):
        if board.classes[k] not in board.classes[chosen]:
            chosen.append(int(k))
    if not chosen:
        return ()
    names, X = name_columns(problem), problem.expected
    entered = problem.classes if problem.tasks is None else problem.tasks
    W = problem.draws.weights if problem.tasks is None else problem.draws.task_weights
    assert W is not None
    pull = (W.mean(axis=0) - entered.size / entered.size.sum()) * (X - X.mean(axis=0))
    movers = []
    for k in chosen[:MOST]:
        toward = pull[board.classes[k]] * (1 if board.rank_low[k] < other.rank_low[k] else -1)
        reasons = sorted(
            (t for t in range(len(names)) if toward[t] > 0 and names[t] != board.names[k]), key=lambda t: -toward[t]
        )
        movers.append(
            Mover(
                name=board.names[k],
                against=other.name,
                nash=(int(board.rank_low[k]), int(board.rank_high[k])),
                other=(int(other.rank_low[k]), int(other.rank_high[k])),
                because=tuple(names[t] for t in reasons[:2]),
            )
        )
    return tuple(movers)
