"""How a command ends before its time: Ctrl-C, a pipe that closes, a full disk behind standard output.

Exit codes are the shell's own for signals: 130 for Ctrl-C, 141 where the reader of a pipe has gone, 143 for a request
to terminate.
"""

import contextlib
import functools
import os
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ParamSpec

import typer

INTERRUPTED, PIPE_CLOSED, TERMINATED = 130, 141, 143
Parameters = ParamSpec("Parameters")


def ended_well(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Return a command that says in one line why it ended early."""

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        try:
            command(*args, **kwargs)
            sys.stdout.flush()  # here, not when Python ends: a failure then is a puzzle
        except KeyboardInterrupt:
            raise typer.Exit(stopped()) from None
        except BrokenPipeError:  # as in `nashboard ... | head`
            raise typer.Exit(unread()) from None

    return run


def stopped() -> int:
    """Say that the user stopped the command; return the exit code."""
    warnings.simplefilter("ignore")  # joblib would still tell of the tasks that were given up,
    threading.excepthook = lambda failure: None  # and its threads of the workers that are gone
    typer.echo("nashboard: stopped", err=True)
    return INTERRUPTED


def unread() -> int:
    """Say that nobody reads the output any more; return the exit code."""
    forget_output()
    with contextlib.suppress(BrokenPipeError):  # as in `nashboard ... 2>&1 | head`
        typer.echo("nashboard: whoever read the output has stopped: the rest was not printed", err=True)
    return PIPE_CLOSED


def forget_output() -> None:
    """Let standard output go nowhere, so that what still waits in it fails no second time."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def refused(error: OSError) -> str:
    """Say in one sentence what the system refused: to take the output, to make a temporary file, or to use a file."""
    from nashboard._files import ELSEWHERE, NO_FOLDER, describe_no_temporary_folder

    reason = " ".join((error.strerror or str(error)).split())
    if output_failed(error):
        return f"cannot print the result: {reason}"
    if NO_FOLDER in reason:
        return describe_no_temporary_folder(error)
    if error.filename is None:
        return f"the system refused to go on: {reason}"
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
    told = f"cannot use {name!r}: {reason}"
    with contextlib.suppress(OSError):
        if Path(name).is_relative_to(tempfile.gettempdir()):
            told += f"; {ELSEWHERE}"
    return told


def output_failed(error: OSError) -> bool:
    """Say whether it was standard output that took no more: what is short still waits in it, what is long was lost."""
    printing = any(frame.f_code is typer.echo.__code__ for frame, _ in traceback.walk_tb(error.__traceback__))
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        return True
    finally:
        forget_output()
    return printing


@contextlib.contextmanager
def without_native_noise() -> Iterator[None]:
    """Keep what native code writes to standard error to itself where the block ends in an error of our own.

    Rust tells of a panic at length before it becomes an exception, which becomes one sentence. What Python writes to
    standard error goes on to it; what native code writes in a block that ends well is told afterwards.
    """
    from nashboard.errors import NashboardError

    try:
        place, kept = sys.stderr.fileno(), tempfile.TemporaryFile()  # noqa: SIM115 - closed below
    except (OSError, ValueError, AttributeError):  # no file behind it, or none can be made: rather noise than no answer
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
