"""Large tables: solve a small part, ask which agents and tasks would change the answer, repeat.

The same idea and the same proof as in `oracle`, with two sides: at the end every agent outside is strictly
worse than the value against the tasks' inner mixture, and every task outside strictly easier for the agents'
inner mixture, so neither has weight in any equilibrium of the whole table.
"""

from dataclasses import dataclass

import numpy as np

from nashboard._threads import threads_for
from nashboard._types import Floats, Ints
from nashboard.equilibrium.interior_point import central_path
from nashboard.equilibrium.newton_systems import rectangular_game
from nashboard.equilibrium.oracle import DIRECT, OPENING, ROUGH
from nashboard.equilibrium.rectangular import RectangularSolution, rectangular_equilibrium
from nashboard.equilibrium.stopping import Progress, silent
from nashboard.equilibrium.tolerance import ZERO

WIDE = 4  # a table this many times as long as it is wide keeps its short side whole


@dataclass(frozen=True, kw_only=True, eq=False)
class TableSolution:
    """An equilibrium of some agents (``rows``) and tasks (``columns``) that is one of the whole table."""

    rows: Ints
    columns: Ints
    solution: RectangularSolution
    iterations: int
    complete: bool


def table_equilibrium(S: Floats, log_agents: Floats, log_tasks: Floats, progress: Progress = silent) -> TableSolution:
    """Return the maximum-entropy equilibrium of a table, ``S`` (m, n) with entries from about -1 to 1."""
    rows, columns, iterations = chosen(S, progress)
    while True:
        part = S if (len(rows), len(columns)) == S.shape else S[np.ix_(rows, columns)]
        found = rectangular_equilibrium(part, log_agents[rows], log_tasks[columns], progress)
        iterations += found.iterations
        if part.shape == S.shape:
            return TableSolution(rows=rows, columns=columns, solution=found, iterations=iterations, complete=True)
        agents, tasks, v = found.agents, found.tasks, found.tasks.value
        more_rows = outside(rows, against(S, tasks.inner, columns) - v, against(S, tasks.weights, columns) - v)
        more_columns = outside(columns, v - against(S.T, agents.inner, rows), v - against(S.T, agents.weights, rows))
        if not (more_rows.size or more_columns.size):
            return TableSolution(rows=rows, columns=columns, solution=found, iterations=iterations, complete=False)
        rows, columns = joined(rows, more_rows, len(S)), joined(columns, more_columns, S.shape[1])


def against(S: Floats, weights: Floats, columns: Ints) -> Floats:
    """Return ``S @ weights`` for a mixture of some columns."""
    if len(columns) == S.shape[1]:
        return np.asarray(S @ weights)
    return np.asarray(S[:, columns] @ weights)


def outside(members: Ints, inner: Floats, final: Floats) -> Ints:
    """Return players outside who tie with the inner mixture or gain against the final one."""
    joining = (inner >= -ZERO) | (final > ZERO / 64)
    joining[members] = False
    return np.flatnonzero(joining)


def joined(members: Ints, joining: Ints, size: int) -> Ints:
    """Return the members with those who join; everybody where that is more than a third."""
    if len(members) + len(joining) > size / 3:
        return np.arange(size)
    return np.append(members, joining)


def chosen(S: Floats, progress: Progress) -> tuple[Ints, Ints, int]:
    """Return agents and tasks that, roughly, nobody outside would change."""
    m, n = S.shape
    rows, columns = np.arange(m), np.arange(n)
    if max(m, n) <= DIRECT:
        return rows, columns, 0
    if not (m <= DIRECT or n >= WIDE * m):
        rows = np.sort(np.argsort(-S.mean(axis=1), kind="stable")[: max(OPENING, 2 * n * (m >= WIDE * n))])
    if not (n <= DIRECT or m >= WIDE * n):
        columns = np.sort(np.argsort(S.mean(axis=0), kind="stable")[: max(OPENING, 2 * m * (n >= WIDE * m))])
    square = len(rows) < m and len(columns) < n
    iterations, before = 0, 0
    while len(rows) < m or len(columns) < n:
        x, held, count = rough_equilibrium(S[np.ix_(rows, columns)])
        iterations += count
        if square and before and held > max(1.25 * before, (len(rows) + len(columns)) / 3):
            return np.arange(m), np.arange(n), iterations  # no end in sight: many matter
        before = held
        p, q = x[: len(rows)], x[len(rows) :]
        skills, scores = against(S, q, columns), against(S.T, p, rows)
        value = float(p @ skills[rows])
        more_rows = best(skills - value, rows)
        more_columns = best(value - scores, columns)
        progress(iterations, max(0.0, float(skills.max() - scores.min())))
        if not (more_rows.size or more_columns.size):
            break
        rows, columns = joined(rows, more_rows, m), joined(columns, more_columns, n)
    return rows, columns, iterations


def best(gain: Floats, members: Ints) -> Ints:
    """Return the players outside who gain most, about half as many as there are inside."""
    gain[members] = -np.inf
    better = np.flatnonzero(gain > 10 * ROUGH)
    return better[np.argsort(-gain[better], kind="stable")[: max(16, len(members) // 2)]]


def rough_equilibrium(S: Floats) -> tuple[Floats, int, int]:
    """Return weights near the middle of the near-equilibria, how many have weight, and systems solved."""
    m, n = S.shape
    if m > n:
        turned, held, count = rough_equilibrium(np.ascontiguousarray(-S.T))
        return np.append(turned[n:], turned[:n]), held, count
    count = 0
    with threads_for(int((m * m * n) ** (1 / 3))):
        for x in central_path(rectangular_game(S)):
            count += 1
            if float(x.mu) * (m + n) < ROUGH:
                break
    p = x.p / np.repeat(np.add.reduceat(x.p, (0, m)), (m, n))
    return p, int((x.p > x.s).sum()), count
