"""Draws of the truth behind a score table: denoise, put tasks in units, solve every draw.

1. `known_noise`: standard errors of the scores, where the data have them.
2. `find_signal`: tasks on which the agents differ by no more than noise are set aside.
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
from nashboard.evaluation.posterior.duplicates import Pools, pool_duplicates
from nashboard.evaluation.posterior.low_rank import choose_rank, draw_tables

NoiseModel = Literal["model", "none"]

FALSE_SIGNALS = 0.01  # expected share of useless tasks among those kept (Benjamini-Hochberg): one can decide a board
SKILLS = 6  # in tables of known noise; the prior removes those that the data do not support
STACKED = 400  # agents and tasks up to which games are solved as a stack
LEAST_NOISE = 1e-9  # of the largest score of a task: a smaller standard error is rounding
LEAST_NUMBER = 1e-100  # and so is a smaller one of any task: its square, and one over it, are still numbers
KEPT_CELLS = 2e7  # drawn tables are kept up to this many numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class Signal:
    """Which tasks tell agents apart beyond noise.

    ``p_value`` is the probability of such differences by noise alone, NaN where the noise of the task is unknown.
    """

    p_value: Floats
    kept: Bools


def draw_scores(
    scores: Scores,
    *,
    draws: int,
    rng: np.random.Generator,
    scaling: Scaling = "range",
    noise: NoiseModel = "model",
    selection: Selection = "clone-invariant",
    pool: bool = True,
    rank: int | None = None,
) -> Draws:
    """Draw true tables from their posterior and solve each of them.

    Parameters
    ----------
    scores
        The table, one row per class of agents and one column per class of tasks, without constant tasks.
    draws
        Number of draws.
    rng
        Source of randomness.
    scaling
        Units of the tasks, as in `Scores.scale`; tables that are scaled already stay as they are.
    noise
        ``"model"``: scores are noisy, by their standard errors or, where these are unknown, by what a few skills do not
        explain. ``"none"``: the table is exact; only missing cells are drawn.
    selection
        As in `nash_average_scores`.
    pool
        Treat agents that the data show to be the same as one agent that was measured more often. They share a row of
        the draws: ``facts["label"]`` is the row of each agent.
    rank
        Number of skills; None: 6 where the noise is known, else the number that best predicts scores left out.

    Examples
    --------
    >>> import numpy as np
    >>> import nashboard as nb
    >>> table = nb.Scores.from_array([[0.9, 0.8], [0.6, 0.7], [0.2, 0.1]], stderr=np.full((3, 2), 0.01))
    >>> found = draw_scores(table, draws=50, rng=np.random.default_rng(0))
    >>> found.weights.mean(axis=0).round(1)
    array([1., 0., 0.])
    """
    higher = np.where(scores.lower_is_better, -scores.values, scores.values) + 0.0
    stderr = np.full(higher.shape, np.nan) if noise == "none" else known_noise(scores)
    known: Bools = np.asarray(np.isfinite(stderr).any(axis=0))
    rounding = np.maximum(LEAST_NOISE * np.nanmax(np.abs(higher), axis=0), LEAST_NUMBER)
    stderr = fill_noise(np.maximum(stderr, rounding), scores.missing)  # what is not known stays so
    signal = find_signal(higher, stderr)
    if noise == "none" and not scores.missing.any():
        model = exact_model(higher)
    else:
        shares = known & find_shares(scores)
        model = fit_model(higher, stderr, known, shares, signal.kept, draws, rng, rank, pool=pool)
        if noise == "none":
            model = exact_model(np.where(scores.missing, model.tables, higher))
    kept = model.kept
    how = scaling if scores.scaling == "raw" else "none"
    sizes = task_sizes(model.tables[:, :, kept], model.floor[kept], how)
    units = to_units(model.tables[:, :, kept], sizes, how)
    label = model.pools
    first, size = np.unique(label, return_index=True)[1], np.bincount(label)
    units = units[:, first]
    weights, task_weights, gaps = solve_tables(units, selection)
    sign = np.where(scores.lower_is_better, -1.0, 1.0)
    facts = {
        "noise": describe_noise(noise, known),
        "known_noise": known,
        "set_aside": tuple(task for task, is_kept in zip(scores.tasks, kept, strict=True) if not is_kept),
        "unpredicted": tuple(task for k, task in enumerate(scores.tasks) if not kept[k] and not known[k]),
        "kept": kept,
        "p_signal": signal.p_value,
        "label": label,
        "pools": tuple(
            tuple(scores.agents[k] for k in np.flatnonzero(label == group)) for group in np.flatnonzero(size > 1)
        ),
        "sizes": np.where(kept, widen(sizes, kept), np.nan),
    }
    return Draws(
        gaps=gaps,
        weights=weights,
        point=central_mean(gaps),
        means=draw_means(scores, model, rng),
        task_weights=widen(task_weights, kept),
        payoffs=widen(units, kept) if len(units) * higher.size <= KEPT_CELLS else None,
        expected=(model.tables.mean(axis=0) * sign)[first],
        facts=facts | model.facts,
    )


def central_mean(gaps: Floats, level: float = 0.95) -> Floats:
    """Return the posterior mean; draws outside the central interval count as its ends, so the mean lies inside."""
    low, high = np.quantile(gaps, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return np.asarray(np.clip(gaps, low, high).mean(axis=0))


def draw_means(scores: Scores, model: "TableModel", rng: np.random.Generator) -> Floats:
    """Draw plain means of the raw scores: measured cells with their noise, missing cells as drawn.

    Measured cells are not shrunk, so the draws have the mean that anybody computes from a complete table.
    """
    count, m, n = model.tables.shape
    seen = ~scores.missing
    total = np.where(seen, scores.values, 0.0).sum(axis=1) + np.zeros((count, m))
    z = rng.standard_normal((count, m))
    total += (z - z.mean(axis=0)) * np.sqrt((np.where(seen, model.noise, 0.0) ** 2).sum(axis=1))
    if scores.missing.any():
        sign = np.where(scores.lower_is_better, -1.0, 1.0)
        total += np.einsum("sij,ij->si", model.tables, scores.missing * sign)
    return np.asarray(total / n)


def known_noise(scores: Scores) -> Floats:
    """Return standard errors: given, from runs, or of a share of ``n`` items; NaN where none of them is known.

    A standard error of exactly 0 is not a measurement of noise and counts as unknown. For a raw share of ``n`` items
    it is ``sqrt(p (1 - p) / n)``, with ``p`` moved half an item towards the middle.
    """
    S, E, n = scores.values, scores.stderr, scores.n
    noise = np.where(E > 0, E, np.nan)
    if scores.scaling != "raw":
        return noise
    share = np.isnan(noise) & (n > 0) & (np.nanmin(S, axis=0) >= 0) & (np.nanmax(S, axis=0) <= 1)
    items = np.where(share, n, 1.0)
    p = (np.where(share, S, 0.5) * items + 0.5) / (items + 1)
    return np.where(share, np.sqrt(p * (1 - p) / items), noise)


def find_shares(scores: Scores) -> Bools:
    """Return which tasks have raw scores between 0 and 1, higher better."""
    low, high = np.nanmin(scores.values, axis=0), np.nanmax(scores.values, axis=0)
    return np.asarray((low >= 0) & (high <= 1) & ~scores.lower_is_better & (scores.scaling == "raw"))


def fill_noise(stderr: Floats, missing: Bools) -> Floats:
    """Give scores without a standard error the root mean square of their task; 0 where the task has none."""
    some = np.isfinite(stderr)
    typical = np.sqrt((np.where(some, stderr, 0.0) ** 2).sum(axis=0) / np.maximum(some.sum(axis=0), 1))
    return np.where(missing, 0.0, np.where(some, stderr, typical))


def find_signal(S: Floats, stderr: Floats, level: float = FALSE_SIGNALS) -> Signal:
    """Test every task for differences between agents beyond noise (chi-square), Benjamini-Hochberg over tasks.

    Tasks of unknown noise cannot be tested and are kept. If no task passes, all are kept: then the board is undecided.
    """
    from scipy.special import chdtrc

    seen = np.isfinite(S) & (stderr > 0)
    w = np.where(seen, 1 / np.where(seen, stderr, 1.0) ** 2, 0.0)
    values = np.where(seen, S, 0.0)
    mean = (w * values).sum(axis=0) / np.maximum(w.sum(axis=0), 1e-300)
    spread = (w * (values - mean) ** 2).sum(axis=0)
    counted = seen.sum(axis=0)
    tested = counted >= 2
    p = np.where(tested, chdtrc(np.maximum(counted - 1, 1), spread), np.nan)
    kept = ~tested
    kept[tested] = benjamini_hochberg(p[tested], level)
    return Signal(p_value=p, kept=kept if kept.any() else np.ones_like(kept))


def benjamini_hochberg(p: Floats, level: float) -> Bools:
    """Return which hypotheses are rejected with a false discovery rate of at most ``level``."""
    order = np.argsort(p, kind="stable")
    below = p[order] <= level * np.arange(1, len(p) + 1) / max(len(p), 1)
    rejected = np.zeros(len(p), dtype=np.bool_)
    if below.any():
        rejected[order[: np.flatnonzero(below)[-1] + 1]] = True
    return rejected


@dataclass(frozen=True, kw_only=True, eq=False)
class TableModel:
    """Drawn tables of all tasks, higher better; which tasks are kept, the floor of each, and the noise of each cell."""

    tables: Floats  # (S, m, n)
    kept: Bools
    floor: Floats
    noise: Floats  # (m, n)
    pools: Ints  # the pool of each agent
    facts: dict[str, Any]


def exact_model(tables: Floats) -> TableModel:
    """Return tables without noise."""
    n = tables.shape[-1]
    whole = tables.reshape(-1, *tables.shape[-2:])
    return TableModel(
        tables=whole,
        kept=np.ones(n, dtype=np.bool_),
        floor=np.zeros(n),
        noise=np.zeros(whole.shape[1:]),
        pools=np.arange(whole.shape[1]),
        facts={},
    )


def fit_model(
    S: Floats,
    stderr: Floats,
    known: Bools,
    shares: Bools,
    kept: Bools,
    draws: int,
    rng: np.random.Generator,
    rank: int | None,
    *,
    pool: bool,
) -> TableModel:
    """Fit the tasks that are kept and draw true tables, in the units of ``S``.

    Shares of known noise are modelled as log-odds, in which a skill is a straight line up to the ceiling. Tasks of
    unknown noise are set aside if the skills do not predict their cells better than the mean does.
    """
    Z, error = S.copy(), stderr.copy()
    Z[:, shares], error[:, shares] = to_log_odds(S[:, shares], stderr[:, shares])
    centre, unit = task_units(Z, error)
    Y, V = (Z - centre) / unit, (error / unit) ** 2
    facts: dict[str, Any] = {}
    if rank is None and not known[kept].all():
        choice = choose_rank(Y[:, kept], V[:, kept], known[kept], rng)
        unpredicted = ~known[kept] & (choice.gain <= choice.gain_error)
        kept = kept.copy()
        kept[np.flatnonzero(kept)[unpredicted]] = unpredicted.all()
        facts, rank = {"held_out": choice.densities}, choice.rank
    m, n = S.shape
    rank = min(SKILLS if rank is None else rank, max(m - 1, 1), max(int(kept.sum()) - 1, 1))
    pools = Pools(label=np.arange(m), Y=Y[:, kept], V=V[:, kept])
    if pool and known[kept].all() and m > 2:
        pools = pool_duplicates(pools.Y, pools.V)
    found = draw_tables(pools.Y, pools.V, known[kept], rank=rank, draws=draws, rng=rng)
    tables = np.empty((draws, m, n))
    tables[:, :, kept] = found.tables[:, pools.label]
    tables[:, :, ~kept] = draw_plain(Y[:, ~kept], V[:, ~kept], draws, rng)
    tables = tables * unit + centre
    tables[:, :, shares] = 1 / (1 + np.exp(-tables[:, :, shares]))
    noise = np.sqrt((stderr**2).sum(axis=0) / np.isfinite(S).sum(axis=0))
    residual = np.sqrt((found.tau**2).mean(axis=0)) * unit[kept]
    noise[kept] = np.where(known[kept], noise[kept], residual)
    noise[~kept] = np.where(known[~kept], noise[~kept], unit[~kept])
    cells = np.where(known, stderr, noise)
    floor = np.where(kept, 2 * expected_range(len(pools.Y)) * noise, np.nan)
    facts |= {"rank": rank, "tau": float(found.tau0.mean()), "noise_by_task": noise}
    return TableModel(tables=tables, kept=kept, floor=floor, noise=cells, pools=pools.label, facts=facts)


def draw_plain(Y: Floats, V: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Draw scores of tasks set aside around what was measured, by their noise; missing cells around the task's mean."""
    missing = np.isnan(Y)
    spread = np.sqrt(np.where(missing, np.nanvar(Y, axis=0), V)) if Y.size else V
    return np.asarray(np.where(missing, 0.0, Y) + spread * rng.standard_normal((draws, *Y.shape)))


