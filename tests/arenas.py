"""Bundled data, and simulated arenas whose truth is known."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit

import nashboard as nb
from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.evaluation.audit.audit import Audit
from nashboard.evaluation.audit.checks import Check
from nashboard.evaluation.problem import Data, Problem, prepare_data
from nashboard.evaluation.stress.experiment import Experiment


def data_of(name: str) -> Any:
    """Return a bundled data set."""
    return nb.load_dataset(name)


def check(found: Audit, name: str) -> Check:
    """Return one of the checks of an audit by its name."""
    return next(one for one in found.checks if one.name == name)


def problem(data: Data, **options: Any) -> Problem:
    """Return prepared data, options as in evaluate."""
    return prepare_data(data, **options)


def experiment(data: Data, **options: Any) -> Experiment:
    """Return an experiment with the exact data."""
    return Experiment.of(problem(data, noise="none", **options))


def leads(rng: np.random.Generator, n: int, *, spread: float, cyclic: float) -> Floats:
    """Return true payoffs in logits: ratings and one plane of cycles."""
    r, c = spread * rng.normal(size=n), cyclic * rng.normal(size=(n, 2))
    r -= r.mean()
    return np.asarray(r[:, None] - r[None, :] + np.outer(c[:, 0], c[:, 1]) - np.outer(c[:, 1], c[:, 0]))


def play(x: Floats, games: Any, rng: np.random.Generator, agents: Sequence[str] | None = None) -> nb.Matches:
    """Return so many games of each pair, without draws, by log-odds ``x``; ``games`` are read above the diagonal."""
    N = np.triu(np.broadcast_to(games, x.shape), 1).astype(int)
    won = rng.binomial(N, expit(x))
    return nb.Matches.from_counts(won + (N - won).T, agents)


def planted(n: int, games: int, seed: int, spread: float = 200.0) -> tuple[Floats, nb.Matches]:
    """Return true ratings in points, and so many games of every pair."""
    rng = np.random.default_rng(seed)
    r = rng.normal(0, spread, n)
    r -= r.mean()
    return r, play(np.subtract.outer(r, r) / POINTS_PER_LOGIT, games, rng)


def played(rng: np.random.Generator, X: Floats, games: int, draws: float = 0.0) -> nb.Matches:
    """Return so many games of every pair; a share of them is drawn without taking from the odds."""
    n = len(X)
    i, j = np.triu_indices(n, 1)
    p = 1 / (1 + np.exp(-X[i, j]))
    # draws as likely as they can be while the expected points stay p
    d = np.minimum(draws, 2 * np.minimum(p, 1 - p) * draws)
    counts = np.array([rng.multinomial(games, [a - e / 2, e, 1 - a - e / 2]) for a, e in zip(p, d, strict=True)])
    return nb.Matches(
        agents=tuple(f"agent {k}" for k in range(n)),
        pairs=np.stack([i, j], axis=1),
        wins=counts[:, 0],
        draws=counts[:, 1],
        losses=counts[:, 2],
    )


def cloned(matches: nb.Matches, agent: int, times: int) -> nb.Matches:
    """Return matches with copies of an agent, which never met it or each other."""
    n = len(matches.agents)
    place = [*range(n), *[agent] * times]
    W, D = np.zeros((2, n, n))
    i, j = matches.pairs.T
    W[i, j], W[j, i], D[i, j], D[j, i] = matches.wins, matches.losses, matches.draws, matches.draws
    names = [*matches.agents, *(f"{matches.agents[agent]} copy {k}" for k in range(times))]
    return nb.Matches.from_counts(W[np.ix_(place, place)], names, draws=D[np.ix_(place, place)])
