"""What every rating has in common, and the registry of ratings.

A rating is a result with one number per agent in Elo points, errors, and predictions. `Rating` implements what follows
from these: intervals, differences, ranks, the leaderboard. A new rating is one file with a result that extends it, and
a call of `register`; calibration, ranking, evaluate, charts and commands then take it.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from inspect import signature
from numbers import Real
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple

import numpy as np

from nashboard._display import Drawn
from nashboard._tables import Column, Table, title_of
from nashboard._text import listed
from nashboard._types import Floats, Ints, floats, frozen_copy, read_only
from nashboard._units import POINTS_PER_LOGIT, win_probability
from nashboard.data.matches import Matches, whole
from nashboard.data.validation import checked_names, positions
from nashboard.errors import InputError, check_choice, check_level
from nashboard.ratings.errors import Covariance, RankIntervals, rank_intervals
from nashboard.ratings.likelihood import win_rates

NORMAL_95 = 1.959963984540054  # 97.5th percentile of the normal distribution
RANKED = 2000  # agents up to which a leaderboard shows intervals of ranks
FOLLOWS_STRENGTH = (
    "agents are taken to have met opponents of about their strength (divisions, matchmaking); if results made the "
    "pairs, as in a challenge ladder, intervals are too narrow"
)


class Probabilities(NamedTuple):
    """Probabilities that the first agent wins, draws and loses."""

    win: float
    draw: float
    loss: float


class Difference(NamedTuple):
    """A lead in Elo points with its standard error and 95% interval."""

    lead: float
    stderr: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Coefficient:
    """An effect on the lead of the first agent, in Elo points per unit, with its standard error."""

    name: str
    value: float
    stderr: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval."""
        half = NORMAL_95 * self.stderr
        return self.value - half, self.value + half

    def sentence(self, per: str = "") -> str:
        """Return value and interval with the digits that the interval leaves certain."""
        decimals = max(1, 1 - math.floor(math.log10(self.stderr))) if 0 < self.stderr < math.inf else 1
        low, high = (f"{end:.{decimals}f}" for end in self.interval)
        return f"{self.name}: {self.value:+.{decimals}f} Elo points{per}, 95% interval {low} to {high}"


