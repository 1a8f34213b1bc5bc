"""Experiments with copies: what each method says once copies of some entries are in.

Symbols: ``M`` what each on the board gains from each that can be copied: expected payoffs of agents against agents,
scores of agents on tasks, or minus the scores of the agents for the board of tasks; ``m`` how often each is entered.
The uniform average is ``M m / sum(m)``. The Nash result is the posterior of the whole evaluation, repeated on the data
with copies; where the data of the classes are bit for bit the same as before, so is every number.
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.equilibrium.results import tied_ranks
from nashboard.errors import InputError
from nashboard.evaluation.board.build import build_task_board
from nashboard.evaluation.posterior.literal import ELO_PRIOR
from nashboard.evaluation.problem import Data, Kind, Problem, task_games
from nashboard.evaluation.stress.copies import enter_agents, enter_in_payoffs, enter_in_scores
from nashboard.evaluation.stress.movement import Method, MethodResult
from nashboard.ratings.elo import elo

ELO_TIES = 1e5  # ratings within a ten-thousandth of a point share a rank: the fit is no more exact


@dataclass(frozen=True, kw_only=True, eq=False)
class Experiment:
    """Who is on the board, what can be copied, and the problem behind both.

    Parameters
    ----------
    problem
        The prepared data with their settings.
    board
        ``"agents"``, or ``"tasks"`` where agents are copied in a table of scores.
    kind
        What is copied.
    names, entries
        Who is on the board; what can be copied.
    M
        ``(board, entries)`` gains.
    """

    problem: Problem
    board: Kind
    kind: Kind
    names: tuple[str, ...]
    entries: tuple[str, ...]
    M: Floats

    @staticmethod
    def of(problem: Problem, kind: Kind | None = None) -> "Experiment":
        """Return the experiment in which agents or tasks are copied; by default tasks where there are tasks."""
        data = problem.data
        if kind not in (None, "agents", "tasks"):
            raise InputError(f"there are no {kind!r} to copy: use 'agents' or 'tasks'")
        M = problem.full_payoffs()
        if not isinstance(data, Scores):
            if kind == "tasks":
                raise InputError(f"{problem.kind} have no tasks: copy 'agents'")
            return Experiment(
                problem=problem, board="agents", kind="agents", names=data.agents, entries=data.agents, M=M
            )
        if kind == "agents":
            return Experiment(
                problem=problem, board="tasks", kind="agents", names=data.tasks, entries=data.agents, M=-M.T
            )
        return Experiment(problem=problem, board="agents", kind="tasks", names=data.agents, entries=data.tasks, M=M)

    @property
    def data(self) -> Data:
        """The data without copies."""
        return self.problem.data

    @property
    def methods(self) -> tuple[Method, ...]:
        """The methods that rank this board."""
        if self.board == "tasks" or isinstance(self.data, Payoffs):
            return ("uniform", "nash")
        return ("uniform", "elo", "nash")

    @property
    def unit(self) -> str:
        """Unit of the gains."""
        return self.problem.unit

    @property
    def scale(self) -> float:
        """The largest gain in absolute value, the measure of a tie."""
        return float(np.abs(self.M).max()) or 1.0

    def exact(self, method: Method, copies: Ints) -> MethodResult:
        """Return the result of the originals when entry k has ``copies[k]`` exact copies beside it."""
        if method == "uniform":
            m = copies + 1.0
            return self.result(method, self.M @ m / m.sum())
        if not copies.any():
            return self.elo(self.data) if method == "elo" else self.nash(self.problem)
        entered = self.enter(copies)
        return self.elo(entered) if method == "elo" else self.nash(self.repeat(entered))

    def noisy(self, method: Method, data: Data, problem: Problem) -> MethodResult:
        """Return the result of the originals in data with noisy copies; ``problem`` is that of these data."""
        if method == "elo":
            return self.elo(data)
        if method == "nash":
            return self.nash(problem)
        other = Experiment.of(problem, self.kind)
        return self.result(method, other.M.mean(axis=1)[: len(self.names)])

    def repeat(self, data: Data, **changes: Any) -> Problem:
        """Return the problem of other data; where their classes have the same data, with the same draws."""
        again = self.problem.again(data, **changes)
        if not changes and "draws" in vars(self.problem) and same_data(again.merged, self.problem.merged):
            for name in ("compared", "draws"):
                vars(again)[name] = getattr(self.problem, name)
        return again

    def enter(self, copies: Ints, rng: np.random.Generator | None = None) -> Data:
        """Return the data with copies entered."""
        wanted = {self.entries[k]: int(copies[k]) for k in np.flatnonzero(copies)}
        if isinstance(self.data, Matches):
            return enter_agents(self.data, wanted, rng)
        if isinstance(self.data, Payoffs):
            return enter_in_payoffs(self.data, wanted)
        return enter_in_scores(self.data, self.kind, wanted, rng)

    def elo(self, data: Data) -> MethodResult:
        """Return Elo ratings of the originals, their mean 0, so that only differences count."""
        assert not isinstance(data, Payoffs)
        games = data if isinstance(data, Matches) else task_games(data)
        r = elo(games, prior=ELO_PRIOR).ratings[: len(self.names)]
        points = r - r.mean() + 0.0
        return MethodResult(method="elo", names=self.names, scores=points, unit="Elo points", scale=ELO_TIES)

    def nash(self, problem: Problem) -> MethodResult:
        """Return minus the gaps of the originals: the posterior mean of an evaluation, and who is at its top."""
        certificate = problem.equilibrium
        exact = max(certificate.exploitability / (certificate.scale or 1.0), certificate.residual)
        if self.board == "agents":
            gaps, chances = problem.posterior.gap, problem.posterior.probability_top
        else:
            tasks = build_task_board(problem)
            assert tasks is not None
            gaps, chances = tasks.gaps, tasks.probability_top
        top = tuple(name for name, p in zip(self.names, chances, strict=False) if p >= 0.5)
        return replace(self.result("nash", -gaps[: len(self.names)], exact), top=top)

    def result(self, method: Method, scores: Floats, certificate: float = 0.0) -> MethodResult:
        """Return scores in the unit of the gains."""
        return MethodResult(
            method=method,
            names=self.names,
            scores=np.asarray(scores) + 0.0,
            unit=self.unit,
            scale=self.scale,
            certificate=certificate,
        )


def same_data(a: Data, b: Data) -> bool:
    """Return whether two data sets have the same numbers, bit for bit, whatever their names."""
    if type(a) is not type(b):
        return False
    for one in fields(a):
        x, y = getattr(a, one.name), getattr(b, one.name)
        if isinstance(x, np.ndarray) and not np.array_equal(x, y, equal_nan=x.dtype.kind == "f"):
            return False
    return True


def choose_adversary(game: Experiment, counts: tuple[int, ...]) -> int:
    """Return the entry whose copies change the uniform winner with the fewest copies, or else move ranks most.

    Every entry is tried with every number of copies; ties go to the one listed first.
    """
    M, n = game.M, len(game.entries)
    totals = M.sum(axis=1)
    before = tied_ranks(totals / n, game.scale)
    best: tuple[float, float, float] | None = None
    chosen = 0
    for k in range(n):
        soonest, most_moved = np.inf, 0.0
        for count in counts:
            ranks = tied_ranks((totals + count * M[:, k]) / (n + count), game.scale)
            if ((ranks == 1) != (before == 1)).any():
                soonest = min(soonest, float(count))
            most_moved = max(most_moved, float(np.abs(ranks - before).max()))
        after = (totals + counts[-1] * M[:, k]) / (n + counts[-1])
        score = (soonest, -most_moved, -float(np.abs(after - totals / n).max()))
        if best is None or score < best:
            best, chosen = score, k
    return chosen
