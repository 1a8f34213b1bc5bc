"""``nashboard compare FILE A B``: is one agent better than another?"""

from enum import StrEnum
from typing import Annotated

import typer

from nashboard._progress import show_progress
from nashboard.cli import options
from nashboard.cli.options import AsOption, Format, FormatOption, ReadOption, SourceArgument
from nashboard.cli.output import note, say, show, show_json
from nashboard.cli.reading import source_data


class OverWay(StrEnum):
    """What ``--over`` takes."""

    tasks = "tasks"
    runs = "runs"


def compare(
    source: SourceArgument,
    connecting: options.Connecting,
    a: Annotated[str | None, typer.Argument(metavar="A", help="The agent to judge; without, all pairs.")] = None,
    b: Annotated[list[str] | None, typer.Argument(metavar="B", help="One or more agents; all others if none.")] = None,
    level: options.Level = options.LEVEL,
    margin: Annotated[
        float | None, typer.Option(help="Largest difference that does not matter, in the unit of the result.")
    ] = None,
    over: Annotated[
        OverWay | None, typer.Option(help="Scores: ask about tasks like these, or about these tasks measured again.")
    ] = None,
    anytime: Annotated[
        bool, typer.Option("--anytime", help="Matches: own games only, valid however often you look.")
    ] = False,
    top: options.Top = None,
    fail_on: options.FailOn = None,
    as_format: AsOption = None,
    read: ReadOption = None,
    how: FormatOption = Format.text,
) -> None:
    """Compare agents: difference with interval, p-value, probability, verdict, and how much more data would decide.

    Scores are paired over items or tasks. Matches use games between the two and against common opponents. Several
    agents are compared with Holm's correction. Without names, all pairs: the probability that one is above the other;
    if there are two agents only, these are compared.
    --fail-on takes worse, not-better, undecided and different, and ends with exit code 3.

    \b
    Examples:
      nashboard compare items.csv new-model old-model
      nashboard compare battles.parquet model-a model-b model-c
      nashboard compare season.csv Alcaraz Sinner --anytime
      nashboard compare items.csv candidate baseline --fail-on worse
      nashboard compare battles.parquet --top 10
    """
    from nashboard.data.matches import Matches
    from nashboard.data.scores import Scores
    from nashboard.errors import InputError
    from nashboard.evaluation.decide.compare import Comparison, superiority
    from nashboard.evaluation.decide.compare import compare as run
    from nashboard.evaluation.decide.gates import COMPARE, check_names
    from nashboard.evaluation.evaluate import evaluate

    check_names(fail_on or (), COMPARE)
    data = connecting.keep(source_data(source, as_format, read))
    if not isinstance(data, Matches | Scores):
        raise InputError(f"{source!r} contains payoffs: compare takes matches or scores")
    if a is None and len(data.agents) == 2:
        options.refuse(("top",), "there are two agents only")
        a = data.agents[0]
    if a is None:
        options.refuse(("margin", "over", "anytime", "fail_on"), "they are for two agents or more: name them")
        with show_progress("Evaluating ..."):
            pairs = superiority(evaluate(data, level=level), top=top)
        if how is Format.json:
            show_json(pairs.to_dict(), "superiority/1")
        else:
            show(pairs.table(), how)
        return
    options.refuse(("top",), "it is for all pairs: leave out the names")
    others = b or [name for name in data.agents if name != a]
    with show_progress("Comparing ..."):
        found = run(
            data,
            a,
            others[0] if len(others) == 1 else others,
            level=level,
            margin=margin,
            over=None if over is None else over.value,
            anytime=anytime,
        )
    if how is Format.json:
        show_json(found.to_dict(), "comparison/1" if isinstance(found, Comparison) else "comparisons/1")
    elif how is Format.text and isinstance(found, Comparison):
        say(found.sentence)
        show(found.table(), explained=True)
        note(f"Test: {found.test}.")
    else:
        show(found.table(), how, explained=True)
    options.exit_if(found, fail_on, COMPARE)
