"""One game, from its payoffs to the maximum-entropy equilibrium with multipliers that prove it.

A game has one group of players, agents against agents with ``F`` antisymmetric, or two, agents against tasks with
``F`` their scores (appendix D). The steps are the same:

1. sort the players by their payoffs, so that rounding cannot depend on who was entered first;
2. follow the central path to the middle of the set of equilibria (`central_path`);
3. as soon as the supports settle, prove the optimal face of each side (`face`);
4. maximise entropy on it (`entropy`), and accept what the certificate accepts (`certificate`);
5. where differences near rounding decide, do the same with payoffs rounded to a multiple of the rule of zero.

Both sides of a table share their supports but not their choice: each maximises its own entropy over its own
optimal mixtures.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from nashboard._progress import Progress as Reporter
from nashboard._threads import threads_for
from nashboard._types import Bools, Floats, Ints
from nashboard.equilibrium.central_path import Iterate, PathGame, central_path, dense_game, rectangular_game
from nashboard.equilibrium.certificate import entropy_residual, value_between
from nashboard.equilibrium.face import Attempt, SideFace, SideSolution, find_side_face, solve_side
from nashboard.equilibrium.precision import DEGENERATE, LAST_GAP, LAST_ZERO, LOOK, ROUNDED, TOLERANCE, ZERO
from nashboard.errors import ConvergenceError

Progress = Callable[[int, float], None]

LARGEST_SORTED = 2048  # games with more players are solved in the order they came in: a sorted copy would cost memory
REFINEMENTS = 4  # how far opponents of opponents of ... take part in the order
WHOLE = 96  # up to so many agents and tasks together, no player is eliminated from the linear systems
FINE = 4  # how often a face is looked for when rounding alone is left to decide


@dataclass(frozen=True, kw_only=True, eq=False)
class Side:
    """One side: ``F`` what opponents (rows) get against own players (columns), and which groups these are."""

    F: Floats
    own: int
    opponents: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """The equilibrium mixtures of all groups of players, and how many linear systems were solved.

    ``rounded`` is the unit that payoffs had to be rounded to, 0 where they are as they came.
    """

    sides: tuple[SideSolution, ...]
    iterations: int
    rounded: float = 0.0

    @property
    def value(self) -> float:
        """What agents get against tasks; 0 for agents against agents."""
        return self.sides[-1].value


def solve(F: Floats, log_m: Sequence[Floats], progress: "Progress | None" = None) -> Solution:
    """Return the maximum-entropy equilibrium of ``F``, entries from about -1 to 1.

    ``log_m`` has the log-multiplicities of each group of players: one group for an antisymmetric ``F``, or two.
    """
    m, n = F.shape
    show = progress or silent
    if len(log_m) == 1 and m == 1:
        return Solution(sides=(alone(),), iterations=0)
    if len(log_m) == 2 and m > n:  # the interior point eliminates the columns, so they should be the longer side
        turned = solve(np.ascontiguousarray(-F.T), log_m[::-1], show)
        return replace(turned, sides=turned.sides[::-1])
    with threads_for(system_size(F, len(log_m))) if m + n > WHOLE else nullcontext():
        if (m if len(log_m) == 1 else m + n) > LARGEST_SORTED:
            return follow_path(F, log_m, show)
        orders = canonical_orders(F, len(log_m))
        ordered = np.ascontiguousarray(F.take(orders[0], axis=0).take(orders[-1], axis=1))
        found = follow_path(ordered, [part[order] for part, order in zip(log_m, orders, strict=True)], show)
    sides = (side.returned(own, other) for side, own, other in zip(found.sides, orders, orders[::-1], strict=True))
    return replace(found, sides=tuple(sides))


def system_size(F: Floats, groups: int) -> int:
    """Return the size of a square system that costs about as much as one of this game's."""
    m, n = F.shape
    return m if groups == 1 else int((m * m * n) ** (1 / 3))


