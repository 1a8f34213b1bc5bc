"""Kill long commands at random moments, and look at what they leave.

    python tests/faults/kill.py --times 200

Every command is run whole once, which tells how long it takes. Then it is started again and again on the same data and
killed after a random part of that time: by SIGKILL mostly, which nothing can catch, by Ctrl-C and by SIGTERM. After
each kill the output must be the old one, the new one or none; a state must load; and no more temporary files may be
left than one run makes. A last whole run must remove them all.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from nashboard.ratings.online import load

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
MOST_FOLDERS = 2  # temporary folders that one run makes
# Commands write for an instant of their time; this one writes nearly all of it, so that kills fall into writing.
SAVES = """
import nashboard as nb, polars as pl
model = nb.OnlineMelo(2, rng=0)
names = [f"agent {k}" for k in range(20_000)]
model.update_many(pl.DataFrame({"model_a": names, "model_b": names[1:] + names[:1], "winner": "tie"}))
for _ in range(150):
    model.save("saved.npz")
"""
OLD = "what stood there before\n"


@dataclass(frozen=True)
class Victim:
    """A long command, what it writes, and what tells that this is whole."""

    name: str
    arguments: tuple[str, ...]
    output: str
    whole: Callable[[Path], None]
    resumes: bool = False
    program: tuple[str, ...] = ("-m", "nashboard")


@dataclass
class Tally:
    """What was found after the kills of one command."""

    seconds: float
    found: Counter[str] = field(default_factory=Counter)
    codes: Counter[int] = field(default_factory=Counter)


def is_json(path: Path) -> None:
    """Raise an error unless this is a whole evaluation."""
    assert json.loads(path.read_text(encoding="utf-8"))["schema"]


def is_page(path: Path) -> None:
    """Raise an error unless this is a whole page."""
    assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")


def is_league(path: Path) -> None:
    """Raise an error unless this is a whole league."""
    load(path)


def victims(folder: Path, rows: int) -> list[Victim]:
    """Write the data, and return the commands."""
    rng = np.random.default_rng(0)
    names = pl.Series([f"agent {k:02d}" for k in range(30)])
    a = rng.integers(0, 30, rows)
    log = pl.DataFrame(
        {
            "model_a": names.gather(a),
            "model_b": names.gather((a + rng.integers(1, 30, rows)) % 30),
            "winner": pl.Series(["model_a", "model_b", "tie"]).gather(rng.integers(0, 3, rows)),
        }
    )
    log.write_csv(folder / "log.csv")
    subprocess.run(["gzip", "-kf1", "log.csv"], cwd=folder, check=True)
    return [
        Victim("evaluate", ("evaluate", "log.csv.gz", "--resamples", "48", "-o", "board.json"), "board.json", is_json),
        Victim("evaluate scores", ("evaluate", "dataset:atari", "-o", "board.html"), "board.html", is_page),
        Victim("online", ("online", "log.csv", "--k", "1", "--state", "league.npz"), "league.npz", is_league, True),
        Victim("saving", (), "saved.npz", is_league, program=("-c", SAVES)),
    ]


def started(victim: Victim, folder: Path) -> "subprocess.Popen[bytes]":
    """Start a command, with a temporary folder of its own."""
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    environment = os.environ | {"TMPDIR": str(temporary), "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, *victim.program, *victim.arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def left_behind(victim: Victim, folder: Path) -> tuple[int, int]:
    """Return how many unfinished outputs and temporary folders are there."""
    parts = list(folder.glob(f".{victim.output}.*.part"))
    return len(parts), len(list((folder / "temporary").glob("nashboard-*")))


def whole_run(victim: Victim, folder: Path) -> float:
    """Run a command to its end; return the seconds it took."""
    begin = time.monotonic()
    code = started(victim, folder).wait(timeout=600)
    assert code == 0, f"{victim.name} ends with {code}"
    victim.whole(folder / victim.output)
    return time.monotonic() - begin


def killed(victim: Victim, folder: Path, tally: Tally, rng: random.Random, whole: bytes) -> None:
    """Start a command, kill it at a random moment, and look at what is there."""
    output = folder / victim.output
    if not victim.resumes:
        output.write_text(OLD)
    elif output.exists() and output.read_bytes() == whole:
        tally.found["finished in the end, the same to the last byte"] += 1
        output.unlink()
    process = started(victim, folder)
    time.sleep(rng.uniform(0, tally.seconds))
    number = rng.choice(SIGNALS)
    process.send_signal(number)
    tally.codes[process.wait(timeout=120)] += 1
    parts, folders = left_behind(victim, folder)
    assert parts <= 1, f"{victim.name}: {parts} unfinished outputs are left"
    assert folders <= MOST_FOLDERS, f"{victim.name}: {folders} temporary folders are left"
    if not output.exists():
        assert victim.resumes, f"{victim.name}: the old output is gone"
        tally.found["nothing yet"] += 1
    elif not victim.resumes and output.read_bytes() == OLD.encode():
        tally.found["the old output"] += 1
    else:
        victim.whole(output)
        tally.found["a whole output"] += 1
    tally.found["with an unfinished part beside it"] += parts


def kill_all(times: int, rows: int, seed: int = 0) -> dict[str, Tally]:
    """Kill each command so many times, in turn; return what was found."""
    rng = random.Random(seed)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a child must not inherit that it is ignored
    with tempfile.TemporaryDirectory(prefix="killed-") as root:
        folder = Path(root)
        chosen = victims(folder, rows)
        whole_run(chosen[0], folder)  # compiled code is kept for the next run
        tallies, whole = {}, {}
        for victim in chosen:
            tallies[victim.name] = Tally(seconds=whole_run(victim, folder))
            whole[victim.name] = (folder / victim.output).read_bytes()
        for k in range(times):
            victim = chosen[k % len(chosen)]
            killed(victim, folder, tallies[victim.name], rng, whole[victim.name])
        for victim in chosen:
            whole_run(victim, folder)
            assert left_behind(victim, folder) == (0, 0), f"{victim.name}: a whole run does not sweep"
            assert (folder / victim.output).read_bytes() == whole[victim.name], f"{victim.name}: another answer"
        return tallies


def main() -> None:
    """Kill as often as asked, and tell what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--rows", type=int, default=3_000_000, help="of the log")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for name, tally in kill_all(given.times, given.rows, given.seed).items():
        codes = ", ".join(f"{code}: {n}" for code, n in sorted(tally.codes.items()))
        print(f"{name}: {sum(tally.codes.values())} kills within {tally.seconds:.1f} s; exit codes {codes}")
        for what, number in tally.found.most_common():
            print(f"  {number:4} x {what}")


if __name__ == "__main__":
    main()
