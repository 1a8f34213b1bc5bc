"""How long it takes until anything can begin: ``import nashboard``, ``nashboard --help``, beside Python and numpy."""

from collections.abc import Iterator
from pathlib import Path

from harness import Comparison, Section, Side, Size

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


SECTION = Section(
    name="startup",
    title="Start-up",
    about="Seconds of a whole new process, which does nothing else; public names of nashboard are imported when they "
    "are first used. The compiled loops are those of online ratings, with the import of numba.",
    comparisons=comparisons,
    unit="the first",
)