def follow_path(F: Floats, log_m: Sequence[Floats], progress: Progress, rounded: float = 0.0) -> Solution:
    """Follow the central path until a face is proved on which the best mixture is certain.

    Where there is none, differences near the rule of zero decide: the payoffs are then rounded to a multiple of it.
    """
    sides = sides_of(F, len(log_m))
    before: Bools | None = None
    x: Iterate | None = None
    doubtful: Solution | None = None
    count = fine = 0
    for count, x in enumerate(central_path(path_game(F, len(log_m))), start=1):
        progress(count, float(x.mu) * x.p.size)
        support = x.p > x.s
        attempt = worth_trying(x, before is not None and bool((support == before).all()))
        if attempt.now and (doubtful is None or attempt.last):
            faces = find_faces(sides, x, support, attempt)
            if faces is not None:
                found = maximise_entropy(sides, faces, log_m, count)
                if is_certain(sides, found, log_m):
                    return replace(found, rounded=rounded)
                doubtful = doubtful or found
        fine += attempt.last
        if doubtful is not None and fine >= FINE:
            break
        before = support
    coarser = next((unit for unit in ROUNDED if unit > rounded), None)
    if coarser is not None:
        return follow_path(round_to(F, coarser), log_m, progress, coarser)
    if doubtful is not None:
        return replace(doubtful, rounded=rounded)
    raise missed(x)


def round_to(F: Floats, unit: float) -> Floats:
    """Return payoffs rounded to multiples of a power of two; as they are where it is 0."""
    return np.round(F / unit) * unit if unit else F


def sides_of(F: Floats, groups: int) -> tuple[Side, ...]:
    """Return the sides whose faces are looked for, the one that finds the value first."""
    if groups == 1:
        return (Side(F=F, own=0, opponents=0),)
    return Side(F=F, own=1, opponents=0), Side(F=np.ascontiguousarray(-F.T), own=0, opponents=1)


def path_game(F: Floats, groups: int) -> PathGame:
    """Return the game as the interior point sees it: small tables are quickest as they are in appendix D."""
    m, n = F.shape
    if groups == 1:
        return dense_game(F)
    if m + n > WHOLE:
        return rectangular_game(F)
    K = np.zeros((m + n, m + n))
    K[:m, m:], K[m:, :m] = F, -F.T
    return dense_game(K, (0, m))


def worth_trying(x: Iterate, settled: bool) -> Attempt:
    """Decide whether an iterate is close enough to show the face; ``settled``: the supports did not change.

    A face that is a point costs one factorisation of the support and can be tried early. A larger one costs a
    singular value decomposition, so it waits until the path has all but ended. Players that miss by less than
    ``ZERO`` are first taken for tied; if no face has them all, or the best mixture of all of them cannot be
    certified, the smallest differences decide after all.
    """
    gap = float(x.mu) * x.p.shape[-1]
    return Attempt(
        now=gap < (LOOK if settled else DEGENERATE),
        degenerate=gap < DEGENERATE,
        zero=ZERO if gap > LAST_GAP else LAST_ZERO,
    )


def find_faces(sides: Sequence[Side], x: Iterate, support: Bools, attempt: Attempt) -> list[SideFace] | None:
    """Return the faces for the supports that an iterate shows, if they are proved."""
    groups = [slice(None)] if len(sides) == 1 else [slice(0, len(sides[0].F)), slice(len(sides[0].F), None)]
    value: float | None = 0.0 if len(sides) == 1 else None
    faces: list[SideFace] = []
    for side in sides:
        own, opponents = groups[side.own], groups[side.opponents]
        face = find_side_face(side.F, x.p[own], value, support[own], support[opponents], attempt)
        if face is None:
            return None
        faces.append(face)
        value = -face.found.v
    return faces


def maximise_entropy(sides: Sequence[Side], faces: Sequence[SideFace], log_m: Sequence[Floats], count: int) -> Solution:
    """Return the most even mixture on each face."""
    found = {side.own: solve_side(face, log_m[side.own]) for side, face in zip(sides, faces, strict=True)}
    if len(sides) == 1:
        found[0] = replace(found[0], value=0.0)
    total = count + sum(side.iterations for side in found.values())
    return Solution(sides=tuple(found[group] for group in sorted(found)), iterations=total)


