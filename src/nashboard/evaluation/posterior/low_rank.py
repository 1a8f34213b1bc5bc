"""The hierarchical model of a score table: difficulty, a few skills, and a part of each cell of its own.

In units of each task (mean 0, spread of the agents about 1), for agent i and task j::

    y[i, j] = b[j] + sum_k L[j, k] A[i, k] + c[i, j] + e[i, j]

    A[i, k] ~ N(0, 1)              skills of an agent
    L[j, k] ~ N(mu[k], omega[k]^2) loadings of a task; mu ~ N(0, 1), omega half-Cauchy
    c[i, j] ~ N(0, tau[j]^2)       what skills do not explain
    tau[j]  ~ lognormal around tau0, a factor of two either way; tau0 half-Cauchy, learned over all tasks
    e[i, j] ~ N(0, V[i, j])        noise that is known; 0 where it is not

Where the noise of a task is known, the true score includes ``c``. Where it is not, ``c`` and the noise cannot be
told apart, and the true score is what the skills explain: the residual is an upper bound of the noise.

A Gibbs sampler draws from the posterior. ``c`` is integrated out of every step but the last; ``tau`` and ``tau0`` are
drawn together on a grid, so the chain mixes well even where ``tau`` is near 0.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Any

import numba
import numpy as np

from nashboard._compiled import compiled
from nashboard._types import Bools, Floats, Ints
from nashboard.equilibrium.batch import cores

MAX_RANK = 5
BURN, THIN = 200, 10  # sweeps before the first draw, and from one draw to the next
FOLDS, FEW_FOLDS, LARGE = 5, 2, 20_000  # parts that are left out in turn; fewer for tables of more cells than LARGE
HELD_OUT_SWEEPS = (60, 100)  # before the first and until the last draw of a chain that predicts cells left out
OUTLIER = 0.01  # density of cells that no rank explains, in units of a task
TAUS = np.append(0.0, 2.0 ** np.arange(-5.0, 1.75, 0.5))  # 0 stands for everything below the next value
OMEGAS = 2.0 ** np.arange(-5.0, 2.25, 0.5)
TAU_SCALE, OMEGA_SCALE = 0.25, 0.5  # of the half-Cauchy priors
DIFFICULTY_VARIANCE = 100.0
TOGETHER = 2_000_000  # cells that the chain visits in one call: well under a second

types: Any = numba.types
FLOAT, INT = types.float64, types.int64
MATRIX, VECTOR = types.Array(FLOAT, 2, "C", readonly=True), types.Array(FLOAT, 1, "C", readonly=True)
FLAGS = types.Array(types.boolean, 1, "C", readonly=True)
OUT3, OUT2, OUT1 = types.Array(FLOAT, 3, "C"), types.Array(FLOAT, 2, "C"), types.Array(FLOAT, 1, "C")
RNG = types.npy_rng


@dataclass(frozen=True, kw_only=True, eq=False)
class TableDraws:
    """Draws of the true table and of what the model learned, in the units of the input."""

    tables: Floats  # (S, m, n)
    tau: Floats  # (S, n)
    tau0: Floats  # (S,)


def _solve_normal(P: Floats, x: Floats, rng: np.random.Generator) -> None:
    """Replace ``x`` by a draw from N(P^-1 x, P^-1); ``P`` is overwritten by its Cholesky factor."""
    k = len(x)
    for i in range(k):
        for j in range(i + 1):
            s = P[i, j]
            for h in range(j):
                s -= P[i, h] * P[j, h]
            P[i, j] = sqrt(max(s, 1e-300)) if i == j else s / P[j, j]
    for i in range(k):
        for h in range(i):
            x[i] -= P[i, h] * x[h]
        x[i] /= P[i, i]
    for i in range(k):
        x[i] += rng.standard_normal()
    for i in range(k - 1, -1, -1):
        for h in range(i + 1, k):
            x[i] -= P[h, i] * x[h]
        x[i] /= P[i, i]


solve_normal = compiled(types.void(types.Array(FLOAT, 2, "C"), types.Array(FLOAT, 1, "C"), RNG))(_solve_normal)


def _pick(logs: Floats, rng: np.random.Generator) -> int:
    """Draw an index with probabilities proportional to ``exp(logs)``."""
    top = logs.max()
    total = 0.0
    for k in range(len(logs)):
        total += exp(logs[k] - top)
    u = rng.random() * total
    for k in range(len(logs)):
        u -= exp(logs[k] - top)
        if u <= 0.0:
            return k
    return len(logs) - 1


pick = compiled(INT(types.Array(FLOAT, 1, "C"), RNG))(_pick)


def _sample(
    Y: Floats,
    V: Floats,
    seen: Floats,
    known: Bools,
    taus: Floats,
    local: Floats,
    tau_prior: Floats,
    omegas: Floats,
    omega_prior: Floats,
    burn: int,
    thin: int,
    rng: np.random.Generator,
    A: Floats,
    b: Floats,
    L: Floats,
    mu: Floats,
    omega2: Floats,
    at: Ints,
    tables: Floats,
    tau_draws: Floats,
    density: Floats,
) -> None:
    """Run the chain on from its state, ``A`` to ``at``; fill draws, and add up predictive densities of unseen cells."""
    m, n = Y.shape
    K = A.shape[1]
    G = len(taus)
    ll = np.zeros((n, G))
    P = np.zeros((K + 1, K + 1))
    x = np.zeros(K + 1)
    PA = np.zeros((K, K))
    xa = np.zeros(K)
    logs = np.zeros(G)
    logw = np.zeros(len(omegas))
    tau2s, product = taus**2, np.ones(G)
    unknown = np.zeros(n, dtype=np.bool_)
    for j in range(n):
        unknown[j] = V[:, j].max() == 0.0
    kept = len(tables)
    for sweep in range(burn + thin * kept):
        # Difficulty and loadings of each task.
        for j in range(n):
            tau2 = taus[at[j]] ** 2
            P[:, :] = 0.0
            x[:] = 0.0
            P[0, 0] = 1.0 / DIFFICULTY_VARIANCE
            for k in range(K):
                P[k + 1, k + 1] = 1.0 / omega2[k]
                x[k + 1] = mu[k] / omega2[k]
            for i in range(m):
                if seen[i, j] > 0.0:
                    w = 1.0 / (V[i, j] + tau2)
                    P[0, 0] += w
                    x[0] += w * Y[i, j]
                    for k in range(K):
                        wa = w * A[i, k]
                        P[k + 1, 0] += wa
                        x[k + 1] += wa * Y[i, j]
                        for h in range(k + 1):
                            P[k + 1, h + 1] += wa * A[i, h]
            solve_normal(P, x, rng)
            b[j] = x[0]
            for k in range(K):
                L[j, k] = x[k + 1]
        # Skills of each agent.
        if K > 0:
            for i in range(m):
                PA[:, :] = 0.0
                xa[:] = 0.0
                for k in range(K):
                    PA[k, k] = 1.0
                for j in range(n):
                    if seen[i, j] > 0.0:
                        w = 1.0 / (V[i, j] + taus[at[j]] ** 2)
                        for k in range(K):
                            wl = w * L[j, k]
                            xa[k] += wl * (Y[i, j] - b[j])
                            for h in range(k + 1):
                                PA[k, h] += wl * L[j, h]
                solve_normal(PA, xa, rng)
                for k in range(K):
                    A[i, k] = xa[k]
        # Mean and spread of the loadings.
        for k in range(K):
            precision, mean = 1.0 + n / omega2[k], 0.0
            for j in range(n):
                mean += L[j, k] / omega2[k]
            mu[k] = mean / precision + rng.standard_normal() / sqrt(precision)
            square = 0.0
            for j in range(n):
                square += (L[j, k] - mu[k]) ** 2
            for g in range(len(omegas)):
                logw[g] = omega_prior[g] - n * log(omegas[g]) - square / (2.0 * omegas[g] ** 2)
            omega2[k] = omegas[pick(logw, rng)] ** 2
        # Size of what skills do not explain: tau0 with each tau integrated out, then each tau.
        for j in range(n):
            ll[j, :], product[:], square_sum, count = 0.0, 1.0, 0.0, 0
            for i in range(m):
                if seen[i, j] > 0.0:
                    r = Y[i, j] - b[j]
                    for k in range(K):
                        r -= L[j, k] * A[i, k]
                    count += 1
                    if unknown[j]:
                        square_sum += r * r
                        continue
                    for g in range(G):
                        v = V[i, j] + tau2s[g]
                        product[g] *= v
                        ll[j, g] -= 0.5 * r * r / v
                    if count % 8 == 0:  # few logarithms: they are most of the work
                        for g in range(G):
                            ll[j, g] -= 0.5 * log(product[g])
                            product[g] = 1.0
            for g in range(G):
                if unknown[j]:
                    ll[j, g] = -0.5 * (count * log(tau2s[g]) + square_sum / tau2s[g])
                else:
                    ll[j, g] -= 0.5 * log(product[g])
        for h in range(G):
            logs[h] = tau_prior[h]
            for j in range(n):
                top = ll[j, :].max()
                total = 0.0
                for g in range(G):
                    total += local[h, g] * exp(ll[j, g] - top)
                logs[h] += log(max(total, 1e-300)) + top
        h = pick(logs, rng)
        for j in range(n):
            for g in range(G):
                logs[g] = ll[j, g] + log(max(local[h, g], 1e-300))
            at[j] = pick(logs, rng)
        # Keep a draw: true scores, and how well unseen cells are predicted.
        if sweep >= burn and (sweep - burn) % thin == thin - 1:
            s = (sweep - burn) // thin
            for j in range(n):
                tau = taus[at[j]]
                tau_draws[s, j] = tau
                for i in range(m):
                    t = b[j]
                    for k in range(K):
                        t += L[j, k] * A[i, k]
                    v = V[i, j] + tau**2
                    if seen[i, j] == 0.0:
                        density[i, j] += exp(-0.5 * (Y[i, j] - t) ** 2 / v) / sqrt(v)
                    if known[j]:
                        share = tau**2 / v if seen[i, j] > 0.0 and v > 0.0 else 0.0
                        t += share * (Y[i, j] - t) + tau * sqrt(1.0 - share) * rng.standard_normal()
                    tables[s, i, j] = t
            tau_draws[s, n] = taus[h]


sample = compiled(
    types.void(
        *3 * [MATRIX],
        FLAGS,
        VECTOR,
        MATRIX,
        *3 * [VECTOR],
        INT,
        INT,
        RNG,
        OUT2,
        OUT1,
        OUT2,
        OUT1,
        OUT1,
        types.Array(types.intp, 1, "C"),
        OUT3,
        OUT2,
        OUT2,
    )
)(_sample)


def draw_tables(Y: Floats, V: Floats, known: Bools, *, rank: int, draws: int, rng: np.random.Generator) -> TableDraws:
    """Draw true tables from the posterior; ``Y`` (m, n) has NaN where a score is missing, ``V`` known variances."""
    tables, tau, _ = run_chain(Y, V, known, np.isfinite(Y), rank, draws, BURN, THIN, rng)
    return TableDraws(tables=tables, tau=tau[:, :-1], tau0=tau[:, -1])


def run_chain(
    Y: Floats,
    V: Floats,
    known: Bools,
    seen: Bools,
    rank: int,
    draws: int,
    burn: int,
    thin: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Floats]:
    """Run the sampler on the cells that are ``seen``; return tables, tau and densities of finite cells unseen."""
    m, n = Y.shape
    tables, tau, density = np.zeros((draws, m, n)), np.zeros((draws, n + 1)), np.zeros((m, n))
    filled, V = (np.ascontiguousarray(table) for table in (np.where(np.isfinite(Y), Y, 0.0), V))
    zero_allowed = bool((V[seen] > 0).all())
    taus, tau_prior = TAUS.copy(), half_cauchy(TAUS, TAU_SCALE)
    local = np.exp(-0.5 * (np.log2(np.maximum(taus, 2.0**-30))[:, None] - np.log2(np.maximum(taus, 2.0**-30))) ** 2)
    local[0], local[:, 0] = 0.0, 0.0
    local[0, 0] = 1.0
    if not zero_allowed:
        taus, tau_prior, local = taus[1:], tau_prior[1:], local[1:, 1:]
    local = np.ascontiguousarray(local / local.sum(axis=1, keepdims=True))
    state = (first_skills(filled, seen, rank), np.zeros(n), np.zeros((n, rank)), np.zeros(rank), np.ones(rank))
    at = np.full(n, len(taus) // 2)
    size = max(1, TOGETHER // (thin * m * n))
    for start in range(0, draws, size):  # compiled code cannot be interrupted: Ctrl-C is heard between portions
        part = slice(start, start + size)
        sample(
            filled, V, np.ascontiguousarray(seen, np.float64), np.ascontiguousarray(known),
            taus, local, tau_prior, OMEGAS, half_cauchy(OMEGAS, OMEGA_SCALE),
            0 if start else burn, thin, rng, *state, at, tables[part], tau[part], density,
        )  # fmt: skip
    density /= draws
    return tables, tau, density


def half_cauchy(grid: Floats, scale: float) -> Floats:
    """Return log probabilities of a grid with steps of half an octave; 0 has all mass below the next value."""
    positive = grid[grid > 0]
    edges = np.append(positive / 2**0.25, np.inf)
    edges[0] = 0.0 if len(positive) == len(grid) else edges[0]
    below = 2 / np.pi * np.arctan(edges / scale)
    mass = np.diff(below)
    return np.log(mass if len(positive) == len(grid) else np.append(below[0], mass))


def first_skills(filled: Floats, seen: Bools, rank: int) -> Floats:
    """Return skills to start from: leading left singular vectors of the table with holes at the task's mean."""
    if rank == 0:
        return np.zeros((len(filled), 0))
    U = np.linalg.svd(np.where(seen, filled, 0.0), full_matrices=False)[0][:, :rank] * np.sqrt(len(filled))
    U = U * np.where(U[np.abs(U).argmax(axis=0), np.arange(U.shape[1])] < 0, -1.0, 1.0)
    return np.ascontiguousarray(np.pad(U, ((0, 0), (0, rank - U.shape[1]))))


