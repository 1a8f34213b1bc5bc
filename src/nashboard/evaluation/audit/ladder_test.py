"""Are ratings enough? A parametric bootstrap from the fitted ladder.

The statistic is the score of the hierarchical model for ``tau^2`` at ``tau = 0``: how much more the points of pairs
scatter around what ratings predict than games do,

    T = sum over pairs of (y - n p)^2 - phi n p (1 - p),

with ``phi`` the dispersion of results (draws and clusters). Its distribution is simulated: leagues are played by the
fitted ratings, rated again, and compared. A chi-square approximation would be wrong for pairs with few games, which
are the rule in public logs.
"""

import numpy as np

from nashboard._compiled import compiled
from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.ratings.hierarchical import PairCounts, count_pairs, fit_hierarchical, signed_sums
from nashboard.ratings.hierarchical_systems import System, system_for

LEAGUES = 400
STEPS = 4  # of Newton's method with the Hessian of the fitted league, for every simulated league
ENOUGH = 10  # simulated leagues beyond the observed one from which their share is the answer; else a fitted tail


def ladder_p_value(matches: Matches, *, leagues: int = LEAGUES, rng: np.random.Generator | int = 0) -> float:
    """Return the probability that a ladder leaves as much unexplained as was observed.

    Examples
    --------
    >>> import nashboard as nb
    >>> cycle = nb.Matches.from_counts([[0, 9, 1], [1, 0, 9], [9, 1, 0]])
    >>> ladder = nb.Matches.from_counts([[0, 7, 9], [3, 0, 7], [1, 3, 0]])
    >>> bool(ladder_p_value(cycle) < 0.001 < 0.2 < ladder_p_value(ladder))
    True
    """
    rng = np.random.default_rng(rng)
    fit = fit_hierarchical(matches)
    counts = count_pairs(matches)
    precision = 1 / fit.sigma**2
    system = system_for(counts.n, counts.i, counts.j)
    n, y = counts.games.sum(axis=1), counts.won.sum(axis=1)
    r = rate_again(counts, system, fit.ratings[None], y[None], n, precision, refresh=True)
    p = expected_shares(counts, r)
    observed = float(excess(y[None], n, p)[0])
    # counts are already divided by the dispersion: binomial with the effective number of games, at least one
    trials = np.maximum(np.rint(n), 1.0)
    simulated = rng.binomial(trials.astype(np.int64), p[0], size=(leagues, len(n)))
    played = n * p[0] + (simulated - trials * p[0]) * np.sqrt(n / trials)
    again = rate_again(counts, system, r, played, n, precision)
    T = excess(played, n, expected_shares(counts, again))
    beyond = int((observed <= T).sum())
    if beyond >= ENOUGH:
        return (1 + beyond) / (1 + leagues)
    return min(tail_of_gamma(T, observed), (1 + beyond) / (1 + leagues))


def rate_again(
    counts: PairCounts, system: System, r: Floats, y: Floats, n: Floats, precision: float, *, refresh: bool = False
) -> Floats:
    """Return ratings of leagues with points ``y`` (leagues, pairs), by Newton's method from ``r`` (1, n).

    All leagues share the Hessian at ``r``, unless it is to be refreshed.
    """
    found = np.repeat(r, len(y), axis=0)
    W = n * (p := expected_shares(counts, r)[0]) * (1 - p)
    for _ in range(20 if refresh else STEPS):
        shares = expected_shares(counts, found)
        gradient = signed_sums(counts, y - n * shares) - precision * found
        W = n * shares[0] * (1 - shares[0]) if refresh else W
        step = system.solve_many(W, precision, gradient.T).T
        most = np.abs(step).max(axis=1, keepdims=True)
        found = found + step * np.log1p(most) / np.maximum(most, 1e-300)
        if most.max() < 1e-6:
            break
    return found


def expected_shares(counts: PairCounts, r: Floats) -> Floats:
    """Return the share of points that ratings predict for each pair."""
    return np.asarray(1 / (1 + np.exp(r[:, counts.j] - r[:, counts.i])))


def excess(y: Floats, n: Floats, p: Floats) -> Floats:
    """Return the scatter of points beyond that of games, summed over pairs."""
    return np.asarray(((y - n * p) ** 2 - n * p * (1 - p)).sum(axis=1))


def tail_of_gamma(T: Floats, observed: float) -> float:
    """Return the tail beyond ``observed`` of a shifted gamma distribution with the moments of the simulated values."""
    from scipy.special import gammaincc

    centred = T - T.mean()
    spread = float(centred.std())
    if not spread > 0:
        return 1.0 if observed <= float(T.mean()) else 0.0
    skewness = max(float((centred**3).mean()) / spread**3, 0.1)
    shape = 4 / skewness**2
    scaled = shape + np.sqrt(shape) * (observed - float(T.mean())) / spread
    return float(gammaincc(shape, max(float(scaled), 0.0)))


def strongest_triples(n: int, pairs: Ints, values: Floats, variances: Floats, most: int) -> tuple[Ints, Floats]:
    """Return the closed cycles with the largest z, ``(k, 3)`` agents in the order of play, and their z.

    ``values`` and ``variances`` are log-odds of the pairs that met. A cycle's z is its curl over its standard error, so
    that a triple with many games comes before one whose few games were one-sided.
    """
    A, V = np.full((n, n), np.nan), np.full((n, n), np.nan)
    i, j = pairs.T
    A[i, j], A[j, i] = values, -values
    V[i, j] = V[j, i] = variances
    found, z = np.zeros((most, 3), dtype=np.int64), np.zeros(most)
    find_triples(A, V, found, z)
    kept = z > 0
    return found[kept], z[kept]


@compiled("void(f8[:,::1], f8[:,::1], i8[:,::1], f8[::1])")
def find_triples(A, V, found, z):  # type: ignore[no-untyped-def]
    """Keep the closed cycles with the largest z, in descending order."""
    n, most = len(A), len(z)
    for a in range(n):
        for b in range(a + 1, n):
            if A[a, b] == 0.0 or np.isnan(A[a, b]):
                continue
            forward = A[a, b] > 0
            for c in range(b + 1, n):
                ok = A[b, c] > 0 and A[c, a] > 0 if forward else A[b, c] < 0 and A[c, a] < 0
                if not ok:
                    continue
                score = abs(A[a, b] + A[b, c] + A[c, a]) / np.sqrt(V[a, b] + V[b, c] + V[c, a])
                if not score > z[most - 1]:
                    continue
                k = most - 1
                while k > 0 and score > z[k - 1]:
                    z[k] = z[k - 1]
                    found[k] = found[k - 1]
                    k -= 1
                z[k] = score
                found[k, 0] = a
                found[k, 1] = b if forward else c
                found[k, 2] = c if forward else b
