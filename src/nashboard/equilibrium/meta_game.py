"""Populations that grow: append an agent, and the equilibrium follows at a fraction of the cost of a new solve.

This is the meta-game of policy-space response oracles (Lanctot et al. 2017) and of league training. A new agent does
one of three things, and the certificate of the result is the same as that of `nash_average` in each:

* it loses to every equilibrium of the others: nothing changes, shown by one product;
* it ties with all of them and its payoffs combine those of some pivot agents: the set of equilibria grows by one
  dimension, and the most even one follows from as many unknowns as there are pivots (`grow_face`);
* it changes who has weight: the game is solved among the agents that had weight, those that nearly had, and the new
  one, and whoever ties or does better joins (`solver`). In pure noise, where half of all agents matter and a new one
  moves a tenth of them in or out, that saves little. Nor would other warm starts: pivots from the old support are tens,
  all of them at once lead astray, and a point of the old central path saves a quarter of the steps.

Balduzzi et al. 2019, *Open-ended learning in symmetric zero-sum games*, define relative population performance and
effective diversity; Czarnecki et al. 2020, *Real world games look like spinning tops*, Nash clusters.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr

from nashboard._types import Floats, Ints, floats
from nashboard.algebra.flows import largest
from nashboard.data.payoffs import Payoffs
from nashboard.data.validation import checked_names, positions
from nashboard.equilibrium.certificate import certify
from nashboard.equilibrium.clones import Classes
from nashboard.equilibrium.entropy import most_even_mixtures
from nashboard.equilibrium.face import Face, SideFace, SideSolution, Terms, solve_side
from nashboard.equilibrium.game import (
    AgentsGame,
    array_of,
    frame_names,
    known_to,
    log_multiplicities,
    matrix_of,
)
from nashboard.equilibrium.models import Matrix
from nashboard.equilibrium.nash_average import (
    Mixtures,
    describe_agents,
    find_even_mixtures,
    find_undecided,
    nash_average,
    nash_average_scores,
)
from nashboard.equilibrium.precision import COMPLEMENTARY, GAINS, TOLERANCE, ZERO
from nashboard.equilibrium.results import NashAverage
from nashboard.equilibrium.solver import OracleSolution, Solution, embed, find_equilibrium, silent
from nashboard.errors import ConvergenceError, InputError

LOOKED_AT = 4  # opponents against whom a new agent is first compared with the others: its largest wins and losses
CLOSE = 2  # one agent without weight, of the smallest margins, takes part in a new solve for so many with weight
SPARE = 4  # a face is grown from pivots where it has so many times as many agents with weight


class MetaGame:
    """An antisymmetric game to which agents are appended one by one.

    Parameters
    ----------
    payoffs
        The game to start from: an antisymmetric matrix or `Payoffs`; empty by default. Where payoffs are given in a
        type narrower than doubles, here or by `append`, the equilibrium has the tolerance that `nash_average` has.
    agents
        Names, for a matrix.

    Examples
    --------
    >>> import nashboard as nb
    >>> game = nb.MetaGame()
    >>> game.append([], "rock")
    >>> game.append([1], "paper")
    >>> game.append([1, -1], "well")
    >>> game.append([-1, 1, -1], "scissors")
    >>> game.nash.weights.round(4)
    array([0.    , 0.3333, 0.3333, 0.3333])
    >>> game.layers()
    (('paper', 'well', 'scissors'), ('rock',))
    """

    def __init__(self, payoffs: ArrayLike | Payoffs | None = None, agents: Iterable[object] | None = None) -> None:
        if isinstance(payoffs, Payoffs) and agents is not None:
            raise InputError("agents= names the agents of a matrix; payoffs have names")
        self._precision = 0.0  # of the narrowest type in which payoffs were given
        if isinstance(payoffs, Payoffs):
            A, names, self._unit = payoffs.A, payoffs.agents, payoffs.scale
            self._precision = known_to(payoffs.spacing)
        elif payoffs is not None:
            array, self._precision = array_of(payoffs)
            A, self._unit = matrix_of(array, self._precision).A, "given"
            names = checked_names(frame_names(payoffs) if agents is None else agents, size=len(A), kind="agent")
        else:
            A, names, self._unit = np.zeros((0, 0)), (), "given"
        self._names, self._size = list(names), len(A)
        self._room = np.zeros((max(16, 2 * len(A)),) * 2)
        self._room[: len(A), : len(A)] = A
        self._state: State | None = None
        self._nash: NashAverage | None = None

    @property
    def size(self) -> int:
        """How many agents there are."""
        return self._size

    @property
    def agents(self) -> tuple[str, ...]:
        """The names, in the order in which agents were appended."""
        return tuple(self._names)

    @property
    def payoffs(self) -> Payoffs:
        """The payoffs as they are now."""
        return Payoffs(agents=self.agents, A=self._matrix, scale=self._unit, made="given agent by agent")

    @property
    def _matrix(self) -> Floats:
        return self._room[: self._size, : self._size]

    def append(self, row: ArrayLike, agent: object | None = None) -> None:
        """Add an agent; ``row`` are its payoffs against the agents so far, in their order.

        The name is ``agent 1, agent 2, ...`` by default. The equilibrium is worked out when it is asked for.
        """
        n = self._size
        array, precision = array_of(row)
        values = floats(array, "the row of payoffs", ndim=1)
        if len(values) != n:
            raise InputError(f"the row has {len(values):,} payoffs: there are {n:,} agents to play against")
        if not np.isfinite(values).all():
            k = int(np.flatnonzero(~np.isfinite(values))[0])
            raise InputError(f"the payoff against {self._names[k]!r} is {values[k]:g}: a payoff must be finite")
        names = checked_names([*self._names, f"agent {n + 1}" if agent is None else agent], size=n + 1, kind="agent")
        if n == len(self._room):
            room = np.zeros((2 * n, 2 * n))
            room[:n, :n] = self._room
            self._room = room
        self._room[n, :n], self._room[:n, n] = values, -values
        self._names.append(names[-1])
        self._size, self._nash, self._precision = n + 1, None, max(self._precision, precision)

    @property
    def nash(self) -> NashAverage:
        """The maximum-entropy equilibrium of the population as it is now, as `nash_average` has it."""
        if not self._size:
            raise InputError("the meta-game is empty: append an agent first")
        if self._nash is None:
            began = time.perf_counter()
            game, found = self._solve()
            self._nash = describe_agents(game, "clone-invariant", found, began)
        return self._nash

    def _solve(self) -> tuple[AgentsGame, Mixtures]:
        """Return the game and its equilibrium; for payoffs in a narrow type, the most even mixture near it."""
        population = self._matrix, self.agents, self._unit, self._precision
        try:
            self._state = follow(self._state, *population)
        except ConvergenceError as error:
            self._state, game = None, new_game(*population)
            log_m = log_multiplicities(game, "clone-invariant")
            if not self._precision:
                return game, find_undecided(game, log_m, silent, error)
            return game, find_even_mixtures(game, log_m, self._precision * game.scale, silent)
        game, found = self._state.game, self._state.mixtures
        if self._precision:
            tolerance = self._precision * game.scale
            even = most_even_mixtures(game, found.totals, 0.0, found.log_m, tolerance)
            return game, Mixtures.even(even, found.log_m, tolerance, found.iterations)
        return game, found

    @property
    def weights(self) -> Floats:
        """The weights of the equilibrium, ``(n,)``."""
        return self.nash.weights

    @property
    def effective_diversity(self) -> float:
        """How much agents of the equilibrium gain from each other, ``p' max(A, 0) p``: 0 where one agent is best."""
        p = self.nash.weights
        held = np.flatnonzero(p)
        block = np.maximum(self._matrix[np.ix_(held, held)], 0.0)
        return float(p[held] @ block @ p[held])

    def relative_performance(self, ours: Iterable[str], theirs: Iterable[str]) -> float:
        """Return the value of the game between two groups of agents, each playing its best mixture.

        Positive where the first group is better. The groups may overlap.
        """
        rows, columns = (positions(names, self._names, kind="agent") for names in (ours, theirs))
        if not (rows and columns):
            raise InputError("relative performance needs at least one agent in each group")
        return nash_average_scores(self._matrix[np.ix_(rows, columns)]).value

    def layers(self, most: int | None = None) -> tuple[tuple[str, ...], ...]:
        """Return Nash clusters: the equilibrium's agents, those of what is left without them, and so on.

        At most ``most`` layers; the agents that are left then are not listed.
        """
        left = list(range(self._size))
        found: list[tuple[str, ...]] = []
        while left and (most is None or len(found) < most):
            A = np.ascontiguousarray(self._matrix[np.ix_(left, left)])
            part = Payoffs(agents=tuple(self._names[k] for k in left), A=A, scale=self._unit, made="")
            found.append(nash_average(part, tolerance=self._precision * largest(A)).support)
            left = [k for k in left if self._names[k] not in found[-1]]
        return tuple(found)

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"MetaGame({self._size:,} agents)"


