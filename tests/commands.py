"""The command run in the process of the tests: a new one takes seconds to import what it needs."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from nashboard.cli.app import main

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@contextmanager
def in_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Yield what runs the command with these arguments, and asks for an exit code."""
    terminated = signal.getsignal(signal.SIGTERM)  # the command sets its own

    def run(*arguments: str, code: int = 0) -> "subprocess.CompletedProcess[str]":
        words = ["nashboard", *arguments]
        monkeypatch.setattr(sys, "argv", words)
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        assert (stopped.value.code or 0) == code, err
        return subprocess.CompletedProcess(words, code, out, err)

    try:
        yield run
    finally:
        signal.signal(signal.SIGTERM, terminated)
