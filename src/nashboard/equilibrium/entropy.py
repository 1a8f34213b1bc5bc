"""Maximum entropy on a face.

Symbols: ``x = x0 + Z u`` a mixture on the face, ``m`` multiplicities, ``t = v - G x >= 0`` the margins of
the opponents without weight, ``z >= 0`` their multipliers. Minimise

    f(u) = sum x log(x / m)    subject to    t >= 0

``log m = 0`` is the entropy over classes of identical players; ``m`` the sizes of the classes is plain
maximum entropy over individuals (a class of ``m`` with total ``x`` adds ``-x log(x / m)``).

A face can be thin, with all of it near one of its sides. The weights of the best mixture then span any number
of orders of magnitude, far more than ``x0 + Z u`` could hold. So the dual is solved, in logarithms: with ``W``
the directions across the face, the best mixture is

    log(x / m) = W w - Z GZ' z,    W'(x - x0) = 0,    z >= 0,    t >= 0,    z t = 0

and the left equation holds at every step: weights are positive by construction, and right in proportion.
Few margins are ever tight. They are found by solving with those that were violated before, none at first.
"""

from dataclasses import dataclass

import numpy as np

from nashboard._types import Bools, Floats
from nashboard.equilibrium.tolerance import ZERO

ROUNDING = 1e-16  # what a difference of two weights is worth
VIOLATED = 1e-15  # a margin below zero by more than this is violated
SWING = 2.0  # a Newton step changes the logarithm of a weight that counts by no more than this


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

    The first ``across`` columns of ``B`` are ``W``, the others ``-Z GZ'`` for the margins that take part.
    """

    B: Floats
    goal: Floats
    log_m: Floats
    across: int

    def log_x(self, y: Floats) -> Floats:
        """Return the logarithms of the weights, which never exceed those of a mixture by much."""
        return np.asarray(np.minimum(self.B @ y + self.log_m, SWING))

    def gradient(self, x: Floats) -> Floats:
        """Return how far ``x`` is from the face, and the margins."""
        return np.asarray(self.B.T @ x - self.goal)


def maximum_entropy(x: Floats, Z: Floats, t: Floats, GZ: Floats, log_m: Floats) -> MaximumEntropy:
    """Return the mixture of largest entropy on a face, from a point inside it.

    ``x`` (k,) and margins ``t`` (r,) strictly positive, directions ``Z`` (k, d), ``GZ = G Z`` (r, d).
    """
    if Z.shape[1] == 0:
        return MaximumEntropy(x=x, log_x=np.log(x), z=np.zeros(len(t)), iterations=0)
    unit = np.abs(GZ).max(axis=1, initial=1e-300)  # margins in units of how much they can change
    t, GZ = t / unit, GZ / unit[:, None]
    W = np.linalg.qr(Z, mode="complete")[0][:, Z.shape[1] :]
    across = W.shape[1]
    w, z = W.T @ (np.log(x) - log_m), np.zeros(len(t))
    part, iterations = np.zeros(len(t), dtype=np.bool_), 0
    while True:
        B = np.hstack([W, -(Z @ GZ[part].T)])
        dual = Dual(B=B, goal=B.T @ x - np.append(np.zeros(across), t[part]), log_m=log_m, across=across)
        y, steps = solved(dual, np.append(w, z[part]))
        iterations += steps
        w, z[part] = y[:across], y[across:]
        log_x = dual.log_x(y)
        found = np.maximum(np.exp(log_x), 1e-300)  # whoever has weight keeps some, also below the smallest number
        violated = (t - GZ @ (Z.T @ (found - x)) < -VIOLATED) & ~part
        if not violated.any():
            return MaximumEntropy(x=found, log_x=log_x, z=z / unit, iterations=iterations)
        part |= violated


def solved(dual: Dual, y: Floats) -> tuple[Floats, int]:
    """Return ``y``: follow the path ``z t = tau`` until the tight margins can be told, then solve on those."""
    steps = 0
    tight = np.zeros(len(y) - dual.across, dtype=np.bool_)
    if tight.size:
        y, tight, steps = path(dual, y)
    y, more = on_tight(dual, y, tight)
    return y, steps + more


def path(dual: Dual, y: Floats, most: int = 300) -> tuple[Floats, Bools, int]:
    """Follow the path ``z t = tau``; return its end, the margins that are tight there, and the steps it took."""
    across = dual.across
    margins = dual.gradient(np.exp(dual.log_x(y)))[across:]
    t = np.maximum(margins, max(0.1, -float(margins.min())))
    z = np.maximum(y[across:], 0.1)
    y = np.append(y[:across], z)
    history: list[float] = []
    for step in range(most):
        x = np.exp(dual.log_x(y))
        slope = dual.gradient(x)
        tau = float(z @ t) / len(t)
        off = max(float(np.abs(slope[:across]).max(initial=0.0)), float(np.abs(slope[across:] - t).max()))
        history.append(off + tau)
        if (off < ROUNDING and tau < ROUNDING**1.5) or (step > 60 and history[-1] > 0.5 * history[-20]):
            break  # done, or as near as rounding allows
        aim = 0.1 * tau if off < max(1e-3, 1e3 * tau) else tau
        barrier = np.append(np.zeros(across), t / z)
        dy = newton(dual.B, x, barrier, np.append(-slope[:across], aim / z - slope[across:]))
        dz = dy[across:]
        dt = aim / z - t - t / z * dz
        reach = min(calm(dual, x, dy), 0.99 / max(worst(dt, t), worst(dz, z), 1e-300))
        y, t = y + reach * dy, t + reach * dt
        z = y[across:]
    return y, z > t, step + 1


def on_tight(dual: Dual, y: Floats, tight: Bools, most: int = 200) -> tuple[Floats, int]:
    """Solve with the tight margins exactly zero and no multipliers for the others; keep the best step."""
    used = np.append(np.ones(dual.across, dtype=np.bool_), tight)
    y = np.where(used, y, 0.0)
    some = Dual(B=dual.B[:, used], goal=dual.goal[used], log_m=dual.log_m, across=dual.across)
    free = y[used]
    best, least, worse, step = free, np.inf, 0, 0
    while step < most:
        step += 1
        x = np.exp(some.log_x(free))
        slope = some.gradient(x)
        off = float(np.abs(slope).max(initial=0.0))
        if off < least:
            best, least, worse = free, off, 0
        worse += 1
        if least == 0 or (worse > 3 and least < 1e3 * ROUNDING) or worse > 30:
            break
        dy = newton(some.B, x, np.zeros(len(free)), -slope)
        free = free + calm(some, x, dy) * dy
    best[dual.across :] = np.maximum(best[dual.across :], 0.0)
    y[used] = best
    return y, step


def newton(B: Floats, x: Floats, barrier: Floats, right: Floats) -> Floats:
    """Solve ``(B' diag(x) B + diag(barrier)) dy = right``."""
    H = (B * x[:, None]).T @ B
    H[np.arange(len(H)), np.arange(len(H))] += barrier
    unit = 1.0 / np.sqrt(np.maximum(np.diag(H), 1e-300))
    return np.asarray(unit * np.linalg.lstsq(H * unit * unit[:, None], unit * right, rcond=1e-15)[0])


def calm(dual: Dual, x: Floats, dy: Floats) -> float:
    """Return the step, at most 1, along which no weight grows by much and none that counts shrinks by much."""
    change = dual.B @ dy
    swing = max(float(change.max()), float(-change[x > ZERO].min(initial=0.0)))
    return min(1.0, SWING / max(swing, 1e-300))


def worst(change: Floats, value: Floats) -> float:
    """Return the inverse of the step at which the first value would be zero."""
    return float((-change / value).max(initial=0.0))
