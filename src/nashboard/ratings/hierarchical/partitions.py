"""Which entries are one agent: partitions of the entries, drawn together with ratings, cyclic parts and their sizes.

Entries of one class are one agent under several names. They share rating and cyclic parts, and their games with each
other are tosses of a fair coin. The prior over partitions is the process of Pitman and Yor (1997), in which two given
entries are one agent with probability ``(1 - d) / (1 + theta)``. With a discount ``d`` close to 1 most agents are
entered once, and who is entered again is entered often. With ``d = 0``, a Chinese restaurant process, one large class
would make pairs of other entries likelier. The concentration theta is learned: log-uniform from 0.1, where copies are
many, to ``16 n^2``, where there are hardly any.

Classes of one style have the same cyclic parts, and no cyclic part among themselves: they differ in their rating only,
as checkpoints of one run do. Without styles such an agent would have to agree with another in every cyclic part by
chance, and would be taken for its copy although it is clearly stronger. The prior over partitions of classes into
styles is a Chinese restaurant process, whose concentration is learned, too: log-uniform from ``n`` to ``16 n^2``, so
thin data do not make styles of agents that merely look alike. Where there are planes of
rotation (`planes`), coordinates belong to styles too.

Entries choose their class, and classes their style, by Gibbs sampling as in Neal (2000), algorithm 3: cyclic parts are
integrated, and so are rating and coordinates of whatever is new. Given a Polya-Gamma number for each pair (Polson,
Scott and Windle 2013), drawn in every sweep, the binomial likelihood is normal in the log-odds, which makes all
integrals exact. Measured payoffs are normal by themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from nashboard._compiled import compiled
from nashboard._types import Bools, Floats, Ints
from nashboard.ratings.hierarchical.kernels import interpolated, mixed, normal_of, pair_key, polya_gamma_of, uniform_of
from nashboard.ratings.hierarchical.model import HierarchicalFit
from nashboard.ratings.hierarchical.pairs import SIGMA_SCALE, TAU_RANGE, PairCounts
from nashboard.ratings.hierarchical.planes import rotation

WARM, THIN = 150, 4  # sweeps before the first draw, and from one draw to the next
SETTLE = 100  # more sweeps at first, in which all entries differ, where there are planes
DISCOUNT = 0.9  # of the prior of partitions
VALUES = 13  # of a concentration
SHARED = 0.8  # posterior probability from which entries share a row
HUGE = 1e100  # from which a product is replaced by its logarithm
LEAST = TAU_RANGE[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class PartitionDraws:
    """Draws of the class and the style of each entry, named by their first members, and of all log-odds.

    Both are (S, n), ``places`` are rating and coordinates (S, n, 1 + 2 k), ``scales`` are sigma, tau and omega (S, 3),
    ``payoffs`` (S, n, n). ``together`` (n, n) is the probability that two entries are one agent, ``no_copies`` that no
    two are.
    """

    label: Ints
    style: Ints
    places: Floats
    scales: Floats
    payoffs: Floats
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

    @property
    def shared(self) -> Ints:
        """Number of the row of each entry: entries that are one agent with probability ``SHARED`` share a row.

        Of two groups the mean probability of their pairs counts: of a chain of entries the ends may clearly differ.
        """
        n = len(self.together)
        members, total = np.eye(n), self.together.copy()
        while True:
            size = members.sum(axis=1)
            mean = np.triu(total / np.outer(size, size), 1)
            a, b = np.unravel_index(int(mean.argmax()), mean.shape)
            if mean[a, b] < SHARED:
                return np.asarray(np.unique(members.argmax(axis=1)[members.argmax(axis=0)], return_inverse=True)[1])
            members[a] += members[b]
            members = np.delete(members, b, axis=0)
            total = members @ self.together @ members.T


def concentrations(n: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Return values of both concentrations, each followed by log-priors given each of its values.

    Those of theta, (V, n), are of 1 to ``n`` classes. Those of the concentration of styles are of a single style of 1
    to ``n`` classes; each further style adds its logarithm. What depends on sizes alone is left out.
    """
    from scipy.special import gammaln

    theta = np.geomspace(0.1, 16 * n * n, VALUES)
    of_classes = np.log(theta[:, None] + DISCOUNT * np.arange(n)).cumsum(axis=1)
    alpha = np.geomspace(n, 16 * n * n, VALUES)
    of_styles = np.log(alpha[:, None]) + gammaln(alpha[:, None]) - gammaln(alpha[:, None] + np.arange(1, n + 1))
    return theta, of_classes + (gammaln(theta) - gammaln(theta + n))[:, None], alpha, of_styles


