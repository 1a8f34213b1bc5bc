"""How alike two agents (or tasks) are, given the noise: a distance, and two tests of opposite direction.

For two lines of data that were measured at the same places j, with differences ``d[j]`` of variance ``v[j]``,

    T = sum d[j]^2 / v[j]

is chi-square with K degrees of freedom where the two are the same, and noncentral chi-square where they differ.

- *Told apart*: the chance of so large a T if they are the same, or of so large a mean difference, whichever is
  smaller, doubled for having looked twice. A small one says that they differ. The mean alone has one degree of
  freedom, and sees a small lead that T loses among many opponents.
- *Shown alike*: the chance of so small a T if they differ by the margin (root mean square, weighted by precision).
  A small one says that they differ by less. Without it "not told apart" may only mean that data are thin.

The second chance is divided by the chance of so small a T if the two are the same (the rule "CLs"): data that
hardly tell a copy from a stranger, or that scatter less than they should, then show nothing. The division only makes
it larger, so the stated error rate holds.

For matches j runs over common opponents; games of the two with each other, which should be even, are one more place
at which they can be told apart. The difference of their shares of points is measured in standard deviations of one
game, pooled over the two, and ``v = 1/games_a + 1/games_b``, corrected so that every term has mean 1 exactly given all
results (the two agents then differ by a random split of the same games). A margin is given in win rate at even
odds: 0.1 is a fifth of a standard deviation. For scores j runs over tasks (or agents), and v comes from the
standard errors.

References: Wellek 2010, Testing statistical hypotheses of equivalence and noninferiority; Read 2002, Presentation of
search results: the CLs technique.
"""

from dataclasses import dataclass

import numpy as np

from nashboard._types import Bools, Floats
from nashboard.data.matches import Matches

CLEARLY_DIFFERENT = 1e-6  # below it nobody asks whether two might be alike: p_apart is set to 1, which is safe
EVEN = 0.5  # the standard deviation of one game at even odds


@dataclass(frozen=True, kw_only=True, eq=False)
class Likeness:
    """All pairs compared: ``(n, n)`` each, symmetric, the diagonal meaningless.

    Parameters
    ----------
    distance
        Estimated root mean square difference, noise taken off; in win rate at even odds, or in score.
    observed
        The same with the noise left in.
    p_same
        Chance of so large a difference if the two are the same; 1 where nothing can be compared.
    p_apart
        Chance of so small a difference if the two differ by the margin, relative to that if they are the same;
        1 where nothing can be compared.
    places
        At how many places (opponents, tasks or agents) the two were compared.
    """

    distance: Floats
    observed: Floats
    p_same: Floats
    p_apart: Floats
    places: Floats


def judged(
    T: Floats,
    K: Floats,
    information: Floats,
    mean: Floats,
    margin: float,
    meetings: tuple[Floats, Floats] | None = None,
) -> Likeness:
    """Turn statistics into distances and the two tests.

    ``information`` is the sum of ``1 / v``, ``mean`` the squared mean difference over its variance.

    ``meetings`` are a statistic and its degrees of freedom that can tell two apart, but not show them alike: who
    is even with another need not be the same.
    """
    from scipy.special import chdtr, chdtrc, chndtr  # scipy.stats takes half a second to import

    some = K > 0
    k = np.where(some, K, 1.0)
    info = np.where(some, information, 1.0)
    T_all, K_all = (T, K) if meetings is None else (T + meetings[0], K + meetings[1])
    p_same = np.where(K_all > 0, chdtrc(np.maximum(K_all, 1.0), T_all), 1.0)
    p_same = np.minimum(2 * np.minimum(p_same, np.where(some, chdtrc(1, mean), 1.0)), 1.0)
    far = np.maximum(margin**2 * info, 1e-300)
    p_apart = np.ones_like(T)
    a, b = np.nonzero(some & (p_same > CLEARLY_DIFFERENT))
    if_same = chdtr(k[a, b], T[a, b])
    clear = if_same > 1e-12
    ratio = chndtr(T[a, b], k[a, b], far[a, b]) / np.where(clear, if_same, 1.0)
    p_apart[a, b] = np.where(clear, ratio, np.exp(-far[a, b] / 2))  # the limit of the ratio for T = 0
    return Likeness(
        distance=np.where(some, np.sqrt(np.maximum(T - K, 0.0) / info), np.nan),
        observed=np.where(some, np.sqrt(T / info), np.nan),
        p_same=p_same,
        p_apart=np.nan_to_num(np.clip(p_apart, 0.0, 1.0), nan=1.0),
        places=K,
    )


