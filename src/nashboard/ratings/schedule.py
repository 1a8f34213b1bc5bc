"""Does the learned prior decide what games should? It takes agents as drawn at random, whoever they meet.

Divisions and matchmaking break this: agents who meet are alike, so their games suggest a small spread, and the prior
pulls distant agents together. Pairing by results, as in Swiss tournaments, does not break it: results are part of the
data. Games alone often cannot show which it was, so users are told the condition.
"""

from dataclasses import replace

import numpy as np

from nashboard._types import Floats
from nashboard.data.matches import Matches
from nashboard.ratings.likelihood import PairTotals, pair_totals
from nashboard.ratings.newton import fit_totals, learn_sigma

WEAK = 0.01  # drawn games per agent
FEWEST, MOST = 8, 2_000  # agents: correlations of fewer mean little, and fits of more take long
LEAGUES = 19  # simulated: the largest of 20 exchangeable values has a probability of 5%
CLEAR = 0.25  # difference of the correlations below which the prior hardly changes who is near whom


def relies_on_prior(matches: Matches) -> bool:
    """Return whether the learned prior matters so much that its assumption about the schedule should be told.

    Either the games determine less than half of the ratings (their variance under the prior over that of the prior,
    MacKay's number of well-determined parameters), or opponents are more alike than a schedule at random explains.
    """
    n = len(matches.agents)
    if not FEWEST <= n <= MOST or matches.coverage == 1:
        return False
    sigma = learn_sigma(matches).sigma
    weak, learned = pair_totals(matches, WEAK), pair_totals(matches, sigma=sigma)
    if fit_totals(learned, np.zeros(n)).var() < sigma**2 / 2:
        return True
    return follows_strength(weak, learned, sigma)


def follows_strength(weak: PairTotals, learned: PairTotals, sigma: float) -> bool:
    """Return whether ratings of opponents agree more without the learned prior than it expects, at the 5% level.

    The statistic is the correlation of the ratings of opponents over all games, under a weak prior minus under the
    learned one. Both are near 0 for schedules at random, and both are high for Swiss tournaments. Where strength
    decided who met whom, the first is high and the second is not. Leagues of the learned prior with the same schedule
    show how large it is by chance.
    """
    seen = excess(weak, learned)
    if seen < CLEAR:
        return False
    rng, played = np.random.default_rng(0), weak.i.size - weak.agents
    games = np.rint(weak.won[:played] + weak.lost[:played]).astype(np.int64)
    for _ in range(LEAGUES):
        r = rng.normal(0, sigma, weak.agents)
        x = r[weak.i[:played]] - r[weak.j[:played]]
        won = rng.binomial(games, 1 / (1 + np.exp(-x))).astype(np.float64)
        if excess(with_points(weak, won, games - won), with_points(learned, won, games - won)) >= seen:
            return False
    return True


def excess(weak: PairTotals, learned: PairTotals) -> float:
    """Return how much more the ratings of opponents agree under the weak prior than under the learned one."""
    return opponent_correlation(weak) - opponent_correlation(learned)


def opponent_correlation(totals: PairTotals) -> float:
    """Return the correlation of the fitted ratings of both sides over all games."""
    r = fit_totals(totals, np.zeros(totals.agents))
    played = totals.i.size - totals.agents
    i, j, games = totals.i[:played], totals.j[:played], totals.won[:played] + totals.lost[:played]
    mean = games @ (r[i] + r[j]) / (2 * games.sum())
    variance = games @ ((r[i] - mean) ** 2 + (r[j] - mean) ** 2) / 2
    return float(games @ ((r[i] - mean) * (r[j] - mean)) / variance) if variance > 0 else 0.0


def with_points(totals: PairTotals, won: Floats, lost: Floats) -> PairTotals:
    """Return the totals with other points on the pairs that were played; the rows of the prior stay."""
    played = won.size
    return replace(
        totals,
        won=np.concatenate([won, totals.won[played:]]),
        lost=np.concatenate([lost, totals.lost[played:]]),
    )
