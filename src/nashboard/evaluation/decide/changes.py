"""`changes`: differences between two evaluations beyond noise, and their causes; `history`: a series of evaluations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nashboard._tables import Column, Result, Table
from nashboard._text import listed, number_of, quote_spaces
from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import Matches
from nashboard.data.scores import Scores
from nashboard.errors import InputError
from nashboard.evaluation.board.headline import describe_chance, find_leader
from nashboard.evaluation.decide.significance import run_paired_t
from nashboard.evaluation.posterior.scores import adjust_holm, known_noise
from nashboard.evaluation.problem import LOG_ODDS

MOST_CAUSES = 5  # results named per agent that moved
FEWEST_TASKS = 3  # common to both evaluations, from which means are compared


@dataclass(frozen=True, kw_only=True)
class Move:
    """How far one agent moved: positive ``change`` means that it came closer to the best.

    ``relative`` is the change beyond that of the typical agent: if a new leader widens every gap, no agent has moved.
    ``mean_change`` is that of the plain mean of the scores on common tasks, None if there is none.
    """

    agent: str
    change: float
    relative: float
    low: float
    high: float
    p_value: float
    beyond_noise: bool
    rank_before: str
    rank_after: str
    top_before: float
    top_after: float
    mean_change: float | None
    mean_p_value: float | None


@dataclass(frozen=True, kw_only=True)
class Cause:
    """A part of the data that explains a move: results against one opponent, or on one task."""

    agent: str
    of: str
    what: str
    effect: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Changes(Result):
    """The differences between two evaluations.

    Parameters
    ----------
    entered, left
        Agents that only the new (the old) evaluation has.
    moves
        Every agent that both have, the largest relative change first.
    first_before, first_after
        The agent that is first, or probably first, by the rule of the verdict; None if that is undecided or shared.
    chance_before, chance_after
        P(top) of these agents; None if there is none.
    same_first
        Probability that an agent drawn from the top of the old board is also drawn from that of the new one.
    noise_known
        Whether the noise of both evaluations is known; if not, no move is called real.
    causes
        For agents that moved beyond noise: opponents or tasks whose results changed most.
    """

    unit: str
    level: float
    entered: tuple[str, ...]
    left: tuple[str, ...]
    moves: tuple[Move, ...]
    first_before: str | None
    first_after: str | None
    chance_before: float | None
    chance_after: float | None
    same_first: float
    noise_known: bool
    causes: tuple[Cause, ...]

    hidden = (
        "unit",
        "level",
        "first_before",
        "first_after",
        "chance_before",
        "chance_after",
        "same_first",
        "noise_known",
    )
    computed = ("summary",)

    @property
    def moved(self) -> tuple[str, ...]:
        """Agents that moved beyond noise."""
        return tuple(move.agent for move in self.moves if move.beyond_noise)

    def moved_by_mean(self, sign: int) -> list[str]:
        """Return the agents whose mean score rose (1) or fell (-1) beyond noise."""
        tested = [(move.agent, move.mean_change or 0.0, move.mean_p_value) for move in self.moves]
        return [agent for agent, change, p in tested if p is not None and p <= 1 - self.level and sign * change > 0]

    @property
    def first_changed(self) -> bool:
        """Whether the same agent is at the top of both with a chance below 5%, and that is not for lack of old data.

        Where first place was open before, more data may decide it: then who is first now must be new or have moved.
        """
        new = self.first_before is not None or self.first_after in (*self.moved, *self.entered)
        return new and self.same_first <= 1 - self.level

    @property
    def summary(self) -> tuple[str, ...]:
        """The result in a few sentences."""
        after = quote_spaces(self.first_after or "No agent alone")
        before = quote_spaces(self.first_before or "no agent alone")
        now, then = describe_chance(self.chance_after), describe_chance(self.chance_before)
        lines = [f"{after} is still {now}." if self.first_after else "No agent alone is first, as before."]
        if self.first_before != self.first_after:
            sure = "" if self.first_changed else "; that may be noise"
            lines = [f"{after} is {now} now; {before} was {then} before{sure}."]
        distance = " by its distance to the best" if self.moved_by_mean(1) or self.moved_by_mean(-1) else ""
        if not self.noise_known:
            change = f"no change of the{distance.removeprefix(' by its')}" if distance else "no change"
            lines.append(f"The noise of these evaluations is unknown: {change} can be called real.")
        elif not self.moved:
            lines.append(f"No agent moved beyond noise{distance}.")
        lists = {
            "Up beyond noise": [move.agent for move in self.moves if move.beyond_noise and move.relative > 0],
            "Down beyond noise": [move.agent for move in self.moves if move.beyond_noise and move.relative < 0],
            "Up by mean score beyond noise": self.moved_by_mean(1),
            "Down by mean score beyond noise": self.moved_by_mean(-1),
            "New": self.entered,
            "No longer there": self.left,
        }
        return (*lines, *(f"{what}: {listed(names)}." for what, names in lists.items() if names))

    def table(self) -> Table:
        """Return a row per agent that both evaluations have; changes in the unit of the board."""
        points = self.unit == LOG_ODDS
        scale, unit, decimals = (POINTS_PER_LOGIT, "Elo points", 0) if points else (1.0, self.unit, 3)
        meanings = {
            "relative": ("change", f"towards the best, relative to the typical agent ({unit})"),
            "low": ("low", f"lower end of its {self.level:.0%} interval, for one agent alone"),
            "high": ("high", "upper end of that interval"),
        }
        changes = (
            Column(name, meaning, decimals=decimals, cell=lambda move, of=field: scale * getattr(move, of))
            for field, (name, meaning) in meanings.items()
        )
        means = (
            Column(
                "mean change", "change of the plain mean of the scores on common tasks", decimals=3, cell="mean_change"
            ),
            Column("mean p", "p-value of no change of that mean, Holm", decimals=4, cell="mean_p_value"),
        )
        return Table.of(
            self.moves,
            Column("agent"),
            Column(
                "moved",
                f"whether it moved beyond noise, {self.level:.0%} over all agents together",
                cell=lambda move: "yes" if move.beyond_noise else "no",
            ),
            *changes,
            Column(
                "p",
                "p-value of no change, larger (Holm) since all agents are tested; intervals are not adjusted",
                decimals=4,
                cell="p_value",
            ),
            Column("rank before", "rank interval in the old evaluation", cell="rank_before"),
            Column("rank after", "rank interval in the new evaluation", cell="rank_after"),
            Column("P(top) before", "P(top) in the old evaluation", decimals=2, cell="top_before"),
            Column("P(top) after", "P(top) in the new evaluation", decimals=2, cell="top_after"),
            *(means if any(move.mean_change is not None for move in self.moves) else ()),
        )

    def causes_table(self) -> Table:
        """Return the changes in the data of the agents that moved."""
        return Table.of(
            self.causes,
            Column("agent"),
            Column("result", "opponent or task", cell="of"),
            Column("what changed", "change of the data", cell="what"),
            Column("effect", "points beyond those that old ratings expect, or change of a score beyond that of others"),
            title="What changed in the data",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for machines."""
        first = {"before": self.first_before, "after": self.first_after, "changed": self.first_changed}
        return {**super().to_dict(), "first": {**first, "same": self.same_first}}

    def __repr__(self) -> str:
        return f"Changes({len(self.moved)} of {len(self.moves)} agents moved beyond noise)"


