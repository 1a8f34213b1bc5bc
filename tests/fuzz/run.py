"""Read hostile inputs by the million, away from the tests.

    python tests/fuzz/run.py --cases 1000000 --processes 2
    python tests/fuzz/run.py --seconds 3600            as many as an hour allows
    python tests/fuzz/run.py --cases 1 --start 4711    one case again

Three cases of four are damaged files, the fourth is a structured input drawn by hypothesis. A case fails where it ends
in anything but an answer or an error of our own in one sentence, where it takes more than ``--limit`` seconds of CPU
time (or stands still for twenty times as long) or more than ``--memory`` MB, and where the process dies. What failed is
kept in ``--keep``, up to three inputs of a kind, with the stack of a case that hangs. A file on which Polars or DuckDB
ends the process without any code of ours is counted as aborted, not as failed. With ``--record`` what was found is
added to ``tests/long_runs.jsonl``.
"""

import argparse
import contextlib
import faulthandler
import gc
import hashlib
import multiprocessing as mp
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1])]  # the tests import one another by their names there

from fuzz.corpus import Input  # noqa: E402 - found only after the line above
from long_runs import recorded  # noqa: E402 - as above

BATCH = 10_000  # a new process now and then: what one case leaves behind must not decide the next million
KEPT = 3  # inputs of one kind of failure
# Reading a file by its library alone, to tell whose fault it is that a process died.
ALONE = {
    "Polars": (b"PAR1", 0, "import polars, sys; polars.read_parquet(sys.argv[1])"),
    "DuckDB": (
        b"DUCK",
        8,
        "import duckdb, sys; duckdb.connect(sys.argv[1], read_only=True).execute('select * from log').fetchall()",
    ),
}
ABORTS = "ends the process without nashboard"
PATIENCE = 20  # times the limit that a case may take by the clock: on a busy machine others have the CPU


@dataclass
class Limits:
    """What one case may take."""

    seconds: float
    megabytes: int
    keep: Path


@dataclass
class Worker:
    """A process that reads a batch of cases, and how far it is."""

    process: Any
    at: Any  # numbers in shared memory
    began: Any  # when the case began by the clock, 0 between cases: drawing an input is not reading it
    spent: Any  # CPU time of the process at that moment
    refused: Any
    folder: Path
    start: int
    count: int


def memory(field: str) -> int:
    """Return a size of this process in MB, as the kernel tells it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(field))) >> 10


def forget_peak() -> int:
    """Let the highest memory start anew; return it, in MB: what is used now, or the highest so far where that fails."""
    with contextlib.suppress(OSError):  # not every kernel or container lets a process do this
        Path("/proc/self/clear_refs").write_text("5")  # otherwise a case hides behind a larger one before it
    return memory("VmHWM")


def keep(files: Path, limits: Limits, why: str, told: str) -> None:
    """Keep an input that failed, beside what is known of the failure."""
    folder = limits.keep / f"{hashlib.sha256(why.encode()).hexdigest()[:10]}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "why.txt").write_text(told, encoding="utf-8", errors="replace")
    kept = len([entry for entry in folder.iterdir() if entry.is_dir()])
    if kept < KEPT and files.exists():
        shutil.copytree(files, folder / str(kept), dirs_exist_ok=True)
    with (limits.keep / "failures.txt").open("a", encoding="utf-8", errors="replace") as log:
        log.write(f"{folder.name} {why}\n")


def kind_of_failure(error: BaseException) -> str:
    """Name a failure by its type and by the last place in our own code, so that a million are told apart."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "nashboard" in frame.filename] or list(frames)
    return f"{type(error).__name__} {Path(ours[-1].filename).name}:{ours[-1].lineno} {str(error)[:60]!r}"


def describe_death(files: Path, exit_code: int) -> str:
    """Return how a process died, and of which library if that dies on the same file alone."""
    for path in files.rglob("*"):
        head = path.read_bytes()[:16] if path.is_file() else b""
        for library, (mark, at, code) in ALONE.items():
            if head[at : at + len(mark)] == mark:
                done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True)
                if done.returncode < 0:
                    return f"{library} {ABORTS}"
    return f"died with {exit_code}"


def cpu_time(pid: int) -> float:
    """Return the CPU seconds that a process has taken so far."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def hangs(worker: Worker, limit: float) -> bool:
    """Return whether the case of a worker takes too much CPU time, or stands still."""
    began, spent = worker.began.value, worker.spent.value
    if not began:
        return False
    return bool(cpu_time(worker.process.pid) - spent > limit or time.monotonic() - began > PATIENCE * limit)


def end_hanging(worker: Worker) -> str:
    """Kill a worker that hangs; return where it was."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(worker.process.pid, signal.SIGUSR1)
        time.sleep(2)
    worker.process.kill()
    stack = worker.folder.with_suffix(".stack")
    return stack.read_text(encoding="utf-8", errors="replace") if stack.exists() else "no stack"


