"""The hierarchical model of a score table: difficulty, a few skills, and a residual of each cell.

In units of each task (mean 0, spread of the agents about 1), for agent i and task j::

    y[i, j] = b[j] + sum_k L[j, k] A[i, k] + c[i, j] + e[i, j]

    A[i, k] ~ N(0, 1)              skills of an agent
    L[j, k] ~ N(mu[k], omega[k]^2) loadings of a task; mu ~ N(0, 1), omega half-Cauchy
    c[i, j] ~ N(0, tau[j]^2)       what skills do not explain
    tau[j]  ~ lognormal around tau0, a factor of two either way; tau0 half-Cauchy, learned over all tasks
    e[i, j] ~ N(0, V[i, j])        noise that is known; 0 where it is not

If the noise of a task is known, ``c`` is talent, and the true score contains it. If it is unknown, ``c`` is talent and
noise, and no table shows in which shares. That there are no talents has a prior probability of 1/2; in the other half
of the draws the share of its variance that is talent has Jeffreys' prior, beta(1/2, 1/2): the true score is this share
of the way from the part that skills explain to the score. Skills are as uncertain as if all of ``c`` was noise: talents
are measured from the mean of what skills explain. Relative to the skills of the same draw they would cancel its
uncertainty, and a draw that is all talent would have none.

A task of unknown noise that shares no skill with the others may be useless: its differences cannot be distinguished
from noise. Each draw contains which tasks are useful. On the others all loadings are 0, and ``c`` is noise as large as
the spread of the task, which is the unit. (A size with its own prior would be a handicap: sizes of useful tasks are
learned from each other.) That no skill is shared, by no task or by one only, has a prior probability of 1/2; otherwise
all numbers of useful tasks from 2 to n have the same one. If no skill is shared the scores contain no information:
agents then differ by a random ability, the same on all tasks, so that each may be the best.

A task of known noise may be doubted too (`doubted`): whether agents differ on it is then drawn in the same manner, and
on a useless one all true scores are equal. A board does not use this: it sets such tasks aside.

A task may come in several versions, one for each level of guessing (`scores.FLOORS`). The version is drawn with
difficulty and loadings integrated out.

A Gibbs sampler draws from the posterior. ``c`` is integrated out of every step but the last; ``tau`` and ``tau0`` are
drawn together on a grid, so the chain mixes well even if ``tau`` is near 0.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import exp, log, pi, sin, sqrt
from typing import Any

import numba
import numpy as np

from nashboard._compiled import compiled
from nashboard._parallel import count_cores
from nashboard._types import Bools, Floats, Ints

MAX_RANK = 5
USE_SWEEPS = 3  # sweeps between draws of which tasks are useful, which cost more than the rest of a sweep
BURN, THIN = 200, 5  # sweeps before the first draw, and from one draw to the next
FOLDS, FEW_FOLDS, LARGE = 5, 2, 20_000  # parts that are left out in turn; fewer for tables of more cells than LARGE
SMALL, TURNS = 1_000, 4  # tables of fewer cells are divided into parts several times, so that chance has less effect
CLEARLY = 0.84  # one-standard-error rule: the probability with which more skills must predict better than fewer
HELD_OUT_SWEEPS = (60, 100)  # before the first and until the last draw of a chain that predicts cells left out
OUTLIER = 0.01  # density of cells that no rank explains, in units of a task
TAUS = np.append(0.0, 2.0 ** np.arange(-5.0, 1.75, 0.5))  # 0 represents all values below the next one
OMEGAS = 2.0 ** np.arange(-5.0, 2.25, 0.5)
TAU_SCALE, OMEGA_SCALE = 0.25, 0.5  # of the half-Cauchy priors
DIFFICULTY_VARIANCE = 100.0
HIDDEN = 0.1  # spread of abilities that scores do not show, in units of a task
CELLS_PER_CALL = 2_000_000  # cells that the chain visits in one call: well under a second

types: Any = numba.types
FLOAT, INT = types.float64, types.int64
CUBE, MATRIX, VECTOR = (types.Array(FLOAT, k, "C", readonly=True) for k in (3, 2, 1))
FLAGS = types.Array(types.boolean, 1, "C", readonly=True)
OUT3, OUT2, OUT1 = (types.Array(FLOAT, k, "C") for k in (3, 2, 1))
PLACES, PLACES2 = (types.Array(types.intp, k, "C") for k in (1, 2))
RNG = types.npy_rng


@dataclass(frozen=True, kw_only=True, eq=False)
class TableDraws:
    """Draws of the true table and of the parameters of the model, in the units of the input."""

    tables: Floats  # (S, m, n)
    tau: Floats  # (S, n)
    tau0: Floats  # (S,)
    version: Ints  # (S, n)
    useful: Bools  # (S, n)
    noise: Floats  # (S, n), of tasks of unknown noise: the part of tau that is not talent


def _factor(P: Floats, x: Floats) -> float:
    """Replace ``P`` by its Cholesky factor C and ``x`` by C^-1 x; return (x' P^-1 x - log det P) / 2."""
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1):
            s = P[i, j]
            for h in range(j):
                s -= P[i, h] * P[j, h]
            P[i, j] = sqrt(max(s, 1e-300)) if i == j else s / P[j, j]
        for h in range(i):
            x[i] -= P[i, h] * x[h]
        x[i] /= P[i, i]
        total += 0.5 * x[i] ** 2 - log(P[i, i])
    return total


