"""Many small games at once: the resampled copies of one population that uncertainty is made of.

Games of the same size are solved as a stack, by the same Newton steps as a single game, on all cores, first among the
players that do best. Clones
(a resampled table is full of them) are collapsed, and players who lose to everybody fill the empty places. A
game whose equilibrium is unique, and certified to be right, is finished in the stack. The others, those with
many equilibria, are handed to the solver for single games one by one; every answer is certified alike.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from nashboard._parallel import count_cores, threads_for
from nashboard._types import Bools, Floats, Ints, read_only
from nashboard.equilibrium.central_path import Iterate, beginning, could_be_points, newton_step, quiet, stacked_game
from nashboard.equilibrium.clones import Classes, identical_rows, irrational_weights
from nashboard.equilibrium.game import collapse, near_one
from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
from nashboard.equilibrium.precision import ENOUGH, EPS, LEAST, LOOK_STACKED, TOLERANCE, ZERO
from nashboard.equilibrium.results import Selection, check_selection
from nashboard.errors import InputError

TOGETHER = 64  # games in a stack: enough to spread the overhead, few enough for the caches
FIRST = 24  # players of each group that a game is first solved among
WHOLE = 0.6  # from this share of the players on, all of them take part
STACKED = 96  # larger games, if most players matter, are quicker one by one

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True, eq=False)
class NashAverages:
    """Equilibria of many games among the same agents: one row per game."""

    weights: Floats
    averages: Floats
    unique: Bools
    exploitability: Floats
    residual: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreNashAverages:
    """Equilibria of many tables of the same agents and tasks: one row per table."""

    agent_weights: Floats
    task_weights: Floats
    values: Floats
    skills: Floats
    difficulties: Floats
    unique: Bools
    exploitability: Floats
    residual: Floats


def nash_averages(games: ArrayLike, *, selection: Selection = "clone-invariant") -> NashAverages:
    """Solve many games, ``(games, n, n)`` antisymmetric matrices, each as `nash_average` would."""
    selection = check_selection(selection)
    A = np.asarray(games, dtype=np.float64)
    if A.ndim != 3 or A.shape[1] != A.shape[2] or 0 in A.shape:
        raise InputError(f"a stack of games must have shape (games, n, n), not {A.shape}")
    size = largest_of_each(A)
    K = np.ldexp(A, -np.frexp(size)[1][:, None, None])
    classes = {int(k): identical_rows(A[k], float(size[k]), float(size[k])) for k in np.flatnonzero(crowded(A))}
    for k, c in classes.items():
        K[k] = padded(collapse(K[k], c, c), A.shape[1:], below=-1.0, right=1.0)
    p, residual = stacked(K, (0,))
    unique = np.isfinite(residual)
    for k, c in classes.items():
        if unique[k]:
            p[k] = c.spread(p[k, : len(c.first)])
    averages = (A @ p[..., None])[..., 0]
    exploitability = np.maximum(averages.max(axis=1), 0.0)
    unique &= (exploitability <= TOLERANCE * size) & (size > 0)  # in a flat game every mixture is an equilibrium
    for k, one in solve_singly(np.flatnonzero(~unique), lambda k: nash_average(A[k], selection=selection), len(A[0])):
        p[k], averages[k], unique[k] = one.weights, one.averages, one.unique
        exploitability[k], residual[k] = one.exploitability, one.residual
    return NashAverages(
        weights=read_only(p),
        averages=read_only(averages + 0.0),
        unique=read_only(unique),
        exploitability=read_only(exploitability),
        residual=read_only(residual),
    )


def nash_averages_scores(tables: ArrayLike, *, selection: Selection = "clone-invariant") -> ScoreNashAverages:
    """Solve many tables, ``(tables, m, n)`` agents by tasks, each as `nash_average_scores` would."""
    selection = check_selection(selection)
    S = np.asarray(tables, dtype=np.float64)
    if S.ndim != 3 or 0 in S.shape:
        raise InputError(f"a stack of tables must have shape (tables, m, n), not {S.shape}")
    count, m, n = S.shape
    K = np.zeros((count, m + n, m + n))
    classes: dict[int, tuple[Classes, Classes]] = {}
    hard = crowded(S) | crowded(S.transpose(0, 2, 1))
    for k in range(count):
        table = near_one(S[k])[0] if np.isfinite(S[k]).all() else np.full((m, n), np.nan)
        if hard[k]:
            size = float(np.ptp(S[k])), float(np.abs(S[k]).max())
            rows, columns = classes[k] = identical_rows(S[k], *size), identical_rows(S[k].T, *size)
            table = padded(collapse(table, rows, columns), (m, n), below=-2.0, right=2.0)
        K[k, :m, m:] = table
    K[:, m:, :m] = -K[:, :m, m:].transpose(0, 2, 1)
    x, residual = stacked(K, (0, m))
    p, q = x[:, :m].copy(), x[:, m:].copy()
    unique = np.isfinite(residual)
    for k, (rows, columns) in classes.items():
        if unique[k]:
            p[k] = rows.spread(p[k, : len(rows.first)])
            q[k] = columns.spread(q[k, : len(columns.first)])
    skills = (S @ q[..., None])[..., 0]
    difficulties = -(p[:, None, :] @ S)[:, 0]
    values = (p * skills).sum(axis=1)
    exploitability = np.maximum(np.maximum(skills.max(axis=1) - values, values + difficulties.max(axis=1)), 0.0)
    spread = np.ptp(S, axis=(1, 2))
    unique &= (exploitability <= TOLERANCE * spread) & (spread > 0)
    left = np.flatnonzero(~unique)
    for k, one in solve_singly(left, lambda k: nash_average_scores(S[k], selection=selection), min(m, n)):
        p[k], q[k], values[k], unique[k] = one.agent_weights, one.task_weights, one.value, one.unique
        skills[k], difficulties[k] = one.skills, one.difficulties
        exploitability[k], residual[k] = one.exploitability, one.residual
    return ScoreNashAverages(
        agent_weights=read_only(p),
        task_weights=read_only(q),
        values=read_only(values),
        skills=read_only(skills),
        difficulties=read_only(difficulties + 0.0),
        unique=read_only(unique),
        exploitability=read_only(exploitability),
        residual=read_only(residual),
    )


def largest_of_each(games: Floats) -> Floats:
    """Return the largest absolute payoff of each game; the stack is not copied for that."""
    return np.asarray(np.maximum(games.max(axis=(1, 2)), -games.min(axis=(1, 2))))


def crowded(rows: Floats) -> Bools:
    """Say which tables may have identical rows: weighted sums that all but agree."""
    sums = np.sort(rows @ irrational_weights(rows.shape[2]), axis=1)
    gap = 4 * ZERO * largest_of_each(rows) * rows.shape[2]
    return np.asarray((np.diff(sums, axis=1) <= gap[:, None]).any(axis=1))


def padded(table: Floats, shape: tuple[int, ...], *, below: float, right: float) -> Floats:
    """Fill a table up to a shape with players who never have weight: nobody's payoffs are worse."""
    full = np.zeros(shape)
    rows, columns = table.shape
    full[:rows, :columns] = table
    full[rows:, :columns] = below
    full[:rows, columns:] = right
    return full


