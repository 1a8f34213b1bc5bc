"""Appendix E: the online update of mElo2."""

import numpy as np

from nashboard._types import Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.online.models import OnlineMelo
from nashboard.paper.claim import Found, error
from nashboard.paper.part import Part


def part() -> Part:
    """Set one game of ours beside the routine that the paper prints."""
    moved_r, moved_c, slope = one_game()
    return Part(
        title="Appendix E: the update of mElo2",
        words="The same steps, in Elo points: a step of 16 is too large for logits.",
        found={
            "update.r": Found(value=moved_r, how="nb.OnlineMelo(k=1, rate=16), one game, in points"),
            "update.c": Found(value=moved_c, how="nb.OnlineMelo(k=1, cyclic_rate=1), one game"),
            "update.gradient": Found(value=slope, how="central differences of the lead x by c"),
            "update.units": Found(
                value=settles(1.0) < 0.1,
                how=f"1000 games: off by {settles(1.0):.2f}; in points by {settles(POINTS_PER_LOGIT):.2f}",
            ),
        },
    )


def lead(r: Floats, c: Floats) -> float:
    """Return the lead of the first of two agents as the paper prints it."""
    return float(r[0] - r[1] + c[0, 0] * c[1, 1] - c[1, 0] * c[0, 1])


def one_game() -> tuple[float, float, float]:
    """Return how far our step is from the printed one, in ratings and in planes, and the printed one from the slope."""
    league = OnlineMelo(k=1, rate=16, cyclic_rate=1, rng=7)
    for outcome in (1.0, 1.0, 0.0):
        league.update("i", "j", outcome)
    # The state itself, not its canonical form: an update is written for one choice of coordinates.
    r, c = league.league.ratings.copy(), league.league.cyclic.copy()
    delta = 1.0 - 1 / (1 + np.exp(-lead(r, c) / POINTS_PER_LOGIT))
    league.update("i", "j", 1.0)
    r_update = np.array([16 * delta, -16 * delta])
    # Printed as [coordinate][player].
    c_update = np.array([[delta * c[1, 1], -delta * c[0, 1]], [-delta * c[1, 0], delta * c[0, 0]]])
    h = 1e-4
    slopes = np.zeros((2, 2))
    for player, coordinate in np.ndindex(2, 2):
        up, down = c.copy(), c.copy()
        up[player, coordinate] += h
        down[player, coordinate] -= h
        slopes[coordinate, player] = (lead(r, up) - lead(r, down)) / (2 * h)
    return (
        error(league.league.ratings - r - r_update),
        error(league.league.cyclic - c - c_update.T),
        error(c_update - delta * slopes),
    )


def settles(unit: float, games: int = 1000) -> float:
    """Return the mean error of predictions in the second half of games won 3 times in 4; a logit is ``unit`` leads."""
    outcomes = np.random.default_rng(0).random(games) < 0.75
    r, errors = 0.0, []
    for won in outcomes:
        p = 1 / (1 + np.exp(-np.clip(2 * r / unit, -700, 700)))
        errors.append(abs(p - 0.75))
        r += 16 * (won - p)
    return float(np.mean(errors[games // 2 :]))