factor = compiled(FLOAT(OUT2, OUT1))(_factor)


def _draw_normal(C: Floats, x: Floats, rng: np.random.Generator) -> None:
    """Replace ``x`` by a draw from N(C'^-1 x, (C C')^-1)."""
    k = len(x)
    for i in range(k):
        x[i] += rng.standard_normal()
    for i in range(k - 1, -1, -1):
        for h in range(i + 1, k):
            x[i] -= C[h, i] * x[h]
        x[i] /= C[i, i]


draw_normal = compiled(types.void(OUT2, OUT1, RNG))(_draw_normal)


def _pick(logs: Floats, rng: np.random.Generator) -> int:
    """Draw an index with probabilities proportional to ``exp(logs)``; ``logs`` is overwritten."""
    top = logs.max()
    total = 0.0
    for k in range(len(logs)):
        logs[k] = exp(logs[k] - top)
        total += logs[k]
    u = rng.random() * total
    for k in range(len(logs)):
        u -= logs[k]
        if u <= 0.0:
            return k
    return len(logs) - 1


pick = compiled(INT(OUT1, RNG))(_pick)


def _regress(
    Y: Floats, V: Floats, seen: Floats, A: Floats, j: int, tau2: float, mu: Floats, omega2: Floats, P: Floats, x: Floats
) -> float:
    """Regress task ``j`` on the skills: `factor` the precision, return the log density of its scores."""
    K = A.shape[1]
    P[:, :] = 0.0
    x[:] = 0.0
    P[0, 0] = 1.0 / DIFFICULTY_VARIANCE
    for k in range(K):
        P[k + 1, k + 1] = 1.0 / omega2[k]
        x[k + 1] = mu[k] / omega2[k]
    density, product = 0.0, 1.0
    for i in range(len(A)):
        if seen[i, j] > 0.0:
            v = V[i, j] + tau2
            w = 1.0 / v
            density -= 0.5 * w * Y[i, j] ** 2
            product *= v
            if i % 8 == 7:  # few logarithms: they are most of the work
                density -= 0.5 * log(product)
                product = 1.0
            P[0, 0] += w
            x[0] += w * Y[i, j]
            for k in range(K):
                wa = w * A[i, k]
                P[k + 1, 0] += wa
                x[k + 1] += wa * Y[i, j]
                for h in range(k + 1):
                    P[k + 1, h + 1] += wa * A[i, h]
    return float(density - 0.5 * log(product) + factor(P, x))


regress = compiled(FLOAT(*4 * [MATRIX], INT, FLOAT, VECTOR, VECTOR, OUT2, OUT1))(_regress)