def stacked(K: Floats, starts: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return weights and residuals of all games; a residual of NaN marks one that is left to be solved.

    Few players have weight in most games. So each is solved among the players of each group that do best, and is
    finished when nobody outside ties or does better; the others are solved again among twice as many.
    """
    count, N, _ = K.shape
    sizes = np.diff([*starts, N])
    p, residual = np.zeros((count, N)), np.full(count, np.nan)
    todo = np.flatnonzero(np.isfinite(K).all(axis=(1, 2)))
    key = K @ np.repeat(1.0 / sizes, sizes)
    most = FIRST
    with threads_for(N), ThreadPoolExecutor(max_workers=count_cores()) as pool:
        while todo.size:
            chosen = np.minimum(sizes, most)
            whole = bool(chosen.sum() > WHOLE * N)
            if whole and N > STACKED:
                break
            chosen = sizes if whole else chosen

            def work(part: Ints, chosen: Ints = chosen) -> None:
                p[part], residual[part], key[part] = among_best(K[part], starts, key[part], chosen)

            list(pool.map(work, [todo[at : at + TOGETHER] for at in range(0, len(todo), TOGETHER)]))
            if whole:
                break
            todo, most = todo[np.isnan(residual[todo])], 2 * most
    return p, residual


def among_best(K: Floats, starts: tuple[int, ...], key: Floats, chosen: Ints) -> tuple[Floats, Floats, Floats]:
    """Solve one stack among the ``chosen`` number of players of each group with the largest keys.

    Return weights, residuals (NaN where the answer is not proved for all players), and keys for the next time.
    """
    count, N, _ = K.shape
    ends = [*starts[1:], N]
    if chosen.sum() == N:
        return *together(K, starts), key
    members = np.concatenate(
        [
            start + np.sort(np.argsort(-key[:, start:end], axis=1, kind="stable")[:, :some], axis=1)
            for start, end, some in zip(starts, ends, chosen, strict=True)
        ],
        axis=1,
    )
    games = np.arange(count)[:, None]
    inside, residual = together(
        K[games[..., None], members[:, :, None], members[:, None, :]], tuple(np.cumsum(chosen) - chosen)
    )
    p = np.zeros((count, N))
    p[games, members] = inside
    gains = (K @ p[..., None])[..., 0]
    group = np.repeat(np.arange(len(starts)), np.diff([*starts, N]))
    values = np.add.reduceat(p * gains, starts, axis=1)
    margins = values[:, group] - gains
    margins[games, members] = 1.0
    solved = np.isfinite(residual)
    key = np.where(solved[:, None], np.where(p > 0, np.inf, -margins), key)
    residual = np.where(solved & (margins > ZERO).all(axis=1), residual, np.nan)
    return p, residual, key


def solve_singly(unsolved: Ints, solve: Callable[[int], Result], size: int) -> Iterator[tuple[int, Result]]:
    """Yield the games that are left with their solutions, by the solver for single games."""
    with threads_for(size), ThreadPoolExecutor(max_workers=count_cores()) as pool:
        yield from zip(map(int, unsolved), pool.map(solve, map(int, unsolved)), strict=True)


@quiet
def together(K: Floats, starts: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Solve one stack: Newton steps for all, and out as soon as a unique equilibrium is proved."""
    count, N, _ = K.shape
    p, residual = np.zeros((count, N)), np.full(count, np.nan)
    at = np.arange(count)
    game = stacked_game(K, starts)
    x = beginning(game, (count,))
    for _ in range(60):
        try:
            x = newton_step(game, x)
        except np.linalg.LinAlgError:
            break
        support = x.p > x.s
        gap = x.mu * N
        ready = (gap < LOOK_STACKED) & could_be_points(support, starts)
        done = ~np.isfinite(gap) | (gap < ENOUGH)
        if ready.any():
            found, off = unique_equilibria(K[at[ready]], starts, support[ready])
            good = np.isfinite(off)
            where = at[ready][good]
            p[where], residual[where] = found[good], off[good]
            done[np.flatnonzero(ready)[good]] = True
        if done.all():
            break
        if done.any():
            at = at[~done]
            x = Iterate(p=x.p[~done], s=x.s[~done], v=x.v[~done], mu=x.mu[~done])
            game = stacked_game(K[at], starts)
    return p, residual


def unique_equilibria(K: Floats, starts: tuple[int, ...], support: Bools) -> tuple[Floats, Floats]:
    """Return the equilibria on given supports and their residuals, not finite where it is not proved unique.

    Solve ``K p = E'v, E p = 1`` on the support (other players' equations are ``p_i = 0``). The proof: the
    system is regular by the rule of `precision`, all weights are positive and all margins of the others too. And
    it is so regular that rounding cannot move a weight by more than the tolerance: the others need the twofold
    precision of the solver for single games. The residual is that of `certificate` for the only equilibrium.
    """
    count, N, _ = K.shape
    k = len(starts)
    group = np.repeat(np.arange(k), np.diff([*starts, N]))
    A = np.zeros((count, N + k, N + k))
    A[:, :N, :N] = K * (support[:, :, None] & support[:, None, :])
    A[:, np.arange(N), np.arange(N)] += ~support
    for g in range(k):
        A[:, N + g, :N] = support & (group == g)
        A[:, :N, N + g] = -A[:, N + g, :N]
    try:
        inverse = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        return np.zeros((count, N)), np.full(count, np.nan)
    goal = np.append(np.zeros(N), np.ones(k))
    x = inverse @ goal
    x = x - (inverse @ ((A @ x[..., None])[..., 0] - goal)[..., None])[..., 0]
    p, v = np.where(support, x[:, :N], 0.0), x[:, N:]
    margins = v[:, group] - (K @ p[..., None])[..., 0]
    norm = np.maximum(np.abs(inverse).sum(axis=1).max(axis=1), np.abs(inverse).sum(axis=2).max(axis=1))
    regular = (norm * np.sqrt(N) * ZERO < 1) & (norm * N * EPS < TOLERANCE)
    moved = ZERO * (np.abs(inverse) @ (np.abs(A) @ np.abs(x)[..., None]))[:, :N, 0]  # as `face` has it for one game
    moved = moved + EPS * p.max(axis=1, keepdims=True)  # smaller ones need products in twice the working precision
    proved = regular & np.where(support, p > moved, margins > ZERO).all(axis=1)
    p = np.maximum(p, 0.0)
    p = p / np.maximum(np.add.reduceat(p, starts, axis=1), LEAST)[:, group]
    missed = (A @ np.concatenate([p, v], axis=1)[..., None])[..., 0] - goal
    residual = norm * np.abs(missed).max(axis=1)
    return p, np.where(proved & (residual <= TOLERANCE), residual, np.nan)
