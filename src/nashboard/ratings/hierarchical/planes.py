"""Cycles that traits of agents explain: planes of rotation beside ratings.

Independent cyclic parts, one for each pair, fit any arena. But where a few traits explain the cycles (as in rock,
paper, scissors) they take too many agents into the equilibrium. So log-odds may also be

    x_ij = r_i - r_j + sum over planes of (u_i v_j - v_i u_j) + c_ij,     u_i, v_i ~ N(0, omega),

where the size of what a plane adds, ``sqrt(2) omega``, has the prior of tau, and ``c_ij`` is what planes leave over.
Coordinates are drawn by Gibbs sampling, with the likelihood of each pair taken as normal around its fitted log-odds. A
plane is used where it predicts pairs that are left out clearly better.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nashboard._compiled import compiled
from nashboard._types import Floats, Ints
from nashboard.ratings.hierarchical.kernels import (
    deviations_of,
    gain_of_sigma,
    interpolated,
    mixed,
    normal_of,
    uniform_of,
)
from nashboard.ratings.hierarchical.model import HierarchicalFit, ModelDraws
from nashboard.ratings.hierarchical.pairs import SIGMA_SCALE, TAU_RANGE

MOST_PLANES = 3
WARM, THIN = 400, 5  # sweeps before the first draw, and from one draw to the next
TRIAL = 200  # draws that decide about a plane
CLEARLY = 3.0  # what a plane must gain in log-density of left-out pairs beyond two standard errors: odds of 20 to 1


@dataclass(frozen=True, kw_only=True, eq=False)
class PlaneDraws:
    """Draws of ``(r, u, v, u, v, ...)`` of all agents, of sigma, tau, omega, and the log-densities of the pairs.

    They are ``(S, n, 1 + 2 k)``, ``(S, 3)`` and ``(S, p)``.
    """

    places: Floats
    scales: Floats
    log_density: Floats


def count_planes(fit: HierarchicalFit) -> int:
    """Return how many planes predict left-out pairs clearly better than one plane less."""
    counts = fit.counts
    if fit.tau_interval[0] < 5 * TAU_RANGE[0] or counts.cycles < 2 * counts.n:  # hardly a cycle, or too few for a plane
        return 0
    planes, best = 0, leave_out(sample_planes(fit, 0, TRIAL, 0).log_density)
    while planes < MOST_PLANES:
        more = leave_out(sample_planes(fit, planes + 1, TRIAL, 0).log_density)
        gain = more - best
        if gain.sum() - 2 * gain.std() * np.sqrt(len(gain)) < CLEARLY:
            break
        planes, best = planes + 1, more
    return planes


def leave_out(log: Floats) -> Floats:
    """Return the log-density of each pair given all others, by truncated importance sampling (Ionides 2008).

    ``log`` (S, p) is the log-density of each pair given a draw.
    """
    ratio = np.exp(log.min(axis=0) - log)
    ratio = np.minimum(ratio, ratio.mean(axis=0) * np.sqrt(len(log)))
    return np.asarray(np.log((ratio * np.exp(log)).sum(axis=0) / ratio.sum(axis=0)))


def predict_pairs(fit: HierarchicalFit, label: Ints, pooled: HierarchicalFit, planes: int) -> float:
    """Return the log-density of the pairs of a league, each left out, if entries with the same label are one agent.

    ``pooled`` is the model of the league in which they are. Pairs between the same two groups share their cyclic part.
    """
    counts, (z, noise) = fit.counts, fit.counts.normal(fit.expected)
    drawn = sample_planes(pooled, planes, TRIAL, 0)
    a, b = label[counts.i], label[counts.j]
    of_a, of_b = drawn.places[:, a], drawn.places[:, b]
    turn = of_a[..., 1::2] * of_b[..., 2::2] - of_a[..., 2::2] * of_b[..., 1::2]
    rest = np.where(a < b, 1.0, -1.0) * (z - of_a[..., 0] + of_b[..., 0] - turn.sum(axis=2))
    together = np.unique(np.minimum(a, b) * len(label) + np.maximum(a, b), return_inverse=True)[1]
    others = np.bincount(together, 1 / noise)[together] - 1 / noise
    pull = np.stack([np.bincount(together, row / noise)[together] - row / noise for row in rest])
    variance = 1 / (drawn.scales[:, 1:2] ** -2 + others)  # of the cyclic part, given the other pairs of these groups
    total = noise + np.where(a == b, 0.0, variance)
    off = rest - np.where(a == b, 0.0, pull * variance)
    return float(leave_out(-(np.log(total) + off**2 / total) / 2).sum())


def draw_with_planes(fit: HierarchicalFit, planes: int, count: int, rng: np.random.Generator) -> ModelDraws:
    """Draw from the model with planes."""
    seeds = rng.integers(2**63, size=count + 1, dtype=np.uint64)
    found = sample_planes(fit, planes, count, seeds[-1])
    ratings = found.places[:, :, 0]
    return ModelDraws(
        ratings=ratings - ratings.mean(axis=1, keepdims=True),
        sigma=found.scales[:, 0],
        tau=found.scales[:, 1],
        seeds=seeds[:-1],
        counts=fit.counts,
        planes=found.places[:, :, 1:],
    )


def sample_planes(fit: HierarchicalFit, planes: int, draws: int, seed: Any) -> PlaneDraws:
    """Draw coordinates by Gibbs sampling from the model with so many planes."""
    counts = fit.counts
    log_odds, noise = counts.normal(fit.expected)
    places, scales = np.empty((draws, counts.n, 1 + 2 * planes)), np.empty((draws, 3))
    log_density = np.empty((draws, len(log_odds)))
    tau = np.geomspace(*TAU_RANGE, 100)
    prior = fit.system.prior
    sweep_planes(
        log_odds, noise, counts.i, counts.j, *counts.neighbours, *prior.columns, *prior.spectrum, prior.weak,
        np.log(tau), counts.tau_prior(tau), SIGMA_SCALE,
        np.array([fit.sigma, fit.tau]), np.uint64(seed), WARM, THIN, places, scales, log_density,
    )  # fmt: skip
    return PlaneDraws(places=places, scales=scales, log_density=log_density)


@compiled("f8(f8[:,::1], i8, i8)")
def rotation(x, a, b):  # type: ignore[no-untyped-def]
    """Return what the planes add to the log-odds that a beats b."""
    total = 0.0
    for k in range(1, x.shape[1], 2):
        total += x[a, k] * x[b, k + 1] - x[a, k + 1] * x[b, k]
    return total


@compiled(
    "void(f8[::1], f8[::1], i8[::1], i8[::1], i8[::1], i8[::1], i8[::1], i8[::1], f8[::1], f8[::1], f8[::1], f8, "
    "f8[::1], f8[::1], f8, f8[::1], u8, i8, i8, f8[:,:,::1], f8[:,::1], f8[:,::1])"
)
def sweep_planes(  # type: ignore[no-untyped-def]
    z, noise, first, second, start, pair, starts, rows, entries, values, often, weak, prior_at, prior, sigma_scale,
    begin, seed, warm, thin, where, scales, density,
):  # fmt: skip
    """Sample coordinates, agent by agent, and the three scales."""
    count, n, m = where.shape
    p = len(z)
    x = np.zeros((n, m))
    sigma, tau, omega = begin[0], begin[1], begin[1] / np.sqrt(2.0)
    clock = np.uint64(0)
    for a in range(n):
        for k in range(1, m):
            x[a, k] = np.sqrt(omega) * normal_of(mixed(seed, clock))
            clock += np.uint64(1)
    L = np.empty((m, m))
    right, feature, drawn = np.empty(m), np.empty(m), np.empty(m)
    turn, off = np.zeros(p), np.zeros(n)
    for sweep in range(warm + count * thin):
        for a in range(n):
            L[:] = 0.0
            right[:] = 0.0
            L[0, 0] = weak
            for q in range(starts[a], starts[a + 1]):
                own = entries[q] * x[a, 0]
                right[0] -= entries[q] * (off[rows[q]] - own) / sigma**2
                L[0, 0] += entries[q] ** 2 / sigma**2
            before = x[a, 0]
            for k in range(1, m):
                L[k, k] = 1 / omega
            for q in range(start[a], start[a + 1]):
                e = pair[q]
                sign = 1.0 if first[e] == a else -1.0
                b = second[e] if first[e] == a else first[e]
                w = 1 / (noise[e] + tau * tau)
                target = sign * z[e] + x[b, 0]
                feature[0] = 1.0
                for k in range(1, m, 2):
                    feature[k], feature[k + 1] = x[b, k + 1], -x[b, k]
                for k in range(m):
                    right[k] += w * feature[k] * target
                    for c in range(k + 1):
                        L[k, c] += w * feature[k] * feature[c]
            for k in range(m):  # Cholesky, then two triangular solves
                for c in range(k + 1):
                    s = L[k, c]
                    for d in range(c):
                        s -= L[k, d] * L[c, d]
                    L[k, c] = np.sqrt(s) if k == c else s / L[c, c]
            for k in range(m):
                s = right[k]
                for d in range(k):
                    s -= L[k, d] * drawn[d]
                drawn[k] = s / L[k, k]
            for k in range(m):
                drawn[k] += normal_of(mixed(seed, clock))
                clock += np.uint64(1)
            for k in range(m - 1, -1, -1):
                s = drawn[k]
                for d in range(k + 1, m):
                    s -= L[d, k] * x[a, d]
                x[a, k] = s / L[k, k]
            for q in range(starts[a], starts[a + 1]):
                off[rows[q]] += entries[q] * (x[a, 0] - before)
        deviations_of(x[:, 0].copy(), starts, rows, entries, off)  # without what rounding has added
        squares, cyclic = 0.0, 0.0
        for a in range(n):
            squares += off[a] * off[a]
            for k in range(1, m):
                cyclic += x[a, k] * x[a, k]
        for _ in range(3):
            new = sigma * np.exp(0.4 * normal_of(mixed(seed, clock)))
            u = uniform_of(mixed(mixed(seed, clock), np.uint64(3)))
            clock += np.uint64(1)
            gain = gain_of_sigma(values, often, weak, squares, sigma, new, sigma_scale)
            if np.log(u) < gain and 0.02 < new < 10:
                sigma = new
            if m > 1:
                new = omega * np.exp(0.4 * normal_of(mixed(seed, clock)))
                u = uniform_of(mixed(mixed(seed, clock), np.uint64(3)))
                clock += np.uint64(1)
                gain = -(n * (m - 1)) / 2 * np.log(new / omega) - cyclic * (1 / new - 1 / omega) / 2
                gain += interpolated(prior_at, prior, np.log(new * np.sqrt(2.0)))
                gain -= interpolated(prior_at, prior, np.log(omega * np.sqrt(2.0)))
                if np.log(u) < gain:
                    omega = new
        for e in range(p):
            turn[e] = rotation(x, first[e], second[e])
        for _ in range(3):
            factor = np.exp(0.3 * normal_of(mixed(seed, clock)))
            u = uniform_of(mixed(mixed(seed, clock), np.uint64(3)))
            clock += np.uint64(1)
            gain = interpolated(prior_at, prior, np.log(tau * factor)) - interpolated(prior_at, prior, np.log(tau))
            for e in range(p):
                rest = z[e] - x[first[e], 0] + x[second[e], 0] - turn[e]
                old, new = noise[e] + tau * tau, noise[e] + tau * tau * factor * factor
                gain -= (np.log(new / old) + rest * rest * (1 / new - 1 / old)) / 2
            if np.log(u) < gain:
                tau *= factor
            if m > 1:  # all planes at once, with their scale
                factor = np.exp(0.2 * normal_of(mixed(seed, clock)))
                u = uniform_of(mixed(mixed(seed, clock), np.uint64(3)))
                clock += np.uint64(1)
                gain = interpolated(prior_at, prior, np.log(omega * np.sqrt(2.0) * factor))
                gain -= interpolated(prior_at, prior, np.log(omega * np.sqrt(2.0)))
                for e in range(p):
                    rest = z[e] - x[first[e], 0] + x[second[e], 0]
                    was, now = rest - turn[e], rest - turn[e] * factor
                    gain += (was * was - now * now) / (2 * (noise[e] + tau * tau))
                if np.log(u) < gain:
                    omega *= factor
                    x[:, 1:] *= np.sqrt(factor)
                    turn *= factor
        if sweep >= warm and (sweep - warm) % thin == thin - 1:
            s = (sweep - warm) // thin
            where[s] = x
            scales[s, 0], scales[s, 1], scales[s, 2] = sigma, tau, omega
            for e in range(p):
                rest = z[e] - x[first[e], 0] + x[second[e], 0] - turn[e]
                total = noise[e] + tau * tau
                density[s, e] = -(np.log(total) + rest * rest / total) / 2
