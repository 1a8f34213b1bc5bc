"""The ``nashboard`` command.

Data goes to standard output, messages to standard error. Exit code 0 done, 1 failed, 2 wrong use or wrong input,
3 a condition of ``--fail-on`` is true, 130 stopped by Ctrl-C, 141 closed pipe, 143 terminated. Commands are in the
files beside this one; nothing heavy is imported until a command runs.
"""

import functools
import inspect
import signal
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperCommand
from typer.models import OptionInfo

from nashboard._progress import Progress
from nashboard._version import __version__
from nashboard.cli.audit import audit, reduce, stress
from nashboard.cli.decide import changes, compare, exposure, influence, plan, sprt, voters
from nashboard.cli.evaluate import evaluate, paper, report
from nashboard.cli.inspect import datasets, hodge, latent
from nashboard.cli.inspect import inspect as inspect_file
from nashboard.cli.options import CONTEXT, Components, Format, Quiet, refuse
from nashboard.cli.output import (
    PIPE_CLOSED,
    Showing,
    check_streams,
    describe_os_error,
    discard_output,
    end_on_signal,
    report_interrupt,
)
from nashboard.cli.rank import methods, nash, rank
from nashboard.cli.ratings import elo, melo, online, predict
from nashboard.cli.reading import TURN, Connecting, Evaluating, Turn, make_spelling
from nashboard.errors import ConvergenceError, InputError, NashboardError, WriteError

EXAMPLES = """\b
Examples:
  nashboard evaluate dataset:atari
  nashboard report battles.parquet -o report.html
  nashboard inspect battles.parquet
  nashboard audit scores.csv
  nashboard stress dataset:rock-paper-scissors
  nashboard compare scores.csv model-a model-b
  nashboard plan battles.parquet --games 500
  nashboard rank dataset:atari --method schulze
  nashboard predict dataset:alphago alpha_v Zen
  nashboard online games.csv --state league.npz
  nashboard paper -o reproduced
"""
COMMANDS: dict[str, Callable[..., None]] = {
    "evaluate": evaluate,
    "report": report,
    "audit": audit,
    "stress": stress,
    "compare": compare,
    "sprt": sprt,
    "plan": plan,
    "changes": changes,
    "influence": influence,
    "voters": voters,
    "exposure": exposure,
    "reduce": reduce,
    "inspect": inspect_file,
    "rank": rank,
    "methods": methods,
    "nash": nash,
    "elo": elo,
    "melo": melo,
    "predict": predict,
    "online": online,
    "hodge": hodge,
    "latent": latent,
    "datasets": datasets,
    "paper": paper,
}

app = typer.Typer(
    help="Leaderboards that redundant entries cannot move and that noise does not decide.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def complete_command(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with what all commands have in common.

    These are ``--quiet``, the file of ``-o``, errors that spell options as they are typed, and a normal end when a pipe
    is closed.
    """
    signature = inspect.signature(command)
    groups: dict[str, Any] = {
        name: one.annotation for name, one in signature.parameters.items() if is_dataclass(one.annotation)
    }

    @functools.wraps(command)
    def run(*, context: typer.Context, quiet: bool, **values: Any) -> None:
        CONTEXT.set(context)
        Progress.quiet = quiet
        for group, kind in groups.items():
            values[group] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        showing = next((value for value in values.values() if isinstance(value, Showing)), Showing())
        try:
            with showing.write_output():
                run_for_each_group(command, values, showing)
            sys.stdout.flush()  # at exit of Python a failure would print a traceback
        except NashboardError as error:
            error.args = (error.render(make_spelling(taken)), *error.args[1:])
            raise
        except KeyboardInterrupt:
            raise typer.Exit(report_interrupt()) from None
        except BrokenPipeError:  # as in `nashboard ... | head`
            discard_output()
            raise typer.Exit(PIPE_CLOSED) from None

    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("context", kind, annotation=typer.Context),
        *(one for parameter in signature.parameters.values() for one in expand_parameter(parameter)),
        inspect.Parameter("quiet", kind, default=False, annotation=Quiet),
    ]
    for parameter in parameters:
        name_number(parameter.annotation)
    taken = [parameter.name for parameter in parameters]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined] # unknown to mypy
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def run_for_each_group(command: Callable[..., None], values: dict[str, Any], showing: Showing) -> None:
    """Run a command: once, or with ``--components each`` once for each group that never met another."""
    turn = Turn()
    TURN.set(turn)
    connecting = next((value for value in values.values() if isinstance(value, Connecting)), Connecting())
    each = connecting.components is Components.each and not isinstance(connecting, Evaluating)
    if each and showing.format in (Format.json, Format.csv):
        raise InputError(f"--components each prints several results, and {showing.format} contains one: use text or md")
    if each:
        refuse(("anchor",), "groups that never met have no common scale")
    while turn.number < turn.count:
        command(**values)
        turn.number += 1


def expand_parameter(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    """Return a parameter as an option; a dataclass becomes one option per field."""
    kind = inspect.Parameter.KEYWORD_ONLY
    if not is_dataclass(parameter.annotation):
        return [parameter.replace(kind=kind)]
    return [
        inspect.Parameter(field.name, kind, default=field.default, annotation=field.type)
        for field in fields(parameter.annotation)
    ]


def name_number(annotation: Any) -> None:
    """Name the value of an option in its help; Typer would show a Python type, such as ``<int range>``."""
    kind, option = (*get_args(annotation), None, None)[:2]
    if isinstance(option, OptionInfo) and option.metavar is None:
        option.metavar = next((name for one, name in METAVARS.items() if one in (kind, *get_args(kind))), None)


METAVARS = {int: "N", float: "NUMBER", str: "TEXT", list[str]: "NAME", Path: "FILE"}


class Command(TyperCommand):
    """A command whose errors on values of options are for users; those of pydantic are for programmers."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options; an error says what the value must be."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            reason = error.message.removeprefix("Value error, ").partition(", unable to parse")[0]
            error.message = reason.replace("Input should be", "it must be")
            raise


for name, function in COMMANDS.items():
    app.command(name, cls=Command)(complete_command(function))


def print_version(asked: bool) -> None:
    """Print the version and stop."""
    if asked:
        typer.echo(f"nashboard {__version__}")
        raise typer.Exit


@app.callback()
def read_global_options(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Read the options before a command."""


@functools.cache
def build_commands() -> Callable[[], None]:
    """Return all commands with their options; they are built once per process."""
    return typer.main.get_command(app)


def main() -> None:
    """Run the command; an error becomes one sentence and an exit code."""
    signal.signal(signal.SIGTERM, end_on_signal)
    check_streams()
    try:
        build_commands()()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # from a help text
            discard_output()
            sys.exit(PIPE_CLOSED)
        raise
    except NashboardError as error:
        typer.echo(f"nashboard: {error}", err=True)
        sys.exit(1 if isinstance(error, ConvergenceError | WriteError) else 2)
    except KeyboardInterrupt:
        sys.exit(report_interrupt())
    except OSError as error:
        typer.echo(f"nashboard: {describe_os_error(error)}", err=True)
        sys.exit(1)
    except MemoryError:
        typer.echo("nashboard: not enough memory for this input", err=True)
        sys.exit(1)
