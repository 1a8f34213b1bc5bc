"""The smallest set of votes, voters, items or tasks whose removal changes first place.

A judge decides who is first: Elo, the board of `evaluate`, or the plain mean of a table. A first-order approximation
predicts how the lead of the first over a challenger changes if one unit is removed (Broderick, Giordano and Meager
2020; Huang et al. 2026). Units are removed in that order, the judge decides again, and units are restored as long as
first place remains changed. On small data all smaller sets are searched, which proves the size. Every result is
confirmed by a fit to the remaining data.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement, islice
from math import comb
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from nashboard._tables import Column, Result, Table
from nashboard._text import either
from nashboard._types import Floats, Ints
from nashboard.data.games import Games
from nashboard.data.matches import Matches
from nashboard.data.scores import Scores
from nashboard.equilibrium.nash_average import nash_average
from nashboard.errors import InputError
from nashboard.evaluation.decide.compare import make_comparable
from nashboard.evaluation.decide.significance import point_effects
from nashboard.evaluation.evaluate import evaluate
from nashboard.evaluation.posterior.matches import expected_payoffs
from nashboard.ratings.errors import incidence
from nashboard.ratings.hierarchical.model import fit_hierarchical
from nashboard.ratings.likelihood import PairTotals, fit_totals, newton, solver, win_rates, with_normal_prior
from nashboard.ratings.prior import LearnedPrior, learn_prior_of
from nashboard.ratings.sides import neutralise_sides

By = Literal["votes", "voters", "items", "tasks"]
Judged = Literal["elo", "board", "mean"]
ROUNDING = 1e-8  # a lead that is more than rounding
OUTCOMES = ("wins", "draws", "losses")
RESULTS = ("win", "draw", "loss")
POINTS = np.array([1.0, 0.5, 0.0])
MOST_ENTRIES = 100_000  # agents times pairs times removals that are fitted together
MOST_STEPS, TOLERANCE = 20, 1e-9  # of Newton's method from the full fit; the tolerance is in logits
MOST_ROWS = 5  # rows of a log that are listed for each kind of vote


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Influence(Result):
    """The smallest set found whose removal changes first place.

    Parameters
    ----------
    first, new_first
        The first agent with all data, and without the set.
    rows
        The set: for votes agent a, agent b, the outcome for a, their number, and the rows of the log if they are known;
        for voters, items and tasks their name and the number of votes or columns.
    removed, total
        Size of the set, and of the data.
    minimal
        Whether it is proved that no smaller set changes first place.
    by, judge
        The kind of units, and the judge: ``"elo"``, ``"board"`` or ``"mean"``.
    sided
        Whether first sides have an advantage, which the board of `evaluate` takes out and neither judge does.
    """

    first: str
    new_first: str
    rows: tuple[tuple[Any, ...], ...]
    removed: int
    total: int
    minimal: bool
    by: By
    judge: Judged
    sided: bool = False

    computed = ("sentence",)

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        share = 100 * self.removed / self.total
        removed = "games" if self.by == "votes" else self.by
        proof = "no smaller set does" if self.minimal else "a smaller set may exist"
        means = {"elo": "by Elo", "board": "on the board", "mean": "by mean score"}[self.judge]
        return (
            f"Without {self.removed:,} of {self.total:,} {removed} ({share:.2g}%), {self.new_first} is first {means} "
            f"instead of {self.first}; {proof}."
            + " The advantage of a side is not taken out, as it is on the board of evaluate."
            * self.sided
        )

    def table(self) -> Table:
        """Return the units to remove."""
        columns: tuple[Column, ...] = (
            Column("a"),
            Column("b"),
            Column("outcome", "result of a against b"),
            Column("votes", "how many of these to remove"),
            Column("rows", "rows of the log to remove, from 1; other rows with the same agents and outcome do as well"),
        )
        if self.by == "voters":
            columns = (Column("voter"), Column("votes", "number of votes by this voter"))
        elif self.by != "votes":
            columns = (Column(self.by[:-1]), Column("lead", f"how far {self.first} is ahead of {self.new_first}"))
        return Table(columns=columns[: len(self.rows[0])], rows=self.rows)

    def __repr__(self) -> str:
        return f"Influence({self.removed:,} of {self.total:,} decide between {self.first!r} and {self.new_first!r})"


def influence(data: Matches | Games | Scores, *, by: By | None = None, judge: Judged | None = None) -> Influence:
    """Find the smallest set of votes, voters, items or tasks whose removal changes who is first.

    Parameters
    ----------
    data
        `Matches`, `Scores`, or `Games` (as `read_games` returns them), which name the rows and the voters.
    by
        The units. Matches: ``"votes"`` (default), or ``"voters"``: whole clusters, as read with ``cluster=``.
        Scores: columns are ``"items"`` (default where all are 0 or 1) or ``"tasks"``; of item-level scores ``"tasks"``
        removes all items of a task at once.
    judge
        What decides which agent is first: ``"elo"`` (default for matches; with the prior learned from all data),
        ``"mean"`` (default for scores: the plain mean of the columns) or ``"board"``, the smallest gap of `evaluate`.

    Examples
    --------
    >>> import nashboard as nb
    >>> matches = nb.Matches.from_counts([[0, 6, 9], [4, 0, 9], [1, 2, 0]], agents=["A", "B", "C"])
    >>> nb.influence(matches).sentence
    'Without 3 of 31 games (9.7%), B is first by Elo instead of A; no smaller set does.'
    """
    if not isinstance(data, Matches | Games | Scores):
        raise InputError(f"influence takes Matches, Games or Scores, not {type(data).__name__}")
    kinds, judges = ("items", "tasks"), ("mean", "board")
    if not isinstance(data, Scores):
        kinds, judges = ("votes", "voters"), ("elo", "board")
    for option, value, allowed in (("by", by, kinds), ("judge", judge, judges)):
        if value is not None and value not in allowed:
            raise InputError(f"{option} is {value!r}: for these data use {either(allowed)}", option=option)
    if isinstance(data, Scores):
        return influence_on_scores(data, by, judge or "mean")
    return influence_on_matches(data, by or "votes", judge or "elo")


@dataclass(frozen=True, kw_only=True, eq=False)
class Judge(ABC):
    """A rule that decides which agent is first; ``capacity`` (k,) units of each kind can be removed.

    The other fields limit the work: ``challengers`` that are tried, ``fits`` of a search, and ``trims`` of a set.
    """

    capacity: Ints
    challengers: int = 8
    fits: int = 20_000
    trims: int = 1_000

    batch_size = 1  # removals that are fitted at a time

    @abstractmethod
    def scores_without(self, take: Ints) -> Floats:
        """Return a number per agent, the best the highest, fitted without ``take`` (k,) units of each kind."""

    @abstractmethod
    def effects(self, take: Ints, first: int, challenger: int) -> Floats:
        """Return how the lead of the first over a challenger changes, to first order, if one more unit is removed."""

    def scores_without_each(self, takes: Ints) -> Floats:
        """Return the scores for several removals (b, k)."""
        return np.stack([self.scores_without(take) for take in takes])


@dataclass(frozen=True, kw_only=True, eq=False)
class VoteJudge(Judge):
    """A judge of matches; ``units`` (k, 3p) are the votes of one unit of each kind."""

    matches: Matches
    units: csr_array

    def counts_without(self, take: Ints) -> Floats:
        """Return the remaining wins, draws and losses, (p, 3) or, for several removals (b, k), (b, p, 3)."""
        all_votes = count_votes(self.matches)
        return np.asarray(all_votes - (take @ self.units).reshape(*take.shape[:-1], *all_votes.shape))


@dataclass(frozen=True, kw_only=True, eq=False)
class EloJudge(VoteJudge):
    """Elo ratings with the prior learned from all data."""

    prior: LearnedPrior

    def totals_without(self, take: Ints) -> PairTotals:
        """Return the remaining points."""
        counts = self.counts_without(take)
        i, j = self.matches.pairs.T
        won = counts @ POINTS
        lost, prior = counts.sum(axis=1) - won, self.prior
        return with_normal_prior(len(self.matches.agents), i, j, won, lost, prior.sigma, prior.normal)

    def scores_without(self, take: Ints) -> Floats:
        """Return the ratings in log-odds."""
        return fit_totals(self.totals_without(take), np.zeros(len(self.matches.agents)))

    @property
    def batch_size(self) -> int:  # type: ignore[override]
        """Number of removals that are fitted at a time: one in large leagues."""
        return max(1, MOST_ENTRIES // (len(self.matches.agents) * (len(self.matches.pairs) + self.prior.normal.i.size)))

    @cached_property
    def full_fit(self) -> tuple[PairTotals, Floats]:
        """The points of all votes, and the ratings of all nodes from them."""
        totals = self.totals_without(np.zeros_like(self.capacity))
        r = np.zeros(totals.nodes)
        newton(totals, r, np.ones(r.size, dtype=bool))
        return totals, r

    def scores_without_each(self, takes: Ints) -> Floats:
        """Return the scores for several removals (b, k), fitted together by Newton's method from the full fit."""
        if self.batch_size == 1:
            return super().scores_without_each(takes)
        (full, r), played = self.full_fit, len(self.matches.pairs)
        i, j, n = full.i, full.j, full.nodes
        counts = self.counts_without(takes)
        games, won = np.zeros((2, len(takes), i.size))
        games[:, :played], won[:, :played] = counts.sum(axis=2), counts @ POINTS
        precision = np.append(np.zeros(played), full.precision)
        J = incidence(n, i, j).toarray()
        R, step = np.tile(r, (len(takes), 1)), np.full((len(takes), n), np.inf)
        for _ in range(MOST_STEPS):
            x = R[:, i] - R[:, j]
            p = win_rates(x)
            slopes, curvatures = games * p - won + precision * x, games * p * (1 - p) + precision
            H = (J.T * curvatures[:, None, :]) @ J + 1.0  # the constant direction is free
            step = np.linalg.solve(H, (slopes @ J)[..., None])[..., 0]
            R -= step
            if np.abs(step).max() < TOLERANCE:
                break
        sure = np.abs(step).max(axis=1) < TOLERANCE
        scores = R[:, :-1] - R[:, :-1].mean(axis=1, keepdims=True)
        for row in np.flatnonzero(~sure):
            scores[row] = self.scores_without(takes[row])
        return np.asarray(scores)

    def effects(self, take: Ints, first: int, challenger: int) -> Floats:
        """Return the effect of one vote: ``-(e_first - e_challenger)' H^-1 (e_i - e_j) (y - p)``."""
        r, totals, (i, j) = self.scores_without(take), self.totals_without(take), self.matches.pairs.T
        p = 1 / (1 + np.exp(r[j] - r[i]))
        contrast = np.zeros(len(r) + 1)
        contrast[first], contrast[challenger] = 1.0, -1.0
        nodes = np.append(r, 0.0)
        curvatures = totals.derivatives(nodes[totals.i] - nodes[totals.j])[1]
        g = solver(len(nodes), totals.i, totals.j, curvatures, np.ones(len(nodes), dtype=bool), rtol=1e-6)(contrast)
        return np.asarray(self.units @ (-(g[i] - g[j])[:, None] * (POINTS - p[:, None])).ravel())


