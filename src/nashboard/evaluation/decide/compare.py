"""`compare`: whether one agent is better than another, by how much, and how many more observations would decide it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from nashboard._tables import Cell, Column, Result, Table, format_number
from nashboard._text import either, listed, plural, quote_spaces, round_count
from nashboard._types import Floats, read_only
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import Matches
from nashboard.data.scores import Scores
from nashboard.data.validation import positions
from nashboard.errors import InputError, check_level
from nashboard.evaluation.decide.significance import (
    EQUAL,
    POWER,
    Estimate,
    confidence_sequence,
    estimate_log_odds,
    estimate_t,
    find_pair,
    fit_as_evaluate,
    log_e_value,
    probability_above_half,
    run_clustered_t,
    run_mcnemar,
    run_paired_t,
    run_welch,
)
from nashboard.evaluation.posterior.posterior import TIE
from nashboard.evaluation.posterior.scores import adjust_holm
from nashboard.ratings.hierarchical.model import HierarchicalFit
from nashboard.ratings.hierarchical.planes import PlaneDraws

MEANING_OF_P = (
    "probability that a has the higher mean; evaluate weighs tasks, so that its P(top) can differ",
    "probability that a wins most games against b; P(top) of evaluate is about the best of all agents",
)
WHICH_MEAN = {
    "of the range of each task": " in the mean of scaled scores",
    "points": " in the plain mean of the scores",
}
Verdict = Literal["better", "worse", "equivalent", "undecided"]
Over = Literal["tasks", "runs"]

SIMILAR = 10.0  # tasks whose largest scores differ by less than this factor are in one unit
MOST_NEEDED = 1_000_000  # observations: a larger number only means that there is hardly a difference
FEWEST_CLUSTERS = 10  # below this, cluster-robust errors are too small (Cameron, Gelbach and Miller 2008)


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Result):
    """The difference between two agents, with its error and a verdict.

    Parameters
    ----------
    a, b
        The agents; every number is that of ``a`` minus ``b``.
    difference, low, high, level
        The estimate and its interval at this level, in ``unit``.
    p_value
        Two-sided, of "no difference"; adjusted by Holm's method where several agents are compared.
    probability_superior
        Probability that ``a`` has the higher mean, or wins most games between the two, given the data. A verdict at
        95% needs about 0.975, because either of the two may be better.
    verdict
        ``"better"``, ``"worse"``, ``"equivalent"`` (the interval lies within the margin) or ``"undecided"``.
    games_needed
        How many more observations (games, items, tasks) are needed to detect a difference of this size with a power of
        80%; 0 if it is decided, None if the estimate is 0.
    test, n, counted
        The name of the test, and the number and kind of observations.

    Examples
    --------
    >>> import nashboard as nb
    >>> items = nb.Scores.from_array([[1, 1, 1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0, 1, 0]], agents=["A", "B"])
    >>> found = nb.compare(items, "A", "B")
    >>> found.verdict, round(found.p_value, 4)
    ('better', 0.0312)
    """

    a: str
    b: str
    difference: float
    low: float
    high: float
    level: float
    p_value: float
    probability_superior: float
    verdict: Verdict
    games_needed: int | None
    unit: str
    test: str
    n: int
    counted: str
    margin: float | None = None
    details: dict[str, Any]
    notes: tuple[str, ...] = ()

    computed = ("sentence",)

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        low, high = self.low, self.high
        if self.verdict == "undecided" and self.difference < 0:  # the interval of the agent that leads
            low, high = -high, -low
        ends = f"{self.level:.0%} interval {format_short(low)} to {format_short(high)}"
        if self.verdict == "equivalent":
            within = f"{format_short(self.margin or 0.0)} {self.unit}"
            return f"{self.a} and {self.b} are equivalent: the difference lies within {within} ({ends})."
        size = f"{format_short(abs(self.difference))} {self.unit}{WHICH_MEAN.get(self.unit, '')}"
        by = f"by {size} ({ends}, {format_p(self.p_value)})."
        if self.verdict != "undecided":
            return f"{self.a} is {self.verdict} than {self.b} {by}"
        if not self.difference:
            return f"Undecided: {self.a} and {self.b} are level ({ends})."
        leader, other = (self.a, self.b) if self.difference > 0 else (self.b, self.a)
        sentence = f"Undecided: {leader} leads {other} {by}"
        if needed := self.games_needed:
            many = f"Over {MOST_NEEDED:,}" if needed > MOST_NEEDED else f"About {round_count(needed):,}"
            sentence += f" {many} more {plural(needed, self.counted)} would show such a lead with 80% power."
        return sentence

    def table(self) -> Table:
        """Return one row."""
        return Comparisons(rows=(self,)).table()

    def __repr__(self) -> str:
        return f"Comparison({self.a!r}, {self.b!r}: {self.verdict}, {format_p(self.p_value)})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparisons(Result):
    """One agent against several: p-values by Holm's method, intervals that hold simultaneously (Bonferroni)."""

    rows: tuple[Comparison, ...]

    def table(self) -> Table:
        """Return a row per comparison."""
        first = self.rows[0]
        together = " for all rows together" if len(self.rows) > 1 else ""
        digits = 0 if "Elo points" in first.unit else 2 if first.unit == "points" else 3
        return Table.of(
            self.rows,
            Column("a"),
            Column("b"),
            Column("verdict", f"a against b at {first.level:.0%}{together}"),
            Column("difference", f"a minus b, {first.unit}", decimals=digits),
            Column("low", f"lower end of the interval{together}", decimals=digits),
            Column("high", f"upper end of the interval{together}", decimals=digits),
            Column("p", f"two-sided p-value{', Holm' if len(self.rows) > 1 else ''}", decimals=4, cell="p_value"),
            Column("P(a better)", MEANING_OF_P["Elo points" in first.unit], cell="probability_superior"),
            Column(first.counted, "observations that were used", cell="n"),
            Column(
                "needed",
                f"more {first.counted} to show this difference with 80% power; a dash: over {MOST_NEEDED:,} or unknown",
                cell=lambda row: row.games_needed if (row.games_needed or 0) <= MOST_NEEDED else None,
            ),
            notes=(*dict.fromkeys(note for row in self.rows for note in row.notes), *self.explain_verdicts()),
        )

    def explain_verdicts(self) -> tuple[str, ...]:
        """Return why a verdict is possible although the interval contains 0, if that happens."""
        given = [row.b for row in self.rows if row.verdict in ("better", "worse") and row.low <= 0 <= row.high]
        if not given:
            return ()
        if len(self.rows) == 1:
            return ("the verdict follows the p-value; the interval is computed in another way and contains 0",)
        wider = f"the interval of {listed(given)} (Bonferroni) is wider and contains 0"
        return (f"verdicts follow p-values (Holm); {wider}",)

    def __iter__(self) -> Any:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Comparisons({self.rows[0].a!r} against {len(self.rows)} agents)"


