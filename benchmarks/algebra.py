"""The algebra room: Schur and latent decompositions, cycles and Hodge ratings, beside scipy and numpy.

The sides import this file for their data.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import Comparison, Section, Side, Size

import nashboard as nb
from nashboard._types import Floats

# One thread for every side: small systems take far longer with two on a busy machine, and we use one for those anyway.
BEGIN = (
    "import os\nos.environ['OPENBLAS_NUM_THREADS'] = '1'\nimport numpy as np, scipy.linalg, nashboard as nb, algebra\n"
)
PARTS = ("ratings", "standard errors", "cycles", "split")


def noise(n: int) -> Floats:
    G = np.random.default_rng(n).normal(size=(n, n))
    A: Floats = G - G.T
    return A


def structured(n: int) -> Floats:
    """Return ratings, six cyclic planes and noise, as real populations look."""
    rng = np.random.default_rng(n)
    C = rng.normal(size=(n, 12)) * np.repeat([3.0, 2.5, 2.0, 1.6, 1.3, 1.0], 2)
    half = C[:, 0::2] @ C[:, 1::2].T
    half += rng.normal(size=(n, 1))
    half += 0.3 * rng.normal(size=(n, n))
    half -= half.T.copy()
    return half


def random_matches(n: int, p: int) -> nb.Matches:
    """Return about p random pairs, with a path that connects all agents among them."""
    rng = np.random.default_rng(p)
    i, j = np.sort(rng.integers(0, n, size=(2, p)), axis=0)
    code = np.unique(np.append((i * n + j)[i < j], np.arange(n - 1) * (n + 1) + 1))
    games = rng.integers(1, 30, size=code.size)
    rating = rng.normal(size=n)
    i, j = np.divmod(code, n)
    wins = rng.binomial(games, 1 / (1 + np.exp(rating[j] - rating[i])))
    return nb.Matches(
        agents=tuple(f"agent {k}" for k in range(n)),
        pairs=np.stack([i, j], axis=1),
        wins=wins.astype(float),
        draws=np.zeros(code.size),
        losses=(games - wins).astype(float),
    )


def gradient_of(flow: Any) -> tuple[Any, Floats]:
    """Return the weighted least squares of Hodge ratings: matrix and right-hand side."""
    from scipy.sparse import csr_array

    root, m = np.sqrt(flow.weights), len(flow.values)
    G = csr_array((np.tile([1.0, -1.0], m) * np.repeat(root, 2), flow.pairs.ravel(), np.arange(0, 2 * m + 1, 2)))
    return G, root * flow.values


def unsolved(G: Any, b: Floats, r: Floats) -> float:
    """Return what the normal equations leave, relative to their size."""
    return float(np.abs(G.T @ (b - G @ r)).max() / np.abs(abs(G).T @ np.abs(b)).max())


def error(found: Floats, data: Floats) -> float:
    return float(np.abs(found - data).max() / np.abs(data).max())


def leading(A: Floats, k: int) -> tuple[Any, Any]:
    """Return the leading eigenpairs of iA by scipy's Lanczos."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    def hermitian(x: Any) -> Any:
        return 1j * (A @ x.real) - A @ x.imag

    n = len(A)
    H = LinearOperator((n, n), matvec=hermitian, dtype=np.complex128)
    return eigsh(H, k=k, which="LA", tol=1e-10, v0=np.ones(n) + 0j)


def planes_by_hand(A: Floats) -> tuple[Floats, Floats]:
    """Return all planes and strengths from the eigenpairs of iA, each turned so that who is furthest out is at angle 0.

    Unlike ours: no checks, no rule for equal strengths, no residual, and weak planes are not orthonormal.
    """
    values, vectors = np.linalg.eigh(1j * A)
    k = len(A) // 2
    z = np.sqrt(2) * vectors[:, :k]
    first = z[np.abs(z).argmax(axis=0), np.arange(k)]
    z *= np.conj(first) / np.abs(first)
    Q = np.empty((len(A), 2 * k))
    Q[:, 0::2], Q[:, 1::2] = z.real, z.imag
    return Q, -values[:k]


