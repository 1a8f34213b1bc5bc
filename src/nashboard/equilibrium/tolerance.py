"""The most even mixture among all whose exploitability is at most a tolerance.

For one side of a game, ``F`` what opponents get and ``v`` the value, maximise the entropy over classes subject to

    F x <= v + e,    sum(x) = 1

With multipliers ``y >= 0`` of the rows, ``x = softmax(log m - F'y)``: a player's weight follows from its payoffs
against a mixture of the opponents that the tolerance holds back. Nobody has weight 0, and there is always exactly one
answer.

**Continuity.** For fixed classes the answer is continuous in the payoffs. Let every payoff change by at most ``d``, and
``t = d / (e + d)`` (for tables ``2 d / (e + 2 d)``, since the value moves too). A mixture that was allowed is allowed
again after a share ``t`` of it is replaced by a new equilibrium, whose exploitability is 0. So the best entropies
differ by at most ``t log C`` for ``C`` classes, and because the best mixture ``x'`` of a convex set has
``H(x') - H(q) >= KL(q, x')`` for all others, Pinsker's inequality gives

    |x - x'|_1 <= 2 t + 2 sqrt(t log C)

Without a tolerance there is no such bound: where equilibria are many, or nearly so, the exact answer can jump.
Payoffs in single precision are such a change, so their default is a tolerance of a few units in their last place.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nashboard._types import Floats, Ints
from nashboard.equilibrium.entropy import Margins, maximum_entropy
from nashboard.equilibrium.game import AgentsGame, Game
from nashboard.equilibrium.thresholds import ROUNDING, TOLERANCE, ZERO
from nashboard.errors import ConvergenceError, InputError


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


def bound_of_movement(change: float, tolerance: float, classes: int, groups: int = 1) -> float:
    """Return how far the weights can move (sum of absolute changes) when every payoff changes by up to ``change``."""
    t = groups * change / (tolerance + groups * change)
    return float(2 * t + 2 * np.sqrt(t * np.log(max(classes, 2))))


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
    if opponents.gains(start).max() <= e:  # the most even mixture of all
        return EvenMixture(weights=start, residual=0.0, condition=0.0, iterations=0)
    share = e / (2 * max(float(opponents.gains(uniform).max()), e))
    inside = (1 - share) * equilibrium + share * uniform
    inside /= inside.sum()
    margins = Margins(at=e - opponents.gains(inside), fall=opponents.gains, rows=opponents.rows, unit=1.0)
    if not margins.at.min() > 0:
        raise ConvergenceError(f"no mixture is known whose exploitability is below the tolerance: {e:.1e} is too small")
    best = opponents.gains(equilibrium)
    found = maximum_entropy(inside, np.ones((n, 1)), margins, log_m, likely=np.flatnonzero(best > -e))
    x = found.x / found.x.sum()
    tight = np.flatnonzero(found.z)
    G, y = opponents.rows(tight), found.z[tight]
    residual = proved_residual(G, x, y, log_m, e)
    over = float(opponents.gains(x).max()) - e
    if not (residual <= TOLERANCE and over <= TOLERANCE):
        raise ConvergenceError(
            f"the most even mixture misses its certificate of {TOLERANCE:g}: its residual is {residual:.1e}, and it "
            f"exceeds the tolerance by {max(over, 0.0):.1e} of the largest payoff; allow a larger tolerance="
        )
    return EvenMixture(weights=x, residual=residual, condition=first_order(G, x, y), iterations=found.iterations)


def proved_residual(G: Floats, x: Floats, y: Floats, log_m: Floats, e: float) -> float:
    """Return the larger of ``max |x - softmax(log m - G'y)|`` and ``sum y (e - G x)``, which prove the choice."""
    exponent = log_m - G.T @ y
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
