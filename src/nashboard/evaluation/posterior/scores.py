"""Draws of the truth behind a score table: denoise, put tasks in units, solve every draw.

1. `known_noise`: standard errors of the scores, if the data have them.
2. `judge_tasks`: tasks that show no difference between agents beyond noise are set aside.
3. `low_rank`: a hierarchical model of the other tasks draws true tables.
4. `to_units`: regrets in units of the task, with a noise floor.
5. Every drawn table is a game of agents against tasks; its Nash average gives gaps and weights.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nashboard._types import Bools, Floats, Ints
from nashboard.data.scores import Scaling, Scores, beaten_share
from nashboard.equilibrium.batch import nash_averages_scores
from nashboard.equilibrium.nash_average import nash_average_scores
from nashboard.equilibrium.results import Selection
from nashboard.evaluation.posterior.draws import Draws
from nashboard.evaluation.posterior.duplicates import pool_duplicates

TaskState = Literal["tells agents apart", "equivalent", "unknown"]

USELESS = 0.05  # largest probability that any useless task takes part in a board: the error rate of 95% intervals
CERTAIN = 1e6  # chi-square from which the root of a noncentral one is normal
FEWEST_SIZES = 5  # agents, and tasks that share skills, from which the size of unknown noise is compared with a task
LIKELY, SURE = 0.5, 0.95  # probabilities from which a task of unknown noise is assumed, and reported, to share skills
SKILLS = 6  # in tables of known noise; the prior removes those that the data do not support
FLOORS = np.array([0.0, 0.1, 0.2, 0.25, 1 / 3, 0.5])  # levels of guessing: no, or one of 10, 5, 4, 3, 2 options
ROUNDS, ROUGH = 2, 20  # rough chains before the last, and their draws: the points at which shares become log-odds
STACKED = 400  # agents and tasks up to which games are solved as a stack
LEAST_NOISE = 1e-9  # of the largest score of a task: a smaller standard error is rounding
LEAST_NUMBER = 1e-100  # and so is a smaller one of any task: its square, and one over it, are still numbers
KEPT_CELLS = 2e7  # drawn tables are kept up to this many numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskTests:
    """Whether agents differ on each task, tested in both directions.

    ``p_value`` is the probability of such differences by noise alone. ``bound`` is an upper 95% confidence bound of the
    true standard deviation between agents, as a multiple of the noise of one score. Both are NaN if the noise of the
    task is unknown. The state is ``"tells agents apart"`` if noise alone is rejected (Holm over tasks),
    ``"equivalent"`` if the bound is below 1, else ``"unknown"``.
    """

    p_value: Floats
    bound: Floats
    state: tuple[TaskState, ...]


def draw_scores(
    scores: Scores,
    *,
    draws: int,
    rng: np.random.Generator,
    scaling: Scaling = "range",
    selection: Selection = "clone-invariant",
    pool: bool = True,
) -> Draws:
    """Draw true tables from their posterior and solve each of them.

    ``scores`` has a row per class of agents and a column per class of tasks, none constant; scaled tables are not
    changed. With ``pool``, agents that are shown to be the same are one agent that was measured more often, with one
    row of the draws: ``facts["label"]`` is the row of each agent.
    """
    higher = np.where(scores.lower_is_better, -scores.values, scores.values) + 0.0
    stderr = fill_noise(scores)
    known: Bools = np.asarray((stderr > 0).any(axis=0))
    state = judge_tasks(scores.values, stderr).state
    clear = np.array([not known[k] or one == "tells agents apart" for k, one in enumerate(state)])
    shares = known & find_shares(scores)
    model = fit_model(higher, stderr, known, shares, clear, draws, rng, pool=pool)
    doubtful = find_large_differences(model, higher, known)
    kept = model.kept
    how = scaling if scores.scaling == "raw" else "none"
    sizes = measure_sizes(model.tables[:, :, kept], model.floor[kept], how)
    label = model.label
    first, size = np.unique(label, return_index=True)[1], np.bincount(label)
    units = to_units(model.tables[:, first][:, :, kept], sizes, how)
    weights, task_weights, gaps = solve_tables(units, selection)
    sign = np.where(scores.lower_is_better, -1.0, 1.0)
    facts = {
        "noise": "known" if known.all() else "mixed" if known.any() else "residual",
        "set_aside": tuple(task for task, is_kept in zip(scores.tasks, kept, strict=True) if not is_kept),
        "told_apart": tuple(task for task, is_told in zip(scores.tasks, model.clear, strict=True) if is_told),
        "equivalent": tuple(task for task, one in zip(scores.tasks, state, strict=True) if one == "equivalent"),
        "unrelated": tuple(task for k, task in enumerate(scores.tasks) if not known[k] and not kept[k]),
        "unclear": tuple(task for k, task in enumerate(scores.tasks) if kept[k] and not (known[k] or model.clear[k])),
        "doubtful": tuple(task for task, is_doubtful in zip(scores.tasks, doubtful, strict=True) if is_doubtful),
        "label": label,
        "pools": tuple(
            tuple(scores.agents[k] for k in np.flatnonzero(label == group)) for group in np.flatnonzero(size > 1)
        ),
        "sizes": np.where(kept, expand(sizes, kept), np.nan),
    }
    return Draws(
        gaps=gaps,
        weights=weights,
        point=central_mean(gaps),
        means=draw_means(scores, model, rng),
        task_weights=expand(task_weights, kept),
        payoffs=expand(units, kept) if len(units) * higher.size <= KEPT_CELLS else None,
        expected=(model.tables.mean(axis=0) * sign)[first],
        facts=facts | model.facts,
    )


def draw_all_tasks(scores: Scores, *, draws: int, rng: np.random.Generator, pool: bool = True) -> tuple[Floats, Floats]:
    """Draw true tables (S, m, n), higher better, with the tasks that a board sets aside; and their noise (S, n).

    Many tasks together may show differences that no single task shows. Whether agents differ on such a task at all is
    drawn with everything else.
    """
    higher = np.where(scores.lower_is_better, -scores.values, scores.values) + 0.0
    stderr = fill_noise(scores)
    known: Bools = np.asarray((stderr > 0).any(axis=0))
    doubted = known & (np.array(judge_tasks(scores.values, stderr).state) != "tells agents apart")
    every = np.ones(known.size, dtype=np.bool_)
    shares = known & find_shares(scores)
    model = fit_model(higher, stderr, known, shares, every, draws, rng, pool=pool, doubted=doubted)
    return model.tables, model.facts["drawn_noise"]


def central_mean(gaps: Floats, level: float = 0.95) -> Floats:
    """Return the posterior mean; draws outside the central interval count as its ends, so the mean lies inside."""
    low, high = np.quantile(gaps, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return np.asarray(np.clip(gaps, low, high).mean(axis=0))


def draw_means(scores: Scores, model: "TableModel", rng: np.random.Generator) -> Floats:
    """Draw plain means of the raw scores: measured cells with their noise, missing cells as drawn.

    Measured cells are not shrunk, so the mean of the draws is the plain mean of a complete table.
    """
    count, m, n = model.tables.shape
    seen = ~scores.missing
    total = np.where(seen, scores.values, 0.0).sum(axis=1) + np.zeros((count, m))
    z = rng.standard_normal((count, m))
    sign = np.where(scores.lower_is_better, -1.0, 1.0)
    if scores.missing.any():  # an agent with luck in measured cells is overrated in the others too
        luck = np.einsum("sij,ij->si", model.tables, seen * sign)
        spread = luck.std(axis=0)
        lucky = scores.missing.any(axis=1) & (spread > 0)
        z[:, lucky] = ((luck - luck.mean(axis=0)) / np.where(spread > 0, spread, 1.0))[:, lucky]
        total += np.einsum("sij,ij->si", model.tables, scores.missing * sign)
    total += (z - z.mean(axis=0)) * np.sqrt((np.where(seen, model.noise, 0.0) ** 2).sum(axis=1))
    return np.asarray(total / n)


def known_noise(scores: Scores) -> Floats:
    """Return standard errors: given, from runs, or of a share of ``n`` items; NaN if none of them is known.

    A standard error of exactly 0 is not a measurement of noise and counts as unknown. For a raw share of ``n`` items
    it is ``sqrt(p (1 - p) / n)``, with ``p`` moved half an item towards the middle. A share may be in per cent, if all
    scores of the task are those of whole numbers of items.
    """
    S, E, n = scores.values, scores.stderr, scores.n
    noise = np.where(E > 0, E, np.nan)
    if scores.scaling != "raw" or not (n > 0).any():
        return noise
    highest = np.nanmax(S, axis=0)
    unit = np.where((highest > 1) & (highest <= 100), 100.0, 1.0)
    share = np.isnan(noise) & (n > 0) & (np.nanmin(S, axis=0) >= 0) & (highest <= unit)
    items = np.where(share, n, 1.0)
    solved = np.where(share, S / unit, 0.5) * items
    digits = next(k for k in range(16) if k == 15 or np.array_equal(np.round(S, k), S, equal_nan=True))
    rounding = 0.5 * 10.0**-digits / 100 * items + 1e-6
    whole = (np.abs(solved - np.rint(solved)) <= rounding) & (rounding < 0.25)  # of more items any score looks whole
    share &= (unit == 1) | (whole | ~share).all(axis=0)
    items, solved = np.where(share, items, 1.0), np.where(share, solved, 0.5)
    p = (solved + 0.5) / (items + 1)
    return np.where(share, unit * np.sqrt(p * (1 - p) / items), noise)


def find_shares(scores: Scores) -> Bools:
    """Return a mask of tasks with raw scores between 0 and 1, higher better."""
    low, high = np.nanmin(scores.values, axis=0), np.nanmax(scores.values, axis=0)
    return np.asarray((low >= 0) & (high <= 1) & ~scores.lower_is_better & (scores.scaling == "raw"))


def find_limits(scores: Scores) -> Floats:
    """Return the best possible score of each task in shares, 1 or 100; NaN where scores are in another unit.

    Scores of at most 100 are per cent where half of the agents are near 100, or all of the table may be per cent.
    """
    S = scores.values
    low, high, median = np.nanmin(S, axis=0), np.nanmax(S, axis=0), np.nanmedian(S, axis=0)
    table = low.min() >= 0 and high.max() <= 100 and np.median(high) >= 50
    percent = (low >= 0) & (high > 1) & (high <= 100) & (table | (median >= 95))
    limit = np.where((low >= 0) & (high <= 1), 1.0, np.where(percent, 100.0, np.nan))
    return np.where(scores.lower_is_better | (scores.scaling != "raw"), np.nan, limit)


def fill_noise(scores: Scores) -> Floats:
    """Return standard errors of all scores: those unknown are the root mean square of their task, 0 if it has none."""
    stderr = known_noise(scores)
    rounding = np.maximum(LEAST_NOISE * np.nanmax(np.abs(scores.values), axis=0), LEAST_NUMBER)
    stderr = np.maximum(stderr, rounding)  # NaN remains NaN
    some = np.isfinite(stderr)
    typical = np.sqrt((np.where(some, stderr, 0.0) ** 2).sum(axis=0) / np.maximum(some.sum(axis=0), 1))
    return np.where(scores.missing, 0.0, np.where(some, stderr, typical))


def judge_tasks(S: Floats, stderr: Floats, level: float = USELESS) -> TaskTests:
    """Test every task in both directions.

    ``T``, the sum of squared distances from the mean in standard errors, is chi-square if all agents are equal. If they
    differ it is noncentral; noncentrality over degrees of freedom is their variance in units of the noise. Tasks whose
    standard errors are 0, that is unknown, are not tested.
    """
    from scipy.special import chdtrc, chndtrinc, ndtri

    seen = np.isfinite(S) & (stderr > 0)
    w = np.where(seen, 1 / np.where(seen, stderr, 1.0) ** 2, 0.0)
    values = np.where(seen, S, 0.0)
    mean = (w * values).sum(axis=0) / np.maximum(w.sum(axis=0), 1e-300)
    T = (w * (values - mean) ** 2).sum(axis=0)
    counted = seen.sum(axis=0)
    tested = counted >= 2
    freedom = np.maximum(counted - 1, 1)
    p = np.where(tested, chdtrc(freedom, T), np.nan)
    differ = np.zeros(len(p), dtype=np.bool_)
    differ[tested] = adjust_holm(p[tested]) <= level
    # the noncentrality at which such a small T is a rare event; for large numbers scipy's search does not end
    largest = chndtrinc(np.clip(T, 1e-12, CERTAIN), freedom, level)
    largest = np.where(T > CERTAIN, (np.sqrt(np.maximum(T - freedom, 0.0)) - ndtri(level)) ** 2, largest)
    bound = np.where(tested, np.sqrt(np.maximum(np.nan_to_num(largest), 0.0) / freedom), np.nan)
    states: list[TaskState] = []
    for apart, small in zip(differ, bound < 1, strict=True):
        states.append("tells agents apart" if apart else "equivalent" if small else "unknown")
    return TaskTests(p_value=p, bound=bound, state=tuple(states))


def adjust_holm(p_values: Floats) -> Floats:
    """Return Holm's adjusted p-values: the family-wise error is at most the level at which they are compared."""
    order = np.argsort(p_values, kind="stable")
    k = len(order)
    adjusted = np.empty(k)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * (k - np.arange(k))))
    return adjusted


