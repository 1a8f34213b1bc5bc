"""The compiled loops: over games (online) and over pairs (maximum likelihood). One formula of the lead serves both.

Symbols: ``Z`` (nodes, 1 + 2k), column 0 the ratings ``r``, then two columns ``c`` per plane; the lead of i over j is
``x = r[i] - r[j] + sum over planes of c[i, 0] c[j, 1] - c[j, 0] c[i, 1]`` (section 3.1). Its derivative by ``c[i]``
is ``(c[j, 1], -c[j, 0])``, and by ``c[j]`` minus the same of i. On pairs: ``g`` slopes, ``h`` curvatures of the loss.

Each function is compiled once per machine and kept on disk beside the package (or in the user's cache); numba notices
changes in this file only, so the functions stay together.
"""

from math import exp, log1p
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from nashboard._compiled import compiled
from nashboard._types import Floats, Ints

# Types of arguments: what a function only reads may be closed for writing, what it changes may not.
types: Any = numba.types
FLOAT, INT, PAIR = types.float64, types.int64, types.UniTuple(types.int64, 2)
TABLE, READ_TABLE = (types.Array(FLOAT, 2, "C", readonly=closed) for closed in (False, True))
VECTOR, READ_VECTOR = types.Array(FLOAT, 1, "C"), types.Array(FLOAT, 1, "A", readonly=True)
NUMBERS, READ_NUMBERS = (types.Array(INT, 1, "C", readonly=closed) for closed in (False, True))
CODES, READ_CODES = (types.Array(types.uint32, 1, "C", readonly=closed) for closed in (False, True))
HASHES, READ_HASHES = (types.Array(types.uint64, 1, "C", readonly=closed) for closed in (False, True))

Codes = NDArray[np.uint32]
Hashes = NDArray[np.uint64]
EMPTY = np.uint32(0xFFFFFFFF)


def _lead(Z: Floats, a: int, b: int) -> float:
    x: float = Z[a, 0] - Z[b, 0]
    for t in range(1, Z.shape[1], 2):
        x += Z[a, t] * Z[b, t + 1] - Z[b, t] * Z[a, t + 1]
    return x


lead = compiled(FLOAT(READ_TABLE, INT, INT))(_lead)


def _play(
    Z: Floats,
    played: Floats,
    sums: Floats,
    first: Codes,
    second: Codes,
    outcome: Floats,
    weight: Floats,
    rate: float,
    cyclic_rate: float,
    decay: float,
    logits: float,
) -> None:
    """Update ``Z``, ``played`` and ``sums`` (of losses before each game, and of weights), in place, game by game.

    This is ``mElo2_update`` of appendix E for any number of planes. ``logits`` is one point in logits. An agent
    that has played ``m`` games takes steps ``1 / (1 + m decay)`` times as long. The step of the planes grows with the
    planes themselves, so that far out it would overshoot and run away: it is cut where it would carry the lead beyond
    the outcome, taking the loss as curved as it can be, 1/4.
    """
    for game in range(first.size):
        i, j, w = first[game], second[game], weight[game]
        x = lead(Z, i, j) * logits
        e = exp(-abs(x))
        p = 1 / (1 + e) if x >= 0 else e / (1 + e)
        sums[0] += w * (log1p(e) + max(x, 0.0) - outcome[game] * x)
        delta = w * (outcome[game] - p)
        at_i, at_j = delta / (1 + played[i] * decay), delta / (1 + played[j] * decay)
        Z[i, 0] += rate * at_i
        Z[j, 0] -= rate * at_j
        at_i, at_j = cyclic_rate * at_i, cyclic_rate * at_j
        reach = 0.0  # how far the step carries the lead, in points
        for t in range(1, Z.shape[1]):
            reach += at_i * Z[j, t] * Z[j, t] + at_j * Z[i, t] * Z[i, t]
        most = 4 * abs(outcome[game] - p)
        if abs(reach) * logits > most:
            cut = most / (abs(reach) * logits)
            at_i, at_j = cut * at_i, cut * at_j
        for t in range(1, Z.shape[1], 2):
            u, v, y, z = Z[i, t], Z[i, t + 1], Z[j, t], Z[j, t + 1]
            Z[i, t] = u + at_i * z
            Z[i, t + 1] = v - at_i * y
            Z[j, t] = y - at_j * v
            Z[j, t + 1] = z + at_j * u
        played[i] += w
        played[j] += w
        sums[1] += w


play = compiled(
    types.void(TABLE, VECTOR, VECTOR, READ_CODES, READ_CODES, READ_VECTOR, READ_VECTOR, FLOAT, FLOAT, FLOAT, FLOAT)
)(_play)


def _numbered(
    first: Hashes,
    second: Hashes,
    first_codes: Codes,
    second_codes: Codes,
    keys: Hashes,
    values: Codes,
    found: Ints,
    known: int,
    start: int,
) -> tuple[int, int]:
    """Give texts, known by their hashes, numbers in the order of their first appearance, in place.

    Row by row, ``first`` before ``second`` (which may be empty). ``keys`` and ``values`` are an open hash table with a
    power of two of places, ``EMPTY`` in ``values`` where there is nothing. ``found[v]`` takes the cell (2 row + side)
    where text ``v`` first stands. Returns the row reached, before the end where the table is half full, and how many
    texts are known.
    """
    mask = np.uint64(keys.size - 1)
    for row in range(start, first.size):
        if 2 * (known + 2) > keys.size:
            return row, known
        for side in range(2 if second.size else 1):
            key = first[row] if side == 0 else second[row]
            place = key & mask
            while values[place] != EMPTY and keys[place] != key:
                place = (place + np.uint64(1)) & mask
            if values[place] == EMPTY:
                keys[place], values[place] = key, known
                found[known] = 2 * row + side
                known += 1
            if side == 0:
                first_codes[row] = values[place]
            else:
                second_codes[row] = values[place]
    return first.size, known


numbered = compiled(PAIR(READ_HASHES, READ_HASHES, CODES, CODES, HASHES, CODES, NUMBERS, INT, INT))(_numbered)


def _leads(Z: Floats, i: Ints, j: Ints) -> Floats:
    """Return the lead on each pair."""
    x = np.empty(i.size)
    for pair in range(i.size):
        x[pair] = lead(Z, i[pair], j[pair])
    return x


leads = compiled(VECTOR(READ_TABLE, READ_NUMBERS, READ_NUMBERS))(_leads)


def _pulled(Z: Floats, g: Floats, i: Ints, j: Ints) -> Floats:
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


pulled = compiled(TABLE(READ_TABLE, READ_VECTOR, READ_NUMBERS, READ_NUMBERS))(_pulled)


def _curved(Z: Floats, D: Floats, g: Floats, h: Floats, i: Ints, j: Ints) -> Floats:
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


curved = compiled(TABLE(READ_TABLE, READ_TABLE, READ_VECTOR, READ_VECTOR, READ_NUMBERS, READ_NUMBERS))(_curved)


def _blocks(Z: Floats, h: Floats, i: Ints, j: Ints) -> Floats:
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


blocks = compiled(types.Array(FLOAT, 3, "C")(READ_TABLE, READ_VECTOR, READ_NUMBERS, READ_NUMBERS))(_blocks)
