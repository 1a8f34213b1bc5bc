"""Maximum entropy on a face, and among all mixtures whose exploitability is at most a tolerance.

Symbols: ``x = x0 + Z u`` a mixture on the face, ``m`` multiplicities, ``t = v - G x >= 0`` the margins of
the opponents without weight, ``z >= 0`` their multipliers. Minimise

    f(u) = sum x log(x / m)    subject to    t >= 0

``log m = 0`` is the entropy over classes of identical players; ``m`` the sizes of the classes is plain
maximum entropy over individuals (a class of ``m`` with total ``x`` adds ``-x log(x / m)``).

A face can be thin, with all of it near one of its sides. The weights of the best mixture then span any number
of orders of magnitude, far more than ``x0 + Z u`` could hold. So the dual is solved, in logarithms: with
``W'x = W'x0`` the equations of the face, the best mixture is

    log(x / m) = W w - G'z,    W'(x - x0) = 0,    z >= 0,    t >= 0,    z t = 0

and the left equation holds at every step: weights are positive by construction, and right in proportion.
Equations and margins are taken as they stand in the game, equations in units of their own terms: one
between small weights holds to the last bit of those, which it could not once mixed with one of large weights.
Few margins are ever tight. They are found by solving with those that were violated before, none at first.

**With a tolerance.** For one side of a game, ``F`` what opponents get and ``v`` the value, maximise the entropy over
classes subject to

    F x <= v + e,    sum(x) = 1

With multipliers ``y >= 0`` of the rows, ``x = softmax(log m - F'y)``: a player's weight follows from its payoffs
against a mixture of the opponents that the tolerance holds back. Nobody has weight 0, and there is always exactly one
answer.

**Continuity.** For fixed classes the answer is continuous in the payoffs. Let every payoff change by at most ``d``,
and ``t = d / (e + d)`` (for tables ``2 d / (e + 2 d)``, since the value moves too). A mixture that was allowed is
allowed again after a share ``t`` of it is replaced by a new equilibrium, whose exploitability is 0. So the best
entropies differ by at most ``t log C`` for ``C`` classes, and because the best mixture ``x'`` of a convex set has
``H(x') - H(q) >= KL(q, x')`` for all others, Pinsker's inequality gives

    |x - x'|_1 <= 2 t + 2 sqrt(t log C)

Without a tolerance there is no such bound: where equilibria are many, or nearly so, the exact answer can jump.
Payoffs in single precision are such a change, so their default is a tolerance of a few units in their last place.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr

from nashboard._types import Bools, Floats, Ints
from nashboard.equilibrium.game import AgentsGame, Game
from nashboard.equilibrium.precision import (
    DEPENDENT,
    FAR,
    HUGE,
    LEAST,
    NEAR,
    PATH_END,
    ROUNDING,
    SETTLED,
    SINGULAR,
    SOLVED,
    TOLERANCE,
    VIOLATED,
    ZERO,
    product,
)
from nashboard.errors import ConvergenceError, InputError

MANY = 64  # systems with more unknowns are factorised where that works: singular values take far longer


@dataclass(frozen=True, kw_only=True, eq=False)
class MaximumEntropy:
    """The mixture ``x`` and its logarithm, the multipliers ``z`` of the margins, and how many Newton steps it took."""

    x: Floats
    log_x: Floats
    z: Floats
    iterations: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Dual:
    """The equations: ``log(x / m) = B y`` with ``y = (w, z)``, and the gradient ``B'x - goal`` that is ``(0, t)``.

    The first ``across`` columns of ``B`` are ``W``, the others ``-G'`` for the margins that take part;
    ``inside`` are those margins at a point inside the face. ``careful`` asks for steps in more digits, at more time.
    """

    B: Floats
    goal: Floats
    log_m: Floats
    across: int
    inside: Floats
    careful: bool = False

    def log_x(self, y: Floats) -> Floats:
        """Return the logarithms of the weights."""
        return np.asarray(np.minimum(self.B @ y + self.log_m, HUGE))

    def gradient(self, x: Floats) -> Floats:
        """Return how far ``x`` is from the face, and the margins."""
        return np.asarray(self.B.T @ x - self.goal)


@dataclass(frozen=True, kw_only=True, eq=False)
class Margins:
    """Margins of the opponents: ``at`` a point inside, how they ``fall`` along a direction, and the ``rows`` ``G``.

    ``unit`` (a number, or one per margin) says how much they can change.
    """

    at: Floats
    fall: Callable[[Floats], Floats]
    rows: Callable[[Ints], Floats]
    unit: float | Floats

    @staticmethod
    def of(t: Floats, G: Floats, unit: Floats) -> "Margins":
        """Return the margins ``t - G dx`` of a matrix."""
        return Margins(at=t, fall=lambda dx: G @ dx, rows=lambda k: G[k], unit=np.maximum(unit, LEAST))


def maximum_entropy(
    x: Floats, W: Floats, margins: Margins, log_m: Floats, likely: Ints | None = None, *, careful: bool = False
) -> MaximumEntropy:
    """Return the mixture of largest entropy with given equations and margins, from a point inside.

    ``x`` (k,) and its margins strictly positive; ``W`` (k, e) independent equations, ``W'x`` stays as it is.
    ``likely`` are margins that probably become tight.
    """
    unit = np.broadcast_to(margins.unit, margins.at.shape)
    t = margins.at / unit
    across = W.shape[1]
    W = W / np.maximum(np.abs(W).T @ x, LEAST)
    w, z = fit_multipliers(W, np.log(x) - log_m), np.zeros(len(t))
    part, iterations = np.zeros(0, dtype=np.intp) if likely is None else likely, 0
    G = margins.rows(part) / unit[part, None]
    while True:
        B = np.hstack([W, -G.T])
        goal = B.T @ x - np.append(np.zeros(across), t[part])
        dual = Dual(B=B, goal=goal, log_m=log_m, across=across, inside=t[part], careful=careful)
        with np.errstate(over="ignore", invalid="ignore"):  # a step that led too far ends the search
            y, log_x, steps = solve_dual(dual, np.append(w, z[part]))
        iterations += steps
        w, z[part] = y[:across], y[across:]
        found = np.maximum(np.exp(log_x), LEAST)  # whoever has weight keeps some, also below the smallest number
        left = t - margins.fall(found - x) / unit
        left[part] = 0.0
        violated = np.flatnonzero(left < -VIOLATED)
        if not violated.size:
            return MaximumEntropy(x=found, log_x=log_x, z=z / unit, iterations=iterations)
        most = max(64, len(part))  # those most violated first: the others may not be once these are tight
        violated = np.sort(violated[np.argsort(left[violated], kind="stable")[:most]])
        part = np.append(part, violated)
        G = np.vstack([G, margins.rows(violated) / unit[violated, None]])


def independent_equations(E: Floats, count: int) -> Floats:
    """Return ``count`` independent rows of ``E``, as columns; of one that nearly depends on others what is left of it.

    That is tiny, and decides all the same: it is added up in twice the working precision and then scaled. Where nothing
    is left, there is one equation less.
    """
    R, order = qr(E.T, mode="r", pivoting=True)
    W = np.ascontiguousarray(E[order[:count]].T)
    if not count or abs(R[count - 1, count - 1]) > DEPENDENT * abs(R[0, 0]):
        return W
    for _ in range(count):
        W = W[:, W.any(axis=0)]
        norm = np.sqrt((W**2).sum(axis=0))
        _, strengths, Vt = np.linalg.svd(W / norm, full_matrices=False)
        if strengths[-1] > DEPENDENT * strengths[0]:
            break
        high, low = product(W, Vt[-1] / norm)
        left = high + low
        W[:, int(np.argmax(np.abs(Vt[-1])))] = left / max(float(np.abs(left).max()), LEAST)
    return W[:, W.any(axis=0)]


def less_equations(G: Floats, W: Floats) -> Floats:
    """Return rows of ``G`` without what combines the equations ``W``, which is constant on the face.

    What is left of a margin that hardly changes there is tiny, so it is added up in twice the working precision.
    """
    left = np.empty_like(G)
    for k, parts in enumerate(fit_multipliers(W, G.T).T if len(G) else ()):
        high, low = product(np.column_stack([G[k], W]), np.append(1.0, -parts))
        left[k] = high + low
    return left


def solve_dual(dual: Dual, y: Floats) -> tuple[Floats, Floats, int]:
    """Return ``y`` and the logarithms: follow the path until the tight margins can be told, then solve on those.

    Margins that are tight for two aims one after the other nearly always are to the end, and what is solved with them
    shows it: then the rest of the path, most of its steps, is not needed.
    """
    if len(y) == dual.across:
        return solve_on_tight(dual, y, np.zeros(0, dtype=np.bool_))
    before = tried = np.zeros(0, dtype=np.bool_)
    more = 0
    for end, t, steps in follow_multipliers(dual, y):
        tight = end[dual.across :] * dual.inside > t
        if np.array_equal(tight, before) and not np.array_equal(tight, tried):
            exact, log_x, count = release_pulling(dual, end, tight)
            more += count
            if measure_error(dual, exact, log_x) <= min(NEAR, SETTLED * float(dual.inside.min())):
                return exact, log_x, steps + more
            tried = tight
        before = tight
    exact, log_x, count = release_pulling(dual, end, tight)
    rough = dual.log_x(end)
    if measure_error(dual, exact, log_x) > max(measure_error(dual, end, rough), NEAR):
        exact, log_x = end, rough
    return exact, log_x, steps + more + count


def release_pulling(dual: Dual, y: Floats, tight: Bools) -> tuple[Floats, Floats, int]:
    """Solve on tight margins; one that would have to pull is not tight."""
    tight, steps = tight.copy(), 0
    while True:
        exact, log_x, count = solve_on_tight(dual, y, tight)
        steps += count
        pulling = exact[dual.across :] < 0
        if not pulling.any():
            return exact, log_x, steps
        tight &= ~pulling


def measure_error(dual: Dual, y: Floats, log_x: Floats) -> float:
    """Return how far the weights are from the face, margins from positive, or from zero where that is due."""
    slope = dual.gradient(np.exp(log_x))
    off, t, z = slope[: dual.across], slope[dual.across :], y[dual.across :]
    parts = np.abs(off), np.maximum(-t, 0.0), np.minimum(np.abs(t), z)
    return max(float(part.max(initial=0.0)) for part in parts)


def follow_multipliers(dual: Dual, y: Floats, most: int = 400) -> Iterator[tuple[Floats, Floats, int]]:
    """Follow the path ``z t = aim * inside`` to its end; yield ``y``, ``t`` and the steps so far, for each aim.

    A step minimises ``sum(x) - goal'y - aim inside'log(z)``, which is convex, along Newton's direction. Each
    margin has its own measure, what it is inside the face, because all margins of a thin face may be tiny: one
    aim for all would begin at multipliers so large that weights underflow.
    """
    across = dual.across
    z = np.maximum(y[across:], 0.1)
    lift = dual.B[:, across:] @ (z - y[across:])
    y = np.append(y[:across] - fit_multipliers(dual.B[:, :across], lift), z)
    aim, since, step = 0.1 * dual.inside, 0, 0
    t = aim / y[across:]
    while step < most:
        step, since = step + 1, since + 1
        z = y[across:]
        log_x = dual.log_x(y)
        x = np.exp(log_x)
        slope = dual.gradient(x)
        slope[across:] -= aim / z
        dy = solve_newton(dual, x, np.append(np.zeros(across), t / z), -slope)
        if not dy.any():
            break
        dz = dy[across:]
        dt = aim / z - t - t / z * dz
        reach = choose_step(dual, log_x, y, dy, aim)
        y = y + reach * dy
        t = t + min(1.0, 0.9 / max(fastest_fall(dt, t), LEAST)) * dt
        if -float(slope @ dy) < 0.1 * aim.min() or since == 30:  # on the path, or as near as rounding allows
            if aim[0] < PATH_END * dual.inside[0]:
                break
            yield y, t, step
            aim, since = 0.1 * aim, 0
            t = np.clip(t, 0.01 * aim / y[across:], 100 * aim / y[across:])
    yield y, t, step


def solve_on_tight(dual: Dual, y: Floats, tight: Bools, most: int = 200) -> tuple[Floats, Floats, int]:
    """Solve with the tight margins exactly zero and no multipliers for the others; keep the best step.

    Where multipliers are large, the last bit of ``B y`` is worth more than that of a weight. So the logarithms
    are not computed from ``y`` again, but changed by what each step adds.
    """
    used = np.append(np.ones(dual.across, dtype=np.bool_), tight)
    B, goal = dual.B[:, used], dual.goal[used]
    some = replace(dual, B=B, goal=goal, across=len(goal), inside=np.zeros(0))
    free = y[used]
    log_x = some.log_x(free)
    best, least, worse, step = (free, log_x), np.inf, 0, 0
    while step < most:
        step += 1
        x = np.exp(log_x)
        slope = some.gradient(x)
        off = float(np.abs(slope).max(initial=0.0))
        if off < least:
            best, least, worse = (free, log_x), off, 0
        worse += 1
        if least == 0 or (worse > 3 and least < NEAR):
            break
        dy = solve_newton(some, x, np.zeros(len(free)), -slope)
        if not dy.any():
            break
        dy = choose_step(some, log_x, free, dy, np.zeros(0)) * dy
        free, log_x = free + dy, np.minimum(log_x + some.B @ dy, HUGE)
    y = np.zeros(len(y))
    y[used], log_x = best
    return y, log_x, step


def choose_step(dual: Dual, log_x: Floats, y: Floats, dy: Floats, aim: Floats) -> float:
    """Return the step, at most 1, to about the lowest point in a direction: where the slope along it is small.

    The lowest point knows little of small weights: they could underflow on the way to it, and nothing would bring
    them back. So they fall step by step.
    """
    change, level = dual.B @ dy, float(dual.goal @ dy)
    z, dz = y[dual.across :], dy[dual.across :]

    def slope(reach: float) -> float:
        x = np.exp(np.minimum(log_x + reach * change, HUGE))  # from logarithms: weights may have underflowed
        return float(x @ change) - level - float((aim * dz / (z + reach * dz)).sum())

    fastest = max(fastest_fall(dz, z) / 0.99, fastest_fall(change, np.maximum(np.abs(log_x), FAR)))
    low, high = 0.0, 1.0 / max(1.0, fastest)
    if np.abs(change).max() < SETTLED:
        return high
    first = abs(slope(0.0))
    reach = high
    for _ in range(60):
        here = slope(reach)
        if abs(here) <= 0.5 * first or (here < 0 and reach == high):
            break
        low, high = (reach, high) if here < 0 else (low, reach)
        reach = (low + high) / 2
    return reach


def solve_newton(dual: Dual, x: Floats, barrier: Floats, right: Floats) -> Floats:
    """Solve ``(B' diag(x) B + diag(barrier)) dy = right``; no step at all where numbers are too large for that.

    The matrix is ``K'K`` with ``K`` the roots of both terms, whose singular values keep twice as many digits.
    """
    B = dual.B
    if dual.careful and len(right):
        K = np.vstack([B * np.sqrt(x)[:, None], np.diag(np.sqrt(barrier))])
        unit = 1.0 / np.sqrt(np.maximum(np.add.reduce(K * K), LEAST))
        if not (np.isfinite(K).all() and np.isfinite(right).all()):
            return np.zeros(len(right))
        _, strengths, Vt = np.linalg.svd(K * unit, full_matrices=False)
        Vt = Vt[strengths > SOLVED * strengths[0]]
        return np.asarray(unit * (Vt.T @ (Vt @ (unit * right) / strengths[: len(Vt)] ** 2)))
    H = (B * x[:, None]).T @ B
    H[np.arange(len(H)), np.arange(len(H))] += barrier
    unit = 1.0 / np.sqrt(np.maximum(np.diag(H), LEAST))
    if not (np.isfinite(H).all() and np.isfinite(right).all()):
        return np.zeros(len(right))
    H = H * unit * unit[:, None]
    if len(H) > MANY:
        try:
            return np.asarray(unit * cho_solve(cho_factor(H, lower=True, check_finite=False), unit * right))
        except np.linalg.LinAlgError:  # singular: equations that depend on each other, up to rounding
            pass
    return np.asarray(unit * np.linalg.lstsq(H, unit * right, rcond=SINGULAR)[0])


def fit_multipliers(W: Floats, goal: Floats) -> Floats:
    """Return ``w`` with ``W w`` as near to a goal as can be, or to each of several, which are columns."""
    norm = np.sqrt((W**2).sum(axis=0))
    return np.asarray((np.linalg.lstsq(W / norm, goal)[0].T / norm).T)


def fastest_fall(change: Floats, value: Floats) -> float:
    """Return the inverse of the step at which the first value would be zero."""
    return float((-change / value).max(initial=0.0))


@dataclass(frozen=True, kw_only=True, eq=False)
class EvenMixture:
    """The weights of one group of classes, the residual that proves them, and the condition (see `certificate`)."""

    weights: Floats
    residual: float
    condition: float
    iterations: int


def check_tolerance(tolerance: float | None, game: Game) -> float:
    """Return the allowed exploitability in the unit of the payoffs; by default what the type of the input asks."""
    if tolerance is None:
        return game.precision * game.scale
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float | np.number):
        raise InputError(f"the tolerance is {tolerance!r}: it must be a number in the unit of the payoffs, 0 for exact")
    if not 0 <= float(tolerance) < np.inf:
        raise InputError(f"the tolerance is {tolerance:g}: it must be finite and not negative")
    return float(tolerance) if tolerance > ZERO * game.scale else 0.0


def most_even_mixtures(
    game: Game, equilibrium: Sequence[Floats], value: float, log_m: Sequence[Floats], tolerance: float
) -> list[EvenMixture]:
    """Return the most even mixture of each group, from an equilibrium of the game and its value (both scaled)."""
    e = float(np.ldexp(tolerance, -game.exponent))
    found = []
    for group, (x, part) in enumerate(zip(equilibrium, log_m, strict=True)):
        found.append(most_even(Opponents(game=game, own=group, value=value), x, part, e))
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Opponents:
    """What the opponents of one group gain over the value, against a mixture or as rows of ``F``."""

    game: Game
    own: int
    value: float

    def gains(self, x: Floats) -> Floats:
        """What each opponent gets over the value against a mixture that need not add up to 1, ``F x - v sum(x)``."""
        if isinstance(self.game, AgentsGame):
            return self.game.gains([x])[0]
        K, v = self.game.K, self.value
        return np.asarray(v * x.sum() - K.T @ x if self.own == 0 else K @ x - v * x.sum())

    def rows(self, k: Ints) -> Floats:
        """Rows of ``F - v``, of the opponents ``k`` against all own classes."""
        if isinstance(self.game, AgentsGame):
            return self.game.between(k, np.arange(self.game.sizes[0]))
        K, v = self.game.K, self.value
        return np.asarray(v - K[:, k].T if self.own == 0 else K[k] - v)


def most_even(opponents: Opponents, equilibrium: Floats, log_m: Floats, e: float) -> EvenMixture:
    """Return the most even mixture that no opponent gains more than ``e`` against."""
    n = len(equilibrium)
    uniform = np.full(n, 1.0 / n)
    if n == 1:
        return EvenMixture(weights=uniform, residual=0.0, condition=0.0, iterations=0)
    start = np.exp(log_m - log_m.max())
    start /= start.sum()
    gains = opponents.gains(start)
    if gains.max() <= e:  # the most even mixture of all: it moves where a change of the payoffs could rule it out
        G = opponents.rows(np.flatnonzero(gains > e - 2 * TOLERANCE))
        return EvenMixture(weights=start, residual=0.0, condition=first_order(G, start, np.zeros(len(G))), iterations=0)
    if not opponents.gains(equilibrium).max() <= e / 8:
        raise ConvergenceError(
            f"no mixture is known whose exploitability is far below the tolerance: {e:.1e} is too small"
        )
    share = e / (2 * max(float(opponents.gains(uniform).max()), e))
    inside = (1 - share) * equilibrium + share * uniform
    inside /= inside.sum()
    margins = Margins(at=e - opponents.gains(inside), fall=opponents.gains, rows=opponents.rows, unit=1.0)
    best = opponents.gains(equilibrium)
    likely = np.flatnonzero(best > -e)
    for careful in (False, True):
        found = maximum_entropy(inside, np.ones((n, 1)), margins, log_m, likely, careful=careful)
        x = found.x / found.x.sum()
        tight = np.flatnonzero(found.z)
        residual = proved_residual(opponents.rows(tight), x, found.z[tight], log_m, e)
        gains = opponents.gains(x)
        over = float(gains.max()) - e
        if residual <= TOLERANCE and over <= TOLERANCE:
            break
    else:
        raise ConvergenceError(
            f"the most even mixture misses its certificate of {TOLERANCE:g}: its residual is {residual:.1e}, and it "
            f"exceeds the tolerance by {max(over, 0.0):.1e} of the largest payoff; allow a larger tolerance="
        )
    near = np.flatnonzero((found.z > 0) | (gains > e - 2 * TOLERANCE))  # rows that a change could make tight count too
    condition = first_order(opponents.rows(near), x, found.z[near])
    return EvenMixture(weights=x, residual=residual, condition=condition, iterations=found.iterations)


def proved_residual(G: Floats, x: Floats, y: Floats, log_m: Floats, e: float) -> float:
    """Return the larger of ``max |x - softmax(log m - G'y)|`` and ``sum y (e - G x)``, which prove the choice."""
    high, low = product(np.ascontiguousarray(G.T), y)
    exponent = (log_m - high) - low
    fit = np.column_stack([G.T, np.ones(len(x))])  # the last bits of large multipliers are worth a correction
    more = np.linalg.lstsq(fit * x[:, None], x * (exponent - np.log(x)))[0]
    exponent, y = exponent - fit @ more, y + more[:-1]
    q = np.exp(exponent - exponent.max())
    q /= q.sum()
    slack = np.maximum(np.abs(e - G @ x) - ROUNDING * (e + np.abs(G) @ x), 0.0)
    return max(float(np.abs(x - q).max()), float(np.maximum(y, 0.0) @ slack), float(-y.min(initial=0.0)))


def first_order(G: Floats, x: Floats, y: Floats) -> float:
    """Return how far weights move, summed up, per change of the payoffs, to first order.

    With ``C = diag(x) - xx'`` and ``H = G C G'``, the change is ``-P u - C G' H^-1 g``, where ``P`` is at most
    ``diag(x)``, ``|u| <= sum(y)`` and ``|g| <= 2`` in each row.
    """
    if not len(y):
        return 0.0
    mean = G @ x
    H = (G * x) @ G.T - np.outer(mean, mean)
    least = float(np.linalg.eigvalsh(H)[0])
    return float(y.sum() + 2 * np.sqrt(len(y) / least)) if least > 0 else float("inf")
