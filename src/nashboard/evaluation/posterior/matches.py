"""Draws of the truth for matches: payoffs from the hierarchical model, and the equilibrium of each draw.

Small leagues solve all drawn games as a stack. In large leagues the payoffs of a draw are never built: the game is
solved among a few contenders, everybody's payoff against them is drawn, and whoever gains joins (double oracle).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.equilibrium.batch import cores, nash_averages
from nashboard.errors import InputError
from nashboard.evaluation.posterior.draws import Draws
from nashboard.ratings.errors import origin_weights
from nashboard.ratings.hierarchical import (
    TAU_SCALE,
    TELLING,
    HierarchicalFit,
    MeasuredPairs,
    ModelDraws,
    PairCounts,
    fit_hierarchical,
    fit_pairs,
)
from nashboard.ratings.hierarchical_planes import count_planes, draw_with_planes

MOST_PAYOFFS = 10_000_000  # payoffs of all draws up to which they are kept; beyond, games are solved by columns
MOST_EXPECTED = 4_000  # agents up to which the matrix of expected payoffs is made
BLOCK = 64  # games that are solved in one stack
CONTENDERS = 24  # agents that a large game starts with
LEAST_ERROR = 1e-6  # relative to the payoffs: a standard error of 0 is taken as this
CYCLES_MATTER = 0.1  # share of the variance of payoffs from which cycles change the order, as in the verdict
LARGE_CYCLES = 0.5  # log-odds, 87 Elo points: where cycles may be larger, nothing is said against them
CLOSE = 1e-10  # gain against the equilibrium, relative to the largest payoff, that counts as rounding


def draw_matches(
    matches: Matches,
    *,
    draws: int = 200,
    rng: np.random.Generator | int = 0,
    workers: int | None = None,
    fit: HierarchicalFit | None = None,
    advance: Callable[[int], None] | None = None,
) -> Draws:
    """Draw ratings, payoffs and equilibria from the posterior of the hierarchical model.

    Parameters
    ----------
    matches
        Who met whom, one agent per class of exact copies, in canonical order.
    draws, rng
        How many draws, and the seed or generator that they come from.
    workers
        Threads for large leagues; by default all cores.
    fit
        The model, where it was fitted to these matches already.
    advance
        Called with the number of draws that have just been finished.
    """
    rng = np.random.default_rng(rng) if not isinstance(rng, np.random.Generator) else rng
    found = draw_games(fit or fit_hierarchical(matches), draws, rng, workers, advance)
    origin, ratings = origin_weights(matches), found.ratings
    assert ratings is not None
    facts = found.facts | {"beside_origin": np.flatnonzero(origin == 0).tolist()}
    return replace(found, ratings=ratings - (ratings @ origin)[:, None], facts=facts)


def draw_payoffs(
    payoffs: Payoffs,
    *,
    draws: int = 200,
    rng: np.random.Generator | int = 0,
    workers: int | None = None,
    advance: Callable[[int], None] | None = None,
) -> Draws:
    """Draw payoffs and equilibria from the same model for payoffs with standard errors, on their own scale.

    Measured payoffs are normal around ``r_i - r_j + c_ij``. Log-odds keep their unit, for which priors are meant. Of
    other payoffs nothing is known about cycles, so the prior gives even odds that they matter: while the model is
    fitted the unit is such that at the prior median of tau cycles have the share ``CYCLES_MATTER`` of the variance.
    """
    rng = np.random.default_rng(rng) if not isinstance(rng, np.random.Generator) else rng
    errors = payoffs.errors()
    if errors is None:
        raise InputError("these payoffs have neither standard errors nor numbers of games: nothing can be drawn")
    i, j = np.triu_indices(len(payoffs.agents), 1)
    known = np.isfinite(errors[i, j])
    i, j = i[known], j[known]
    size = float(np.sqrt((payoffs.A[i, j] ** 2).mean())) if known.any() else 1.0
    unit = 1.0 if payoffs.scale == "logit" or not size > 0 else CYCLES_MATTER**0.5 / TAU_SCALE * size
    measured, error = payoffs.A[i, j] / unit, np.maximum(errors[i, j] / unit, LEAST_ERROR)
    pairs = MeasuredPairs(n=len(payoffs.agents), i=i, j=j, measured=measured, variance=error**2)
    found = draw_games(fit_pairs(payoffs.agents, pairs), draws, rng, workers, advance)
    scaled: dict[str, Any] = {
        name: None if (value := getattr(found, name)) is None else value * unit
        for name in ("gaps", "point", "payoffs", "expected")
    }
    sizes = {name: found.facts[name] * unit for name in ("sigma", "tau", "tau_low", "tau_high")}
    return replace(found, **scaled, ratings=None, facts={**found.facts, **sizes})


def draw_games(
    fit: HierarchicalFit,
    draws: int,
    rng: np.random.Generator,
    workers: int | None,
    advance: Callable[[int], None] | None,
) -> Draws:
    """Draw from a fitted model, and solve the game of every draw."""
    n = len(fit.agents)
    small = draws * n * n <= MOST_PAYOFFS
    planes = count_planes(fit) if small else 0
    model = draw_with_planes(fit, planes, draws, rng) if planes else fit.draw(draws, rng)
    done = advance or (lambda count: None)
    payoffs: Floats | None = None
    if small:
        payoffs = np.empty((draws, n, n))
        gaps, weights = np.empty((draws, n)), np.empty((draws, n))
        for at in range(0, draws, BLOCK):
            block = slice(at, min(at + BLOCK, draws))
            payoffs[block] = model.payoffs(block)
            gaps[block], weights[block] = solve_games(payoffs[block])
            done(block.stop - at)
    else:
        gaps, weights = solve_by_columns(model, workers, done)
    return Draws(
        gaps=gaps,
        weights=weights,
        point=gaps.mean(axis=0),
        # Elo is the mean log-odds over all opponents; among very many the cyclic parts average out
        ratings=np.array(model.ratings) if payoffs is None else payoffs.mean(axis=2),
        payoffs=payoffs,
        expected=expected_payoffs(fit) if n <= MOST_EXPECTED else None,
        facts=model_facts(fit) | {"planes": planes},
    )


def model_facts(fit: HierarchicalFit) -> dict[str, object]:
    """Return what words about the model need."""
    low, high = fit.tau_interval
    return {
        "model": "hierarchical",
        "sigma": fit.sigma,
        "tau": fit.tau,
        "tau_low": low,
        "tau_high": high,
        "cyclic_share": fit.cyclic_share,
        "shows_cycles": not isinstance(fit.counts, PairCounts)
        or bool(fit.counts.telling_pairs(np.array([LARGE_CYCLES]))[0] > TELLING),
        "dispersion": fit.counts.dispersion,
        "around_opponents": fit.around_opponents,
    }


def expected_payoffs(fit: HierarchicalFit) -> Floats:
    """Return the posterior mean of all log-odds: differences of ratings, with the cyclic part where a pair met."""
    A = fit.ratings[:, None] - fit.ratings
    i, j = fit.counts.i, fit.counts.j
    A[i, j], A[j, i] = fit.expected, -fit.expected
    return np.asarray(A)


def solve_games(A: Floats) -> tuple[Floats, Floats]:
    """Return gaps and weights of a stack of games ``(b, n, n)``; an agent that beats everybody is the equilibrium."""
    count, n, _ = A.shape
    weights = np.zeros((count, n))
    wins = (A > 0).sum(axis=2)
    best = wins.argmax(axis=1)
    pure = wins[np.arange(count), best] == n - 1
    weights[np.flatnonzero(pure), best[pure]] = 1.0
    if not pure.all():
        weights[~pure] = nash_averages(A[~pure]).weights
    averages = (A @ weights[..., None])[..., 0]
    return np.where(weights > 0, 0.0, np.maximum(-averages, 0.0)), weights


def solve_by_columns(model: ModelDraws, workers: int | None, advance: Callable[[int], None]) -> tuple[Floats, Floats]:
    """Return gaps and weights of every draw of a large league, one draw at a time."""
    count, n = model.ratings.shape
    gaps, weights = np.empty((count, n)), np.zeros((count, n))

    def solve(draw: int) -> None:
        contenders, p, averages = solve_among_contenders(model, draw)
        weights[draw, contenders] = p
        gaps[draw] = np.where(weights[draw] > 0, 0.0, np.maximum(-averages, 0.0))

    with ThreadPoolExecutor(max_workers=workers or cores()) as pool:
        for _ in pool.map(solve, range(count)):
            advance(1)
    return gaps, weights


def solve_among_contenders(model: ModelDraws, draw: int) -> tuple[Ints, Floats, Floats]:
    """Return contenders, their weights, and everybody's average in the equilibrium of one draw (double oracle)."""
    r = model.ratings[draw]
    chosen = np.sort(np.argsort(-r, kind="stable")[:CONTENDERS])
    X = model.columns(draw, chosen)
    while True:
        p = solve_games(X[chosen][None])[1][0]
        averages = X @ p
        gain = averages.copy()
        gain[chosen] = 0.0
        better = np.flatnonzero(gain > CLOSE * np.abs(X).max())
        if not better.size:
            return chosen, p, averages
        joined = better[np.argsort(-gain[better], kind="stable")[:CONTENDERS]]
        X = np.hstack([X, model.columns(draw, joined)])
        chosen = np.concatenate([chosen, joined])
