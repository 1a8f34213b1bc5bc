"""Every input becomes a game once: checked, scaled near 1, with its true scale and its classes of copies.

A game has groups of players. Agents against agents is one group, with payoffs ``A = -A'``; agents against tasks are
two, with scores ``S``. Identical players form classes (`clones`), and everything after this file sees the payoffs
between classes, multiplied by a power of two so that nothing is rounded.

Payoffs of agents need not be written down. Any object with these three is a game:

    size              how many agents
    columns(indices)  (size, len(indices)) payoffs of every agent against those agents
    product(weights)  (size,) average payoff of every agent against a mixture, ``A @ weights``

An attribute ``agents`` with names is used where there is one. Models of up to 1,024 agents are written out and checked
in full. Of larger ones ``product`` is checked to be antisymmetric with random mixtures, ``y'A x + x'A y = 0``, which a
single wrong pair is enough to miss, and all columns that a solve uses to be those of ``product``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from nashboard._types import Floats, Ints, floats, frozen_copy, refuse_unreal, spacing_of, unmasked
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
    irrational_weights,
)
from nashboard.equilibrium.precision import EPS, NARROW, ZERO
from nashboard.equilibrium.results import Selection
from nashboard.errors import InputError

SMALL = 1024  # up to this size a copy costs nothing
HUGEST = 2.0**1000  # sums of many payoffs of this size are still doubles
CELLS = 1 << 25  # how many cells of a model's columns are in memory at a time
FIRST = 64  # agents of a model whose payoffs are looked at together, where its largest payoff is sought
SEARCHED = 1 << 22  # payoffs that are looked at for that, at most
SAMPLE = 32  # agents of a large model whose payoffs are looked at for its largest
SEED = 20180715  # of the mixtures against which large models are checked


@runtime_checkable
class PayoffModel(Protocol):
    """What `nash_average` needs of a model; see the module's text."""

    @property
    def size(self) -> int:
        """How many agents."""
        ...

    def columns(self, indices: Ints) -> Floats:
        """Payoffs of every agent against the agents of these indices, ``(size, len(indices))``."""
        ...

    def product(self, weights: Floats) -> Floats:
        """Average payoff of every agent against a mixture, ``(size,)``."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Matrix:
    """An antisymmetric matrix as a `PayoffModel`; nothing is copied."""

    A: Floats

    @property
    def size(self) -> int:
        """How many agents."""
        return len(self.A)

    def columns(self, indices: Ints) -> Floats:
        """Payoffs of every agent against some; rows are contiguous, so they are what is read."""
        return -self.A[indices].T

    def block(self, rows: Ints, columns: Ints) -> Floats:
        """Payoffs of some agents against some others."""
        return self.A[np.ix_(rows, columns)]

    def product(self, weights: Floats) -> Floats:
        """Average payoff against a mixture; only the rows of agents with weight are read."""
        held = np.flatnonzero(weights)
        if 2 * len(held) > len(weights):
            return self.A @ weights
        return -(weights[held] @ self.A[held])


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RatingsModel:
    """Ratings plus cyclic planes, what mElo learns (section 3.1 of the paper).

    ``r`` (n,) ratings, ``C`` (n, 2k) cyclic coordinates, one pair of columns per plane; the payoff of i against j is
    ``r_i - r_j + sum_p C[i, 2p] C[j, 2p+1] - C[j, 2p] C[i, 2p+1]``, in the unit of the ratings.
    """

    agents: tuple[str, ...]
    ratings: Floats
    cyclic: Floats

    def __post_init__(self) -> None:
        n = len(self.ratings)
        if self.cyclic.ndim != 2 or len(self.cyclic) != n or self.cyclic.shape[1] % 2:
            raise InputError(
                f"cyclic coordinates must have one row per agent and two columns per plane, "
                f"({n}, 2k), not shape {self.cyclic.shape}"
            )
        for what, array in (("ratings", self.ratings), ("cyclic coordinates", self.cyclic)):
            if not np.isfinite(array).all():
                raise InputError(f"{what} must be finite: {int((~np.isfinite(array)).sum()):,} are not")
        if not n:
            raise InputError("the model is empty: it needs at least one agent")

    @staticmethod
    def from_arrays(
        ratings: ArrayLike, cyclic: ArrayLike | None = None, agents: Iterable[object] | None = None
    ) -> "RatingsModel":
        """Make a model of ``(n,)`` ratings and ``(n, 2k)`` cyclic coordinates."""
        r = floats(ratings, "the ratings", ndim=1)
        C = np.zeros((len(r), 0)) if cyclic is None else floats(cyclic, "the cyclic coordinates", ndim=2)
        names = checked_names(agents, size=len(r), kind="agent")
        return RatingsModel(agents=names, ratings=frozen_copy(r), cyclic=frozen_copy(C))

    @property
    def size(self) -> int:
        """How many agents."""
        return len(self.ratings)

    def columns(self, indices: Ints) -> Floats:
        """Payoffs of every agent against some, ``(n, len(indices))``."""
        return self.block(slice(None), indices)

    def block(self, rows: Ints | slice, columns: Ints | slice) -> Floats:
        """Payoffs of some agents against some others."""
        a, b = self.cyclic[rows], self.cyclic[columns]
        turning = a[:, ::2] @ b[:, 1::2].T - a[:, 1::2] @ b[:, ::2].T
        return np.asarray(self.ratings[rows][:, None] - self.ratings[columns] + turning)

    def product(self, weights: Floats) -> Floats:
        """Average payoff of every agent against a mixture, ``(n,)``."""
        held = np.flatnonzero(weights)
        w = weights[held]
        return np.asarray(
            self.ratings * w.sum() - w @ self.ratings[held] + self.cyclic @ swapped(w @ self.cyclic[held])
        )

    def near_zero(self) -> "RatingsModel":
        """Return the model itself or, where its numbers are further from zero than from each other, centred.

        Payoffs are differences, and products of numbers far from zero are rounded by more than these differ.
        """
        far = any(np.abs(part.mean(axis=0)).max(initial=0.0) > np.ptp(part, axis=0).max(initial=0.0)
                  for part in (self.ratings[:, None], self.cyclic))  # fmt: skip
        return self.centred() if far else self

    def centred(self) -> "RatingsModel":
        """Return the same payoffs with cyclic coordinates and ratings of mean 0.

        With ``C = D + 1 m'``, ``c_i x c_j = d_i x d_j + d_i x m - d_j x m``, and the last two are a gradient.
        """
        m = self.cyclic.mean(axis=0)
        D = self.cyclic - m
        r = self.ratings + D @ swapped(m)
        return RatingsModel(agents=self.agents, ratings=r - r.mean(), cyclic=D)

    def scale(self) -> float:
        """Return the largest payoff; of a very large model the largest that a search finds, never more than it.

        With ratings ``r`` and coordinates centred, and ``c`` the length of an agent's coordinates, a payoff is at most
        ``r_i + r_j + c_i c_j``. Agents with the largest bound come first, and meet those against whom it is more than
        what was found, until there are none, or until `SEARCHED` payoffs were looked at.
        """
        C = self.cyclic - (m := self.cyclic.mean(axis=0))
        r = self.ratings + C @ swapped(m)
        r, c = np.abs(r - r.mean()), np.sqrt(np.einsum("ij,ij->i", C, C))
        key = r + c * c.max()
        left = np.argpartition(-key, min(FIRST, self.size) - 1)
        best, seen = largest(self.block(left[:FIRST], left[:FIRST])), 0
        left = left[key[left] + r.max() > best]
        left = left[np.argsort(-key[left], kind="stable")]
        while left.size and seen < SEARCHED:
            left = left[r[left].max() + r[left] + c[left].max() * c[left] > best]
            some = left[:FIRST]
            best = max(best, largest(self.block(some, left)))
            seen += some.size * left.size
            left = left[FIRST:]
        return best

    def classes(self, scale: float, zero: float) -> Classes:
        """Sort the agents into classes by their payoffs; nearly always one product shows that all differ."""
        weights = irrational_weights(self.size)
        size = largest(self.ratings) + largest(self.cyclic) ** 2 * self.cyclic.shape[1]
        gap = 2 * (zero * scale + float(np.spacing(size))) * float(weights.sum())
        if (np.diff(np.sort(self.product(weights))) > gap).all():
            return Classes.all_differ(self.size)
        rows = self.signatures()
        return identical_rows(rows, scale, largest(rows), zero)

    def signatures(self) -> Floats:
        """Return rows whose distances bound the largest difference between the payoffs of two agents.

        With ``C`` centred, the payoffs of i are ``r_i 1 + C W c_i`` up to what all agents share. ``C = Q R`` with
        orthonormal ``Q``, so two agents differ by at most ``|r_i - r_j| + max |Q row| |R W (c_i - c_j)|``. A plane
        that changes no payoff changes no signature.
        """
        model = self.centred()
        Q, R = np.linalg.qr(model.cyclic)
        reach = float(np.sqrt((Q**2).sum(axis=1).max(initial=0.0)))
        rows = np.column_stack([model.ratings, reach * (swapped(model.cyclic) @ R.T)])
        return np.asarray(rows * (1 + np.sqrt(Q.shape[1])))

    def __repr__(self) -> str:
        return f"RatingsModel({self.size:,} agents, {self.cyclic.shape[1] // 2} cyclic planes)"


def swapped(C: Floats) -> Floats:
    """Return ``C W'``: the columns of each plane exchanged, the second of them negative."""
    other: Floats = np.empty_like(C)
    other[..., ::2], other[..., 1::2] = C[..., 1::2], -C[..., ::2]
    return other


