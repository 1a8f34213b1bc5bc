"""The command, run in the process of the tests (a new one takes seconds to import what it needs) or in its own."""

import io
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from nashboard.cli.app import main

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def run(
    *arguments: object, code: int | tuple[int, ...] = 0, out: io.StringIO | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run the command with these arguments, and require an exit code, or one of several."""
    words = ["nashboard", *map(str, arguments)]
    out, err = out or io.StringIO(), io.StringIO()
    argv, terminated = sys.argv, signal.getsignal(signal.SIGTERM)  # the command sets its own
    sys.argv = words
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
        found: object = 0
    except SystemExit as end:
        found = end.code or 0
    finally:
        sys.argv = argv
        signal.signal(signal.SIGTERM, terminated)
    assert found in ((code,) if isinstance(code, int) else code), err.getvalue()
    return subprocess.CompletedProcess(words, int(str(found)), out.getvalue(), err.getvalue())


def run_process(
    *words: object, program: tuple[str, ...] = ("-m", "nashboard"), **options: Any
) -> "subprocess.CompletedProcess[str]":
    """Run the command, or another program of Python, in a process of its own; options are those of `subprocess.run`."""
    known = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "timeout": 300}
    command = [sys.executable, *program, *map(str, words)]
    done: subprocess.CompletedProcess[str] = subprocess.run(command, **(known | options))
    return done


def error_sentence(done: "subprocess.CompletedProcess[str]", *, after_others: bool = False) -> str:
    """Return the only line on standard error; or the last and the only one of ours, after progress and warnings."""
    lines = done.stderr.splitlines()
    assert lines, "nothing was said"
    assert lines[-1].startswith("nashboard: "), done.stderr
    assert done.stderr.endswith("\n")
    assert "Traceback" not in done.stderr
    ours = [line for line in lines if line.startswith("nashboard: ")] if after_others else lines
    assert len(ours) == 1, done.stderr
    return ours[0]
