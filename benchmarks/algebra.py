"""The algebra room against its peers: ratios measured in one run, with quality beside speed.

    python benchmarks/algebra.py            a few minutes
    python benchmarks/algebra.py --large    also 20,000 agents with all payoffs (7 GB of memory)

Each comparison runs the two sides in turn, several times, and prints the ratio of the medians: below 1,
nashboard is faster. Quality is the error that each side leaves, relative to the size of the data.
"""

import argparse
import resource
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh, lsqr

import nashboard as nb
from nashboard._tables import Cell, Column, Table, plain
from nashboard._types import Floats

RNG = np.random.default_rng(0)


def in_turn(ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int) -> tuple[float, Any, Any]:
    """Return the ratio of the median times, and what both sides found."""
    times: tuple[list[float], list[float]] = ([], [])
    found: list[Any] = [None, None]
    for _ in range(repeats):
        for side, run in enumerate((ours, theirs)):
            start = time.perf_counter()
            found[side] = run()
            times[side].append(time.perf_counter() - start)
    return median(times[0]) / median(times[1]), found[0], found[1]


def noise(n: int) -> Floats:
    G = RNG.normal(size=(n, n))
    A: Floats = G - G.T
    return A


def structured(n: int) -> Floats:
    """Return ratings, six cyclic planes and noise, as real populations look."""
    C = RNG.normal(size=(n, 12)) * np.repeat([3.0, 2.5, 2.0, 1.6, 1.3, 1.0], 2)
    half = C[:, 0::2] @ C[:, 1::2].T
    half += RNG.normal(size=(n, 1))
    half += 0.3 * RNG.normal(size=(n, n))
    half -= half.T.copy()
    return half


def full_schur(n: int, repeats: int) -> list[tuple[Cell, ...]]:
    A = noise(n)
    size = np.abs(A).max()

    def error(found: nb.Schur) -> float:
        return float(np.abs(found.reconstruct() - A).max() / size)

    rows: list[tuple[Cell, ...]] = []
    ratio, ours, peer = in_turn(lambda: nb.schur(A), lambda: scipy.linalg.schur(A), repeats)
    theirs = float(np.abs(peer[1] @ peer[0] @ peer[1].T - A).max() / size)
    rows.append(("all planes", "scipy.linalg.schur", n, ratio, f"{error(ours):.0e}", f"{theirs:.0e}"))
    ratio, ours, svd = in_turn(lambda: nb.schur(A), lambda: np.linalg.svd(A), repeats)
    theirs = float(np.abs(svd[0] * svd[1] @ svd[2] - A).max() / size)
    rows.append(("all planes", "numpy.linalg.svd", n, ratio, f"{error(ours):.0e}", f"{theirs:.0e}"))
    return rows


def leading_schur(n: int, k: int, repeats: int) -> list[tuple[Cell, ...]]:
    A = structured(n)

    def hermitian(x: Any) -> Any:
        return 1j * (A @ x.real) - A @ x.imag

    H = LinearOperator((n, n), matvec=hermitian, dtype=np.complex128)
    ratio, ours, peer = in_turn(
        lambda: nb.schur(A, k=k), lambda: eigsh(H, k=k, which="LA", tol=1e-10, v0=np.ones(n) + 0j), repeats
    )
    z = peer[1]
    theirs = np.linalg.norm(1j * (A @ z) - z * peer[0], axis=0).max() / peer[0].max()
    return [(f"{k} planes", "scipy eigsh of iA", n, ratio, f"{ours.residual:.0e}", f"{theirs:.0e}")]


def leading_against_svd(n: int, k: int, repeats: int) -> list[tuple[Cell, ...]]:
    A = structured(n)
    ratio, ours, svd = in_turn(lambda: nb.schur(A, k=k), lambda: np.linalg.svd(A), repeats)
    theirs = np.linalg.norm(A @ svd[2][: 2 * k].T - svd[0][:, : 2 * k] * svd[1][: 2 * k], axis=0).max() / svd[1][0]
    return [(f"{k} planes", "numpy.linalg.svd", n, ratio, f"{ours.residual:.0e}", f"{theirs:.0e}")]


def latent_table(m: int, n: int, repeats: int) -> list[tuple[Cell, ...]]:
    S = RNG.normal(size=(m, n))
    ratio, ours, svd = in_turn(lambda: nb.latent(S), lambda: np.linalg.svd(S, full_matrices=False), repeats)
    left = float(np.abs(ours.reconstruct() - S).max() / np.abs(S).max())
    theirs = float(np.abs(svd[0] * svd[1] @ svd[2] - S).max() / np.abs(S).max())
    return [(f"latent, {m:,} agents", "numpy.linalg.svd", n, ratio, f"{left:.0e}", f"{theirs:.0e}")]


