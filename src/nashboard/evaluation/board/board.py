"""One side of a leaderboard: the numbers of every agent, or of every task, with what resampling says of them."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from nashboard._tables import Cell, Column, Table
from nashboard._types import Floats, Ints, read_only
from nashboard.data.matches import whole
from nashboard.evaluation.intervals import Uncertainty


@dataclass(frozen=True, kw_only=True, eq=False)
class Board:
    """What is known of every agent (or task), one number each.

    Parameters
    ----------
    kind
        ``"agent"`` or ``"task"``.
    average_name, unit
        What the average is called (``average``, ``skill``, ``difficulty``), and its unit.
    averages, gaps
        Nash averages, and how far each lies from the best: 0 at the top, below 0 elsewhere.
    weights
        Shares in the equilibrium, sum 1.
    ranks
        1 for the best; equal where averages tie; identical agents count once.
    ties
        Number of the group of agents that share a rank, 0 where nobody shares it.
    classes
        Agents with the same number are identical in all their data.
    uniform, uniform_ranks
        The plain average over all opponents (tasks, agents), and the ranks it gives.
    games
        Games of each agent, NaN where there are none to count.
    rating_name, ratings, rating_low, rating_high, rating_ranks
        ``Elo`` or ``mElo`` in points with its interval; an empty name and NaN where there are no matches.
    """

    kind: str
    average_name: str
    unit: str
    names: tuple[str, ...]
    averages: Floats
    gaps: Floats
    weights: Floats
    ranks: Ints
    ties: Ints
    classes: Ints
    uniform: Floats
    uniform_ranks: Ints
    games: Floats
    rating_name: str
    ratings: Floats
    rating_low: Floats
    rating_high: Floats
    rating_ranks: Ints

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                read_only(value)

    @property
    def second_name(self) -> str:
        """What orders agents that tie: the rating, or the uniform average where there is none."""
        return self.rating_name or "uniform average"

    @property
    def order(self) -> Ints:
        """Positions from first to last: by Nash rank, then by the declared second order, then by name."""
        second = self.ratings if self.rating_name else self.uniform
        return np.array(sorted(range(len(self.names)), key=lambda k: (self.ranks[k], -second[k], self.names[k])))

    @property
    def support(self) -> tuple[str, ...]:
        """Who has weight in the equilibrium, the best by the second order first."""
        return tuple(self.names[k] for k in self.order if self.weights[k] > 0)

    @property
    def top(self) -> tuple[str, ...]:
        """Who ties for first: those with weight, and any other that does exactly as well."""
        return tuple(self.names[k] for k in self.order if self.ranks[k] == 1)

    def table(self, title: str, uncertainty: Uncertainty | None, notes: tuple[str, ...]) -> Table:
        """Return the board, the best first."""
        percent = "" if uncertainty is None else f"{uncertainty.level:.0%} of the resamples"
        columns: list[tuple[Column, list[Cell]]] = [
            (
                Column(
                    name="rank",
                    meaning="place by Nash average; equal averages share a place, identical entries count once",
                ),
                ints(self.ranks),
            ),
            (Column(name=self.kind, meaning=f"name of the {self.kind}"), list(self.names)),
            (
                Column(name=self.average_name, meaning=AVERAGE[self.average_name].format(unit=self.unit)),
                numbers(self.averages),
            ),
        ]
        if self.average_name != "average":
            gap = "how far below the best" if self.kind == "agent" else "how much easier than the hardest"
            columns.append((Column(name="gap", meaning=f"{gap}; 0 at the top"), numbers(self.gaps)))
        if uncertainty is not None:
            of = "average" if self.average_name == "average" else "gap"
            columns += [
                (Column(name="low", meaning=f"the {of} is at least this in {percent}"), numbers(uncertainty.gap_low)),
                (Column(name="high", meaning=f"the {of} is at most this in {percent}"), numbers(uncertainty.gap_high)),
            ]
        columns.append(
            (Column(name="weight", meaning="share in the maximum-entropy equilibrium"), numbers(self.weights))
        )
        if uncertainty is not None:
            columns += [
                (
                    Column(name="in support", meaning=IN_SUPPORT[self.average_name], decimals=2),
                    numbers(uncertainty.support),
                ),
                (Column(name="ranks", meaning=f"ranks that hold {percent}"), uncertainty.rank_ranges()),
                (
                    Column(
                        name="apart",
                        meaning=f"groups, from the best down; two that share a group cannot be told apart at "
                        f"{uncertainty.level:.0%}",
                    ),
                    list(uncertainty.groups),
                ),
            ]
        columns.append(
            (
                Column(name="tie", meaning="number of the group that shares this Nash rank exactly"),
                ints(self.ties, zero=None),
            )
        )
        if self.rating_name:
            name = self.rating_name
            columns += [
                (
                    Column(name=name, meaning=f"{name} rating in points; second order among ties", decimals=0),
                    numbers(self.ratings),
                ),
                (
                    Column(name=f"{name} low", meaning="lower end of the rating's interval", decimals=0),
                    numbers(self.rating_low),
                ),
                (
                    Column(name=f"{name} high", meaning="upper end of the rating's interval", decimals=0),
                    numbers(self.rating_high),
                ),
                (Column(name=f"{name} rank", meaning=f"place by {name} rating"), ints(self.rating_ranks)),
            ]
        second = "" if self.rating_name else "; second order among ties"
        columns += [
            (Column(name="uniform", meaning=f"plain average with equal weights{second}"), numbers(self.uniform)),
            (Column(name="uniform rank", meaning="place by the plain average"), ints(self.uniform_ranks)),
        ]
        if not np.isnan(self.games).all():
            columns.append(
                (
                    Column(name="games", meaning="games played, or their total weight", decimals=2),
                    [whole(x) for x in self.games],
                )
            )
        return Table(
            title=title,
            columns=tuple(column for column, _ in columns),
            rows=tuple(tuple(cells[k] for _, cells in columns) for k in self.order),
            notes=notes,
            telling=("rank", self.kind, self.average_name, *SURE, self.rating_name, *WHY),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; NaN becomes None."""
        return {field.name: plain_value(getattr(self, field.name)) for field in fields(self)}

    @staticmethod
    def from_dict(values: dict[str, Any]) -> "Board":
        """Return the board that `to_dict` wrote down."""
        return Board(**{name: array_value(name, value) for name, value in values.items()})


