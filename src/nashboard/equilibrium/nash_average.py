"""Nash averaging: agents against agents (section 4 of the paper) and agents against tasks (appendix D).

Symbols: ``A`` payoffs (n, n), antisymmetric; ``p`` weights. ``p`` is an equilibrium exactly when ``A p <= 0``.
``S`` scores (m agents, n tasks), higher better; ``p`` agent weights, ``q`` task weights, ``v`` the value. ``(p, q)`` is
an equilibrium exactly when ``S q <= v <= S'p``.
"""

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from nashboard._parallel import threads_for
from nashboard._progress import show_progress
from nashboard._types import Floats, read_only
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.equilibrium.certificate import Certificate, require_certified
from nashboard.equilibrium.clones import Classes
from nashboard.equilibrium.entropy import EvenMixture, check_tolerance, most_even_mixtures
from nashboard.equilibrium.game import (
    AgentsGame,
    Game,
    ScoresGame,
    game_of,
    log_multiplicities,
    scores_game,
)
from nashboard.equilibrium.models import PayoffModel
from nashboard.equilibrium.precision import NEARNESS, NO_WEIGHT, SOLVED, TOLERANCE, UNDECIDED
from nashboard.equilibrium.results import NashAverage, ScoreNashAverage, Selection, check_selection
from nashboard.equilibrium.solver import OracleSolution, Progress, approach_equilibrium, find_equilibrium, report_to
from nashboard.errors import ConvergenceError


@overload
def nash_average(
    data: Scores,
    *,
    selection: Selection = "clone-invariant",
    tolerance: float | None = None,
    progress: bool = False,
) -> ScoreNashAverage: ...


@overload
def nash_average(
    data: ArrayLike | Payoffs | Matches | PayoffModel | Any,
    *,
    selection: Selection = "clone-invariant",
    tolerance: float | None = None,
    progress: bool = False,
) -> NashAverage: ...