def compare(
    data: Matches | Scores,
    a: str,
    b: str | Sequence[str],
    *,
    level: float = 0.95,
    margin: float | None = None,
    over: Over | None = None,
    clusters: Sequence[Any] | None = None,
    anytime: bool = False,
) -> Any:
    """Compare two agents, or one with several.

    Scores are paired over the columns that both agents have: exact McNemar test for 0 and 1, paired t-test otherwise,
    cluster-robust if columns belong to groups. Matches are compared by the log-odds of a game between the two in the
    hierarchical model, which uses their own games and those against common opponents.

    Parameters
    ----------
    data
        `Matches` or `Scores`. Item-level scores have one column per item.
    a, b
        Names. With several names for ``b`` the result is `Comparisons`: p-values are adjusted by Holm's method and
        intervals hold simultaneously.
    level
        Of the interval and the verdict.
    margin
        The largest difference that does not matter, in the unit of the result. The verdict is ``"equivalent"`` if the
        whole interval lies within it.
    over
        For scores: ``"tasks"`` asks about tasks (items) like these, ``"runs"`` about these very tasks measured again,
        from known standard errors. The default is ``"tasks"``; with one column it is ``"runs"``.
    clusters
        For scores: a label per column; columns with the same label are not independent (questions about one text).
        The groups of an item-level table are used where there are at least 10.
    anytime
        For matches: use the decisive games between the two alone, with an interval and a p-value that stay valid
        however often results are looked at (a confidence sequence).

    Returns
    -------
    Comparison or Comparisons

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.compare(nb.load_dataset("atari"), "rainbow", "dqn").verdict
    'better'
    """
    check_level(level)
    if margin is not None and not margin > 0:
        raise InputError(f"the margin is {margin!r}: it must be a positive difference", option="margin")
    others = [b] if isinstance(b, str) else list(b)
    if not others:
        raise InputError(f"there is no agent to compare {a!r} with: name at least one other agent")
    positions((a, *others), data.agents, kind="agent")
    if a in others:
        raise InputError(f"{a!r} cannot be compared with itself")
    each = 1 - (1 - level) / len(others)
    if isinstance(data, Scores):
        if anytime:
            raise InputError("anytime is for matches", option="anytime")
        rows = [compare_scores(data, a, other, each, over, clusters) for other in others]
    elif isinstance(data, Matches):
        if over is not None or clusters is not None:
            raise InputError("over and clusters are for scores; clusters of matches are read with cluster=")
        rows = compare_matches(data, a, others, each, anytime)
    else:
        raise InputError(f"compare takes Matches or Scores, not {type(data).__name__}")
    adjusted = adjust_holm(np.array([row.p_value for row in rows]))
    rows = [with_verdict(row, float(p), margin, level) for row, p in zip(rows, adjusted, strict=True)]
    return rows[0] if isinstance(b, str) else Comparisons(rows=tuple(rows))