def to_log_odds(p: Floats, stderr: Floats) -> tuple[Floats, Floats]:
    """Return empirical log-odds of shares and their standard errors.

    A standard error is turned into the number of items that has it; shares of 0 and 1 have the task's typical number.
    """
    inside = (p > 0) & (p < 1) & (stderr > 0)
    items = np.where(inside, p * (1 - p) / np.where(inside, stderr, 1.0) ** 2, np.nan)
    typical = np.exp(np.nanmean(np.log(items), axis=0)) if inside.any(axis=0).all() else 1.0
    items = np.maximum(np.where(inside, items, typical), 1.0)
    solved, failed = p * items + 0.5, (1 - p) * items + 0.5
    return np.log(solved / failed), np.where(np.isnan(p), 0.0, np.sqrt(1 / solved + 1 / failed))


def task_units(S: Floats, stderr: Floats) -> tuple[Floats, Floats]:
    """Return the mean of each task and the spread of its agents, known noise taken off (at most three quarters).

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


def task_sizes(tables: Floats, floor: Floats, scaling: str) -> Floats:
    """Return the size of one unit of each task: the same for all draws, so that draws differ by scores alone.

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
    is mostly noise all regrets are near 0, and the task player has no use for it.
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

    Where one agent is the best on every task it has all weight, and every mixture of tasks is an equilibrium: the most
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


def widen(values: Floats, kept: Bools) -> Floats:
    """Return values of all tasks on the last axis; 0 for those set aside."""
    whole = np.zeros((*values.shape[:-1], len(kept)))
    whole[..., kept] = values
    return whole


def describe_noise(noise: NoiseModel, known: Bools) -> str:
    """Return the noise that was used: ``"none"``, ``"known"``, ``"residual"`` or ``"mixed"``."""
    if noise == "none":
        return "none"
    return "known" if known.all() else "mixed" if known.any() else "residual"
