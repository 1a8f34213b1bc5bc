"""The command run in the process of the tests: a new one takes seconds to import what it needs."""

import io
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout

from nashboard.cli.app import main

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def run(
    *arguments: str, code: int | tuple[int, ...] = 0, out: io.StringIO | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run the command with these arguments, and require an exit code, or one of several."""
    words = ["nashboard", *arguments]
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
