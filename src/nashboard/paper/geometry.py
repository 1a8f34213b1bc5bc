"""Appendix F: the geometry of antisymmetric matrices, a line and a circle."""

import numpy as np

from nashboard._tables import Column, Table
from nashboard._types import Floats
from nashboard.algebra.operators import div, grad, rot
from nashboard.algebra.schur import schur
from nashboard.data.datasets import alphago, roshambo
from nashboard.data.payoffs import payoffs
from nashboard.paper.claim import PICTURE, Found, error, literature
from nashboard.paper.examples import C4, T4
from nashboard.paper.figures import parallelograms, schur_planes
from nashboard.paper.part import Figure, Part

AGENTS = ("A", "B", "C", "D")


def part() -> Part:
    """Decompose T and C, and look at their planes."""
    planes = {name: turned(schur(A, k=1).Q, printed(name)) for name, A in (("T", T4), ("C", C4))}
    found = {
        f"geometry.Q.{name}.{agent}.{k + 1}": Found(
            value=float(Q[i, k]), how=f"nb.schur({name}, k=1).Q, rotated or mirrored onto the printed rows"
        )
        for name, Q in planes.items()
        for i, agent in enumerate(AGENTS)
        for k in range(2)
    }
    A = payoffs(alphago()).A
    cyclic = rot(roshambo().A)
    first = schur(cyclic, k=1)
    found |= {
        "geometry.T": Found(value=error(T4 - grad(div(T4))), how="nb.grad(nb.div(T))"),
        "geometry.C": Found(value=error(div(C4)), how="nb.div(C)"),
        "geometry.rank.T": Found(value=float(schur(T4).rank), how="nb.schur(T).rank"),
        "geometry.rank.C": Found(value=float(schur(C4).rank), how="nb.schur(C).rank"),
        "geometry.line": Found(value=off_line(schur(T4, k=1).Q), how="nb.schur(T, k=1).Q, distance from a line"),
        "geometry.line.general": Found(
            value=off_line(schur(grad(div(A)), k=1).Q) if schur(grad(div(A))).rank == 2 else float("nan"),
            how="nb.schur of nb.grad(nb.div(alphago)), of rank 2",
        ),
        "geometry.circle": Found(value=float(np.ptp(schur(C4, k=1).radii)), how="nb.schur(C, k=1).radii"),
        "geometry.circle.not": Found(
            value=error(div(cyclic / 1000)) < 1e-9 and float(np.ptp(first.radii)) > 0.1,
            how="nb.schur of nb.rot(roshambo): radii of the first plane",
        ),
        "geometry.area": Found(value=max(areas(T4), areas(C4)), how="nb.schur(T), nb.schur(C), every pair"),
        "geometry.phase": Found(value=max(phases(T4), phases(C4)), how="nb.schur(T), nb.schur(C), every pair"),
        "geometry.compatible": Found(
            value=outside(A) > 0.01,
            how=f"alphago: {outside(A):.2f} of the ratings' length is outside the nearest plane",
        ),
        "geometry.rest": Found(value=error(div(rot(A))), how="nb.div(nb.rot(alphago))"),
    }
    return Part(
        title="Appendix F: lines, circles and areas",
        words="A plane of the Schur decomposition can be turned freely, and mirrored where lambda changes sign "
        "too, so ours is turned onto the printed one before numbers are compared.",
        found=found,
        tables={"schur": plane_table(planes)},
        figures={
            "schur_planes": Figure(
                chart=schur_planes(planes, AGENTS),
                caption="(A) The rows of Q of T form a straight line. (B) The rows of Q of C lie on a circle.",
            ),
            "schur_areas": Figure(
                chart=parallelograms(planes, AGENTS),
                caption="The entry for A and B is lambda times the signed area of their parallelogram.",
            ),
        },
    )


def printed(name: str) -> Floats:
    """Return the rows of Q that the paper prints."""
    said = {claim.key: claim.printed for claim in literature() if claim.printed != PICTURE}
    return np.array([[float(said[f"geometry.Q.{name}.{agent}.{k}"]) for k in (1, 2)] for agent in AGENTS])


def turned(Q: Floats, onto: Floats) -> Floats:
    """Return Q turned, or mirrored, in its plane so that it comes closest to another (Procrustes)."""
    U, _, Vt = np.linalg.svd(Q.T @ onto)
    return np.asarray(Q @ (U @ Vt))


def off_line(Q: Floats) -> float:
    """Return how far points are from their line of best fit."""
    centred = Q - Q.mean(axis=0)
    return float(np.linalg.svd(centred, compute_uv=False)[1])


def areas(A: Floats) -> float:
    """Return how far the entries of a matrix of rank two are from lambda times signed areas."""
    found = schur(A, k=1)
    u, v = found.Q.T
    return error(A - found.strengths[0] * (np.outer(u, v) - np.outer(v, u)))


def phases(A: Floats) -> float:
    """Return how far the entries are from the printed imaginary part."""
    found = schur(A, k=1)
    w = found.Q[:, 0] + 1j * found.Q[:, 1]
    ours = found.strengths[0] * np.imag(np.outer(w.conj(), w))
    return error(A - np.imag(np.outer(w, w.conj()))) if error(A - ours) < 1e-9 else float("nan")


def outside(A: Floats) -> float:
    """Return the share of the ratings' length that lies outside the plane of A closest to it."""
    r = div(A)
    r = r / np.linalg.norm(r)
    Q = schur(A).Q
    inside = max(float(np.linalg.norm(Q[:, t : t + 2].T @ r)) for t in range(0, Q.shape[1], 2))
    return float(np.sqrt(max(0.0, 1 - inside**2)))


def plane_table(planes: dict[str, Floats]) -> Table:
    """Return our rows of Q beside the printed ones."""
    return Table(
        title="appendix F: rows of Q, ours turned onto the printed ones",
        columns=(
            Column(name="matrix"),
            Column(name="agent"),
            *(Column(name=f"{whose} {k}", decimals=4) for whose in ("ours", "paper") for k in (1, 2)),
        ),
        rows=tuple(
            (name, agent, *map(float, ours), *map(float, theirs))
            for name, Q in planes.items()
            for agent, ours, theirs in zip(AGENTS, Q, printed(name), strict=True)
        ),
    )
