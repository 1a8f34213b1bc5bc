"""A way to rank (`Method`), its result (`Outcome`), and the ranking for users (`Ranking`)."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from nashboard._tables import Column, Result, Table, title_of
from nashboard._types import Floats, Ints, rank_descending, read_only
from nashboard.ranking.counterexamples import PROMISES, Counterexample
from nashboard.ranking.pairwise import KINDS, Pairwise

TIE = 1e-9  # scores closer than this share of their range share a rank
ROUNDING = 1000.0  # the scale of Elo points: ratings that differ by a millionth of a point are equal


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """The result of a method."""

    scores: Floats  # (n,) higher is better
    weights: Floats | None = None  # (n,) a distribution over agents, for methods that find one
    unit: str | None = None  # the unit of the scores, where it depends on the data; the method's own unit otherwise
    scale: float = 0.0  # size of the numbers that scores are computed from: differences below 1e-9 of it are rounding
    # what was proved about the result: exploitability, gradient norm, optimality
    certificate: Mapping[str, float | bool] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what a user should know about it


Function = TypeVar("Function", bound=Callable[..., Outcome])


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to rank agents."""

    name: str  # what ``rank(data, method=...)`` takes
    title: str
    function: Callable[..., Outcome]  # function(pairwise, **options)
    needs: Sequence[str] = KINDS  # kinds of data
    unit: str  # of the scores
    complexity: str  # time as a function of n agents (and t tasks)
    reference: str
    promises: tuple[str, ...] = ()  # of `PROMISES`; of matches and payoffs, if it ranks them
    counterexamples: tuple[Counterexample, ...] = ()  # one for each promise that it breaks
    counts_games: bool = False  # whether a pair with more games has more influence
    by_prompt: bool = False  # whether it uses the results on each prompt; other methods pool all games
    slow: bool = False  # whether trials of many copies are shortened
    # learn(pairwise) -> options where a method is used on many similar data: what is learned once, or less work
    learn: Callable[[Pairwise], dict[str, Any]] | None = None

    @property
    def not_of_scores(self) -> tuple[str, ...]:
        """Promises that are kept for matches and payoffs, and broken for tables of scores."""
        return tuple(one.promise for one in self.counterexamples if one.of_scores and one.promise in self.promises)

    @property
    def clone_proof(self) -> bool:
        """Whether exact copies leave the order of the others as it was."""
        return "clones" in self.promises

    @cached_property
    def options(self) -> tuple[str, ...]:
        """Names of the method's own options."""
        return tuple(inspect.signature(self.function).parameters)[1:]

    def learned(self, data: Pairwise) -> "Method":
        """Return the method with the options that it learns from these data, for use on many similar data."""
        return self if self.learn is None else replace(self, function=partial(self.function, **self.learn(data)))

    def rank(self, data: Pairwise, **options: Any) -> "Ranking":
        """Rank agents by this method."""
        outcome = self.function(data, **options)
        scores = np.asarray(outcome.scores, dtype=np.float64) + 0.0
        return Ranking(
            agents=data.agents,
            scores=read_only(scores),
            ranks=rank_scores(scores, outcome.scale),
            weights=None if outcome.weights is None else read_only(np.array(outcome.weights)),
            unit=outcome.unit or self.unit,
            method=self.name,
            certificate=dict(outcome.certificate),
            notes=(*data.notes, *outcome.notes),
        )

    def __repr__(self) -> str:
        return f"Method({self.name!r}, clone_proof={self.clone_proof})"


METHODS: dict[str, Method] = {}


def register(*counterexamples: Counterexample, **about: Any) -> Callable[[Function], Function]:
    """Register the decorated function as a method; it promises all that no counterexample breaks.

    If it ranks matches too, its promises are about matches and payoffs: see `Method.not_of_scores`.
    """
    for_matches = "matches" in about.get("needs", KINDS)
    broken = [example.promise for example in counterexamples if not (for_matches and example.of_scores)]
    promises = tuple(name for name in PROMISES if name not in broken)

    def declare(function: Function) -> Function:
        name = function.__name__
        METHODS[name] = Method(
            name=name, function=function, promises=promises, counterexamples=counterexamples, **about
        )
        return function

    return declare


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Ranking(Result):
    """Agents in the order of one method.

    Parameters
    ----------
    agents
        Names, in the order of the data.
    scores
        ``(n,)`` higher is better.
    ranks
        ``(n,)`` 1 for the best; agents with equal scores share a rank.
    weights
        ``(n,)`` a distribution over agents (equilibrium, lottery, stationary distribution), or None.
    unit
        The unit of the scores.
    method
        The name of the method.
    certificate
        What was proved about the result.
    notes
        What to know about the input: pairs filled in, tasks left out.

    Examples
    --------
    >>> import nashboard as nb
    >>> cycle = nb.Payoffs.from_array([[0, 2, -1], [-2, 0, 3], [1, -3, 0]], agents=["a", "b", "c"])
    >>> nb.rank(cycle, method="schulze").winners
    ('a',)
    """

    agents: tuple[str, ...]
    scores: Floats
    ranks: Ints
    weights: Floats | None
    unit: str
    method: str
    certificate: Mapping[str, float | bool]
    notes: tuple[str, ...] = ()

    @property
    def winners(self) -> tuple[str, ...]:
        """Agents in first place."""
        return tuple(self.agents[k] for k in np.flatnonzero(self.ranks == 1))

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Names, the best first; ties in the order of the data."""
        return tuple(self.agents[k] for k in np.argsort(self.ranks, kind="stable"))

    def table(self) -> Table:
        """Return rank, agent, score and weight, the best first."""
        columns = [
            Column("rank", "1 for the best; equal scores share a rank", cell=self.ranks),
            Column("agent", cell=self.agents),
            Column("score", self.unit, decimals=4, cell=self.scores),
        ]
        if self.weights is not None:
            meaning = "share in the method's distribution over agents"
            columns.append(Column("weight", meaning, decimals=4, cell=self.weights))
        proved = ", ".join(f"{name.replace('_', ' ')} {format_fact(value)}" for name, value in self.certificate.items())
        notes = (*self.notes, *((f"certificate: {proved}",) if proved else ()))
        return Table.of(np.argsort(self.ranks, kind="stable"), *columns, title=title_of(self), notes=notes)

    def __repr__(self) -> str:
        first = f"{len(self.winners):,} tie for first" if len(self.winners) > 1 else f"{self.winners[0]!r} first"
        return f"Ranking({self.method}, {len(self.agents):,} agents, {first})"


def scale_of(values: Floats) -> float:
    """Return the scale of means of these numbers: differences below 1e-12 of the largest are rounding."""
    return 1e-3 * float(np.abs(values).max(initial=0.0))


def format_fact(value: float | bool) -> str:
    """Return one fact of a certificate as text."""
    return ("no", "yes")[value] if isinstance(value, bool | np.bool_) else f"{value:.3g}"


def rank_scores(scores: Floats, scale: float = 0.0) -> Ints:
    """Return 1 plus the number of better agents; scores that differ only by rounding share a rank."""
    given = scores.tolist()
    high, low = max(given), min(given)
    size = max(high - low, 1e-6 * max(abs(high), abs(low)), scale)
    return rank_descending(scores, TIE * size)
