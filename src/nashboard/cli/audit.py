"""``nashboard audit FILE``: how good the evaluation itself is."""

from enum import StrEnum
from typing import Annotated

import typer

from nashboard.cli.output import Format, FormatOption, show, tell, working
from nashboard.cli.reading import AsOption, ReadOption, SourceArgument, source_data, whole


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
    level: Annotated[
        float, typer.Option(help="Chance of error of every test, over all pairs or tasks together.")
    ] = 0.05,
    margin: Annotated[
        float | None, typer.Option(help="How different two must be to matter: win rate at even odds, or scaled score.")
    ] = None,
    what: Annotated[
        Shown, typer.Option("--show", help="The table of csv, md and latex; text and json hold all.")
    ] = Shown.trust,
    missing: Annotated[
        str | None,
        typer.Option(
            metavar="WAY",
            help="Missing scores: drop-agents, drop-tasks, or fill with mean, median or worst; they are counted, and "
            "the larger complete part is looked at, unless given.",
        ),
    ] = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Ask how good the evaluation is: clones, importance, what tasks test, cycles, data, and whether to trust it.

    \b
    Examples:
      nashboard audit battles.parquet
      nashboard audit dataset:atari --format json
      nashboard audit scores.csv --show alike-tasks --format csv
    """
    from nashboard._text import listed
    from nashboard.cli.sections import show_sections
    from nashboard.errors import InputError
    from nashboard.evaluation.audit.audit import audit as run
    from nashboard.evaluation.audit.audit import check_level
    from nashboard.evaluation.comparable import matches_or_scores

    check_level(level)
    read_in = source_data(source, as_format, read)  # holes are audited too, that is what an audit is for
    data = matches_or_scores(read_in if missing is None else whole(read_in, missing), "nashboard audit")
    with working("Looking at it from all sides ..."):
        found = run(data, level=level, margin=margin)
    tables = found.tables()
    if how is Format.json:
        typer.echo(found.to_json(), nl=False)
    elif how is Format.text:
        show_sections((*found.notes, *found.summary()), found.shown())  # first of all what was left out
    else:
        for note in found.notes:
            tell(note)
        name = TABLES.get(what.value, what.value)
        if name not in tables:
            there = [word for word in Shown if TABLES.get(word.value, word.value) in tables]
            raise InputError(
                f"there is nothing to show of {what.value!r} here: there are {listed(map(str, there), 99)}"
            )
        show(tables[name], how)
