"""Products in twice the working precision, by error-free transformations.

Near-copies make a game ill-conditioned: weights then need residuals that are smaller than the rounding of an
ordinary product. ``product(M, x)`` adds up exactly what rounding drops (Ogita, Rump and Oishi 2005, *Accurate
sum and dot product*), so that iterative refinement and certificates see the payoffs as they are.
"""

import numpy as np

from nashboard._types import Floats

SPLITTER = 2.0**27 + 1.0  # Veltkamp: two halves of 26 bits
CHUNK = 1 << 13  # cells worked on at a time, so that the halves stay in memory caches


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
    """Return the sums of rows of ``values + dropped`` as a pair (high, low).

    Adding and subtracting a power of two far above a row cuts its values at one common bit: the upper parts
    add up without any rounding, and what is left is small enough to be added up as usual (Rump, Ogita and
    Oishi 2008, *Accurate floating-point summation*).
    """
    largest = np.maximum.reduce(np.abs(values), axis=1, keepdims=True)
    cut = np.ldexp(1.0, np.frexp(largest)[1] + (values.shape[1] + 1).bit_length())
    upper = (values + cut) - cut
    return two_sum(np.add.reduce(upper, axis=1), np.add.reduce((values - upper) + dropped, axis=1))


def product(M: Floats, x: Floats, x_low: Floats | None = None) -> tuple[Floats, Floats]:
    """Return ``M @ (x + x_low)`` as a pair (high, low) whose sum has twice the working precision."""
    rows, k = M.shape
    if k == 0:
        return np.zeros(rows), np.zeros(rows)
    step = max(1, CHUNK // k)
    if rows <= step:
        return product_at_once(M, x, x_low)
    parts = [product_at_once(M[at : at + step], x, x_low) for at in range(0, rows, step)]
    high, low = (np.concatenate(part) for part in zip(*parts, strict=True))
    return high, low


def product_at_once(M: Floats, x: Floats, x_low: Floats | None) -> tuple[Floats, Floats]:
    """Return the product for as many rows as fit the caches."""
    values, dropped = two_product(M, x)
    if x_low is not None:
        dropped += M * x_low
    return row_sums(values, dropped)
