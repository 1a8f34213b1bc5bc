"""Redundancy: what is entered more than once, exactly or but for luck."""

from nashboard.evaluation.audit.redundancy import Redundancy
from nashboard.report.findings import Findings
from nashboard.report.grid import grid
from nashboard.report.parts import Fold, Heading, Part, Section, Sentences
from nashboard.report.picture import Picture
from nashboard.report.sections.skills import capital

BARE = "The data are payoffs, which have no games or tasks to compare."


def redundancy(found: Findings, pictures: dict[str, Picture]) -> Section:
    """Say what looks as if it were entered twice; ``pictures`` by kind, agents or tasks."""
    return Section(
        key="redundancy",
        title="What is entered twice",
        opening="When one thing is entered twice under two names, a plain average counts it twice. This is what looks "
        "alike here.",
        how=(
            "Exact copies agree in every result. Near-copies are those that cannot be told apart and are shown to "
            "differ by less than a stated margin; below each table stands the rule that was used.",
            "In the picture, dark blocks are groups that are alike.",
            "Copies do not move the board on this page. They do move plain averages and Elo ratings: the tables say "
            "what would change if every group counted once.",
        ),
        parts=tuple(part for one in found.audit.redundancy for part in of_kind(one, pictures))
        if found.audit is not None and found.audit.redundancy
        else without(found),
    )


def of_kind(one: Redundancy, pictures: dict[str, Picture]) -> tuple[Part, ...]:
    """Return what was found among agents, or among tasks."""
    merged = one.merge_table()
    fold: tuple[Part, ...] = (
        grid(
            one.table(), f"alike-{one.kind}", caption=f"The {one.kind} that are most alike", things="pairs",
        ),
    )  # fmt: skip
    if merged.rows:
        fold += (
            grid(
                merged, f"merged-{one.kind}", caption=f"What changes if copies among {one.kind} are merged",
                things="methods",
            ),
        )  # fmt: skip
    return (
        Heading(text=one.kind.capitalize()),
        Sentences(lines=tuple(map(capital, one.sentences()))),
        *((pictures[one.kind],) if one.kind in pictures else ()),
        Fold(title=f"The {one.kind} that are most alike, pair by pair", parts=fold),
    )


def without(found: Findings) -> tuple[Part, ...]:
    """Say what the result itself knows."""
    evaluation = found.evaluation
    groups = [*evaluation.clone_groups, *evaluation.task_clone_groups]
    lines = tuple(f"The same in all their data: {', '.join(group)}." for group in groups)
    return (
        Sentences(lines=lines or ("No two are the same in all their data.",)),
        Sentences(lines=(f"Near-copies were not looked for. {found.missing.get('audit', BARE)}",), tone="missing"),
    )
