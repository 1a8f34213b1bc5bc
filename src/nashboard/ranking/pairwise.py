"""The input of every method: pairwise results, and the table of scores if there is one.

Symbols: ``W`` wins (n, n), ``W[i, j]`` how often i beat j; ``D`` draws, symmetric; ``A`` payoffs (n, n),
antisymmetric; ``P`` win rates; ``M = 2 P - 1`` margins; ``S`` scores (n agents, t tasks), higher better.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from nashboard._types import Bools, Floats, Ints, read_only
from nashboard.algebra.flows import refuse_size
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs, checked_prior, log_odds, payoffs, smoothed_counts
from nashboard.data.scores import Scaling, Scores
from nashboard.data.segments import Segments
from nashboard.equilibrium.nash_average import nash_average, nash_average_scores
from nashboard.equilibrium.results import NashAverage, ScoreNashAverage
from nashboard.errors import InputError

KINDS = ("matches", "payoffs", "scores")
COUNTED = "scores keep their units here, so tasks on which all agents have the same score are included"
EQUAL = 1e-12  # margins closer than this are equal


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairwise:
    """Results of all pairs of agents."""

    kind: str  # "matches", "payoffs" or "scores"
    agents: tuple[str, ...]
    payoffs: Floats  # (n, n) antisymmetric; pairs that never met are filled in
    unit: str  # of the payoffs
    # wins, draws: (n, n) games, or tasks on which the row agent has the better (an equal) score; None for payoffs
    wins: Floats | None = None
    draws: Floats | None = None
    played: Floats | None = None  # (n, n) games behind payoffs; None for one of each pair
    table: Floats | None = None  # (n, t) scores in comparable units, higher better; None without tasks
    raw: Floats | None = None  # (n, t) scores in their own units, higher better
    # for each agent (runs, t) scores in their own units, higher better, where single runs are known
    runs: tuple[Floats, ...] | None = None
    averaged: int = 1  # of how many runs a score of the table is the mean, at most
    scaling: str = "given"  # how the table was scaled, as in `Scores.scale`; "given" if it came in comparable units
    # (t, n, n) margins on each prompt, 0 where a pair has no game on it; None where prompts are not known
    prompts: Floats | None = None
    tasks: tuple[str, ...] = ()  # (t,) names of the columns of the table, where they are known
    notes: tuple[str, ...] = ()  # what was filled in or left out

    @property
    def size(self) -> int:
        """Number of agents."""
        return len(self.agents)

    @cached_property
    def largest(self) -> float:
        """The largest payoff."""
        return float(np.abs(self.payoffs).max(initial=0.0))

    @property
    def payoff_margins(self) -> Floats | None:
        """Payoffs as win rate minus loss rate, or None in an unknown unit."""
        if self.unit == "logit":
            return np.tanh(self.payoffs / 2)  # 2 s(x) - 1
        return self.payoffs if self.unit == "margin" and np.abs(self.payoffs).max(initial=0.0) <= 1 else None

    @cached_property
    def counts(self) -> tuple[Floats, Floats]:
        """Wins and draws, or an error for payoffs in an unknown unit."""
        if self.wins is not None and self.draws is not None:
            return self.wins, self.draws
        M = self.payoff_margins
        if M is None:
            raise InputError(
                "these payoffs have no known unit, so they do not say how often an agent wins: this method needs "
                "matches, scores, or payoffs in log-odds or margins"
            )
        W = (1 + M) / 2 * (1.0 if self.played is None else self.played)
        np.fill_diagonal(W, 0.0)
        return read_only(W), read_only(np.zeros_like(W))

    @cached_property
    def games(self) -> Floats:
        """``(n, n)`` games of each pair."""
        W, D = self.counts
        return read_only(W + W.T + D)

    @cached_property
    def points(self) -> Floats:
        """``(n, n)`` wins, with half of the draws."""
        W, D = self.counts
        return read_only(W + D / 2)

    @cached_property
    def margins(self) -> Floats:
        """``(n, n)`` win rate minus loss rate, to 1e-12; from the payoffs where a pair never met.

        Payoffs in an unknown unit are divided by the largest, which changes no order.
        """
        M = self.payoff_margins
        if M is None:
            M = self.payoffs / (self.largest or 1.0)
        if self.wins is not None:
            W, N = self.wins, self.games
            met = N > 0
            M = np.where(met, (W - W.T) / np.where(met, N, 1.0), M)
        whole = np.rint((M - M.T) / (2 * EQUAL))  # margins that differ by rounding only are equal
        return read_only(whole * EQUAL)

    @cached_property
    def matches(self) -> Matches:
        """The counts as `Matches`, for methods that fit a likelihood."""
        W, D = self.counts
        return Matches.from_counts(W, self.agents, draws=D)

    @cached_property
    def equilibrium(self) -> NashAverage | ScoreNashAverage:
        """Nash average of the table, or of the payoffs, which several methods use."""
        return nash_average(self.payoffs) if self.table is None else nash_average_scores(self.table)

    def take(self, kept: Sequence[int] | Ints) -> "Pairwise":
        """Return the agents at these positions; a position that occurs again is an exact copy.

        A copy has the results of the original against all others and none against it. Scores are scaled again.
        """
        kept = np.asarray(kept, dtype=np.intp)
        cut = np.ix_(kept, kept)
        same = kept[:, None] == kept

        def select(matrix: Floats | None) -> Floats | None:
            return None if matrix is None else read_only(np.where(same, 0.0, matrix[cut]))

        seen: dict[int, int] = {}
        names = []
        for k in kept.tolist():
            seen[k] = seen.get(k, 0) + 1
            names.append(self.agents[k] if seen[k] == 1 else f"{self.agents[k]} (copy {seen[k] - 1})")
        if self.table is not None and self.raw is not None:
            S = self.table[kept] if self.scaling == "given" else scale_scores(self.raw[kept], self.scaling)
            new = from_table(tuple(names), S, self.raw[kept], scaling=self.scaling, notes=self.notes)
            return new if self.runs is None else replace(new, runs=tuple(self.runs[k] for k in kept))
        every = np.ones_like(self.payoffs) if self.kind == "payoffs" and self.played is None else self.played
        return replace(
            self,
            agents=tuple(names),
            wins=select(self.wins),
            draws=select(self.draws),
            played=select(every),
            payoffs=read_only(self.payoffs[cut]),
            prompts=None if self.prompts is None else read_only(self.prompts[:, kept[:, None], kept]),
        )

    def with_prompts(self, prompts: Segments) -> "Pairwise":
        """Return the matches with their margins on each prompt."""
        return replace(self, prompts=read_only(prompt_margins(require_matches(prompts), self.agents)))

    def copy_task(self, task: int, copies: int) -> "Pairwise":
        """Return a table with ``copies`` more columns of a task, given by its position in ``table``."""
        assert self.table is not None
        assert self.raw is not None
        again = np.append(np.arange(self.table.shape[1]), np.repeat(task, copies))
        of_raw = np.append(np.arange(self.raw.shape[1]), np.repeat(self.compared_tasks[task], copies))
        new = from_table(self.agents, self.table[:, again], self.raw[:, of_raw], scaling=self.scaling, notes=self.notes)
        return new if self.runs is None else replace(new, runs=tuple(one[:, of_raw] for one in self.runs))

    @property
    def compared_tasks(self) -> Ints:
        """Columns of the raw scores that are in the table, which leaves out tasks on which all agents are equal."""
        assert self.raw is not None
        assert self.table is not None
        every = np.arange(self.raw.shape[1])
        return every if self.raw.shape == self.table.shape else every[np.ptp(self.raw, axis=0) > 0]

    @property
    def compared_raw(self) -> Floats:
        """``(n, t)`` raw scores on the tasks of the table."""
        assert self.raw is not None
        return self.raw[:, self.compared_tasks]

    @property
    def in_own_units(self) -> bool:
        """Whether scores are not scaled, so that a task on which all agents are equal has a unit too."""
        return self.scaling in ("given", "none")

    @property
    def scores(self) -> Floats | None:
        """``(n, t)`` scores in comparable units, or on all tasks in their own; None without tasks."""
        return self.raw if self.in_own_units else self.table

    @property
    def single_scores(self) -> tuple[Floats, ...] | None:
        """Single runs of each agent in the units of ``scores``; None where they are unknown or scaled to ranks."""
        if self.runs is None or self.in_own_units:
            return self.runs
        if self.scaling == "rank" or self.table is None:
            return None
        raw, each = self.compared_raw, np.arange(self.table.shape[1])
        low, high = raw.argmin(axis=0), raw.argmax(axis=0)
        zero, unit = raw[low, each], (raw[high, each] - raw[low, each]) / np.ptp(self.table, axis=0)
        return tuple((one[:, self.compared_tasks] - zero) / unit + self.table[low, each] for one in self.runs)

    @property
    def counted_tasks(self) -> tuple[str, ...]:
        """A note for methods that count tasks on which all agents are equal, if there are any."""
        equal = self.raw is not None and self.table is not None and self.raw.shape != self.table.shape
        return (COUNTED,) if equal else ()


def pairwise(data: Any, *, scaling: Scaling = "range") -> Pairwise:
    """Prepare `Matches`, `Scores`, `Payoffs`, a payoff matrix or single runs for every method.

    Single runs are a mapping from each agent to its ``(runs, tasks)`` scores, as in rliable. `Segments` of matches are
    prompts: most methods pool them.
    """
    if isinstance(data, Pairwise):
        return data
    if isinstance(data, Matches):
        return from_matches(data)
    if isinstance(data, Scores):
        return from_scores(data, scaling)
    if isinstance(data, Segments):
        return from_segments(data)
    if isinstance(data, Payoffs):
        return from_payoffs(data)
    return from_runs(data) if isinstance(data, Mapping) else from_payoffs(Payoffs.from_array(data))


def from_matches(data: Matches) -> Pairwise:
    """Count wins and draws; payoffs are log-odds of every pair, those of pairs that never met as Elo predicts.

    Elo is fitted with exact copies merged, so that copies do not change filled pairs.
    """
    data.require_connected()
    n = len(data.agents)
    i, j = data.pairs.T
    W, D = np.zeros((n, n)), np.zeros((n, n))
    W[i, j], W[j, i] = data.wins, data.losses
    D[i, j] = D[j, i] = data.draws
    unmet = n * (n - 1) // 2 - len(data.pairs)
    if not unmet:
        A = np.zeros((n, n))
        A[i, j] = log_odds(data, *smoothed_counts(data, checked_prior(None, "logit")))  # as in `payoffs`
        A[j, i] = -A[i, j]
        found = Pairwise(
            kind="matches", agents=data.agents, wins=read_only(W), draws=read_only(D), payoffs=read_only(A + 0.0),
            unit="logit",
        )  # fmt: skip
        if data.clusters is None:
            found.__dict__["matches"] = data  # the value of the cached property
        return found
    first, group = group_equal_rows(np.hstack([W, W.T, D]))  # copies never met, or tied in all games
    names = [data.agents[k] for k in first]
    merged = payoffs(data.select(names), fill="model") if len(first) > 1 else None
    A = np.zeros((n, n)) if merged is None else merged.A[np.ix_(group, group)]
    filled = 0 if merged is None else merged.filled
    notes = (f"{filled:,} pairs of {len(first):,} agents never met: Elo predicts their payoffs",)
    return Pairwise(
        kind="matches", agents=data.agents, wins=read_only(W), draws=read_only(D), payoffs=read_only(A), unit="logit",
        notes=notes if filled else (),
    )  # fmt: skip


def from_segments(data: Segments) -> Pairwise:
    """Pool the matches of all prompts, and keep the margins of each."""
    parts = require_matches(data)
    agents = tuple(dict.fromkeys(name for part in parts for name in part.agents))
    at = {name: k for k, name in enumerate(agents)}
    n = len(agents)
    margins, W, D = prompt_margins(parts, agents), np.zeros((n, n)), np.zeros((n, n))
    for part in parts:
        i, j = np.array([at[name] for name in part.agents])[part.pairs.T]
        W[i, j] += part.wins
        W[j, i] += part.losses
        D[i, j] += part.draws
        D[j, i] += part.draws
    pooled = from_matches(Matches.from_counts(W, agents, draws=D))
    return replace(pooled, prompts=read_only(margins), notes=(*pooled.notes, *data.notes))


def require_matches(data: Segments) -> list[Matches]:
    """Return the matches of each prompt, or an error for other data."""
    parts = [part for part in data.parts.values() if isinstance(part, Matches)]
    if not parts or len(parts) < len(data.parts):
        raise InputError("segments can only be ranked if they are matches, and there must be at least one")
    return parts


def prompt_margins(parts: Sequence[Matches], agents: tuple[str, ...]) -> Floats:
    """Return the margins of these agents on each prompt, ``(t, n, n)``."""
    at, n = {name: k for k, name in enumerate(agents)}, len(agents)
    refuse_size((len(parts), n, n), "margins on all prompts", "use categories of prompts")
    margins = np.zeros((len(parts), n, n))
    for M, part in zip(margins, parts, strict=True):
        i, j = np.array([at.get(name, -1) for name in part.agents])[part.pairs.T]
        kept = (i >= 0) & (j >= 0)
        M[i[kept], j[kept]] = ((part.wins - part.losses) / part.games)[kept]
        M[j[kept], i[kept]] = -M[i[kept], j[kept]]
    return margins


def group_equal_rows(lines: Floats) -> tuple[Ints, Ints]:
    """Return the first row of each group of equal rows, and the group of each row."""
    numbers: dict[bytes, int] = {}
    rows = np.ascontiguousarray(lines + 0.0)
    group = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows], dtype=np.intp)
    return np.asarray(np.unique(group, return_index=True)[1], dtype=np.intp), group


def order_without_names(C: Floats) -> tuple[Ints, Ints]:
    """Return an order of agents that depends only on the matrix ``C``, and the class of each agent.

    Agents of one class have the same entries against every class; the order among them is one of several that give the
    same matrix. Classes are split until none splits; then one agent of the first remaining class is separated.
    """
    first, alike = group_equal_rows(C)  # copies need no order
    C = C[np.ix_(first, first)]
    group = classes = split_classes(C, np.bincount(alike))
    while (size := np.bincount(group)).max() > 1:
        group = 2 * group
        group[np.flatnonzero(group == 2 * np.argmax(size > 1))[0]] -= 1
        group = split_classes(C, group)
    return np.argsort(group[alike], kind="stable"), classes[alike]


def split_classes(C: Floats, group: Ints) -> Ints:
    """Return classes of agents with the same entries against every class; their numbers do not depend on names."""
    count = 0
    group = np.unique(group, return_inverse=True)[1]
    while group.max() >= count:
        count = int(group.max()) + 1
        at = [np.lexsort((row, group)) for row in C]
        keys = [np.concatenate([[own], group[k], row[k]]) for own, row, k in zip(group, C, at, strict=True)]
        group = np.unique(np.array(keys), axis=0, return_inverse=True)[1].reshape(-1)
    return group


def chain_lengths(above: Bools) -> Ints:
    """Return for a strict partial order, ``above[i, j]`` if i is above j, the longest chain above each agent."""
    level = np.zeros(len(above), dtype=np.intp)
    waiting = above.sum(axis=0)
    left = np.ones(len(above), dtype=np.bool_)
    for depth in range(len(above)):
        top = left & (waiting == 0)
        level[top] = depth
        left &= ~top
        if not left.any():
            break
        waiting = waiting - above[top].sum(axis=0)
    return level


def from_payoffs(data: Payoffs) -> Pairwise:
    """Take payoffs; if their unit is known, each pair counts as one game unless numbers of games are given."""
    return Pairwise(kind="payoffs", agents=data.agents, payoffs=data.A, unit=data.scale, played=data.games)


def from_scores(data: Scores, scaling: Scaling) -> Pairwise:
    """Compare agents on each task; tasks on which all agents are equal are left out."""
    data.require_complete()
    used = data.without_constant_tasks()
    notes = tuple(note for note in used.origin.notes if note not in data.origin.notes)
    if data.scaling != "raw":
        found = from_table(data.agents, used.values, data.values, notes=notes)
    else:
        raw = data.scale("none").values
        found = from_table(data.agents, used.scale(scaling).values, raw, scaling=scaling, notes=notes)
    return replace(found, tasks=used.tasks, averaged=int(data.runs.max(initial=1)), runs=full_runs(data))


def full_runs(data: Scores) -> tuple[Floats, ...] | None:
    """Return for each agent ``(runs, t)`` scores, higher better; None unless it ran all tasks equally often."""
    if data.single_runs is None:
        return None
    runs = np.where(data.lower_is_better, -data.single_runs, data.single_runs) + 0.0
    count = np.isfinite(runs).sum(axis=0)
    if (count != count[:, :1]).any() or data.filled.any():
        return None
    return tuple(runs[: count[k, 0], k] for k in range(len(data.agents)))


def scale_scores(raw: Floats, scaling: str) -> Floats:
    """Scale scores whose higher values are better, as `from_scores` does."""
    return Scores.from_array(raw).without_constant_tasks().scale(cast(Scaling, scaling)).values


def from_runs(data: Mapping[str, Any]) -> Pairwise:
    """Take single runs, ``{agent: (runs, tasks)}``."""
    try:
        runs = tuple(np.asarray(values, dtype=np.float64) for values in data.values())
    except (TypeError, ValueError) as error:
        raise InputError(f"the runs must be arrays of numbers, runs x tasks: {error}") from None
    if not runs or any(one.ndim != 2 or one.shape[1] != runs[0].shape[1] or not one.size for one in runs):
        raise InputError("each agent needs an array of runs x tasks, with the same tasks for all agents")
    names = tuple(str(name) for name in data)
    with np.errstate(invalid="ignore"):
        means = np.array([one.mean(axis=0) for one in runs])
    if not np.isfinite(means).all():
        raise InputError("the runs contain a score that is not finite: leave out tasks that were not run")
    return replace(from_table(names, means, means), runs=runs)


def from_table(
    agents: tuple[str, ...], S: Floats, raw: Floats, *, scaling: str = "given", notes: tuple[str, ...] = ()
) -> Pairwise:
    """Compare agents on each task of a complete table in comparable units."""
    n, t = S.shape
    W = np.zeros((n, n))
    for column in S.T:
        W += column[:, None] > column
    D = t - W - W.T
    np.fill_diagonal(D, 0.0)
    mean = S.mean(axis=1)
    lead = mean[:, None] - mean
    lead[np.abs(lead) <= EQUAL * np.abs(S).max()] = 0.0  # rounding of the sums
    return Pairwise(
        kind="scores",
        agents=agents,
        wins=read_only(W),
        draws=read_only(D),
        payoffs=read_only(lead),
        unit="mean score difference",
        table=read_only(np.array(S)),
        raw=read_only(np.array(raw)),
        scaling=scaling,
        notes=notes,
    )
