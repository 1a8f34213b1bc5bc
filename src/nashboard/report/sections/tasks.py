"""The board of tasks, and what tasks measure beyond an average."""

from dataclasses import replace

from nashboard import charts
from nashboard.report.blocks import Fold, Part, Section, Sentences, capital, draw, grid
from nashboard.report.findings import Findings

TOP = 30  # rows of a forest plot


def show_tasks(found: Findings) -> Section | None:
    """Return the board of tasks, if there are tasks."""
    evaluation = found.evaluation
    if evaluation.task_board is None:
        return None
    return Section(
        key="tasks",
        title="The tasks",
        opening="Which tasks separate the best agents, hardest first.",
        how=(
            "A task has weight if it is hard for the agents at the top in a way that no other task is. A task with "
            "weight 0 does not change who is first: other tasks say the same, or it is easy for the best.",
            "A task without weight is not a bad task. It may test something that all good agents can do.",
        ),
        parts=(
            draw("chart-tasks", charts.tasks, evaluation, top=TOP, narrow="first"),
            grid(
                replace(evaluation.tasks("all"), title=""),
                "all-tasks",
                caption="All tasks, hardest first",
                things="tasks",
                named=1,
                saved=True,
            ),
        ),
    )


def show_skills(found: Findings) -> Section | None:
    """Return what tasks measure beyond an average, if there are tasks."""
    if found.evaluation.task_board is None:
        return None
    chart = () if found.latent is None else (draw("chart-skills", charts.latent, found.latent),)
    return Section(
        key="skills",
        title="What the tasks measure",
        opening="Skills beyond an average, and tasks that separate nobody or point the wrong way.",
        how=(
            "Average ability of agents and average difficulty of tasks are removed first. What is left shows which "
            "agents do better than expected, and on which tasks.",
            "In the chart, agents and tasks in the same direction from the centre belong together: these agents do "
            "better on these tasks than their average suggests. Opposite directions mean worse.",
            "A task that points the wrong way is passed by agents that fail elsewhere; often the direction of its "
            "scores is wrong.",
        ),
        parts=(*chart, *task_quality(found)),
    )


def task_quality(found: Findings) -> tuple[Part, ...]:
    """Return what is known about the quality of each task."""
    if found.audit is None or not found.audit.tasks:
        return (Sentences(lines=(found.missing.get("audit", ""),), tone="missing"),)
    tested = found.audit.tasks[0]
    return (
        Sentences(lines=tuple(map(capital, tested.sentences()))),
        grid(
            tested.component_table(),
            "components",
            caption="The strongest skills beyond an average, with the agents and tasks at their ends",
            things="skills",
        ),
        Fold(
            title="Quality of each task",
            parts=(grid(tested.table(), "task-quality", caption="All tasks, failed ones first", things="tasks"),),
        ),
    )
