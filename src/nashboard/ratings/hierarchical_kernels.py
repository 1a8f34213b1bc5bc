"""Compiled loops of the hierarchical model: integrals over the cyclic part of a pair, and random draws.

Random numbers are a function of a key and a counter (splitmix64), so that the cyclic part of a pair in a draw is the
same whenever and in whatever order it is asked for.
"""

import numpy as np

from nashboard._compiled import compiled


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


@compiled("u8(u8, i8, i8)")
def pair_key(seed, i, j):  # type: ignore[no-untyped-def]
    """Return the key of an unordered pair in one draw."""
    return mixed(mixed(seed, np.uint64(min(i, j))), np.uint64(max(i, j)))


@compiled("UniTuple(f8, 4)(f8[::1], f8[::1], f8[::1], f8, f8, f8[::1], f8[::1], f8)")
def integrate_one(won, games, offsets, d, tau, nodes, log_weights, start):  # type: ignore[no-untyped-def]
    """Integrate the likelihood of one pair over c ~ N(0, tau^2): logarithm, slope, minus curvature in d, mode of c."""
    t2 = tau * tau
    c, D, level, lean = start, 0.0, 0.0, 0.0
    for _ in range(60):
        lean, D, level = 0.0, 0.0, -c * c / (2 * t2)
        for s in range(len(won)):
            if games[s] > 0:
                x = d + offsets[s] + c
                e = np.exp(-abs(x))
                p = (1.0 if x >= 0 else e) / (1 + e)
                lean += won[s] - games[s] * p
                D += games[s] * p * (1 - p)
                level += won[s] * x - games[s] * (max(x, 0.0) + np.log1p(e))
        step = (t2 * lean - c) / (1 + t2 * D)
        size = abs(step)
        if size < 1e-4:
            break
        c += step * np.log1p(size) / size
    scale = np.sqrt(t2 / (1 + t2 * D))
    mass, first, second, information = 0.0, 0.0, 0.0, 0.0
    for q in range(len(nodes)):
        at = c + scale * nodes[q]
        total, rest, info = -at * at / (2 * t2) + log_weights[q] - level, -lean, 0.0
        for s in range(len(won)):
            if games[s] > 0:
                x = d + offsets[s] + at
                e = np.exp(-abs(x))
                p = (1.0 if x >= 0 else e) / (1 + e)
                total += won[s] * x - games[s] * (max(x, 0.0) + np.log1p(e))
                rest += won[s] - games[s] * p
                info += games[s] * p * (1 - p)
        w = np.exp(total)
        mass += w
        first += w * rest
        second += w * rest * rest
        information += w * info
    first /= mass
    information /= mass
    curvature = information - second / mass + first * first
    # log-concave, so the curvature is positive; the bound is for rounding
    curvature = max(curvature, 1e-3 * information / (1 + t2 * information))
    return level + np.log(mass * scale / tau), lean + first, curvature, c


@compiled(
    "void(f8[:,::1], f8[:,::1], f8[::1], f8[:,::1], f8[::1], f8[::1], f8[::1], "
    "f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1])"
)
def integrate_pairs(  # type: ignore[no-untyped-def]
    won, games, offsets, d, tau, nodes, log_weights, value, slope, curvature, mode
):
    """Integrate the likelihood over c for every grid point and pair; ``mode`` is read and written."""
    for g in range(d.shape[0]):
        for k in range(d.shape[1]):
            value[g, k], slope[g, k], curvature[g, k], mode[g, k] = integrate_one(
                won[k], games[k], offsets, d[g, k], tau[g], nodes, log_weights, mode[g, k]
            )


@compiled(
    "void(f8[:,::1], f8[:,::1], f8[::1], i8[::1], i8[::1], i8[::1], i8[::1], f8[::1], f8[::1], "
    "i8[::1], f8[::1], f8[::1], u8[::1], f8[::1], i8, f8, f8, f8, f8[:,::1])"
)
def refine_ratings(  # type: ignore[no-untyped-def]
    won,
    games,
    offsets,
    first,
    second,
    start,
    pair,
    nodes,
    log_weights,
    agents,
    sigma,
    tau,
    seeds,
    width,
    sweeps,
    scale,
    low,
    high,
    r,
):
    """Move the ratings of some agents, and sigma, by Metropolis steps that leave the posterior given tau unchanged."""
    n = r.shape[1]
    for s in range(len(r)):
        count = np.uint64(0)
        key = mixed(seeds[s], np.uint64(0xA5A5))
        for _ in range(sweeps):
            for at in range(len(agents)):
                a = agents[at]
                bits = mixed(key, count)
                count += np.uint64(1)
                move = width[at] * normal_of(bits)
                gain = (r[s, a] ** 2 - (r[s, a] + move) ** 2) / (2 * sigma[s] * sigma[s])
                for q in range(start[a], start[a + 1]):
                    k = pair[q]
                    d = r[s, first[k]] - r[s, second[k]]
                    moved = d + move if first[k] == a else d - move
                    gain += integrate_one(won[k], games[k], offsets, moved, tau[s], nodes, log_weights, 0.0)[0]
                    gain -= integrate_one(won[k], games[k], offsets, d, tau[s], nodes, log_weights, 0.0)[0]
                if np.log(uniform_of(mixed(bits, np.uint64(3)))) < gain:
                    r[s, a] += move
            square = 0.0
            for a in range(n):
                square += r[s, a] * r[s, a]
            for _ in range(2 if len(agents) > 0 else 0):
                bits = mixed(key, count)
                count += np.uint64(1)
                new = sigma[s] * np.exp(0.4 * normal_of(bits))
                gain = (1 - n) * np.log(new / sigma[s]) - square * (1 / new**2 - 1 / sigma[s] ** 2) / 2
                gain -= (new**2 - sigma[s] ** 2) / (2 * scale * scale)
                if low < new < high and np.log(uniform_of(mixed(bits, np.uint64(3)))) < gain:
                    sigma[s] = new


