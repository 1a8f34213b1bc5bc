"""Maximum entropy on a face.

Symbols: ``x = x0 + Z u`` a mixture on the face, ``m`` multiplicities, ``t = v - G x >= 0`` the margins of
the opponents without weight, ``z >= 0`` their multipliers. Minimise

    f(u) = sum x log(x / m)    subject to    t >= 0

``log m = 0`` is the entropy over classes of identical players; ``m`` the sizes of the classes is plain
maximum entropy over individuals (a class of ``m`` with total ``x`` adds ``-x log(x / m)``). The weights never
reach zero, for the slope of the entropy is infinite there; the margins can, and then ``z > 0``.
A primal-dual interior point finds the tight ones, Newton's method on those finishes.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from nashboard._types import Bools, Floats
from nashboard.equilibrium.tolerance import ZERO


@dataclass(frozen=True, kw_only=True, eq=False)
class MaximumEntropy:
    """The mixture ``x``, the multipliers ``z`` of the margins, and how many Newton steps it took."""

    x: Floats
    z: Floats
    iterations: int


def maximum_entropy(x: Floats, Z: Floats, t: Floats, GZ: Floats, log_m: Floats) -> MaximumEntropy:
    """Return the mixture of largest entropy on a face, from a point inside it.

    ``x`` (k,) and margins ``t`` (r,) strictly positive, directions ``Z`` (k, d), ``GZ = G Z`` (r, d).
    """
    if Z.shape[1] == 0:
        return MaximumEntropy(x=x, z=np.zeros(len(t)), iterations=0)
    unit = np.abs(GZ).max(axis=1, initial=1e-300)  # margins in units of how much they can change
    t, GZ = t / unit, GZ / unit[:, None]
    u, z, iterations = interior(x, Z, t, GZ, log_m)
    u, z, more = finish(x, Z, t, GZ, log_m, u, z)
    tight = z > 0
    x, last = in_proportion(np.maximum(x + Z @ u, 1e-300), Z @ kernel(GZ[tight]) if tight.any() else Z, log_m)
    return MaximumEntropy(x=x, z=z / unit, iterations=iterations + more + last)


def interior(
    x0: Floats, Z: Floats, t0: Floats, GZ: Floats, log_m: Floats, most: int = 200
) -> tuple[Floats, Floats, int]:
    """Follow the path ``z t = tau`` until the margins that are tight can be told.

    Weights are margins here too: the start is the end of the game's own central path, so with both it is well
    centred. Their multipliers fade, as no weight is zero at the optimum.
    """
    u = np.zeros(Z.shape[1])
    unit = np.abs(Z).max(axis=1, initial=0.0)
    unit = np.where(unit > 0, unit, 1.0)
    GZ, t0 = np.vstack([GZ, -Z / unit[:, None]]), np.append(t0, x0 / unit)
    x, t, r = x0, t0, len(t0)
    z = 0.1 / t
    tau = 0.1
    history: list[float] = []
    for iteration in range(most):
        slope = Z.T @ (np.log(x) - log_m)
        off = float(np.abs(slope + GZ.T @ z).max())
        history.append(off + tau)
        if (off < 1e-9 and tau < 1e-15) or (iteration > 30 and history[-1] > 0.5 * history[-10]):
            break  # done, or as near as rounding allows: `finish` does the rest
        aim = 0.1 * tau if off < max(1e-3, 1e3 * tau) else tau
        du = -newton(Z, x, GZ, z / t, slope + GZ.T @ (aim / t))
        dt = -(GZ @ du)
        dz = (aim - z * dt) / t - z
        reach = min(1.0, 0.99 / max(worst(dt, t), worst(dz, z), 1e-300))
        ahead = t0 - GZ @ (u + reach * du)
        if reach < 1e-13 or ahead.min() <= 0:
            break  # margins are down to rounding
        u, z, t = u + reach * du, z + reach * dz, ahead
        x = t[r - len(x0) :] * unit
        tau = float(z @ t) / r
    return u, z[: r - len(x0)], iteration + 1


def worst(change: Floats, value: Floats) -> float:
    """Return the inverse of the step at which the first value would be zero."""
    return float((-change / value).max(initial=0.0))


def newton(Z: Floats, x: Floats, GZ: Floats, weight: Floats, slope: Floats) -> Floats:
    """Solve ``(Z' diag(1/x) Z + GZ' diag(weight) GZ) du = slope``."""
    H = (Z / x[:, None]).T @ Z + (GZ * weight[:, None]).T @ GZ
    unit = 1.0 / np.sqrt(np.diag(H))
    return unit * np.linalg.lstsq(H * unit * unit[:, None], unit * slope, rcond=1e-15)[0]


def finish(
    x0: Floats, Z: Floats, t0: Floats, GZ: Floats, log_m: Floats, u: Floats, z: Floats
) -> tuple[Floats, Floats, int]:
    """Treat the tight margins as equations and solve to machine precision; correct the set of tight ones."""
    best: tuple[float, Floats, Floats] = (np.inf, u, z)
    steps = 0
    t = t0 - GZ @ u
    tight = (z > t) & (t < 1e-3 * t0)
    for guess in (tight, np.zeros_like(tight)) if tight.any() else (tight,):
        found, more = corrected(x0, Z, t0, GZ, log_m, u, guess)
        best, steps = min(best, found, key=lambda candidate: candidate[0]), steps + more
        if best[0] < ZERO:
            break
    return best[1], best[2], steps


def corrected(
    x0: Floats, Z: Floats, t0: Floats, GZ: Floats, log_m: Floats, u: Floats, tight: Bools, rounds: int = 12
) -> tuple[tuple[float, Floats, Floats], int]:
    """Return how far off, ``u`` and ``z`` after adding margins that were missed and dropping wrong ones."""
    best: tuple[float, Floats, Floats] = (np.inf, u, np.zeros(len(t0)))
    steps = 0
    for _ in range(rounds):
        u, more = on_tight(x0, Z, t0, GZ, log_m, u, tight)
        steps += more
        x, t = x0 + Z @ u, t0 - GZ @ u
        if x.min() <= 0:
            break
        slope = Z.T @ (np.log(x) - log_m)
        near = t <= ZERO
        z = multipliers(GZ, near, slope)
        off = float(np.abs(slope + GZ.T @ z).max())
        score = max(off, -float(t.min(initial=0.0)))
        best = min(best, (score, u, z), key=lambda candidate: candidate[0])
        wrong = tight & ((t > ZERO) | (near & (z == 0) & (off > ZERO)))
        missed = (t < -1e-15) & ~tight
        if not (wrong.any() or missed.any()):
            break
        tight = (tight & ~wrong) | missed
    return best, steps


def multipliers(GZ: Floats, near: Bools, slope: Floats) -> Floats:
    """Return ``z >= 0`` on the tight margins with ``GZ' z`` as close to ``-slope`` as can be."""
    z = np.zeros(len(GZ))
    if near.any():
        z[near] = nnls(GZ[near].T, -slope)[0]
    return z