def likeness_of_agents(matches: Matches, margin: float) -> Likeness:
    """Compare the agents of matches by their results against common opponents and each other."""
    n = len(matches.agents)
    N, X, Q = np.zeros((3, n, n))  # games, points, sums of squared points of the row
    i, j = matches.pairs.T
    N[i, j] = N[j, i] = matches.games
    X[i, j], X[j, i] = matches.wins + matches.draws / 2, matches.losses + matches.draws / 2
    Q[i, j], Q[j, i] = matches.wins + matches.draws / 4, matches.losses + matches.draws / 4
    T, K, information, lead = np.zeros((4, n, n))
    for opponent in range(n):
        root, weight = common_opponent(N[:, opponent], X[:, opponent], Q[:, opponent])
        weight[opponent] = weight[:, opponent] = 0.0
        T += weight * root**2
        K += weight > 0
        information += weight
        lead += weight * root
    games = np.where(N > 0, N, 1.0)
    spread = Q / games - X / games + 0.25  # mean of (points - 1/2)^2
    played = (N > 0) & (spread > 1e-12)
    even = np.where(played, N * (X / games - 0.5) ** 2 / np.where(played, spread, 1.0), 0.0)
    mean = lead**2 / np.where(information > 0, information, 1.0)
    return judged(T, K, information / EVEN**2, mean, margin, (even, played.astype(np.float64)))


def common_opponent(N: Floats, X: Floats, Q: Floats) -> tuple[Floats, Floats]:
    """Return each pair's difference against one opponent in standard deviations of a game, and its information."""
    both = (N[:, None] > 0) & (N > 0)
    total = np.where(both, N[:, None] + N, 1.0)
    mean = (X[:, None] + X) / total
    spread = (Q[:, None] + Q) / total - mean**2  # of one game, pooled
    useful = both & (spread > 1e-12) & (total > 1)
    weight = np.where(useful, N[:, None] * N / total, 0.0)
    share = X / np.where(N > 0, N, 1.0)
    exact = (total - 1) / total  # a split of the games at hand: finite population
    return (share[:, None] - share) * np.sqrt(exact / np.where(useful, spread, 1.0)), weight


def likeness_of_rows(S: Floats, E: Floats, margin: float, *, aligned: bool = False) -> Likeness:
    """Compare rows of scores whose standard errors ``E`` are known (NaN where not: such cells are not compared).

    ``aligned`` is for tasks, whose zero and unit come from noisy extremes: what an offset and a factor common to all
    agents can explain of a difference (least squares on 1 and the mean of the two rows) is taken out first, at the
    price of two degrees of freedom, and there is no test of the mean.
    """
    n = len(S)
    T, K, information, lead, w_m, w_mm, w_md = np.zeros((7, n, n))
    for s, e in zip(S.T, E.T, strict=True):
        v = e[:, None] ** 2 + e**2
        known = np.isfinite(v)
        w = np.where(known, 1 / np.where(known, v, 1.0), 0.0)
        d, m = s[:, None] - s, (s[:, None] + s) / 2
        T, K, information, lead = T + w * d**2, K + known, information + w, lead + w * d
        w_m, w_mm, w_md = w_m + w * m, w_mm + w * m**2, w_md + w * m * d
    some = np.where(information > 0, information, 1.0)
    if not aligned:
        return judged(T, K, information, lead**2 / some, margin)
    spread = w_mm - w_m**2 / some
    slope = w_md - w_m * lead / some
    explained = lead**2 / some + np.where(spread > 0, slope**2 / np.where(spread > 0, spread, 1.0), 0.0)
    return judged(np.maximum(T - explained, 0.0), np.maximum(K - 2, 0.0), information, np.zeros((n, n)), margin)


def distances_of_rows(S: Floats) -> Floats:
    """Return root mean square differences of rows, ``(n, n)``."""
    square = (S * S).sum(axis=1)
    gap = np.maximum(square[:, None] + square - 2 * (S @ S.T), 0.0)
    near = np.argwhere(gap <= 1e-6 * (square[:, None] + square))
    for a, b in near:  # cancellation: subtract first
        gap[a, b] = ((S[a] - S[b]) ** 2).sum()
    return np.asarray(np.sqrt(gap / S.shape[1]))


def holm(p: Floats, level: float) -> Bools:
    """Return which hypotheses are rejected by Holm's rule: P(any true one among them) is at most ``level``.

    Reference: Holm 1979, A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> import numpy as np
    >>> from nashboard.evaluation.audit.likeness import holm
    >>> holm(np.array([0.01, 0.04, 0.03]), 0.05)
    array([ True, False, False])
    """
    order = np.argsort(p, kind="stable")
    passed = p[order] <= level / np.arange(len(p), 0, -1)
    rejected = np.zeros(len(p), dtype=np.bool_)
    rejected[order] = np.logical_and.accumulate(passed) if len(p) else passed
    return rejected