def latent_by_hand(S: Floats, *, signs: bool = True) -> tuple[Any, ...]:
    """Return averages and the singular triples of the rest, in the fewest calls of numpy.

    With ``signs`` the task furthest from zero is positive in each triple, as in ours, so that the output is the same.
    Unlike ours: no checks, no rule for equal strengths, and no zeros for strengths that rounding made.
    """
    mean = S.mean()
    skills, difficulties = S.mean(axis=1) - mean, mean - S.mean(axis=0)
    U, strengths, Vt = np.linalg.svd(S - mean - skills[:, None] + difficulties, full_matrices=False)
    if signs:
        turn = np.sign(Vt[np.arange(len(Vt)), np.abs(Vt).argmax(axis=1)])
        U *= turn
        Vt *= turn[:, None]
    return mean, skills, difficulties, U, strengths, Vt


def side(name: str, setup: str, code: str, after: str, package: str = "nashboard") -> Side:
    return Side(name=name, setup=BEGIN + setup, code=code, after="answer = " + after, package=package)


def all_planes(n: int) -> Comparison:
    """Return the whole Schur decomposition of noise."""
    data = f"A = algebra.noise({n})"
    product = "algebra.error(found[1] @ found[0] @ found[1].T, A)"
    turned = "algebra.error((half := (found[0][:, ::2] * found[1]) @ found[0][:, 1::2].T) - half.T, A)"
    sides = [
        side("nashboard", data, "found = nb.schur(A)", "algebra.error(found.reconstruct(), A)"),
        side("scipy.linalg.schur", data, "found = scipy.linalg.schur(A)", product, "scipy"),
        side("numpy eigh of iA", data, "found = algebra.planes_by_hand(A)", turned, "numpy"),
    ]
    return Comparison(what=f"Schur, {n:,} agents", sides=sides, quality=left, again=True, series="Schur", size=n)


def five_planes(n: int) -> Comparison:
    """Return the five leading planes of a structured population."""
    data = f"A = algebra.structured({n})"
    sides = [side("nashboard", data, "found = nb.schur(A, k=5)", "found.residual")]
    theirs = "float(np.linalg.norm(1j * (A @ found[1]) - found[1] * found[0], axis=0).max() / found[0].max())"
    sides.append(side("scipy eigsh of iA", data, "found = algebra.leading(A, 5)", theirs, "scipy"))
    if n <= 2000:
        theirs = "algebra.error(A @ found[2][:10].T, found[0][:, :10] * found[1][:10])"
        sides.append(side("numpy.linalg.svd", data, "found = np.linalg.svd(A)", theirs, "numpy"))
    return Comparison(
        what=f"five planes, {n:,} agents", sides=sides, quality=left, again=True, series="five planes", size=n
    )


def of_table(m: int, n: int) -> Comparison:
    """Return the latent decomposition of a table of scores."""
    data = f"S = np.random.default_rng(0).normal(size=({m}, {n}))\nnb.latent(np.eye(80)), np.linalg.svd(np.eye(80))"
    svd = "found = np.linalg.svd(S, full_matrices=False)"
    whole = "algebra.error(found[0] + found[1][:, None] - found[2] + found[3] * found[4] @ found[5], S)"
    sides = [
        side("nashboard", data, "found = nb.latent(S)", "algebra.error(found.reconstruct(), S)"),
        side("numpy, the same output", data, "found = algebra.latent_by_hand(S)", whole, "numpy"),
        side("numpy, without signs", data, "found = algebra.latent_by_hand(S, signs=False)", whole, "numpy"),
        side("numpy.linalg.svd alone", data, svd, "algebra.error(found[0] * found[1] @ found[2], S)", "numpy"),
    ]
    return Comparison(what=f"latent, {m:,} x {n:,}", sides=sides, quality=left, again=True)


def strongest(n: int) -> Comparison:
    """Return the strongest cycle of three, which the curl tensor has as its largest entry."""
    sides = [
        side("nashboard", f"h = nb.hodge(algebra.noise({n}))", "found = h.cycles(1, closed=False)", "found[0].curl"),
        side("the curl tensor", f"A = algebra.noise({n})", "found = nb.curl(A).max()", "float(found)"),
    ]
    return Comparison(
        what=f"strongest cycle, {n:,} agents",
        sides=sides,
        quality=lambda curl, ours: (f"curl {curl:.6f}", abs(curl - ours) < 1e-9 * abs(ours)),
    )


