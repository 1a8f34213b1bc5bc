"""The boards: agents, and tasks where there are some."""

from dataclasses import replace

from nashboard._tables import Column, Table
from nashboard.evaluation.evaluation import Evaluation
from nashboard.report.findings import Findings
from nashboard.report.grid import grid
from nashboard.report.parts import Fold, Part, Section
from nashboard.report.picture import Picture


def board(found: Findings, pictures: tuple[Picture, ...]) -> Section:
    """Return the leaderboard."""
    evaluation = found.evaluation
    against = "on the tasks that tell the best agents apart" if evaluation.task_board else "against the strongest mix"
    return Section(
        key="board",
        title="The board",
        opening=f"Who comes out ahead, best first, by how well each agent does {against}.",
        how=(
            "The gap is the distance to the best: 0 at the top.",
            *interval_words(evaluation),
            "Weight says how much an agent counts as an opponent of the others: agents with weight 0 are beaten by "
            "the mix at the top, and taking them away changes nothing."
            if evaluation.task_board is None
            else "Weight says how much an agent is needed at the top: agents with weight 0 do worse than the mix at "
            "the top on the tasks that matter, and taking them away changes nothing.",
            "Press a heading to sort; press it again to turn the order round. What each column means is listed below "
            "the table.",
        ),
        parts=(*pictures[:1], agents_grid(evaluation), *pictures[1:], *made_of(found)),
    )


def interval_words(evaluation: Evaluation) -> tuple[str, ...]:
    """Return how intervals are to be read, where there are some."""
    board = evaluation.board
    if board.exact:
        return ("The data are taken as exact, so there are no intervals: small differences may be luck.",)
    return (
        f"Every number comes from {board.draws:,} draws of one posterior: what the truth may be, given the data. "
        f"Low and high contain {board.level:.0%} of the draws. P(top) is the share of the draws in which the agent is "
        f"at the top.",
    )


def agents_grid(evaluation: Evaluation) -> Part:
    """Return the table of agents."""
    return grid(
        evaluation.leaderboard("all"), "agents", caption="All agents, best first", things="agents", named=1, saved=True
    )


def made_of(found: Findings) -> tuple[Part, ...]:
    """Return what every agent's place is made of."""
    evaluation = found.evaluation
    what = "opponent" if evaluation.task_board is None else "task"
    rows = tuple(
        (evaluation.board.names[k], one.name, one.weight, one.result, one.term)
        for k in evaluation.board.order
        for one in evaluation.contributions[evaluation.board.names[k]]
    )
    table = Table(
        columns=(
            Column(name="agent", meaning="name of the agent"),
            Column(name=what, meaning=f"one of the {what}s that matter most for it"),
            Column(name="weight", meaning=f"how much that {what} counts"),
            Column(name="result", meaning="what the agent gains against it" if what == "opponent" else "score on it"),
            Column(name="term", meaning="what that adds to the agent's distance from the top"),
        ),
        rows=rows,
    )
    caption = f"The {what}s that move each agent most, up to three each"
    shown = grid(table, "made-of", caption=caption, things="lines")
    return (Fold(title="What each agent's place is made of", parts=(shown,)),) if rows else ()


def tasks(found: Findings, pictures: tuple[Picture, ...]) -> Section:
    """Return the board of tasks."""
    evaluation = found.evaluation
    assert evaluation.task_board is not None
    table = evaluation.tasks()
    return Section(
        key="tasks",
        title="The tasks",
        opening="Which tasks decide the order, hardest first, and which change nothing.",
        how=(
            "A task has weight when it is hard for the agents at the top in a way that no other task is. A task with "
            "weight 0 does not change who is first: everything it says is said by others, or it is easy for the best.",
            "That does not make a task bad. It may test something that all good agents can do.",
        ),
        parts=(
            *pictures,
            grid(
                replace(table, title=""),
                "all-tasks",
                caption="All tasks, hardest first",
                things="tasks",
                named=1,
                saved=True,
            ),
        ),
    )
