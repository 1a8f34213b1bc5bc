"""Multidimensional Elo by maximum likelihood: ratings for what is transitive, planes for what goes round.

Symbols: as in `melo_loss`: ``Z`` ratings and planes in logits; at the border ratings are Elo points.
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from nashboard._tables import count
from nashboard._types import Floats
from nashboard._units import CYCLIC_PER_LOGIT, POINTS_PER_LOGIT
from nashboard.data.matches import Matches
from nashboard.errors import ConvergenceError, InputError
from nashboard.ratings.anchors import checked_anchor
from nashboard.ratings.canonical import orthogonal_planes
from nashboard.ratings.elo import PRIOR, elo, held, loss_per_game
from nashboard.ratings.elo_ratings import EloRatings
from nashboard.ratings.likelihood import PairTotals, checked_prior, pair_totals, require_finite_maximum, require_matches
from nashboard.ratings.melo_errors import melo_standard_errors
from nashboard.ratings.melo_fit import fitted
from nashboard.ratings.melo_loss import MeloLoss
from nashboard.ratings.melo_ratings import Candidate, MeloRatings

# Past this lead, in logits, a one-sided pair is on its way to infinity.
RUNAWAY = 14.0


def melo(
    matches: Matches,
    k: int | Literal["auto"] = 1,
    *,
    prior: float = PRIOR,
    cyclic_prior: float | None = None,
    anchor: Mapping[str, float] | None = None,
    orthogonal: bool = False,
    rng: int | np.random.Generator = 0,
) -> MeloRatings:
    """Rate agents by maximum likelihood of mElo with ``k`` planes, which also predicts who beats whom in cycles.

    Draws count half. The loss has several valleys: the fit starts from four or five places, among them the Hodge and
    Schur decompositions of the smoothed logits, each start goes on until the gradient's norm is at most 1e-8, and the
    best is kept; ``ends`` says where the others went. ``k=0`` is Elo.

    Parameters
    ----------
    matches
        Who met whom, and how it ended; all agents must be connected by matches.
    k
        How many planes (the paper's mElo_2k); or ``"auto"``: the number whose log-loss on held-out games is lowest in
        five-fold cross-validation, starting from 0 and up until it no longer helps. Folds are of games, or of clusters
        where the matches have them.
    prior
        As in `elo`: drawn games of each agent against an average agent.
    cyclic_prior
        How strongly the planes are held small: ``cyclic_prior / 8`` times the sum of their squared coordinates, as much
        curvature as so many games between equals give. By default as ``prior``.
    anchor
        One agent and its rating, ``{"gnugo": 1800}``; by default the mean is 0.
    orthogonal
        Hold the planes orthogonal to the ratings, as the paper does: a real restriction, which fits worse. Without it
        they are only centred, which is none.
    rng
        For ``k="auto"``, which deals games into folds.

    Notes
    -----
    Standard errors of the ratings are an approximation: from the inverse Hessian in ratings and planes together.

    Examples
    --------
    >>> import nashboard as nb
    >>> cycle = nb.Matches.from_counts([[0, 9, 1], [1, 0, 9], [9, 1, 0]], agents=["rock", "scissors", "paper"])
    >>> round(nb.elo(cycle).predict("rock", "scissors"), 2), round(nb.melo(cycle).predict("rock", "scissors"), 2)
    (0.5, 0.9)
    """
    matches = require_matches(matches, "melo")
    prior = checked_prior(prior)
    cyclic_prior = prior if cyclic_prior is None else checked_prior(cyclic_prior, "the cyclic prior")
    matches.require_connected()
    if prior == 0:
        require_finite_maximum(matches)
    origin = origin_of(matches, anchor)
    most = most_planes(len(matches.agents), orthogonal=orthogonal)
    candidates: tuple[Candidate, ...] = ()
    if k == "auto":
        from nashboard.ratings.selection import compared

        def landscape_of(part: Matches) -> MeloLoss:
            return MeloLoss(totals=pair_totals(part, prior), mu=cyclic_prior / 4, orthogonal=orthogonal)

        candidates = compared(matches, landscape_of, most, np.random.default_rng(rng))
        k = min(candidates, key=lambda candidate: candidate.log_loss).k
    planes = checked_k(k, most, len(matches.agents))
    if planes == 0:
        return without_planes(elo(matches, prior=prior, anchor=anchor), candidates)
    totals = pair_totals(matches, prior)
    landscape = MeloLoss(totals=totals, mu=cyclic_prior / 4, orthogonal=orthogonal)
    fit = fitted(matches, landscape, planes)
    x = landscape.leads(fit.Z)
    if cyclic_prior == 0:
        refuse_runaway(matches, totals, x)
    r, C = fit.Z[:-1, 0], fit.Z[:-1, 1:]
    points = (r - origin @ r) * POINTS_PER_LOGIT + sum((anchor or {}).values())
    return MeloRatings(
        agents=matches.agents,
        ratings=points + 0.0,
        cyclic=orthogonal_planes(C)[0] * CYCLIC_PER_LOGIT,
        stderr=melo_standard_errors(landscape, fit.Z, origin) * POINTS_PER_LOGIT,
        games=matches.games_per_agent,
        log_loss=loss_per_game(totals, x, len(matches.pairs), matches.n_games),
        gradient_norm=fit.gradient_norm,
        made=(
            f"maximum likelihood, {count(matches.n_games)} games, prior {prior:g} games per agent, "
            f"cyclic prior {cyclic_prior:g}, {held(anchor)}"
            + (", planes orthogonal to the ratings" if orthogonal else "")
        ),
        ends=fit.ends,
        candidates=candidates,
    )


def without_planes(ratings: EloRatings, candidates: tuple[Candidate, ...]) -> MeloRatings:
    """Return Elo ratings as mElo with no planes."""
    return MeloRatings(
        agents=ratings.agents,
        ratings=ratings.ratings,
        cyclic=np.zeros((len(ratings.agents), 0)),
        stderr=ratings.stderr,
        games=ratings.games,
        log_loss=ratings.log_loss,
        gradient_norm=ratings.gradient_norm,
        made=ratings.made,
        candidates=candidates,
    )


def origin_of(matches: Matches, anchor: Mapping[str, float] | None) -> Floats:
    """Return the weights of the mean that is taken out of the ratings: of all agents, or of the anchor."""
    n, places = len(matches.agents), list(checked_anchor(anchor, matches.agents))
    if not places:
        return np.full(n, 1 / n)
    if len(places) > 1:
        raise InputError(f"melo takes one anchor, not {len(places)}: with planes, ratings cannot be held one by one")
    return np.asarray(np.eye(n)[places[0]])


def most_planes(agents: int, *, orthogonal: bool) -> int:
    """Return how many planes there can be beside the constant (and the ratings)."""
    return (agents - 1 - orthogonal) // 2


def checked_k(k: object, most: int, agents: int) -> int:
    """Return the number of planes asked for, or say how many there can be."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k <= most:
        raise InputError(
            f"k is {k!r}: with {agents:,} agents there can be 0 to {most:,} planes (each takes two dimensions beside "
            f"the mean), or k='auto'"
        )
    return int(k)


def refuse_runaway(matches: Matches, totals: PairTotals, x: Floats) -> None:
    """Raise an error where the planes followed a one-sided pair to infinity."""
    one_sided = np.minimum(totals.won, totals.lost) == 0
    far = np.flatnonzero(one_sided & (np.abs(x) > RUNAWAY))
    if far.size:
        a, b = (matches.agents[node] for node in (totals.i[far[0]], totals.j[far[0]]))
        raise ConvergenceError(
            f"the likelihood of mElo has no maximum: {a!r} against {b!r} was entirely one-sided, and the planes follow "
            f"such pairs to infinity; pass a cyclic_prior= above 0"
        )
