"""The real Schur decomposition of an antisymmetric matrix: a sum of rotations in orthogonal planes.

Symbols: ``A = Q L Q'``, ``Q`` (n, 2k) orthonormal, ``s`` strengths (k,); in plane ``t`` agent ``i`` is the
point ``(Q[i, 2t], Q[i, 2t + 1])``, at radius ``rho[i, t]`` and angle ``phi[i, t]``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, sparray, spmatrix
from scipy.sparse.linalg import LinearOperator

from nashboard._display import Drawn
from nashboard._tables import Column, Table
from nashboard._threads import threads_for
from nashboard._types import Floats, frozen_copy, read_only
from nashboard.algebra.flows import FlowLike, blocks, frobenius, named_flow, refuse_size
from nashboard.algebra.planes import dense_planes, leading_planes, plane_residual
from nashboard.data.validation import checked_names
from nashboard.errors import ConvergenceError, InputError

# The leading planes of a large matrix are met to this share of the largest strength.
TOLERANCE = 1e-10
OPERATOR_WRITTEN_OUT = 2000
PRODUCTS = 64  # agents from which on products with vectors are tried first
# Below this size planes that do not stand out (by the residual after few products) are quicker found with all others.
SMALL, GIVE_UP = 400, 1e-4
# Where products do not settle, a matrix of up to this size is decomposed in full instead.
STILL_DECOMPOSED = 5000
THREADED = 8  # blocks of few columns gain from threads only where a matrix is so many times as large


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
        chosen = checked_planes(k, self.strengths.size)
        U, V = self.Q[:, 0 : 2 * chosen : 2], self.Q[:, 1 : 2 * chosen : 2]
        half = (U * self.strengths[:chosen]) @ V.T
        return half - half.T

    def table(self) -> Table:
        """Return each plane: its strength, its share of the norm, and the agents furthest out."""
        return Table(
            title=repr(self),
            columns=(
                Column(name="plane"),
                Column(name="strength", meaning="how strongly agents go round in this plane"),
                Column(name="share", meaning="share of the squared norm of the matrix"),
                Column(name="in turn", meaning="the four agents furthest out, each beating the next"),
            ),
            rows=tuple(
                (t + 1, float(strength), float(self.shares[t]), self.in_turn(t))
                for t, strength in enumerate(self.strengths)
            ),
        )

    def in_turn(self, t: int, most: int = 4) -> str:
        """Name the agents furthest out in plane ``t``, counterclockwise."""
        far = np.argsort(-self.radii[:, t], kind="stable")[:most]
        return ", ".join(self.agents[i] for i in far[np.argsort(self.angles[far, t] % (2 * np.pi), kind="stable")])

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and lists for machines."""
        return {
            "agents": list(self.agents),
            "strengths": self.strengths.tolist(),
            "shares": self.shares.tolist(),
            "Q": self.Q.tolist(),
            "norm": self.norm,
            "residual": self.residual,
        }

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
    k = checked_planes(k, n // 2)
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
    k = checked_planes(k, n // 2)
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
    usual = norm == 0 or 1e-100 < norm < 1e100  # others are scaled, so that squares neither overflow nor vanish
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


def checked_planes(k: int | None, most: int) -> int:
    """Return the number of planes asked for, or say how many there are."""
    if k is None:
        return most
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k <= most:
        raise InputError(f"k is {k!r}: there are {most:,} planes (two agents each), so k must be 0 to {most:,}")
    return int(k)