def nash_average(
    data: ArrayLike | Payoffs | Matches | Scores | PayoffModel | Any,
    *,
    selection: Selection = "clone-invariant",
    tolerance: float | None = None,
    progress: bool = False,
) -> NashAverage | ScoreNashAverage:
    """Average each agent's payoffs over the opponents that matter: the equilibrium of the population.

    Play ``max_p min_q p'Aq`` over teams of agents. Its value is 0, and the weights ``p`` are the team that
    nobody beats on average, ``A p <= 0``. Of all such teams the one of maximum entropy is chosen.

    Parameters
    ----------
    data
        An antisymmetric matrix, `Payoffs`, `Matches` (their log-odds), ratings with cyclic planes, or any object with
        ``size``, ``columns`` and ``product`` (see `nashboard.equilibrium.models`). `Scores` are passed on to
        `nash_average_scores`, and so are matrix games of OpenSpiel that are not symmetric.
    selection
        ``"clone-invariant"``: maximum entropy over classes of identical agents, each class shared evenly, so
        that entering an agent twice changes nothing. ``"maxent"``: maximum entropy over agents, as in the
        paper's definition. They agree where the equilibrium is unique up to clones.
    tolerance
        Allow this exploitability, in the unit of the payoffs, and return the most even mixture (over classes of
        identical agents) among all that have at most this. Weights are then continuous in the payoffs, see
        `nashboard.equilibrium.entropy`. By default 0 for doubles, the exact equilibrium; for arrays in a narrower
        type, 2 units in the last place of the largest payoff, so that single and double precision nearly agree; 4 where
        some agents are identical up to such units.
        In the few games in which no exact equilibrium can be proved, 4e-12 of the largest payoff (at most 2e-10); with
        ``tolerance=0`` these are a `ConvergenceError`.
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
    game = game_of(data) if tolerance is None else game_of(data).as_exact()
    with threads_for(len(game.agents)), show_progress("solving", asked=progress) as shown:
        show = report_to(shown)
        if isinstance(game, ScoresGame):
            return average_scores(game, selection, tolerance, show, began)
        allowed = check_tolerance(tolerance, game)
        return describe_agents(
            game, selection, find_mixtures(game, selection, allowed, show, strict=tolerance == 0), began
        )


def nash_average_scores(
    data: ArrayLike | Scores,
    *,
    selection: Selection = "clone-invariant",
    tolerance: float | None = None,
    progress: bool = False,
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
    tolerance
        Allow each side to miss the value by this much, in the unit of the scores, and return the most even mixtures
        that do, as in `nash_average`.
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
    game = scores_game(data) if tolerance is None else scores_game(data).as_exact()
    with show_progress("solving", asked=progress) as shown:
        return average_scores(game, selection, tolerance, report_to(shown), began)


@dataclass(frozen=True, kw_only=True, eq=False)
class Mixtures:
    """What was found for each group of classes: totals, whether they are the only ones, and what proves them."""

    totals: list[Floats]
    log_m: list[Floats]
    unique: list[bool]
    certificate: Certificate
    iterations: int
    tolerance: float = 0.0

    @staticmethod
    def even(found: list[EvenMixture], log_m: list[Floats], tolerance: float, before: int) -> "Mixtures":
        """Return the most even mixtures with a tolerance, found after so many iterations."""
        certificate = Certificate(
            residual=max(mixture.residual for mixture in found),
            complementarity=0.0,  # of the tight rows it is part of the residual
            condition=max(mixture.condition for mixture in found),
        )
        return Mixtures(
            totals=[mixture.weights for mixture in found],
            log_m=log_m,
            unique=[False for _ in found],
            certificate=certificate,
            iterations=before + sum(mixture.iterations for mixture in found),
            tolerance=tolerance,
        )


def find_mixtures(game: Game, selection: Selection, tolerance: float, show: Progress, *, strict: bool) -> Mixtures:
    """Find the maximum-entropy equilibrium or, with a tolerance, the most even mixtures from an equilibrium.

    Where no equilibrium can be proved, the most even mixtures with a tiny tolerance, unless ``strict``.
    """
    log_m = log_multiplicities(game, selection)
    if tolerance:
        return find_even_mixtures(game, log_m, tolerance, show)
    try:
        found = find_equilibrium(game, log_m, show)
    except ConvergenceError as error:
        if strict:
            raise
        return find_undecided(game, log_m, show, error)
    return describe_solution(found, game, log_m)


def describe_solution(found: OracleSolution, game: Game, log_m: list[Floats]) -> Mixtures:
    """Return the mixtures of an equilibrium over all classes."""
    sides = found.solution.sides
    # where one side has others, more players tie than the other side has weights: are they ties, or ties by the rule?
    tied = all(side.unique for side in sides) or found.solution.certificate.complementarity <= NO_WEIGHT
    return Mixtures(
        totals=found.weights(game),
        log_m=log_m,
        unique=[side.unique and tied for side in sides],
        certificate=found.solution.certificate,
        iterations=found.solution.iterations,
    )


def find_even_mixtures(game: Game, log_m: list[Floats], tolerance: float, show: Progress) -> Mixtures:
    """Find the most even mixtures, from near an equilibrium."""
    gap = max(NEARNESS * float(np.ldexp(tolerance, -game.exponent)), SOLVED)
    totals, value, iterations = approach_equilibrium(game, gap, show)
    return Mixtures.even(most_even_mixtures(game, totals, value, log_m, tolerance), log_m, tolerance, iterations)


def find_undecided(game: Game, log_m: list[Floats], show: Progress, error: ConvergenceError) -> Mixtures:
    """Find the most even mixtures with the smallest tolerance that works, where the exact ones could not be proved.

    Where none does, which is rare, the exact ones of payoffs rounded to multiples of such a tolerance: these differ
    clearly or not at all, but rounding can also change who has weight, so it is the last resort.
    """
    found: Mixtures | None = None
    for share in UNDECIDED:
        with suppress(ConvergenceError):
            found = found or find_even_mixtures(game, log_m, share * game.scale, show)
    for share in UNDECIDED:
        with suppress(ConvergenceError):
            found = found or describe_solution(find_equilibrium(game, log_m, show, unit=share), game, log_m)
    if found is None:
        raise error
    unsure = replace(found.certificate, condition=float("inf"))
    return replace(found, unique=[False for _ in found.unique], certificate=unsure)


def describe_agents(game: AgentsGame, selection: Selection, found: Mixtures, began: float) -> NashAverage:
    """Certify mixtures on the payoffs as they came in, and put the result together."""
    (classes,), tolerance = game.classes, found.tolerance + game.looseness
    weights = classes.spread(found.totals[0])
    averages = np.asarray(game.model.product(weights), dtype=np.float64) + 0.0
    exploitability = max(0.0, float(averages.max()))
    require_certified(found.certificate, exploitability - tolerance, game.scale)
    near = averages >= exploitability - 2 * tolerance
    flat = game.scale == 0 and len(game.agents) > 1  # every mixture is an equilibrium
    return NashAverage(
        agents=game.agents,
        weights=read_only(weights),
        averages=read_only(averages),
        support=tuple(game.agents[k] for k in np.flatnonzero(near if tolerance else weights)),
        clone_groups=names_of(classes, game.agents),
        entropy=entropy_of(found.totals[0], found.log_m[0]),
        unique=found.unique[0] and not flat,
        exploitability=exploitability,
        residual=found.certificate.residual,
        condition=condition_of(found, game, flat, -averages[weights == 0]),
        tolerance=tolerance,
        selection=selection,
        scale=game.scale,
        unit=game.unit,
        made=game.made,
        iterations=found.iterations,
        seconds=time.perf_counter() - began,
    )


def average_scores(
    game: ScoresGame, selection: Selection, asked: float | None, show: Progress, began: float
) -> ScoreNashAverage:
    """Solve, certify on the scores as they came in, and put the result together."""
    S = game.S
    found = find_mixtures(game, selection, check_tolerance(asked, game), show, strict=asked == 0)
    tolerance = found.tolerance + game.looseness
    p, q = (classes.spread(total) for classes, total in zip(game.classes, found.totals, strict=True))
    skills, difficulties = S @ q, -(S.T @ p)
    value = float(p @ skills)
    exploitability = max(0.0, float(skills.max()) - value, value + float(difficulties.max()))
    rounding = sum(S.shape) * float(np.spacing(np.abs(S).max()))
    require_certified(found.certificate, exploitability - 2 * tolerance, game.scale, rounding)
    inside = (p, q)
    if tolerance:
        inside = skills >= skills.max() - 2 * tolerance, difficulties >= difficulties.max() - 2 * tolerance
    flat = game.scale == 0
    margins = np.concatenate([value - skills[p == 0], -difficulties[q == 0] - value])
    return ScoreNashAverage(
        agents=game.agents,
        tasks=game.tasks,
        agent_weights=read_only(p),
        task_weights=read_only(q),
        value=value,
        skills=read_only(skills),
        difficulties=read_only(difficulties + 0.0),
        agent_support=tuple(game.agents[k] for k in np.flatnonzero(inside[0])),
        task_support=tuple(game.tasks[k] for k in np.flatnonzero(inside[1])),
        agent_clone_groups=names_of(game.classes[0], game.agents),
        task_clone_groups=names_of(game.classes[1], game.tasks),
        agent_entropy=entropy_of(found.totals[0], found.log_m[0]),
        task_entropy=entropy_of(found.totals[1], found.log_m[1]),
        agents_unique=found.unique[0] and not (flat and len(game.agents) > 1),
        tasks_unique=found.unique[1] and not (flat and len(game.tasks) > 1),
        exploitability=exploitability,
        residual=found.certificate.residual,
        condition=condition_of(found, game, flat and S.size > 1, margins),
        tolerance=tolerance,
        selection=selection,
        scaling=game.scaling,
        scale=game.scale,
        iterations=found.iterations,
        seconds=time.perf_counter() - began,
    )


def condition_of(found: Mixtures, game: Game, flat: bool, margins: Floats) -> float:
    """Return the condition in units of the whole game, infinite where a change of 1e-9 could change who has weight.

    The certificate is about the players that the solver picked; ``margins`` are those of all players without weight.
    """
    condition = found.certificate.condition * float(np.ldexp(game.scale, -game.exponent))
    if found.tolerance:
        return condition
    entering = margins.size and margins.min() <= 2 * TOLERANCE * game.scale * (1 + condition)
    leaving = min(float(total[total > 0].min()) for total in found.totals) <= TOLERANCE * condition
    return float("inf") if flat or entering or leaving else condition


def names_of(classes: Classes, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the names of every group of identical players."""
    return tuple(tuple(names[k] for k in group) for group in classes.groups())


def entropy_of(totals: Floats, log_m: Floats) -> float:
    """Return ``-sum x log(x / m)``, in nats."""
    held = totals > 0
    return max(0.0, -float(totals[held] @ (np.log(totals[held]) - log_m[held])))