@dataclass(frozen=True, kw_only=True, eq=False)
class State:
    """A solved population: the game, its equilibrium among some classes, and the classes that had weight."""

    game: AgentsGame
    found: OracleSolution
    known_pivots: Ints | None = None

    @cached_property
    def side(self) -> SideSolution:
        """The equilibrium among the members."""
        return self.found.solution.sides[0]

    @cached_property
    def mixtures(self) -> Mixtures:
        """The equilibrium over all classes, with its certificate."""
        log_m = [np.zeros(self.game.sizes[0])]
        return Mixtures(
            totals=self.found.weights(self.game),
            log_m=log_m,
            unique=[self.side.unique],
            certificate=self.found.solution.certificate,
            iterations=self.found.solution.iterations,
        )

    @cached_property
    def support(self) -> Ints:
        """The classes that have weight in some equilibrium, in ascending order."""
        return np.sort(self.found.members[0][self.side.support])

    @cached_property
    def inner(self) -> Floats:
        """A strictly complementary equilibrium, over all classes."""
        return embed([self.side.inner], self.found.members, self.game.sizes)[0]

    @cached_property
    def pivots(self) -> Ints | None:
        """Classes of the support whose payoffs span those of all of it, where they are few."""
        B = self.support
        if self.known_pivots is not None:
            return self.known_pivots
        if self.side.unique or len(B) < 2 * SPARE:
            return None
        M = self.game.between(B, B)
        R, order = qr(M.T, mode="r", pivoting=True)
        rank = int((np.abs(np.diagonal(R)) > ZERO).sum())
        return B[np.sort(order[:rank])] if SPARE * rank <= len(B) else None


