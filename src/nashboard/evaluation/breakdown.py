"""Everything an agent's gap is made of, term by term, and how sure each term is.

Symbols: ``gap_i = sum over k of weight_k (X[i, k] - best_k)``, as in `contributions`. For intervals the data are
measured again as often as the evaluation did, from the same seed; the weights are held, so that an interval says how
well the *result* against an opponent (or on a task) is known, not how the equilibrium would jump.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs, payoffs
from nashboard.data.scores import Scores
from nashboard.errors import InputError, nearest
from nashboard.evaluation.evaluate import class_names
from nashboard.evaluation.evaluation import Evaluation
from nashboard.evaluation.intervals import interval
from nashboard.evaluation.resampling import (
    elo_start,
    in_units,
    known,
    noise_of,
    payoff_matrix,
    plan_of,
    prior_of,
    replayed,
)
from nashboard.evaluation.roll import Roll
from nashboard.ratings.selection import with_counts


@dataclass(frozen=True, kw_only=True)
class Term:
    """What one opponent or task adds to the gap, between ``low`` and ``high``; NaN where noise is not known."""

    name: str
    weight: float
    result: float
    term: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Breakdown:
    """An agent's gap as a sum of terms, the largest first.

    Parameters
    ----------
    agent, gap
        Whose gap, and how far it lies below the best.
    what
        ``"opponent"`` or ``"task"``.
    terms
        One per opponent or task with weight; copies count together. They add up to the gap where ``complete``.
    complete
        False for an evaluation that was read from json, which keeps the largest terms only.
    sure
        Whether there are intervals; of ``level``, from ``resamples``.
    """

    agent: str
    gap: float
    what: str
    terms: tuple[Term, ...]
    complete: bool
    sure: bool
    level: float
    resamples: int


def breakdown(evaluation: Evaluation, agent: str) -> Breakdown:
    """Return what an agent's gap is made of.

    Examples
    --------
    >>> import nashboard as nb
    >>> from nashboard.evaluation.breakdown import breakdown
    >>> found = breakdown(nb.evaluate(nb.load_dataset("alphago"), n_resamples=20), "gnugo")
    >>> len(found.terms), round(sum(term.term for term in found.terms) - found.gap, 9)
    (3, 0.0)
    """
    board = evaluation.board
    if agent not in board.names:
        raise InputError(f"there is no agent {agent!r}{nearest(str(agent), board.names)}")
    k = board.names.index(agent)
    names, weights, results, terms, samples = parts(evaluation, k)
    low, high = interval(samples, evaluation.settings["level"]) if len(samples) else np.full((2, len(names)), np.nan)
    held = sorted(np.flatnonzero(weights > 0), key=lambda t: (-abs(terms[t]), names[t]))
    return Breakdown(
        agent=agent,
        gap=float(board.gaps[k]) + 0.0,
        what="opponent" if evaluation.task_board is None else "task",
        terms=tuple(
            Term(
                name=names[t],
                weight=float(weights[t]),
                result=float(results[t]),
                term=float(terms[t]) + 0.0,
                low=float(low[t]),
                high=float(high[t]),
            )
            for t in held
        ),
        complete=evaluation.data is not None,
        sure=len(samples) > 0,
        level=evaluation.settings["level"],
        resamples=len(samples),
    )


def parts(evaluation: Evaluation, k: int) -> tuple[tuple[str, ...], Floats, Floats, Floats, Floats]:
    """Return names, weights, results and terms of one agent, and its terms in every resample."""
    board, data = evaluation.board, evaluation.data
    roll = roll_of(board.classes)
    if data is None:
        kept = evaluation.contributions[board.names[k]]
        weights, results, terms = (np.array([getattr(one, of) for one in kept]) for of in ("weight", "result", "term"))
        return tuple(one.name for one in kept), weights, results, terms, np.empty((0, len(kept)))
    if isinstance(data, Scores):
        return parts_of_scores(evaluation, data, k)
    if isinstance(data, Payoffs):
        row = data.A[np.ix_(roll.first, roll.first)][roll.label[k]]
        samples = np.empty((0, len(row)))
    else:
        if len(roll.first) == 1:  # everybody is the same: one class, even with itself
            row, samples = np.zeros(1), np.empty((0, 1))
        else:
            by_class = data.select([data.agents[j] for j in roll.first])
            row = payoffs(by_class, fill="model").A[roll.label[k]]
            samples = np.stack(list(replayed_rows(by_class, int(roll.label[k]), evaluation)))
    weights = by_roll(board.weights, roll)
    return class_names(data.agents, roll), weights, row, weights * row, weights * samples


def replayed_rows(matches: Matches, row: int, evaluation: Evaluation) -> Iterator[Floats]:
    """Yield an agent's payoffs in every resample."""
    start, prior = elo_start(matches), prior_of(matches)
    for rng in streams(evaluation):
        yield payoff_matrix(with_counts(matches, replayed(matches, rng)), start, prior)[row]


def parts_of_scores(
    evaluation: Evaluation, data: Scores, k: int
) -> tuple[tuple[str, ...], Floats, Floats, Floats, Floats]:
    """Return the parts for a table of scores: the team at the top is the measure on every task."""
    task_board, scaling = evaluation.task_board, evaluation.settings["scaling"]
    assert task_board is not None
    roll, of_tasks = (roll_of(board.classes) for board in (evaluation.board, task_board))
    raw = data.select([data.agents[j] for j in roll.first], [data.tasks[j] for j in of_tasks.first])
    p, q = by_roll(evaluation.board.weights, roll), by_roll(task_board.weights, of_tasks)
    row = int(roll.label[k])

    def terms(scores: Scores) -> Floats:
        S = in_units(scores, scaling).values
        return np.asarray(q * (S[row] - p @ S))

    noise = noise_of(raw)
    samples = np.empty((0, len(q)))
    if known(noise).any():
        noise = np.nan_to_num(noise, nan=0.0)
        again = (
            replace(raw, values=raw.values + noise * rng.standard_normal(noise.shape)) for rng in streams(evaluation)
        )
        samples = np.stack([terms(scores) for scores in again])
    return class_names(data.tasks, of_tasks), q, in_units(raw, scaling).values[row], terms(raw), samples


def streams(evaluation: Evaluation) -> list[np.random.Generator]:
    """Return the random numbers that the evaluation was made with."""
    settings = evaluation.settings
    return plan_of(settings["n_resamples"], settings["seed"], 1, False).streams(0)


def roll_of(classes: Ints) -> Roll:
    """Return the roll that a board was made with; any member can stand for its class."""
    _, first, size = np.unique(classes, return_index=True, return_counts=True)
    return Roll(label=classes, first=first, size=size)


def by_roll(weights: Floats, roll: Roll) -> Floats:
    """Return the weight of each class."""
    return np.asarray(np.bincount(roll.label, weights), dtype=np.float64)
