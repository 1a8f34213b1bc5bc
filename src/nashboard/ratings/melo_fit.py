"""Fitting mElo: the form of the cyclic part, the loss, where fits start, the best minimum, and its covariance.

Symbols: ``Z`` (nodes, 1 + 2k) in logits, ratings ``r`` in column 0, then the planes ``C``, two columns each; the last
node is the average agent of `likelihood`, whose cyclic part is zero. ``K = C W C'`` with ``K[i, j] = sum over planes of
C[i, 2t] C[j, 2t+1] - C[j, 2t] C[i, 2t+1]`` is what the planes add to the lead of i over j. Many ``C`` have one ``K``;
shown is the one that is centred, with orthogonal planes, the strongest first.

The penalty ``mu / 2 |C|^2`` is a normal prior; over all ``C`` with the same products it amounts to ``mu`` times the
sum of the planes' strengths, so weak planes vanish. With ``orthogonal`` each column of ``C`` is also orthogonal to the
centred ratings, as in the paper: a curved set, on which gradient and Hessian are those of the Lagrangian, projected
onto the tangent space.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from nashboard._parallel import threads_for
from nashboard._types import Floats, Ints
from nashboard.algebra.hodge import hodge
from nashboard.algebra.schur import canonical, dense_planes, schur
from nashboard.data.matches import Matches
from nashboard.data.payoffs import payoffs
from nashboard.errors import ConvergenceError
from nashboard.ratings import kernels
from nashboard.ratings.likelihood import PairTotals, newton


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


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalModel:
    """The loss near a point ``Z``: slopes and curvatures of the pairs, its gradient, and a preconditioner.

    ``normals`` are the directions that break ``r'C = 0``, made of centred ratings and planes: for column ``t``,
    ``C[:, t]`` in the ratings and ``r`` in that column. They have no rows where the planes are free.
    """

    parts: tuple[Any, ...]  # as the kernels take them: Z, g, h, i, j, played, mu, average, normals, inverse, pull
    gradient: Floats
    blocks: Floats

    def tangent(self, D: Floats) -> Floats:
        """Return the part of ``D`` along the allowed directions."""
        average, normals, inverse = self.parts[7:10]
        return np.asarray(kernels.tangent(D, average, normals, inverse))

    def hessian(self, D: Floats) -> Floats:
        """Return the product of the Hessian with ``D``."""
        return np.asarray(kernels.hessian(D, *self.parts))

    def step(self, radius: float, small: float) -> tuple[Floats, float, float]:
        """Return a step inside the radius, how much the model says it gains, and its length."""
        found: tuple[Floats, float, float] = kernels.steihaug(
            self.gradient, self.blocks, radius, small, MOST_INNER, *self.parts
        )
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class MeloLoss:
    """The penalised loss of mElo on pair counts."""

    totals: PairTotals
    mu: float
    orthogonal: bool = False

    @cached_property
    def average_plays(self) -> bool:
        """Whether the average agent has games, that is, whether there is a prior."""
        return bool((self.totals.j == self.totals.agents).any())

    @property
    def played(self) -> int:
        """How many rows are games, or drawn games against the average agent, who has no planes."""
        return self.totals.i.size - self.totals.precision.size

    def leads(self, Z: Floats) -> Floats:
        """Return the lead on each pair."""
        return np.asarray(kernels.leads(np.ascontiguousarray(Z), self.totals.i, self.totals.j, self.played))

    def loss(self, Z: Floats) -> float:
        """Return the penalised loss."""
        return self.totals.loss(self.leads(Z)) + self.mu / 2 * float((Z[:, 1:] ** 2).sum())

    def local(self, Z: Floats) -> LocalModel:
        """Return gradient, Hessian products and preconditioner, on the tangent space."""
        t, Z = self.totals, np.ascontiguousarray(Z)
        size = Z.shape[1]
        g, h = t.derivatives(self.leads(Z))
        normals, inverse = np.zeros((0, size)), np.zeros((0, 0))
        if self.orthogonal and size > 1 and Z[:, 0].any():
            normals = Z[:-1].copy()
            normals[:, 0] -= normals[:, 0].mean()
            inverse = np.linalg.inv(normals[:, 1:].T @ normals[:, 1:] + (normals[:, 0] ** 2).sum() * np.eye(size - 1))
        G = kernels.pulled(Z, g, t.i, t.j, self.played)
        G[:, 1:] += self.mu * Z[:, 1:]
        flat = kernels.tangent(G, self.average_plays, normals[:0], inverse)
        pull = kernels.multipliers(flat, normals, inverse)
        blocks = kernels.blocks(Z, h, t.i, t.j, self.played)
        blocks[:, np.arange(1, size), np.arange(1, size)] += self.mu
        lift = 1e-6 * np.trace(blocks, axis1=1, axis2=2).max() / size
        return LocalModel(
            parts=(Z, g, h, t.i, t.j, self.played, self.mu, self.average_plays, normals, inverse, pull),
            gradient=kernels.tangent(flat, self.average_plays, normals, inverse),
            blocks=np.linalg.inv(blocks + lift * np.eye(size)),
        )

    def moved(self, Z: Floats, step: Floats) -> Floats:
        """Return the point after a step, back on the set of points that are allowed."""
        Z = Z + step
        if self.orthogonal:
            r = Z[:-1, 0] - Z[:-1, 0].mean()
            if r.any():
                Z[:-1, 1:] -= np.outer(r, r @ Z[:-1, 1:]) / (r @ r)
        return Z


ALL_PLANES = 300  # agents up to which all planes are computed at once
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
    if len(matches.pairs) == r.size * (r.size - 1) // 2 and r.size <= ALL_PLANES:
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
    if n <= ALL_PLANES:
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


ROUGH = 1e-4  # of the first gradient: where a rough fit ends; held-out losses then have six right digits
EVERY_START = 300  # agents up to which every start is fitted to the end; beyond it only the best after a rough fit


@dataclass(frozen=True, kw_only=True)
class End:
    """Where one start of the fit led: the mean loss per game there, with the prior's share, in nats."""

    start: str
    loss: float


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A number of planes that was tried: the mean loss per game on games held out, and its standard error."""

    k: int
    log_loss: float
    stderr: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """The best point found, its gradient, and where all starts ended."""

    Z: Floats
    gradient_norm: float
    ends: tuple[End, ...]


def elo_point(totals: PairTotals) -> tuple[Floats, float]:
    """Return the Elo ratings of all nodes in logits, and the norm of the gradient there."""
    r, free = np.zeros(totals.nodes), np.ones(totals.nodes, dtype=bool)
    free[-1] = bool((totals.j == totals.agents).any())
    norm = newton(totals, r, free)
    return r - r[:-1].mean(), norm


def fitted(matches: Matches, landscape: MeloLoss, k: int, *, rough: bool = False) -> Fit:
    """Return the best of several fits: plane by plane from Elo upwards, and from the starts of `melo_starts`.

    A ``rough`` fit goes plane by plane only and stops early, which costs a tenth: enough to see how well it predicts.
    """
    with threads_for(len(matches.agents)):
        return best_of_starts(matches, landscape, k, rough=rough)


def best_of_starts(matches: Matches, landscape: MeloLoss, k: int, *, rough: bool) -> Fit:
    """Fit from every start, and return the best."""
    totals = landscape.totals
    r, norm = elo_point(totals)
    if k == 0:
        loss = landscape.loss(r[:, None].copy()) / matches.n_games
        return Fit(Z=r[:, None], gradient_norm=norm, ends=(End(start="Elo", loss=loss),))
    tolerance = totals.tolerance()
    found: list[tuple[str, Floats, float]] = []
    failure: ConvergenceError | None = None
    begins = [("plane by plane", one_plane_more(landscape, r[:, None].copy(), k))]
    if rough:
        tolerance = roughly(landscape, begins[0][1])
    else:
        begins += [(name, point(landscape, r, C)) for name, C in starts(matches, totals, r[:-1], k)]
    first_only = not rough and totals.agents > EVERY_START
    for name, Z in begins:
        enough = roughly(landscape, Z) if first_only else tolerance
        try:
            found.append((name, *minimise(landscape, landscape.moved(Z, 0 * Z), tolerance=enough)))
        except ConvergenceError as error:
            failure = error
    if not found:
        raise failure or ConvergenceError("no start of mElo converged")
    losses = [landscape.loss(Z) / matches.n_games for _, Z, _ in found]
    best = next(t for t, loss in enumerate(losses) if loss <= min(losses) + 1e-12)
    if first_only:
        name, Z, _ = found[best]
        found[best] = (name, *minimise(landscape, Z, tolerance=tolerance))
        losses[best] = landscape.loss(found[best][1]) / matches.n_games
    ends = sorted(zip(losses, [name for name, _, _ in found], strict=True))
    return Fit(
        Z=found[best][1], gradient_norm=found[best][2], ends=tuple(End(start=name, loss=loss) for loss, name in ends)
    )


def one_plane_more(landscape: MeloLoss, Z: Floats, k: int) -> Floats:
    """Return a start for ``k`` planes: the fit with one plane fewer, and the plane in which its loss falls fastest."""
    while True:
        C = Z[:-1, 1:]
        Z = point(landscape, Z[:, 0], np.column_stack([C, steepest_planes(landscape.totals, Z[:-1, 0], C, 1)]))
        if Z.shape[1] == 1 + 2 * k:
            return Z
        Z, _ = minimise(landscape, landscape.moved(Z, 0 * Z), tolerance=roughly(landscape, Z))


def roughly(landscape: MeloLoss, Z: Floats) -> float:
    """Return the norm of the gradient at which a rough fit that starts from ``Z`` ends."""
    return max(ROUGH * float(np.linalg.norm(landscape.local(Z).gradient)), landscape.totals.tolerance())


def point(landscape: MeloLoss, r: Floats, C: Floats) -> Floats:
    """Return ratings of all nodes and planes of the agents as one array."""
    Z = np.zeros((landscape.totals.nodes, 1 + C.shape[1]))
    Z[:, 0], Z[:-1, 1:] = r, C
    return Z


# Newton's method in a trust region, for smooth losses that need not be convex: each step minimises the quadratic
# model inside an ellipsoid by preconditioned conjugate gradients (Steihaug 1983; Conn et al. 2000, algorithm 7.5.1),
# which also follows directions of negative curvature. The last steps are judged with a slack for rounding.
EPS = float(np.finfo(np.float64).eps)
MOST_STEPS = 2000  # an alarm, not a budget
MOST_INNER = 400  # steps of conjugate gradients in one step; a rough step costs less than an exact one


def minimise(landscape: MeloLoss, Z: Floats, *, tolerance: float) -> tuple[Floats, float]:
    """Return a local minimum below ``Z`` and the norm of the gradient there, at most ``tolerance``."""
    loss, local = landscape.loss(Z), landscape.local(Z)
    norm = first = length(local.gradient)
    radius = np.sqrt(max(loss, 1.0))
    for _ in range(MOST_STEPS):
        if norm <= tolerance:
            return Z, norm
        forcing = min(0.1, float(np.sqrt(norm / first)))
        step, gain, reach = local.step(radius, forcing * norm)
        there = landscape.moved(Z, step)
        new = landscape.loss(there)
        slack = 1e3 * EPS * max(1.0, abs(loss))
        agreement = (loss - new + slack) / (gain + slack)
        if agreement < 0.25:
            radius = reach / 4
        elif agreement > 0.75 and reach > 0.9 * radius:
            radius *= 3
        if agreement > 0.05:
            Z, loss = there, new
            local = landscape.local(Z)
            norm = length(local.gradient)
        elif radius < EPS * 1e-3:
            break
    if norm <= tolerance:
        return Z, norm
    raise ConvergenceError(
        f"the fit stopped at a gradient of norm {norm:.2g}, wanted {tolerance:.2g}: some predictions may run to "
        f"infinity",
        hint="pass a larger {option}",
        option="prior",
    )


def length(a: Floats) -> float:
    """Return the norm."""
    return float(np.sqrt(kernels.inner(a, a)))
