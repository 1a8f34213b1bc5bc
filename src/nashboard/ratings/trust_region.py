"""Newton's method in a trust region, for smooth losses that need not be convex.

Each step minimises the quadratic model inside an ellipsoid by preconditioned conjugate gradients (Steihaug 1983;
Conn, Gould and Toint 2000, algorithm 7.5.1), which also follows directions of negative curvature. Near a minimum
it is Newton's method and converges at least superlinearly; the last steps are judged with a slack for rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nashboard._types import Floats
from nashboard.errors import ConvergenceError

EPS = float(np.finfo(np.float64).eps)
MOST_STEPS = 2000  # an alarm, not a budget
MOST_INNER = 400  # steps of conjugate gradients in one step; a rough step costs less than an exact one


@dataclass(frozen=True, kw_only=True)
class LocalModel:
    """The loss near a point: its gradient, the directions allowed, products with its Hessian, a preconditioner."""

    gradient: Floats
    tangent: Callable[[Floats], Floats]
    hessian: Callable[[Floats], Floats]
    precondition: Callable[[Floats], Floats]


class Landscape(Protocol):
    """What is to be minimised: points are arrays of one shape."""

    def loss(self, Z: Floats) -> float:
        """Return the loss at a point."""
        ...

    def local(self, Z: Floats) -> LocalModel:
        """Return the model of the loss near a point."""
        ...

    def moved(self, Z: Floats, step: Floats) -> Floats:
        """Return the point that a step leads to."""
        ...


def minimise(landscape: Landscape, Z: Floats, *, tolerance: float) -> tuple[Floats, float]:
    """Return a local minimum below ``Z`` and the norm of the gradient there, at most ``tolerance``."""
    loss, local = landscape.loss(Z), landscape.local(Z)
    norm = first = length(local.gradient)
    radius = np.sqrt(max(loss, 1.0))
    for _ in range(MOST_STEPS):
        if norm <= tolerance:
            return Z, norm
        forcing = min(0.1, float(np.sqrt(norm / first)))
        step, gain, reach = inner_step(local, radius, forcing * norm)
        there = landscape.moved(Z, step)
        new = landscape.loss(there)
        slack = 1e3 * EPS * max(1.0, abs(loss))
        agreement = (loss - new + slack) / (gain + slack)
        if agreement < 0.25:
            radius = reach / 4
        elif agreement > 0.75 and reach > 0.9 * radius:
            radius *= 3
        if agreement > 0.05:
            Z, loss = there, new
            local = landscape.local(Z)
            norm = length(local.gradient)
        elif radius < EPS * 1e-3:
            break
    if norm <= tolerance:
        return Z, norm
    raise ConvergenceError(
        f"the fit stopped at a gradient of norm {norm:.2g}, wanted {tolerance:.2g}: some predictions may run to "
        f"infinity",
        hint="pass a larger {option}",
        option="prior",
    )


def inner(a: Floats, b: Floats) -> float:
    """Return the inner product; not by BLAS, whose last bits depend on the number of threads."""
    return float((a * b).sum())


def length(a: Floats) -> float:
    """Return the norm."""
    return float(np.sqrt(inner(a, a)))


def inner_step(local: LocalModel, radius: float, small: float) -> tuple[Floats, float, float]:
    """Return a step inside the radius, how much the model says it gains, and its length."""
    g = local.gradient
    p, Hp = np.zeros_like(g), np.zeros_like(g)
    residual, z = g, local.precondition(g)
    d = -z
    rz = inner(residual, z)
    pp, pd, dd = 0.0, 0.0, rz
    for _ in range(MOST_INNER):
        Hd = local.hessian(d)
        bend = inner(d, Hd)
        alpha = rz / bend if bend > 1e-12 * dd else np.inf
        if not np.isfinite(alpha) or pp + 2 * alpha * pd + alpha**2 * dd >= radius**2:
            # downhill without end, or past the edge: go to the edge
            tau = float((-pd + np.sqrt(pd**2 + dd * (radius**2 - pp))) / dd)
            p, Hp, pp = p + tau * d, Hp + tau * Hd, radius**2
            break
        p, Hp = p + alpha * d, Hp + alpha * Hd
        residual = residual + alpha * Hd
        pp += 2 * alpha * pd + alpha**2 * dd
        if length(residual) <= small:
            break
        z = local.precondition(residual)
        before, rz = rz, inner(residual, z)
        beta = rz / before
        d = -z + beta * d
        pd, dd = beta * (pd + alpha * dd), rz + beta**2 * dd
    gain = -inner(g, p) - inner(p, Hp) / 2
    return p, gain, float(np.sqrt(pp))
