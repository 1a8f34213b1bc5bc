"""Compiled loops of the hierarchical model: integrals over the cyclic part of a pair, and random draws.

Random numbers are a function of a key and a counter (splitmix64), so that the cyclic part of a pair in a draw is the
same whenever and in whatever order it is asked for.
"""

import numpy as np

from nashboard._compiled import compiled

WIDE = 1.0  # tau from which a pair's likelihood may be far from normal within the prior of its cyclic part


@compiled("u8(u8, u8)")
def mixed(state, key):  # type: ignore[no-untyped-def]
    """Return 64 random bits that depend on both numbers (the finaliser of splitmix64)."""
    z = state + (key + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled("f8(u8)")
def uniform_of(bits):  # type: ignore[no-untyped-def]
    """Return a number in (0, 1) made of 53 bits."""
    return (np.float64(bits >> np.uint64(11)) + 0.5) * (1.0 / 9007199254740992.0)


@compiled("f8(u8)")
def normal_of(bits):  # type: ignore[no-untyped-def]
    """Return a standard normal number made of a key, by the method of Box and Muller."""
    u = uniform_of(mixed(bits, np.uint64(1)))
    v = uniform_of(mixed(bits, np.uint64(2)))
    return np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v)


@compiled("f8(f8, u8)")
def gamma_of(shape, bits):  # type: ignore[no-untyped-def]
    """Return a gamma number of scale 1 made of a key, by the method of Marsaglia and Tsang (2000)."""
    d = (shape if shape >= 1 else shape + 1) - 1 / 3
    key, found = bits, -1.0
    while found < 0:
        key = mixed(key, np.uint64(4))
        x = normal_of(key)
        v = (1 + x / np.sqrt(9 * d)) ** 3
        u = uniform_of(mixed(key, np.uint64(3)))
        if v > 0 and (u < 1 - 0.0331 * x**4 or np.log(u) < x * x / 2 + d - d * v + d * np.log(v)):
            found = d * v
    return found if shape >= 1 else found * uniform_of(mixed(key, np.uint64(5))) ** (1 / shape)


@compiled("UniTuple(f8, 2)(f8)")
def polya_gamma_moments(x):  # type: ignore[no-untyped-def]
    """Return mean and variance of a Polya-Gamma number ``PG(1, x)``."""
    x = min(abs(x), 500.0)
    if x < 1e-2:
        return 0.25 - x * x / 48, 1 / 24 - x * x / 120
    return np.tanh(x / 2) / (2 * x), (np.tanh(x / 2) - x / (1 + np.cosh(x))) / (2 * x**3)


@compiled("f8(f8, f8, u8)")
def polya_gamma_of(games, x, bits):  # type: ignore[no-untyped-def]
    """Return a Polya-Gamma number ``PG(games, x)`` made of a key (Polson, Scott and Windle 2013).

    Given such numbers the binomial likelihood is normal in the log-odds. They are sums of gamma numbers, of which the
    first has most of the variance; the others are replaced by one with the same mean and variance.
    """
    mean, variance = polya_gamma_moments(x)
    rate = 2 / (np.pi**2 + x * x)
    mean, variance = mean - rate, variance - rate * rate
    rest = gamma_of(games * mean * mean / variance, mixed(bits, np.uint64(6))) * variance / mean
    return gamma_of(games, mixed(bits, np.uint64(7))) * rate + rest


@compiled("u8(u8, i8, i8)")
def pair_key(seed, i, j):  # type: ignore[no-untyped-def]
    """Return the key of an unordered pair in one draw."""
    return mixed(mixed(seed, np.uint64(min(i, j))), np.uint64(max(i, j)))


@compiled("UniTuple(f8, 3)(f8, f8, f8)")
def binomial(won, games, x):  # type: ignore[no-untyped-def]
    """Return log-likelihood of a pair with log-odds x, its slope, and minus its curvature."""
    e = np.exp(-abs(x))
    p = (1.0 if x >= 0 else e) / (1 + e)
    return won * x - games * (max(x, 0.0) + np.log1p(e)), won - games * p, games * p * (1 - p)