def pair_prior(n: int) -> float:
    """Return the prior probability that two given entries of ``n`` are one agent."""
    return float(((1 - DISCOUNT) / (1 + concentrations(n)[0])).mean())


def sample_partitions(
    fit: HierarchicalFit, near: Bools, draws: int, seed: int, *, planes: int = 0, start: PartitionDraws | None = None
) -> PartitionDraws:
    """Draw partitions, of which each entry joins only classes with a member that is ``near`` (n, n) to it.

    ``start`` are draws of the same model, of which the last is where this chain begins.
    """
    counts, n = fit.counts, fit.counts.n
    log_odds, S, W, games = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    log_odds[counts.i, counts.j], log_odds[counts.j, counts.i] = fit.expected, -fit.expected
    if isinstance(counts, PairCounts):  # precisions are drawn
        won, games = counts.tables
        S = won - games / 2
    else:
        S[counts.i, counts.j] = counts.measured / counts.variance
        W[counts.i, counts.j] = 1 / counts.variance
        S, W = S - S.T, W + W.T
    if start is None:
        label, style, scales = np.arange(n), np.arange(n), np.array([fit.sigma, fit.tau, fit.tau / np.sqrt(2)])
        places = np.random.default_rng(seed).normal(0, np.sqrt(scales[2]), (n, 1 + 2 * planes))
        places[:, 0] = fit.ratings
    else:
        label, style, scales = start.label[-1].copy(), start.style[-1].copy(), start.scales[-1].copy()
        places = start.places[-1].copy()
    tau = np.geomspace(*TAU_RANGE, 100)
    settle = SETTLE if planes and start is None else 0
    found = PartitionDraws(
        label=np.empty((draws, n), dtype=np.int64),
        style=np.empty((draws, n), dtype=np.int64),
        places=np.empty((draws, n, 1 + 2 * planes)),
        scales=np.empty((draws, 3)),
        payoffs=np.empty((draws, n, n)),
        together=np.zeros((n, n)),
    )
    sweep_partitions(
        S, games, W, log_odds, near, label, style, places, *concentrations(n), np.log(tau), counts.tau_prior(tau),
        SIGMA_SCALE, scales, np.uint64(seed), WARM + settle, THIN, settle,
        found.label, found.style, found.places, found.scales, found.payoffs, found.together,
    )  # fmt: skip
    found.together[:] = (found.together + found.together.T) / 2
    return found


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


@compiled("UniTuple(f8, 3)(i8, f8[::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,::1], f8)")
def join_style(g, e, w, R, V, T, t2):  # type: ignore[no-untyped-def]
    """Return A, B, C so that ``C + B r - A r^2 / 2`` is the log-likelihood of a row in style ``g`` with rating r.

    ``e`` and ``w`` are sums over opponents of each style, of ``s + w r`` and of precisions. ``R`` and ``V`` are sums of
    residuals and precisions of all other pairs of two styles, which share one cyclic part.
    """
    A, B, C, factor = 0.0, 0.0, 0.0, 1.0
    for h in range(len(w)):
        if w[h] <= 0:
            continue
        turn = rotation(T, g, h)
        rest = e[h] - w[h] * turn
        C += turn * (e[h] + rest) / 2
        if h == g:
            A += w[h]
            B += rest
            continue
        old = 1 + t2 * V[g, h]
        new = old + t2 * w[h]
        total = R[g, h] + rest
        A += w[h] * old / new
        B += (rest * old - t2 * w[h] * R[g, h]) / new
        C += t2 * (total * total / new - R[g, h] * R[g, h] / old) / 2
        factor *= new / old
        if factor > HUGE:
            C, factor = C - np.log(factor) / 2, 1.0
    return A, B, C - np.log(factor) / 2


