"""The report as typed data: everything a template shows, and nothing it has to work out."""

from dataclasses import dataclass, replace
from pathlib import PurePath

from nashboard.evaluation.evaluation import Evaluation
from nashboard.report.drawing import Drawings, drawings
from nashboard.report.findings import Findings, Saying, findings
from nashboard.report.parts import Fold, Part, Section, Sentences
from nashboard.report.sections.board import board, tasks
from nashboard.report.sections.citation import citation
from nashboard.report.sections.cycles import cycles
from nashboard.report.sections.method import method
from nashboard.report.sections.origin import origin
from nashboard.report.sections.redundancy import redundancy
from nashboard.report.sections.skills import skills
from nashboard.report.sections.stress import stress
from nashboard.report.sections.trust import trust
from nashboard.report.sections.verdict import verdict


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A report before it becomes a page.

    Parameters
    ----------
    title
        What the page is called.
    sections
        In the order of the page; the verdict comes first.
    version, data
        Of the program, and the hash of the data.
    """

    title: str
    sections: tuple[Section, ...]
    version: str
    data: str


def summary(evaluation: Evaluation, *, title: str | None, say: Saying) -> Summary:
    """Work out everything that a report shows."""
    found = findings(evaluation, say)
    drawn = drawings(found, say)
    return Summary(
        title=named(evaluation) if title is None else title,
        sections=tuple(with_reasons(section, drawn) for section in sections(found, drawn)),
        version=evaluation.version,
        data=str(evaluation.input["hash"]),
    )


def sections(found: Findings, drawn: Drawings) -> tuple[Section, ...]:
    """Return the sections in the order of the page."""
    of_tasks = found.evaluation.task_board is not None
    alike = {kind: of[0] for kind in ("agents", "tasks") if (of := drawn.of(f"redundancy-{kind}"))}
    return (
        verdict(found),
        with_folded(board(found, drawn.of("board")), "The largest moves, explained", drawn.of("made-of")),
        *((tasks(found, drawn.of("tasks")),) if of_tasks else ()),
        trust(found),
        *((skills(found, drawn.of("skills")),) if of_tasks else ()),
        redundancy(found, alike),
        cycles(found, drawn.of("cycles")),
        stress(found, drawn.of("stress")),
        method(found, drawn.of("method")),
        citation(found),
        origin(found),
    )


def with_folded(section: Section, title: str, parts: tuple[Part, ...]) -> Section:
    """Return a section with more that is shown when asked for."""
    return replace(section, parts=(*section.parts, Fold(title=title, parts=parts))) if parts else section


def with_reasons(section: Section, drawn: Drawings) -> Section:
    """Return a section that says which of its pictures could not be drawn."""
    lines = tuple(line for key, said in drawn.missing.items() if key.split("-")[0] == section.key for line in said)
    return replace(section, parts=(*section.parts, Sentences(lines=lines, tone="missing"))) if lines else section


def named(evaluation: Evaluation) -> str:
    """Return what to call the report: by the file or data set it is about."""
    source = str(evaluation.input["source"])
    if source in ("memory", "-", ""):
        return "Leaderboard"
    name = source.removeprefix("dataset:")
    return PurePath(name).name.split(".")[0] or name
