"""The strongest planes of a large antisymmetric matrix, from products with blocks of vectors alone.

A block Krylov method with thick restarts. Symbols: ``V`` an orthonormal basis (n, d) of blocks, each
made by one product with ``A`` and orthogonalised twice; ``W = A V``; ``H = V' A V`` antisymmetric
(d, d). The planes of ``H`` carried over by ``V`` approximate those of ``A``; the residual
``A q - Q L Q' q`` certifies them.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import qr

from nashboard._types import Floats
from nashboard.algebra.flows import EPS
from nashboard.algebra.planes import canonical, dense_planes, turned
from nashboard.errors import ConvergenceError, InputError

Product = Callable[[Floats], Floats]

# The start is random but always the same: any start leads to the same planes.
SEED = 20180607


def leading_planes(
    product: Product, n: int, k: int, *, tolerance: float, most_products: int, columns: int = 400
) -> tuple[Floats, Floats, float]:
    """Return the ``k`` strongest planes ``(Q, strengths)`` and their residual.

    ``product`` maps an ``(n, b)`` block X to ``A X``. A block is wider than ``2 k``, so that a strength which
    repeats is found as often as it occurs. The basis grows to some ``columns`` (at least six blocks) and
    restarts from its best planes. Time is the products plus O(n columns^2) per restart, memory
    O(n columns).

    Raises
    ------
    ConvergenceError
        The residual stays above ``tolerance`` times the largest strength.
    """
    rng = np.random.default_rng(SEED)
    width = -(-(2 * k + 4) // 8) * 8  # multiples of eight suit matrix products
    most = min(width + max(6, columns // width) * width, n)
    V, W, H = np.empty((n, most + width)), np.empty((n, most + width)), np.zeros((most + width,) * 2)
    size, check, products, reached, largest = 0, 2 * width, 0, np.inf, 0.0
    block = orthonormal(rng.normal(size=(n, width)), V[:, :0], floor=0.0)
    while products < most_products:
        new = slice(size, size + block.shape[1])
        V[:, new], W[:, new] = block, product(block)
        products += block.shape[1]
        size = new.stop
        fresh = V[:, :size].T @ W[:, new]
        largest = max(largest, float(np.linalg.norm(W[:, new], axis=0).max()))
        refuse_symmetric_part(fresh[new], largest)
        H[:size, new], H[new, :size] = fresh, -fresh.T
        H[new, new] = (fresh[new] - fresh[new].T) / 2
        block = orthonormal(W[:, new], V[:, :size], floor=100 * EPS * largest)
        exhausted = not block.shape[1]  # the space holds all that the start can reach
        full = size + max(block.shape[1], 1) > most
        if size < check and not exhausted and not full:
            continue
        Y, s = dense_planes(H[:size, :size])
        if size >= 2 * k:
            Q = V[:, :size] @ Y[:, : 2 * k]
            reached = plane_residual(W[:, :size] @ Y[:, : 2 * k], Q, s[:k])
            if reached <= tolerance or size >= n:
                return *canonical(Q, s[:k], n, 1.0), reached
        if full and size > width:  # go on from the best planes of this space
            V[:, :width], W[:, :width] = V[:, :size] @ Y[:, :width], W[:, :size] @ Y[:, :width]
            H[:width, :width] = turned(np.eye(width), s[: width // 2])
            size = width
        if exhausted:
            block = orthonormal(rng.normal(size=(n, width)), V[:, :size], floor=1e-8)[:, : n - size]
        check = max(size + 2 * width, size * 6 // 5)
    raise ConvergenceError(
        f"the {k} strongest of {n // 2:,} planes are known only to a residual of {reached:.1e} of the "
        f"largest strength after {products:,} products, not to {tolerance:.0e}: "
        f"their strengths lie too close together; ask for fewer planes, or for all of them (k=None)"
    )


def orthonormal(X: Floats, V: Floats, *, floor: float) -> Floats:
    """Return an orthonormal basis of what the columns of ``X`` add to the space of ``V``."""
    for _ in range(2):  # twice is enough
        X = X - V @ (V.T @ X)
        Q, R, _ = qr(X, mode="economic", pivoting=True, check_finite=False)
        X = np.asarray(Q[:, np.abs(np.diagonal(R)) > floor], dtype=np.float64)
        floor = 1e-8
    return X


def plane_residual(AQ: Floats, Q: Floats, s: Floats) -> float:
    """Return the largest ``|A q - Q L Q' q|`` over the columns, relative to the largest strength."""
    if not s.size or s[0] == 0:
        return 0.0
    return float(np.linalg.norm(AQ / s[0] - turned(Q, s / s[0]), axis=0).max())


def refuse_symmetric_part(H: Floats, largest: float) -> None:
    """Raise an error if a projection of the operator shows that it is not antisymmetric."""
    if np.abs(H + H.T).max() > 1e-9 * largest:
        raise InputError("the operator is not antisymmetric: x' A x must be zero for every x")