class Rating(Drawn):
    """A fitted rating: one number per agent, errors and predictions."""

    hidden: ClassVar[tuple[str, ...]] = ("covariance",)
    kind: ClassVar[str]
    label: ClassVar[str]
    agents: tuple[str, ...]
    ratings: Floats
    stderr: Floats
    games: Floats
    log_loss: float
    made: str
    covariance: Covariance | None
    sigma: float = np.nan  # of a learned prior, in points
    around_opponents: bool = False  # whether that prior is around the mean of each agent's opponents

    @abstractmethod
    def lead(self, a: str, b: str) -> float:
        """Return how many points ``a`` is ahead of ``b`` when they meet."""

    @abstractmethod
    def leads_between(self, i: Any, j: Any) -> Floats:
        """Return leads in points between agents at positions ``i`` and ``j``, arrays of one shape."""

    @cached_property
    def interval(self) -> tuple[Floats, Floats]:
        """The lower and upper ends of the 95% intervals, each ``(n,)``: rating ± 1.96 standard errors."""
        return self.intervals(0.95)

    def intervals(self, level: float) -> tuple[Floats, Floats]:
        """Return the lower and upper ends of intervals at a level, each ``(n,)``."""
        half = NormalDist().inv_cdf((1 + level) / 2) * self.stderr
        return read_only(self.ratings - half), read_only(self.ratings + half)

    @property
    def known_covariance(self) -> Covariance:
        """The covariance of the ratings in logits; as if they were independent where only their errors are known."""
        own = (self.stderr / POINTS_PER_LOGIT) ** 2
        return self.covariance or Covariance(matrix=None, variances=own, weights=np.zeros(own.size), accuracy=0.0)

    def lead_variances(self, i: Any, j: Any) -> Floats:
        """Return variances in logits of the leads that predictions average over.

        They are those of differences of ratings; 0 without a learned prior, where ratings have no distribution.
        """
        if np.isnan(self.sigma):
            return np.zeros(np.shape(i))
        return np.nan_to_num(self.known_covariance.between(i, j))

    def predict(self, a: str, b: str) -> float:
        """Return the share of points that ``a`` is expected to take from ``b`` (equation 1); a draw is half a point.

        With a learned prior it is the mean over what the games leave open of the lead, which is nearer to 1/2 than
        the lead alone says: less so the more games there are.
        """
        i, j = positions((a, b), self.agents, kind="agent")
        return win_probability(self.lead(a, b) / float(moderation(self.lead_variances(i, j))))

    def probabilities(self, a: str, b: str) -> Probabilities:
        """Return the probabilities of win, draw and loss; without a model of draws, a draw has probability 0."""
        p = self.predict(a, b)
        return Probabilities(p, 0.0, 1 - p)

    def difference(self, a: str, b: str) -> Difference:
        """Return the difference of the ratings of ``a`` and ``b``, with its own standard error and 95% interval.

        The error is that of the difference itself: it is not the sum of the two errors on the board, since both ratings
        share the origin, and often opponents.
        """
        i, j = positions((a, b), self.agents, kind="agent")
        lead = float(self.ratings[i] - self.ratings[j])
        error = self.known_covariance.difference(i, j) * POINTS_PER_LOGIT
        return Difference(lead, error, lead - NORMAL_95 * error, lead + NORMAL_95 * error)

    @cached_property
    def rank_intervals(self) -> RankIntervals | None:
        """Intervals of ranks that hold for all agents at once, at 95%; None where errors are not known."""
        return self.intervals_of_ranks(0.95)

    def intervals_of_ranks(self, level: float) -> RankIntervals | None:
        """Return intervals of ranks that hold for all agents at once; None where errors are not known."""
        learned = not np.isnan(self.sigma)
        return rank_intervals(self.ratings / POINTS_PER_LOGIT, self.known_covariance, level, posterior=learned)

    def win_probabilities(self) -> Floats:
        """Return ``(n, n)`` shares of points that row takes from column, 1/2 on the diagonal."""
        n = len(self.agents)
        return win_rates(self.leads() / POINTS_PER_LOGIT / moderation(self.lead_variances(*np.indices((n, n)))))

    @abstractmethod
    def leads(self) -> Floats:
        """Return ``(n, n)`` points by which row leads column."""

    def extra_columns(self) -> tuple[tuple[Column, Floats | Ints], ...]:
        """Return more columns of the leaderboard, between the interval and the games."""
        return ()

    def notes(self) -> tuple[str, ...]:
        """Return the notes below the leaderboard."""
        return (self.made,)

    def leaderboard(self, level: float = 0.95) -> Table:
        """Return the agents, the best first, with intervals of ratings and of ranks at a level."""
        check_level(level)
        low, high = self.intervals(level)
        sure = f"{100 * level:g}%"
        order = np.argsort(-self.ratings, kind="stable")
        meaning = "Elo points, mean 0 of well-measured agents unless anchored; 400 more win ten games to one lost"
        more = [replace(column, cell=values) for column, values in self.extra_columns()]
        if len(self.agents) <= RANKED and (ranks := self.intervals_of_ranks(level)) is not None:
            meaning_of_ranks = f"simultaneous rank interval: all of them are right with probability {sure}"
            more.append(Column("ranks", meaning_of_ranks, cell=list(map(span, ranks.low, ranks.high))))
        return Table.of(
            order,
            Column("rank", cell=np.argsort(order) + 1),
            Column("agent", cell=self.agents),
            Column("rating", meaning, decimals=1, cell=self.ratings),
            Column("low", f"lower end of the {sure} interval", decimals=1, cell=low),
            Column("high", f"upper end of the {sure} interval", decimals=1, cell=high),
            *more,
            Column("games", "games played, or their total weight", decimals=2, cell=list(map(whole, self.games))),
            title=title_of(self),
            notes=(*self.notes(), FOLLOWS_STRENGTH) if self.around_opponents else self.notes(),
        )

    def table(self) -> Table:
        """Return the leaderboard, which is what ratings show of themselves."""
        return self.leaderboard()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for machines, without what is not known; `from_dict` reads it back where there is one."""
        return {"kind": self.kind, **{name: value for name, value in super().to_dict().items() if value is not None}}


def moderation(variances: Floats) -> Floats:
    """Return by what to divide leads in logits for the mean of ``s(x)`` over normal leads (MacKay 1992)."""
    return np.asarray(np.sqrt(1 + np.pi / 8 * variances))


def span(low: int, high: int) -> str:
    """Return an interval of ranks as text."""
    return str(low) if low == high else f"{low}-{high}"


@dataclass(frozen=True, kw_only=True)
class RatingMethod:
    """A way to rate agents."""

    # name, label: what commands take, and what people call it
    name: str
    label: str
    # function(matches, **options) -> Rating, or where it is, "module:function"
    function: str | Callable[..., Rating]
    # whether `nashboard.rank` and the columns of `nashboard.evaluate` offer it under its name; not where they have an
    # entry of their own
    ranks: bool = True
    reference: str = ""  # where it was published

    def load(self) -> Callable[..., Rating]:
        """Return the function that fits it."""
        if not isinstance(self.function, str):
            return self.function
        module, _, name = self.function.partition(":")
        found: Callable[..., Rating] = getattr(import_module(module), name)
        return found

    def fit(self, matches: Matches, **options: Any) -> Rating:
        """Fit it to matches."""
        return self.load()(matches, **options)

    def takes(self, option: str) -> bool:
        """Return whether the fit has an option of this name."""
        return option in signature(self.load()).parameters


RATINGS: dict[str, RatingMethod] = {}


def register(method: RatingMethod) -> RatingMethod:
    """Add a rating: predictions, calibration, ranking, the columns of evaluate and the commands then take it."""
    RATINGS[method.name] = method
    return method


register(RatingMethod(name="elo", label="Elo", function="nashboard.ratings.elo:elo", ranks=False))
register(RatingMethod(name="melo", label="mElo", function="nashboard.ratings.melo:melo", ranks=False))
ALTERNATIVES = "nashboard.ratings.alternatives"
# The board of `evaluate` itself is made of the hierarchical model.
register(
    RatingMethod(
        name="hierarchical", label="hierarchical", function=f"{ALTERNATIVES}:hierarchical_ratings", ranks=False
    )
)
register(RatingMethod(name="hodge", label="Hodge", function=f"{ALTERNATIVES}:hodge_ratings", ranks=False))


def rating_method(name: str) -> RatingMethod:
    """Return a rating by name."""
    return RATINGS[check_choice(name, tuple(RATINGS), "rating")]


def check_fields(result: Any, numbers: dict[str, str]) -> None:
    """Check a new result's names and its arrays of one number per agent, and close them for writing."""
    names = checked_names(result.agents, size=len(result.agents), kind="agent")
    object.__setattr__(result, "agents", names)
    for field, what in numbers.items():
        values = floats(getattr(result, field), what, ndim=1)
        if values.shape != (len(names),):
            raise InputError(f"{what} are {values.size:,} numbers for {len(names):,} agents: give one each")
        if field != "stderr":
            require_finite(values, what)
        object.__setattr__(result, field, frozen_copy(values))