def hodge_ratings(n: int, p: int) -> Comparison:
    """Return the least-squares ratings of an incomplete league; lsqr gets its matrix and right-hand side ready made."""
    data = f"matches = algebra.random_matches({n}, {p})\nh = nb.hodge(matches)\nG, b = algebra.gradient_of(h.flow)\n"
    lsqr = "found = lsqr(G, b, atol=1e-13, btol=1e-13)[0]"
    sides = [
        side("nashboard", data, "found = nb.hodge(matches).ratings", "algebra.unsolved(G, b, found)"),
        side(
            "scipy lsqr",
            data + "from scipy.sparse.linalg import lsqr",
            lsqr,
            "algebra.unsolved(G, b, found)",
            "scipy",
        ),
    ]
    return Comparison(what=f"Hodge ratings, {n:,} agents, {p:,} pairs", sides=sides, quality=left, again=True)


def split(n: int, p: int) -> Comparison:
    """Return all parts of Hodge of an incomplete league: ratings, errors, cycles, what is local and harmonic."""
    setup = f"import time\nmatches = algebra.random_matches({n}, {p})\n"
    setup += "small = nb.hodge(algebra.random_matches(30, 100))\nsmall.stderr, small.cycles(), small.harmonic\n"
    code = "clock = [time.perf_counter()]\nh = nb.hodge(matches)\nclock.append(time.perf_counter())\n"
    for step in ("h.stderr", "h.cycles()", "h.harmonic"):
        code += f"{step}\nclock.append(time.perf_counter())\n"
    after = "[np.diff(clock).tolist(), [h.transitivity, h.local_share, h.harmonic_share]]"
    return Comparison(
        what=f"Hodge, all parts, {n:,} agents, {p:,} pairs",
        sides=[side("nashboard", setup, code.strip(), after)],
        quality=parts,
        series="Hodge, all parts",
        size=p,
        limit=200.0,
    )


def left(error: float, _: float) -> tuple[str, bool]:
    """Say the error that a side leaves, relative to the size of the data."""
    return f"error {error:.0e}", error < 1e-6


def parts(answer: Any, _: Any) -> tuple[str, bool]:
    """Say which part takes how long, and the shares that were found."""
    took = ", ".join(f"{name} {seconds:.2g} s" for name, seconds in zip(PARTS, answer[0], strict=True))
    return f"{took}; ratings/local/harmonic {' / '.join(f'{share:.2f}' for share in answer[1])}", True


def comparisons(size: Size, folder: Path) -> Iterator[Comparison]:
    """Yield the decompositions, small and large."""
    small, full = size == "small", size == "full"
    for n in (50, 200, 800) if full else (200,) if small else (8,):
        yield all_planes(n)
    for n in (200, 500, 1000, 2000, 4000) if full else (200, 1000) if small else (30,):
        yield five_planes(n)
    for m, n in ((20, 54), (200, 500), (1000, 1000)) if full else ((20, 54), (200, 500)) if small else ((4, 5),):
        yield of_table(m, n)
    for n in (100, 300, 600) if full else (100,) if small else (8,):
        yield strongest(n)
    leagues = ((1000, 20_000), (3000, 100_000), (10_000, 1_000_000))
    for n, p in leagues if full else leagues[:1] if small else ((20, 60),):
        yield hodge_ratings(n, p)
    for p in (100_000, 300_000, 1_000_000) if full else (100_000,) if small else (200,):
        yield split(10_000 if size != "tiny" else 40, p)


SECTION = Section(
    name="algebra",
    title="Decompositions and Hodge ratings",
    about="Cyclic planes (the Schur decomposition of payoffs), latent skills, cycles, and ratings by least squares. "
    "One thread for all sides. lsqr gets its sparse matrix ready made, while ours starts from the matches. "
    "eigsh, lsqr and *numpy, the same output* return what ours returns. The others return less: weak planes from eigh "
    "of iA are not orthonormal, svd of payoffs has no planes, and of a table (*alone*) no averages and no signs; on "
    "small sizes these take less time than ours. *error*: what a side leaves, relative to the size of the data. "
    "All parts of Hodge: ratings, standard errors, the strongest cycles, and the split into local and harmonic.",
    comparisons=comparisons,
)