def cycles(n: int, repeats: int) -> list[tuple[Cell, ...]]:
    A = noise(n)
    h = nb.hodge(A)
    ratio, ours, theirs = in_turn(lambda: h.cycles(1, closed=False), lambda: nb.curl(A).max(), repeats)
    gap = abs(ours[0].curl - theirs) / theirs
    return [("strongest cycle", "the curl tensor", n, ratio, f"{gap:.0e}", "0")]


def random_matches(n: int, p: int) -> nb.Matches:
    """Return about p random pairs, with a path that connects all agents among them."""
    i, j = np.sort(RNG.integers(0, n, size=(2, p)), axis=0)
    code = np.unique(np.append((i * n + j)[i < j], np.arange(n - 1) * (n + 1) + 1))
    games = RNG.integers(1, 30, size=code.size)
    rating = RNG.normal(size=n)
    i, j = np.divmod(code, n)
    wins = RNG.binomial(games, 1 / (1 + np.exp(rating[j] - rating[i])))
    return nb.Matches(
        agents=tuple(f"agent {k}" for k in range(n)),
        pairs=np.stack([i, j], axis=1),
        wins=wins.astype(float),
        draws=np.zeros(code.size),
        losses=(games - wins).astype(float),
    )


def ratings(n: int, p: int, repeats: int) -> list[tuple[Cell, ...]]:
    matches = random_matches(n, p)
    flow = nb.hodge(matches).flow
    root, m = np.sqrt(flow.weights), len(flow.values)
    G = csr_array((np.tile([1.0, -1.0], m) * np.repeat(root, 2), flow.pairs.ravel(), np.arange(0, 2 * m + 1, 2)))

    def equations(r: Floats) -> float:
        left = G.T @ (root * flow.values - G @ r)
        return float(np.abs(left).max() / np.abs(abs(G).T @ np.abs(root * flow.values)).max())

    ratio, ours, theirs = in_turn(
        lambda: nb.hodge(matches), lambda: lsqr(G, root * flow.values, atol=1e-13, btol=1e-13), repeats
    )
    return [("ratings", "scipy lsqr", m, ratio, f"{equations(ours.ratings):.0e}", f"{equations(theirs[0]):.0e}")]


def growth(n: int, sizes: tuple[int, ...]) -> list[tuple[Cell, ...]]:
    """Return how the parts of hodge(matches) grow with the pairs, relative to the smallest size's ratings."""
    rows: list[tuple[Cell, ...]] = []
    unit = 0.0
    for p in sizes:
        matches = random_matches(n, p)
        busy, clock = time.process_time(), [time.perf_counter()]
        h = nb.hodge(matches)
        clock.append(time.perf_counter())
        for part in ("stderr", "cycles", "harmonic"):
            found = getattr(h, part)
            if callable(found):
                found()
            clock.append(time.perf_counter())
        taken = np.diff(clock).tolist()
        used = time.process_time() - busy
        unit = unit or taken[0]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        shares = f"{h.transitivity:.2f} / {h.local_share:.2f} / {h.harmonic_share:.2f}"
        seconds = (taken[-1], sum(taken), used)
        rows.append((len(matches.pairs), *(part / unit for part in taken), *seconds, memory, shares))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="also 20,000 agents with all payoffs")
    large = parser.parse_args().large
    names = (
        "pairs",
        "ratings",
        "standard errors",
        "cycles",
        "split",
        "split, s",
        "all, s",
        "all, cpu s",
        "peak GB",
        "ratings/local/harmonic",
    )
    grown = growth(10_000, (100_000, 300_000, 1_000_000))
    title = "10,000 agents: time of each part over the ratings of the smallest size; seconds on this machine"
    print(plain(Table(title=title, columns=tuple(Column(name=n, decimals=2) for n in names), rows=tuple(grown))))
    print()
    rows: list[tuple[Cell, ...]] = []
    for n, repeats in ((50, 15), (200, 7), (800, 3)):
        rows += full_schur(n, repeats)
    for n in (2000, 4000, 8000):
        rows += leading_schur(n, 5, 3 if n < 8000 else 1)
    rows += leading_against_svd(2000, 5, 1)
    for m, n in ((20, 54), (200, 500), (1000, 1000)):
        rows += latent_table(m, n, 5 if m < 1000 else 3)
    for n in (100, 300, 600):
        rows += cycles(n, 3)
    for n, p in ((1000, 20_000), (3000, 100_000), (10_000, 1_000_000)):
        rows += ratings(n, p, 3)
    if large:
        rows += leading_schur(20_000, 5, 1)
    names = ("what", "peer", "size", "time over peer", "our error", "peer's error")
    print(plain(Table(columns=tuple(Column(name=name, decimals=2) for name in names), rows=tuple(rows))))


if __name__ == "__main__":
    main()