@compiled("f8(f8[::1], f8[::1], f8[:,::1], f8, f8, f8, f8[:,::1], f8[::1])")
def make_style(e, w, T, t2, precision, omega, L, right):  # type: ignore[no-untyped-def]
    """Return the log-likelihood of a row in a style of its own, with rating and coordinates integrated.

    ``L`` is filled with a Cholesky factor of their precision, ``right`` with its inverse times their linear term, to
    whose rating the caller has added what else is known.
    """
    m, C, factor = len(right), 0.0, 1.0
    L[:] = 0.0
    L[0, 0] = precision
    for k in range(1, m):
        L[k, k] = 1 / omega
    for h in range(len(w)):
        if w[h] <= 0:
            continue
        q = 1 + t2 * w[h]
        C += t2 * e[h] * e[h] / q / 2
        factor *= q
        if factor > HUGE:
            C, factor = C - np.log(factor) / 2, 1.0
        for k in range(m):
            f = 1.0 if k == 0 else (T[h, k + 1] if k % 2 else -T[h, k - 1])
            right[k] += f * e[h] / q
            for c in range(k + 1):
                L[k, c] += f * (1.0 if c == 0 else (T[h, c + 1] if c % 2 else -T[h, c - 1])) * w[h] / q
    C += (np.log(precision) - (m - 1) * np.log(omega) - np.log(factor)) / 2
    for k in range(m):
        for c in range(k + 1):
            for d in range(c):
                L[k, c] -= L[k, d] * L[c, d]
            L[k, c] = np.sqrt(L[k, k]) if k == c else L[k, c] / L[c, c]
        for c in range(k):
            right[k] -= L[k, c] * right[c]
        right[k] /= L[k, k]
        C += right[k] * right[k] / 2 - np.log(L[k, k])
    return C


@compiled("void(f8[:,::1], f8[::1], u8)")
def draw_place(L, right, bits):  # type: ignore[no-untyped-def]
    """Replace what `make_style` has left in ``right`` by a draw of rating and coordinates."""
    for k in range(len(right) - 1, -1, -1):
        right[k] += normal_of(mixed(bits, np.uint64(20 + k)))
        for c in range(k + 1, len(right)):
            right[k] -= L[c, k] * right[c]
        right[k] /= L[k, k]


@compiled("void(i8, f8, f8, f8[::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,::1])")
def add_row(g, by, r, e, w, R, V, T):  # type: ignore[no-untyped-def]
    """Add a row to style ``g`` (``by`` 1), or remove it (-1)."""
    for h in range(len(w)):
        if h != g and w[h] > 0:
            rest = by * (e[h] - w[h] * (r + rotation(T, g, h)))
            R[g, h] += rest
            R[h, g] -= rest
            V[g, h] += by * w[h]
            V[h, g] = V[g, h]


@compiled("f8(f8[:,::1], f8[:,::1], i8[::1], f8)")
def cyclic_likelihood(R, V, many, t2):  # type: ignore[no-untyped-def]
    """Return what cyclic parts add to the log-likelihood."""
    total, factor = 0.0, 1.0
    for g in range(len(many)):
        for h in range(g if many[g] > 0 else 0):
            if many[h] > 0 and V[g, h] > 0:
                q = 1 + t2 * V[g, h]
                total += t2 * R[g, h] * R[g, h] / q / 2
                factor *= q
                if factor > HUGE:
                    total, factor = total - np.log(factor) / 2, 1.0
    return total - np.log(factor) / 2


