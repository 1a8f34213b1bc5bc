"""The same table measured again, and another suite of tasks.

Symbols: ``S`` scores (tables, agents, tasks); ``p`` weights of agents, ``q`` of tasks.
"""

from dataclasses import dataclass, replace

import numpy as np

from nashboard._types import Bools, Floats, Ints
from nashboard._workers import Plan
from nashboard.data.scaling import Scaling
from nashboard.data.scores import Scores
from nashboard.equilibrium.batch import nash_averages_scores
from nashboard.equilibrium.nash_average import nash_average_scores
from nashboard.equilibrium.results import Selection
from nashboard.evaluation import resampling
from nashboard.evaluation.intervals import Samples, joined
from nashboard.evaluation.matches_again import PSEUDO


def noise_of(scores: Scores) -> Floats:
    """Return the standard error of every score: given or from runs, else binomial where items are known, else NaN."""
    low, high = np.nanmin(scores.values), np.nanmax(scores.values)
    if not (low >= 0 and high <= 1 and scores.scaling == "raw"):
        return scores.stderr
    smoothed = (scores.values * scores.n + PSEUDO) / (scores.n + 1)
    return np.where(
        np.isnan(scores.stderr), np.sqrt(smoothed * (1 - smoothed) / np.maximum(scores.n, 1)), scores.stderr
    )


def scores_again(
    scores: Scores, scaling: Scaling, selection: Selection, plan: Plan, watched: Ints | None = None
) -> tuple[Samples, Samples]:
    """Measure the table again: every score with its standard error; scores without one are taken as exact.

    ``watched`` (agents, some) are the tasks whose part in an agent's gap is kept.
    """
    noise = np.nan_to_num(noise_of(scores), nan=0.0)
    work = TableAgain(
        scores=scores, noise=noise, scaling=scaling, selection=selection, watched=none_of(scores, watched)
    )
    agents, tasks = resampling.sampled(work, plan, 0, "Measuring the table again ...")
    return agents, tasks


def another_suite(
    scores: Scores, selection: Selection, plan: Plan, watched: Ints | None = None
) -> tuple[Samples, Samples]:
    """Draw as many tasks as there are, with repetition: would another suite of this kind agree?

    A task drawn twice is a clone, which Nash averaging does not see: what counts is which tasks were drawn at all.
    """
    work = AnotherSuite(S=scores.values, selection=selection, watched=none_of(scores, watched))
    agents, tasks = resampling.sampled(work, plan, 1, "Drawing other suites ...")
    return agents, tasks


def none_of(scores: Scores, watched: Ints | None) -> Ints:
    """Return the tasks to watch, none where nobody asked."""
    return np.empty((len(scores.agents), 0), dtype=np.intp) if watched is None else watched


@dataclass(frozen=True, kw_only=True, eq=False)
class TableAgain:
    """The work of one worker: tables measured again and solved."""

    scores: Scores
    noise: Floats
    scaling: Scaling
    selection: Selection
    watched: Ints

    def __call__(self, streams: list[np.random.Generator]) -> tuple[Samples, ...]:
        """Return a sample of agents and one of tasks per stream."""
        tables = [self.scores.values + self.noise * rng.standard_normal(self.noise.shape) for rng in streams]
        S = np.stack([in_units(replace(self.scores, values=table), self.scaling).values for table in tables])
        skills, difficulties, p, q, values = solved_tables(S, self.selection)
        return both_sides(S, skills, difficulties, p, q, values, np.ptp(S, axis=(1, 2)), self.watched)


@dataclass(frozen=True, kw_only=True, eq=False)
class AnotherSuite:
    """The work of one worker: suites drawn and solved."""

    S: Floats
    selection: Selection
    watched: Ints

    def __call__(self, streams: list[np.random.Generator]) -> tuple[Samples, ...]:
        """Return a sample of agents and one of tasks per stream; tasks that were not drawn are NaN."""
        return tuple(joined(side) for side in zip(*map(self.suite, streams), strict=True))

    def suite(self, rng: np.random.Generator) -> tuple[Samples, Samples]:
        """Return what one suite says."""
        n = self.S.shape[1]
        drawn = np.unique(rng.integers(0, n, size=n))
        solved = nash_average_scores(self.S[:, drawn], selection=self.selection)
        difficulties, q = np.full((2, 1, n), np.nan)
        difficulties[0, drawn], q[0, drawn] = solved.difficulties, solved.task_weights
        return both_sides(
            self.S[None], solved.skills[None], difficulties, solved.agent_weights[None], q, np.array([solved.value]),
            np.array([solved.scale]), self.watched,
        )  # fmt: skip


def both_sides(
    S: Floats,
    skills: Floats,
    difficulties: Floats,
    p: Floats,
    q: Floats,
    values: Floats,
    scale: Floats,
    watched: Ints,
) -> tuple[Samples, Samples]:
    """Return the samples of agents and of tasks of a stack of solved tables."""
    best = (p[:, None, :] @ S)[:, 0]
    rows = np.arange(S.shape[1])[:, None]
    terms = q[:, watched] * (S[:, rows, watched] - best[:, watched])
    gaps, task_gaps = skills - values[:, None], difficulties + values[:, None]
    return (
        Samples(averages=skills, gaps=np.minimum(gaps, 0.0), weights=p, inside=had(p), scale=scale, terms=terms),
        Samples(
            averages=difficulties,
            gaps=np.minimum(task_gaps, 0.0),
            weights=q,
            inside=had(q),
            scale=scale,
            terms=np.empty((*difficulties.shape, 0)),
        ),
    )


def had(weights: Floats) -> Floats:
    """Return 1 where there is weight, 0 where there is none, NaN where a task was not drawn."""
    return np.where(np.isnan(weights), np.nan, weights > 0)


def solved_tables(S: Floats, selection: Selection) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return skills, difficulties, weights of agents and of tasks, and values of many tables."""
    if sum(S.shape[1:]) <= resampling.STACKED:
        many = nash_averages_scores(S, selection=selection)
        return many.skills, many.difficulties, many.agent_weights, many.task_weights, many.values
    single = [nash_average_scores(table, selection=selection) for table in S]
    return (
        np.stack([one.skills for one in single]),
        np.stack([one.difficulties for one in single]),
        np.stack([one.agent_weights for one in single]),
        np.stack([one.task_weights for one in single]),
        np.array([one.value for one in single]),
    )


def in_units(scores: Scores, scaling: Scaling) -> Scores:
    """Return scores in comparable units: as they are where they were scaled already."""
    return scores.scale(scaling) if scores.scaling == "raw" else scores


def known(noise: Floats) -> Bools:
    """Say where a standard error is known."""
    return ~np.isnan(noise)
