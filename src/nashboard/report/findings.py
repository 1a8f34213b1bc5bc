"""Everything a report needs to know, worked out once: what cannot be worked out comes with the reason.

Large data get less: the parts whose cost grows with the square of the entries are cut down, then left out, and the
page says so and names the command that does it in full.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from nashboard.algebra.hodge import Hodge, hodge
from nashboard.algebra.latent import Latent, latent
from nashboard.algebra.schur import Schur, schur
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.errors import NashboardError
from nashboard.evaluation.audit.audit import Audit
from nashboard.evaluation.comparable import comparable_matches, comparable_scores, complete_payoffs
from nashboard.evaluation.evaluation import Evaluation
from nashboard.evaluation.stress.stress import Stress
from nashboard.evaluation.task_games import task_games

T = TypeVar("T")
FULL = 120  # entries up to which everything is tried
MOST_AUDITED = 250  # entries beyond which the audit, which solves a game without each of them, is left to its command
MOST_STRESSED = 1000  # entries beyond which the stress test is
MOST_DECOMPOSED = 2000  # agents beyond which planes and cycles are
FEW_COPIES = (1, 10, 100)

Saying = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Findings:
    """An evaluation and what else there is to say; None where ``missing`` has the reason, under the same name.

    Parameters
    ----------
    payoffs
        Between every two agents; for scores every task is a game between every two agents.
    hodge, schur
        Of these: what ratings explain and what goes round, and the strongest planes.
    latent
        What tasks test beyond an average.
    notes
        By step, what it warned of on the way.
    """

    evaluation: Evaluation
    audit: Audit | None
    stress: Stress | None
    payoffs: Payoffs | None
    hodge: Hodge | None
    schur: Schur | None
    latent: Latent | None
    missing: Mapping[str, str]
    notes: Mapping[str, tuple[str, ...]]


class Steps:
    """Runs one step after the other, and keeps the reasons of those that fail and what was said on the way."""

    def __init__(self, say: Saying) -> None:
        self.say = say
        self.missing: dict[str, str] = {}
        self.notes: dict[str, tuple[str, ...]] = {}

    def run(self, name: str, what: str, step: Callable[[], T], unless: str = "") -> T | None:
        """Return what a step finds, or None and keep why."""
        if unless:
            self.missing[name] = unless
            return None
        self.say(what)
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                found = step()
        except NashboardError as error:
            self.missing[name] = str(error)
            return None
        self.notes[name] = tuple(dict.fromkeys(str(one.message) for one in said))
        return found


def findings(evaluation: Evaluation, say: Saying) -> Findings:
    """Work out everything that the data allow and their size permits."""
    data, steps = evaluation.data, Steps(say)
    selection = evaluation.settings["selection"]
    n, n_agents = size(evaluation), len(evaluation.agents)
    unknown = NO_DATA if data is None else ""
    bare = unknown or (BARE if isinstance(data, Payoffs) else "")
    wide = unknown or too_many(n_agents, MOST_DECOMPOSED, "nashboard hodge") or (FEW if n_agents < 3 else "")
    audit = steps.run(
        "audit",
        "Checking what to trust ...",
        lambda: evaluation.audit(selection=selection),
        bare or too_many(n, MOST_AUDITED, "nashboard audit"),
    )
    stress = steps.run(
        "stress",
        "Entering copies ...",
        lambda: stressed(evaluation, n),
        bare or too_many(n, MOST_STRESSED, "nashboard stress"),
    )
    games = steps.run("hodge", "Looking for cycles ...", lambda: comparable_games(data), wide)
    payoffs = steps.run("payoffs", "Looking for cycles ...", lambda: complete(games), wide or MISSING * (games is None))
    return Findings(
        evaluation=evaluation,
        audit=audit,
        stress=stress,
        payoffs=payoffs,
        hodge=None if games is None else steps.run("hodge", "Looking for cycles ...", lambda: hodge(games)),
        schur=None
        if payoffs is None
        else steps.run("schur", "Looking for planes ...", lambda: schur(payoffs, k=min(PLANES, n_agents // 2))),
        latent=steps.run(
            "latent",
            "Looking for what tasks test ...",
            lambda: latent(comparable_scores(scores_of(data)).scores, k=2),
            NO_TASKS if evaluation.task_board is None else unknown,
        ),
        missing=steps.missing,
        notes=steps.notes,
    )


PLANES = 3
NO_DATA = "This page was made from a saved result, which does not hold the data that this needs."
BARE = "The data are bare payoffs, which do not say how many games or tasks they come from."
NO_TASKS = "There are no tasks: agents met each other."
FEW = "This needs at least three agents."
MISSING = "The agents cannot all be compared."


def too_many(n: int, most: int, command: str) -> str:
    """Say that there are too many entries for a page, and where to go instead; nothing where there are not."""
    if n <= most:
        return ""
    return f"There are {n:,} entries; a report does this for up to {most:,}. The command {command} does it for more."


def size(evaluation: Evaluation) -> int:
    """Return how many entries there are on the longer side."""
    tasks = evaluation.task_board
    return max(len(evaluation.agents), 0 if tasks is None else len(tasks.names))


def stressed(evaluation: Evaluation, n: int) -> Stress:
    """Enter copies: everything is tried for small data, and only the main experiment for large data."""
    options: dict[str, Any] = {"selection": evaluation.settings["selection"], "rng": evaluation.settings["seed"] or 0}
    if n > FULL:
        options |= {"copies": FEW_COPIES, "targets": [], "draws": 0}
    found: Stress = evaluation.stress(**options)
    return found


def scores_of(data: Matches | Scores | Payoffs | None) -> Scores:
    """Return the data of an evaluation that has tasks."""
    assert isinstance(data, Scores)
    return data


def comparable_games(data: Matches | Scores | Payoffs | None) -> Matches | Payoffs:
    """Return who beat whom: for scores every task is a game between every two agents."""
    if isinstance(data, Matches):
        return comparable_matches(data).matches
    if isinstance(data, Scores):
        return task_games(comparable_scores(data).scores)
    assert data is not None
    return data


def complete(games: Matches | Payoffs | None) -> Payoffs:
    """Return the payoffs of all pairs; those that never met as Elo predicts."""
    assert games is not None
    return games if isinstance(games, Payoffs) else complete_payoffs(games)
