"""Large games: solve among a few players, ask who would do better against them, repeat.

Real populations have equilibria with few players (about as many as the payoffs have dimensions). The game is solved
among a small set ``R`` of each group, one product with all payoffs finds the players that do well against the answer,
they join, and so on. The end is proved, not assumed: with ``p`` the strictly complementary equilibrium among ``R``,
``w`` the one of maximum entropy, and gains measured from the value,

    gain_j(p) < 0 for every j outside R     no j outside has weight in any equilibrium of the whole game,
    gain_j(w) <= 0 for every j outside R    no j outside is a reason to deviate,

so every equilibrium lives in ``R`` and ``w`` is the right one of them. Players outside that tie join ``R`` too. Where
the set grows past a third of its group, the whole group takes part.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nashboard._threads import threads_for
from nashboard._types import Bools, Floats, Ints
from nashboard.equilibrium.central_path import central_path, dense_game, rectangular_game
from nashboard.equilibrium.certificate import Certificate, certify
from nashboard.equilibrium.game import Game
from nashboard.equilibrium.precision import GAINS, ROUGH, ZERO
from nashboard.equilibrium.solver import Progress, Solution, round_to, silent, solve, system_size

DIRECT = 256  # groups up to this size take part as a whole
OPENING = 48  # how many players of a group the search starts with
WIDE = 4  # a table this many times as long as it is wide keeps its short side whole


@dataclass(frozen=True, kw_only=True, eq=False)
class OracleSolution:
    """An equilibrium of some classes of each group (``members``, payoffs ``F``) that is one of the whole game."""

    members: list[Ints]
    F: Floats
    solution: Solution

    def weights(self, game: Game) -> list[Floats]:
        """Return the weights of all classes of each group."""
        return embed([side.weights for side in self.solution.sides], self.members, game.sizes)

    def certificate(self, log_m: Sequence[Floats]) -> Certificate:
        """Return what payoffs and weights prove; ``log_m`` the log-multiplicities of all classes."""
        among = [part[some] for part, some in zip(log_m, self.members, strict=True)]
        proved = certify(round_to(self.F, self.solution.rounded), self.solution.sides, among)
        return replace(proved, condition=float("inf")) if self.solution.rounded else proved


def find_equilibrium(
    game: Game,
    log_m: Sequence[Floats],
    progress: Progress = silent,
    start: Sequence[Ints] | None = None,
) -> OracleSolution:
    """Return the maximum-entropy equilibrium of a game; ``log_m`` the log-multiplicities of its classes.

    ``start`` are classes to begin with, where those that matter are about known.
    """
    members, F, iterations = choose_members(game, progress) if start is None else (list(start), game.block(start), 0)
    while True:
        found = solve(F, [part[some] for part, some in zip(log_m, members, strict=True)], progress)
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
    return OracleSolution(members=members, F=F, solution=replace(found, iterations=iterations))


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
    whole = [
        bool(new.size) and len(old) + len(new) > size / 3
        for old, new, size in zip(members, joining, game.sizes, strict=True)
    ]
    if not any(whole):
        return [np.append(old, new) for old, new in zip(members, joining, strict=True)], game.extend(
            F, members, joining
        )
    grown = [
        np.arange(size) if every else np.append(old, new)
        for every, old, new, size in zip(whole, members, joining, game.sizes, strict=True)
    ]
    return grown, game.block(grown)


def embed(mixtures: Sequence[Floats], members: Sequence[Ints], sizes: Sequence[int]) -> list[Floats]:
    """Return mixtures of some players of each group as mixtures of all."""
    found = []
    for mixture, some, size in zip(mixtures, members, sizes, strict=True):
        whole = np.zeros(size)
        whole[some] = mixture
        found.append(whole)
    return found
