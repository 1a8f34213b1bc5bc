"""Elo ratings: the fit to pair counts, and what it says.

Symbols: ``r`` ratings in logits, the average agent's (see `likelihood`) last; ``x = r[i] - r[j]`` leads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from nashboard._parallel import Plan, threads_for
from nashboard._tables import Column, count_of
from nashboard._text import listed
from nashboard._types import Bools, Floats, Ints, frozen_copy
from nashboard._units import POINTS_PER_LOGIT
from nashboard.algebra.flows import refuse_size
from nashboard.algebra.operators import gradient
from nashboard.data.games import Games
from nashboard.data.matches import Matches
from nashboard.data.validation import positions
from nashboard.errors import InputError, check_choice
from nashboard.ratings.bootstrap import bootstrap_covariance, spread_plan
from nashboard.ratings.errors import Covariance, origin_weights, rating_covariance
from nashboard.ratings.likelihood import (
    SMALL,
    PairTotals,
    Prior,
    check_prior,
    loss,
    newton,
    pair_totals,
    require_finite_maximum,
    require_matches,
    win_rates,
)
from nashboard.ratings.prior import LearnedPrior, learn_prior_of, measure_dispersion
from nashboard.ratings.rating import (
    Coefficient,
    Probabilities,
    Rating,
    check_fields,
    checked_anchor,
    describe_origin,
    moderation,
    read_fields,
)

Errors = Literal["hessian", "sandwich", "bootstrap"]
Draws = Literal["half", "davidson"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EloRatings(Rating):
    """One rating per agent; the difference of two ratings predicts how often one beats the other.

    Parameters
    ----------
    agents
        Names.
    ratings
        ``(n,)`` in Elo points: mean 0 over well-measured agents (those with at least a tenth of the average agent's
        information: usually all), unless anchored. A lead of 400 points wins 10 times for each loss.
    stderr
        ``(n,)`` standard errors in points, of the distance to the mean of the well-measured agents (or to the anchors);
        NaN where the way the ratings were made gives none. `difference` has those of differences.
    games
        ``(n,)`` games of each agent.
    log_loss
        Mean loss per game in nats, ``-log`` of the probability given to what happened, draws half and half.
        After a fit it is measured on the games that were fitted; online, on each game before it was used.
    gradient_norm
        Norm of the gradient of the loss where the fit ended (logits, all games); NaN where nothing was fitted.
    made
        How the ratings were made, in words.
    sigma, around_opponents
        Standard deviation of the learned prior in points, NaN without one, and whether it is around the mean of each
        agent's opponents.
    first_advantage
        What being the first side adds to a lead, in points with its standard error; None where it was not estimated.
    draw_strength
        ``nu`` of Davidson's model: between equals ``P(draw) = nu / (2 + nu)``; NaN where draws count half.
    coefficients
        What each covariate adds to the lead of the first agent, per unit, in points with its standard error.
    without_covariates
        ``(n,)`` ratings of the same games without covariates, to see what these change; None without covariates.
    covariance
        The covariance of the ratings in logits, from which all errors come; not part of `to_dict`.
    """

    kind: ClassVar[str] = "elo"
    label: ClassVar[str] = "Elo"
    agents: tuple[str, ...]
    ratings: Floats
    stderr: Floats
    games: Floats
    log_loss: float
    gradient_norm: float = np.nan
    made: str = "given as an array"
    sigma: float = np.nan
    around_opponents: bool = False
    first_advantage: Coefficient | None = None
    draw_strength: float = np.nan
    coefficients: tuple[Coefficient, ...] = ()
    without_covariates: Floats | None = None
    covariance: Covariance | None = None

    def __post_init__(self) -> None:
        check_fields(self, {"ratings": "the ratings", "stderr": "the standard errors", "games": "the games"})
        if self.without_covariates is not None:
            object.__setattr__(self, "without_covariates", frozen_copy(self.without_covariates))

    def lead(self, a: str, b: str, *, first: str | None = None) -> float:
        """Return how many points ``a`` is ahead of ``b`` when they meet; ``first``, one of them, has the first side."""
        i, j = positions((a, b), self.agents, kind="agent")
        lead = float(self.ratings[i] - self.ratings[j])
        if first is None:
            return lead
        if first not in (a, b):
            raise InputError(f"first is {first!r}: it must be {a!r} or {b!r}, or None for a neutral place")
        if self.first_advantage is None:
            raise InputError("the first side's advantage was not estimated: fit with first_advantage=True")
        return lead + self.first_advantage.value * (1 if first == a else -1)

    def predict(self, a: str, b: str, *, first: str | None = None) -> float:
        """Return the share of points that ``a`` is expected to take from ``b``; a draw is half a point.

        With a learned prior it is the mean over what the games leave open of the lead; otherwise equation 1.
        """
        win, draw, _ = self.probabilities(a, b, first=first)
        return win + draw / 2

    def probabilities(self, a: str, b: str, *, first: str | None = None) -> Probabilities:
        """Return the probabilities that ``a`` wins, draws and loses; draws have one where the fit modelled them."""
        i, j = positions((a, b), self.agents, kind="agent")
        x = self.lead(a, b, first=first) / POINTS_PER_LOGIT / float(moderation(self.lead_variances(i, j)))
        nu = 0.0 if np.isnan(self.draw_strength) else self.draw_strength
        if nu == 0:
            win, lose = win_rates(np.array([x, -x])).tolist()
            return Probabilities(win, 0.0, lose)
        weights = np.exp(np.array([x / 2, np.log(nu), -x / 2]) - max(abs(x) / 2, float(np.log(nu))))
        win, draw, lose = (weights / weights.sum()).tolist()
        return Probabilities(win, draw, lose)

    def leads_between(self, i: Any, j: Any) -> Floats:
        """Return leads in points between agents at positions ``i`` and ``j``."""
        return np.asarray(self.ratings[i] - self.ratings[j])

    def leads(self) -> Floats:
        """Return ``(n, n)`` points by which row leads column: ``grad(ratings)``."""
        refuse_size((len(self.agents),) * 2, "the matrix of leads", "use predict(a, b) for one pair")
        return gradient(self.ratings)

    def extra_columns(self) -> tuple[tuple[Column, Floats | Ints], ...]:
        """Return ratings and ranks without covariates, where there are covariates."""
        plain = self.without_covariates
        if plain is None:
            return ()
        ranks = np.argsort(np.argsort(-plain, kind="stable")) + 1
        return (
            (Column("plain", "rating without covariates", decimals=1), plain),
            (Column("plain rank", "rank without covariates"), ranks),
        )

    def notes(self) -> tuple[str, ...]:
        """Return how the ratings were made, and what else was estimated."""
        told = [self.first_advantage.sentence()] if self.first_advantage else []
        told += [one.sentence(" per unit") for one in self.coefficients]
        if not np.isnan(self.draw_strength):
            told.append(f"draws: {self.draw_strength / (2 + self.draw_strength):.1%} of games between equals")
        rough = self.covariance.accuracy if self.covariance is not None else 0.0
        if rough:
            told.append(f"standard errors are themselves known to about {rough:.0%}")
        return (self.made, *told)

    @staticmethod
    def from_dict(values: dict[str, Any]) -> "EloRatings":
        """Return the ratings that `to_dict` wrote down."""
        fields = read_fields(values, "elo")
        if fields.get("first_advantage") is not None:
            fields["first_advantage"] = Coefficient(**fields["first_advantage"])
        fields["coefficients"] = tuple(Coefficient(**c) for c in fields.get("coefficients", ()))
        return EloRatings(**fields)

    def __repr__(self) -> str:
        spread = f"{np.ptp(self.ratings):,.0f} points from last to first"
        return f"EloRatings({len(self.agents):,} agents, {spread}, log-loss {self.log_loss:.4f})"


def elo(
    matches: Any,
    *,
    prior: Prior = "learned",
    first_advantage: bool = False,
    draws: Draws = "half",
    covariates: Sequence[str] | None = None,
    anchor: Mapping[str, float] | None = None,
    errors: Errors | None = None,
    n_resamples: int = 100,
    rng: int | np.random.Generator = 0,
    workers: int | None = None,
    progress: bool = False,
) -> EloRatings:
    """Rate agents by the Elo model, ``P(a beats b) = 1 / (1 + 10^((r_b - r_a) / 400))``.

    The fit depends on the pair counts only, not on the order of games; the norm of its gradient is in the result.

    Parameters
    ----------
    matches
        Who met whom, and how it ended; all agents must be connected by matches. For ``covariates``, a log with one row
        per game: a `Games`, a data frame or a file, as in `read_games`.
    prior
        ``"learned"``: ratings are normal around their mean with a standard deviation that is learned from the games
        (marginal likelihood), so that an agent with one win is a little above average, not the champion. A number: each
        agent has so many drawn games against an average agent. 0 is maximum likelihood, in which an unbeaten agent
        is an error.
    first_advantage
        Estimate what the first side (white, home, the answer shown first) is worth, with its error. Where matches do
        not know who was first, the result has None and ``made`` says so.
    draws
        ``"half"``: a draw is half a win. ``"davidson"``: draws have a probability of their own, which is estimated.
    covariates
        Columns of the log that may sway a game, such as the difference of the two answers' lengths. A number in a row
        is its effect on the first agent; coefficients are estimated jointly with the ratings, without a prior.
    anchor
        Ratings that are held: ``{"gnugo": 1800}``. All others are fitted around them. By default the mean is 0.
    errors
        ``"sandwich"`` (the default): from the curvature, corrected for draws, and for dependence within clusters where
        the matches have them. ``"hessian"``: from the curvature alone. ``"bootstrap"``: from fits to resampled games.
    n_resamples, rng, workers, progress
        For ``errors="bootstrap"``, as in `evaluate`: how often, the seed, how many threads, and whether to show
        progress. The ratings themselves depend on none of them.

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
    Elo 1978, The rating of chess players; Bradley and Terry 1952; Davidson 1970; equation 2 of the paper.
    """
    prior = check_prior(prior)
    check_choice(draws, get_args(Draws), "way to count draws")
    errors = errors or "sandwich"
    check_choice(errors, get_args(Errors), "way to standard errors")
    if covariates or (first_advantage and isinstance(matches, Games) and matches.cluster is not None):
        return fit_with_rows(matches, prior, first_advantage, draws, covariates or (), anchor, errors)
    matches = require_matches(matches.matches() if isinstance(matches, Games) else matches, "elo")
    plan = spread_plan(n_resamples, rng, workers, progress) if errors == "bootstrap" else None
    matches.require_connected()
    if prior == 0:
        require_finite_maximum(matches)
    unknown = []
    if first_advantage and matches.sides is None:
        first_advantage = False
        unknown.append("who was first is not known, so no advantage of the first side was estimated")
    undrawn = draws == "davidson" and not matches.draws.any()
    if undrawn:  # the maximum of the likelihood is at probability 0
        draws = "half"
        unknown.append("no game was drawn, so draws have probability 0")
    if first_advantage or draws == "davidson":
        return fit_with_rows(matches, prior, first_advantage, draws, (), anchor, errors)
    return fit_pairs(matches, prior, anchor, errors, plan, unknown, draw_strength=0.0 if undrawn else np.nan)


def fit_pairs(
    matches: Matches,
    prior: Prior,
    anchor: Mapping[str, float] | None = None,
    errors: Errors = "hessian",
    plan: Plan | None = None,
    unknown: Sequence[str] = (),
    draw_strength: float = np.nan,
) -> EloRatings:
    """Fit ratings alone to pair counts; with a learned prior, groups that never met are no obstacle."""
    with threads_for(len(matches.agents), scipy=len(matches.agents) >= SMALL):
        totals, learned, r, free = prepare(matches, prior, anchor)
        gradient_norm = newton(totals, r, free)
        x = r[totals.i] - r[totals.j]
        log_variance = learned.log_variance if learned else 0.0
        if plan:
            weights = origin_weights(matches) if free[:-1].all() else np.zeros(len(matches.agents))
            covariance = bootstrap_covariance(matches, totals, r, free, weights, plan, log_variance)
        else:
            robust = errors == "sandwich"
            covariance = rating_covariance(matches, totals, x, free, robust=robust, log_variance=log_variance)
    return EloRatings(
        agents=matches.agents,
        ratings=points(r[:-1], covariance),
        stderr=np.sqrt(covariance.variances) * POINTS_PER_LOGIT,
        games=matches.games_per_agent,
        log_loss=loss_per_game(totals, x, len(matches.pairs), matches.n_games),
        gradient_norm=gradient_norm,
        sigma=totals.sigma * POINTS_PER_LOGIT,
        around_opponents=around_opponents(totals),
        draw_strength=draw_strength,
        covariance=covariance,
        made="; ".join(
            [
                f"{count_of(matches.n_games, 'games')}, {describe_prior(prior, totals)}, "
                f"{describe_origin(anchor, matches.agents, covariance.weights)}, "
                f"errors by {errors}{f' of {plan.n_resamples:,} resamples' if plan else ''}",
                *unknown,
            ]
        ),
    )


def prepare(
    matches: Matches, prior: Prior, anchor: Mapping[str, float] | None
) -> tuple[PairTotals, LearnedPrior | None, Floats, Bools]:
    """Return the totals with their prior, what was learned of it, a start, and the free nodes."""
    learned, start = None, np.zeros(len(matches.agents) + 1)
    if prior == "learned":
        learned = learn_prior_of(matches, start)
        totals = pair_totals(matches, sigma=learned.sigma, normal=learned.normal)
    else:
        totals = pair_totals(matches, float(prior))
    r, free = start_ratings(matches, totals, anchor)
    return totals, learned, start if learned and not anchor else r, free


def fit_with_rows(
    data: Any,
    prior: Prior,
    first_advantage: bool,
    draws: Draws,
    covariates: Sequence[str],
    anchor: Mapping[str, float] | None,
    errors: Errors,
) -> EloRatings:
    """Fit ratings together with a side's advantage, a draw parameter or covariates."""
    if errors == "bootstrap":
        raise InputError("errors='bootstrap' is for ratings alone: leave errors out")
    from nashboard.ratings.regression import FIRST, design, fit_rows

    matches, rows = design(data, first_advantage, covariates)
    with threads_for(len(matches.agents)):
        totals, _, r, free = prepare(matches, prior, anchor)
        if totals.normal is not None and draws == "davidson":  # draws have their own likelihood: clusters alone scatter
            single = measure_dispersion(replace(matches, clusters=None))
            totals = replace(totals, normal=replace(totals.normal, dispersion=totals.normal.dispersion / single))
        fit = fit_rows(
            rows, totals.prior_edges(len(matches.pairs)), r, free,
            origin=origin_weights(matches),
            davidson=draws == "davidson", robust=errors == "sandwich", learned=prior == "learned",
        )  # fmt: skip
        totals = replace(totals, sigma=fit.sigma)
    found = tuple(
        Coefficient(name=name, value=float(b) * POINTS_PER_LOGIT, stderr=float(error) * POINTS_PER_LOGIT)
        for name, b, error in zip(rows.names, fit.b, fit.extra_errors, strict=False)
    )
    plain = elo(matches, prior=prior, anchor=anchor, errors="hessian").ratings if covariates else None
    extras = [*(["the first side"] if first_advantage else []), *covariates]
    extras += ["draws (Davidson)"] if draws == "davidson" else []
    return EloRatings(
        agents=matches.agents,
        ratings=points(fit.r[:-1], fit.covariance),
        stderr=np.sqrt(fit.covariance.variances) * POINTS_PER_LOGIT,
        games=matches.games_per_agent,
        log_loss=fit.log_loss,
        gradient_norm=fit.gradient_norm,
        sigma=fit.sigma * POINTS_PER_LOGIT,
        around_opponents=around_opponents(totals),
        first_advantage=next((c for c in found if c.name == FIRST), None) if first_advantage else None,
        draw_strength=np.nan if fit.eta is None else float(np.exp(fit.eta)),
        coefficients=tuple(c for c in found if c.name != FIRST or not first_advantage),
        without_covariates=plain,
        covariance=fit.covariance,
        made=(
            f"{count_of(matches.n_games, 'games')}, fitted with {' and '.join(extras)}, "
            f"{describe_prior(prior, totals, fit.centred_on)}, "
            f"{describe_origin(anchor, matches.agents, fit.covariance.weights)}, errors by {errors}"
        ),
    )


