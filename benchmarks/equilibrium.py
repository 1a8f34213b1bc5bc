"""Equilibria: nashboard against general solvers, speed and quality side by side.

    python benchmarks/equilibrium.py            the table, and docs/benchmarks/equilibrium.md
    python benchmarks/equilibrium.py --large    also the games that no peer finishes
    python benchmarks/equilibrium.py --only table

Each row measures everybody in one run, in turns, and shows the median; a peer that takes longer than the
limit (``--limit`` seconds) is stopped and shown as such. *gain* is what the best deviation gains relative
to the largest payoff; the smallest weight shows who returns negative ones.
"""

import argparse
import contextlib
import multiprocessing as mp
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equilibrium_peers as peers
import numpy as np
from numpy.typing import NDArray

import nashboard as nb
from nashboard.equilibrium.batch import nash_averages
from nashboard.equilibrium.models import RatingsModel

Array = NDArray[np.float64]
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "equilibrium.md"


@dataclass(frozen=True)
class Case:
    """A game, how we solve it, who else does, and how often everybody is timed."""

    name: str
    make: Callable[[], Any]
    ours: Callable[[Any], Any]
    others: dict[str, Callable[[Any], Any]]
    quality: Callable[[Any, Any], tuple[float, float]]
    kind: str


def dense(n: int) -> Array:
    A = np.random.default_rng(n).normal(size=(n, n))
    return A - A.T


def model(n: int) -> RatingsModel:
    rng = np.random.default_rng(n)
    return RatingsModel.from_arrays(200 * rng.normal(size=n), 12 * rng.normal(size=(n, 10)))


def realistic(n: int) -> Array:
    """Ratings, five cyclic planes and five per cent of noise."""
    everybody = np.arange(n)
    A = model(n).block(everybody, everybody)
    noise = np.random.default_rng(n + 1).standard_normal(size=(n, n))
    noise *= 0.05 * np.abs(A[:100]).mean()
    A += noise
    A -= noise.T
    return A


def resampled(games: int, n: int = 50) -> Array:
    """Log-odds of a hundred games per pair, drawn again and again from one population."""
    rng = np.random.default_rng(0)
    P = 1 / (1 + np.exp(-realistic(n) / 174))
    wins = rng.binomial(100, P, size=(games, n, n))
    L = np.triu(np.log(wins + 0.5) - np.log(100.5 - wins), 1)
    return np.asarray(L - L.transpose(0, 2, 1))


def table(m: int, n: int) -> Array:
    return np.random.default_rng(m * n).random((m, n))


def of_weights(A: Any, x: Any) -> tuple[float, float]:
    """What the best deviation gains, relative to the largest payoff, and the smallest weight."""
    x = x.weights if hasattr(x, "weights") else x
    return float((A @ x).max() / np.abs(A).max()), float(x.min())


def of_model(A: RatingsModel, result: Any) -> tuple[float, float]:
    return float(result.averages.max() / result.scale), float(result.weights.min())


def of_stack(A: Array, x: Any) -> tuple[float, float]:
    weights = x.weights if hasattr(x, "weights") else np.array(x)
    scale = np.abs(A).max(axis=(1, 2))[: len(weights)]
    gains = (A[: len(weights)] @ weights[..., None])[..., 0].max(axis=1)
    return float((gains / scale).max()), float(weights.min())


def of_scores(S: Array, x: Any) -> tuple[float, float]:
    p, q = (x.agent_weights, x.task_weights) if hasattr(x, "agent_weights") else x
    return float((S @ q).max() - (S.T @ p).min()) / float(np.ptp(S)), float(min(p.min(), q.min()))


ALL: dict[str, Callable[[Array], Any]] = {
    "cvxpy": peers.convex_program,
    "HiGHS simplex": peers.highs_simplex,
    "HiGHS interior point": peers.highs_interior,
    "nashpy": peers.nashpy_program,
}
CONVEX = {"cvxpy": peers.convex_program}
TABLE = {
    "cvxpy, a constraint per pair": peers.convex_program_of_pairs,
    "cvxpy, a constraint per player": peers.convex_program_of_sides,
    "HiGHS": peers.highs_of_scores,
}