def written_out(model: PayoffModel, agents: Sequence[str], precision: float) -> Matrix:
    """Return the matrix of a small model, checked in full, up to the precision of its numbers."""
    A = columns_of(model, np.arange(model.size))
    refuse_one_way(A, agents, share=share_of(precision))
    return Matrix(A=A / 2 - A.T / 2 + 0.0)


def sampled_scale(model: PayoffModel, agents: Sequence[str], share: float) -> float:
    """Return the largest payoff of some agents of a large model that is antisymmetric, up to a share of it."""
    some = np.unique(np.linspace(0, model.size - 1, SAMPLE).astype(np.intp))
    columns = np.hstack([columns_of(model, some[k : k + 1]) for k in range(len(some))])
    scale = largest(columns)
    refuse_one_way(columns[some], [agents[k] for k in some], scale, share)
    refuse_contradiction(model, some, columns, share * scale)
    rng = np.random.default_rng(SEED)
    x, y = rng.uniform(0.5, 1.0, (2, model.size)) * rng.choice([-1.0, 1.0], (2, model.size))
    everybody = np.arange(model.size)
    allowed = max(share, 4 * EPS * model.size**1.5) * scale  # rounding of averages, added up over all agents
    if not abs(sum_both_ways(model, x, y, everybody, everybody)) <= allowed:
        pair = find_one_way(model, x, y)
        refuse_one_way(columns_of(model, pair)[pair], [agents[k] for k in pair], scale, share)
    return scale


