"""`plan`: which pairs (or cells of a table) to measure next, and what that is expected to bring.

The unknown is a vector of strengths with a Gaussian posterior ``N(m, V)``. Measuring a pair adds information ``d``
about one difference ``e' r``, so that ``V`` becomes ``V - d V e e' V / (1 + d e' V e)``. Two draws of the truth may
disagree about the goal: one has ``i`` first, the other ``j``. The probability of that is the weight of the difference
between ``i`` and ``j``, as in Thompson sampling of duels, and games go, a few at a time, where they most reduce the
weighted sum of the variances of these differences.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nashboard._tables import Column, Table, Tabular, percent
from nashboard._text import about, plural
from nashboard._types import Bools, Floats, Ints
from nashboard.data.matches import Matches
from nashboard.data.scores import Scores
from nashboard.errors import InputError, nearest
from nashboard.ratings.hierarchical import HierarchicalFit, fit_hierarchical

UNITS = {"pairs": "games", "cells": "items", "items": "items"}
MEANINGS = {"pairs": "games to play next", "cells": "items to run next", "items": "new items to run on both"}
ROUNDS = 60  # portions in which the games are handed out
CONTENDERS = 40  # agents that can get games: those that matter most, then those with the highest ratings
MOST_CONTRASTS = 400  # pairs of agents whose difference counts
WORLDS, TRUTHS = 200, 1000  # simulated futures, and truths in each, behind the expected probability
Target = str | int | tuple[str, str]
MOST_GAMES = 10**9
MOST_AGENTS = 150  # agents whose pairs are considered at all, by the upper end of their ratings


@dataclass(frozen=True, kw_only=True, eq=False)
class Beliefs:
    """Strengths ``N(mean, covariance)``, what can be measured, and how much one unit of it tells.

    ``direction`` (q, n) is the difference that measurement k is about; ``information`` returns the information of so
    many more units of each measurement.
    """

    agents: tuple[str, ...]
    mean: Floats
    covariance: Floats
    rows: tuple[tuple[str, str], ...]
    direction: Floats
    information: Any


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Plan(Tabular):
    """Measurements to make next.

    Parameters
    ----------
    target
        The goal in words.
    pairs, counts
        What to measure, and how often: games between two agents; new items for both of two agents (item-level scores);
        or items for an agent on a task (scores with known numbers of items).
    probability, expected, expected_even
        Probability that the current answer is right: now, expected after the plan, and expected after an even schedule
        of as many games.
    needed
        Games in all after which the expected probability reaches ``goal``; None where no number of games does.
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
    notes: tuple[str, ...] = field(default=())

    @property
    def sentence(self) -> str:
        """What the plan brings, in a few sentences."""
        unit = UNITS[self.kind]
        subject = f"{self.games:,} {plural(self.games, unit)} as planned {'is' if self.games == 1 else 'are'}"
        before, after = percent(self.probability), percent(self.expected)
        brings = (
            f"{subject} expected to raise the probability of knowing {self.target} from {before} to {after} (spread "
            f"evenly: {percent(self.expected_even)})."
            if before != after
            else f"{subject} not expected to change the probability of knowing {self.target}, {before}, by 1% or more."
        )
        if self.needed is None:
            why = ": a pair may deviate from its ratings, and these data leave open how far" * (self.kind == "pairs")
            return f"{brings} For now no number of {unit} promises {percent(self.goal)}{why}."
        if self.needed == 0:
            return (
                f"The data already give {percent(self.probability)} for {self.target}; {self.games:,} more {unit} as "
                f"planned are expected to give {percent(self.expected)}."
            )
        return f"{brings} About {about(self.needed):,} {unit} are needed for {percent(self.goal)}."

    def table(self) -> Table:
        """Return the schedule, most games first: columns a, b, games."""
        order = sorted(np.flatnonzero(self.counts), key=lambda k: (-int(self.counts[k]), self.pairs[k]))
        return Table(
            columns=(
                Column(name="a", meaning="agent"),
                Column(name="b", meaning={"pairs": "opponent", "cells": "task", "items": "other agent"}[self.kind]),
                Column(name="games", meaning=MEANINGS[self.kind]),
            ),
            rows=tuple((*self.pairs[k], int(self.counts[k])) for k in order),
            notes=self.notes,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        names = [column.name for column in self.table().columns]
        return {
            "target": self.target,
            "games": self.games,
            "probability": self.probability,
            "expected": self.expected,
            "expected_even": self.expected_even,
            "goal": self.goal,
            "needed": self.needed,
            "schedule": [dict(zip(names, row, strict=True)) for row in self.table().rows],
            "sentence": self.sentence,
        }

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
        What you want to know: ``"top"`` (who is first), a number k (who is among the first k), ``"order"`` (the whole
        order) or two names (which of the two is better).
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
    if isinstance(data, Matches):
        beliefs, kind = (
            beliefs_about_matches(data, cycles=not isinstance(target, tuple) and len(data.agents) > 2),
            "pairs",
        )
    elif isinstance(data, Scores):
        known = bool(((data.stderr > 0) & (data.n > 0)).all())
        beliefs, kind = (beliefs_about_scores(data), "cells") if known else (beliefs_about_items(data), "items")
    else:
        raise InputError(f"plan takes Matches or Scores, not {type(data).__name__}")
    random = np.random.default_rng(rng)
    state = int(random.integers(2**32))
    words = describe_target(beliefs, target)
    contrasts = weigh_contrasts(beliefs, target, state)
    counts, after = allocate(beliefs, contrasts, int(games))
    even = np.full(len(beliefs.rows), games / len(beliefs.rows))
    now = expected_probability(beliefs, beliefs.covariance, target, state)
    # data never lower what is expected: anything below is the error of the simulation
    then, then_even = (
        max(now, expected_probability(beliefs, covariance, target, state))
        for covariance in (after, measure(beliefs, even))
    )
    return Plan(
        target=words,
        pairs=beliefs.rows,
        counts=counts,
        games=int(games),
        probability=now,
        expected=then,
        expected_even=then_even,
        goal=probability,
        needed=games_needed(beliefs, contrasts, target, probability, state),
        kind=kind,
    )


def beliefs_about_matches(matches: Matches, *, cycles: bool = True) -> Beliefs:
    """Return ratings in log-odds and all pairs of the agents that can still matter.

    With ``cycles``, games of one pair tell about ratings only up to the cyclic part of that pair. Without, the question
    is about the pair itself.
    """
    matches.require_counts()
    matches.require_connected()
    fit = fit_hierarchical(matches)
    V = rating_covariance(fit)
    keep = np.sort(np.argsort(-(fit.ratings + 2 * np.sqrt(np.diag(V))), kind="stable")[:MOST_AGENTS])
    names = tuple(fit.agents[k] for k in keep)
    m, V = fit.ratings[keep], V[np.ix_(keep, keep)]
    i, j = np.triu_indices(len(keep), 1)
    played = np.zeros((len(fit.agents),) * 2)
    played[tuple(matches.pairs.T)] = matches.games
    before = np.maximum(played, played.T)[keep[i], keep[j]]
    chance = 1 / (1 + np.exp(m[j] - m[i]))
    result = chance * (1 - chance)
    direction = np.zeros((len(i), len(keep)))
    direction[np.arange(len(i)), i], direction[np.arange(len(i)), j] = 1.0, -1.0

    tau = typical_tau(fit) if cycles else 0.0

    def information(done: Floats, more: Any) -> Floats:
        spread = fit.counts.dispersion
        return np.asarray(added_information(result, tau, before + done / spread, more / spread))

    return Beliefs(
        agents=names,
        mean=m,
        covariance=V,
        rows=tuple((names[a], names[b]) for a, b in zip(i, j, strict=True)),
        direction=direction,
        information=information,
    )


def rating_covariance(fit: HierarchicalFit) -> Floats:
    """Return the posterior covariance of the ratings: the mean over the grid of that at a point, and that of the modes.

    The covariance at the average information would be too small: points with a narrow prior would outweigh all others.
    """
    kept = fit.weights >= 0.01 * fit.weights.max()
    weights, modes = fit.weights[kept] / fit.weights[kept].sum(), fit.modes.ratings[kept]
    n, (i, j) = len(fit.agents), (fit.counts.i, fit.counts.j)
    apart = modes - weights @ modes
    V = (weights[:, None] * apart).T @ apart
    for weight, sigma, W in zip(weights, fit.grid[kept, 0], fit.modes.curvature[kept], strict=True):
        H = np.zeros((n, n))
        H[i, j] = H[j, i] = -W
        H[np.arange(n), np.arange(n)] = 1 / sigma**2 - H.sum(axis=1)
        V += weight * np.linalg.inv(H)
    return np.asarray(V)


def typical_tau(fit: HierarchicalFit) -> float:
    """Return the posterior median of tau: where it cannot be learned, its mean is mostly the tail of the prior."""
    order = np.argsort(fit.grid[:, 1], kind="stable")
    half = int(np.searchsorted(np.cumsum(fit.weights[order]), 0.5))
    return float(fit.grid[order[min(half, len(order) - 1)], 1])


def added_information(variance: Floats | float, tau: float, before: Any, games: Any) -> Any:
    """Return what more games of a pair tell about the difference of its ratings.

    ``D`` games' worth of information about the pair is ``D / (1 + tau^2 D)`` about the ratings: the rest is about the
    cyclic part of this pair. ``variance`` is that of one result.
    """
    after = variance * (before + games)
    before = variance * before
    return after / (1 + tau**2 * after) - before / (1 + tau**2 * before)


def beliefs_about_items(scores: Scores) -> Beliefs:
    """Return mean scores over the items, and what new items, run on two agents, tell about their difference."""
    scores.require_complete()
    if scores.groups is None and not np.isin(scores.values, (0.0, 1.0)).all():
        raise InputError(
            "a plan for scores needs a standard error and a number of items for every score",
            hint="read item-level results, or a table with columns for stderr and n",
        )
    values = np.where(scores.lower_is_better, -scores.values, scores.values)
    m, n = values.shape
    covariance = (np.cov(values) + 1e-6 * np.eye(m)) / n
    i, j = np.triu_indices(m, 1)
    direction = np.eye(m)[i] - np.eye(m)[j]
    per_item = n * np.einsum("qn,nm,qm->q", direction, covariance, direction)
    return Beliefs(
        agents=scores.agents,
        mean=values.mean(axis=1),
        covariance=covariance,
        rows=tuple((scores.agents[a], scores.agents[b]) for a, b in zip(i, j, strict=True)),
        direction=direction,
        information=lambda done, more: np.full(len(i), more) / per_item,
    )


def beliefs_about_scores(scores: Scores) -> Beliefs:
    """Return mean scores over the tasks, and what more items of one task tell about one agent."""
    items = scores.n
    m, t = scores.values.shape
    sign = np.where(scores.lower_is_better, -1.0, 1.0)
    per_item = (scores.stderr**2 * items).ravel()
    before = items.ravel()
    agent = np.repeat(np.arange(m), t)
    direction = np.eye(m)[agent]
    variance = np.bincount(agent, per_item / before) / t**2

    def information(done: Floats, more: Any) -> Floats:
        have = before + done
        saved = (per_item / have - per_item / (have + more)) / t**2
        now = (np.bincount(agent, per_item / have) / t**2)[agent]
        return np.asarray(1 / np.maximum(now - saved, 1e-300) - 1 / now)

    return Beliefs(
        agents=scores.agents,
        mean=(scores.values * sign).mean(axis=1),
        covariance=np.diag(variance),
        rows=tuple((a, task) for a in scores.agents for task in scores.tasks),
        direction=direction,
        information=information,
    )


def describe_target(beliefs: Beliefs, target: Target) -> str:
    """Return the goal in words; an unknown one is an error."""
    n = len(beliefs.agents)
    if target == "top" or (target == 1 and not isinstance(target, bool)):
        return "who is first"
    if target == "order":
        return "the whole order"
    if isinstance(target, int) and not isinstance(target, bool):
        if not 1 <= target < n:
            raise InputError(f"the target is the first {target}: it must be from 1 to {n - 1}", option="target")
        return f"the first {target}"
    if isinstance(target, tuple) and len(target) == 2:
        for name in target:
            if name not in beliefs.agents:
                raise InputError(f"there is no agent {name!r}{nearest(str(name), beliefs.agents)}", option="target")
        if target[0] == target[1]:
            raise InputError(f"{target[0]!r} cannot be compared with itself", option="target")
        return f"whether {target[0]} is better than {target[1]}"
    raise InputError(f"there is no target {target!r}: use 'top', 'order', a number or two names", option="target")


def weigh_contrasts(beliefs: Beliefs, target: Target, state: int) -> tuple[Ints, Ints, Floats]:
    """Return pairs of agents, and the probability that two draws of the truth disagree about their part in the goal."""
    if isinstance(target, tuple):
        a, b = (beliefs.agents.index(name) for name in target)
        return np.array([a]), np.array([b]), np.ones(1)
    random = np.random.default_rng(state)
    truths = beliefs.mean + random.standard_normal((TRUTHS, len(beliefs.mean))) @ factor(beliefs.covariance).T
    k = target if isinstance(target, int) else 1
    if target == "order":
        above = np.stack([(truths > truths[:, [k]]).mean(axis=0) for k in range(len(beliefs.mean))])
    else:
        inside = np.zeros(truths.shape)
        np.put_along_axis(inside, np.argpartition(-truths, k - 1, axis=1)[:, :k], 1.0, axis=1)
        above = inside.T @ (1 - inside) / TRUTHS
    i, j = np.triu_indices(len(beliefs.mean), 1)
    weight = (above * above.T)[i, j]
    chosen = np.argsort(-weight, kind="stable")[:MOST_CONTRASTS]
    chosen = chosen[weight[chosen] > 1e-3 * weight[chosen[0]]]
    if not chosen.size:  # all draws agree: what is left to learn about is the closest pair of neighbours
        order = np.argsort(-beliefs.mean, kind="stable")
        k = int(np.argmin(-np.diff(beliefs.mean[order]))) if target == "order" else k - 1
        return order[[k]], order[[k + 1]], np.ones(1)
    return i[chosen], j[chosen], weight[chosen]


def allocate(beliefs: Beliefs, contrasts: tuple[Ints, Ints, Floats], games: int) -> tuple[Ints, Floats]:
    """Return how often to measure what, and the covariance that is expected afterwards.

    In each portion the games go to the measurement that most reduces the weighted sum of the variances of contrasts.
    """
    above, below, weight = contrasts
    V = beliefs.covariance
    counts = np.zeros(len(beliefs.rows))
    matter = np.bincount(above, weight, minlength=len(V)) + np.bincount(below, weight, minlength=len(V))
    kept = np.zeros(len(V), dtype=np.bool_)
    kept[np.lexsort([-beliefs.mean, -matter])[:CONTENDERS]] = True
    candidates = np.flatnonzero(((beliefs.direction != 0) <= kept).all(axis=1))
    E = beliefs.direction[candidates]
    for portion in np.diff(np.linspace(0, games, min(ROUNDS, games) + 1).round()):
        gain = beliefs.information(counts, portion)[candidates]
        VE = V @ E.T
        own = np.einsum("qn,nq->q", E, VE)
        saved = gain / (1 + gain * own) * (weight @ (VE[above] - VE[below]) ** 2)
        best = int(np.argmax(saved))
        counts[candidates[best]] += portion
        V = V - gain[best] / (1 + gain[best] * own[best]) * np.outer(VE[:, best], VE[:, best])
    return counts.astype(np.intp), V


def measure(beliefs: Beliefs, counts: Floats) -> Floats:
    """Return the covariance after these measurements."""
    precision = np.linalg.inv(beliefs.covariance)
    steps = 20  # the information of a portion depends on what was measured before
    for step in range(steps):
        gain = beliefs.information(counts * step / steps, counts / steps)
        precision += (beliefs.direction.T * gain) @ beliefs.direction
    return np.asarray(np.linalg.inv(precision))


def expected_probability(beliefs: Beliefs, after: Floats, target: Target, state: int) -> float:
    """Return the expected probability that the then best answer is right, once the covariance is ``after``.

    The future mean is ``N(mean, covariance - after)``; given it, strengths are ``N(future mean, after)``.
    """
    random = np.random.default_rng(state)
    chosen = np.argsort(-beliefs.mean, kind="stable")
    if not isinstance(target, tuple) and target != "order":
        chosen = chosen[: max(CONTENDERS, 2 * target if isinstance(target, int) else 0)]
    elif isinstance(target, tuple):
        chosen = np.array([beliefs.agents.index(name) for name in target])
    move = factor((beliefs.covariance - after)[np.ix_(chosen, chosen)])
    rest = factor(after[np.ix_(chosen, chosen)])
    shift = random.standard_normal((WORLDS, len(chosen))) @ move.T
    noise = random.standard_normal((TRUTHS, len(chosen))) @ rest.T
    if not move.any():
        return float(answers_right(beliefs.mean[chosen], beliefs.mean[chosen] + noise, target).mean())
    total = 0.0
    for step in shift:
        mean = beliefs.mean[chosen] + step
        total += float(answers_right(mean, mean + noise, target).mean())
    return total / WORLDS


def answers_right(mean: Floats, truth: Floats, target: Target) -> Bools:
    """Return in which draws of the truth the answer that the mean gives is right."""
    if target == "order":
        return np.asarray((np.diff(truth[:, np.argsort(-mean)], axis=1) <= 0).all(axis=1))
    k = target if isinstance(target, int) else 1
    inside = np.argsort(-mean)[:k]
    outside = np.setdiff1d(np.arange(len(mean)), inside)
    return np.asarray(truth[:, inside].min(axis=1) >= truth[:, outside].max(axis=1))


def factor(V: Floats) -> Floats:
    """Return ``F`` with ``F F' = V`` for a matrix that is positive semidefinite up to rounding."""
    values, vectors = np.linalg.eigh((V + V.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def games_needed(
    beliefs: Beliefs, contrasts: tuple[Ints, Ints, Floats], target: Target, probability: float, state: int
) -> int | None:
    """Return the smallest budget (to about 5%) whose plan is expected to reach the probability."""

    def reached(games: int) -> bool:
        after = allocate(beliefs, contrasts, games)[1]
        return expected_probability(beliefs, after, target, state) >= probability

    if expected_probability(beliefs, beliefs.covariance, target, state) >= probability:
        return 0
    high = 16
    while not reached(high):
        high *= 4
        if high > MOST_GAMES // 10:
            return None
    low = high // 4
    while high - low > max(1, high // 20):
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
