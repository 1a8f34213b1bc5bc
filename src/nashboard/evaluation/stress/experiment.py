"""A contest: a board, what can be cloned to move it, and what each method says once clones are in.

Symbols: ``M`` what each on the board gains from each that can be cloned: payoffs of agents against agents, scores of
agents on tasks, or minus the scores of the agents for the board of tasks; ``m`` how often each is entered.
The uniform average is ``M m / sum(m)``.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
from nashboard.equilibrium.results import Selection, tied_ranks
from nashboard.errors import InputError
from nashboard.evaluation.comparable import comparable_matches, comparable_scores, complete_payoffs
from nashboard.evaluation.stress.copies import enter_agents, enter_in_scores
from nashboard.evaluation.stress.movement import Method, MethodResult
from nashboard.evaluation.task_games import task_games
from nashboard.ratings.elo import elo

Kind = Literal["agents", "tasks"]
ELO_TIES = 1e5  # ratings within a ten-thousandth of a point share a rank: the fit is no more exact


@dataclass(frozen=True, kw_only=True, eq=False)
class Experiment:
    """Who is on the board, what can be cloned, and the data behind both.

    Parameters
    ----------
    board
        ``"agents"``, or ``"tasks"`` where agents are cloned in a table of scores.
    kind
        What is cloned.
    names, entries
        Who is on the board; what can be cloned.
    M
        ``(board, entries)`` gains.
    data
        The matches or scores, comparable.
    unit
        Of ``M``.
    payoffs
        The game of matches; for scores nothing.
    """

    board: Kind
    kind: Kind
    names: tuple[str, ...]
    entries: tuple[str, ...]
    M: Floats
    data: Matches | Scores
    unit: str
    payoffs: Payoffs | None
    selection: Selection
    notes: tuple[str, ...]

    @property
    def methods(self) -> tuple[Method, ...]:
        """The methods that have something to say of this board."""
        if self.board == "tasks":
            return ("uniform", "nash")
        refilled: tuple[Method, ...] = ("nash refilled",) if self.payoffs is not None and self.payoffs.filled else ()
        return ("uniform", "elo", "nash", *refilled)

    @property
    def scale(self) -> float:
        """The largest gain in absolute value, the measure of a tie."""
        return float(np.abs(self.M).max()) or 1.0

    def exact(self, method: Method, copies: Ints) -> MethodResult:
        """Return the standing of the originals when entry k has ``copies[k]`` exact clones beside it."""
        if method == "uniform":
            m = copies + 1.0
            return self.standing(method, self.M @ m / m.sum())
        if method == "elo":
            return self.elo(self.entered(copies))
        if method == "nash refilled":
            entered = self.entered(copies)
            assert isinstance(entered, Matches)
            return self.nash_of_game(method, complete_payoffs(entered).A)
        index = np.concatenate([np.arange(len(copies)), np.repeat(np.arange(len(copies)), copies)])
        if self.payoffs is not None:
            return self.nash_of_game(method, self.payoffs.A[np.ix_(index, index)])
        assert isinstance(self.data, Scores)
        S = self.data.values
        return self.nash_of_table(S[:, index] if self.kind == "tasks" else S[index])

    def noisy(self, method: Method, data: Matches | Scores) -> MethodResult:
        """Return the standing of the originals in data with noisy clones."""
        if isinstance(data, Matches):
            if method == "elo":
                return self.elo(data)
            A = complete_payoffs(data).A
            if method == "uniform":
                return self.standing(method, A.mean(axis=1)[: len(self.names)])
            return self.nash_of_game(method, A)
        if method == "elo":
            return self.elo(data)
        if method == "uniform":
            return self.standing(method, data.values.mean(axis=1) if self.board == "agents" else -data.values.mean(0))
        return self.nash_of_table(data.values)

    def entered(self, copies: Ints, rng: np.random.Generator | None = None) -> Matches | Scores:
        """Return the data with clones really entered."""
        clones = {self.entries[k]: int(copies[k]) for k in np.flatnonzero(copies)}
        if isinstance(self.data, Matches):
            return enter_agents(self.data, clones, rng)
        return enter_in_scores(self.data, self.kind, clones, rng)

    def elo(self, data: Matches | Scores) -> MethodResult:
        """Return Elo ratings of the originals, their mean 0, so that only differences count."""
        r = elo(data if isinstance(data, Matches) else task_games(data)).ratings[: len(self.names)]
        return MethodResult(
            method="elo", names=self.names, scores=r - r.mean() + 0.0, unit="Elo points", scale=ELO_TIES
        )

    def nash_of_game(self, method: Method, A: Floats) -> MethodResult:
        """Return Nash averages of the originals, with their certificate."""
        found = nash_average(A, selection=self.selection)
        certificate = max(found.exploitability / (found.scale or 1.0), found.residual)
        return self.standing(method, found.averages[: len(self.names)], certificate)

    def nash_of_table(self, S: Floats) -> MethodResult:
        """Return Nash skills (or difficulties) of the originals, with their certificate."""
        found = nash_average_scores(S, selection=self.selection)
        certificate = max(found.exploitability / (found.scale or 1.0), found.residual)
        averages = found.skills if self.board == "agents" else found.difficulties
        return self.standing("nash", averages[: len(self.names)], certificate)

    def standing(self, method: Method, scores: Floats, certificate: float = 0.0) -> MethodResult:
        """Return scores in the unit of the gains."""
        return MethodResult(
            method=method,
            names=self.names,
            scores=np.asarray(scores),
            unit=self.unit,
            scale=self.scale,
            certificate=certificate,
        )


def contest(data: Matches | Scores, kind: Kind | None = None, selection: Selection = "clone-invariant") -> Experiment:
    """Return the contest in which agents or tasks are cloned; by default tasks where there are tasks."""
    if kind not in (None, "agents", "tasks"):
        raise InputError(f"there are no {kind!r} to clone: use 'agents' or 'tasks'")
    if isinstance(data, Matches):
        if kind == "tasks":
            raise InputError("matches have no tasks: clone 'agents'")
        ready = comparable_matches(data)
        game = ready.payoffs
        return Experiment(
            board="agents",
            kind="agents",
            names=game.agents,
            entries=game.agents,
            M=game.A,
            data=ready.matches,
            unit="log-odds",
            payoffs=game,
            selection=selection,
            notes=ready.notes,
        )
    table = comparable_scores(data)
    scores, by_task = table.scores, kind != "agents"
    return Experiment(
        board="agents" if by_task else "tasks",
        kind="tasks" if by_task else "agents",
        names=scores.agents if by_task else scores.tasks,
        entries=scores.tasks if by_task else scores.agents,
        M=scores.values if by_task else -scores.values.T,
        data=scores,
        unit=f"score ({scores.scaling})",
        payoffs=None,
        selection=selection,
        notes=table.notes,
    )


def adversary(game: Experiment, counts: tuple[int, ...]) -> int:
    """Return the entry whose clones change the winner with the fewest copies, or else move ranks most.

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
