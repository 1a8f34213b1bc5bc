"""Votes of one cluster that are correlated over several pairs: a voter with a taste, a prompt that suits some agents.

The dispersion of results includes the correlation of votes of one cluster on one pair. The votes of a voter who likes
an agent are also correlated over all opponents of the agent, so the agent's rating is less certain than its number of
votes suggests. The scores of clusters measure this correlation, and games are discounted accordingly.
"""

from dataclasses import dataclass, replace

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.data.matches import Matches
from nashboard.ratings.likelihood import newton, pair_totals, win_rates
from nashboard.ratings.prior import dispersion_of_games, measure_dispersion

ROUNDS = 30  # of the estimate of the variance of tastes, and of the weights of pairs; both converge geometrically
PRIOR_CLUSTERS = 4.0  # clusters of an agent for which its own scatter and that of the league have equal weight


def discount_clusters(matches: Matches, neutral: Matches | None = None) -> Matches:
    """Return the matches with their effective numbers of games, without clusters.

    The information about each agent becomes ``(sum W)^2 / sum of squared scores`` of its clusters: games of a pair are
    multiplied by ``a_i a_j``, with ``a`` such that the information about every agent has this value. ``neutral`` are
    the same matches as at a neutral place; they are discounted by the factors of the observed ones, which clusters
    have.
    """
    kept = matches if neutral is None else neutral
    if matches.clusters is None:
        return kept
    scores = score_clusters(matches)
    within = measure_dispersion(matches)
    single = dispersion_of_games(matches)
    scatter = scores.scatter(single, len(matches.agents))
    worth = weigh_pairs(matches, scores.information, within / np.maximum(scatter, within))
    share = worth * single / within
    return replace(
        kept,
        wins=kept.wins * share,
        draws=kept.draws * share,
        losses=kept.losses * share,
        fractions=None if kept.fractions is None else kept.fractions * share,
        clusters=None,
        sides=None,
    )


@dataclass(frozen=True, kw_only=True)
class ClusterScores:
    """The score of each agent in each cluster: points beyond those expected from the other clusters of the pair."""

    agent: Ints  # (k,) one row per agent and cluster
    score: Floats  # (k,)
    expected: Floats  # (k,) variance of the score if all games were independent and decisive
    weight: Floats  # (k,) information of the cluster's games about the agent: the effect of a taste of 1 on the score
    information: Floats  # (p,) information of the games of each pair

    def scatter(self, single: float, n: int) -> Floats:
        """Return the variance of each agent's score relative to independent decisive games; 0 without clusters.

        ``single`` is that of independent games. A taste of variance ``v`` adds ``v weight^2`` to the variance of a
        score; ``v`` is estimated by weighted least squares from all scores. An agent whose own scores scatter more
        than that, by more than one standard error, gets the mean of both, by its effective number of clusters.
        """
        variance, independent = 0.0, single * self.expected
        for _ in range(ROUNDS):
            model = independent + variance * self.weight**2
            trust = (self.weight / np.maximum(model, 1e-300)) ** 2
            variance = max(float(trust @ (self.score**2 - independent)), 0.0) / max(
                float(trust @ self.weight**2), 1e-300
            )
        model = independent + variance * self.weight**2
        modelled, observed, decisive, squares = (
            np.bincount(self.agent, part, n) for part in (model, self.score**2, self.expected, model**2)
        )
        clusters = modelled**2 / np.maximum(squares, 1e-300)
        own = (PRIOR_CLUSTERS + clusters * observed / np.maximum(modelled, 1e-300)) / (PRIOR_CLUSTERS + clusters)
        chance = np.sqrt(2 / (PRIOR_CLUSTERS + clusters))
        return np.asarray(modelled / np.maximum(decisive, 1e-300) * np.maximum(own - chance, 1.0))


def score_clusters(matches: Matches) -> ClusterScores:
    """Return the scores of all clusters relative to the other games of their pairs and one more as ratings predict."""
    split, n, pairs = matches.clusters, len(matches.agents), len(matches.pairs)
    assert split is not None
    (i, j), games = matches.pairs.T, matches.games
    totals, r = pair_totals(matches, prior=1.0), np.zeros(n + 1)
    newton(totals, r, np.ones(r.size, dtype=bool))
    p = win_rates(r[i] - r[j])
    points = matches.wins + matches.draws / 2
    q = (points + p) / (games + 1)
    code, where = np.unique(split.cluster * pairs + split.pair, return_inverse=True)
    m = np.bincount(where, split.wins + split.draws + split.losses)
    won, pair, cluster = np.bincount(where, split.wins + split.draws / 2), code % pairs, code // pairs
    others = np.maximum(games[pair] - m, 0.0) + 1
    residual = won - m * (points[pair] - won + p[pair]) / others
    coin = (q * (1 - q))[pair]
    keys, row = np.unique(np.concatenate([cluster * n + i[pair], cluster * n + j[pair]]), return_inverse=True)

    def add_up(part: Floats, sign: float = 1.0) -> Floats:
        return np.asarray(np.bincount(row, np.concatenate([part, sign * part]), keys.size), dtype=np.float64)

    return ClusterScores(
        agent=keys % n,
        score=add_up(residual, -1.0),
        expected=add_up(coin * m * (1 + m / others)),
        weight=add_up(coin * m),
        information=games * q * (1 - q),
    )


def weigh_pairs(matches: Matches, information: Floats, wanted: Floats) -> Floats:
    """Return ``a_i a_j`` of each pair, at most 1, so that each agent keeps the ``wanted`` share of its information."""
    (i, j), n = matches.pairs.T, len(matches.agents)
    total = np.bincount(i, information, n) + np.bincount(j, information, n)
    a = np.sqrt(wanted)
    for _ in range(ROUNDS):
        share = np.minimum(a[i] * a[j], 1.0)
        kept = np.bincount(i, information * share, n) + np.bincount(j, information * share, n)
        a *= np.sqrt(wanted * total / np.maximum(kept, 1e-300))
    return np.asarray(np.minimum(a[i] * a[j], 1.0))
