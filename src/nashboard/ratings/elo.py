"""Elo ratings by maximum likelihood of the pair counts.

Symbols: ``r`` ratings in logits, the average agent's (see `likelihood`) last; ``x = r[i] - r[j]`` leads.
"""

from collections.abc import Mapping
from typing import Literal, get_args

import numpy as np

from nashboard._tables import count
from nashboard._threads import threads_for
from nashboard._types import Bools, Floats
from nashboard._units import POINTS_PER_LOGIT
from nashboard.data.matches import Matches
from nashboard.errors import listed
from nashboard.ratings.anchors import checked_anchor
from nashboard.ratings.bootstrap import spread_of_ratings, spread_plan
from nashboard.ratings.elo_errors import standard_errors
from nashboard.ratings.elo_ratings import EloRatings
from nashboard.ratings.fields import chosen
from nashboard.ratings.likelihood import (
    PairTotals,
    checked_prior,
    loss,
    pair_totals,
    require_finite_maximum,
    require_matches,
)
from nashboard.ratings.newton import newton

Errors = Literal["hessian", "sandwich", "bootstrap"]
PRIOR = 0.01  # drawn games against the average agent


def elo(
    matches: Matches,
    *,
    prior: float = PRIOR,
    anchor: Mapping[str, float] | None = None,
    errors: Errors | None = None,
    n_resamples: int = 100,
    rng: int | np.random.Generator = 0,
    workers: int | None = None,
    backend: str | None = None,
    progress: bool = False,
) -> EloRatings:
    """Rate agents by maximum likelihood of the Elo model, ``P(a beats b) = 1 / (1 + 10^((r_b - r_a) / 400))``.

    Draws count half. The fit is exact: the gradient's norm is at most 1e-8. It depends on the pair counts
    only, not on the order of games.

    Parameters
    ----------
    matches
        Who met whom, and how it ended; all agents must be connected by matches.
    prior
        Each agent has so many more drawn games against an average agent, so that an unbeaten one stays
        finite. With 0 such agents are an error.
    anchor
        Ratings that are held: ``{"gnugo": 1800}``. All others are fitted around them. By default the mean is 0.
    errors
        ``"hessian"``: standard errors from the inverse Hessian, right where the model is. ``"sandwich"``:
        robust to a wrong model and to draws, and to dependence within clusters where the matches have them; where
        an agent's games tell little, as if it never lost, no less than they can tell (see `elo_errors`).
        ``"bootstrap"``: as robust, from fits to resampled games; it also sees what is not straight, such as an agent
        who hardly ever lost. By default ``"sandwich"`` where there are clusters.
    n_resamples, rng, workers, backend, progress
        For ``errors="bootstrap"``, as in `evaluate`: how often, the seed, who works, and whether to show how far it
        is. The ratings themselves depend on none of them.

    Examples
    --------
    >>> import nashboard as nb
    >>> matches = nb.Matches.from_counts([[0, 30], [10, 0]], agents=["ann", "bob"])
    >>> nb.elo(matches, prior=0).ratings.round(1)
    array([ 95.4, -95.4])
    >>> round(nb.elo(matches, prior=0).predict("ann", "bob"), 3)
    0.75

    References
    ----------
    Elo 1978, The rating of chess players; Bradley and Terry 1952; equation 2 of the paper.
    """
    matches = require_matches(matches, "elo")
    prior = checked_prior(prior)
    errors = errors or ("hessian" if matches.clusters is None else "sandwich")
    chosen(errors, get_args(Errors), "way to standard errors")
    plan = spread_plan(n_resamples, rng, workers, progress, backend) if errors == "bootstrap" else None
    matches.require_connected()
    if prior == 0:
        require_finite_maximum(matches)
    totals = pair_totals(matches, prior)
    r, free = held_ratings(matches, totals, anchor)
    with threads_for(len(matches.agents)):
        gradient_norm = newton(totals, r, free)
        x = r[totals.i] - r[totals.j]
        stderr = (
            spread_of_ratings(matches, totals, r, free, plan)
            if plan
            else standard_errors(matches, totals, x, free, robust=errors == "sandwich")
        )
    shift = 0.0 if anchor else r[:-1].mean()
    played = len(matches.pairs)
    return EloRatings(
        agents=matches.agents,
        ratings=(r[:-1] - shift) * POINTS_PER_LOGIT + 0.0,
        stderr=stderr * POINTS_PER_LOGIT,
        games=matches.games_per_agent,
        log_loss=loss_per_game(totals, x, played, matches.n_games),
        gradient_norm=gradient_norm,
        made=(
            f"maximum likelihood, {count(matches.n_games)} games, prior {prior:g} games per agent, "
            f"{held(anchor)}, errors by {errors}{f' of {plan.n_resamples:,} resamples' if plan else ''}"
        ),
    )


def held_ratings(matches: Matches, totals: PairTotals, anchor: Mapping[str, float] | None) -> tuple[Floats, Bools]:
    """Return where Newton's method starts, and which nodes may move: not the anchors, nor a node without games."""
    r, free = np.zeros(totals.nodes), np.ones(totals.nodes, dtype=bool)
    free[-1] = totals.i.size > len(matches.pairs)
    for k, points in checked_anchor(anchor, matches.agents).items():
        r[k], free[k] = points / POINTS_PER_LOGIT, False
    if anchor:
        r[free] = r[~free & (np.arange(r.size) < totals.agents)].mean()
    return r, free


def held(anchor: Mapping[str, float] | None) -> str:
    """Say in words what fixes the ratings' zero."""
    return f"anchored to {listed(anchor, 3)}" if anchor else "mean 0"


def loss_per_game(totals: PairTotals, x: Floats, played: int, games: float) -> float:
    """Return the mean loss of the games that were played, without the prior's."""
    return loss(totals.won[:played], totals.lost[:played], x[:played]) / games
