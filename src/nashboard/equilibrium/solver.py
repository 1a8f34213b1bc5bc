"""One game, from its payoffs to the maximum-entropy equilibrium with multipliers that prove it.

A game has one group of players, agents against agents with ``F`` antisymmetric, or two, agents against tasks with
``F`` their scores (appendix D). The steps are the same:

1. sort the players by their payoffs, so that rounding cannot depend on who was entered first;
2. follow the central path to the middle of the set of equilibria (`central_path`);
3. as soon as the supports allow, prove the optimal face of each side (`face`);
4. maximise entropy on it (`entropy`), and accept what the certificate accepts (`certificate`);
5. raise where differences near rounding decide: `nash_average` then allows a tiny tolerance, or rounds payoffs.

Both sides of a table share their supports but not their choice: each maximises its own entropy over its own
optimal mixtures.

Large games are solved among a few players: real populations have equilibria with few players (about as many as the
payoffs have dimensions). The game is solved among a small set ``R`` of each group, one product with all payoffs finds
the players that do well against the answer, they join, and so on. The end is proved, not assumed: with ``p`` the
strictly complementary equilibrium among ``R``, ``w`` the one of maximum entropy, and gains measured from the value,

    gain_j(p) < 0 for every j outside R     no j outside has weight in any equilibrium of the whole game,
    gain_j(w) <= 0 for every j outside R    no j outside is a reason to deviate,

so every equilibrium lives in ``R`` and ``w`` is the right one of them. Players outside that tie join ``R`` too. Where
the set grows past a third of its group, the whole group takes part.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from nashboard._parallel import threads_for
from nashboard._progress import Progress as Reporter
from nashboard._types import Bools, Floats, Ints
from nashboard.equilibrium.central_path import (
    Iterate,
    PathGame,
    central_path,
    could_be_points,
    dense_game,
    quiet,
    rectangular_game,
)
from nashboard.equilibrium.certificate import Certificate, certify
from nashboard.equilibrium.face import Attempt, SideFace, SideSolution, find_side_face, solve_side
from nashboard.equilibrium.game import Game
from nashboard.equilibrium.precision import (
    COMPLEMENTARY,
    DEGENERATE,
    FALLS,
    GAINS,
    LAST_GAP,
    LAST_ZERO,
    LOOK,
    ROUGH,
    STUCK,
    TOLERANCE,
    ZERO,
)
from nashboard.errors import ConvergenceError

Progress = Callable[[int, float], None]

DIRECT = 256  # groups up to this size take part as a whole
OPENING = 48  # how many players of a group the search starts with
WIDE = 4  # a table this many times as long as it is wide keeps its short side whole
LARGEST_SORTED = 2048  # games with more players are solved in the order they came in: a sorted copy would cost memory
REFINEMENTS = 4  # how far opponents of opponents of ... take part in the order
WHOLE = 96  # up to so many agents and tasks together, no player is eliminated from the linear systems
FINE = 4  # how often a face is looked for when rounding alone is left to decide


def silent(count: int, gap: float) -> None:
    """Show nothing."""


def report_to(shown: Reporter) -> Progress:
    """Return what tells a display how many linear systems were solved and how far the weights are off."""
    if shown.bars is None:
        return silent
    return lambda count, gap: shown.step(f"solving: {count} systems, gap {gap:.1e}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Side:
    """One side: ``F`` what opponents (rows) get against own players (columns), and which groups these are."""

    F: Floats
    own: int
    opponents: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """The equilibrium mixtures of all groups of players, what proves them, and how many linear systems were solved."""

    sides: tuple[SideSolution, ...]
    certificate: Certificate
    iterations: int

    @property
    def value(self) -> float:
        """What agents get against tasks; 0 for agents against agents."""
        return self.sides[-1].value


@dataclass(frozen=True, kw_only=True, eq=False)
class OracleSolution:
    """An equilibrium of some classes of each group (``members``) that is one of the whole game."""

    members: list[Ints]
    solution: Solution

    def weights(self, game: Game) -> list[Floats]:
        """Return the weights of all classes of each group."""
        return embed([side.weights for side in self.solution.sides], self.members, game.sizes)


def find_equilibrium(
    game: Game,
    log_m: Sequence[Floats],
    progress: Progress = silent,
    start: Sequence[Ints] | None = None,
    unit: float = 0.0,
) -> OracleSolution:
    """Return the maximum-entropy equilibrium of a game; ``log_m`` the log-multiplicities of its classes.

    ``start`` are classes to begin with, where those that matter are about known; payoffs are rounded to multiples of
    ``unit``, a share of the largest, where one is given.
    """
    members, F, iterations = choose_members(game, progress) if start is None else (list(start), game.block(start), 0)
    while True:
        rounded = np.round(F / unit) * unit if unit else F
        found = solve(rounded, [part[some] for part, some in zip(log_m, members, strict=True)], progress)
        iterations += found.iterations
        if F.shape[0] == game.sizes[0] and F.shape[1] == game.sizes[-1]:
            break
        value = found.value
        inner, final = (
            game.gains(embed(mixtures, members, game.sizes), value)
            for mixtures in ([side.inner for side in found.sides], [side.weights for side in found.sides])
        )
        joining = [outside((a >= -ZERO) | (b > GAINS), some) for a, b, some in zip(inner, final, members, strict=True)]
        if not any(new.size for new in joining):
            break
        members, F = join(game, members, F, joining)
    return OracleSolution(members=members, solution=replace(found, iterations=iterations))


def choose_members(game: Game, progress: Progress) -> tuple[list[Ints], Floats, int]:
    """Return players whom, roughly, nobody outside beats, and the payoffs between them."""
    sizes = game.sizes
    everybody = [np.arange(size) for size in sizes]
    if max(sizes) <= DIRECT:
        return everybody, game.block(everybody), 0
    members = opening(game)
    F = game.block(members)
    partial = all(len(some) < size for some, size in zip(members, sizes, strict=True))
    iterations = before = 0
    while any(len(some) < size for some, size in zip(members, sizes, strict=True)):
        mixtures, held, count = rough_equilibrium(F, len(sizes))
        iterations += count
        if partial and before and held > max(1.25 * before, sum(map(len, members)) / 3):
            return everybody, game.block(everybody), iterations  # no end in sight: many players matter
        before = held
        gains = game.gains(embed(mixtures, members, sizes))
        progress(iterations, max(0.0, *(float(gain.max()) for gain in gains)))
        joining = [best_outside(gain, some) for gain, some in zip(gains, members, strict=True)]
        if not any(new.size for new in joining):
            break
        members, F = join(game, members, F, joining)
    return members, F, iterations


def approach_equilibrium(game: Game, gap: float, progress: Progress = silent) -> tuple[list[Floats], float, int]:
    """Return mixtures of all classes with an exploitability of about ``gap``, the value, and how many systems it took.

    They need no proof of who has weight, which differences near rounding can make long or impossible. Those may end the
    path early: the caller looks at what the mixtures reach.
    """
    members, F, iterations = choose_members(game, progress)
    while True:
        some, _, count = rough_equilibrium(F, len(game.sizes), gap / 4)
        iterations += count
        progress(iterations, gap)
        value = 0.0 if len(some) == 1 else (float((F @ some[1]).max()) + float((some[0] @ F).min())) / 2
        mixtures = embed(some, members, game.sizes)
        gains = game.gains(mixtures, value)
        joining = [outside(gain > gap / 2, inside) for gain, inside in zip(gains, members, strict=True)]
        if not any(new.size for new in joining):
            break
        members, F = join(game, members, F, joining)
    return mixtures, value, iterations


def opening(game: Game) -> list[Ints]:
    """Return the players to start with: a whole group where it is small, else those that do best against all."""
    sizes = game.sizes
    gains = game.gains([np.full(size, 1.0 / size) for size in sizes])
    members = []
    for size, other, gain in zip(sizes, sizes[::-1], gains, strict=True):
        if size <= DIRECT or (len(sizes) == 2 and other >= WIDE * size):
            members.append(np.arange(size))
            continue
        most = max(OPENING, 2 * other if len(sizes) == 2 and size >= WIDE * other else 0)
        members.append(np.sort(np.argpartition(-gain, most)[:most]))
    return members


@quiet
def rough_equilibrium(F: Floats, groups: int, gap: float = ROUGH) -> tuple[list[Floats], int, int]:
    """Return a point of the central path, how many have weight in it, and how many systems it took.

    The middle of the near-equilibria asks better questions than a corner would.
    """
    m, n = F.shape
    if groups == 2 and m > n:
        mixtures, held, count = rough_equilibrium(np.ascontiguousarray(-F.T), groups, gap)
        return mixtures[::-1], held, count
    game = dense_game(F) if groups == 1 else rectangular_game(F)
    count = 0
    with threads_for(system_size(F, groups)):
        for x in central_path(game):
            count += 1
            if float(x.mu) * game.size < gap:
                break
    parts = np.split(x.p, game.starts[1:])
    return [part / part.sum() for part in parts], int((x.p > x.s).sum()), count


def best_outside(gain: Floats, members: Ints) -> Ints:
    """Return the players outside who gain most, about half as many as there are inside."""
    better = outside(gain > 10 * ROUGH, members)
    return better[np.argsort(-gain[better], kind="stable")[: max(16, len(members) // 2)]]


def outside(chosen: Bools, members: Ints) -> Ints:
    """Return the chosen players that are not members."""
    chosen = chosen.copy()
    chosen[members] = False
    return np.flatnonzero(chosen)


def join(game: Game, members: list[Ints], F: Floats, joining: list[Ints]) -> tuple[list[Ints], Floats]:
    """Return the members with those who join and their payoffs; all of a group where that is more than a third."""
    grown, whole = [], False
    for old, new, size in zip(members, joining, game.sizes, strict=True):
        everybody = bool(new.size) and len(old) + len(new) > size / 3
        grown.append(np.arange(size) if everybody else np.append(old, new))
        whole |= everybody
    return grown, game.block(grown) if whole else game.extend(F, members, joining)


def embed(mixtures: Sequence[Floats], members: Sequence[Ints], sizes: Sequence[int]) -> list[Floats]:
    """Return mixtures of some players of each group as mixtures of all."""
    found = []
    for mixture, some, size in zip(mixtures, members, sizes, strict=True):
        whole = np.zeros(size)
        whole[some] = mixture
        found.append(whole)
    return found


def solve(F: Floats, log_m: Sequence[Floats], progress: "Progress | None" = None) -> Solution:
    """Return the maximum-entropy equilibrium of ``F``, entries from about -1 to 1.

    ``log_m`` has the log-multiplicities of each group of players: one group for an antisymmetric ``F``, or two.
    """
    m, n = F.shape
    show = progress or silent
    if len(log_m) == 2 and m > n:  # the interior point eliminates the columns, so they should be the longer side
        turned = solve(np.ascontiguousarray(-F.T), log_m[::-1], show)
        return replace(turned, sides=turned.sides[::-1])
    with threads_for(system_size(F, len(log_m))) if m + n > WHOLE else nullcontext():
        if (m if len(log_m) == 1 else m + n) > LARGEST_SORTED:
            return follow_path(F, log_m, show)
        orders = canonical_orders(F, len(log_m))
        ordered = np.ascontiguousarray(F.take(orders[0], axis=0).take(orders[-1], axis=1))
        found = follow_path(ordered, [part[order] for part, order in zip(log_m, orders, strict=True)], show)
    places = [np.argsort(order) for order in orders]
    sides = (side.picked(own, other) for side, own, other in zip(found.sides, places, places[::-1], strict=True))
    return replace(found, sides=tuple(sides))


def system_size(F: Floats, groups: int) -> int:
    """Return the size of a square system that costs about as much as one of this game's."""
    m, n = F.shape
    return m if groups == 1 else int((m * m * n) ** (1 / 3))