def with_verdict(row: Comparison, p_value: float, margin: float | None, level: float) -> Comparison:
    """Return the comparison with its verdict."""
    verdict: Verdict = "undecided"
    if margin is not None and -margin <= row.low and row.high <= margin:
        verdict = "equivalent"
    elif p_value <= 1 - level and row.difference:
        verdict = "better" if row.difference > 0 else "worse"
    needed = row.games_needed if verdict == "undecided" else 0
    return replace(row, p_value=p_value, margin=margin, level=level, verdict=verdict, games_needed=needed)


def from_estimate(a: str, b: str, estimate: Estimate, unit: str, counted: str, *notes: str) -> Comparison:
    """Return a comparison without a verdict."""
    values = dict(vars(estimate))
    needed = values.pop("needed")
    more = None if needed is None or not math.isfinite(needed) else max(1, math.ceil(needed) - estimate.n)
    return Comparison(
        a=a, b=b, unit=unit, counted=counted, notes=notes, games_needed=more, level=0.95, verdict="undecided", **values
    )


def compare_scores(
    scores: Scores, a: str, b: str, level: float, over: Over | None, clusters: Sequence[Any] | None
) -> Comparison:
    """Compare two rows of a table."""
    if over not in (None, "tasks", "runs"):
        raise InputError(f"there is no over={over!r}: use {either(['tasks', 'runs'])}", option="over")
    rows = [scores.agents.index(name) for name in (a, b)]
    both = np.asarray(~np.isnan(scores.values[rows]).any(axis=0))
    if not both.any():
        raise InputError(f"{a!r} and {b!r} have no task in common")
    values, unit, size = make_comparable(scores)
    x, y = values[rows][:, both]
    binary = bool(np.isin(scores.values[rows][:, both], (0.0, 1.0)).all()) and len(x) > 1
    counted = "items" if binary or scores.groups is not None else "tasks"
    notes = [] if both.all() else [f"{int((~both).sum()):,} of {len(both):,} {counted} lack a score of one of the two"]
    if over == "runs" or (over is None and len(x) == 1):
        stderr = size[both] * scores.stderr[rows][:, both]
        if not (stderr > 0).all():
            raise InputError(
                "standard errors are needed to compare on these very tasks, and some are unknown",
                hint="give runs, standard errors or numbers of items, or compare over several tasks",
            )
        share = 1 / len(x) ** 2
        runs = np.where(scores.runs[rows][:, both] > 1, scores.runs[rows][:, both], 0)
        estimate = run_welch(float((x - y).mean()), (share * stderr**2).ravel(), runs.ravel().astype(float), level)
        notes.append("the question is about these very tasks, measured again")
        counted = "runs" if runs.any() else "items"
        if not runs.any():
            items = float(np.nan_to_num(scores.n[rows][:, both].sum(axis=1).mean()))
            needed = estimate.needed * items / estimate.n if estimate.needed and items else None
            estimate = replace(estimate, n=round(items), needed=needed)
        return from_estimate(a, b, estimate, unit, counted, *notes)
    if len(x) == 1:
        raise InputError(f"{a!r} and {b!r} share one {counted[:-1]} only: a paired test needs at least two")
    if unit == "of the range of each task" and len(scores.agents) == 2:
        notes.append("tasks have different units: of two agents, each task counts as won or lost")
    if unit == "points" and scores.groups is None:
        notes.append("scores are averaged as they are: tasks of similar size are taken to be in one unit")
    if counted == "tasks" and (scores.stderr[rows][:, both] > 0).all():
        notes.append("tasks are taken as a sample; over='runs' (--over runs) asks about these very tasks, as plan does")
    labels = choose_clusters(scores, clusters, both, notes)
    if labels is not None:
        estimate = run_clustered_t(x - y, labels, level)
    elif binary:
        estimate = run_mcnemar(x, y, level)
    else:
        estimate = run_paired_t(x - y, level)
    return from_estimate(a, b, estimate, unit, counted, *notes)