def _weigh_use(
    Y: Floats, seen: Floats, A: Floats, j: int, tau2s: Floats, mu: Floats, omega2: Floats, fits: Floats, off: Floats
) -> None:
    """Fill log densities of a task of unknown noise, for each tau: with loadings (``fits``), and without (``off``)."""
    K = A.shape[1]
    count, square = 0, 0.0
    G, P = np.zeros((K + 1, K + 1)), np.zeros((K + 1, K + 1))
    h, x = np.zeros(K + 1), np.zeros(K + 1)
    for i in range(len(A)):
        if seen[i, j] > 0.0:
            y = Y[i, j]
            count += 1
            square += y * y
            G[0, 0] += 1.0
            h[0] += y
            for k in range(K):
                G[k + 1, 0] += A[i, k]
                h[k + 1] += A[i, k] * y
                for q in range(k + 1):
                    G[k + 1, q + 1] += A[i, k] * A[i, q]
    prior = 0.0  # of the loadings, terms that do not depend on tau
    for k in range(K):
        prior -= 0.5 * (log(omega2[k]) + mu[k] ** 2 / omega2[k])
    for g in range(len(tau2s)):
        w = 1.0 / tau2s[g]
        flat = -0.5 * (count * log(tau2s[g]) + w * square)
        precision = 1.0 / DIFFICULTY_VARIANCE + w * G[0, 0]
        off[g] = flat + 0.5 * ((w * h[0]) ** 2 / precision - log(precision))
        for k in range(K + 1):
            x[k] = w * h[k]
            for q in range(k + 1):
                P[k, q] = w * G[k, q]
        P[0, 0] = precision
        for k in range(K):
            P[k + 1, k + 1] += 1.0 / omega2[k]
            x[k + 1] += mu[k] / omega2[k]
        fits[g] = flat + prior + factor(P, x)


weigh_use = compiled(types.void(*3 * [MATRIX], INT, VECTOR, VECTOR, VECTOR, OUT1, OUT1))(_weigh_use)


def _weigh_known_use(
    Y: Floats,
    V: Floats,
    seen: Floats,
    A: Floats,
    j: int,
    tau2s: Floats,
    mu: Floats,
    omega2: Floats,
    fits: Floats,
    off: Floats,
) -> None:
    """Fill log densities of a task of known noise, for each tau: with loadings (``fits``), and of equal agents."""
    K = A.shape[1]
    P, x = np.zeros((K + 1, K + 1)), np.zeros(K + 1)
    none = np.zeros(0)
    prior = 0.0
    for k in range(K):
        prior -= 0.5 * (log(omega2[k]) + mu[k] ** 2 / omega2[k])
    for g in range(len(tau2s)):
        fits[g] = prior + regress(Y, V, seen, A, j, tau2s[g], mu, omega2, P, x)
    off[:] = regress(Y, V, seen, np.zeros((len(A), 0)), j, tau2s[0], none, none, P[:1, :1].copy(), x[:1].copy())


weigh_known_use = compiled(types.void(*4 * [MATRIX], INT, VECTOR, VECTOR, VECTOR, OUT1, OUT1))(_weigh_known_use)


