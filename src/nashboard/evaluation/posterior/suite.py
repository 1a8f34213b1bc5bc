"""How much first place depends on the choice of tasks: a bootstrap of suites from the given tasks."""

import numpy as np

from nashboard._tables import Column, Table
from nashboard._types import Floats
from nashboard.equilibrium.nash_average import nash_average_scores
from nashboard.evaluation.problem import Problem


def resample_suites(problem: Problem) -> Floats:
    """Return the share of suites, drawn from the tasks, in which each class of agents is at the top.

    A task that is drawn twice is a copy, which counts once, so a suite has about 63% of the tasks. Scores are the
    expected ones in task units: tasks are sampled, noise is not.
    """
    S = problem.expected[:, problem.kept_tasks]
    n = S.shape[1]
    rng = np.random.default_rng(np.random.SeedSequence([problem.plan.seed, 1]))
    top = np.zeros(len(S))
    for _ in range(problem.plan.n_resamples):
        drawn = np.unique(rng.integers(0, n, size=n))
        nash = nash_average_scores(S[:, drawn], selection=problem.settings.selection)
        top += nash.agent_weights > 0
    return np.asarray(top / problem.plan.n_resamples)


def suite_table(problem: Problem) -> Table:
    """Return how often each agent is at the top of another suite, with P(top) on this one."""
    shares = resample_suites(problem)[problem.classes.label]
    posterior = problem.posterior
    order = sorted(posterior.order, key=lambda k: -shares[k])
    return Table.of(
        order,
        Column("agent", "name", cell=posterior.agents),
        Column("other suites", "share of drawn suites in which it is at the top", decimals=2, cell=shares),
        Column("P(top)", "probability of being at the top on this suite", decimals=2, cell=posterior.probability_top),
        title=f"top of {problem.plan.n_resamples:,} suites drawn from {len(problem.kept_tasks):,} tasks",
        notes=("tasks are drawn with repetition, so a suite has about 63% of them; noise of scores is left out",),
    )
