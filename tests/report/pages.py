"""What the tests of the report share: data of every kind, names from strangers, and their pages."""

from collections.abc import Callable
from functools import cache

import numpy as np

import nashboard as nb
from nashboard.report.build import Summary, render_page, summarise

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "\"'><svg onload=alert(4)>",
    "{{ 7 * 7 }} <!-- ${alert(5)}",
    "a very long name " + "without-an-end-" * 20,
)


def arena(names: tuple[str, ...], games: int = 30) -> nb.Matches:
    """Return matches among these agents, with a cycle among the first three."""
    rng = np.random.default_rng(7)
    n = len(names)
    r = np.linspace(1, -1, n)
    P = 1 / (1 + np.exp(r[None] - r[:, None]))
    if n >= 3:
        P[0, 1], P[1, 2], P[2, 0] = 0.8, 0.8, 0.8
    W = np.triu(rng.binomial(games, np.where(np.tri(n, k=0) > 0, 1 - P.T, P)), 1)
    return nb.Matches.from_counts(W + np.triu(games - W, 1).T, list(names))


def table(agents: tuple[str, ...], tasks: tuple[str, ...]) -> nb.Scores:
    """Return scores with three skills in them."""
    rng = np.random.default_rng(3)
    m, n = len(agents), len(tasks)
    S = rng.normal(size=(m, 1)) + rng.normal(size=(1, n)) + rng.normal(size=(m, 3)) @ rng.normal(size=(3, n))
    return nb.Scores.from_array(S, agents=list(agents), tasks=list(tasks))


@cache
def evaluation(name: str) -> nb.Evaluation:
    """Return a small evaluation of each kind."""
    made: dict[str, Callable[[], nb.Matches | nb.Scores | nb.Payoffs]] = {
        "scores": lambda: nb.load_dataset("suite-4"),
        "atari": lambda: nb.load_dataset("atari"),
        "matches": lambda: arena(("ant", "bee", "cat", "dog", "eel", "fox")),
        "payoffs": lambda: nb.Payoffs.from_array(
            [[0, 1, -1, 2], [-1, 0, 1, 1], [1, -1, 0, 3], [-2, -1, -3, 0]], agents=["rock", "paper", "scissors", "none"]
        ),
        "pair": lambda: arena(("ant", "bee")),
        "hostile": lambda: arena(HOSTILE),
        "hostile scores": lambda: table(HOSTILE, tuple(reversed(HOSTILE))),
        "large": lambda: table(tuple(f"agent {k}" for k in range(100)), tuple(f"task {k}" for k in range(100))),
    }
    return nb.evaluate(made[name](), n_resamples=10)


@cache
def content(name: str) -> Summary:
    """Return what the report of one of these evaluations shows."""
    return summarise(evaluation(name), title=None, say=lambda what: None)


@cache
def page(name: str) -> str:
    """Return the report of one of these evaluations."""
    return render_page(content(name))