def points(r: Floats, covariance: Covariance) -> Floats:
    """Return ratings in Elo points from the origin of their errors: mean 0 of well-measured agents unless anchored."""
    return np.asarray((r - covariance.weights @ r) * POINTS_PER_LOGIT + 0.0)


def start_ratings(matches: Matches, totals: PairTotals, anchor: Mapping[str, float] | None) -> tuple[Floats, Bools]:
    """Return where Newton's method starts, and which nodes may move: not the anchors, nor a node without games."""
    r, free = np.zeros(totals.nodes), np.ones(totals.nodes, dtype=bool)
    free[-1] = totals.i.size > len(matches.pairs)
    for k, rating in checked_anchor(anchor, matches.agents).items():
        r[k], free[k] = rating / POINTS_PER_LOGIT, False
    if anchor:
        r[free] = r[~free & (np.arange(r.size) < totals.agents)].mean()
    else:  # the log-odds of each agent's points, which saves a step or two
        won = matches.per_agent(matches.wins + matches.draws / 2, matches.losses + matches.draws / 2)
        r[:-1] = np.log((won + 0.5) / (matches.games_per_agent - won + 0.5))
    return r, free


def around_opponents(totals: PairTotals) -> bool:
    """Return whether ratings have a normal prior around the mean of each agent's opponents."""
    return totals.normal is not None and totals.normal.deviations is not None


def describe_prior(prior: Prior, totals: PairTotals, centred_on: Sequence[str] = ()) -> str:
    """Return in words what the prior was."""
    if totals.normal is not None:
        around = ["each agent's opponents"] if around_opponents(totals) else []
        around += [f"what each agent's mean of {listed(centred_on)} suggests"] if centred_on else []
        text = f"learned prior of {totals.sigma * POINTS_PER_LOGIT:.0f} points"
        return f"{text} around {' and '.join(around)}" if around else text
    return f"prior of {prior:g} drawn games per agent" if prior else "maximum likelihood"


def loss_per_game(totals: PairTotals, x: Floats, played: int, games: float) -> float:
    """Return the mean loss of the games that were played, without the prior's."""
    return loss(totals.won[:played], totals.lost[:played], x[:played]) / games
