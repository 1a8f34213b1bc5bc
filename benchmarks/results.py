"""What was measured, in ``SECTION.json`` of each version's folder: every row with its date, machine and versions."""

import datetime
import functools
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from nashboard._files import write_text

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"  # of the full version
SMALL = ROOT / "out" / "benchmarks"
ALWAYS = ("nashboard", "numpy", "scipy", "polars")
Row = dict[str, Any]


def interpreter(environment: str) -> str:
    """Return the Python of an environment: of this one, or of a peer that needs versions of its own."""
    return str(ROOT / f".venv-{environment}" / "bin" / "python") if environment else sys.executable


@functools.cache
def version(package: str, environment: str = "") -> str:
    """Return a package and its version in an environment."""
    code = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"
    try:
        done = subprocess.run([interpreter(environment), "-c", code, package], capture_output=True, text=True)
    except OSError:
        return f"{package} (not installed)"
    return f"{package} {done.stdout.strip() or '(not installed)'}"


@functools.cache
def machine() -> str:
    """Return what the results are measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    named = (entry.partition(": ")[2] for entry in lines if entry.startswith("model name"))
    held = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{next(named, platform.machine())}, {os.cpu_count()} cores, {held:.0f} GB, "
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    )


def commit() -> str:
    """Return the project's commit, with a plus where its source or benchmarks differ from it; nothing where none is."""
    git = ["git", "--no-optional-locks", "-C", str(ROOT)]
    try:
        found = subprocess.run(
            [*git, "rev-parse", "--show-toplevel", "--short", "HEAD"], capture_output=True, text=True
        )
        top, _, short = found.stdout.strip().partition("\n")
        if found.returncode or Path(top) != ROOT.resolve():  # in somebody else's repository
            return ""
        # a run itself writes the results
        paths = ["src", "benchmarks", ":(exclude)benchmarks/results"]
        changed = subprocess.run([*git, "status", "--porcelain", "--", *paths], capture_output=True, text=True)
    except OSError:
        return ""
    return short + ("+" if changed.stdout else "")


def circumstances() -> Row:
    """Return when and on what something is measured, and how busy the machine is with other work."""
    return {
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "load": round(os.getloadavg()[0], 1),
        "versions": [version(package) for package in ALWAYS],
    }


def read(path: Path) -> Row:
    """Return a section's results; an empty section where there are none."""
    found: Row = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"rows": []}
    return found


def save(path: Path, head: Row, rows: list[Row]) -> None:
    """Put rows into their section's file, whole or not at all; rows of other tasks stay, with their own date."""
    new: dict[str, list[Row]] = {}
    for row in rows:
        new.setdefault(row["what"], []).append(row)
    kept: dict[str, list[Row]] = {}
    for row in read(path)["rows"]:
        kept.setdefault(row["what"], []).append(row)
    write(path, head, [row for some in (kept | new).values() for row in some])


def write(path: Path, head: Row, rows: list[Row]) -> None:
    """Write a section's file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(head | {"rows": rows}, indent=1, ensure_ascii=False) + "\n"
    write_text(path, text)
