"""The board: every number of every agent (or task), and the registry of the columns that show them.

A new column is one entry in `AGENT_COLUMNS` or `TASK_COLUMNS`; it then appears in text, HTML, csv and json.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nashboard._tables import Cell, Column, Record, Table, format_number
from nashboard._text import either, nearest, plural
from nashboard._types import Floats, Ints, freeze
from nashboard.data.matches import whole
from nashboard.errors import InputError
from nashboard.evaluation.posterior.posterior import format_ranges, sort_by_gap


@dataclass(frozen=True, kw_only=True, eq=False)
class Second:
    """Another number per agent: Elo as in `elo`; a plain mean or the score of a method from the same draws."""

    # name, meaning: the heading of the column and its explanation
    name: str
    meaning: str
    # values, low, high: estimate and interval, in the order of the board
    values: Floats
    low: Floats
    high: Floats
    # rank_low, rank_high: interval of the ranks by this number; equal ends if there is one draw
    rank_low: Ints
    rank_high: Ints
    decimals: int = 0  # of the values
    # whether the intervals of ranks hold for all agents at once; otherwise each holds for itself
    simultaneous: bool = False

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class Board(Record):
    """The numbers of every agent (or task), one of each kind, in the order of ``names``.

    Parameters
    ----------
    kind
        ``"agent"`` or ``"task"``.
    call
        The plural noun for the entries.
    unit
        Of ``gaps``: ``"Elo points"``, ``"task units"``, or the unit of the payoffs.
    level, draws
        Of the intervals; one draw means that the data are taken as exact, and there are no intervals.
    gaps, gap_low, gap_high
        Distance to the best, at least 0. Of tasks: distance to the hardest.
    probability_top
        Probability of being in the support of the equilibrium: of agents P(top), of tasks that it decides.
    ranks
        Place by gap; equal gaps share a place, exact copies count once.
    rank_low, rank_high
        Interval of the place.
    weights
        Posterior mean share in the equilibrium, sum 1; exact copies share the weight of one.
    classes
        Entries with the same number are exact copies, or pooled.
    uniform, uniform_ranks
        The plain average over all opponents, tasks or agents as entered, in the unit of the gaps, and its ranks.
    games
        Games of each agent, NaN if games were not counted.
    second
        The rating, or for scores the plain mean; then the columns of other methods.
    """

    kind: str
    call: str
    unit: str
    level: float
    draws: int
    names: tuple[str, ...]
    gaps: Floats
    gap_low: Floats
    gap_high: Floats
    probability_top: Floats
    ranks: Ints
    rank_low: Ints
    rank_high: Ints
    weights: Floats
    classes: Ints
    uniform: Floats
    uniform_ranks: Ints
    games: Floats
    second: tuple[Second, ...] = field(default=())

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def exact(self) -> bool:
        """Whether the numbers are taken as exact, so that there are no intervals."""
        return self.draws == 1

    @property
    def order(self) -> Ints:
        """Positions from first to last: by gap, then P(top), then the canonical order of classes, then by name."""
        return sort_by_gap(self.gaps, self.probability_top, self.classes, self.names)

    @property
    def support(self) -> tuple[str, ...]:
        """Entries that are in the support of the equilibrium with probability of at least 1/2, best first."""
        return tuple(self.names[k] for k in self.order if self.probability_top[k] >= 0.5)

    @property
    def rating(self) -> Second | None:
        """The rating of matches, or the plain mean of scores."""
        return self.second[0] if self.second else None

    def table(
        self, title: str = "", *, columns: str = "default", notes: tuple[str, ...] = (), combine: bool = False
    ) -> Table:
        """Return the board, the best first; ``combine`` puts a number and its interval into one cell."""
        if columns not in ("default", "all"):
            raise InputError(
                f"there are no columns {columns!r}{nearest(columns, ['all'])}: use {either(['default', 'all'])}"
            )
        columns_with_cells: list[tuple[Column, list[Cell]]] = []
        for one in AGENT_COLUMNS if self.kind == "agent" else TASK_COLUMNS:
            if (columns == "all" or one.default) and one.applies(self):
                columns_with_cells += one.build(self, combine)
        order = self.order
        return Table(
            title=title,
            columns=tuple(column for column, _ in columns_with_cells),
            rows=tuple(tuple(cells[k] for _, cells in columns_with_cells) for k in order),
            notes=notes,
        )

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> "Board":
        """Return the board that `to_dict` wrote."""
        second = tuple(Second(**{k: parse_field(k, v) for k, v in one.items()}) for one in values["second"])
        return Board(**{k: parse_field(k, v) for k, v in values.items() if k != "second"}, second=second)


Built = list[tuple[Column, list[Cell]]]


@dataclass(frozen=True, kw_only=True)
class BoardColumn:
    """A column of the board: its builder, whether the default view shows it, and the boards that have it."""

    build: Callable[[Board, bool], Built]
    default: bool = True
    applies: Callable[[Board], bool] = lambda board: True


def make_column(
    name: str, meaning: str, cells: Callable[[Board], list[Cell]], decimals: int | None = 3, **more: Any
) -> BoardColumn:
    """Return a column that is the same for people and machines; ``decimals=None`` uses those of the gap."""

    def build(board: Board, combine: bool) -> Built:
        shown = gap_decimals(board.unit) if decimals is None else decimals
        return [(Column(name, meaning, decimals=shown), cells(board))]

    return BoardColumn(build=build, **more)


def gap_decimals(unit: str) -> int:
    """Return the number of decimals of gaps and averages in their unit."""
    return 0 if unit == "Elo points" else 3


def interval_column(
    name: str, meaning: str, values: Floats, low: Floats, high: Floats, board: Board, *, combine: bool, decimals: int
) -> Built:
    """Return a number with its interval: one text column for people, three columns for machines."""
    if board.exact:
        return [(Column(name, meaning, decimals=decimals), as_cells(values))]
    if combine:
        cells: list[Cell] = [
            None
            if np.isnan(v)
            else f"{format_number(v, decimals)} [{format_number(a, decimals)}, {format_number(b, decimals)}]"
            for v, a, b in zip(values, low, high, strict=True)
        ]
        return [(Column(name, f"{meaning}, with {board.level:.0%} interval"), cells)]
    ends = [("low", "lower", low), ("high", "upper", high)]
    return [
        (Column(name, meaning, decimals=decimals), as_cells(values)),
        *(
            (
                Column(f"{name} {end}", f"{word} end of its {board.level:.0%} interval", decimals=decimals),
                as_cells(cells),
            )
            for end, word, cells in ends
        ),
    ]


ONCE = "exact copies and pooled entries count once"


def rank_column(board: Board, combine: bool) -> Built:
    """Return the interval of places."""
    if board.exact:
        meaning = "place by Nash average; equal averages share a place, exact copies count once"
        return [(Column("rank", meaning), int_cells(board.ranks))]
    meaning = f"{board.level:.0%} interval of the place; {ONCE}"
    return [(Column("rank", meaning), format_ranges(board.rank_low, board.rank_high))]


def gap_column(board: Board, combine: bool) -> Built:
    """Return the gap with its interval."""
    what = "distance to the best by Nash average" if board.kind == "agent" else "how much easier than the hardest"
    unit = {"given": "in the unit of the payoffs"}.get(board.unit, board.unit)
    meaning, ends = f"{what}, {unit}", (board.gap_low, board.gap_high)
    return interval_column("gap", meaning, board.gaps, *ends, board, combine=combine, decimals=gap_decimals(board.unit))


def second_columns(board: Board, combine: bool) -> Built:
    """Return the rating or the mean, and the columns of other methods, each with its interval and ranks."""
    columns: Built = []
    for one in board.second:
        columns += interval_column(
            one.name, one.meaning, one.values, one.low, one.high, board, combine=combine, decimals=one.decimals
        )
        meaning = "place" if board.exact else f"{board.level:.0%} interval of the place"
        meaning = f"{'simultaneous ' if one.simultaneous else ''}{meaning} by {one.name}"
        columns.append((Column(f"{one.name} rank", meaning), format_ranges(one.rank_low, one.rank_high)))
    return columns


def has_draws(board: Board) -> bool:
    """Return whether there are draws, and so probabilities."""
    return not board.exact


def has_copies(board: Board) -> bool:
    """Return whether entries share their data."""
    return len(np.unique(board.classes)) < len(board.classes)


def has_games(board: Board) -> bool:
    """Return whether games were counted."""
    return not np.isnan(board.games).all()


TOP = "probability of being at the top: best by Nash average, alone or with others"
DECIDES = "probability that it decides who is at the top: it has weight in the equilibrium"
WEIGHT = "mean share in the maximum-entropy equilibrium"
AGENT_COLUMNS: tuple[BoardColumn, ...] = (
    BoardColumn(build=rank_column),
    BoardColumn(
        build=lambda board, combine: [
            (Column(plural(1, board.call) if combine else "agent", meaning="name"), list(board.names))
        ]
    ),
    BoardColumn(build=gap_column),
    make_column("P(top)", TOP, lambda b: as_cells(b.probability_top), 2, applies=has_draws),
    BoardColumn(build=second_columns, applies=lambda board: bool(board.second)),
    make_column(
        "games", "games played, or their total weight", lambda b: [whole(x) for x in b.games], 2, applies=has_games
    ),
    make_column(
        "place", "place by the gap alone, without its uncertainty", lambda b: int_cells(b.ranks), default=False,
        applies=has_draws,
    ),
    make_column("weight", WEIGHT, lambda b: as_cells(b.weights), default=False),
    make_column(
        "uniform", "plain average with equal weights, copies counted as entered", lambda b: as_cells(b.uniform),
        None, default=False,
    ),
    make_column("uniform rank", "place by the plain average", lambda b: int_cells(b.uniform_ranks), default=False),
    make_column(
        "copies", "entries with these data, this one included", lambda b: int_cells(np.bincount(b.classes)[b.classes]),
        default=False, applies=has_copies,
    ),
)  # fmt: skip
TASK_COLUMNS: tuple[BoardColumn, ...] = (
    BoardColumn(build=rank_column),
    make_column("task", "name", lambda b: list(b.names)),
    BoardColumn(build=gap_column),
    make_column("P(decides)", DECIDES, lambda b: as_cells(b.probability_top), 2, applies=has_draws),
    make_column("weight", WEIGHT, lambda b: as_cells(b.weights)),
    make_column("uniform", "minus the plain mean score of all agents, in task units", lambda b: as_cells(b.uniform)),
    make_column(
        "uniform rank", "place by the plain mean, the hardest first", lambda b: int_cells(b.uniform_ranks),
        default=False,
    ),
)  # fmt: skip
WHOLE = ("ranks", "rank_low", "rank_high", "classes", "uniform_ranks", "draws", "decimals")


def as_cells(values: Floats) -> list[Cell]:
    """Return numbers as cells; a missing one is a dash."""
    return [None if np.isnan(value) else float(value) + 0.0 for value in values]


def int_cells(values: Ints) -> list[Cell]:
    """Return whole numbers as cells."""
    return [int(value) for value in values]


def parse_field(name: str, value: Any) -> Any:
    """Return the value of a field of the board from json."""
    if name == "names":
        return tuple(value)
    if not isinstance(value, list):
        return value
    if name in WHOLE:
        return np.array(value, dtype=np.intp)
    return np.array([np.nan if cell is None else cell for cell in value], dtype=np.float64)


def rank_places(values: Floats, tolerance: float = 0.0) -> Ints:
    """Return 1 plus the number of larger values, within a tolerance."""
    rising = np.sort(values)
    return np.asarray(1 + len(values) - np.searchsorted(rising, values + tolerance, side="right"), dtype=np.intp)
