"""Second opinions: what every way to rank says about the data of an evaluation, and what moves it."""

from collections.abc import Callable, Sequence

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.data.scores import Scores
from nashboard.errors import InputError
from nashboard.evaluation.problem import Problem
from nashboard.ranking.pairwise import Pairwise, pairwise
from nashboard.ranking.trial import Trials, try_methods


def second_opinions(
    problem: Problem,
    board_ranks: Ints,
    methods: Sequence[str] | None = None,
    progress: Callable[[str], None] = lambda name: None,
    *,
    quick: bool = False,
) -> Trials:
    """Rank the data by every method (or these), and count what new data, copies and dropouts change."""
    if problem.draws.payoffs is None:
        raise InputError(
            f"other methods need the payoffs of every draw, which do not fit in memory for {len(problem.agents):,} "
            f"agents"
        )
    noise = None
    if isinstance(problem.data, Scores) and not np.isnan(problem.data.stderr).all():
        noise = problem.data.stderr
    return try_methods(
        prepare_pairwise(problem),
        board_ranks,
        methods=methods,
        truths=lambda k: truth_of(problem, k),
        n_truths=0 if problem.literal else len(problem.draws),
        noise=noise,
        counted=not problem.literal,
        seed=problem.plan.seed,
        progress=progress,
        quick=quick,
    )


def prepare_pairwise(problem: Problem) -> Pairwise:
    """Return the data with all copies; missing scores are those that the model expects."""
    if isinstance(problem.data, Scores) and problem.data.missing.any():
        return pairwise(problem.scaled)
    return pairwise(problem.data, scaling=problem.settings.scaling)


def truth_of(problem: Problem, k: int) -> Floats:
    """Return draw k for all agents as entered: payoffs against all agents, or scores on all tasks."""
    assert problem.draws.payoffs is not None
    columns = problem.classes.label if problem.tasks is None else problem.tasks.label
    return np.asarray(problem.draws.payoffs[k][np.ix_(problem.classes.label, columns)])
