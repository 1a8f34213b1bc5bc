"""Agents against tasks: the maximum-entropy equilibria of both sides of a rectangular game.

Symbols: ``S`` (m, n) scores, agents maximise and tasks minimise; ``p`` agents, ``q`` tasks. Agents face the
rows ``-S'p <= -v``, tasks the rows ``S q <= v`` (appendix D). The two sides share their supports but not
their choice: each maximises its own entropy over its own optimal mixtures.
"""

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from nashboard._threads import threads_for
from nashboard._types import Floats
from nashboard.equilibrium import exact
from nashboard.equilibrium.canonical_order import LARGEST, order_of_sides
from nashboard.equilibrium.certificate import entropy_residual, value_between
from nashboard.equilibrium.interior_point import Iterate, PathGame, central_path
from nashboard.equilibrium.newton_systems import dense_game, rectangular_game
from nashboard.equilibrium.side import SideFace, SideSolution, side_face, side_solution
from nashboard.equilibrium.stopping import Attempt, Progress, first_certain, silent
from nashboard.equilibrium.tolerance import TOLERANCE

WHOLE = 96  # up to so many agents and tasks together, no player is eliminated from the linear systems


@dataclass(frozen=True, kw_only=True, eq=False)
class RectangularSolution:
    """The equilibrium mixtures of agents and tasks; the value is ``tasks.value``."""

    agents: SideSolution
    tasks: SideSolution
    iterations: int


def rectangular_equilibrium(
    S: Floats, log_agents: Floats, log_tasks: Floats, progress: Progress = silent
) -> RectangularSolution:
    """Solve one game, ``S`` (m, n) with entries from about -1 to 1; ``log_...`` are log-multiplicities."""
    m, n = S.shape
    if m > n:  # the interior point eliminates the columns, so they should be the longer side
        turned = rectangular_equilibrium(np.ascontiguousarray(-S.T), log_tasks, log_agents, progress)
        return RectangularSolution(agents=turned.tasks, tasks=turned.agents, iterations=turned.iterations)
    # systems as small as the smallest are solved by one thread anyway, and asking for that is not free
    with threads_for(int((m * m * n) ** (1 / 3))) if m + n > WHOLE else nullcontext():
        if m + n > LARGEST:
            return followed(S, log_agents, log_tasks, progress)
        rows, columns = order_of_sides(S)
        ordered = S.take(rows, axis=0).take(columns, axis=1)
        found = followed(ordered, log_agents[rows], log_tasks[columns], progress)
    return RectangularSolution(
        agents=found.agents.returned(rows, columns),
        tasks=found.tasks.returned(columns, rows),
        iterations=found.iterations,
    )


def followed(S: Floats, log_agents: Floats, log_tasks: Floats, progress: Progress) -> RectangularSolution:
    """Follow the central path until both faces are proved, and maximise entropy on each."""
    against_agents = np.ascontiguousarray(-S.T)

    def solved(faces: tuple[SideFace, SideFace], count: int) -> RectangularSolution:
        agents, tasks = side_solution(faces[0], log_agents), side_solution(faces[1], log_tasks)
        total = count + agents.iterations + tasks.iterations
        return RectangularSolution(agents=agents, tasks=tasks, iterations=total)

    def shown(x: Iterate, attempt: Attempt, count: int) -> RectangularSolution | None:
        faces = both_faces(S, against_agents, x, attempt)
        return None if faces is None else solved(faces, count)

    def exactly(count: int) -> RectangularSolution:
        return solved((exact.exact_side(against_agents), exact.exact_side(S)), count)

    return first_certain(
        central_path(game_of(S)),
        progress,
        shown,
        certain=lambda found: certain(S, against_agents, found, log_agents, log_tasks),
        exactly=exactly if S.size <= exact.CELLS else None,
    )


def certain(
    S: Floats, against_agents: Floats, found: RectangularSolution, log_agents: Floats, log_tasks: Floats
) -> bool:
    """Whether both mixtures are proved the best of their faces; where a face is a point there is nothing to choose.

    The value is what the mixtures get against each other, as in the certificate of the result: where ties were
    broken, the value of the faces is another.
    """
    agents, tasks = found.agents, found.tasks
    if max(agents.off, tasks.off) > TOLERANCE:
        return False
    if agents.unique and tasks.unique:
        return True
    value = value_between(S, agents, tasks)
    if max((S @ tasks.weights).max() - value, (against_agents @ agents.weights).max() + value) > TOLERANCE / 2:
        return False  # a search for the best mixture that lost its way has left the face
    return (tasks.unique or entropy_residual(S, tasks, agents.support, log_tasks, value) <= TOLERANCE) and (
        agents.unique or entropy_residual(against_agents, agents, tasks.support, log_agents, -value) <= TOLERANCE
    )


def game_of(S: Floats) -> PathGame:
    """Return the game as the interior point sees it: small ones are quickest as they stand in appendix D."""
    m, n = S.shape
    if m + n > WHOLE:
        return rectangular_game(S)
    K = np.zeros((m + n, m + n))
    K[:m, m:], K[m:, :m] = S, -S.T
    return dense_game(K, (0, m))


def both_faces(S: Floats, against_agents: Floats, x: Iterate, attempt: Attempt) -> tuple[SideFace, SideFace] | None:
    """Return the faces of agents and tasks for the supports that an iterate shows, if they are proved."""
    m = len(S)
    support = x.p > x.s
    own, tight = support[:m], support[m:]
    tasks = side_face(S, x.p[m:], None, tight, own, attempt)
    if tasks is None:
        return None
    agents = side_face(against_agents, x.p[:m], -tasks.found.v, own, tight, attempt)
    return None if agents is None else (agents, tasks)