def compare_matches(matches: Matches, a: str, others: Sequence[str], level: float, anytime: bool) -> list[Comparison]:
    """Compare an agent with others by ratings of the hierarchical model, or only by their own games."""
    matches.require_counts()
    i = matches.agents.index(a)
    if anytime:
        return [compare_own_games(matches, a, other, level) for other in others]
    group = next(group for group in matches.components if a in group)
    apart = [name for name in others if name not in group]
    if apart:
        raise InputError(f"no chain of matches leads from {a!r} to {apart[0]!r}: they cannot be compared")
    fit, drawn = fit_as_evaluate(matches)
    return [compare_ratings(matches, fit, drawn, i, matches.agents.index(other), level) for other in others]


def compare_ratings(
    matches: Matches, fit: HierarchicalFit, drawn: PlaneDraws | None, i: int, j: int, level: float
) -> Comparison:
    """Compare two agents by the log-odds of a game between them: own games, and games against common opponents.

    Shrinkage divides the estimate by more than its error, so that the p-value is conservative.
    """
    from scipy.special import expit, ndtri

    mean, variance, per_game, clusters = estimate_log_odds(matches, fit, drawn, i, j)
    mean = 0.0 if abs(mean) <= EQUAL * float(np.sqrt(variance)) else mean  # level, but for rounding
    wins, draws, losses = count_results(matches, i, j)
    games, stderr = wins + draws + losses, float(np.sqrt(variance)) * POINTS_PER_LOGIT
    test = "hierarchical model" if clusters is None else "hierarchical model, errors robust to clusters"
    df = np.inf if clusters is None else clusters - 1
    estimate = estimate_t(test, mean * POINTS_PER_LOGIT, stderr, df, round(games), level)
    needed = None
    if mean:
        wanted = ((float(ndtri((1 + level) / 2)) + float(ndtri(POWER))) / mean) ** 2 - 1 / variance
        needed = games + wanted * per_game
    details = {
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "expected_score": float(expit(mean)),
        "rating_difference": float(fit.ratings[i] - fit.ratings[j]) * POINTS_PER_LOGIT,
        "stderr": stderr,
    }
    estimate = replace(estimate, needed=needed, details=details)
    a, b = matches.agents[i], matches.agents[j]
    note = f"against {quote_spaces(b)}: the two never met, so the comparison rests on common opponents"
    if games:
        note = f"against {quote_spaces(b)}: {quote_spaces(a)} scored {wins + draws / 2:g} of {games:g}"
    return from_estimate(a, b, estimate, "Elo points", "games", note)


def count_results(matches: Matches, i: int, j: int) -> tuple[float, float, float]:
    """Return wins, draws and losses of ``i`` against ``j``."""
    k = find_pair(matches.pairs[:, 0], matches.pairs[:, 1], i, j)
    if k is None:
        return 0.0, 0.0, 0.0
    own, other = (matches.wins, matches.losses) if i < j else (matches.losses, matches.wins)
    return float(own[k]), float(matches.draws[k]), float(other[k])


def compare_own_games(matches: Matches, a: str, b: str, level: float) -> Comparison:
    """Compare two agents by the decisive games between them, with a confidence sequence."""
    wins, draws, losses = count_results(matches, matches.agents.index(a), matches.agents.index(b))
    if not wins + draws + losses:
        raise InputError(f"{a!r} and {b!r} never met: a sequential comparison needs games between the two")
    low, high = confidence_sequence(wins, losses, level=level)
    evidence = float(np.exp(log_e_value(wins, losses)))
    estimate = Estimate(
        test="confidence sequence over decisive games",
        difference=float(np.log((wins + 0.5) / (losses + 0.5))) * POINTS_PER_LOGIT,
        low=low * POINTS_PER_LOGIT,
        high=high * POINTS_PER_LOGIT,
        p_value=min(1.0, 1 / evidence),
        probability_superior=probability_above_half(wins, losses),
        n=round(wins + draws + losses),
        needed=None,
        details={"e_value": evidence, "wins": wins, "draws": draws, "losses": losses},
    )
    note = "valid however often results are looked at; draws do not count"
    return from_estimate(a, b, estimate, "Elo points in decisive games", "games", note)