@dataclass(frozen=True, kw_only=True, eq=False)
class BoardJudge(VoteJudge):
    """The board of `evaluate`: the agent with the smallest gap is first."""

    challengers: int = 3
    fits: int = 400
    trims: int = 60

    def scores_without(self, take: Ints) -> Floats:
        """Return minus the gaps; zeros if the remaining data cannot be evaluated."""
        return score_by_board(self.matches.agents, lambda: with_counts(self.matches, self.counts_without(take)))

    def effects(self, take: Ints, first: int, challenger: int) -> Floats:
        """Return the effect of one vote on averages against the equilibrium: by ratings, and by its own pair."""
        counts = self.counts_without(take)
        counts[counts.sum(axis=1) == 0, 1] = 1e-6  # pairs without votes stay in the list
        fit = fit_hierarchical(with_counts(self.matches, counts))
        weight = nash_average(expected_payoffs(fit)).weights
        i, j, contrast = fit.counts.i, fit.counts.j, np.zeros(len(weight))
        contrast[first], contrast[challenger] = 1.0, -1.0
        effect, p = point_effects(fit, contrast, contrast[i] * weight[j] - contrast[j] * weight[i])
        return np.asarray(self.units @ -(effect[:, None] * (POINTS - p[:, None])).ravel())


def score_by_board(agents: tuple[str, ...], rest: Any) -> Floats:
    """Return minus the gaps of the board, -inf for agents that are not on it, and zeros if there is no board."""
    try:
        posterior = evaluate(rest(), methods=("nash",)).posterior
    except InputError:
        return np.zeros(len(agents))
    gap = dict(zip(posterior.agents, posterior.gap, strict=True))
    return np.array([-gap.get(name, np.inf) for name in agents])


