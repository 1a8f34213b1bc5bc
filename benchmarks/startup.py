"""How long it takes until anything can begin: ``import nashboard``, ``nashboard --help``, beside Python and numpy.

python benchmarks/startup.py [repeats]
"""

import sys

from harness import Side, compared, save

SETUP = "import subprocess, sys"


def started(*arguments: str) -> str:
    """Return code that starts Python with these arguments."""
    return f"answer = subprocess.run([sys.executable, *{list(arguments)!r}], stdout=subprocess.DEVNULL).returncode"


def main() -> None:
    """Measure and keep."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    sides = [
        Side(name="import nashboard", setup=SETUP, code=started("-c", "import nashboard")),
        Side(name="nashboard --help", setup=SETUP, code=started("-m", "nashboard", "--help")),
        Side(name="nashboard datasets", setup=SETUP, code=started("-m", "nashboard", "datasets")),
        Side(name="Python alone", setup=SETUP, code=started("-c", "pass"), package="numpy"),
        Side(name="import numpy", setup=SETUP, code=started("-c", "import numpy"), package="numpy"),
        Side(name="import polars", setup=SETUP, code=started("-c", "import polars"), package="polars"),
    ]
    rows = compared("a new process", sides, repeats=repeats, quality=lambda code, _: (f"exit {code}", code == 0))
    about = "Seconds of a whole new process. Public names are imported when they are first used."
    save("startup", "Start-up", about, rows)


if __name__ == "__main__":
    main()