@compiled("f8(f8[::1], f8[::1], f8[::1], f8, f8, u8)")
def draw_one(won, games, offsets, d, tau, key):  # type: ignore[no-untyped-def]
    """Draw c of one pair given the difference of ratings, exactly, by rejection.

    The log-likelihood ``L`` is concave, so ``L(c) <= L(m) + L'(m) (c - m)`` for any ``m``, and the prior times this
    bound is ``N(tau^2 L'(m), tau^2)``. A proposal is accepted with ``exp(L(c) - L(m) - L'(m) (c - m))``, which is
    likely for ``m`` near the mode.
    """
    t2 = tau * tau
    m, D, slope, level = 0.0, 0.0, 0.0, 0.0
    for _ in range(100):
        slope, D, level = 0.0, 0.0, 0.0
        for s in range(len(won)):
            if games[s] > 0:
                x = d + offsets[s] + m
                e = np.exp(-abs(x))
                p = (1.0 if x >= 0 else e) / (1 + e)
                slope += won[s] - games[s] * p
                D += games[s] * p * (1 - p)
                level += won[s] * x - games[s] * (max(x, 0.0) + np.log1p(e))
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
        log_likelihood = 0.0
        for s in range(len(won)):
            if games[s] > 0:
                x = d + offsets[s] + c
                log_likelihood += won[s] * x - games[s] * (max(x, 0.0) + np.log1p(np.exp(-abs(x))))
        if np.log(uniform_of(mixed(bits, np.uint64(3)))) <= log_likelihood - level - slope * (c - m):
            return c
        trial += np.uint64(1)


@compiled("void(f8[:,::1], f8[:,::1], f8[::1], i8[::1], i8[::1], f8[::1], u8[::1], f8[:,:,::1])")
def draw_all_pairs(won, games, offsets, first, second, tau, seeds, A):  # type: ignore[no-untyped-def]
    """Add the cyclic parts of all pairs to the log-odds ``A`` of every draw."""
    n = A.shape[1]
    met = np.zeros((n, n), dtype=np.bool_)
    for k in range(len(first)):
        met[first[k], second[k]] = True
    for s in range(len(A)):
        for k in range(len(first)):
            i, j = first[k], second[k]
            d = A[s, i, j]
            A[s, i, j] = d + draw_one(won[k], games[k], offsets, d, tau[s], pair_key(seeds[s], i, j))
            A[s, j, i] = -A[s, i, j]
        for i in range(n):
            A[s, i, i] = 0.0
            for j in range(i + 1, n):
                if not met[i, j]:
                    A[s, i, j] += tau[s] * normal_of(pair_key(seeds[s], i, j))
                    A[s, j, i] = -A[s, i, j]


@compiled(
    "void(f8[:,::1], f8[:,::1], f8[::1], i8[::1], i8[::1], i8[::1], i8[::1], f8[::1], f8, u8, i8[::1], f8[:,::1])"
)
def draw_columns(won, games, offsets, first, second, start, pair, r, tau, seed, agents, X):  # type: ignore[no-untyped-def]
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
            x = d + draw_one(won[q], games[q], offsets, d, tau, pair_key(seed, i, j))
            X[k, i + j - a] = x if j == a else -x


@compiled("void(u8, i8[::1], f8[:,::1])")
def draw_signed_normals(seed, agents, noise):  # type: ignore[no-untyped-def]
    """Draw a standard normal number for everybody against some agents; the two sides of a pair have opposite signs."""
    for i in range(len(noise)):
        for k in range(len(agents)):
            z = 0.0 if i == agents[k] else normal_of(pair_key(seed, i, agents[k]))
            noise[i, k] = z if i < agents[k] else -z
