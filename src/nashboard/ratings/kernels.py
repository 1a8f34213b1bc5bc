"""The compiled loops over pairs; those over games are in `online.kernels`. One formula of the lead serves both.

Symbols: ``Z`` (nodes, 1 + 2k), column 0 the ratings ``r``, then two columns ``c`` per plane; the lead of i over j is
``x = r[i] - r[j] + sum over planes of c[i, 0] c[j, 1] - c[j, 0] c[i, 1]`` (section 3.1). Its derivative by ``c[i]``
is ``(c[j, 1], -c[j, 0])``, and by ``c[j]`` minus the same of i. On pairs: ``g`` slopes, ``h`` curvatures of the loss.
Pairs from ``played`` on are edges of the prior of ratings, on which planes add nothing.

Each function is compiled once per machine and kept on disk beside the package (or in the user's cache); numba notices
changes in this file only, so the functions stay together.
"""

from typing import Any

import numba
import numpy as np

from nashboard._compiled import compiled
from nashboard._types import Floats, Ints

# Types of arguments: what a function only reads may be closed for writing, what it changes may not.
types: Any = numba.types
FLOAT, INT, BOOL = types.float64, types.int64, types.boolean
TABLE, READ_TABLE = (types.Array(FLOAT, 2, "C", readonly=closed) for closed in (False, True))
VECTOR, READ_VECTOR = types.Array(FLOAT, 1, "C"), types.Array(FLOAT, 1, "A", readonly=True)
BLOCKS = types.Array(FLOAT, 3, "C")
NUMBERS, READ_NUMBERS = (types.Array(INT, 1, "C", readonly=closed) for closed in (False, True))


@compiled(FLOAT(READ_TABLE, INT, INT))
def lead(Z: Floats, a: int, b: int) -> float:
    """Return the lead of a over b."""
    x: float = Z[a, 0] - Z[b, 0]
    for t in range(1, Z.shape[1], 2):
        x += Z[a, t] * Z[b, t + 1] - Z[b, t] * Z[a, t + 1]
    return x


@compiled(VECTOR(READ_TABLE, READ_NUMBERS, READ_NUMBERS, INT))
def leads(Z: Floats, i: Ints, j: Ints, played: int) -> Floats:
    """Return the lead on each pair."""
    x = np.empty(i.size)
    for pair in range(i.size):
        a, b = i[pair], j[pair]
        x[pair] = lead(Z, a, b) if pair < played else Z[a, 0] - Z[b, 0]
    return x


@compiled(TABLE(READ_TABLE, READ_VECTOR, READ_NUMBERS, READ_NUMBERS, INT))
def pulled(Z: Floats, g: Floats, i: Ints, j: Ints, played: int) -> Floats:
    """Return the gradient by ``Z`` of a function with slopes ``g`` by the leads."""
    out = np.zeros(Z.shape)
    for pair in range(i.size):
        a, b, s = i[pair], j[pair], g[pair]
        out[a, 0] += s
        out[b, 0] -= s
        for t in range(1, Z.shape[1] if pair < played else 1, 2):
            out[a, t] += s * Z[b, t + 1]
            out[a, t + 1] -= s * Z[b, t]
            out[b, t] -= s * Z[a, t + 1]
            out[b, t + 1] += s * Z[a, t]
    return out