@dataclass(frozen=True, kw_only=True, eq=False)
class RankChoice:
    """How many skills predict cells that were left out.

    ``densities`` is the mean log predictive density by rank, from 0. ``gain`` is that of the chosen rank over rank 0,
    summed over the cells of each task, and ``gain_error`` its standard error.
    """

    rank: int
    densities: Floats
    gain: Floats
    gain_error: Floats


def choose_rank(Y: Floats, V: Floats, known: Bools, rng: np.random.Generator, max_rank: int = MAX_RANK) -> RankChoice:
    """Choose the smallest rank that predicts cells left out as well as the best rank, within one standard error.

    Ranks are tried upwards; the search stops after two that do not improve.
    """
    m, n = Y.shape
    count = np.isfinite(Y).sum()
    parts = FEW_FOLDS if count > LARGE else FOLDS
    folds = np.where(np.isfinite(Y), rng.permutation(m * n).reshape(m, n) % parts, -1)
    tried: list[Floats] = []
    for rank in range(max(min(max_rank, m - 2, n - 2), 0) + 1):
        tried.append(held_out_densities(Y, V, known, rank, folds, rng))
        if rank - int(np.argmax([np.nanmean(one) for one in tried])) >= 2:
            break
    means = np.array([np.nanmean(one) for one in tried])
    best = tried[int(np.argmax(means))]
    close = [np.nanmean(best - one) <= np.nanstd(best - one) / np.sqrt(count) for one in tried]
    rank = max(int(np.argmax(close)), min(1, len(tried) - 1))
    gain = tried[rank] - tried[0]
    error = np.sqrt(np.isfinite(gain).sum(axis=0)) * np.nanstd(gain, axis=0)
    return RankChoice(rank=max(rank, 1), densities=means, gain=np.nansum(gain, axis=0), gain_error=error)


def held_out_densities(Y: Floats, V: Floats, known: Bools, rank: int, folds: Ints, rng: np.random.Generator) -> Floats:
    """Return the log predictive density of every observed cell from a chain that did not see it; NaN elsewhere.

    ``OUTLIER`` is added to each density, so that single wild cells do not decide.
    """
    found = np.full(Y.shape, np.nan)
    streams = rng.spawn(int(folds.max()) + 1)

    def run(fold: int) -> None:
        out = folds == fold
        burn, kept = HELD_OUT_SWEEPS
        _, _, density = run_chain(Y, V, known, np.isfinite(Y) & ~out, rank, kept, burn, 1, streams[fold])
        found[out] = np.log(density[out] + OUTLIER)

    with ThreadPoolExecutor(max_workers=cores()) as pool:
        list(pool.map(run, range(len(streams))))
    return found
