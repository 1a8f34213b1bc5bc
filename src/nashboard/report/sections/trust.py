"""What to trust: the list of checks, how firm the top is, and on whom it hangs."""

from nashboard.evaluation.audit.checks import Check, equilibrium_checks
from nashboard.evaluation.evaluation import Evaluation
from nashboard.report.findings import Findings
from nashboard.report.grid import grid
from nashboard.report.parts import Checks, Fold, Part, Section, Sentences


def trust(found: Findings) -> Section:
    """Return how far the board can be relied on."""
    return Section(
        key="trust",
        title="What to trust",
        opening="Before you rely on the list: what was checked, what was found, and what would change who is first.",
        how=(
            "Each check asks one question about the data or the result. One that is not passed does not make the "
            "board wrong; it says where to look before you rely on it.",
            "An agent or task is decisive when first place changes without it.",
        ),
        parts=(
            Checks(checks=checks(found)),
            *missing(found),
            *decisive(found),
        ),
    )


def checks(found: Findings) -> tuple[Check, ...]:
    """Return the checks of the audit, or those that the result itself allows."""
    return own_checks(found.evaluation) if found.audit is None else found.audit.checks


def own_checks(evaluation: Evaluation) -> tuple[Check, ...]:
    """Return what can be checked without the data."""
    exact = evaluation.certificates
    return tuple(
        Check(
            name=f"no {kind} entered twice",
            passed=not groups,
            sentence=f"{len(groups):,} groups of {kind} are the same in all their data"
            if groups
            else f"no two {kind} are the same in all their data",
        )
        for kind, groups, there in (
            ("agents", evaluation.clone_groups, True),
            ("tasks", evaluation.task_clone_groups, evaluation.task_board is not None),
        )
        if there
    ) + equilibrium_checks(exact["unique"], exact["exploitability"] / (exact["scale"] or 1.0), exact["residual"])


def missing(found: Findings) -> tuple[Part, ...]:
    """Say what else would be checked."""
    if found.audit is not None:
        lines = (*found.audit.notes, *found.notes["audit"])
        return (Sentences(lines=lines, tone="missing", title="About these checks"),) if lines else ()
    return (Sentences(lines=(f"The other checks are not here. {found.missing['audit']}",), tone="missing"),)


def decisive(found: Findings) -> tuple[Part, ...]:
    """Return on whom and on what first place hangs."""
    if found.audit is None:
        return ()
    return tuple(
        Fold(
            title=f"How much each of the {part.kind} matters",
            parts=(
                Sentences(lines=part.sentences()),
                grid(
                    part.table(),
                    f"important-{part.kind}",
                    caption=f"What changes without each of the {part.kind}",
                    things=part.kind,
                ),
            ),
        )
        for part in found.audit.importance
    )
