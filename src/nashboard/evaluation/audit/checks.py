"""Can you trust this? A list of checks, each passed or not, each with one sentence."""

from dataclasses import dataclass

from nashboard._tables import Column, Table
from nashboard.evaluation.audit.data_quality import DataQuality
from nashboard.evaluation.audit.importance import Importance
from nashboard.evaluation.audit.redundancy import Redundancy
from nashboard.evaluation.audit.task_quality import TaskQuality
from nashboard.evaluation.audit.transitivity import WEIGHTED, Transitivity
from nashboard.evaluation.stress.movement import LABELS

CERTIFIED = 1e-9


@dataclass(frozen=True, kw_only=True)
class Check:
    """A question, whether the answer is good, and the answer in one sentence."""

    name: str
    passed: bool
    sentence: str


def data_checks(quality: DataQuality) -> tuple[Check, ...]:
    """Turn what is known of the data into checks."""
    return tuple(
        Check(name=finding.name, passed=finding.good, sentence=f"{finding.shown}: {finding.meaning}")
        for finding in quality.findings
    )


def redundancy_check(found: Redundancy) -> Check:
    """Ask whether anything is entered more than once; data that tell hardly anybody apart do not pass.

    Only what holds over all pairs together fails the check; what is suspected of one pair alone is told beside it.
    """
    telling = not found.tested or 2 * found.told_apart >= found.compared
    if found.groups:
        said = (*found.alike(1), *found.merging())
    else:
        said = found.sentences() if telling else (f"cannot be told: {found.not_told()}", *found.doubts())
    return Check(
        name=f"no {found.kind} entered twice",
        passed=not found.groups and telling,
        sentence="; ".join(said),
    )


def merging_check(found: Redundancy) -> Check:
    """Ask whether merging clones would change who is first."""
    changed = [LABELS[moved.method] for moved in found.merged if moved.winner_changed]
    said = (
        f"merging clones among {found.kind} changes the winner by {', '.join(changed)}"
        if changed
        else f"no winner depends on clones among {found.kind}"
    )
    return Check(name=f"winner without clones of {found.kind}", passed=not changed, sentence=said)


def importance_check(found: Importance) -> Check:
    """Ask whether first place hangs on a single entry."""
    return Check(name=f"no single {found.kind[:-1]} decides", passed=not found.decisive, sentence=found.sentences()[1])


def transitivity_check(found: Transitivity) -> Check:
    """Ask whether one rating per agent is enough; where weights hide the noise, nobody knows."""
    passed = not found.cyclic and found.untold != WEIGHTED
    return Check(name="ratings are enough", passed=passed, sentence=found.sentences()[0])


def task_checks(found: TaskQuality) -> tuple[Check, ...]:
    """Ask whether every task separates agents, and in the direction of the others."""
    idle = found.having("the same for everybody", "everybody passes", "everybody fails", "within noise")
    wrong, leaning = found.having("wrong way"), found.having("leans wrong")
    return (
        Check(
            name="every task separates agents",
            passed=not idle,
            sentence=f"{len(idle):,} of {len(found.findings):,} tasks separate nobody" + named(idle),
        ),
        Check(
            name="no task points the wrong way",
            passed=not wrong,
            sentence=f"{len(wrong):,} tasks correlate negatively with the rest more than by chance{named(wrong)}; "
            f"{len(leaning):,} more perhaps by chance",
        ),
    )


def equilibrium_checks(unique: bool, exploitability: float, residual: float) -> tuple[Check, ...]:
    """Ask whether the Nash averages are the only ones, and exact."""
    return (
        Check(
            name="one equilibrium",
            passed=unique,
            sentence="there is one equilibrium, up to how clones share their weight"
            if unique
            else "there are many equilibria; the one of maximum entropy is shown, and small changes may move it",
        ),
        Check(
            name="certified",
            passed=max(exploitability, residual) <= CERTIFIED,
            sentence=f"a deviation gains {exploitability:.1e} of the largest payoff, the residual is {residual:.1e}",
        ),
    )


def named(tasks: tuple[str, ...], most: int = 5) -> str:
    """Return a few names in brackets, or nothing."""
    more = ", ..." if len(tasks) > most else ""
    return f" ({', '.join(tasks[:most])}{more})" if tasks else ""


def trust_table(checks: tuple[Check, ...]) -> Table:
    """Return the list of checks."""
    passed = sum(check.passed for check in checks)
    return Table(
        title=f"can you trust this? {passed} of {len(checks)} checks passed",
        columns=(
            Column(name="check"),
            Column(name="passed", meaning="whether the answer is as it should be"),
            Column(name="because", meaning="the answer in one sentence", most=600),
        ),
        rows=tuple((check.name, check.passed, check.sentence) for check in checks),
    )