def on_tight(
    x0: Floats, Z: Floats, t0: Floats, GZ: Floats, log_m: Floats, u: Floats, tight: Bools, most: int = 60
) -> tuple[Floats, int]:
    """Maximise entropy with the chosen margins exactly zero."""
    Y = np.eye(len(u))
    if tight.any():
        Y = kernel(GZ[tight])
        for _ in range(2):
            u = u + np.linalg.lstsq(GZ[tight], (t0 - GZ @ u)[tight], rcond=ZERO)[0]
    if Y.shape[1] == 0:
        return u, 0
    ZY, nothing = Z @ Y, np.zeros((0, Y.shape[1]))
    step = 0
    while step < most:
        step += 1
        x = x0 + Z @ u
        if x.min() <= 0:
            break
        dw = -newton(ZY, x, nothing, np.zeros(0), ZY.T @ (np.log(x) - log_m))
        dx = ZY @ dw
        reach = min(1.0, 0.9 / max(worst(dx, x), 1e-300))
        u = u + reach * (Y @ dw)
        if np.abs(dx / x).max() < 1e-15:
            break
    return u, step


def kernel(rows: Floats) -> Floats:
    """Return an orthonormal basis of the directions along which no row changes."""
    _, strengths, Vt = np.linalg.svd(rows)
    return np.asarray(Vt[int((strengths > ZERO * strengths.max(initial=0.0)).sum()) :].T)


def in_proportion(x: Floats, Z: Floats, log_m: Floats, most: int = 100) -> tuple[Floats, int]:
    """Return the optimum with small weights right in proportion, not only up to rounding of the large ones.

    At the optimum ``log(x / m) = W w`` with ``W`` the complement of the free directions ``Z``. Newton's
    method on the dual, to minimise ``sum(m exp(W w)) - (W'x)'w``, never leaves this form: weights are
    positive by construction, also where they are smaller than the rounding of ``x0 + Z u``.
    """
    W = np.linalg.qr(Z, mode="complete")[0][:, Z.shape[1] :]
    goal = W.T @ x
    w = W.T @ (np.log(np.maximum(x, 1e-16)) - log_m)
    nothing = np.zeros((0, W.shape[1]))
    best, least, worse = x, np.inf, 0
    for step in range(most):
        x = np.exp(np.minimum(W @ w + log_m, 1.0))
        off = W.T @ x - goal
        if np.abs(off).max() < least:
            best, least, worse = x, float(np.abs(off).max()), 0
        worse += 1
        if worse > 3 or least == 0:
            return best, step
        dw = newton(W, 1.0 / x, nothing, np.zeros(0), off)
        w = w - dw * min(1.0, 2.0 / max(float(np.abs(W @ dw).max()), 1e-300))
    return best, most