def one_by_one(stack: Array) -> list[Array]:
    """A loop over cvxpy; a tenth of the games, or it would take all day."""
    return [peers.convex_program(A) for A in stack[: len(stack) // 20]]


def cases(large: bool) -> list[Case]:
    rows = [
        Case(f"dense {n}", lambda n=n: dense(n), nb.nash_average, ALL, of_weights, "dense")
        for n in (100, 200, 500, 1000)
    ]
    rows += [
        Case(f"realistic {n}", lambda n=n: realistic(n), nb.nash_average, CONVEX, of_weights, "realistic")
        for n in (1000, 2000)
    ]
    shapes = ((20, 54), (100, 100), (1000, 1000))
    rows += [
        Case(
            f"table {m} x {n}",
            lambda m=m, n=n: table(m, n),
            nb.nash_average_scores,
            TABLE,
            of_scores,
            "table",
        )
        for m, n in shapes
    ]
    rows.append(
        Case(
            "1,000 resampled games of 50",
            lambda: resampled(1000),
            nash_averages,
            {"cvxpy in a loop (x 20)": one_by_one},
            of_stack,
            "stack",
        )
    )
    if large:
        rows += [
            Case(f"realistic {n:,}", lambda n=n: realistic(n), nb.nash_average, {}, of_weights, "large")
            for n in (5000, 20_000)
        ]
        rows.append(Case("dense 5,000", lambda: dense(5000), nb.nash_average, {}, of_weights, "large"))
        rows.append(
            Case(
                "table 300 x 100,000",
                lambda: table(300, 100_000),
                nb.nash_average_scores,
                {},
                of_scores,
                "large",
            )
        )
        rows.append(Case("model of 1,000,000", lambda: model(1_000_000), nb.nash_average, {}, of_model, "large"))
    return rows


def timed(solve: Callable[[Any], Any], game: Any) -> tuple[float, Any]:
    began = time.perf_counter()
    answer = solve(game)
    return time.perf_counter() - began, answer


def in_child(
    solve: Callable[[Any], Any], case: Case, game: Any, limit: float
) -> tuple[float, tuple[float, float]] | None:
    """Time a peer in a child process, and stop it at the limit."""
    ends = mp.Pipe(duplex=False)

    def work() -> None:
        seconds, answer = timed(solve, game)
        ends[1].send((seconds, case.quality(game, answer)))

    child = mp.get_context("fork").Process(target=work)
    child.start()
    found = ends[0].recv() if ends[0].poll(limit) else None
    child.kill()
    child.join()
    return found


CIRCLE = np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]])
TINY: dict[str, Any] = {"dense": CIRCLE, "realistic": CIRCLE, "table": CIRCLE + 1, "stack": np.stack([CIRCLE] * 20)}


def measured(case: Case, limit: float, repeats: int) -> list[tuple[str, ...]]:
    game = case.make()
    case.ours(game)  # libraries loaded, pages touched
    for solve in case.others.values():
        with contextlib.suppress(Exception):
            solve(TINY[case.kind])  # the same for the peers, before their children are made
    mine: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in case.others}
    quality: dict[str, tuple[float, float]] = {}
    stopped: set[str] = set()
    for _ in range(repeats if case.others else 1):
        seconds, answer = timed(case.ours, game)
        mine.append(seconds)
        for name, solve in case.others.items():
            if name in stopped or sum(theirs[name]) > limit / 2:
                continue
            found = in_child(solve, case, game, limit)
            if found is None:
                stopped.add(name)
            else:
                theirs[name].append(found[0] * (20 if "x 20" in name else 1))
                quality[name] = found[1]
    own = statistics.median(mine)
    gain, least = case.quality(game, answer)
    rows = [(case.name, "nashboard", f"{own:.3g} s", "", f"{gain:.0e}", f"{least:.0e}")]
    for name in case.others:
        if theirs[name]:
            gain, least = quality[name]
            median = statistics.median(theirs[name])
            rows.append(("", name, f"{median:.3g} s", f"{median / own:,.0f}", f"{gain:.0e}", f"{least:.0e}"))
        else:
            rows.append(("", name, f"over {limit:g} s", f"over {limit / own:,.0f}", "", ""))
    return rows


def written(rows: list[tuple[str, ...]]) -> str:
    head = ("game", "solver", "median time", "times ours", "gain of the best deviation", "smallest weight")
    lines = ["| " + " | ".join(row) + " |" for row in (head, ("---", "---", "---:", "---:", "---:", "---:"), *rows)]
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    python = f"Python {platform.python_version()}, numpy {np.__version__}"
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {python}"
    return (
        "# Equilibria: speed and quality\n\n"
        "Written by `python benchmarks/equilibrium.py`; do not edit. All solvers of a row were timed in the "
        "same run, in turns. nashboard's times include the maximum-entropy choice and both certificates; "
        "HiGHS and nashpy return any equilibrium.\n\n"
        f"Machine: {machine}; load average at the end {load}.\n\n" + "\n".join(lines) + "\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="also the games that no peer finishes")
    parser.add_argument("--limit", type=float, default=90.0, help="stop a peer after so many seconds")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", help="dense, realistic, table, stack or large")
    arguments = parser.parse_args()
    peers.require_peers()
    rows: list[tuple[str, ...]] = []
    for case in cases(arguments.large or arguments.only == "large"):
        if arguments.only in (None, case.kind):
            new = measured(case, arguments.limit, arguments.repeats)
            rows += new
            for row in new:
                print(
                    "  ".join(f"{cell:>{width}}" for cell, width in zip(row, (28, 32, 12, 12, 10, 10), strict=True)),
                    flush=True,
                )
    if arguments.only is None:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(written(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