@compiled(TABLE(READ_TABLE, READ_TABLE, READ_VECTOR, READ_VECTOR, READ_NUMBERS, READ_NUMBERS, INT))
def curved(Z: Floats, D: Floats, g: Floats, h: Floats, i: Ints, j: Ints, played: int) -> Floats:
    """Return the product of the Hessian by ``Z`` with the direction ``D``."""
    out = np.zeros(Z.shape)
    for pair in range(i.size):
        a, b, s, end = i[pair], j[pair], g[pair], Z.shape[1] if pair < played else 1
        dx = D[a, 0] - D[b, 0]
        for t in range(1, end, 2):
            dx += D[a, t] * Z[b, t + 1] - D[a, t + 1] * Z[b, t] + Z[a, t] * D[b, t + 1] - Z[a, t + 1] * D[b, t]
        w = h[pair] * dx
        out[a, 0] += w
        out[b, 0] -= w
        for t in range(1, end, 2):
            out[a, t] += w * Z[b, t + 1] + s * D[b, t + 1]
            out[a, t + 1] -= w * Z[b, t] + s * D[b, t]
            out[b, t] -= w * Z[a, t + 1] + s * D[a, t + 1]
            out[b, t + 1] += w * Z[a, t] + s * D[a, t]
    return out


@compiled(BLOCKS(READ_TABLE, READ_VECTOR, READ_NUMBERS, READ_NUMBERS, INT))
def blocks(Z: Floats, h: Floats, i: Ints, j: Ints, played: int) -> Floats:
    """Return each node's own block of the Gauss-Newton Hessian, ``(nodes, 1 + 2k, 1 + 2k)``."""
    size = Z.shape[1]
    out = np.zeros((Z.shape[0], size, size))
    slope = np.empty(size)
    for pair in range(i.size):
        for side in range(2):
            a, b = (i[pair], j[pair]) if side == 0 else (j[pair], i[pair])
            slope[0] = 1.0
            end = size if pair < played else 1
            for t in range(1, end, 2):
                slope[t] = Z[b, t + 1]
                slope[t + 1] = -Z[b, t]
            for s in range(end):
                for t in range(end):
                    out[a, s, t] += h[pair] * slope[s] * slope[t]
    return out


@compiled(types.void(TABLE, READ_TABLE, READ_VECTOR, INT))
def bend(H: Floats, D: Floats, multipliers: Floats, agents: int) -> None:
    """Subtract the second derivative of ``r'C`` in direction ``D``, times the multipliers, from ``H`` in place."""
    for a in range(agents):
        for t in range(multipliers.size):
            H[a, 0] -= D[a, t + 1] * multipliers[t]
            H[a, t + 1] -= D[a, 0] * multipliers[t]


@compiled(VECTOR(READ_TABLE, READ_TABLE, READ_TABLE))
def multipliers(D: Floats, normals: Floats, inverse: Floats) -> Floats:
    """Return the coefficients of the normals nearest to ``D``; ``inverse`` is that of their Gram matrix."""
    size = inverse.shape[0]
    right, out = np.zeros(size), np.zeros(size)
    for a in range(normals.shape[0]):
        for t in range(size):
            right[t] += normals[a, t + 1] * D[a, 0] + normals[a, 0] * D[a, t + 1]
    for s in range(size):
        for t in range(size):
            out[s] += inverse[s, t] * right[t]
    return out


@compiled(TABLE(READ_TABLE, BOOL, READ_TABLE, READ_TABLE))
def tangent(D: Floats, average: bool, normals: Floats, inverse: Floats) -> Floats:
    """Return the allowed part of ``D``: the average agent (last) without planes, planes centred, the mean rating fixed.

    Without ``average`` the last node is not rated. ``normals`` (agents, 1 + 2k) are centred ratings and planes where
    the planes are orthogonal to the ratings, and of size 0 else.
    """
    out = D.copy()
    nodes = out.shape[0]
    out[-1, 1:] = 0.0
    if not average:
        out[-1, 0] = 0.0
    for t in range(out.shape[1]):
        rows = nodes if t == 0 and average else nodes - 1
        total = 0.0
        for a in range(rows):
            total += out[a, t]
        for a in range(rows):
            out[a, t] -= total / rows
    bend(out, normals, multipliers(out, normals, inverse), normals.shape[0])
    return out


@compiled(FLOAT(READ_TABLE, READ_TABLE))
def inner(A: Floats, B: Floats) -> float:
    """Return the inner product; not by BLAS, whose last bits depend on the number of threads."""
    total = 0.0
    for a in range(A.shape[0]):
        for t in range(A.shape[1]):
            total += A[a, t] * B[a, t]
    return total