def require_finite(values: Floats, what: str) -> None:
    """Raise an error where a number is infinite or missing."""
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        raise InputError(f"{what} must be finite; number {bad[0][0] + 1:,} is {values[tuple(bad[0])]:g}")


def read_fields(values: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the fields that a ``to_dict`` of this kind wrote, with NaN where it wrote None."""
    if not isinstance(values, dict) or values.get("kind") != kind:
        found = values.get("kind") if isinstance(values, dict) else type(values).__name__
        known = ("elo", "melo")
        raise InputError(f"these are not the values of {kind} ratings: their kind is {found!r}, one of {listed(known)}")
    fields = {name: value for name, value in values.items() if name != "kind"}
    fields |= {name: np.nan for name in ("log_loss", "gradient_norm") if fields.get(name) is None}
    if "stderr" in fields:
        fields["stderr"] = [np.nan if value is None else value for value in fields["stderr"]]
    return fields


def checked_anchor(anchor: Mapping[str, float] | None, agents: Sequence[str]) -> dict[int, float]:
    """Return the anchored ratings in Elo points, by the place of the agent; nothing where there is no anchor."""
    given = {} if anchor is None else anchor
    if not isinstance(given, Mapping):
        names = [given] if isinstance(given, str) else given if isinstance(given, list | tuple) else []
        name = next((name for name in names if name), next(iter(agents), "gnugo"))
        raise InputError(
            f"the anchor is {given!r}: pass a mapping from agents to their fixed ratings, such as {{{name!r}: 1500}}"
        )
    places = positions(given, agents, kind="agent")
    for name, points in given.items():
        if isinstance(points, bool) or not isinstance(points, Real) or not math.isfinite(points):
            raise InputError(f"the anchor of {name!r} is {points!r}: it must be a finite number of Elo points")
    return dict(zip(places, map(float, given.values()), strict=True))


def describe_origin(anchor: Mapping[str, float] | None, agents: Sequence[str], weights: Floats) -> str:
    """Return in words what fixes the ratings' zero; ``weights`` (n,) are those of the origin."""
    if anchor:
        return f"anchored to {listed(anchor, 3)}"
    left_out = [name for name, weight in zip(agents, weights, strict=True) if weight == 0]
    if not left_out:
        return "mean 0"
    return f"mean 0 of the {len(agents) - len(left_out):,} well-measured agents (all but {listed(left_out, 3)})"