@dataclass(frozen=True, kw_only=True, eq=False)
class TableModel:
    """Drawn tables of all tasks, higher better; the floor of each task, and the noise of each cell.

    ``clear`` are the tasks that separate agents, or share skills if the noise is unknown. They are kept, and so
    are tasks that may share skills; if there are none all are, and the board is undecided.
    """

    tables: Floats  # (S, m, n)
    clear: Bools
    kept: Bools
    floor: Floats
    noise: Floats  # (m, n)
    label: Ints  # the pool of each agent
    facts: dict[str, Any]


def fit_model(
    S: Floats,
    stderr: Floats,
    known: Bools,
    shares: Bools,
    clear: Bools,
    draws: int,
    rng: np.random.Generator,
    *,
    pool: bool,
    doubted: Bools | None = None,
) -> TableModel:
    """Fit the tasks that separate agents and draw true tables, in the units of ``S``.

    Shares of known noise are modelled as log-odds beyond guessing, in which a skill is linear. Tasks of unknown noise
    are set aside if they hardly ever share a skill with the others. Tasks of ``doubted`` may be useless.
    """
    from nashboard.evaluation.posterior.low_rank import TableDraws, draw_tables, weigh_ranks  # compiled at first use

    m, n = S.shape
    kept = clear if clear.any() else ~clear
    given, label = stderr, np.arange(m)
    typical = np.sqrt((stderr**2).sum(axis=0) / np.isfinite(S).sum(axis=0))
    if pool and known[kept].all() and m > 2:
        first = Versions(S[:, kept], stderr[:, kept], shares[kept], FLOORS[:1])
        label = pool_duplicates(first.Y[0], first.V[0])
        S, stderr = pool_rows(S, stderr, label)
    data = Versions(S, stderr, shares, FLOORS if shares.any() else FLOORS[:1])
    ranks, counts = np.array([SKILLS]), np.array([draws])
    if not known[kept].all():
        counts = weigh_ranks(data.Y[0][:, kept], data.V[0][:, kept], known[kept], draws, rng)
        ranks, counts = np.flatnonzero(counts), counts[counts > 0]
    ranks = np.clip(ranks, 1, max(min(len(S) - 1, int(kept.sum()) - 1), 1))

    def draw(rank: int, count: int) -> TableDraws:
        Y, V, prior = (np.ascontiguousarray(part[..., kept]) for part in (data.Y, data.V, data.prior))
        doubt = None if doubted is None else doubted[kept]
        return draw_tables(Y, V, known[kept], rank=rank, draws=count, rng=rng, prior=prior, doubted=doubt)

    expected = S.copy()
    for _ in range(ROUNDS if shares[kept].any() else 0):
        rough = draw(int(ranks[0]), ROUGH)
        expected[:, kept] = data.to_scores(rough.tables, rough.version, kept).mean(axis=0)
        data = Versions(S, stderr, shares, FLOORS, expected)
    fits = [draw(int(one), int(count)) for one, count in zip(ranks, counts, strict=True)]
    version = np.concatenate([one.version for one in fits])
    tables = np.empty((draws, len(S), n))
    tables[:, :, kept] = data.to_scores(np.concatenate([one.tables for one in fits]), version, kept)
    plain = draw_plain(data.Y[0][:, ~kept], data.V[0][:, ~kept], draws, rng)
    tables[:, :, ~kept] = data.to_scores(plain, np.zeros((draws, int((~kept).sum())), dtype=np.intp), ~kept)
    unit = data.unit[0]
    tau = np.concatenate([one.tau for one in fits])
    use = np.ones(n)
    use[kept] = np.concatenate([one.useful for one in fits]).mean(axis=0)
    noise = np.where(known, typical, unit)
    noise[kept] = np.where(known[kept], noise[kept], np.sqrt((tau**2).mean(axis=0)) * unit[kept])
    drawn = np.broadcast_to(noise, (draws, n)).copy()
    drawn[:, kept & ~known] = (np.concatenate([one.noise for one in fits]) * unit[kept])[:, ~known[kept]]
    cells = np.where(known, given, noise)
    clear = clear & (use >= SURE)
    kept = kept & (use >= USELESS) if (use[kept] >= USELESS).any() else kept
    floor = np.where(kept, 2 * expected_range(len(S)) * noise, np.nan)
    facts = {
        "rank": int(ranks[counts.argmax()]),
        "ranks": tuple(np.repeat(ranks, counts).tolist()),
        "tau": float(np.concatenate([one.tau0 for one in fits]).mean()),
        "noise_by_task": noise,
        "drawn_noise": drawn,
        "unit": unit,
        "useful": use,
    }
    return TableModel(
        tables=tables[:, label], clear=clear, kept=kept, floor=floor, noise=cells, label=label, facts=facts
    )


