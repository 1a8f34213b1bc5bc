"""The real command in a process of its own, and the one sentence it says where it cannot go on."""

import subprocess
import sys
from typing import Any


def run(
    *words: str, program: tuple[str, ...] = ("-m", "nashboard"), **options: Any
) -> "subprocess.CompletedProcess[str]":
    """Run Python with such a program, words and options of `subprocess.run`; keep all it prints and says."""
    known = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 300}
    done: subprocess.CompletedProcess[str] = subprocess.run([sys.executable, *program, *words], **(known | options))
    return done


def sentence(done: "subprocess.CompletedProcess[str]", *, after_others: bool = False) -> str:
    """Return the only line on standard error; or the last and the only one of ours, after progress and warnings."""
    lines = done.stderr.splitlines()
    assert lines, "nothing was said"
    assert lines[-1].startswith("nashboard: "), done.stderr
    assert done.stderr.endswith("\n")
    assert "Traceback" not in done.stderr
    ours = [line for line in lines if line.startswith("nashboard: ")] if after_others else lines
    assert len(ours) == 1, done.stderr
    return ours[0]
