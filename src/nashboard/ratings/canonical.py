"""The cyclic part in one form: centred, planes orthogonal, the strongest first, signs fixed.

Symbols: ``C`` (n, 2k) two columns per plane; ``K = C W C'`` with ``K[i, j] = sum over planes of C[i, 2t] C[j, 2t+1] -
C[j, 2t] C[i, 2t+1]``, what the cyclic part adds to the lead of i over j. Many ``C`` have one ``K``, and the pair
``(r, C)`` can be changed without changing ``grad(r) + K``; here is the one that is shown.
"""

import numpy as np

from nashboard._types import Floats
from nashboard.algebra.planes import canonical, dense_planes


def centred(r: Floats, C: Floats) -> tuple[Floats, Floats]:
    """Move the mean of ``C`` into the ratings: ``grad(r) + K`` stays as it is (reading of section 3.1).

    With ``C = D + 1 m'``: ``c_i x c_j = d_i x d_j + d_i x m - d_j x m``, and the last two are a gradient.
    """
    m = C.mean(axis=0)
    D = C - m
    return r + cross(D, m), D


def cross(C: Floats, m: Floats) -> Floats:
    """Return ``c_i x m`` summed over planes, for each row of ``C``."""
    return np.asarray(C[:, 0::2] @ m[1::2] - C[:, 1::2] @ m[0::2])


def product(C: Floats, D: Floats) -> Floats:
    """Return ``C W D'``: what rows of ``C`` gain on rows of ``D``."""
    return np.asarray(C[:, 0::2] @ D[:, 1::2].T - C[:, 1::2] @ D[:, 0::2].T)


def orthogonal_planes(C: Floats) -> tuple[Floats, Floats]:
    """Return ``C`` with the same ``K`` and orthogonal columns, and the strength of each plane, descending.

    In plane ``t`` both columns have squared length ``strength[t]``; the plane is turned so that the agent furthest
    out lies at angle 0, the first of them on a tie (the convention of `Schur`).
    """
    n, width = C.shape
    if not C.any():
        return np.zeros_like(C), np.zeros(width // 2)
    Q, R = np.linalg.qr(C)
    small, s = dense_planes(product(R, R))
    planes, s = canonical(Q @ small, s, n, 1.0)
    out, strengths = np.zeros_like(C), np.zeros(width // 2)  # more planes than n // 2 are zero
    out[:, : 2 * s.size], strengths[: s.size] = planes * np.repeat(np.sqrt(s), 2), s
    return out + 0.0, strengths