def find_large_differences(model: TableModel, S: Floats, known: Bools) -> Bools:
    """Return a mask of tasks of unknown noise that share no skill, and whose spread exceeds the noise of other tasks.

    The residuals of skills on the other tasks bound their noise. If its size hardly varies, tasks have one unit, and
    noise of that size does not explain far larger differences. No table shows whether these are real, or noise of a
    task with fewer items. The logarithm of the spread is compared with those sizes by a prediction interval (Student's
    t) and Holm's rule. If tasks have several units, sizes vary as much as spreads do, and no task is found; nor is a
    task with scores far outside of those of the others, which has another unit.
    """
    from scipy.special import stdtr

    likely = model.facts["useful"] >= LIKELY
    shared, rest = likely & ~known, ~likely & ~known
    large = np.zeros(len(known), dtype=np.bool_)
    count, agents = int(shared.sum()), len(S)
    if count < FEWEST_SIZES or agents < FEWEST_SIZES or not rest.any():
        return large
    size = np.log(model.facts["noise_by_task"][shared])
    spread = max(float(size.std(ddof=1)), (2 * agents - 2) ** -0.5)  # at least the error of a spread over the agents
    t = (np.log(model.facts["unit"][rest]) - size.mean()) / (spread * np.sqrt(1 + 1 / count))
    low, high = np.nanmin(S[:, shared]), np.nanmax(S[:, shared])
    margin = (high - low) / 2
    near = (np.nanmin(S, axis=0) >= low - margin) & (np.nanmax(S, axis=0) <= high + margin)
    large[rest] = adjust_holm(stdtr(count - 1, -t)) <= USELESS
    return np.asarray(large & near)