def sum_both_ways(model: PayoffModel, x: Floats, y: Floats, rows: Ints, columns: Ints) -> float:
    """Return ``y'A x + x'A y`` over some pairs, from products with mixtures: 0 where ``A`` is antisymmetric."""
    total = 0.0
    for some, here, others, there in ((columns, x, rows, y), (rows, y, columns, x)):
        for sign in (1.0, -1.0):
            weights = np.zeros(model.size)
            weights[some] = np.maximum(sign * here[some], 0.0)
            if size := float(weights.sum()):
                averages = np.asarray(model.product(weights / size), dtype=np.float64)
                total += sign * size * float(there[others] @ averages[others])
    return total


def find_one_way(model: PayoffModel, x: Floats, y: Floats) -> Ints:
    """Return the two agents whose payoffs against each other are furthest from cancelling, by bisection."""
    rows, columns = np.arange(model.size), np.arange(model.size)
    while len(rows) > 1 or len(columns) > 1:
        if len(rows) >= len(columns):
            rows = max(np.array_split(rows, 2), key=lambda half: abs(sum_both_ways(model, x, y, half, columns)))
        else:
            columns = max(np.array_split(columns, 2), key=lambda half: abs(sum_both_ways(model, x, y, rows, half)))
    return np.unique([rows[0], columns[0]])


