"""What Elo predicts for pairs that never met, in the units of the pairs that did.

The payoff of a pair that met is ``log(won / lost)`` of counts to which half of ``prior`` games was added on each side:
10 wins of 10 are 3.0 with a prior of one game, however strong the winner. A prediction can stand beside such payoffs
only if it comes from the same counts. So Elo is fitted to the smoothed counts of every pair that met,

    sum over met pairs of (won + prior / 2) log(1 + e^(-x)) + (lost + prior / 2) log(1 + e^x),    x = r_i - r_j.

At its minimum every agent's expected points equal its smoothed points. So where the smoothed payoffs are differences of
ratings, these are the ratings, and a pair that was left out gets what it would have been measured at; and an agent's
lead over those it met is, on average over its games, neither above nor below what its payoffs say. Fitted to the
counts as they are, an agent who never lost would lead by as much as the tiny prior of `elo` allows (some thousand
points), and those it never met would lose more to it than those it beat every time.

A copy of an agent copies its smoothed counts, as it copies its counts: the fit moves with copies as Elo does, no
more. `evaluate` takes copies together before anything is filled, so there nothing moves.
"""

from dataclasses import replace

import numpy as np

from nashboard._types import Floats
from nashboard.data.matches import Matches
from nashboard.ratings.likelihood import WEAK, pair_totals
from nashboard.ratings.newton import newton


def smoothed_ratings(matches: Matches, prior: float, start: Floats | None = None) -> Floats:
    """Return Elo ratings of connected agents in logits, the average agent's last, fitted to smoothed counts.

    ``prior`` is the pseudo-games per pair that met, as in `payoffs`; from ``start`` a refit takes few steps.
    """
    totals, pairs = pair_totals(matches, WEAK), len(matches.pairs)
    won, lost = totals.won.copy(), totals.lost.copy()  # after the pairs, each agent's games with the average agent
    won[:pairs] += prior / 2
    lost[:pairs] += prior / 2
    r = np.zeros(totals.nodes) if start is None else start.copy()
    newton(replace(totals, won=won, lost=lost), r, np.ones(totals.nodes, dtype=np.bool_))
    return r


def predicted_log_odds(matches: Matches, prior: float, start: Floats | None = None) -> Floats:
    """Return what Elo predicts for all pairs ``(n, n)``, to fill in those that never met."""
    r = smoothed_ratings(matches, prior, start)[:-1]
    return np.asarray(r[:, None] - r[None, :])
