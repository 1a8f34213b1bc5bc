"""The suite: ``nashboard audit FILE`` checks the evaluation, ``nashboard reduce FILE`` finds a smaller suite."""

from enum import StrEnum
from typing import Annotated

import typer

from nashboard._progress import show_progress
from nashboard._text import either
from nashboard.cli import options
from nashboard.cli.options import (
    LEVEL,
    AsOption,
    FailOn,
    Format,
    FormatOption,
    Level,
    Missing,
    Noise,
    NoiseOption,
    ReadOption,
    SourceArgument,
    exit_if,
    refuse,
)
from nashboard.cli.output import note, show, show_json, show_sections
from nashboard.cli.reading import source_data, whole
from nashboard.errors import InputError


class Shown(StrEnum):
    """What ``--show`` takes."""

    trust = "trust"
    agents = "agents"
    tasks = "tasks"
    alike_agents = "alike-agents"
    alike_tasks = "alike-tasks"
    merged_agents = "merged-agents"
    merged_tasks = "merged-tasks"
    task_quality = "task-quality"
    components = "components"
    cycles = "cycles"
    data = "data"


TABLES = {
    "agents": "important agents",
    "tasks": "important tasks",
    "alike-agents": "alike agents",
    "alike-tasks": "alike tasks",
    "merged-agents": "merged agents",
    "merged-tasks": "merged tasks",
    "task-quality": "tasks",
}


def audit(
    source: SourceArgument,
    connecting: options.Connecting,
    level: Level = LEVEL,
    margin: Annotated[
        float | None,
        typer.Option(help="Smallest difference that matters, as a share of a task's range; 0.05 unless given."),
    ] = None,
    noise: NoiseOption = Noise.model,
    what: Annotated[
        Shown | None, typer.Option("--show", help="The table of csv, md and latex; trust unless given.")
    ] = None,
    missing: Missing = None,
    fail_on: FailOn = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Check the evaluation itself: near-duplicates, decisive entries, task quality, cycles, missing data.

    Missing scores are counted, and the larger complete part is audited, unless --missing is given. --fail-on takes
    failed, open and near-duplicates, and ends with exit code 3.

    \b
    Examples:
      nashboard audit battles.parquet
      nashboard audit dataset:atari --format json
      nashboard audit scores.csv --show alike-tasks --format csv
      nashboard audit scores.csv --fail-on near-duplicates
    """
    from nashboard.evaluation.audit.audit import audit as run
    from nashboard.evaluation.decide.gates import AUDIT, check_names
    from nashboard.evaluation.problem import check_level

    if how in (Format.text, Format.json):
        refuse(("what",), f"{how} contains all tables")
    check_level(level)
    check_names(fail_on or (), AUDIT)
    read_in = source_data(source, as_format, read)  # missing scores are audited too
    data = connecting.keep(read_in if missing is None else whole(read_in, missing))
    with show_progress("Auditing ..."):
        found = run(data, level=level, margin=margin, noise=noise.value)
    tables = found.tables()
    if how is Format.json:
        typer.echo(found.to_json(), nl=False)
    elif how is Format.text:
        show_sections((*found.notes, *found.summary()), found.shown())
    else:
        for line in found.notes:
            note(line)
        asked = what or Shown.trust
        name = TABLES.get(asked.value, asked.value)
        if name not in tables:
            there = [word for word in Shown if TABLES.get(word.value, word.value) in tables]
            raise InputError(f"there is no table {asked.value!r} for these data: use {either(map(str, there))}")
        show(tables[name], how)
    exit_if(found, fail_on, AUDIT)


def reduce(
    source: SourceArgument,
    level: options.Level = options.LEVEL,
    share: Annotated[float, typer.Option(help="Share of the pairs of agents that must be kept.")] = 1.0,
    missing: options.Missing = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Find a small set of tasks or items that keeps the order of the agents, and tasks that add nothing.

    \b
    Examples:
      nashboard reduce dataset:atari
      nashboard reduce items.csv --share 0.95 --format json
    """
    from nashboard.data.scores import Scores
    from nashboard.errors import InputError
    from nashboard.evaluation.decide.suite import reduce_suite

    data = whole(source_data(source, as_format, read), missing)
    if not isinstance(data, Scores):
        raise InputError(f"{source!r} does not contain scores of agents on tasks: there is no suite to reduce")
    with show_progress("Choosing tasks ..."):
        found = reduce_suite(data, level=level, share=share)
    if how is Format.json:
        show_json(found.to_dict(), "reduction/1")
    else:
        show(found.table(), how, explained=True)
