"""The audit: redundant and decisive entries, what tasks test, how far ratings explain results, and data quality.

A part of the audit is one entry in `PARTS`; its checks, tables and sentences then appear in the library, the command
and the report.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from nashboard._display import Findings
from nashboard._parallel import threads_for
from nashboard._tables import Column, Table, plain_data
from nashboard.data.scores import Scores
from nashboard.errors import InputError
from nashboard.evaluation.audit.checks import Check, DataQuality, Part, assess_data, equilibrium_checks, sort_checks
from nashboard.evaluation.audit.importance import Importance, measure_importance
from nashboard.evaluation.audit.redundancy import Redundancy, find_redundancy
from nashboard.evaluation.audit.task_quality import TaskQuality, assess_tasks
from nashboard.evaluation.audit.transitivity import Transitivity, measure_transitivity
from nashboard.evaluation.problem import Data, Options, Problem, prepare_data

ROWS = 12  # of a table in the text


@dataclass(frozen=True, kw_only=True)
class Registration:
    """A part: its kinds of data, and its computation from the problem, the level of error and the margin."""

    kinds: tuple[str, ...]
    compute: Callable[[Problem, float, float | None], Part]


EVERY = ("matches", "scores", "payoffs")
PARTS: dict[str, Registration] = {
    "data": Registration(kinds=EVERY, compute=lambda problem, error, margin: assess_data(problem)),
    "redundancy agents": Registration(
        kinds=("matches", "scores"), compute=lambda problem, *tests: find_redundancy(problem, "agents", *tests)
    ),
    "redundancy tasks": Registration(
        kinds=("scores",), compute=lambda problem, *tests: find_redundancy(problem, "tasks", *tests)
    ),
    "importance agents": Registration(
        kinds=EVERY, compute=lambda problem, *tests: measure_importance(problem, "agents")
    ),
    "importance tasks": Registration(
        kinds=("scores",), compute=lambda problem, *tests: measure_importance(problem, "tasks")
    ),
    "tasks": Registration(kinds=("scores",), compute=lambda problem, error, margin: assess_tasks(problem, error)),
    "transitivity": Registration(
        kinds=("matches", "scores"), compute=lambda problem, error, margin: measure_transitivity(problem, error)
    ),
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Audit(Findings):
    """All findings about an evaluation.

    Parameters
    ----------
    kind
        ``"matches"``, ``"scores"`` or ``"payoffs"``.
    parts
        The findings, by the names in `PARTS`; parts that do not apply to the data are absent.
    checks
        All checks with their results.
    level
        Confidence of every test.
    notes
        Notes on data that were left out to make the rest comparable.
    """

    kind: str
    size: str
    parts: Mapping[str, Part]
    checks: tuple[Check, ...]
    level: float
    notes: tuple[str, ...]

    schema = "nashboard/audit/1"

    @property
    def redundancy(self) -> tuple[Redundancy, ...]:
        """Copies among agents, and among tasks if there are tasks."""
        return tuple(part for part in self.parts.values() if isinstance(part, Redundancy))

    @property
    def importance(self) -> tuple[Importance, ...]:
        """The effects of leaving out single agents, and single tasks."""
        return tuple(part for part in self.parts.values() if isinstance(part, Importance))

    @property
    def tasks(self) -> tuple[TaskQuality, ...]:
        """What tasks test; empty for matches."""
        return tuple(part for part in self.parts.values() if isinstance(part, TaskQuality))

    @property
    def transitivity(self) -> Transitivity | None:
        """How far ratings explain the results; None for payoffs."""
        return next((part for part in self.parts.values() if isinstance(part, Transitivity)), None)

    @property
    def data(self) -> DataQuality:
        """What is missing, thin or one-sided."""
        return next(part for part in self.parts.values() if isinstance(part, DataQuality))

    @property
    def passed(self) -> int:
        """The number of checks that passed."""
        return sum(check.passed is True for check in self.checks)

    def summary(self) -> tuple[str, ...]:
        """Return the findings of all parts but the data, which the list of checks contains."""
        return tuple(line for name, part in self.parts.items() if name != "data" for line in part.sentences())

    lines = summary

    def trust_table(self) -> Table:
        """Return the list of checks: those that failed first, then those that cannot be decided."""
        results = [check.passed for check in self.checks]
        counts = f"{results.count(False)} failed, {results.count(None)} cannot be decided"
        return Table.of(
            sort_checks(self.checks),
            Column("check", cell="name"),
            Column("passed", "whether the claim holds; a dash: these data cannot decide it"),
            Column("because", most=600, cell="sentence"),
            title=f"{self.passed} of {len(results)} checks passed, {counts}",
        )

    def tables(self) -> dict[str, Table]:
        """Return all tables by name; those without rows are left out."""
        every = {"trust": self.trust_table()}
        for part in self.parts.values():
            every |= part.tables()
        return {name: table for name, table in every.items() if table.rows}

    def text_tables(self) -> tuple[Table, ...]:
        """Return the tables that are printed as text, long ones cut; the list of checks contains that of the data."""
        every = self.tables()
        return tuple(every[name].head(99 if name == "trust" else ROWS) for name in every if name != "data")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines; parts on agents and on tasks are grouped."""
        document: dict[str, Any] = {"kind": self.kind, "level": self.level, "redundancy": {}, "importance": {}}
        document |= {"tasks": None, "transitivity": None}
        for name, part in self.parts.items():
            what, _, side = name.partition(" ")
            document[what] = {**document[what], side: part.to_dict()} if side else part.to_dict()
        return {**document, "checks": plain_data(self.checks), "passed": self.passed, "notes": list(self.notes)}

    def __repr__(self) -> str:
        return f"Audit({self.size}, {self.passed} of {len(self.checks)} checks passed)"


def audit(data: Data | Problem, *, margin: float | None = None, **options: Unpack[Options]) -> Audit:
    """Check an evaluation: redundant and decisive entries, what tasks test, and what the data can show.

    `Evaluation.audit` does the same with the settings of an evaluation.

    Parameters
    ----------
    data
        Matches, scores of agents on tasks, or payoffs; or the problem of an evaluation.
    margin
        For scores: the smallest difference that matters, as a share of a task's range, by default 0.05; see
        `nashboard.evaluation.audit.redundancy`. Agents of matches are compared by the model.
    options
        As in `nashboard.evaluate`; ``level`` is the confidence of every test, over all pairs (or tasks) together.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.audit(nb.load_dataset("rock-paper-scissors"))
    >>> round(found.transitivity.share, 6)
    0.0
    >>> round(found.importance[0].effective_number, 1)
    3.0
    """
    problem = prepare_data(data, **options)
    level = problem.settings.level
    if margin is not None and not 0 < margin < 1:
        raise InputError(f"the margin is {margin!r}: it must be a number between 0 and 1")
    if margin is not None and problem.kind != "scores":
        raise InputError("a margin is for scores: agents of matches are compared by the model, leave it out")
    with threads_for(len(problem.agents)):
        parts = {
            name: part.compute(problem, 1 - level, margin) for name, part in PARTS.items() if problem.kind in part.kinds
        }
        nash, given = problem.full_equilibrium, problem.given
    return Audit(
        kind=problem.kind,
        size=f"{len(given.agents):,} agents" + (f" x {len(given.tasks):,} tasks" if isinstance(given, Scores) else ""),
        parts=parts,
        checks=(
            *(check for part in parts.values() for check in part.checks()),
            *equilibrium_checks(nash.unique, nash.exploitability / (nash.scale or 1.0), nash.residual),
        ),
        level=level,
        notes=problem.notes,
    )
