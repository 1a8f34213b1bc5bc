"""Products in twice the working precision, by error-free transformations.

Near-copies make a game ill-conditioned: weights then need residuals that are smaller than the rounding of an
ordinary product. ``product(M, x)`` adds up exactly what rounding drops (Ogita, Rump and Oishi 2005, *Accurate
sum and dot product*), so that iterative refinement and certificates see the payoffs as they are.
"""

import numpy as np

from nashboard._types import Floats

SPLITTER = 2.0**27 + 1.0  # Veltkamp: two halves of 26 bits
CHUNK = 1 << 19  # cells worked on at a time, so that the halves stay in memory caches


def two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return ``a + b`` and what rounding dropped."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return ``a * b`` and what rounding dropped."""
    total = a * b
    c, d = SPLITTER * a, SPLITTER * b
    a_high, b_high = c - (c - a), d - (d - b)
    a_low, b_low = a - a_high, b - b_high
    return total, a_low * b_low - (((total - a_high * b_high) - a_low * b_high) - a_high * b_low)


def row_sums(values: Floats, dropped: Floats) -> tuple[Floats, Floats]:
    """Return the sums of rows as a pair (high, low); the number of columns is a power of two."""
    half = values.shape[1] // 2
    while half:
        values, error = two_sum(values[:, :half], values[:, half:])
        dropped = dropped[:, :half] + dropped[:, half:] + error
        half //= 2
    return two_sum(values[:, 0], dropped[:, 0])


def product(M: Floats, x: Floats, x_low: Floats | None = None) -> tuple[Floats, Floats]:
    """Return ``M @ (x + x_low)`` as a pair (high, low) whose sum has twice the working precision."""
    rows, k = M.shape
    high, low = np.zeros(rows), np.zeros(rows)
    if k == 0:
        return high, low
    step = max(1, CHUNK // k)
    width = 1 << (k - 1).bit_length()
    for at in range(0, rows, step):
        block = M[at : at + step]
        values, dropped = np.zeros((2, len(block), width))
        values[:, :k], dropped[:, :k] = two_product(block, x[None, :])
        if x_low is not None:
            dropped[:, :k] += block * x_low[None, :]
        high[at : at + step], low[at : at + step] = row_sums(values, dropped)
    return high, low
