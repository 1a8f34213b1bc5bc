"""Draws of the truth for matches: payoffs from the hierarchical model, and the equilibrium of each draw.

Small leagues solve all drawn games as a stack. Large leagues never build the payoffs of a draw: the game is solved
among a few contenders, the payoffs of all agents against them are drawn, and those that gain join them (double oracle).
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from nashboard._parallel import count_cores
from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.data.payoffs import Payoffs
from nashboard.equilibrium.batch import nash_averages
from nashboard.errors import InputError
from nashboard.evaluation.posterior.draws import Draws
from nashboard.evaluation.posterior.duplicates import (
    EXCLUDED,
    MOST_AVERAGED,
    NearDuplicates,
    Traits,
    compare_pairs,
    pool_matches,
    sample_until_clear,
    share_rows,
)
from nashboard.ratings.errors import origin_weights
from nashboard.ratings.hierarchical.model import HierarchicalFit, ModelDraws, fit_hierarchical, fit_pairs
from nashboard.ratings.hierarchical.pairs import TAU_SCALE, TELLING, MeasuredPairs, PairCounts
from nashboard.ratings.hierarchical.partitions import sample_partitions
from nashboard.ratings.hierarchical.planes import count_planes, draw_with_planes

MOST_PAYOFFS = 10_000_000  # payoffs of all draws up to which they are kept; beyond, games are solved by columns
MOST_EXPECTED = 4_000  # agents up to which the matrix of expected payoffs is made
BLOCK = 64  # games that are solved in one stack
CONTENDERS = 24  # agents that a large game starts with
NEARLY_LINEAR = 0.01  # log-odds whose shares are 1/2 and a quarter of them
LEAST_ERROR = 1e-6  # relative to the payoffs: a standard error of 0 is taken as this
CYCLES_MATTER = 0.1  # share of the variance of payoffs from which cycles change the order, as in the verdict
LARGE_CYCLES = 0.5  # log-odds, 87 Elo points: if cycles may be larger, their absence is not reported
CLOSE = 1e-10  # gain against the equilibrium, relative to the largest payoff, that counts as rounding


def draw_matches(
    matches: Matches,
    *,
    draws: int = 200,
    rng: np.random.Generator | int = 0,
    workers: int | None = None,
    alike: NearDuplicates | None = None,
) -> Draws:
    """Draw ratings, payoffs and equilibria from the posterior of the hierarchical model.

    ``matches`` has one agent per class of exact copies, in canonical order; entries of one group of ``alike`` are one
    class of the draws.
    """
    rng = np.random.default_rng(rng) if not isinstance(rng, np.random.Generator) else rng
    label = np.arange(len(matches.agents)) if alike is None else alike.label
    pooled = matches if alike is None or not alike.groups else pool_matches(matches, label)
    fit = alike.fit if alike is not None and alike.fit is not None else fit_hierarchical(pooled)
    if alike is None or alike.partitions is None:
        sample = draw_games(fit, draws, rng, workers)
    else:
        sample = draw_over_partitions(alike, draws, rng)
    assert sample.ratings is not None
    return replace(sample, ratings=sample.ratings - (sample.ratings @ origin_weights(pooled))[:, None])


def draw_over_partitions(alike: NearDuplicates, draws: int, rng: np.random.Generator) -> Draws:
    """Draw partitions of entries into agents, and payoffs and equilibria of all classes of entries that share a row.

    The row of a group is that of each of its members in turn, so it includes how far they may differ.
    """
    fit, near, partitions, label = alike.fit, alike.near, alike.partitions, alike.label
    assert fit is not None
    assert near is not None
    assert partitions is not None
    planes = partitions.places.shape[2] // 2
    sample = sample_partitions(fit, near, draws, int(rng.integers(2**63)), planes=planes, start=partitions)
    payoffs, gaps, weights = sample.payoffs, np.empty(sample.label.shape), np.empty(sample.label.shape)
    for at in range(0, draws, BLOCK):
        block = slice(at, at + BLOCK)
        gaps[block], weights[block] = solve_classes(payoffs[block], sample.label[block])
    members = np.eye(label.max() + 1)[label]
    turn = np.arange(draws)[:, None]
    size = np.bincount(label)
    row = np.argsort(label, kind="stable")[np.cumsum(size) - size + turn % size]
    sigma, tau, _ = sample.scales.T
    low, high = np.quantile(tau, [0.025, 0.975])
    payoffs = payoffs[turn[:, :, None], row[:, :, None], row[:, None, :]]
    ladder = payoffs.mean(axis=2)  # entries that share a row count once
    cyclic = payoffs - ladder[:, :, None] + ladder[:, None, :]
    of_model = {
        "sigma": float(sigma.mean()),
        "tau": float(tau.mean()),
        "tau_low": float(low),
        "tau_high": float(high),
        "cyclic_share": float((cyclic**2).sum() / max((payoffs**2).sum(), 1e-300)),
        "planes": planes,
        "copies": 1 - partitions.no_copies,
    }
    return Draws(
        gaps=gaps[turn, row],
        weights=weights @ members,
        point=gaps[turn, row].mean(axis=0),
        ratings=ladder,
        payoffs=payoffs,
        expected=payoffs.mean(axis=0),
        facts=collect_facts(fit) | of_model,
    )


def draw_payoffs(
    payoffs: Payoffs,
    *,
    draws: int = 200,
    rng: np.random.Generator | int = 0,
    workers: int | None = None,
    alike: NearDuplicates | None = None,
) -> Draws:
    """Draw payoffs and equilibria from the same model for payoffs with standard errors, on their own scale.

    Measured payoffs are normal around ``r_i - r_j + c_ij``. Entries of one group of ``alike`` are one class.
    """
    rng = np.random.default_rng(rng) if not isinstance(rng, np.random.Generator) else rng
    pairs, unit = measure_pairs(payoffs)
    if alike is None or alike.partitions is None:
        sample = draw_games(fit_pairs(payoffs.agents, pairs), draws, rng, workers)
    else:
        sample = draw_over_partitions(alike, draws, rng)
    scaled: dict[str, Any] = {
        name: None if (value := getattr(sample, name)) is None else value * unit
        for name in ("gaps", "point", "payoffs", "expected")
    }
    sizes = {name: sample.facts[name] * unit for name in ("sigma", "tau", "tau_low", "tau_high")}
    return replace(sample, **scaled, ratings=None, facts={**sample.facts, **sizes})


def measure_pairs(payoffs: Payoffs, unit: float | None = None) -> tuple[MeasuredPairs, float]:
    """Return the measured payoffs in the unit of the model, and this unit.

    Log-odds keep their unit, for which priors are meant. For other payoffs the prior gives even odds that cycles
    matter: during the fit the unit is such that at the prior median of tau cycles have the share ``CYCLES_MATTER`` of
    the variance.
    """
    errors = payoffs.errors()
    if errors is None:
        raise InputError("these payoffs have neither standard errors nor numbers of games: nothing can be drawn")
    i, j = np.triu_indices(len(payoffs.agents), 1)
    known = np.isfinite(errors[i, j])
    i, j = i[known], j[known]
    size = float(np.sqrt((payoffs.A[i, j] ** 2).mean())) if known.any() else 1.0
    if unit is None:
        unit = 1.0 if payoffs.scale == "logit" or not size > 0 else CYCLES_MATTER**0.5 / TAU_SCALE * size
    measured, error = payoffs.A[i, j] / unit, np.maximum(errors[i, j] / unit, LEAST_ERROR)
    return MeasuredPairs(n=len(payoffs.agents), i=i, j=j, measured=measured, variance=error**2), unit


def find_alike_payoffs(payoffs: Payoffs) -> NearDuplicates:
    """Find groups of entries whose measured payoffs are those of one agent."""
    n = len(payoffs.agents)
    pairs, _ = measure_pairs(payoffs)
    if n > MOST_AVERAGED or not len(pairs.i):
        single = np.arange(n)
        return NearDuplicates(agents=payoffs.agents, label=single, probability=np.zeros((n, n)), tested=False)
    # small log-odds are linear in shares
    small = NEARLY_LINEAR / max(float(np.abs(pairs.measured).max()), float(pairs.variance.min()) ** 0.5)
    Y, N = np.zeros((n, n)), np.zeros((n, n))
    N[pairs.i, pairs.j] = 4 / pairs.variance / small**2
    Y[pairs.i, pairs.j] = pairs.measured / pairs.variance / small
    N = N + N.T
    fit = fit_pairs(payoffs.agents, pairs)
    traits = Traits(variances=np.array([2 * (fit.sigma * small) ** 2]), tau=fit.tau * small, places=np.ones((n, 1)))
    near = compare_pairs(N / 2 + Y - Y.T, N, traits) > EXCLUDED
    return share_rows(fit, near, sample_until_clear(fit, near, count_planes(fit)))


def draw_games(fit: HierarchicalFit, draws: int, rng: np.random.Generator, workers: int | None) -> Draws:
    """Draw from a fitted model, and solve the game of every draw."""
    n = len(fit.agents)
    small = draws * n * n <= MOST_PAYOFFS
    planes = count_planes(fit) if small else 0
    model = draw_with_planes(fit, planes, draws, rng) if planes else fit.draw(draws, rng)
    payoffs: Floats | None = None
    if small:
        payoffs, gaps, weights = solve_all(model)
    else:
        gaps, weights = solve_by_columns(model, workers)
    return Draws(
        gaps=gaps,
        weights=weights,
        point=gaps.mean(axis=0),
        # Elo is the mean log-odds over all opponents; among very many the cyclic parts average out
        ratings=np.array(model.ratings) if payoffs is None else payoffs.mean(axis=2),
        payoffs=payoffs,
        some_payoffs=None if small else lambda count: model.payoffs(slice(0, draws, -(-draws // count))),
        expected=expected_payoffs(fit) if n <= MOST_EXPECTED else None,
        facts=collect_facts(fit) | {"planes": planes},
    )


def collect_facts(fit: HierarchicalFit) -> dict[str, object]:
    """Return the facts about the model for sentences."""
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
    """Return the posterior mean of all log-odds: differences of ratings, with the cyclic part of pairs that met."""
    A = fit.ratings[:, None] - fit.ratings
    i, j = fit.counts.i, fit.counts.j
    A[i, j], A[j, i] = fit.expected, -fit.expected
    return np.asarray(A)


def solve_games(A: Floats) -> tuple[Floats, Floats]:
    """Return gaps and weights of a stack of games ``(b, n, n)``; an agent that beats all others is the equilibrium."""
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


def solve_all(model: ModelDraws) -> tuple[Floats, Floats, Floats]:
    """Return payoffs, gaps and weights of all draws, in blocks."""
    draws, n = model.ratings.shape
    payoffs, gaps, weights = np.empty((draws, n, n)), np.empty((draws, n)), np.empty((draws, n))
    for at in range(0, draws, BLOCK):
        block = slice(at, min(at + BLOCK, draws))
        payoffs[block] = model.payoffs(block)
        gaps[block], weights[block] = solve_games(payoffs[block])
    return payoffs, gaps, weights


def solve_classes(A: Floats, label: Ints) -> tuple[Floats, Floats]:
    """Return gaps and weights of a stack of games ``(b, n, n)`` in which entries with the same label are one agent.

    ``label`` (b, n) is the first member. The other members lose to all agents while the game is solved.
    """
    copies = label != np.arange(label.shape[1])
    far = 2 * np.abs(A).max() + 1
    game = A - far * copies[:, :, None] + far * copies[:, None, :]
    gaps, weights = solve_games(np.where(copies[:, :, None] & copies[:, None, :], 0.0, game))
    size = (label[:, :, None] == label[:, None, :]).sum(axis=2)
    return np.take_along_axis(gaps, label, 1), np.take_along_axis(weights, label, 1) / size


def solve_by_columns(model: ModelDraws, workers: int | None) -> tuple[Floats, Floats]:
    """Return gaps and weights of every draw of a large league, one draw at a time."""
    count, n = model.ratings.shape
    gaps, weights = np.empty((count, n)), np.zeros((count, n))

    def solve(draw: int) -> None:
        contenders, p, averages = solve_among_contenders(model, draw)
        weights[draw, contenders] = p
        gaps[draw] = np.where(weights[draw] > 0, 0.0, np.maximum(-averages, 0.0))

    with ThreadPoolExecutor(max_workers=workers or count_cores()) as pool:
        list(pool.map(solve, range(count)))
    return gaps, weights


def solve_among_contenders(model: ModelDraws, draw: int) -> tuple[Ints, Floats, Floats]:
    """Return contenders, their weights, and the averages of all agents in one draw's equilibrium (double oracle)."""
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
