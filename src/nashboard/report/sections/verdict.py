"""The verdict: who is first, in plain words, and what to know before relying on it."""

from nashboard._tables import count
from nashboard.evaluation.verdict import counts_are_known
from nashboard.report.findings import Findings
from nashboard.report.parts import Fact, Facts, Section, Sentences


def verdict(found: Findings) -> Section:
    """Say what the evaluation says."""
    evaluation = found.evaluation
    return Section(
        key="verdict",
        title="The verdict",
        opening=opening(found),
        how=(
            "A plain average counts every task, or every opponent, the same: enter one twice and it counts twice. "
            "Here each counts by how much it matters. We look for the mix of agents that no other agent can beat, and "
            "for scores also for the mix of tasks that is hardest for the best; such a pair of mixes is what game "
            "theory calls a Nash equilibrium. An agent's number is how it does against that mix.",
            "Several agents often share first place. That is not a failure to decide: each of them is strong where "
            "another is weak, and the data give no reason to prefer one.",
            "Entering a copy of an agent or of a task changes nothing: the copies share the weight of the original.",
        ),
        parts=(
            Facts(facts=facts(found)),
            Sentences(lines=evaluation.verdict),
            *((Sentences(lines=evaluation.warnings, tone="warning", title=KNOW),) if evaluation.warnings else ()),
        ),
    )


KNOW = "Know before you rely on it"
UNCOUNTED = "their win rates against each other (of how many games is not known)"


def opening(found: Findings) -> str:
    """Say what this page is."""
    evaluation = found.evaluation
    n = len(evaluation.agents)
    agents = f"{n:,} agent{'s' * (n != 1)}"
    if evaluation.task_board is not None:
        m = len(evaluation.task_board.names)
        what = f"{agents} by their scores on {m:,} task{'s' * (m != 1)}"
    elif evaluation.kind == "matches":
        games = f"{count(evaluation.input['games'])} games between them"
        what = f"{agents} by {games if counts_are_known(evaluation.warnings) else UNCOUNTED}"
    else:
        what = f"{agents} by what they gain against each other"
    return f"This page ranks {what}, in a way that nobody can move by entering the same thing twice."


def facts(found: Findings) -> tuple[Fact, ...]:
    """Return the few numbers that say most."""
    evaluation, said = found.evaluation, []
    board = evaluation.board
    best = board.order[0]
    if not board.exact:
        said.append(Fact(value=f"{board.probability_top[best]:.2f}", name=f"P(top) of {board.names[best]}"))
    said.append(Fact(value=f"{len(board.support):,} of {len(board.names):,}", name="agents in first place"))
    if evaluation.task_board is not None:
        heavy = len(evaluation.task_board.support)
        said.append(Fact(value=f"{heavy:,} of {len(evaluation.task_board.names):,}", name="tasks decide"))
    if found.audit is not None:
        said.append(Fact(value=f"{found.audit.passed} of {len(found.audit.checks)}", name="checks passed"))
    if found.stress is not None:
        changed = any(row.moved.winner_changed for row in found.stress.exact if row.moved.method != "nash")
        nash = "exact copies do not move it" if found.stress.nash_unmoved else "exact copies move it"
        said.append(
            Fact(
                value="unmoved" if found.stress.nash_unmoved else "moved",
                name=nash + ", " * changed + "but move plain averages or Elo" * changed,
            )
        )
    return tuple(said)