@compiled(
    "void(f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], b1[:,::1], i8[::1], i8[::1], f8[:,::1], f8[::1], f8[:,::1], "
    "f8[::1], f8[:,::1], f8[::1], f8[::1], f8, f8[::1], u8, i8, i8, i8, i8[:,::1], i8[:,::1], f8[:,:,::1], f8[:,::1], "
    "f8[:,:,::1], f8[:,::1])"
)
def sweep_partitions(  # type: ignore[no-untyped-def]
    s, games, w, x, near, label, style, begin, theta, of_classes, alpha, of_styles, prior_at, prior, sigma_scale, scale,
    seed, warm, thin, settle, labels, styles, places, scales, payoffs, together,
):  # fmt: skip
    """Sample the class of each entry, the style of each class, ratings, coordinates, concentrations and scales.

    The likelihood of the log-odds ``x`` of two entries is ``exp(s x - w x^2 / 2)``, given a Polya-Gamma number ``w``
    where there are games.
    """
    count, n = labels.shape
    m = begin.shape[1]
    size, kind, many = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    r, T, R, V, cyclic = np.zeros(n), np.zeros((n, m)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for a in range(n):
        k = label[a]
        if size[k] == 0:
            kind[k], r[k] = style[a], begin[a, 0]
            many[style[a]] += 1
            T[style[a], 1:] = begin[a, 1:]
        size[k] += 1
    e, v, allowed, log_mass = np.empty(n), np.empty(n), np.empty(n, dtype=np.bool_), np.empty(2 * n + 1)
    A, B, C, of_theta = np.empty(n), np.empty(n), np.empty(n), np.empty(len(theta))
    L, right = np.empty((m, m)), np.empty(m)
    sigma, tau, omega = scale[0], scale[1], scale[2]
    at, of_kind = 0, 0  # many copies at first: groups form sooner than they break up
    clock = np.uint64(0)
    for sweep in range(warm + count * thin):
        t2, key = tau * tau, mixed(seed, clock)
        clock += np.uint64(1)
        for a in range(n):
            for b in range(a):
                if games[a, b] > 0:
                    if sweep > 0:
                        g, h = kind[label[a]], kind[label[b]]
                        x[a, b] = r[label[a]] - r[label[b]] + rotation(T, g, h) + cyclic[g, h]
                    w[a, b] = w[b, a] = polya_gamma_of(games[a, b], x[a, b], pair_key(key, a, b))
        R[:], V[:] = 0.0, 0.0
        for a in range(n):
            for b in range(n):
                g, h = kind[label[a]], kind[label[b]]
                if g != h:
                    R[g, h] += s[a, b] - w[a, b] * (r[label[a]] - r[label[b]] + rotation(T, g, h))
                    V[g, h] += w[a, b]
        classes = 0
        for k in range(n):
            classes += size[k] > 0
        precision = 1 / sigma**2
        for k in range(n):  # the style and the rating of each class
            if size[k] == 0:
                continue
            e[:], v[:] = 0.0, 0.0
            for a in range(n):
                for b in range(n if label[a] == k else 0):
                    if label[b] != k:
                        e[kind[label[b]]] += s[a, b] + w[a, b] * r[label[b]]
                        v[kind[label[b]]] += w[a, b]
            g = kind[k]
            add_row(g, -1.0, r[k], e, v, R, V, T)
            many[g] -= 1
            free = g
            for h in range(n):
                log_mass[h] = -np.inf
                if many[h] == 0:
                    free = h if many[free] > 0 else free
                elif sweep >= settle or h == g:
                    A[h], B[h], C[h] = join_style(h, e, v, R, V, T, t2)
                    A[h] += precision
                    log_mass[h] = np.log(many[h]) + C[h] + B[h] * B[h] / (2 * A[h]) - np.log(A[h] / precision) / 2
            right[:] = 0.0
            log_mass[n] = np.log(alpha[of_kind]) + make_style(e, v, T, t2, precision, omega, L, right)
            bits = mixed(seed, clock)
            clock += np.uint64(1)
            g = choose(log_mass, n + 1, bits)
            if g < n:
                r[k] = B[g] / A[g] + normal_of(bits) / np.sqrt(A[g])
            else:
                g = free
                draw_place(L, right, bits)
                r[k], T[g, 1:] = right[0], right[1:]
                R[g], R[:, g], V[g], V[:, g] = 0.0, 0.0, 0.0, 0.0
            kind[k] = g
            many[g] += 1
            add_row(g, 1.0, r[k], e, v, R, V, T)
        for g in range(n if m > 1 else 0):  # the coordinates of each style, and the mean of its ratings
            if many[g] == 0:
                continue
            e[:], v[:], right[:] = 0.0, 0.0, 0.0
            for a in range(n):
                for b in range(n if kind[label[a]] == g else 0):
                    h = kind[label[b]]
                    if h != g:
                        e[h] += s[a, b] + w[a, b] * (r[label[b]] - r[label[a]])
                        v[h] += w[a, b]
            for k in range(n):
                if size[k] > 0 and kind[k] == g:
                    right[0] -= r[k] * precision
            make_style(e, v, T, t2, many[g] * precision, omega, L, right)
            draw_place(L, right, mixed(seed, clock))
            clock += np.uint64(1)
            T[g, 1:] = right[1:]
            for k in range(n):
                if size[k] > 0 and kind[k] == g:
                    r[k] += right[0]
            for h in range(n):
                if h != g:
                    R[g, h] = e[h] - v[h] * (right[0] + rotation(T, g, h))
                    R[h, g] = -R[g, h]
        for a in range(n if sweep >= settle else 0):  # the class of each entry
            e[:], v[:], allowed[:] = 0.0, 0.0, False
            for b in range(n):
                if b != a:
                    e[kind[label[b]]] += s[a, b] + w[a, b] * r[label[b]]
                    v[kind[label[b]]] += w[a, b]
                    allowed[label[b]] |= near[a, b]
            k = label[a]
            g = kind[k]
            add_row(g, -1.0, r[k], e, v, R, V, T)
            size[k] -= 1
            if size[k] == 0:
                many[g] -= 1
                classes -= 1
            another = np.log((theta[at] + DISCOUNT * classes) / (classes + alpha[of_kind]))
            free_style, free_class = -1, -1
            for h in range(n):
                log_mass[n + h] = -np.inf
                free_style = h if many[h] == 0 else free_style
                if many[h] > 0:
                    A[h], B[h], C[h] = join_style(h, e, v, R, V, T, t2)
                    total = A[h] + precision
                    log_mass[n + h] = another + np.log(many[h]) + C[h] + B[h] * B[h] / (2 * total)
                    log_mass[n + h] -= np.log(total / precision) / 2
            for q in range(n):
                log_mass[q] = -np.inf
                free_class = q if size[q] == 0 else free_class
                if size[q] > 0 and allowed[q]:
                    h = kind[q]
                    log_mass[q] = np.log(size[q] - DISCOUNT) + C[h] + r[q] * (B[h] - A[h] * r[q] / 2)
            right[:] = 0.0
            fresh = make_style(e, v, T, t2, precision, omega, L, right)
            log_mass[2 * n] = another + np.log(alpha[of_kind]) + fresh
            bits = mixed(seed, clock)
            clock += np.uint64(1)
            k = choose(log_mass, 2 * n + 1, bits)
            if sweep >= warm:
                for b in range(n):
                    together[a, b] += 1.0 if b == a else log_mass[label[b]]
            if k >= n:
                g, k = k - n, free_class
                if g < n:
                    A[g] += precision
                    r[k] = B[g] / A[g] + normal_of(bits) / np.sqrt(A[g])
                else:
                    g = free_style
                    draw_place(L, right, bits)
                    r[k], T[g, 1:] = right[0], right[1:]
                    R[g], R[:, g], V[g], V[:, g] = 0.0, 0.0, 0.0, 0.0
                kind[k] = g
                many[g] += 1
                classes += 1
            label[a] = k
            size[k] += 1
            add_row(kind[k], 1.0, r[k], e, v, R, V, T)
        squares, apart, turned = 0.0, 0, 0.0
        for k in range(n):
            squares += r[k] * r[k] if size[k] > 0 else 0.0
            apart += many[k] > 0
            for c in range(1, m if many[k] > 0 else 0):
                turned += T[k, c] * T[k, c]
        for q in range(len(theta)):
            of_theta[q] = of_classes[q, classes - 1]
        at = choose(of_theta, len(theta), mixed(seed, clock))
        for q in range(len(theta)):
            of_theta[q] = of_styles[q, classes - 1] + (apart - 1) * np.log(alpha[q])
        of_kind = choose(of_theta, len(theta), mixed(seed, clock + np.uint64(1)))
        clock += np.uint64(2)
        for _ in range(2):
            bits = mixed(seed, clock)
            new = sigma * np.exp(0.4 * normal_of(bits))
            gain = (1 - classes) * np.log(new / sigma) - squares * (1 / new**2 - 1 / sigma**2) / 2
            gain -= (new**2 - sigma**2) / (2 * sigma_scale**2)
            if np.log(uniform_of(mixed(bits, np.uint64(3)))) < gain and 0.05 < new < 8:
                sigma = new
            bits = mixed(seed, clock + np.uint64(1))
            new = tau * np.exp(0.4 * normal_of(bits))
            gain = interpolated(prior_at, prior, np.log(new)) - interpolated(prior_at, prior, np.log(tau))
            gain += cyclic_likelihood(R, V, many, new * new) - cyclic_likelihood(R, V, many, tau * tau)
            if np.log(uniform_of(mixed(bits, np.uint64(3)))) < gain:
                tau = new
            bits = mixed(seed, clock + np.uint64(2))
            clock += np.uint64(3)
            if m == 1:
                continue
            new = omega * np.exp(0.4 * normal_of(bits))
            gain = -(apart * (m - 1)) / 2 * np.log(new / omega) - turned * (1 / new - 1 / omega) / 2
            gain += interpolated(prior_at, prior, np.log(new * np.sqrt(2.0)))
            gain -= interpolated(prior_at, prior, np.log(omega * np.sqrt(2.0)))
            if np.log(uniform_of(mixed(bits, np.uint64(3)))) < gain:
                omega = new
        t2 = tau * tau
        if m > 1:  # all planes at once, with their scale
            bits = mixed(seed, clock)
            clock += np.uint64(1)
            factor = np.exp(0.2 * normal_of(bits))
            gain = interpolated(prior_at, prior, np.log(omega * np.sqrt(2.0) * factor))
            gain -= interpolated(prior_at, prior, np.log(omega * np.sqrt(2.0)))
            for g in range(n):
                for h in range(g if many[g] > 0 else 0):
                    if many[h] > 0 and V[g, h] > 0:
                        more = rotation(T, g, h) * (factor - 1)
                        rest = R[g, h] - V[g, h] * more
                        gain += (R[g, h] + rest) * more / 2
                        gain += t2 * (rest * rest - R[g, h] * R[g, h]) / (1 + t2 * V[g, h]) / 2
            if np.log(uniform_of(mixed(bits, np.uint64(3)))) < gain:
                for g in range(n):
                    for h in range(n):
                        if many[g] > 0 and many[h] > 0 and g != h:
                            R[g, h] -= V[g, h] * rotation(T, g, h) * (factor - 1)
                omega *= factor
                T *= np.sqrt(factor)
        key = mixed(seed, clock)
        clock += np.uint64(1)
        for g in range(n):
            for h in range(g):
                q = 1 + t2 * V[g, h]
                cyclic[g, h] = t2 * R[g, h] / q + tau / np.sqrt(q) * normal_of(pair_key(key, g, h))
                cyclic[h, g] = -cyclic[g, h]
        if sweep >= warm and (sweep - warm) % thin == thin - 1:
            q = (sweep - warm) // thin
            for a in range(n):
                labels[q, a], styles[q, a] = a, a
                g = kind[label[a]]
                places[q, a, 0], places[q, a, 1:] = r[label[a]], T[g, 1:]
                for b in range(n):
                    h = kind[label[b]]
                    payoffs[q, a, b] = r[label[a]] - r[label[b]] + rotation(T, g, h) + cyclic[g, h]
                    if b < a and label[a] == label[b]:
                        labels[q, a] = min(labels[q, a], b)
                    if b < a and g == h:
                        styles[q, a] = min(styles[q, a], b)
            scales[q, 0], scales[q, 1], scales[q, 2] = sigma, tau if apart > 1 else LEAST, omega
    for a in range(n):
        for b in range(n):
            together[a, b] /= count * thin
