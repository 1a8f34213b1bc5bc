"""Resampling: the same arena played again, the same table measured again, another suite of tasks.

Every resample has its own stream of random numbers, spawned from one seed, and is computed alone: so the answer is the
same whatever the number of workers. Streams are used class by class, in the order of the roll (see `roll`).
"""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import numpy as np

from nashboard._types import Bools, Floats
from nashboard.data.matches import Matches
from nashboard.data.payoffs import payoffs
from nashboard.data.scaling import Scaling
from nashboard.data.scores import Scores
from nashboard.equilibrium.batch import nash_averages, nash_averages_scores
from nashboard.equilibrium.nash import NashAverage, Selection, nash_average
from nashboard.equilibrium.nash_scores import nash_average_scores
from nashboard.equilibrium.threads import threads_for
from nashboard.errors import InputError
from nashboard.evaluation.intervals import Samples
from nashboard.ratings.elo import PRIOR, newton
from nashboard.ratings.likelihood import pair_totals
from nashboard.ratings.selection import with_counts

TOGETHER = 16  # resamples that a worker solves in one go
STACKED = 80  # players up to which a stack of games is faster than one game after the other
PSEUDO = 0.5  # wins added to each side: the prior of the payoffs


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many resamples, from which seed, by how many workers, and whether to show progress."""

    n_resamples: int
    seed: int
    workers: int
    progress: bool

    def streams(self, question: int) -> list[np.random.Generator]:
        """Return a generator per resample; questions have streams of their own."""
        parent = np.random.SeedSequence([self.seed, question])
        return [np.random.default_rng(child) for child in parent.spawn(self.n_resamples)]


def plan_of(n_resamples: int, rng: int | np.random.Generator, workers: int | None, progress: bool) -> Plan:
    """Check the options of resampling."""
    if isinstance(n_resamples, bool) or not isinstance(n_resamples, int | np.integer) or n_resamples < 1:
        raise InputError(f"n_resamples is {n_resamples!r}: it must be a whole number, at least 1 (200 is usual)")
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers is {workers!r}: it must be a whole number, at least 1, or None for all cores")
    if isinstance(rng, np.random.Generator):
        seed = int(rng.integers(2**63))
    elif isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        seed = int(rng)
    else:
        raise InputError(f"rng is {rng!r}: give a seed, a whole number not below 0, or a numpy Generator")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Plan(n_resamples=int(n_resamples), seed=seed, workers=workers or cores, progress=progress)


def spread_out(
    work: Callable[[list[np.random.Generator]], tuple[Samples, ...]], plan: Plan, question: int, what: str
) -> tuple[Samples, ...]:
    """Let the workers do all resamples, in pieces, and put the pieces together in order."""
    streams = plan.streams(question)
    pieces = [streams[at : at + TOGETHER] for at in range(0, len(streams), TOGETHER)]
    found = []
    with ExitStack() as stack:
        stack.enter_context(threads_for(1))  # the workers share the cores, not the linear algebra inside them
        pool = stack.enter_context(ThreadPoolExecutor(max_workers=plan.workers))
        advance = stack.enter_context(shown_progress(plan, what))
        for piece, samples in zip(pieces, pool.map(work, pieces), strict=True):
            found.append(samples)
            advance(len(piece))
    return tuple(joined(side) for side in zip(*found, strict=True))


@contextmanager
def shown_progress(plan: Plan, what: str) -> Iterator[Callable[[int], None]]:
    """Show on standard error how far resampling is, where that is a terminal and somebody asked."""
    if not (plan.progress and sys.stderr.isatty()):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=plan.n_resamples)
        yield lambda done: bar.advance(task, done)


def joined(parts: tuple[Samples, ...]) -> Samples:
    """Return the samples of several pieces as one."""
    return Samples(
        averages=np.concatenate([part.averages for part in parts]),
        gaps=np.concatenate([part.gaps for part in parts]),
        weights=np.concatenate([part.weights for part in parts]),
        scale=np.concatenate([part.scale for part in parts]),
    )


def matches_again(matches: Matches, selection: Selection, plan: Plan) -> Samples:
    """Play the arena again: every game, or every cluster of games, counts more or less by chance."""
    start, prior = elo_start(matches), prior_of(matches)

    def game(rng: np.random.Generator) -> Floats:
        return payoff_matrix(with_counts(matches, replayed(matches, rng)), start, prior)

    def work(streams: list[np.random.Generator]) -> tuple[Samples, ...]:
        if len(matches.agents) > STACKED:  # one after the other, so that memory holds one game per worker
            return (joined(tuple(samples_of(nash_average(game(rng), selection=selection)) for rng in streams)),)
        games = np.stack([game(rng) for rng in streams])
        solved = nash_averages(games, selection=selection)
        scale = np.abs(games).max(axis=(1, 2))
        gaps = np.minimum(solved.averages, 0.0)
        return (Samples(averages=solved.averages, gaps=gaps, weights=solved.weights, scale=scale),)

    return spread_out(work, plan, 0, "Playing the arena again ...")[0]


def samples_of(solved: NashAverage) -> Samples:
    """Return one game as a sample."""
    averages = solved.averages[None]
    return Samples(
        averages=averages,
        gaps=np.minimum(averages, 0.0),
        weights=solved.weights[None],
        scale=np.array([solved.scale]),
    )


def replayed(matches: Matches, rng: np.random.Generator) -> Floats:
    """Return wins, draws and losses of one more run of the arena, ``(3, pairs)``, to be used with `prior_of`.

    The Bayesian bootstrap (Rubin 1981): every game has a random weight from an exponential distribution, so that the
    weights of a pair's outcomes are gamma distributed and their shares Dirichlet distributed. Half a win on each side,
    the prior of the payoffs, takes part, so that a pair that ended 3 to 0 is not taken for certain. Where there are
    clusters, a cluster's games share one weight. Unlike whole numbers of games, weights make no accidental ties.
    """
    split = matches.clusters
    if split is not None:
        weight = rng.standard_exponential(split.size)
        weight = (weight / weight.mean())[split.cluster]
        parts = (split.wins, split.draws, split.losses)
        return np.stack([np.bincount(split.pair, weight * part, minlength=len(matches.pairs)) for part in parts])
    drawn = rng.standard_gamma(np.stack([matches.wins + PSEUDO, matches.draws, matches.losses + PSEUDO]))
    return np.asarray(drawn * ((matches.games + 2 * PSEUDO) / drawn.sum(axis=0)))


def prior_of(matches: Matches) -> float:
    """Return the pseudo-games that the payoffs of `replayed` counts still need: none where they took part already."""
    return 0.0 if matches.clusters is None else 2 * PSEUDO


def elo_start(matches: Matches) -> Floats:
    """Return Elo ratings of all nodes in logits, where refits of resamples start."""
    totals = pair_totals(matches, PRIOR)
    r = np.zeros(totals.nodes)
    newton(totals, r, np.ones(totals.nodes, dtype=np.bool_))
    return r


def payoff_matrix(matches: Matches, start: Floats, prior: float) -> Floats:
    """Return log-odds; pairs that never met have what Elo, fitted to these matches, predicts."""
    n = len(matches.agents)
    A = payoffs(matches, prior=prior, fill="zero").A
    if len(matches.pairs) == n * (n - 1) // 2:
        return A
    totals, r = pair_totals(matches, PRIOR), start.copy()
    newton(totals, r, np.ones(totals.nodes, dtype=np.bool_))
    met = np.eye(n, dtype=np.bool_)
    i, j = matches.pairs.T
    met[i, j] = met[j, i] = True
    return np.where(met, A, r[:-1, None] - r[None, :-1])


def noise_of(scores: Scores) -> Floats:
    """Return the standard error of every score: given or from runs, else binomial where items are known, else NaN."""
    low, high = np.nanmin(scores.values), np.nanmax(scores.values)
    if not (low >= 0 and high <= 1 and scores.scaling == "raw"):
        return scores.stderr
    smoothed = (scores.values * scores.n + PSEUDO) / (scores.n + 1)
    return np.where(
        np.isnan(scores.stderr), np.sqrt(smoothed * (1 - smoothed) / np.maximum(scores.n, 1)), scores.stderr
    )


def scores_again(scores: Scores, scaling: Scaling, selection: Selection, plan: Plan) -> tuple[Samples, Samples]:
    """Measure the table again: every score with its standard error; scores without one are taken as exact."""
    noise = np.nan_to_num(noise_of(scores), nan=0.0)

    def work(streams: list[np.random.Generator]) -> tuple[Samples, ...]:
        tables = [scores.values + noise * rng.standard_normal(noise.shape) for rng in streams]
        S = np.stack([in_units(replace(scores, values=table), scaling).values for table in tables])
        skills, difficulties, p, q, values = solved_tables(S, selection)
        scale = np.ptp(S, axis=(1, 2))
        return (
            Samples(averages=skills, gaps=np.minimum(skills - values[:, None], 0.0), weights=p, scale=scale),
            Samples(
                averages=difficulties, gaps=np.minimum(difficulties + values[:, None], 0.0), weights=q, scale=scale
            ),
        )

    agents, tasks = spread_out(work, plan, 0, "Measuring the table again ...")
    return agents, tasks


def solved_tables(S: Floats, selection: Selection) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return skills, difficulties, weights of agents and of tasks, and values of many tables."""
    if sum(S.shape[1:]) <= STACKED:
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


