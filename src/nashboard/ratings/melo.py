"""Multidimensional Elo: ratings for what is transitive, planes for cycles; the fit, and what it says.

Symbols: as in `melo_fit`: ``Z`` ratings and planes in logits; at the border ratings are Elo points.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, diags_array

from nashboard._tables import Column, Table, count_of
from nashboard._types import Floats, Ints, floats, frozen_copy, read_only
from nashboard._units import CYCLIC_PER_LOGIT, POINTS_PER_LOGIT
from nashboard.algebra.flows import refuse_size
from nashboard.algebra.operators import gradient
from nashboard.data.matches import Matches
from nashboard.data.validation import checked_names, positions
from nashboard.errors import ConvergenceError, InputError
from nashboard.ratings import kernels
from nashboard.ratings.elo import EloRatings, around_opponents, describe_prior, elo, loss_per_game
from nashboard.ratings.errors import PROBES, Covariance, Score, origin_weights, score_covariance
from nashboard.ratings.likelihood import PairTotals, Prior, check_prior, require_finite_maximum, require_matches
from nashboard.ratings.melo_fit import (
    Candidate,
    End,
    LocalModel,
    MeloLoss,
    centred,
    fitted,
    orthogonal_planes,
    product,
)
from nashboard.ratings.rating import (
    Rating,
    check_fields,
    checked_anchor,
    describe_origin,
    read_fields,
    require_finite,
)

PART_IN_CYCLES = (
    "part in cycles: the product of the numbers of two agents is the most that a plane adds to their match, Elo points"
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MeloRatings(Rating):
    """A rating per agent, and planes in which agents go round: what predicts cycles that Elo cannot (section 3.1).

    The lead of ``a`` over ``b`` is ``ratings[a] - ratings[b]``, plus ``c[a, 0] c[b, 1] - c[b, 0] c[a, 1]`` per plane.

    Parameters
    ----------
    agents
        Names.
    ratings
        ``(n,)`` in Elo points: mean 0 over well-measured agents, unless anchored. What agents gain on average,
        since the planes are centred.
    cyclic
        ``(n, 2k)``, two columns per plane, in square roots of points, so that products are points. After a fit in
        canonical form: centred, columns orthogonal, the strongest plane first, each turned so that the agent furthest
        out lies at angle 0 (the first of them on a tie).
    stderr
        ``(n,)`` standard errors of the ratings in points; an approximation (see `melo`). NaN where there are none.
    games, log_loss, gradient_norm, made, sigma, around_opponents
        As in `EloRatings`.
    ends
        Where each start of the fit ended, the best first: one valley or several?
    candidates
        The numbers of planes that were compared, where ``k="auto"`` was asked for.
    covariance
        The covariance of the ratings in logits; not part of `to_dict`.
    """

    kind: ClassVar[str] = "melo"
    label: ClassVar[str] = "mElo"
    agents: tuple[str, ...]
    ratings: Floats
    cyclic: Floats
    stderr: Floats
    games: Floats
    log_loss: float
    gradient_norm: float = np.nan
    made: str = "given as arrays"
    sigma: float = np.nan
    around_opponents: bool = False
    ends: tuple[End, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    covariance: Covariance | None = None

    def __post_init__(self) -> None:
        check_fields(self, {"ratings": "the ratings", "stderr": "the standard errors", "games": "the games"})
        cyclic = floats(self.cyclic, "the cyclic part", ndim=2)
        if cyclic.shape[0] != len(self.agents) or cyclic.shape[1] % 2:
            raise InputError(
                f"the cyclic part has shape {cyclic.shape}: it needs one row for each of {len(self.agents):,} agents "
                f"and two columns per plane"
            )
        require_finite(cyclic, "the cyclic part")
        object.__setattr__(self, "cyclic", frozen_copy(cyclic))

    @staticmethod
    def from_arrays(ratings: ArrayLike, cyclic: ArrayLike, agents: Iterable[object] | None = None) -> "MeloRatings":
        """Make a model of ratings ``(n,)`` and a cyclic part ``(n, 2k)`` made elsewhere; they are kept as they are.

        Ratings are Elo points; the cyclic part is in units whose products are Elo points. ``canonical()`` brings any
        model into the form that a fit has.
        """
        r = floats(ratings, "the ratings", ndim=1)
        unknown = np.full(r.size, np.nan)
        return MeloRatings(
            agents=checked_names(agents, size=r.size, kind="agent"),
            ratings=r,
            cyclic=floats(cyclic, "the cyclic part", ndim=2),
            stderr=unknown,
            games=np.zeros(r.size),
            log_loss=np.nan,
        )

    def canonical(self) -> "MeloRatings":
        """Return the same predictions in canonical form, with mean rating 0."""
        r, C = centred(self.ratings, self.cyclic)
        return replace(self, ratings=r - r.mean(), cyclic=orthogonal_planes(C)[0], covariance=None)

    @property
    def k(self) -> int:
        """How many planes."""
        return int(self.cyclic.shape[1]) // 2

    @property
    def size(self) -> int:
        """How many agents."""
        return len(self.agents)

    @cached_property
    def strengths(self) -> Floats:
        """``(k,)`` strength of each plane in points, as of `Schur`: the squared length of its columns."""
        return read_only(orthogonal_planes(centred(self.ratings, self.cyclic)[1])[1])

    @cached_property
    def spread(self) -> float:
        """How far apart the starts ended: worst minus best mean loss per game, in nats."""
        return self.ends[-1].loss - self.ends[0].loss if self.ends else 0.0

    def lead(self, a: str, b: str) -> float:
        """Return how many points ``a`` is ahead of ``b`` when they meet."""
        i, j = positions((a, b), self.agents, kind="agent")
        return float(self.columns(np.array([j]))[i, 0])

    def columns(self, indices: Ints) -> Floats:
        """Return ``(n, m)`` leads in points of every agent over the chosen ones, in O(n m k)."""
        there = self.ratings[indices], self.cyclic[indices]
        return np.asarray(self.ratings[:, None] - there[0] + product(self.cyclic, there[1]))

    def product(self, weights: Floats) -> Floats:
        """Return ``(n,)`` mean leads in points against a mixture of agents, in O(n k); no matrix is formed."""
        mean = (weights @ self.cyclic)[None]
        gain = self.ratings * weights.sum() - weights @ self.ratings
        return np.asarray(gain + product(self.cyclic, mean)[:, 0])

    def leads(self) -> Floats:
        """Return ``(n, n)`` points by which row leads column, antisymmetric to the last bit."""
        refuse_size((self.size, self.size), "the matrix of leads", "use columns(indices), product(weights) or predict")
        half = self.cyclic[:, 0::2] @ self.cyclic[:, 1::2].T
        return gradient(self.ratings) + (half - half.T)

    def leads_between(self, i: Any, j: Any) -> Floats:
        """Return leads in points between agents at positions ``i`` and ``j``."""
        C = self.cyclic
        planes = C[i, 0::2] * C[j, 1::2] - C[i, 1::2] * C[j, 0::2]
        return np.asarray(self.ratings[i] - self.ratings[j] + planes.sum(axis=-1))

    def extra_columns(self) -> tuple[tuple[Column, Floats | Ints], ...]:
        """Return how far out agents lie in each plane."""
        reach = np.hypot(self.cyclic[:, 0::2], self.cyclic[:, 1::2])
        return tuple(
            (Column(name=f"plane {t + 1}", meaning=PART_IN_CYCLES, decimals=1), reach[:, t]) for t in range(self.k)
        )

    def notes(self) -> tuple[str, ...]:
        """Return how the ratings were made, and how the fit went."""
        if not self.ends:
            return (self.made,)
        return (self.made, f"{len(self.ends)} starts reached log-losses within {self.spread:.2g} of each other")

    def selection(self) -> Table:
        """Return the numbers of planes that were compared for ``k="auto"``, with their cross-validated log-loss."""
        best = min((c.log_loss for c in self.candidates), default=np.nan)
        return Table.of(
            self.candidates,
            Column("k", "number of planes"),
            Column("log-loss", "mean loss per game on games held out, in nats", decimals=5, cell="log_loss"),
            Column("stderr", "its standard error over the parts held out", decimals=5),
            Column("chosen", "whether it is used: the smallest log-loss", cell=lambda one: one.log_loss == best),
            title="planes by cross-validation",
        )

    @staticmethod
    def from_dict(values: dict[str, Any]) -> "MeloRatings":
        """Return the ratings that `to_dict` wrote down."""
        fields = read_fields(values, "melo")
        fields["ends"] = tuple(End(**end) for end in fields.get("ends", ()))
        fields["candidates"] = tuple(Candidate(**candidate) for candidate in fields.get("candidates", ()))
        fields["cyclic"] = np.reshape(fields["cyclic"], (len(fields["agents"]), -1))
        return MeloRatings(**fields)

    def __repr__(self) -> str:
        planes = f"{self.k} plane{'s' * (self.k != 1)}"
        return f"MeloRatings({self.size:,} agents, {planes}, log-loss {self.log_loss:.4f})"


# Past this lead, in logits, a one-sided pair is on its way to infinity.
RUNAWAY = 14.0


def melo(
    matches: Matches,
    k: int | Literal["auto"] = 1,
    *,
    prior: Prior = "learned",
    cyclic_prior: Prior | None = None,
    anchor: Mapping[str, float] | None = None,
    orthogonal: bool = False,
    stderr: bool = True,
    rng: int | np.random.Generator = 0,
) -> MeloRatings:
    """Rate agents by mElo with ``k`` planes, which also predicts who beats whom in cycles.

    Draws count half. The loss has several valleys: the fit starts from four or five places, among them the Hodge and
    Schur decompositions of the smoothed logits, each start goes on until the gradient's norm is at most 1e-8, and the
    best is kept; ``ends`` says where the others went. With more than 300 agents every start is first fitted to about
    six digits of the loss, and only the best goes on. ``k=0`` is Elo.

    Parameters
    ----------
    matches
        Who met whom, and how it ended; all agents must be connected by matches.
    k
        How many planes (the paper's mElo_2k); or ``"auto"``: the number whose log-loss on held-out games is lowest in
        five-fold cross-validation, starting from 0 and up until it no longer helps. Folds are of games, or of clusters
        where the matches have them.
    prior
        As in `elo`: ``"learned"``, or drawn games of each agent against an average agent.
    cyclic_prior
        How strongly the planes are held small. ``"learned"``: coordinates are normal, with the standard deviation that
        predicts held-out games best; planes that do not predict vanish. A number: ``cyclic_prior / 8`` times the sum of
        their squared coordinates, as much curvature as so many games between equals give. By default as ``prior``.
    anchor
        One agent and its rating, ``{"gnugo": 1800}``; by default the mean is 0.
    orthogonal
        Hold the planes orthogonal to the ratings, as the paper does: a real restriction, which fits worse. Without it
        they are only centred, which is none.
    stderr
        Whether to compute standard errors of the ratings, which can take half of the time with many agents; without
        them they are NaN.
    rng
        For held-out games: which are dealt into which fold.

    Notes
    -----
    Standard errors of the ratings are an approximation: from the Hessian in ratings and planes together.

    Examples
    --------
    >>> import nashboard as nb
    >>> cycle = nb.Matches.from_counts([[0, 90, 10], [10, 0, 90], [90, 10, 0]], agents=["rock", "scissors", "paper"])
    >>> round(nb.elo(cycle).predict("rock", "scissors"), 2), round(nb.melo(cycle).predict("rock", "scissors"), 1)
    (0.5, 0.9)
    """
    from nashboard.ratings.held_out import Landscapes, compared

    matches = require_matches(matches, "melo")
    prior = check_prior(prior)
    cyclic_prior = prior if cyclic_prior is None else check_prior(cyclic_prior, "cyclic_prior")
    matches.require_connected()
    if prior == 0:
        require_finite_maximum(matches)
    places = list(checked_anchor(anchor, matches.agents))
    if len(places) > 1:
        raise InputError(f"melo takes one anchor, not {len(places)}: with planes, an anchor only shifts all ratings")
    most = (len(matches.agents) - 1 - orthogonal) // 2  # beside the constant (and the ratings)
    if k != "auto":
        k = checked_k(k, most, len(matches.agents))
    candidates: tuple[Candidate, ...] = ()
    generator = np.random.default_rng(rng)
    landscapes = Landscapes.of(matches, prior, cyclic_prior, orthogonal=orthogonal, planes=k, rng=generator)
    if k == "auto":
        candidates = compared(matches, landscapes, most, generator)
        k = min(candidates, key=lambda tried: (round(tried.log_loss, 6), tried.k)).k  # planes without effect are none
    if k == 0:
        return without_planes(elo(matches, prior=prior, anchor=anchor), candidates)
    landscape = landscapes(matches)
    totals = landscape.totals
    fit = fitted(matches, landscape, k)
    x = landscape.leads(fit.Z)
    if cyclic_prior == 0:
        refuse_runaway(matches, totals, x[: landscape.played])
    r, C = fit.Z[:-1, 0], fit.Z[:-1, 1:]
    n = len(matches.agents)
    known = origin_weights(matches) if not places else np.eye(n)[places[0]]
    covariance = None
    if stderr:
        covariance = melo_covariance(landscape, fit.Z, matches, known)
    points = (r - known @ r) * POINTS_PER_LOGIT + sum((anchor or {}).values())
    spread = f"learned {CYCLIC_PER_LOGIT / np.sqrt(landscape.mu):.2g}" if cyclic_prior == "learned" else cyclic_prior
    return MeloRatings(
        agents=matches.agents,
        ratings=points + 0.0,
        cyclic=orthogonal_planes(C)[0] * CYCLIC_PER_LOGIT,
        stderr=np.full(n, np.nan) if covariance is None else np.sqrt(covariance.variances) * POINTS_PER_LOGIT,
        games=matches.games_per_agent,
        log_loss=loss_per_game(totals, x, len(matches.pairs), matches.n_games),
        gradient_norm=fit.gradient_norm,
        sigma=totals.sigma * POINTS_PER_LOGIT,
        around_opponents=around_opponents(totals),
        made=(
            f"{count_of(matches.n_games, 'games')}, {describe_prior(prior, totals)}, cyclic prior {spread}, "
            f"{describe_origin(anchor, matches.agents, known)}"
            + (", planes orthogonal to the ratings" if orthogonal else "")
        ),
        ends=fit.ends,
        candidates=candidates,
        covariance=covariance,
    )


def without_planes(ratings: EloRatings, candidates: tuple[Candidate, ...]) -> MeloRatings:
    """Return Elo ratings as mElo with no planes."""
    shared = ("agents", "ratings", "stderr", "games", "log_loss", "gradient_norm", "made", "sigma", "covariance",
              "around_opponents")  # fmt: skip
    fields: dict[str, Any] = {name: getattr(ratings, name) for name in shared}
    return MeloRatings(**fields, cyclic=np.zeros((len(ratings.agents), 0)), candidates=candidates)


def checked_k(k: object, most: int, agents: int) -> int:
    """Return the number of planes asked for, or say how many there can be."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k <= most:
        raise InputError(
            f"k is {k!r}: with {agents:,} agents there can be 0 to {most:,} planes (each takes two dimensions beside "
            f"the mean)",
            hint="use a smaller number, or {option}",
            option={"k": "auto"},
        )
    return int(k)


def refuse_runaway(matches: Matches, totals: PairTotals, x: Floats) -> None:
    """Raise an error where the planes followed a one-sided pair to infinity."""
    one_sided = np.minimum(totals.won, totals.lost)[: x.size] == 0
    far = np.flatnonzero(one_sided & (np.abs(x) > RUNAWAY))
    if far.size:
        a, b = (matches.agents[node] for node in (totals.i[far[0]], totals.j[far[0]]))
        raise ConvergenceError(
            f"the likelihood of mElo has no maximum: {a!r} against {b!r} was entirely one-sided, and the planes follow "
            f"such pairs to infinity",
            hint="pass a {option} above 0",
            option="cyclic_prior",
        )


DENSE = 3000  # unknowns up to which the Hessian is formed


def melo_covariance(landscape: MeloLoss, Z: Floats, matches: Matches, origin: Floats) -> Covariance:
    """Return the covariance of the ratings in logits, relative to ``origin' r`` for weights (n,) that sum to 1.

    The Hessian is taken in ratings and planes together. Directions that change no prediction (constants, turns of the
    planes) are known exactly and lifted; all others are kept, however little is known of them.
    """
    n = landscape.totals.agents
    local = landscape.local(Z)
    if Z.size <= DENSE:
        score = melo_score(landscape, Z, matches)
        unit = np.eye(Z.size).reshape(-1, *Z.shape)
        P = np.stack([local.tangent(D) for D in unit]).reshape(Z.size, -1)
        H = np.stack([local.hessian(D) for D in P.reshape(-1, *Z.shape)]).reshape(Z.size, -1)
        size = float(np.abs(np.diag(H)).max()) or 1.0
        N = idle_directions(landscape, Z, local.tangent)
        lifted = (H + H.T) / 2 + size * (np.eye(Z.size) - P + N @ N.T)
        try:
            V = np.linalg.inv(lifted)
        except np.linalg.LinAlgError:
            return Covariance(matrix=None, variances=np.full(n, np.nan), weights=origin, accuracy=0.0)
        keep = P - N @ N.T
        V = keep @ V @ keep
        C = V if score is None else V @ (score @ V)
        rows = np.arange(n) * Z.shape[1]
        matrix = C[np.ix_(rows, rows)]
        found = Covariance.of((matrix + matrix.T) / 2, origin)
        known = np.where(found.variances > 0, found.variances, np.nan)
        return replace(found, variances=np.where(origin == 1, 0.0, known))
    return sampled_covariance(landscape, local, Z, matches, origin)


def sampled_covariance(
    landscape: MeloLoss, local: LocalModel, Z: Floats, matches: Matches, origin: Floats
) -> Covariance:
    """Return variances from samples ``H^-1 z`` with ``z`` random scores, whose squares cannot be 0 or negative."""
    totals, n = landscape.totals, landscape.totals.agents
    x = landscape.leads(Z)
    h = totals.derivatives(x)[1]
    score = score_covariance(matches, totals, x, h) or Score(i=totals.i, j=totals.j, variance=h)
    idle, rng = idle_directions(landscape, Z, local.tangent), np.random.default_rng(0)
    squares = np.zeros(n)
    for _ in range(PROBES):
        flow = np.append(score.flows(1, rng, landscape.played)[:, 0], np.zeros(totals.precision.size))
        right = kernels.pulled(Z, flow, totals.i, totals.j, landscape.played)
        if totals.normal is not None:
            right[:, 0] += np.sqrt(score.of_prior) * totals.normal.noise(totals.sigma, 1, rng)[:, 0]
        right[:, 1:] += np.sqrt(landscape.mu) * rng.standard_normal(Z[:, 1:].shape)
        right = local.tangent(right)
        right -= (idle @ (idle.T @ right.ravel())).reshape(Z.shape)
        small = 1e-4 * float(np.linalg.norm(right))
        y = replace(local, gradient=right).step(1e150, small)[0]
        if float(np.linalg.norm(local.hessian(y) + right)) > 10 * small:
            raise ConvergenceError(
                f"the standard errors of mElo did not converge for {n:,} agents: too little is known of some of them",
                hint="pass {option}=False for ratings without errors",
                option="stderr",
            )
        squares += (y[:n, 0] - origin @ y[:n, 0]) ** 2
    variances = squares / PROBES
    variances[origin == 1] = 0.0
    return Covariance(matrix=None, variances=variances, weights=origin, accuracy=1 / float(np.sqrt(2 * PROBES)))


def melo_score(landscape: MeloLoss, Z: Floats, matches: Matches) -> csr_array | None:
    """Return the covariance of the score of ratings and planes; None where it is the Hessian."""
    totals = landscape.totals
    x = landscape.leads(Z)
    score = score_covariance(matches, totals, x, totals.derivatives(x)[1])
    if score is None:
        return None
    width = Z.shape[1]
    rows, columns, values = [], [], []
    for a, b, sign in ((totals.i, totals.j, 1.0), (totals.j, totals.i, -1.0)):
        slopes = np.ones((a.size, width))
        slopes[:, 1::2], slopes[:, 2::2] = Z[b, 2::2], -Z[b, 1::2]
        slopes[landscape.played :, 1:] = 0.0
        rows.append(np.repeat(np.arange(a.size), width))
        columns.append((a[:, None] * width + np.arange(width)).ravel())
        values.append(sign * slopes.ravel())
    J = csr_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(totals.i.size, Z.size)
    )
    prior = np.zeros(Z.shape)
    prior[: totals.agents, 1:] = landscape.mu
    return csr_array(score.matrix(J) + diags_array(prior.ravel()))