@dataclass(frozen=True, kw_only=True, eq=False)
class TableJudge(Judge):
    """Scores by the plain mean, or by the board; ``group`` (n,) is the unit of each column."""

    scores: Scores
    values: Floats
    group: Ints
    by_board: bool

    def scores_without(self, take: Ints) -> Floats:
        """Return mean scores, or minus the gaps of the board."""
        kept = np.flatnonzero(take[self.group] == 0)
        if not self.by_board:
            return np.asarray(self.values[:, kept].mean(axis=1))
        tasks = [self.scores.tasks[k] for k in kept]
        return score_by_board(self.scores.agents, lambda: self.scores.select(tasks=tasks))

    def effects(self, take: Ints, first: int, challenger: int) -> Floats:
        """Return minus the lead on each unit, exact for the mean: the order of removal that lowers it fastest."""
        lead = self.values[first] - self.values[challenger]
        return np.asarray(-np.bincount(self.group, lead, minlength=len(self.capacity)), dtype=np.float64)


def find_smallest(judge: Judge, first: int) -> tuple[Ints | None, bool]:
    """Return the smallest removal found that changes first place, and whether all smaller ones were searched."""
    order = np.argsort(-judge.scores_without(np.zeros_like(judge.capacity)), kind="stable")
    best: Ints | None = None
    for challenger in [int(k) for k in order if k != first][: judge.challengers]:
        take = np.zeros_like(judge.capacity)
        for _ in range(3):  # effects change as units are removed: order them again at the last removal
            effect = judge.effects(take, first, challenger)
            shorter = find_shortest_prefix(judge, effect, first, None if best is None else int(best.sum()) - 1)
            if shorter is None:
                break
            best = take = shorter
    if best is None:
        return None, False
    best = restore_units(judge, best, first)
    smaller, searched = search_smaller(judge, first, int(best.sum()))
    return (best if smaller is None else smaller), searched