def another_suite(scores: Scores, selection: Selection, plan: Plan) -> tuple[Samples, Samples]:
    """Draw as many tasks as there are, with repetition: would another suite of this kind agree?

    A task drawn twice is a clone, which Nash averaging does not see: what counts is which tasks were drawn at all.
    """
    S = scores.values
    n = S.shape[1]

    def work(streams: list[np.random.Generator]) -> tuple[Samples, ...]:
        return tuple(joined(side) for side in zip(*(one_suite(rng) for rng in streams), strict=True))

    def one_suite(rng: np.random.Generator) -> tuple[Samples, Samples]:
        drawn = np.unique(rng.integers(0, n, size=n))
        solved = nash_average_scores(S[:, drawn], selection=selection)
        tasks = np.full((3, n), np.nan)
        tasks[:, drawn] = solved.difficulties, np.minimum(solved.difficulties + solved.value, 0.0), solved.task_weights
        scale = np.array([solved.scale])
        gaps = np.minimum(solved.skills - solved.value, 0.0)
        return (
            Samples(averages=solved.skills[None], gaps=gaps[None], weights=solved.agent_weights[None], scale=scale),
            Samples(averages=tasks[:1], gaps=tasks[1:2], weights=tasks[2:], scale=scale),
        )

    agents, tasks = spread_out(work, plan, 1, "Drawing other suites ...")
    return agents, tasks


def in_units(scores: Scores, scaling: Scaling) -> Scores:
    """Return scores in comparable units: as they are where they were scaled already."""
    return scores.scale(scaling) if scores.scaling == "raw" else scores


def known(noise: Floats) -> Bools:
    """Say where a standard error is known."""
    return ~np.isnan(noise)
