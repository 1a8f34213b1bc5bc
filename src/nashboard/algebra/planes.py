"""Planes of an antisymmetric matrix: the dense decomposition, and one way to write each plane down.

Symbols: ``A = Q L Q'`` (n, n); plane ``t`` has strength ``s[t] >= 0`` and the orthonormal columns
``u = Q[:, 2t]``, ``v = Q[:, 2t + 1]``, so that ``A = sum over t of s[t] (u v' - v u')``. As complex numbers,
``z = u + iv``: turning a plane multiplies ``z`` by a phase, mixing planes of one strength multiplies the
matrix of their ``z`` by a unitary matrix; neither changes ``A``.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hessenberg, svd

from nashboard._types import Floats
from nashboard.algebra.flows import EPS, unit_scale

# Radii that agree to this share are a tie, and the first agent wins: rounding must not choose.
TIE = 1e-8

Complexes = NDArray[np.complex128]


def dense_planes(A: Floats) -> tuple[Floats, Floats]:
    """Return all ``n // 2`` planes ``(Q, s)`` of a dense antisymmetric matrix, strongest first.

    Householder reflections make ``A`` tridiagonal; antisymmetry leaves zeros on the diagonal, so with the odd
    agents first and the even ones second it reads ``[[0, B], [-B', 0]]`` with ``B`` bidiagonal of half the
    size, and the singular triples of ``B`` are the planes (Ward and Gray 1978; Golub and Van Loan). Every
    step is orthogonal: ``Q`` is orthonormal and ``A`` is met to machine precision, whatever strengths
    repeat.
    """
    n = len(A)
    scale = unit_scale(A)
    H, Z = hessenberg(A / scale, calc_q=True, overwrite_a=True, check_finite=False)
    off = (np.diagonal(H, 1) - np.diagonal(H, -1)) / 2
    B = np.zeros(((n + 1) // 2, n // 2))
    t = np.arange(n // 2)
    B[t, t] = off[0::2]
    B[t[: off[1::2].size] + 1, t[: off[1::2].size]] = -off[1::2]
    U, s, Vt = svd(B, full_matrices=False, overwrite_a=True, check_finite=False)
    Q = np.empty((n, 2 * s.size))
    Q[:, 0::2] = Z[:, 0::2] @ U
    Q[:, 1::2] = Z[:, 1::2] @ Vt.T
    return canonical(Q, s, n, scale)


def turned(Q: Floats, s: Floats) -> Floats:
    """Return ``Q L``: what ``A`` makes of the columns, ``A u = -s v`` and ``A v = s u``."""
    QL = np.empty_like(Q)
    QL[:, 0::2], QL[:, 1::2] = -Q[:, 1::2] * s, Q[:, 0::2] * s
    return QL


def canonical(Q: Floats, s: Floats, n: int, scale: float) -> tuple[Floats, Floats]:
    """Write planes down in the one way that the convention of `Schur` allows, in the units of ``scale``.

    Strengths of rounding size become zero. Strengths that agree up to rounding are one group and get the
    group's mean; within a group, the agent with the largest radius lies in the first plane alone, at angle 0;
    of the remaining planes the same is true for the agent with the largest radius in those, and so on.
    """
    s = np.where(s > n * EPS * s.max(initial=0.0), s, 0.0)
    z = Q[:, 0::2] + 1j * Q[:, 1::2]
    width = 8 * np.sqrt(n) * EPS * s.max(initial=0.0)
    groups = equal_groups(s, width)
    single = [group.start for group in groups if group.stop - group.start == 1]
    z[:, single] = facing_first(z[:, single])
    for group in groups:
        if group.stop - group.start > 1 and s[group.start] > 0:
            z[:, group] = triangular(z[:, group])
            s[group] = s[group].mean()
    Q = np.empty_like(Q)
    Q[:, 0::2], Q[:, 1::2] = z.real, z.imag
    return Q + 0.0, s * scale


def equal_groups(s: Floats, width: float) -> list[slice]:
    """Cut descending strengths into groups of equal ones; a group is no wider than ``width``."""
    starts: list[int] = []
    for t, strength in enumerate(s):
        if not starts or s[starts[-1]] - strength > width:
            starts.append(t)
    return [slice(a, b) for a, b in zip(starts, [*starts[1:], s.size][: len(starts)], strict=True)]


def first_largest(radii: Floats) -> NDArray[np.intp]:
    """Return for each column the first row that is as large as any, up to rounding."""
    return np.asarray(np.argmax(radii >= (1 - TIE) * radii.max(axis=0, initial=0.0), axis=0))


def facing_first(z: Complexes) -> Complexes:
    """Turn each plane so that the agent with the largest radius lies at angle 0."""
    columns = np.arange(z.shape[1])
    rows = first_largest(np.abs(z))
    phase = z[rows, columns] / np.abs(z[rows, columns])
    z = z * phase.conj()
    z[rows, columns] = z[rows, columns].real
    return z


def triangular(z: Complexes, leaders: int | None = None) -> Complexes:
    """Mix planes of one strength: each leading row (of the first ``leaders``) uses as few as it can."""
    z = z.copy()
    for t in range(z.shape[1]):
        rest = z[:, t:]
        lead = int(first_largest(np.linalg.norm(rest[:leaders], axis=1)[:, None])[0])
        x = rest[lead].conj()
        phase = x[0] / abs(x[0]) if x[0] else 1.0
        y = x.copy()
        y[0] += phase * np.linalg.norm(x)
        rest -= np.outer(rest @ y, 2 * y.conj() / np.vdot(y, y).real)
        turn = rest[lead, 0] / abs(rest[lead, 0])
        rest[:, 0] *= turn.conj()
        rest[lead] = 0.0
        rest[lead, 0] = np.linalg.norm(x)
    return z
