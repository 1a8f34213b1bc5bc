"""Interior point: follow the central path of a zero-sum game to the middle of its set of equilibria.

Every game here is *symmetric*: ``N`` players, payoffs ``K = -K'``. Agents against agents is one as it
stands (one group of players, ``p`` sums to 1); agents against tasks becomes one as in appendix D, with two
groups and ``K = [[0, S], [-S', 0]]``. Minimise ``sum(v)`` over

    s = E'v - K p >= 0,    E p = 1,    p >= 0        (E says who is in which group)

The problem is its own dual, ``p's = sum(v)`` and the optimum is 0. The path ``p_i s_i = mu`` ends at a
*strictly complementary* equilibrium: each player has either weight (``p_i > 0``) or a margin
(``s_i > 0``), never neither, which is how the optimal face is recognised (see `face`). The method is
Mehrotra's predictor and corrector with Gondzio's centrality corrections: one linear system with
``[[D - K, E'], [E, 0]]``, ``D = diag(s / p)``, per iteration, 5 to 20 whatever the
size.

``D - K`` is positive definite though not symmetric (``x'Kx = 0``), and the border keeps the system regular
when ``D`` fades on the support, so an LU factorisation with row exchanges is accurate to the end. Forming the
normal equations instead would square the condition number and lose definiteness in the last iterations.

All functions work along the last axis, so that a stack of games is solved by the same lines as one game.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs

from nashboard._types import Bools, Floats, Ints
from nashboard.equilibrium.precision import LEAST, TINY

Solve = Callable[[Floats, Floats], tuple[Floats, Floats]]

quiet = np.errstate(over="ignore")
CENTRING = 3  # centrality corrections per system at most: each is one more solve, and saves factorisations
CHEAP = 128  # up to so many players a factorisation costs no more than the corrections that would save it


@dataclass(frozen=True, kw_only=True, eq=False)
class Iterate:
    """A point near the central path: weights ``p``, slacks ``s`` (..., N) and values ``v`` (..., groups).

    ``mu`` is the mean of ``p_i s_i``, which is zero at an equilibrium.
    """

    p: Floats
    s: Floats
    v: Floats
    mu: Floats

    @staticmethod
    def at(p: Floats, s: Floats, v: Floats) -> "Iterate":
        """Return a point with its ``mu``."""
        return Iterate(p=p, s=s, v=v, mu=mean_product(p, s))


@dataclass(frozen=True, kw_only=True, eq=False)
class PathGame:
    """A game as the interior point sees it.

    ``product(p)`` is ``K p``; ``factorise(d)`` prepares ``[[diag(d) - K, E'], [E, 0]]`` and returns a
    function that solves with it; ``starts`` tells where each group of players begins, ``centring`` how many
    centrality corrections are worth their time.
    """

    product: Callable[[Floats], Floats]
    factorise: Callable[[Floats], Solve]
    size: int
    starts: tuple[int, ...] = (0,)
    centring: int = CENTRING

    @cached_property
    def group(self) -> Ints:
        """The group of each player."""
        return np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, self.size]))

    def spread(self, v: Floats) -> Floats:
        """``E'v``: for each player the number of its group."""
        return v if len(self.starts) == 1 else v.take(self.group, axis=-1)

    def sums(self, x: Floats) -> Floats:
        """``E x``: the total of each group."""
        return np.add.reduceat(x, self.starts, axis=-1)


def beginning(game: PathGame, stack: tuple[int, ...] = ()) -> Iterate:
    """Return a strictly feasible start: everybody plays, and the values are high enough."""
    p = np.empty((*stack, game.size))
    p[:] = 1.0 / np.bincount(game.group)[game.group]
    u = game.product(p)
    spread = np.sqrt(mean_product(u, u))[..., None]  # p'u = 0, so this is how far payoffs are from their middle
    v = np.maximum.reduceat(u, game.starts, axis=-1) + 0.3 * spread + 0.1 / game.size
    return Iterate.at(p, game.spread(v) - u, v)


def newton_step(game: PathGame, x: Iterate) -> Iterate:
    """Return the next iterate: predictor, corrector, and the longest step that stays inside.

    Products of very long steps may overflow, and are cut off: callers ignore that (`quiet`), once for all steps.
    """
    p, s, v = x.p, x.s, x.v
    off_slack = game.spread(v) - game.product(p) - s  # rounding only: the start is feasible
    off_sum = 1.0 - game.sums(p)
    d = s / p
    solve = game.factorise(d)

    def direction(target: Floats) -> tuple[Floats, Floats, Floats]:
        """Solve for ``s dp + p ds = p * target``, keeping all equations."""
        dp, dv = solve(target - off_slack, off_sum)
        return dp, target - d * dp, dv

    share = direction(-s)[0] / p  # dp / p; then ds / s = -1 - share
    fall = np.maximum(-share.min(axis=-1, keepdims=True), 1.0 + share.max(axis=-1, keepdims=True))
    left = 1.0 - longest(fall)  # what is left of mu after the longest step, because K is skew and so dp'ds = 0
    mu = x.mu[..., None]
    aim = left * left * left * mu
    target = (aim + between(-10 * mu, p * s * share * (1.0 + share), 10 * mu)) / p - s
    dp, ds, dv = direction(target)
    fall = steepest(p, dp, s, ds)
    for _ in range(game.centring):  # Gondzio: pull products that would stray from the path back to it
        far = longest(fall)
        if np.minimum.reduce(far, axis=None) > 0.95:
            break
        try_for = np.minimum(1.0, 1.08 * far + 0.08)
        products = (p + try_for * dp) * (s + try_for * ds)
        pull = np.maximum(between(0.1 * aim, products, 10 * aim) - products, -10 * aim)
        aside = target + pull / p
        centred = direction(aside)
        new_fall = steepest(p, centred[0], s, centred[1])
        better = longest(new_fall) > far + 0.01
        if not better.any():
            break
        if better.all():
            target, fall, (dp, ds, dv) = aside, new_fall, centred
        else:
            target, fall = np.where(better, aside, target), np.where(better, new_fall, fall)
            dp, ds, dv = (np.where(better, new, old) for new, old in zip(centred, (dp, ds, dv), strict=True))
    reach = longest(fall, between(0.99, 1.0 - mu, 0.99999))
    return Iterate.at(np.maximum(p + reach * dp, TINY), np.maximum(s + reach * ds, TINY), v + reach * dv)


def could_be_points(support: Bools, starts: tuple[int, ...]) -> Bools:
    """Say for which supports the equilibrium may be unique: an odd number of agents, or as many agents as tasks.

    Every antisymmetric matrix of odd order is singular, and the equations of a support with its border are one.
    """
    counts = np.add.reduceat(support, starts, axis=-1, dtype=np.intp)
    return np.asarray(counts[..., 0] % 2 == 1 if len(starts) == 1 else counts[..., 0] == counts[..., 1])


def mean_product(p: Floats, s: Floats) -> Floats:
    """Return the mean of ``p_i s_i``."""
    return np.asarray(np.vecdot(p, s) / p.shape[-1])


def between(low: float | Floats, x: Floats, high: float | Floats) -> Floats:
    """Return ``x`` with both ends cut off."""
    return np.asarray(np.minimum(np.maximum(x, low), high))


def steepest(p: Floats, dp: Floats, s: Floats, ds: Floats) -> Floats:
    """Return how fast a weight or slack falls relative to itself, at most, in a last axis of one."""
    return np.asarray(-np.minimum.reduce(np.minimum(dp / p, ds / s), axis=-1, keepdims=True))


def longest(fall: Floats, share: float | Floats = 1.0) -> Floats:
    """Return the step, at most 1, that goes ``share`` of the way to where a weight or slack is zero."""
    return np.asarray(np.minimum(1.0, share / np.maximum(fall, LEAST)))


def central_path(game: PathGame, most: int = 200) -> Iterator[Iterate]:
    """Yield iterates of one game with falling ``mu``; the caller stops when it has seen enough."""
    x = beginning(game)
    for _ in range(most):
        x = newton_step(game, x)
        if not math.isfinite(x.mu):  # and so are all weights and slacks
            return
        yield x


def dense_game(K: Floats, starts: tuple[int, ...] = (0,)) -> PathGame:
    """Return one symmetric game, ``K`` (N, N), whose system is factorised in place in a second matrix."""
    N, k = len(K), len(starts)
    work = np.empty((N + k, N + k), order="F")
    inside, corner = work[:N, :N], work[N:, N:]
    diagonal = work.reshape(-1, order="F")[: N * (N + k) : N + k + 1]
    groups = [slice(start, end) for start, end in pairwise([*starts, N])]
    borders = [ones for g, group in enumerate(groups) for ones in (work[group, N + g], work[N + g, group])]
    zeros = [work[:N, N:], work[N:, :N]] if k > 1 else []

    def factorise(d: Floats) -> Solve:
        inside[:] = K.T  # -K
        diagonal[:] = d
        for part in zeros:
            part[:] = 0.0
        for part in borders:
            part[:] = 1.0
        corner[:] = 0.0
        lu, pivots, _ = dgetrf(work, overwrite_a=1)

        def solve(right: Floats, sums: Floats) -> tuple[Floats, Floats]:
            x, _ = dgetrs(lu, pivots, np.concatenate([right, sums]), overwrite_b=1)
            return x[:N], x[N:]

        return solve

    centring = 0 if N <= CHEAP else CENTRING
    return PathGame(product=lambda p: K @ p, factorise=factorise, size=N, starts=starts, centring=centring)


def stacked_game(K: Floats, starts: tuple[int, ...] = (0,)) -> PathGame:
    """Return a stack of small symmetric games, ``K`` (games, N, N), solved together.

    numpy keeps no factors of a stack. Factorising it again for each of the two solves of a step is less work than
    inverting it, and leaves nothing for centrality corrections to save.
    """
    games, N, _ = K.shape
    k = len(starts)
    work = np.zeros((games, N + k, N + k))
    diagonal = np.arange(N)
    group = np.repeat(np.arange(k), np.diff([*starts, N]))

    def factorise(d: Floats) -> Solve:
        work[:, :N, :N] = -K
        work[:, diagonal, diagonal] = d
        work[:, diagonal, N + group] = work[:, N + group, diagonal] = 1.0

        def solve(right: Floats, sums: Floats) -> tuple[Floats, Floats]:
            x = np.linalg.solve(work, np.concatenate([right, sums], axis=-1)[..., None])[..., 0]
            return x[:, :N], x[:, N:]

        return solve

    return PathGame(
        product=lambda p: (K @ p[..., None])[..., 0], factorise=factorise, size=N, starts=starts, centring=0
    )


def rectangular_game(S: Floats) -> PathGame:
    """Return the game of m agents against n tasks, ``S`` (m, n) with m <= n, without ever forming ``K``.

    Tasks with ``d >= 1`` (those on their way to no weight) are eliminated: dividing by their ``d`` loses
    nothing. The others, never many more than the agents, stay in the system, which is what keeps it accurate.
    """
    m, n = S.shape

    def product(x: Floats) -> Floats:
        return np.concatenate([S @ x[m:], -(S.T @ x[:m])])

    def factorise(d: Floats) -> Solve:
        small = d[m:] < 1.0
        kept, gone = small.nonzero()[0], (~small).nonzero()[0]
        c = len(kept)
        w = 1.0 / d[m:].take(gone)
        S_gone = S if c == 0 else S.take(gone, axis=1)
        S_kept = S.take(kept, axis=1)
        core = np.zeros((m + c + 2, m + c + 2), order="F")
        W = S_gone * np.sqrt(w)
        core[:m, :m] = W @ W.T
        core[:m, m : m + c] = -S_kept
        core[m : m + c, :m] = S_kept.T
        diagonal = core.reshape(-1, order="F")[:: m + c + 3]
        diagonal[:m] += d[:m]
        diagonal[m : m + c] = d[m:].take(kept)
        core[:m, m + c] = core[m + c, :m] = 1.0
        core[:m, m + c + 1] = S_gone @ w
        core[m + c + 1, :m] = -core[:m, m + c + 1]
        core[m : m + c, m + c + 1] = core[m + c + 1, m : m + c] = 1.0
        core[m + c + 1, m + c + 1] = -w.sum()
        lu, pivots, _ = dgetrf(core, overwrite_a=1)

        def solve(right: Floats, sums: Floats) -> tuple[Floats, Floats]:
            r = right[m:].take(gone) * w
            b = np.concatenate([right[:m] + S_gone @ r, right[m:].take(kept), sums[:1], sums[1:] - r.sum()])
            x, _ = dgetrs(lu, pivots, b, overwrite_b=1)
            dp = np.empty(m + n)
            dp[:m] = x[:m]
            dp[m + kept] = x[m : m + c]
            dp[m + gone] = r - w * (S_gone.T @ x[:m] + x[-1])
            return dp, x[-2:]

        return solve

    return PathGame(product=product, factorise=factorise, size=m + n, starts=(0, m))
