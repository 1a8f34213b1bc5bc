"""Copies of agents or tasks: exact, or with their own luck.

An exact copy of an agent has its original's results against everybody. Games between a copy and its original, or two
copies of one original, are even: as many games as the original's median pair, half won and half lost.
A noisy copy plays all of those games again, with the original's observed shares of wins, draws and losses; a noisy
score is drawn around the original's score with its standard error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from nashboard._types import Bools, Floats, Ints
from nashboard.data.matches import Clusters, Matches, Sides
from nashboard.data.payoffs import Payoffs
from nashboard.data.scores import Scores
from nashboard.data.validation import positions
from nashboard.errors import InputError
from nashboard.evaluation.posterior.scores import known_noise


def copy_names(names: Sequence[str], originals: Ints) -> tuple[str, ...]:
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
    n, p = len(matches.agents), len(matches.pairs)
    originals = originals_of(clones, matches.agents, "agent")
    index = np.concatenate([np.arange(n), originals])
    i, j = matches.pairs.T
    where = np.full((n, n), -1)  # the pair of two originals
    where[i, j] = where[j, i] = np.arange(p)
    counts = np.stack([matches.wins, matches.draws, matches.losses], axis=1)
    even = typical_games(matches)
    a, b = np.triu_indices(len(index), k=1)
    pair, same = where[index[a], index[b]], index[a] == index[b]
    kept = same | (pair >= 0)
    a, b, pair, same = a[kept], b[kept], pair[kept], same[kept]
    flip = index[a] > index[b]
    own = np.where(flip[:, None], counts[pair][:, ::-1], counts[pair]) if p else np.zeros((len(a), 3))
    half = even[index[a]] / 2
    own = np.where(same[:, None], np.stack([half, np.zeros_like(half), half], axis=1), own)
    if rng is not None:
        fresh = b >= n
        own[fresh] = replay(own[fresh], rng)
    met = own.sum(axis=1) > 0
    a, b, pair, flip, own = a[met], b[met], np.where(same, -1, pair)[met], flip[met], own[met]
    exact = rng is None
    return Matches(
        agents=(*matches.agents, *copy_names(matches.agents, originals)),
        pairs=np.stack([a, b], axis=1),
        wins=own[:, 0],
        draws=own[:, 1],
        losses=own[:, 2],
        origin=matches.origin.noting(f"{len(originals):,} copies entered"),
        clusters=copy_clusters(matches.clusters, pair, flip) if exact and matches.clusters is not None else None,
        sides=copy_sides(matches.sides, pair, flip) if exact and matches.sides is not None else None,
    )


def copy_clusters(clusters: Clusters, pair: Ints, flip: Bools) -> Clusters:
    """Return the clusters of new pairs, each with those of the pair that it copies (-1: none)."""
    order = np.argsort(clusters.pair, kind="stable")
    ends = np.searchsorted(clusters.pair[order], np.arange(pair.max(initial=-1) + 2))
    rows = [order[ends[k] : ends[k + 1]] if k >= 0 else order[:0] for k in pair]
    row = np.concatenate(rows) if rows else order[:0]
    new = np.repeat(np.arange(len(pair)), [len(one) for one in rows])
    turned = flip[new]
    return Clusters(
        size=clusters.size,
        cluster=clusters.cluster[row],
        pair=new,
        wins=np.where(turned, clusters.losses[row], clusters.wins[row]),
        draws=clusters.draws[row],
        losses=np.where(turned, clusters.wins[row], clusters.losses[row]),
    )


def copy_sides(sides: Sides, pair: Ints, flip: Bools) -> Sides:
    """Return the sides of new pairs, each those of the pair that it copies; games among copies have no first side."""
    known, turned = (pair >= 0)[:, None], flip[:, None]
    first, second = sides.first[pair], sides.second[pair]
    return Sides(
        first=np.where(known, np.where(turned, second[:, ::-1], first), 0.0),
        second=np.where(known, np.where(turned, first[:, ::-1], second), 0.0),
    )


def typical_games(matches: Matches) -> Floats:
    """Return the median number of games over the pairs of each agent, 1 where there are none."""
    found = np.ones(len(matches.agents))
    who, games = matches.pairs.ravel(), np.repeat(matches.games, 2)
    order = np.lexsort([games, who])
    who, games = who[order], games[order]
    ends = np.searchsorted(who, np.arange(len(found) + 1))
    for k in np.flatnonzero(np.diff(ends)):
        found[k] = np.median(games[ends[k] : ends[k + 1]])
    return found


def replay(counts: Floats, rng: np.random.Generator) -> Floats:
    """Play the games of each pair again with the observed shares; whole games, at least one where there was some."""
    games = counts.sum(axis=1)
    whole = np.where(games > 0, np.maximum(np.rint(games), 1.0), 0.0).astype(np.int64)
    shares = counts / np.where(games > 0, games, 1.0)[:, None]
    shares[games == 0] = (0.5, 0.0, 0.5)
    shares /= shares.sum(axis=1, keepdims=True)
    return np.asarray(rng.multinomial(whole, shares), dtype=np.float64)


def enter_in_payoffs(payoffs: Payoffs, copies: Mapping[str, int]) -> Payoffs:
    """Return the payoffs with exact copies of agents entered, which are even among themselves."""
    n = len(payoffs.agents)
    originals = originals_of(copies, payoffs.agents, "agent")
    index = np.concatenate([np.arange(n), originals])
    grid = np.ix_(index, index)
    extra = {
        name: getattr(payoffs, name)[grid] for name in ("stderr", "games") if getattr(payoffs, name, None) is not None
    }
    return replace(
        payoffs,
        agents=(*payoffs.agents, *copy_names(payoffs.agents, originals)),
        A=payoffs.A[grid],
        origin=payoffs.origin.noting(f"{len(originals):,} copies entered"),
        **extra,
    )


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
        noise = np.nan_to_num(np.take(known_noise(scores), index, axis=axis)) * rng.standard_normal(stderr.shape)
        fresh = np.arange(len(index)) >= len(names)
        share = scores.scaling == "raw" and np.nanmin(values) >= 0 and np.nanmax(values) <= 1
        values = values + noise * (fresh[:, None] if axis == 0 else fresh)
        values = np.clip(values, 0.0, 1.0) if share else values
    made = (*names, *copy_names(names, originals))
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
        groups=None
        if scores.groups is None
        else scores.groups
        if axis == 0
        else tuple(scores.groups[k] for k in index),
        origin=scores.origin.noting(f"{len(originals):,} copies entered"),
    )
