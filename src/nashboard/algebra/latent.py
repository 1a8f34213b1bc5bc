"""Latent skills and problems: what tasks test beyond an average (section 3.3 of the paper).

Symbols: ``S = mean + s 1' - 1 d' + U D V'`` (m agents, n tasks): ``s`` average skills, ``d`` average
difficulties; the columns of ``U`` are latent skills, those of ``V`` latent problems, ``D`` holds their
strengths.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackError, svds

from nashboard._display import Drawn
from nashboard._parallel import threads_for
from nashboard._tables import Column, Table, plain_data, title_of
from nashboard._types import Floats, read_only
from nashboard.algebra.flows import frobenius, largest, refuse_size, unit_scale
from nashboard.algebra.operators import ScoresLike, averages, named_scores
from nashboard.algebra.precision import LEAST, ROUNDING, SAME, STRONGER, TIE, TOLERANCE, USUAL
from nashboard.algebra.schur import SEED, checked_count, equal_groups, first_largest, singular_triples, triangular
from nashboard.errors import InputError

COMPONENTS = "components"
ALONE = 128  # agents and tasks together below which the library uses one thread by itself
FEW = 12  # components up to one in so many of the shorter side come from products with the table alone,
SHORT = 128  # where that side has at least so many: the whole decomposition of less is as quick
POWER_STEPS = 8


def joined(end: str) -> Callable[["Component"], str]:
    """Return what shows the names at one end of a component."""
    return lambda one: ", ".join(getattr(one, end))


@dataclass(frozen=True, kw_only=True)
class Component:
    """One latent skill and the problem that tests it: who and what is at its two ends.

    Agents at the high end do better on the tasks at the high end, and worse on those at the low end, than
    their average skill and the tasks' average difficulty say; agents at the low end the other way round.
    """

    number: int
    strength: float
    share: float
    agents_high: tuple[str, ...]
    agents_low: tuple[str, ...]
    tasks_high: tuple[str, ...]
    tasks_low: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Latent(Drawn):
    """Scores as average skill minus average difficulty, plus latent skills that meet latent problems.

    ``S[i, j] = mean + average_skills[i] - average_difficulties[j]
    + sum over t of strengths[t] skills[i, t] problems[j, t]``

    **Convention.** In each component the task furthest from zero (the first on a tie) is positive. Components
    of one strength can be mixed freely: there the task furthest out lies in the first of them alone, and so
    on.

    Parameters
    ----------
    agents, tasks
        Names; ``m`` agents and ``n`` tasks.
    mean
        Of all scores.
    average_skills, average_difficulties
        ``(m,)`` and ``(n,)``: the means over tasks, and minus the means over agents, around the mean.
    skills, problems
        ``(m, k)`` and ``(n, k)``, orthonormal columns.
    strengths
        ``(k,)`` descending; those of rounding size are exactly zero.
    rest
        ``(m, n)`` what averages leave over.
    scaling
        The units of the scores: ``"as given"`` for an array, else the name of the scaling.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    mean: float
    average_skills: Floats
    average_difficulties: Floats
    skills: Floats
    problems: Floats
    strengths: Floats
    rest: Floats
    scaling: str

    hidden = ("rest",)
    computed = ("averages_share", "shares", "residual")

    @cached_property
    def squares(self) -> tuple[float, float, float]:
        """What averages explain and what they leave of the squared norm around the mean, and the unit of the norm."""
        s, d = self.average_skills, self.average_difficulties
        sizes = largest(s), largest(d), largest(self.rest)
        unit = math.ldexp(1.0, math.frexp(max(sizes))[1])  # neither overflows nor vanishes
        explained = d.size * float(s / unit @ (s / unit)) + s.size * float(d / unit @ (d / unit))
        left = (frobenius(self.rest) / unit) ** 2
        rounding = ROUNDING * math.sqrt(s.size * d.size) * (abs(self.mean) + sum(sizes)) / unit
        return (explained, left, unit) if math.sqrt(explained + left) > rounding else (0.0, 0.0, unit)

    @property
    def norm(self) -> float:
        """Norm of the scores around their mean."""
        explained, left, unit = self.squares
        return math.sqrt(explained + left) * unit

    @property
    def averages_share(self) -> float:
        """Share of the squared norm around the mean that averages explain; 1 where all scores are the same."""
        explained, left, _ = self.squares
        return explained / (explained + left) if explained + left > 0 else 1.0

    @cached_property
    def shares(self) -> Floats:
        """Share of the squared norm around the mean that each component explains, ``(k,)``."""
        return read_only((self.strengths / (self.norm if self.norm > 0 else 1.0)) ** 2)

    @cached_property
    def residual(self) -> float:
        """The largest ``|R v - s u|`` and ``|R' u - s v|``, relative to the largest strength; ``R`` is ``rest``."""
        return triple_residual(self.rest, self.skills, self.strengths, self.problems)

    @cached_property
    def averages_are_exact(self) -> bool:
        """Whether average skill and difficulty explain every score, up to rounding (the curl is zero)."""
        return not (self.strengths > 0).any() and self.averages_share > 1 - SAME

    def component(self, t: int, most: int = 3) -> Component:
        """Return component ``t`` (from 0): the agents and tasks at its two ends, the furthest first."""
        if not 0 <= t < self.strengths.size:
            raise InputError(f"there is no component {t}: there are {self.strengths.size:,}, counted from 0")

        def end(names: tuple[str, ...], x: Floats, sign: int) -> tuple[str, ...]:
            order = np.argsort(-sign * x, kind="stable")[:most]
            return tuple(names[k] for k in order if sign * x[k] > SAME and self.strengths[t] > 0)

        u, v = self.skills[:, t], self.problems[:, t]
        return Component(
            number=t + 1,
            strength=float(self.strengths[t]),
            share=float(self.shares[t]),
            agents_high=end(self.agents, u, 1),
            agents_low=end(self.agents, u, -1),
            tasks_high=end(self.tasks, v, 1),
            tasks_low=end(self.tasks, v, -1),
        )

    def reconstruct(self, k: int | None = None) -> Floats:
        """Return the scores that averages and the ``k`` strongest components (all by default) explain."""
        m, n = len(self.agents), len(self.tasks)
        refuse_size((m, n), "the reconstructed table", "use skills, problems and strengths")
        k = checked_count(k, self.strengths.size, COMPONENTS)
        base = self.mean + (self.average_skills[:, None] - self.average_difficulties)
        return np.asarray(base + (self.skills[:, :k] * self.strengths[:k]) @ self.problems[:, :k].T)

    def table(self, most: int = 3) -> Table:
        """Return each component: its strength, its share, and who and what is at its ends."""
        return Table.of(
            [self.component(t, most) for t in range(self.strengths.size)],
            Column("component", cell="number"),
            Column("strength", "how far scores depart from averages along this component"),
            Column("share", "share of the squared norm around the mean"),
            Column("agents high", "better than average on tasks high, worse on tasks low", cell=joined("agents_high")),
            Column("agents low", "worse than average on tasks high, better on tasks low", cell=joined("agents_low")),
            Column("tasks high", "tasks that favour the agents high", cell=joined("tasks_high")),
            Column("tasks low", "tasks that favour the agents low", cell=joined("tasks_low")),
            title=title_of(self),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for machines."""
        return {**super().to_dict(), "components": plain_data([self.component(t) for t in range(self.strengths.size)])}

    def __repr__(self) -> str:
        size = f"{len(self.agents):,} agents x {len(self.tasks):,} tasks"
        explained = f"averages explain {self.averages_share:.1%}"
        return f"Latent({size}, {self.strengths.size:,} components, {explained}, scaling {self.scaling})"


def latent(S: ScoresLike, k: int | None = None) -> Latent:
    """Find what tasks test beyond an average: latent skills of agents, latent problems of tasks.

    The mean, the average skill of agents and the average difficulty of tasks are taken out; the singular
    value decomposition of the rest is, by proposition 2, the Schur decomposition of its antisymmetric form.

    Parameters
    ----------
    S
        Scores without missing cells: an array ``(m, n)``, agents by tasks, higher better, used as it is; or
        `Scores`, scaled per task to [0, 1] unless they were scaled already.
    k
        How many components, the strongest first; all ``min(m, n) - 1`` by default. Few components (one in twelve of
        a shorter side of 128 or more) come from products with the table alone, to a residual of 1e-11 of the largest
        strength; where that is not reached, from the whole decomposition.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.latent([[89, 93, 76], [85, 85, 85], [79, 74, 99]])
    >>> found.strengths.round(2)
    array([22.25,  0.22])
    >>> found.component(0).tasks_high, found.component(0).tasks_low
    (('task 3',), ('task 2', 'task 1'))
    """
    values, agents, tasks, scaling = named_scores(S)
    m, n = values.shape
    k = min(m, n) - 1 if k is None else checked_count(k, min(m, n), COMPONENTS)
    squares = float(np.vdot(values, values))
    usual = USUAL[0] ** 2 < squares < USUAL[1] ** 2  # others are scaled, so that squares neither overflow nor vanish
    scale = 1.0 if usual else unit_scale(values)
    parts = averages(values if usual else values / scale)
    if m + n <= ALONE:
        U, strengths, V = singular(parts.rest, k)
    else:
        with threads_for(min(m, n)):
            U, strengths, V = singular(parts.rest, k)
    rounding = ROUNDING * math.sqrt(m * n)  # in units of the largest score, which is at most the root of the squares
    if k and not (usual and strengths[-1] > rounding * math.sqrt(squares)):
        strengths[strengths <= rounding * (largest(values) / scale)] = 0.0
    mean, average_skills, difficulties, rest = parts
    if not usual:
        mean, average_skills, difficulties = mean * scale, average_skills * scale, difficulties * scale
        strengths, rest = strengths * scale, rest * scale
    return Latent(
        agents=agents,
        tasks=tasks,
        mean=mean,
        average_skills=read_only(average_skills),
        average_difficulties=read_only(difficulties),
        skills=read_only(U),
        problems=read_only(V),
        strengths=read_only(strengths),
        rest=read_only(rest),
        scaling=scaling,
    )


def singular(R: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    """Return the ``k`` strongest singular triples ``(U, strengths, V)`` in the one way that we write them."""
    m, n = R.shape
    U, strengths, V = leading_triples(R, k) if k and max(FEW * k, SHORT) <= min(m, n) else all_triples(R, k)
    turn = leading_signs(V)
    U *= turn
    V *= turn
    for group in equal_groups(strengths, ROUNDING * math.sqrt(m + n) * (float(strengths[0]) if k else 0.0)):
        z = triangular(np.vstack([V[:, group], U[:, group]]).astype(np.complex128), leaders=n).real + 0.0
        V[:, group], U[:, group] = z[:n], z[n:]
        strengths[group] = strengths[group].mean()
    return U, strengths, V


def leading_signs(V: Floats) -> Floats:
    """Return the sign of the entry of each column that is furthest from zero, of the first such up to rounding."""
    if not V.size:
        return np.ones(V.shape[1])
    beyond = V.max(axis=0) + V.min(axis=0)
    if np.abs(beyond).min() <= TIE:  # some column reaches as far down as up
        beyond = V[first_largest(np.abs(V)), np.arange(V.shape[1])]
    return np.asarray(np.copysign(1.0, beyond))


def all_triples(R: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    """Return the first ``k`` of all singular triples; the library is quicker on tables with more rows than columns."""
    tall = len(R) > R.shape[1]
    U, strengths, Vt = singular_triples(R if tall else R.T)
    U, V = U[:, :k], Vt[:k].T
    return (U, strengths[:k], V) if tall else (V, strengths[:k], U)


def leading_triples(R: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    """Return the ``k`` strongest singular triples from products alone, or from all where those do not settle.

    A strength that repeats can be missed: then what the triples leave over is stronger than the weakest of them, which
    a few steps of the power method show.
    """
    rng = np.random.default_rng(SEED)
    try:
        found: Any = svds(R, k=k, v0=rng.normal(size=min(R.shape)), solver="arpack")
    except (ArpackError, np.linalg.LinAlgError):
        return all_triples(R, k)
    order = np.argsort(-found[1], kind="stable")
    U, strengths, V = found[0][:, order], found[1][order], found[2][order].T
    if not triple_residual(R, U, strengths, V) <= TOLERANCE / 10:
        return all_triples(R, k)
    x: Any = rng.normal(size=R.shape[1])
    left = 0.0
    for _ in range(POWER_STEPS):
        x -= V @ (V.T @ x)
        x /= max(float(np.linalg.norm(x)), LEAST)
        y = R @ x
        left = float(np.linalg.norm(y))
        x = R.T @ y
    if left > strengths[-1] * (1 + STRONGER):
        return all_triples(R, k)
    return U, strengths, V


def triple_residual(R: Floats, U: Floats, strengths: Floats, V: Floats) -> float:
    """Return how far the singular triples are from being exact, relative to the largest strength."""
    if not strengths.size or strengths[0] == 0:
        return 0.0
    R, strengths = R / strengths[0], strengths / strengths[0]
    return max(
        float(np.linalg.norm(R @ V - U * strengths, axis=0).max()),
        float(np.linalg.norm(R.T @ U - V * strengths, axis=0).max()),
    )
