"""Everything that a report shows, computed once; a part that cannot be computed has a reason instead.

The parts whose cost grows with the square of the entries are reduced for large data, then left out, and the page
names the command that computes them in full.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from nashboard.algebra.hodge import Hodge, hodge
from nashboard.algebra.latent import Latent, latent
from nashboard.algebra.schur import Schur, schur
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs, payoffs
from nashboard.data.scores import Scores
from nashboard.errors import NashboardError
from nashboard.evaluation.audit.audit import Audit
from nashboard.evaluation.evaluation import Evaluation
from nashboard.evaluation.problem import LOG_ODDS, Problem, task_games
from nashboard.evaluation.stress.stress import Stress
from nashboard.ranking.trial import Trials

T = TypeVar("T")
# the largest number of entries for each part of a report; beyond it the part is left to its command
FULL = 30  # noisy copies, each of which needs another evaluation
MOST_ATTACKED = 120  # the search for the fewest copies that put an agent first
MOST_AUDITED = 250  # the audit, which solves a game without each entry
MOST_STRESSED = 1000  # the stress test
MOST_DECOMPOSED = 2000  # planes and cycles (agents)
FEW_COPIES = (1, 10, 100)
MOST_RANKED = 60  # the comparison of methods
REPORTED = (  # methods that a report compares: those that take no time
    "nash", "elo", "hodge", "uniform", "mean", "win_rate", "borda", "copeland", "schulze", "pagerank",
)  # fmt: skip

Saying = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Findings:
    """An evaluation and its analyses; for those that are None, ``missing`` has the reason under the same name.

    For scores, ``payoffs``, ``hodge`` and ``schur`` count every task as a game between every two agents. ``segments``
    are evaluations of parts of the data, ``notes`` the warnings of each step.
    """

    evaluation: Evaluation
    audit: Audit | None
    stress: Stress | None
    payoffs: Payoffs | None
    hodge: Hodge | None
    schur: Schur | None
    latent: Latent | None
    methods: Trials | None
    segments: Mapping[str, Evaluation]
    missing: Mapping[str, str]
    notes: Mapping[str, tuple[str, ...]]

    @property
    def ladder(self) -> bool:
        """Whether one rating per agent explains the games: the residual is within noise."""
        audited = None if self.audit is None else self.audit.transitivity
        return audited is not None and not audited.untold and not audited.cyclic


class Steps:
    """Runs the steps of an analysis, and keeps their warnings and the reasons of those that fail."""

    def __init__(self, say: Saying) -> None:
        self.say = say
        self.missing: dict[str, str] = {}
        self.notes: dict[str, tuple[str, ...]] = {}

    def run(self, name: str, what: str, step: Callable[[], T], unless: str = "") -> T | None:
        """Return the result of a step, or None, and then keep the reason."""
        if unless:
            self.missing[name] = unless
            return None
        self.say(what)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                result = step()
        except NashboardError as error:
            self.missing[name] = str(error)
            return None
        self.notes[name] = tuple(dict.fromkeys(str(one.message) for one in caught))
        return result


def find_everything(evaluation: Evaluation, say: Saying, segments: Mapping[str, Evaluation] | None = None) -> Findings:
    """Compute everything that the data allow and their size permits."""
    problem, data, steps = evaluation.problem, evaluation.data, Steps(say)
    n, n_agents = count_entries(evaluation), len(evaluation.agents)
    unknown = NO_DATA if data is None else ""
    wide = unknown or explain_limit(n_agents, MOST_DECOMPOSED, "nashboard hodge") or (FEW if n_agents < 3 else "")
    audit = steps.run(
        "audit",
        "Checking what to trust ...",
        lambda: evaluation.audit(),
        unknown or explain_limit(n, MOST_AUDITED, "nashboard audit"),
    )
    stress = steps.run(
        "stress",
        "Entering copies ...",
        lambda: run_stress(evaluation, n),
        unknown or explain_limit(n, MOST_STRESSED, "nashboard stress"),
    )
    games = steps.run("hodge", "Looking for cycles ...", lambda: list_games(problem), wide)
    expected = steps.run(
        "payoffs", "Looking for cycles ...", lambda: compute_payoffs(problem), wide or MISSING * (games is None)
    )
    return Findings(
        evaluation=evaluation,
        audit=audit,
        stress=stress,
        payoffs=expected,
        hodge=None if games is None else steps.run("hodge", "Looking for cycles ...", lambda: hodge(games)),
        schur=None
        if expected is None
        else steps.run("schur", "Looking for planes ...", lambda: schur(expected, k=min(PLANES, n_agents // 2))),
        latent=steps.run(
            "latent",
            "Looking for what tasks test ...",
            lambda: latent(require_problem(problem).scaled, k=2),
            NO_TASKS if evaluation.task_board is None else unknown,
        ),
        methods=steps.run(
            "methods",
            "Ranking by other methods ...",
            lambda: evaluation.second_opinions(REPORTED, quick=True),
            unknown or explain_limit(n, MOST_RANKED, "nashboard methods"),
        ),
        segments=segments or {},
        missing=steps.missing,
        notes=steps.notes,
    )


PLANES = 3
NO_DATA = "This page was made from a saved result, which does not contain the data that this needs."
NO_TASKS = "There are no tasks: agents met each other."
FEW = "This needs at least three agents."
MISSING = "The agents cannot all be compared."


def explain_limit(n: int, most: int, command: str) -> str:
    """Return why a part is left to its command for this number of entries; empty if it is not."""
    if n <= most:
        return ""
    return f"There are {n:,} entries; a report does this for up to {most:,}. The command {command} does it for more."


def count_entries(evaluation: Evaluation) -> int:
    """Return the number of agents or of tasks, whichever is larger."""
    tasks = evaluation.task_board
    return max(len(evaluation.agents), 0 if tasks is None else len(tasks.names))


def run_stress(evaluation: Evaluation, n: int) -> Stress:
    """Run the stress test: in full for small data, and only its main experiment for large data."""
    options: dict[str, Any] = {}
    if n > FULL:
        options = {"draws": 0}
        if evaluation.kind == "matches":  # every step of a search fits Elo again: for one agent, the next below the top
            options["targets"] = [evaluation.board.names[evaluation.board.order[1]]]
    if n > MOST_ATTACKED:
        options |= {"copies": FEW_COPIES, "targets": []}
    result: Stress = evaluation.stress(**options)
    return result


def require_problem(problem: Problem | None) -> Problem:
    """Return the problem of an evaluation that has its data."""
    assert problem is not None
    return problem


def list_games(problem: Problem | None) -> Matches | Payoffs:
    """Return the data as games: for scores every task is a game between every two agents."""
    data = require_problem(problem).data
    return task_games(require_problem(problem).scaled) if isinstance(data, Scores) else data


def compute_payoffs(problem: Problem | None) -> Payoffs:
    """Return the expected payoffs between all agents; for scores, of games in which every task is one."""
    data = require_problem(problem).data
    if isinstance(data, Scores):
        return payoffs(task_games(require_problem(problem).scaled), fill="model")
    scale = "logit" if require_problem(problem).unit == LOG_ODDS else "given"
    return Payoffs(agents=data.agents, A=require_problem(problem).full_payoffs(), scale=scale, made="posterior mean")
