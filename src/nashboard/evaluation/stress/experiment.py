"""Experiments with copies: the results of each method after copies of some entries are entered.

Symbols: ``M`` gains of the entries of the board against those that can be copied: expected payoffs of agents against
agents, scores of agents on tasks, or minus the scores of the agents for the board of tasks; ``m`` how often each is
entered. The uniform average is ``M m / sum(m)``. The Nash result is the posterior of a complete evaluation of the data
with copies; if the data of the classes are bit for bit the same as before, so is every number.

Copies of agents or tasks are exact, or have their own noise.

An exact copy of an agent has its original's results against all others. Games between a copy and its original, or two
copies of one original, are even: as many games as the original's median pair, half won and half lost. A noisy copy is
the same agent under another name: it plays all of those games again, with the strength of the original in one draw of
the posterior. Its noise is new, and the noise of the original is not repeated. With ``noise="none"`` the observed
shares are its strength. Payoffs with known errors are measured again in the same way. A noisy score is drawn around the
original's score with its standard error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import count
from typing import Any, Literal

import numpy as np

from nashboard._tables import Record
from nashboard._text import quote_spaces
from nashboard._types import Bools, Floats, Ints, read_only
from nashboard.data.matches import Clusters, Matches, Sides
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.data.validation import positions
from nashboard.equilibrium.results import tied_ranks
from nashboard.errors import InputError
from nashboard.evaluation.board.build_board import build_task_board
from nashboard.evaluation.posterior.draws import ELO_PRIOR
from nashboard.evaluation.posterior.scores import known_noise
from nashboard.evaluation.problem import Data, Kind, Problem, task_games
from nashboard.ratings.elo import elo

Method = Literal["uniform", "elo", "nash"]
LABELS: dict[Method, str] = {
    "uniform": "uniform average",
    "elo": "Elo",
    "nash": "Nash average",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MethodResult:
    """Scores by one method, higher is better; closer than a billionth of ``scale`` they share a rank.

    ``certificate`` is the larger of exploitability (relative to the largest payoff) and residual, 0 if nothing was
    solved. ``top`` are the entries at the top of a posterior with a probability of at least 1/2, None for plain scores.
    """

    method: Method
    names: tuple[str, ...]
    scores: Floats
    unit: str
    scale: float
    certificate: float = 0.0
    top: tuple[str, ...] | None = None

    @cached_property
    def ranks(self) -> Ints:
        """``(n,)`` 1 for the best; ties share a rank."""
        return read_only(tied_ranks(self.scores, self.scale))

    @cached_property
    def winners(self) -> tuple[str, ...]:
        """All entries in first place: the top of a posterior, or those with the best score."""
        if self.top is not None:
            return self.top
        return tuple(self.names[k] for k in np.flatnonzero(self.ranks == 1))

    def restrict(self, names: tuple[str, ...]) -> "MethodResult":
        """Return the result restricted to these names, in their order."""
        place = {name: k for k, name in enumerate(self.names)}
        top = None if self.top is None else tuple(name for name in self.top if name in names)
        return replace(self, names=names, scores=self.scores[[place[name] for name in names]], top=top)

    def __repr__(self) -> str:
        return f"MethodResult({LABELS[self.method]}, {len(self.names):,} entries, first: {', '.join(self.winners[:3])})"


@dataclass(frozen=True, kw_only=True)
class Movement(Record):
    """How far a result moved, among the entries that are in it before and after, so that copies take no places.

    ``who`` moved most by rank, the highest placed before on a tie. ``score_moved`` is the largest change of a score,
    ``share_moved`` the same as a share of the distance from last to first, before or after, whichever is larger.
    ``certificate`` is the larger one of both results.
    """

    method: Method
    who: str
    rank_before: int
    rank_after: int
    score_moved: float
    share_moved: float
    unit: str
    winners_before: tuple[str, ...]
    winners_after: tuple[str, ...]
    certificate: float

    computed = ("rank_moved", "winner_changed")

    @property
    def rank_moved(self) -> int:
        """The largest change of a rank."""
        return abs(self.rank_after - self.rank_before)

    @property
    def winner_changed(self) -> bool:
        """Whether other agents are in first place than before."""
        return set(self.winners_before) != set(self.winners_after)


def measure_movement(before: MethodResult, after: MethodResult) -> Movement:
    """Compare two results by the same method, among the entries that are in both."""
    common = set(after.names)
    shared = tuple(name for name in before.names if name in common)
    old, new = before.restrict(shared), after.restrict(shared)
    moved = np.abs(new.ranks - old.ranks)
    k = int(np.lexsort([np.arange(len(shared)), old.ranks, -moved])[0])
    by_score = float(np.abs(new.scores - old.scores).max())
    spread = max(float(np.ptp(old.scores)), float(np.ptp(new.scores)))
    return Movement(
        method=before.method,
        who=shared[k],
        rank_before=int(old.ranks[k]),
        rank_after=int(new.ranks[k]),
        score_moved=by_score,
        share_moved=by_score / spread if spread > 0 else 0.0,
        unit=before.unit,
        winners_before=old.winners,
        winners_after=new.winners,
        certificate=max(before.certificate, after.certificate),
    )


def name_first(winners: tuple[str, ...], most: int = 3) -> str:
    """Return the entries in first place as text; with a posterior, that may be undecided."""
    if not winners:
        return "undecided"
    names = " = ".join(map(quote_spaces, winners[:most]))
    return names if len(winners) <= most else f"{names} = {len(winners) - most:,} more"


def copy_names(names: Sequence[str], originals: Ints) -> tuple[str, ...]:
    """Return a new name for each clone: ``X (copy 1)``, ``X (copy 2)``, never one that is taken."""
    taken, numbers = set(names), {int(k): count(1) for k in originals}
    return tuple(
        next(name for number in numbers[int(k)] if (name := f"{names[k]} (copy {number})") not in taken)
        for k in originals
    )


def find_originals(clones: Mapping[str, int], names: Sequence[str], kind: str) -> Ints:
    """Return the position of the original of each clone."""
    where = positions(clones, names, kind=kind)
    return np.repeat(np.array(where, dtype=np.intp), np.array(list(clones.values()), dtype=np.intp))


def enter_agents(
    matches: Matches,
    clones: Mapping[str, int],
    rng: np.random.Generator | None = None,
    truth: Floats | None = None,
) -> Matches:
    """Return the matches with clones of agents, ``{name: copies}``; with ``rng`` they have their own noise.

    ``truth`` (n, n) are log-odds from which the games of clones are drawn; without it, the observed shares are used.
    """
    n = len(matches.agents)
    originals = find_originals(clones, matches.agents, "agent")
    index = np.concatenate([np.arange(n), originals])
    first, second = matches.pairs.T
    where = np.full((n, n), -1)  # the pair of two originals
    where[first, second] = where[second, first] = np.arange(len(matches.pairs))
    half = np.zeros(n)
    for k in np.unique(originals):
        half[k] = typical_games(matches, k) / 2
    a, b = np.triu_indices(len(index), k=1)
    i, j = index[a], index[b]
    pair, flip, same = where[i, j], i > j, i == j
    counts = np.stack([matches.wins, matches.draws, matches.losses], axis=1)
    own = np.concatenate([counts, np.zeros((1, 3))])[pair]  # none where two never met
    own[flip] = own[flip, ::-1]
    own[same, 0] = own[same, 2] = half[i[same]]
    met = own.sum(axis=1) > 0
    a, b, i, j, pair, flip, own = a[met], b[met], i[met], j[met], pair[met], flip[met], own[met]
    if rng is not None:
        fresh = b >= n
        odds = None if truth is None else truth[i[fresh], j[fresh]]
        own[fresh] = replay(own[fresh], rng, odds, float(matches.draws.sum() / max(matches.games.sum(), 1.0)))
        pair = np.where(fresh, -1, pair)  # their games are independent, and at a neutral place
    return Matches(
        agents=(*matches.agents, *copy_names(matches.agents, originals)),
        pairs=np.stack([a, b], axis=1),
        wins=own[:, 0],
        draws=own[:, 1],
        losses=own[:, 2],
        origin=matches.origin.noting(f"{len(originals):,} copies entered"),
        clusters=copy_clusters(matches.clusters, pair, flip) if matches.clusters is not None else None,
        sides=copy_sides(matches.sides, pair, flip) if matches.sides is not None else None,
        fractions=None if matches.fractions is None else np.append(matches.fractions, 0.0)[pair],
    )


def copy_clusters(clusters: Clusters, pair: Ints, flip: Bools) -> Clusters:
    """Return the clusters of new pairs, which are those of the pairs that they copy (-1: none)."""
    order = np.argsort(clusters.pair, kind="stable")
    ends = np.searchsorted(clusters.pair[order], np.arange(pair.max(initial=-1) + 2))
    rows = [order[ends[k] : ends[k + 1]] if k >= 0 else order[:0] for k in pair]
    row = np.concatenate(rows) if rows else order[:0]
    new = np.repeat(np.arange(len(pair)), [len(one) for one in rows])
    turned = flip[new]
    return Clusters(
        size=clusters.size,
        cluster=clusters.cluster[row],
        pair=new,
        wins=np.where(turned, clusters.losses[row], clusters.wins[row]),
        draws=clusters.draws[row],
        losses=np.where(turned, clusters.wins[row], clusters.losses[row]),
    )


def copy_sides(sides: Sides, pair: Ints, flip: Bools) -> Sides:
    """Return the sides of new pairs, which are those of the pairs that they copy (-1: none)."""
    known, turned = (pair >= 0)[:, None], flip[:, None]
    first, second = sides.first[pair], sides.second[pair]
    return Sides(
        first=np.where(known, np.where(turned, second[:, ::-1], first), 0.0),
        second=np.where(known, np.where(turned, first[:, ::-1], second), 0.0),
    )


def typical_games(matches: Matches, k: int) -> float:
    """Return the median number of games over the pairs of an agent, 1 if there are none."""
    games = matches.games[(matches.pairs == k).any(axis=1)]
    return float(np.median(games)) if games.size else 1.0


def replay(counts: Floats, rng: np.random.Generator, odds: Floats | None, drawn: float) -> Floats:
    """Draw the games of each pair again; whole games, at least one.

    With log-odds of each pair, a share ``drawn`` of the games is drawn, or as many as the log-odds allow; without them
    the shares are those observed.
    """
    games = counts.sum(axis=1, keepdims=True)
    shares = counts / games
    if odds is not None:
        p = 1 / (1 + np.exp(-odds))
        half = np.minimum(drawn / 2, np.minimum(p, 1 - p))
        shares = np.stack([p - half, 2 * half, 1 - p - half], axis=1)
    shares /= shares.sum(axis=1, keepdims=True)
    whole = np.maximum(np.rint(games[:, 0]), 1.0).astype(np.int64)
    return np.asarray(rng.multinomial(whole, shares), dtype=np.float64)


def enter_in_payoffs(
    payoffs: Payoffs,
    copies: Mapping[str, int],
    rng: np.random.Generator | None = None,
    truth: Floats | None = None,
) -> Payoffs:
    """Return the payoffs with copies of agents; with ``rng`` their payoffs are measured again.

    A measurement is drawn around ``truth`` (n, n), or around the payoff, with the standard error of the original.
    Copies of one original are even, measured as precisely as the original's median pair.
    """
    n, originals = len(payoffs.agents), find_originals(copies, payoffs.agents, "agent")
    index = np.concatenate([np.arange(n), originals])
    grid = np.ix_(index, index)
    extra = {name: one[grid] for name in ("stderr", "games") if (one := getattr(payoffs, name)) is not None}
    A = payoffs.A[grid]
    if rng is not None:
        errors = payoffs.errors()
        assert errors is not None
        same = (index[:, None] == index) & ~np.eye(len(index), dtype=np.bool_)
        extra = {name: np.where(same, typical_values(getattr(payoffs, name))[index], extra[name]) for name in extra}
        spread = np.where(same, typical_values(errors)[index], errors[grid])
        noise = np.triu(np.where(np.isfinite(spread), spread, 0.0) * rng.standard_normal(A.shape), 1)
        fresh = np.arange(len(index)) >= n
        drawn = (payoffs.A if truth is None else truth)[grid] + noise - noise.T
        A = np.where(fresh[:, None] | fresh, drawn, A)
        if payoffs.scale != "logit" and payoffs.stderr is None:  # margins, of which numbers of games are known
            A = np.clip(A, -1.0, 1.0)
    return replace(
        payoffs,
        agents=(*payoffs.agents, *copy_names(payoffs.agents, originals)),
        A=A,
        origin=payoffs.origin.noting(f"{len(originals):,} copies entered"),
        **extra,
    )


def typical_values(values: Floats) -> Floats:
    """Return the median of each agent over the opponents with measured payoffs, (n, 1)."""
    measured = np.isfinite(values) & (values > 0)
    rows = (row[known] for row, known in zip(values, measured, strict=True))
    return np.array([[np.median(row) if row.size else 0.0] for row in rows])


def enter_in_scores(
    scores: Scores, kind: str, clones: Mapping[str, int], rng: np.random.Generator | None = None
) -> Scores:
    """Return the scores with clones of agents or tasks; with ``rng`` they have their own noise."""
    axis, names = (0, scores.agents) if kind == "agents" else (1, scores.tasks)
    originals = find_originals(clones, names, kind[:-1])
    index = np.concatenate([np.arange(len(names)), originals])
    per_cell = ("values", "stderr", "n", "runs", "filled")
    entered: dict[str, Any] = {name: np.take(getattr(scores, name), index, axis=axis) for name in per_cell}
    if rng is not None:
        values = entered["values"]
        noise = np.nan_to_num(np.take(known_noise(scores), index, axis=axis)) * rng.standard_normal(values.shape)
        share = scores.scaling == "raw" and np.nanmin(values) >= 0 and np.nanmax(values) <= 1
        values = values + noise * np.expand_dims(np.arange(len(index)) >= len(names), 1 - axis)
        entered["values"] = np.clip(values, 0.0, 1.0) if share else values
    if axis == 1:
        entered["lower_is_better"] = scores.lower_is_better[index]
        entered["groups"] = None if scores.groups is None else tuple(scores.groups[k] for k in index)
    entered[kind] = (*names, *copy_names(names, originals))
    origin = scores.origin.noting(f"{len(originals):,} copies entered")
    return replace(scores, single_runs=None, origin=origin, **entered)


ELO_TIES = 1e5  # ratings within a ten-thousandth of a point, the accuracy of the fit, share a rank


@dataclass(frozen=True, kw_only=True, eq=False)
class Experiment:
    """The entries of the board, those that can be copied, and the problem of both.

    The board is that of tasks if agents are copied in a table of scores. ``M`` (board, entries) are gains.
    """

    problem: Problem
    board: Kind
    kind: Kind
    names: tuple[str, ...]
    entries: tuple[str, ...]
    M: Floats

    @staticmethod
    def of(problem: Problem, kind: Kind | None = None) -> "Experiment":
        """Return the experiment in which agents or tasks are copied; by default tasks if there are tasks."""
        data = problem.data
        if kind not in (None, "agents", "tasks"):
            raise InputError(f"there are no {kind!r} to copy: use 'agents' or 'tasks'")
        if kind == "tasks" and not isinstance(data, Scores):
            raise InputError(f"{problem.kind} have no tasks: copy 'agents'")
        M, agents, tasks = problem.full_payoffs(), data.agents, data.tasks if isinstance(data, Scores) else None
        if tasks is None:
            return Experiment(problem=problem, board="agents", kind="agents", names=agents, entries=agents, M=M)
        if kind == "agents":
            return Experiment(problem=problem, board="tasks", kind="agents", names=tasks, entries=agents, M=-M.T)
        return Experiment(problem=problem, board="agents", kind="tasks", names=agents, entries=tasks, M=M)

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
    def scale(self) -> float:
        """The largest gain in absolute value, the measure of a tie."""
        return float(np.abs(self.M).max()) or 1.0

    def exact(self, method: Method, copies: Ints) -> MethodResult:
        """Return the result of the originals if entry k has ``copies[k]`` exact copies."""
        if method == "uniform":
            m = copies + 1.0
            return self.result(method, self.M @ m / m.sum())
        if not copies.any():
            return self.elo(self.data) if method == "elo" else self.nash(self.problem)
        entered = self.enter(copies)
        return self.elo(entered) if method == "elo" else self.nash(self.prepare_again(entered))

    def noisy(self, method: Method, data: Data, problem: Problem) -> MethodResult:
        """Return the result of the originals in data with noisy copies; ``problem`` is that of these data."""
        if method == "elo":
            return self.elo(data)
        if method == "nash":
            return self.nash(problem)
        other = Experiment.of(problem, self.kind)
        return self.result(method, other.M.mean(axis=1)[: len(self.names)])

    def prepare_again(self, data: Data, **changes: Any) -> Problem:
        """Return the problem of other data; if their classes have the same data, with the same draws."""
        again = self.problem.with_data(data, **changes)
        alike = len(again.exact.first) == len(self.problem.exact.first) and same_data(again.merged, self.problem.merged)
        if not changes and "draws" in vars(self.problem) and alike:
            for name in ("near_duplicates", "draws"):
                vars(again)[name] = getattr(self.problem, name)
        return again

    def enter(self, copies: Ints, rng: np.random.Generator | None = None) -> Data:
        """Return the data with copies."""
        wanted = {self.entries[k]: int(copies[k]) for k in np.flatnonzero(copies)}
        modelled = rng is not None and not self.problem.literal and not isinstance(self.data, Scores)
        truth = self.draw_truth(rng) if modelled and rng is not None else None
        if isinstance(self.data, Matches):
            return enter_agents(self.data, wanted, rng, truth)
        if isinstance(self.data, Payoffs):
            return enter_in_payoffs(self.data, wanted, rng, truth)
        return enter_in_scores(self.data, self.kind, wanted, rng)

    def draw_truth(self, rng: np.random.Generator) -> Floats:
        """Return the payoffs of all agents in one draw of the posterior; their mean if draws are not kept."""
        drawn, label = self.problem.draws.payoffs, self.problem.classes.label
        return self.M if drawn is None else np.asarray(drawn[rng.integers(len(drawn))][np.ix_(label, label)])

    @property
    def sided(self) -> bool:
        """Whether Elo takes out the advantage of a first side, as the board does if it is shown."""
        matches = isinstance(self.data, Matches) and not self.problem.literal
        return matches and self.problem.neutral[1] is not None

    def elo(self, data: Data) -> MethodResult:
        """Return Elo ratings of the originals, shifted to mean 0."""
        assert not isinstance(data, Payoffs)
        if isinstance(data, Matches):
            literal = self.problem.literal  # as on the board
            fit = elo(data, prior=ELO_PRIOR if literal else "learned", first_advantage=self.sided)
        else:
            fit = elo(task_games(data), prior=ELO_PRIOR)
        r = fit.ratings[: len(self.names)]
        points = r - r.mean() + 0.0
        return MethodResult(method="elo", names=self.names, scores=points, unit="Elo points", scale=ELO_TIES)

    def nash(self, problem: Problem) -> MethodResult:
        """Return minus the gaps of the originals: the posterior mean of an evaluation, with the entries at its top."""
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
            unit=self.problem.unit,
            scale=self.scale,
            certificate=certificate,
        )


def same_data(a: Data, b: Data) -> bool:
    """Return whether two data sets have the same numbers, bit for bit; names may differ."""
    if type(a) is not type(b):
        return False
    for one in fields(a):
        x, y = getattr(a, one.name), getattr(b, one.name)
        if isinstance(x, np.ndarray) and not np.array_equal(x, y, equal_nan=x.dtype.kind == "f"):
            return False
    return True


def choose_adversary(game: Experiment, counts: tuple[int, ...]) -> int:
    """Return the entry whose copies change the uniform winner with the fewest copies, or else move ranks most.

    Every entry is tried with every number of copies; of equal ones the first is taken.
    """
    M, n = game.M, len(game.entries)
    totals = M.sum(axis=1)
    before = tied_ranks(totals / n, game.scale)

    def rate_entry(k: int) -> tuple[float, float, float]:
        """Return how many copies change the winner, and minus the largest changes of a rank and of an average."""
        averages = [(totals + count * M[:, k]) / (n + count) for count in counts]
        ranks = [tied_ranks(average, game.scale) for average in averages]
        enough = (count for count, now in zip(counts, ranks, strict=True) if ((now == 1) != (before == 1)).any())
        most_moved = max(float(np.abs(now - before).max()) for now in ranks)
        return next(enough, np.inf), -most_moved, -float(np.abs(averages[-1] - totals / n).max())

    return min(range(n), key=rate_entry)
