"""Methods that fit one number per agent: Elo (Bradley-Terry), mElo, HodgeRank, Newman (Davidson).

Symbols: ``r`` ratings in logits, ``nu`` the draw parameter; else as in `pairwise`.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.errors import ConvergenceError, InputError
from nashboard.ranking.method import Outcome
from nashboard.ranking.pairwise import Pairwise

PRIOR = 0.01  # drawn games against an average agent, as in `nashboard.elo`
STEPS = 200
GRADIENT = 1e-9
ROUNDING = 1000.0  # Elo points: ratings that differ by a millionth of a point are equal


def elo(data: Pairwise, prior: float = PRIOR) -> Outcome:
    """Fit Elo ratings by maximum likelihood; on a table of scores each task is a game."""
    from nashboard.ratings.elo import elo as fit

    found = fit(data.matches, prior=prior)
    return Outcome(scores=found.ratings, scale=ROUNDING, certificate={"gradient_norm": found.gradient_norm})


def melo(data: Pairwise, k: int = 1, prior: float = PRIOR) -> Outcome:
    """Fit mElo with ``k`` cyclic planes; agents are ordered by their ratings."""
    from nashboard.ratings.melo import melo as fit

    found = fit(data.matches, k=min(k, (data.size - 1) // 2), prior=prior)
    return Outcome(scores=found.ratings, scale=ROUNDING)


def hodge(data: Pairwise) -> Outcome:
    """Fit ratings by least squares on log-odds, pairs weighted by their precision; the mean payoff if none is known."""
    from nashboard.algebra.hodge import hodge as decompose
    from nashboard.data.payoffs import Payoffs

    if data.kind == "matches":
        return Outcome(scores=decompose(data.matches).ratings, unit="log-odds", scale=data.largest)
    found = decompose(Payoffs(agents=data.agents, A=data.payoffs))
    return Outcome(scores=found.ratings, unit=f"rating ({data.unit})", scale=data.largest)


def newman(data: Pairwise, prior: float = PRIOR) -> Outcome:
    """Fit Bradley-Terry with draws (Davidson's model), whose likelihood Newman's iteration maximises too.

    ``P(i beats j) = e^(x/2) / (e^(x/2) + e^(-x/2) + 2 nu)`` with ``x = r_i - r_j``, and a draw has
    ``2 nu / (...)``. Newton's method in ``r`` and ``log nu``; the log-likelihood is concave in both.
    """
    W, D = data.counts
    n, N, ties = data.size, data.games, float(D.sum()) / 2
    if prior == 0:
        require_strongly_connected(W + D, data)
    lead = (W - W.T) / 2
    theta = np.zeros(n + 1)  # ratings, then log nu
    share = ties / max(N.sum() / 2, 1e-300)
    theta[n] = np.log(max(share, 1e-9) / max(1 - share, 1e-9))
    value = davidson(theta, lead, N, ties, prior)
    gradient = np.inf
    for _ in range(STEPS):
        g, H = davidson_derivatives(theta, lead, N, ties, prior)
        if prior == 0:
            H[:n, :n] += 1 / n  # ratings have mean 0
        if ties == 0:
            g[n], H[n, n] = 0.0, 1.0  # no draws: nu = 0 for good
            H[n, :n] = H[:n, n] = 0.0
        gradient = float(np.linalg.norm(g))
        if gradient <= GRADIENT * max(1.0, float(N.sum()) ** 0.5):
            break
        step = cho_solve(cho_factor(H), g)
        size = 1.0
        while size > 1e-10:
            new = theta + size * step
            found = davidson(new, lead, N, ties, prior)
            if found >= value:
                break
            size /= 2
        if size <= 1e-10:  # the likelihood is flat to rounding
            break
        theta, value = new, found
    if gradient > 1e-6 * max(1.0, float(N.sum()) ** 0.5):
        raise ConvergenceError(f"Newton's method stopped at a gradient of {gradient:.1e}")
    r = theta[:n] - theta[:n].mean()
    return Outcome(
        scores=r * POINTS_PER_LOGIT,
        scale=ROUNDING,
        certificate={"gradient_norm": gradient, "draw_parameter": float(np.exp(theta[n])) if ties else 0.0},
    )


def davidson(theta: Floats, lead: Floats, N: Floats, ties: float, prior: float) -> float:
    """Return the log-likelihood, with ``prior`` drawn games (in Elo's sense) of each agent against rating 0."""
    r, nu = theta[:-1], np.exp(theta[-1]) if ties else 0.0
    x = r[:, None] - r
    denominator = np.log(2 * np.cosh(np.clip(x / 2, -350, 350)) + 2 * nu)
    likelihood = (lead * x - N * denominator).sum() / 2 + (ties * theta[-1] if ties else 0.0)
    return float(likelihood - prior * np.log(2 * np.cosh(np.clip(r / 2, -350, 350))).sum())


def davidson_derivatives(theta: Floats, lead: Floats, N: Floats, ties: float, prior: float) -> tuple[Floats, Floats]:
    """Return the gradient of the log-likelihood and minus its Hessian."""
    n = len(theta) - 1
    r, nu = theta[:n], np.exp(theta[n]) if ties else 0.0
    x = np.clip(r[:, None] - r, -700, 700)
    total = 2 * np.cosh(x / 2) + 2 * nu
    slope = np.sinh(x / 2) / total
    draw = 2 * nu / total
    curve = N * (np.cosh(x / 2) / 2 / total - slope**2)
    g, H = np.zeros(n + 1), np.zeros((n + 1, n + 1))
    g[:n] = (lead - N * slope).sum(axis=1) - prior * np.tanh(r / 2) / 2
    g[n] = ties - (N * draw).sum() / 2
    H[:n, :n] = np.diag(curve.sum(axis=1) + prior / 4 / np.cosh(np.clip(r / 2, -350, 350)) ** 2) - curve
    H[:n, n] = H[n, :n] = -(N * slope * draw).sum(axis=1)
    H[n, n] = (N * draw * (1 - draw)).sum() / 2
    return g, H


def require_strongly_connected(won: Floats, data: Pairwise) -> None:
    """Raise an error where some agents never lost to the others: their ratings are infinite without a prior."""
    from scipy.sparse.csgraph import connected_components

    parts, _ = connected_components(won > 0, directed=True, connection="strong")
    if parts > 1:
        raise InputError(
            f"without a prior some ratings are infinite: the {data.size:,} agents fall into {parts:,} groups of which "
            f"one never lost to another; use prior=0.01"
        )