@compiled("UniTuple(f8, 4)(f8, f8, f8, f8, f8[::1], f8[::1], f8)")
def integrate_one(won, games, d, tau, nodes, log_weights, start):  # type: ignore[no-untyped-def]
    """Integrate the likelihood of one pair over c ~ N(0, tau^2): logarithm, slope, minus curvature in d, mode of c."""
    t2 = tau * tau
    c, D, level, lean = start, 0.0, 0.0, 0.0
    for _ in range(60):
        level, lean, D = binomial(won, games, d + c)
        level -= c * c / (2 * t2)
        step = (t2 * lean - c) / (1 + t2 * D)
        size = abs(step)
        if size < 1e-4:
            break
        c += step * np.log1p(size) / size
    scale = np.sqrt(t2 / (1 + t2 * D))
    mass, first, second, information = 0.0, 0.0, 0.0, 0.0
    for q in range(len(nodes)):
        at = c + scale * nodes[q]
        total, rest, info = binomial(won, games, d + at)
        rest = at - c if tau >= WIDE else rest - lean
        w = np.exp(total - at * at / (2 * t2) + log_weights[q] - level)
        mass += w
        first += w * rest
        second += w * rest * rest
        information += w * info
    first /= mass
    information /= mass
    spread = second / mass - first * first
    value = level + np.log(mass * scale / tau)
    # log-concave, so the curvature is positive; the bound is for rounding
    least = 1e-3 * information / (1 + t2 * information)
    if tau >= WIDE:  # slope and curvature by the mean and variance of c: the other form is a difference of large sums
        return value, (c + first) / t2, max((1 - spread / t2) / t2, least), c
    return value, lean + first, max(information - spread, least), c


@compiled("void(f8[::1], f8[::1], f8[:,::1], f8[::1], f8[::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1])")
def integrate_pairs(won, games, d, tau, nodes, log_weights, value, slope, curvature, mode):  # type: ignore[no-untyped-def]
    """Integrate the likelihood over c for every grid point and pair; ``mode`` is read and written."""
    for g in range(d.shape[0]):
        for k in range(d.shape[1]):
            value[g, k], slope[g, k], curvature[g, k], mode[g, k] = integrate_one(
                won[k], games[k], d[g, k], tau[g], nodes, log_weights, mode[g, k]
            )


@compiled("f8(f8[::1], f8[::1], f8, f8, f8, f8, f8)")
def gain_of_sigma(values, weights, weak, squares, old, new, scale):  # type: ignore[no-untyped-def]
    """Return by how much another sigma raises the log-density of log sigma, given the squared deviations."""
    gain = np.log(new / old) - squares * (1 / new**2 - 1 / old**2) / 2 - (new**2 - old**2) / (2 * scale * scale)
    for k in range(len(values)):
        gain += weights[k] * np.log((values[k] / new**2 + weak) / (values[k] / old**2 + weak)) / 2
    return gain


@compiled("f8(f8[::1], f8[::1], f8)")
def interpolated(at, values, x):  # type: ignore[no-untyped-def]
    """Interpolate a function on an even grid; beyond it, minus infinity."""
    step = at[1] - at[0]
    k = int(np.floor((x - at[0]) / step))
    if x < at[0] or k >= len(at) - 1:
        return -np.inf
    t = (x - at[k]) / step
    return (1 - t) * values[k] + t * values[k + 1]


@compiled("void(f8[::1], i8[::1], i8[::1], f8[::1], f8[::1])")
def deviations_of(r, starts, rows, entries, off):  # type: ignore[no-untyped-def]
    """Write ``D r`` into ``off``, given the columns of ``D``."""
    off[:] = 0.0
    for a in range(len(r)):
        for q in range(starts[a], starts[a + 1]):
            off[rows[q]] += entries[q] * r[a]


