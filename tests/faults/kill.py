"""Kill long commands at random moments, and look at what they leave.

    python tests/faults/kill.py --times 200
    python tests/faults/kill.py --times 20 --only paper

Every command is run whole, so that compiled code is kept, and once more, which tells how long it takes. Then it is
started again and again on the same data and killed after a random part of that time: by SIGKILL mostly, which nothing
can catch, by Ctrl-C and by SIGTERM. After each kill the output must be the old one, the new one or none; a state must
load; no more than one unfinished file may be left beside each output (temporary folders are the system's to clean);
and a command that could still speak must have said, besides warnings, progress and what a whole run says too, nothing
or one line (`online` two: what is saved, and how to go on). A last whole run must remove all that is left. With
``--record`` what was found is added to ``tests/long_runs.jsonl``.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]  # the tests import one another by their names there

from faults.victims import VICTIMS, Victim, prepare, write_log  # noqa: E402 - found only after the line above
from long_runs import recorded  # noqa: E402 - as above

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
# How a command may end: killed, or with the code of shells, or done before the signal came.
CODES = {
    signal.SIGKILL: {0, -signal.SIGKILL},
    signal.SIGINT: {0, 130, -signal.SIGINT},
    signal.SIGTERM: {0, 143, -signal.SIGTERM},
}
UNCOUNTED = re.compile("note: |games per second$")  # `online` tells every few seconds how far it is
PART = re.compile(r"\.(.+)\.[0-9a-f]{16}\.part")


@dataclass
class Tally:
    """What was found after the kills of one command, and what a whole run takes and says."""

    seconds: float
    usual: list[str]
    found: Counter[str] = field(default_factory=Counter)
    codes: Counter[int] = field(default_factory=Counter)


def started(victim: Victim, folder: Path) -> "subprocess.Popen[bytes]":
    """Start a command, with a temporary folder of its own."""
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    environment = os.environ | {"TMPDIR": str(temporary), "OPENBLAS_NUM_THREADS": "1"}
    with (folder / "printed").open("wb") as printed, (folder / "said").open("wb") as said:
        return subprocess.Popen(
            [sys.executable, *victim.program, *victim.arguments],
            cwd=folder,
            env=environment,
            stdout=printed,
            stderr=said,
            start_new_session=True,
        )


def parts_in(folder: Path) -> Counter[str]:
    """Return how many unfinished files there are beside each file that a command writes."""
    parts = [(path, PART.fullmatch(path.name)) for path in folder.rglob("*.part")]
    return Counter(str(path.parent / match[1]) for path, match in parts if match)


def said_in(folder: Path) -> list[str]:
    """Return the lines that a command has said, but for warnings and progress."""
    lines = (folder / "said").read_text(errors="replace").splitlines()
    return [line for line in lines if not UNCOUNTED.search(line)]


def whole_run(victim: Victim, folder: Path) -> float:
    """Run a command to its end; return the seconds it took."""
    begin = time.monotonic()
    code = started(victim, folder).wait(timeout=600)
    assert code == 0, f"{victim.name} ends with {code}: {(folder / 'said').read_text()}"
    victim.whole(folder / (victim.output or "printed"))
    victim.beside(folder)
    return time.monotonic() - begin


def killed(victim: Victim, folder: Path, tally: Tally, rng: random.Random, whole: bytes) -> None:
    """Start a command, kill it at a random moment, and look at what is there."""
    output = folder / victim.output if victim.output else None
    if output is not None and victim.old:
        output.write_text(victim.old)
    elif output is not None and output.exists() and output.read_bytes() == whole:
        tally.found["finished in the end, the same to the last byte"] += 1
        output.unlink()
    process = started(victim, folder)
    time.sleep(rng.uniform(0, tally.seconds))
    number = rng.choice(SIGNALS)
    process.send_signal(number)
    code = process.wait(timeout=120)
    tally.codes[code] += 1
    look(victim, folder, tally)
    assert code in CODES[number], f"{victim.name}: {number.name} ends in {code}"
    said = [line for line in said_in(folder) if line not in tally.usual]
    if number is not signal.SIGKILL and code not in (0, -number):
        assert len(said) <= victim.says, f"{victim.name}: {number.name} says {said}"
        assert "Traceback" not in "".join(said), f"{victim.name}: {number.name} says {said}"


def look(victim: Victim, folder: Path, tally: Tally) -> None:
    """Look at what a killed command has left."""
    parts = parts_in(folder)
    assert all(number == 1 for number in parts.values()), f"{victim.name}: more than one unfinished file: {parts}"
    tally.found["with an unfinished part beside it"] += bool(parts)
    victim.beside(folder)
    if not victim.output:  # what is printed goes where the shell says: it is not ours to keep whole
        tally.found["printed" if (folder / "printed").stat().st_size else "nothing printed"] += 1
        return
    output = folder / victim.output
    if not output.exists():
        assert not victim.old, f"{victim.name}: the old output is gone"
        tally.found["nothing yet"] += 1
    elif victim.old and output.read_text(errors="replace") == victim.old:
        tally.found["the old output"] += 1
    else:
        victim.whole(output)
        tally.found["a whole output"] += 1


def kill_all(
    times: int,
    rows: int,
    seed: int = 0,
    chosen: Iterable[Victim] = VICTIMS,
    told: bool = False,
    warm: bool = True,
) -> dict[str, Tally]:
    """Kill the commands in turn, so many times in all; return what was found.

    Unless they are made ``warm`` first, the run that tells how long a command takes may have to compile, too.
    """
    rng, victims = random.Random(seed), list(chosen)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a child must not inherit that it is ignored
    with tempfile.TemporaryDirectory(prefix="killed-", ignore_cleanup_errors=True) as root:
        folders = {victim: Path(root, victim.name) for victim in victims}
        write_log(Path(root, "log.csv"), rows)
        tallies, whole = {}, {}
        for victim, folder in folders.items():
            prepare(victim, folder)
            if warm:
                whole_run(victim, folder)  # compiled code is kept for the next run
                if victim.output and not victim.old:
                    (folder / victim.output).unlink()
            tallies[victim.name] = Tally(seconds=whole_run(victim, folder), usual=said_in(folder))
            whole[victim] = (folder / (victim.output or "printed")).read_bytes()
        for k in range(times):
            victim = victims[k % len(victims)]
            killed(victim, folders[victim], tallies[victim.name], rng, whole[victim])
            if told and k % 20 == 19:
                print(f"{k + 1} kills", flush=True)
        for victim, folder in folders.items():
            whole_run(victim, folder)
            left = parts_in(folder)
            assert not left, f"{victim.name}: a whole run does not remove {left}"
            again = (folder / (victim.output or "printed")).read_bytes()
            assert not victim.same or again == whole[victim], f"{victim.name}: another answer"
        return tallies


def main() -> None:
    """Kill as often as asked, and tell what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--rows", type=int, default=3_000_000, help="of the log")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", choices=[victim.name for victim in VICTIMS])
    parser.add_argument("--record", action="store_true", help="add what was found to the record of long runs")
    given = parser.parse_args()
    chosen = [victim for victim in VICTIMS if not given.only or victim.name in given.only]
    tallies = kill_all(given.times, given.rows, given.seed, chosen, told=True)
    if given.record:
        kills = {name: sum(tally.codes.values()) for name, tally in tallies.items()}
        recorded("kill", kills=kills, found=dict(sum((tally.found for tally in tallies.values()), Counter())))
    for name, tally in tallies.items():
        codes = ", ".join(f"{code}: {n}" for code, n in sorted(tally.codes.items()))
        print(f"{name}: {sum(tally.codes.values())} kills within {tally.seconds:.1f} s; exit codes {codes}")
        for what, number in tally.found.most_common():
            print(f"  {number:4} x {what}")


if __name__ == "__main__":
    main()
