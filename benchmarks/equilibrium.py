"""Equilibria: nashboard against general solvers, speed and quality side by side.

    python benchmarks/equilibrium.py            the table, and docs/benchmarks/equilibrium.md
    python benchmarks/equilibrium.py --quick    without the games that no peer finishes
    python benchmarks/equilibrium.py --only table

Each row measures everybody in one run, in turns, each turn in a process of its own that has its libraries
loaded and has solved a small game before; the median of the turns is shown. A quick solver is timed many times
in a turn, after one call that is not counted. A peer whose processor works longer than the limit (``--limit``
seconds) is stopped and shown as such. *gain* is what the best deviation gains relative to the largest payoff;
the smallest weight shows who returns negative ones.
"""

import argparse
import contextlib
import importlib.metadata
import multiprocessing as mp
import os
import platform
import resource
import signal
import statistics
import time
from collections.abc import Callable, Iterator
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
Solver = Callable[[Any], Any]
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "equilibrium.md"
QUICK = 0.3  # seconds for which a quick solver is timed in each turn
PART = 20  # cvxpy in a loop solves one game in so many


@dataclass(frozen=True)
class Case:
    """A game, how we solve it, and who else does."""

    name: str
    kind: str
    make: Callable[[], Any]
    ours: Solver
    others: dict[str, Solver]
    quality: Callable[[Any, Any], tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One solver on one game: median seconds, memory and quality; all but ``cpu`` NaN where it was stopped.

    ``cpu`` are the seconds that all its threads worked, which a busy machine changes less, and the limit where
    that stopped it.
    """

    game: str
    solver: str
    seconds: float
    cpu: float
    turns: int
    gain: float
    least: float
    memory: float
    ours: "Row | None"

    @property
    def ratio(self) -> float:
        """How many times as long as nashboard."""
        return self.seconds / (self.ours or self).seconds

    @property
    def cpu_ratio(self) -> float:
        """How many times as much work as nashboard's; a lower bound where the solver was stopped."""
        return self.cpu / (self.ours or self).cpu


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


ALL: dict[str, Solver] = {
    "cvxpy (OpenSpiel's program)": peers.convex_program,
    "HiGHS simplex": peers.highs_simplex,
    "HiGHS interior point": peers.highs_interior,
    "nashpy": peers.nashpy_program,
}
CONVEX: dict[str, Solver] = {"cvxpy (OpenSpiel's program)": peers.convex_program}
SIDES: dict[str, Solver] = {
    "cvxpy, a constraint per player": peers.convex_program_of_sides,
    "HiGHS": peers.highs_of_scores,
}
TABLE: dict[str, Solver] = {"cvxpy (OpenSpiel's program)": peers.convex_program_of_pairs, **SIDES}


def one_by_one(stack: Array) -> list[Array]:
    """Solve the first games of a stack by cvxpy in a loop; its time is multiplied by ``PART``."""
    return [peers.convex_program(A) for A in stack[: len(stack) // PART]]


def cases(large: bool = True) -> Iterator[Case]:
    """Yield the games of the table, those that no peer finishes last."""
    for n in (100, 200, 500, 1000):
        yield Case(f"dense {n:,}", "dense", lambda n=n: dense(n), nb.nash_average, ALL, of_weights)
    for n in (1000, 2000):
        yield Case(f"realistic {n:,}", "realistic", lambda n=n: realistic(n), nb.nash_average, CONVEX, of_weights)
    for m, n in ((20, 54), (100, 100), (1000, 1000)):
        others = TABLE if m * n < 100_000 else SIDES  # a million constraints would fill the memory first
        yield Case(
            f"table {m:,} x {n:,}", "table", lambda m=m, n=n: table(m, n), nb.nash_average_scores, others, of_scores
        )
    loop: dict[str, Solver] = {"cvxpy in a loop": one_by_one}
    yield Case("1,000 resampled games of 50", "stack", lambda: resampled(1000), nash_averages, loop, of_stack)
    if not large:
        return
    for n in (5000, 20_000):
        yield Case(f"realistic {n:,}", "large", lambda n=n: realistic(n), nb.nash_average, {}, of_weights)
    yield Case("dense 5,000", "large", lambda: dense(5000), nb.nash_average, {}, of_weights)
    yield Case("table 300 x 100,000", "large", lambda: table(300, 100_000), nb.nash_average_scores, {}, of_scores)
    yield Case("model of 1,000,000", "large", lambda: model(1_000_000), nb.nash_average, {}, of_model)


def timed(solve: Solver, game: Any) -> tuple[float, float, Any]:
    """Return seconds, seconds of the processor, and the answer; quick calls are repeated, the first not counted."""
    times: list[tuple[float, float]] = []
    began = time.perf_counter()
    while not times or (times[0][0] < QUICK and time.perf_counter() - began < 2 * QUICK):
        start, start_cpu = time.perf_counter(), time.process_time()
        answer = solve(game)
        times.append((time.perf_counter() - start, time.process_time() - start_cpu))
    seconds, cpu = (statistics.median(some) for some in zip(*(times[1:] or times), strict=True))
    return seconds, cpu, answer


def resident() -> float:
    """Return the largest memory of this process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


class PeerError(Exception):
    """A peer gave up; its own words went to standard error."""


def in_child(solve: Solver, case: Case, game: Any, limit: float) -> tuple[float, ...] | None:
    """Return seconds, those of the processor, gain, smallest weight and memory of a solver that ends in time."""
    receiving, sending = mp.Pipe(duplex=False)

    def work() -> None:
        if solve is not case.ours:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 1))
        before = resident()
        seconds, cpu, answer = timed(solve, game)
        memory = resident() - before
        sending.send((seconds, cpu, *case.quality(game, answer), memory))

    child = mp.get_context("fork").Process(target=work)
    child.start()
    sending.close()
    found: tuple[float, ...] | None = None
    with contextlib.suppress(EOFError):
        found = receiving.recv()
    child.join()
    if found is None and child.exitcode not in (-signal.SIGXCPU, -signal.SIGKILL):
        if solve is case.ours:
            raise SystemExit(f"{case.name}: nashboard failed")
        raise PeerError
    return found


CIRCLE = np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]])
TINY: dict[str, Any] = {"table": CIRCLE + 1, "stack": np.stack([CIRCLE] * PART)}


def measured(case: Case, limit: float, turns: int) -> list[Row]:
    """Time everybody on one game, in turns; nashboard's row is the first."""
    tiny = TINY.get(case.kind, CIRCLE)
    for solve in (nb.nash_average_scores if case.quality is of_scores else nb.nash_average, *case.others.values()):
        with contextlib.suppress(Exception):
            solve(tiny)  # libraries loaded before the children are made
    game = case.make()
    solvers = {"nashboard": case.ours, **case.others}
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in solvers}
    stopped: set[str] = set()
    failed: set[str] = set()
    for _ in range(turns):
        for name, solve in solvers.items():
            spent = sum(turn[1] for turn in found[name])
            if name in stopped | failed or spent > limit / 3:
                continue
            try:
                turn = in_child(solve, case, game, limit)
            except PeerError:
                failed.add(name)
                continue
            if turn is None:
                stopped.add(name)
            else:
                found[name].append(turn)
    rows: list[Row] = []
    for name, several in found.items():
        part = PART if solvers[name] is one_by_one else 1
        stopped_at = (NAN, NAN if name in failed else limit, NAN, NAN, NAN)
        seconds, cpu, *_ = (
            (part * statistics.median(some) for some in zip(*several, strict=True)) if several else stopped_at
        )
        *_, gain, least, memory = several[-1] if several else stopped_at
        rows.append(
            Row(
                game=case.name,
                solver=name,
                seconds=seconds,
                cpu=cpu,
                turns=len(several),
                gain=gain,
                least=least,
                memory=memory,
                ours=rows[0] if rows else None,
            )
        )
    return rows


NAN = float("nan")


def cells(row: Row) -> tuple[str, ...]:
    """Return the row as the page shows it."""
    if np.isnan(row.cpu):
        return row.game, row.solver, "failed", *[""] * 7
    if not row.turns:
        stopped = f"over {row.cpu:g} s", f"over {row.cpu_ratio:,.0f}"
        return row.game, row.solver, "", "", *stopped, "", "", "", ""
    memory = f"{row.memory:.2f}" if row.memory >= 0.01 else ""
    return (
        row.game,
        row.solver,
        duration(row.seconds),
        times(row.ratio) if row.ours else "",
        duration(row.cpu),
        times(row.cpu_ratio) if row.ours else "",
        f"{row.gain:.0e}",
        f"{row.least:.0e}",
        memory,
        str(row.turns),
    )


def duration(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


HEAD = ("game", "solver", "time", "times ours", "CPU", "times ours", "gain", "smallest weight", "GB", "turns")
WIDTHS = (28, 32, 12, 12, 10, 10, 8, 8, 6, 3)


def processor() -> str:
    """Return the name of the processor."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def machine() -> str:
    """Return processor, cores, memory and versions."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    names = ("numpy", "scipy", "cvxpy", "clarabel", "scs", "nashpy")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    return (
        f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()} {platform.machine()}; "
        f"Python {platform.python_version()}, {versions}"
    )


def written(rows: list[Row], load: tuple[float, ...]) -> str:
    """Return the page."""
    lines = [HEAD, ("---", "---", *["---:"] * (len(HEAD) - 2)), *map(cells, rows)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    loads = " and ".join(f"{x:.1f}" for x in (load[0], os.getloadavg()[0]))
    return (
        "# Equilibria: speed and quality\n\n"
        "Written by `make bench` (`benchmarks/equilibrium.py`); do not edit. All solvers of a game were timed in "
        "the same run, in turns, with their libraries loaded and warmed; a time is the median of the turns. "
        "nashboard's times include checking the input, the maximum-entropy choice and both certificates. "
        "HiGHS (through scipy) and nashpy return any equilibrium. OpenSpiel's programs were written again from "
        "their mathematics and include the time in which cvxpy compiles them, as each of its calls does; for "
        "tables that is one constraint per pair of an agent and a task. *CPU*: the time "
        "that the processor worked, which other work on the machine changes less. *gain*: what the best deviation "
        "gains, relative to the largest payoff. *GB*: memory beyond the game itself. The loop over cvxpy solved one "
        f"game in {PART} and its time was multiplied.\n\n"
        f"Machine: {machine()}; load average {loads} at the beginning and the end.\n\n{table}\n"
    )


def measured_rows(*, large: bool = True, limit: float = 90.0, turns: int = 3, only: str | None = None) -> Iterator[Row]:
    """Yield the rows of the table as they are measured; ``only`` names one kind of game."""
    peers.require_peers()
    for case in cases(large):
        if only in (None, case.kind):
            yield from measured(case, limit, turns)


def main() -> None:
    """Measure, print, and write the page unless only a part was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without the games that no peer finishes")
    parser.add_argument("--limit", type=float, default=90.0, help="stop a peer after so many seconds of the processor")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", help="dense, realistic, table, stack or large")
    a = parser.parse_args()
    load, rows = os.getloadavg(), []
    for row in measured_rows(large=not a.quick, limit=a.limit, turns=a.turns, only=a.only):
        print("  ".join(f"{cell:>{w}}" for cell, w in zip(cells(row), WIDTHS, strict=True)), flush=True)
        rows.append(row)
        if a.only is None:  # as far as it goes: an interrupted run leaves what it measured
            PAGE.parent.mkdir(parents=True, exist_ok=True)
            PAGE.write_text(written(rows, load), encoding="utf-8")


if __name__ == "__main__":
    main()