@compiled(
    "void(f8[::1], f8[::1], i8[::1], i8[::1], i8[::1], i8[::1], f8[::1], f8[::1], i8[::1], i8[::1], f8[::1], f8[::1], "
    "f8[::1], f8, i8[::1], f8[::1], f8[::1], u8[::1], f8[::1], i8, f8, f8, f8, f8[:,::1])"
)
def refine_ratings(  # type: ignore[no-untyped-def]
    won, games, first, second, start, pair, nodes, log_weights, starts, rows, entries, values, often, weak, agents,
    sigma, tau, seeds, width, sweeps, scale, low, high, r,
):  # fmt: skip
    """Move the ratings of some agents, and sigma, by Metropolis steps that leave the posterior given tau unchanged."""
    n = r.shape[1]
    off = np.empty(n)
    level, moved = np.empty(len(first)), np.empty(len(first))  # log-likelihood of each pair, and after a move
    for s in range(len(r)):
        count = np.uint64(0)
        key = mixed(seeds[s], np.uint64(0xA5A5))
        deviations_of(r[s], starts, rows, entries, off)
        stretch = min(0.4, 2.4 / np.sqrt(2.0 * n))
        for k in range(len(first) if len(agents) > 0 else 0):
            d = r[s, first[k]] - r[s, second[k]]
            level[k] = integrate_one(won[k], games[k], d, tau[s], nodes, log_weights, 0.0)[0]
        for _ in range(sweeps):
            for at in range(len(agents)):
                a = agents[at]
                bits = mixed(key, count)
                count += np.uint64(1)
                move = width[at] * normal_of(bits)
                gain = weak * (r[s, a] ** 2 - (r[s, a] + move) ** 2) / 2
                for q in range(starts[a], starts[a + 1]):
                    old = off[rows[q]]
                    gain += (old**2 - (old + entries[q] * move) ** 2) / (2 * sigma[s] * sigma[s])
                for q in range(start[a], start[a + 1]):
                    k = pair[q]
                    d = r[s, first[k]] - r[s, second[k]]
                    d += move if first[k] == a else -move
                    moved[k] = integrate_one(won[k], games[k], d, tau[s], nodes, log_weights, 0.0)[0]
                    gain += moved[k] - level[k]
                if np.log(uniform_of(mixed(bits, np.uint64(3)))) < gain:
                    r[s, a] += move
                    for q in range(start[a], start[a + 1]):
                        level[pair[q]] = moved[pair[q]]
                    for q in range(starts[a], starts[a + 1]):
                        off[rows[q]] += entries[q] * move
            if len(agents) > 0:  # sigma with all ratings at once, which depend on it closely
                bits = mixed(key, count)
                count += np.uint64(1)
                factor = np.exp(stretch * normal_of(bits))
                size = 0.0
                for a in range(n):
                    size += r[s, a] * r[s, a]
                gain = gain_of_sigma(values, often, weak, 0.0, sigma[s], factor * sigma[s], scale)
                gain += n * np.log(factor) - weak * (factor * factor - 1) * size / 2
                for k in range(len(first)):
                    d = factor * (r[s, first[k]] - r[s, second[k]])
                    moved[k] = integrate_one(won[k], games[k], d, tau[s], nodes, log_weights, 0.0)[0]
                    gain += moved[k] - level[k]
                if low < factor * sigma[s] < high and np.log(uniform_of(mixed(bits, np.uint64(3)))) < gain:
                    sigma[s] *= factor
                    r[s] *= factor
                    off *= factor
                    level[:] = moved
            squares = 0.0
            for a in range(n):
                squares += off[a] * off[a]
            for _ in range(2 if len(agents) > 0 else 0):
                bits = mixed(key, count)
                count += np.uint64(1)
                new = sigma[s] * np.exp(0.4 * normal_of(bits))
                gain = gain_of_sigma(values, often, weak, squares, sigma[s], new, scale)
                if low < new < high and np.log(uniform_of(mixed(bits, np.uint64(3)))) < gain:
                    sigma[s] = new