def pool_rows(S: Floats, stderr: Floats, label: Ints) -> tuple[Floats, Floats]:
    """Return one row for each pool: the mean score, weighted by precision, and its standard error."""
    member = np.arange(label.max() + 1)[:, None] == label
    w = member @ np.where(np.isfinite(S), 1 / np.where(stderr > 0, stderr, 1.0) ** 2, 0.0)
    total = member @ np.where(np.isfinite(S), np.nan_to_num(S) / np.where(stderr > 0, stderr, 1.0) ** 2, 0.0)
    some = w > 0
    weight = np.where(some, w, 1.0)
    return np.where(some, total / weight, np.nan), np.where(some & (stderr.max(axis=0) > 0), weight**-0.5, 0.0)


class Versions:
    """Scores ``Y`` and variances ``V`` (H, m, n) in units of each task, for each level of guessing of tasks of shares.

    ``prior`` (H, n) contains log probabilities, with the terms of the densities that do not depend on the model.
    """

    def __init__(
        self, S: Floats, stderr: Floats, shares: Bools, floors: Floats, expected: Floats | None = None
    ) -> None:
        """Convert shares to log-odds at the ``expected`` ones, or at the shares themselves."""
        Z, error = np.repeat(S[None], len(floors), axis=0), np.repeat(stderr[None], len(floors), axis=0)
        self.prior = np.full((len(floors), S.shape[1]), -np.inf)
        self.prior[0] = 0.0
        at = S if expected is None else expected
        for k, floor in enumerate(floors):
            converted = to_log_odds(S[:, shares], stderr[:, shares], float(floor), at[:, shares])
            Z[k][:, shares], error[k][:, shares], self.prior[k, shares] = converted
        units = [task_units(*one) for one in zip(Z, error, strict=True)]
        self.centre, self.unit = (np.stack(part) for part in zip(*units, strict=True))
        self.Y, self.V = (Z - self.centre[:, None]) / self.unit[:, None], (error / self.unit[:, None]) ** 2
        self.prior -= np.isfinite(S).sum(axis=0) * np.log(self.unit)
        self.shares = shares

    def to_scores(self, tables: Floats, version: Ints, tasks: Bools) -> Floats:
        """Return drawn tables (S, m, n) of some tasks as scores, given the version of each task in each draw."""
        columns = np.flatnonzero(tasks)
        tables = tables * self.unit[version, columns][:, None] + self.centre[version, columns][:, None]
        shares = self.shares[tasks]
        floor = FLOORS[version[:, None, shares]]
        tables[:, :, shares] = floor + (1 - floor) / (1 + np.exp(-tables[:, :, shares]))
        return tables


