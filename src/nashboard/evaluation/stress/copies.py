"""Entering clones: the same agent or task again, exactly, or with fresh luck.

An exact clone of an agent has its original's results against everybody. Games between a clone and its original, or
two clones of one original, count as even: as many games as the original's median pair, half won and half lost.
A noisy clone plays every one of those games anew, with the original's observed shares of wins, draws and losses; a
noisy score is drawn anew from the original's score and standard error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.data.names import positions
from nashboard.data.scores import Scores
from nashboard.errors import InputError


def clone_names(names: Sequence[str], originals: Ints) -> tuple[str, ...]:
    """Return a new name for each clone: ``X (copy 1)``, ``X (copy 2)``, never one that is taken."""
    taken, made = set(names), []
    number: dict[int, int] = {}
    for k in map(int, originals):
        while True:
            number[k] = number.get(k, 0) + 1
            name = f"{names[k]} (copy {number[k]})"
            if name not in taken:
                break
        taken.add(name)
        made.append(name)
    return tuple(made)


def originals_of(clones: Mapping[str, int], names: Sequence[str], kind: str) -> Ints:
    """Return for each clone to be entered the position of its original."""
    for name, times in clones.items():
        if isinstance(times, bool) or not isinstance(times, int | np.integer) or times < 0:
            raise InputError(f"{times!r} copies of {name!r}: the number of copies must be a whole number, 0 or more")
    where = positions(clones, names, kind=kind)
    return np.repeat(np.array(where, dtype=np.intp), np.array(list(clones.values()), dtype=np.intp))


def enter_agents(matches: Matches, clones: Mapping[str, int], rng: np.random.Generator | None = None) -> Matches:
    """Return the matches with clones of agents entered, ``{name: copies}``; with ``rng`` they have their own luck.

    Examples
    --------
    >>> import nashboard as nb
    >>> from nashboard.evaluation.stress.copies import enter_agents
    >>> nb.elo(enter_agents(nb.load_dataset("rock-paper-scissors"), {"C": 1}), prior=0).ratings.round(1)
    array([-71.9,  71.9,   0. ,   0. ])
    """
    n = len(matches.agents)
    originals = originals_of(clones, matches.agents, "agent")
    index = np.concatenate([np.arange(n), originals])
    i, j = matches.pairs.T
    counts = np.zeros((3, n, n))  # wins, draws, losses of the row
    counts[0, i, j], counts[1, i, j], counts[2, i, j] = matches.wins, matches.draws, matches.losses
    counts[0, j, i], counts[1, j, i], counts[2, j, i] = matches.losses, matches.draws, matches.wins
    even = typical_games(counts.sum(axis=0))
    k = np.arange(n)
    counts[0, k, k] = counts[2, k, k] = even / 2
    a, b = np.triu_indices(len(index), k=1)
    wins, draws, losses = counts[:, index[a], index[b]]
    if rng is not None:
        fresh = b >= n
        wins[fresh], draws[fresh], losses[fresh] = played_again(wins[fresh], draws[fresh], losses[fresh], rng)
    met = wins + draws + losses > 0
    return Matches(
        agents=(*matches.agents, *clone_names(matches.agents, originals)),
        pairs=np.stack([a, b], axis=1)[met],
        wins=wins[met],
        draws=draws[met],
        losses=losses[met],
        origin=matches.origin.noting(f"{len(originals):,} clones entered"),
    )


def typical_games(N: Floats) -> Floats:
    """Return the median number of games over the pairs of each agent."""
    met = (N > 0).sum(axis=1)
    rising = np.sort(np.where(N > 0, N, np.inf), axis=1)
    k = np.arange(len(N))
    low, high = rising[k, np.maximum(met - 1, 0) // 2], rising[k, np.minimum(met // 2, len(N) - 1)]
    return np.where(met > 0, (low + high) / 2, 1.0)


def played_again(
    wins: Floats, draws: Floats, losses: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Play the games of each pair anew with the observed shares; whole games, at least one where there was some."""
    games = wins + draws + losses
    whole = np.where(games > 0, np.maximum(np.rint(games), 1.0), 0.0).astype(np.int64)
    shares = np.stack([wins, draws, losses], axis=1) / np.where(games > 0, games, 1.0)[:, None]
    shares[games == 0] = (0.5, 0.0, 0.5)
    shares /= shares.sum(axis=1, keepdims=True)
    drawn = rng.multinomial(whole, shares).astype(np.float64)
    return drawn[:, 0], drawn[:, 1], drawn[:, 2]


def enter_in_scores(
    scores: Scores, kind: str, clones: Mapping[str, int], rng: np.random.Generator | None = None
) -> Scores:
    """Return the scores with clones of agents or tasks entered; with ``rng`` they have their own luck."""
    names = scores.agents if kind == "agents" else scores.tasks
    originals = originals_of(clones, names, kind[:-1])
    index = np.concatenate([np.arange(len(names)), originals])
    axis = 0 if kind == "agents" else 1
    values = np.take(scores.values, index, axis=axis)
    stderr = np.take(scores.stderr, index, axis=axis)
    if rng is not None:
        noise = np.nan_to_num(stderr) * rng.standard_normal(stderr.shape)
        fresh = np.arange(len(index)) >= len(names)
        values = values + noise * (fresh[:, None] if axis == 0 else fresh)
    made = (*names, *clone_names(names, originals))
    return replace(
        scores,
        agents=made if axis == 0 else scores.agents,
        tasks=made if axis == 1 else scores.tasks,
        values=values,
        stderr=stderr,
        n=np.take(scores.n, index, axis=axis),
        runs=np.take(scores.runs, index, axis=axis),
        filled=np.take(scores.filled, index, axis=axis),
        lower_is_better=scores.lower_is_better if axis == 0 else scores.lower_is_better[index],
        origin=scores.origin.noting(f"{len(originals):,} clones entered"),
    )