@compiled("f8(f8, f8, f8, f8, u8)")
def draw_one(won, games, d, tau, key):  # type: ignore[no-untyped-def]
    """Draw c of one pair given the difference of ratings, exactly, by rejection.

    The log-likelihood ``L`` is concave, so ``L(c) <= L(m) + L'(m) (c - m)`` for any ``m``, and the prior times this
    bound is ``N(tau^2 L'(m), tau^2)``. A proposal is accepted with ``exp(L(c) - L(m) - L'(m) (c - m))``, which is
    likely for ``m`` near the mode.
    """
    t2 = tau * tau
    m, D, slope, level = 0.0, 0.0, 0.0, 0.0
    for _ in range(100):
        level, slope, D = binomial(won, games, d + m)
        step = (t2 * slope - m) / (1 + t2 * D)
        size = abs(step)
        if size * np.sqrt(1 + t2 * D) < 0.1 * tau:
            break
        m += step * np.log1p(size) / size
    if t2 * D > 1000.0:  # thousands of games: normal
        return m + step + np.sqrt(t2 / (1 + t2 * D)) * normal_of(key)
    trial = np.uint64(0)
    while True:
        bits = mixed(key, trial)
        c = t2 * slope + tau * normal_of(bits)
        gain = binomial(won, games, d + c)[0] - level - slope * (c - m)
        if np.log(uniform_of(mixed(bits, np.uint64(3)))) <= gain:
            return c
        trial += np.uint64(1)


@compiled("void(f8[::1], f8[::1], i8[::1], i8[::1], f8[::1], u8[::1], f8[:,:,::1])")
def draw_all_pairs(won, games, first, second, tau, seeds, A):  # type: ignore[no-untyped-def]
    """Add the cyclic parts of all pairs to the log-odds ``A`` of every draw."""
    n = A.shape[1]
    met = np.zeros((n, n), dtype=np.bool_)
    for k in range(len(first)):
        met[first[k], second[k]] = True
    for s in range(len(A)):
        for k in range(len(first)):
            i, j = first[k], second[k]
            d = A[s, i, j]
            A[s, i, j] = d + draw_one(won[k], games[k], d, tau[s], pair_key(seeds[s], i, j))
            A[s, j, i] = -A[s, i, j]
        for i in range(n):
            A[s, i, i] = 0.0
            for j in range(i + 1, n):
                if not met[i, j]:
                    A[s, i, j] += tau[s] * normal_of(pair_key(seeds[s], i, j))
                    A[s, j, i] = -A[s, i, j]


@compiled("void(f8[::1], f8[::1], i8[::1], i8[::1], i8[::1], i8[::1], f8[::1], f8, u8, i8[::1], f8[:,::1])")
def draw_columns(won, games, first, second, start, pair, r, tau, seed, agents, X):  # type: ignore[no-untyped-def]
    """Draw the log-odds of everybody against some agents in one draw; row k of ``X`` is against ``agents[k]``."""
    for k in range(len(agents)):
        a = agents[k]
        for i in range(len(r)):
            c = tau * normal_of(pair_key(seed, i, a))
            X[k, i] = r[i] - r[a] + (c if i < a else -c)
        X[k, a] = 0.0
        for at in range(start[a], start[a + 1]):
            q = pair[at]
            i, j = first[q], second[q]
            d = r[i] - r[j]
            x = d + draw_one(won[q], games[q], d, tau, pair_key(seed, i, j))
            X[k, i + j - a] = x if j == a else -x


@compiled("void(u8, i8[::1], f8[:,::1])")
def draw_signed_normals(seed, agents, noise):  # type: ignore[no-untyped-def]
    """Draw a standard normal number for everybody against some agents; the two sides of a pair have opposite signs."""
    for i in range(len(noise)):
        for k in range(len(agents)):
            z = 0.0 if i == agents[k] else normal_of(pair_key(seed, i, agents[k]))
            noise[i, k] = z if i < agents[k] else -z
