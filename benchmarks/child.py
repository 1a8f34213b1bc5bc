"""A side of a comparison in a process of its own, watched from outside: seconds, processor seconds, memory, limits.

The child says when its timed part begins and ends, and waits each time until the watcher has taken note. The watcher
adds up the anonymous and shared memory of the child and of everything that it started, and stops all of them when they
take too long or too much. Memory means what the processes need for themselves: pages of mapped files (libraries, a
parquet file), which the system may drop at any time, are not counted.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

HERE = Path(__file__).parent
EVERY = 0.02  # seconds between two looks at the memory
SEARCH = 5  # new processes of the group are searched for at every fifth look
PREPARING = 300.0  # seconds for what is not timed
QUICK = 0.3  # a call that takes less is timed again, up to twice as long
TICKS = os.sysconf("SC_CLK_TCK")
# The first call of several is not counted. prctl: where the watcher is killed, the child dies with it.
SCRIPT = """
import json, os, resource, statistics, sys, time
if sys.platform == "linux":
    import ctypes
    ctypes.CDLL(None).prctl(1, 9)
sys.path.insert(0, {here!r})

def _say(**said):
    os.write({channel}, (json.dumps(said) + "\\n").encode())

def _wait(moment, **said):
    _say(moment=moment, **said)
    sys.stdin.readline()

def _worked():
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time(), ended.ru_utime + ended.ru_stime

{setup}
_wait("begin")
_times = []
_began = time.perf_counter()
while not _times or ({again} and _times[0][0] < {quick} and time.perf_counter() - _began < 2 * {quick}):
    _own, _others = _worked()
    _start = time.perf_counter()
{code}
    _seconds = time.perf_counter() - _start
    _ended = _worked()
    _times.append((_seconds, _ended[0] - _own, _ended[1] - _others))
_counted = _times[1:] or _times
_wait("end", times=[statistics.median(some) for some in zip(*_counted, strict=True)], calls=len(_times))
{after}
_say(moment="answer", answer=answer)
"""


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one run took; memory in MB, NaN where the system does not tell it."""

    seconds: float
    cpu: float
    peak: float
    new: float
    answer: Any


class SideError(Exception):
    """A side gave no answer; ``hopeless`` when a larger task would be in vain, too."""

    def __init__(self, said: str, *, hopeless: bool = False, limit: float | None = None) -> None:
        super().__init__(said)
        self.hopeless = hopeless
        self.limit = limit


@dataclass(kw_only=True)
class Watched:
    """The child and its processes: what they hold now, the most they held, and how long each worked."""

    leader: int
    members: frozenset[int] = frozenset()
    looks: int = 0
    now: float = float("nan")
    peak: float = float("nan")
    before: float = float("nan")

    def look(self) -> None:
        """Add up the memory of all processes; search for new ones now and then."""
        if self.looks % SEARCH == 0:
            self.members = group(self.leader)
        self.looks += 1
        held = [memory(pid) for pid in self.members]
        self.now = sum(held) if held else float("nan")
        self.peak = self.now if not self.now <= self.peak else self.peak

    def restart(self) -> None:
        """Forget the most that was held so far: now the timed part begins."""
        self.looks = 0
        self.peak = float("nan")
        self.look()
        self.before = self.now


def group(leader: int) -> frozenset[int]:
    """Return the living processes of a group."""
    found = set()
    with contextlib.suppress(OSError):
        for entry in os.scandir("/proc"):
            if entry.name.isdigit() and int(entry.name) >= leader:
                with contextlib.suppress(OSError, ValueError):
                    fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                    if int(fields[2]) == leader and fields[0] not in "ZX":
                        found.add(int(entry.name))
    return frozenset(found)


def memory(pid: int) -> float:
    """Return anonymous and shared memory of a process, in MB; nothing for one that has ended."""
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon", "RssShmem"))) / 1024
    return 0.0


def worked(pid: int) -> float:
    """Return the seconds that a process worked so far."""
    with contextlib.suppress(OSError, ValueError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
    return 0.0


def available() -> float:
    """Return the memory that is free for use, in MB."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("MemAvailable"))
    return float("inf")


def ended(process: subprocess.Popen[str]) -> None:
    """Kill the child and everything that it started, and return when they are gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    until = time.monotonic() + 10
    while group(process.pid) and time.monotonic() < until:
        time.sleep(EVERY)


def run(
    python: str, *, setup: str, code: str, after: str, again: bool, limit: float, preparing: float = PREPARING
) -> Run:
    """Run a side in a fresh process group; raise `SideError` where it fails or is stopped."""
    receiving, sending = os.pipe()
    script = SCRIPT.format(
        here=str(HERE),
        channel=sending,
        setup=setup,
        code=textwrap.indent(code, "    "),
        after=after,
        again=again,
        quick=QUICK,
    )
    with tempfile.TemporaryFile("w+") as errors, os.fdopen(receiving) as channel:
        process = subprocess.Popen(
            [python, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            text=True,
            pass_fds=(sending,),
            start_new_session=True,
        )
        os.close(sending)
        try:
            return watched(process, channel, errors, limit, preparing)
        finally:
            ended(process)
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()


def watched(process: subprocess.Popen[str], channel: IO[str], errors: IO[str], limit: float, preparing: float) -> Run:
    """Follow a child to its answer."""
    seen = Watched(leader=process.pid)
    most = 0.9 * available()
    began, allowed, moment = time.monotonic(), preparing, "start"
    others: dict[int, float] = {}
    took: dict[str, Any] = {}
    while True:
        if select.select([channel], [], [], EVERY)[0]:
            line = channel.readline()
            if not line:  # it closed the channel: it is ending
                process.wait()
                raise SideError(f"fails: {last_line(errors, process.returncode)}")
            said = json.loads(line)
            began, moment = time.monotonic(), said["moment"]
            if moment == "answer":
                seconds, inside, children = took["times"]
                return Run(
                    seconds=seconds,
                    cpu=inside + max(children, took["outside"] / took["calls"]),
                    peak=seen.peak,
                    new=max(0.0, seen.peak - seen.before),
                    answer=said["answer"],
                )
            if moment == "begin":
                allowed = limit
                seen.restart()
                others = {pid: worked(pid) for pid in seen.members}
            else:
                allowed = preparing
                seen.looks = 0
                seen.look()
                living = seen.members - {process.pid}  # workers that are kept for later are not waited for
                took = said | {"outside": sum(worked(pid) - others.get(pid, 0.0) for pid in living)}
            process.stdin.write("\n")
            process.stdin.flush()
        elif process.poll() is not None:
            raise SideError(f"fails: {last_line(errors, process.returncode)}")
        if moment in ("start", "begin"):
            seen.look()
        if seen.now > most:
            raise SideError(f"over {most / 1024:.0f} GB of memory", hopeless=True)
        if time.monotonic() - began > allowed:
            if moment == "begin":
                raise SideError(f"over {limit:g} s", hopeless=True, limit=limit)
            raise SideError(f"over {allowed:g} s before or after what is timed", hopeless=True)


def last_line(errors: IO[str], code: int | None) -> str:
    """Return what a child that failed said last."""
    errors.seek(0)
    said = [line for line in errors.read().strip().splitlines() if line.strip()]
    return said[-1].strip()[:160] if said else f"exit code {code}"
