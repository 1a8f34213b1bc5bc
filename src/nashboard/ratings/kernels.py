"""The compiled loops over pairs; those over games are in `online.kernels`. One formula of the lead serves both.

Symbols: ``Z`` (nodes, 1 + 2k), column 0 the ratings ``r``, then two columns ``c`` per plane; the lead of i over j is
``x = r[i] - r[j] + sum over planes of c[i, 0] c[j, 1] - c[j, 0] c[i, 1]`` (section 3.1). Its derivative by ``c[i]``
is ``(c[j, 1], -c[j, 0])``, and by ``c[j]`` minus the same of i. On pairs: ``g`` slopes, ``h`` curvatures of the loss.

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
FLOAT, INT = types.float64, types.int64
TABLE, READ_TABLE = (types.Array(FLOAT, 2, "C", readonly=closed) for closed in (False, True))
VECTOR, READ_VECTOR = types.Array(FLOAT, 1, "C"), types.Array(FLOAT, 1, "A", readonly=True)
NUMBERS, READ_NUMBERS = (types.Array(INT, 1, "C", readonly=closed) for closed in (False, True))


@compiled(FLOAT(READ_TABLE, INT, INT))
def lead(Z: Floats, a: int, b: int) -> float:
    """Return the lead of a over b."""
    x: float = Z[a, 0] - Z[b, 0]
    for t in range(1, Z.shape[1], 2):
        x += Z[a, t] * Z[b, t + 1] - Z[b, t] * Z[a, t + 1]
    return x


@compiled(VECTOR(READ_TABLE, READ_NUMBERS, READ_NUMBERS))
def leads(Z: Floats, i: Ints, j: Ints) -> Floats:
    """Return the lead on each pair."""
    x = np.empty(i.size)
    for pair in range(i.size):
        x[pair] = lead(Z, i[pair], j[pair])
    return x


@compiled(TABLE(READ_TABLE, READ_VECTOR, READ_NUMBERS, READ_NUMBERS))
def pulled(Z: Floats, g: Floats, i: Ints, j: Ints) -> Floats:
    """Return the gradient by ``Z`` of a function with slopes ``g`` by the leads."""
    out = np.zeros(Z.shape)
    for pair in range(i.size):
        a, b, s = i[pair], j[pair], g[pair]
        out[a, 0] += s
        out[b, 0] -= s
        for t in range(1, Z.shape[1], 2):
            out[a, t] += s * Z[b, t + 1]
            out[a, t + 1] -= s * Z[b, t]
            out[b, t] -= s * Z[a, t + 1]
            out[b, t + 1] += s * Z[a, t]
    return out


@compiled(TABLE(READ_TABLE, READ_TABLE, READ_VECTOR, READ_VECTOR, READ_NUMBERS, READ_NUMBERS))
def curved(Z: Floats, D: Floats, g: Floats, h: Floats, i: Ints, j: Ints) -> Floats:
    """Return the product of the Hessian by ``Z`` with the direction ``D``."""
    out = np.zeros(Z.shape)
    for pair in range(i.size):
        a, b, s = i[pair], j[pair], g[pair]
        dx = D[a, 0] - D[b, 0]
        for t in range(1, Z.shape[1], 2):
            dx += D[a, t] * Z[b, t + 1] - D[a, t + 1] * Z[b, t] + Z[a, t] * D[b, t + 1] - Z[a, t + 1] * D[b, t]
        w = h[pair] * dx
        out[a, 0] += w
        out[b, 0] -= w
        for t in range(1, Z.shape[1], 2):
            out[a, t] += w * Z[b, t + 1] + s * D[b, t + 1]
            out[a, t + 1] -= w * Z[b, t] + s * D[b, t]
            out[b, t] -= w * Z[a, t + 1] + s * D[a, t + 1]
            out[b, t + 1] += w * Z[a, t] + s * D[a, t]
    return out


@compiled(types.Array(FLOAT, 3, "C")(READ_TABLE, READ_VECTOR, READ_NUMBERS, READ_NUMBERS))
def blocks(Z: Floats, h: Floats, i: Ints, j: Ints) -> Floats:
    """Return each node's own block of the Gauss-Newton Hessian, ``(nodes, 1 + 2k, 1 + 2k)``."""
    size = Z.shape[1]
    out = np.zeros((Z.shape[0], size, size))
    slope = np.empty(size)
    for pair in range(i.size):
        for side in range(2):
            a, b = (i[pair], j[pair]) if side == 0 else (j[pair], i[pair])
            slope[0] = 1.0
            for t in range(1, size, 2):
                slope[t] = Z[b, t + 1]
                slope[t + 1] = -Z[b, t]
            for s in range(size):
                for t in range(size):
                    out[a, s, t] += h[pair] * slope[s] * slope[t]
    return out
