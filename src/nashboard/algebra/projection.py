"""What no potential on triangles explains of a flow: conjugate gradients in compiled loops over the triangles.

Symbols: ``y`` a flow on ``p`` pairs, ``w`` weights, ``C`` the curl (t, p), ``D`` a diagonal over triangles. The flow
without curl that is nearest to ``y`` in the inner product weighted by ``w`` is reached from ``y`` by steps within the
range of ``W^-1 C'``: conjugate gradients on ``C' D C``, measured by ``w``, take only such steps for any ``D``.

A step is one pass over the triangles and two over the pairs. They wait for memory more than they compute, and a
second thread, which has to be waited for three times a step, gained nothing on a busy machine with two cores.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from nashboard._compiled import compiled
from nashboard._types import Floats, Ints
from nashboard.algebra.harmonic import SmallInts, Triangles
from nashboard.algebra.precision import CURL_ROUNDING, TOLERANCE
from nashboard.errors import ConvergenceError

MOST_STEPS = 20_000

types: Any = numba.types
FLOAT, VECTOR = types.float64, types.Array(types.float64, 1, "C")
CORNERS = types.Array(types.int32, 2, "C")
Small = NDArray[np.int32]


def _curl_of_curl(edges: Small, d: Floats, q: Floats, out: Floats) -> float:
    """Add ``C' D C q`` to ``out``, in place; return ``q' C' D C q``."""
    energy = 0.0
    for t in range(d.size):
        ab, bc, ac = edges[t, 0], edges[t, 1], edges[t, 2]
        curl = q[ab] + q[bc] - q[ac]
        scaled = d[t] * curl
        energy += curl * scaled
        out[ab] += scaled
        out[bc] += scaled
        out[ac] -= scaled
    return energy


curl_of_curl = compiled(FLOAT(CORNERS, VECTOR, VECTOR, VECTOR))(_curl_of_curl)


def _take_step(step: float, q: Floats, change: Floats, v: Floats, y: Floats, r: Floats) -> float:
    """Move ``y`` and its residual ``r`` against the direction ``q``, in place, clear ``change``; return ``r' V r``."""
    rho = 0.0
    for e in range(q.size):
        y[e] -= step * q[e]
        r[e] -= step * change[e]
        change[e] = 0.0
        rho += r[e] * r[e] * v[e]
    return rho


take_step = compiled(FLOAT(FLOAT, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR))(_take_step)


def _turn(share: float, r: Floats, v: Floats, q: Floats) -> None:
    """Make ``V r + share * q`` the new direction ``q``, in place."""
    for e in range(q.size):
        q[e] = v[e] * r[e] + share * q[e]


turn = compiled(types.void(FLOAT, VECTOR, VECTOR, VECTOR))(_turn)


def projected(triangles: Triangles, y: Floats, w: Floats) -> Floats:
    """Return the flow without curl that is nearest to ``y``, to a share of 1e-10 of the curl of ``y``.

    A triangle counts in ``D`` with ``1 / sum of (triangles on the pair / w)`` over its three pairs: then no
    eigenvalue exceeds one, and pairs in few triangles, which are slowest to settle, count more.

    Raises
    ------
    ConvergenceError
        Too much curl is left after 20,000 steps.
    """
    used, edges = without_signs(triangles)  # a pair in no triangle keeps its flow
    v = 1 / (w[used] / w[used].max())
    many = np.bincount(edges.ravel(), minlength=used.size)
    d = 1 / (many * v)[edges].sum(axis=1)
    x = y.copy()
    x[used] = without_curl(edges, d, v, x[used])
    return x


def without_signs(triangles: Triangles) -> tuple[Ints, Small]:
    """Return the pairs in triangles, and the triangles by places among them: ab, bc, ac with a < b < c.

    The curl of ``q`` is then ``q[ab] + q[bc] - q[ac]`` everywhere. Triangles are sorted by their first pair, which
    keeps the places that follow each other near.
    """
    rows = np.arange(len(triangles))
    last = np.argmax(triangles.signs == triangles.signs.prod(axis=1)[:, None], axis=1)  # the odd one out
    one, two, ac = (triangles.edges[rows, (last + k) % 3] for k in (1, 2, 0))
    met: SmallInts = np.stack([np.minimum(one, two), np.maximum(one, two), ac], axis=1)
    met = met[np.argsort(met[:, 0], kind="stable")]
    used = np.flatnonzero(np.bincount(met.ravel()))
    place = np.zeros(int(met.max()) + 1, dtype=np.int32)
    place[used] = np.arange(used.size)
    return used, place[met]


def without_curl(edges: Small, d: Floats, v: Floats, y: Floats) -> Floats:
    """Take the curl out of ``y``, in place, by steps in the range of ``V C'`` (V is the inverse of W)."""
    size = float(np.sqrt((y * y / v).sum()))
    r, q, change = (np.zeros(y.size) for _ in range(3))
    energy = curl_of_curl(edges, d, y, r)
    goal = (TOLERANCE * np.sqrt(energy) + CURL_ROUNDING * size) ** 2
    rho = float((v * r * r).sum())
    share, look = 0.0, goal
    for steps in range(MOST_STEPS):  # noqa: B007 - the error says how many there were
        # No eigenvalue exceeds one, so rho <= energy: the curl itself is looked at only when it may be small.
        if rho <= look:
            r[:] = 0.0
            energy = curl_of_curl(edges, d, y, r)  # afresh: rounding has parted r from y
            if energy <= goal:
                return y
            fresh = float((v * r * r).sum())
            share = 0.0 if fresh > 2 * rho else share
            rho, look = fresh, fresh / 4
        turn(share, r, v, q)
        bend = curl_of_curl(edges, d, q, change)
        if bend <= 0.0:  # the direction has no curl left: either done, or rounding has taken over
            break
        previous, rho = rho, take_step(rho / bend, q, change, v, y, r)
        share = rho / previous
    energy = curl_of_curl(edges, d, y, change)
    if energy <= goal:
        return y
    raise ConvergenceError(
        f"the split into local cycles and harmonic part has a curl of {np.sqrt(energy) / size:.1e} of the "
        f"flow left after {steps + 1:,} iterations on {len(edges):,} triangles; "
        f"ratings and transitivity do not depend on it"
    )
