"""Every input becomes a game once: checked, scaled near 1, with its true scale and its classes of copies.

A game has groups of players. Agents against agents is one group, with payoffs ``A = -A'``; agents against tasks are
two, with scores ``S``. Identical players form classes (`clones`), and everything after this file sees the payoffs
between classes, multiplied by a power of two so that nothing is rounded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nashboard._types import Floats, Ints, floats, refuse_masked_rows, spacing_of
from nashboard.algebra.flows import antisymmetric_array, antisymmetric_part, largest
from nashboard.algebra.hodge import Hodge
from nashboard.data.matches import Matches
from nashboard.data.payoffs import ROUNDING, Payoffs, payoffs
from nashboard.data.scores import Scores
from nashboard.data.validation import checked_names, refuse_cells
from nashboard.equilibrium.clones import (
    Classes,
    between_classes,
    identical_agents,
    identical_rows,
)
from nashboard.equilibrium.models import (
    Matrix,
    PayoffModel,
    RatingsModel,
    columns_of,
    ratings_model,
    refuse_contradiction,
    sampled_scale,
    share_of,
    written_out,
)
from nashboard.equilibrium.precision import EPS, NARROW, ZERO
from nashboard.equilibrium.results import Selection
from nashboard.errors import InputError

SMALL = 1024  # up to this size a copy costs nothing
HUGEST = 2.0**1000  # sums of many payoffs of this size are still doubles
CELLS = 1 << 25  # how many cells of a model's columns are in memory at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class AgentsGame:
    """Agents against agents: one group of players."""

    agents: tuple[str, ...]
    model: PayoffModel
    classes: tuple[Classes]
    scale: float
    unit: str
    made: str
    precision: float = 0.0

    @staticmethod
    def of(
        model: PayoffModel, agents: tuple[str, ...], unit: str = "given", made: str = "", precision: float = 0.0
    ) -> "AgentsGame":
        """Check a model, and find its scale and its classes; ``precision`` is what its payoffs are known to."""
        if isinstance(model, RatingsModel):
            model = model.near_zero()
        elif not isinstance(model, Matrix):
            precision = max(precision, known_to(spacing_of(np.asarray(model.columns(np.arange(1))).dtype)))
        if not isinstance(model, Matrix) and model.size <= SMALL:
            model = written_out(model, agents, precision)
        same = max(ZERO, precision)
        if isinstance(model, Matrix):
            scale = largest(model.A)
            refuse_huge(scale, "payoff")
            classes = identical_rows(model.A, scale, scale, same)
        elif isinstance(model, RatingsModel):
            scale = model.scale()
            classes = model.classes(scale, same)
        else:
            scale = sampled_scale(model, agents, share_of(precision))
            classes = identical_agents(model.size, lambda k: columns_of(model, k), model.product, same * scale)
        return AgentsGame(
            agents=agents, model=model, classes=(classes,), scale=scale, unit=unit, made=made, precision=precision
        )

    def as_exact(self) -> "AgentsGame":
        """Return the game whose payoffs are taken as exact, whatever their type."""
        exact = not self.precision or not isinstance(self.model, Matrix)
        return self if exact else AgentsGame.of(self.model, self.agents, self.unit, self.made)

    @property
    def looseness(self) -> float:
        """What members of a class may gain more than the class, since they differ by what their type rounds."""
        return self.precision * self.scale if self.classes[0].loose.any() else 0.0

    @cached_property
    def middle(self) -> Floats | None:
        """The payoffs between all classes, where those of single members differ from them by more than doubles do."""
        everybody = np.arange(self.sizes[0])
        return self.between(everybody, everybody) if self.looseness and isinstance(self.model, Matrix) else None

    @cached_property
    def exponent(self) -> int:
        """The power of two by which payoffs are divided."""
        return int(np.frexp(self.scale)[1]) if self.scale > 0 else 0

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many classes each group of players has."""
        return (len(self.classes[0].first),)

    def block(self, members: Sequence[Ints]) -> Floats:
        """Payoffs between some classes, scaled."""
        return self.between(members[0], members[0])

    def extend(self, F: Floats, members: Sequence[Ints], joining: Sequence[Ints]) -> Floats:
        """Return the payoffs of a larger set; only the new ones are fetched."""
        old, together = len(F), np.append(members[0], joining[0])
        larger = np.zeros((len(together), len(together)))
        larger[:old, :old] = F
        larger[:, old:] = self.between(together, joining[0])
        larger[old:, :old] = -larger[:old, old:].T
        return larger

    def between(self, rows: Ints, columns: Ints) -> Floats:
        """Payoffs of some classes against others, scaled."""
        fetch = self.model.block if isinstance(self.model, Matrix | RatingsModel) else self.fetch
        (classes,) = self.classes
        return np.ldexp(between_classes(fetch, classes, classes, rows, columns), -self.exponent)

    def fetch(self, rows: Ints, columns: Ints) -> Floats:
        """Return the payoffs of some agents against some others, of a model that has only columns."""
        step = max(1, CELLS // self.model.size)
        block = np.empty((len(rows), len(columns)))
        for at in range(0, len(columns), step):
            some = columns[at : at + step]
            whole = columns_of(self.model, some)
            refuse_contradiction(self.model, some, whole, share_of(self.precision) * self.scale)
            block[:, at : at + step] = whole[rows]
        return block

    def gains(self, mixtures: Sequence[Floats], value: float | None = None) -> list[Floats]:
        """What every class gains against a mixture of classes, scaled."""
        if self.middle is not None:
            return [self.middle @ mixtures[0]]
        first = self.classes[0].first
        if len(first) == self.model.size:
            return [np.ldexp(self.model.product(mixtures[0]), -self.exponent)]
        everybody = np.zeros(self.model.size)
        everybody[first] = mixtures[0]
        return [np.ldexp(self.model.product(everybody)[first], -self.exponent)]


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoresGame:
    """Agents against tasks: two groups of players. ``S`` scores as given, ``K`` between classes and scaled."""

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    S: Floats
    K: Floats
    exponent: int
    classes: tuple[Classes, Classes]
    scale: float
    scaling: str
    precision: float = 0.0

    @staticmethod
    def of(
        S: Floats, agents: tuple[str, ...], tasks: tuple[str, ...], scaling: str, precision: float = 0.0
    ) -> "ScoresGame":
        """Find the classes of agents and of tasks, and scale the scores; ``precision`` is a share of the largest."""
        top = largest(S)
        refuse_huge(top, "score")
        spread = float(np.ptp(S))
        precision *= top / spread if spread else 0.0  # from here on a share of the spread, as all that counts as zero
        same = max(ZERO, precision)
        classes = identical_rows(S, spread, top, same), identical_rows(S.T, spread, top, same)
        K, exponent = near_one(collapse(S, *classes))
        return ScoresGame(
            agents=agents,
            tasks=tasks,
            S=S,
            K=K,
            exponent=exponent,
            classes=classes,
            scale=spread,
            scaling=scaling,
            precision=precision,
        )

    def as_exact(self) -> "ScoresGame":
        """Return the game whose scores are taken as exact, whatever their type."""
        return ScoresGame.of(self.S, self.agents, self.tasks, self.scaling) if self.precision else self

    @property
    def looseness(self) -> float:
        """What members of a class may gain more than the class, since they differ by what their type rounds."""
        return self.precision * self.scale if any(each.loose.any() for each in self.classes) else 0.0

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many classes each group of players has."""
        return self.K.shape

    def block(self, members: Sequence[Ints]) -> Floats:
        """Scores between some classes, scaled."""
        whole = all(len(some) == size for some, size in zip(members, self.sizes, strict=True))
        return self.K if whole else self.K[np.ix_(*members)]

    def extend(self, F: Floats, members: Sequence[Ints], joining: Sequence[Ints]) -> Floats:
        """Return the scores of a larger set."""
        return self.block([np.append(old, new) for old, new in zip(members, joining, strict=True)])

    def gains(self, mixtures: Sequence[Floats], value: float | None = None) -> list[Floats]:
        """What every class of agents gains over the value, and what every class of tasks takes below it."""
        p, q = mixtures
        skills, scores = multiply(self.K, q), multiply(self.K.T, p)
        v = float(p @ skills) if value is None else value
        return [skills - v, v - scores]


Game = AgentsGame | ScoresGame


def refuse_huge(largest: float, what: str) -> None:
    """Raise an error where sums and differences of numbers so large may be more than a double can be."""
    if largest > HUGEST:
        raise InputError(f"the largest {what} is {largest:.3g}: above {HUGEST:.3g} sums overflow; divide all of them")


def log_multiplicities(game: Game, selection: Selection) -> list[Floats]:
    """Return the logarithms of what each class counts in the entropy: its size, or 1 whatever its size."""
    return [np.log(c.size) if selection == "maxent" else np.zeros(len(c.size)) for c in game.classes]


def game_of(data: Any) -> Game:
    """Turn data into a game: arrays, `Payoffs`, `Matches`, `Scores`, ratings, models, matrix games of OpenSpiel."""
    if isinstance(data, Matches):
        data = payoffs(data, fill="model")  # pairs that never met; `made` says how many
    if isinstance(data, Payoffs):
        return AgentsGame.of(Matrix(A=data.A), data.agents, data.scale, data.made, known_to(data.spacing))
    if isinstance(data, Scores):
        data.require_complete()
        scores = data.scale("range") if data.scaling == "raw" else data
        return ScoresGame.of(scores.values, scores.agents, scores.tasks, scores.scaling, known_to(scores.spacing))
    if isinstance(data, Hodge):
        raise InputError(
            "a Hodge decomposition is not a game: pass the data that it was made from, or its transitive or cyclic part"
        )
    if callable(getattr(data, "row_utilities", None)) and callable(getattr(data, "col_utilities", None)):
        return matrix_game(data)
    if isinstance(getattr(data, "ratings", None), np.ndarray):
        model = ratings_model(data)
        return AgentsGame.of(
            model, model.agents, "Elo points", f"ratings and {model.cyclic.shape[1] // 2} cyclic planes"
        )
    if isinstance(data, PayoffModel) and not hasattr(data, "__array__"):  # a pandas frame has its columns, too
        size = int(data.size)
        if size < 1:
            raise InputError("the model is empty: it needs at least one agent")
        names = checked_names(getattr(data, "agents", None), size=size, kind="agent")
        return AgentsGame.of(data, names, made=f"given as a {type(data).__name__}")
    return matrix_to_game(data)


def scores_game(data: Any) -> ScoresGame:
    """Turn `Scores`, an ``(m, n)`` array of scores, or a matrix game of OpenSpiel into a game of two groups."""
    if isinstance(data, Scores):
        game = game_of(data)
        assert isinstance(game, ScoresGame)
        return game
    if callable(getattr(data, "row_utilities", None)) and callable(getattr(data, "col_utilities", None)):
        S, names, precision = utilities_of(data)
        return ScoresGame.of(S, *names, "as given", precision)
    array, precision = array_of(data)
    S = floats(array, "the scores", ndim=2)
    if 0 in S.shape:
        raise InputError(f"scores need at least one agent and one task, not {S.shape[0]} x {S.shape[1]}")
    agents, tasks = (checked_names(None, size=k, kind=kind) for k, kind in zip(S.shape, ("agent", "task"), strict=True))
    if not np.isfinite(S).all():
        refuse_cells(np.isinf(S), S, agents, "a score must be finite", columns=tasks)
        Scores.from_array(S).require_complete()
    return ScoresGame.of(S, agents, tasks, "as given", precision)


def frame_names(data: Any) -> list[str] | None:
    """Return the names in a data frame whose rows and columns are labelled alike."""
    if not (hasattr(data, "index") and hasattr(data, "columns")):
        return None
    rows = list(data.index)
    return rows if rows == list(data.columns) and all(isinstance(name, str) for name in rows) else None


def matrix_to_game(data: ArrayLike) -> AgentsGame:
    """Return the game of an antisymmetric matrix, in any type of numbers."""
    array, precision = array_of(data)
    matrix = matrix_of(array, precision)
    names = checked_names(frame_names(data), size=matrix.size, kind="agent")
    return AgentsGame.of(matrix, names, made="given as a matrix", precision=precision)


def array_of(data: Any) -> tuple[Any, float]:
    """Return data as an array, and what its numbers are known to as a share of the largest: 0 for doubles."""
    try:
        array = np.asanyarray(refuse_masked_rows(data, "the payoffs"))
    except (TypeError, ValueError, RuntimeError):
        return data, 0.0  # `floats` says what is wrong
    return array, known_to(spacing_of(array.dtype))


def known_to(spacing: float) -> float:
    """Return what numbers of a type with this spacing are known to as a share of the largest: 0 for doubles."""
    return NARROW * spacing if spacing > EPS else 0.0


def matrix_of(data: ArrayLike, precision: float = 0.0) -> Matrix:
    """Return an antisymmetric matrix: the array itself where it is one, so that no memory is spent."""
    if precision > ROUNDING:
        A = floats(data, "the payoff matrix", ndim=2)
        square = A.shape[0] == A.shape[1] and bool(np.isfinite(A).all())
        if square and len(A) and np.abs(A + A.T).max() <= 4 * precision * np.abs(A).max():
            return Matrix(A=antisymmetric_part(A))
    return Matrix(A=np.ascontiguousarray(antisymmetric_array(data, copy=False)))


def matrix_game(data: Any) -> Game:
    """Return a two-player zero-sum matrix game as OpenSpiel has it: symmetric where its payoffs are antisymmetric."""
    U, (rows, columns), precision = utilities_of(data)
    if U.shape[0] == U.shape[1] and np.array_equal(U, -U.T):
        return AgentsGame.of(Matrix(A=U), rows, made="given as a matrix game", precision=precision)
    return ScoresGame.of(U, rows, columns, "as given", precision)


def utilities_of(data: Any) -> tuple[Floats, tuple[tuple[str, ...], tuple[str, ...]], float]:
    """Return the row player's utilities of a zero-sum matrix game, the names of both players' actions, the precision.

    That is what the utilities are known to as a share of the largest.
    """
    given = data.row_utilities(), data.col_utilities()
    U, V = (floats(part, "the utilities", ndim=2) for part in given)
    precision, total = max(array_of(part)[1] for part in given), U + V
    if np.ptp(total) > share_of(precision) * max(largest(U), largest(V)):
        raise InputError(
            f"the matrix game is not zero-sum: what both players get varies from {total.min():g} to {total.max():g}"
        )
    shape = U.shape
    rows = checked_names([data.row_action_name(k) for k in range(shape[0])], size=shape[0], kind="action")
    columns = checked_names([data.col_action_name(k) for k in range(shape[1])], size=shape[1], kind="action")
    return U, (rows, columns), precision


def collapse(S: Floats, agents: Classes, tasks: Classes) -> Floats:
    """Return the scores between classes: the table itself where nobody has a clone."""
    if agents.trivial and tasks.trivial:
        return S
    everybody = (np.arange(len(c.first)) for c in (agents, tasks))
    return between_classes(lambda rows, columns: S[np.ix_(rows, columns)], agents, tasks, *everybody)


def near_one(S: Floats) -> tuple[Floats, int]:
    """Return scores between about -1 and 1, and the power of two they were divided by.

    Where all scores are far from zero, their middle is subtracted first (which is exact for such numbers): an
    offset common to all scores moves the value, not the equilibrium.
    """
    low, high = float(S.min()), float(S.max())
    middle = low / 2 + high / 2
    if abs(middle) > high - low:
        S = S - middle
    exponent = int(np.frexp(np.abs(S).max())[1])
    return np.ldexp(S, -exponent), exponent


def multiply(S: Floats, weights: Floats) -> Floats:
    """Return ``S @ weights``; only the columns with weight are read where they are few."""
    held = np.flatnonzero(weights)
    if 2 * len(held) > len(weights):
        return np.asarray(S @ weights)
    return np.asarray(S[:, held] @ weights[held])
