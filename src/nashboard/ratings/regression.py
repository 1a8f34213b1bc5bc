"""Elo with more than ratings: an advantage of the first side, a draw parameter, covariates; fitted jointly.

Symbols: rows of games between the same two agents under the same conditions; ``x = r[i] - r[j] + Z b`` the lead of i
in logits, with columns ``Z`` (rows, q) and coefficients ``b``. With draws as half a win the loss is that of
`likelihood`. The model of Davidson (1970) has, with ``nu = e^eta``,

    P(win), P(draw), P(loss)  proportional to  e^(x/2), nu, e^(-x/2),

so that ``P(win) / P(loss) = e^x``: a lead keeps its meaning. Parameters are ``r`` of all nodes (the average agent
last), ``b``, and ``eta`` where draws are modelled; the last two have no prior.

Where better agents also write longer answers, a prior that shrinks ratings alone would leave to the effect what it
takes from them. So a learned prior is one of ``r - means g``: ``means`` are what of each covariate goes with the agents
(`typical_values`), and ``g`` is fitted with them (the correlated random effects of Mundlak 1978). Then ``b`` comes from
what varies between games of the same agents.

Newton's method eliminates ``r``, whose Hessian is a graph Laplacian, and solves for the few others exactly.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array, diags_array, hstack
from scipy.special import expit

from nashboard._parallel import threads_for
from nashboard._text import listed
from nashboard._types import Bools, Floats, Ints
from nashboard.data.games import COUNTS, Games
from nashboard.data.matches import Matches
from nashboard.data.table.exact_sums import add_exactly
from nashboard.errors import ConvergenceError, InputError
from nashboard.ratings.errors import Covariance, LinearLeague, Parts, Results, Score, embed, incidence, with_prior_edges
from nashboard.ratings.likelihood import DENSE, SCALE, PairTotals, centre, pair_totals, solver
from nashboard.ratings.prior import FittedRows, LearnedPrior, learn_prior

MOST_STEPS = 200
TOLERANCE = 1e-8
LONGEST = 8.0  # logits between opponents that one step may move: far out the loss is straight, and steps overshoot
ALMOST_NOTHING = 1e-6  # relative to one game


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Games grouped by pair and conditions: results seen from ``i``, columns ``Z`` for the lead of ``i``."""

    agents: tuple[str, ...]
    i: Ints
    j: Ints
    wins: Floats
    draws: Floats
    losses: Floats
    fractions: Floats
    Z: Floats
    names: tuple[str, ...]
    cluster: Ints | None = None

    @cached_property
    def games(self) -> Floats:
        """Games of each row."""
        return np.asarray(self.wins + self.draws + self.losses)


@dataclass(frozen=True, kw_only=True, eq=False)
class RowFit:
    """Ratings of all nodes, coefficients and the draw parameter in logits, with their covariance."""

    r: Floats
    b: Floats
    eta: float | None
    sigma: float  # of the prior, NaN without a normal one
    centred_on: tuple[str, ...]  # covariates of agents that the prior expects to go with ratings
    extra_errors: Floats  # of the coefficients, and of eta where draws are modelled
    covariance: Covariance
    log_loss: float
    gradient_norm: float


FIRST = "first side"


def design(data: Any, first_advantage: bool, covariates: Sequence[str]) -> tuple[Matches, Rows]:
    """Return matches, and their games grouped by pair and conditions."""
    names = (covariates,) if isinstance(covariates, str) else tuple(covariates)
    if not names and isinstance(data, Matches):
        return data, rows_by_side(data) if first_advantage else rows_of_pairs(data)
    if isinstance(data, Matches):
        raise InputError("covariates need games one by one, not counts: pass the log itself, or nb.read_games of it")
    if not isinstance(data, Games):
        from nashboard.data.read import read_games

        data = read_games(data, covariates=names, grouped=True)
    missing = [name for name in names if name not in data.covariates]
    if missing:
        raise InputError(f"the games have no covariate {missing[0]!r}: read them with read_games(covariates=[...])")
    return rows_of_games(data, names, first_advantage=first_advantage)


