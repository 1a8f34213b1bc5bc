"""Scores: how well each agent did on each task, and putting tasks in comparable units.

Symbols: ``S`` scores (m agents, n tasks), NaN where missing; ``E`` their standard errors.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from nashboard._tables import Column, Table, Tabular, title_of
from nashboard._text import either, listed, nearest, number_of
from nashboard._types import Bools, Floats, Ints, floats, frozen_copy, spacing_of
from nashboard.data.origin import MEMORY, Origin
from nashboard.data.validation import checked_names, identical_rows, positions, refuse_cells
from nashboard.errors import InputError, check_choice

if TYPE_CHECKING:
    import polars as pl

Scaling = Literal["range", "rank", "zscore", "none", "reference"]
SCALINGS: tuple[str, ...] = get_args(Scaling)


def find_units(
    S: Floats, tasks: Sequence[str], method: Scaling, reference: Sequence[int] | None
) -> tuple[Floats | float, Floats | float]:
    """Return the zero and the unit of every task by ``method``, for scores of which higher ones are better."""
    if method == "none":
        return 0.0, 1.0
    if method == "range":
        zero, unit = np.nanmin(S, axis=0), np.ptp(np.where(np.isnan(S), np.nanmin(S, axis=0), S), axis=0)
        trouble = "every agent has the same score, so there is no range to divide by"
    elif method == "zscore":
        zero, unit = np.nanmean(S, axis=0), np.nanstd(S, axis=0)
        unit = np.where(np.nanmin(S, axis=0) == np.nanmax(S, axis=0), 0.0, unit)  # not rounding noise
        trouble = "every agent has the same score, so there is no standard deviation to divide by"
    else:
        assert reference is not None
        zero, unit = S[reference[0]], S[reference[1]] - S[reference[0]]
        trouble = "the two reference agents have the same score, or one has none"
    flat = ~(np.abs(unit) > 0)
    if flat.any():
        names = [task for task, is_flat in zip(tasks, flat, strict=True) if is_flat]
        raise InputError(
            f"cannot scale {listed(names)} by {method}: {trouble}; "
            f"leave such tasks out (without_constant_tasks() does), or use scale('rank') or scale('none')"
        )
    return zero, unit


def beaten_share(S: Floats) -> Floats:
    """Return the share of the other agents that each agent beats on each task, a tie counting half."""
    from scipy.stats import rankdata

    ranks = rankdata(S, method="average", axis=0, nan_policy="omit")
    others = np.maximum((~np.isnan(S)).sum(axis=0) - 1, 1)
    share = (ranks - 1) / others
    alone = (~np.isnan(S)).sum(axis=0) == 1
    return np.where(np.isnan(S), np.nan, np.where(alone, 0.5, share))


Filling = Literal["mean", "median", "worst"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Scores(Tabular):
    """A table of scores, agents by tasks, NaN where a score is missing.

    Parameters
    ----------
    agents, tasks
        Names, unique; ``m`` agents and ``n`` tasks.
    values
        ``(m, n)`` scores; the mean where an agent ran a task several times.
    lower_is_better
        ``(n,)`` whether a small score is a good one.
    stderr
        ``(m, n)`` standard errors, NaN where unknown.
    n
        ``(m, n)`` how many items (questions, episodes) a score was measured on, NaN where unknown.
    runs
        ``(m, n)`` how many runs a score is the mean of; 0 where it is missing.
    scaling
        How the values were scaled; ``"raw"`` as read.
    filled
        ``(m, n)`` where a score was not measured but filled in by `fill`.
    groups
        ``(n,)`` for a table of items (questions, samples): the task that each column belongs to; None for tasks.
    single_runs
        ``(r, m, n)`` the scores of single runs, in any order, NaN after the last run of a cell; None where scores are
        no means of runs, or only their means are known.
    spacing
        What scores in single precision are known to, as a share of the largest; 0 for doubles and integers.

    Examples
    --------
    >>> import nashboard as nb
    >>> scores = nb.Scores.from_array([[89, 93, 76], [85, 85, 85], [79, 74, 99]], agents=["A", "B", "C"])
    >>> scores
    Scores(3 agents x 3 tasks, raw)
    >>> scores.scale("range").values.round(2)
    array([[1.  , 1.  , 0.  ],
           [0.6 , 0.58, 0.39],
           [0.  , 0.  , 1.  ]])
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    values: Floats
    lower_is_better: Bools
    stderr: Floats
    n: Floats
    runs: Ints
    scaling: str = "raw"
    origin: Origin = MEMORY
    filled: Bools = field(default_factory=lambda: np.zeros((1, 1), dtype=np.bool_))
    groups: tuple[str, ...] | None = None
    single_runs: Floats | None = None
    spacing: float = 0.0

    def __post_init__(self) -> None:
        values = floats(self.values, "the scores", ndim=2)
        object.__setattr__(self, "spacing", max(self.spacing, narrow_spacing(self.values)))
        if 0 in values.shape:
            raise InputError(f"scores need at least one agent and one task, not {values.shape[0]} x {values.shape[1]}")
        m, n = values.shape
        agents = checked_names(self.agents, size=m, kind="agent")
        tasks = checked_names(self.tasks, size=n, kind="task")
        refuse_cells(np.isinf(values), values, agents, "a score must be finite", columns=tasks)
        missing = np.isnan(values)
        for kind, names, axis in (("agent", agents, 1), ("task", tasks, 0)):
            empty = np.flatnonzero(missing.all(axis=axis))
            if empty.size:
                raise InputError(
                    f"{kind} {names[empty[0]]!r} has no score at all"
                    + (f", and {empty.size - 1:,} more like it" if empty.size > 1 else "")
                    + ": leave it out of the table"
                )
        stderr = floats(self.stderr, "the standard errors", ndim=2)
        items = floats(self.n, "the numbers of items", ndim=2)
        for what, array in (("a standard error", stderr), ("a number of items", items)):
            if array.shape != values.shape:
                raise InputError(f"there must be {what} for each score: {values.shape}, not {array.shape}")
            bad = ~(np.isnan(array) | (np.isfinite(array) & (array >= 0)))
            refuse_cells(bad, array, agents, f"{what} must be finite and not negative", columns=tasks)
        if self.groups is not None and len(self.groups) != n:
            raise InputError(f"there are {len(self.groups):,} groups for {n:,} tasks: give one each")
        direction = np.broadcast_to(np.asarray(self.lower_is_better, dtype=np.bool_), (n,))
        runs = np.where(missing, 0, np.maximum(np.asarray(self.runs, dtype=np.intp), 1))
        for name, value in (
            ("agents", agents),
            ("tasks", tasks),
            ("values", frozen_copy(values)),
            ("lower_is_better", frozen_copy(direction, np.bool_)),
            ("stderr", frozen_copy(np.where(missing, np.nan, stderr))),
            ("n", frozen_copy(np.where(missing, np.nan, items))),
            ("runs", frozen_copy(runs, np.intp)),
            ("groups", None if self.groups is None else tuple(map(str, self.groups))),
            ("filled", frozen_copy(np.broadcast_to(self.filled, values.shape), np.bool_)),
            ("single_runs", None if self.single_runs is None else frozen_copy(self.single_runs)),
        ):
            object.__setattr__(self, name, value)

    @staticmethod
    def from_array(
        S: ArrayLike,
        agents: Iterable[object] | None = None,
        tasks: Iterable[object] | None = None,
        *,
        lower_is_better: ArrayLike = False,
        stderr: ArrayLike | None = None,
        n: ArrayLike | None = None,
        origin: Origin = MEMORY,
    ) -> "Scores":
        """Make scores of an ``(m, n)`` array, agents by tasks; NaN is a missing cell."""
        values = floats(S, "the scores", ndim=2)
        unknown = np.full(values.shape, np.nan)
        return Scores(
            agents=checked_names(agents, size=len(values), kind="agent"),
            tasks=checked_names(tasks, size=values.shape[1], kind="task"),
            values=values,
            spacing=narrow_spacing(S),
            lower_is_better=np.asarray(lower_is_better, dtype=np.bool_),
            stderr=unknown if stderr is None else floats(stderr, "the standard errors", ndim=2),
            n=unknown if n is None else floats(n, "the numbers of items", ndim=2),
            runs=np.ones(values.shape, dtype=np.intp),
            origin=origin,
        )

    @staticmethod
    def from_frame(frame: Any, **options: Any) -> "Scores":
        """Read scores from a data frame, wide or long; options as `read_scores`."""
        from nashboard.data.read import read_scores

        return read_scores(frame, **options)

    @cached_property
    def spread(self) -> Floats:
        """Standard deviation over the runs of a cell, ``(m, n)``; NaN where there was one run."""
        return frozen_copy(np.where(self.runs > 1, self.stderr * np.sqrt(self.runs), np.nan))

    @cached_property
    def missing(self) -> Bools:
        """Where a score is missing, ``(m, n)``."""
        return frozen_copy(np.isnan(self.values), np.bool_)

    @cached_property
    def constant_tasks(self) -> tuple[str, ...]:
        """Tasks on which every agent has the same score, so that they separate no agents."""
        low, high = np.nanmin(self.values, axis=0), np.nanmax(self.values, axis=0)
        return tuple(self.tasks[k] for k in np.flatnonzero(low == high))

    @cached_property
    def identical_agents(self) -> tuple[tuple[str, ...], ...]:
        """Groups of agents with the same score on every task."""
        return tuple(tuple(self.agents[k] for k in group) for group in identical_rows(self.values))

    @cached_property
    def identical_tasks(self) -> tuple[tuple[str, ...], ...]:
        """Groups of tasks on which every agent has the same score."""
        return tuple(tuple(self.tasks[k] for k in group) for group in identical_rows(self.values.T))

    def require_complete(self, hint: str = "use drop('agents'), drop('tasks') or fill('mean')") -> None:
        """Raise an error that counts the missing cells and names the worst agents and tasks."""
        if self.missing.any():
            raise InputError(
                f"{self.missing.sum():,} of {self.missing.size:,} scores are missing "
                f"(agents with most: {worst(self.missing.sum(axis=1), self.agents)}; "
                f"tasks with most: {worst(self.missing.sum(axis=0), self.tasks)})",
                hint=hint,
            )

    def scale(self, method: Scaling = "range", *, reference: tuple[str, str] | None = None) -> "Scores":
        """Return scores in comparable units, higher always better.

        Parameters
        ----------
        method
            ``"range"`` subtracts a task's minimum and divides by its range (the paper's choice);
            ``"rank"`` is the share of the other agents that an agent beats, ties half; ``"zscore"`` subtracts the
            mean and divides by the standard deviation; ``"reference"`` puts two named agents at 0 and 1;
            ``"none"`` only turns the sign of tasks where lower is better.
        reference
            The agents at 0 and at 1, for ``"reference"``: ``("random", "human")``.
        """
        check_choice(method, SCALINGS, "scaling")
        if (method == "reference") != (reference is not None):
            raise InputError("the scaling 'reference' and only it needs reference=(agent at 0, agent at 1)")
        at = None if reference is None else positions(reference, self.agents, kind="agent")
        sign = np.where(self.lower_is_better, -1.0, 1.0)
        S, single = self.values * sign + 0.0, None
        if method == "rank":
            values, stderr = beaten_share(S), np.full_like(S, np.nan)  # ranks have no standard error
        else:
            zero, unit = find_units(S, self.tasks, method, at)
            values, stderr = (S - zero) / unit, self.stderr / np.abs(unit)
            if self.single_runs is not None:
                single = (self.single_runs * sign - zero) / unit
        label = method if reference is None else f"reference ({reference[0]} = 0, {reference[1]} = 1)"
        return replace(
            self, values=values, stderr=stderr, lower_is_better=np.zeros(len(self.tasks), np.bool_), scaling=label,
            single_runs=single, spacing=0.0 if method == "rank" else self.spacing * stretch(self.values, values),
        )  # fmt: skip

    def select(self, agents: Iterable[str] | None = None, tasks: Iterable[str] | None = None) -> "Scores":
        """Return the scores of the named agents on the named tasks, in the order given."""
        rows = list(range(len(self.agents))) if agents is None else positions(agents, self.agents, kind="agent")
        columns = list(range(len(self.tasks))) if tasks is None else positions(tasks, self.tasks, kind="task")
        cut = np.ix_(rows, columns)
        return replace(
            self,
            agents=tuple(self.agents[k] for k in rows),
            tasks=tuple(self.tasks[k] for k in columns),
            values=self.values[cut],
            lower_is_better=self.lower_is_better[columns],
            stderr=self.stderr[cut],
            n=self.n[cut],
            runs=self.runs[cut],
            filled=self.filled[cut],
            groups=None if self.groups is None else tuple(self.groups[k] for k in columns),
            single_runs=None if self.single_runs is None else self.single_runs[:, cut[0], cut[1]],
        )

    def drop(self, what: Literal["agents", "tasks"]) -> "Scores":
        """Return the scores without the agents (or the tasks) that have missing cells."""
        if what not in ("agents", "tasks"):
            raise InputError(f"drop takes 'agents' or 'tasks', not {what!r}")
        names = self.agents if what == "agents" else self.tasks
        holes = [bool(line.any()) for line in (self.missing if what == "agents" else self.missing.T)]
        kept = [name for name, hole in zip(names, holes, strict=True) if not hole]
        if not kept:
            raise InputError(f"every one of the {len(names):,} {what} has a missing score: nothing would be left")
        gone = [name for name, hole in zip(names, holes, strict=True) if hole]
        note = f"{len(gone):,} {what if len(gone) > 1 else what[:-1]} with missing scores dropped: {listed(gone)}"
        left = self.select(agents=kept) if what == "agents" else self.select(tasks=kept)
        return replace(left, origin=self.origin.noting(note)) if gone else self

    def without_constant_tasks(self) -> "Scores":
        """Return the scores without tasks on which everybody has the same score: they have no unit to scale by."""
        gone = set(self.constant_tasks)
        if not gone:
            return self
        kept = [task for task in self.tasks if task not in gone]
        if not kept:
            raise InputError("every task has the same score for every agent: there is nothing to compare")
        note = f"tasks with one score for everybody have no range and are left out: {listed(sorted(gone))}"
        return replace(self.select(tasks=kept), origin=self.origin.noting(note))

    def fill(self, how: Filling | float) -> "Scores":
        """Return the scores with every hole filled: by the task's mean, median or worst score, or a number."""
        ways = {
            "mean": np.nanmean(self.values, axis=0),
            "median": np.nanmedian(self.values, axis=0),
            "worst": np.where(self.lower_is_better, np.nanmax(self.values, axis=0), np.nanmin(self.values, axis=0)),
        }
        if isinstance(how, str) and how not in ways:
            raise InputError(f"cannot fill with {how!r}{nearest(how, ways)}: use {either(ways)}, or a number")
        if not isinstance(how, str) and not np.isfinite(how):
            raise InputError(f"cannot fill with {how}: use a finite number, or {either(ways)}")
        filler = ways[how] if isinstance(how, str) else np.full(len(self.tasks), float(how))
        by = f"the task's {how}" if isinstance(how, str) else f"{how:g}"
        holes = int(self.missing.sum())
        note = f"{holes:,} missing {'score' if holes == 1 else 'scores'} filled with {by}"
        if not self.missing.any():
            return self
        values = np.where(self.missing, filler, self.values)
        return replace(self, values=values, filled=self.filled | self.missing, origin=self.origin.noting(note))

    def to_frame(self) -> "pl.DataFrame":
        """Return one row per score: agent, task, score, stderr, n, runs, lower_is_better."""
        import polars as pl

        i, j = np.nonzero(~self.missing)
        columns = {name: getattr(self, name)[i, j] for name in ("stderr", "n")}
        return pl.DataFrame(
            {
                "agent": pl.Series([self.agents[k] for k in i], dtype=pl.String),
                "task": pl.Series([self.tasks[k] for k in j], dtype=pl.String),
                "score": self.values[i, j],
                **{name: pl.Series(column).fill_nan(None) for name, column in columns.items()},
                "runs": self.runs[i, j],
                "lower_is_better": self.lower_is_better[j],
            }
        )

    def write(self, path: str | Path) -> None:
        """Write one row per score to a csv, tsv, parquet or json lines file that `read_scores` reads back."""
        from nashboard._files import write_frame

        write_frame(self.to_frame(), path)

    def table(self) -> Table:
        """Return what each task holds."""
        values, lower = self.values, self.lower_is_better
        best = np.where(lower, np.nanargmin(values, axis=0), np.nanargmax(values, axis=0))
        return Table.of(
            range(len(self.tasks)),
            Column("task", cell=self.tasks),
            Column("agents", "agents with a score on this task", cell=(~np.isnan(values)).sum(axis=0)),
            Column("lowest", "smallest score", cell=np.nanmin(values, axis=0)),
            Column("mean", "mean over agents", cell=np.nanmean(values, axis=0)),
            Column("highest", "largest score", cell=np.nanmax(values, axis=0)),
            Column("best agent", "agent with the best score", cell=lambda k: self.agents[best[k]]),
            Column("better", "whether a high or a low score is good", cell=lambda k: "low" if lower[k] else "high"),
            title=title_of(self),
        )

    def __repr__(self) -> str:
        holes = f", {self.missing.sum():,} missing" if self.missing.any() else ""
        size = f"{number_of(len(self.agents), 'agents')} x {number_of(len(self.tasks), 'tasks')}"
        return f"Scores({size}{holes}, {self.scaling})"


def narrow_spacing(values: Any) -> float:
    """Return the spacing of numbers in a type narrower than doubles, such as single precision; 0 for all others."""
    spacing = spacing_of(np.asanyarray(values).dtype)
    return spacing if spacing > np.finfo(np.float64).eps else 0.0


def stretch(before: Floats, after: Floats) -> float:
    """Return by how much rounding grew as a share of the largest number, on the task where it grew most.

    A task of scores from 90 to 100 that now go from 0 to 1 has ten times the rounding that it had.
    """
    largest, unit = np.nanmax(np.abs(before), axis=0), np.ptp(np.nan_to_num(before - np.nanmin(before, axis=0)), axis=0)
    span = np.ptp(np.nan_to_num(after - np.nanmin(after, axis=0)), axis=0)
    moved = largest[unit > 0] * span[unit > 0] / unit[unit > 0]
    top = float(np.nanmax(np.abs(after)))
    return float(moved.max(initial=0.0)) / top if top else 1.0


def worst(holes: Any, names: tuple[str, ...]) -> str:
    """Return the three names with most missing cells, with the counts."""
    order = np.argsort(-holes, kind="stable")[:3]
    return ", ".join(f"{names[k]!r} {holes[k]:,}" for k in order if holes[k])
