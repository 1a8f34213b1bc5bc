"""Agents against agents: the maximum-entropy equilibrium of one antisymmetric matrix."""

from dataclasses import replace

import numpy as np

from nashboard._threads import threads_for
from nashboard._types import Floats
from nashboard.equilibrium import exact
from nashboard.equilibrium.canonical_order import LARGEST, order_of_agents
from nashboard.equilibrium.certificate import entropy_residual
from nashboard.equilibrium.interior_point import Iterate, central_path
from nashboard.equilibrium.newton_systems import dense_game
from nashboard.equilibrium.side import SideFace, SideSolution, side_face, side_solution
from nashboard.equilibrium.stopping import Attempt, Progress, first_certain, silent
from nashboard.equilibrium.tolerance import TOLERANCE


def symmetric_equilibrium(K: Floats, log_m: Floats, progress: Progress = silent) -> SideSolution:
    """Solve one game, ``K`` (N, N) antisymmetric with largest entry about 1; ``log_m`` log-multiplicities."""
    if len(K) == 1:
        return alone()
    with threads_for(len(K)):
        if len(K) > LARGEST:
            return followed(K, log_m, progress)
        order = order_of_agents(K)
        ordered = np.ascontiguousarray(K.take(order, axis=0).take(order, axis=1))
        return followed(ordered, log_m[order], progress).returned(order, order)


def followed(K: Floats, log_m: Floats, progress: Progress) -> SideSolution:
    """Follow the central path until the face is proved, and maximise entropy on it."""

    def solved(face: SideFace, count: int) -> SideSolution:
        found = side_solution(face, log_m)
        return replace(found, value=0.0, iterations=found.iterations + count)

    def shown(x: Iterate, attempt: Attempt, count: int) -> SideSolution | None:
        support = x.p > x.s
        face = side_face(K, x.p, 0.0, support, support, attempt)
        return None if face is None else solved(face, count)

    return first_certain(
        central_path(dense_game(K)),
        progress,
        shown,
        certain=lambda found: certain(K, found, log_m),
        exactly=(lambda count: solved(exact.exact_side(K), count)) if K.size <= exact.CELLS else None,
    )


def certain(K: Floats, found: SideSolution, log_m: Floats) -> bool:
    """Whether a mixture is proved the best of its face; where that is a point, there is nothing to choose.

    A search for the best mixture that lost its way may have left the face, so that is asked too.
    """
    if found.off > TOLERANCE or found.unique:
        return found.off <= TOLERANCE
    gain = float((K @ found.weights).max())
    return gain <= TOLERANCE / 2 and entropy_residual(K, found, found.support, log_m) <= TOLERANCE


def alone() -> SideSolution:
    """Return the solution of a game with a single player."""
    return SideSolution(
        weights=np.ones(1),
        inner=np.ones(1),
        value=0.0,
        support=np.ones(1, dtype=np.bool_),
        unique=True,
        y=np.zeros(1),
        y_low=np.zeros(1),
        off=0.0,
        iterations=0,
    )
