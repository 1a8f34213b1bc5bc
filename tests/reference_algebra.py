"""Slow twins of the algebra room, written from the definitions: loops, dense least squares, brute force."""

import itertools
from typing import Any

import numpy as np
from hypothesis import strategies as st

import nashboard as nb
from nashboard._types import Floats


def curl_by_loops(A: Floats) -> Floats:
    n = len(A)
    C = np.zeros((n, n, n))
    for i, j, k in itertools.product(range(n), repeat=3):
        C[i, j, k] = A[i, j] + A[j, k] - A[i, k]
    return C


def cycles_by_force(A: Floats, k: int, *, closed: bool) -> list[tuple[tuple[int, int, int], float]]:
    """Look at every triple, smallest position first; ties in the order of positions."""
    found = []
    tiny = 1e-13 * float(np.nanmax(np.abs(A)))
    for a, b, c in itertools.permutations(range(len(A)), 3):
        payoffs = (A[a, b], A[b, c], A[c, a])
        total = float(payoffs[0] + payoffs[1] + payoffs[2])
        if a < b and a < c and total > tiny and (min(payoffs) > 0 or not closed):
            found.append((-total, (a, b, c)))
    return [(triple, -negated) for negated, triple in sorted(found)[:k]]


def hodge_by_lstsq(n: int, pairs: Any, y: Floats, w: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return ratings and the three parts of a flow by dense least squares on edges and triangles."""
    root = np.sqrt(w)
    G = np.zeros((len(pairs), n))
    for e, (i, j) in enumerate(pairs):
        G[e, i], G[e, j] = 1.0, -1.0
    r: Floats = np.linalg.pinv(root[:, None] * G) @ (root * y)
    r -= r.mean()
    left = y - G @ r
    edge = {tuple(map(int, pair)): e for e, pair in enumerate(pairs)}
    rows = []
    for i, j, k in itertools.combinations(range(n), 3):
        if {(i, j), (j, k), (i, k)} <= edge.keys():
            row = np.zeros(len(pairs))
            row[edge[i, j]], row[edge[j, k]], row[edge[i, k]] = 1.0, 1.0, -1.0
            rows.append(row)
    C = np.array(rows).reshape(-1, len(pairs))
    phi: Floats = np.linalg.pinv(C.T / root[:, None], rcond=1e-11) @ (root * left)  # rounding is no rank
    local = C.T @ phi / w
    return r, G @ r, local, left - local


def strengths_by_eigenvalues(A: Floats) -> Floats:
    """Return the strengths as the positive eigenvalues of the Hermitian matrix iA, descending."""
    return np.sort(np.linalg.eigvalsh(1j * A))[::-1][: len(A) // 2].clip(0)


@st.composite
def antisymmetric(draw: st.DrawFn, most: int = 9) -> Floats:
    """Draw antisymmetric matrices: full, sparse, integer, low rank, repeated strengths, any scale."""
    n = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["full", "integer", "sparse", "ladder", "low rank", "repeated", "zero"]))
    G = rng.normal(size=(n, n))
    if kind == "integer":
        G = np.triu(rng.integers(-2, 3, size=(n, n)).astype(float))
    elif kind == "sparse":
        G = G * (rng.random((n, n)) < 0.3)
    elif kind == "ladder":
        r = rng.normal(size=n)
        G = (r[:, None] - r) / 2
    elif kind == "low rank":
        G = np.outer(rng.normal(size=n), rng.normal(size=n))
    elif kind == "repeated":
        J = np.zeros((n, n))
        for t in range(n // 2):
            J[2 * t, 2 * t + 1] = 1.0
        X = np.linalg.qr(G)[0]
        G = X @ J @ X.T
    elif kind == "zero":
        G = np.zeros((n, n))
    scale = 10.0 ** draw(st.integers(-8, 8))
    A: Floats = scale * (G - G.T)
    return A


@st.composite
def connected_matches(draw: st.DrawFn, most: int = 11) -> nb.Matches:
    """Draw matches between connected agents: chains, rings, sparse and complete graphs, even and uneven."""
    n = draw(st.integers(2, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.0, 0.2, 0.5, 1.0]))
    met = np.triu(rng.random((n, n)) < density, k=1)
    order = rng.permutation(n)
    for a, b in itertools.pairwise(order):  # a path through all agents
        met[min(a, b), max(a, b)] = True
    if n > 2 and draw(st.booleans()):
        met[min(order[0], order[-1]), max(order[0], order[-1])] = True  # a ring
    i, j = np.nonzero(met)
    games = rng.integers(1, draw(st.sampled_from([2, 20, 10_000])), size=i.size)
    wins = rng.binomial(games, rng.random(i.size))
    draws = rng.binomial(games - wins, 0.2)
    return nb.Matches(
        agents=tuple(f"agent {k + 1}" for k in range(n)),
        pairs=np.stack([i, j], axis=1),
        wins=wins.astype(float),
        draws=draws.astype(float),
        losses=(games - wins - draws).astype(float),
    )


def stderr_by_pinv(n: int, pairs: Any, w: Floats, v: Floats) -> Floats:
    """Return the standard errors of weighted least squares ratings from the whole covariance matrix."""
    G = np.zeros((len(pairs), n))
    G[np.arange(len(pairs)), pairs[:, 0]] = 1.0
    G[np.arange(len(pairs)), pairs[:, 1]] = -1.0
    fit: Floats = np.linalg.pinv(G.T @ (w[:, None] * G)) @ G.T * w
    return np.sqrt(np.diag(fit * v @ fit.T))