@compiled(types.void(TABLE, FLOAT, FLOAT, READ_TABLE))
def combine(A: Floats, keep: float, add: float, B: Floats) -> None:
    """Set ``A`` to ``keep A + add B`` in place; whole-array expressions take ten times as long to compile."""
    for a in range(A.shape[0]):
        for t in range(A.shape[1]):
            A[a, t] = keep * A[a, t] + add * B[a, t]


LOCAL = (
    READ_TABLE, READ_VECTOR, READ_VECTOR, READ_NUMBERS, READ_NUMBERS, INT, FLOAT, BOOL, READ_TABLE, READ_TABLE,
    READ_VECTOR,
)  # fmt: skip


@compiled(TABLE(READ_TABLE, *LOCAL))
def hessian(
    D: Floats, Z: Floats, g: Floats, h: Floats, i: Ints, j: Ints, played: int, mu: float, average: bool,
    normals: Floats, inverse: Floats, pull: Floats,
) -> Floats:  # fmt: skip
    """Return the product of the penalised loss's Hessian with ``D``, on the tangent space."""
    H = curved(Z, D, g, h, i, j, played)
    for a in range(H.shape[0]):
        for t in range(1, H.shape[1]):
            H[a, t] += mu * D[a, t]
    bend(H, D, pull, normals.shape[0])
    out: Floats = tangent(H, average, normals, inverse)
    return out


@compiled(types.Tuple((TABLE, FLOAT, FLOAT))(READ_TABLE, BLOCKS, FLOAT, FLOAT, INT, *LOCAL))
def steihaug(
    gradient: Floats, blocks: Floats, radius: float, small: float, most: int, Z: Floats, g: Floats, h: Floats, i: Ints,
    j: Ints, played: int, mu: float, average: bool, normals: Floats, inverse: Floats, pull: Floats,
) -> tuple[Floats, float, float]:  # fmt: skip
    """Return a step inside the radius, how much the quadratic model says it gains, and its length.

    Conjugate gradients, preconditioned by ``blocks``, until the residual is ``small`` (Steihaug 1983).
    """
    p, Hp, d = np.zeros_like(gradient), np.zeros_like(gradient), np.zeros_like(gradient)
    residual = gradient.copy()
    alpha = beta = before = pp = pd = dd = 0.0
    for step in range(most):
        z: Floats = np.zeros(gradient.shape)
        for a in range(z.shape[0]):
            for s in range(z.shape[1]):
                for t in range(z.shape[1]):
                    z[a, s] += blocks[a, s, t] * residual[a, t]
        z = tangent(z, average, normals, inverse)
        rz = inner(residual, z)
        beta = rz / before if step else 0.0
        combine(d, beta, -1.0, z)
        pd, dd = beta * (pd + alpha * dd), rz + beta * beta * dd
        Hd = hessian(d, Z, g, h, i, j, played, mu, average, normals, inverse, pull)
        bent = inner(d, Hd)
        alpha = rz / bent if bent > 1e-12 * dd else np.inf
        edge = not alpha < np.inf or pp + 2 * alpha * pd + alpha * alpha * dd >= radius * radius
        if edge:  # downhill without end, or past the edge: go to the edge
            alpha = (-pd + np.sqrt(pd * pd + dd * (radius * radius - pp))) / dd
        combine(p, 1.0, alpha, d)
        combine(Hp, 1.0, alpha, Hd)
        if edge:
            pp = radius * radius
            break
        combine(residual, 1.0, alpha, Hd)
        pp += 2 * alpha * pd + alpha * alpha * dd
        if np.sqrt(inner(residual, residual)) <= small:
            break
        before = rz
    return p, -inner(gradient, p) - inner(p, Hp) / 2, np.sqrt(pp)