def idle_directions(landscape: MeloLoss, Z: Floats, tangent: Callable[[Floats], Floats]) -> Floats:
    """Return orthonormal directions within the tangent space that change no prediction, as columns.

    The constant; and ``C X`` for ``X`` that keeps ``C W C'``: turns (``X`` antisymmetric), and without a penalty on the
    planes also squeezes.
    """
    width = Z.shape[1] - 1
    W = np.kron(np.eye(width // 2), np.array([[0.0, 1.0], [-1.0, 0.0]]))
    found = [np.zeros_like(Z)]
    found[0][: -1 if not landscape.average_plays else None, 0] = 1.0
    for s in range(width):
        for t in range(s, width):
            S = np.zeros((width, width))
            S[s, t] = S[t, s] = 1.0
            X = S @ W  # X W' is symmetric: C X changes no product
            both = [(X - X.T) / 2] if landscape.mu else [X]
            for generator in both:
                if generator.any() and np.allclose(generator @ W + W @ generator.T, 0):
                    found.append(np.zeros_like(Z))
                    found[-1][:, 1:] = Z[:, 1:] @ generator
    B = np.stack([tangent(D).ravel() for D in found], axis=1)
    U, lengths, _ = np.linalg.svd(B, full_matrices=False)
    return np.asarray(U[:, lengths > 1e-9 * max(float(lengths[0]), 1e-300)])
