"""The search for the smallest attack, and how far it proves that there is no smaller one.

Under the uniform average entering ``c[k]`` clones of k puts t before u when

    sum_k (1 + c[k]) (M[t, k] - M[u, k]) > 0

so the smallest attack is an integer program, solved to optimality. Where one kind of clone is enough, the least
count is the first whole number of an interval.

Elo is the same problem where every two agents have played equally often, as on every complete table of scores: the
maximum of the likelihood has ``sum_k m_k (P[i, k] - s(r_i - r_k)) = 0`` for every i, with ``P[i, i] = 1/2``, and the
second part is the same rising function of ``r_i`` for everybody; so the order by Elo is the order by points,
``P m``, and the program with ``P`` for ``M`` is exact. Elsewhere Elo is fitted anew for every attack that is tried: for
each promising entry the counts 1, 2, 4, ... and then bisection, which finds the smallest count where an attack that
works goes on working with more copies; then every mixture of fewer clones, where these are few enough to try them all.
"""

from collections.abc import Callable
from functools import partial
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.evaluation.contest import Contest
from nashboard.evaluation.standing import Standing

CANDIDATES = 16  # entries that are tried as clones against Elo, the most promising first
FEWER_CANDIDATES, MANY = 5, 60  # so many where there are more entries than this
MIXTURES = 150  # fits of Elo that are spent on ruling out every smaller attack
NODES = 1000  # of the integer program's search; one is usual
OPTIMAL, INFEASIBLE = 0, 2  # what the solver reports
STRICTLY = 1e-7  # a lead counts from this share of the largest gain
CLEARLY = 1e-5  # a lead that is larger than the solver's tolerance


def leads(standing: Standing, t: int) -> bool:
    """Say whether t is alone in first place."""
    return bool(standing.ranks[t] == 1 and (standing.ranks == 1).sum() == 1)


def smallest_uniform(M: Floats, t: int, most: int) -> tuple[Ints | None, bool]:
    """Return the copies of the smallest attack on the uniform average (None: there is none), and whether it is proved.

    It is proved but for programs that are harder than any seen so far, whose search is cut off, and for leads so close
    to a tie that the solver cannot tell.
    """
    rivals = np.delete(np.arange(len(M)), t)
    L = (M[t] - M[rivals]) / (float(np.abs(M).max()) or 1.0)
    need = -L.sum(axis=1)
    single = smallest_single(L, need + STRICTLY, most)
    best, least = single, 0  # the smallest attack so far, and how many clones any attack has at least
    for lead in (STRICTLY, CLEARLY):
        ceiling = most if best is None else int(best.sum())
        copies, proved = fewest(L, need + lead, ceiling)
        if lead == STRICTLY:
            if not proved:
                return best, False
            if copies is None:
                return best, True
            least = int(copies.sum())
        if copies is not None and (L @ copies >= need + STRICTLY / 2).all():
            best = copies if best is None or copies.sum() < best.sum() else best
        if best is not None and int(best.sum()) <= max(least, 1):
            return best, True
    return best, False


def fewest(L: Floats, need: Floats, ceiling: int) -> tuple[Ints | None, bool]:
    """Return the fewest copies with ``L copies >= need``, within the solver's tolerance, and whether that is proved."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    ones = np.ones(L.shape[1])
    solved = milp(
        ones,
        constraints=[LinearConstraint(L, lb=need), LinearConstraint(ones, ub=ceiling)],
        bounds=Bounds(0, ceiling),
        integrality=ones.astype(np.int64),
        options={"node_limit": NODES},
    )
    copies = None if solved.x is None else np.rint(solved.x).astype(np.intp)
    return copies, solved.status in (OPTIMAL, INFEASIBLE)


def smallest_single(L: Floats, need: Floats, most: int) -> Ints | None:
    """Return the smallest attack that clones one entry: for entry k the counts ``c`` with ``c L[:, k] >= need``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = need[:, None] / L
    low = np.max(np.where(L > 0, ratio, -np.inf), axis=0, initial=0.0)
    high = np.min(np.where(L < 0, ratio, np.inf), axis=0, initial=np.inf)
    stuck = ((L == 0) & (need[:, None] > 0)).any(axis=0)
    counts = np.maximum(np.ceil(low - 1e-12), 0.0)
    counts[stuck | (counts > high) | (counts > most)] = np.inf
    k = int(np.argmin(counts))
    if not np.isfinite(counts[k]):
        return None
    copies = np.zeros(L.shape[1], dtype=np.intp)
    copies[k] = int(counts[k])
    return copies


def smallest_elo(game: Contest, t: int, most: int) -> tuple[Ints | None, bool]:
    """Return the copies of the smallest attack on Elo that was found (None: none was), and whether it is proved."""
    P = points(game)
    if P is not None:
        copies, proved = smallest_uniform(P, t, most)
        if copies is None or leads(game.exact("elo", copies), t):
            return copies, proved
    single = smallest_elo_of_one_entry(game, t, most)
    limit = most if single is None else int(single.sum()) - 1
    n = len(game.entries)
    if comb(n + limit, limit) - 1 > MIXTURES:  # so many mixtures of 1 to limit clones
        return single, single is not None and limit == 0
    for total in range(1, limit + 1):
        for chosen in combinations_with_replacement(range(n), total):
            copies = np.bincount(chosen, minlength=n)
            if leads(game.exact("elo", copies), t):
                return copies, True
    return single, True


def points(game: Contest) -> Floats | None:
    """Return what each on the board wins from each entry, where Elo's order is the order by points; else None."""
    if not isinstance(game.data, Matches):
        S = game.data.values  # of scores in comparable units higher is better
        above = (S[:, None, :] > S[None, :, :]).sum(axis=1)
        level = (S[:, None, :] == S[None, :, :]).sum(axis=1)
        return np.asarray(above + level / 2)
    matches = game.data
    if matches.coverage < 1 or (matches.games != matches.games[0]).any():
        return None
    return np.where(np.eye(len(matches.agents), dtype=np.bool_), 0.5, matches.win_rates())


def smallest_elo_of_one_entry(game: Contest, t: int, most: int) -> Ints | None:
    """Return the smallest attack on Elo that clones one entry, as far as it was found."""
    n = len(game.entries)

    def works(k: int, c: int) -> bool:
        copies = np.zeros(n, dtype=np.intp)
        copies[k] = c
        return leads(game.exact("elo", copies), t)

    best: tuple[int, int] | None = None
    order = promising(game, t)
    for k in order[: CANDIDATES if n <= MANY else FEWER_CANDIDATES]:
        limit = most if best is None else best[1] - 1
        c = first_count(partial(works, int(k)), limit)
        if c is not None:
            best = (int(k), c)
    if best is None:
        return None
    copies = np.zeros(n, dtype=np.intp)
    copies[best[0]] = best[1]
    return copies


def promising(game: Contest, t: int) -> Ints:
    """Order the entries by how much better the target does against them than its best rival."""
    standing = game.exact("elo", np.zeros(len(game.entries), dtype=np.intp)).scores.copy()
    standing[t] = -np.inf
    rival = int(np.argmax(standing))
    return np.argsort(game.M[rival] - game.M[t], kind="stable")


def first_count(works: Callable[[int], bool], limit: int) -> int | None:
    """Return the smallest count up to the limit that works: 1, 2, 4, ... until one does, then bisection."""
    if limit < 1:
        return None
    low, c = 0, 1
    while not works(c):
        if c == limit:
            return None
        low, c = c, min(2 * c, limit)
    while c - low > 1:
        middle = (low + c) // 2
        low, c = (low, middle) if works(middle) else (middle, c)
    return c
