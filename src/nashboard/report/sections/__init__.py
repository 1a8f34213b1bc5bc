"""The sections of a report, in the order of the page; each makes its own charts.

A section is a function from `Findings` to a `Section`, or to None where it does not apply. A new one is a function
here and an entry in the list.
"""

from collections.abc import Callable

from nashboard.report.blocks import Section
from nashboard.report.findings import Findings
from nashboard.report.sections.about import cite, describe_data, describe_method
from nashboard.report.sections.answer import show_answer, show_board, show_segments
from nashboard.report.sections.structure import show_cycles, show_redundancy, show_skills, show_tasks
from nashboard.report.sections.trust import show_checks, show_copies, show_methods

SECTIONS: tuple[Callable[[Findings], Section | None], ...] = (
    show_answer,
    show_board,
    show_tasks,
    show_checks,
    show_segments,
    show_redundancy,
    show_skills,
    show_cycles,
    show_copies,
    show_methods,
    describe_method,
    describe_data,
    cite,
)
