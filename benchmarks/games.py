"""The games that equilibria are measured on, and how good an answer is. numpy alone: every environment has it."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CIRCLE = np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]])
PLANES = 5
WRONG = 1e-3  # a deviation that gains this much of the largest payoff, or a weight so far below zero

OFF = 0.01  # nats that entropy may be from the maximum among equilibria; weights that are none can have more of it


def dense(n: int) -> Array:
    """Return payoffs of pure noise: the worst case, about half of all agents have weight."""
    A = np.random.default_rng(n).normal(size=(n, n))
    return A - A.T


def population(n: int) -> tuple[Array, Array]:
    """Return ratings and cyclic coordinates, in Elo points."""
    rng = np.random.default_rng(n)
    return 200 * rng.normal(size=n), 12 * rng.normal(size=(n, 2 * PLANES))


def realistic(n: int) -> Array:
    """Return ratings, five cyclic planes and five per cent of noise."""
    r, C = population(n)
    A = C[:, 0::2] @ C[:, 1::2].T
    A += r[:, None]
    noise = np.random.default_rng(n + 1).standard_normal(size=(n, n))
    noise *= 0.05 * np.abs(A[:100] - A[:, :100].T).mean()
    A += noise
    del noise
    for start in range(0, n, 500):  # A - A.T, block by block: the transposed one is not needed whole
        rows = slice(start, start + 500)
        upper = A[rows, start:] - A[start:, rows].T
        A[rows, start:] = upper
        A[start:, rows] = -upper.T
    return A


def small(count: int) -> list[Array]:
    """Return payoffs of 3 to 5 agents, no two of which are equal: almost surely with one equilibrium."""
    rng = np.random.default_rng(0)
    halves = [rng.uniform(-0.5, 0.5, size=(n, n)) for n in rng.integers(3, 6, count)]
    return [half - half.T for half in halves]


def disc(n: int) -> Array:
    """Return agents on a disc: rank two, and nearly every agent has weight in some equilibrium."""
    C = np.random.default_rng(n).normal(size=(n, 2))
    half = np.outer(C[:, 0], C[:, 1])
    return half - half.T


def resampled(games: int, n: int = 50) -> Array:
    """Return log-odds of a hundred games per pair, drawn again and again from one population."""
    rng = np.random.default_rng(0)
    P = 1 / (1 + np.exp(-realistic(n) / 174))
    wins = rng.binomial(100, P, size=(games, n, n))
    L = np.triu(np.log(wins + 0.5) - np.log(100.5 - wins), 1)
    return np.asarray(L - L.transpose(0, 2, 1))


def table(m: int, n: int) -> Array:
    """Return scores of m agents on n tasks."""
    return np.random.default_rng(m * n).random((m, n))


def entropy(x: Array) -> float:
    positive = x[x > 0]
    return float(-(positive * np.log(positive)).sum())


def of_weights(A: Array, x: Array) -> dict[str, float]:
    """Return what the best deviation gains relative to the largest payoff, the smallest weight, and the entropy."""
    gain = (A @ x).max() / np.abs(A).max()
    return {"gain": float(gain), "least": float(x.min()), "sum": float(x.sum()), "entropy": entropy(x)}


def of_model(found: Any) -> dict[str, float]:
    """Return the same of a result whose payoffs are never written down."""
    x = found.weights
    gain = found.averages.max() / found.scale
    return {"gain": float(gain), "least": float(x.min()), "sum": float(x.sum()), "entropy": entropy(x)}


def of_stack(A: Array, weights: Array, part: int) -> dict[str, float]:
    """Return the same of many games: the worst of each, and the mean entropy of the first, which everybody solves."""
    found = [of_weights(game, x) for game, x in zip(A, weights, strict=True)]
    return {
        "gain": max(one["gain"] for one in found),
        "least": min(one["least"] for one in found),
        "sum": max((one["sum"] for one in found), key=lambda total: abs(total - 1)),
        "entropy": float(np.mean([one["entropy"] for one in found[:part]])),
    }


def of_scores(S: Array, sides: tuple[Array, Array]) -> dict[str, float]:
    """Return the same of agents and tasks together."""
    p, q = sides
    gain = float((S @ q).max() - (S.T @ p).min()) / float(np.ptp(S))
    worst = max((float(p.sum()), float(q.sum())), key=lambda total: abs(total - 1))
    return {"gain": gain, "least": float(min(p.min(), q.min())), "sum": worst, "entropy": entropy(p) + entropy(q)}


def quality(answer: dict[str, float], ours: dict[str, float]) -> tuple[str, bool]:
    """Say how good weights are, and whether they are an equilibrium at all."""
    gain, least = answer["gain"], answer["least"]
    said = f"gain {gain:.0e}, smallest weight {least:.0e}, entropy {answer['entropy']:.4f}"
    if not np.isfinite(list(answer.values())).all():
        return f"not finite: {json.dumps(answer)}", False
    return said, gain < WRONG and least > -WRONG and abs(answer["sum"] - 1) < WRONG


def maximal(answer: dict[str, float], ours: dict[str, float]) -> tuple[str, bool]:
    """Say the same of weights that are claimed to be the equilibrium of maximum entropy: there is only one."""
    said, right = quality(answer, ours)
    if right and abs(answer["entropy"] - ours["entropy"]) > OFF:
        return f"{said}, which is not the maximum among equilibria, {ours['entropy']:.4f}", False
    return said, right