def follow_path(F: Floats, log_m: Sequence[Floats], progress: Progress) -> Solution:
    """Follow the central path until a face is proved on which the best mixture is certain.

    Scores that differ by little around a value far from zero lose digits in every sum; around zero they do not. So a
    table is tried once more after its value is subtracted, which changes no equilibrium.
    """
    found, x = search_path(F, log_m, progress)
    if found is not None:
        return found
    if x is not None and len(log_m) == 2:
        v = float(x.p[: len(F)] @ F @ x.p[len(F) :])
        found, x = search_path(F - v, log_m, progress)
        if found is not None:
            sides = (
                replace(side, value=side.value + change) for side, change in zip(found.sides, (-v, v), strict=True)
            )
            return replace(found, sides=tuple(sides))
    raise missed(x)


@quiet
def search_path(F: Floats, log_m: Sequence[Floats], progress: Progress) -> tuple[Solution | None, Iterate | None]:
    """Return the first certain solution that the path shows, if there is one, and where the path ended.

    A face that is a point costs one factorisation of the support and can be tried early. A larger one costs a
    singular value decomposition, so it waits until the path has all but ended. Players that miss by less than
    ``ZERO`` are first taken for tied; if no face has them all, or the best mixture of all of them cannot be
    certified, the smallest differences decide after all.
    """
    sides = sides_of(F, len(log_m))
    game = path_game(F, len(log_m))
    before: Iterate | None = None
    doubtful = False  # whether there was a solution, but none that is certain
    fine = stuck = 0
    for count, x in enumerate(central_path(game), start=1):
        gap = float(x.mu) * x.p.size
        progress(count, gap)
        stuck += before is not None and gap < STUCK and float(x.mu) > float(before.mu) / 2
        attempt = Attempt(degenerate=gap < DEGENERATE, zero=ZERO if gap > LAST_GAP and stuck < FINE else LAST_ZERO)
        if gap < LOOK and (not doubtful or attempt.last):
            for support in guess_supports(x, before if attempt.degenerate else None):
                points = bool(could_be_points(support, game.starts))
                faces = find_faces(sides, x, support, attempt) if attempt.degenerate or points else None
                if faces is not None and (points or not all(face.found.unique for face in faces)):
                    found = maximise_entropy(F, sides, faces, log_m, count)
                    if is_certain(sides, found):
                        return found, x
                    doubtful = True
        before = x
        fine += attempt.last
        if fine >= FINE and (doubtful or stuck >= 2 * FINE):
            break
    return None, before


