"""The result of `evaluate`: a leaderboard, how sure it is, a verdict in words, and everything for machines."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from nashboard._notebook import chart, mimebundle
from nashboard._tables import Column, Table, as_html, percent, plain
from nashboard._text import listed, nearest
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.errors import InputError
from nashboard.evaluation.board.board import Board
from nashboard.evaluation.board.contributions import Contribution, Mover
from nashboard.evaluation.intervals import Uncertainty
from nashboard.evaluation.stability import QUESTIONS, Stability


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Evaluation:
    """What a table of matches or scores means, and how far that can be trusted.

    Parameters
    ----------
    kind
        ``"matches"``, ``"scores"`` or ``"payoffs"``.
    board, task_board
        The numbers of all agents, and of all tasks where there are tasks.
    uncertainty, task_uncertainty
        By question: ``"again"`` (what if the same were measured again?) and ``"suite"`` (would another suite agree?).
    stability
        By question: how often the set at the top changes, and who is next in line.
    movers
        Where the Nash order and the uniform or rating order disagree most, and because of what.
    contributions
        By agent, the largest terms of its gap, with their intervals.
    clone_groups, task_clone_groups
        Groups that are identical in all their data.
    verdict, warnings
        Sentences.
    certificates
        ``exploitability``, ``residual``, ``unique``, ``scale``: how exact the equilibrium is.
    settings
        What was asked for: resamples, seed, level, selection, scaling, payoffs, the choice of the rating.
    input
        What was read: kind, source, format, size and a hash of the content.
    version
        Of the program that made it.
    data
        What was evaluated; None in a result that was read back from json.
    given
        What came in, where the evaluation left some of it out (tasks with one score for everybody); else None. Audit
        and stress test look at this, so that they say the same as their commands do of the same file.
    """

    kind: str
    board: Board
    task_board: Board | None
    uncertainty: Mapping[str, Uncertainty]
    task_uncertainty: Mapping[str, Uncertainty]
    stability: Mapping[str, Stability]
    movers: tuple[Mover, ...]
    contributions: Mapping[str, tuple[Contribution, ...]]
    clone_groups: tuple[tuple[str, ...], ...]
    task_clone_groups: tuple[tuple[str, ...], ...]
    verdict: tuple[str, ...]
    warnings: tuple[str, ...]
    certificates: Mapping[str, Any]
    settings: Mapping[str, Any]
    input: Mapping[str, Any]
    version: str
    data: Matches | Scores | Payoffs | None
    given: Matches | Scores | Payoffs | None = None

    @property
    def agents(self) -> tuple[str, ...]:
        """Names, in the order of the data."""
        return self.board.names

    @property
    def support(self) -> tuple[str, ...]:
        """The agents at the top that have weight."""
        return self.board.support

    def leaderboard(self, question: str | None = None) -> Table:
        """Return the agents, the best first, with the intervals of one question (the first that can be answered)."""
        found = self.answer(self.uncertainty, question)
        return self.board.table(repr(self), found, self.notes(self.board, found))

    def tasks(self, question: str | None = None) -> Table:
        """Return the tasks, the hardest first."""
        if self.task_board is None:
            raise InputError(f"{self.kind} have no tasks: only an evaluation of scores has a board of tasks")
        found = self.answer(self.task_uncertainty, question)
        return self.task_board.table(repr(self), found, self.notes(self.task_board, found))

    def answer(self, answers: Mapping[str, Uncertainty], question: str | None) -> Uncertainty | None:
        """Return the answer to a question; without one, to the first; None where none can be answered."""
        if question is None:
            return next(iter(answers.values()), None)
        if question not in answers:
            allowed = f"there are {listed(answers)}" if answers else "there are none"
            raise InputError(f"no answer to the question {question!r}{nearest(question, answers)}: {allowed}")
        return answers[question]

    def notes(self, board: Board, found: Uncertainty | None) -> tuple[str, ...]:
        """Return what to know about a board."""
        said = [f"order: Nash average; {board.kind}s that tie are listed by {board.second_name}, which is secondary"]
        if found is None:
            said.append("no intervals: the data do not say how noisy they are")
        else:
            said.append(
                f"intervals: {QUESTIONS[found.question]} {found.resamples:,} resamples, level {found.level:.0%}"
            )
            if board.average_name == "average":
                said.append(LENT)
        if board.rating_name and "rating_errors" in self.settings:
            name = board.rating_name
            said.append(f"{name} low and high: standard errors {self.settings['rating_errors']}")
        gain = self.certificates["exploitability"] / (self.certificates["scale"] or 1.0)
        worst = max(gain, self.certificates["residual"])
        bound = next(bound for bound in (1e-12, 1e-9, np.inf) if worst <= bound)
        said.append(f"certified: exploitability (of the largest payoff) and residual are at most {bound:.0e}")
        return tuple(said)

    def contributions_of(self, agent: str) -> Table:
        """Return the opponents or tasks that an agent's Nash average is mostly made of."""
        if agent not in self.contributions:
            raise InputError(f"there is no agent {agent!r}{nearest(agent, self.contributions)}")
        what = "opponent" if self.task_board is None else "task"
        return Table(
            title=f"what the gap of {agent!r} is made of",
            columns=(
                Column(name=what, meaning=f"an {what} with weight" if what == "opponent" else "a task with weight"),
                Column(name="weight", meaning="its share in the equilibrium, copies together"),
                Column(name="result", meaning="payoff against it" if what == "opponent" else "score on it"),
                Column(name="term", meaning="what it adds to the gap"),
                Column(name="low", meaning="lower end of the term's interval over resamples"),
                Column(name="high", meaning="upper end of the term's interval over resamples"),
            ),
            rows=tuple(
                (one.name, one.weight, one.result, one.term, one.low, one.high) for one in self.contributions[agent]
            ),
        )

    def audit(self, **options: Any) -> Any:
        """Check the data: redundant entries, what tasks test, cycles, coverage; see `nashboard.audit`."""
        data = self.own_data("audit")
        return import_module("nashboard.evaluation.audit.audit").audit(data, **options)

    def stress(self, **options: Any) -> Any:
        """Enter clones and see what moves; see `nashboard.stress`."""
        data = self.own_data("stress")
        return import_module("nashboard.evaluation.stress.stress").stress(data, **options)

    def own_data(self, what: str) -> Matches | Scores:
        """Return the data as they came in, or say why there are none."""
        data = self.data if self.given is None else self.given
        if isinstance(data, Matches | Scores):
            return data
        if data is None:
            raise InputError(
                f"this evaluation was read from json, which does not hold the data: evaluate them to {what}"
            )
        raise InputError(f"{what} needs matches or scores, not bare payoffs")

    def report(self, path: str | Path, *, title: str | None = None, say: Callable[[str], None] | None = None) -> None:
        """Write the evaluation in the format of the path's ending: .html, .json, .md, .csv, .tex or .txt.

        Parameters
        ----------
        path
            ``.html`` is the report: one page that needs no network, with verdict, boards, audit, stress test and
            pictures. The others hold boards, verdict and warnings.
        title
            The heading of the page; by default the name of the file or data set.
        say
            Called with a few words before each step that takes time.
        """
        from nashboard.evaluation.document import write

        write(self, path, title=title, say=say)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; the layout is described in `nashboard.evaluation.schema`."""
        from nashboard.evaluation.schema import as_dict

        return as_dict(self)

    def to_json(self) -> str:
        """Return everything as json, the same bytes for the same input and seed."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @staticmethod
    def from_json(text: str) -> "Evaluation":
        """Return the evaluation that `to_json` wrote; it knows everything but the data."""
        from nashboard.evaluation.schema import from_dict

        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"this is not json: {error}") from None
        return from_dict(values)

    def __repr__(self) -> str:
        n, top = len(self.board.names), len(self.board.top)
        tasks = f" x {len(self.task_board.names):,} tasks" if self.task_board is not None else ""
        first = f"{top:,} tie at the top" if top > 1 else f"{self.board.top[0]!r} first"
        sure = next(iter(self.stability.values()), None)
        same = "" if sure is None else f", same top in {percent(sure.same_support)} of resamples"
        return f"Evaluation({n:,} agents{tasks}, {first}{same})"

    def __str__(self) -> str:
        return "\n".join([plain(self.leaderboard().head(20)), "", *self.verdict])

    chart = chart
    _repr_mimebundle_ = mimebundle

    def _repr_html_(self) -> str:
        return as_html(self.leaderboard().head(50))


LENT = (
    "in support: the probability of belonging to the top, from draws in which pairs lend each other strength; low, "
    "high, ranks and apart resample every pair by itself, where luck looks like cycles, and may say otherwise"
)
