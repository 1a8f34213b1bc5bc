"""Soft Condorcet Optimization: ratings that minimise a smooth count of the votes they contradict.

Symbols: ``r`` ratings in [0, 100], ``B = W + D / 2`` votes for the row agent, ``tau`` temperature.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from nashboard._types import Floats
from nashboard.errors import InputError
from nashboard.ranking.method import Outcome
from nashboard.ranking.pairwise import Pairwise

LOW, HIGH = 0.0, 100.0


def soft_condorcet(data: Pairwise, temperature: float = 1.0) -> Outcome:
    """Minimise ``sum of B[a, b] / (1 + e^((r_a - r_b) / tau))`` over ratings in [0, 100] (Lanctot et al. 2024).

    As ``tau`` goes to 0 this counts contradicted votes, as Kemeny-Young does. The loss has several minima: the search
    starts from equal ratings and from the orders of four other methods, at falling temperatures, and keeps the best.
    """
    if not temperature > 0:
        raise InputError(f"the temperature is {temperature:g}: it must be positive")
    B = np.array(data.points)
    np.fill_diagonal(B, 0.0)
    total = float(B.sum()) or 1.0
    bounds = [(LOW, HIGH)] * data.size
    found = []
    for start in starts(data):
        r = start
        for tau in (*falling(temperature), temperature):
            done = minimize(
                loss, r, (B / total, tau), "L-BFGS-B", jac=True, bounds=bounds,
                options={"maxiter": 3000, "maxfun": 6000, "ftol": 1e-15, "gtol": 1e-10},
            )  # fmt: skip
            r = np.asarray(done.x)
        found.append((float(done.fun), r))
    best = min(value for value, _ in found)
    r = next(r for value, r in found if value <= best + 1e-9)  # the first start that does as well as any
    _, gradient = loss(r, B / total, temperature)
    projected = float(np.abs(np.clip(r - gradient, LOW, HIGH) - r).max())
    return Outcome(scores=r, certificate={"contradicted_votes": best * total, "gradient_norm": projected})


def falling(temperature: float) -> tuple[float, ...]:
    """Return the temperatures before the last: the loss is nearly convex while they are high."""
    return tuple(tau for tau in (50.0, 10.0) if tau > 2 * temperature)


def starts(data: Pairwise) -> list[Floats]:
    """Return where to start, none of which depends on the order of agents."""
    from nashboard.ranking.tournaments import copeland, ranked_pairs, schulze

    middle = np.full(data.size, (LOW + HIGH) / 2)
    scores = [data.margins.sum(axis=1), *(method(data).scores for method in (copeland, schulze, ranked_pairs))]
    spans = [LOW + (HIGH - LOW) * (one - one.min()) / (np.ptp(one) or 1.0) for one in scores]
    return [middle, *spans]


def loss(r: Floats, B: Floats, tau: float) -> tuple[float, Floats]:
    """Return the loss and its gradient."""
    wrong = expit((r - r[:, None]) / tau)
    slope = B * wrong * (1 - wrong) / tau
    return float((B * wrong).sum()), slope.sum(axis=0) - slope.sum(axis=1)
