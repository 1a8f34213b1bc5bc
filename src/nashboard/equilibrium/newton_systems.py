"""The linear systems of the interior point, ``[[D - K, E'], [E, 0]]``, for each shape of game.

``D - K`` is positive definite though not symmetric (``x'Kx = 0``), and the border keeps the system regular
when ``D`` fades on the support, so an LU factorisation with row exchanges is accurate to the end. Forming the
normal equations instead would square the condition number and lose definiteness in the last iterations.
"""

from itertools import pairwise

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs

from nashboard._types import Floats
from nashboard.equilibrium.interior_point import CENTRING, CHEAP, PathGame, Solve


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