def follow(state: State | None, A: Floats, agents: tuple[str, ...], unit: str, precision: float) -> State:
    """Return the solved population after agents were appended."""
    known = None if state is None or state.game.precision != precision else extend_classes(state, A)
    if state is None or known is None:
        game = new_game(A, agents, unit, precision)
        return State(game=game, found=find_equilibrium(game, [np.zeros(game.sizes[0])]))
    scale = max(state.game.scale, largest(A[state.game.model.size :]))
    game = replace(state.game, agents=agents, model=Matrix(A=A), classes=(known,), scale=scale)
    size, before = game.sizes[0], state.game.sizes[0]
    new = np.arange(before, size)
    if game.exponent == state.game.exponent:
        mixtures = (state.inner, state.mixtures.totals[0])
        gains, final = (game.gains([np.append(x, np.zeros(len(new)))])[0][new] for x in mixtures)
        if (gains < -ZERO).all() and (final <= GAINS).all():
            return State(game=game, found=state.found, known_pivots=state.known_pivots)
        ties = np.abs(gains) <= ZERO
        if state.pivots is not None and len(new) == 1 and ties.all():
            grown = grow_face(state, game, int(new[0]))
            if grown is not None:
                return grown
    matter = np.append(state.support, new)
    margins = -game.gains([np.append(state.inner, np.zeros(len(new)))])[0]
    margins[matter] = np.inf
    near = np.argsort(margins, kind="stable")[: min(len(matter) // CLOSE, size - len(matter))]
    start = [np.append(matter, near)]
    return State(game=game, found=find_equilibrium(game, [np.zeros(size)], start=start))


def new_game(A: Floats, agents: tuple[str, ...], unit: str, precision: float) -> AgentsGame:
    """Return the game of a population that is solved from the beginning."""
    return AgentsGame.of(Matrix(A=A), agents, unit, "given agent by agent", precision)


def extend_classes(state: State, A: Floats) -> Classes | None:
    """Return the classes with the new agents, or nothing where near-copies need the rule for all of them.

    A new agent is a copy of another to the last bit, or differs from all by more than the rule.
    """
    (old,) = state.game.classes
    before, same = len(old.label), max(ZERO, state.game.precision)
    scale = max(state.game.scale, largest(A[before:]))
    if old.loose.any() or not scale <= 2 * state.game.scale:  # where the scale grows, near-copies may become copies
        return None
    room = np.zeros(len(A) - before, dtype=np.intp)
    labels, firsts, size = (np.append(part, room) for part in (old.label, old.first, old.size))
    count, near = len(old.first), 4 * same * scale
    for k in range(before, len(A)):
        few = np.argsort(-np.abs(A[k]), kind="stable")[:LOOKED_AT]
        first = firsts[:count]
        alike = np.flatnonzero((np.abs(A[few].take(first, axis=1) + A[k, few][:, None]) <= near).all(axis=0))
        apart = np.abs(A[first[alike]] - A[k]).max(axis=1)
        copies = alike[apart == 0]
        if not copies.size and (apart <= near).any():
            return None
        labels[k] = copies[0] if copies.size else count
        if not copies.size:
            firsts[count], count = k, count + 1
        size[labels[k]] += 1
    firsts = firsts[:count]
    copies = np.flatnonzero(firsts[labels] != np.arange(len(labels)))
    if (A[copies] != A[firsts[labels[copies]]]).any():
        return None  # agents that were copies differ against a new one
    return Classes(
        label=labels,
        first=firsts,
        size=size[:count],
        loose=np.zeros(count, dtype=np.bool_),
    )


def grow_face(state: State, game: AgentsGame, new: int) -> State | None:
    """Return the population with a class that ties with every equilibrium, if its payoffs combine those of pivots.

    With ``P`` the pivots, ``K = C K[P]`` on the support ``B``; if ``K[a, B] = c K[P, B]`` for the new class ``a``, the
    same holds with ``a`` in the support, because ``K`` is antisymmetric. So ``K[P] x = 0, sum(x) = 1`` are all
    equations there are.
    """
    P, B = state.pivots, state.support
    assert P is not None
    size = game.sizes[0]
    members = np.append(B, new)
    columns = game.between(np.arange(size), members)
    rows, target = columns[P], columns[new][:-1]
    combine = np.linalg.lstsq(rows[:, :-1].T, target, rcond=None)[0]
    if np.abs(combine @ rows[:, :-1] - target).max() > ZERO:
        return None
    bordered = np.vstack([rows, np.ones((1, len(members)))])
    x = enter(state.inner[B], bordered.T)
    if x is None:
        return None
    own, pivot = np.zeros((2, size), dtype=np.bool_)
    own[members], pivot[P] = True, True
    G = columns[~pivot]
    margins, outside = -(G @ x), ~own[~pivot]
    reach = np.abs(G[outside]).max(axis=1, initial=0.0)
    if (margins[outside] <= ZERO * reach).any():
        return None
    face = Face(
        x=x,
        v=0.0,
        Z=np.zeros((len(x), 0)),
        extent=len(x) - len(bordered),
        unit=1.0,
        bordered=bordered,
        pulls_back=(lambda b: np.asarray(np.linalg.lstsq(bordered.T, b, rcond=None)[0], dtype=np.float64),),
    )
    terms = Terms(equations=bordered.T, falls=G[outside], moving=outside, change=reach)
    side = SideFace(F=columns, own=own, tight=pivot, found=face, G=G, margins=margins, terms=terms)
    return accept(game, columns[members], members, solve_side(side, np.zeros(size)), P)


def enter(inner: Floats, W: Floats) -> Floats | None:
    """Return a mixture with weight for one more player, at the end, that meets the same equations."""
    old, column = W[:-1], W[-1]
    scaled = old * inner[:, None]
    step = inner * (old @ np.linalg.lstsq(scaled.T @ old, column, rcond=None)[0])
    if np.abs(old.T @ step - column).max() > COMPLEMENTARY:
        return None
    reach = 0.5 / max(float((step / inner).max()), 0.5)
    share = min(reach, 1.0 / len(W))
    x = np.append(inner - share * step, share)
    return x / x.sum() if (x > 0).all() else None


def accept(game: AgentsGame, K: Floats, members: Ints, side: SideSolution, pivots: Ints) -> State | None:
    """Return the solved population if the certificate accepts it; ``K`` are the payoffs between the members."""
    outside = np.ones(game.sizes[0], dtype=np.bool_)
    outside[members] = False
    if side.y[outside].any() or side.off > TOLERANCE:
        return None  # somebody outside presses: the solver for all games keeps such players among its members
    among = side.picked(members, members)
    proof = certify(K, [among], [np.zeros(len(members))])
    if not (proof.residual <= TOLERANCE and proof.complementarity <= COMPLEMENTARY):
        return None
    gains, final = (game.gains([x])[0][outside] for x in (side.inner, side.weights))
    if not ((gains < -ZERO).all() and (final <= GAINS).all()):
        return None
    solution = Solution(sides=(among,), certificate=proof, iterations=side.iterations)
    found = OracleSolution(members=[members], solution=solution)
    return State(game=game, found=found, known_pivots=pivots)
