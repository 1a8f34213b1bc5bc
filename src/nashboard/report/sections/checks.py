"""The checks, and the entries that decide first place."""

from nashboard.evaluation.audit.checks import Check, equilibrium_checks
from nashboard.evaluation.evaluation import Evaluation
from nashboard.report.blocks import Checks, Fold, Part, Section, Sentences, grid
from nashboard.report.findings import Findings


def show_checks(found: Findings) -> Section:
    """Return what was checked, and how far the board can be relied on."""
    return Section(
        key="trust",
        title="Checks",
        opening="What was checked about data and result, and which entries decide first place.",
        how=(
            "A check that is not passed does not make the board wrong; it says where to look before you rely on it.",
            "An agent or task is decisive if first place changes without it.",
        ),
        parts=(Checks(checks=own_or_audited(found)), *missing_checks(found), *decisive_entries(found)),
    )


def own_or_audited(found: Findings) -> tuple[Check, ...]:
    """Return the checks of the audit, or those that the result itself allows."""
    return own_checks(found.evaluation) if found.audit is None else found.audit.checks


def own_checks(evaluation: Evaluation) -> tuple[Check, ...]:
    """Return what can be checked without the data."""
    exact = evaluation.certificates
    kinds = [("agents", evaluation.clone_groups)]
    if evaluation.task_board is not None:
        kinds.append(("tasks", evaluation.task_clone_groups))
    return tuple(
        Check(
            name=f"{kind} are entered once",
            passed=not groups,
            sentence=f"{len(groups):,} groups of {kind} have the same data"
            if groups
            else f"no two {kind} have the same data",
        )
        for kind, groups in kinds
    ) + equilibrium_checks(exact["unique"], exact["exploitability"] / (exact["scale"] or 1.0), exact["residual"])


def missing_checks(found: Findings) -> tuple[Part, ...]:
    """Return notes about the checks, or why most are missing."""
    if found.audit is None:
        return (Sentences(lines=(f"The other checks are missing. {found.missing['audit']}",), tone="missing"),)
    lines = (*found.audit.notes, *found.notes["audit"])
    return (Sentences(lines=lines, tone="missing", title="About these checks"),) if lines else ()


def decisive_entries(found: Findings) -> tuple[Part, ...]:
    """Return what changes without each of the entries."""
    if found.audit is None:
        return ()
    return tuple(
        Fold(
            title=f"Importance of each of the {part.kind}",
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