def _sample(
    Y: Floats,
    V: Floats,
    prior: Floats,
    seen: Floats,
    known: Bools,
    doubted: Bools,
    taus: Floats,
    local: Floats,
    alone: Floats,
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
    version: Ints,
    useful: Ints,
    tables: Floats,
    tau_draws: Floats,
    version_draws: Ints,
    useful_draws: Ints,
    talent_draws: Floats,
    density: Floats,
) -> None:
    """Continue the chain from its state, ``A`` to ``useful``; fill draws, and add densities of unseen cells."""
    H, m, n = Y.shape
    K = A.shape[1]
    G = len(taus)
    ll, likely, tops = np.zeros((n, G)), np.zeros((n, G)), np.zeros(n)
    P, x = np.zeros((K + 1, K + 1)), np.zeros(K + 1)
    PA, xa = np.zeros((K, K)), np.zeros(K)
    logs, logw, logv = np.zeros(G), np.zeros(len(omegas)), np.zeros(H)
    tau2s, product = taus**2, np.ones(G)
    log_tau2s, log_local = np.log(tau2s), np.log(np.maximum(local, 1e-300))
    unknown = np.zeros(n, dtype=np.bool_)
    for j in range(n):
        unknown[j] = V[0, :, j].max() == 0.0
    use_prior = np.zeros(n + 1)  # of how many tasks are useful, over the number of sets of so many tasks
    for k in range(1, n + 1):
        use_prior[k] = use_prior[k - 1] + log(k / (n - k + 1.0)) + (log(2.0 / (n - 1.0)) if k == 2 else 0.0)
    uses, fits, off_ = np.zeros(2 * G), np.zeros(G), np.zeros(G)
    ability = np.zeros(m)
    equal = np.zeros(G)  # on a useless task of known noise tau is the smallest, 0
    equal[0] = 1.0
    no_skills, no_loadings, P0, b0 = np.zeros((m, 0)), np.zeros(0), np.zeros((1, 1)), np.zeros(1)
    tau0 = at[n]
    for sweep in range(burn + thin * len(tables)):
        # Difficulty and loadings of each task, and its version.
        for j in range(n):
            useless = equal if doubted[j] else alone
            if (unknown[j] or doubted[j]) and K > 0 and sweep % USE_SWEEPS == 0:
                rest = useful.sum() - useful[j]
                if doubted[j]:
                    weigh_known_use(Y[version[j]], V[version[j]], seen, A, j, tau2s, mu, omega2, fits, off_)
                else:
                    weigh_use(Y[0], seen, A, j, tau2s, mu, omega2, fits, off_)
                for g in range(G):
                    uses[g] = fits[g] + log_local[tau0, g] + use_prior[rest + 1]
                    uses[G + g] = off_[g] + log(max(useless[g], 1e-300)) + use_prior[rest]
                chosen = pick(uses, rng)
                useful[j], at[j] = int(chosen < G), chosen % G
            tau2 = tau2s[at[j]]
            if useful[j] == 0 and doubted[j]:
                regress(Y[version[j]], V[version[j]], seen, no_skills, j, tau2, no_loadings, no_loadings, P0, b0)
                draw_normal(P0, b0, rng)
                b[j] = b0[0]
                L[j] = 0.0
                continue
            if useful[j] == 0:
                precision, total = 1.0 / DIFFICULTY_VARIANCE, 0.0
                for i in range(m):
                    precision += seen[i, j] / tau2
                    total += seen[i, j] * Y[0, i, j] / tau2
                b[j] = total / precision + rng.standard_normal() / sqrt(precision)
                L[j] = 0.0
                continue
            if H > 1 and prior[1:, j].max() > -np.inf:
                for v in range(H):
                    logv[v] = prior[v, j] + regress(Y[v], V[v], seen, A, j, tau2, mu, omega2, P, x)
                version[j] = pick(logv, rng)
            regress(Y[version[j]], V[version[j]], seen, A, j, tau2, mu, omega2, P, x)
            draw_normal(P, x, rng)
            b[j] = x[0]
            L[j] = x[1:]
        # Skills of each agent.
        for i in range(m if K > 0 else 0):
            PA[:, :] = 0.0
            xa[:] = 0.0
            for k in range(K):
                PA[k, k] = 1.0
            for j in range(n):
                if seen[i, j] > 0.0 and useful[j] == 1:
                    w = 1.0 / (V[version[j], i, j] + tau2s[at[j]])
                    for k in range(K):
                        wl = w * L[j, k]
                        xa[k] += wl * (Y[version[j], i, j] - b[j])
                        for h in range(k + 1):
                            PA[k, h] += wl * L[j, h]
            factor(PA, xa)
            draw_normal(PA, xa, rng)
            A[i] = xa
        # Mean and spread of the loadings.
        for k in range(K):
            used = useful.sum()
            precision = 1.0 + used / omega2[k]
            mu[k] = L[:, k].sum() / omega2[k] / precision + rng.standard_normal() / sqrt(precision)
            square = (useful * (L[:, k] - mu[k]) ** 2).sum()
            for g in range(len(omegas)):
                logw[g] = omega_prior[g] - used * log(omegas[g]) - square / (2.0 * omegas[g] ** 2)
            omega2[k] = omegas[pick(logw, rng)] ** 2
        # Size of the residuals: tau0 with each tau integrated out, then each tau.
        for j in range(n):
            ll[j, :], product[:], square_sum, count = 0.0, 1.0, 0.0, 0
            for i in range(m):
                if seen[i, j] > 0.0:
                    r = Y[version[j], i, j] - b[j]
                    for k in range(K):
                        r -= L[j, k] * A[i, k]
                    count += 1
                    if unknown[j]:
                        square_sum += r * r
                        continue
                    for g in range(G):
                        spread = V[version[j], i, j] + tau2s[g]
                        product[g] *= spread
                        ll[j, g] -= 0.5 * r * r / spread
                    if count % 8 == 0:
                        for g in range(G):
                            ll[j, g] -= 0.5 * log(product[g])
                            product[g] = 1.0
            for g in range(G):
                if unknown[j]:
                    ll[j, g] = -0.5 * (count * log_tau2s[g] + square_sum / tau2s[g])
                else:
                    ll[j, g] -= 0.5 * log(product[g])
            tops[j] = ll[j].max()
            for g in range(G):
                likely[j, g] = exp(ll[j, g] - tops[j])
        for h in range(G):
            logs[h] = tau_prior[h]
            for j in range(n):
                if useful[j] == 0:
                    continue
                total = 0.0
                for g in range(G):
                    total += local[h, g] * likely[j, g]
                logs[h] += log(max(total, 1e-300)) + tops[j]
        tau0 = at[n] = pick(logs, rng)
        for j in range(n):
            for g in range(G):
                useless_at = equal[g] if doubted[j] else alone[g]
                logs[g] = ll[j, g] + (log_local[tau0, g] if useful[j] == 1 else log(max(useless_at, 1e-300)))
            at[j] = pick(logs, rng)
        # Keep a draw: true scores, and how well unseen cells are predicted.
        if sweep >= burn and (sweep - burn) % thin == thin - 1:
            s = (sweep - burn) // thin
            talent = sin(0.5 * pi * rng.random()) ** 2 if rng.random() < 0.5 else 0.0  # of variance of unknown origin
            tau_draws[s, n] = taus[tau0]
            nothing = useful.sum() < min(2, n) and not (known & (useful == 1)).any()
            for i in range(m):
                ability[i] = HIDDEN * rng.standard_normal() if nothing else 0.0
            for j in range(n):
                tau2 = tau2s[at[j]]
                tau_draws[s, j] = taus[at[j]]
                version_draws[s, j], useful_draws[s, j] = version[j], 0 if nothing else useful[j]
                talent_draws[s, j] = 0.0 if known[j] else useful_draws[s, j] * talent
                for i in range(m):
                    t = b[j] + ability[i]
                    for k in range(K):
                        t += useful_draws[s, j] * L[j, k] * A[i, k]
                    spread = V[version[j], i, j] + tau2
                    off = Y[version[j], i, j] - t
                    if seen[i, j] == 0.0:
                        density[i, j] += exp(-0.5 * off**2 / spread) / sqrt(spread)
                    if known[j]:
                        part = tau2 / spread if seen[i, j] > 0.0 and spread > 0.0 else 0.0
                        t += part * off + sqrt(tau2 * (1.0 - part)) * rng.standard_normal()
                    tables[s, i, j] = t


