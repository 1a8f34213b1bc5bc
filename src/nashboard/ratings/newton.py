"""Linear systems with the Hessian of the Elo loss: a weighted graph Laplacian.

Symbols: ``L = sum over pairs of h (e_i - e_j)(e_i - e_j)'`` for weights ``h``; ``free`` the nodes that may move.
Small systems are factored, large ones solved by conjugate gradients on the sparse matrix.

Newton's method on the loss of Elo ratings.

Symbols: ``r`` ratings in logits, the average agent's (see `likelihood`) last; ``x = r[i] - r[j]`` leads;
``g`` gradient and ``L`` Hessian of the loss, a graph Laplacian weighted by the curvatures.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, cg

from nashboard._types import Bools, Floats, Ints
from nashboard.errors import ConvergenceError
from nashboard.ratings.likelihood import PairTotals

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
                "orders of magnitude apart",
                hint="bring them closer together, or pass a larger {option}",
                option="prior",
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


MOST_STEPS = 1000  # an alarm, not a budget: Newton's method takes 5 to 30
# A step of Newton that moves no lead by more than d logits lowers the loss by at least 1 - (e^d - d - 1) / d^2 of what
# its slope promises (Bach 2010, on the logistic loss). That is an eighth for this d: the loss need not be looked at.
SURE = 1.5


def newton(totals: PairTotals, r: Floats, free: Bools, *, close: float = 0.0) -> float:
    """Move the free ratings in ``r``, in place, to the maximum; return the norm of the gradient there.

    The loss is convex; long steps are halved until it falls, so that the method converges from anywhere. With
    ``close`` a step that moves no lead by more logits is the last: what it leaves is of the order of its square, and
    the norm that is returned is from before it.
    """
    i, j = totals.i, totals.j
    nodes = totals.nodes_in_play(free)
    moving = free[:nodes]
    tolerance = totals.tolerance()
    if not moving.any():
        return 0.0
    for _ in range(MOST_STEPS):
        x = r[i] - r[j]
        slopes, curvatures = totals.derivatives(x)
        g = totals.onto_nodes(slopes)[:nodes][moving]
        norm = float(np.linalg.norm(g))
        if norm <= tolerance:
            return norm
        step = np.zeros_like(r)
        step[:nodes][moving] = -solver(nodes, i, j, curvatures, moving, rtol=1e-6, lift=True)(g)
        dx = step[i] - step[j]
        longest = float(np.abs(dx).max())
        length = 1.0 if longest <= SURE else halved(totals, x, dx, float(g @ step[:nodes][moving]))
        r += length * step
        if longest <= close:
            return norm
    raise ConvergenceError(
        f"Elo did not converge in {MOST_STEPS:,} steps: the gradient's norm is {norm:.2g}, wanted {tolerance:.2g}",
        hint="a larger {option} makes the ratings finite",
        option="prior",
    )


def halved(totals: PairTotals, x: Floats, dx: Floats, slope: float) -> float:
    """Return the length, halved from 1, at which a step ``dx`` from leads ``x`` makes the loss fall (Armijo)."""
    length, start = 1.0, totals.loss(x)
    # near the optimum the loss no longer shows progress: a change of rounding size counts as none
    slack = 1e-13 * abs(start)
    while totals.loss(x + length * dx) > start + 1e-4 * length * slope + slack:
        length /= 2
    return length