def guess_supports(x: Iterate, before: Iterate | None) -> Iterator[Bools]:
    """Yield who seems to have weight: whose weight exceeds the slack, then whose weight falls by less than the slack.

    The second is right whatever the sizes of the payoffs that decide, once the path is near its end (El-Bakry, Tapia
    and Zhang 1994, *A study of indicators for identifying zero variables*).
    """
    large = x.p > x.s
    yield large
    if before is not None and x.mu < before.mu / FALLS:
        lasting = x.p / before.p > x.s / before.s
        if (lasting != large).any():
            yield lasting


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


def maximise_entropy(
    F: Floats, sides: Sequence[Side], faces: Sequence[SideFace], log_m: Sequence[Floats], count: int
) -> Solution:
    """Return the most even mixture on each face; only where a face may have others are multipliers needed as proof."""
    for point in (True, False):
        if point and not all(face.found.unique for face in faces):
            continue
        chosen = {side.own: solve_side(face, log_m[side.own], point) for side, face in zip(sides, faces, strict=True)}
        found = tuple(chosen[group] for group in sorted(chosen))
        certificate = certify(F, found, log_m)
        if certificate.residual <= TOLERANCE:
            break
    return Solution(sides=found, certificate=certificate, iterations=count + sum(side.iterations for side in found))


def is_certain(sides: Sequence[Side], found: Solution) -> bool:
    """Whether all mixtures are proved the best of their faces.

    A search for the best mixture that lost its way may have left the face, so that is asked too. Where ties were
    broken, the value of the faces is not that of the certificate.
    """
    proved = found.certificate
    if not (proved.residual <= TOLERANCE and proved.complementarity <= COMPLEMENTARY):
        return False
    if all(side.unique for side in found.sides):
        return True
    p, q = found.sides[0].weights, found.sides[-1].weights
    value = 0.0 if len(sides) == 1 else float(p @ sides[0].F @ q)
    values = (value, -value)
    return all(
        (side.F @ found.sides[side.own].weights).max() - v <= TOLERANCE / 2
        for side, v in zip(sides, values, strict=False)
    )


def missed(x: Iterate | None) -> ConvergenceError:
    """Return the error of a path that ended without a proved face."""
    reached = "nothing" if x is None else f"a gap of {float((x.p * x.s).sum()):.1e} of the largest payoff"
    return ConvergenceError(
        f"the equilibrium could not be proved: the interior point reached {reached}, but no set of players "
        f"with weight passed the test. The payoffs may span too many orders of magnitude, or contain "
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
