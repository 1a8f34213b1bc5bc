"""One side of a game, from a point near its equilibria to the maximum-entropy equilibrium with multipliers.

Symbols as in `face` and `entropy`: ``F`` what each opponent (row) gets against each own player (column), with
``F x <= v``; ``y`` multipliers of all rows, free in sign on the opponents' support and not negative
elsewhere. The multipliers prove the choice, see `certificate`.
"""

from dataclasses import dataclass, replace

import numpy as np

from nashboard._types import Bools, Floats, Ints
from nashboard.equilibrium import twofold
from nashboard.equilibrium.entropy import maximum_entropy, single
from nashboard.equilibrium.face import EPS, Face, face, power_of_two
from nashboard.equilibrium.stopping import Attempt
from nashboard.equilibrium.tolerance import ZERO


@dataclass(frozen=True, kw_only=True, eq=False)
class Terms:
    """A face in the terms of the entropy problem.

    ``equations`` are rows that are constant on the face, among them as many as there are independent ones; ``falls``
    says by how much each own player's weight lowers the margins that are ``moving``, those that change on the face.
    """

    equations: Floats
    falls: Floats
    moving: Bools


@dataclass(frozen=True, kw_only=True, eq=False)
class SideFace:
    """The face of one side: who has weight, which rows are tight on all of it, and the margins inside it.

    ``G`` are the rows with margins; ``terms`` are given where they are known better than from ``found`` and ``G``.
    """

    F: Floats
    own: Bools
    tight: Bools
    found: Face
    G: Floats
    margins: Floats
    terms: Terms | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class SideSolution:
    """The maximum-entropy mixture of one side and what proves it.

    ``weights`` and ``inner`` (a strictly complementary equilibrium) over all own players, ``value``,
    ``support``, ``unique``; ``y`` and ``y_low`` the multipliers over all opponents, in two parts for
    precision, and how far ``off`` they leave the logarithms of the weights.
    """

    weights: Floats
    inner: Floats
    value: float
    support: Bools
    unique: bool
    y: Floats
    y_low: Floats
    off: float
    iterations: int

    def returned(self, own: Ints, opponents: Ints) -> "SideSolution":
        """Return the solution of sorted players in the order they came in; ``own[k]`` is who stood in place k."""
        home, away = np.argsort(own), np.argsort(opponents)
        return replace(
            self,
            weights=self.weights[home],
            inner=self.inner[home],
            support=self.support[home],
            y=self.y[away],
            y_low=self.y_low[away],
        )


def side_face(F: Floats, x: Floats, v: float | None, own: Bools, tight: Bools, attempt: Attempt) -> SideFace | None:
    """Return the face for a guess of both supports, or nothing when the guess is not proved right.

    The proof is strict complementarity: every own player of the support has weight, every opponent outside
    its support a margin. When rounding alone is left to decide, a margin is measured by the terms it is the sum
    of: against a mixture of small weights it may be small and still be certain.
    """
    if not own.any() or not tight.any():
        return None
    columns = F.take(own.nonzero()[0], axis=1)
    M = columns.take(tight.nonzero()[0], axis=0)
    unit = power_of_two(M) if v == 0 else 1.0  # where zero means something, a block has its own scale
    found = face(M, x[own], v, unit=unit, degenerate=attempt.degenerate, zero=attempt.zero)
    if found is None or not (found.x > 0).all():
        return None
    G = columns.take((~tight).nonzero()[0], axis=0)
    margins = found.v - G @ found.x
    size = abs(found.v) + np.abs(G) @ found.x if attempt.last else np.maximum.reduce(np.abs(G), axis=1)
    if (margins <= attempt.zero * size).any():
        return None
    return SideFace(F=F, own=own, tight=tight, found=found, G=G, margins=margins)


def side_solution(side: SideFace, log_m: Floats) -> SideSolution:
    """Maximise entropy on a face and compute the multipliers that prove it."""
    found, G = side.found, side.G
    log_m = log_m[side.own]
    z = np.zeros(len(G))
    if found.unique:
        choice = single(found.x)
    else:
        terms = side.terms or terms_of(found, G)
        margins = side.margins[terms.moving]
        choice = maximum_entropy(found.x, found.Z, terms.equations, margins, terms.falls, log_m)
        z[terms.moving] = choice.z
    x = choice.x / choice.x.sum()
    # stationarity: M'y + lambda = -(log(x / m) + G'z)
    target, target_low = log_m - choice.log_x, np.zeros(len(x))
    pressing = z.nonzero()[0]
    if pressing.size:  # multipliers may be huge, so nothing is dropped; lambda takes what is common
        high, low = twofold.product(np.ascontiguousarray(G.take(pressing, axis=0).T), z.take(pressing))
        top = int(np.argmax(x))
        push, push_low = twofold.two_sum(high, -high[top])
        target, target_low = twofold.two_sum(target, -push)
        target_low = target_low - (push_low + (low - low[top]))
    dual, dual_low, off = row_multipliers(found, target, target_low)
    y, y_low, weights, inner = (np.zeros(n) for n in (len(side.F), len(side.F), len(side.own), len(side.own)))
    y[side.tight], y_low[side.tight] = dual[:-1] / found.unit, dual_low[:-1] / found.unit
    y[~side.tight] = z
    weights[side.own], inner[side.own] = x, found.x / found.x.sum()
    return SideSolution(
        weights=weights,
        inner=inner,
        value=found.v,
        support=side.own,
        unique=found.unique,
        y=y,
        y_low=y_low,
        off=off,
        iterations=choice.iterations,
    )


def terms_of(found: Face, G: Floats) -> Terms:
    """Return the terms of a face as they stand in the game.

    Weights add up to 1, so that the value can be taken from every payoff: rows then add up to zero. A margin that is
    the same all over the face, by the rule of `tolerance`, cannot become tight.
    """
    change = np.maximum.reduce(np.abs(G @ found.Z), axis=1, initial=0.0)
    moving = change > ZERO * np.maximum.reduce(np.abs(G), axis=1)
    equations = np.vstack([found.bordered[:-1] - found.v / found.unit, found.bordered[-1:]])
    return Terms(equations=equations, falls=G[moving] - found.v, moving=moving)


def row_multipliers(found: Face, target: Floats, target_low: Floats, rounds: int = 4) -> tuple[Floats, Floats, float]:
    """Solve ``M'y + lambda = target`` by refinement; return both parts of the best round and how far off it is."""
    transposed = np.ascontiguousarray(found.bordered.T)
    free = np.zeros(len(transposed) - len(target))  # where the value is free, sum(y) = 0
    target, target_low = np.append(target, free), np.append(target_low, free)
    dual, dual_low = np.zeros((2, len(found.bordered)))
    left, least = target + target_low, np.inf
    best = dual, dual_low, left
    for pull_back in found.pulls_back:
        for _ in range(rounds):
            dual, dual_low = twofold.two_sum(dual, dual_low + pull_back(left))
            high, low = twofold.product(transposed, dual, dual_low)
            left = (target - high) + (target_low - low)
            off = float(np.abs(left).max())
            if not off < 0.5 * least:
                break
            best, least = (dual, dual_low, left), off
            if off <= 16 * EPS:
                return dual, dual_low, off
        dual, dual_low, left = best
    return dual, dual_low, least
