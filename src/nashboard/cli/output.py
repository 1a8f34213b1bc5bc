"""Output of all commands: coloured tables on a terminal, plain ones in a pipe, formats for machines; broken streams.

Exit codes are the shell's own for signals: 130 for Ctrl-C, 141 for a closed pipe, 143 for a request to terminate.
"""

import contextlib
import io
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import typer

from nashboard._progress import Progress
from nashboard._tables import MACHINE_FORMATS, Table, as_plain_text
from nashboard._text import either
from nashboard.cli import options
from nashboard.cli.options import ROWS, Format, refuse
from nashboard.errors import InputError

FORMATS = {".json": Format.json, ".csv": Format.csv, ".md": Format.md, ".tex": Format.latex, ".txt": Format.text}


@dataclass(frozen=True, kw_only=True)
class Showing:
    """The options for the format of the output and its file, as one parameter of a command."""

    how: options.FormatOption = None
    output: options.OutputOption = None

    @property
    def top(self) -> int | None:
        """The number of rows of ``--top``; None for commands without this option."""
        return None

    @property
    def format(self) -> Format:
        """The format of the output; one that contradicts the ending of the file is an error."""
        if self.output is None:
            return self.how or Format.text
        meant = FORMATS.get(self.output.suffix.lower())
        if self.how is not None and meant is not self.how:
            ending = next(ending for ending, meant in FORMATS.items() if meant is self.how)
            raise InputError(
                f"-o {str(self.output)!r} and --format {self.how} contradict each other: the ending of the file "
                f"decides; leave --format out, or write {str(self.output.with_suffix(ending))!r}"
            )
        if meant is None:
            raise InputError(f"cannot write {str(self.output)!r}: the name must end in {either(FORMATS)}")
        return meant

    def show(
        self,
        *tables: Table,
        json: tuple[dict[str, Any], str] | None = None,
        sentences: Iterable[str] = (),
        notes: Iterable[str] = (),
    ) -> None:
        """Print sentences, tables and notes as text; or the first table, or all as json with its schema tag."""
        if self.format is Format.json and json is not None:
            print_json(*json)
            return
        if self.format is Format.text:
            print_sections(sentences, map(self.shorten, tables), notes)
            return
        print_table(tables[0] if self.top is None else tables[0].head(self.top), self.format)
        for sentence in sentences:  # standard output contains only the table
            print_note(sentence)

    def shorten(self, table: Table) -> Table:
        """Return the rows that fit a screen, with a note on how to see more."""
        return table

    @contextlib.contextmanager
    def write_output(self) -> Iterator[None]:
        """Write the output of the block to the file, if there is one; a wrong file is an error before the work."""
        if self.format is Format.json:
            refuse(("top",), "json contains all rows")
        if self.output is None:
            yield
            return
        from nashboard._files import check_place, write_text

        check_place(self.output)
        text = io.StringIO()
        try:
            with contextlib.redirect_stdout(text):
                yield
        finally:  # also if a condition of --fail-on ends the command
            if text.getvalue():
                write_text(self.output, text.getvalue())
                print_note(f"Wrote {str(self.output)!r}.")


@dataclass(frozen=True, kw_only=True)
class Listing(Showing):
    """The same options for a table that may be long, with ``--top``."""

    top: options.Top = None

    def shorten(self, table: Table) -> Table:
        """Return the first rows of a long table."""
        return shorten_table(table, self.top, f"--top {len(table.rows)} shows all")


def shorten_table(table: Table, top: int | None, how: str) -> Table:
    """Return the rows that are asked for, or the first of a long table, with a note on how to see more."""
    most = top or ROWS
    if len(table.rows) <= most + (top is None) * 5:  # a few more rows are shorter than the note
        return table
    left = f"... {len(table.rows) - most:,} more: {how}"
    return replace(table, rows=table.rows[:most], notes=(left, *table.notes))


def print_table(table: Table, how: Format = Format.text, *, explained: bool = False) -> None:
    """Print a table to standard output; ``explained`` adds the meanings of its columns to text."""
    if how is not Format.text:
        typer.echo(MACHINE_FORMATS[how](table), nl=False)
    elif sys.stdout.isatty():
        from rich.console import Console

        from nashboard._tables import as_terminal_table

        console = Console()
        console.print(as_terminal_table(table, console.width, explained=explained))
    else:
        typer.echo(as_plain_text(table.with_meanings() if explained else table))


def print_text(text: str, *, err: bool = False) -> None:
    """Print sentences; on a terminal lines end between words."""
    if not (sys.stderr if err else sys.stdout).isatty():
        typer.echo(text, err=err)
        return
    from rich.console import Console
    from rich.text import Text

    Console(stderr=err).print(Text(text))


def print_message(message: str) -> None:
    """Print a message to standard error."""
    print_text(message, err=True)


def print_note(message: str) -> None:
    """Print a note to standard error, unless ``--quiet`` was given."""
    if not Progress.quiet:
        print_message(message)


def print_sections(sentences: Iterable[str], tables: Iterable[Table], notes: Iterable[str] = ()) -> None:
    """Print sentences, then tables, then notes, to standard output, with an empty line between them."""
    parts: list[str | Table] = ["\n".join(sentences), *tables, "\n".join(notes)]
    for k, part in enumerate(part for part in parts if part):
        if k:
            typer.echo("")
        if isinstance(part, Table):
            print_table(part, explained=True)
        else:
            print_text(part)


def print_json(content: dict[str, Any], schema: str) -> None:
    """Print an object as json, with a schema tag such as ``nashboard/nash/1`` in front."""
    tagged = {"schema": f"nashboard/{schema}", **content}
    typer.echo(json.dumps(tagged, indent=2, ensure_ascii=False, allow_nan=False), nl=True)


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
    typer.echo("nashboard: stopped", err=True)
    return INTERRUPTED


def end_on_signal(*_: object) -> NoReturn:
    """Handle SIGTERM as a normal exit, so that temporary files are removed."""
    sys.exit(TERMINATED)


def discard_output() -> None:
    """Redirect standard output to the null device, so that flushing it does not fail again at exit."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def describe_os_error(error: OSError) -> str:
    """Return one sentence about an error of the system: with the output, a temporary file, or another file."""
    from nashboard._files import ELSEWHERE, NO_FOLDER, describe_no_temporary_folder

    reason = " ".join((error.strerror or str(error)).split())
    if output_failed(error):
        return f"cannot print the result: {reason}"
    if NO_FOLDER in reason:
        return describe_no_temporary_folder(error)
    if error.filename is None:
        return f"the operating system reports an error: {reason}"
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
    message = f"cannot use {name!r}: {reason}"
    with contextlib.suppress(OSError):
        if Path(name).is_relative_to(tempfile.gettempdir()):
            message += f"; {ELSEWHERE}"
    return message


def output_failed(error: OSError) -> bool:
    """Return whether writing to standard output failed; short output may still be in its buffer."""
    printing = any(frame.f_code is typer.echo.__code__ for frame, _ in traceback.walk_tb(error.__traceback__))
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        return True
    finally:
        discard_output()
    return printing


@contextlib.contextmanager
def hide_native_errors() -> Iterator[None]:
    """Hide what native code writes to standard error if the block raises an error of nashboard.

    Rust prints a long message for a panic before it becomes an exception. What Python writes to standard error is not
    affected; what native code writes in a block that succeeds is printed afterwards.
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
        with kept as noise, open(real, "w", buffering=1, closefd=False) as stream:
            os.dup2(noise.fileno(), place)
            sys.stderr = stream
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
                    if written := noise.read():
                        os.write(real, written)
    finally:
        os.close(real)
