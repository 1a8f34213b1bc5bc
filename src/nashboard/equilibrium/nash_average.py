"""Nash averaging: agents against agents (section 4 of the paper) and agents against tasks (appendix D).

Symbols: ``A`` payoffs (n, n), antisymmetric; ``p`` weights. ``p`` is an equilibrium exactly when ``A p <= 0``.
``S`` scores (m agents, n tasks), higher better; ``p`` agent weights, ``q`` task weights, ``v`` the value. ``(p, q)`` is
an equilibrium exactly when ``S q <= v <= S'p``.
"""

import time
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from nashboard._threads import threads_for
from nashboard._types import Floats, read_only
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.equilibrium.certificate import require_certified
from nashboard.equilibrium.clones import Classes
from nashboard.equilibrium.game import (
    AgentsGame,
    PayoffModel,
    ScoresGame,
    game_of,
    log_multiplicities,
    scores_game,
)
from nashboard.equilibrium.oracle import find_equilibrium
from nashboard.equilibrium.results import NashAverage, ScoreNashAverage, Selection, check_selection
from nashboard.equilibrium.solver import Progress, progress_on


@overload
def nash_average(
    data: Scores, *, selection: Selection = "clone-invariant", progress: bool = False
) -> ScoreNashAverage: ...


@overload
def nash_average(
    data: ArrayLike | Payoffs | Matches | PayoffModel | Any,
    *,
    selection: Selection = "clone-invariant",
    progress: bool = False,
) -> NashAverage: ...


def nash_average(
    data: ArrayLike | Payoffs | Matches | Scores | PayoffModel | Any,
    *,
    selection: Selection = "clone-invariant",
    progress: bool = False,
) -> NashAverage | ScoreNashAverage:
    """Average each agent's payoffs over the opponents that matter: the equilibrium of the population.

    Play ``max_p min_q p'Aq`` over teams of agents. Its value is 0, and the weights ``p`` are the team that
    nobody beats on average, ``A p <= 0``. Of all such teams the one of maximum entropy is chosen.

    Parameters
    ----------
    data
        An antisymmetric matrix, `Payoffs`, `Matches` (their log-odds), ratings with cyclic planes, or any
        object with ``size``, ``columns`` and ``product`` (see `nashboard.equilibrium.game`). `Scores` are passed on to
        `nash_average_scores`, and so are matrix games of OpenSpiel that are not symmetric.
    selection
        ``"clone-invariant"``: maximum entropy over classes of identical agents, each class shared evenly, so
        that entering an agent twice changes nothing. ``"maxent"``: maximum entropy over agents, as in the
        paper's definition. They agree where the equilibrium is unique up to clones.
    progress
        Show progress on standard error where that is a terminal.

    Examples
    --------
    >>> import nashboard as nb
    >>> result = nb.nash_average([[0, 1, -1, -1], [-1, 0, 1, 1], [1, -1, 0, 0], [1, -1, 0, 0]])
    >>> result.weights.round(4)
    array([0.3333, 0.3333, 0.1667, 0.1667])
    >>> result.clone_groups
    (('agent 3', 'agent 4'),)

    References
    ----------
    Balduzzi, Tuyls, Perolat, Graepel 2018, Re-evaluating Evaluation, section 4.
    """
    selection = check_selection(selection)
    began = time.perf_counter()
    game = game_of(data)
    with threads_for(len(game.agents)), progress_on(progress) as show:
        if isinstance(game, ScoresGame):
            return average_scores(game, selection, show, began)
        return average_agents(game, selection, show, began)


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
    selection = check_selection(selection)
    began = time.perf_counter()
    game = scores_game(data)
    with progress_on(progress) as show:
        return average_scores(game, selection, show, began)


def average_agents(game: AgentsGame, selection: Selection, show: Progress, began: float) -> NashAverage:
    """Solve, certify on the payoffs as they came in, and put the result together."""
    log_m = log_multiplicities(game, selection)
    found = find_equilibrium(game, log_m, show)
    (totals,), (classes,) = found.weights(game), game.classes
    weights = classes.spread(totals)
    averages = np.asarray(game.model.product(weights), dtype=np.float64) + 0.0
    exploitability = max(0.0, float(averages.max()))
    certificate = found.certificate(log_m)
    require_certified(certificate, exploitability, game.scale)
    flat = game.scale == 0 and len(game.agents) > 1  # every mixture is an equilibrium
    return NashAverage(
        agents=game.agents,
        weights=read_only(weights),
        averages=read_only(averages),
        support=tuple(game.agents[k] for k in np.flatnonzero(weights)),
        clone_groups=names_of(classes, game.agents),
        entropy=entropy_of(totals, log_m[0]),
        unique=found.solution.sides[0].unique and not flat,
        exploitability=exploitability,
        residual=certificate.residual,
        condition=float("inf") if flat else certificate.condition,
        tolerance=0.0,
        selection=selection,
        scale=game.scale,
        unit=game.unit,
        made=game.made,
        iterations=found.solution.iterations,
        seconds=time.perf_counter() - began,
    )


def average_scores(game: ScoresGame, selection: Selection, show: Progress, began: float) -> ScoreNashAverage:
    """Solve, certify on the scores as they came in, and put the result together."""
    S = game.S
    log_m = log_multiplicities(game, selection)
    found = find_equilibrium(game, log_m, show)
    totals = found.weights(game)
    p, q = (classes.spread(total) for classes, total in zip(game.classes, totals, strict=True))
    skills, difficulties = S @ q, -(S.T @ p)
    value = float(p @ skills)
    exploitability = max(0.0, float(skills.max()) - value, value + float(difficulties.max()))
    certificate = found.certificate(log_m)
    require_certified(certificate, exploitability, game.scale, sum(S.shape) * float(np.spacing(np.abs(S).max())))
    agents, tasks = found.solution.sides
    flat = game.scale == 0
    return ScoreNashAverage(
        agents=game.agents,
        tasks=game.tasks,
        agent_weights=read_only(p),
        task_weights=read_only(q),
        value=value,
        skills=read_only(skills),
        difficulties=read_only(difficulties + 0.0),
        agent_support=tuple(game.agents[k] for k in np.flatnonzero(p)),
        task_support=tuple(game.tasks[k] for k in np.flatnonzero(q)),
        agent_clone_groups=names_of(game.classes[0], game.agents),
        task_clone_groups=names_of(game.classes[1], game.tasks),
        agent_entropy=entropy_of(totals[0], log_m[0]),
        task_entropy=entropy_of(totals[1], log_m[1]),
        agents_unique=agents.unique and not (flat and len(game.agents) > 1),
        tasks_unique=tasks.unique and not (flat and len(game.tasks) > 1),
        exploitability=exploitability,
        residual=certificate.residual,
        condition=float("inf") if flat and S.size > 1 else certificate.condition,
        tolerance=0.0,
        selection=selection,
        scaling=game.scaling,
        scale=game.scale,
        iterations=found.solution.iterations,
        seconds=time.perf_counter() - began,
    )


def names_of(classes: Classes, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the names of every group of identical players."""
    return tuple(tuple(names[k] for k in group) for group in classes.groups())


def entropy_of(totals: Floats, log_m: Floats) -> float:
    """Return ``-sum x log(x / m)``, in nats."""
    held = totals > 0
    return max(0.0, -float(totals[held] @ (np.log(totals[held]) - log_m[held])))
