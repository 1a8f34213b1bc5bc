"""``nashboard inspect FILE``: what was read, on one screen."""

from typing import Annotated, Any

import typer

from nashboard.commands.output import Format, FormatOption, show

SOURCE = "A file, a folder, a glob, - for standard input, or dataset:NAME."


def inspect(
    source: Annotated[str, typer.Argument(metavar="FILE", help=SOURCE)],
    as_format: Annotated[str | None, typer.Option("--as", metavar="NAME", help="Read it as this format.")] = None,
    a: Annotated[str | None, typer.Option(help="Column of the first agent.")] = None,
    b: Annotated[str | None, typer.Option(help="Column of the second agent.")] = None,
    outcome: Annotated[str | None, typer.Option(help="Column of the outcome.")] = None,
    agent: Annotated[str | None, typer.Option(help="Column of the agent, in a table of scores.")] = None,
    task: Annotated[str | None, typer.Option(help="Column of the task, in a long table of scores.")] = None,
    score: Annotated[str | None, typer.Option(help="Column of the score, in a long table of scores.")] = None,
    drop_self_matches: Annotated[bool, typer.Option(help="Leave out matches of an agent with itself.")] = False,
    symmetrise: Annotated[bool, typer.Option(help="Average the two directions of a noisy matrix.")] = False,
    how: FormatOption = Format.text,
) -> None:
    """Tell what a file holds: format, agents, tasks, games, coverage, holes, what was left out and why.

    Examples: nashboard inspect battles.parquet; nashboard inspect dataset:atari; zcat log.csv.gz | nashboard inspect -
    """
    from nashboard.data.inspection import inspected
    from nashboard.data.read import read

    named: dict[str, Any] = {"a": a, "b": b, "outcome": outcome, "agent": agent, "task": task, "score": score}
    options = {name: value for name, value in named.items() if value is not None}
    data = read(
        source,
        format=as_format,
        self_matches="drop" if drop_self_matches else "error",
        symmetrise=symmetrise,
        **options,
    )
    show(inspected(data).table(), how)
