"""Games with a first side (home, white, left) as games at a neutral place.

A first side's advantage raises the results of agents who are often first. Where it is shown, a share of the points of
the side that it favours becomes the other side's, such that the expected share is that of the ratings alone.
"""

from dataclasses import replace

import numpy as np

from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import Matches, Sides
from nashboard.ratings.likelihood import newton, pair_totals, solver, win_rates
from nashboard.ratings.prior import measure_dispersion
from nashboard.ratings.rating import Coefficient

SHOWN = 2.0  # standard errors from which an advantage is taken out: as large a bias would be left in otherwise
FEWEST_GAMES = 30  # with a first side, below which an advantage and its error are not estimated


def neutralise_sides(matches: Matches) -> tuple[Matches, Coefficient | None]:
    """Return the matches with the results to expect at a neutral place, and the advantage that was shown.

    Examples
    --------
    >>> import nashboard as nb
    >>> games = {"home": ["a", "b", "c"] * 40, "away": ["b", "c", "a"] * 40, "result": ["1-0"] * 90 + ["0-1"] * 30}
    >>> matches, advantage = neutralise_sides(nb.read_matches(games))
    >>> round(advantage.value)
    191
    >>> (matches.wins / matches.games).round(2)
    array([0.5, 0.5, 0.5])
    """
    from nashboard.ratings.elo import elo

    sides = matches.sides
    if sides is None or not shows_advantage(matches, sides):
        return replace(matches, sides=None), None
    fit = elo(matches, first_advantage=True)
    advantage = fit.first_advantage
    if advantage is None or abs(advantage.value) < SHOWN * advantage.stderr:
        return replace(matches, sides=None), None
    r = fit.ratings / POINTS_PER_LOGIT
    i, j = matches.pairs.T
    h = advantage.value / POINTS_PER_LOGIT
    neutral = np.maximum(
        np.stack([matches.wins, matches.draws, matches.losses], axis=1) - sides.first - sides.second, 0.0
    )
    counts = neutral + move_points(sides.first, r[i] - r[j], h)
    counts += move_points(sides.second[:, ::-1], r[j] - r[i], h)[:, ::-1]
    share = None if matches.fractions is None else matches.fractions * counts.sum(axis=1) / matches.games
    wins, draws, losses = counts.T
    return replace(matches, wins=wins, draws=draws, losses=losses, fractions=share, sides=None), advantage


def shows_advantage(matches: Matches, sides: Sides) -> bool:
    """Return whether first sides got more or fewer points than ratings explain, beyond chance (Rao's score test).

    Ratings explain a part of an advantage where some agents are first more often than others: the variance of the
    points is what the ratings leave, ``I_hh - I_hr I_rr^-1 I_rh``.
    """
    if sides.played.sum() < FEWEST_GAMES:
        return False
    totals, r = pair_totals(matches, prior=1.0), np.zeros(len(matches.agents) + 1)
    everyone = np.ones(r.size, dtype=bool)
    newton(totals, r, everyone)
    _, curvatures = totals.derivatives(r[totals.i] - r[totals.j])
    p = win_rates(r[matches.pairs[:, 0]] - r[matches.pairs[:, 1]])
    first, second = sides.first.sum(axis=1), sides.second.sum(axis=1)
    won = float((sides.first @ [1.0, 0.5, 0.0] + sides.second @ [0.0, 0.5, 1.0]).sum())
    expected = float((first * p + second * (1 - p)).sum())
    both = np.zeros(totals.i.size)
    both[: p.size] = (first - second) * p * (1 - p)
    onto = totals.onto_nodes(both)
    explained = float(onto @ solver(totals.nodes, totals.i, totals.j, curvatures, everyone, rtol=1e-6, lift=True)(onto))
    chance = measure_dispersion(matches) * max(float((sides.played * p * (1 - p)).sum()) - explained, 0.0)
    return (won - expected) ** 2 > SHOWN**2 * chance and 0 < won < sides.played.sum()


def move_points(counts: Floats, lead: Floats, advantage: float) -> Floats:
    """Return wins, draws and losses of the first side, ``(p, 3)``, as at a neutral place.

    With an advantage ``h`` and a lead ``x``, ``1 - p(x) / p(x + h)`` of its wins and draws become losses. Games count
    as the information ``p (1 - p)`` at ``x + h`` beside that at ``x``: a game that one side nearly always wins says
    little. If ``h`` is negative the same is done for the second side.
    """
    if advantage < 0:
        return move_points(counts[:, ::-1], -lead, -advantage)[:, ::-1]
    p, q = win_rates(lead + advantage), win_rates(lead)
    kept = (q / p)[:, None] * counts[:, :2]
    lost = counts.sum(axis=1) - kept.sum(axis=1)
    worth = p * (1 - p) / (q * (1 - q))
    return np.asarray(worth[:, None] * np.column_stack([kept, lost]))
