"""`plan`: which pairs (or cells of a table) to measure next, and the expected gain.

Strengths have a Gaussian posterior ``N(m, V)``. A measurement is of a quantity ``x_q`` with variance ``v_q`` and
covariance ``C_q`` with the strengths, so that one more with noise ``s`` lowers ``V`` by ``C_q C_q' / (v_q + s)``. Two
draws of the truth may disagree about the goal: one has ``i`` first, the other ``j``. The probability of that is the
weight of the difference between ``i`` and ``j``, as in Thompson sampling of duels, and games go, a few at a time, where
they most reduce the weighted sum of the variances of these differences.

For matches ``x_ij = r_i - r_j + c_ij`` are the log-odds of the hierarchical model, and the strength of an agent is the
mean of its ``x_ij`` over all opponents, the Elo of `evaluate`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nashboard._tables import Column, Result, Table, percent
from nashboard._text import number_of, plural, round_count
from nashboard._types import Bools, Floats, Ints
from nashboard.data.matches import Matches
from nashboard.data.scores import Scores
from nashboard.data.validation import positions
from nashboard.errors import InputError
from nashboard.evaluation.board.verdict import SMALL_CYCLES
from nashboard.evaluation.decide.significance import estimate_log_odds, fit_as_evaluate
from nashboard.evaluation.posterior.clusters import discount_clusters
from nashboard.evaluation.posterior.matches import expected_payoffs
from nashboard.ratings.hierarchical.model import HierarchicalFit, fit_hierarchical
from nashboard.ratings.hierarchical.pairs import FEW_GAMES
from nashboard.ratings.hierarchical.systems import RatingPrior
from nashboard.ratings.sides import neutralise_sides

UNITS = {"pairs": "games", "cells": "items", "items": "items"}
MEANINGS = {"pairs": "games to play next", "cells": "items to run next", "items": "new items to run on both"}
OTHERS = {"pairs": "opponent", "items": "other agent"}
THESE_TASKS = "the question is about these very tasks; compare asks it with over='runs' (--over runs)"
CYCLIC = "there are cycles: the highest rating is the best mean over all opponents; P(top) of evaluate can differ"
ROUNDS = 60  # portions in which the games are allocated
CONTENDERS = 40  # agents that can get games: those with the largest weights, then those with the highest ratings
MOST_CONTRASTS = 400  # pairs of agents whose difference counts
WORLDS, TRUTHS = 200, 1000  # simulated futures, and truths in each, behind the expected probability
Target = str | int | tuple[str, str]
Goal = Literal["order"] | int | tuple[str, str]  # "top" is 1, the first one
MOST_GAMES = 10**9
SCATTER = 400  # draws by which the covariance of small logs is corrected
POINTS = 15  # of the posterior of sigma and tau over which covariances are averaged
MOST_AGENTS = 60  # agents whose pairs are considered, by the upper end of their ratings; more for other goals


@dataclass(frozen=True, kw_only=True, eq=False)
class Beliefs:
    """Strengths with posterior mean ``mean``, and possible measurements.

    ``rows`` are the measurements, ``uses`` (q, n) marks the agents that they are about, ``noise`` (q,) is the variance
    of one unit of each. ``update`` takes the number of further units of each, and a choice of measurements. It returns
    the covariance (n, n) of the strengths, that of strengths and chosen measurements (n, q), and variances (q,).
    """

    agents: tuple[str, ...]
    mean: Floats
    rows: tuple[tuple[str, str], ...]
    uses: Bools
    noise: Floats
    update: Callable[[Floats, Ints], tuple[Floats, Floats, Floats]]
    quantity: str
    notes: tuple[str, ...] = ()

    def covariance(self, counts: Floats | Ints | None = None) -> Floats:
        """Return the covariance of the strengths, now or after these measurements."""
        given = np.zeros(len(self.rows)) if counts is None else counts.astype(float)
        return self.update(given, np.empty(0, dtype=np.intp))[0]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Plan(Result):
    """Measurements to make next.

    Parameters
    ----------
    target
        The goal in words.
    pairs, counts
        The measurements and their numbers: games between two agents; new items for both of two agents (item-level
        scores); or items for an agent on a task (scores with known numbers of items).
    probability, expected, expected_even
        Probability that the current answer is right: now, expected after the plan, and expected after an even schedule
        of as many games.
    needed
        Number of games after which the expected probability reaches ``goal``; None if 10^8 are not enough.
    evenly
        Whether the plan is the even schedule, because that is expected to be better.
    """

    target: str
    pairs: tuple[tuple[str, str], ...]
    counts: Ints
    games: int
    probability: float
    expected: float
    expected_even: float
    goal: float
    needed: int | None
    kind: str = "pairs"
    notes: tuple[str, ...] = ()
    evenly: bool = False

    hidden = ("pairs", "counts", "kind", "evenly")
    computed = ("schedule", "sentence")

    @property
    def sentence(self) -> str:
        """The expected gain of the plan, in a few sentences."""
        unit = UNITS[self.kind]
        how = "spread evenly" if self.evenly else "as planned"
        subject = f"{self.games:,} {plural(self.games, unit)} {how} {'is' if self.games == 1 else 'are'}"
        before, after = percent(self.probability), percent(self.expected)
        even = f" (spread evenly: {percent(self.expected_even)})" * (len(self.pairs) > 1 and not self.evenly)
        brings = (
            f"{subject} expected to raise the probability of knowing {self.target} from {before} to {after}{even}."
            if before != after
            else f"{subject} not expected to change the probability of knowing {self.target}, {before}, by 1% or more."
        )
        if self.needed is None:
            return f"{brings} No number of {unit} that was tried is expected to reach {percent(self.goal)}."
        if self.needed == 0:
            more = number_of(self.games, f"more {unit}")
            change = "would hardly change that" if before == after else f"are expected to raise it to {after}"
            return f"The data already show {self.target} with a probability of {before}; {more} {how} {change}."
        return f"{brings} About {round_count(self.needed):,} {unit} are needed for {percent(self.goal)}."

    def table(self) -> Table:
        """Return the schedule, most games first: columns a, b, games (scores: agent, task, items or a, b, items)."""
        order = sorted(np.flatnonzero(self.counts), key=lambda k: (-int(self.counts[k]), self.pairs[k]))
        return Table(
            columns=(
                *(
                    (Column("agent"), Column("task"))
                    if self.kind == "cells"
                    else (Column("a", "agent"), Column("b", OTHERS[self.kind]))
                ),
                Column(UNITS[self.kind], MEANINGS[self.kind]),
            ),
            rows=tuple((*self.pairs[k], int(self.counts[k])) for k in order),
            notes=self.notes,
        )

    @property
    def schedule(self) -> list[dict[str, Any]]:
        """The rows of the table by column."""
        return [dict(zip(("a", "b", "games"), row, strict=True)) for row in self.table().rows]

    def __repr__(self) -> str:
        return f"Plan({self.games:,} for {self.target}: {percent(self.probability)} to {percent(self.expected)})"


def plan(
    data: Matches | Scores,
    *,
    games: int = 1000,
    target: Target = "top",
    probability: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Plan:
    """Plan which pairs to play (or which items to run) next.

    Parameters
    ----------
    data
        `Matches`, item-level `Scores` (a column per item), or `Scores` with known numbers of items.
    games
        The budget: games between pairs, or items.
    target
        The question: ``"top"`` (who is first), a number k (who is among the first k), ``"order"`` (the complete order)
        or two names (which of the two is better).
    probability
        The certainty for which the number of games needed is computed.

    Examples
    --------
    >>> import nashboard as nb
    >>> matches = nb.Matches.from_counts([[0, 6, 9], [4, 0, 8], [1, 2, 0]], agents=["A", "B", "C"])
    >>> nb.plan(matches, games=100).table().rows[0][:2]
    ('A', 'B')
    """
    if not (isinstance(games, int | np.integer) and 1 <= games <= MOST_GAMES):
        raise InputError(f"games is {games!r}: it must be a whole number from 1 to {MOST_GAMES:,}", option="games")
    if not 0.5 <= probability < 1:
        raise InputError(f"the probability is {probability!r}: it must lie in [0.5, 1)", option="probability")
    goal = parse_target(target, data.agents)
    if isinstance(data, Matches):
        pair = goal if isinstance(goal, tuple) else data.agents if len(data.agents) == 2 else None
        most = 150 if goal == "order" else max(MOST_AGENTS, 2 * goal if isinstance(goal, int) else 0)
        beliefs, kind = infer_pair(data, *pair) if pair else infer_from_matches(data, most), "pairs"
    elif isinstance(data, Scores):
        known = bool(((data.stderr > 0) & (data.n > 0)).all())
        beliefs, kind = (infer_from_scores(data), "cells") if known else (infer_from_items(data), "items")
    else:
        raise InputError(f"plan takes Matches or Scores, not {type(data).__name__}")
    games, seed = int(games), int(np.random.default_rng(rng).integers(2**32))
    contrasts = weigh_contrasts(beliefs, goal, seed)
    counts, after = allocate(beliefs, contrasts, games)
    even = spread_evenly(beliefs, games)
    now = expected_probability(beliefs, beliefs.covariance(), goal, seed)
    # data never lower the expected probability: a lower value is the error of the simulation
    then, then_even = (
        max(now, expected_probability(beliefs, covariance, goal, seed))
        for covariance in (after, beliefs.covariance(even))
    )
    evenly = percent(then_even) != percent(then) and then_even > then  # beyond the error of the simulation
    return Plan(
        target=describe_goal(beliefs, goal),
        pairs=beliefs.rows,
        counts=even if evenly else counts,
        games=games,
        probability=now,
        expected=then_even if evenly else then,
        expected_even=then_even,
        goal=probability,
        needed=0 if now >= probability else count_needed(beliefs, contrasts, goal, probability, seed, evenly=evenly),
        kind=kind,
        evenly=evenly,
        notes=beliefs.notes,
    )


def parse_target(target: Target, agents: tuple[str, ...]) -> Goal:
    """Return the goal; an error lists the possible targets."""
    if isinstance(target, tuple):
        if len(target) != 2 or target[0] == target[1]:
            raise InputError(f"the target is {target!r}: name two different agents", option="target")
        positions(target, agents, kind="agent")
        return target
    if target == "order":
        return "order"
    k = 1 if target == "top" else target
    if isinstance(k, str | bool):
        raise InputError(f"there is no target {target!r}: use 'top', 'order', a number or two names", option="target")
    if len(agents) < 2:
        raise InputError(f"a plan needs at least two agents; there is only {agents[0]!r}")
    if not 1 <= k < len(agents):
        raise InputError(f"the target is the first {k}: it must be from 1 to {len(agents) - 1}", option="target")
    return k


def describe_goal(beliefs: Beliefs, goal: Goal) -> str:
    """Return the goal in words."""
    if isinstance(goal, tuple):
        return f"whether {goal[0]} is better than {goal[1]}"
    if goal == 1:
        return f"who has the highest {beliefs.quantity}"
    what = "the order of the" if goal == "order" else f"which {goal} have the highest"
    return f"{what} {beliefs.quantity}s"


def infer_pair(matches: Matches, a: str, b: str) -> Beliefs:
    """Return beliefs about a game between two agents, as `compare` has them; measurements are their games."""
    matches.require_counts()
    matches.require_connected()
    i, j = (matches.agents.index(name) for name in (a, b))
    mean, variance, per_game, _ = estimate_log_odds(matches, *fit_as_evaluate(matches), i, j)
    V = np.eye(2) * variance / 2
    return infer_differences((a, b), np.array([mean, 0.0]), V, np.array([per_game]), "rating")


def infer_differences(agents: tuple[str, ...], mean: Floats, V: Floats, noise: Floats, quantity: str) -> Beliefs:
    """Return beliefs whose measurements are differences of two strengths, for all pairs in order."""
    i, j = np.triu_indices(len(agents), 1)
    E = np.eye(len(agents))[i] - np.eye(len(agents))[j]
    precision = np.linalg.inv(V)

    def update(counts: Floats, chosen: Ints) -> tuple[Floats, Floats, Floats]:
        now = np.linalg.inv(precision + (E.T * (counts / noise)) @ E)
        C = now @ E[chosen].T
        return np.asarray(now, dtype=np.float64), C, np.asarray((E[chosen] * C.T).sum(axis=1))

    rows = tuple((agents[a], agents[b]) for a, b in zip(i, j, strict=True))
    return Beliefs(agents=agents, mean=mean, rows=rows, uses=E != 0, noise=noise, update=update, quantity=quantity)


def widen_small_logs(fit: HierarchicalFit, keep: Ints, V: Floats) -> float:
    """Return the factor by which the draws scatter more than ``V`` (points, n, n), if agents have few games each.

    The covariance at the mode is then too small, because sigma is, while draws are corrected by Metropolis steps.
    """
    drawn = fit.draw(SCATTER, np.random.default_rng(0)).ratings[:, keep]
    scatter = (drawn - drawn.mean(axis=1, keepdims=True)).var(axis=0).sum()
    at_mode = V.mean(axis=0)
    return max(1.0, float(scatter / (np.trace(at_mode) - at_mode.sum() / len(keep))))


def infer_from_matches(matches: Matches, most: int = MOST_AGENTS) -> Beliefs:
    """Return beliefs about mean log-odds over all opponents; measurements are games of the agents that can matter.

    Given sigma and tau, ratings have a covariance ``V``, and with information ``D`` about a pair ``x = s (r_i - r_j)
    + e`` plus a constant, with ``s = 1 / (1 + tau^2 D)`` and ``e ~ N(0, tau^2 s)``. The information about the ratings
    is ``s D``. Covariances are averaged over points of the posterior of sigma and tau. Cyclic parts against opponents
    that are not kept average out. Games of clusters count as on the board, and new games come in such clusters, too.
    """
    matches.require_counts()
    matches.require_connected()
    weighed = discount_clusters(matches, neutralise_sides(matches)[0])
    worth = float(weighed.games.sum() / matches.games.sum())
    fit = fit_hierarchical(weighed)
    expected = expected_payoffs(fit)
    sigma, tau = representative_points(fit)
    games = np.zeros(expected.shape)
    games[tuple(matches.pairs.T)] = weighed.games
    games = np.maximum(games, games.T)
    one_game = 1 / (2 + 2 * np.cosh(expected)) / fit.counts.dispersion  # p (1 - p)
    known = fit.system.prior, games * one_game
    spread = np.sqrt(np.diag(rating_covariance(*known, sigma[POINTS // 2], tau[POINTS // 2])))
    keep = np.sort(np.argsort(-(fit.ratings + 2 * spread), kind="stable")[:most])
    n, total, (i, j) = len(keep), len(fit.agents), np.triu_indices(len(keep), 1)
    names, block = tuple(fit.agents[k] for k in keep), np.ix_(keep, keep)
    V = np.stack([rating_covariance(*known, *at)[block] for at in zip(sigma, tau, strict=True)])
    if matches.games_per_agent.min() < FEW_GAMES:
        V *= widen_small_logs(fit, keep, V)
    prior = np.linalg.inv(V)
    information, before = worth * one_game[keep[i], keep[j]], (games * one_game)[keep[i], keep[j]]
    square = tau[:, None] ** 2

    def update(counts: Floats, chosen: Ints) -> tuple[Floats, Floats, Floats]:
        D = before + counts * information
        s = 1 / (1 + square * D)
        V = np.linalg.inv(prior + laplacians(n, i, j, s * D - before / (1 + square * before)))
        M = (laplacians(n, i, j, s) + (total - n) * np.eye(n)) / total  # strengths are M r + the means of e
        rest = laplacians(n, i, j, square * s) / total**2
        MV = M @ V
        a, b, own = i[chosen], j[chosen], (square * s)[:, chosen]
        C = s[:, None, chosen] * (MV[:, :, a] - MV[:, :, b])
        C[:, a, np.arange(len(a))] += own / total
        C[:, b, np.arange(len(a))] -= own / total
        apart = V[:, a, a] + V[:, b, b] - 2 * V[:, a, b]
        return (MV @ M + rest).mean(axis=0), C.mean(axis=0), (s[:, chosen] ** 2 * apart + own).mean(axis=0)

    return Beliefs(
        agents=names,
        mean=expected.mean(axis=1)[keep],
        rows=tuple((names[a], names[b]) for a, b in zip(i, j, strict=True)),
        uses=(np.eye(n)[i] + np.eye(n)[j]) > 0,
        noise=1 / information,
        update=update,
        quantity="rating",
        notes=(CYCLIC,) if fit.tau_interval[0] > SMALL_CYCLES else (),
    )


def laplacians(n: int, i: Ints, j: Ints, weight: Floats) -> Floats:
    """Return the graph Laplacians (g, n, n) of weights (g, q) of the pairs ``i``, ``j``."""
    L = np.zeros((len(weight), n, n))
    L[:, i, j] = L[:, j, i] = -weight
    L[:, np.arange(n), np.arange(n)] = -L.sum(axis=2)
    return L


def rating_covariance(prior: RatingPrior, D: Floats, sigma: float, tau: float) -> Floats:
    """Return the covariance of the ratings if pairs have information ``D`` (n, n)."""
    W = D / (1 + tau**2 * D)
    return np.asarray(np.linalg.inv(np.diag(W.sum(axis=1) + prior.weak) - W + prior.matrix / sigma**2))


def representative_points(fit: HierarchicalFit) -> tuple[Floats, Floats]:
    """Return sigma and tau at equally probable points of their posterior, in order of tau."""
    order = np.lexsort(fit.grid.T)
    at = np.searchsorted(np.cumsum(fit.weights[order]), (np.arange(POINTS) + 0.5) / POINTS)
    sigma, tau = fit.grid[order[np.minimum(at, len(order) - 1)]].T
    return sigma, tau


def infer_from_items(scores: Scores) -> Beliefs:
    """Return beliefs about mean scores over the items; measurements are new items that are run on two agents."""
    scores.require_complete()
    if scores.groups is None and not np.isin(scores.values, (0.0, 1.0)).all():
        raise InputError(
            "a plan for scores needs a standard error and a number of items for every score",
            hint="read item-level results, or a table with columns for stderr and n",
        )
    values = np.where(scores.lower_is_better, -scores.values, scores.values)
    m, n = values.shape
    V = (np.cov(values) + 1e-6 * np.eye(m)) / n
    i, j = np.triu_indices(m, 1)
    noise = n * (V[i, i] + V[j, j] - 2 * V[i, j])
    return infer_differences(scores.agents, values.mean(axis=1), V, noise, "mean score")


def infer_from_scores(scores: Scores) -> Beliefs:
    """Return beliefs about mean scores over the tasks; measurements are further items of one task for one agent."""
    m, t = scores.values.shape
    sign = np.where(scores.lower_is_better, -1.0, 1.0)
    noise, before = (scores.stderr**2 * scores.n).ravel(), scores.n.ravel()
    agent = np.repeat(np.arange(m), t)

    def update(counts: Floats, chosen: Ints) -> tuple[Floats, Floats, Floats]:
        variance = noise / (before + counts)
        C = np.zeros((m, len(chosen)))
        C[agent[chosen], np.arange(len(chosen))] = variance[chosen] / t
        return np.diag(np.bincount(agent, variance) / t**2), C, variance[chosen]

    return Beliefs(
        agents=scores.agents,
        mean=(scores.values * sign).mean(axis=1),
        rows=tuple((a, task) for a in scores.agents for task in scores.tasks),
        uses=np.eye(m)[agent] > 0,
        noise=noise,
        update=update,
        quantity="mean score",
        notes=(THESE_TASKS,),
    )


def weigh_contrasts(beliefs: Beliefs, goal: Goal, seed: int) -> tuple[Ints, Ints, Floats]:
    """Return pairs of agents, and the probability that two draws of the truth disagree about them, given the goal."""
    if isinstance(goal, tuple):
        a, b = (beliefs.agents.index(name) for name in goal)
        return np.array([a]), np.array([b]), np.ones(1)
    random = np.random.default_rng(seed)
    truths = beliefs.mean + random.standard_normal((TRUTHS, len(beliefs.mean))) @ factorise(beliefs.covariance()).T
    if goal == "order":
        above = np.stack([(truths > truths[:, [k]]).mean(axis=0) for k in range(len(beliefs.mean))])
    else:
        inside = np.zeros(truths.shape)
        np.put_along_axis(inside, np.argpartition(-truths, goal - 1, axis=1)[:, :goal], 1.0, axis=1)
        above = inside.T @ (1 - inside) / TRUTHS
    i, j = np.triu_indices(len(beliefs.mean), 1)
    weight = (above * above.T)[i, j]
    chosen = np.argsort(-weight, kind="stable")[:MOST_CONTRASTS]
    chosen = chosen[weight[chosen] > 1e-3 * weight[chosen[0]]]
    if not chosen.size:  # all draws agree: measure the closest pair of neighbours
        order = np.argsort(-beliefs.mean, kind="stable")
        k = int(np.argmin(-np.diff(beliefs.mean[order]))) if goal == "order" else goal - 1
        return order[[k]], order[[k + 1]], np.ones(1)
    return i[chosen], j[chosen], weight[chosen]


def allocate(beliefs: Beliefs, contrasts: tuple[Ints, Ints, Floats], games: int) -> tuple[Ints, Floats]:
    """Return the numbers of measurements, and the expected covariance after them.

    In each portion the games go to the measurement that most reduces the weighted sum of the variances of contrasts.
    """
    above, below, weight = contrasts
    n = len(beliefs.mean)
    counts = np.zeros(len(beliefs.rows))
    matter = np.bincount(above, weight, minlength=n) + np.bincount(below, weight, minlength=n)
    kept = np.zeros(n, dtype=np.bool_)
    kept[np.lexsort([-beliefs.mean, -matter])[:CONTENDERS]] = True
    candidates = np.flatnonzero((beliefs.uses <= kept).all(axis=1))
    for portion in np.diff(np.linspace(0, games, min(ROUNDS, games) + 1).round()):
        _, C, variance = beliefs.update(counts, candidates)
        saved = weight @ (C[above] - C[below]) ** 2 / (variance + beliefs.noise[candidates] / portion)
        counts[candidates[int(np.argmax(saved))]] += portion
    return counts.astype(np.intp), beliefs.covariance(counts)


def spread_evenly(beliefs: Beliefs, games: int) -> Ints:
    """Return numbers of measurements that are as equal as possible."""
    return np.diff(np.linspace(0, games, len(beliefs.rows) + 1).round()).astype(np.intp)


def expected_probability(beliefs: Beliefs, after: Floats, goal: Goal, seed: int) -> float:
    """Return the expected probability that the best future answer is right, once the covariance is ``after``.

    The future mean is ``N(mean, covariance - after)``; given it, strengths are ``N(future mean, after)``.
    """
    random = np.random.default_rng(seed)
    chosen = np.argsort(-beliefs.mean, kind="stable")
    if isinstance(goal, tuple):
        chosen = np.array([beliefs.agents.index(name) for name in goal])
    elif goal != "order":
        chosen = chosen[: max(CONTENDERS, 2 * goal)]
    mean = beliefs.mean[chosen]
    move = factorise((beliefs.covariance() - after)[np.ix_(chosen, chosen)])
    rest = factorise(after[np.ix_(chosen, chosen)])
    means = mean + random.standard_normal((WORLDS, len(chosen))) @ move.T
    noise = random.standard_normal((TRUTHS, len(chosen))) @ rest.T
    return float(np.mean([check_answers(one, one + noise, goal).mean() for one in (means if move.any() else [mean])]))


def check_answers(mean: Floats, truth: Floats, goal: Goal) -> Bools:
    """Return in which draws of the truth the answer from the mean is right."""
    order = np.argsort(-mean)
    if goal == "order":
        return np.asarray((np.diff(truth[:, order], axis=1) <= 0).all(axis=1))
    k = goal if isinstance(goal, int) else 1
    return np.asarray(truth[:, order[:k]].min(axis=1) >= truth[:, order[k:]].max(axis=1))


def factorise(V: Floats) -> Floats:
    """Return ``F`` with ``F F' = V`` for a matrix that is positive semidefinite up to rounding."""
    values, vectors = np.linalg.eigh((V + V.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def count_needed(
    beliefs: Beliefs,
    contrasts: tuple[Ints, Ints, Floats],
    goal: Goal,
    probability: float,
    seed: int,
    *,
    evenly: bool,
) -> int | None:
    """Return the smallest budget (to about 5%) whose plan is expected to reach the probability."""

    def reaches_goal(games: int) -> bool:
        after = [allocate(beliefs, contrasts, games)[1]]
        after += [beliefs.covariance(spread_evenly(beliefs, games))] * evenly
        return any(expected_probability(beliefs, one, goal, seed) >= probability for one in after)

    high = 16
    while not reaches_goal(high):
        high *= 4
        if high > MOST_GAMES // 10:
            return None
    low = high // 4
    while high - low > max(1, high // 20):
        middle = (low + high) // 2
        low, high = (low, middle) if reaches_goal(middle) else (middle, high)
    return high
