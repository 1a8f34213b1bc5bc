"""Which entries are one agent: partitions of the entries, drawn together with ratings, sigma and tau.

Entries of one class are one agent under several names. They share rating and cyclic parts, and their games with each
other are tosses of a fair coin. The prior over partitions is the process of Pitman and Yor (1997), in which two given
entries are one agent with probability ``(1 - d) / (1 + theta)``. With a discount ``d`` close to 1 most agents are
entered once, and who is entered again is entered often. With ``d = 0``, a Chinese restaurant process, one large class
would make pairs of other entries likelier. The concentration theta is learned: log-uniform from 0.1, where copies are
many, to ``16 n^2``, where there are hardly any.

Classes are drawn by Gibbs sampling, entry by entry, as in Neal (2000), algorithm 3: cyclic parts are integrated, and so
is the rating of a new class. Given a Polya-Gamma number for each pair (Polson, Scott and Windle 2013), drawn in every
sweep, the binomial likelihood is normal in the log-odds, which makes all integrals exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from nashboard._compiled import compiled
from nashboard._types import Bools, Floats, Ints
from nashboard.ratings.hierarchical.kernels import interpolated, mixed, normal_of, pair_key, polya_gamma_of, uniform_of
from nashboard.ratings.hierarchical.model import HierarchicalFit, ModelDraws
from nashboard.ratings.hierarchical.pairs import SIGMA_SCALE, TAU_RANGE, PairCounts

WARM, THIN = 150, 4  # sweeps before the first draw, and from one draw to the next
DISCOUNT = 0.9  # of the prior of partitions
VALUES = 13  # of the concentration
HUGE = 1e100  # from which a product is replaced by its logarithm


@dataclass(frozen=True, kw_only=True, eq=False)
class PartitionDraws:
    """Draws of the class of each entry (S, n), named by its first member, of ratings (S, n), sigma and tau (S,).

    ``together`` (n, n) is the probability that two entries are one agent, ``no_copies`` that no two are.
    """

    label: Ints
    ratings: Floats
    sigma: Floats
    tau: Floats
    together: Floats

    @classmethod
    def joined(cls, parts: Sequence["PartitionDraws"]) -> "PartitionDraws":
        """Return the draws of several chains as one."""
        arrays = {one.name: [getattr(part, one.name) for part in parts] for one in fields(cls)}
        together = np.mean(arrays.pop("together"), axis=0)
        return cls(**{name: np.concatenate(values) for name, values in arrays.items()}, together=together)

    @property
    def no_copies(self) -> float:
        """Probability that no two entries are one agent."""
        return float((self.label == np.arange(self.label.shape[1])).all(axis=1).mean())


def concentrations(n: int) -> tuple[Floats, Floats]:
    """Return values of theta, equally likely beforehand, and the log-prior of 1 to ``n`` classes given each, (V, n).

    What depends on the sizes of the classes alone is left out.
    """
    from scipy.special import gammaln

    theta = np.geomspace(0.1, 16 * n * n, VALUES)
    of_classes = np.log(theta[:, None] + DISCOUNT * np.arange(n)).cumsum(axis=1)
    return theta, of_classes + (gammaln(theta) - gammaln(theta + n))[:, None]


def pair_prior(n: int) -> float:
    """Return the prior probability that two given entries of ``n`` are one agent."""
    return float(((1 - DISCOUNT) / (1 + concentrations(n)[0])).mean())


def sample_partitions(
    fit: HierarchicalFit, near: Bools, draws: int, seed: Any, start: PartitionDraws | None = None
) -> PartitionDraws:
    """Draw partitions, of which each entry joins only classes with a member that is ``near`` (n, n) to it.

    ``start`` are draws of the same model, of which the last is where this chain begins.
    """
    counts, n = fit.counts, fit.counts.n
    assert isinstance(counts, PairCounts)
    won, games = counts.tables
    log_odds = np.zeros((n, n))
    log_odds[counts.i, counts.j], log_odds[counts.j, counts.i] = fit.expected, -fit.expected
    label, ratings, scales = np.empty((draws, n), dtype=np.int64), np.empty((draws, n)), np.empty((draws, 2))
    together = np.zeros((n, n))
    tau = np.geomspace(*TAU_RANGE, 100)
    if start is None:
        begin, scale = np.arange(n), np.array([fit.sigma, fit.tau])
    else:
        begin, scale = start.label[-1].copy(), np.array([start.sigma[-1], start.tau[-1]])
    sweep_partitions(
        won - games / 2, games, log_odds, near, begin, *concentrations(n), np.log(tau), counts.tau_prior(tau),
        SIGMA_SCALE, scale, np.uint64(seed), WARM, THIN, label, ratings, scales, together,
    )  # fmt: skip
    return PartitionDraws(
        label=label,
        ratings=ratings,
        sigma=scales[:, 0],
        tau=scales[:, 1],
        together=(together + together.T) / 2,
    )


def draw_with_partitions(
    fit: HierarchicalFit, near: Bools, start: PartitionDraws, count: int, rng: np.random.Generator
) -> ModelDraws:
    """Draw from the model in which any entries may be one agent."""
    assert isinstance(fit.counts, PairCounts)
    seeds = rng.integers(2**63, size=count + 1, dtype=np.uint64)
    found = sample_partitions(fit, near, count, seeds[-1], start)
    return ModelDraws(
        ratings=found.ratings - found.ratings.mean(axis=1, keepdims=True),
        sigma=found.sigma,
        tau=found.tau,
        seeds=seeds[:-1],
        counts=fit.counts,
        label=found.label,
    )


@compiled("f8(f8, f8, f8, f8)")
def block_likelihood(S, W, d, t2):  # type: ignore[no-untyped-def]
    """Return the log-likelihood of all games between two classes, up to a constant, with c ~ N(0, t2) integrated.

    That of the log-odds ``x = d + c`` is ``S x - W x^2 / 2``. To this ``- log(1 + t2 W) / 2`` has to be added, which is
    left out because the logarithm of a product over many classes takes less time.
    """
    return (S * d - W * d * d / 2 + t2 * S * S / 2) / (1 + t2 * W)


@compiled("i8(f8[::1], i8, u8)")
def choose(log_mass, count, bits):  # type: ignore[no-untyped-def]
    """Draw one of the first ``count`` numbers, given logarithms, which are replaced by the probabilities."""
    best, total = -np.inf, 0.0
    for k in range(count):
        best = max(best, log_mass[k])
    for k in range(count):
        log_mass[k] = np.exp(log_mass[k] - best)
        total += log_mass[k]
    u, chosen = uniform_of(mixed(bits, np.uint64(3))) * total, count - 1
    for k in range(count):
        log_mass[k] /= total
        if u >= 0 and u < log_mass[k] * total:
            chosen = k
        u -= log_mass[k] * total
    return chosen


@compiled("void(f8[:,::1], f8[:,::1], i8[::1], i8, i8, f8[::1], f8[::1])")
def move_entry(S, W, size, k, by, own_s, own_w):  # type: ignore[no-untyped-def]
    """Add an entry to class ``k`` (``by`` 1), or remove it (-1), given its sums over all classes."""
    size[k] += by
    for m in range(len(size)):
        S[k, m] += by * own_s[m]
        S[m, k] -= by * own_s[m]
        W[k, m] += by * own_w[m]
        W[m, k] += by * own_w[m]


@compiled(
    "void(f8[:,::1], f8[:,::1], f8[:,::1], b1[:,::1], i8[::1], f8[::1], f8[:,::1], f8[::1], f8[::1], f8, f8[::1], u8, "
    "i8, i8, i8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1])"
)
def sweep_partitions(  # type: ignore[no-untyped-def]
    s, games, x, near, label, theta, of_classes, prior_at, prior, sigma_scale, scale, seed, warm, thin, labels, ratings,
    scales, together,
):  # fmt: skip
    """Sample ratings of classes, the class of each entry, the concentration, sigma and tau.

    The likelihood of the log-odds ``x`` of two entries is ``exp(s x - w x^2 / 2)`` given a Polya-Gamma number ``w``.
    """
    count, n = labels.shape
    size, r = np.zeros(n, dtype=np.int64), np.zeros(n)
    S, W, w = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))  # S, W: sums over the games of two classes
    for a in range(n):
        size[label[a]] += 1
    own_s, own_w, allowed = np.empty(n), np.empty(n), np.empty(n, dtype=np.bool_)
    log_mass, of_theta = np.empty(n + 1), np.empty(len(theta))
    sigma, tau, at = scale[0], scale[1], 0  # many copies at first: groups form sooner than they break up
    clock = np.uint64(0)
    for sweep in range(warm + count * thin):
        t2, key = tau * tau, mixed(seed, clock)
        for a in range(n):
            for b in range(a):
                if games[a, b] > 0:
                    k, m = label[a], label[b]
                    if sweep > 0:  # the cyclic part of two classes is the same for all their members
                        d, sign = r[k] - r[m], 1.0 if k > m else -1.0
                        middle = t2 * (S[k, m] - W[k, m] * d) / (1 + t2 * W[k, m])
                        noise = normal_of(pair_key(key, k, m)) * tau / np.sqrt(1 + t2 * W[k, m])
                        x[a, b] = d + middle + sign * noise if k != m else 0.0
                    w[a, b] = w[b, a] = polya_gamma_of(games[a, b], x[a, b], pair_key(mixed(key, np.uint64(8)), a, b))
        clock += np.uint64(1)
        S[:] = 0.0
        W[:] = 0.0
        for a in range(n):
            for b in range(n):
                S[label[a], label[b]] += s[a, b]
                W[label[a], label[b]] += w[a, b]
        for k in range(n):
            if size[k] > 0:
                A, B = 1 / sigma**2, 0.0
                for m in range(n):
                    if size[m] > 0 and m != k:
                        v = 1 + t2 * W[k, m]
                        A += W[k, m] / v
                        B += (S[k, m] + W[k, m] * r[m]) / v
                r[k] = B / A + normal_of(mixed(seed, clock)) / np.sqrt(A)
                clock += np.uint64(1)
        for a in range(n):
            own_s[:] = 0.0
            own_w[:] = 0.0
            allowed[:] = False
            for b in range(n):
                own_s[label[b]] += s[a, b]
                own_w[label[b]] += w[a, b]
                allowed[label[b]] |= near[a, b] and a != b
            move_entry(S, W, size, label[a], -1, own_s, own_w)
            A, B, apart, factor, free, classes = 1 / sigma**2, 0.0, 0.0, 1.0, -1, 0
            for k in range(n):
                log_mass[k] = -np.inf
                if size[k] == 0:
                    free = k if free < 0 else free
                    continue
                classes += 1
                v = 1 + t2 * own_w[k]
                A += own_w[k] / v
                B += (own_s[k] + own_w[k] * r[k]) / v
                apart += block_likelihood(own_s[k], own_w[k], -r[k], t2)
                factor *= v
                if factor > HUGE:
                    apart, factor = apart - np.log(factor) / 2, 1.0
                if not allowed[k]:
                    continue
                joined, wider = 0.0, 1.0
                for m in range(n):
                    if size[m] > 0 and m != k and own_w[m] > 0:
                        d = r[k] - r[m]
                        joined += block_likelihood(S[k, m] + own_s[m], W[k, m] + own_w[m], d, t2)
                        joined -= block_likelihood(S[k, m], W[k, m], d, t2)
                        wider *= 1 + t2 * own_w[m] / (1 + t2 * W[k, m])
                        if wider > HUGE:
                            joined, wider = joined - np.log(wider) / 2, 1.0
                log_mass[k] = np.log(size[k] - DISCOUNT) + joined - np.log(wider) / 2
            log_mass[n] = np.log(theta[at] + DISCOUNT * classes) + apart + B * B / (2 * A)
            log_mass[n] -= np.log(factor * A * sigma**2) / 2
            bits = mixed(seed, clock)
            clock += np.uint64(1)
            k = choose(log_mass, n + 1, bits)
            if sweep >= warm:
                for b in range(n):
                    together[a, b] += 1.0 if b == a else log_mass[label[b]]
            if k == n:
                k = free
                r[k] = B / A + normal_of(bits) / np.sqrt(A)
                S[k], S[:, k], W[k], W[:, k] = 0.0, 0.0, 0.0, 0.0
            label[a] = k
            move_entry(S, W, size, k, 1, own_s, own_w)
        classes, squares = 0, 0.0
        for k in range(n):
            if size[k] > 0:
                classes += 1
                squares += r[k] * r[k]
        for k in range(len(theta)):
            of_theta[k] = of_classes[k, classes - 1]
        at = choose(of_theta, len(theta), mixed(seed, clock))
        clock += np.uint64(1)
        for _ in range(2):
            bits = mixed(seed, clock)
            new = sigma * np.exp(0.4 * normal_of(bits))
            gain = (1 - classes) * np.log(new / sigma) - squares * (1 / new**2 - 1 / sigma**2) / 2
            gain -= (new**2 - sigma**2) / (2 * sigma_scale**2)
            if np.log(uniform_of(mixed(bits, np.uint64(3)))) < gain and 0.05 < new < 8:
                sigma = new
            bits = mixed(seed, clock + np.uint64(1))
            clock += np.uint64(2)
            new = tau * np.exp(0.4 * normal_of(bits))
            gain = interpolated(prior_at, prior, np.log(new)) - interpolated(prior_at, prior, np.log(tau))
            factor = 1.0
            for k in range(n):
                for m in range(k if size[k] > 0 else 0):
                    if size[m] > 0 and W[k, m] > 0:
                        d = r[k] - r[m]
                        gain += block_likelihood(S[k, m], W[k, m], d, new * new)
                        gain -= block_likelihood(S[k, m], W[k, m], d, tau * tau)
                        factor *= (1 + new * new * W[k, m]) / (1 + tau * tau * W[k, m])
                        if factor > HUGE or factor < 1 / HUGE:
                            gain, factor = gain - np.log(factor) / 2, 1.0
            gain -= np.log(factor) / 2
            if np.log(uniform_of(mixed(bits, np.uint64(3)))) < gain:
                tau = new
        if sweep >= warm and (sweep - warm) % thin == thin - 1:
            q = (sweep - warm) // thin
            for a in range(n):
                ratings[q, a] = r[label[a]]
                labels[q, a] = a
                for b in range(a):
                    if label[a] == label[b]:
                        labels[q, a] = min(labels[q, a], labels[q, b])
            scales[q, 0], scales[q, 1] = sigma, tau
    for a in range(n):
        for b in range(n):
            together[a, b] /= count * thin
