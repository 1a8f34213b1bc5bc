"""One way to measure: us and the peers in one run, in turns, each in a fresh process; medians, spread and ratios.

A side is some Python that sets ``answer``; its imports and data are prepared in ``setup``, which is not timed. The
child tells its seconds, its peak memory and the answer. A side that raises, answers wrongly or takes longer than the
limit is reported as such, with its version. Results go to ``results/SECTION.json``; ``page.py`` makes the page of them.
"""

import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from nashboard.data.write import atomically

RESULTS = Path(__file__).parent / "results"
CHILD = """
import json, resource, sys, time
sys.path.insert(0, {here!r})
{setup}
began = time.perf_counter()
{code}
seconds = time.perf_counter() - began
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024
peak = max(peak, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
print("\\n" + json.dumps([seconds, peak, answer]))
"""


@dataclass(frozen=True, kw_only=True)
class Side:
    """One program of a comparison: the package it belongs to, what it prepares, and what is timed."""

    name: str
    code: str
    setup: str = ""
    package: str = "nashboard"


def version(package: str) -> str:
    """Return the version of a package in this environment."""
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"{package} (not installed)"


def once(side: Side, limit: float) -> tuple[float, float, Any] | str:
    """Run a side in a fresh process; return seconds, peak MB and its answer, or what went wrong."""
    script = CHILD.format(here=str(Path(__file__).parent), setup=side.setup, code=side.code)
    try:
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"over {limit:g} s"
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return f"fails: {last[:120]}"
    seconds, peak, answer = json.loads(done.stdout.strip().splitlines()[-1])
    return seconds, peak, answer


def compared(
    what: str,
    sides: list[Side],
    *,
    repeats: int,
    limit: float = 300.0,
    quality: Callable[[Any, Any], tuple[str, bool]] | None = None,
) -> list[dict[str, Any]]:
    """Measure all sides in turns; the first is ours, and ratios are to it.

    ``quality`` says how far an answer is from ours, and whether that is right.
    """
    runs: dict[str, list[tuple[float, float, Any]]] = {side.name: [] for side in sides}
    failed: dict[str, str] = {}
    for _ in range(repeats):
        for side in sides:
            if side.name in failed:
                continue
            found = once(side, limit)
            if isinstance(found, str):
                failed[side.name] = found
            else:
                runs[side.name].append(found)
    ours = runs[sides[0].name]
    rows = []
    for side in sides:
        row: dict[str, Any] = {"what": what, "who": side.name, "version": version(side.package)}
        if side.name in failed:
            rows.append(row | {"failed": failed[side.name]})
        elif not ours:  # we failed: the other's time stands alone
            seconds = sorted(run[0] for run in runs[side.name])
            rows.append(row | {"failed": f"{statistics.median(seconds):.3g} s, no measure of our own"})
        else:
            seconds = sorted(run[0] for run in runs[side.name])
            pairs = sorted(run[0] / own[0] for run, own in zip(runs[side.name], ours, strict=False))
            said, right = quality(runs[side.name][-1][2], ours[-1][2]) if quality else ("", True)
            rows.append(
                row
                | {
                    "ratio": statistics.median(seconds) / statistics.median(run[0] for run in ours),
                    "ratios": [pairs[0], pairs[-1]],
                    "seconds": statistics.median(seconds),
                    "spread": [seconds[0], seconds[-1]],
                    "peak MB": statistics.median(run[1] for run in runs[side.name]),
                    "quality": said if right else f"WRONG: {said}",
                    "repeats": len(seconds),
                }
            )
        print(line(rows[-1]), flush=True)
    return rows


def line(row: dict[str, Any]) -> str:
    """Return a row as a line of text."""
    head = f"{row['what']:44} {row['who']:28}"
    if "failed" in row:
        return f"{head} {row['failed']} ({row['version']})"
    least, most = row["ratios"]
    return (
        f"{head} {row['ratio']:8.2f} x ours ({least:.2f} to {most:.2f}) {row['seconds']:9.3f} s "
        f"{row['peak MB']:7.0f} MB  {row['quality']}"
    )


def machine() -> str:
    """Return what the results were measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    named = (entry.partition(": ")[2] for entry in lines if entry.startswith("model name"))
    processor = next(named, platform.machine())
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    return f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}; load average at the end {load}"


def save(section: str, title: str, about: str, rows: list[dict[str, Any]]) -> None:
    """Keep the rows of a section, whole or not at all; rows of other sizes stay, with their own date."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{section}.json"
    packages = sorted({"nashboard", "numpy", "polars"} | {row["version"].partition(" ")[0] for row in rows})
    run = {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "versions": [version(package) for package in packages],
    }
    before = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    new = {row["what"] for row in rows}
    kept = [row for row in before if row["what"] not in new]
    content = {"title": title, "about": about, "rows": [*kept, *(row | {"run": run} for row in rows)]}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    atomically(path, lambda part: part.write_text(text, encoding="utf-8"))
