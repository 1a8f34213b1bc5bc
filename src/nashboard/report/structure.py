"""The structure of the data: tasks and skills, near-duplicates, and cycles."""

from dataclasses import replace

from nashboard import charts
from nashboard.algebra.hodge import Hodge
from nashboard.evaluation.audit.redundancy import Redundancy
from nashboard.report.blocks import Fold, Heading, Part, Section, Sentences, capitalise, draw, make_grid
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
            make_grid(
                replace(evaluation.tasks("all"), title=""),
                "all-tasks",
                caption="All tasks, hardest first",
                things="tasks",
                named=1,
                saved=True,
                telling=("rank", "task", "P(decides)", "gap", "gap low", "gap high"),
            ),
        ),
    )


def show_skills(found: Findings) -> Section | None:
    """Return the section on what tasks measure beyond an average, if there are tasks."""
    if found.evaluation.task_board is None:
        return None
    chart = () if found.latent is None else (draw("chart-skills", charts.latent, found.latent),)
    return Section(
        key="skills",
        title="What the tasks measure",
        opening="Skills beyond an average, and tasks that separate no agents or point the wrong way.",
        how=(
            "Average ability of agents and average difficulty of tasks are removed first. What is left shows which "
            "agents do better than expected, and on which tasks.",
            "In the chart, agents and tasks in the same direction from the centre belong together: these agents do "
            "better on these tasks than their average suggests. Opposite directions mean worse.",
            "A task that points the wrong way is passed by agents that fail elsewhere; often the direction of its "
            "scores is wrong.",
        ),
        parts=(*chart, *describe_task_quality(found)),
    )


def describe_task_quality(found: Findings) -> tuple[Part, ...]:
    """Return the findings on the quality of each task."""
    if found.audit is None or not found.audit.tasks:
        return (Sentences(lines=(found.missing.get("audit", ""),), tone="missing"),)
    tested = found.audit.tasks[0]
    return (
        Sentences(lines=tuple(map(capitalise, tested.sentences()))),
        make_grid(
            tested.component_table(),
            "components",
            caption="The strongest skills beyond an average, with the agents and tasks at their ends",
            things="skills",
        ),
        Fold(
            title="Quality of each task",
            parts=(make_grid(tested.table(), "task-quality", caption="All tasks, failed ones first", things="tasks"),),
        ),
    )


BARE = "The data are payoffs, which have no games or tasks to compare."
CELLS = 40  # rows of a map: with more of them names are not readable


def show_redundancy(found: Findings) -> Section:
    """Return copies and near-duplicates among agents and among tasks."""
    return Section(
        key="redundancy",
        title="Redundant entries",
        opening="Entries that are the same, or nearly so. A plain average counts each of them; this board does not.",
        how=(
            "Exact copies agree in every result. Near-duplicates are shown to differ by less than a stated margin; "
            "the rule is below each table.",
            "In the chart, dark blocks are groups of similar entries.",
            "Exact copies do not move this board. They do move plain averages and Elo ratings: the tables show what "
            "would change if every group counted once.",
        ),
        parts=tuple(part for one in found.audit.redundancy for part in describe_redundancy(one))
        if found.audit is not None and found.audit.redundancy
        else list_known_copies(found),
    )


def describe_redundancy(one: Redundancy) -> tuple[Part, ...]:
    """Return the redundancy among agents, or among tasks."""
    pairs = make_grid(one.table(), f"alike-{one.kind}", caption=f"The most similar {one.kind}", things="pairs")
    fold: tuple[Part, ...] = (pairs,)
    merged = one.merge_table()
    if merged.rows:
        caption = f"What changes if copies among {one.kind} are merged"
        fold += (make_grid(merged, f"merged-{one.kind}", caption=caption, things="methods"),)
    several = len(one.names) > 1
    return (
        Heading(text=one.kind.capitalize()),
        Sentences(lines=tuple(map(capitalise, one.sentences()))),
        *((draw(f"chart-alike-{one.kind}", charts.redundancy, one, top=CELLS),) if several else ()),
        Fold(title=f"The most similar {one.kind}, pair by pair", parts=fold),
    )


def list_known_copies(found: Findings) -> tuple[Part, ...]:
    """Return the exact copies that the result itself contains."""
    evaluation = found.evaluation
    groups = [*evaluation.clone_groups, *evaluation.task_clone_groups]
    lines = tuple(f"Exact copies: {', '.join(group)}." for group in groups)
    return (
        Sentences(lines=lines or ("There are no exact copies.",)),
        Sentences(lines=(f"Near-duplicates were not searched. {found.missing.get('audit', BARE)}",), tone="missing"),
    )


def show_cycles(found: Findings) -> Section:
    """Return the section on the share that ratings explain, and on the strongest cycles."""
    return Section(
        key="cycles",
        title="Cycles",
        opening="Whether one rating per agent explains the results, or whether A beats B, B beats C and C beats A.",
        how=(
            "Ratings such as Elo give each agent one number, and the higher number is expected to win. The share is "
            "how much of the results such numbers explain: 100% is a ladder, 0% is rock-paper-scissors.",
            *((PLANE_WORDS,) * (not found.ladder)),
            *(("Every task counts as a game between every two agents.",) * (found.evaluation.kind == "scores")),
        ),
        parts=(*describe_cycles(found), *draw_cycles(found)),
    )


PLANE_WORDS = (
    "In the chart of a plane, an agent beats those that follow it counterclockwise. Choose two agents: the area they "
    "span with the centre is what one gains against the other in this plane."
)


def describe_cycles(found: Findings) -> tuple[Part, ...]:
    """Return the sentences and the table about cycles."""
    ladder = None if found.audit is None else found.audit.transitivity
    if ladder is not None:
        caption = "The strongest cycles" + ", each within noise" * (not ladder.beyond_luck)
        table = make_grid(ladder.table(), "cycles-table", caption=caption, things="cycles")
        return (Sentences(lines=tuple(map(capitalise, ladder.sentences()))), *((table,) if table.rows else ()))
    if found.hodge is not None:
        return (Sentences(lines=describe_share(found.hodge)),)
    return (Sentences(lines=(found.missing["hodge"],), tone="missing"),)


def describe_share(flow: Hodge) -> tuple[str, ...]:
    """Return the share that ratings explain, for payoffs without games."""
    share = f"Ratings explain {flow.transitivity:.1%} of the payoffs."
    strongest = flow.cycles(3)
    if not strongest:
        return (share, "There is no cycle of three agents.")
    return (share, *(f"Cycle: {' > '.join((*one.agents, one.agents[0]))}." for one in strongest))


def draw_cycles(found: Findings) -> tuple[Part, ...]:
    """Return the charts of cycles, planes and payoffs; a ladder has no plane and no cyclic part beyond noise."""
    parts: list[Part] = []
    if found.hodge is not None and found.hodge.cycles(1):
        parts.append(draw("chart-cycles", charts.cycles, found.audit or found.hodge))
    if found.schur is not None and not found.ladder:
        parts.append(draw("chart-plane", charts.plane, found.schur))
    if found.payoffs is not None:
        order = found.evaluation.board
        parts.append(draw("chart-payoffs", charts.payoff_map, found.payoffs, order=order, top=CELLS))
        if not found.ladder:
            parts.append(draw("chart-cyclic", charts.payoff_map, found.payoffs, order=order, part="cyclic", top=CELLS))
    return tuple(parts)