def choose_clusters(scores: Scores, given: Sequence[Any] | None, both: Any, notes: list[str]) -> Any:
    """Return a label per shared column, or None for independent columns; add notes on the choice."""
    labels = scores.groups if given is None else list(given)
    if labels is None:
        return None
    if len(labels) != len(scores.tasks):
        raise InputError(
            f"clusters has {len(labels):,} labels for {len(scores.tasks):,} columns: give one per column",
            option="clusters",
        )
    kept = np.asarray(labels)[both]
    distinct = len(np.unique(kept))
    if distinct == len(kept):
        return None
    if given is None and distinct < FEWEST_CLUSTERS:
        few = "one group is" if distinct == 1 else f"{distinct} groups are"
        notes.append(f"{few} too few to be clusters: items count as independent")
        return None
    if distinct < 2:
        raise InputError("all columns are in one cluster: a comparison needs at least two", option="clusters")
    if distinct < FEWEST_CLUSTERS:
        notes.append(f"with {distinct} clusters the errors are rough")
    return kept


def make_comparable(scores: Scores) -> tuple[Floats, str, Floats]:
    """Return scores with higher better and in one unit, the name of the unit, and its factor per column.

    Items of one metric, and tasks whose scores are of similar size, have a unit in common. The unit of other tasks is
    the range of all agents on each.
    """
    S = scores.values
    sign = np.where(scores.lower_is_better, -1.0, 1.0)
    low, high = np.nanmin(S, axis=0), np.nanmax(S, axis=0)
    if scores.scaling != "raw" or (low.min() >= 0 and high.max() <= 1):
        return S * sign, "in mean score", np.ones(len(sign))
    largest = np.maximum(np.abs(low), np.abs(high))
    percent = low.min() >= 0 and high.max() <= 100 and np.median(high - low) > 1
    if percent or scores.groups is not None or largest.max() <= SIMILAR * largest.min():
        return S * sign, "points", np.ones(len(sign))
    size = 1 / np.where(high > low, high - low, 1.0)
    return S * sign * size, "of the range of each task", size


def format_short(value: float) -> str:
    """Return a number with about three digits."""
    size = abs(value)
    return format_number(value, 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3)


def format_p(p: float) -> str:
    """Return a p-value as text."""
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.4f}" if p < 0.01 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Superiority(Result):
    """``matrix[i, j]``: the probability that agent i is above agent j on the board, ties half; best agents first."""

    agents: tuple[str, ...]
    matrix: Floats

    def __post_init__(self) -> None:
        read_only(self.matrix)

    def table(self) -> Table:
        """Return a row and a column per agent."""
        rows: list[tuple[Cell, ...]] = [
            (name, *(None if i == j else float(p) for j, p in enumerate(self.matrix[i])))
            for i, name in enumerate(self.agents)
        ]
        return Table(
            columns=(
                Column("P(row above column)", "probability that the agent of the row is above that of the column"),
                *(Column(name, decimals=2) for name in self.agents),
            ),
            rows=tuple(rows),
        )

    def __repr__(self) -> str:
        return f"Superiority({len(self.agents):,} agents)"


def superiority(evaluation: Any, *, top: int | None = None) -> Superiority:
    """Return the probability that each agent is above each other agent on the board.

    Parameters
    ----------
    evaluation
        What `evaluate` returned.
    top
        Only the first agents of the board.

    Examples
    --------
    >>> import nashboard as nb
    >>> found = nb.superiority(nb.evaluate(nb.load_dataset("atari"), n_resamples=50), top=3)
    >>> bool(found.matrix[0, 2] > 0.5)
    True
    """
    posterior = evaluation.posterior
    if posterior.source is None:
        raise InputError("a saved evaluation does not contain the draws: evaluate the data")
    if posterior.draws == 1:
        raise InputError("the data were taken as exact, so that there are no probabilities: their noise is unknown")
    order = posterior.order[:top]
    gaps = posterior.source.gaps[:, posterior.classes[order]]
    tie = TIE * posterior.source.gaps.max(axis=1, keepdims=True)
    n = len(order)
    matrix = np.full((n, n), 0.5)
    for i in range(n):
        lead = gaps - gaps[:, [i]]
        matrix[i] = ((lead > tie) + 0.5 * (np.abs(lead) <= tie)).mean(axis=0)
    return Superiority(agents=tuple(posterior.agents[k] for k in order), matrix=matrix)
