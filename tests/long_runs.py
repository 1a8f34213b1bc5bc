"""A record of the long runs that the tests only sample: one line for each, written when it ends."""

import datetime
import json
import platform
import subprocess
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_name("long_runs.jsonl")


def recorded(what: str, path: Path = RECORD, **found: Any) -> None:
    """Add what a run has found, with its date, the commit and the versions it ran on."""
    from nashboard import __version__

    git = ["git", "--no-optional-locks", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+"]
    line = {
        "run": what,
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "nashboard": __version__,
        "commit": subprocess.run(git, capture_output=True, text=True).stdout.strip(),
        "python": platform.python_version(),
        **found,
    }
    with path.open("a", encoding="utf-8") as record:
        record.write(json.dumps(line) + "\n")
