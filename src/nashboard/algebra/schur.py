"""The real Schur decomposition of an antisymmetric matrix: a sum of rotations in orthogonal planes.

Symbols: ``A = Q L Q'`` (n, n), ``Q`` (n, 2k) orthonormal; plane ``t`` has strength ``s[t] >= 0`` and the columns
``u = Q[:, 2t]``, ``v = Q[:, 2t + 1]``, so that ``A = sum over t of s[t] (u v' - v u')``. Agent ``i`` is the point
``(u[i], v[i])``, at radius ``rho[i, t]`` and angle ``phi[i, t]``. As complex numbers, ``z = u + iv``: turning a plane
multiplies ``z`` by a phase, mixing planes of one strength multiplies the matrix of their ``z`` by a unitary matrix;
neither changes ``A``.

The strongest planes of a large matrix come from products with vectors: ``V`` an orthonormal basis (n, d) made by
products with ``A``, ``W = A V``, ``H = V' A V`` antisymmetric (d, d). The planes of ``H`` carried over by ``V``
approximate those of ``A``; the residual ``A q - Q L Q' q`` certifies them. Arpack does the same for ``iA`` in complex
numbers, at about twice the work.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hessenberg
from scipy.linalg.lapack import dgesdd, dgesdd_lwork
from scipy.sparse import csr_array, issparse, sparray, spmatrix
from scipy.sparse.linalg import LinearOperator

from nashboard._display import Drawn
from nashboard._parallel import threads_for
from nashboard._tables import Column, Table, title_of
from nashboard._types import Floats, frozen_copy, read_only
from nashboard.algebra.flows import FlowLike, blocks, frobenius, named_flow, refuse_size, unit_scale
from nashboard.algebra.precision import (
    EPS,
    GIVE_UP,
    LEAST,
    NO_DIRECTION,
    NOT_ANTISYMMETRIC,
    ROUNDING,
    STRONGER,
    TIE,
    TOLERANCE,
    USUAL,
)
from nashboard.data.validation import checked_names
from nashboard.errors import ConvergenceError, InputError

OPERATOR_WRITTEN_OUT = 2000
PRODUCTS = 64  # agents from which on products with vectors are tried first
# Below this size planes that do not stand out (by the residual after few products) are quicker found with all others.
SMALL = 160
# Where products do not settle, a matrix of up to this size is decomposed in full instead.
STILL_DECOMPOSED = 5000
THREADED = 8  # blocks of few columns gain from threads only where a matrix is so many times as large

FIRST, STEP = 18, 3  # products before the first look at what the images of a vector show, and between two looks
HASTE = 3  # the next look is after this part of the products that are left at the rate so far, which rises
# The start is random but always the same: any start leads to the same planes.
SEED = 20180607

Complexes = NDArray[np.complex128]
Product = Callable[[Floats], Floats]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Schur(Drawn):
    """An antisymmetric matrix as planes in which agents go round, the strongest first.

    ``A[i, j] = sum over planes t of s[t] (Q[i, 2t] Q[j, 2t + 1] - Q[i, 2t + 1] Q[j, 2t])``: a strength
    times the signed area between agents ``i`` and ``j`` (appendix F), or in polar form ``sum of s[t]
    radii[i, t] radii[j, t] sin(angles[j, t] - angles[i, t])``. An agent beats those that follow it
    counterclockwise by less than half a turn.

    **Convention.** Strengths are not negative, which fixes the orientation of a plane; each plane is turned
    so that the agent with the largest radius (the first of them on a tie) lies at angle 0. Planes of one
    strength can be mixed freely: there the agent with the largest radius over the group lies in its first
    plane alone, at angle 0, and so on in the planes that remain. Planes of strength zero are any
    orthonormal completion.

    Parameters
    ----------
    agents
        Names.
    Q
        ``(n, 2k)`` orthonormal columns, two per plane. All planes are ``k = n // 2``: for an odd number of
        agents one direction, of strength zero, is left over.
    strengths
        ``(k,)`` descending; those of rounding size are exactly zero.
    norm
        Frobenius norm of the whole matrix, ``sqrt(2 * sum of all strengths squared)``.
    residual
        The largest ``|A q - Q L Q' q| / largest strength`` over the columns of ``Q``.
    """

    agents: tuple[str, ...]
    Q: Floats
    strengths: Floats
    norm: float
    residual: float

    computed = ("shares",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "Q", frozen_copy(self.Q))
        object.__setattr__(self, "strengths", frozen_copy(self.strengths))

    @cached_property
    def rank(self) -> int:
        """Rank of the part that the planes describe: two per plane of positive strength."""
        return 2 * int((self.strengths > 0).sum())

    @cached_property
    def shares(self) -> Floats:
        """Share of the squared norm of the whole matrix that each plane holds, ``(k,)``."""
        unit = self.norm if self.norm > 0 else 1.0
        return read_only(2 * (self.strengths / unit) ** 2)

    @cached_property
    def radii(self) -> Floats:
        """Distance of each agent from the centre of each plane, ``(n, k)``."""
        return read_only(np.hypot(self.Q[:, 0::2], self.Q[:, 1::2]))

    @cached_property
    def angles(self) -> Floats:
        """Angle of each agent in each plane, ``(n, k)``, in radians from -pi to pi; 0 at the centre."""
        return read_only(np.arctan2(self.Q[:, 1::2], self.Q[:, 0::2]) + 0.0)

    def reconstruct(self, k: int | None = None) -> Floats:
        """Return the sum of the ``k`` strongest planes (of all that are held), ``(n, n)``, antisymmetric."""
        n = len(self.agents)
        refuse_size((n, n), "the reconstructed matrix", "use Q and strengths")
        chosen = checked_count(k, self.strengths.size)
        U, V = self.Q[:, 0 : 2 * chosen : 2], self.Q[:, 1 : 2 * chosen : 2]
        half = (U * self.strengths[:chosen]) @ V.T
        return half - half.T

    def table(self) -> Table:
        """Return each plane: its strength, its share of the norm, and the agents furthest out."""
        return Table.of(
            range(self.strengths.size),
            Column("plane", "number of the plane, the strongest first", cell=lambda t: t + 1),
            Column("strength", "size of the cycles in this plane", cell=self.strengths),
            Column("share", "share of the squared norm of the matrix", cell=self.shares),
            Column("in turn", "the four agents furthest out, each beating the next", cell=self.in_turn),
            title=title_of(self),
        )

    def in_turn(self, t: int, most: int = 4) -> str:
        """Name the agents furthest out in plane ``t``, counterclockwise."""
        far = np.argsort(-self.radii[:, t], kind="stable")[:most]
        return ", ".join(self.agents[i] for i in far[np.argsort(self.angles[far, t] % (2 * np.pi), kind="stable")])

    def __repr__(self) -> str:
        strongest = f", strongest {self.strengths[0]:.4g}" if self.strengths.size else ""
        planes = f"{self.strengths.size:,} plane{'s' * (self.strengths.size != 1)}"
        return f"Schur({len(self.agents):,} agents, {planes}{strongest}, {self.shares.sum():.1%} of the norm)"


def schur(
    A: FlowLike | LinearOperator | sparray | spmatrix, k: int | None = None, *, norm: float | None = None
) -> Schur:
    """Decompose an antisymmetric matrix into planes, ``A = Q L Q'`` (section 2.2).

    Parameters
    ----------
    A
        An antisymmetric matrix ``(n, n)``, payoffs, matches in which all pairs met, a sparse matrix, or
        a ``scipy.sparse.linalg.LinearOperator``.
    k
        How many planes, the strongest first; all ``n // 2`` by default. From 64 agents on and for ``k`` at most
        ``n / 12`` the leading planes come from products with vectors, mostly without a full decomposition, to a
        residual of 1e-10 of the largest strength. If planes beyond the k-th have the same
        strength as the k-th, which of them are returned is arbitrary (but repeatable).
    norm
        Frobenius norm of an operator, where it is known; otherwise ``n`` products measure it.

    Raises
    ------
    ConvergenceError
        The leading planes of more than 5000 agents were asked for, and their strengths lie too close
        together to be told apart.

    Examples
    --------
    >>> import nashboard as nb
    >>> circle = nb.schur([[0, 1, 0, -1], [-1, 0, 1, 0], [0, -1, 0, 1], [1, 0, -1, 0]])
    >>> circle.strengths.round(6)
    array([2., 0.])
    >>> circle.radii[:, 0].round(3)
    array([0.707, 0.707, 0.707, 0.707])

    References
    ----------
    Ward and Gray 1978, Eigensystem computation for skew-symmetric matrices.
    """
    given: Any = A
    if isinstance(given, LinearOperator) or issparse(given):
        return operator_schur(given, k, norm)
    if norm is not None:
        raise InputError("norm= is for operators; the norm of an array or of payoffs is measured")
    agents, matrix, _ = named_flow(given, copy=False)
    n = len(matrix)
    k = checked_count(k, n // 2)
    if large_enough(n, k):
        try:
            return from_products(
                agents,
                lambda x: -(x @ matrix),  # A x = -A' x, the faster way round
                k,
                norm=frobenius(matrix),
                most_products=4 * n + 400,  # they cost about as much as a full decomposition
                give_up=np.inf if n >= SMALL else GIVE_UP,
            )
        except ConvergenceError:
            if n > STILL_DECOMPOSED:
                raise
    with threads_for(n):
        Q, strengths = dense_planes(matrix)
    Q, strengths = Q[:, : 2 * k], strengths[:k]
    off = plane_residual(matrix @ Q, Q, strengths)
    return Schur(agents=agents, Q=Q, strengths=strengths, norm=frobenius(matrix), residual=off)


def operator_schur(A: Any, k: int | None, norm: float | None) -> Schur:
    """Return the planes of an operator or a sparse matrix; a small one is written out."""
    n, columns = A.shape
    entries: Any = A
    if n != columns or n < 1:
        raise InputError(f"the operator must be square, one row and one column per agent, not {n} x {columns}")
    agents = checked_names(None, size=n, kind="agent")
    if k is None and n > OPERATOR_WRITTEN_OUT:
        raise InputError(f"all {n // 2:,} planes of an operator would take a dense matrix: say how many with k=")
    k = checked_count(k, n // 2)
    if n <= OPERATOR_WRITTEN_OUT and not large_enough(n, k):
        return schur(np.asarray(A @ np.eye(n), dtype=np.float64), k)
    measured = norm is None
    if norm is None and issparse(A):
        norm = frobenius(csr_array(entries).data)
    elif norm is None:
        parts = [float(np.linalg.norm(A @ np.eye(n, b.stop - b.start, -b.start))) for b in blocks(n)]
        norm = float(np.hypot.reduce(parts))
    return from_products(agents, lambda x: np.asarray(A @ x), k, norm=norm, most_products=20 * n, trusted=measured)


def from_products(
    agents: tuple[str, ...],
    product: Callable[[Floats], Floats],
    k: int,
    *,
    norm: float,
    most_products: int,
    give_up: float = np.inf,
    trusted: bool = True,
) -> Schur:
    """Return the strongest planes found by products with vectors."""
    usual = norm == 0 or USUAL[0] < norm < USUAL[1]  # others are scaled, so that squares neither overflow nor vanish
    scale = 1.0 if usual else float(np.ldexp(1.0, int(np.frexp(norm)[1])))
    with threads_for(len(agents) // THREADED):
        Q, strengths, residual = leading_planes(
            product if scale == 1.0 else lambda x: product(x) / scale,
            len(agents),
            k,
            norm=norm / scale if trusted else np.inf,
            tolerance=TOLERANCE,
            most_products=most_products,
            give_up=give_up,
        )
    return Schur(agents=agents, Q=Q, strengths=strengths * scale, norm=norm, residual=residual)


def large_enough(n: int, k: int) -> bool:
    """Say whether the leading planes are sought by products first."""
    return n >= PRODUCTS and 0 < 12 * k <= n


def checked_count(k: int | None, most: int, what: str = "planes (two agents each)") -> int:
    """Return the number of planes or components asked for, or say how many there are."""
    if k is None:
        return most
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k <= most:
        raise InputError(f"k is {k!r}: there are {most:,} {what}, so k must be a whole number, 0 to {most:,}")
    return int(k)


def dense_planes(A: Floats) -> tuple[Floats, Floats]:
    """Return all ``n // 2`` planes ``(Q, s)`` of a dense antisymmetric matrix, strongest first.

    Householder reflections make ``A`` tridiagonal (Ward and Gray 1978; Golub and Van Loan). Every step is orthogonal:
    ``Q`` is orthonormal and ``A`` is met to machine precision, whatever strengths repeat or are weak. (Planes from the
    eigenvectors of ``iA`` are not: two of strength 1e-12 are 2e-4 from orthonormal.)
    """
    scale = unit_scale(A)
    Y, s = rotations(A / scale)
    return canonical(Y, s, len(A), scale)


def rotations(A: Floats, *, tridiagonal: bool = False) -> tuple[Floats, Floats]:
    """Return all planes of an antisymmetric matrix near 1, strongest first, turned as they come.

    A tridiagonal one, with the odd agents first and the even ones second, reads ``[[0, B], [-B', 0]]`` with ``B``
    bidiagonal of half the size, and the singular triples of ``B`` are the planes.
    """
    n = len(A)
    H, Z = (A, None) if tridiagonal else hessenberg(A, calc_q=True, overwrite_a=True, check_finite=False)
    off = (np.diagonal(H, 1) - np.diagonal(H, -1)) / 2
    t = np.arange(n // 2)
    B = np.zeros(((n + 1) // 2, n // 2), order="F")
    B[t, t] = off[0::2]
    B[t[: off[1::2].size] + 1, t[: off[1::2].size]] = -off[1::2]
    U, s, Vt = singular_triples(B)
    Q = np.zeros((n, 2 * s.size))
    if Z is None:
        Q[0::2, 0::2], Q[1::2, 1::2] = U, Vt.T
    else:
        Q[:, 0::2], Q[:, 1::2] = Z[:, 0::2] @ U, Z[:, 1::2] @ Vt.T
    return Q, s


def singular_triples(B: Floats) -> tuple[Floats, Floats, Floats]:
    """Return ``U, s, Vt`` of a matrix in Fortran order, by the library itself: small ones are asked for often."""
    if not B.size:
        return np.zeros((len(B), 0)), np.zeros(0), np.zeros((0, B.shape[1]))
    room = int(dgesdd_lwork(*B.shape, full_matrices=0)[0])  # with the least room it works row by row
    U, s, Vt, failed = dgesdd(B, full_matrices=0, lwork=room)
    if failed:
        raise np.linalg.LinAlgError("the singular value decomposition did not converge")
    return U, s, Vt


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
    width = ROUNDING * np.sqrt(n) * s.max(initial=0.0)
    z = facing_first(z)
    for group in equal_groups(s, width):
        if s[group.start] > 0:
            z[:, group] = triangular(z[:, group])
            s[group] = s[group].mean()
    Q = np.empty_like(Q)
    Q[:, 0::2], Q[:, 1::2] = z.real, z.imag
    return Q + 0.0, s * scale


def equal_groups(s: Floats, width: float) -> list[slice]:
    """Return the groups of two or more equal ones among descending strengths; a group is no wider than ``width``."""
    if s.size < 2 or np.minimum.reduce(s[:-1] - s[1:]) > width:
        return []
    starts: list[int] = []
    for t, strength in enumerate(s):
        if not starts or s[starts[-1]] - strength > width:
            starts.append(t)
    return [slice(a, b) for a, b in pairwise([*starts, s.size]) if b - a > 1]


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


def leading_planes(
    product: Product,
    n: int,
    k: int,
    *,
    norm: float,
    tolerance: float,
    most_products: int,
    give_up: float = np.inf,
) -> tuple[Floats, Floats, float]:
    """Return the ``k`` strongest planes ``(Q, strengths)`` and their residual.

    ``product`` maps a vector x to ``A x``, ``norm`` is that of ``A``. Mostly one vector and its images are
    enough. A strength that repeats has only one plane in their space. Where the norm leaves room for that, a short
    search in what the planes leave over shows it, and then another vector finds the next ones there. A residual above
    ``give_up`` at the first look ends the search.

    Raises
    ------
    ConvergenceError
        The residual stays above ``tolerance`` times the largest strength.
    """
    rng = np.random.default_rng(SEED)
    Q, s, worst = np.empty((n, 0)), np.empty(0), 0.0
    while True:
        new, strengths, reached = planes_by_one_vector(
            product, Q, k, rng, float(s.max(initial=0.0)), tolerance, most_products, give_up
        )
        some = strengths > n * EPS * max(float(s.max(initial=0.0)), float(strengths.max(initial=0.0)))
        if not some.all():
            new, strengths = new[:, np.repeat(some, 2)], strengths[some]
        if not strengths.size:  # a random vector has no image: the planes that are left have no strength
            more = k - s.size
            new = np.linalg.qr(outside_of(Q, rng.normal(size=(n, 2 * more))))[0]
            strengths = np.zeros(more)
        if s.size:
            order = np.argsort(-np.append(s, strengths), kind="stable")
            s = np.append(s, strengths)[order]
            Q = np.hstack([Q, new]).reshape(n, -1, 2)[:, order].reshape(n, -1)
        else:
            Q, s = new, strengths
        worst = max(worst, reached)
        if len(s) < k:
            continue
        weakest, rest = float(s[k - 1]), norm**2 - 2 * float(s @ s)  # a plane of strength s has the squared norm 2 s^2
        if weakest == 0 or 2 * weakest**2 >= rest or not missed_plane(product, Q, weakest, rng):
            return *canonical(Q[:, : 2 * k], s[:k], n, 1.0), worst


def planes_by_one_vector(
    product: Product,
    known: Floats,
    k: int,
    rng: np.random.Generator,
    largest: float,
    tolerance: float,
    most_products: int,
    give_up: float,
) -> tuple[Floats, Floats, float]:
    """Return up to ``k`` strongest planes of what the ``known`` ones leave over, from the images of one vector.

    The Lanczos method for antisymmetric matrices with full orthogonalisation and thick restarts: memory O(n k). Fewer
    planes are returned where these images span less; ``largest`` is the largest strength so far.
    """
    n = len(known)
    room = n - known.shape[1]
    keep = min(2 * (k + 5), room)
    most = min(max(60, 3 * keep), room)
    V, W, H = np.empty((n, most), order="F"), np.empty((n, most), order="F"), np.zeros((most, most))
    v = outside_of(known, rng.normal(size=n))
    v /= np.linalg.norm(v)
    size, check, reached, products, restarted = 0, max(FIRST, 2 * k + 8), np.inf, 0, False
    while products < most_products:
        w = outside_of(known, product(v))
        products += 1
        V[:, size], W[:, size] = v, w
        basis = V[:, : size + 1]
        fresh = basis.T @ w
        largest = max(largest, float(np.sqrt(w @ w)))
        if abs(fresh[size]) > NOT_ANTISYMMETRIC * largest:
            raise InputError("the operator is not antisymmetric: x' A x must be zero for every x")
        H[:size, size], H[size, :size] = fresh[:size], -fresh[:size]
        size += 1
        v = w - basis @ fresh
        v -= basis @ (basis.T @ v)
        left = float(np.sqrt(v @ v))
        ended = left <= NO_DIRECTION * largest or size == room  # the images span no more: their planes are exact
        if not ended:
            v /= left
            if size < check and size < most:
                continue
        Y, s = rotations(H[:size, :size].copy(), tridiagonal=not restarted)
        some = min(k, size // 2)
        reached = (
            left * float(np.abs(Y[-1, : 2 * some]).max(initial=0.0)) / max(largest, LEAST)
        )  # A V = V H + left v e'
        if ended or reached <= tolerance / 2:
            Q = V[:, :size] @ Y[:, : 2 * some]
            reached = plane_residual(W[:, :size] @ Y[:, : 2 * some], Q, s[:some], largest)
            if ended or reached <= tolerance:
                return Q, s[:some], reached
        if reached > give_up:
            break
        if size == most:
            V[:, :keep], W[:, :keep] = V @ Y[:, :keep], W @ Y[:, :keep]
            H[:] = 0.0
            H[:keep, :keep] = turned(np.eye(keep), s[: keep // 2])
            size, restarted = keep, True
        fallen, left_to_fall = -math.log(min(max(reached, LEAST), 0.9)), math.log(max(2 * reached / tolerance, 1.0))
        check = size + max(STEP, int(min(products * left_to_fall / fallen / HASTE, most)))
    raise ConvergenceError(
        f"the {k} strongest of {n // 2:,} planes are known only to a residual of {reached:.1e} of the "
        f"largest strength after {products:,} products, not to {tolerance:.0e}: "
        f"their strengths lie too close together; ask for fewer planes, or for all of them (k=None)"
    )


def outside_of(known: Floats, v: Floats) -> Floats:
    """Return what a vector has outside of some orthonormal columns; twice is enough."""
    if known.shape[1]:
        for _ in range(2):
            v = v - known @ (known.T @ v)
    return v


def missed_plane(product: Product, Q: Floats, weakest: float, rng: np.random.Generator, steps: int = 12) -> bool:
    """Say whether what the planes leave over has one that is stronger than the weakest of them."""
    V = np.empty((len(Q), steps), order="F")
    H = np.zeros((steps, steps))
    v = rng.normal(size=len(Q))
    for t in range(steps):
        for basis in (Q, V[:, :t]) * 2:
            v -= basis @ (basis.T @ v)
        norm = float(np.linalg.norm(v))
        if norm <= NO_DIRECTION * weakest:
            break
        V[:, t] = v / norm
        v = product(V[:, t])
        fresh = V[:, :t].T @ v
        H[:t, t], H[t, :t] = fresh, -fresh
    return float(np.linalg.norm(H, 2)) > weakest * (1 + STRONGER)


def plane_residual(AQ: Floats, Q: Floats, s: Floats, largest: float = 0.0) -> float:
    """Return the largest ``|A q - Q L Q' q|`` over the columns, relative to the largest strength."""
    unit = max(float(s.max(initial=0.0)), largest)
    return float(np.linalg.norm(AQ / unit - turned(Q, s / unit), axis=0).max(initial=0.0)) if unit else 0.0
