"""What the tasks test: skills beyond an average, and tasks that say nothing or the opposite of the others."""

from nashboard.report.findings import Findings
from nashboard.report.grid import grid
from nashboard.report.parts import Fold, Part, Section, Sentences
from nashboard.report.picture import Picture


def skills(found: Findings, pictures: tuple[Picture, ...]) -> Section:
    """Say what tasks test."""
    return Section(
        key="skills",
        title="What the tasks test",
        opening="Two tasks can test the same thing or quite different things; this is what the scores say they test.",
        how=(
            "First we take away what is expected: that good agents do well, and that hard tasks go badly. What is left "
            "shows who does better than expected, and where.",
            "In the picture, agents and tasks that lie in the same direction from the middle go together: these agents "
            "do better on these tasks than their average says. Opposite directions mean worse.",
            "A task that separates nobody tells nothing; one that points the wrong way is passed by agents that fail "
            "elsewhere, which often means that its scores are turned round.",
        ),
        parts=(*pictures, *quality(found)),
    )


def quality(found: Findings) -> tuple[Part, ...]:
    """Return what each task does."""
    if found.audit is None or not found.audit.tasks:
        return (Sentences(lines=(found.missing.get("audit", ""),), tone="missing"),)
    tested = found.audit.tasks[0]
    return (
        Sentences(lines=tuple(map(capital, tested.sentences()))),
        grid(
            tested.component_table(),
            "components",
            caption="The strongest skills beyond an average, and who and what is at their two ends",
            things="skills",
        ),
        Fold(
            title="What each task does",
            parts=(grid(tested.table(), "task-quality", caption="All tasks, those to look at first", things="tasks"),),
        ),
    )


def capital(line: str) -> str:
    """Return a sentence that starts with a capital letter; for sentences whose first word is ours, not a name."""
    return line[:1].upper() + line[1:]
