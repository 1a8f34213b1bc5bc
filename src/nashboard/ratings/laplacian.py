"""Linear systems with the Hessian of the Elo loss: a weighted graph Laplacian.

Symbols: ``L = sum over pairs of h (e_i - e_j)(e_i - e_j)'`` for weights ``h``; ``free`` the nodes that may move.
Small systems are factored, large ones solved by conjugate gradients on the sparse matrix.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, cg

from nashboard._types import Bools, Floats, Ints
from nashboard.errors import ConvergenceError

LIFT = 1e-13  # share of the trace that is put on the diagonal where the plain factor fails
DENSE = 2000  # nodes up to which a factorisation takes well under a second
Solve = Callable[[Floats], Floats]


def dense_laplacian(nodes: int, i: Ints, j: Ints, h: Floats) -> Floats:
    """Return ``L`` as a dense matrix."""
    above = np.bincount(i * nodes + j, -h, minlength=nodes * nodes).reshape(nodes, nodes)
    L: Floats = (above + above.T).astype(np.float64, copy=False)
    np.fill_diagonal(L, -L.sum(axis=1))
    return L


def sparse_laplacian(nodes: int, i: Ints, j: Ints, h: Floats) -> csr_array:
    """Return ``L`` as a sparse matrix."""
    rows, columns = np.concatenate([i, j, i, j]), np.concatenate([j, i, i, j])
    return csr_array((np.concatenate([-h, -h, h, h]), (rows, columns)), shape=(nodes, nodes))


def solver(nodes: int, i: Ints, j: Ints, h: Floats, free: Bools, rtol: float, *, lift: bool = False) -> Solve:
    """Return the map ``v -> L[free, free]^-1 v``; where all nodes are free, the solution with mean 0.

    ``lift``: where weights lie so far apart that rounding decides, ``L`` may be lifted by rounding's size. A step of
    Newton still descends then; a standard error would be wrong.
    """
    kept = np.flatnonzero(free)
    loose = kept.size == nodes
    if kept.size <= DENSE:
        if loose:
            L = dense_laplacian(nodes, i, j, h)
            L += np.trace(L) / nodes**2  # L 1 = 0: lift the constant direction, then take it out of the answer
        else:  # of many nodes, few may be free
            L = sparse_laplacian(nodes, i, j, h)[kept][:, kept].toarray()
        factor, failed = dpotrf(L.T)  # L.T lies as the library wants it, and is the same
        if failed and lift:
            factor, failed = dpotrf(L.T + LIFT * np.trace(L) * np.eye(len(L)), overwrite_a=True)
        if failed:
            raise ConvergenceError(
                "the ratings cannot be worked out in double precision: anchors, weights or the prior lie too many "
                "orders of magnitude apart; bring them closer together, or pass a larger prior="
            )

        def solve_dense(v: Floats) -> Floats:
            return without_mean(np.asarray(dpotrs(factor, without_mean(v, loose))[0]), loose)

        return solve_dense
    S = sparse_laplacian(nodes, i, j, h)[kept][:, kept]
    scale = 1 / S.diagonal()
    M = LinearOperator(S.shape, matvec=lambda v: scale * v)

    def solve_sparse(v: Floats) -> Floats:
        if v.ndim == 2:
            return np.stack([solve_sparse(column) for column in v.T], axis=1)
        x, failed = cg(S, without_mean(v, loose), rtol=rtol, maxiter=20 * kept.size, M=M)
        if failed:
            raise ConvergenceError(f"conjugate gradients on {kept.size:,} agents did not reach {rtol:g}")
        return without_mean(np.asarray(x), loose)

    return solve_sparse


def without_mean(v: Floats, loose: bool) -> Floats:
    """Take the mean out of a vector, or of each column, where the constant direction is free."""
    return v - v.mean(axis=0) if loose else v