def changes(old: Any, new: Any) -> Changes:
    """Compare two evaluations of largely the same agents.

    Gaps are compared relative to the typical change, so that noise in the best agent, which all gaps share, does not
    count. Errors combine those of the two evaluations as if their data were independent. If the new data contain the
    old, that makes intervals too wide: fewer moves are called real, never more.

    Parameters
    ----------
    old, new
        Two results of `evaluate`, or of `Evaluation.from_json`.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.evaluate(nb.load_dataset("rock-paper-scissors"), n_resamples=20)
    >>> nb.changes(found, found).moved
    ()
    """
    from scipy.special import ndtri

    before, after = old.posterior, new.posterior
    if before.unit != after.unit:
        units = f"the old evaluation is in {before.unit}, the new one in {after.unit}"
        raise InputError(f"{units}: they cannot be compared")
    if before.level != after.level:
        raise InputError(
            f"the old evaluation has intervals of {before.level:.0%}, the new one of {after.level:.0%}: use one level"
        )
    common = [name for name in after.agents if name in set(before.agents)]
    if not common:
        agents = f"the old one has {listed(before.agents, 3)}, the new one {listed(after.agents, 3)}"
        raise InputError(f"the two evaluations share no agent: {agents}")
    i, j = ([side.agents.index(name) for name in common] for side in (before, after))
    # copies count once: one agent represents each class
    classes = np.stack([before.classes[i], after.classes[j]])
    _, one, label = np.unique(classes, axis=1, return_index=True, return_inverse=True)
    change, error = before.gap[i] - after.gap[j], np.hypot(before.gap_error[i], after.gap_error[j])
    relative = change - typical_change(change[one], error[one])
    width = -float(ndtri((1 - after.level) / 2)) * error
    noisy = before.draws > 1 and after.draws > 1
    p_values = np.full(len(common), np.nan)
    if noisy:
        p_values = adjust_holm(two_sided_p_values(relative[one], error[one]))[label.ravel()]
    mean_change, mean_p = compare_means(old.data, new.data, common)
    moves = [
        Move(
            agent=name,
            change=float(change[k]),
            relative=float(relative[k]),
            low=float(relative[k] - width[k]),
            high=float(relative[k] + width[k]),
            p_value=float(p_values[k]),
            beyond_noise=bool(p_values[k] <= 1 - after.level),
            rank_before=str(before.rank_ranges()[i[k]]),
            rank_after=str(after.rank_ranges()[j[k]]),
            top_before=float(before.probability_top[i[k]]),
            top_after=float(after.probability_top[j[k]]),
            mean_change=None if np.isnan(mean_change[k]) else float(mean_change[k]),
            mean_p_value=None if np.isnan(mean_p[k]) else float(mean_p[k]),
        )
        for k, name in enumerate(common)
    ]
    moves.sort(key=lambda move: (-abs(move.relative), move.agent))
    (first_before, chance_before), (first_after, chance_after) = find_first(old.board), find_first(new.board)
    return Changes(
        unit=after.unit,
        level=after.level,
        entered=tuple(name for name in after.agents if name not in set(common)),
        left=tuple(name for name in before.agents if name not in set(common)),
        moves=tuple(moves),
        first_before=first_before,
        first_after=first_after,
        chance_before=chance_before,
        chance_after=chance_after,
        same_first=min(1.0, float((before.probability_top[i] * after.probability_top[j])[one].sum())),
        noise_known=noisy,
        causes=find_causes(old, new, [move.agent for move in moves if move.beyond_noise]),
    )


