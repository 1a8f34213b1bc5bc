"""Standard output and standard error: closed pipes, full disks, Ctrl-C, and what native code prints.

Exit codes are the shell's own for signals: 130 for Ctrl-C, 141 for a closed pipe, 143 for a request to terminate.
"""

import contextlib
import io
import os
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

import typer

INTERRUPTED, PIPE_CLOSED, TERMINATED = 130, 141, 143


def check_streams() -> None:
    """Make standard output and standard error usable, or exit: either may be closed, and output unbuffered."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - as long as the process lives
    if sys.stdout is None:
        typer.echo("nashboard: standard output is closed", err=True)
        sys.exit(1)
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):  # unbuffered, a short write would be lost
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(sys.stdout.buffer), sys.stdout.encoding, write_through=False)


def report_interrupt() -> int:
    """Print that Ctrl-C stopped the command; return the exit code."""
    warnings.simplefilter("ignore")  # joblib would still warn of unfinished tasks,
    threading.excepthook = lambda failure: None  # and its threads of lost workers
    typer.echo("nashboard: stopped", err=True)
    return INTERRUPTED


def discard_output() -> None:
    """Redirect standard output to nowhere, so that its buffer does not fail a second time when Python ends."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def describe_refusal(error: OSError) -> str:
    """Return one sentence about what the system refused: the output, a temporary file, or another file."""
    from nashboard._files import ELSEWHERE, NO_FOLDER, describe_no_temporary_folder

    reason = " ".join((error.strerror or str(error)).split())
    if output_failed(error):
        return f"cannot print the result: {reason}"
    if NO_FOLDER in reason:
        return describe_no_temporary_folder(error)
    if error.filename is None:
        return f"the operating system reports an error: {reason}"
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
    told = f"cannot use {name!r}: {reason}"
    with contextlib.suppress(OSError):
        if Path(name).is_relative_to(tempfile.gettempdir()):
            told += f"; {ELSEWHERE}"
    return told


def output_failed(error: OSError) -> bool:
    """Say whether writing to standard output failed; short output is still in its buffer."""
    printing = any(frame.f_code is typer.echo.__code__ for frame, _ in traceback.walk_tb(error.__traceback__))
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        return True
    finally:
        discard_output()
    return printing


@contextlib.contextmanager
def without_native_noise() -> Iterator[None]:
    """Hide what native code writes to standard error if the block ends in an error of our own.

    Rust prints a panic at length before it becomes an exception, which becomes one sentence. What Python writes to
    standard error is not affected; what native code writes in a block that succeeds is printed afterwards.
    """
    from nashboard.errors import NashboardError

    try:
        place, kept = sys.stderr.fileno(), tempfile.TemporaryFile()  # noqa: SIM115 - closed below
    except (OSError, ValueError, AttributeError):  # not a file, or no temporary file can be made
        yield
        return
    sys.stderr.flush()
    real, python = os.dup(place), sys.stderr
    try:
        with kept as noise, open(real, "w", buffering=1, closefd=False) as speaking:
            os.dup2(noise.fileno(), place)
            sys.stderr = speaking
            ours = False
            try:
                yield
            except NashboardError:
                ours = True
                raise
            finally:
                sys.stderr = python
                os.dup2(real, place)
                if not ours:
                    noise.seek(0)
                    if said := noise.read():
                        os.write(real, said)
    finally:
        os.close(real)
