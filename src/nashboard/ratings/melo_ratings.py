"""What an mElo fit says: ratings, the cyclic part, predictions, intervals, leaderboard."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nashboard._notebook import Drawn
from nashboard._tables import Column, Table
from nashboard._types import Floats, Ints, floats, frozen_copy, read_only
from nashboard._units import POINTS_PER_LOGIT, win_probability
from nashboard.algebra.flows import refuse_size
from nashboard.algebra.operators import gradient
from nashboard.data.names import checked_names, positions
from nashboard.errors import InputError
from nashboard.ratings.canonical import centred, orthogonal_planes, product
from nashboard.ratings.fields import interval, leaders, number_or_nan, require_finite, settled, values_of

PART_IN_CYCLES = (
    "part in cycles: the numbers of two agents multiplied are the most that these move their match, in Elo points"
)


@dataclass(frozen=True, kw_only=True)
class End:
    """Where one start of the fit led: the mean loss per game there, with the prior's share, in nats."""

    start: str
    loss: float


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A number of planes that was tried: the mean loss per game on games held out, and its standard error."""

    k: int
    log_loss: float
    stderr: float


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
