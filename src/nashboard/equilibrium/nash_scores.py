"""Nash averaging for agents against tasks (appendix D of the paper).

Symbols: ``S`` scores (m agents, n tasks), higher better; ``p`` agent weights, ``q`` task weights, ``v`` the
value. ``(p, q)`` is an equilibrium exactly when ``S q <= v <= S'p``.
"""

import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nashboard._types import Floats, floats, read_only
from nashboard.data.matrices import refuse_cells
from nashboard.data.names import checked_names
from nashboard.data.scores import Scores
from nashboard.equilibrium.certificate import entropy_residual, require_certified, value_between
from nashboard.equilibrium.clones import Classes, between_classes, identical_rows
from nashboard.equilibrium.nash import Selection, checked_selection, entropy_of
from nashboard.equilibrium.oracle import embedded
from nashboard.equilibrium.score_nash_average import ScoreNashAverage
from nashboard.equilibrium.score_oracle import table_equilibrium
from nashboard.equilibrium.stopping import progress_on
from nashboard.errors import InputError


def nash_average_scores(
    data: ArrayLike | Scores, *, selection: Selection = "clone-invariant", progress: bool = False
) -> ScoreNashAverage:
    """Average scores over the tasks that matter, and difficulties over the agents that matter.

    Agents choose a mixture ``p`` to score high, tasks a mixture ``q`` to make it hard: ``max_p min_q p'Sq``.
    Of all equilibria the one of maximum entropy is chosen, for agents and for tasks.

    Parameters
    ----------
    data
        `Scores`, scaled to [0, 1] per task unless they are scaled already; or an ``(m, n)`` array, agents by
        tasks, used as it is. Missing scores are an error.
    selection
        ``"clone-invariant"``: maximum entropy over classes of identical agents (and tasks), each class shared
        evenly, so that entering one twice changes nothing. ``"maxent"``: over single agents and tasks.
    progress
        Show progress on standard error where that is a terminal.

    Examples
    --------
    >>> import nashboard as nb
    >>> result = nb.nash_average_scores([[1, 0, 0], [0, 1, 1]])
    >>> result.task_weights, result.value
    (array([0.5 , 0.25, 0.25]), 0.5)

    References
    ----------
    Balduzzi, Tuyls, Perolat, Graepel 2018, Re-evaluating Evaluation, appendix D.
    """
    selection = checked_selection(selection)
    began = time.perf_counter()
    S, agents, tasks, scaling = table_of(data)
    spread = float(np.ptp(S))
    top = float(np.abs(S).max())
    of_agents, of_tasks = identical_rows(S, spread, top), identical_rows(S.T, spread, top)
    classes = collapsed(S, of_agents, of_tasks)
    K, exponent = near_one(classes)
    log_agents, log_tasks = (
        np.log(c.size) if selection == "maxent" else np.zeros(len(c.size)) for c in (of_agents, of_tasks)
    )
    with progress_on(progress) as show:
        found = table_equilibrium(K, log_agents, log_tasks, show)
    left, right = found.solution.agents, found.solution.tasks
    rows, columns = found.rows, found.columns
    log_agents, log_tasks = log_agents[rows], log_tasks[columns]
    p = of_agents.spread(embedded(left.weights, rows, len(of_agents.first)))
    q = of_tasks.spread(embedded(right.weights, columns, len(of_tasks.first)))
    skills, difficulties = S @ q, -(S.T @ p)
    value = float(p @ skills)
    exploitability = max(0.0, float(skills.max()) - value, value + float(difficulties.max()))
    played = classes if found.complete else classes[np.ix_(rows, columns)]
    F = np.ldexp(played, -exponent)
    v = value_between(F, left, right)
    residual = max(
        entropy_residual(F, right, left.support, log_tasks, v),
        entropy_residual(-F.T, left, right.support, log_agents, -v),
    )
    require_certified(exploitability, residual, spread, sum(S.shape) * float(np.spacing(top)))
    agent_entropy, task_entropy = entropy_of(left.weights, log_agents), entropy_of(right.weights, log_tasks)
    return ScoreNashAverage(
        agents=agents,
        tasks=tasks,
        agent_weights=read_only(p),
        task_weights=read_only(q),
        value=value,
        skills=read_only(skills),
        difficulties=read_only(difficulties + 0.0),
        agent_support=tuple(agents[k] for k in np.flatnonzero(p)),
        task_support=tuple(tasks[k] for k in np.flatnonzero(q)),
        agent_clone_groups=named(of_agents, agents),
        task_clone_groups=named(of_tasks, tasks),
        agent_entropy=agent_entropy,
        task_entropy=task_entropy,
        agents_unique=left.unique,
        tasks_unique=right.unique,
        exploitability=exploitability,
        residual=residual,
        selection=selection,
        scaling=scaling,
        scale=spread,
        iterations=found.iterations,
        seconds=time.perf_counter() - began,
    )


def table_of(data: Any) -> tuple[Floats, tuple[str, ...], tuple[str, ...], str]:
    """Return scores, names of agents and tasks, and the scaling that was used."""
    if isinstance(data, Scores):
        data.require_complete()
        scores = data.scale("range") if data.scaling == "raw" else data
        return scores.values, scores.agents, scores.tasks, scores.scaling
    S = floats(data, "the scores", ndim=2)
    if 0 in S.shape:
        raise InputError(f"scores need at least one agent and one task, not {S.shape[0]} x {S.shape[1]}")
    agents, tasks = (checked_names(None, size=k, kind=kind) for k, kind in zip(S.shape, ("agent", "task"), strict=True))
    if not np.isfinite(S).all():
        refuse_cells(np.isinf(S), S, agents, "a score must be finite", columns=tasks)
        Scores.from_array(S).require_complete()
    return S, agents, tasks, "as given"


def collapsed(S: Floats, agents: Classes, tasks: Classes) -> Floats:
    """Return the scores between classes: the table itself where nobody has a clone."""
    if agents.trivial and tasks.trivial:
        return S
    everybody = (np.arange(len(c.first)) for c in (agents, tasks))
    return between_classes(lambda rows, columns: S[np.ix_(rows, columns)], agents, tasks, *everybody)


def near_one(S: Floats) -> tuple[Floats, int]:
    """Return scores between about -1 and 1, and the power of two they were divided by.

    Where all scores are far from zero, their middle is subtracted first (which is exact for such numbers): an
    offset common to all scores moves the value, not the equilibrium.
    """
    low, high = float(S.min()), float(S.max())
    middle = low / 2 + high / 2
    if abs(middle) > high - low:
        S = S - middle
    exponent = int(np.frexp(np.abs(S).max())[1])
    return np.ldexp(S, -exponent), exponent


def named(classes: Classes, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the names of every group of identical players."""
    return tuple(tuple(names[k] for k in group) for group in classes.groups())