def is_certain(sides: Sequence[Side], found: Solution, log_m: Sequence[Floats]) -> bool:
    """Whether all mixtures are proved the best of their faces; where a face is a point, there is nothing to choose.

    A search for the best mixture that lost its way may have left the face, so that is asked too. The value is what the
    mixtures get against each other, as in the certificate of the result: where ties were broken, that of the faces
    is another.
    """
    if max(side.off for side in found.sides) > TOLERANCE:
        return False
    if all(side.unique for side in found.sides):
        return True
    value = 0.0 if len(sides) == 1 else value_between(sides[0].F, *found.sides)
    values = (value, -value)
    own = [found.sides[side.own] for side in sides]
    if any((side.F @ x.weights).max() - v > TOLERANCE / 2 for side, x, v in zip(sides, own, values, strict=False)):
        return False
    return all(
        x.unique or entropy_residual(side.F, x, found.sides[side.opponents], log_m[side.own], v) <= TOLERANCE
        for side, x, v in zip(sides, own, values, strict=False)
    )


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


def missed(x: Iterate | None) -> ConvergenceError:
    """Return the error of a path that ended without a proved face."""
    reached = "nothing" if x is None else f"a gap of {float((x.p * x.s).sum()):.1e} of the largest payoff"
    return ConvergenceError(
        f"the equilibrium could not be proved: the interior point reached {reached}, but no set of players "
        f"with weight passed the test. The payoffs may span too many orders of magnitude, or hold "
        f"differences near rounding; scale them, or round them to the digits that were measured"
    )


# The order of players follows from their payoffs alone. Rounding depends on the order of a sum; where payoffs span so
# many orders of magnitude that rounding decides, two orders of the same players could give two answers. A player is
# placed by its payoffs in rising order. Players who agree in those are separated by whom they have these payoffs
# against: each opponent's own place takes part, and so on. Those left together are alike in the game.


def canonical_orders(F: Floats, groups: int) -> list[Ints]:
    """Return the order of each group of players."""
    places = [place_rows(F)] if groups == 1 else [place_rows(F), place_rows(F.T)]
    for _ in range(REFINEMENTS):
        if all(distinct(place) for place in places):
            break
        places = [
            refine_places(rows, place, other)
            for rows, place, other in zip((F, F.T), places, places[::-1], strict=False)
        ]
    return [np.argsort(place, kind="stable") for place in places]


def place_rows(rows: Floats) -> Ints:
    """Return the place of each row by its cells in rising order; rows with the same cells share one."""
    place = rank_by([np.minimum.reduce(rows, axis=1)])  # the smallest cell often decides, at less cost
    if not distinct(place):
        place = rank_by(list(np.sort(rows, axis=1).T))
    return place


def refine_places(rows: Floats, place: Ints, of_columns: Ints) -> Ints:
    """Return places that also ask against whom: the places of columns in the order of a row's cells."""
    tied = np.bincount(place, minlength=len(place))[place] > 1
    keys = np.zeros(rows.shape, dtype=np.intp)
    keys[tied] = of_columns[np.lexsort([np.broadcast_to(of_columns, rows[tied].shape), rows[tied]], axis=1)]
    return rank_by([place, *keys.T])


def rank_by(keys: list[Floats] | list[Ints]) -> Ints:
    """Return the place of each player by the first key in which two differ; the same for those that do not."""
    order = np.lexsort(keys[::-1])
    new = np.zeros(len(order), dtype=np.bool_)
    for key in keys:
        rising = key[order]
        new[1:] |= rising[1:] != rising[:-1]
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.maximum.accumulate(np.arange(len(order)) * new)
    return place


def distinct(place: Ints) -> bool:
    """Whether no two players share a place."""
    return bool(np.bincount(place).max() == 1)


def silent(count: int, gap: float) -> None:
    """Show nothing."""


def report_to(shown: Reporter) -> Progress:
    """Return what tells a display how many linear systems were solved and how far the weights are off."""
    return lambda count, gap: shown.step(f"solving: {count} systems, gap {gap:.1e}")
