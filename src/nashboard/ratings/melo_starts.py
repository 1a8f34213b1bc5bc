"""Where the fit of mElo starts from: its loss has several valleys, so several starts are tried, all deterministic.

Symbols: ``R`` antisymmetric values on the pairs that met, 0 elsewhere; a start is ``C`` (n, 2k), centred, in logits.
"""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from nashboard._types import Floats, Ints
from nashboard.algebra.hodge import hodge
from nashboard.algebra.planes import dense_planes
from nashboard.algebra.schur import schur
from nashboard.data.matches import Matches
from nashboard.data.payoffs import payoffs
from nashboard.ratings.likelihood import PairTotals

DENSE = 300  # agents up to which all planes are computed at once
GOLDEN = (np.sqrt(5) - 1) / 2


def starts(matches: Matches, totals: PairTotals, r: Floats, k: int) -> Iterator[tuple[str, Floats]]:
    """Yield named starts for ``k`` planes, given the Elo ratings ``r`` in logits.

    The planes of the smoothed logits; the planes in which the loss of Elo falls fastest; and two that know nothing but
    the order of the ratings: agents on circles, and on a spiral.
    """
    yield "Hodge and Schur", hodge_and_schur(matches, r, k)
    if k > 1:  # with one plane this is where "plane by plane" starts
        yield "steepest planes", steepest_planes(totals, r, np.zeros((r.size, 0)), k)
    place = np.empty(r.size)
    place[np.argsort(-r, kind="stable")] = np.arange(r.size)
    turns = np.arange(1, k + 1)
    yield "circles", around(2 * np.pi * place[:, None] * turns / r.size, np.ones((r.size, k)))
    yield "spiral", around(2 * np.pi * place[:, None] * GOLDEN * turns, np.sqrt((place[:, None] + 1) / r.size))


def hodge_and_schur(matches: Matches, r: Floats, k: int) -> Floats:
    """Return the strongest planes of what ratings leave over of the smoothed logits.

    Where all pairs met, this is the Schur decomposition of ``rot(A)``. Otherwise pairs that never met count as
    explained by the Elo ratings, and the others are scaled up by the share of pairs that met.
    """
    if len(matches.pairs) == r.size * (r.size - 1) // 2 and r.size <= DENSE:
        decomposed = schur(hodge(payoffs(matches)).cyclic, k=k)
        return weighted(decomposed.Q, decomposed.strengths)
    i, j = matches.pairs.T
    half = matches.draws / 2 + 0.5
    logits = np.log(matches.wins + half) - np.log(matches.losses + half)
    return weighted(*leading_planes(r.size, i, j, (logits - (r[i] - r[j])) / matches.coverage, k))


def steepest_planes(totals: PairTotals, r: Floats, C: Floats, k: int) -> Floats:
    """Return ``k`` planes in which the loss falls fastest at ``r`` and ``C``, as far as Newton would go."""
    i, j = totals.i, totals.j
    met = j < totals.agents
    i, j = i[met], j[met]
    x = r[i] - r[j] + pairwise(C, i, j)
    part = PairTotals(agents=totals.agents, i=i, j=j, won=totals.won[met], lost=totals.lost[met])
    slopes, curvatures = part.derivatives(x)
    planes = weighted(*leading_planes(r.size, i, j, -slopes, k))
    y = pairwise(planes, i, j)
    bend = float(curvatures @ y**2)
    reach = -float(slopes @ y) / bend if bend > 0 else 1.0
    return np.asarray(planes * np.sqrt(max(reach, 1e-12)))


def pairwise(C: Floats, i: Ints, j: Ints) -> Floats:
    """Return the products of ``C`` on pairs."""
    return np.asarray((C[i, 0::2] * C[j, 1::2] - C[i, 1::2] * C[j, 0::2]).sum(axis=1))


def leading_planes(n: int, i: Ints, j: Ints, values: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the ``k`` strongest planes of the centred ``R``: ``(n, 2k)`` orthonormal columns and strengths.

    The planes of an antisymmetric matrix are the eigenvectors of the Hermitian ``i R`` with positive eigenvalues.
    """
    R = csr_array((np.concatenate([values, -values]), (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(n, n))
    if n <= DENSE:
        dense = R.toarray()
        dense -= dense.mean(axis=1, keepdims=True)
        dense -= dense.mean(axis=0)
        Q, s = dense_planes(dense)
        return Q[:, : 2 * k], s[:k]

    def matvec(v: Floats) -> Floats:
        w = R @ (v - v.mean())
        return np.asarray(1j * (w - w.mean()))

    v0 = np.cos(np.arange(1, n + 1) ** 1.5) + 0j
    s, vectors = eigsh(LinearOperator((n, n), matvec=matvec, dtype=np.complex128), k=k, which="LA", v0=v0, tol=1e-4)
    order = np.argsort(-s, kind="stable")
    Q = np.empty((n, 2 * k))
    # i R z = s z with z = (u - i v) / sqrt(2) means R v = s u and R u = -s v
    Q[:, 0::2], Q[:, 1::2] = np.sqrt(2) * vectors[:, order].real, -np.sqrt(2) * vectors[:, order].imag
    return Q, np.maximum(s[order], 0.0)


def weighted(Q: Floats, strengths: Floats) -> Floats:
    """Return planes as coordinates whose products have the planes' strengths."""
    return np.asarray(Q * np.repeat(np.sqrt(strengths), 2))


def around(angles: Floats, radii: Floats) -> Floats:
    """Return points at given angles and radii, two columns per plane, centred."""
    C = np.empty((len(angles), 2 * angles.shape[1]))
    C[:, 0::2], C[:, 1::2] = radii * np.cos(angles), radii * np.sin(angles)
    return np.asarray(C - C.mean(axis=0))
