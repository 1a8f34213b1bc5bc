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

from nashboard._types import Bools, Floats
from nashboard.data.scaling import Scaling, beaten_share
from nashboard.data.scores import Scores
from nashboard.equilibrium.batch import nash_averages_scores
from nashboard.equilibrium.nash_average import nash_average_scores
from nashboard.equilibrium.results import Selection
from nashboard.evaluation.posterior.draws import Draws
from nashboard.evaluation.posterior.low_rank import choose_rank, draw_tables

NoiseModel = Literal["model", "none"]

FALSE_SIGNALS = 0.05  # expected share of useless tasks among those that are kept (Benjamini-Hochberg)
STACKED = 400  # agents and tasks up to which games are solved as a stack
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
    rank
        Number of skills; None: the number that best predicts scores that were left out.

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
    stderr = fill_noise(stderr, scores.missing)
    signal = find_signal(higher, stderr)
    kept = signal.kept
    facts: dict[str, Any] = {
        "noise": describe_noise(noise, known),
        "known_noise": known,
        "set_aside": tuple(task for task, is_kept in zip(scores.tasks, kept, strict=True) if not is_kept),
        "p_signal": signal.p_value,
        "rank": 0,
    }
    if noise == "none" and not scores.missing.any():
        tables, floor = higher[None], np.zeros(int(kept.sum()))
    else:
        tables, floor, learned = draw_true_tables(higher[:, kept], stderr[:, kept], known[kept], draws, rng, rank)
        facts |= learned
        if noise == "none":
            tables, floor = np.where(scores.missing[:, kept], tables, higher[:, kept]), np.zeros_like(floor)
    units = to_units(tables, floor, scaling if scores.scaling == "raw" else "none")
    weights, task_weights, gaps = solve_tables(units, selection)
    every_task = np.zeros((len(units), len(kept)))
    every_task[:, kept] = task_weights
    facts["floor"] = spread_over(kept, floor)
    drawn = plain_tables(tables, higher, stderr, kept, rng)
    sign = np.where(scores.lower_is_better, -1.0, 1.0)
    return Draws(
        gaps=gaps,
        weights=weights,
        point=gaps.mean(axis=0),
        means=(drawn * sign).mean(axis=2),
        task_weights=every_task,
        payoffs=whole_payoffs(units, kept) if len(units) * higher.size <= KEPT_CELLS else None,
        expected=drawn.mean(axis=0) * sign,
        facts=facts,
    )


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


def draw_true_tables(
    S: Floats, stderr: Floats, known: Bools, draws: int, rng: np.random.Generator, rank: int | None
) -> tuple[Floats, Floats, dict[str, Any]]:
    """Return drawn tables, the noise floor of each task, and what was learned; all in the units of ``S``."""
    centre, unit = task_units(S, stderr)
    Y, V = (S - centre) / unit, (stderr / unit) ** 2
    facts: dict[str, Any] = {}
    if rank is None:
        rank, facts["held_out"] = choose_rank(Y, V, known, rng)
    found = draw_tables(Y, V, known, rank=rank, draws=draws, rng=rng)
    m = (~np.isnan(S)).sum(axis=0)
    typical = np.sqrt((stderr**2).sum(axis=0) / np.maximum(m, 1))
    residual = np.sqrt((found.tau**2).mean(axis=0)) * unit
    noise = np.where(known, typical, residual)
    facts |= {"rank": rank, "tau": float(found.tau0.mean()), "noise_by_task": noise}
    return found.tables * unit + centre, 2 * expected_range(len(S)) * noise, facts


def task_units(S: Floats, stderr: Floats) -> tuple[Floats, Floats]:
    """Return the mean of each task and the spread of its agents, known noise taken off (at most three quarters)."""
    centre = np.nanmean(S, axis=0)
    variance = np.nanmean((S - centre) ** 2, axis=0)
    noise = np.where(np.isnan(S), 0.0, stderr**2).sum(axis=0) / (~np.isnan(S)).sum(axis=0)
    unit = np.sqrt(np.maximum(variance - noise, variance / 4))
    return centre, np.where(unit > 0, unit, 1.0)


def expected_range(m: int) -> float:
    """Return the expected range of ``m`` standard normal numbers, by quadrature: 3.4 for 14."""
    from scipy.special import ndtr

    x = np.linspace(-8.0, 8.0, 2001)
    return float(np.trapezoid(1 - ndtr(x) ** m - ndtr(-x) ** m, x))


def to_units(tables: Floats, floor: Floats, scaling: str) -> Floats:
    """Put drawn tables in comparable units.

    ``"range"``: regrets ``(t - max t) / sqrt(range^2 + floor^2)``. Without noise this is the paper's game up to a
    constant; on a task that is mostly noise all regrets are near 0, and the task player has no use for it.
    """
    if scaling == "range":
        top = tables.max(axis=1, keepdims=True)
        size = np.sqrt((top - tables.min(axis=1, keepdims=True)) ** 2 + floor**2)
        return np.asarray((tables - top) / np.where(size > 0, size, 1.0))
    if scaling == "rank":
        return np.stack([beaten_share(table) for table in tables])
    if scaling == "zscore":
        spread = np.sqrt(tables.var(axis=1, keepdims=True) + (floor / expected_range(tables.shape[1])) ** 2)
        return np.asarray((tables - tables.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0))
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


def plain_tables(tables: Floats, S: Floats, stderr: Floats, kept: Bools, rng: np.random.Generator) -> Floats:
    """Return drawn tables of all tasks in raw units; tasks set aside are drawn around the scores by their noise."""
    count = len(tables)
    drawn = np.empty((count, *S.shape))
    drawn[:, :, kept] = tables
    if not kept.all():
        aside = np.where(np.isnan(S), np.nanmean(S, axis=0), S)[:, ~kept]
        drawn[:, :, ~kept] = aside + stderr[:, ~kept] * rng.standard_normal((count, *aside.shape))
    return drawn


def whole_payoffs(units: Floats, kept: Bools) -> Floats:
    """Return units of all tasks; those set aside are 0 for everybody."""
    whole = np.zeros((*units.shape[:2], len(kept)))
    whole[:, :, kept] = units
    return whole


def spread_over(kept: Bools, values: Floats) -> Floats:
    """Return values of all tasks, NaN for those set aside."""
    whole = np.full(len(kept), np.nan)
    whole[kept] = values
    return whole


def describe_noise(noise: NoiseModel, known: Bools) -> str:
    """Return the noise that was used: ``"none"``, ``"known"``, ``"residual"`` or ``"mixed"``."""
    if noise == "none":
        return "none"
    return "known" if known.all() else "mixed" if known.any() else "residual"
