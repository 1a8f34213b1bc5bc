"""Soft Condorcet Optimization: ratings that contradict few votes."""

import numpy as np

from nashboard._types import Floats, Ints, rank_descending
from nashboard.errors import InputError
from nashboard.ranking.counterexamples import LUCKY_NEWCOMER, WINS_1, WINS_4, Counterexample, crowded_ladder
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.methods.copeland import copeland
from nashboard.ranking.methods.kemeny import invert_order, local_search
from nashboard.ranking.methods.ranked_pairs import ranked_pairs
from nashboard.ranking.methods.schulze import schulze
from nashboard.ranking.orders import disagreement
from nashboard.ranking.pairwise import Pairwise, group_equal_rows, order_without_names

LOW, HIGH = 0.0, 100.0  # ratings
DIRECT = 200  # agents up to which the search starts from unchanged orders of other methods, and moves ties apart
SAME, TIED = 1e-9, 1e-6  # losses, as shares of all votes, and ratings that differ by less are equal
ROUNDS, MOST = 3, 30  # of moving ties apart, and solutions that are kept in each


@register(
    Counterexample("clones", WINS_1, 0),
    Counterexample("condorcet", crowded_ladder(60), 0),
    Counterexample("irrelevant", WINS_1, 2),
    Counterexample("monotone", WINS_4, 2, against=3, more=1, added=True),  # only through ties
    LUCKY_NEWCOMER,
    title="Soft Condorcet Optimization",
    unit="rating in [0, 100]",
    counts_games=True,
    slow=True,
    complexity="n^2 per step",
    reference="Lanctot et al. 2024, Soft Condorcet Optimization for ranking of general agents",
)
def soft_condorcet(data: Pairwise, temperature: float = 1.0) -> Outcome:
    """Minimise ``sum of B[a, b] / (1 + e^((r_a - r_b) / tau))`` over ratings in [0, 100] (Lanctot et al. 2024).

    As ``tau`` goes to 0 this counts contradicted votes, as Kemeny-Young does. The loss has several minima: the search
    starts from equal ratings, at falling temperatures, from the orders of four other methods, and from these after a
    local search; it keeps the best. Up to 200 agents that tie, at a saddle, are then moved apart. If several orders are
    equally good, ratings are their means, and agents with equal results have equal ratings.
    """
    from scipy.optimize import minimize  # takes a fifth of a second to import

    if not 0 < temperature < np.inf:
        raise InputError(f"the temperature is {temperature:g}: it must be positive and finite")
    order, classes = order_without_names(data.points - data.points.T)
    data = data.take(order)  # names must not choose between equal minima through rounding
    B = np.array(data.points)
    np.fill_diagonal(B, 0.0)
    total = float(B.sum()) or 1.0
    C, against = (B - B.T) / total, float(np.triu(B.T, 1).sum()) / total
    bounds = [(LOW, HIGH)] * data.size

    def descend(r: Floats, tau: float) -> tuple[float, Floats]:
        solution = minimize(
            loss, r, (C, against, tau), "L-BFGS-B", jac=True, bounds=bounds,
            options={"maxiter": 3000, "maxfun": 6000, "ftol": 1e-15, "gtol": 1e-10},
        )  # fmt: skip
        return float(solution.fun), np.asarray(solution.x)

    solutions = []
    falling = tuple(tau for tau in (50.0, 10.0) if tau > 2 * temperature)  # the loss is nearly convex at first
    begin = starting_ratings(data)
    at_once = [*begin[1:], *cheap_orders(C, begin[1:])] if data.size <= DIRECT else cheap_orders(C, begin[1:])
    ways = [(begin[0], (*falling, temperature)), *((r, (temperature,)) for r in at_once)]
    for r, way in ways:
        for tau in way:
            value, r = descend(r, tau)
        solutions.append((value, r))
    best = min(value for value, _ in solutions)
    minima = select_orders(solutions, best + SAME)
    _, alike = group_equal_rows(C)
    for _ in range(ROUNDS if data.size <= DIRECT else 0):
        tried = [descend(r, temperature) for one in minima for r in move_apart(one, alike, temperature)]
        if not tried or (lower := min(value for value, _ in tried)) > best - SAME:
            break
        best = lower
        minima = select_orders(tried, best + SAME)
    _, gradient = loss(minima[0], C, against, temperature)
    projected = float(np.abs(np.clip(minima[0] - gradient, LOW, HIGH) - minima[0]).max())
    ratings = np.empty(data.size)
    ratings[order] = np.mean(minima, axis=0)
    scores = (np.bincount(classes, ratings) / np.bincount(classes))[classes]
    several = f"{len(minima)} " if len(minima) > 1 else ""
    return Outcome(
        scores=scores,
        certificate={"contradicted_votes": best * total, "gradient_norm": projected},
        notes=(f"ratings are means of {several}solutions that are as good as each other",)
        if several or np.abs(scores - ratings).max() > TIED
        else (),
    )


def select_orders(solutions: list[tuple[float, Floats]], most: float) -> list[Floats]:
    """Return ratings of at most this loss, one for each order of the agents."""
    orders = {rank_descending(r, TIED).tobytes(): r for value, r in reversed(solutions) if value <= most}
    return list(orders.values())[::-1][:MOST]


def move_apart(r: Floats, alike: Ints, step: float) -> list[Floats]:
    """Return ratings in which one agent that ties with another is moved up, or down, with its exact copies."""
    moved = []
    for group in np.unique(alike):
        own = alike == group
        if (np.abs(r[~own] - r[own][0]) < TIED).any():
            moved += [np.clip(r + sign * step * own, LOW, HIGH) for sign in (1, -1)]
    return moved


def starting_ratings(data: Pairwise) -> list[Floats]:
    """Return starting points, none of which depends on the order of agents."""
    middle = np.full(data.size, (LOW + HIGH) / 2)
    scores = [data.margins.sum(axis=1), *(method(data).scores for method in (copeland, schulze, ranked_pairs))]
    spans = [LOW + (HIGH - LOW) * (one - one.min()) / (np.ptp(one) or 1.0) for one in scores]
    return [middle, *spans]


def cheap_orders(w: Floats, begin: list[Floats]) -> list[Floats]:
    """Return ratings in the orders that contradict the fewest votes among the results of local searches."""
    orders = [local_search(w, np.argsort(-r, kind="stable")) for r in begin]
    costs = [disagreement(w, order) for order in orders]
    places = {invert_order(order).tobytes(): invert_order(order) for order, cost in zip(orders, costs, strict=True)
              if cost <= min(costs) + SAME}  # fmt: skip
    return [HIGH - (HIGH - LOW) * place / max(1, len(w) - 1) for place in places.values()]


def loss(r: Floats, C: Floats, against: float, tau: float) -> tuple[float, Floats]:
    """Return the loss and its gradient from ``C = B - B'`` and the votes for the second agents of the pairs i < j."""
    from nashboard.ranking.kernels import soft_loss

    gradient = np.empty(r.size)
    return against + soft_loss(r, C, tau, gradient), gradient