def find_first(board: Any) -> tuple[str | None, float | None]:
    """Return the agent that is first, or probably first, by the rule of the verdict, and its P(top); else None."""
    rows = sorted(zip(board.names, board.classes.tolist(), board.probability_top.tolist(), strict=True), reverse=True)
    chances = dict({label: (name, p) for name, label, p in rows}.values())  # copies have one name
    leader = find_leader(chances)
    return leader, None if leader is None else chances[leader]


def typical_change(change: Floats, error: Floats) -> float:
    """Return the weighted median of the changes: large errors count little, small ones no more than the median error.

    Of two agents neither is typical: each gets half of the change.
    """
    if len(change) < 3:
        return float(change.mean())
    weight = 1 / np.maximum(error, max(float(np.median(error)), 1e-9))
    order = np.argsort(change, kind="stable")
    cumulated = np.cumsum(weight[order])
    return float(change[order][np.searchsorted(cumulated, cumulated[-1] / 2)])


def two_sided_p_values(change: Floats, error: Floats) -> Floats:
    """Return p-values of "no change"."""
    from scipy.special import ndtr

    ratio = np.divide(np.abs(change), error, out=np.where(change != 0, np.inf, 0.0), where=error > 0)
    return np.asarray(2 * ndtr(-ratio))


def compare_means(before: Any, after: Any, agents: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the change of the mean score of each agent on common tasks, and p-values by Holm; NaN without scores.

    If all standard errors are known this is a z-test for these tasks, else a paired t-test over tasks. Exact copies
    count as one test. Pooled agents do not, since each has its own mean.
    """
    none = np.full(len(agents), np.nan)
    if not (isinstance(before, Scores) and isinstance(after, Scores)):
        return none, none
    tasks = [task for task in after.tasks if task in before.tasks]
    was, now = (data.select(agents, tasks) if tasks else data for data in (before, after))
    if len(tasks) < FEWEST_TASKS or np.unique(np.append(was.lower_is_better, now.lower_is_better)).size > 1:
        return none, none
    change = (now.values - was.values) * (-1.0 if now.lower_is_better[0] else 1.0)
    mean, variance = change.mean(axis=1), (known_noise(was) ** 2 + known_noise(now) ** 2).sum(axis=1) / len(tasks) ** 2
    p_values = none.copy()
    for k, (d, known) in enumerate(zip(change, variance, strict=True)):
        if not d.any():
            p_values[k] = 1.0
        elif np.isfinite(d).all():
            p_values[k] = (
                two_sided_p_values(mean[k : k + 1], np.sqrt([known]))[0]
                if np.isfinite(known) and known > 0
                else run_paired_t(d, 0.95).p_value
            )
    tested = np.isfinite(p_values)
    if tested.any():
        rows = np.column_stack([was.values, now.values, np.nan_to_num(variance)])[tested]
        _, one, label = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        p_values[tested] = adjust_holm(p_values[tested][one])[label.ravel()]
    return mean, p_values


def find_causes(old: Any, new: Any, moved: Sequence[str]) -> tuple[Cause, ...]:
    """Return the opponents or tasks whose results changed most, for every agent that moved."""
    before, after = old.data, new.data
    causes: list[Cause] = []
    for agent in moved:
        candidates: list[Cause] = []
        if isinstance(before, Matches) and isinstance(after, Matches):
            candidates = find_match_causes(before, after, agent)
        elif isinstance(before, Scores) and isinstance(after, Scores):
            candidates = find_score_causes(before, after, agent)
        causes += sorted(candidates, key=lambda cause: (-abs(cause.effect), cause.of))[:MOST_CAUSES]
    return tuple(causes)


def find_match_causes(before: Matches, after: Matches, agent: str) -> list[Cause]:
    """Return opponents by the points of the new games beyond those that old ratings predict.

    If the new log can contain the old one, the new games are those that were added, and otherwise all of its games.
    """
    from nashboard.ratings.elo import elo

    ratings = elo(before)
    old, new = count_by_opponent(before, agent), count_by_opponent(after, agent)
    grown = all(
        name in new and new[name][0] >= points and new[name][1] - new[name][0] >= games - points
        for name, (points, games) in old.items()
    )
    causes = []
    for name, (points, games) in new.items():
        had, played = old.get(name, (0.0, 0.0))
        what = f"{points:g} of {games:,g}" + (f", before {had:g} of {played:,g}" if played else "")
        if grown:
            points, games = points - had, games - played
        if games:
            chance = float(ratings.predict(agent, name)) if name in before.agents else 0.5
            causes.append(Cause(agent=agent, of=name, what=what, effect=points - chance * games))
    return causes


def count_by_opponent(matches: Matches, agent: str) -> dict[str, tuple[float, float]]:
    """Return points and games of an agent against each opponent."""
    k = matches.agents.index(agent)
    counts = {}
    for side, own in ((0, matches.wins), (1, matches.losses)):
        for row in np.flatnonzero(matches.pairs[:, side] == k):
            name = matches.agents[matches.pairs[row, 1 - side]]
            counts[name] = (float(own[row] + matches.draws[row] / 2), float(matches.games[row]))
    return counts


def find_score_causes(before: Scores, after: Scores, agent: str) -> list[Cause]:
    """Return tasks by how much the agent's score changed relative to the median change of the other agents."""
    agents = [agent, *(name for name in before.agents if name in after.agents and name != agent)]
    tasks = [task for task in after.tasks if task in before.tasks]
    if not tasks:
        return []
    was, now = (data.select(agents, tasks).values for data in (before, after))
    change = (now - was) * np.where(after.select(agents, tasks).lower_is_better, -1.0, 1.0)
    causes = []
    for task, (own, *others), old, new in zip(tasks, change.T, was[0], now[0], strict=True):
        typical = float(np.nanmedian(others)) if others and not np.isnan(others).all() else 0.0
        if own != typical and not np.isnan(own):
            causes.append(Cause(agent=agent, of=task, what=f"{old:g} to {new:g}", effect=float(own - typical)))
    return causes


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class History(Result):
    """Gaps of every agent in a series of evaluations; NaN if an agent is not in one.

    Parameters
    ----------
    labels
        Names of the evaluations, the oldest first.
    agents
        The order of the last evaluation, then agents that it does not have.
    gap, low, high, probability_top
        ``(agents, evaluations)`` distance to the best with its interval, and P(top).
    """

    labels: tuple[str, ...]
    agents: tuple[str, ...]
    unit: str
    gap: Floats
    low: Floats
    high: Floats
    probability_top: Floats
    ranks: tuple[tuple[str, ...], ...]

    hidden = ("ranks",)

    def table(self) -> Table:
        """Return rank intervals, a column per evaluation."""
        return Table(
            title="Rank intervals",
            columns=(Column("agent"), *map(Column, self.labels)),
            rows=tuple((name, *self.ranks[k]) for k, name in enumerate(self.agents)),
        )

    def __repr__(self) -> str:
        return f"History({len(self.agents):,} agents, {number_of(len(self.labels), 'evaluations')})"


def history(evaluations: Sequence[Any], labels: Sequence[str] | None = None) -> History:
    """Combine a series of evaluations, the oldest first.

    Parameters
    ----------
    evaluations
        Results of `evaluate`, or of `Evaluation.from_json`.
    labels
        A name for each; 1, 2, 3, ... unless given.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.evaluate(nb.load_dataset("rock-paper-scissors"), n_resamples=20)
    >>> nb.history([found, found], ["October", "November"])
    History(3 agents, 2 evaluations)
    """
    given = evaluations if isinstance(evaluations, Sequence) else [evaluations]
    wrong = [one for one in given if not hasattr(one, "posterior")]
    if wrong or given is not evaluations:
        kind = type((wrong or given)[0]).__name__
        raise InputError(f"a history takes a list of evaluations, not {kind}; Evaluation.from_json reads saved ones")
    if not evaluations:
        raise InputError("a history needs at least one evaluation")
    names = [str(label) for label in labels] if labels is not None else [str(k + 1) for k in range(len(evaluations))]
    if len(names) != len(evaluations):
        raise InputError(f"there are {len(names)} labels for {len(evaluations)} evaluations: give one each")
    posteriors = [one.posterior for one in given]
    if len({one.unit for one in posteriors}) > 1:
        raise InputError("the evaluations are in different units: matches and scores cannot be mixed")
    last = posteriors[-1]
    agents = [last.agents[k] for k in last.order]
    agents += sorted({name for one in posteriors for name in one.agents} - set(agents))
    place = {name: k for k, name in enumerate(agents)}
    values = np.full((4, len(agents), len(posteriors)), np.nan)
    ranks = [["–"] * len(posteriors) for _ in agents]
    for t, one in enumerate(posteriors):
        rows = [place[name] for name in one.agents]
        values[:, rows, t] = [one.gap, one.gap_low, one.gap_high, one.probability_top]
        for row, text in zip(rows, one.rank_ranges(), strict=True):
            ranks[row][t] = str(text)
    gap, low, high, probability_top = values
    return History(
        labels=tuple(names),
        agents=tuple(agents),
        unit=last.unit,
        gap=gap,
        low=low,
        high=high,
        probability_top=probability_top,
        ranks=tuple(map(tuple, ranks)),
    )