AVERAGE = {
    "average": "Nash average: payoff against the equilibrium, 0 at the top ({unit})",
    "skill": "Nash average: mean score over the tasks that matter ({unit})",
    "difficulty": "Nash average: minus the mean score of the agents that matter ({unit})",
}
SHARE = "share of resamples in which it has weight"
IN_SUPPORT = {
    "average": "probability of having weight; what noise may have made of cycles is taken out",
    "skill": SHARE,
    "difficulty": SHARE,
}
SURE = ("gap", "low", "high", "ranks", "in support")  # columns that a narrow screen shows before the rating
WHY = ("weight", "uniform rank", "games", "apart", "uniform")  # and after it
WHOLE = ("ranks", "ties", "classes", "uniform_ranks", "rating_ranks")
TEXT = ("kind", "average_name", "unit", "rating_name")


def numbers(values: Floats) -> list[Cell]:
    """Return numbers as cells; a missing one is a dash."""
    return [None if np.isnan(value) else float(value) + 0.0 for value in values]


def ints(values: Ints, zero: int | None = 0) -> list[Cell]:
    """Return whole numbers as cells."""
    return [int(value) if value else zero for value in values]


def plain_value(value: Any) -> Any:
    """Return lists and numbers that json can hold."""
    if isinstance(value, np.ndarray):
        return [plain_value(cell) for cell in value.tolist()]
    if isinstance(value, tuple):
        return [plain_value(cell) for cell in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def array_value(name: str, value: Any) -> Any:
    """Return a field as the board holds it."""
    if name in TEXT:
        return value
    if name == "names":
        return tuple(value)
    if name in WHOLE:
        return np.array(value, dtype=np.intp)
    return np.array([np.nan if cell is None else cell for cell in value], dtype=np.float64)


def tie_groups(ranks: Ints) -> Ints:
    """Number the ranks that several share, from the top; 0 for a rank held alone."""
    shared = [rank for rank in np.unique(ranks) if (ranks == rank).sum() > 1]
    return np.array([shared.index(rank) + 1 if rank in shared else 0 for rank in ranks], dtype=np.intp)


def places(values: Floats, tolerance: float = 0.0) -> Ints:
    """Return 1 plus the number of larger values, within a tolerance."""
    falling = np.sort(values)
    return np.asarray(1 + len(values) - np.searchsorted(falling, values + tolerance, side="right"), dtype=np.intp)