def work(start: int, count: int, folder: str, limits: Limits, at: Any, began: Any, spent: Any, refused: Any) -> None:
    """Read the cases start, start + 1, ...; every number tells its case."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what native code says before it raises
    faulthandler.register(signal.SIGUSR1, file=Path(folder).with_suffix(".stack").open("w"))
    os.environ["POLARS_MAX_THREADS"] = "1"  # small files: threads would only wait for each other
    from hypothesis import HealthCheck, Phase, given, seed, settings

    from fuzz.mutations import damaged
    from fuzz.surviving import ENTRIES, entry_for, survive
    from fuzz.tables import structured

    place = Path(folder)
    parent = mp.parent_process()

    def attempt(files: Input, entry: str, number: int) -> None:
        if parent is not None and not parent.is_alive():  # killed: nobody reads what we find
            os._exit(1)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        before = forget_peak()
        spent.value, began.value = time.process_time(), time.monotonic()
        try:
            refused.value += not survive(files, entry, place)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            told = f"case {number}, {entry}\n\n" + "".join(traceback.format_exception(error))
            keep(place / "input", limits, kind_of_failure(error), told)
        finally:
            began.value = 0
        if (took := time.process_time() - spent.value) > limits.seconds:  # it ended before anybody looked
            keep(place / "input", limits, "hang", f"case {number}, {entry}: {took:,.1f} s of CPU")
        if (grown := memory("VmHWM") - before) > limits.megabytes:
            keep(place / "input", limits, f"memory {entry}", f"case {number}, {entry}: {grown:,} MB more")
        at.value += 1

    for entry in ENTRIES:  # imports and compiled code are neither the first case's memory nor its time
        with contextlib.suppress(Exception):
            survive(damaged(0), entry, place / entry)
    gc.collect()
    gc.freeze()  # what was imported need not be looked through for garbage again
    most = (memory("VmSize") + 8 * limits.megabytes) << 20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    drawn = count // 4
    for number in range(start, start + count - drawn):
        files = damaged(number)
        attempt(files, entry_for(files, number), number)
    if drawn:
        numbers = iter(range(start + count - drawn, 1 << 62))

        @seed(start)
        @settings(
            max_examples=drawn,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            derandomize=False,
        )
        @given(structured)
        def draw(files: Input) -> None:
            number = next(numbers)
            attempt(files, entry_for(files, number), number)

        try:
            draw()
        except Exception as error:  # of the strategies themselves, or of hypothesis
            keep(place / "input", limits, kind_of_failure(error), "".join(traceback.format_exception(error)))


def begin(start: int, count: int, limits: Limits, folder: Path) -> Worker:
    """Start a worker."""
    context = mp.get_context("spawn")  # native threads do not survive a fork
    # without locks: a worker that is killed while it holds one would stop us for good
    at, began, spent, refused = (context.Value(kind, 0, lock=False) for kind in "qddq")
    target: Callable[..., None] = work
    process = context.Process(target=target, args=(start, count, str(folder), limits, at, began, spent, refused))
    process.start()
    return Worker(process, at, began, spent, refused, folder, start, count)


def main() -> int:
    """Run the workers batch by batch; return 1 where anything failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1 << 40)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for one case")
    parser.add_argument("--memory", type=int, default=512, help="MB for one case")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("--record", action="store_true", help="add what was found to the record of long runs")
    given = parser.parse_args()
    limits = Limits(given.limit, given.memory, given.keep)
    given.keep.mkdir(parents=True, exist_ok=True)
    (given.keep / "failures.txt").touch()
    next_start, end, done, refused = given.start, given.start + given.cases, 0, 0
    began, told = time.monotonic(), time.monotonic()
    workers: list[Worker] = []
    with tempfile.TemporaryDirectory(prefix="fuzz-") as root:
        while workers or (next_start < end and time.monotonic() - began < given.seconds):
            while len(workers) < given.processes and next_start < end and time.monotonic() - began < given.seconds:
                count = min(BATCH, end - next_start)
                workers.append(begin(next_start, count, limits, Path(root, str(next_start))))
                next_start += count
            time.sleep(0.1)
            for worker in list(workers):
                hanging = worker.process.is_alive() and hangs(worker, limits.seconds)
                late = time.monotonic() - began > given.seconds
                if worker.process.is_alive() and not hanging and not late:
                    continue
                stack = end_hanging(worker) if hanging else ""
                if late and worker.process.is_alive():  # the time is up: what was read counts
                    worker.process.kill()
                worker.process.join()
                workers.remove(worker)
                read = worker.at.value
                if worker.process.exitcode and (hanging or not late):
                    if not (hanging and not worker.began.value):  # it may have ended meanwhile, and told so itself
                        dead = worker.folder / "input", worker.process.exitcode
                        why = "hang" if hanging else describe_death(*dead)
                        told_why = f"{why} after {read} cases of the batch at {worker.start}"
                        keep(worker.folder / "input", limits, why, f"{told_why}\n\n{stack}")
                        read += 1
                    if (left := worker.count - read) > 0 and read < worker.count - worker.count // 4:
                        workers.append(begin(worker.start + read, left, limits, Path(root, str(worker.start + read))))
                done, refused = done + min(read, worker.count), refused + worker.refused.value
                shutil.rmtree(worker.folder, ignore_errors=True)
            if time.monotonic() - told > 60:
                told = time.monotonic()
                running = sum(worker.at.value for worker in workers), sum(worker.refused.value for worker in workers)
                report(given.keep, done + running[0], refused + running[1], told - began)
    seconds = time.monotonic() - began
    if given.record:
        failures = (given.keep / "failures.txt").read_text(encoding="utf-8").splitlines()
        aborted = sum(ABORTS in why for why in failures)
        recorded(
            "fuzz",
            first=given.start,
            cases=done,
            refused=refused,
            failed=len(failures) - aborted,
            aborted=aborted,
            seconds=round(seconds),
            processes=given.processes,
        )
    return report(given.keep, done, refused, seconds)


def report(kept: Path, done: int, refused: int, seconds: float) -> int:
    """Say how far the run is; return 1 where anything failed."""
    failures = Counter((kept / "failures.txt").read_text(encoding="utf-8").splitlines())
    print(f"{done:,} cases in {seconds:,.0f} s, {refused:,} refused, {sum(failures.values()):,} failed", flush=True)
    for why, number in failures.most_common(40):
        print(f"  {number:,} x {why}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