def rows_by_side(matches: Matches) -> Rows:
    """Return the games of each pair split by who was first, with a column for the advantage."""
    sides = matches.sides
    assert sides is not None
    whole = np.stack([matches.wins, matches.draws, matches.losses], axis=1)
    split = np.zeros(len(whole)) if matches.fractions is None else matches.fractions / matches.games
    neutral = np.maximum(whole - sides.first - sides.second, 0.0)
    counts = np.concatenate([sides.first, sides.second, neutral])
    side = np.repeat([1.0, -1.0, 0.0], len(whole))
    place = np.tile(np.arange(len(whole)), 3)
    kept = counts.sum(axis=1) > 0
    if not side[kept].any():
        raise InputError("all games are neutral: there is no first side whose advantage could be estimated")
    i, j = matches.pairs[place[kept]].T
    wins, draws, losses = counts[kept].T
    return Rows(
        agents=matches.agents, i=i, j=j, wins=wins, draws=draws, losses=losses, Z=side[kept][:, None], names=(FIRST,),
        fractions=split[place[kept]] * counts[kept].sum(axis=1),
    )  # fmt: skip


def rows_of_games(games: Games, covariates: Sequence[str], *, first_advantage: bool) -> tuple[Matches, Rows]:
    """Return the matches of a log, and its games grouped by pair, covariates and cluster."""
    matches = games.matches()
    place = {name: k for k, name in enumerate(matches.agents)}
    number = np.array([place.get(name, -1) for name in games.agents])
    i, j = number[games.first], number[games.second]
    columns = [np.asarray(games.covariates[name]) for name in covariates]
    if first_advantage:
        played: Floats = np.ones(i.size) if games.neutral is None else np.where(games.neutral, 0.0, 1.0)
        columns.insert(0, played)
    Z = np.stack(columns, axis=1)
    wins, losses = games.wins, games.losses
    flip = i > j  # seen from the lower of the two, so that a pair is grouped whoever was first
    i, j, Z = np.minimum(i, j), np.maximum(i, j), np.where(flip[:, None], -Z, Z) + 0.0
    wins, losses = np.where(flip, losses, wins), np.where(flip, wins, losses)
    split = np.zeros(i.size) if games.fractions is None else games.fractions
    frame = pl.DataFrame({"i": i, "j": j, "wins": wins, "draws": games.draws, "losses": losses, "fractions": split})
    frame = frame.with_columns(pl.Series(f"z{k}", column) for k, column in enumerate(Z.T))
    keys = ["i", "j", *(f"z{k}" for k in range(Z.shape[1]))]
    if games.cluster is not None:
        frame, keys = frame.with_columns(cluster=games.cluster), [*keys, "cluster"]
    summed = (*COUNTS, "fractions")
    rows = add_exactly(frame, keys, summed).sort(keys)
    names = (*([FIRST] if first_advantage else []), *covariates)
    return matches, Rows(
        agents=matches.agents,
        **{name: rows[name].to_numpy() for name in ("i", "j", *summed)},
        Z=np.ascontiguousarray(rows.select(keys[2 : 2 + Z.shape[1]]).to_numpy()),
        names=names,
        cluster=None if games.cluster is None else rows["cluster"].to_numpy(),
    )


