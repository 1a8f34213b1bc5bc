"""The operators of combinatorial Hodge theory on a complete graph (section 2.2 of the paper).

Symbols: ``r`` ratings (n,); ``A`` a flow, an antisymmetric matrix (n, n).

    grad(r)[i, j]    = r[i] - r[j]
    div(A)[i]        = mean over j of A[i, j]
    curl(A)[i, j, k] = A[i, j] + A[j, k] - A[i, k]
    rot(A)[i, j]     = mean over k of curl(A)[i, j, k] = A[i, j] - (div(A)[i] - div(A)[j])
"""

import numpy as np
from numpy.typing import ArrayLike

from nashboard._types import Floats, floats
from nashboard.algebra.flows import FlowLike, named_flow, refuse_size
from nashboard.errors import InputError


def grad(r: ArrayLike) -> Floats:
    """Return the flow that ratings make: ``grad(r)[i, j] = r[i] - r[j]``, shape ``(n, n)``.

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.grad([1, 0, -1])
    array([[ 0.,  1.,  2.],
           [-1.,  0.,  1.],
           [-2., -1.,  0.]])
    """
    r = floats(r, "the ratings", ndim=1)
    bad = np.flatnonzero(~np.isfinite(r))
    if bad.size:
        raise InputError(f"rating number {bad[0] + 1:,} is {r[bad[0]]:g}: ratings must be finite")
    refuse_size((r.size, r.size), "grad", "keep the ratings: r[i] - r[j] is one entry")
    return gradient(r)


def gradient(r: Floats) -> Floats:
    """Return ``r 1' - 1 r'``."""
    return r[:, None] - r[None, :]


def div(A: FlowLike) -> Floats:
    """Return the divergence of a flow, each agent's average payoff: ``A 1 / n``, shape ``(n,)``.

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.div([[0, 1, 2], [-1, 0, 1], [-2, -1, 0]])
    array([ 1.,  0., -1.])
    """
    return divergence(named_flow(A, copy=False)[1])


def divergence(A: Floats) -> Floats:
    """Return ``A 1 / n``."""
    return np.asarray(A.mean(axis=1)) + 0.0


def curl(A: FlowLike) -> Floats:
    """Return the curl of a flow, how far each triple is from being transitive, shape ``(n, n, n)``.

    ``curl(A)[i, j, k] = A[i, j] + A[j, k] - A[i, k]``. It is zero everywhere exactly when ratings explain the
    flow (proposition 3). A result of more than 4 GiB (over 812 agents) is refused; `rot` and
    ``hodge(A).cycles()`` never form it.

    Examples
    --------
    >>> import nashboard as nb
    >>> float(nb.curl([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])[0, 1, 2])
    3.0
    """
    A = named_flow(A, copy=False)[1]
    n = len(A)
    refuse_size((n, n, n), f"the curl of {n:,} agents", "use rot(A), or hodge(A).cycles() for the largest entries")
    return A[:, :, None] + A[None, :, :] - A[:, None, :]


def rot(A: FlowLike) -> Floats:
    """Return the rotation of a flow, what is left when ratings are taken out, shape ``(n, n)``.

    ``rot(A) = A - grad(div(A))``, the mean of the curl over its last index, in O(n^2) without forming the
    curl.

    Examples
    --------
    >>> import nashboard as nb
    >>> nb.rot([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    array([[ 0.,  1., -1.],
           [-1.,  0.,  1.],
           [ 1., -1.,  0.]])
    """
    A = named_flow(A, copy=False)[1]
    return rotation(A, divergence(A))


def rotation(A: Floats, r: Floats) -> Floats:
    """Return ``A - grad(r)``, antisymmetric to the last bit."""
    return A - gradient(r) + 0.0
