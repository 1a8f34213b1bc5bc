"""Matches and items whose truth is known, for benchmarks/decisions.py: two agents that are equal but for a lead."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import expit

import nashboard as nb
from nashboard.data.matches import Clusters

Rng = np.random.Generator
Array = np.ndarray[Any, Any]
Row = dict[str, Any]


def names(n: int) -> list[str]:
    return [f"a{k:02}" for k in range(n)]


def play(x: Array, games: Array | int, rng: Rng, draws: float = 0.0) -> nb.Matches:
    """Return matches with log-odds ``x`` of expected points; a share of the games is drawn."""
    n = len(x)
    i, j = np.triu_indices(n, 1)
    count = np.broadcast_to(np.asarray(games), (n, n))[i, j]
    tied = rng.binomial(count, draws)
    won = rng.binomial(count - tied, expit(x[i, j]))
    met = count > 0
    return nb.Matches(
        agents=tuple(names(n)),
        pairs=np.stack([i, j], axis=1)[met],
        wins=won[met].astype(float),
        draws=tied[met].astype(float),
        losses=(count - tied - won)[met].astype(float),
    )


def log_odds(r: Array, tau: float, rng: Rng) -> Array:
    c = np.triu(tau * rng.standard_normal((len(r), len(r))), 1)
    return np.asarray(r[:, None] - r + c - c.T)


def some_pairs(n: int, share: float, rng: Rng) -> Array:
    return np.asarray((rng.random((n, n)) < share) | np.eye(n, k=1, dtype=bool))


def twins(n: int, tau: float, rng: Rng, lead: float = 0.0) -> Array:
    """Return log-odds in which the first two agents have equal ratings but for a lead."""
    r = rng.normal(0, 0.6, n)
    r[0] = r[1] + lead
    x = log_odds(r, tau, rng)
    x[0, 1], x[1, 0] = lead, -lead
    return x


def rotating_twins(n: int, size: float, rng: Rng, lead: float = 0.0) -> Array:
    """Return log-odds with one plane of rotation, in which a game of the first two is even but for a lead."""
    r, (u, v) = rng.normal(0, 0.6, n), rng.normal(0, np.sqrt(size), (2, n))
    turn = np.outer(u, v) - np.outer(v, u)
    r[0] = r[1] + lead - turn[0, 1]
    return np.asarray(r[:, None] - r + turn)


def clustered_votes(rng: Rng, voters: int, votes: int, same_pair: bool, lead: float = 0.0) -> nb.Matches:
    """Return votes by voters (or on prompts) with tastes of their own."""
    n = 8
    r = rng.normal(0, 0.6, n)
    r[0] = r[1] + lead
    cluster = np.repeat(np.arange(voters), votes)
    i = rng.integers(0, n, voters)[cluster] if same_pair else rng.integers(0, n, len(cluster))
    step = rng.integers(1, n, voters)[cluster] if same_pair else rng.integers(1, n, len(cluster))
    j = (i + step) % n
    i, j = np.minimum(i, j), np.maximum(i, j)
    taste = rng.normal(0, 1.0, (voters, n))[cluster]
    rows = np.arange(len(cluster))
    y = rng.random(len(cluster)) < expit(1.2 * (r[i] - r[j]) + taste[rows, i] - taste[rows, j])
    pairs, pair = np.unique(i * n + j, return_inverse=True)
    won, lost = np.bincount(pair, y), np.bincount(pair, ~y)
    matches = nb.Matches(
        agents=tuple(names(n)),
        pairs=np.stack([pairs // n, pairs % n], axis=1),
        wins=won,
        draws=np.zeros(len(pairs)),
        losses=lost,
    )
    split = Clusters(size=voters, cluster=cluster, pair=pair, wins=1.0 * y, draws=0.0 * y, losses=1.0 * ~y)
    return replace(matches, clusters=split)


MATCHES: dict[str, Callable[[Rng, float], nb.Matches]] = {
    "dense: 10 agents, 20 games per pair": lambda rng, lead: play(twins(10, 0.0, rng, lead), 20, rng),
    "sparse: 30% of pairs met, 6 games": lambda rng, lead: play(
        twins(10, 0.0, rng, lead), 6 * some_pairs(10, 0.3, rng), rng
    ),
    "cyclic: tau 0.4, 8 games": lambda rng, lead: play(twins(10, 0.4, rng, lead), 8, rng),
    "rotating: one plane, 12 agents, 20 games": lambda rng, lead: play(rotating_twins(12, 0.8, rng, lead), 20, rng),
    "two agents, 50 games": lambda rng, lead: play(twins(2, 0.0, rng, lead), 50, rng),
    "half of the games drawn": lambda rng, lead: play(twins(6, 0.0, rng, lead), 30, rng, draws=0.5),
    "150 prompts with 6 votes on one pair": lambda rng, lead: clustered_votes(rng, 150, 6, True, lead),
    "60 voters with tastes, 20 votes each": lambda rng, lead: clustered_votes(rng, 60, 20, False, lead),
}


def item_scores(
    rng: Rng, clusters: int, size: Array | int, spread: float, binary: bool, lead: float = 0.0
) -> tuple[nb.Scores, list[int]]:
    """Return two agents, equal but for a lead, on clustered items; clusters suit one agent more than the other."""
    label = np.repeat(np.arange(clusters), size)
    effect = rng.normal(0, spread, (2, clusters))[:, label] + rng.normal(0, 1.0, clusters)[label]
    values = effect + rng.normal(0, 1, effect.shape) + [[lead], [0.0]]
    return nb.Scores.from_array(1.0 * (values > 0) if binary else expit(values), agents=["a", "b"]), label.tolist()


def skewed_tasks(rng: Rng, lead: float = 0.0) -> tuple[nb.Scores, None]:
    return nb.Scores.from_array(np.exp(rng.normal([[lead], [0.0]], 0.7, (2, 12))), agents=["a", "b"]), None


ITEMS: dict[str, Callable[..., tuple[nb.Scores, list[int] | None]]] = {
    "200 items, 0 or 1": lambda rng, lead=0.0: (item_scores(rng, 200, 1, 0.0, True, lead)[0], None),
    "30 items, 0 or 1": lambda rng, lead=0.0: (item_scores(rng, 30, 1, 0.0, True, lead)[0], None),
    "12 tasks with skewed scores": skewed_tasks,
    "40 clusters of 5 items, 0 or 1": lambda rng, lead=0.0: item_scores(rng, 40, 5, 0.8, True, lead),
    "15 clusters of 1 to 20 items": lambda rng, lead=0.0: item_scores(
        rng, 15, rng.integers(1, 21, 15), 0.8, False, lead
    ),
}
