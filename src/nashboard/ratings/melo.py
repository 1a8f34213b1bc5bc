"""What an mElo fit says: ratings, the cyclic part, predictions, intervals, leaderboard.

Multidimensional Elo by maximum likelihood: ratings for what is transitive, planes for what goes round.

Symbols: as in `melo_loss`: ``Z`` ratings and planes in logits; at the border ratings are Elo points.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from nashboard._notebook import Drawn
from nashboard._tables import Column, Table, count
from nashboard._types import Floats, Ints, floats, frozen_copy, read_only
from nashboard._units import CYCLIC_PER_LOGIT, POINTS_PER_LOGIT, win_probability
from nashboard.algebra.flows import refuse_size
from nashboard.algebra.operators import gradient
from nashboard.data.matches import Matches
from nashboard.data.names import checked_names, positions
from nashboard.errors import ConvergenceError, InputError
from nashboard.ratings.elo import PRIOR, EloRatings, elo, held, loss_per_game
from nashboard.ratings.likelihood import PairTotals, checked_prior, pair_totals, require_finite_maximum, require_matches
from nashboard.ratings.melo_fit import (
    Candidate,
    End,
    MeloLoss,
    centred,
    fitted,
    melo_standard_errors,
    orthogonal_planes,
    product,
)
from nashboard.ratings.rating import (
    checked_anchor,
    interval,
    leaders,
    number_or_nan,
    require_finite,
    settled,
    values_of,
)

PART_IN_CYCLES = (
    "part in cycles: the numbers of two agents multiplied are the most that these move their match, in Elo points"
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MeloRatings(Drawn):
    """A rating per agent, and planes in which agents go round: what predicts cycles that Elo cannot (section 3.1).

    The lead of ``a`` over ``b`` is ``ratings[a] - ratings[b]``, plus ``c[a, 0] c[b, 1] - c[b, 0] c[a, 1]`` per plane.

    Parameters
    ----------
    agents
        Names.
    ratings
        ``(n,)`` in Elo points: mean 0, unless anchored. What agents gain on average, since the planes are centred.
    cyclic
        ``(n, 2k)``, two columns per plane, in square roots of points, so that products are points. After a fit in
        canonical form: centred, columns orthogonal, the strongest plane first, each turned so that the agent furthest
        out lies at angle 0 (the first of them on a tie).
    stderr
        ``(n,)`` standard errors of the ratings in points; an approximation (see `melo`). NaN where there are none.
    games, log_loss, gradient_norm, made
        As in `EloRatings`.
    ends
        Where each start of the fit ended, the best first: one valley or several?
    candidates
        The numbers of planes that were compared, where ``k="auto"`` was asked for.
    """

    agents: tuple[str, ...]
    ratings: Floats
    cyclic: Floats
    stderr: Floats
    games: Floats
    log_loss: float
    gradient_norm: float = np.nan
    made: str = "given as arrays"
    ends: tuple[End, ...] = ()
    candidates: tuple[Candidate, ...] = ()

    def __post_init__(self) -> None:
        settled(self, {"ratings": "the ratings", "stderr": "the standard errors", "games": "the games"})
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
        return MeloRatings(
            agents=self.agents,
            ratings=r - r.mean(),
            cyclic=orthogonal_planes(C)[0],
            stderr=self.stderr,
            games=self.games,
            log_loss=self.log_loss,
            gradient_norm=self.gradient_norm,
            made=self.made,
            ends=self.ends,
            candidates=self.candidates,
        )

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

    @cached_property
    def interval(self) -> tuple[Floats, Floats]:
        """The lower and upper ends of the ratings' 95% intervals, each ``(n,)``: rating ± 1.96 standard errors."""
        return interval(self.ratings, self.stderr)

    def lead(self, a: str, b: str) -> float:
        """Return how many points ``a`` is ahead of ``b`` when they meet."""
        i, j = positions((a, b), self.agents, kind="agent")
        return float(self.columns(np.array([j]))[i, 0])

    def predict(self, a: str, b: str) -> float:
        """Return the probability that ``a`` beats ``b``."""
        return win_probability(self.lead(a, b))

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

    def win_probabilities(self) -> Floats:
        """Return ``(n, n)`` probabilities that row beats column, 1/2 on the diagonal."""
        from scipy.special import expit

        return np.asarray(expit(self.leads() / POINTS_PER_LOGIT))

    def leaderboard(self) -> Table:
        """Return the agents, the best first, with 95% intervals and how far out they lie in the planes."""
        low, high = self.interval
        reach = np.hypot(self.cyclic[:, 0::2], self.cyclic[:, 1::2])
        return Table(
            title=repr(self),
            columns=(
                Column(name="rank"),
                Column(name="agent"),
                Column(
                    name="rating",
                    meaning="Elo points, mean 0 unless anchored; 400 more win ten games to one lost",
                    decimals=1,
                ),
                Column(name="low", meaning="lower end of the 95% interval", decimals=1),
                Column(name="high", meaning="upper end of the 95% interval", decimals=1),
                *(Column(name=f"plane {t + 1}", meaning=PART_IN_CYCLES, decimals=1) for t in range(self.k)),
                Column(name="games", meaning="games played, or their total weight", decimals=2),
            ),
            rows=leaders(self.agents, self.ratings, low, high, *reach.T, games=self.games),
            notes=(self.made, *self.notes()),
        )

    def notes(self) -> tuple[str, ...]:
        """Say how the fit went."""
        if not self.ends:
            return ()
        return (f"{len(self.ends)} starts ended within {self.spread:.2g} nats per game of each other",)

    def selection(self) -> Table:
        """Return the numbers of planes that were compared for ``k="auto"``, with their cross-validated log-loss."""
        best = min((c.log_loss for c in self.candidates), default=np.nan)
        return Table(
            title="planes by cross-validation",
            columns=(
                Column(name="k", meaning="number of planes"),
                Column(name="log-loss", meaning="mean loss per game on games held out, in nats", decimals=5),
                Column(name="stderr", meaning="its standard error over the parts held out", decimals=5),
                Column(name="chosen"),
            ),
            rows=tuple((c.k, c.log_loss, c.stderr, c.log_loss == best) for c in self.candidates),
        )

    def table(self) -> Table:
        """Return the leaderboard, which is what ratings show of themselves."""
        return self.leaderboard()

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and lists for machines; `from_dict` reads them back."""
        return {
            "kind": "melo",
            "agents": list(self.agents),
            "ratings": self.ratings.tolist(),
            "cyclic": self.cyclic.tolist(),
            "stderr": number_or_nan(self.stderr.tolist()),
            "games": self.games.tolist(),
            "log_loss": number_or_nan(self.log_loss),
            "gradient_norm": number_or_nan(self.gradient_norm),
            "made": self.made,
            "ends": [{"start": end.start, "loss": end.loss} for end in self.ends],
            "candidates": [{"k": c.k, "log_loss": c.log_loss, "stderr": c.stderr} for c in self.candidates],
        }

    @staticmethod
    def from_dict(values: dict[str, Any]) -> "MeloRatings":
        """Return the ratings that `to_dict` wrote down."""
        fields = values_of(values, "melo")
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
        from nashboard.ratings.cross_validation import compared

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
            f"the mean)",
            hint="use a smaller number, or {option}",
            option={"k": "auto"},
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
            f"such pairs to infinity",
            hint="pass a {option} above 0",
            option="cyclic_prior",
        )
