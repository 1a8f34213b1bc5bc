"""How long a new process takes: to import, to print help, and to rate, evaluate and report a log of common size."""

from collections.abc import Iterator
from pathlib import Path

import logs
from harness import Comparison, Section, Side, Size

MATCHES, AGENTS = 9_000, 59  # a month of an arena
SETUP = "import os, subprocess, sys, tempfile"
# The loops over games are compiled when they are first needed, and kept on disk; a new folder has nothing.
LOOPS = "from nashboard.online.kernels import filtered, play; filtered.dispatcher, play.dispatcher"


def started(*arguments: str, cache: str = "None") -> str:
    """Return code that starts Python with these arguments."""
    return (
        f"answer = subprocess.run([sys.executable, *{list(arguments)!r}], stdin=subprocess.DEVNULL, "
        f"stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={cache}).returncode"
    )


def ended_well(code: int, _: int) -> tuple[str, bool]:
    return f"exit {code}", code == 0


def comparisons(size: Size, folder: Path) -> Iterator[Comparison]:
    """Yield a new process that does this or that."""
    programs = {
        "Python alone": ("numpy", ("-c", "pass")),
        "import nashboard": ("nashboard", ("-c", "import nashboard")),
        "nashboard --help": ("nashboard", ("-m", "nashboard", "--help")),
        "nashboard datasets": ("nashboard", ("-m", "nashboard", "datasets")),
        "import numpy": ("numpy", ("-c", "import numpy")),
        "import polars": ("polars", ("-c", "import polars")),
        "import pandas": ("pandas", ("-c", "import pandas")),
        "import evalica": ("evalica", ("-c", "import evalica")),
        "import cvxpy": ("cvxpy", ("-c", "import cvxpy")),
        "import sklearn.linear_model": ("scikit-learn", ("-c", "import sklearn.linear_model")),
    }
    sides = [
        Side(name=name, setup=SETUP, code=started(*arguments), package=package)
        for name, (package, arguments) in programs.items()
    ]
    yield Comparison(what="a new process", sides=sides, quality=ended_well, repeats=7)
    caches = {"cached on disk": str(folder / "loops"), "the first time on a machine": None}
    loops = []
    for name, cache in caches.items():
        place = repr(cache) if cache else "tempfile.mkdtemp()"
        setup = f"{SETUP}\nplace = os.environ | {{'NUMBA_CACHE_DIR': {place}}}\n"
        warm = started("-c", LOOPS, cache="place") if cache else ""
        loops.append(Side(name=name, setup=setup + warm, code=started("-c", LOOPS, cache="place")))
    yield Comparison(what="the compiled loops", sides=loops, quality=ended_well)
    log = folder / "log.csv"
    logs.frame(MATCHES, AGENTS).drop("id").write_csv(log)
    commands = {
        "nashboard --help": ("--help",),
        "nashboard elo": ("elo", str(log)),
        "nashboard evaluate": ("evaluate", str(log)),
        "nashboard report": ("report", str(log), "-o", str(folder / "log.html")),
    }
    sides = [Side(name=name, setup=SETUP, code=started("-m", "nashboard", *words)) for name, words in commands.items()]
    yield Comparison(what=f"a csv of {MATCHES:,} matches of {AGENTS} agents", sides=sides, quality=ended_well)


SECTION = Section(
    name="startup",
    title="Start-up",
    about="Seconds of a whole new process, which does nothing else; public names of nashboard are imported when they "
    "are first used. The compiled loops are those of online ratings, with the import of numba. The csv is simulated by "
    "`logs.py`.",
    comparisons=comparisons,
    unit="the first",
)