def refuse_contradiction(model: PayoffModel, indices: Ints, columns: Floats, allowed: float) -> None:
    """Raise an error where ``product`` of a model is not what its columns add up to."""
    weights, some = np.zeros(model.size), irrational_weights(len(indices))
    weights[indices] = some / some.sum()
    off = np.abs(np.asarray(model.product(weights)) - columns @ weights[indices]).max()
    if not off <= allowed / np.sqrt(len(indices)):
        raise InputError("the model contradicts itself: product(weights) is not what columns(indices) add up to")


def share_of(precision: float) -> float:
    """Return the share of the largest payoff by which payoffs of a model may contradict each other."""
    return max(ROUNDING, 4 * precision)


def refuse_one_way(A: Floats, agents: Sequence[str], scale: float | None = None, share: float = ROUNDING) -> None:
    """Raise an error that names two agents whose payoffs against each other do not cancel."""
    gap = np.abs(A / 2 + A.T / 2)
    allowed = share * (largest(A) if scale is None else scale)
    if not gap.max(initial=0.0) <= allowed:
        i, j = map(int, np.unravel_index(int(gap.argmax()), gap.shape))
        raise InputError(
            f"the model is not antisymmetric: {agents[i]!r} against {agents[j]!r} is {A[i, j]:g}, "
            f"but {agents[j]!r} against {agents[i]!r} is {A[j, i]:g}"
        )


def columns_of(model: PayoffModel, indices: Ints) -> Floats:
    """Return columns of a user's model as our own array."""
    columns = np.asanyarray(model.columns(indices))
    refuse_unreal(columns, "the columns of the model")
    if columns.shape != (model.size, len(indices)):
        raise InputError(
            f"columns(indices) of the model has shape {columns.shape}, not (size, len(indices)) = "
            f"({model.size}, {len(indices)})"
        )
    columns = columns.astype(np.float64, copy=False)
    if not np.isfinite(columns).all():
        i, j = np.argwhere(~np.isfinite(columns))[0]
        pair = f"agent {i + 1:,} against agent {indices[j] + 1:,}"
        raise InputError(f"the model is not finite: the payoff of {pair} is {columns[i, j]:g}")
    return columns


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
        rows, columns = utilities_of(data)
        return ScoresGame.of(rows, *columns, "as given")
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
        array = np.asanyarray(unmasked(data, "the payoffs"))
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


def ratings_model(data: Any) -> RatingsModel:
    """Return the model of an object with ``ratings`` and maybe ``cyclic`` coordinates and ``agents``."""
    if isinstance(data, RatingsModel):
        return data
    cyclic: Any = getattr(data, "cyclic", None)
    n = len(data.ratings)
    C = np.zeros((n, 0)) if cyclic is None else floats(cyclic, "the cyclic coordinates", ndim=2)
    if C.shape == (n, n) and n > 1 and np.abs(C + C.T).max() <= ROUNDING * np.abs(C).max():
        raise InputError(
            f"the cyclic part of this {type(data).__name__} is a matrix of payoffs, not coordinates in planes: "
            f"pass payoffs, or ratings with (n, 2k) coordinates"
        )
    return RatingsModel.from_arrays(data.ratings, cyclic, getattr(data, "agents", None))


def matrix_game(data: Any) -> Game:
    """Return a two-player zero-sum matrix game as OpenSpiel has it: symmetric where its payoffs are antisymmetric."""
    U, (rows, columns) = utilities_of(data)
    if U.shape[0] == U.shape[1] and np.array_equal(U, -U.T):
        return AgentsGame.of(Matrix(A=U), rows, made="given as a matrix game")
    return ScoresGame.of(U, rows, columns, "as given")


def utilities_of(data: Any) -> tuple[Floats, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the row player's utilities of a zero-sum matrix game, and the names of both players' actions."""
    U, V = (floats(call(), "the utilities", ndim=2) for call in (data.row_utilities, data.col_utilities))
    total = U + V
    if np.ptp(total) > ROUNDING * max(largest(U), largest(V)):
        raise InputError(
            f"the matrix game is not zero-sum: what both players get varies from {total.min():g} to {total.max():g}"
        )
    shape = U.shape
    rows = checked_names([data.row_action_name(k) for k in range(shape[0])], size=shape[0], kind="action")
    columns = checked_names([data.col_action_name(k) for k in range(shape[1])], size=shape[1], kind="action")
    return U, (rows, columns)


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
