"""PageRank: a random walk from agents to those that beat them."""

import numpy as np

from nashboard._types import Floats
from nashboard.errors import InputError
from nashboard.ranking.counterexamples import WINS_1, WINS_6, Counterexample
from nashboard.ranking.method import Outcome, register
from nashboard.ranking.pairwise import Pairwise


@register(
    Counterexample("clones", WINS_1, 0),
    Counterexample("condorcet", WINS_6, 1),
    Counterexample("irrelevant", WINS_1, 1),
    Counterexample("monotone", WINS_1, 0, against=1, more=3),
    Counterexample("noise", ((0, 5, 5), (0, 0, 3), (0, 2, 0)), 0),
    title="PageRank",
    unit="stationary probability",
    counts_games=True,
    complexity="n^3",
    reference="Brin and Page 1998; as in evalica",
)
def pagerank(data: Pairwise, damping: float = 0.85) -> Outcome:
    """Score agents by the stationary distribution of a random walk from agents to those that beat them.

    With probability ``1 - damping`` the walk jumps to any agent. One linear system.
    """
    if not 0 <= damping < 1:
        raise InputError(f"damping is {damping:g}: it must be at least 0 and less than 1")
    C = transition_matrix(data.points)
    n = data.size
    s = np.linalg.solve(np.eye(n) - damping * C.T, np.full(n, (1 - damping) / n))
    s /= s.sum()
    residual = float(np.abs(damping * (s @ C) + (1 - damping) / n - s).sum())
    return Outcome(scores=s, weights=s, certificate={"residual": residual})


def transition_matrix(B: Floats) -> Floats:
    """Return the transition matrix from an agent to those that took points from it; to all agents if none did."""
    lost = B.T
    total = lost.sum(axis=1, keepdims=True)
    return np.where(total > 0, lost / np.where(total > 0, total, 1.0), 1 / len(B))