def rows_of_pairs(matches: Matches) -> Rows:
    """Return one row per pair (and cluster, where matches have them), without columns."""
    split = matches.clusters
    if split is None:
        i, j = matches.pairs.T
        counts = matches.wins, matches.draws, matches.losses
        fractions, cluster = matches.fractions, None
    else:
        i, j = matches.pairs[split.pair].T
        counts, cluster = (split.wins, split.draws, split.losses), split.cluster
        fractions = None  # clusters show the scatter themselves
    return Rows(
        agents=matches.agents, i=i, j=j, wins=counts[0], draws=counts[1], losses=counts[2], Z=np.zeros((i.size, 0)),
        fractions=np.zeros(i.size) if fractions is None else fractions, names=(), cluster=cluster,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """The loss of rows of games, with the prior's edges from ``totals``, whose last rows join the average agent."""

    rows: Rows
    prior: PairTotals  # the prior's edges only
    means: Floats  # (n, m)
    Z: Floats  # (rows and edges, q + m) of b and g
    davidson: bool

    @staticmethod
    def of(rows: Rows, prior: PairTotals, means: Floats, *, davidson: bool) -> "Problem":
        """Return the problem; ``means`` are of the ratings that the prior expects."""
        padded = np.concatenate([means, np.zeros((1, means.shape[1]))])
        Z = np.zeros((rows.i.size + prior.i.size, rows.Z.shape[1] + means.shape[1]))
        Z[: rows.i.size, : rows.Z.shape[1]] = rows.Z
        Z[rows.i.size :, rows.Z.shape[1] :] = padded[prior.j] - padded[prior.i]
        return Problem(rows=rows, prior=prior, means=means, Z=Z, davidson=davidson)

    @cached_property
    def i(self) -> Ints:
        """The first node of each row and edge."""
        return np.concatenate([self.rows.i, self.prior.i])

    @cached_property
    def j(self) -> Ints:
        """The second node of each row and edge."""
        return np.concatenate([self.rows.j, self.prior.j])

    @cached_property
    def ridge(self) -> Floats:
        """Precision of the effects: ``g`` is normal with the scale of the spread of ratings, so that it is finite."""
        q, m = self.rows.Z.shape[1], self.means.shape[1]
        return np.concatenate([np.zeros(q), np.full(m, SCALE**-2)])

    def leads(self, r: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Return the leads on rows, and on the prior's edges."""
        lead = r[self.i] - r[self.j] + self.Z @ b
        return lead[: self.rows.i.size], lead[self.rows.i.size :]

    def with_sigma(self, sigma: float) -> "Problem":
        """Return the problem with another standard deviation of the prior."""
        return replace(self, prior=replace(self.prior, sigma=sigma))

    def split(self, lead: Floats, eta: float) -> tuple[Floats, Floats, Floats]:
        """Return the probabilities of win, draw and loss on each row."""
        if not self.davidson:
            p = expit(lead)
            return p, np.zeros_like(p), 1 - p
        top = np.maximum(np.abs(lead) / 2, eta)
        win, draw, loss = np.exp(lead / 2 - top), np.exp(eta - top), np.exp(-lead / 2 - top)
        total = win + draw + loss
        return win / total, draw / total, loss / total

    def loss(self, point: "Point") -> float:
        """Return the loss at a point."""
        rows, eta = self.rows, point.eta
        lead, x = self.leads(point.r, point.b)
        if self.davidson:
            top = np.maximum(np.abs(lead) / 2, eta)
            norm = top + np.log(np.exp(lead / 2 - top) + np.exp(eta - top) + np.exp(-lead / 2 - top))
            played = float((rows.games * norm - (rows.wins - rows.losses) * lead / 2 - rows.draws * eta).sum())
        else:
            won, lost = rows.wins + rows.draws / 2, rows.losses + rows.draws / 2
            played = float((won * np.logaddexp(0, -lead) + lost * np.logaddexp(0, lead)).sum())
        return played + float(self.ridge @ point.b**2) / 2 + (self.prior.loss(x) if x.size else 0.0)


def fit_rows(
    rows: Rows,
    prior: PairTotals,
    r: Floats,
    free: Bools,
    *,
    origin: Floats,
    davidson: bool,
    robust: bool = True,
    learned: bool = False,
) -> RowFit:
    """Fit ratings and coefficients; ``r`` is the start, ``free`` the nodes that may move.

    With ``learned`` the standard deviation of the prior is learned again: with draws or covariates apart, ratings
    differ more than without.
    """
    n, q = len(rows.agents), rows.Z.shape[1]
    scale = np.sqrt((rows.games @ rows.Z**2) / rows.games.sum()) if q else np.zeros(0)
    if (scale == 0).any():
        dead = rows.names[int(np.flatnonzero(scale == 0)[0])]
        raise InputError(f"the covariate {dead!r} is 0 in every game and has no effect: leave it out")
    eta = first_eta(rows) if davidson else 0.0
    rows = replace(rows, Z=rows.Z / scale)
    means, centred_on = typical_values(rows) if learned else (np.zeros((n, 0)), ())
    problem = Problem.of(rows, prior, means, davidson=davidson)
    point = Point(r=r, b=np.zeros(q + means.shape[1]), eta=eta)
    log_variance = 0.0
    if learned:
        chosen, point = learn_row_prior(problem, point)
        problem = problem.with_sigma(chosen.sigma)
        log_variance = chosen.log_variance
        point = replace(point, r=np.where(free, point.r, r))
    point, system, norm = minimise_rows(problem, point, free)
    covariance, extra = system.covariance(problem, n, robust=robust, weights=origin if free[:n].all() else np.zeros(n))
    if log_variance:
        right = system.fitted(problem, point).from_means_back(problem.prior.prior_slopes(system.x))
        move = system.solve_all(right[np.append(system.kept, np.arange(n + 1, right.size))]) * np.sqrt(log_variance)
        covariance = covariance.widened(system.of_agents(move, n))
        extra += move[system.kept.size :] ** 2
    errors = np.sqrt(extra)
    return RowFit(
        r=point.r,
        b=point.b[:q] / scale,
        eta=point.eta if davidson else None,
        sigma=problem.prior.sigma,
        centred_on=centred_on,
        extra_errors=np.append(errors[:q] / scale, errors[point.b.size :]),
        covariance=covariance,
        log_loss=half_point_loss(problem, system.lead, point.eta) / float(rows.games.sum()),
        gradient_norm=norm,
    )


def first_eta(rows: Rows) -> float:
    """Return where the search for the draw parameter starts: right if all agents were equal."""
    if not rows.draws.any():
        raise InputError("draws='davidson' estimates how often games are drawn, and no game was: use draws='half'")
    share = float(rows.draws.sum() / rows.games.sum())
    return float(np.log(share / max((1 - share) / 2, 1e-6)))


def fit_draws(matches: Matches, prior: float) -> tuple[Floats, float, float]:
    """Return ratings in logits, ``nu`` and the norm of the gradient, without the standard errors of `fit_rows`."""
    rows, totals = rows_of_pairs(matches), pair_totals(matches, prior)
    free = np.ones(totals.nodes, dtype=bool)
    free[-1] = prior > 0
    none = np.zeros((len(matches.agents), 0))
    problem = Problem.of(rows, totals.prior_edges(len(matches.pairs)), none, davidson=True)
    start = Point(r=np.zeros(totals.nodes), b=np.zeros(0), eta=first_eta(rows))
    with threads_for(len(matches.agents)):
        point, _, norm = minimise_rows(problem, start, free)
    return point.r[:-1], float(np.exp(point.eta)), norm


@dataclass(frozen=True, kw_only=True, eq=False)
class Point:
    """Ratings of all nodes, coefficients, and the logarithm of the draw parameter."""

    r: Floats
    b: Floats
    eta: float


def minimise_rows(problem: Problem, point: Point, free: Bools) -> tuple[Point, "System", float]:
    """Return the minimum of the loss by Newton's method, the system there, and the norm of the gradient."""
    rows, effects = problem.rows, point.b.size
    nodes = problem.prior.nodes_in_play(free)
    kept = np.flatnonzero(free[:nodes])
    tolerance = TOLERANCE * max(1.0, float(np.sqrt(rows.games.sum())) * 1e-4)
    start = problem.loss(point)
    for _ in range(MOST_STEPS):
        system = linearise(problem, point, nodes, kept)
        if not system.separable:
            raise InputError(
                f"without a learned prior {listed(rows.names)} cannot be separated from ratings: what varies between "
                f"agents only is part of how strong they are"
            )
        norm = float(np.linalg.norm(system.gradient))
        if norm <= tolerance:
            return point, system, norm
        step = -system.solve_all(system.gradient)
        move, step_b = np.zeros_like(point.r), step[kept.size :]
        move[kept] = step[: kept.size]
        slope = float(system.gradient @ step)
        length = 1.0 / max(1.0, float(np.abs(move[problem.i] - move[problem.j]).max(initial=0.0)) / LONGEST)
        while True:
            there = Point(
                r=point.r + length * move,
                b=point.b + length * step_b[:effects],
                eta=point.eta + length * float(step_b[effects:].sum()),
            )
            new = problem.loss(there)
            if new <= start + 1e-4 * length * slope + 1e-12 * abs(start) or length < 1e-8:
                break
            length /= 2
        point, start = there, new
        if abs(slope) < 1e-14 * max(1.0, abs(start)):  # rounding decides: the step gains nothing more
            return point, linearise(problem, point, nodes, kept), norm
    raise ConvergenceError(
        f"the fit with {', '.join(rows.names) or 'draws'} did not converge: the gradient's norm is {norm:.2g}; "
        f"a covariate may decide all games by itself"
    )


def learn_row_prior(problem: Problem, point: Point) -> tuple[LearnedPrior, Point]:
    """Return the learned prior of rows, and the fit under it."""
    n, here = problem.prior.agents, [point]

    def under(sigma: float) -> FittedRows:
        there = problem.with_sigma(sigma)
        here[0], system, _ = minimise_rows(there, here[0], np.ones(n + 1, dtype=bool))
        return system.fitted(there, here[0])

    assert problem.prior.normal is not None
    start = 2 * float(np.log(problem.prior.sigma))
    learned = learn_prior(under, problem.prior.normal, close=1e-3, start=start)
    return learned.for_all_agents(), here[0]


def typical_values(rows: Rows) -> tuple[Floats, tuple[str, ...]]:
    """Return what of each covariate goes with the agents, ``(n, m)`` with mean square 1, and which covariates do.

    A covariate is ``Z = z[i] - z[j] + noise`` with a normal ``z``, whose best linear prediction is returned; the two
    variances are those of the analysis of variance. Where agents differ no more than their noise, there is no column.
    """
    n, weights = len(rows.agents), rows.games
    i, j = np.append(rows.i, np.arange(n)), np.append(rows.j, np.full(n, n))
    freedom = max(float(weights.sum()), rows.i.size) - (n - 1)
    little, everyone, found = ALMOST_NOTHING * float(weights.mean()), np.ones(n + 1, dtype=bool), {}
    for name, column in zip(rows.names, rows.Z.T, strict=True) if freedom > 0 else ():
        pull = weights * column
        right = np.asarray(np.bincount(rows.i, pull, n + 1) - np.bincount(rows.j, pull, n + 1))
        # noise relative to the variance of agents: nearly none, then that which the first solution shows
        solve = solver(n + 1, i, j, np.append(weights, np.full(n, little)), everyone, rtol=1e-6, lift=True)
        between = float(right @ solve(right))
        noise = max(float(pull @ column) - between, 0.0) / freedom
        own = (between - noise * (n - 1)) / (2 * float(weights.sum()))
        if own <= ALMOST_NOTHING:
            continue
        solve = solver(n + 1, i, j, np.append(weights, np.full(n, max(noise / own, little))), everyone, rtol=1e-6)
        z = centre(solve(right)[:n])
        found[name] = z / np.sqrt((z**2).mean())
    return np.stack([np.zeros(n), *found.values()], axis=1)[:, 1:], tuple(found)


def half_point_loss(problem: Problem, lead: Floats, eta: float) -> float:
    """Return the loss of expected points, draws half and half, so that models with and without draws compare."""
    win, draw, loss = problem.split(lead, eta)
    rows, p = problem.rows, np.clip(win + draw / 2, 1e-300, 1.0)
    q = np.clip(loss + draw / 2, 1e-300, 1.0)
    return -float(((rows.wins + rows.draws / 2) * np.log(p) + (rows.losses + rows.draws / 2) * np.log(q)).sum())


@dataclass(frozen=True, kw_only=True, eq=False)
class System:
    """The loss near a point: its gradient, the Hessian's blocks, and the solver of the ratings' block.

    The first values are of the free nodes, the others of the extras: effects, and ``eta`` where draws are modelled.
    """

    lead: Floats
    x: Floats
    gradient: Floats
    cross: Floats  # (free nodes, extras)
    own: Floats  # (extras, extras)
    solve: Callable[[Floats], Floats]
    h: Floats
    slopes: Floats  # d loss / d lead by row
    eta_slopes: Floats
    kept: Ints
    nodes: int

    @cached_property
    def W(self) -> Floats:
        """How ratings move with the extras, with the sign turned."""
        return self.solve(self.cross) if self.cross.size else self.cross

    @cached_property
    def rest(self) -> Floats:
        """What of the extras' block of the Hessian ratings do not explain."""
        return np.asarray(self.own - self.cross.T @ self.W)

    @property
    def separable(self) -> bool:
        """Whether games separate the extras from ratings, beyond rounding."""
        return bool((np.diag(self.rest) > 1e-10 * np.diag(self.own)).all())

    @cached_property
    def of_extras(self) -> Floats:
        """The extras' block of the inverse Hessian."""
        return np.asarray(np.linalg.inv(self.rest) if self.rest.size else self.rest)

    def solve_all(self, v: Floats) -> Floats:
        """Return the inverse Hessian times ``v``."""
        size = self.kept.size
        extras = self.of_extras @ (v[size:] - self.W.T @ v[:size])
        return np.concatenate([self.solve(v[:size]) - self.W @ extras, extras])

    def of_agents(self, values: Floats, n: int) -> Floats:
        """Return values of the free nodes as values of agents, 0 for anchors."""
        full = np.zeros(self.nodes)
        full[self.kept] = values[: self.kept.size]
        return full[:n]

    def fitted(self, problem: Problem, point: Point) -> FittedRows:
        """Return what a prior is learned from."""
        rows, (n, m), more = problem.rows, problem.means.shape, self.eta_slopes.size > 0
        win, _, loss = problem.split(self.lead, point.eta)
        decided, lean = win + loss, win - loss
        # an eighth of the third cumulant of 1, 0, -1, and a sixteenth of the fourth
        bend = rows.games * (lean - 3 * lean * decided + 2 * lean**3) / 8
        curl = rows.games * (decided - 4 * lean**2 - 3 * decided**2 + 12 * lean**2 * decided - 6 * lean**4) / 16
        q = point.b.size - m
        return FittedRows(
            np.append(point.r[:n] - problem.means @ point.b[q:], point.r[n]), self.solve_all, rows.i, rows.j,
            self.h[: rows.i.size], bend, curl, np.pad(problem.Z[: rows.i.size], ((0, 0), (0, more))),
            np.pad(problem.means, ((0, 0), (q, more))),
        )  # fmt: skip

    def covariance(self, problem: Problem, n: int, *, robust: bool, weights: Floats) -> tuple[Covariance, Floats]:
        """Return the covariance of the ratings and the variances of the extras."""
        size = self.kept.size
        V = self.solve(np.eye(size)) if size <= DENSE else None
        score = self.score(problem, V) if robust else None
        M = None if score is None else self.score_matrix(problem, score)
        G = np.concatenate([-self.W, np.eye(self.W.shape[1])]) @ self.of_extras  # extras move by G' times the score
        extra = self.of_extras if M is None else np.asarray(G.T @ (M @ G))
        if V is None:
            zeros = np.zeros(self.h.size)
            edges = replace(problem.prior, i=problem.i, j=problem.j, won=zeros, lost=zeros)
            league = LinearLeague(totals=edges, curvatures=self.h, kept=self.kept, nodes=self.nodes, solve=self.solve)
            covariance = league.sampled(score, weights)
            bends, axes = np.linalg.eigh(extra)
            for move in (self.W @ axes * np.sqrt(np.maximum(bends, 0.0))).T:  # what extras leave open of the ratings
                covariance = covariance.widened(self.of_agents(move, n))
            return covariance, np.diag(extra).copy()
        top = np.concatenate([V - self.W @ G[:size].T, G[:size]], axis=1)
        C = top[:, :size] if M is None else top @ (M @ top.T)
        return Covariance.of(embed((C + C.T) / 2, self.kept, self.nodes)[:n, :n], weights), np.diag(extra).copy()

    def score(self, problem: Problem, V: Floats | None) -> Score | None:
        """Return the covariance of the slopes by the leads; None where it is the Hessian; ``V`` of the free nodes."""
        rows = problem.rows
        if rows.cluster is None and (problem.davidson or not (rows.draws.any() or rows.fractions.any())):
            return None
        R, won = rows.i.size, rows.wins + rows.draws / 2
        parts = None
        if rows.cluster is not None:
            size = int(rows.cluster.max()) + 1
            parts = Parts(size=size, cluster=rows.cluster, row=np.arange(R), games=rows.games, won=won)
        results = Results(
            agents=len(rows.agents), i=rows.i, j=rows.j, p=(self.slopes + won) / rows.games, h=self.h[:R], won=won,
            lost=rows.losses + rows.draws / 2, shared=rows.draws / 4 + rows.fractions, parts=parts,
        )  # fmt: skip
        inverse = None if V is None else embed(V, self.kept, self.nodes)
        return with_prior_edges(results, problem.i, problem.j, self.h, inverse, problem.prior.normal)

    def score_matrix(self, problem: Problem, score: Score) -> csr_array:
        """Return ``M`` of the free nodes and the extras."""
        edges = incidence(max(self.nodes, int(problem.j.max()) + 1), problem.i, problem.j)[:, self.kept]
        J = hstack([edges, csr_array(problem.Z)]).tocsr()
        prior = csr_array(diags_array(np.concatenate([np.zeros(self.kept.size), problem.ridge])))
        if not self.eta_slopes.size:
            return csr_array(score.matrix(J) + prior)
        by_lead = (J.T @ J.multiply(score.variance[:, None]) + prior).tocsr()
        by_lead.resize((J.shape[1] + 1, J.shape[1] + 1))  # eta moves no lead: only clusters show its scatter
        assert score.clusters is not None
        assert problem.rows.cluster is not None
        clusters = score.clusters.shape[0]
        eta = np.bincount(problem.rows.cluster, self.eta_slopes, clusters) * np.sqrt(clusters / max(clusters - 1, 1))
        both = hstack([score.clusters @ J, csr_array(eta[:, None])]).tocsr()
        return csr_array(by_lead + both.T @ both)


def linearise(problem: Problem, point: Point, nodes: int, kept: Ints) -> System:
    """Return gradients and Hessian at a point."""
    rows, prior, Z, size = problem.rows, problem.prior, problem.Z, point.r.size
    games = rows.games
    lead, x = problem.leads(point.r, point.b)
    win, draw, loss = problem.split(lead, point.eta)
    if problem.davidson:
        slopes = (games * (win - loss) - (rows.wins - rows.losses)) / 2
        h = games * ((win + loss) - (win - loss) ** 2) / 4
        k = -games * (win - loss) * draw / 2
        eta_slopes = games * draw - rows.draws
    else:
        slopes = games * win - (rows.wins + rows.draws / 2)
        h = games * win * loss
        k, eta_slopes = np.zeros(0), np.zeros(0)
    prior_slopes, prior_h = prior.derivatives(x) if x.size else (np.zeros(0), np.zeros(0))
    all_slopes, all_h = np.concatenate([slopes, prior_slopes]), np.concatenate([h, prior_h])

    def onto(values: Floats) -> Floats:
        i, j = problem.i[: values.size], problem.j[: values.size]
        return np.asarray(np.bincount(i, values, minlength=size) - np.bincount(j, values, minlength=size))[kept]

    columns = [onto(all_h * column) for column in Z.T]
    own = (Z * all_h[:, None]).T @ Z + np.diag(problem.ridge)
    gradient = np.concatenate([onto(all_slopes), Z.T @ all_slopes + problem.ridge * point.b])
    if problem.davidson:
        columns.append(onto(k))
        effects, own = own, np.zeros((len(own) + 1, len(own) + 1))
        own[:-1, :-1] = effects
        own[-1, :-1] = own[:-1, -1] = Z[: k.size].T @ k
        own[-1, -1] = (games * draw * (1 - draw)).sum()
        gradient = np.append(gradient, eta_slopes.sum())
    free = np.zeros(nodes, dtype=bool)
    free[kept] = True
    return System(
        lead=lead, x=x, gradient=gradient, own=own, slopes=slopes, eta_slopes=eta_slopes, h=all_h,
        cross=np.stack(columns, axis=1) if columns else np.zeros((kept.size, 0)), kept=kept, nodes=nodes,
        solve=solver(nodes, problem.i, problem.j, all_h, free, rtol=1e-6, lift=True),
    )  # fmt: skip
