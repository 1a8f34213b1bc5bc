"""The suite: ``audit FILE`` checks the evaluation, ``stress`` enters copies, ``reduce`` finds a smaller suite."""

from enum import StrEnum
from typing import Annotated

import typer

from nashboard._progress import show_progress
from nashboard._text import either
from nashboard.cli import options
from nashboard.cli.output import Listing, print_note
from nashboard.cli.reading import Connecting, Reading, complete
from nashboard.errors import InputError, check_level

AuditTable = StrEnum(
    "AuditTable",
    {
        "trust": "trust",
        "all": "all",
        "agents": "agents",
        "tasks": "tasks",
        "alike_agents": "alike-agents",
        "alike_tasks": "alike-tasks",
        "merged_agents": "merged-agents",
        "merged_tasks": "merged-tasks",
        "task_quality": "task-quality",
        "components": "components",
        "cycles": "cycles",
        "data": "data",
    },
)


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
    source: options.SourceArgument,
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    level: options.Level = options.LEVEL,
    margin: options.Margin = None,
    noise: options.NoiseOption = options.Noise.model,
    what: Annotated[
        AuditTable, typer.Option("--show", help="The list of checks (trust), a table of details, or all of them.")
    ] = AuditTable.trust,
    missing: options.Missing = None,
    fail_on: options.FailOn = None,
) -> None:
    """Check the evaluation itself.

    Checks are about near-duplicates, decisive entries, task quality, cycles and missing data.
    Checks that failed are listed first, then those that these data cannot decide. Missing scores are counted, and the
    larger complete part is audited, unless --missing is given. --fail-on takes failed, open and near-duplicates, and
    ends with exit code 3.

    \b
    Examples:
      nashboard audit battles.parquet
      nashboard audit dataset:atari --show all
      nashboard audit scores.csv --show alike-tasks -o alike.csv
      nashboard audit scores.csv --fail-on near-duplicates
    """
    from nashboard.evaluation.audit.audit import audit as run

    if listing.format is options.Format.json:
        options.refuse(("what",), "json contains all tables")
    elif what is AuditTable.all and listing.format is not options.Format.text:
        raise InputError(f"--show all is for text: {listing.format} contains one table")
    check_level(level)
    options.check_conditions(fail_on, options.AUDIT)
    source_data = connecting.read(source, reading)  # including missing scores, which are audited
    data = connecting.keep(source_data if missing is None else complete(source_data, missing))
    with show_progress("Auditing ..."):
        found = run(data, level=level, margin=margin, noise=options.value(noise))
    tables = found.tables()
    available = [str(word) for word in AuditTable if TABLES.get(word, word) in tables]
    if what is not AuditTable.all and what not in available:
        raise InputError(f"there is no table {what.value!r} for these data: use {either(available)}")
    for line in found.notes:
        print_note(line)
    selected = list(tables.values()) if what is AuditTable.all else [tables[TABLES.get(what, what)]]
    listing.show(
        *selected,
        json=(found.to_dict(), "audit/1"),
        sentences=found.summary() if what is AuditTable.all else (),
        notes=(f"Details: --show all, or one of {', '.join(available[1:])}.",) if what is AuditTable.trust else (),
    )
    options.exit_if(found, fail_on, options.AUDIT)


def reduce(
    source: options.SourceArgument,
    reading: Reading,
    listing: Listing,
    level: options.Level = options.LEVEL,
    share: Annotated[float, typer.Option(help="Share of the pairs of agents that must be kept.")] = 1.0,
    missing: options.Missing = None,
) -> None:
    """Find a smaller suite that keeps the order of the agents.

    Tasks or items that add nothing to the order are named too.

    \b
    Examples:
      nashboard reduce dataset:atari
      nashboard reduce items.csv --share 0.95 -o kept.csv
    """
    from nashboard.data.scores import Scores
    from nashboard.evaluation.decide.suite import reduce_suite

    data = complete(reading.data(source), missing)
    if not isinstance(data, Scores):
        raise InputError(f"{source!r} does not contain scores of agents on tasks: there is no suite to reduce")
    with show_progress("Choosing tasks ..."):
        found = reduce_suite(data, level=level, share=share)
    listing.show(found.table(), json=(found.to_dict(), "reduction/1"), sentences=[found.sentence])


StressTable = StrEnum("StressTable", ["exact", "attacks", "noisy"])
Cloned = StrEnum("Cloned", ["agents", "tasks"])
Choice = StrEnum("Choice", ["adversary", "random"])


def stress(
    source: options.SourceArgument,
    connecting: Connecting,
    reading: Reading,
    listing: Listing,
    of: Annotated[list[str] | None, typer.Option("--of", help="Copy this agent or task; can be repeated.")] = None,
    choice: Annotated[Choice, typer.Option(help="How the entry to copy is chosen, without --of.")] = Choice.adversary,
    kind: Annotated[Cloned | None, typer.Option(help="What is copied; tasks unless given, if there are tasks.")] = None,
    copies: Annotated[str, typer.Option(help="Numbers of copies, separated by commas.")] = "1,2,5,10,100",
    promote: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Search for the fewest copies that put this one first; can be repeated."),
    ] = None,
    most: Annotated[int, typer.Option(help="Largest number of copies in an attack.", min=1)] = 100,
    repeats: Annotated[
        int | None,
        typer.Option(help="How often noisy copies are drawn: 3 unless given, 0 for more than 60 entries.", min=0),
    ] = None,
    seed: options.Seed = options.SEED,
    noise: options.NoiseOption = options.Noise.model,
    what: Annotated[
        StressTable | None, typer.Option("--show", help="The table of csv, md and latex; exact unless given.")
    ] = None,
    missing: options.Missing = None,
) -> None:
    """Enter copies of agents or tasks, and show what moves.

    The plain average, Elo and the Nash average are compared.

    \b
    Examples:
      nashboard stress battles.parquet
      nashboard stress dataset:atari --of venture --promote human
      nashboard stress scores.csv --kind agents --copies 1,10 --format json
    """
    from nashboard.evaluation.stress.stress import stress as run

    if listing.format in (options.Format.text, options.Format.json):
        options.refuse(("what",), f"{listing.format} contains all tables")
    if of:
        options.refuse(("choice",), "--of names what is copied")
    try:
        counts = [int(part) for part in copies.split(",")]
    except ValueError:
        raise InputError(f"--copies {copies!r} must be whole numbers separated by commas, such as 1,10,100") from None
    data = connecting.keep(complete(connecting.read(source, reading), missing))
    with show_progress("Entering copies ..."):
        found = run(
            data,
            copies=counts,
            of=of,
            choice=options.value(choice),
            kind=options.value(kind),
            targets=promote,
            most=most,
            draws=repeats,
            rng=seed,
            noise=options.value(noise),
        )
    tables = found.tables().values() if what is None else [found.outcomes[what.value].table]
    listing.show(*tables, json=(found.to_dict(), "stress/1"), sentences=found.verdict(), notes=found.notes)