def changes_first(judge: Judge, take: Ints, first: int) -> bool:
    """Return whether another agent is first without these units."""
    scores = judge.scores_without(take)
    return bool(scores.max() > scores[first] + ROUNDING)


def find_shortest_prefix(judge: Judge, effect: Floats, first: int, most: int | None) -> Ints | None:
    """Return the fewest units, those with the largest effect first, that change first place; None beyond ``most``."""
    order = np.argsort(effect, kind="stable")
    order = order[effect[order] < 0]
    ends = np.cumsum(judge.capacity[order])

    def take_prefix(size: int) -> Ints:
        take = np.zeros_like(judge.capacity)
        take[order] = np.clip(size - (ends - judge.capacity[order]), 0, judge.capacity[order])
        return take

    def is_enough(size: int) -> bool:
        return changes_first(judge, take_prefix(size), first)

    limit = min(int(ends[-1]) if ends.size else 0, int(judge.capacity.sum()) - 1, most if most is not None else 2**62)
    high = 1
    while high < limit and not is_enough(high):
        high *= 2
    high = min(high, limit)
    if high < 1 or not is_enough(high):
        return None
    return take_prefix(bisect_left(range(high), True, lo=high // 2 + 1, key=is_enough))


def restore_units(judge: Judge, take: Ints, first: int) -> Ints:
    """Restore units one at a time, as long as first place remains changed."""
    tried = 0
    for k in np.flatnonzero(take):
        while take[k] and take.sum() > 1 and tried < judge.trims:
            trial = take.copy()
            trial[k] -= 1
            tried += 1
            if not changes_first(judge, trial, first):
                break
            take = trial
    return take


def search_smaller(judge: Judge, first: int, size: int) -> tuple[Ints | None, bool]:
    """Return a smaller removal if an exhaustive search finds one, and whether the search was small enough to run."""
    kinds = len(judge.capacity)
    if sum(comb(kinds + k - 1, k) for k in range(1, size)) > judge.fits:
        return None, False
    sets = (
        take
        for k in range(1, size)
        for chosen in combinations_with_replacement(range(kinds), k)
        if ((take := np.bincount(chosen, minlength=kinds)) <= judge.capacity).all()
    )
    while batch := list(islice(sets, judge.batch_size)):
        scores = judge.scores_without_each(np.stack(batch))
        changed = np.flatnonzero(scores.max(axis=1) > scores[:, first] + ROUNDING)
        if changed.size:
            return batch[int(changed[0])], True
    return None, True


def influence_on_matches(data: Matches | Games, by: By, judge: Judged) -> Influence:
    """Find decisive votes or voters."""
    matches = data.matches() if isinstance(data, Games) else data
    matches.require_counts()
    matches.require_connected()
    counts = count_votes(matches)
    if (counts != counts.round()).any():
        raise InputError("influence needs whole numbers of votes, and some counts are fractions")
    split = matches.clusters
    kinds = np.argwhere(counts > 0)
    if by == "votes":
        cells = (np.arange(len(kinds)), 3 * kinds[:, 0] + kinds[:, 1])
        units = csr_array((np.ones(len(kinds)), cells), shape=(len(kinds), counts.size))
        capacity = counts[tuple(kinds.T)].astype(np.intp)
    elif split is None:
        raise InputError("who cast which vote is not known", hint="name the column of voters when reading, cluster=")
    else:
        parts = [(split.cluster, 3 * split.pair + k, getattr(split, name)) for k, name in enumerate(OUTCOMES)]
        voter, outcome_of, votes = (np.concatenate(part) for part in zip(*parts, strict=True))
        units = csr_array((votes, (voter, outcome_of)), shape=(split.size, counts.size))
        capacity = np.ones(split.size, dtype=np.intp)
    plain = replace(matches, clusters=None, sides=None)
    model: Judge = BoardJudge(matches=plain, units=units, capacity=capacity)
    if judge == "elo":
        prior = learn_prior_of(matches, np.zeros(len(plain.agents) + 1))
        model = EloJudge(matches=plain, units=units, capacity=capacity, prior=prior)
    first, new, take, minimal = find_decisive(model, matches.agents, by)
    rows: list[tuple[Any, ...]] = []
    places = group_rows(data) if isinstance(data, Games) else None
    for k in np.flatnonzero(take):
        if by == "voters":
            name = data.cluster_names[k] if isinstance(data, Games) else f"cluster {k + 1}"
            rows.append((name, int(units[[k]].sum())))
            continue
        pair, outcome = kinds[k]
        i, j = matches.pairs[pair]
        where = () if places is None else (list_rows(places[i, j, outcome], int(take[k])),)
        rows.append((matches.agents[i], matches.agents[j], RESULTS[outcome], int(take[k]), *where))
    return Influence(
        first=matches.agents[first],
        new_first=matches.agents[new],
        rows=tuple(rows),
        removed=int(take.sum()),
        total=int(capacity.sum()),
        minimal=minimal,
        by=by,
        judge=judge,
        sided=neutralise_sides(matches)[1] is not None,
    )


def find_decisive(judge: Judge, agents: tuple[str, ...], by: By) -> tuple[int, int, Ints, bool]:
    """Return the first agent, the first one without the smallest removal, the removal, and whether it is minimal."""
    first = int(np.argmax(judge.scores_without(np.zeros_like(judge.capacity))))
    take, minimal = find_smallest(judge, first)
    if take is None:
        hint = "single items may: use {option} items" if by == "tasks" else None
        raise InputError(
            f"no set of {by} was found whose removal changes first place: {agents[first]!r} stays first",
            hint=hint,
            option="by",
        )
    return first, int(np.argmax(judge.scores_without(take))), take, minimal


def group_rows(games: Games) -> dict[tuple[int, int, int], list[int]]:
    """Return the rows of a log, from 1, by both agents (as numbered in its matches) and the outcome for the first."""
    used = np.unique(np.concatenate([games.first, games.second]))
    a, b = np.searchsorted(used, games.first), np.searchsorted(used, games.second)
    flip = a > b
    outcome = np.stack([games.wins, games.draws, games.losses], axis=1).argmax(axis=1)
    outcome = np.where(flip, 2 - outcome, outcome)
    rows: dict[tuple[int, int, int], list[int]] = {}
    for row, key in enumerate(zip(*np.where(flip, (b, a), (a, b)).tolist(), outcome.tolist(), strict=True), 1):
        rows.setdefault(key, []).append(row)
    return rows


def list_rows(rows: list[int], count: int) -> str:
    """Return the first rows of a kind as text."""
    text = ", ".join(f"{row:,}" for row in rows[: min(count, MOST_ROWS)])
    return text if count <= MOST_ROWS else f"{text}, ..."


def influence_on_scores(scores: Scores, by: By | None, judge: Judged) -> Influence:
    """Find decisive columns, or groups of columns."""
    scores.require_complete()
    if len(scores.agents) < 2:
        raise InputError(f"influence needs at least two agents; there is only {scores.agents[0]!r}")
    values, _, _ = make_comparable(scores)
    names, group = list(scores.tasks), np.arange(len(scores.tasks))
    if scores.groups is not None and by != "items":
        labels, group = np.unique(np.asarray(scores.groups), return_inverse=True)
        names = [str(label) for label in labels]
    by_board = judge == "board"
    limits = {"challengers": 3, "fits": 200, "trims": 60} if by_board else {"challengers": len(scores.agents)}
    capacity = np.ones(len(names), dtype=np.intp)
    model = TableJudge(scores=scores, values=values, group=group, by_board=by_board, capacity=capacity, **limits)
    items = scores.groups is None and bool(np.isin(scores.values, (0.0, 1.0)).all())
    by = by or ("items" if items else "tasks")
    first, new, take, minimal = find_decisive(model, scores.agents, by)
    exact = not by_board and len(names) == len(scores.tasks)  # removing the largest leads is then optimal
    lead = -model.effects(take, first, new)
    return Influence(
        first=scores.agents[first],
        new_first=scores.agents[new],
        rows=tuple((names[k], float(lead[k])) for k in sorted(np.flatnonzero(take), key=lambda k: -lead[k])),
        removed=int(take.sum()),
        total=len(names),
        minimal=minimal or exact,
        by=by,
        judge=judge,
    )


def count_votes(matches: Matches) -> Floats:
    """Return wins, draws and losses of the pairs (p, 3)."""
    return np.stack([getattr(matches, name) for name in OUTCOMES], axis=1)


def with_counts(matches: Matches, counts: Floats) -> Matches:
    """Return the matches with other wins, draws and losses (p, 3); pairs without games are left out."""
    kept = counts.sum(axis=1) > 0
    left = dict(zip(OUTCOMES, counts[kept].T, strict=True))
    return replace(matches, pairs=matches.pairs[kept], clusters=None, sides=None, fractions=None, **left)
