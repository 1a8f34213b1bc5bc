"""The ``nashboard`` command: what people type.

Data goes to standard output, messages to standard error. Exit code 0 done, 1 failed, 2 wrong use or
wrong input, 130 stopped by Ctrl-C, 141 the reader of a pipe has gone, 143 terminated. Each command is a
file beside this one; nothing heavy is imported until a command runs.
"""

import io
import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from nashboard._version import __version__
from nashboard.cli.audit import audit
from nashboard.cli.datasets import datasets
from nashboard.cli.elo import elo
from nashboard.cli.ending import TERMINATED, ended_well, refused, stopped, unread
from nashboard.cli.evaluate import evaluate
from nashboard.cli.hodge import hodge
from nashboard.cli.inspect import inspect
from nashboard.cli.latent import latent
from nashboard.cli.melo import melo
from nashboard.cli.messages import spell_options
from nashboard.cli.nash import nash
from nashboard.cli.online import online
from nashboard.cli.paper import paper
from nashboard.cli.predict import predict
from nashboard.cli.reading import with_database_options
from nashboard.cli.report import report
from nashboard.cli.stress import stress
from nashboard.errors import ConvergenceError, NashboardError, WorkerError, WriteError

EXAMPLES = """\b
Examples:
  nashboard evaluate dataset:atari
  nashboard report battles.parquet -o report.html
  nashboard inspect battles.parquet
  nashboard audit scores.csv
  nashboard stress dataset:rock-paper-scissors
  nashboard predict dataset:alphago alpha_v Zen
  nashboard online games.csv --state league.npz
  nashboard paper -o reproduced
"""

app = typer.Typer(
    help="Leaderboards that cannot be moved by entering the same agent or task twice.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    evaluate, report, audit, stress, inspect, nash, elo, melo, predict, online, hodge, latent, datasets, paper
)  # fmt: skip
for command in COMMANDS:
    app.command()(ended_well(spell_options(with_database_options(command))))


def print_version(asked: bool) -> None:
    """Print the version and stop."""
    if asked:
        typer.echo(f"nashboard {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def main() -> None:
    """Run the command; turn our own errors into one sentence and the right exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # as any exit: temporary files are removed
    if sys.stderr is None:  # closed by the user: nobody listens
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - as long as the process lives
    if sys.stdout is None:
        typer.echo("nashboard: standard output is closed: there is nowhere to print to", err=True)
        sys.exit(1)
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):  # unbuffered, a short write would be lost
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(sys.stdout.buffer), sys.stdout.encoding, write_through=False)
    try:
        app()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # a help text that nobody reads: typer ends with 1
            sys.exit(unread())
        raise
    except NashboardError as error:
        typer.echo(f"nashboard: {error}", err=True)
        sys.exit(1 if isinstance(error, ConvergenceError | WorkerError | WriteError) else 2)
    except KeyboardInterrupt:
        sys.exit(stopped())
    except OSError as error:
        typer.echo(f"nashboard: {refused(error)}", err=True)
        sys.exit(1)
    except MemoryError:
        typer.echo("nashboard: not enough memory for this input", err=True)
        sys.exit(1)