def draw_plain(Y: Floats, V: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Draw scores of tasks set aside around the measured ones, by their noise; missing cells around the task's mean."""
    missing = np.isnan(Y)
    spread = np.sqrt(np.where(missing, np.nanvar(Y, axis=0), V)) if Y.size else V
    return np.asarray(np.where(missing, 0.0, Y) + spread * rng.standard_normal((draws, *Y.shape)))


def to_log_odds(p: Floats, stderr: Floats, floor: float, expected: Floats) -> tuple[Floats, Floats, Floats]:
    """Return log-odds of shares beyond the level of guessing, their standard errors, and log densities by task.

    A standard error is turned into the number of items that has it; shares of 0 and 1 have the task's typical number.
    The normal likelihood of a share is converted at the expected one, at least half a standard error above the level of
    guessing. The log densities are its terms that do not depend on the log-odds.
    """
    inside = (p > 0) & (p < 1) & (stderr > 0)
    items = np.where(inside, p * (1 - p) / np.where(inside, stderr, 1.0) ** 2, np.nan)
    typical = np.exp(np.nanmean(np.log(items), axis=0)) if inside.any(axis=0).all() else 1.0
    items = np.maximum(np.where(inside, items, typical), 1.0)
    share = (p * items + 0.5) / (items + 1)
    error = np.sqrt(share * (1 - share) / items)
    low, high = floor + 0.5 * error, 1 - 0.5 / (items + 1)
    near = np.clip(np.where(np.isnan(expected), share, expected), np.minimum(low, high), high)
    known = (near - floor) / (1 - floor)
    odds = np.log(known / (1 - known))
    slope = 1 / (known * (1 - known) * (1 - floor))
    # within a few standard errors of guessing a share bounds the odds from above much better than from below: there the
    # slope is that of the chord to two standard errors above
    above = np.clip((near + 2 * error - floor) / (1 - floor), known, 1 - 1e-9)
    chord = (np.log(above / (1 - above)) - odds) / (2 * error)
    close = np.clip(2 - (near - floor) / (2 * error), 0.0, 1.0) if floor else 0.0
    slope = np.where(close > 0, slope + close * (np.minimum(chord, slope) - slope), slope)
    density = np.log(slope * error) - 0.5 * (np.minimum(share - floor, 0.0) / error) ** 2
    return odds + (share - near) * slope, np.where(np.isnan(p), 0.0, error * slope), np.nansum(density, axis=0)


def task_units(S: Floats, stderr: Floats) -> tuple[Floats, Floats]:
    """Return the mean of each task and the spread of its agents without known noise (at most three quarters of it).

    A spread below a billionth of the noise is rounding: the unit is not smaller, so that noise in units stays finite.
    """
    centre = np.nanmean(S, axis=0)
    variance = np.nanmean((S - centre) ** 2, axis=0)
    noise = np.where(np.isnan(S), 0.0, stderr**2).sum(axis=0) / (~np.isnan(S)).sum(axis=0)
    unit = np.maximum(np.sqrt(np.maximum(variance - noise, variance / 4)), LEAST_NOISE * np.sqrt(noise))
    return centre, np.where(unit > 0, unit, 1.0)


def expected_range(m: int) -> float:
    """Return the expected range of ``m`` standard normal numbers, by quadrature: 3.4 for 14."""
    from scipy.special import ndtr

    x = np.linspace(-8.0, 8.0, 2001)
    return float(np.trapezoid(1 - ndtr(x) ** m - ndtr(-x) ** m, x))


def measure_sizes(tables: Floats, floor: Floats, scaling: str) -> Floats:
    """Return the size of one unit of each task: the same for all draws, so that draws differ only by scores.

    ``"range"``: ``sqrt(range^2 + floor^2)``, ``range`` the posterior mean of the range of the true scores. Without
    noise this is the paper's unit. A task that is mostly noise has a unit far above its range.
    """
    if scaling == "range":
        size = np.sqrt(np.ptp(tables, axis=1).mean(axis=0) ** 2 + floor**2)
    elif scaling == "zscore":
        size = np.sqrt(tables.var(axis=1).mean(axis=0) + (floor / expected_range(tables.shape[1])) ** 2)
    else:
        size = np.ones(tables.shape[2])
    return np.asarray(np.where(size > 0, size, 1.0))


def to_units(tables: Floats, sizes: Floats, scaling: str) -> Floats:
    """Put tables ``(S, m, n)`` in comparable units, given the size of one unit of each task.

    ``"range"``: regrets ``(t - max t) / size``. Without noise this is the paper's game up to a constant; on a task that
    is mostly noise all regrets are near 0, and the task player does not use it.
    """
    if scaling == "range":
        return np.asarray((tables - tables.max(axis=1, keepdims=True)) / sizes)
    if scaling == "zscore":
        return np.asarray((tables - tables.mean(axis=1, keepdims=True)) / sizes)
    if scaling == "rank":
        return np.stack([beaten_share(table) for table in tables])
    return tables


def solve_tables(units: Floats, selection: Selection) -> tuple[Floats, Floats, Floats]:
    """Return the weights of agents and of tasks, and the gaps, of every table.

    If one agent is the best on every task it has all weight, and every mixture of tasks is an equilibrium: the most
    even one is uniform. Such tables need no solver.
    """
    count, m, n = units.shape
    p, q, gaps = np.zeros((count, m)), np.zeros((count, n)), np.zeros((count, m))
    best = units.argmax(axis=1)
    champion = best[:, 0]
    rest = units.copy()
    rest[np.arange(count), champion] = -np.inf
    alone = (best == champion[:, None]).all(axis=1) & (rest.max(axis=1) < units.max(axis=1)).all(axis=1)
    alone &= np.ptp(units.max(axis=1), axis=1) == 0.0 if m > 1 else True
    p[alone, champion[alone]] = 1.0
    q[alone] = 1.0 / n
    gaps[alone] = units[alone].max(axis=(1, 2))[:, None] - units[alone].mean(axis=2)
    gaps[alone, champion[alone]] = 0.0
    open_ = np.flatnonzero(~alone)
    if open_.size and m + n <= STACKED:
        many = nash_averages_scores(units[open_], selection=selection)
        p[open_], q[open_] = many.agent_weights, many.task_weights
        gaps[open_] = many.values[:, None] - many.skills
    else:
        for k in open_:
            one = nash_average_scores(units[k], selection=selection)
            p[k], q[k], gaps[k] = one.agent_weights, one.task_weights, one.value - one.skills
    return p, q, np.where(p > 0, 0.0, np.maximum(gaps, 0.0))


def expand(values: Floats, kept: Bools) -> Floats:
    """Return values of all tasks on the last axis; 0 for those set aside."""
    expanded = np.zeros((*values.shape[:-1], len(kept)))
    expanded[..., kept] = values
    return expanded
