"""The boards: agents, and tasks where there are some."""

from dataclasses import replace

from nashboard._tables import Column, Table
from nashboard.evaluation.evaluation import Evaluation
from nashboard.evaluation.stability import QUESTIONS
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
            "Agents that share a place are equally hard to beat, and their order within it says nothing.",
            *interval_words(evaluation),
            "Weight says how much an agent counts as an opponent of the others: agents with weight 0 are beaten by "
            "the mix at the top, and taking them away changes nothing."
            if evaluation.task_board is None
            else "Weight says how much an agent is needed at the top: agents with weight 0 do worse than the mix at "
            "the top on the tasks that matter, and taking them away changes nothing.",
            "Press a heading to sort; press it again to turn the order round. What each column means is listed below "
            "the table.",
        ),
        parts=(*pictures[:1], agents_grid(evaluation), *other_questions(evaluation), *pictures[1:], *made_of(found)),
    )


def interval_words(evaluation: Evaluation) -> tuple[str, ...]:
    """Say how intervals are to be read, where there are some."""
    asked = next(iter(evaluation.uncertainty.values()), None)
    if asked is None:
        return ("The data do not say how noisy they are, so there are no intervals: small differences may be luck.",)
    return (
        f"Low and high answer one question: {QUESTIONS[asked.question]} We asked it {asked.resamples:,} times with "
        f"resampled data, and {asked.level:.0%} of the answers lie between the two. Agents that share a group under "
        f"'apart' cannot be told apart by these data.",
        *of_matches(evaluation),
    )


def of_matches(evaluation: Evaluation) -> tuple[str, ...]:
    """Say what comes from elsewhere on a board of matches."""
    if evaluation.kind != "matches":
        return ()
    said = (
        "'In support', how likely an agent belongs to the top, comes from other draws than low, high, ranks and apart. "
        "Those resample every pair by itself, so that luck in a few pairs looks like a cycle and lifts many to the top "
        "now and then. For 'in support' pairs lend each other strength, and such luck is taken out; the two differ.",
    )
    errors = evaluation.settings.get("rating_errors")
    return (*said, f"{evaluation.board.rating_name} low and high: standard errors {errors}.") if errors else said


def agents_grid(evaluation: Evaluation) -> Part:
    """Return the table of agents."""
    return grid(
        evaluation.leaderboard(), "agents", caption="All agents, best first", things="agents", named=1, saved=True
    )


def other_questions(evaluation: Evaluation) -> tuple[Part, ...]:
    """Return the answers to the questions that the board does not show."""
    return tuple(
        Fold(
            title=f"The same board, asked otherwise: {QUESTIONS[question]}",
            parts=(
                grid(
                    evaluation.leaderboard(question),
                    f"agents-{question}",
                    caption=f"All agents, best first ({QUESTIONS[question]})",
                    things="agents",
                    named=1,
                ),
            ),
        )
        for question in list(evaluation.uncertainty)[1:]
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
