"""Methods that fit one number per agent: Elo, mElo, HodgeRank, Newman (Davidson), eigenvector, PageRank.

Symbols: ``B = W + D / 2`` points of the row agent against the column agent; else as in `pairwise`.
"""

import numpy as np

from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.errors import InputError
from nashboard.ranking.method import Outcome
from nashboard.ranking.pairwise import Pairwise
from nashboard.ratings.likelihood import Prior
from nashboard.ratings.rating import RatingMethod

STEPS, CHANGE = 20_000, 1e-14  # of the iteration for the eigenvector
PRIOR = 0.01  # drawn games against an average agent, as in `nashboard.elo`
ROUNDING = 1000.0  # Elo points: ratings that differ by a millionth of a point are equal


def elo(data: Pairwise, prior: float = PRIOR) -> Outcome:
    """Fit Elo ratings by maximum likelihood; on a table of scores each task is a game."""
    from nashboard.ratings.elo import elo as fit

    found = fit(data.matches, prior=prior)
    return Outcome(scores=found.ratings, scale=ROUNDING, certificate={"gradient_norm": found.gradient_norm})


def by_rating(rating: RatingMethod, data: Pairwise) -> Outcome:
    """Fit a registered rating."""
    return Outcome(scores=rating.fit(data.matches).ratings, scale=ROUNDING)


def melo(data: Pairwise, k: int = 1, prior: float = PRIOR) -> Outcome:
    """Fit mElo with ``k`` cyclic planes; agents are ordered by their ratings."""
    from nashboard.ratings.melo import melo as fit

    found = fit(data.matches, k=min(k, (data.size - 1) // 2), prior=prior, stderr=False)
    return Outcome(scores=found.ratings, scale=ROUNDING)


def hodge(data: Pairwise) -> Outcome:
    """Fit ratings by least squares on log-odds, pairs weighted by their precision; the mean payoff if none is known."""
    from nashboard.algebra.hodge import hodge as decompose
    from nashboard.data.payoffs import Payoffs

    if data.kind == "matches":
        return Outcome(scores=decompose(data.matches).ratings, unit="log-odds", scale=data.largest)
    found = decompose(Payoffs(agents=data.agents, A=data.payoffs))
    return Outcome(scores=found.ratings, unit=f"rating ({data.unit})", scale=data.largest)


def newman(data: Pairwise, prior: Prior = PRIOR) -> Outcome:
    """Fit Bradley-Terry with draws (Davidson's model), whose likelihood Newman's iteration maximises too."""
    from nashboard.ratings.elo import elo as fit
    from nashboard.ratings.likelihood import check_prior, require_finite_maximum
    from nashboard.ratings.regression import fit_draws

    matches, prior = data.matches, check_prior(prior)
    if prior == "learned" or not matches.draws.any():
        found = fit(matches, prior=prior, draws="davidson")
        scores, nu, norm = found.ratings, found.draw_strength, found.gradient_norm
    else:  # no standard errors
        if prior == 0:
            require_finite_maximum(matches)
        r, nu, norm = fit_draws(matches, prior)
        scores = (r - r.mean()) * POINTS_PER_LOGIT
    return Outcome(scores=scores, scale=ROUNDING, certificate={"gradient_norm": norm, "draw_parameter": nu / 2})


def eigenvector(data: Pairwise) -> Outcome:
    """Score agents by the leading eigenvector of the points: ``s`` proportional to ``B s``.

    A win over a high-scoring agent counts more. Scores have Euclidean norm 1.
    """
    from scipy.linalg import eig
    from scipy.sparse.csgraph import connected_components

    B = data.points
    parts, _ = connected_components(B > 0, directed=True, connection="strong")
    if parts == data.size:
        raise InputError("the results contain no cycle, so eigenvector scores do not exist: use 'pagerank' or 'elo'")
    shift = float(B.sum(axis=1).mean())  # a shift keeps eigenvectors and makes the iteration aperiodic
    s = np.full(data.size, data.size**-0.5)
    change = np.inf
    for _ in range(STEPS):
        new = B @ s + shift * s
        new /= np.linalg.norm(new)
        change, s = float(np.abs(new - s).max()), new
        if change <= CHANGE:
            break
    else:  # slow, as with a second eigenvalue close to the first
        values, vectors = eig(B)
        s = np.abs(vectors[:, np.argmax(values.real)].real)
        s /= np.linalg.norm(s)
    value = float(s @ (B @ s))
    residual = float(np.abs(B @ s - value * s).max() / (value or 1.0))
    return Outcome(scores=s, certificate={"eigenvalue": value, "residual": residual})


def pagerank(data: Pairwise, damping: float = 0.85) -> Outcome:
    """Score agents by the stationary distribution of a walk that moves from an agent to those who beat it.

    With probability ``1 - damping`` the walk jumps to any agent. One linear system.
    """
    if not 0 <= damping < 1:
        raise InputError(f"damping is {damping:g}: it must be at least 0 and less than 1")
    C = walk(data.points)
    n = data.size
    s = np.linalg.solve(np.eye(n) - damping * C.T, np.full(n, (1 - damping) / n))
    s /= s.sum()
    residual = float(np.abs(damping * (s @ C) + (1 - damping) / n - s).sum())
    return Outcome(scores=s, weights=s, certificate={"residual": residual})


def walk(B: Floats) -> Floats:
    """Return the transition matrix from an agent to those who took points from it; to anybody if nobody did."""
    lost = B.T
    total = lost.sum(axis=1, keepdims=True)
    return np.where(total > 0, lost / np.where(total > 0, total, 1.0), 1 / len(B))