sample = compiled(
    types.void(
        *2 * [CUBE], *2 * [MATRIX], *2 * [FLAGS], VECTOR, MATRIX, *4 * [VECTOR], INT, INT, RNG,
        OUT2, OUT1, OUT2, OUT1, OUT1, *3 * [PLACES], OUT3, OUT2, *2 * [PLACES2], *2 * [OUT2],
    )
)(_sample)  # fmt: skip


def draw_tables(
    Y: Floats,
    V: Floats,
    known: Bools,
    *,
    rank: int,
    draws: int,
    rng: np.random.Generator,
    prior: Floats | None = None,
    doubted: Bools | None = None,
) -> TableDraws:
    """Draw true tables from the posterior.

    ``Y`` (m, n) has NaN where a score is missing, ``V`` known variances. With versions of the tasks both are (H, m, n),
    and ``prior`` (H, n) contains log probabilities, with the terms of the densities that do not depend on the model.
    """
    Y, V = (table.reshape(-1, *table.shape[-2:]) for table in (Y, V))
    seen = np.isfinite(Y[0])
    tables, tau, version, useful, talent, _ = run_chain(Y, V, known, seen, rank, draws, BURN, THIN, rng, prior, doubted)
    if not known.all():
        explained = np.einsum("sij,sj->ij", tables, useful) / np.maximum(useful.sum(axis=0), 1)
        rest = np.where(seen, Y[0] - explained, 0.0)
        for k in range(draws):
            own = tau[k, :-1] * np.sqrt(talent[k] * (1 - talent[k] * seen))
            tables[k] += talent[k] * rest + own * rng.standard_normal(seen.shape)
    tau, tau0 = tau[:, :-1], tau[:, -1]
    noise = tau * np.sqrt(1 - talent)
    return TableDraws(tables=tables, tau=tau, tau0=tau0, version=version, useful=useful == 1, noise=noise)


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
    prior: Floats | None = None,
    doubted: Bools | None = None,
) -> tuple[Floats, Floats, Ints, Ints, Floats, Floats]:
    """Run the sampler on the cells ``seen``.

    Return tables without unknown talents, tau, versions, use, shares of talent, and densities of cells unseen.
    """
    H, m, n = Y.shape
    tables, tau, density = np.zeros((draws, m, n)), np.zeros((draws, n + 1)), np.zeros((m, n))
    versions, uses = np.zeros((draws, n), dtype=np.intp), np.ones((draws, n), dtype=np.intp)
    talents = np.zeros((draws, n))
    filled, V = (np.ascontiguousarray(table) for table in (np.where(np.isfinite(Y), Y, 0.0), V))
    taus, tau_prior = TAUS.copy(), log_half_cauchy(TAUS, TAU_SCALE)
    octaves = np.log2(np.maximum(taus, 2.0**-30))
    local = np.exp(-0.5 * np.subtract.outer(octaves, octaves) ** 2)
    local[0], local[:, 0] = 0.0, 0.0
    local[0, 0] = 1.0
    if not (V[0][seen] > 0).all():  # without known noise tau is not 0
        taus, tau_prior, local = taus[1:], tau_prior[1:], local[1:, 1:]
    local = np.ascontiguousarray(local / local.sum(axis=1, keepdims=True))
    alone = np.where(taus == 1.0, 1.0, 0.0)
    state = (initial_skills(filled[0], seen, rank), np.zeros(n), np.zeros((n, rank)), np.zeros(rank), np.ones(rank))
    at, version, useful = np.full(n + 1, len(taus) // 2), np.zeros(n, dtype=np.intp), np.ones(n, dtype=np.intp)
    size = max(1, CELLS_PER_CALL // (thin * m * n))
    for start in range(0, draws, size):  # compiled code cannot be interrupted: Ctrl-C takes effect between calls
        part = slice(start, start + size)
        sample(
            filled, V, np.zeros((H, n)) if prior is None else prior,
            np.ascontiguousarray(seen, np.float64), np.ascontiguousarray(known),
            np.zeros(n, np.bool_) if doubted is None else np.ascontiguousarray(doubted),
            taus, local, alone, tau_prior, OMEGAS, log_half_cauchy(OMEGAS, OMEGA_SCALE),
            0 if start else burn, thin, rng, *state, at, version, useful,
            tables[part], tau[part], versions[part], uses[part], talents[part], density,
        )  # fmt: skip
    return tables, tau, versions, uses, talents, density / max(draws, 1)


def log_half_cauchy(grid: Floats, scale: float) -> Floats:
    """Return log probabilities of a grid with steps of half an octave; 0 has all mass below the next value."""
    positive = grid[grid > 0]
    edges = np.append(positive / 2**0.25, np.inf)
    edges[0] = 0.0 if len(positive) == len(grid) else edges[0]
    below = 2 / np.pi * np.arctan(edges / scale)
    mass = np.diff(below)
    return np.log(mass if len(positive) == len(grid) else np.append(below[0], mass))


def initial_skills(filled: Floats, seen: Bools, rank: int) -> Floats:
    """Return initial skills: leading left singular vectors of the table, with missing cells at the task's mean."""
    if rank == 0:
        return np.zeros((len(filled), 0))
    U = np.linalg.svd(np.where(seen, filled, 0.0), full_matrices=False)[0][:, :rank] * np.sqrt(len(filled))
    U = U * np.where(U[np.abs(U).argmax(axis=0), np.arange(U.shape[1])] < 0, -1.0, 1.0)
    return np.ascontiguousarray(np.pad(U, ((0, 0), (0, rank - U.shape[1]))))


def weigh_ranks(Y: Floats, V: Floats, known: Bools, draws: int, rng: np.random.Generator) -> Ints:
    """Return the number of draws from each rank, by how well ranks predict left-out cells.

    This is pseudo-Bayesian model averaging with a Bayesian bootstrap. For each draw the cells get random weights, and
    the rank that predicts best with these weights is taken: ranks that predict equally well share the draws. A rank
    takes part only if it predicts better than smaller ones by one standard error: a skill that does not predict
    explains noise, and makes useless tasks look useful. Ranks are tried upwards; the search stops after two that do not
    improve.

    Reference: Yao, Vehtari, Simpson and Gelman 2018, Using stacking to average Bayesian predictive distributions.
    """
    m, n = Y.shape
    seen = np.isfinite(Y)
    parts = FEW_FOLDS if seen.sum() > LARGE else FOLDS
    turns = min(max(SMALL // max(int(seen.sum()), 1), 1), TURNS)
    folds = [np.where(seen, rng.permutation(m * n).reshape(m, n) % parts, -1) for _ in range(turns)]
    tried: list[Floats] = []
    for rank in range(1, max(min(MAX_RANK, m - 2, n - 2), 1) + 1):
        turn = [predict_held_out(Y, V, known, rank, fold, rng) for fold in folds]
        tried.append(np.asarray(np.mean(turn, axis=0)))
        if rank - 1 - int(np.argmax([np.nanmean(one) for one in tried])) >= 2:
            break
    cells = np.stack([one[seen] for one in tried])
    totals = cells @ rng.standard_exponential((cells.shape[1], draws))
    most = 0
    while (better := (totals[most + 1 :] > totals[most]).mean(axis=1) >= CLEARLY).any():
        most += 1 + int(better.argmax())
    return np.bincount(1 + totals[: most + 1].argmax(axis=0))


def predict_held_out(Y: Floats, V: Floats, known: Bools, rank: int, folds: Ints, rng: np.random.Generator) -> Floats:
    """Return the log predictive density of every observed cell from a chain that did not see it; NaN elsewhere.

    ``OUTLIER`` is added to each density, so that single wild cells do not decide.
    """
    densities = np.full(Y.shape, np.nan)
    streams = rng.spawn(int(folds.max()) + 1)

    def predict_fold(fold: int) -> None:
        out = folds == fold
        burn, kept = HELD_OUT_SWEEPS
        density = run_chain(Y[None], V[None], known, np.isfinite(Y) & ~out, rank, kept, burn, 1, streams[fold])[5]
        densities[out] = np.log(density[out] + OUTLIER)

    with ThreadPoolExecutor(max_workers=count_cores()) as pool:
        list(pool.map(predict_fold, range(len(streams))))
    return densities
